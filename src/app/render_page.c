/* Writes the HTML page of a run, or of an optimization with the runs of its designs. */
#include <cjson/cJSON.h>
#include "app/render_load.h"

/* State of one page. page_free accepts a zeroed or partly built struct. */
typedef struct {
  const Options* options;
  const char* operand;
  bool design;      /* true if the operand is a folder of `sdrs optimize` */
  char* folder;     /* folder of the run that the page plays */
  Recorded run;     /* run of the best design, or of the operand */
  Recorded initial; /* run of the initial design */
  bool has_initial;
} PageRuns;

static void page_free(PageRuns* page) {
  memory_free(page->folder);
  recorded_free(&page->run);
  recorded_free(&page->initial);
}

/* Returns true if `folder` has a finished run of the scene file `scene` without overrides. */
static bool is_run_of(const char* folder, const char* scene) {
  char *path = file_join(folder, "summary.json"), *data = NULL;
  size_t length;
  cJSON* summary = file_read(path, &data, &length) == STATUS_OK ? cJSON_ParseWithLength(data, length) : NULL;
  const cJSON* first = cJSON_GetArrayItem(cJSON_GetObjectItem(summary, "inputs"), 0);
  const char* sha256 = cJSON_GetStringValue(cJSON_GetObjectItem(first, "sha256"));
  bool same = sha256 && *sha256 && file_has_sha256(scene, sha256) &&
              cJSON_GetArraySize(cJSON_GetObjectItem(summary, "overrides")) == 0;
  cJSON_Delete(summary);
  memory_free(data);
  memory_free(path);
  return same;
}

/* Simulates RUN/<design>.scene.yaml into the folder RUN/<design>, unless the folder has this run. Sets *folder to its
 * path, which the caller frees, or to NULL if there is no such scene. A failure of the solver is reported but gives
 * EXIT_DONE, so that the page shows the run up to the failure. */
static ExitCode design_run(const PageRuns* page, const char* design, char** folder) {
  Text scene = {0};
  text_add(&scene, "%s/%s.scene.yaml", page->operand, design);
  ExitCode code = EXIT_DONE;
  *folder = file_exists(scene.data) ? file_join(page->operand, design) : NULL;
  if (*folder && !is_run_of(*folder, scene.data)) {
    if (!page->options->quiet)
      fprintf(stderr, "%s: simulating the %s design into %s\n", page->operand, design, *folder);
    code = simulate_to_folder(page->options, scene.data, *folder);
  }
  text_free(&scene);
  return code == EXIT_SOLVER ? EXIT_DONE : code;
}

static ExitCode load(PageRuns* page, Recorded* recorded, const char* path) {
  recorded->options = page->options;
  Status status = recorded_load(recorded, path);
  if (!page->options->verbose) recorded_remove_scene_warnings(recorded);
  return status_exit_code(status);
}

static ExitCode load_designs(PageRuns* page) {
  char* initial;
  ExitCode code = design_run(page, "best", &page->folder);
  if (code == EXIT_DONE) code = load(page, &page->run, page->folder);
  if (code != EXIT_DONE) return code;
  code = design_run(page, "initial", &initial);
  if (code == EXIT_DONE && initial) code = load(page, &page->initial, initial);
  page->has_initial = initial != NULL;
  memory_free(initial);
  return code;
}

static ExitCode load_all(PageRuns* page) {
  bool folder = path_is_folder(page->operand);
  page->design = folder && is_design_folder(page->operand);
  if (page->design) return load_designs(page);
  page->folder = folder ? memory_copy_text(page->operand) : NULL;
  return load(page, &page->run, page->operand);
}

static Status write_page(PageRuns* page, const char* target, int* moments) {
  const Options* options = page->options;
  PageSource source = {.model = &page->run.model, .run = &page->run.run, .folder = page->folder};
  source.design = page->design ? page->operand : NULL;
  source.initial = page->has_initial ? &page->initial.run : NULL;
  source.fps = option_number(options, "fps", 0.0);
  Text text = {0};
  PageExtent extent;
  Diagnostics* diagnostics = &page->run.diagnostics;
  Status status = page_write(&text, &source, &extent, diagnostics);
  if (status == STATUS_OK) status = file_write_reported(target, &text, diagnostics);
  if (status == STATUS_OK && extent.moments < extent.recorded && !options->quiet)
    fprintf(stderr, "%s: shows %d of %d recorded moments\n", target, extent.moments, extent.recorded);
  *moments = extent.moments;
  text_free(&text);
  return status;
}

/* Loads the run without the overrides of the command line, because the summary in the run folder already names them. */
bool append_page_of_run(const Options* options, const char* folder, Text* out) {
  Options options_without_overrides = *options;
  options_without_overrides.override_count = 0;
  Recorded recorded = {.options = &options_without_overrides};
  Status status = recorded_load(&recorded, folder);
  PageExtent extent;
  PageSource source = {.model = &recorded.model, .run = &recorded.run, .folder = folder};
  if (status == STATUS_OK) status = page_write(out, &source, &extent, &recorded.diagnostics);
  recorded_free(&recorded);
  return status == STATUS_OK;
}

ExitCode render_page(const Options* options, const char* target, int* moments) {
  PageRuns page = {.options = options, .operand = options->operands[0]};
  ExitCode code = status_exit_code(page_available(&page.run.diagnostics));
  if (code == EXIT_DONE) code = load_all(&page);
  if (code == EXIT_DONE) code = status_exit_code(write_page(&page, target, moments));
  print_diagnostics(options, &page.run.diagnostics);
  print_diagnostics(options, &page.initial.diagnostics);
  page_free(&page);
  return code;
}

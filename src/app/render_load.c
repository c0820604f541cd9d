#include "app/render_load.h"

#include <assert.h>
#include <cjson/cJSON.h>

void render_inputs_free(RenderInputs* inputs) {
  for (int i = 0; i < RENDER_SUBJECTS_MAX; i++) {
    run_contacts_free(&inputs->contacts[i]);
    memory_free(inputs->caption[i]);
    recorded_free(&inputs->recorded[i]);
  }
}

/* Loads one input and sets *code to the exit code. Returns its index in inputs->recorded, or -1 if loading failed. */
static int load_one(RenderInputs* inputs, const Options* options, const char* path, ExitCode* code) {
  assert(inputs->count < RENDER_SUBJECTS_MAX);
  int index = inputs->count++;
  Recorded* recorded = &inputs->recorded[index];
  recorded->options = options;
  Status status = recorded_load(recorded, path);
  if (!options->verbose) recorded_remove_scene_warnings(recorded);
  *code = status_exit_code(status);
  return status == STATUS_OK ? index : -1;
}

static void add_subject(RenderInputs* inputs, int index, const char* name) {
  assert(index >= 0 && index < inputs->count && inputs->subject_count < RENDER_SUBJECTS_MAX);
  const Recorded* recorded = &inputs->recorded[index];
  inputs->names[inputs->subject_count] = name ? name : recorded->scene.name;
  inputs->subjects[inputs->subject_count++] =
      (RenderSubject){.model = &recorded->model, .run = &recorded->run, .caption = inputs->caption[index]};
}

static ExitCode load_contacts(RenderInputs* inputs, const Options* options, int subject, int index, const char* path) {
  char* file = path_is_folder(path) ? file_join(path, "contacts.csv") : NULL;
  ExitCode code = EXIT_DONE;
  if (!file || !file_exists(file)) {
    code = path_is_folder(path)
               ? usage_error(options,
                             "--show forces needs contacts.csv, which is missing in %s: give the output "
                             "folder of sdrs simulate",
                             path)
               : usage_error(options, "--show forces needs a run with contacts.csv: simulate %s first", path);
  } else {
    Recorded* recorded = &inputs->recorded[index];
    code =
        status_exit_code(run_contacts_read(&inputs->contacts[index], file, &recorded->model, &recorded->diagnostics));
    inputs->subjects[subject].contacts = &inputs->contacts[index];
  }
  memory_free(file);
  return code;
}

/* Returns a caption such as `biped, best design: loss 0.123`. design: "best" or "initial"; key: key of its loss in
 * summary.json. The caller frees the text with memory_free. */
static char* design_caption(const char* folder, const char* design, const char* key) {
  char *path = file_join(folder, "summary.json"), *data = NULL;
  size_t length;
  cJSON* summary = file_read(path, &data, &length) == STATUS_OK ? cJSON_ParseWithLength(data, length) : NULL;
  const char* task = cJSON_GetStringValue(cJSON_GetObjectItem(summary, "task"));
  const cJSON* loss = cJSON_GetObjectItem(summary, key);
  Text caption = {0};
  if (task) text_add(&caption, "%s, ", task);
  text_add(&caption, "%s design", design);
  if (cJSON_IsNumber(loss)) text_add(&caption, ": loss %.4g", loss->valuedouble);
  cJSON_Delete(summary);
  memory_free(data);
  memory_free(path);
  return caption.data;
}

static ExitCode report_missing_initial(const Options* options, const char* path) {
  command_error(options,
                "%s is missing, because an earlier version of sdrs wrote the folder: run `sdrs optimize` again", path);
  return EXIT_BAD_INPUT;
}

static ExitCode load_initial(RenderInputs* inputs, const Options* options, const char* folder, bool required) {
  char* path = file_join(folder, "initial.scene.yaml");
  ExitCode code = EXIT_DONE;
  if (file_exists(path)) {
    int index = load_one(inputs, options, path, &code);
    if (index >= 0) inputs->caption[index] = design_caption(folder, "initial", "initial_loss");
  } else if (required) {
    code = report_missing_initial(options, path);
  }
  memory_free(path);
  return code;
}

/* Loads the best design and, if `with_initial`, the initial design before it. A missing initial design is an error if
 * `required`. */
static ExitCode load_design(RenderInputs* inputs, const Options* options, const char* folder, bool required,
                            bool with_initial) {
  ExitCode code = with_initial ? load_initial(inputs, options, folder, required) : EXIT_DONE;
  if (code != EXIT_DONE) return code;
  int index = load_one(inputs, options, folder, &code);
  if (index >= 0) inputs->caption[index] = design_caption(folder, "best", "best_loss");
  return code;
}

/* Makes the first design the reference for the displacements of the last design. Returns a usage error if their hulls
 * differ. */
static ExitCode set_reference_design(RenderInputs* inputs, const Options* options) {
  const Model *initial = &inputs->recorded[0].model, *last = &inputs->recorded[inputs->count - 1].model;
  if (!render_hulls_correspond(last, initial))
    return usage_error(options,
                       "--show displacement: the two scenes differ in hulls or in the number of vertices; choose two "
                       "runs with the same shapes");
  inputs->subjects[inputs->subject_count - 1].initial = initial;
  return EXIT_DONE;
}

static ExitCode load_pair(RenderInputs* inputs, const Options* options) {
  for (int i = 0; i < 2; i++) {
    ExitCode code;
    int index = load_one(inputs, options, options->operands[i], &code);
    if (index < 0) return code;
    inputs->caption[index] = file_stem(options->operands[i]);
    add_subject(inputs, index, inputs->caption[index]);
  }
  return EXIT_DONE;
}

static ExitCode load_single(RenderInputs* inputs, const Options* options, bool with_displacement, bool compare,
                            bool as_model) {
  const char* path = options->operands[0];
  bool design = path_is_folder(path) && is_design_folder(path);
  if (!design && (with_displacement || compare))
    return usage_error(options, "%s needs a folder of `sdrs optimize`, or two runs",
                       compare ? "--compare" : "--show displacement");
  ExitCode code;
  if (design)
    code = load_design(inputs, options, path, with_displacement || compare, with_displacement || compare || as_model);
  else
    load_one(inputs, options, path, &code);
  if (code != EXIT_DONE) return code;
  int last = inputs->count - 1;
  if (last > 0 && (compare || as_model)) add_subject(inputs, 0, "initial");
  add_subject(inputs, last, last > 0 ? "best" : NULL);
  return EXIT_DONE;
}

ExitCode render_inputs_load(RenderInputs* inputs, const Options* options, unsigned show, bool compare, bool as_model) {
  bool with_displacement = show & RENDER_DISPLACEMENT, two = options->operand_count > 1;
  ExitCode code = two ? load_pair(inputs, options) : load_single(inputs, options, with_displacement, compare, as_model);
  if (code == EXIT_DONE && with_displacement) code = set_reference_design(inputs, options);
  for (int i = 0; i < inputs->subject_count && code == EXIT_DONE && (show & RENDER_FORCES); i++)
    code = load_contacts(inputs, options, i, two ? i : inputs->count - 1, options->operands[two ? i : 0]);
  return code;
}

#include "app/render_load.h"

#include <cjson/cJSON.h>

void render_inputs_free(RenderInputs* shown) {
  for (int i = 0; i < RENDER_SUBJECTS_MAX; i++) {
    run_contacts_free(&shown->contacts[i]);
    memory_free(shown->caption[i]);
    recorded_free(&shown->recorded[i]);
  }
}

/* ---------------------------------------------------------------- one input */

/* Loads one input and sets *code to the exit code. Returns the index of the input in shown->recorded, or -1 if loading
 * failed. */
static int load_one(RenderInputs* shown, const Options* options, const char* path, ExitCode* code) {
  int index = shown->count++;
  Recorded* recorded = &shown->recorded[index];
  recorded->options = options;
  Status status = recorded_load(recorded, path);
  if (!options->verbose) recorded_remove_scene_warnings(recorded);
  *code = status_exit_code(status);
  return status == STATUS_OK ? index : -1;
}

static void add_subject(RenderInputs* shown, int index, const char* name) {
  const Recorded* recorded = &shown->recorded[index];
  shown->names[shown->subject_count] = name ? name : recorded->scene.name;
  shown->subjects[shown->subject_count++] =
      (RenderSubject){.model = &recorded->model, .run = &recorded->run, .caption = shown->caption[index]};
}

static ExitCode load_contacts(RenderInputs* shown, const Options* options, int subject, int index, const char* path) {
  char* file = path_is_folder(path) ? file_join(path, "contacts.csv") : NULL;
  ExitCode code = EXIT_DONE;
  if (!file || !file_exists(file)) {
    code = usage_error(options, "--show forces needs a run with contacts.csv: simulate %s first", path);
  } else {
    Recorded* recorded = &shown->recorded[index];
    code = status_exit_code(run_contacts_read(&shown->contacts[index], file, &recorded->model, &recorded->diagnostics));
    shown->subjects[subject].contacts = &shown->contacts[index];
  }
  memory_free(file);
  return code;
}

/* ---------------------------------------------------------------- designs of an optimization */

/* Returns a caption such as `biped, best design: loss 0.123`. which: "best" or "initial"; key: key of the loss in
 * summary.json. The caller frees the text with memory_free. */
static char* design_caption(const char* folder, const char* which, const char* key) {
  char *path = file_join(folder, "summary.json"), *data = NULL;
  size_t length;
  cJSON* summary = file_read(path, &data, &length) == STATUS_OK ? cJSON_ParseWithLength(data, length) : NULL;
  const char* task = cJSON_GetStringValue(cJSON_GetObjectItem(summary, "task"));
  const cJSON* loss = cJSON_GetObjectItem(summary, key);
  Text caption = {0};
  if (task) text_add(&caption, "%s, ", task);
  text_add(&caption, "%s design", which);
  if (cJSON_IsNumber(loss)) text_add(&caption, ": loss %.4g", loss->valuedouble);
  cJSON_Delete(summary);
  memory_free(data);
  memory_free(path);
  return caption.data;
}

static ExitCode refuse_without_initial(const Options* options, const char* path) {
  command_error(options,
                "%s is missing, because an earlier version of sdrs wrote the folder: run `sdrs optimize` again", path);
  return EXIT_BAD_INPUT;
}

static ExitCode load_initial(RenderInputs* shown, const Options* options, const char* folder, bool needed) {
  char* path = file_join(folder, "initial.scene.yaml");
  ExitCode code = EXIT_DONE;
  if (file_exists(path)) {
    int index = load_one(shown, options, path, &code);
    if (index >= 0) shown->caption[index] = design_caption(folder, "initial", "initial_loss");
  } else if (needed) {
    code = refuse_without_initial(options, path);
  }
  memory_free(path);
  return code;
}

/* Loads the best design and, before it, the initial design if `wanted`. If `needed`, a missing initial design is an
 * error. */
static ExitCode load_design(RenderInputs* shown, const Options* options, const char* folder, bool needed, bool wanted) {
  ExitCode code = wanted ? load_initial(shown, options, folder, needed) : EXIT_DONE;
  if (code != EXIT_DONE) return code;
  int index = load_one(shown, options, folder, &code);
  if (index >= 0) shown->caption[index] = design_caption(folder, "best", "best_loss");
  return code;
}

/* ---------------------------------------------------------------- all */

/* Sets the first design as the reference from which the displacements of the last design are coloured. Returns a usage
 * error if the designs have different hulls. */
static ExitCode link_designs(RenderInputs* shown, const Options* options) {
  const Model *initial = &shown->recorded[0].model, *last = &shown->recorded[shown->count - 1].model;
  if (!render_hulls_correspond(last, initial))
    return usage_error(options,
                       "--show displacement: the two scenes differ in hulls or in the number of vertices; choose two "
                       "runs with the same shapes");
  shown->subjects[shown->subject_count - 1].initial = initial;
  return EXIT_DONE;
}

static ExitCode load_pair(RenderInputs* shown, const Options* options) {
  for (int i = 0; i < 2; i++) {
    ExitCode code;
    int index = load_one(shown, options, options->operands[i], &code);
    if (index < 0) return code;
    shown->caption[index] = file_stem(options->operands[i]);
    add_subject(shown, index, shown->caption[index]);
  }
  return EXIT_DONE;
}

static ExitCode load_single(RenderInputs* shown, const Options* options, bool moved, bool compare, bool as_model) {
  const char* path = options->operands[0];
  bool design = path_is_folder(path) && is_design_folder(path);
  if (!design && (moved || compare))
    return usage_error(options, "%s needs a folder of `sdrs optimize`, or two runs",
                       compare ? "--compare" : "--show displacement");
  ExitCode code;
  if (design)
    code = load_design(shown, options, path, moved || compare, moved || compare || as_model);
  else
    load_one(shown, options, path, &code);
  if (code != EXIT_DONE) return code;
  int last = shown->count - 1;
  if (last > 0 && (compare || as_model)) add_subject(shown, 0, "initial");
  add_subject(shown, last, last > 0 ? "best" : NULL);
  return EXIT_DONE;
}

ExitCode render_inputs_load(RenderInputs* shown, const Options* options, unsigned show, bool compare, bool as_model) {
  bool moved = show & RENDER_DISPLACEMENT, two = options->operand_count > 1;
  ExitCode code = two ? load_pair(shown, options) : load_single(shown, options, moved, compare, as_model);
  if (code == EXIT_DONE && moved) code = link_designs(shown, options);
  for (int i = 0; i < shown->subject_count && code == EXIT_DONE && (show & RENDER_FORCES); i++)
    code = load_contacts(shown, options, i, two ? i : shown->count - 1, options->operands[two ? i : 0]);
  return code;
}

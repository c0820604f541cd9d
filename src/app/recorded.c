/* Loads the input of commands that draw or export: a run folder with its scene, a scene, or a mesh. */
#include <assert.h>
#include <cjson/cJSON.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>
#include "app/command.h"

bool path_is_folder(const char* path) {
  struct stat state;
  return stat(path, &state) == 0 && S_ISDIR(state.st_mode);
}

void recorded_free(Recorded* recorded) {
  run_poses_free(&recorded->run);
  model_destroy(&recorded->model);
  scene_free(&recorded->scene);
  memory_free(recorded->overrides);
  memory_free(recorded->start_override);
  cJSON_Delete(recorded->summary);
  memory_free(recorded->scene_path);
  diagnostics_free(&recorded->diagnostics);
}

static Status add_input_error(Recorded* recorded, const char* path, const char* text) {
  diagnostics_add(&recorded->diagnostics, SEVERITY_ERROR, (SourcePosition){path, 0, 0}, "%s", text);
  return STATUS_BAD_INPUT;
}

/* Adds an override that reads the start state from the run's own folder, because the run that it came from may no
 * longer exist. Does nothing if the run did not start from another run. */
static void add_start_override(Recorded* recorded, const char* folder) {
  const cJSON *start = cJSON_GetObjectItem(recorded->summary, "start"), *time = cJSON_GetObjectItem(start, "time");
  char* absolute = cJSON_IsNumber(time) ? realpath(folder, NULL) : NULL;
  if (!absolute) return;
  Text text = {0};
  text_add(&text, "start={run: ");
  text_add_json_string(&text, absolute);
  text_add(&text, ", time: ");
  text_add_double(&text, time->valuedouble);
  text_add(&text, "}");
  free(absolute);
  recorded->start_override = text.data;
  recorded->overrides[recorded->override_count++].text = text.data;
}

/* Sets the path of the scene and the overrides from the summary, whose first input is the scene. Returns
 * STATUS_BAD_INPUT, with a diagnostic, if the path is missing. */
static Status read_scene_path_and_overrides(Recorded* recorded, const char* path) {
  const cJSON* first = cJSON_GetArrayItem(cJSON_GetObjectItem(recorded->summary, "inputs"), 0);
  const char* file = cJSON_GetStringValue(cJSON_GetObjectItem(first, "file"));
  if (!file)
    return add_input_error(recorded, path,
                           "inputs[0].file, the scene of the run, is missing: simulate the scene again");
  recorded->scene_path = memory_copy_text(file);
  recorded->scene_sha256 = cJSON_GetStringValue(cJSON_GetObjectItem(first, "sha256"));
  const cJSON *overrides = cJSON_GetObjectItem(recorded->summary, "overrides"), *item;
  int capacity = cJSON_GetArraySize(overrides) + recorded->options->override_count;
  recorded->overrides = MEMORY_NEW(SceneOverride, capacity + 2);
  cJSON_ArrayForEach(item, overrides) {
    const char* text = cJSON_GetStringValue(item);
    if (text) recorded->overrides[recorded->override_count++].text = text;
  }
  for (int i = 0; i < recorded->options->override_count; i++)
    recorded->overrides[recorded->override_count++] = recorded->options->overrides[i];
  return STATUS_OK;
}

static Status read_summary(Recorded* recorded, const char* folder) {
  char *path = file_join(folder, "summary.json"), *data = NULL;
  size_t length;
  Status status = file_read(path, &data, &length);
  if (status != STATUS_OK) {
    diagnostics_add(&recorded->diagnostics, SEVERITY_ERROR, (SourcePosition){path, 0, 0},
                    "cannot read: %s (%s needs a folder that `sdrs simulate` has finished)", file_error_text(errno),
                    recorded->options->verb->name);
  } else {
    recorded->summary = cJSON_ParseWithLength(data, length);
    status = recorded->summary
                 ? read_scene_path_and_overrides(recorded, path)
                 : add_input_error(recorded, path, "the file is not valid JSON: simulate the scene again");
    if (status == STATUS_OK) add_start_override(recorded, folder);
  }
  memory_free(data);
  memory_free(path);
  return status;
}

bool file_has_sha256(const char* path, const char* sha256) {
  char *data = NULL, hex[65];
  size_t length;
  bool same = false;
  if (file_is_regular(path) && file_read(path, &data, &length) == STATUS_OK) {
    hash_sha256(data, length, hex);
    same = !sha256 || !*sha256 || strcmp(hex, sha256) == 0;
  }
  memory_free(data);
  return same;
}

/* Returns true if the file at `path` has the recorded content of the scene. Sets *found to the path in that case, and
 * also if the file exists and *found is NULL. Takes ownership of `path`. */
static bool matches_recorded_scene(const Recorded* recorded, char* path, char** found) {
  bool exists = file_exists(path), same = exists && file_has_sha256(path, recorded->scene_sha256);
  if (same || (exists && !*found)) {
    memory_free(*found);
    *found = path;
  } else {
    memory_free(path);
  }
  return same;
}

static bool is_working_folder(const char* folder) {
  char* here = getcwd(NULL, 0);
  bool same = here && strcmp(here, folder) == 0;
  free(here);
  return same;
}

/* Returns the path of the run's scene, or NULL if it is not found. The recorded path is relative to the working
 * directory of the run. If the scene is not there, the run may have been moved together with its scene. The path is
 * then tried relative to the present directory and to each folder above the run. The caller frees the text with
 * memory_free. */
static char* find_scene(const Recorded* recorded, const char* folder) {
  const char* scene = recorded->scene_path;
  char* found = NULL;
  if (scene[0] == '/') return file_exists(scene) ? memory_copy_text(scene) : NULL;
  const char* started = cJSON_GetStringValue(cJSON_GetObjectItem(recorded->summary, "working_folder"));
  if (started && !is_working_folder(started) && matches_recorded_scene(recorded, file_join(started, scene), &found))
    return found;
  if (matches_recorded_scene(recorded, memory_copy_text(scene), &found)) return found;
  char* absolute = realpath(folder, NULL);
  for (char* end = absolute ? absolute + strlen(absolute) : NULL; end && end > absolute; end = strrchr(absolute, '/')) {
    *end = '\0';
    if (matches_recorded_scene(recorded, file_join(absolute, scene), &found)) break;
  }
  free(absolute);
  return found;
}

/* Makes a scene of one link from a mesh. The link has the name of the file and the density of water, and each group of
 * the mesh is a hull. */
static Status parse_mesh(Recorded* recorded, const char* path) {
  Text text = {0};
  char* stem = file_stem(path);
  const char* slash = strrchr(path, '/');
  text_add(&text, "{\"name\": ");
  text_add_json_string(&text, stem);
  text_add(&text, ", \"links\": [{\"density\": 1000, \"name\": ");
  text_add_json_string(&text, stem);
  text_add(&text, ", \"shape\": {\"type\": \"mesh\", \"hulls\": \"groups\", \"file\": ");
  text_add_json_string(&text, slash ? slash + 1 : path);
  text_add(&text, "}}]}");
  Status status = scene_parse(&recorded->scene, path, text.data, text.length, true, recorded->overrides,
                              recorded->override_count, &recorded->diagnostics);
  memory_free(stem);
  text_free(&text);
  return status;
}

static bool ends_with(const char* path, const char* ending) {
  size_t length = strlen(path), tail = strlen(ending);
  return length > tail && strcasecmp(path + length - tail, ending) == 0;
}

static Status load_model(Recorded* recorded, const char* path) {
  Diagnostics* diagnostics = &recorded->diagnostics;
  if (ends_with(path, ".stl"))
    return add_input_error(
        recorded, path,
        "an STL file has no groups that could be convex hulls: run `sdrs decompose` on the file and use the "
        "new hulls.obj");
  recorded->run_message_count = diagnostics->count;
  recorded->from_mesh = ends_with(path, ".obj");
  Status status = recorded->from_mesh
                      ? parse_mesh(recorded, path)
                      : scene_load(&recorded->scene, path, recorded->overrides, recorded->override_count, diagnostics);
  recorded->scene.threads = recorded->options->threads;
  if (status == STATUS_OK) status = model_create_lifted(&recorded->model, &recorded->scene, diagnostics);
  return status;
}

static Status load_run(Recorded* recorded, const char* folder) {
  Status status = read_summary(recorded, folder);
  if (status != STATUS_OK) return status;
  char* scene = find_scene(recorded, folder);
  if (!scene) {
    diagnostics_add(&recorded->diagnostics, SEVERITY_ERROR, (SourcePosition){recorded->scene_path, 0, 0},
                    "the scene of the run was not found (searched where the run was started, in the current folder, "
                    "and in the folders above the run): restore the scene file");
    return STATUS_IO;
  }
  if (!file_has_sha256(scene, recorded->scene_sha256))
    diagnostics_add(
        &recorded->diagnostics, SEVERITY_WARNING, (SourcePosition){scene, 0, 0},
        "the scene has changed since the run, so shapes may differ from the simulated ones: simulate the scene again");
  status = load_model(recorded, scene);
  memory_free(scene);
  if (recorded->without_poses) return status;
  char* trajectory = file_join(folder, "trajectory.csv");
  if (status == STATUS_OK)
    status = run_poses_read(&recorded->run, trajectory, &recorded->model, &recorded->diagnostics);
  memory_free(trajectory);
  return status;
}

/* Loads a scene as a run of one row, its initial state. */
static Status load_scene(Recorded* recorded, const char* path) {
  recorded->overrides = MEMORY_NEW(SceneOverride, recorded->options->override_count + 1);
  for (int i = 0; i < recorded->options->override_count; i++)
    recorded->overrides[recorded->override_count++] = recorded->options->overrides[i];
  Status status = load_model(recorded, path);
  if (status == STATUS_BAD_INPUT && !recorded->from_mesh && task_recognise(path))
    report_wrong_file_kind(path, "a task", "give the scene of the task, or the output folder of `sdrs optimize`",
                           &recorded->diagnostics);
  if (status != STATUS_OK) return status;
  const Model* model = &recorded->model;
  recorded->run = (RunPoses){1, model->link_count, MEMORY_NEW(double, 1), MEMORY_NEW(Pose, model->link_count + 1)};
  model_poses(model, model->initial_coordinates, recorded->run.pose);
  return STATUS_OK;
}

bool is_design_folder(const char* folder) {
  char *trajectory = file_join(folder, "trajectory.csv"), *best = file_join(folder, "best.scene.yaml");
  bool is_design = !file_exists(trajectory) && file_exists(best);
  memory_free(trajectory);
  memory_free(best);
  return is_design;
}

/* Loads a folder: the best design of a folder of `sdrs optimize`, otherwise a run. */
static Status load_folder(Recorded* recorded, const char* folder) {
  if (!is_design_folder(folder)) return load_run(recorded, folder);
  char* best = file_join(folder, "best.scene.yaml");
  Status status = load_scene(recorded, best);
  memory_free(best);
  return status;
}

Status recorded_load(Recorded* recorded, const char* path) {
  assert(recorded->options && path);
  if (path_is_folder(path)) return load_folder(recorded, path);
  if (file_exists(path)) return load_scene(recorded, path);
  diagnostics_add(&recorded->diagnostics, SEVERITY_ERROR, (SourcePosition){path, 0, 0},
                  "no such run folder, scene or mesh: correct the path");
  return STATUS_IO;
}

bool recorded_inputs_are_unchanged(Recorded* recorded) {
  const cJSON* recorded_inputs = cJSON_GetObjectItem(recorded->summary, "inputs");
  int count, changed_count = 0;
  RunInput* present_inputs = run_inputs(&recorded->scene, &count);
  for (int i = 0; i < count; i++) {
    const char* sha256 = cJSON_GetStringValue(cJSON_GetObjectItem(cJSON_GetArrayItem(recorded_inputs, i), "sha256"));
    if (sha256 && strcmp(sha256, present_inputs[i].sha256) == 0) continue;
    diagnostics_add(&recorded->diagnostics, SEVERITY_ERROR, (SourcePosition){present_inputs[i].path, 0, 0},
                    "the file has changed since the run: simulate the scene again");
    changed_count++;
  }
  run_inputs_free(present_inputs, count);
  return changed_count == 0 && count == cJSON_GetArraySize(recorded_inputs);
}

/* Warnings about the scene were already printed when the scene was simulated. */
void recorded_remove_scene_warnings(Recorded* recorded) {
  Diagnostics *diagnostics = &recorded->diagnostics, left = {0};
  for (int i = 0; i < diagnostics->count; i++) {
    const Diagnostic* item = &diagnostics->items[i];
    if (i >= recorded->run_message_count && item->severity != SEVERITY_ERROR) continue;
    diagnostics_add(&left, item->severity, (SourcePosition){item->file, item->line, item->column}, "%s", item->text);
  }
  diagnostics_free(diagnostics);
  *diagnostics = left;
}

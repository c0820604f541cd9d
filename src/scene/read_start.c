/* Reads the map `start`: the recorded state from which a scene starts. */
#include <assert.h>
#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "scene/parts.h"

enum { LISTED_TIMES_MAX = 8 }; /* largest number of times in a message */

char* scene_state_path(const char* run, int step) {
  assert(run && step >= 0);
  Text path = {0};
  text_add(&path, "%s/%s/%d", run, STATE_FOLDER, step);
  return path.data;
}

void start_free(SceneStart* start) {
  if (start->state) number_file_free(start->state);
  memory_free(start->state);
  memory_free(start->run);
  *start = (SceneStart){0};
}

void scene_set_start(Scene* scene, NumberFile* state) {
  SourcePosition place = scene->start.place;
  start_free(&scene->start);
  scene->start = (SceneStart){.place = place, .state = state};
  if (state) (void)number_file_get_doubles(state, "time", &scene->start.time, 1, &(Diagnostics){0});
}

/* ---------------------------------------------------------------- states in a run folder */

/* Returns the number of a step from the name of its file, or -1 if the name is not a number. */
static int parse_step(const char* name) {
  char* end;
  if (*name < '1' || *name > '9') return -1;
  long value = strtol(name, &end, 10);
  return *end == 0 && value <= STEPS_MAX ? (int)value : -1;
}

static int compare_ints(const void* a, const void* b) { return *(const int*)a - *(const int*)b; }

/* Returns the steps after which a run stored its state, in ascending order, and sets *count to their number. The caller
 * frees the array. */
static int* list_stored_steps(const char* run, int* count) {
  char* path = file_join(run, STATE_FOLDER);
  DIR* folder = opendir(path);
  int *steps = NULL, capacity = 0;
  *count = 0;
  for (struct dirent* entry = folder ? readdir(folder) : NULL; entry; entry = readdir(folder)) {
    int step = parse_step(entry->d_name);
    if (step < 0) continue;
    steps = memory_grow_array(steps, sizeof(int), *count, &capacity);
    steps[(*count)++] = step;
  }
  if (folder) closedir(folder);
  memory_free(path);
  if (*count > 0) qsort(steps, (size_t)*count, sizeof(int), compare_ints);
  return steps;
}

static void report_missing_time(Reader* reader, const Node* map, const char* run, const int* steps, int count,
                                double time) {
  double dt = reader->scene->simulation.dt;
  Text kept = {0};
  for (int k = 0; k < count && k < LISTED_TIMES_MAX; k++) text_add(&kept, "%s%.10g", k ? ", " : "", steps[k] * dt);
  const Node* given = node_find(map, "time");
  reader_error(reader, given ? given->place : map->place,
               "the run %s has no state at %.10g s, only at %s%s s: choose one of these times, or repeat the run with "
               "more times in simulation.keep_states",
               text_excerpt(run).text, time, kept.data, count > LISTED_TIMES_MAX ? ", ..." : "");
  text_free(&kept);
}

/* Returns the step whose stored state has the given time [s], or the last stored step if the scene gives no time.
 * Returns -1 after an error. */
static int find_step(Reader* reader, const Node* map, const char* run, double time) {
  int count, chosen = -1, *steps = list_stored_steps(run, &count);
  double dt = reader->scene->simulation.dt;
  bool any = !node_has_key(map, "time");
  for (int k = 0; k < count; k++)
    if (any || fabs(time - steps[k] * dt) <= 1e-6 * dt) chosen = steps[k];
  if (count == 0)
    reader_error(reader, map->place,
                 "%s is not a run folder with a saved state: make a run folder with `sdrs simulate`",
                 text_excerpt(run).text);
  else if (chosen < 0)
    report_missing_time(reader, map, run, steps, count, time);
  memory_free(steps);
  return chosen;
}

/* ---------------------------------------------------------------- reading */

/* Returns the path of a run folder. A relative path is relative to the scene file, or else to the working directory.
 * The caller frees the path. */
static char* find_run_folder(const Reader* reader, const char* path) {
  char* beside = file_resolve(reader->scene->path, path);
  char* states = file_join(beside, STATE_FOLDER);
  bool exists = file_exists(states);
  memory_free(states);
  if (exists) return beside;
  memory_free(beside);
  return memory_copy_text(path);
}

static void read_state(Reader* reader, const char* run, int step, SceneStart* start) {
  char* path = scene_state_path(run, step);
  Diagnostics* diagnostics = reader->diagnostics;
  start->state = MEMORY_NEW(NumberFile, 1);
  Status status = number_file_read(start->state, STATE_KIND, path, diagnostics);
  if (status == STATUS_OK && !number_file_get_doubles(start->state, "time", &start->time, 1, diagnostics))
    status = STATUS_BAD_INPUT;
  if (status != STATUS_OK) reader->problem_count++;
  memory_free(path);
}

void read_start_state(Reader* reader, const Node* map) {
  StartStateForm form;
  size_t mark = reader_enter_key(reader, "start");
  if (map && schema_read(reader, map, "start_state", &form) && form.run) {
    SceneStart* start = &reader->scene->start;
    start->place = map->place;
    start->run = find_run_folder(reader, form.run->text);
    int step = find_step(reader, map, start->run, form.time);
    if (step > 0) read_state(reader, start->run, step, start);
  }
  reader_leave(reader, mark);
}

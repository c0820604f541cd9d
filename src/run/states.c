/* Stores states of a run, from which other runs can start, as number files states/<step> in the run folder
 * (docs/receding.md). All states stay in memory until the end of the run, so that a folder never contains states of two
 * runs. */
#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "run/states.h"

/* Name of the array in a state file with the quaternions of the last written row. A continued run needs them to keep
 * the signs in trajectory.csv. */
#define ROTATIONS_NAME "rotations"

void kept_states_add(StoredStates* kept, Sim* sim, const Quat* rotations, int links) {
  assert(links >= 0);
  kept->items = memory_grow_array(kept->items, sizeof(StoredState), kept->count, &kept->capacity);
  StoredState* state = &kept->items[kept->count++];
  state->step = sim_state(sim)->step;
  sim_state_file(sim, &state->file);
  number_file_add_doubles(&state->file, ROTATIONS_NAME, &rotations[0].w, 4 * links);
}

void kept_states_free(StoredStates* kept) {
  for (int k = 0; k < kept->count; k++) number_file_free(&kept->items[k].file);
  memory_free(kept->items);
  *kept = (StoredStates){0};
}

void kept_states_read_start_rotations(const Model* model, Quat* rotations) {
  int numbers = 4 * model->link_count;
  if (!model->start || number_file_doubles_count(model->start, ROTATIONS_NAME) != numbers) return;
  Diagnostics none = {0};
  (void)number_file_get_doubles(model->start, ROTATIONS_NAME, &rotations[0].w, numbers, &none);
  diagnostics_free(&none);
}

static void delete_states(const char* path) {
  DIR* folder = opendir(path);
  for (struct dirent* entry = folder ? readdir(folder) : NULL; entry; entry = readdir(folder)) {
    const char* name = entry->d_name;
    if (strspn(name, "0123456789") != strlen(name)) continue;
    char* file = file_join(path, name);
    (void)remove(file);
    memory_free(file);
  }
  if (folder) closedir(folder);
}

static Status report_failure(Diagnostics* diagnostics, const char* path) {
  diagnostics_add(diagnostics, SEVERITY_ERROR, (SourcePosition){path, 0, 0}, "cannot write: %s", strerror(errno));
  return STATUS_IO;
}

Status kept_states_write(const StoredStates* kept, const char* run, Diagnostics* diagnostics) {
  char* folder = file_join(run, STATE_FOLDER);
  delete_states(folder);
  Status status = kept->count > 0 ? file_make_folder_reported(folder, diagnostics) : STATUS_OK;
  for (int k = 0; k < kept->count && status == STATUS_OK; k++) {
    char* path = scene_state_path(run, kept->items[k].step);
    status = number_file_write(&kept->items[k].file, path);
    if (status != STATUS_OK) status = report_failure(diagnostics, path);
    memory_free(path);
  }
  memory_free(folder);
  return status;
}

/* Stores states of a simulation in the run folder, as start states for other runs (run/states.c). Private to run/. */
#ifndef SDRS_RUN_STATES_H
#define SDRS_RUN_STATES_H

#include "run/run.h"

typedef struct {
  int step;
  NumberFile file;
} StoredState;
typedef struct {
  StoredState* items;
  int count, capacity;
} StoredStates;

/* Appends a copy of the current state of `sim` to the list, with a copy of `rotations`. rotations (links): quaternion
 * of each link as last written to trajectory.csv, whose sign the state itself does not determine. */
void kept_states_add(StoredStates* kept, Sim* sim, const Quat* rotations, int links);
/* Frees all states and zeroes the list. */
void kept_states_free(StoredStates* kept);
/* Sets rotations (links) to the link quaternions in the stored state from which the run starts. Leaves them unchanged
 * if the run starts from the scene's key `initial`. */
void kept_states_read_start_rotations(const Model* model, Quat* rotations);
/* Writes all states to the folder `run` and deletes the states of an earlier run in this folder. Returns STATUS_IO with
 * a diagnostic if a file cannot be written. The list is not changed. */
Status kept_states_write(const StoredStates* kept, const char* run, Diagnostics* diagnostics);

#endif

/* States that a run folder keeps (run/states.c). Private to run/. */
#ifndef SDRS_RUN_STATES_H
#define SDRS_RUN_STATES_H

#include "run/run.h"

typedef struct {
  int step;
  NumberFile file;
} KeptState;
typedef struct {
  KeptState* items;
  int count, capacity;
} KeptStates;

/* Adds a copy of the current state and of the quaternions in the last written row (links). */
void kept_states_add(KeptStates* kept, Sim* sim, const Quat* rotations, int links);
/* Frees all states and zeroes the list. */
void kept_states_free(KeptStates* kept);
/* Sets the quaternions (links) to those of the model's start state; leaves them unchanged if it has none. */
void kept_states_rotations(const Model* model, Quat* rotations);
/* Writes all states and deletes those that the folder `run` had before. Returns STATUS_IO with a diagnostic. The list
 * stays unchanged. */
Status kept_states_write(const KeptStates* kept, const char* run, Diagnostics* diagnostics);

#endif

/* Private to run/: the states that a run folder keeps (run/states.c). */
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

/* The present state, with the quaternions that the last row was written with (links). Both are copied. */
void kept_states_add(KeptStates* kept, Sim* sim, const Quat* rotations, int links);
/* Frees all states and zeroes the list. */
void kept_states_free(KeptStates* kept);
/* Those of the state that the model's run begins in (links); where it has none, they stay as they are. */
void kept_states_rotations(const Model* model, Quat* rotations);
/* All of them instead of what the folder `run` had. STATUS_IO with a diagnostic. The list stays. */
Status kept_states_write(const KeptStates* kept, const char* run, Diagnostics* diagnostics);

#endif

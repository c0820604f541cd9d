/* Private to differentiate/: internals of recordings, and the parts of thin ones (differentiate/parts.c). */
#ifndef SDRS_DIFFERENTIATE_RECORDING_H
#define SDRS_DIFFERENTIATE_RECORDING_H

#include "differentiate/differentiate.h"

/* Number of states before the first row of a run that starts from a recorded state. */
enum { STATES_BEFORE = 2 };

/* Creates a recording of the data that the adjoint needs, without rates and forces, for `steps` steps after first_row,
 * with initial room for `contacts` contacts in total. Freed with recording_destroy. */
void recording_create_part(Recording* recording, const Model* model, int first_row, int steps, int contacts);
/* Adds a state before the entry of a part, in order of time. q[nq] and pose[links] are copied. */
void recording_add_before(Recording* recording, const RecordedState* what, const double* q, const Pose* pose);
/* Appends the present state of the run as a row, with the states inside its step; a part's first row has none. For
 * whole recordings. Allocates while the arrays of states and contacts grow. */
void recording_keep_row(Recording* recording, Sim* sim, int row);
/* Frees unused room of contacts and states after the last row. Invalidates pointers into them. */
void recording_trim(Recording* recording);
/* Returns the substep that led to state `index` >= 1, with the states before it. Borrowed from the recording. */
RecordedStep recording_step_to(const Recording* recording, int index);
/* Performs the step that leads to row >= 1, with the substeps of the options if given. */
StepReport recording_step(Sim* sim, const RecordOptions* options, int row);

/* Parts: a run in stretches, each with its initial state, and either held or recomputed (docs/derivations/adjoint.md,
 * A18). */
typedef struct RunParts RunParts;
/* Creates the parts at the start of a run of `steps` steps. Copies options with substeps[steps]; options->memory
 * [bytes] is the limit. Freed with run_parts_destroy. */
RunParts* run_parts_create(const Model* model, Sim* sim, int steps, const RecordOptions* options);
/* Frees the parts and everything they own. Accepts NULL. */
void run_parts_destroy(RunParts* parts);
/* Records the present state as `row`. Call after each step. At the memory limit it discards recorded states, which
 * run_parts_last recomputes. */
void run_parts_add(RunParts* parts, Sim* sim, int row);
/* Returns the last part, recomputed if not held. Borrowed until the next call. */
Recording* run_parts_last(RunParts* parts);
/* Drops the part returned last and returns the one before it; NULL: there is none. Owned by the parts. */
Recording* run_parts_before(RunParts* parts);
/* Bytes held, their maximum so far, and number of recomputed steps. */
typedef struct {
  size_t held, most;
  int64_t repeated;
} RunPartsUse;
/* Returns bytes and steps since the parts were created. */
RunPartsUse run_parts_use(const RunParts* parts);

#endif

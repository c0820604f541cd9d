/* Private to differentiate/: recordings from the inside, and the parts of thin ones (differentiate/parts.c). */
#ifndef SDRS_DIFFERENTIATE_RECORDING_H
#define SDRS_DIFFERENTIATE_RECORDING_H

#include "differentiate/differentiate.h"

/* States before the first row that a run which begins in a recorded state has. */
enum { STATES_BEFORE = 2 };

/* What a row needs to be gone through backwards, for `steps` steps after first_row and so many contacts of them all, to
 * begin with; rates and forces are left out. Freed with recording_destroy. */
void recording_create_part(Recording* recording, const Model* model, int first_row, int steps, int contacts);
/* A state before the entry of a part, in the order of time; q, pose: borrowed for the call. q[nq], pose[links]. */
void recording_add_before(Recording* recording, const RecordedState* what, const double* q, const Pose* pose);
/* The present state of the run as a row, with what lies between it and the row before. A part's first row has nothing
 * before it. Of whole rows; allocates while states between and contacts grow. */
void recording_keep_row(Recording* recording, Sim* sim, int row);
/* Give back room that is not needed once nothing will be added. Contacts and states; pointers into them are invalid
 * then. */
void recording_trim(Recording* recording);
/* The substep that led to state `index`, with the states before it. Borrowed from the recording. index: 1 or more. */
RecordedStep recording_step_to(const Recording* recording, int index);
/* One step of a run as the options have it. row: 1 or more; the step that leads to it. */
StepReport recording_step(Sim* sim, const RecordOptions* options, int row);

/* ---- parts: a run in stretches, each with the state that it begins from, and held or run again
 * (docs/derivations/adjoint.md, A18) */
typedef struct RunParts RunParts;
/* At the start of a run of so many steps. options are copied, with substeps (steps); their memory [bytes] is the limit.
 * Freed with run_parts_destroy. */
RunParts* run_parts_create(const Model* model, Sim* sim, int steps, const RecordOptions* options);
/* Frees it and all that it owns; NULL is accepted. */
void run_parts_destroy(RunParts* parts);
/* After each step. Drops rows of parts where memory would run out. */
void run_parts_add(RunParts* parts, Sim* sim, int row);
/* From the last part to the first: NULL before the first. Borrowed until the next call. Runs the part again when it is
 * not held. */
Recording* run_parts_last(RunParts* parts);
/* The part before the one returned last, which is dropped; NULL: that was the first. Owned by the parts. */
Recording* run_parts_before(RunParts* parts);
/* Bytes held, the most so far, and steps that were taken once more. */
typedef struct {
  size_t held, most;
  int64_t repeated;
} RunPartsUse;
/* Bytes and steps since the parts were created; by value. */
RunPartsUse run_parts_use(const RunParts* parts);

#endif

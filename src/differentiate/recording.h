/* Private to differentiate/: internals of recordings, and the intervals ("parts") of thin recordings
 * (differentiate/parts.c). */
#ifndef SDRS_DIFFERENTIATE_RECORDING_H
#define SDRS_DIFFERENTIATE_RECORDING_H

#include "differentiate/differentiate.h"

/* Number of states that a step from a recorded state needs before the first row. */
enum { STATES_BEFORE = 2 };

/* Creates a recording of one part, with the data for the adjoint but without rates and forces. The part has `steps`
 * steps after first_row. contacts: initial capacity for contacts, in total. The caller frees the recording with
 * recording_destroy. */
void recording_create_segment(Recording* recording, const Model* model, int first_row, int steps, int contacts);
/* Adds a state before the entry of a part. Call in order of time. Copies `what`, q[nq] and pose[links]. */
void recording_add_earlier_state(Recording* recording, const RecordedState* what, const double* q, const Pose* pose);
/* Appends the present state of the run as a row, with the states inside its step. The first row of a part has no states
 * inside. Not for thin recordings. Allocates while states and contacts grow. */
void recording_store_row(Recording* recording, Sim* sim, int row);
/* Frees unused capacity for contacts and states. Invalidates pointers into these arrays. */
void recording_trim(Recording* recording);
/* Returns the substep that led to state `index` >= 1, and the states before the substep. Borrowed from the recording.
 */
RecordedStep recording_find_step(const Recording* recording, int index);
/* Performs the step that leads to row >= 1, with the substeps of the options if given. */
StepReport recording_step(Sim* sim, const RecordOptions* options, int row);

/* Intervals of a run, each with its initial state. The rows of a part are stored or recomputed
 * (docs/derivations/adjoint.md, A18). */
typedef struct RunSegments RunSegments;
/* Creates the parts at the start of a run of `steps` steps. Copies options with substeps[steps]. options->memory limits
 * the memory [bytes]. The caller frees the parts with run_segments_destroy. */
RunSegments* run_segments_create(const Model* model, Sim* sim, int steps, const RecordOptions* options);
/* Frees the parts and all memory owned by the parts. Accepts NULL. */
void run_segments_destroy(RunSegments* parts);
/* Records the present state as `row`. Call after each step. At the memory limit, discards recorded states, which
 * run_segments_last recomputes. */
void run_segments_add_row(RunSegments* parts, Sim* sim, int row);
/* Returns the last part, and recomputes its rows if not stored. Borrowed until the next call. */
Recording* run_segments_last(RunSegments* parts);
/* Discards the part returned last, and returns the part before it. Returns NULL if there is none. Owned by the parts.
 */
Recording* run_segments_previous(RunSegments* parts);
/* Memory of the parts [bytes], now and at most so far, and the number of recomputed steps. */
typedef struct {
  size_t held, most;
  int64_t repeated;
} RunSegmentsUse;
/* Returns memory and recomputed steps since the parts were created. */
RunSegmentsUse run_segments_use(const RunSegments* parts);

#endif

/* Private to differentiate/: storage of recordings, and segments of runs that are recorded with limited memory
 * (differentiate/parts.c). */
#ifndef SDRS_DIFFERENTIATE_RECORDING_H
#define SDRS_DIFFERENTIATE_RECORDING_H

#include "differentiate/differentiate.h"

/* Number of earlier states on which a step depends, besides its initial state. */
enum { STATES_BEFORE = 2 };

/* Allocates the recording of a run segment: the `steps` steps after row first_row, without joint velocities and forces.
 * contacts: number of contacts for which memory is reserved. The caller frees it with recording_destroy. */
void recording_create_segment(Recording* recording, const Model* model, int first_row, int steps, int contacts);
/* Stores a state before the first row of a segment. Call it in order of time. Copies the state, q[nq] and pose[links].
 */
void recording_add_earlier_state(Recording* recording, const RecordedState* state, const double* q, const Pose* pose);
/* Appends the current state of the simulation as a row, with the states at the ends of its substeps. The first row of a
 * segment has no substeps. Not for selective recordings. Allocates memory. */
void recording_store_row(Recording* recording, Sim* sim, int row);
/* Frees unused capacity for contacts and states. Invalidates pointers into these arrays. */
void recording_trim(Recording* recording);
/* Returns the substep that ended in the recorded state `index` >= 1, with the earlier states on which it depends.
 * Borrowed from the recording. */
RecordedStep recording_find_step(const Recording* recording, int index);
/* Advances the simulation by the step that ends at `row` >= 1, with the substeps of the options if given. */
StepReport recording_step(Sim* sim, const RecordOptions* options, int row);

/* Segments of a run (checkpointing). Each segment stores its initial state; its rows are stored or recomputed
 * (docs/derivations/adjoint.md, A18). */
typedef struct RunSegments RunSegments;
/* Creates the segments at the start of a run. Copies the options and their substeps[steps]. options->memory limits the
 * memory [bytes]. The caller frees the segments with run_segments_destroy. */
RunSegments* run_segments_create(const Model* model, Sim* sim, int steps, const RecordOptions* options);
/* Frees the segments. Accepts NULL. */
void run_segments_destroy(RunSegments* segments);
/* Stores the current state as `row`. Call it after each step. At the memory limit, discards stored rows of the oldest
 * segments. */
void run_segments_add_row(RunSegments* segments, Sim* sim, int row);
/* Returns the last segment, with recomputed rows if necessary. Owned by the segments, valid until the next call. */
Recording* run_segments_last(RunSegments* segments);
/* Discards the segment that was returned last, and returns the segment before it, or NULL. Owned by the segments. */
Recording* run_segments_previous(RunSegments* segments);
/* Memory of the segments, present and largest [bytes], and number of recomputed steps. */
typedef struct {
  size_t used, peak;
  int64_t recomputed_steps;
} RunSegmentsUse;
RunSegmentsUse run_segments_use(const RunSegments* segments);

#endif

/* Forward sensitivities of all rows of a recorded run (docs/derivations/identify.md, Q1). */
#include <assert.h>

#include "differentiate/recording.h"

bool recording_forward(StepForward* f, const Recording* r, ForwardVisit visit, void* context, int* step) {
  assert(!r->selection && !r->segments);
  step_forward_begin(f, recording_state_q(r, &r->states[0]), recording_state_pose(r, &r->states[0]));
  visit(context, f, 0);
  for (int index = 1; index < r->state_count; index++) {
    RecordedStep recorded = recording_find_step(r, index);
    *step = r->states[index].step;
    if (!step_forward_advance(f, &recorded)) return false;
    if (r->states[index].row) visit(context, f, *step);
  }
  return true;
}

/* Private to optimize/: contact that changes over the iterations (TaskContinuation), in the scenes of all scenarios.
 * What is in force is a function of the number of the iteration alone, so checkpoints need not hold it. */
#ifndef SDRS_OPTIMIZE_CONTINUATION_H
#define SDRS_OPTIMIZE_CONTINUATION_H

#include "optimize/optimization.h"

/* The contact of iteration 0. STATUS_BAD_INPUT with diagnostics: a law without the key, or an end that is never
 * reached. */
Status continuation_start(Optimization* o, Diagnostics* diagnostics);
/* The contact of an iteration; was there another in force? */
bool continuation_set(Optimization* o, int iteration);
/* Is the contact of this iteration not yet the last one? */
bool continuation_goes_on(const Optimization* o, int iteration);
/* Before iteration + 1: its contact, and the design that stands under it. STATUS_INTERRUPTED: nothing has changed. */
Status continuation_advance(Optimization* o);
/* An optimizer as at the start: what it remembers is of another loss. */
void continuation_forget(Optimization* o);

#endif

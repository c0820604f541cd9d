/* Private to base/. Decides from the measured gain of earlier loops whether a parallel loop runs on several threads or
 * on the calling thread only. */
#ifndef SDRS_BASE_PARALLEL_ACCOUNT_H
#define SDRS_BASE_PARALLEL_ACCOUNT_H

#include "base/base.h"

/* Balance of the time that a calling thread gains and loses by running its loops on several threads. On a loaded
 * machine a loop waits at its end until the other threads get a processor. When the balance becomes negative, the
 * thread runs its loops serially for a time proportional to the loss. Losses therefore stay below one sixth of the
 * running time. */
typedef struct {
  double balance;      /* recent gain minus recent waiting time, between 0 and BALANCE_MAX [s] */
  double serial_until; /* time until which loops run on the calling thread only [s, timer_now] */
} ParallelBalance;

/* Time for which loops run serially after a loss, relative to the loss. */
#define SERIAL_TIME_PER_LOSS 5.0
/* Upper limit of the balance [s]. 0.02 s are a few time slices of the scheduler. */
#define BALANCE_MAX 0.02

/* Measurements of one loop on several threads. */
typedef struct {
  double work;   /* processor time that the calling thread spent on its indices [s] */
  double waited; /* time that the calling thread waited before its first index and after its last one [s] */
  int ran;       /* number of indices that the calling thread ran */
} ParallelLoopTimes;

/* Updates the balance after a parallel loop over `count` indices that ended at the time `now` [s]. The indices of other
 * threads are assumed to cost as much as the indices of the calling thread: gain = work (count - ran) / ran - waited.
 * Does not allocate. Cannot fail. */
static inline void parallel_balance_update(ParallelBalance* state, const ParallelLoopTimes* times, int count,
                                           double now) {
  double saved = times->ran > 0 ? times->work * (count - times->ran) / times->ran : 0;
  state->balance += saved - times->waited;
  if (state->balance > BALANCE_MAX) state->balance = BALANCE_MAX;
  if (state->balance >= 0) return;
  state->serial_until = now - SERIAL_TIME_PER_LOSS * state->balance;
  state->balance = 0;
}

#endif

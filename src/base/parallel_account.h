/* Decides whether parallel loops are currently divided among threads. Private to base/. */
#ifndef SDRS_BASE_PARALLEL_ACCOUNT_H
#define SDRS_BASE_PARALLEL_ACCOUNT_H

#include "base/base.h"

/* Balance of the time that a thread gains and loses by sharing its loops with other threads.
 * The balance is the time gained by sharing minus the time spent waiting. On a loaded machine a loop waits at its end
 * until the other threads get a processor. When the balance becomes negative, the thread runs its loops without other
 * threads for a time proportional to the loss. Losses therefore stay below one sixth of the total. */
typedef struct {
  double balance; /* recent gain minus recent waiting time, at least 0 [s] */
  double alone;   /* time until which loops run without other threads [s, timer_now] */
} ParallelBalance;

/* After a loss, a thread runs its loops without other threads for this many times the loss. */
#define SERIAL_TIME_PER_LOSS 5.0
/* Upper limit of the balance [s]. 0.02 s are a few time slices of the scheduler. */
#define BALANCE_MAX 0.02

/* Measurements of one shared loop. */
typedef struct {
  double work;   /* processor time that the calling thread spent in its indices [s] */
  double waited; /* time that the calling thread waited before its first index and after its last one [s] */
  int ran;       /* number of indices that the calling thread ran */
} ParallelLoopTimes;

/* Updates the balance after a loop over `count` indices that ended at `now` [s]. The indices of other threads are
 * assumed to cost as much as the indices of the calling thread, so gain = work (count - ran) / ran - waited. Does not
 * allocate. Cannot fail. */
static inline void parallel_balance_update(ParallelBalance* account, const ParallelLoopTimes* cost, int count,
                                           double now) {
  double saved = cost->ran > 0 ? cost->work * (count - cost->ran) / cost->ran : 0;
  account->balance += saved - cost->waited;
  if (account->balance > BALANCE_MAX) account->balance = BALANCE_MAX;
  if (account->balance >= 0) return;
  account->alone = now - SERIAL_TIME_PER_LOSS * account->balance;
  account->balance = 0;
}

#endif

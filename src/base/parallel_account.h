/* Private to base/: decides whether loops are currently divided among threads. */
#ifndef SDRS_BASE_PARALLEL_ACCOUNT_H
#define SDRS_BASE_PARALLEL_ACCOUNT_H

#include "base/base.h"

/* On a loaded machine a loop waits at its end until the other threads get a processor. This can take a thousand times
 * as long as the time that sharing saves. Each thread that starts loops therefore keeps a balance of time gained by
 * sharing minus time spent waiting. When the balance becomes negative the thread runs its loops alone for a time
 * proportional to the loss, so that losses stay below one sixth of the total. Results of the loops do not depend on
 * this. */
typedef struct {
  double balance; /* recent gain minus waiting time, at least 0 [s] */
  double alone;   /* no sharing before this time [s, timer_now] */
} ParallelAccount;

/* Time for which a thread runs its loops alone after a loss, relative to the loss. */
#define ALONE_PER_LOSS 5.0
/* Largest balance [s]: a few time slices of the scheduler. */
#define GAINS_KEPT 0.02

/* Measurements of one shared loop. */
typedef struct {
  double work;   /* processor time of the calling thread in its indices [s] */
  double waited; /* time that the calling thread waited before its first index and after its last one [s] */
  int ran;       /* number of indices that the calling thread ran */
} ParallelCost;

/* Updates the balance after a loop over `count` indices that ended at `now` [s]. The indices of other threads are
 * assumed to cost as much as those of the calling thread: gain = work (count - ran) / ran - waited. Does not allocate,
 * cannot fail. */
static inline void parallel_enter_cost(ParallelAccount* account, const ParallelCost* cost, int count, double now) {
  double saved = cost->ran > 0 ? cost->work * (count - cost->ran) / cost->ran : 0;
  account->balance += saved - cost->waited;
  if (account->balance > GAINS_KEPT) account->balance = GAINS_KEPT;
  if (account->balance >= 0) return;
  account->alone = now - ALONE_PER_LOSS * account->balance;
  account->balance = 0;
}

#endif

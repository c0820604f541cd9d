/* Private to base/: decides whether loops are shared among threads now. */
#ifndef SDRS_BASE_PARALLEL_ACCOUNT_H
#define SDRS_BASE_PARALLEL_ACCOUNT_H

#include "base/base.h"

/* On a loaded machine a loop waits at its end until the other threads get a processor, which can take a thousand times
 * what they save. Each thread that starts loops therefore accounts gains against waiting times, and after a loss runs
 * alone for a time proportional to it, so that losses stay below one sixth of the total. Results do not depend on it.
 */
typedef struct {
  double balance; /* recent gain minus waiting time, at least 0 [s] */
  double alone;   /* no sharing before this time [s, timer_now] */
} ParallelAccount;

/* Time without sharing after a loss, relative to the loss. */
#define ALONE_PER_LOSS 5.0
/* Largest balance kept against later losses: a few scheduler time slices [s]. */
#define GAINS_KEPT 0.02

/* Measurements of one shared loop. */
typedef struct {
  double work;   /* processor time of the calling thread in its indices [s] */
  double waited; /* before its first index and after its last one [s] */
  int ran;       /* indices that it ran itself */
} ParallelCost;

/* Accounts for a loop over `count` indices that ended at `now` [s]. The indices of other threads would have cost what
 * the caller's own did: gain = work (count - ran) / ran - waited. Does not allocate, cannot fail. */
static inline void parallel_enter_cost(ParallelAccount* account, const ParallelCost* cost, int count, double now) {
  double saved = cost->ran > 0 ? cost->work * (count - cost->ran) / cost->ran : 0;
  account->balance += saved - cost->waited;
  if (account->balance > GAINS_KEPT) account->balance = GAINS_KEPT;
  if (account->balance >= 0) return;
  account->alone = now - ALONE_PER_LOSS * account->balance;
  account->balance = 0;
}

#endif

/* Private to base/: is it worth sharing loops among threads now? */
#ifndef SDRS_BASE_PARALLEL_ACCOUNT_H
#define SDRS_BASE_PARALLEL_ACCOUNT_H

#include "base/base.h"

/* On a machine that is busy with other things a loop waits at its end until the other threads have been given a
 * processor, which may take a thousand times what they take off it. So what was gained and what was waited is kept
 * account of, one for every thread that begins loops, and after a loss so long a time is spent alone that losses stay
 * one part in six of all. Nothing of a result depends on it. */
typedef struct {
  double balance; /* gained less waited, of late; at least 0 [s] */
  double alone;   /* until then nothing is shared [s, timer_now] */
} ParallelAccount;

/* Time alone after a loss, in times of that loss. */
#define ALONE_PER_LOSS 5.0
/* Earlier gains count up to so much against a loss: a few turns of a scheduler [s]. */
#define GAINS_KEPT 0.02

/* Measurements of one shared loop. */
typedef struct {
  double work;   /* processor time of the calling thread in its indices [s] */
  double waited; /* before its first index and after its last one [s] */
  int ran;       /* indices that it ran itself */
} ParallelCost;

/* A loop over `count` indices that ended at `now` [s]. The indices that others ran would have cost what the caller's
 * own did: gain = work (count - ran) / ran - waited. Changes *account; allocates nothing, cannot fail. */
static inline void parallel_enter_cost(ParallelAccount* account, const ParallelCost* cost, int count, double now) {
  double saved = cost->ran > 0 ? cost->work * (count - cost->ran) / cost->ran : 0;
  account->balance += saved - cost->waited;
  if (account->balance > GAINS_KEPT) account->balance = GAINS_KEPT;
  if (account->balance >= 0) return;
  account->alone = now - ALONE_PER_LOSS * account->balance;
  account->balance = 0;
}

#endif

/* Private to differentiate/: sweep of a joint over its range (differentiate/loss_clearance.c). */
#ifndef SDRS_DIFFERENTIATE_SWEEP_H
#define SDRS_DIFFERENTIATE_SWEEP_H

#include "differentiate/loss.h"

/* Most degrees of freedom of a joint that can be swept. */
enum { SWEEP_DOF_MAX = 3 };

typedef struct {
  double clearance;         /* m; negative: depth of overlap */
  double at_least;          /* proved lower bound */
  double at[SWEEP_DOF_MAX]; /* joint coordinates of the minimum (count) */
  int count;
} SweepReport;

/* Returns true if the link's joint can be swept: plain coordinates, at most SWEEP_DOF_MAX, slides with limits. Reports
 * nothing; loss_clearance_prepare reports the reason. */
bool sweep_is_possible(const Model* model, int link);
/* Returns the clearance of a term of kind clearance. Reads row 0 of the recording only. */
SweepReport loss_clearance_report(const LossTerm* term, const Recording* recording);

#endif

/* Private to differentiate/: sweep of a joint over its range (differentiate/loss_clearance.c). */
#ifndef SDRS_DIFFERENTIATE_SWEEP_H
#define SDRS_DIFFERENTIATE_SWEEP_H

#include "differentiate/loss.h"

/* Largest number of degrees of freedom of a swept joint. */
enum { SWEEP_DOF_MAX = 3 };

typedef struct {
  double clearance;         /* smallest distance [m]; negative for an overlap of that depth */
  double at_least;          /* proved lower bound of clearance [m] */
  double at[SWEEP_DOF_MAX]; /* joint coordinates at the smallest distance (count) */
  int count;
} SweepReport;

/* Returns true if the link's joint can be swept. Such a joint has 1 to SWEEP_DOF_MAX degrees of freedom, no rotation by
 * a quaternion, and limits on slides and screws. Adds no diagnostics. loss_clearance_prepare reports the reason. */
bool sweep_is_possible(const Model* model, int link);
/* Returns the clearance of a term of the kind clearance. Reads only row 0 of the recording. */
SweepReport loss_clearance_report(const LossTerm* term, const Recording* recording);

#endif

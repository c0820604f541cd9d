/* Private to differentiate/: smallest distance of a link over the range of its joint (differentiate/loss_clearance.c).
 */
#ifndef SDRS_DIFFERENTIATE_SWEEP_H
#define SDRS_DIFFERENTIATE_SWEEP_H

#include "differentiate/loss.h"

/* Largest number of degrees of freedom of a swept joint. */
enum { SWEEP_DOF_MAX = 3 };

typedef struct {
  double clearance;                  /* smallest distance [m]; negative for an overlap of that depth */
  double lower_bound;                /* proved lower bound of the clearance [m] */
  double coordinates[SWEEP_DOF_MAX]; /* joint coordinates at the smallest distance (size: count) */
  int count;
} SweepReport;

/* Returns true if the link's joint can be swept over its range: 1 to SWEEP_DOF_MAX degrees of freedom, no ball joint,
 * and limits on slides and screws. */
bool sweep_is_possible(const Model* model, int link);
/* Returns the smallest distance of the term's link from `other` over the range of its joint. Reads only row 0 of the
 * recording. */
SweepReport loss_clearance_report(const LossTerm* term, const Recording* recording);

#endif

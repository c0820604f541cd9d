/* Private to differentiate/: the range of a joint, swept (differentiate/loss_clearance.c). */
#ifndef SDRS_DIFFERENTIATE_SWEEP_H
#define SDRS_DIFFERENTIATE_SWEEP_H

#include "differentiate/loss.h"

/* Most degrees of freedom of a joint whose range is swept. */
enum { SWEEP_DOF_MAX = 3 };

typedef struct {
  double clearance;         /* m, negative: so deep */
  double at_least;          /* proved: it is nowhere less */
  double at[SWEEP_DOF_MAX]; /* coordinates of the joint where it is least  (count) */
  int count;
} SweepReport;

/* Has the link's joint a range that can be swept: plain coordinates, at most SWEEP_DOF_MAX, slides with limits? Never
 * complains; loss_clearance_prepare says why not. */
bool sweep_is_possible(const Model* model, int link);
/* Of a term of kind clearance. Looks at row 0 of the recording alone. */
SweepReport loss_clearance_report(const LossTerm* term, const Recording* recording);

#endif

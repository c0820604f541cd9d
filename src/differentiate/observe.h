/* Private to differentiate/: observables with a file of their own (docs/derivations/observables.md). */
#ifndef SDRS_DIFFERENTIATE_OBSERVE_H
#define SDRS_DIFFERENTIATE_OBSERVE_H

#include "differentiate/loss.h"

/* Computes the readings of six range sensors at the origin of a link's frame, along x, -x, y, -y, z and -z of the frame
 * [m] (O30). out[OBSERVABLE_COLUMNS]. A reading is NaN if its ray meets no other link, and 0 inside of a hull. */
void range_value(const Observation* o, int link, double* out);
/* Adds the derivatives of the weighted sum of the six readings with respect to poses and shapes. A reading of 0 or NaN
 * has no derivatives. bar[OBSERVABLE_COLUMNS]: weights. */
void range_seed(const Observation* o, int link, const double* bar, const ObservationBars* out);

#endif

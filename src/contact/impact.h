/* Private to contact/: what an impact takes away (docs/derivations/impact.md). A pair's potential U becomes
 *   W(U) = integral from 0 to U of  phi(1 + (y - y_t) / eta)  dU',     y = sqrt(s U / N)                         (I1)
 * with y_t of the time step before: the pair's force is the barrier's times W', which is 1 at rest, grows with the
 * speed of approach and is 0 where the pair parts faster than the rest speed. W is convex and not
 * below its tangent of slope 1 at y_t: no energy is made (I4). Everything for stiffness 1. */
#ifndef SDRS_CONTACT_IMPACT_H
#define SDRS_CONTACT_IMPACT_H

#include "contact/plane.h"

typedef struct {
  double support;    /* s [m] */
  double rest_speed; /* nothing leaves faster [m/s]; 0: the bare barrier, W = U */
  double dt;         /* s */
} ImpactParameters;

/* y of a potential U [1/m]; > 0 in contact. */
double impact_compression(double support, double potential);

typedef struct {
  double value;         /* W [1/m] */
  double first, second; /* dW/dU, d2W/dU2 [m]: second (dU/dx)^2 vanishes with U */
  double by_before;     /* d first / d y_t */
  double by_support;    /* d first / ds at fixed U and y_t [1/m] */
  double by_rest_speed; /* d first / d(rest speed) [s/m] */
} Impact;
Impact impact_eval(const ImpactParameters* parameters, double potential, double before);

/* From derivatives of U to those of W: forces, moments and Hessian. */
void impact_scale(const Impact* impact, bool half_space, PairDerivatives* d);

#endif

/* Constants and functions shared by impacts of bodies (docs/derivations/impact.md, I7-I10) and of coordinates at limits
 * (I15). */
#ifndef SDRS_CONTACT_RESTITUTION_H
#define SDRS_CONTACT_RESTITUTION_H

#include "contact/contact.h"

/* IMPACT_ENTRY: an impact begins at this clearance over the contact range, or distance from a limit over its margin.
 * IMPACT_TIE: impacts that are farther from their beginning by less than this begin at the same time. */
#define IMPACT_ENTRY 0.995
#define IMPACT_TIE 1e-4
/* Accuracy of the beginning of an impact at the end of a substep, in the same units. */
#define IMPACT_KNOWN 1e-12
/* Within this distance an impact is exactly at its beginning, in the same units. */
#define IMPACT_BEGUN 1e-9
/* Fraction of the rebound displacement by which the spring of a recorded step acts beyond its rest position.
 * Differences with respect to lengths exceed its deflection. */
#define IMPACT_BEYOND 0.05

/* Largest displacement of a coordinate in a short substep, relative to the margin (I15). */
#define STOP_WAY 0.0625
/* Largest displacement of the bodies in the substep that measures the speed, relative to the support. The contact force
 * in that substep takes part of the speed, 1e-4 of it at 1/4. */
#define IMPACT_WAY 0.25

/* Halves *length [s] until speed * *length <= most. speed >= 0 and most > 0 in consistent units. */
static inline void impact_halve(double* length, double speed, double most) {
  while (speed * *length > most) *length *= 0.5;
}
/* Returns a quintic step function of x, which is 0 below x = 0, 1 above x = 1, and twice continuously differentiable.
 */
static inline double impact_blend(double x) { return x <= 0 ? 0 : x >= 1 ? 1 : x * x * x * (10 + x * (6 * x - 15)); }
/* Returns the derivative of impact_blend with respect to x. */
static inline double impact_blend_slope(double x) { return x <= 0 || x >= 1 ? 0 : 30 * x * x * (1 - x) * (1 - x); }

#endif

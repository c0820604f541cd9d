/* Constants and functions for impacts of bodies (docs/derivations/impact.md, I7-I10) and for impacts of joint
 * coordinates at their limits (I15). */
#ifndef SDRS_CONTACT_RESTITUTION_H
#define SDRS_CONTACT_RESTITUTION_H

#include <assert.h>

#include "contact/contact.h"

/* IMPACT_ENTRY: clearance divided by contact range at which an impact begins. For a joint coordinate near its limit,
 * distance from the limit divided by the margin of the limit. IMPACT_TIE: two impacts begin at the same time if their
 * values of clearance divided by range differ by less. */
#define IMPACT_ENTRY 0.995
#define IMPACT_TIE 1e-4
/* A substep ends when an impact begins. Tolerance for the clearance divided by contact range at that time
 * (IMPACT_ENTRY). */
#define IMPACT_EVENT_TOLERANCE 1e-12
/* An impact counts as beginning exactly now if clearance divided by contact range differs from IMPACT_ENTRY by less
 * than this value. */
#define IMPACT_START_TOLERANCE 1e-9
/* Distance beyond the rest position at which the spring of an impact still acts in a recorded step, as a fraction of
 * the rebound displacement. The extra distance is needed by finite differences with respect to lengths, which move the
 * bodies by more than the deflection of the spring. */
#define IMPACT_SPRING_OVERTRAVEL 0.05

/* Largest displacement of a coordinate in a short substep, divided by the margin of its limit (I15). */
#define STOP_MAX_DISPLACEMENT 0.0625
/* Largest displacement of the bodies in the substep that measures their approach speed, divided by the support (contact
 * range of a vertex). The contact force in this substep reduces the speed by 1e-4 for a displacement of 1/4. */
#define IMPACT_MAX_DISPLACEMENT 0.0625

/* Halves the length of a substep *length [s] until the displacement speed * *length is at most max_displacement. speed
 * >= 0 and max_displacement > 0 in consistent units (asserted). */
static inline void impact_halve_substep(double* length, double speed, double max_displacement) {
  assert(!(speed < 0) && max_displacement > 0);
  while (speed * *length > max_displacement) *length *= 0.5;
}
/* Returns a smooth step from 0 (x <= 0) to 1 (x >= 1). It is a quintic polynomial and twice continuously
 * differentiable. */
static inline double impact_blend(double x) { return x <= 0 ? 0 : x >= 1 ? 1 : x * x * x * (10 + x * (6 * x - 15)); }
/* Returns the derivative of impact_blend with respect to x. */
static inline double impact_blend_derivative(double x) { return x <= 0 || x >= 1 ? 0 : 30 * x * x * (1 - x) * (1 - x); }

#endif

/* Force limit of drives (docs/derivations/drives.md, M2). */
#include <assert.h>

#include "control/control.h"

/* Returns the limited force in the transition, for limit 1, demand x and relative width w. t: position in the
 * transition, 0 to 1. first = t - I1 and second = t^2/2 - I2. I1: integral of the smoothstep S(t) = 10 t^3 - 15 t^4 + 6
 * t^5; I2: integral of I1. */
static LimitedForce limit_in_transition(double x, double w) {
  double t = (x - (1 - w)) / (2 * w), t2 = t * t, t4 = t2 * t2;
  double first = t - t4 * (t2 - 3 * t + 2.5), second = 0.5 * t2 - t4 * t * (t2 / 7 - 0.5 * t + 0.5);
  LimitedForce out;
  out.force = 1 - w + 2 * w * first;
  out.slope = 1 - t2 * t * (10 - 15 * t + 6 * t2);
  out.energy = 0.5 * (1 - w) * (1 - w) + 2 * w * ((1 - w) * t + 2 * w * second);
  return out;
}

LimitedForce limited_force(double demand, double limit, double width) {
  assert(!(limit < 0) && !(width < 0) && !(width >= 1));
  if (!(limit > 0)) return (LimitedForce){demand, 1, 0.5 * demand * demand};
  double x = fabs(demand) / limit;
  if (x <= 1 - width) return (LimitedForce){demand, 1, 0.5 * demand * demand};
  LimitedForce out = limit_in_transition(fmin(x, 1 + width), width);
  if (x > 1 + width) out = (LimitedForce){1, 0, out.energy + x - (1 + width)};
  return (LimitedForce){copysign(limit * out.force, demand), out.slope, limit * limit * out.energy};
}

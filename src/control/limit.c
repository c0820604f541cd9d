/* Drives that can do no more than so much (docs/derivations/drives.md, M2). */
#include "control/control.h"

/* Half the width of the blend, in limits: a force is what is wanted up to 0.95 of the limit, the limit from 1.05 on. */
#define BLEND 0.05

/* t - I1 and t^2/2 - I2 with S(t) = 10 t^3 - 15 t^4 + 6 t^5, I1 its integral and I2 that of I1; 1 - S. */
static LimitedForce blend(double x) {
  double t = (x - (1 - BLEND)) / (2 * BLEND), t2 = t * t, t4 = t2 * t2;
  double first = t - t4 * (t2 - 3 * t + 2.5), second = 0.5 * t2 - t4 * t * (t2 / 7 - 0.5 * t + 0.5);
  LimitedForce out;
  out.force = 1 - BLEND + 2 * BLEND * first;
  out.slope = 1 - t2 * t * (10 - 15 * t + 6 * t2);
  out.energy = 0.5 * (1 - BLEND) * (1 - BLEND) + 2 * BLEND * ((1 - BLEND) * t + 2 * BLEND * second);
  return out;
}

LimitedForce limited_force(double wanted, double limit) {
  if (!(limit > 0)) return (LimitedForce){wanted, 1, 0.5 * wanted * wanted};
  double x = fabs(wanted) / limit;
  if (x <= 1 - BLEND) return (LimitedForce){wanted, 1, 0.5 * wanted * wanted};
  LimitedForce out = blend(fmin(x, 1 + BLEND));
  if (x > 1 + BLEND) out = (LimitedForce){1, 0, out.energy + x - (1 + BLEND)};
  return (LimitedForce){copysign(limit * out.force, wanted), out.slope, limit * limit * out.energy};
}

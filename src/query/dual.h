/* Forward-mode dual numbers with six derivatives, and 3-vectors of dual numbers. Private to query/. Lane 0 holds the
 * value, lanes 1 to 6 the derivatives. If DUAL_PLAIN is defined before inclusion, a Dual is a plain double, and all
 * values are bit-identical to the values of the dual numbers. */
#ifndef SDRS_QUERY_DUAL_H
#define SDRS_QUERY_DUAL_H

#define LANES 8
#include "base/lanes.h"
#include "linalg/linalg.h"

enum { DUAL_VARIABLES = 6 };
#ifdef DUAL_PLAIN

typedef double Dual;
static inline Dual dual_constant(double x) { return x; }
static inline double dual_value(Dual a) { return a; }
static inline Dual dual_add_constant(Dual a, double by) { return a + by; }
static inline Dual dual_chain(Dual a, double value, double slope) {
  (void)a;
  (void)slope;
  return value;
}
static inline Dual dual_mul(Dual a, Dual b) { return a * b; }

#else

typedef Lanes Dual;

/* Returns a constant, with all derivatives zero. */
static inline Dual dual_constant(double x) { return (Dual){x}; }
static inline double dual_value(Dual a) { return a[0]; }
/* Returns a plus the constant `by`. The derivatives do not change. */
static inline Dual dual_add_constant(Dual a, double by) {
  a[0] += by;
  return a;
}
/* Applies a scalar function f to a by the chain rule, given its value f(a) and its derivative `slope` = f'(a). */
static inline Dual dual_chain(Dual a, double value, double slope) {
  Dual out = a * slope;
  out[0] = value;
  return out;
}
static inline Dual dual_mul(Dual a, Dual b) {
  double value = a[0] * b[0];
  Dual out = a[0] * b + b[0] * a;
  out[0] = value;
  return out;
}

#endif

/* Returns 1 / a; a must not be 0. */
static inline Dual dual_inverse(Dual a) {
  return dual_chain(a, 1 / dual_value(a), -1 / (dual_value(a) * dual_value(a)));
}
static inline Dual dual_div(Dual a, Dual b) { return dual_mul(a, dual_inverse(b)); }
/* Returns sqrt(a). a > 0, because the derivatives at 0 are infinite. */
static inline Dual dual_sqrt(Dual a) {
  double root = sqrt(dual_value(a));
  return dual_chain(a, root, 0.5 / root);
}

typedef struct {
  Dual x, y, z;
} Dual3;

static inline Dual3 dual3_constant(Vec3 v) {
  return (Dual3){dual_constant(v.x), dual_constant(v.y), dual_constant(v.z)};
}
static inline Vec3 dual3_value(Dual3 v) { return vec3(dual_value(v.x), dual_value(v.y), dual_value(v.z)); }
static inline Dual3 dual3_add(Dual3 a, Dual3 b) { return (Dual3){a.x + b.x, a.y + b.y, a.z + b.z}; }
static inline Dual3 dual3_sub(Dual3 a, Dual3 b) { return (Dual3){a.x - b.x, a.y - b.y, a.z - b.z}; }
static inline Dual dual3_dot(Dual3 a, Dual3 b) { return dual_mul(a.x, b.x) + dual_mul(a.y, b.y) + dual_mul(a.z, b.z); }
static inline Dual3 dual3_scale(Dual3 a, Dual s) {
  return (Dual3){dual_mul(a.x, s), dual_mul(a.y, s), dual_mul(a.z, s)};
}

#ifndef DUAL_PLAIN
/* Returns the vector v rotated by the constant matrix r. */
static inline Dual3 dual3_rotate(Mat3 r, Dual3 v) {
  return (Dual3){r.m[0][0] * v.x + r.m[0][1] * v.y + r.m[0][2] * v.z,
                 r.m[1][0] * v.x + r.m[1][1] * v.y + r.m[1][2] * v.z,
                 r.m[2][0] * v.x + r.m[2][1] * v.y + r.m[2][2] * v.z};
}
#endif

#endif

/* Forward-mode dual numbers with six derivatives, and 3-vectors of dual numbers. Private to query/. Lane 0 holds the
 * value, lanes 1 to 6 the derivatives. If DUAL_PLAIN is defined before inclusion, a Dual is a plain double, and all
 * values are bit-identical to the values of the dual numbers. */
#ifndef SDRS_QUERY_DUAL_H
#define SDRS_QUERY_DUAL_H

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
static inline Dual dual_add(Dual a, Dual b) { return a + b; }
static inline Dual dual_sub(Dual a, Dual b) { return a - b; }
static inline Dual dual_times(double factor, Dual a) { return factor * a; }
static inline Dual dual_mul(Dual a, Dual b) { return a * b; }

#else

/* Width of the processor's vectors [doubles]. Arithmetic of wider vectors goes through memory and takes ten times as
 * long. */
#ifdef __AVX512F__
enum { PART_LANES = 8 };
#elif defined __AVX__
enum { PART_LANES = 4 };
#else
enum { PART_LANES = 2 };
#endif
enum { DUAL_LANES = 8, DUAL_PARTS = DUAL_LANES / PART_LANES };
typedef double DualPart __attribute__((vector_size(8 * PART_LANES)));
typedef struct {
  DualPart part[DUAL_PARTS];
} Dual;

static inline double dual_lane(Dual a, int k) { return a.part[k / PART_LANES][k % PART_LANES]; }
static inline void dual_set_lane(Dual* a, int k, double x) { a->part[k / PART_LANES][k % PART_LANES] = x; }
/* Returns the dual number with the given lanes. */
static inline Dual dual_of(const double lanes[DUAL_LANES]) {
  Dual out;
  for (int k = 0; k < DUAL_LANES; k++) dual_set_lane(&out, k, lanes[k]);
  return out;
}
static inline double dual_value(Dual a) { return a.part[0][0]; }
/* Returns a with its value replaced by x. */
static inline Dual dual_with_value(Dual a, double x) {
  a.part[0][0] = x;
  return a;
}
/* Returns a constant, with all derivatives zero. */
static inline Dual dual_constant(double x) { return dual_with_value((Dual){{{0}}}, x); }
static inline Dual dual_add(Dual a, Dual b) {
  for (int k = 0; k < DUAL_PARTS; k++) a.part[k] += b.part[k];
  return a;
}
static inline Dual dual_sub(Dual a, Dual b) {
  for (int k = 0; k < DUAL_PARTS; k++) a.part[k] -= b.part[k];
  return a;
}
static inline Dual dual_times(double factor, Dual a) {
  for (int k = 0; k < DUAL_PARTS; k++) a.part[k] *= factor;
  return a;
}
/* Returns a plus the constant `by`. The derivatives do not change. */
static inline Dual dual_add_constant(Dual a, double by) { return dual_with_value(a, dual_value(a) + by); }
/* Applies a scalar function f to a by the chain rule, given its value f(a) and its derivative `slope` = f'(a). */
static inline Dual dual_chain(Dual a, double value, double slope) {
  return dual_with_value(dual_times(slope, a), value);
}
static inline Dual dual_mul(Dual a, Dual b) {
  double x = dual_value(a), y = dual_value(b);
  Dual out;
  for (int k = 0; k < DUAL_PARTS; k++) out.part[k] = x * b.part[k] + y * a.part[k];
  return dual_with_value(out, x * y);
}

#endif

static inline Dual dual_negate(Dual a) { return dual_times(-1, a); }

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
static inline Dual3 dual3_add(Dual3 a, Dual3 b) {
  return (Dual3){dual_add(a.x, b.x), dual_add(a.y, b.y), dual_add(a.z, b.z)};
}
static inline Dual3 dual3_sub(Dual3 a, Dual3 b) {
  return (Dual3){dual_sub(a.x, b.x), dual_sub(a.y, b.y), dual_sub(a.z, b.z)};
}
static inline Dual dual3_dot(Dual3 a, Dual3 b) {
  return dual_add(dual_add(dual_mul(a.x, b.x), dual_mul(a.y, b.y)), dual_mul(a.z, b.z));
}
static inline Dual3 dual3_scale(Dual3 a, Dual s) {
  return (Dual3){dual_mul(a.x, s), dual_mul(a.y, s), dual_mul(a.z, s)};
}

#ifndef DUAL_PLAIN
/* Returns the scalar product of v with the constant vector (x, y, z). */
static inline Dual dual3_dot_constant(double x, double y, double z, Dual3 v) {
  return dual_add(dual_add(dual_times(x, v.x), dual_times(y, v.y)), dual_times(z, v.z));
}
/* Returns the vector v rotated by the constant matrix r. */
static inline Dual3 dual3_rotate(Mat3 r, Dual3 v) {
  return (Dual3){dual3_dot_constant(r.m[0][0], r.m[0][1], r.m[0][2], v),
                 dual3_dot_constant(r.m[1][0], r.m[1][1], r.m[1][2], v),
                 dual3_dot_constant(r.m[2][0], r.m[2][1], r.m[2][2], v)};
}
#endif

#endif

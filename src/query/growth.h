/* The growth problem in a's frame, in units of the bodies' size. Private to query/. */
#ifndef SDRS_QUERY_GROWTH_H
#define SDRS_QUERY_GROWTH_H

#include "query/query.h"

/* max u over (p, u) with phi_a(p) <= 0, phi_b(R^T (p - u d)) <= 0 (G2): body b stands at u d, with alpha = |r| / u. */
typedef struct {
  const Shape *a, *b;
  Mat3 r;       /* rotation from b's axes to a's */
  Vec3 d;       /* unit, from a's centre to b's, a's axes */
  double scale; /* length unit [m], a power of two */
} GrowthProblem;

/* Unknowns, in units of scale. */
typedef struct {
  Vec3 p;
  double u, va, vb;
} GrowthPoint;

/* phi_a, phi_b at a point, derivatives in a's axes. */
typedef struct {
  ShapeValue a, b;
} GrowthValue;
/* phi_a, phi_b and their derivatives with respect to p / scale, in a's axes. Does not allocate. */
GrowthValue growth_evaluate(const GrowthProblem* problem, const GrowthPoint* x);
/* Proven bounds of the largest u, valid for any p and u (G4), in units of scale. False: no bounds; *low and *high are
 * then undefined. */
bool growth_bounds(const GrowthProblem* problem, const GrowthPoint* x, double* low, double* high);

/* The size of both bodies rounded down to a power of two [m]. */
static inline double growth_scale(const Shape* a, const Shape* b) {
  union {
    double number;
    uint64_t bits;
  } size = {.number = a->outer + b->outer};
  size.bits &= UINT64_C(0x7ff) << 52;
  return size.number;
}

/* Two vectors perpendicular to g; their lengths are about |g| and |g|^2. */
static inline void growth_across(Vec3 g, Vec3 t[2]) {
  bool x = fabs(g.x) > fabs(g.z);
  t[0] = vec3(x ? -g.y : 0, x ? g.x : -g.z, x ? 0 : g.y);
  t[1] = vec3_cross(g, t[0]);
}

/* Result of Newton's method, and bounds of the largest u. */
typedef struct {
  GrowthValue value; /* gradients at the solution; Hessians of the last evaluation, which differ by rounding */
  double low, high;
} GrowthEnd;
/* Multipliers with the least residual of the optimality conditions (G21). False, with *va and *vb unchanged: no such
 * multipliers, because the gradient of phi_b does not oppose the line of centres or that of phi_a is zero. */
bool growth_balance(const GrowthProblem* problem, const GrowthValue* v, double* va, double* vb);
/* Newton's method from *x (query/growth_newton.c). True: converged to *x with positive multipliers, and the bounds in
 * *end prove it. False: *x and *end are undefined. Adds the number of evaluations to *iterations. */
bool growth_newton(const GrowthProblem* problem, GrowthPoint* x, GrowthEnd* end, int* iterations);

/* Point near the end of the barrier's central path, by damped Newton, which always terminates (query/growth_barrier.c).
 * Writes *point with its multipliers; does not read it. Returns the number of Newton steps. */
int growth_barrier(const GrowthProblem* problem, GrowthPoint* point);

#endif

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

/* Values of phi_a and phi_b at a point, with derivatives in a's axes. */
typedef struct {
  ShapeValue a, b;
} GrowthValue;
/* Returns phi_a and phi_b with their derivatives with respect to p / scale, in a's axes. Does not allocate. */
GrowthValue growth_evaluate(const GrowthProblem* problem, const GrowthPoint* x);
/* Sets *low and *high to proven bounds of the largest u, in units of scale. They are valid for any p and u (G4).
 * Returns false, with *low and *high undefined, if there are no bounds. */
bool growth_bounds(const GrowthProblem* problem, const GrowthPoint* x, double* low, double* high);

/* Returns the sum of the outer radii of both bodies, rounded down to a power of two [m]. */
static inline double growth_scale(const Shape* a, const Shape* b) {
  union {
    double number;
    uint64_t bits;
  } size = {.number = a->outer + b->outer};
  size.bits &= UINT64_C(0x7ff) << 52;
  return size.number;
}

/* Sets t to two vectors perpendicular to g, of lengths about |g| and |g|^2. */
static inline void growth_across(Vec3 g, Vec3 t[2]) {
  bool x = fabs(g.x) > fabs(g.z);
  t[0] = vec3(x ? -g.y : 0, x ? g.x : -g.z, x ? 0 : g.y);
  t[1] = vec3_cross(g, t[0]);
}

/* Result of Newton's method, and bounds of the largest u. */
typedef struct {
  GrowthValue value; /* gradients at the solution; Hessians of the last evaluation, which differ from those at the
                        solution by rounding */
  double low, high;
} GrowthEnd;
/* Sets *va and *vb to the multipliers with the least residual of the optimality conditions (G21). Returns false, with
 * *va and *vb unchanged, if the gradient of phi_b does not oppose the line of centres or the gradient of phi_a is
 * zero. */
bool growth_balance(const GrowthProblem* problem, const GrowthValue* v, double* va, double* vb);
/* Newton's method from *x (query/growth_newton.c). Returns true if it converged with positive multipliers and the
 * bounds in *end prove the solution, which is in *x. Otherwise returns false, with *x and *end undefined. Adds the
 * number of evaluations to *iterations. */
bool growth_newton(const GrowthProblem* problem, GrowthPoint* x, GrowthEnd* end, int* iterations);

/* Sets *point, with its multipliers, to a point near the end of the barrier's central path, by damped Newton steps,
 * which always terminate (query/growth_barrier.c). Does not read *point. Returns the number of Newton steps. */
int growth_barrier(const GrowthProblem* problem, GrowthPoint* point);

#endif

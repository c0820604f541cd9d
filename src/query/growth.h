/* The growth problem in a's frame, in units of the bodies' size. Private to query/. */
#ifndef SDRS_QUERY_GROWTH_H
#define SDRS_QUERY_GROWTH_H

#include "query/query.h"

/* max u over (p, u) with phi_a(p) <= 0, phi_b(R^T (p - u d)) <= 0 (G2): body b stands at u d, with alpha = |r| / u. */
typedef struct {
  const Shape *a, *b;
  Mat3 r;       /* of b's axes in a's */
  Vec3 d;       /* unit, from a's centre to b's, a's axes */
  double scale; /* m a unit: a power of two */
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
/* phi_a, phi_b at p, and their derivatives in a's axes by lengths of problem->scale. No allocation. */
GrowthValue growth_evaluate(const GrowthProblem* problem, const GrowthPoint* x);
/* Bounds of the largest u, whatever p and u are; false: none can be given (G4). Then *low, *high may be written, but
 * bound nothing. Units of scale. */
bool growth_bounds(const GrowthProblem* problem, const GrowthPoint* x, double* low, double* high);

/* A power of two near the bodies' size [m]. */
static inline double growth_scale(const Shape* a, const Shape* b) {
  union {
    double number;
    uint64_t bits;
  } size = {.number = a->outer + b->outer};
  size.bits &= UINT64_C(0x7ff) << 52;
  return size.number;
}

/* Any two vectors across g, about as long as it and its square. */
static inline void growth_across(Vec3 g, Vec3 t[2]) {
  bool x = fabs(g.x) > fabs(g.z);
  t[0] = vec3(x ? -g.y : 0, x ? g.x : -g.z, x ? 0 : g.y);
  t[1] = vec3_cross(g, t[0]);
}

/* Result of Newton's method, and bounds of the largest u. */
typedef struct {
  GrowthValue value; /* gradients there, Hessians a rounding beside */
  double low, high;
} GrowthEnd;
/* The multipliers that balance the gradients best (G21); false: no direction along the line of centres leads out of
 * both, and they are as they were. */
bool growth_balance(const GrowthProblem* problem, const GrowthValue* v, double* va, double* vb);
/* Newton's method from *x. true: it ended in *x, with positive multipliers, and the bounds prove it. Adds the number of
 * evaluations to *iterations. (query/growth_newton.c) false: *x and *end are of no use; start anew. */
bool growth_newton(const GrowthProblem* problem, GrowthPoint* x, GrowthEnd* end, int* iterations);

/* A point of the barrier's path near its end, by a descent that cannot fail (query/growth_barrier.c). Returns the
 * number of Newton's steps. *point is written only, with multipliers. */
int growth_barrier(const GrowthProblem* problem, GrowthPoint* point);

#endif

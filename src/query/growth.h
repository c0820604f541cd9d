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
GrowthValue growth_evaluate(const GrowthProblem* problem, const GrowthPoint* x);
/* Bounds of the largest u, whatever p and u are; false: none can be told (G4). */
bool growth_bounds(const GrowthProblem* problem, const GrowthPoint* x, double* low, double* high);

/* A point of the barrier's path near its end, by a descent that cannot fail (query/growth_barrier.c). Returns the
 * number of Newton's steps. */
int growth_barrier(const GrowthProblem* problem, GrowthPoint* point);

#endif

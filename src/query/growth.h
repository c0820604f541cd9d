/* The optimization problem of the growth distance, in a's frame and in units of the bodies' size. Private to query/. */
#ifndef SDRS_QUERY_GROWTH_H
#define SDRS_QUERY_GROWTH_H

#include "query/query.h"

/* Growth problem (G2): maximize u over a point p and u, subject to phi_a(p) <= 0 and phi_b(R^T (p - u d)) <= 0. Body b
 * is placed at u d, R is the member r, and alpha = |r_ab| / u for the vector r_ab between the centres. */
typedef struct {
  const Shape *a, *b;
  Mat3 r;       /* rotation R from b's axes to a's axes */
  Vec3 d;       /* unit vector from a's centre to b's, in a's axes */
  double scale; /* unit of lengths [m], a power of two */
} GrowthProblem;

/* Unknowns p and u in units of scale, and the multipliers va, vb of the two constraints. */
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
/* Sets *low and *high to proven bounds of the largest u, in units of scale (G4). The bounds hold for any p and u in x.
 * Returns false, with *low and *high undefined, if no bounds were found. */
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

/* Sets t to two vectors perpendicular to g and to each other. Their lengths are about |g| and |g|^2. */
static inline void growth_tangents(Vec3 g, Vec3 t[2]) {
  bool x = fabs(g.x) > fabs(g.z);
  t[0] = vec3(x ? -g.y : 0, x ? g.x : -g.z, x ? 0 : g.y);
  t[1] = vec3_cross(g, t[0]);
}

/* Writes v to out[0], out[stride] and out[2 stride]. */
static inline void growth_put(Vec3 v, double* out, int stride) {
  out[0] = v.x;
  out[stride] = v.y;
  out[2 * stride] = v.z;
}
/* Returns entries `row` to row + 2 of a column. rows: matrix of `columns` columns. */
static inline Vec3 growth_column(const double* rows, int row, int columns, int column) {
  const double* at = rows + row * columns + column;
  return vec3(at[0], at[columns], at[(ptrdiff_t)2 * columns]);
}

/* Result of Newton's method, with bounds of the largest u. */
typedef struct {
  GrowthValue value; /* values and gradients at the solution. The Hessians belong to the last evaluation; the difference
                        is of the order of rounding */
  double low, high;
} GrowthSolution;
/* Sets *va and *vb to the multipliers with the least residual of the optimality conditions (G21). Returns false, with
 * *va and *vb unchanged, if the gradient of phi_a is zero, or if the gradient of phi_b does not oppose the line of
 * centres. */
bool growth_multipliers(const GrowthProblem* problem, const GrowthValue* v, double* va, double* vb);
/* Solves the growth problem by Newton's method, starting from *x (query/growth_newton.c). Returns true if the method
 * converged with positive multipliers and the bounds in *end prove the solution *x. Otherwise returns false, with *x
 * and *end undefined. Adds the number of evaluations to *iterations. */
bool growth_newton(const GrowthProblem* problem, GrowthPoint* x, GrowthSolution* end, int* iterations);

/* Finds an approximate solution by a barrier method that always terminates (query/growth_barrier.c). Sets *point,
 * including the multipliers, to a point near the end of the barrier's central path, by damped Newton steps. *point is
 * not read. Returns the number of Newton steps. */
int growth_barrier(const GrowthProblem* problem, GrowthPoint* point);

#endif

/* The optimization problem of the growth distance, in a's frame and in units of the bodies' size. Private to query/. */
#ifndef SDRS_QUERY_GROWTH_H
#define SDRS_QUERY_GROWTH_H

#include "query/query.h"

/* Growth problem (growth.md, G2): body b moves along the line of centres, away from a, while both bodies share a point
 * p. The problem maximizes the distance u of the centres, subject to phi_a(p) <= 0 and phi_b(r^T (p - u d)) <= 0. The
 * level functions phi_a and phi_b are negative inside the bodies. The growth distance alpha is the actual distance of
 * the centres divided by the largest u. */
typedef struct {
  const Shape *a, *b;
  Mat3 r;       /* rotation matrix from the axes of body b to the axes of body a */
  Vec3 d;       /* unit vector from a's centre to b's, in a's axes */
  double scale; /* unit of lengths [m], a power of two */
} GrowthProblem;

/* Unknowns of the growth problem in units of scale: the shared point p and the distance u of the centres. va, vb:
 * multipliers of the constraints that p lies in body a and in body b. */
typedef struct {
  Vec3 p;
  double u, va, vb;
} GrowthPoint;

/* Values of the implicit functions phi of shapes a and b at a point, with derivatives in the axes of a. */
typedef struct {
  ShapeValue a, b;
} GrowthValue;
/* Returns the implicit functions phi of shapes a and b at x->p, with their derivatives with respect to x->p, in the
 * axes of a. Does not allocate. */
GrowthValue growth_evaluate(const GrowthProblem* problem, const GrowthPoint* x);
/* Sets *low and *high to proven bounds of the largest distance u of the centres, in units of scale (G4). x may be any
 * point, not only the solution. Returns false, with *low and *high undefined, if no bounds were found. */
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

/* Sets t[0] and t[1] to two vectors perpendicular to g and to each other, with lengths of about |g| and |g|^2. */
static inline void growth_tangents(Vec3 g, Vec3 t[2]) {
  bool x = fabs(g.x) > fabs(g.z);
  t[0] = vec3(x ? -g.y : 0, x ? g.x : -g.z, x ? 0 : g.y);
  t[1] = vec3_cross(g, t[0]);
}

/* Writes the components of v to out[0], out[stride] and out[2 stride], three successive entries of a matrix column. */
static inline void growth_put(Vec3 v, double* out, int stride) {
  out[0] = v.x;
  out[stride] = v.y;
  out[2 * stride] = v.z;
}
/* Returns the three entries from `row` on of one matrix column. rows: row-major matrix of `columns` columns. */
static inline Vec3 growth_column(const double* rows, int row, int columns, int column) {
  const double* at = rows + row * columns + column;
  return vec3(at[0], at[columns], at[(ptrdiff_t)2 * columns]);
}

/* Result of Newton's method. low, high: proven bounds of the largest distance u of the centres. */
typedef struct {
  GrowthValue value; /* values and gradients of both shapes' implicit functions at the solution. The Hessians belong to
                        the last iterate, which equals the solution up to rounding */
  double low, high;
} GrowthSolution;
/* Sets *va and *vb to the Lagrange multipliers with the least residual of the optimality conditions (G21). Returns
 * false, with *va and *vb unchanged, if the gradient v->a is zero, or if the gradient v->b does not oppose the line of
 * centres. */
bool growth_multipliers(const GrowthProblem* problem, const GrowthValue* v, double* va, double* vb);
/* Solves the growth problem by Newton's method, starting from *x, which becomes the solution (query/growth_newton.c).
 * Returns true if the method converged with positive multipliers and the bounds in *end prove the solution *x.
 * Otherwise returns false, with *x and *end undefined. Adds the number of evaluations to *iterations. */
bool growth_newton(const GrowthProblem* problem, GrowthPoint* x, GrowthSolution* end, int* iterations);

/* Finds an approximate solution of the growth problem by a barrier method that always terminates
 * (query/growth_barrier.c). Sets *point, including the multipliers, to a point near the end of the barrier's central
 * path, by damped Newton steps. *point is not read. Returns the number of Newton steps. */
int growth_barrier(const GrowthProblem* problem, GrowthPoint* point);

#endif

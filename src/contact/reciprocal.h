/* Private to contact/: exact potential of two convex pieces under the long-range law
 * (docs/derivations/law-long_range.md, N1-N3). Minimised over planes p = (n, o) with |n| < 1, it is
 *   P = min of  12 / (1 - |n|) + sum over a 3 / (M_a c_m) + sum over b 3 / (M_b c_m),
 *   c_m = sigma (n . x_m + o) > 0.
 * A half-space b fixes the direction of n and has the single term 3 / c at the point of its boundary nearest to the
 * plane's origin. A solution is stored as a PlaneSolution (plane.h), so that plane_derivatives computes its derivatives
 * (C4, C5). */
#ifndef SDRS_CONTACT_RECIPROCAL_H
#define SDRS_CONTACT_RECIPROCAL_H

#include "contact/plane.h"

/* Coefficients of P: RECIPROCAL_PLANE of the term 12 / (1 - |n|), RECIPROCAL_PIECE of the sums over the vertices of a
 * piece. */
#define RECIPROCAL_PLANE 12.0
#define RECIPROCAL_PIECE 3.0
/* Thresholds of the Newton decrement divided by P. Below RECIPROCAL_NEAR, convergence is quadratic and steps need no
 * line search. After a step whose decrement is below RECIPROCAL_LAST, the solution is exact to rounding. Below
 * RECIPROCAL_LEAST, no step is needed. */
#define RECIPROCAL_NEAR 1e-5
#define RECIPROCAL_LAST 1e-13
#define RECIPROCAL_LEAST 1e-28
enum { RECIPROCAL_STEPS = 200, RECIPROCAL_HALVINGS = 60 };

/* Potential of two pieces that are points at the distance r, 12 (1 + r^-1/2)^2 (N2), with its first two derivatives. */
typedef struct {
  double value, first, second;
} CentredPotential;
/* Returns the potential of two points at the distance r > 0 [m]. */
CentredPotential centred_potential(double r);

/* Solves the plane of two hulls, starting from their closest points `found`, with found->distance > 0. Returns false if
 * the plane was not found, which callers treat as infeasible. Otherwise sets all members of *solution. scratch: memory
 * for the vertices of both hulls. Allocates nothing. */
bool reciprocal_solve(const HullInstance* a, const HullInstance* b, const GjkResult* found, PlaneScratch* scratch,
                      PlaneSolution* solution);

/* Return planes from which the iteration starts. reciprocal_start uses the closest points (N2). reciprocal_start_apart
 * uses two disjoint bounding spheres and needs no closest points. center (2): centres of the spheres, world [m]. radius
 * (2): radii of the spheres, which contain all vertices [m]. Cannot fail, allocates nothing. */
Plane reciprocal_start(const HullInstance* a, const HullInstance* b, const GjkResult* found);
Plane reciprocal_start_apart(const HullInstance* a, const HullInstance* b, const Vec3 center[2],
                             const double radius[2]);
/* Does the same as reciprocal_solve, starting from the plane `start` with the origin plane_origin. Returns false also
 * if `start` does not separate the hulls. Allocates nothing. */
bool reciprocal_solve_from(const HullInstance* a, const HullInstance* b, Plane start, PlaneScratch* scratch,
                           PlaneSolution* solution);

/* Plane of a solution: n (dimensionless) and o [m]. reciprocal_recall computes the solution from it again,
 * bit-identically at the same poses. */
typedef struct {
  Vec3 n;
  double o;
} ReciprocalPlane;
/* Computes the solution again that reciprocal_solve found for the same hulls at the same poses (not checked). plane:
 * plane of this solution. Sets solution->iterations to 0. scratch: memory for the vertices of both hulls. Cannot fail,
 * allocates nothing. */
void reciprocal_recall(const HullInstance* a, const HullInstance* b, ReciprocalPlane plane, PlaneScratch* scratch,
                       PlaneSolution* solution);

/* reciprocal_solve_four and reciprocal_recall_four process up to four pairs of triangles together (reciprocal_four.c).
 * Results are bit-identical to those of one pair at a time. All hulls have three vertices. pair (count x 2). start,
 * planes, solution (count). */
enum { RECIPROCAL_FOUR = 4, RECIPROCAL_CORNERS = 3 };
/* Sets solution[count] as reciprocal_solve_from does. Returns false, with `solution` undefined, if a plane was not
 * found. Allocates nothing. */
bool reciprocal_solve_four(int count, const HullInstance (*pair)[2], const Plane* start, PlaneSolution* solution);
/* Sets solution[count] as reciprocal_recall does. Cannot fail, allocates nothing. */
void reciprocal_recall_four(int count, const HullInstance (*pair)[2], const ReciprocalPlane* planes,
                            PlaneSolution* solution);

/* Returns the mean of the vertices of a weighted by their forces, sum P' x / sum P' (C3), projected onto the plane,
 * world [m]. */
Vec3 reciprocal_center(const PlaneSolution* solution);

#endif

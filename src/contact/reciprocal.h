/* Private to contact/: the exact potential of two convex pieces under the long-range law
 * (docs/derivations/law-long_range.md, N1-N3):
 *   P = min over planes p = (n, o) of  12 / (1 - |n|) + sum over a 3 / (M_a c_m) + sum over b 3 / (M_b c_m),
 *   c_m = sigma (n . x_m + o) > 0, |n| < 1.
 * A half-space (b) keeps n along its normal and has one term 3 / c at the nearest point of its boundary. Solutions are
 * those of plane.h, so that the derivatives (C4, C5) are the same functions. */
#ifndef SDRS_CONTACT_RECIPROCAL_H
#define SDRS_CONTACT_RECIPROCAL_H

#include "contact/plane.h"

/* Coefficients of P: of the plane's term, and of the sum over the vertices of a piece. */
#define RECIPROCAL_PLANE 12.0
#define RECIPROCAL_PIECE 3.0
/* Thresholds of the Newton decrement relative to P. Below RECIPROCAL_NEAR convergence is quadratic, and steps need no
 * line search. After a step with a decrement below RECIPROCAL_LAST the solution is exact to rounding. Below
 * RECIPROCAL_LEAST no step is needed. */
#define RECIPROCAL_NEAR 1e-5
#define RECIPROCAL_LAST 1e-13
#define RECIPROCAL_LEAST 1e-28
enum { RECIPROCAL_STEPS = 200, RECIPROCAL_HALVINGS = 60 };

/* Potential of two pieces that are points at a distance r: 12 (1 + r^-1/2)^2 (N2), with its first two derivatives. */
typedef struct {
  double value, first, second;
} CentredPotential;
/* Returns the potential at r > 0 [m]. */
CentredPotential centred_potential(double r);

/* Solves the plane from the closest points `found`, found->distance > 0. Returns false if it was not found, which
 * counts as infeasible; otherwise all of solution is set. scratch: memory for the vertices of both. Allocates nothing.
 */
bool reciprocal_solve(const HullInstance* a, const HullInstance* b, const GjkResult* found, PlaneScratch* scratch,
                      PlaneSolution* solution);

/* Return start planes. reciprocal_start: from the closest points (N2). reciprocal_start_apart: from the centres of two
 * disjoint bounding spheres, without closest points. center (2): world [m]; radius (2): of spheres that contain all
 * vertices [m], their sum less than the distance of the centres. Cannot fail, allocates nothing. */
Plane reciprocal_start(const HullInstance* a, const HullInstance* b, const GjkResult* found);
Plane reciprocal_start_apart(const HullInstance* a, const HullInstance* b, const Vec3 center[2],
                             const double radius[2]);
/* As reciprocal_solve, from a start plane with the origin plane_origin. Returns false also if it does not separate the
 * two. Allocates nothing. */
bool reciprocal_solve_from(const HullInstance* a, const HullInstance* b, Plane start, PlaneScratch* scratch,
                           PlaneSolution* solution);

/* Plane of a solution, from which the solution is recomputed bit-identically at the same poses: n without unit, o [m].
 */
typedef struct {
  Vec3 n;
  double o;
} ReciprocalPlane;
/* Recomputes the solution of a plane that reciprocal_solve found for the same bodies at the same poses (not checked);
 * iterations is 0. scratch: memory for the vertices of both. Cannot fail, allocates nothing. */
void reciprocal_recall(const HullInstance* a, const HullInstance* b, ReciprocalPlane plane, PlaneScratch* scratch,
                       PlaneSolution* solution);

/* Both for up to four pairs of triangles at a time (reciprocal_four.c), bit-identical to one pair at a time. All bodies
 * have three vertices. pair (count x 2); start, planes and solution (count). */
enum { RECIPROCAL_FOUR = 4, RECIPROCAL_CORNERS = 3 };
/* Returns false, with solution undefined, if a plane was not found. Allocates nothing. */
bool reciprocal_solve_four(int count, const HullInstance (*pair)[2], const Plane* start, PlaneSolution* solution);
/* Sets solution[count] as reciprocal_recall does. Cannot fail, allocates nothing. */
void reciprocal_recall_four(int count, const HullInstance (*pair)[2], const ReciprocalPlane* planes,
                            PlaneSolution* solution);

/* Returns the mean of a's vertices weighted by force, sum P' x / sum P' (C3), projected onto the plane, world [m]. */
Vec3 reciprocal_center(const PlaneSolution* solution);

#endif

/* Private to contact/: exact potential of two convex hulls ("pieces") under the long-range law
 * (docs/derivations/law-long_range.md, N1-N3). The potential P is a minimum over separating planes with the normal n,
 * |n| < 1, and the offset o:
 *   P = min of  12 / (1 - |n|) + sum over a 3 / (M_a c_m) + sum over b 3 / (M_b c_m),
 *   c_m = sigma (n . x_m + o) > 0.
 * c_m: clearance of vertex x_m; sigma: -1 for a, +1 for b; M_a, M_b: numbers of vertices. A half-space b fixes the
 * direction of n. It has the single term 3 / c at the point of its boundary nearest to the plane's origin. A solution
 * is stored as a PlaneSolution (plane.h), from which plane_derivatives computes its derivatives (contact.md, C4, C5).
 */
#ifndef SDRS_CONTACT_RECIPROCAL_H
#define SDRS_CONTACT_RECIPROCAL_H

#include "contact/plane.h"

/* Coefficients of the potential P. RECIPROCAL_PLANE: coefficient of the term 1 / (1 - |n|). RECIPROCAL_PIECE:
 * coefficient of the sums of inverse clearances over the vertices of each hull. */
#define RECIPROCAL_PLANE 12.0
#define RECIPROCAL_PIECE 3.0
/* Convergence thresholds for the Newton decrement divided by the potential P. Below RECIPROCAL_QUADRATIC_DECREMENT,
 * convergence is quadratic and steps need no line search. After a step whose decrement is below
 * RECIPROCAL_FINAL_DECREMENT, the solution is exact to rounding. Below RECIPROCAL_MIN_DECREMENT, no step is needed. */
#define RECIPROCAL_QUADRATIC_DECREMENT 1e-5
#define RECIPROCAL_FINAL_DECREMENT 1e-13
#define RECIPROCAL_MIN_DECREMENT 1e-28
enum { RECIPROCAL_STEPS = 200, RECIPROCAL_HALVINGS = 60 };

/* Long-range potential 12 (1 + r^-1/2)^2 of two points at the distance r [m], with its first two derivatives with
 * respect to r (N2). It approximates the potential of two distant pieces. */
typedef struct {
  double value, first, second;
} CentredPotential;
/* Returns the long-range potential of two points at the distance r > 0 [m], for the stiffness 1. */
CentredPotential centred_potential(double r);

/* Finds the plane that minimises the potential of two hulls. Starts from their closest points `found`, with
 * found->distance > 0. Returns false if the plane was not found, which callers treat as an intersection. Otherwise sets
 * all members of *solution. scratch: memory for the vertices of both hulls. */
bool reciprocal_solve(const HullInstance* a, const HullInstance* b, const GjkResult* found, PlaneScratch* scratch,
                      PlaneSolution* solution);

/* Return the plane from which the iteration for the separating plane starts. reciprocal_start computes it from the
 * closest points `found` (N2). reciprocal_start_from_spheres computes it from two disjoint bounding spheres. center
 * (2): centres of the spheres, world [m]. radius (2): radii of the spheres, which contain all vertices [m]. */
Plane reciprocal_start(const HullInstance* a, const HullInstance* b, const GjkResult* found);
Plane reciprocal_start_from_spheres(const HullInstance* a, const HullInstance* b, const Vec3 center[2],
                                    const double radius[2]);
/* Finds the plane that minimises the potential of two hulls, starting from the plane `start` with the origin
 * plane_origin(a, b). Returns false if `start` does not separate the hulls or the plane was not found. Otherwise sets
 * all members of *solution. scratch: memory for the vertices of both hulls. */
bool reciprocal_solve_from(const HullInstance* a, const HullInstance* b, Plane start, PlaneScratch* scratch,
                           PlaneSolution* solution);

/* Separating plane of a solved pair of hulls: normal n (dimensionless) and offset o [m]. reciprocal_recall computes the
 * solution again from this plane, bit-identically at the same poses. */
typedef struct {
  Vec3 n;
  double o;
} ReciprocalPlane;
/* Computes a solution of reciprocal_solve again from its plane, for the same hulls and poses. Sets solution->iterations
 * to 0. scratch: memory for the vertices of both hulls. */
void reciprocal_recall(const HullInstance* a, const HullInstance* b, ReciprocalPlane plane, PlaneScratch* scratch,
                       PlaneSolution* solution);

/* RECIPROCAL_FOUR: largest number of triangle pairs that reciprocal_solve_four and reciprocal_recall_four process
 * together. RECIPROCAL_CORNERS: number of vertices of a triangle. The results of both functions are bit-identical to
 * processing one pair at a time. */
enum { RECIPROCAL_FOUR = 4, RECIPROCAL_CORNERS = 3 };
/* Finds the planes that minimise the potentials of `count` <= RECIPROCAL_FOUR pairs of triangles (asserted). pair
 * (count x 2): the two triangles of each pair. start[count]: initial planes. Sets solution[count]. Returns false, with
 * unspecified solutions, if a plane was not found. */
bool reciprocal_solve_four(int count, const HullInstance (*pair)[2], const Plane* start, PlaneSolution* solution);
/* Computes solution[count] again from the stored planes. pair (count x 2): the two triangles of each pair.
 * planes[count]: stored planes of the solutions. */
void reciprocal_recall_four(int count, const HullInstance (*pair)[2], const ReciprocalPlane* planes,
                            PlaneSolution* solution);

/* Returns the force-weighted mean of the vertices of a, projected onto the plane, world [m]. The mean is sum P' x / sum
 * P' over the vertices x, with the derivative P' of the vertex energy with respect to the clearance (C3). */
Vec3 reciprocal_center(const PlaneSolution* solution);

#endif

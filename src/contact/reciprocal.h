/* Private to contact/: the exact potential of two convex pieces under the long-range law
 * (docs/derivations/law-long_range.md, N1-N3):
 *   P = min over planes p = (n, o) of  12 / (1 - |n|) + sum over a 3 / (M_a c_m) + sum over b 3 / (M_b c_m),
 *   c_m = sigma (n . x_m + o) > 0, |n| < 1.
 * A half-space (b) keeps n along its normal and has one term 3 / c at the nearest point of its boundary. Solutions are
 * those of plane.h, so that the derivatives (C4, C5) are the same functions. */
#ifndef SDRS_CONTACT_RECIPROCAL_H
#define SDRS_CONTACT_RECIPROCAL_H

#include "contact/plane.h"

/* The law's numbers: of the plane's term, and of a piece's vertices together. */
#define RECIPROCAL_PLANE 12.0
#define RECIPROCAL_PIECE 3.0
/* Newton decrement relative to P: below the first, convergence is quadratic and a step is taken as it is; below the
 * second the next step ends at rounding; below the third nothing is left to do. */
#define RECIPROCAL_NEAR 1e-5
#define RECIPROCAL_LAST 1e-13
#define RECIPROCAL_LEAST 1e-28
enum { RECIPROCAL_STEPS = 200, RECIPROCAL_HALVINGS = 60 };

/* A pair's potential where all of either piece stands at one point, a distance r apart: 12 (1 + r^-1/2)^2 (N2), with
 * its first two derivatives. */
typedef struct {
  double value, first, second;
} CentredPotential;
/* r > 0 [m]. */
CentredPotential centred_potential(double r);

/* Minimise from closest points that GJK found, `found->distance` > 0. false: not found, treat it as infeasible. scratch
 * has room for the vertices of both. No allocation. solution is set whole when true is returned. */
bool reciprocal_solve(const HullInstance* a, const HullInstance* b, const GjkResult* found, PlaneScratch* scratch,
                      PlaneSolution* solution);

/* Planes that a search may begin with: of two points at the closest points' distance (N2; found as above), and of two
 * whose spheres do not meet, which takes no search for closest points: of their centres, kept between the spheres.
 * center (2): world [m]; radius (2): of spheres that hold all vertices [m], their sum less than the centres' distance.
 * By value; cannot fail, allocates nothing. */
Plane reciprocal_start(const HullInstance* a, const HullInstance* b, const GjkResult* found);
Plane reciprocal_start_apart(const HullInstance* a, const HullInstance* b, const Vec3 center[2],
                             const double radius[2]);
/* As reciprocal_solve, from a plane about plane_origin that parts the two: else false. Allocates nothing. */
bool reciprocal_solve_from(const HullInstance* a, const HullInstance* b, Plane start, PlaneScratch* scratch,
                           PlaneSolution* solution);

/* All that a solution can be had again from, to the bit, while both bodies stand where they stood: n [no unit] and o
 * [m] of its plane. */
typedef struct {
  Vec3 n;
  double o;
} ReciprocalPlane;
/* solution is set whole but for its iterations, which are 0. plane: of reciprocal_solve for the same bodies, else it is
 * undefined. scratch (vertices of both). Cannot fail, allocates nothing. */
void reciprocal_recall(const HullInstance* a, const HullInstance* b, ReciprocalPlane plane, PlaneScratch* scratch,
                       PlaneSolution* solution);

/* Both for up to four pairs of triangles at a time (reciprocal_four.c): bodies of three vertices, none a half-space;
 * pair (count x 2), start, planes and solution (count). The bits are those of one pair at a time. */
enum { RECIPROCAL_FOUR = 4, RECIPROCAL_CORNERS = 3 };
/* false: one of them was not found, and what solution has means nothing. Nothing is allocated. */
bool reciprocal_solve_four(int count, const HullInstance (*pair)[2], const Plane* start, PlaneSolution* solution);
/* Sets solution[count] as reciprocal_recall does. Cannot fail, allocates nothing. */
void reciprocal_recall_four(int count, const HullInstance (*pair)[2], const ReciprocalPlane* planes,
                            PlaneSolution* solution);

/* Returns the mean of a's vertices weighted by force, sum P' x / sum P' (C3), projected onto the plane, world [m]. */
Vec3 reciprocal_center(const PlaneSolution* solution);

#endif

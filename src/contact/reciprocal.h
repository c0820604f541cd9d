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

/* Where the vertices of a press on the plane, sum P' x / sum P' (C3), dropped onto it: world [m]. */
Vec3 reciprocal_center(const PlaneSolution* solution);

#endif

/* Private to contact/: the separating plane of one pair, U = min over p of U(p, x) (C1), by damped Newton in p = (n,
 * o). docs/derivations/contact.md. Nothing is allocated: the caller provides a PlaneScratch. */
#ifndef SDRS_CONTACT_PLANE_H
#define SDRS_CONTACT_PLANE_H

#include "contact/pair.h"

/* Moments of the active vertices of one side about the plane's origin, x~ = (x - origin, 1):
 *   second = sum P'' x~ x~^T (upper triangle by rows: xx xy xz xw yy yz yw zz zw ww),  first = sum sigma P' x~   (C3)
 */
typedef struct {
  double second[10], first[4];
  double ball; /* r sum P' of a rounded side, whose x is the point of its balls nearest to the plane (C6) */
} SideMoments;

typedef struct {
  Plane plane;
  double energy; /* U [1/m] for stiffness 1 */
  SideMoments side[2];
  double norm_first, norm_second; /* W'(1 - |n|), W''(1 - |n|) of W(d) = Q(d / sigma) / s [1/m] */
  double clearance[2];            /* lower bound of the clearance over all vertices of a side [m] */
  int iterations;
} PlaneSolution;

/* Workspace for the vertices near the plane; capacity >= the sum of the two vertex counts. */
typedef struct {
  double *x, *y, *z; /* relative to the plane's origin, world axes [m] */
  int capacity;
  double last_step; /* Newton decrement relative to U after which one more step ends the solve; 0 = to rounding */
} PlaneScratch;

typedef enum {
  PLANE_ACTIVE,     /* U > 0: everything in the solution is set */
  PLANE_SEPARATED,  /* U = 0: only the plane and the clearances are set */
  PLANE_INFEASIBLE, /* the start plane does not separate the hulls */
  PLANE_FAILED,     /* no convergence: treated as infeasible by callers */
} PlaneOutcome;

/* Minimises U from `start`, which must separate the hulls strictly, otherwise PLANE_INFEASIBLE. support: s [m]. The
 * outcome says which members of solution are set: none after PLANE_FAILED and PLANE_INFEASIBLE. Allocates nothing. */
PlaneOutcome plane_solve(const HullInstance* a, const HullInstance* b, double support, Plane start,
                         PlaneScratch* scratch, PlaneSolution* solution);
/* Returns the start plane halfway between closest points: normal from a to b, |n| slightly below 1. normal: unit;
 * witnesses in world axes [m]. Cannot fail. */
Plane plane_from_witness(const HullInstance* a, const HullInstance* b, double support, Vec3 witness_a, Vec3 witness_b,
                         Vec3 normal);
/* Returns the start plane between a hull and a half-space b at the distance gap > 0 [m] (asserted). */
Plane plane_from_half_space(const HullInstance* a, const HullInstance* b, double support, double gap);
/* Returns the same plane relative to another origin; clearances change only by rounding. Cannot fail. */
Plane plane_about(Plane plane, Vec3 origin);
/* Returns the origin of a pair's plane: the centre of the smaller hull, or of the hull paired with a half-space, world
 * [m]. Cannot fail. */
Vec3 plane_origin(const HullInstance* a, const HullInstance* b);
/* Returns the smallest clearance of a side over all its vertices (exact) [m]; sigma = -1 for A, +1 for B. Negative if
 * the side extends beyond the plane. Cannot fail, allocates nothing. */
double plane_clearance(const HullInstance* hull, double sigma, Plane plane);
/* Width sigma of the barrier W(1 - |n|) = Q((1 - |n|) / sigma) / s that keeps |n| below 1 (C1). It has no unit, so that
 * contact has no length scale of its own, and is small, so that |n| stays near 1. W is the paper's P_s(1 - |n|) for s =
 * 1 mm. */
#define BARRIER_NORM_WIDTH 1e-3
/* Returns the distance from which on U is zero: 2 s / (1 - sigma) [m]; INFINITY without support. Cannot fail, allocates
 * nothing. */
static inline double plane_range(double support) { return 2.0 * support / (1.0 - BARRIER_NORM_WIDTH); }

/* Sets gradient (4) and the lower triangle of the Hessian (4x4) of U(p, x) with respect to p = (n, o), from moments in
 * any consistent units: the sums of both sides plus W(1 - |n|), with the gradient -W' n^ and the Hessian W'' n^ n^^T -
 * W' / |n| (I - n^ n^^T). Cannot fail, allocates nothing. */
void plane_assemble(const SideMoments* a, const SideMoments* b, double norm_first, double norm_second, Vec3 n,
                    double gradient[4], double hessian[4][4]);

/* Returns the change of U to first order under a small twist of one body about its reference point (C4) [1/m].
 * Undefined for a half-space. twist: (w, v) [rad, m]. Cannot fail, allocates nothing. */
double plane_first_change(const PlaneSolution* solution, int side, Vec3 reference, const double twist[6]);

/* Derivative of the plane p = (nx, ny, nz, o) with respect to the twists of both bodies (4x12). */
typedef struct {
  double dp[4][12];
} PlaneResponse;
/* Returns the plane predicted to first order after small twists (w, v) of both bodies about their references [rad, m].
 * |n| follows to first order and does not grow as the normal rotates. Cannot fail. */
Plane plane_predict(Plane plane, const PlaneResponse* response, const double twist_a[6], const double twist_b[6]);
/* Sets the derivatives `out` (C4, C5) and the response of the plane. reference_a, reference_b: points that twists are
 * about, world [m]. half_space: b has no rows, and its force is minus that of a. Undefined unless the solution's plane
 * was found. Allocates nothing. */
void plane_derivatives(const PlaneSolution* solution, bool half_space, Vec3 reference_a, Vec3 reference_b,
                       PairDerivatives* out, PlaneResponse* response);
/* Adds the residual gradient of U with respect to the plane, times the response, to the pair's forces and moments. They
 * then balance to rounding, even if clearances are accurate only to 1e-11 of the barrier's range. Not for half-spaces.
 * (A5) */
void plane_balance(const PlaneSolution* solution, const PlaneResponse* response, PairDerivatives* out);

#endif

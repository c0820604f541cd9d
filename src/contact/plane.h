/* Private to contact/: the separating plane p = (n, o) of a pair of hulls. A damped Newton method finds the plane with
 * the normal n and the offset o that minimises a potential U(p, x) of the plane and of the vertices x. The minimum is
 * the contact potential of the pair (docs/derivations/contact.md, C1). The caller provides the workspace, a
 * PlaneScratch. */
#ifndef SDRS_CONTACT_PLANE_H
#define SDRS_CONTACT_PLANE_H

#include "contact/pair.h"

/* Sums over the active vertices of one side. x: position of a vertex; x~ = (x - origin, 1), relative to the plane's
 * origin. P', P'': derivatives of the vertex barrier with respect to the clearance. sigma: -1 for body a, +1 for body
 * b.
 *   first = sum sigma P' x~,  second = sum P'' x~ x~^T                                                          (C3)
 * `second` contains the upper triangle by rows: xx xy xz xw yy yz yw zz zw ww. */
typedef struct {
  double second[10], first[4];
  double ball; /* sum of P' over the vertices, times the rounding radius of the side; 0 without rounding. On a rounded
                  side, x is the point of each ball nearest to the plane (C6) */
} SideMoments;

typedef struct {
  Plane plane;
  double energy; /* potential U [1/m] for stiffness 1 */
  SideMoments side[2];
  double norm_first, norm_second; /* derivatives W'(d) and W''(d) at d = 1 - |n| of the barrier W that keeps |n| below 1
                                     (BARRIER_NORM_WIDTH) [1/m] */
  double clearance[2];            /* lower bound on the clearances of all vertices of each side [m] */
  int iterations;
} PlaneSolution;

/* Workspace for the vertices near the plane. capacity is at least the number of vertices of both hulls. */
typedef struct {
  double *x, *y, *z; /* coordinates of vertices relative to the plane's origin, world axes [m] */
  int capacity;
  double last_step; /* the Newton iteration ends after a step whose decrement (twice the predicted decrease of the
                       potential U) is below last_step * U; 0 solves to rounding */
} PlaneScratch;

typedef enum {
  PLANE_ACTIVE,     /* U > 0: all members of the solution are set */
  PLANE_SEPARATED,  /* U = 0: only the plane and the clearances are set */
  PLANE_INFEASIBLE, /* the start plane does not separate the hulls */
  PLANE_FAILED,     /* no convergence; callers treat the hulls as intersecting */
} PlaneOutcome;

/* Minimises the pair's potential U over all separating planes, starting from the plane `start`. Returns PLANE_ACTIVE or
 * PLANE_SEPARATED if the plane was found; PlaneOutcome lists the members of *solution that are then set. Returns
 * PLANE_INFEASIBLE if `start` does not separate the hulls strictly, and PLANE_FAILED if the iteration does not
 * converge; *solution is then unspecified. support: s > 0 [m] (asserted). */
PlaneOutcome plane_solve(const HullInstance* a, const HullInstance* b, double support, Plane start,
                         PlaneScratch* scratch, PlaneSolution* solution);
/* Returns a start plane halfway between the closest points of two hulls. Its normal points from a to b, and |n| is
 * slightly below 1. normal: unit direction from a to b. witness_a, witness_b: closest points, world [m]. support: s
 * [m]. */
Plane plane_from_witness(const HullInstance* a, const HullInstance* b, double support, Vec3 witness_a, Vec3 witness_b,
                         Vec3 normal);
/* Returns a start plane halfway between hull a and half-space b. gap: distance of a and b > 0 [m] (asserted). support:
 * s [m]. */
Plane plane_from_half_space(const HullInstance* a, const HullInstance* b, double support, double gap);
/* Returns the plane, expressed relative to another origin. The clearances of points change only by rounding. */
Plane plane_about(Plane plane, Vec3 origin);
/* Returns the origin of a pair's plane, world [m]. It is the centre of the smaller hull, or of the hull paired with a
 * half-space. */
Vec3 plane_origin(const HullInstance* a, const HullInstance* b);
/* Returns the exact smallest clearance of a side over all its vertices [m]. sigma: -1 for body a, +1 for body b. The
 * result is negative if the side extends beyond the plane. */
double plane_clearance(const HullInstance* hull, double sigma, Plane plane);
/* Width sigma of the barrier W(1 - |n|) = Q((1 - |n|) / sigma) / s that keeps the length |n| of the plane's normal
 * below 1 (C1). Q: barrier_eval; s: support. sigma is dimensionless, so that it adds no length scale to contact. sigma
 * is small, so that |n| stays near 1. For s = 1 mm, W equals the barrier P_s(1 - |n|) of the paper. */
#define BARRIER_NORM_WIDTH 1e-3
/* Returns the contact range 2 s / (1 - sigma) [m], the smallest distance of two hulls at which U is zero. Returns
 * INFINITY if support s is INFINITY. */
static inline double plane_range(double support) { return 2.0 * support / (1.0 - BARRIER_NORM_WIDTH); }

/* Computes the gradient (4) and the lower triangle of the Hessian (4x4) of U(p, x) with respect to p = (n, o). They are
 * the sums over the vertices of both sides plus the derivatives of W(1 - |n|): gradient -W' n^, Hessian W'' n^ n^^T -
 * W' / |n| (I - n^ n^^T). W', W'': arguments norm_first and norm_second; n^: unit vector along n. The sums a and b
 * (SideMoments) may have any consistent units. */
void plane_assemble(const SideMoments* a, const SideMoments* b, double norm_first, double norm_second, Vec3 n,
                    double gradient[4], double hessian[4][4]);

/* Derivative of the plane p = (nx, ny, nz, o) with respect to the twists of both bodies (4x12). */
typedef struct {
  double dp[4][12];
} PlaneResponse;
/* Returns the plane after small twists (w, v) of both bodies [rad, m], to first order. The twists are about the
 * reference points. A rotation of the normal does not change |n|. */
Plane plane_predict(Plane plane, const PlaneResponse* response, const double twist_a[6], const double twist_b[6]);
/* Sets *out to the derivatives of the pair's potential U with respect to the twists of both bodies (C4, C5), and
 * *response to the derivatives of the plane. solution: found by plane_solve. reference_a, reference_b: reference points
 * of the twists, world [m]. half_space: true if b is a half-space, which has no rows in the Hessian; the force of b is
 * then the opposite of the force of a. */
void plane_derivatives(const PlaneSolution* solution, bool half_space, Vec3 reference_a, Vec3 reference_b,
                       PairDerivatives* out, PlaneResponse* response);
/* Corrects the forces and moments in *out so that the forces of both bodies balance to rounding. The correction is the
 * gradient of U with respect to the plane, which is not exactly 0, times the response (adjoint.md, A5). Without it,
 * clearances that are accurate to only 1e-11 of the range would limit the balance. Not for half-spaces. */
void plane_balance(const PlaneSolution* solution, const PlaneResponse* response, PairDerivatives* out);

#endif

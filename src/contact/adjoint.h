/* Private to contact/: derivatives of  Phi = dE/d(twists of both bodies) . (w, v)  of one pair with respect to what E
 * depends on besides the bodies' poses (docs/derivations/adjoint.md, A5-A8, A13). Everything for stiffness 1.
 * The twist field is eta(x) = v + w x (x - reference) on either side. */
#ifndef SDRS_CONTACT_ADJOINT_H
#define SDRS_CONTACT_ADJOINT_H

#include "contact/friction.h"
#include "contact/impact.h"

/* A vertex, or node of a circle, with clearance below the support. x: from the plane's origin, world axes [m]. */
typedef struct {
  int vertex; /* index in its hull; for a node of a circle the circle's index */
  Vec3 x;
  double first, second; /* P', P'' at its clearance */
  double clearance;
  Vec3 at; /* x; for a ball its point nearest to the plane (C6), from the plane's origin */
} ActiveVertex;
/* Sets out to the vertices with 0 < c < s and the nodes of circles, whose P' and P'' include their weight. A half-space
 * has one, with vertex -1. sigma: -1 for a, +1 for b. out: memory for all vertices of the hull and 24 nodes a circle
 * (not checked). Returns their number. Allocates nothing. */
int active_vertices(const HullInstance* hull, double sigma, double support, const Plane* plane, ActiveVertex* out);

/* Returns the derivative of P'(c) dc with respect to the radius r of a ball, c = sigma (n . x + o) - r |n|. change: dc
 * at fixed n and x; dn: change of the normal. Cannot fail. */
double ball_share(Vec3 n, const ActiveVertex* v, double change, Vec3 dn);

/* Adds the derivatives with respect to the position of an active vertex at t + dt (next) and t (now), world axes. Those
 * of a node of a circle go to the body's motion and the solid's parameters. at: hull of v; plane: the plane of v. */
void active_share(const HullInstance* at, const Plane* plane, int side, const ActiveVertex* v, Vec3 next, Vec3 now,
                  PairShares* out);

/* Active vertices of both sides of a pair in one state, in memory of the caller. */
typedef struct {
  ActiveVertex* vertices;
  int count[2];
  bool known; /* the vertices are set */
} ActiveSides;

/* dP'/ds at fixed clearance c: -(2 P' + c P'') / s, for P' = Q'(c / s) / s^2. */
static inline double active_first_by_support(const ActiveVertex* v, double support) {
  return -(2 * v->first + v->clearance * v->second) / support;
}

/* dW'/ds at fixed |n| of W(d) = Q(d / sigma) / s, d = 1 - |n|: -Q' / (sigma s^2); zero where W is. */
static inline double norm_first_by_support(double length, double support) {
  double nu = (1 - length) / BARRIER_NORM_WIDTH;
  return nu < 1 ? -barrier_eval(nu).first / (BARRIER_NORM_WIDTH * support * support) : 0;
}

/* Impact factor W' of a pair's force in the state before, and its derivatives: with respect to the pair's potential U
 * in that state, to y of the step that led to it, and to parameters at fixed U and y (docs/derivations/impact.md). */
typedef struct {
  double factor, by_potential, by_before, by_support, by_rest_speed, by_ratio; /* by_ratio: of impact_load */
  /* True for the force of an impact with restitution. Of the members above only `factor` and `by_ratio` are used then:
   * the others belong to the step that led to t. */
  bool bounces;
} ContactLoad;

/* Adds the derivatives of contact at t + dt to the caller's shares. active: at t + dt, found here. twist: of both
 * bodies [rad, m]. response: from plane_derivatives. Cannot fail, allocates nothing. */
void plane_adjoint(const PairBody body[2], double support, const PlaneSolution* solution, const PlaneResponse* response,
                   const double twist[2][6], ActiveSides* active, PairShares* out);

/* Adds the derivatives of friction in the step; lag after friction_evaluate at the poses of `next`. solution: the plane
 * at t. then: active vertices at t, found here. own: friction depends on the force of the previous solve of the step;
 * `solution` and `now` then belong to that solve, and slip is relative to FrictionLag.then. by_slip: derivative of a
 * scalar with respect to FrictionSlip.square at t + dt, 0 with `own`; its derivatives with respect to poses at t + dt
 * are not added. Does nothing without a contact force. Cannot fail, allocates nothing. */
void friction_adjoint(const FrictionLag* lag, const FrictionParameters* parameters, double support,
                      const PairBody now[2], const PairBody next[2], bool own, const PlaneSolution* solution,
                      const double twist[2][6], double by_slip, ActiveSides* then, PairShares* out);

/* Sets wrench to the Hessian of friction times the twists of both bodies, for stiffness 1: torques about the bodies'
 * references, and forces. With T the derivative of the slip by a twist and b that with respect to the
 * slip, wrench = sum T^T b / dt. b rounds as in friction_adjoint. lag as there. Cannot fail, allocates nothing. */
void friction_product(const FrictionLag* lag, const FrictionParameters* parameters, const PairBody next[2],
                      const double twist[2][6], double wrench[2][6]);

/* A pair in one state, for the functions below. */
typedef struct {
  const PairBody* body;
  const PlaneSolution* solution; /* NULL: not in contact */
} ImpactMoment;
/* Finds the active vertices of both sides, unless they are known. at->solution is not NULL. active->vertices: memory
 * for the vertices of both hulls. Cannot fail. */
void active_find(const ImpactMoment* at, double support, ActiveSides* active);
/* Scales the contact derivatives in out, of plane_adjoint, by W', and adds those through the impact law. bar: receives
 * the derivatives with respect to the pair's pressure at t, for impact_pressure_adjoint. Cannot fail, allocates
 * nothing. */
void impact_adjoint(const Impact* impact, const ImpactParameters* parameters, const ImpactPast* past,
                    const PairCarry* carried, const ImpactMoment* now, const ImpactMoment* next, ActiveSides* active,
                    Pressure* bar, PairShares* out);
/* Adds the derivatives with respect to the impact factor that scales the coefficients of friction and rolling: through
 * the state at t, and in out->carry through the state before. Call after friction_adjoint and rolling_adjoint. Scales
 * the coefficients' derivatives in out by the factor. Cannot fail, allocates nothing. */
void impact_load_adjoint(const ContactLoad* load, const PairMaterial* material, Pressure* bar, PairShares* out);
/* As impact_load_adjoint for a given derivative with respect to the factor. Leaves the coefficients' derivatives. */
void impact_late_load_adjoint(const ContactLoad* load, double by_factor, Pressure* bar, PairShares* out);
/* As impact_late_load_adjoint for the factor W' in the previous solve of the step, for a pair without restitution.
 * by_force: derivative with respect to the magnitude of the pair's force in that solve, for stiffness 1 and W' = 1.
 * solve: the state of that solve; own: its active vertices, found here if unknown. */
void impact_own_load_adjoint(const Impact* impact, const ImpactParameters* parameters, double by_factor,
                             double by_force, const ImpactMoment* now, const ImpactMoment* solve, ActiveSides* own,
                             Pressure* bar, PairShares* out);
/* Adds the derivatives that the next step passes back through the pair's y at t to bar and out. Cannot fail, allocates
 * nothing. */
void impact_carry_adjoint(const PairCarry* carried, const ImpactParameters* parameters, const ImpactMoment* now,
                          Pressure* bar, PairShares* out);
/* Adds bar, the derivatives with respect to potential and force at t, times the derivatives of these with respect to
 * everything that they depend on. Does nothing for a pair that was not in contact at t. Cannot fail, allocates nothing.
 */
void impact_pressure_adjoint(const Pressure* bar, const ImpactParameters* parameters, const ImpactMoment* now,
                             ActiveSides* then, PairShares* out);

/* Sets z = -H_pp^-1 plane_bar, with plane_bar the derivative of a scalar with respect to the plane (n, o) that
 * minimises U at t. The scalar then has the derivative P'' n (x~ . z) + sigma P' z_n with respect to a vertex at t.
 * half_space: n keeps its direction, and z has a component along it only. plane_bar, z (4). Cannot fail if the plane
 * was found. */
void plane_implicit(const PlaneSolution* solution, bool half_space, const double plane_bar[4], double z[4]);

#endif

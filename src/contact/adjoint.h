/* Private to contact/: derivatives of Phi = dE/d(twists of both bodies) . (w, v) of one pair with respect to all
 * quantities on which E depends, except the poses at t + dt (docs/derivations/adjoint.md, A5-A8, A13). All values are
 * for stiffness 1. The twist field of each body is eta(x) = v + w x (x - reference). */
#ifndef SDRS_CONTACT_ADJOINT_H
#define SDRS_CONTACT_ADJOINT_H

#include "contact/friction.h"
#include "contact/impact.h"

/* A vertex, or a node of a circle, whose clearance is below the support. x: position relative to the plane's origin,
 * world axes [m]. */
typedef struct {
  int vertex; /* index of the vertex in its hull; for a node of a circle, index of the circle */
  Vec3 x;
  double first, second; /* P', P'' at its clearance */
  double clearance;
  Vec3 at; /* x; for a ball, its point nearest to the plane (C6), relative to the plane's origin */
} ActiveVertex;
/* Sets out to the vertices of a hull with clearance 0 < c < support and to the nodes of its circles, and returns their
 * number. P' and P'' of a node include the weight of the node. A half-space has one active vertex at most, with index
 * -1. sigma: -1 for body a, +1 for body b. out: memory for all vertices of the hull and for 24 nodes per circle (not
 * checked). Allocates nothing. */
int active_vertices(const HullInstance* hull, double sigma, double support, const Plane* plane, ActiveVertex* out);

/* Returns the derivative of P'(c) dc with respect to the radius r of a ball, whose clearance is c = sigma (n . x + o) -
 * r |n|. change: dc. dn: change of n. Cannot fail. */
double ball_share(Vec3 n, const ActiveVertex* v, double change, Vec3 dn);

/* Adds to *out the derivatives with respect to the position of an active vertex v, world axes: `next` at t + dt and
 * `now` at t. For a node of a circle, adds the resulting derivatives with respect to the motion of the body and to the
 * parameters of the solid. at: hull of v. plane: plane from whose origin v->x is measured. */
void active_share(const HullInstance* at, const Plane* plane, int side, const ActiveVertex* v, Vec3 next, Vec3 now,
                  PairShares* out);

/* Active vertices of both sides of a pair in one state. The memory of `vertices` belongs to the caller. */
typedef struct {
  ActiveVertex* vertices;
  int count[2];
  bool known; /* the vertices are set */
} ActiveSides;

/* Returns dP'/ds at fixed clearance c: -(2 P' + c P'') / s, because P' = Q'(c / s) / s^2. */
static inline double active_first_by_support(const ActiveVertex* v, double support) {
  return -(2 * v->first + v->clearance * v->second) / support;
}

/* Returns dW'/ds at fixed |n| = length for W(d) = Q(d / sigma) / s, d = 1 - |n|: -Q' / (sigma s^2), or 0 if W = 0. */
static inline double norm_first_by_support(double length, double support) {
  double nu = (1 - length) / BARRIER_NORM_WIDTH;
  return nu < 1 ? -barrier_eval(nu).first / (BARRIER_NORM_WIDTH * support * support) : 0;
}

/* Impact factor W' of a pair's force in the previous state, and derivatives of W' (docs/derivations/impact.md): by the
 * pair's potential U in that state (by_potential), by y at the start of the step that led to that state (by_before),
 * and by parameters at fixed U and y. */
typedef struct {
  double factor, by_potential, by_before, by_support, by_rest_speed, by_ratio; /* by_ratio: of impact_load */
  /* True for the force of an impact with restitution. Only the members `factor` and `by_ratio` are then used; the other
   * derivatives are computed in the step that led to t. */
  bool bounces;
} ContactLoad;

/* Adds the derivatives of the contact part of Phi at t + dt to *out. twist: twists (w, v) of both bodies [rad, m].
 * response: result of plane_derivatives. active: memory; this function sets it to the active vertices at t + dt. Cannot
 * fail, allocates nothing. */
void plane_adjoint(const PairBody body[2], double support, const PlaneSolution* solution, const PlaneResponse* response,
                   const double twist[2][6], ActiveSides* active, PairShares* out);

/* Adds the derivatives of the friction part of Phi in the step to *out. lag: after friction_evaluate at the poses of
 * `next`. solution: plane at t. then: memory; this function sets it to the active vertices at t. own: true if friction
 * depends on the force of the previous solve of the step; `solution` and `now` then belong to that solve, and slip is
 * relative to FrictionLag.then. by_slip: derivative of a scalar with respect to FrictionSlip.square at t + dt, 0 if
 * `own`; the derivatives of this scalar with respect to poses at t + dt are not added. Does nothing without a contact
 * force. Cannot fail, allocates nothing. */
void friction_adjoint(const FrictionLag* lag, const FrictionParameters* parameters, double support,
                      const PairBody now[2], const PairBody next[2], bool own, const PlaneSolution* solution,
                      const double twist[2][6], double by_slip, ActiveSides* then, PairShares* out);

/* Sets wrench to the Hessian of friction times the twists of both bodies, for stiffness 1: torques about the reference
 * points of the bodies, and forces. wrench = sum T^T b / dt, with the derivative T of a point's displacement by a
 * twist, and the derivative b of Phi by the point's slip. b has the same rounding errors as in friction_adjoint. lag:
 * after friction_evaluate at the poses of `next`. Cannot fail, allocates nothing. */
void friction_product(const FrictionLag* lag, const FrictionParameters* parameters, const PairBody next[2],
                      const double twist[2][6], double wrench[2][6]);

/* A pair in one state, as argument of the functions below. */
typedef struct {
  const PairBody* body;
  const PlaneSolution* solution; /* NULL: not in contact */
} ImpactMoment;
/* Sets *active to the active vertices of both sides, if active->known is false. at->solution must not be NULL.
 * active->vertices: memory for the vertices of both hulls. Cannot fail. */
void active_find(const ImpactMoment* at, double support, ActiveSides* active);
/* Converts the derivatives of contact that plane_adjoint has added to *out into those of contact with the impact factor
 * W': multiplies them by W' and adds the derivatives of W'. Adds the derivatives with respect to the pair's potential
 * and force at t to *bar, for impact_pressure_adjoint. Cannot fail, allocates nothing. */
void impact_adjoint(const Impact* impact, const ImpactParameters* parameters, const ImpactPast* past,
                    const PairCarry* carried, const ImpactMoment* now, const ImpactMoment* next, ActiveSides* active,
                    Pressure* bar, PairShares* out);
/* Adds the derivatives of Phi that act through the impact factor on the coefficients of friction and rolling. Those
 * that act through the state at t are added to *bar and *out, those that act through the previous state to out->carry.
 * Multiplies the derivatives with respect to the coefficients in *out by the factor. Call it after friction_adjoint and
 * rolling_adjoint. Cannot fail, allocates nothing. */
void impact_load_adjoint(const ContactLoad* load, const PairMaterial* material, Pressure* bar, PairShares* out);
/* Does the same as impact_load_adjoint for a given derivative with respect to the impact factor, by_factor. Does not
 * change the derivatives with respect to the coefficients. */
void impact_late_load_adjoint(const ContactLoad* load, double by_factor, Pressure* bar, PairShares* out);
/* Adds the derivatives of Phi that act through the impact factor W' and the force of the previous solve of the step,
 * for a pair without restitution. by_factor: derivative of Phi with respect to W'. by_force: derivative of Phi with
 * respect to the magnitude of the force in that solve, for stiffness 1 and W' = 1. solve: state of the pair in that
 * solve. own: active vertices in `solve`; the function sets them if they are unknown. */
void impact_own_load_adjoint(const Impact* impact, const ImpactParameters* parameters, double by_factor,
                             double by_force, const ImpactMoment* now, const ImpactMoment* solve, ActiveSides* own,
                             Pressure* bar, PairShares* out);
/* Adds the derivatives that act through y of the pair at t to *bar and *out. carried->y: derivative of the scalar with
 * respect to y, found in the next step. Cannot fail, allocates nothing. */
void impact_carry_adjoint(const PairCarry* carried, const ImpactParameters* parameters, const ImpactMoment* now,
                          Pressure* bar, PairShares* out);
/* Adds the derivatives of Phi that act through the potential and the force of the pair at t to *out. bar: derivatives
 * of Phi with respect to potential and force. Does nothing if the pair was not in contact at t. Cannot fail, allocates
 * nothing. */
void impact_pressure_adjoint(const Pressure* bar, const ImpactParameters* parameters, const ImpactMoment* now,
                             ActiveSides* then, PairShares* out);

/* Sets z (4) to -H_pp^-1 plane_bar. plane_bar (4): derivative of a scalar with respect to the plane (n, o) that
 * minimises U at t. The derivative of the scalar with respect to a vertex at t is then P'' n (x~ . z) + sigma P' z_n.
 * half_space: true if n has a fixed direction; only the component of z_n along n is then nonzero. Cannot fail if the
 * plane was found. */
void plane_implicit(const PlaneSolution* solution, bool half_space, const double plane_bar[4], double z[4]);

#endif

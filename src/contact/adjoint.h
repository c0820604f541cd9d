/* Private to contact/: adjoint of the energy E of one pair (docs/derivations/adjoint.md, A5-A8, A13). Phi is the
 * directional derivative of E along a given twist (w, v) of each body. A point x of a body with this twist moves by v +
 * w x (x - reference). The functions differentiate Phi with respect to all quantities on which E depends, except the
 * poses at t + dt. All values are for stiffness 1. */
#ifndef SDRS_CONTACT_ADJOINT_H
#define SDRS_CONTACT_ADJOINT_H

#include "contact/elastic_slip.h"
#include "contact/friction.h"
#include "contact/impact.h"

/* A vertex, or a quadrature node of a circle, that is closer to the plane than the support. x: position relative to the
 * plane's origin, world axes [m]. */
typedef struct {
  int vertex; /* index of the vertex in its hull; for a node of a circle, index of the circle */
  Vec3 x;
  double first, second; /* derivatives P' and P'' of the vertex barrier P(c) at the clearance c */
  double clearance;
  Vec3 nearest_point; /* equal to x for a vertex. For a ball, the point of the ball nearest to the plane (contact.md,
                         C6), relative to the plane's origin */
} ActiveVertex;
/* Finds the active vertices of a hull, whose clearance c from the plane is 0 < c < support, and the active quadrature
 * nodes of its circles. Writes them to `out` and returns their number. The barrier derivatives P' and P'' of a node
 * include its quadrature weight. A half-space has at most one active vertex, with index -1. sigma: -1 for body a, +1
 * for body b. out: memory of the caller for all vertices of the hull and for 24 nodes per circle. */
int active_vertices(const HullInstance* hull, double sigma, double support, const Plane* plane, ActiveVertex* out);

/* Returns the derivative of the product P'(c) dc with respect to the radius r of a ball. P': derivative of the vertex
 * barrier. c = sigma (n . x + o) - r |n|: clearance of the ball from the plane (n, o). change: dc, a given change of c.
 * dn: given change of the normal n. */
double ball_radius_derivative(Vec3 n, const ActiveVertex* v, double change, Vec3 dn);

/* Adds the derivatives of Phi with respect to the position of an active vertex v to *out. next: derivative with respect
 * to the position at t + dt; now: at t; both in world axes. at: hull to which v belongs. plane: plane from whose origin
 * v->x is measured. side: body of the hull, 0 or 1. If v is a node of a circle, also adds the derivatives with respect
 * to the motion of the body and to the parameters of the solid. */
void active_add_derivatives(const HullInstance* at, const Plane* plane, int side, const ActiveVertex* v, Vec3 next,
                            Vec3 now, PairShares* out);

/* Active vertices of both sides of a pair in one state. The caller owns the memory of `vertices`. */
typedef struct {
  ActiveVertex* vertices;
  int count[2];
  bool is_set; /* true if `vertices` and `count` are set */
} ActiveSides;

/* Corrects the derivatives P' of the vertex barriers of two hulls to first order (A5). The correction is the effect of
 * a small change of the separating plane. After this change, the derivatives of the potential U with respect to the
 * plane are zero. The sum of the forces on both hulls is then zero to rounding. */
void active_balance(const PlaneSolution* solution, ActiveSides* active);

/* Returns the derivative of the barrier derivative P'(c) of a vertex with respect to the support s, at fixed clearance
 * c. It is -(2 P' + c P'') / s, because P' = Q'(c / s) / s^2 with the barrier function Q (barrier_eval). */
static inline double active_first_by_support(const ActiveVertex* v, double support) {
  return -(2 * v->first + v->clearance * v->second) / support;
}

/* The barrier W(d) = Q(d / sigma) / s with d = 1 - |n| keeps the length |n| of the plane's normal below 1. sigma is
 * BARRIER_NORM_WIDTH and Q is barrier_eval. Returns the derivative of dW/dd with respect to the support s at fixed |n|
 * = `length`. It is -Q' / (sigma s^2), or 0 if W = 0. */
static inline double norm_first_by_support(double length, double support) {
  double nu = (1 - length) / BARRIER_NORM_WIDTH;
  return nu < 1 ? -barrier_eval(nu).first / (BARRIER_NORM_WIDTH * support * support) : 0;
}

/* Impact factor W' of a pair in the previous state, with its derivatives (docs/derivations/impact.md). The contact
 * force is W' times the barrier force. by_potential: derivative of W' with respect to the pair's potential U in that
 * state. by_before: derivative with respect to the compression y (impact_compression) at the start of the step that led
 * to that state. The other members are derivatives with respect to parameters at fixed U and y. */
typedef struct {
  double factor, by_potential, by_before, by_support, by_rest_speed,
      by_ratio; /* by_ratio: derivative with respect to `ratio` of impact_friction_factor */
  /* true for an impact with restitution. Only `factor` is then used, because ImpactImpulse has the derivatives. */
  bool bounces;
} ContactLoad;

/* Impulses of an impact with restitution at the start of a recorded step. */
typedef struct {
  const ImpactParameters* parameters;
  const ImpactPast* past;
  double force; /* force of the pair at t without the impact factor, for stiffness 1 [1/m^2] */
} ImpactImpulse;

/* Adds the derivatives of the contact part of Phi at t + dt to *out. twist: motion (w, v) of both bodies [rad, m].
 * response: result of plane_derivatives. active: memory of the caller, which receives the active vertices at t + dt. */
void plane_adjoint(const PairBody body[2], double support, const PlaneSolution* solution, const PlaneResponse* response,
                   const double twist[2][6], ActiveSides* active, PairShares* out);

/* Adds the derivatives of the friction part of Phi to *out. lag: friction reference, after friction_evaluate at the
 * poses of `next`, the bodies at t + dt. now: bodies at t. solution: plane at t. sides: memory of the caller, which
 * receives the active vertices at t. at_solve: true if the normal force of the previous solve of the step limits
 * friction; `solution` and `now` then belong to that solve, and slip is relative to FrictionLag.start. passed:
 * derivatives through the displacement of the step, from which the step passes numbers to the next step; NULL if they
 * are zero or `own` is true. Adds the derivative with respect to the elastic slip at t to out->elastic. Does nothing
 * without a contact force. */
void friction_adjoint(const FrictionLag* lag, const FrictionParameters* parameters, double support,
                      const PairBody now[2], const PairBody next[2], bool at_solve, const PlaneSolution* solution,
                      const double twist[2][6], const DisplacementBar* passed, ActiveSides* sides, PairShares* out);

/* Sets wrench to the Hessian of the friction energy times the motion (w, v) of both bodies, for stiffness 1. wrench:
 * torque about the reference point of each body, and force. wrench is the sum of T^T b / dt over the contact points. T:
 * derivative of a point's displacement with respect to the motion of the bodies. b: derivative of Phi with respect to
 * the point's slip velocity, with the same rounding errors as in friction_adjoint. lag: after friction_evaluate at the
 * poses of `next`. */
void friction_product(const FrictionLag* lag, const FrictionParameters* parameters, const PairBody next[2],
                      const double twist[2][6], double wrench[2][6]);

/* Bodies and separating plane of a pair in one state. */
typedef struct {
  const PairBody* body;
  const PlaneSolution* solution; /* separating plane of the pair; NULL if the pair is not in contact */
} ImpactMoment;
/* Sets *active to the active vertices of both sides, unless active->is_set is true. at->solution must not be NULL
 * (asserted). active->vertices: memory of the caller for the vertices of both hulls. */
void active_compute(const ImpactMoment* at, double support, ActiveSides* active);
/* Applies the impact factor W' to the derivatives that plane_adjoint has added to *out. Multiplies these derivatives by
 * W' and adds the derivatives of W'. Adds the derivatives of Phi with respect to the pair's potential and force at t to
 * *bar, for impact_pressure_adjoint. now, next: pair at t and at t + dt. */
void impact_adjoint(const Impact* impact, const ImpactParameters* parameters, const ImpactPast* past,
                    const PairCarry* carried, const ImpactMoment* now, const ImpactMoment* next, ActiveSides* active,
                    Pressure* bar, PairShares* out);
/* Adds the contribution of the impact factor, which multiplies the friction coefficients, to the derivatives of Phi.
 * The contribution of the state at t is added to *bar and *out, the contribution of the previous state to out->carry.
 * Multiplies the derivatives with respect to the coefficients of friction and rolling in *out by the factor. Call after
 * friction_adjoint and rolling_adjoint. */
void impact_load_adjoint(const ContactLoad* load, const PairMaterial* material, const ImpactImpulse* impulse,
                         Pressure* bar, PairShares* out);
/* Adds the contribution of the impact factor to the derivatives of Phi, as impact_load_adjoint does. by_factor:
 * derivative of Phi with respect to the impact factor. Does not change the derivatives with respect to the coefficients
 * of friction and rolling. */
void impact_late_load_adjoint(const ContactLoad* load, double by_factor, const ImpactImpulse* impulse, Pressure* bar,
                              PairShares* out);
/* Adds the contribution of the constant wrench of IMPACT_RESTITUTION to the derivatives of Phi. now: pair at t. next:
 * bodies at t + dt. sides: memory of the caller. */
void impact_return_adjoint(const ImpactImpulse* impulse, const ReturnWrench* wrench, const ImpactMoment* now,
                           const PairBody next[2], const double twist[2][6], ActiveSides* sides, Pressure* bar,
                           PairShares* out);
/* Adds the contribution of the impulses of an impact with restitution to the derivatives of Phi, after impact_adjoint
 * and impact_load_adjoint. by_next: derivative of the scalar with respect to minus the impulse, found in the next step
 * (PairCarry.net_limit). */
void impact_impulse_adjoint(const ImpactImpulse* impulse, double by_next, Pressure* bar, PairShares* out);
/* Adds the contribution of the normal force of the previous solve of the step to the derivatives of Phi. The pair has
 * no restitution. by_factor: derivative of Phi with respect to the impact factor W'. by_force: derivative of Phi with
 * respect to the magnitude of the force in that solve, for stiffness 1 and W' = 1. solve: state of the pair in that
 * solve. at_solve: active vertices of the pair in `solve`, set by the function if unknown. */
void impact_current_load_adjoint(const Impact* impact, const ImpactParameters* parameters, double by_factor,
                                 double by_force, const ImpactMoment* now, const ImpactMoment* solve,
                                 ActiveSides* sides, Pressure* bar, PairShares* out);
/* Adds the contribution of the pair's compression y at t (impact_compression) to the derivatives *bar and *out of Phi.
 * carried->y: derivative of the differentiated scalar with respect to y, found in the next step. */
void impact_carry_adjoint(const PairCarry* carried, const ImpactParameters* parameters, const ImpactMoment* now,
                          Pressure* bar, PairShares* out);
/* Adds the contribution of the potential and force of the pair at t to the derivatives of Phi, *out. bar: derivatives
 * of Phi with respect to potential and force. Does nothing if the pair was not in contact at t. */
void impact_pressure_adjoint(const Pressure* bar, const ImpactParameters* parameters, const ImpactMoment* now,
                             ActiveSides* sides, PairShares* out);

/* The separating plane (n, o) at t minimises the potential U of the pair, so it depends on the vertices. The function
 * solves for the adjoint z = -H_pp^-1 plane_bar of this dependence. H_pp: Hessian of U with respect to the plane.
 * plane_bar (4): derivative of a scalar with respect to the plane. Let x~ = (x, 1), and let z_n be the first three
 * components of z. P', P'': derivatives of the vertex barrier; sigma: -1 for body a, +1 for body b. The derivative of
 * the scalar with respect to a vertex x at t is then P'' n (x~ . z) + sigma P' z_n. half_space: true if n has a fixed
 * direction; only the component of z_n along n is then nonzero. Cannot fail if the plane was found. */
void plane_solve_adjoint(const PlaneSolution* solution, bool half_space, const double plane_bar[4], double z[4]);

#endif

/* Private to contact/: derivatives of  Phi = dE/d(twists of both bodies) . (w, v)  of one pair with respect to what E
 * depends on besides the bodies' poses (docs/derivations/adjoint.md, A5-A8, A13). Everything for stiffness 1.
 * The twist field is eta(x) = v + w x (x - reference) on either side. */
#ifndef SDRS_CONTACT_ADJOINT_H
#define SDRS_CONTACT_ADJOINT_H

#include "contact/friction.h"
#include "contact/impact.h"

/* A vertex that feels the plane: x relative to the plane's origin, world axes. */
typedef struct {
  int vertex; /* in its hull; of a node of a circle that circle */
  Vec3 x;
  double first, second; /* P', P'' at its clearance */
  double clearance;
  Vec3 at; /* x, or of a ball about it the point nearest to the plane (C6) */
} ActiveVertex;
/* Vertices with 0 < c < s, and nodes of circles, whose P', P'' have their weight; out has room for all of the hull's,
 * 24 a circle. A half-space has one, vertex -1. sigma: -1 for a, +1 for b. Returns how many. More are not written,
 * fewer room is not checked. Allocates nothing. */
int active_vertices(const HullInstance* hull, double sigma, double support, const Plane* plane, ActiveVertex* out);

/* By the radius of a ball: the derivative of  P'(c) dc  with c = sigma (n . x + o) - r |n|, of which dc = `change` at
 * fixed n and x, while the normal changes by dn. By value; cannot fail. */
double ball_share(Vec3 n, const ActiveVertex* v, double change, Vec3 dn);

/* Adds the derivatives by where an active vertex is at t + dt and at t, world axes. A node of a circle is a point of
 * its body: it goes with the body's motion, and with the solid's parameters. at: the moment whose hull and plane v is
 * of. */
void active_share(const HullInstance* at, const Plane* plane, int side, const ActiveVertex* v, Vec3 next, Vec3 now,
                  PairShares* out);

/* Active vertices of both sides of a pair in one state, in memory of the caller. */
typedef struct {
  ActiveVertex* vertices;
  int count[2];
  bool known; /* they have been found */
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

/* The factor W' that an impact put on a pair's force, and its derivatives: by the pair's potential U then, by y of the
 * step before it, and by parameters at fixed U and y (docs/derivations/impact.md). */
typedef struct {
  double factor, by_potential, by_before, by_support, by_rest_speed, by_ratio; /* by_ratio: of impact_load */
  /* The force of an impact with restitution: only `factor` and `by_potential` are set, the others belong to the step
   * that led to t. */
  bool bounces;
} ContactLoad;

/* Adds the derivatives of contact at t + dt to the caller's shares. active: at t + dt, found here. twist: of both
 * bodies [rad, m]. response: from plane_derivatives. Cannot fail, allocates nothing. */
void plane_adjoint(const PairBody body[2], double support, const PlaneSolution* solution, const PlaneResponse* response,
                   const double twist[2][6], ActiveSides* active, PairShares* out);

/* Adds the derivatives of friction in the step; lag after friction_evaluate at the poses of `next`. solution: the plane
 * at t. then: active vertices at t, found here. own: friction depends on the solve before, to which `solution` and
 * `now` then belong; slip is relative to FrictionLag.then. by_slip: derivative of a scalar with respect to
 * FrictionSlip.square at t + dt, 0 with `own`; its derivatives with respect to poses at t + dt are not added. Does
 * nothing without a contact force. Cannot fail, allocates nothing. */
void friction_adjoint(const FrictionLag* lag, const FrictionParameters* parameters, double support,
                      const PairBody now[2], const PairBody next[2], bool own, const PlaneSolution* solution,
                      const double twist[2][6], double by_slip, ActiveSides* then, PairShares* out);

/* Contact at t + dt and at t, and what the pair carries from step to step. out holds what plane_adjoint has added and
 * nothing else. These return their derivative by the pair's potential at t, for impact_potential_adjoint. */
typedef struct {
  const PairBody* body;
  const PlaneSolution* solution; /* NULL: not in contact */
} ImpactMoment;
/* The active vertices of both sides, unless they are known. at->solution is not NULL. Its room holds the vertices of
 * both hulls. Cannot fail. */
void active_find(const ImpactMoment* at, double support, ActiveSides* active);
/* bar: derivatives by the pair's pressure at t, gathered for impact_pressure_adjoint. out is scaled by W' and added
 * to. Cannot fail, allocates nothing. */
void impact_adjoint(const Impact* impact, const ImpactParameters* parameters, const ImpactPast* past,
                    const PairCarry* carried, const ImpactMoment* now, const ImpactMoment* next, ActiveSides* active,
                    Pressure* bar, PairShares* out);
/* After friction_adjoint and rolling_adjoint, with coefficients times the factor: by the factor, which rests on the
 * state at t and, as out->carry, on the one before. Scales out's coefficients by the factor. Cannot fail, allocates
 * nothing. */
void impact_load_adjoint(const ContactLoad* load, const PairMaterial* material, Pressure* bar, PairShares* out);
/* The same of friction that rests on the solve before: by the factor W' there, of a pair that does not bounce. own:
 * vertices there, as friction_adjoint has left them; solve is that moment. */
void impact_own_load_adjoint(const Impact* impact, const ImpactParameters* parameters, const PairMaterial* material,
                             const ImpactMoment* now, const ImpactMoment* solve, ActiveSides* own, Pressure* bar,
                             PairShares* out);
/* Adds the derivatives that the next step passes back through the pair's y at t to bar and out. Cannot fail, allocates
 * nothing. */
void impact_carry_adjoint(const PairCarry* carried, const ImpactParameters* parameters, const ImpactMoment* now,
                          Pressure* bar, PairShares* out);
/* Adds bar times the change of potential and force at t by everything that they depend on. Nothing for a pair that was
 * not in contact at t. Cannot fail, allocates nothing. */
void impact_pressure_adjoint(const Pressure* bar, const ImpactParameters* parameters, const ImpactMoment* now,
                             ActiveSides* then, PairShares* out);

/* plane_bar: derivative of a scalar with respect to the plane (n, o) that minimises U at t. Gives z = -H_pp^-1
 * plane_bar; the scalar then depends on a vertex at t by  P'' n (x~ . z) + sigma P' z_n. plane_bar, z (4); half_space:
 * n keeps its direction, z has a part along it alone. z is the caller's own; cannot fail where the plane was found. */
void plane_implicit(const PlaneSolution* solution, bool half_space, const double plane_bar[4], double z[4]);

#endif

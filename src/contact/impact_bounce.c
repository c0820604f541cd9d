/* Impacts with restitution (docs/derivations/impact.md, I7, I8). */
#include <assert.h>

#include "contact/impact.h"

/* Dimensionless compliance of the spring that moves the clearance of a rebounding pair to its required value (I7):
 * inertia of the pair divided by the spring stiffness and by the squared length of the substep. The error of the
 * clearance is SPRING_COMPLIANCE times the relative deviation of the inertia from that of two bodies that do not
 * rotate. */
#define SPRING_COMPLIANCE 1e-4

/* Derivatives of the barrier Q = x^4 / z^5. z: clearance of a vertex divided by the support; x = 1 - z: its depth in
 * the contact range. barrier_slope returns dQ/dx, barrier_curvature d2Q/dx2. */
static double barrier_slope(double x) {
  double z = 1 - x, z2 = z * z;
  return x * x * x * (4 + x) / (z2 * z2 * z2);
}

static double barrier_curvature(double x) {
  double z = 1 - x, z2 = z * z;
  return x * x * (12 + 16 * x + 2 * x * x) / (z2 * z2 * z2 * z);
}

/* Returns the depth x in the contact range (barrier_slope) at which the barrier is Q(x) = scale U, for U = potential.
 * Solves z + w z^(5/4) = 1 with w = (scale U)^(1/4) and z = 1 - x by Newton's method. The left side is convex and
 * increasing in z. The rounding error is relative to x. scale: support divided by the number of equal vertices that
 * have the potential U [m]. */
static double find_depth(double scale, double potential) {
  if (!(potential > 0)) return 0;
  double w = sqrt(sqrt(scale * potential)), x = w / (1 + w);
  if (w > 1) x = 1 - 1 / (sqrt(w) * sqrt(sqrt(sqrt(w * w * sqrt(w)))) + 1); /* for large w, z is about w^(-4/5) */
  for (int k = 0; k < 60; k++) {
    double z = 1 - x, root = sqrt(sqrt(z)), next = x - (x - w * z * root) / (1 + 1.25 * w * root);
    if (!(next < 1)) next = 0.5 * (1 + x);
    bool done = fabs(next - x) <= 4e-16 * x;
    x = next;
    if (done) break;
  }
  return x;
}

/* Scale sigma = s / N_e, with the support s, and its derivatives. N_e is the number of equal vertices that would
 * together have the same potential U and force p as the pair (I7). */
typedef struct {
  double value; /* m */
  double by_potential, by_force, by_support;
} ClearanceScale;

/* Returns sigma (ClearanceScale) for the potential U and the force p at t. N_e equal vertices at the clearance (1 - x)
 * s have the potential U = N_e Q / s with the barrier Q(x). The gap closes by 2 s if x grows by 1, so tau = 4 U / (2 s
 * p) = x - 5/4 x^2 + O(x^3). With u = tau + 9/4 tau^2, x = u / (1 + u) is correct to third order and below 1. Requires
 * U > 0 and p > 0. */
static ClearanceScale clearance_scale(double s, const Pressure* p) {
  double tau = 2 * p->potential / (s * p->force), u = tau + 2.25 * tau * tau, x = u / (1 + u), z = 1 / (1 + u);
  double power = x * x * x * x / (z * z * z * z * z);
  double by_tau = barrier_slope(x) * z * z * (1 + 4.5 * tau); /* dQ/dx dx/dtau */
  double value = power / p->potential;
  return (ClearanceScale){.value = value,
                          .by_potential = (by_tau * tau / p->potential - value) / p->potential,
                          .by_force = -by_tau * tau / (p->force * p->potential),
                          .by_support = -by_tau * tau / (s * p->potential)};
}

/* Depth x of a pair with the potential U and the force p in the contact range (0 at its edge, 1 at touch), and its
 * derivatives. lever: displacement of the bodies along the force per unit of x, |dQ/dx| / (sigma p) with the scale
 * sigma of ClearanceScale. The derivatives are set only if x > 0 and p > 0. */
typedef struct {
  double x, by_potential, by_scale; /* dx/dU, dx/dsigma */
  double lever;                     /* r [m]; 0 if there is no force */
  double lever_by_potential, lever_by_force, lever_by_scale;
} ContactDepth;

static ContactDepth contact_depth(double scale, const Pressure* p) {
  ContactDepth out = {.x = find_depth(scale, p->potential)};
  double slope = barrier_slope(out.x), curvature = barrier_curvature(out.x);
  if (!(slope > 0) || !(p->force > 0)) return (ContactDepth){.x = 0};
  out.by_potential = scale / slope;
  out.by_scale = p->potential / slope;
  out.lever = slope / (scale * p->force);
  out.lever_by_potential = out.lever * curvature / slope * out.by_potential;
  out.lever_by_scale = out.lever * (curvature / slope * out.by_scale - 1 / scale);
  out.lever_by_force = -out.lever / p->force;
  return out;
}

double impact_potential(double support, double z) {
  assert(support > 0);
  return POTENTIAL_TERMS * barrier_eval(z).value / support;
}

double impact_clearance(const ImpactParameters* p, double potential) {
  assert(p->support > 0);
  return 1 - find_depth(p->support / POTENTIAL_TERMS, potential);
}

double impact_speed(const ImpactParameters* p, const ImpactPast* past) {
  if (!(past->now.potential > 0) || !(past->now.force > 0)) return 0;
  double scale = clearance_scale(p->support, &past->now).value;
  ContactDepth now = contact_depth(scale, &past->now), old = contact_depth(scale, &past->old);
  if (!(past->dt_before > 0)) return 0;
  return 0.5 * (now.lever + old.lever) * (now.x - old.x) / past->dt_before;
}

ImpactRestitution impact_restitution(const ImpactParameters* p, double speed) {
  double rest = p->rest_speed;
  if (!(rest > 0)) return (ImpactRestitution){p->restitution, 0, 0, 1};
  double x = (speed / rest - IMPACT_MIN_SPEED_RATIO) / IMPACT_MIN_SPEED_RATIO,
         slope = p->restitution * impact_blend_derivative(x) / (IMPACT_MIN_SPEED_RATIO * rest);
  return (ImpactRestitution){p->restitution * impact_blend(x), slope, -slope * speed / rest, impact_blend(x)};
}

/* Fraction u by which the pair reverses the change of the depth x during its approach, with derivatives. The bodies
 * move back by `fraction` of the displacement of their approach. u is the root of r_t u + (r_- - r_t) u^2 / 2 =
 * fraction (r_t + r_-) / 2 (I7). r_t, r_-: displacements per unit of x (ContactDepth.lever) at t and at t -
 * dt_before. */
typedef struct {
  double value, by_fraction, by_now, by_old;
} ReturnFraction;

static ReturnFraction return_fraction(double now, double old, double fraction) {
  double root = sqrt(now * now + fraction * (old * old - now * now)), sum_of_lengths = now + old, sum = now + root;
  double value = fraction * sum_of_lengths / sum, curvature_ratio = value / sum;
  return (ReturnFraction){.value = value,
                          .by_fraction = sum_of_lengths / sum - curvature_ratio * (old * old - now * now) / (2 * root),
                          .by_now = fraction / sum - curvature_ratio * (1 + now * (1 - fraction) / root),
                          .by_old = fraction / sum - curvature_ratio * fraction * old / root};
}

/* (I7) Returns the energy W = k/2 (x - x*)^2 of the spring that moves a rebounding pair apart, and its derivatives. k:
 * stiffness of the spring; x: depth of the pair in the contact range (ContactDepth); x*: depth that restitution
 * requires. W is 0 if x <= x*. */
Impact impact_evaluate_rebound(const ImpactParameters* p, double potential, const ImpactPast* past) {
  double s = p->support, h = p->dt, before = past->dt_before, sum_of_lengths = h + before, ratio = h / before;
  Pressure pressure = {potential, 1};
  ClearanceScale scale = clearance_scale(s, &past->now);
  ContactDepth now = contact_depth(scale.value, &past->now), old = contact_depth(scale.value, &past->old);
  ContactDepth end = contact_depth(scale.value, &pressure);
  double depth_change = now.x - old.x, speed = 0.5 * (now.lever + old.lever) * depth_change / before;
  ImpactRestitution e = impact_restitution(p, speed);
  ReturnFraction u = return_fraction(now.lever, old.lever, e.value * ratio);
  double return_share =
      u.value +
      SPRING_COMPLIANCE *
          (u.value + ratio); /* the second term is the deflection of the spring, SPRING_COMPLIANCE (u + h / h-) */
  double stiffness =
      2 * now.lever * now.lever * past->inertia / (p->stiffness * SPRING_COMPLIANCE * h * sum_of_lengths);
  double excess = end.x - now.x + depth_change * return_share, slope = end.by_potential; /* x - x*, dx/dU */
  if (!(excess > (past->recorded ? -IMPACT_SPRING_OVERTRAVEL * depth_change * return_share : 0)))
    return (Impact){.value = 0};
  double curvature_ratio = barrier_curvature(end.x) / barrier_slope(end.x); /* d2x/dU2 = -bend (dx/dU)^2 */
  double by_excess = stiffness * slope, first = by_excess * excess, by_x = by_excess * (1 - excess * curvature_ratio);
  Impact out = {.value = 0.5 * stiffness * excess * excess, .first = first, .second = by_x * slope};
  double by_back = by_excess * depth_change * (1 + SPRING_COMPLIANCE), by_e = by_back * u.by_fraction * ratio,
         by_speed = by_e * e.by_speed;
  double by_now_lever = 2 * first / now.lever + by_back * u.by_now + 0.5 * by_speed * depth_change / before;
  double by_old_lever = by_back * u.by_old + 0.5 * by_speed * depth_change / before;
  double by_nearer = by_excess * return_share + by_speed * speed / depth_change, by_now = by_nearer - by_excess;
  double by_ratio = by_back * u.by_fraction * e.value + by_excess * depth_change * SPRING_COMPLIANCE;
  double by_scale = by_x * end.by_scale + first / scale.value + by_now * now.by_scale +
                    by_now_lever * now.lever_by_scale - by_nearer * old.by_scale + by_old_lever * old.lever_by_scale;
  out.by_now =
      (Pressure){by_now * now.by_potential + by_now_lever * now.lever_by_potential + by_scale * scale.by_potential,
                 by_now_lever * now.lever_by_force + by_scale * scale.by_force};
  out.by_old = (Pressure){-by_nearer * old.by_potential + by_old_lever * old.lever_by_potential,
                          by_old_lever * old.lever_by_force};
  out.by_support = by_scale * scale.by_support;
  out.by_restitution = by_e * e.by_restitution;
  out.by_rest_speed = by_e * e.by_rest_speed;
  out.by_inertia = first / past->inertia;
  out.by_stiffness = -first / p->stiffness;
  out.by_dt = by_ratio / before - first * (1 / h + 1 / sum_of_lengths);
  out.by_dt_before = -by_ratio * ratio / before - first / sum_of_lengths - by_speed * speed / before;
  return out;
}

/* In the substep in which the approach speed is measured, the impact exerts a force at clearances below MEASURED_ENTRY
 * (I2a). */
#define MEASURED_ENTRY 0.5

Impact impact_evaluate_pair(const ImpactParameters* p, double potential, double before, const ImpactPast* past) {
  if (past->bounces && potential > 0) return impact_evaluate_rebound(p, potential, past);
  double entry = p->restitution > 0 ? past->enters ? MEASURED_ENTRY : IMPACT_ENTRY : 1;
  return impact_evaluate_with_entry(p, potential, before, entry);
}

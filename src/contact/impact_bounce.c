/* Impacts with restitution (docs/derivations/impact.md, I7, I8). */
#include <assert.h>

#include "contact/impact.h"

/* Dimensionless compliance of the spring that moves the clearance of a rebounding pair to its required value (I7):
 * inertia of the pair divided by the spring stiffness and by the squared length of the substep. The error of the
 * clearance is SPRING_COMPLIANCE times the relative deviation of the inertia from that of two bodies that do not
 * rotate. The rounding error of derivatives is proportional to 1 / SPRING_COMPLIANCE. With 1e-4, the median difference
 * of forward and reverse derivatives is 2.5 times larger; with 1e-3, slopes of a pendulum have errors above 1e-3. */
#define SPRING_COMPLIANCE 3e-4

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

/* Depth x of equal vertices with the given 2 U / (s p) = tau, and dx/dtau. */
typedef struct {
  double x, by_tau;
} EqualDepth;

/* Solves tau = 4 x (1 - x) / (4 + x), by the series of x / (1 - x) to third order in tau. */
static EqualDepth find_equal_depth(double tau) {
  double u = tau * (1 + tau * (9.0 / 4 + 101.0 / 16 * tau)), slope = 1 + tau * (9.0 / 2 + 303.0 / 16 * tau);
  return (EqualDepth){u / (1 + u), slope / ((1 + u) * (1 + u))};
}

/* Returns sigma (ClearanceScale) for the potential U and the force p at t. N_e equal vertices at the clearance (1 - x)
 * s have the potential U = N_e Q / s with the barrier Q(x). The gap closes by 2 s if x grows by 1, so 4 U / (2 s p) = 4
 * x (1 - x) / (4 + x). Requires U > 0 and p > 0. */
static ClearanceScale clearance_scale(double s, const Pressure* p) {
  double tau = 2 * p->potential / (s * p->force);
  EqualDepth depth = find_equal_depth(tau);
  double x = depth.x, z = 1 - x, power = x * x * x * x / (z * z * z * z * z);
  double by_tau = barrier_slope(x) * depth.by_tau;
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

/* Ratio w of the further change of the depth x to its change in the previous substep, with derivatives. The bodies
 * approach by `fraction` of the displacement of the previous substep: r_t w - (r_- - r_t) w^2 / 2 = fraction (r_t +
 * r_-) / 2 (I7). w is the solution to second order in r_- / r_t - 1. r_t, r_-: displacements per unit of x
 * (ContactDepth.lever) at t and at t - dt_before. */
typedef struct {
  double value, by_fraction, by_now, by_old;
} DepthRatio;

static DepthRatio depth_ratio(double now, double old, double fraction) {
  double both = (now + old) / (2 * now), half = 0.5 / now, bend = half * (old - now), first = fraction * both;
  double by_first = 1 + 2 * bend * first, by_old = fraction * half * by_first + first * first * half;
  return (DepthRatio){first * (1 + bend * first), both * by_first, -by_old * old / now, by_old};
}

/* Fractions of the approach speed at the ends of the three substeps of compression: 3/4, 1/4 and 0. speed_fraction
 * returns the fraction that a substep leaves of the speed at its start. */
static double speed_fraction(ImpactStage stage) {
  return stage == IMPACT_COMPRESSION_1 ? 3.0 / 4 : stage == IMPACT_COMPRESSION_2 ? 1.0 / 3 : 0;
}

/* (I7) Returns the energy W = k/2 (x - x*)^2 of the spring that slows the approach of a pair, and its derivatives. k:
 * stiffness of the spring; x: depth of the pair in the contact range (ContactDepth); x*: depth of a pair that keeps
 * speed_fraction of its speed. W is 0 if x <= x*. */
Impact impact_evaluate_compression(const ImpactParameters* p, double potential, const ImpactPast* past) {
  double s = p->support, h = p->dt, before = past->dt_before, sum_of_lengths = h + before, ratio = h / before;
  double kept = speed_fraction(past->stage);
  Pressure pressure = {potential, 1};
  ClearanceScale scale = clearance_scale(s, &past->now);
  ContactDepth now = contact_depth(scale.value, &past->now), old = contact_depth(scale.value, &past->old);
  ContactDepth end = contact_depth(scale.value, &pressure);
  double depth_change = now.x - old.x;
  DepthRatio w = depth_ratio(now.lever, old.lever, kept * ratio);
  /* the second term is the deflection of the spring */
  double deeper = w.value - SPRING_COMPLIANCE * (ratio - w.value);
  double stiffness =
      2 * now.lever * now.lever * past->inertia / (p->stiffness * SPRING_COMPLIANCE * h * sum_of_lengths);
  double excess = end.x - now.x - depth_change * deeper, slope = end.by_potential; /* x - x*, dx/dU */
  if (!(excess > (past->recorded ? -IMPACT_SPRING_OVERTRAVEL * fabs(depth_change) * ratio : 0)))
    return (Impact){.value = 0};
  double curvature_ratio = barrier_curvature(end.x) / barrier_slope(end.x); /* d2x/dU2 = -bend (dx/dU)^2 */
  double by_excess = stiffness * slope, first = by_excess * excess, by_x = by_excess * (1 - excess * curvature_ratio);
  Impact out = {.value = 0.5 * stiffness * excess * excess, .first = first, .second = by_x * slope};
  double by_depth = -by_excess * depth_change * (1 + SPRING_COMPLIANCE);
  double by_now_lever = 2 * first / now.lever + by_depth * w.by_now, by_old_lever = by_depth * w.by_old;
  double by_nearer = -by_excess * deeper, by_now = by_nearer - by_excess;
  double by_ratio = by_depth * w.by_fraction * kept + by_excess * depth_change * SPRING_COMPLIANCE;
  double by_scale = by_x * end.by_scale + first / scale.value + by_now * now.by_scale +
                    by_now_lever * now.lever_by_scale - by_nearer * old.by_scale + by_old_lever * old.lever_by_scale;
  out.by_now =
      (Pressure){by_now * now.by_potential + by_now_lever * now.lever_by_potential + by_scale * scale.by_potential,
                 by_now_lever * now.lever_by_force + by_scale * scale.by_force};
  out.by_old = (Pressure){-by_nearer * old.by_potential + by_old_lever * old.lever_by_potential,
                          by_old_lever * old.lever_by_force};
  out.by_support = by_scale * scale.by_support;
  out.by_inertia = first / past->inertia;
  out.by_stiffness = -first / p->stiffness;
  out.by_dt = by_ratio / before - first * (1 / h + 1 / sum_of_lengths);
  out.by_dt_before = -by_ratio * ratio / before - first / sum_of_lengths;
  return out;
}

/* The impulse of the compression is the change of speed times the inertia, for two bodies that do not rotate. */
ImpactReturn impact_return(const ImpactParameters* p, const ImpactPast* past) {
  double impulse = past->impulse, speed_of_impulse = 0.5 * p->stiffness * (p->dt + past->dt_before) / past->inertia;
  double speed = speed_of_impulse * impulse;
  ImpactRestitution e = impact_restitution(p, speed);
  double by_speed = impulse * e.by_speed;
  return (ImpactReturn){.value = e.value * impulse,
                        .by_impulse = e.value + by_speed * speed_of_impulse,
                        .by_restitution = impulse * e.by_restitution,
                        .by_rest_speed = impulse * e.by_rest_speed,
                        .by_inertia = -by_speed * speed / past->inertia,
                        .by_dt_before = by_speed * speed / (p->dt + past->dt_before)};
}

/* Largest ratio of the impulses of the second and the first substep of compression for which (I9) is used. (I9) has a
 * pole at 3. With the limit 2, the errors of slopes of an edge that slides are 5.9 times larger. */
#define IMPULSE_RATIO_MAX 2.75

/* (I9) Without friction the impulses of the three substeps of compression are N, 2 N and N. Friction by the impulse N
 * changes the second one to y N. Its coupling y - 2 gives the whole impulse 4 N / (3 - y) of a contact that slides.
 * by_ratio: slope of the remaining limit 4 / (3 - y) - 1, which is continued linearly. */
ImpactFrictionLimit impact_friction_limit(const ImpactParameters* p, const ImpactPast* past) {
  if (past->stage == IMPACT_RESTITUTION) return (ImpactFrictionLimit){impact_return(p, past).value, 0, 0, 1};
  if (past->stage == IMPACT_COMPRESSION_2) return (ImpactFrictionLimit){past->latest, 1, 0, 0};
  double first = past->impulse - past->latest;
  if (!(first > 0)) return (ImpactFrictionLimit){past->latest, 1, 0, 0};
  double y = past->latest / first, u = 1 / (3 - fmin(y, IMPULSE_RATIO_MAX)), by_ratio = 4 * u * u;
  double rest = 4 * u - 1 + by_ratio * fmax(y - IMPULSE_RATIO_MAX, 0), by_first = rest - y * by_ratio;
  return (ImpactFrictionLimit){first * rest, by_ratio - by_first, by_first, 0};
}

/* In the substep in which the approach speed is measured, the impact exerts a force at clearances below MEASURED_ENTRY
 * (I2a). */
#define MEASURED_ENTRY 0.5

Impact impact_evaluate_pair(const ImpactParameters* p, double potential, double before, const ImpactPast* past) {
  if (impact_compresses(past->stage) && potential > 0) return impact_evaluate_compression(p, potential, past);
  if (past->stage == IMPACT_RESTITUTION) return (Impact){.value = 0};
  double entry = p->restitution > 0 ? past->stage == IMPACT_ENTERED ? MEASURED_ENTRY : IMPACT_ENTRY : 1;
  return impact_evaluate_with_entry(p, potential, before, entry);
}

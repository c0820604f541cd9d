/* Impacts with restitution (docs/derivations/impact.md, I7, I8). */
#include "contact/impact.h"

/* (I1) N: number of vertices in contact. */
#define POTENTIAL_TERMS 8.0
/* (I7) Compliance, without unit, of the spring that enforces the clearance: inertia of the pair over spring stiffness
 * and squared substep. The error of the clearance is this times the deviation of the inertia from that of two bodies
 * that do not rotate. */
#define SOFTNESS 1e-4
/* Fraction of the rebound displacement by which the spring of a recorded step acts beyond its rest position.
 * Differences with respect to lengths exceed its deflection. */
#define BOTH_SIDES 0.05

/* ---------------------------------------------------------------- clearance of a potential */

/* Return Q' and Q'' of Q = (1 - z)^4 / z^5. */
static double barrier_slope(double z) {
  double rest = 1 - z, z2 = z * z;
  return z < 1 ? rest * rest * rest * (z - 5) / (z2 * z2 * z2) : 0;
}

static double barrier_curvature(double z) {
  double rest = 1 - z, z2 = z * z;
  return z < 1 ? rest * rest * (2 * z * z - 20 * z + 30) / (z2 * z2 * z2 * z) : 0;
}

/* Returns z with Q(z) = s U / N, by Newton's method for z + w z^(5/4) = 1 with w = (s U / N)^(1/4). The left side is
 * convex and increasing. */
static double clearance_of(double support, double potential) {
  if (!(potential > 0)) return 1;
  double w = sqrt(sqrt(support * potential / POTENTIAL_TERMS)), z = 1 / (1 + w);
  if (w > 1) z = 1 / (sqrt(w) * sqrt(sqrt(sqrt(w * w * sqrt(w)))) + 1); /* start value for large w: about w^(-4/5) */
  for (int k = 0; k < 60; k++) {
    double root = sqrt(sqrt(z)), next = z - (z + w * z * root - 1) / (1 + 1.25 * w * root);
    if (!(next > 0)) next = 0.5 * z;
    bool done = fabs(next - z) <= 4e-16 * z;
    z = next;
    if (done) break;
  }
  return z < 1 ? z : 1;
}

/* Clearance z of a pressure, and r = N |Q'| / (s p), the displacement of the bodies along the force per change of z.
 * Both with derivatives, which are set in range. */
typedef struct {
  double z, by_potential, by_support; /* dz/dU, dz/ds */
  double way;                         /* r [m]; 0: out of range */
  double way_by_potential, way_by_force, way_by_support;
} Nearness;

static Nearness nearness_of(double s, const Pressure* p) {
  Nearness out = {.z = clearance_of(s, p->potential)};
  double slope = barrier_slope(out.z), curvature = barrier_curvature(out.z);
  if (!(slope < 0) || !(p->force > 0)) return (Nearness){.z = 1};
  out.by_potential = s / (POTENTIAL_TERMS * slope);
  out.by_support = p->potential / (POTENTIAL_TERMS * slope);
  out.way = -POTENTIAL_TERMS * slope / (s * p->force);
  out.way_by_potential = out.way * curvature / slope * out.by_potential;
  out.way_by_support = out.way * (curvature / slope * out.by_support - 1 / s);
  out.way_by_force = -out.way / p->force;
  return out;
}

double impact_potential(double support, double z) { return POTENTIAL_TERMS * barrier_eval(z).value / support; }

double impact_clearance(const ImpactParameters* p, double potential) { return clearance_of(p->support, potential); }

double impact_speed(const ImpactParameters* p, const ImpactPast* past) {
  Nearness now = nearness_of(p->support, &past->now), old = nearness_of(p->support, &past->old);
  if (!(past->dt_before > 0)) return 0;
  return 0.5 * (now.way + old.way) * (old.z - now.z) / past->dt_before;
}

/* ---------------------------------------------------------------- restitution of a speed */

/* Returns a quintic step: 0 below 0, 1 above 1, twice continuously differentiable. */
static double blend(double x) { return x <= 0 ? 0 : x >= 1 ? 1 : x * x * x * (10 + x * (6 * x - 15)); }

static double blend_slope(double x) { return x <= 0 || x >= 1 ? 0 : 30 * x * x * (1 - x) * (1 - x); }

ImpactShare impact_share(const ImpactParameters* p, double speed) {
  double rest = p->rest_speed;
  if (!(rest > 0)) return (ImpactShare){p->restitution, 0, 0, 1};
  double x = (speed / rest - IMPACT_FROM) / IMPACT_FROM, slope = p->restitution * blend_slope(x) / (IMPACT_FROM * rest);
  return (ImpactShare){p->restitution * blend(x), slope, -slope * speed / rest, blend(x)};
}

/* ---------------------------------------------------------------- the law */

/* Fraction u of the approach in z that the pair returns when the bodies move back by `part` of their approach: the root
 * u of  r_t u + (r_- - r_t) u^2 / 2 = part (r_t + r_-) / 2  (I7), with its derivatives. */
typedef struct {
  double value, by_part, by_now, by_old;
} WayBack;

static WayBack way_back(double now, double old, double part) {
  double root = sqrt(now * now + part * (old * old - now * now)), both = now + old, sum = now + root;
  double value = part * both / sum, bend = value / sum;
  return (WayBack){.value = value,
                   .by_part = both / sum - bend * (old * old - now * now) / (2 * root),
                   .by_now = part / sum - bend * (1 + now * (1 - part) / root),
                   .by_old = part / sum - bend * part * old / root};
}

/* (I7) Returns W = k/2 (z* - z)^2, 0 for z >= z*, and its derivatives. */
Impact impact_bounce(const ImpactParameters* p, double potential, const ImpactPast* past) {
  double s = p->support, h = p->dt, before = past->dt_before, both = h + before, ratio = h / before;
  Pressure here = {potential, 1};
  Nearness now = nearness_of(s, &past->now), old = nearness_of(s, &past->old), own = nearness_of(s, &here);
  double nearer = old.z - now.z, speed = 0.5 * (now.way + old.way) * nearer / before;
  ImpactShare e = impact_share(p, speed);
  WayBack u = way_back(now.way, old.way, e.value * ratio);
  double share = u.value + SOFTNESS * (u.value + ratio); /* plus the spring's deflection, SOFTNESS (u + h / h-) */
  double stiffness = 2 * now.way * now.way * past->inertia / (p->stiffness * SOFTNESS * h * both);
  double gap = now.z + nearer * share - own.z, slope = own.by_potential; /* dz/dU < 0 */
  if (!(gap > (past->recorded ? -BOTH_SIDES * nearer * share : 0))) return (Impact){.value = 0};
  double bend = barrier_curvature(own.z) / barrier_slope(own.z); /* d2z/dU2 = -bend (dz/dU)^2 */
  double by_goal = -stiffness * slope, first = by_goal * gap, by_z = stiffness * slope * (1 + gap * bend);
  Impact out = {.value = 0.5 * stiffness * gap * gap, .first = first, .second = by_z * slope};
  double by_back = by_goal * nearer * (1 + SOFTNESS), by_e = by_back * u.by_part * ratio, by_speed = by_e * e.by_speed;
  double by_now_way = 2 * first / now.way + by_back * u.by_now + 0.5 * by_speed * nearer / before;
  double by_old_way = by_back * u.by_old + 0.5 * by_speed * nearer / before;
  double by_nearer = by_goal * share + by_speed * speed / nearer, by_now = by_goal - by_nearer;
  double by_ratio = by_back * u.by_part * e.value + by_goal * nearer * SOFTNESS;
  out.by_now = (Pressure){by_now * now.by_potential + by_now_way * now.way_by_potential, by_now_way * now.way_by_force};
  out.by_old =
      (Pressure){by_nearer * old.by_potential + by_old_way * old.way_by_potential, by_old_way * old.way_by_force};
  out.by_support = by_z * own.by_support + first / s + by_now * now.by_support + by_now_way * now.way_by_support +
                   by_nearer * old.by_support + by_old_way * old.way_by_support;
  out.by_restitution = by_e * e.by_restitution;
  out.by_rest_speed = by_e * e.by_rest_speed;
  out.by_inertia = first / past->inertia;
  out.by_stiffness = -first / p->stiffness;
  out.by_dt = by_ratio / before - first * (1 / h + 1 / both);
  out.by_dt_before = -by_ratio * ratio / before - first / both - by_speed * speed / before;
  return out;
}

Impact impact_of(const ImpactParameters* p, double potential, double before, const ImpactPast* past) {
  return past->bounces && potential > 0 ? impact_bounce(p, potential, past) : impact_eval(p, potential, before);
}

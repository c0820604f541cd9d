/* Impacts that give back a part of the speed of approach (docs/derivations/impact.md, I7-I10). */
#define LANES 8 /* the points of a piece */
#include "base/lanes.h"
#include "contact/impact.h"

/* (I1) N. */
#define POTENTIAL_TERMS 8.0
/* (I7) The quotient is not taken for more than so many times the barrier's force: where a pair leaves the range. */
#define QUOTIENT_MOST 8.0
/* Of the restitution asked for, this is aimed at: what the parts of an impact get wrong is then a loss. */
#define AIM 0.998
/* A restitution below is this. */
#define LEAST_RESTITUTION 1e-4
/* Pieces of an integral have eight points each. They shrink with the clearance by this factor, and so they do towards
 * the edge of the range, where the quotient is cut off: the last one is this wide. */
#define PIECE 0.8
/* Part of z below which no piece is cut, however steep the ramp: a piece of no width would never end. */
#define PIECE_LEAST 1e-12
#define EDGE_GROWS 1.4
#define EDGE 0.01

enum { POINTS = 4, FINE_POINTS = 8 };
static const double NODE[POINTS] = {0.069431844202973714, 0.33000947820757187, 0.66999052179242813,
                                    0.93056815579702629},
                    WEIGHT[POINTS] = {0.17392742256872693, 0.32607257743127307, 0.32607257743127307,
                                      0.17392742256872693};
static const double FINE_NODE[FINE_POINTS] = {-0.96028985649753623, -0.79666647741362674, -0.52553240991632899,
                                              -0.18343464249564980, 0.18343464249564980,  0.52553240991632899,
                                              0.79666647741362674,  0.96028985649753623},
                    FINE_WEIGHT[FINE_POINTS] = {0.10122853629037626, 0.22238103445337447, 0.31370664587788729,
                                                0.36268378337836198, 0.36268378337836198, 0.31370664587788729,
                                                0.22238103445337447, 0.10122853629037626};

/* (I8) (t + sqrt(t^2 + 4 d^2)) / 2 over what that is at t = 1: about t, and never below 0; without a kink, so that an
 * impact's outcome hardly depends on where its parts begin. */
#define BEND 0.1

static double bend(double t) {
  double root = sqrt(t * t + 4 * BEND * BEND);
  return t > 0 ? 0.5 * (t + root) : 2 * BEND * BEND / (root - t);
}

static double ramp(double t) { return bend(t) / bend(1); }

static double ramp_slope(double t) { return ramp(t) / sqrt(t * t + 4 * BEND * BEND); }

/* ---------------------------------------------------------------- clearance of a potential */

/* Q' and Q'' of Q = (1 - z)^4 / z^5. */
static double barrier_slope(double z) {
  double rest = 1 - z, z2 = z * z;
  return z < 1 ? rest * rest * rest * (z - 5) / (z2 * z2 * z2) : 0;
}

static double barrier_curvature(double z) {
  double rest = 1 - z, z2 = z * z;
  return z < 1 ? rest * rest * (2 * z * z - 20 * z + 30) / (z2 * z2 * z2 * z) : 0;
}

/* z with Q(z) = s U / N: by Newton's method for z + w z^(5/4) = 1, w = (s U / N)^(1/4), convex and growing. */
static double clearance_of(double support, double potential) {
  if (!(potential > 0)) return 1;
  double w = sqrt(sqrt(support * potential / POTENTIAL_TERMS)), z = 1 / (1 + w);
  if (w > 1) z = 1 / (sqrt(w) * sqrt(sqrt(sqrt(w * w * sqrt(w)))) + 1); /* about w^(-4/5) */
  for (int k = 0; k < 60; k++) {
    double root = sqrt(sqrt(z)), next = z - (z + w * z * root - 1) / (1 + 1.25 * w * root);
    if (!(next > 0)) next = 0.5 * z;
    bool done = fabs(next - z) <= 4e-16 * z;
    z = next;
    if (done) break;
  }
  return z < 1 ? z : 1;
}

/* z and r, the way of the bodies for a change of z, of a pressure in range; and their derivatives. */
typedef struct {
  double z, by_potential, by_support; /* dz/dU, dz/ds */
  double way;                         /* r = N |Q'| / (s p) [m] */
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

/* ---------------------------------------------------------------- the factor */

/* What the factor of a part rests on. */
typedef struct {
  double from;    /* z at t - dt_before */
  double scale;   /* (r_t / r_old)^(dt / dt_before) */
  double slowing; /* a r_t / (dt + dt_before) */
} Course;

typedef struct {
  double value, by_z, by_from, by_slowing;
} BounceFactor;

/* (I7) Quotient of Q over [from, z] by Q' at z, kept below QUOTIENT_MOST; (I8) times the ramp. */
static BounceFactor factor_at(const Course* c, double z) {
  double own = barrier_slope(z), sum = 0, by_z = 0, by_from = 0;
  for (int k = 0; k < POINTS; k++) {
    double at = c->from + NODE[k] * (z - c->from), curvature = barrier_curvature(at);
    sum += WEIGHT[k] * barrier_slope(at);
    by_z += WEIGHT[k] * NODE[k] * curvature;
    by_from += WEIGHT[k] * (1 - NODE[k]) * curvature;
  }
  double t = 1 + c->slowing * (c->from - z), r = ramp(t), slope = ramp_slope(t);
  double quotient = own < 0 ? sum / own : (double)INFINITY;
  if (!(quotient < 1e30)) return (BounceFactor){.value = c->scale * QUOTIENT_MOST * r};
  double x = quotient / QUOTIENT_MOST, x4 = x * x * x * x;
  double low = 1 / sqrt(sqrt(1 + x4)), kept = quotient * low, kept_slope = low / (1 + x4);
  double quotient_by_z = (by_z - quotient * barrier_curvature(z)) / own, quotient_by_from = by_from / own;
  return (BounceFactor){.value = c->scale * kept * r,
                        .by_z = c->scale * (kept_slope * quotient_by_z * r - kept * slope * c->slowing),
                        .by_from = c->scale * (kept_slope * quotient_by_from * r + kept * slope * c->slowing),
                        .by_slowing = c->scale * kept * slope * (c->from - z)};
}

/* Q' at places below 1, as barrier_slope to the bit. */
static Lanes barrier_slopes(Lanes z) {
  Lanes rest = 1 - z, z2 = z * z;
  return rest * rest * rest * (z - 5) / (z2 * z2 * z2);
}

/* The values alone of factor_at at a piece's points, to the bit: most of what a part of an impact costs. Sets slope to
 * Q' there. */
static Lanes factors_at(const Course* c, Lanes z, Lanes* slope) {
  const Lanes one = lanes_of(1), none = {0};
  Lanes own = lanes_chosen(z < one, barrier_slopes(z), none), sum = none;
  for (int k = 0; k < POINTS; k++) {
    Lanes at = c->from + NODE[k] * (z - c->from);
    sum += WEIGHT[k] * lanes_chosen(at < one, barrier_slopes(at), none);
  }
  Lanes t = 1 + c->slowing * (c->from - z), root = lanes_sqrt(t * t + 4 * BEND * BEND);
  Lanes r = lanes_chosen(t > none, 0.5 * (t + root), 2 * BEND * BEND / (root - t)) / bend(1);
  Lanes quotient = sum / own, x = quotient / QUOTIENT_MOST, x4 = x * x * x * x;
  Lanes kept = quotient * (1 / lanes_sqrt(lanes_sqrt(1 + x4)));
  LaneBits known = (own < none) & (quotient < lanes_of(1e30));
  *slope = own;
  return c->scale * lanes_chosen(known, kept, lanes_of(QUOTIENT_MOST)) * r;
}

/* Integral of the factor times Q' from 1 to z, in pieces in which neither Q' nor the ramp bends much. */
static double work_to(const Course* c, double z) {
  double high = 1, sum = 0;
  while (high > z) {
    double t = 1 + c->slowing * (c->from - high), turn = fmax(BEND, 0.5 * fabs(t));
    double edge = 1 - fmax(EDGE, EDGE_GROWS * (1 - high)), low = fmax(z, fmax(edge, PIECE * high));
    if (c->slowing > 0) low = fmin(fmax(low, high - turn / c->slowing), high * (1 - PIECE_LEAST));
    double middle = 0.5 * (high + low), half = 0.5 * (high - low);
    Lanes at = {0}, slope;
    for (int k = 0; k < FINE_POINTS; k++) at[k] = middle + half * FINE_NODE[k];
    Lanes factor = factors_at(c, at, &slope);
    for (int k = 0; k < FINE_POINTS; k++) sum -= half * FINE_WEIGHT[k] * factor[k] * slope[k];
    high = low;
  }
  return sum;
}

Impact impact_bounce(const ImpactParameters* p, double potential, const ImpactPast* past) {
  double s = p->support, ratio = past->dt_before > 0 ? p->dt / past->dt_before : 1;
  Pressure here = {potential, 1};
  Nearness now = nearness_of(s, &past->now), old = nearness_of(s, &past->old), own = nearness_of(s, &here);
  bool known = now.way > 0 && old.way > 0;
  Course c = {old.z, known ? math_pow(now.way / old.way, ratio) : 1,
              known ? past->damping * now.way / (p->dt + past->dt_before) : 0};
  BounceFactor f = factor_at(&c, own.z);
  double by_from = f.by_from;
  Impact out = {.value = POTENTIAL_TERMS / s * work_to(&c, own.z), .first = f.value};
  out.second = f.by_z * own.by_potential;
  out.by_support = f.by_z * own.by_support;
  if (!(old.way > 0)) return out;
  out.by_old.potential = by_from * old.by_potential;
  out.by_support += by_from * old.by_support;
  if (!known) return out;
  double by_now = (f.value * ratio + f.by_slowing * c.slowing) / now.way, by_old = -f.value * ratio / old.way;
  out.by_now = (Pressure){by_now * now.way_by_potential, by_now * now.way_by_force};
  out.by_old.potential += by_old * old.way_by_potential;
  out.by_old.force = by_old * old.way_by_force;
  out.by_support += by_now * now.way_by_support + by_old * old.way_by_support;
  out.by_damping = f.by_slowing * now.way / (p->dt + past->dt_before);
  return out;
}

double impact_account(const ImpactParameters* p, double potential, const ImpactPast* past) {
  Nearness now = nearness_of(p->support, &past->now);
  double from = clearance_of(p->support, past->old.potential), to = clearance_of(p->support, potential);
  double slowing = past->damping * now.way / (p->dt + past->dt_before);
  return 0.5 * ramp(1 + slowing * (from - to)) * (past->old.potential - potential);
}

double impact_quotient(const ImpactParameters* p, const Pressure* next, const ImpactPast* past) {
  Nearness now = nearness_of(p->support, &past->now), end = nearness_of(p->support, next);
  if (!(now.way > 0) || !(end.way > 0)) return 1;
  Course c = {now.z, sqrt(end.way / now.way), 0};
  return factor_at(&c, end.z).value;
}

Impact impact_of(const ImpactParameters* p, double potential, double before, const ImpactPast* past) {
  return past->bounces && potential > 0 ? impact_bounce(p, potential, past) : impact_eval(p, potential, before);
}

double impact_way(const ImpactParameters* p, const Pressure* pressure) { return nearness_of(p->support, pressure).way; }

double impact_clearance(const ImpactParameters* p, double potential) { return clearance_of(p->support, potential); }

/* ---------------------------------------------------------------- speed of approach and damping */

ImpactSpeed impact_speed(const ImpactParameters* p, const ImpactPast* past) {
  Nearness now = nearness_of(p->support, &past->now), old = nearness_of(p->support, &past->old);
  if (!(now.way > 0) || !(old.way > 0) || !(past->dt_before > 0)) return (ImpactSpeed){0};
  double way = 0.5 * (now.way + old.way) / past->dt_before, moved = old.z - now.z, half = 0.5 * moved / past->dt_before;
  return (ImpactSpeed){
      .value = way * moved,
      .by_now = {half * now.way_by_potential - way * now.by_potential, half * now.way_by_force},
      .by_old = {half * old.way_by_potential + way * old.by_potential, half * old.way_by_force},
      .by_support = half * (now.way_by_support + old.way_by_support) + way * (old.by_support - now.by_support)};
}

/* Integrals over t from `from` to `to` of (t - 1) / ramp and of (t - 1)^2 ramp' / ramp^2, in pieces as wide as what
 * bends the ramp, and wider beyond. */
typedef struct {
  double work, slope;
} Balance;

static void add_balance(double from, double to, Balance* sum) {
  for (double low = from; low < to;) {
    double high = fmin(to, low + fmax(BEND, 0.5 * fabs(low))), middle = 0.5 * (high + low), half = 0.5 * (high - low);
    for (int k = 0; k < FINE_POINTS; k++) {
      double t = middle + half * FINE_NODE[k], r = ramp(t), weight = half * FINE_WEIGHT[k];
      sum->work += weight * (t - 1) / r;
      sum->slope += weight * (t - 1) * (t - 1) * ramp_slope(t) / (r * r);
    }
    low = high;
  }
}

/* (I9) c^2 times the integral of w / ramp(1 + c w) over w from -e to 1; slope: -c^3 times its derivative by c. */
static Balance balance_of(double c, double e) {
  Balance sum = {0, 0};
  add_balance(1 - c * e, 1, &sum);
  add_balance(1, 1 + c, &sum);
  return sum;
}

/* A c of (I9) and what it belongs to. */
typedef struct {
  double restitution, value, by_restitution;
} DampingNumber;
enum { NUMBERS_KNOWN = 8 };

/* (I9) The c at which the balance is zero, and its derivative by the restitution e < 1. */
static DampingNumber solve_balance(double e) {
  double low = 0, high = 1;
  while (balance_of(high, e).work > 0) {
    low = high;
    high *= 2;
  }
  for (int k = 0; k < 60; k++) {
    double middle = 0.5 * (low + high);
    if (balance_of(middle, e).work > 0)
      low = middle;
    else
      high = middle;
  }
  double c = 0.5 * (low + high);
  return (DampingNumber){e, c, -e / ramp(1 - c * e) / (balance_of(c, e).slope / (c * c * c))};
}

double impact_damping_number(double restitution, double* by_restitution) {
  /* what pairs that approach fast, and those at rest, ask for again and again */
  static _Thread_local DampingNumber known[NUMBERS_KNOWN];
  static _Thread_local int oldest;
  *by_restitution = 0;
  if (!(restitution < 1)) return 0;
  const DampingNumber* found = NULL;
  for (int k = 0; k < NUMBERS_KNOWN && !found; k++)
    if (known[k].value > 0 && known[k].restitution == restitution) found = &known[k];
  if (!found) {
    known[oldest] = solve_balance(restitution);
    found = &known[oldest];
    oldest = (oldest + 1) % NUMBERS_KNOWN;
  }
  *by_restitution = found->by_restitution;
  return found->value;
}

/* 0 below 0, 1 above 1, twice continuously differentiable. */
static double blend(double x) { return x <= 0 ? 0 : x >= 1 ? 1 : x * x * x * (10 + x * (6 * x - 15)); }

static double blend_slope(double x) { return x <= 0 || x >= 1 ? 0 : 30 * x * x * (1 - x) * (1 - x); }

ImpactDamping impact_damping(const ImpactParameters* p, double speed) {
  double rest = p->rest_speed, x = rest > 0 ? (speed / rest - IMPACT_FROM) / IMPACT_FROM : 1, by_restitution;
  double aim = AIM * p->restitution, e = fmax(aim * blend(x), LEAST_RESTITUTION);
  double c = impact_damping_number(e, &by_restitution);
  double square = speed * speed + c * c * rest * rest, root = sqrt(square);
  double by_number = speed * speed / (square * root);
  double by_ratio = e > LEAST_RESTITUTION && rest > 0 ? by_number * by_restitution * aim * blend_slope(x) : 0;
  if (by_ratio != 0) by_ratio /= IMPACT_FROM * rest; /* by the speed */
  return (ImpactDamping){
      .value = c / root,
      .by_restitution = e > LEAST_RESTITUTION ? by_number * by_restitution * AIM * blend(x) : 0,
      .by_speed = by_ratio - c * speed / (square * root),
      .by_rest_speed = (rest > 0 ? -by_ratio * speed / rest : 0) - c * c * c * rest / (square * root)};
}

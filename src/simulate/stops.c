/* Impacts of joint coordinates at their limits (docs/derivations/impact.md, I15). The stage of an impact follows from
 * the clock and from the states at t and one substep before. */
#include <assert.h>

#include "simulate/stops.h"

#include "contact/restitution.h"
#include "model/tree.h"
#include "simulate/ball_limits.h"

/* Approach speed below which the restitution is 0. Above 2 FROM it is limit_restitution; between these speeds it
 * follows a quintic (I8) [m/s, rad/s]. */
#define FROM 5e-3
/* Ratio mass / (stiffness dt^2) for the spring that reverses the speed. It is the relative error of the reversed speed.
 */
#define SOFTNESS 1e-5

/* ---------------------------------------------------------------- one coordinate */

/* Lower or upper limit of a degree of freedom. Each limit of a ball joint bounds one of its angles (ball_limits.h). */
typedef struct {
  int dof, side, coordinate; /* side: -1 lower, 1 upper; coordinate: index in q, for a ball joint of its quaternion */
  const ModelLink* ball;     /* link of the ball joint; NULL: the limit bounds a plain coordinate */
  int which, ball_dof;       /* which: angle of the ball joint; ball_dof: first degree of freedom of the ball joint */
  double bound, sign, margin, restitution; /* sign: 1 lower limit, -1 upper limit */
} Stop;

static bool stop_of(const Model* m, int dof, int side, Stop* out) {
  const ModelLink* link = &m->links[m->dof_link[dof]];
  int k = dof - link->dof_first, plain = link->joint.plain_count;
  bool acts =
      link->limit_law == LIMIT_BARRIER && link->limit_restitution > 0 && link->limited[k] && link->prescribed < 0;
  *out = (Stop){.dof = dof,
                .side = side,
                .coordinate = link->coordinate_first + (k < plain ? k : plain),
                .ball = k < plain ? NULL : link,
                .which = k - plain,
                .ball_dof = link->dof_first + plain,
                .bound = side < 0 ? link->lower[k] : link->upper[k],
                .sign = side < 0 ? 1 : -1,
                .margin = link->limit_margin,
                .restitution = link->limit_restitution};
  return acts && isfinite(out->bound);
}

#define BEFORE_FIRST ((Stop){.dof = -1, .side = 1})

/* Sets *stop to the next limit, in the order of degrees of freedom, lower before upper. Returns false after the last
 * limit. */
static bool next_stop(const Sim* s, Stop* stop) {
  int dof = stop->dof, side = stop->side;
  while (s->stops) {
    if (side > 0) dof++;
    side = -side;
    if (dof >= s->model->dof_count) break;
    if (stop_of(s->model, dof, side, stop)) return true;
  }
  return false;
}

/* Returns the distance of q from the coordinate at which an impact begins, in units of the margin; negative beyond this
 * coordinate. */
static double ahead_of(const Stop* stop, double q) {
  return stop->sign * (q - stop->bound) / stop->margin - IMPACT_ENTRY;
}

/* Returns the coordinate or angle that the limit bounds in the configuration q (nq) [m, rad]. */
static double place_of(const Stop* stop, const double* q) {
  return stop->ball ? ball_angle(stop->ball, stop->which, quat_at(q + stop->coordinate)) : q[stop->coordinate];
}

/* Returns the change of the bounded coordinate or angle in the last substep [m, rad]. */
static double way_of(const Sim* s, const Stop* stop) {
  if (!stop->ball) return s->difference_old[stop->dof];
  Quat before = ball_rotation_before(quat_at(s->q_now + stop->coordinate), s->difference_old + stop->ball_dof);
  return place_of(stop, s->q_now) - ball_angle(stop->ball, stop->which, before);
}

/* Returns the initial rate of the bounded coordinate or angle [m/s, rad/s]. */
static double start_rate_of(const Sim* s, const Stop* stop) {
  double slope[3], sum = 0;
  if (!stop->ball) return s->start_rate[stop->dof];
  ball_angle_slope(stop->ball, stop->which, quat_at(s->q_now + stop->coordinate), slope);
  for (int j = 0; j < 3; j++) sum += slope[j] * s->start_rate[stop->ball_dof + j];
  return sum;
}

typedef enum { STAGE_NONE, STAGE_ENTERED, STAGE_BOUNCES } Stage;

/* Returns the stage of an impact. kind_before: kind of the substep that led to the present state. */
static Stage stage_of(const Sim* s, const Stop* stop, StepKind kind_before) {
  double way = way_of(s, stop), before = s->clock.dt_before;
  if (!(before > 0) || !(-stop->sign * way > FROM * before)) return STAGE_NONE;
  double q = place_of(stop, s->q_now), now = ahead_of(stop, q), old = ahead_of(stop, q - way);
  if (kind_before == STEP_IMPACT_SUBSTEP) return old >= -IMPACT_TIE && now < 0 ? STAGE_BOUNCES : STAGE_NONE;
  return old > fmax(now, 0) && fabs(now) <= IMPACT_TIE ? STAGE_ENTERED : STAGE_NONE;
}

/* ---------------------------------------------------------------- the substep */

static double share_of(double speed, double* slope) {
  double x = speed / FROM - 1;
  *slope = impact_blend_slope(x) / FROM;
  return impact_blend(x);
}

static JointStop aim_of(const Sim* s, const Stop* stop, Stage stage) {
  JointStop out = {.strikes = stage != STAGE_NONE, .bounces = stage == STAGE_BOUNCES, .sign = stop->sign};
  if (stage != STAGE_BOUNCES) return out;
  double way = way_of(s, stop), before = s->clock.dt_before, dt = s->clock.dt, slope;
  double share = share_of(-stop->sign * way / before, &slope), ratio = dt / before;
  out.aim = -stop->restitution * share * ratio * way;
  out.by_difference = -stop->restitution * ratio * (share - stop->sign * slope * way / before);
  out.by_restitution = -share * ratio * way;
  out.stiffness = s->stop_mass[stop->dof] / (SOFTNESS * dt * dt);
  out.slack = s->recorded ? IMPACT_BEYOND * fabs(out.aim) : 0;
  return out;
}

void stops_prepare_substep(Sim* s) {
  if (!s->stops) return;
  for (int dof = 0; dof < s->model->dof_count; dof++) s->stops[dof] = (JointStop){.strikes = false};
  for (Stop stop = BEFORE_FIRST; s->clock.kind == STEP_IMPACT_SUBSTEP && next_stop(s, &stop);) {
    Stage stage = stage_of(s, &stop, s->clock.kind_before);
    if (stage != STAGE_NONE) s->stops[stop.dof] = aim_of(s, &stop, stage);
  }
}

bool stops_shorten_substep(const Sim* s, double* brief) {
  bool found = false;
  for (Stop stop = BEFORE_FIRST; next_stop(s, &stop);) {
    if (stage_of(s, &stop, s->reached.kind) == STAGE_NONE) continue;
    found = true;
    double speed = fabs(way_of(s, &stop)) / s->clock.dt_before;
    impact_halve(brief, speed, STOP_WAY * stop.margin);
  }
  return found;
}

/* ---------------------------------------------------------------- events */

double stops_distance_to_impact(const Sim* s, int dof, int side) {
  assert(dof >= 0 && dof < s->model->dof_count && (side == -1 || side == 1));
  Stop stop;
  (void)stop_of(s->model, dof, side, &stop);
  return ahead_of(&stop, place_of(&stop, s->configuration[s->current].q));
}

void stops_coordinate_gradient(const Sim* s, int dof, double* slope) {
  assert(dof >= 0 && dof < s->model->dof_count);
  Stop stop;
  (void)stop_of(s->model, dof, 1, &stop);
  if (!stop.ball)
    slope[dof] = 1;
  else
    ball_angle_slope(stop.ball, stop.which, quat_at(s->configuration[s->current].q + stop.coordinate),
                     slope + stop.ball_dof);
}

/* Returns the approach speed [m/s, rad/s]: the larger of the speed in this substep, which the barrier may have reduced,
 * and the speed in the previous substep. */
static double speed_of(const Sim* s, const Stop* stop) {
  double way = place_of(stop, s->configuration[s->current].q) - place_of(stop, s->q_now);
  double old = s->clock.dt_before > 0 ? way_of(s, stop) / s->clock.dt_before : start_rate_of(s, stop);
  return fmax(-stop->sign * way / s->clock.dt, -stop->sign * old);
}

static bool is_stop(const LimitImpact* entry, const Stop* stop) {
  return entry && entry->dof == stop->dof && entry->side == stop->side;
}

bool stops_find_impact(const Sim* s, const LimitImpact* sought, LimitImpact* entry) {
  double first = INFINITY;
  for (Stop stop = BEFORE_FIRST; next_stop(s, &stop);) {
    double after = ahead_of(&stop, place_of(&stop, s->configuration[s->current].q));
    LimitImpact own = {stop.dof, stop.side, ahead_of(&stop, place_of(&stop, s->q_now)), after};
    if (!(own.before > IMPACT_BEGUN) || !(own.after < -IMPACT_KNOWN)) continue;
    if (!is_stop(sought, &stop) && !(speed_of(s, &stop) > FROM)) continue;
    double share = own.before / (own.before - own.after);
    if (share < first) *entry = own;
    first = fmin(share, first);
  }
  return first < (double)INFINITY;
}

bool stops_has_left_margin(const Sim* s) {
  for (Stop stop = BEFORE_FIRST; next_stop(s, &stop);) {
    double q = place_of(&stop, s->q_now), old = q - way_of(s, &stop);
    double after = ahead_of(&stop, place_of(&stop, s->configuration[s->current].q));
    if (!(after > 1 - IMPACT_ENTRY)) continue;
    if (fmin(ahead_of(&stop, q), ahead_of(&stop, old)) < 1 - IMPACT_ENTRY) return true;
  }
  return false;
}

/* ---------------------------------------------------------------- creation */

/* Returns the generalized mass of a degree of freedom: the sum of m |v|^2 + w . I w at unit rate over the links that it
 * moves, plus the armature [kg, kg m^2]. */
static double moved_mass(const Sim* s, int dof) {
  const Model* m = s->model;
  const Screw* screw = &s->screws[dof];
  int own = m->dof_link[dof];
  double sum = m->links[own].passive ? m->links[own].armature[dof - m->links[own].dof_first] : 0;
  for (int i = own; i < m->link_count; i++) {
    const ModelLink* link = &m->links[i];
    if (!model_descends(m, i, own) || !(link->mass > 0)) continue;
    Vec3 v = screw_velocity(screw, pose_apply(s->pose_now[i], link->center));
    Vec3 w = mat3_tmul_vec(s->pose_now[i].r, screw->w);
    sum += link->mass * vec3_dot(v, v) + vec3_dot(w, mat3_mul_vec(mass_moment_inertia_tensor(&link->moment), w));
  }
  return sum;
}

/* Returns a power of two between 0.6 and 1.2 times the mass. The result is piecewise constant, so its derivative with
 * respect to masses is zero. The factor 1.18 moves the jumps away from round numbers. */
static double rounded(double mass) {
  int exponent;
  (void)frexp(1.18 * mass, &exponent);
  return ldexp(1, exponent - 1);
}

/* Returns the mass for the spring of a degree of freedom. For a ball joint it is the largest mass of the three degrees
 * of freedom, because each angle of the joint changes about an axis of its own. */
static double spring_mass(const Sim* s, int dof) {
  const ModelLink* link = &s->model->links[s->model->dof_link[dof]];
  int base = link->dof_first + link->joint.plain_count;
  if (dof < base) return rounded(moved_mass(s, dof));
  return rounded(fmax(moved_mass(s, base), fmax(moved_mass(s, base + 1), moved_mass(s, base + 2))));
}

void stops_create(Sim* s) {
  const Model* m = s->model;
  bool any = false;
  Stop stop;
  for (int dof = 0; dof < m->dof_count; dof++) any = any || stop_of(m, dof, -1, &stop) || stop_of(m, dof, 1, &stop);
  if (!any) return;
  s->stops = MEMORY_NEW(JointStop, m->dof_count);
  s->stop_mass = MEMORY_NEW(double, m->dof_count);
  model_screws(m, s->q_now, s->pose_now, s->screws);
  for (int dof = 0; dof < m->dof_count; dof++) s->stop_mass[dof] = spring_mass(s, dof);
}

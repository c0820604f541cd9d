/* Impacts of joint coordinates at their limits (docs/derivations/impact.md, I15). The stage of an impact follows from
 * the clock and from the states at t and one substep before. */
#include <assert.h>

#include "simulate/stops.h"

#include "contact/restitution.h"
#include "model/tree.h"
#include "simulate/ball_limits.h"

/* Approach speed below which the restitution is 0. Above 2 RESTITUTION_SPEED_MIN the restitution is limit_restitution.
 * Between these speeds it follows a polynomial of degree five (I8) [m/s, rad/s]. */
#define RESTITUTION_SPEED_MIN 5e-3
/* Ratio mass / (stiffness dt^2) for the spring that reverses the speed at a limit. The ratio is the relative error of
 * the reversed speed. */
#define SPRING_MASS_RATIO 1e-5

/* Lower or upper limit of a degree of freedom. Each limit of a ball joint bounds one of its angles (ball_limits.h). */
typedef struct {
  int dof, side, coordinate; /* side: -1 for the lower limit, 1 for the upper limit; coordinate: index of the coordinate
                                in q, or of the quaternion of a ball joint */
  const ModelLink* ball;     /* link of the ball joint; NULL: the limit bounds a scalar coordinate */
  int angle_kind,
      ball_dof; /* angle_kind: angle of the ball joint; ball_dof: first degree of freedom of the ball joint */
  double bound, sign, margin, restitution; /* sign: 1 for the lower limit, -1 for the upper limit */
} Stop;

static bool find_stop(const Model* m, int dof, int side, Stop* out) {
  const ModelLink* link = &m->links[m->dof_link[dof]];
  int k = dof - link->dof_first, plain = link->joint.scalar_count;
  bool acts =
      link->limit_law == LIMIT_BARRIER && link->limit_restitution > 0 && link->limited[k] && link->prescribed < 0;
  *out = (Stop){.dof = dof,
                .side = side,
                .coordinate = link->coordinate_first + (k < plain ? k : plain),
                .ball = k < plain ? NULL : link,
                .angle_kind = k - plain,
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
  while (s->joint_stops.stop) {
    if (side > 0) dof++;
    side = -side;
    if (dof >= s->model->dof_count) break;
    if (find_stop(s->model, dof, side, stop)) return true;
  }
  return false;
}

/* Returns the distance of q from the coordinate at which an impact begins, in units of the margin; negative beyond this
 * coordinate. */
static double distance_to_impact(const Stop* stop, double q) {
  return stop->sign * (q - stop->bound) / stop->margin - IMPACT_ENTRY;
}

static double bounded_coordinate(const Stop* stop, const double* q) {
  return stop->ball ? ball_angle(stop->ball, stop->angle_kind, quat_at(q + stop->coordinate)) : q[stop->coordinate];
}

static double last_displacement(const Sim* s, const Stop* stop) {
  if (!stop->ball) return s->difference_old[stop->dof];
  Quat before = ball_rotation_before(quat_at(s->q_now + stop->coordinate), s->difference_old + stop->ball_dof);
  return bounded_coordinate(stop, s->q_now) - ball_angle(stop->ball, stop->angle_kind, before);
}

static double initial_rate(const Sim* s, const Stop* stop) {
  double slope[3], sum = 0;
  if (!stop->ball) return s->start_rate[stop->dof];
  ball_angle_slope(stop->ball, stop->angle_kind, quat_at(s->q_now + stop->coordinate), slope);
  for (int j = 0; j < 3; j++) sum += slope[j] * s->start_rate[stop->ball_dof + j];
  return sum;
}

typedef enum { STAGE_NONE, STAGE_ENTERED, STAGE_BOUNCES } Stage;

/* Returns the stage of an impact. kind_before: kind of the substep that led to the present state. */
static Stage impact_stage(const Sim* s, const Stop* stop, StepKind kind_before) {
  assert(stop->side == -1 || stop->side == 1);
  double displacement = last_displacement(s, stop), before = s->clock.dt_before;
  if (!(before > 0) || !(-stop->sign * displacement > RESTITUTION_SPEED_MIN * before)) return STAGE_NONE;
  double q = bounded_coordinate(stop, s->q_now), now = distance_to_impact(stop, q),
         old = distance_to_impact(stop, q - displacement);
  if (kind_before == STEP_IMPACT_SUBSTEP) return old >= -IMPACT_TIE && now < 0 ? STAGE_BOUNCES : STAGE_NONE;
  return old > fmax(now, 0) && fabs(now) <= IMPACT_TIE ? STAGE_ENTERED : STAGE_NONE;
}

static double restitution_factor(double speed, double* slope) {
  double x = speed / RESTITUTION_SPEED_MIN - 1;
  *slope = impact_blend_derivative(x) / RESTITUTION_SPEED_MIN;
  return impact_blend(x);
}

static JointStop compute_joint_stop(const Sim* s, const Stop* stop, Stage stage) {
  JointStop out = {.is_in_impact = stage != STAGE_NONE, .rebounds = stage == STAGE_BOUNCES, .sign = stop->sign};
  if (stage != STAGE_BOUNCES) return out;
  double displacement = last_displacement(s, stop), before = s->clock.dt_before, dt = s->clock.dt, slope;
  double share = restitution_factor(-stop->sign * displacement / before, &slope), ratio = dt / before;
  out.aim = -stop->restitution * share * ratio * displacement;
  out.by_difference = -stop->restitution * ratio * (share - stop->sign * slope * displacement / before);
  out.by_restitution = -share * ratio * displacement;
  out.stiffness = s->joint_stops.mass[stop->dof] / (SPRING_MASS_RATIO * dt * dt);
  out.slack = s->replayed.steps ? IMPACT_SPRING_OVERTRAVEL * fabs(out.aim) : 0;
  return out;
}

void stops_prepare_substep(Sim* s) {
  if (!s->joint_stops.stop) return;
  for (int dof = 0; dof < s->model->dof_count; dof++) s->joint_stops.stop[dof] = (JointStop){.is_in_impact = false};
  for (Stop stop = BEFORE_FIRST; s->clock.kind == STEP_IMPACT_SUBSTEP && next_stop(s, &stop);) {
    Stage stage = impact_stage(s, &stop, s->clock.kind_before);
    if (stage != STAGE_NONE) s->joint_stops.stop[stop.dof] = compute_joint_stop(s, &stop, stage);
  }
}

bool stops_shorten_substep(const Sim* s, double* substep_length) {
  assert(*substep_length > 0);
  bool found = false;
  for (Stop stop = BEFORE_FIRST; next_stop(s, &stop);) {
    if (impact_stage(s, &stop, s->reached.kind) == STAGE_NONE) continue;
    found = true;
    double speed = fabs(last_displacement(s, &stop)) / s->clock.dt_before;
    impact_halve_substep(substep_length, speed, STOP_MAX_DISPLACEMENT * stop.margin);
  }
  return found;
}

double stops_distance_to_impact(const Sim* s, int dof, int side) {
  assert(dof >= 0 && dof < s->model->dof_count && (side == -1 || side == 1));
  Stop stop;
  (void)find_stop(s->model, dof, side, &stop);
  return distance_to_impact(&stop, bounded_coordinate(&stop, s->configuration[s->current].q));
}

void stops_coordinate_gradient(const Sim* s, int dof, double* slope) {
  assert(dof >= 0 && dof < s->model->dof_count);
  Stop stop;
  (void)find_stop(s->model, dof, 1, &stop);
  if (!stop.ball)
    slope[dof] = 1;
  else
    ball_angle_slope(stop.ball, stop.angle_kind, quat_at(s->configuration[s->current].q + stop.coordinate),
                     slope + stop.ball_dof);
}

/* Returns the approach speed [m/s, rad/s]: the larger of the speed in this substep, which the barrier may have reduced,
 * and the speed in the previous substep. */
static double approach_speed(const Sim* s, const Stop* stop) {
  double displacement = bounded_coordinate(stop, s->configuration[s->current].q) - bounded_coordinate(stop, s->q_now);
  double old = s->clock.dt_before > 0 ? last_displacement(s, stop) / s->clock.dt_before : initial_rate(s, stop);
  return fmax(-stop->sign * displacement / s->clock.dt, -stop->sign * old);
}

static bool is_same_stop(const LimitImpact* entry, const Stop* stop) {
  return entry && entry->dof == stop->dof && entry->side == stop->side;
}

bool stops_find_impact(const Sim* s, const LimitImpact* expected, LimitImpact* entry) {
  double first = INFINITY;
  for (Stop stop = BEFORE_FIRST; next_stop(s, &stop);) {
    double after = distance_to_impact(&stop, bounded_coordinate(&stop, s->configuration[s->current].q));
    LimitImpact candidate = {stop.dof, stop.side, distance_to_impact(&stop, bounded_coordinate(&stop, s->q_now)),
                             after};
    if (!(candidate.before > IMPACT_START_TOLERANCE) || !(candidate.after < -IMPACT_EVENT_TOLERANCE)) continue;
    if (!is_same_stop(expected, &stop) && !(approach_speed(s, &stop) > RESTITUTION_SPEED_MIN)) continue;
    double share = candidate.before / (candidate.before - candidate.after);
    if (share < first) *entry = candidate;
    first = fmin(share, first);
  }
  return first < (double)INFINITY;
}

bool stops_has_left_margin(const Sim* s) {
  for (Stop stop = BEFORE_FIRST; next_stop(s, &stop);) {
    double q = bounded_coordinate(&stop, s->q_now), old = q - last_displacement(s, &stop);
    double after = distance_to_impact(&stop, bounded_coordinate(&stop, s->configuration[s->current].q));
    if (!(after > 1 - IMPACT_ENTRY)) continue;
    if (fmin(distance_to_impact(&stop, q), distance_to_impact(&stop, old)) < 1 - IMPACT_ENTRY) return true;
  }
  return false;
}

/* Returns the generalized mass of a degree of freedom: twice the kinetic energy at unit rate of the links that it
 * moves, plus the armature [kg, kg m^2]. */
static double generalized_mass(const Sim* s, int dof) {
  const Model* m = s->model;
  const Screw* screw = &s->assembly.screws[dof];
  int joint_link = m->dof_link[dof];
  double sum = m->links[joint_link].passive ? m->links[joint_link].armature[dof - m->links[joint_link].dof_first] : 0;
  for (int i = joint_link; i < m->link_count; i++) {
    const ModelLink* link = &m->links[i];
    if (!model_descends(m, i, joint_link) || !(link->mass > 0)) continue;
    Vec3 v = screw_velocity(screw, pose_apply(s->pose_now[i], link->center));
    Vec3 w = mat3_tmul_vec(s->pose_now[i].r, screw->w);
    sum += link->mass * vec3_dot(v, v) + vec3_dot(w, mat3_mul_vec(mass_moment_inertia_tensor(&link->moment), w));
  }
  return sum;
}

/* Returns a power of two between 0.6 and 1.2 times the mass. The result is piecewise constant, so its derivative with
 * respect to masses is zero. The factor 1.18 moves the jumps away from round numbers. */
static double round_to_power_of_two(double mass) {
  int exponent;
  (void)frexp(1.18 * mass, &exponent);
  return ldexp(1, exponent - 1);
}

/* Returns the mass for the spring of a degree of freedom. For a ball joint it is the largest mass of the three degrees
 * of freedom, because each angle of the joint changes about an axis of its own. */
static double spring_mass(const Sim* s, int dof) {
  const ModelLink* link = &s->model->links[s->model->dof_link[dof]];
  int base = link->dof_first + link->joint.scalar_count;
  if (dof < base) return round_to_power_of_two(generalized_mass(s, dof));
  return round_to_power_of_two(
      fmax(generalized_mass(s, base), fmax(generalized_mass(s, base + 1), generalized_mass(s, base + 2))));
}

void stops_create(Sim* s) {
  const Model* m = s->model;
  bool any = false;
  Stop stop;
  for (int dof = 0; dof < m->dof_count; dof++) any = any || find_stop(m, dof, -1, &stop) || find_stop(m, dof, 1, &stop);
  if (!any) return;
  s->joint_stops.stop = MEMORY_NEW(JointStop, m->dof_count);
  s->joint_stops.mass = MEMORY_NEW(double, m->dof_count);
  model_screws(m, s->q_now, s->pose_now, s->assembly.screws);
  for (int dof = 0; dof < m->dof_count; dof++) s->joint_stops.mass[dof] = spring_mass(s, dof);
}

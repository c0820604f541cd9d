/* Lever arms and directions of internal forces and buoyancy at t (docs/derivations/loads.md, L21, L24, L25; fluid.md,
 * L23). */
#include "simulate/internal_forces.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "simulate/bushings.h"
#include "simulate/fluid.h"
#include "simulate/spin_adjoint.h"
#include "simulate/tendons.h"
#include "simulate/tree_flight.h"

InternalForces* internal_forces_create(const Sim* s) {
  const Model* m = s->model;
  bool any = m->tendon_count > 0 || m->bushing_count > 0;
  for (int i = 0; i < m->link_count; i++) any = any || fluid_buoyancy_acts_at_start(s, i) || ball_torque_acts(m, i);
  if (m->simulation.integrator != INTEGRATOR_MOMENTUM || !any) return NULL;
  InternalForces* f = MEMORY_NEW(InternalForces, 1);
  size_t matrices = sizeof(double[3][4]) * (size_t)m->link_count;
  f->predicted = MEMORY_NEW(Pose, m->link_count);
  f->start = MEMORY_NEW(LinkWrench, m->link_count);
  f->start_in_step = MEMORY_NEW(LinkWrench, m->link_count);
  f->ahead = MEMORY_NEW(LinkWrench, m->link_count);
  f->scratch = MEMORY_NEW(LinkWrench, m->link_count);
  f->fraction = MEMORY_NEW(double, m->tendon_count);
  f->bushing_bound = MEMORY_NEW(double, m->bushing_count);
  for (int k = 0; k < m->bushing_count; k++) f->bushing_bound[k] = bushing_frequency_bound(m, k);
  f->bushing_wrench = memory_alloc(sizeof(double[6]) * (size_t)m->bushing_count);
  f->has_ball_torque = MEMORY_NEW(bool, m->link_count);
  for (int i = 0; i < m->link_count; i++) f->has_ball_torque[i] = ball_torque_acts(m, i);
  f->ball = MEMORY_NEW(BallStart, m->link_count);
  f->ball_now_bar = MEMORY_NEW(Vec3, m->link_count);
  f->ball_ahead_bar = MEMORY_NEW(Vec3, m->link_count);
  f->motion_now = memory_alloc(matrices);
  f->motion_ahead = memory_alloc(matrices);
  f->motion_now_bar = memory_alloc(matrices);
  f->motion_ahead_bar = memory_alloc(matrices);
  f->ahead_bar = memory_alloc(matrices);
  return f;
}

void internal_forces_destroy(InternalForces* f) {
  if (!f) return;
  void* owned[] = {f->scratch,         f->fraction,
                   f->has_ball_torque, f->ball,
                   f->ball_now_bar,    f->ball_ahead_bar,
                   f->bushing_bound,   f->bushing_wrench,
                   f->predicted,       f->start,
                   f->start_in_step,   f->ahead,
                   f->motion_now,      f->motion_ahead,
                   f->motion_now_bar,  f->motion_ahead_bar,
                   f->ahead_bar,       f};
  for (size_t k = 0; k < sizeof(owned) / sizeof(owned[0]); k++) memory_free(owned[k]);
}

/* Returns the pose of a link at t + dt if its centre of mass and its rotation continue as in the last step. In the
 * first step they continue with the initial velocities. */
static Pose predicted_pose(const Sim* s, int i) {
  const ModelLink* link = &s->model->links[i];
  Pose now = s->pose_now[i], old = s->pose_old[i], rate = s->pose_rate[i];
  if (link->tree < 0) return now;
  Vec3 center = pose_apply(now, link->center), moved;
  if (s->clock.dt_before > 0)
    moved = vec3_scale(vec3_sub(center, pose_apply(old, link->center)), s->clock.dt / s->clock.dt_before);
  else
    moved = vec3_scale(pose_apply(rate, link->center), s->clock.dt);
  Mat3 r = load_rotation(&s->clock, now.r, old.r, rate.r);
  return (Pose){r, vec3_sub(vec3_add(center, moved), mat3_mul_vec(r, link->center))};
}

/* ---------------------------------------------------------------- fraction of the force */

/* Upper bound of the mobility of a point of a link: the trace of the velocity per impulse at the point, for a free link
 * [1/kg]. */
typedef struct {
  double value;
  Vec3 arm;         /* from the centre of mass, link frame [m] */
  Mat3 mobility;    /* inverse inertia tensor; zero for a point at the centre of mass */
  Vec3 by_arm;      /* derivative of value with respect to arm */
  Mat3 by_mobility; /* derivative of value with respect to mobility */
} PointMobility;

static PointMobility point_mobility(const Model* m, const SceneTendonPoint* point) {
  PointMobility out = {.mobility = mat3_zero(), .by_mobility = mat3_zero()};
  if (point->link < 0 || m->links[point->link].tree < 0) return out;
  const ModelLink* link = &m->links[point->link];
  out.arm = vec3_sub(point->point, link->center);
  out.value = 1 / link->mass;
  double square = vec3_dot(out.arm, out.arm);
  if (square == 0) return out;
  out.mobility = mat3_inverse(mass_moment_inertia_tensor(&link->moment));
  Vec3 response = mat3_mul_vec(out.mobility, out.arm);
  double trace = mat3_trace(out.mobility);
  out.value += square * trace - vec3_dot(out.arm, response);
  out.by_arm = vec3_scale(vec3_sub(vec3_scale(out.arm, trace), response), 2);
  out.by_mobility = mat3_sub(mat3_scale(mat3_identity(), square), mat3_outer(out.arm, out.arm));
  return out;
}

/* Returns the inverse of the distance of two neighbouring points, rounded off below the eyelet [1/m]. apart: vector
 * between the points. */
static double inverse_distance(const SceneTendon* tendon, Vec3 apart) {
  return 1 / sqrt(vec3_dot(apart, apart) + tendon->eyelet * tendon->eyelet);
}

/* Returns true if the tendon wraps around a link that can move. */
static bool has_moving_wrap(const Model* m, const SceneTendon* tendon) {
  for (int i = 0; i < tendon->wrap_count; i++)
    if (tendon->wraps[i].link >= 0 && m->links[tendon->wraps[i].link].tree >= 0) return true;
  return false;
}

StartFraction tendon_start_fraction(const Sim* s, int k, double pull) {
  assert(k >= 0 && k < s->model->tendon_count);
  const SceneTendon* tendon = s->model->tendons[k].source;
  StartFraction out = {.fraction = 1};
  double time = s->clock.dt * s->clock.dt, slope;
  if (has_moving_wrap(s->model, tendon) && !internal_forces_predict_rotations(&s->clock)) return (StartFraction){0};
  for (int i = 0; i + 1 < tendon->count; i++) {
    const SceneTendonPoint* end = &tendon->points[i];
    Vec3 apart = vec3_sub(tendon_point(&end[0], s->pose_now), tendon_point(&end[1], s->pose_now));
    double mobility = point_mobility(s->model, &end[0]).value + point_mobility(s->model, &end[1]).value;
    out.sum += mobility * inverse_distance(tendon, apart);
  }
  if (pull == 0) return out;
  out.fraction = 2 - 2 * spring_implicitness(fabs(pull) * out.sum * time, &slope);
  if (slope == 0) return out;
  out.by_sum = -2 * slope * fabs(pull) * time;
  out.by_force = -2 * slope * out.sum * time * (pull > 0 ? 1 : -1);
  return out;
}

static void point_mobility_adjoint(const Model* m, const SceneTendonPoint* point, const PointMobility* p, double factor,
                                   Vec3* point_bar, ModelGradient* gradient) {
  if (p->value == 0) return;
  const ModelLink* link = &m->links[point->link];
  Vec3 by_arm = vec3_scale(p->by_arm, factor);
  gradient->moment[point->link].s[3][3] -= factor / (link->mass * link->mass);
  *point_bar = vec3_add(*point_bar, by_arm);
  model_gradient_center(m, point->link, vec3_scale(by_arm, -1), gradient);
  spin_adjoint_mobility(p->mobility, link, mat3_scale(p->by_mobility, factor), &gradient->moment[point->link]);
}

void tendon_start_sum_adjoint(const Sim* s, int k, double factor, StateBar now, ModelGradient* gradient) {
  assert(k >= 0 && k < s->model->tendon_count);
  const ModelTendon* tendon = &s->model->tendons[k];
  for (int i = 0; factor != 0 && i + 1 < tendon->source->count; i++) {
    const SceneTendonPoint* end = &tendon->source->points[i];
    Vec3 apart = vec3_sub(tendon_point(&end[0], s->pose_now), tendon_point(&end[1], s->pose_now));
    double inverse = inverse_distance(tendon->source, apart);
    PointMobility p[2] = {point_mobility(s->model, &end[0]), point_mobility(s->model, &end[1])};
    double by_apart = -factor * (p[0].value + p[1].value) * inverse * inverse * inverse;
    for (int side = 0; side < 2; side++) {
      Vec3* point_bar = &gradient->tendon_points[tendon->point_first + i + side];
      Vec3 by = vec3_scale(apart, side == 0 ? by_apart : -by_apart);
      pose_bar_add_point(now.pose, end[side].link, by, end[side].point);
      *point_bar = vec3_add(*point_bar, end[side].link < 0 ? by : mat3_tmul_vec(s->pose_now[end[side].link].r, by));
      point_mobility_adjoint(s->model, &end[side], &p[side], factor * inverse, point_bar, gradient);
    }
  }
}

/* ---------------------------------------------------------------- wrenches */

/* Adds the force at a world point to the wrench of a link about its centre of mass. Does nothing for links that cannot
 * move. */
static void add_force(const Model* m, int link, const Pose* poses, Vec3 at, Vec3 force, LinkWrench* out) {
  if (link < 0 || m->links[link].tree < 0) return;
  Vec3 arm = vec3_sub(at, pose_apply(poses[link], m->links[link].center));
  out[link].force = vec3_add(out[link].force, force);
  out[link].torque = vec3_add(out[link].torque, vec3_cross(arm, force));
}

/* Adds the wrenches of a tendon with the force `pull` at poses[links] to out[links]. */
static void add_tendon_wrenches(const Model* m, const SceneTendon* tendon, const Pose* poses, double pull,
                                LinkWrench* out) {
  for (int i = 0; pull != 0 && i + 1 < tendon->count; i++) {
    const SceneTendonPoint* point = &tendon->points[i];
    const SceneTendonWrap* wrap = scene_tendon_wrap(tendon, i);
    TendonSpan span = tendon_span(tendon, i, poses);
    for (int side = 0; side < 2; side++) {
      add_force(m, point[side].link, poses, span.end[side], vec3_scale(span.slope[side], -pull), out);
      if (span.touches) add_force(m, wrap->link, poses, span.end[side], vec3_scale(span.slope[side], pull), out);
    }
  }
}

/* Returns factor times the wrench of buoyancy on link i at a pose. */
static LinkWrench buoyancy_wrench(const Sim* s, int i, Pose pose, double factor) {
  double slope[3][4];
  fluid_buoyancy_slope_at(s, i, &pose, slope);
  Vec3 force = vec3_scale(pose_matrix_translation((const double(*)[4])slope), -factor);
  Vec3 torque = vec3_scale(load_origin_torque((const double(*)[4])slope, pose.r), -factor);
  return (LinkWrench){force, vec3_sub(torque, vec3_cross(mat3_mul_vec(pose.r, s->model->links[i].center), force))};
}

static void add_wrench(LinkWrench* sum, LinkWrench w) {
  sum->force = vec3_add(sum->force, w.force);
  sum->torque = vec3_add(sum->torque, w.torque);
}

void internal_forces_prepare_step(Sim* s) {
  InternalForces* f = s->internal_forces;
  if (!f) return;
  const Model* m = s->model;
  size_t size = sizeof(LinkWrench) * (size_t)m->link_count;
  memset(f->start, 0, size);
  memset(f->start_in_step, 0, size);
  memset(f->ahead, 0, size);
  for (int i = 0; i < m->link_count; i++) f->predicted[i] = predicted_pose(s, i);
  for (int k = 0; k < m->tendon_count; k++) {
    TendonStartPull pull = tendon_start_pull(s->tendons, k);
    double fraction = f->fraction[k] = tendon_start_fraction(s, k, pull.target).fraction;
    const SceneTendon* tendon = m->tendons[k].source;
    add_tendon_wrenches(m, tendon, s->pose_now, fraction * pull.target, f->start);
    add_tendon_wrenches(m, tendon, s->pose_now, fraction * pull.step, f->start_in_step);
    add_tendon_wrenches(m, tendon, f->predicted, -fraction * pull.step, f->ahead);
  }
  for (int k = 0; k < m->bushing_count; k++) {
    BushingStart start = bushing_start(s, k);
    const SceneBushing* bushing = m->bushings[k].source;
    double step = start.fraction * (1 - s->bushings->at[k].missing);
    for (int side = 0; side < 2; side++)
      if (bushing->link[side] >= 0)
        s->loads[bushing->link[side]].any = true; /* also for the force 0, so that the step is
                                                   differentiable there */
    for (int i = 0; i < 6; i++) f->bushing_wrench[k][i] = start.fraction * start.wrench[i];
    bushing_add_wrenches(m, bushing, s->pose_now, start.wrench, start.fraction, f->start);
    bushing_add_wrenches(m, bushing, s->pose_now, start.wrench, step, f->start_in_step);
    bushing_add_wrenches(m, bushing, f->predicted, start.wrench, -step, f->ahead);
  }
  for (int i = 0; i < m->link_count; i++) {
    if (!f->has_ball_torque[i]) continue;
    const JointInput in = step_joint_input(s, &s->configuration[s->current], i);
    f->ball[i] = ball_start(&in, &s->clock, BALL_ALL);
    ball_add_wrenches(s, i, &f->ball[i]);
  }
  for (int i = 0; i < m->link_count; i++) {
    if (!fluid_buoyancy_acts_at_start(s, i)) continue;
    LinkWrench now = buoyancy_wrench(s, i, s->pose_now[i], 1);
    add_wrench(&f->start[i], now);
    add_wrench(&f->start_in_step[i], now);
    add_wrench(&f->ahead[i], buoyancy_wrench(s, i, f->predicted[i], -1));
  }
  for (int i = 0; i < m->link_count; i++)
    if (m->links[i].tree >= 0) load_add_internal_wrenches(s, i, &f->start[i], &f->start_in_step[i], &f->ahead[i]);
}

/* Adds the generalized forces of f->scratch on the links with in_target loads (in_target true) or on all other links to
 * force[nv]. */
static void add_scratch_forces(const Sim* s, bool in_target, bool all, const Screw* screws, const Vec3* center,
                               double* force) {
  const Model* m = s->model;
  for (int i = 0; i < m->link_count; i++) {
    const LinkWrench* w = &s->internal_forces->scratch[i];
    if (!all && load_is_in_target(s, i) != in_target) continue;
    Vec3 at = in_target ? pose_apply(s->pose_old[i], m->links[i].center) : center[i];
    model_add_generalized_force(m, i, screws, at, w->force, w->torque, force);
  }
}

/* Adds the generalized forces of f->scratch to force[nv]: of the links whose target contains the loads with the joint
 * directions at t, of the other links with screws[nv] and center[links]. */
static void add_start_forces(const Sim* s, const Screw* screws, const Vec3* center, double* force) {
  if (s->flight) add_scratch_forces(s, true, false, s->flight->screws_now, center, force);
  add_scratch_forces(s, false, false, screws, center, force);
}

/* Multiplies f->scratch by `part` on the links whose target does not contain their loads. */
static void scale_scratch_in_step(const Sim* s, double part) {
  for (int i = 0; i < s->model->link_count; i++) {
    LinkWrench* w = &s->internal_forces->scratch[i];
    if (!load_is_in_target(s, i)) *w = (LinkWrench){vec3_scale(w->force, part), vec3_scale(w->torque, part)};
  }
}

void internal_forces_add_spring_force(const Sim* s, int k, const Screw* screws, const Vec3* center, double* force) {
  InternalForces* f = s->internal_forces;
  if (!f) return;
  const SceneTendon* tendon = s->model->tendons[k].source;
  size_t size = sizeof(LinkWrench) * (size_t)s->model->link_count;
  double pull = f->fraction[k] * tendon->stiffness * tendon_stretch(tendon, s->tendons->now[k]);
  double part = 1 - s->tendons->at[k].missing;
  memset(f->scratch, 0, size);
  add_tendon_wrenches(s->model, tendon, s->pose_old, pull, f->scratch);
  scale_scratch_in_step(s, part);
  add_start_forces(s, screws, center, force);
  memset(f->scratch, 0, size);
  add_tendon_wrenches(s->model, tendon, f->predicted, -pull * part, f->scratch);
  add_scratch_forces(s, false, true, screws, center, force);
}

void internal_forces_add_bushing_force(const Sim* s, int k, const Screw* screws, const Vec3* center, double* force) {
  InternalForces* f = s->internal_forces;
  if (!f) return;
  const SceneBushing* bushing = s->model->bushings[k].source;
  const double* wrench = f->bushing_wrench[k];
  size_t size = sizeof(LinkWrench) * (size_t)s->model->link_count;
  double part = 1 - s->bushings->at[k].missing;
  memset(f->scratch, 0, size);
  bushing_add_wrenches(s->model, bushing, s->pose_old, wrench, 1, f->scratch);
  scale_scratch_in_step(s, part);
  add_start_forces(s, screws, center, force);
  memset(f->scratch, 0, size);
  bushing_add_wrenches(s->model, bushing, f->predicted, wrench, -part, f->scratch);
  add_scratch_forces(s, false, true, screws, center, force);
}

void internal_forces_add_buoyancy(const Sim* s, const Screw* screws, const Vec3* center, double* force) {
  InternalForces* f = s->internal_forces;
  if (!f || !s->fluid) return;
  size_t size = sizeof(LinkWrench) * (size_t)s->model->link_count;
  for (int ahead = 0; ahead < 2; ahead++) {
    memset(f->scratch, 0, size);
    for (int i = 0; i < s->model->link_count; i++)
      if (fluid_buoyancy_acts_at_start(s, i))
        f->scratch[i] = buoyancy_wrench(s, i, ahead ? f->predicted[i] : s->pose_old[i], ahead ? -1 : 1);
    if (ahead)
      add_scratch_forces(s, false, true, screws, center, force);
    else
      add_start_forces(s, screws, center, force);
  }
}

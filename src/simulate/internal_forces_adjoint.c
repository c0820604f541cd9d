/* Adjoint of lever arms and directions of internal forces and buoyancy at t (docs/derivations/loads.md, L22, L24, L25;
 * fluid.md, L23). */
#include <string.h>

#include "simulate/bushings.h"
#include "simulate/fluid.h"
#include "simulate/internal_forces.h"
#include "simulate/tendons.h"

/* Receives the derivatives of a scalar Phi, the sum of -force . v - torque . w over the wrenches of internal forces (v,
 * w: motion of a link along lambda). */
typedef struct {
  const Sim* sim;
  const double (*motion)[3][4]; /* change of [R | t] of the links along lambda (size: links) */
  bool in_target;
  StateBar now, old;
  double (*rate_bar)[3][4];
  ModelGradient* gradient;
} InternalBars;

/* Velocity of a link's centre of mass and angular velocity along lambda. rotation: the rotation of the matrix B (L1).
 */
typedef struct {
  Vec3 v, w;
  Mat3 m, rotation;
} WrenchMotion;

static bool is_selected(const InternalBars* to, int i) {
  return to->sim->model->links[i].tree >= 0 && (!to->in_target || load_is_in_target(to->sim, i));
}

static WrenchMotion wrench_motion(const InternalBars* to, int i) {
  const Sim* s = to->sim;
  WrenchMotion out = {.m = pose_matrix_rotation(to->motion[i]), .rotation = s->pose_now[i].r};
  if (!to->in_target) out.rotation = load_rotation(&s->clock, s->pose_now[i].r, s->pose_old[i].r, s->pose_rate[i].r);
  out.v = vec3_add(mat3_mul_vec(out.m, s->model->links[i].center), pose_matrix_translation(to->motion[i]));
  out.w = vec3_scale(mat3_axial(mat3_mul(out.m, mat3_transpose(out.rotation))), 0.5);
  return out;
}

/* Sets out to the rate of a pose that moves with the angular velocity w and the velocity v of its centre of mass. */
static void set_pose_rate(Pose pose, Vec3 center, Vec3 w, Vec3 v, double out[3][4]) {
  memset(out, 0, sizeof(double[3][4]));
  pose_matrix_add(out, mat3_mul(mat3_cross(w), pose.r), vec3_sub(v, vec3_cross(w, mat3_mul_vec(pose.r, center))));
}

/* Converts bar, the derivatives with respect to the result of set_pose_rate at constant w and v, into those with
 * respect to the pose, and returns the derivative with respect to the centre of mass. */
static Vec3 pose_rate_adjoint(Pose pose, Vec3 center, Vec3 w, const double bar[3][4], double pose_bar[3][4]) {
  Vec3 by_arm = vec3_cross(w, pose_matrix_translation(bar));
  Mat3 by_r = mat3_sub(mat3_outer(by_arm, center), mat3_mul(mat3_cross(w), pose_matrix_rotation(bar)));
  pose_matrix_add_rotation(pose_bar, by_r);
  return mat3_tmul_vec(pose.r, by_arm);
}

static void set_motions(const InternalBars* to) {
  const Sim* s = to->sim;
  InternalForces* f = s->internal_forces;
  size_t size = sizeof(double[3][4]) * (size_t)s->model->link_count;
  memset(f->motion_now, 0, size);
  memset(f->motion_ahead, 0, size);
  memset(f->motion_now_bar, 0, size);
  memset(f->motion_ahead_bar, 0, size);
  memset(f->ahead_bar, 0, size);
  for (int i = 0; i < s->model->link_count; i++) {
    if (!is_selected(to, i)) continue;
    WrenchMotion moved = wrench_motion(to, i);
    Vec3 center = s->model->links[i].center;
    if (to->in_target || !load_is_in_target(s, i))
      set_pose_rate(s->pose_now[i], center, moved.w, moved.v, f->motion_now[i]);
    if (!to->in_target) set_pose_rate(f->predicted[i], center, moved.w, moved.v, f->motion_ahead[i]);
  }
}

/* Adds the derivatives through the force of tendon k at t and its paths at t and at the predicted poses. */
static void tendon_wrench_adjoint(const InternalBars* to, int k) {
  const Sim* s = to->sim;
  const Model* m = s->model;
  InternalForces* f = s->internal_forces;
  const ModelTendon* tendon = &m->tendons[k];
  const double(*now)[3][4] = (const double(*)[3][4])f->motion_now;
  const double(*ahead)[3][4] = (const double(*)[3][4])f->motion_ahead;
  if (tendon->source->count == 0) return;
  TendonStartPull pull = tendon_start_pull(s->tendons, k);
  StartFraction part = tendon_start_fraction(s, k, pull.target);
  double force = to->in_target ? pull.target : pull.step, part_of_force = part.fraction * force;
  double rate = tendon_path_rate(m, k, s->pose_now, now);
  if (!to->in_target) rate -= tendon_path_rate(m, k, f->predicted, ahead);
  tendon_rate_adjoint(m, k, s->pose_now, now, part_of_force, to->now.pose, f->motion_now_bar, to->gradient);
  if (!to->in_target)
    tendon_rate_adjoint(m, k, f->predicted, ahead, -part_of_force, f->ahead_bar, f->motion_ahead_bar, to->gradient);
  double by_fraction = force * rate, by_force = part.fraction * rate;
  double by_target = by_fraction * part.by_force + (to->in_target ? by_force : 0);
  double by_step = to->in_target ? 0 : by_force, weight = 1 - s->tendons->at[k].missing;
  tendon_start_sum_adjoint(s, k, by_fraction * part.by_sum, to->now, to->gradient);
  tendon_tension_adjoint(s, k, by_target + by_step, to->gradient);
  double* numbers = to->gradient->tendons[k];
  numbers[TENDON_NUMBER_STIFFNESS] += (by_target + weight * by_step) * pull.stretch;
  if (pull.stretch > 0) numbers[TENDON_NUMBER_REST] -= (by_target + weight * by_step) * tendon->source->stiffness;
  SpringTimeWeights slope = spring_time_weights_derivative(&s->clock, &s->weights, tendon->theta, true);
  to->gradient->thetas[model_theta_index(m, THETA_TENDON, k)] -=
      slope.missing * tendon->source->stiffness * pull.stretch * by_step;
  double by_length = by_target * pull.target_by_length + by_step * pull.step_by_length;
  tendon_length_adjoint(m, k, s->pose_now, by_length, to->now, to->gradient);
}

/* Adds the derivatives through the force of bushing k at t and its directions at t and at the predicted poses. */
static void bushing_wrench_adjoint(const InternalBars* to, int k) {
  const Sim* s = to->sim;
  InternalForces* f = s->internal_forces;
  const SceneBushing* bushing = s->model->bushings[k].source;
  const double(*now)[3][4] = (const double(*)[3][4])f->motion_now;
  const double(*ahead)[3][4] = (const double(*)[3][4])f->motion_ahead;
  BushingStart start = bushing_start(s, k);
  double weight = to->in_target ? 1 : 1 - s->bushings->at[k].missing, part = weight * start.fraction;
  double rates[6], ahead_rates[6] = {0}, wrench_bar[6], work = 0, *numbers = to->gradient->bushings[k];
  bushing_rates(bushing, s->pose_now, now, rates);
  if (!to->in_target) bushing_rates(bushing, f->predicted, ahead, ahead_rates);
  for (int i = 0; i < 6; i++) {
    rates[i] -= ahead_rates[i];
    wrench_bar[i] = part * rates[i];
    work += start.wrench[i] * rates[i];
    double factor = part * start.wrench[i];
    bushing_rate_adjoint(bushing, i, s->pose_now, now, factor, to->now.pose, f->motion_now_bar, numbers);
    if (!to->in_target)
      bushing_rate_adjoint(bushing, i, f->predicted, ahead, -factor, f->ahead_bar, f->motion_ahead_bar, numbers);
  }
  BushingTimeWeights slope;
  (void)bushing_time_weights(s, k, &slope);
  if (!to->in_target)
    to->gradient->thetas[model_theta_index(s->model, THETA_BUSHING_SPRING, k)] -= slope.missing * start.fraction * work;
  bushing_start_adjoint(s, k, &start, wrench_bar, weight * work, to->now, to->gradient);
}

/* Adds the derivatives through the axes of the torque of ball joint i at t and at the predicted poses. */
static void ball_axes_adjoint(const InternalBars* to, int i) {
  const Sim* s = to->sim;
  InternalForces* f = s->internal_forces;
  const BallStart* start = &f->ball[i];
  const int link[2] = {i, s->model->links[i].parent};
  Vec3 now = vec3(0, 0, 0), ahead = vec3(0, 0, 0);
  for (int side = 0; side < 2; side++) {
    int k = link[side];
    if (k < 0 || !is_selected(to, k)) continue;
    Vec3 w = wrench_motion(to, k).w;
    double sign = side == 0 ? 1 : -1;
    if (to->in_target || !load_is_in_target(s, k)) now = vec3_add_scaled(now, sign, w);
    if (!to->in_target) ahead = vec3_add_scaled(ahead, -sign, w);
  }
  f->ball_now_bar[i] = vec3_add(f->ball_now_bar[i], mat3_tmul_vec(s->pose_now[i].r, now));
  f->ball_ahead_bar[i] = vec3_add(f->ball_ahead_bar[i], mat3_tmul_vec(f->predicted[i].r, ahead));
  pose_matrix_add_rotation(to->now.pose[i], mat3_outer(now, vec3_at(start->now)));
  pose_matrix_add_rotation(f->ahead_bar[i], mat3_outer(ahead, vec3_at(start->ahead)));
}

/* Adds the derivatives through the buoyancy of link i at t and at the predicted pose. */
static void buoyancy_adjoint(const InternalBars* to, int i) {
  const Sim* s = to->sim;
  InternalForces* f = s->internal_forces;
  for (int ahead = 0; ahead < 2; ahead++) {
    if (ahead ? to->in_target : !to->in_target && load_is_in_target(s, i)) continue;
    const Pose* pose = ahead ? &f->predicted[i] : &s->pose_now[i];
    const double(*motion)[4] = (const double(*)[4])(ahead ? f->motion_ahead[i] : f->motion_now[i]);
    double slope[3][4], factor = ahead ? -1 : 1;
    fluid_buoyancy_slope_at(s, i, pose, slope);
    Mat3 by_rotation = mat3_scale(pose_matrix_rotation((const double(*)[4])slope), factor);
    Vec3 by_translation = vec3_scale(pose_matrix_translation((const double(*)[4])slope), factor);
    pose_matrix_add(ahead ? f->motion_ahead_bar[i] : f->motion_now_bar[i], by_rotation, by_translation);
    fluid_buoyancy_slope_adjoint(s, i, pose, motion, factor, ahead ? f->ahead_bar[i] : to->now.pose[i], to->gradient);
  }
}

/* Converts bar, the derivatives with respect to the predicted pose of link i, into those with respect to the states at
 * t and before. */
static void predicted_pose_adjoint(const InternalBars* to, int i, const double bar[3][4]) {
  const Sim* s = to->sim;
  const ModelLink* link = &s->model->links[i];
  Mat3 by_r = pose_matrix_rotation(bar);
  Vec3 by_t = pose_matrix_translation(bar), center = link->center;
  if (link->tree < 0) {
    pose_matrix_add(to->now.pose[i], by_r, by_t);
    return;
  }
  Mat3 now = s->pose_now[i].r, old = s->pose_old[i].r, rate = s->pose_rate[i].r;
  bool first = !(s->clock.dt_before > 0);
  double ratio = first ? s->clock.dt : s->clock.dt / s->clock.dt_before;
  Mat3 arm = mat3_outer(by_t, center), now_bar = mat3_zero(), old_bar = mat3_zero(), by_rate = mat3_zero();
  load_rotation_adjoint(&s->clock, now, old, mat3_sub(by_r, arm), &now_bar, &old_bar, &by_rate);
  Mat3 by_moved = mat3_scale(arm, ratio);
  Vec3 by_travel = vec3_scale(by_t, ratio);
  pose_matrix_add(to->now.pose[i], mat3_add(now_bar, arm), by_t);
  if (first) {
    pose_matrix_add(to->rate_bar[i], mat3_add(by_rate, by_moved), by_travel);
  } else {
    pose_matrix_add(to->now.pose[i], by_moved, by_travel);
    pose_matrix_add(to->old.pose[i], mat3_sub(old_bar, by_moved), vec3_scale(by_travel, -1));
  }
  Vec3 by_center = vec3_sub(mat3_tmul_vec(now, by_t), mat3_tmul_vec(s->internal_forces->predicted[i].r, by_t));
  Vec3 before = first ? mat3_tmul_vec(rate, by_t) : vec3_sub(mat3_tmul_vec(now, by_t), mat3_tmul_vec(old, by_t));
  model_gradient_center(s->model, i, vec3_add_scaled(by_center, ratio, before), to->gradient);
}

/* Adds the derivatives through the motion of link i, which depends on the rotation of B and on the centre of mass. */
static void link_adjoint(const InternalBars* to, int i) {
  const Sim* s = to->sim;
  InternalForces* f = s->internal_forces;
  WrenchMotion moved = wrench_motion(to, i);
  Vec3 center = s->model->links[i].center, force = vec3(0, 0, 0), torque = force, by_center = force;
  if (to->in_target || !load_is_in_target(s, i)) {
    const LinkWrench* start = to->in_target ? &f->start[i] : &f->start_in_step[i];
    force = start->force;
    torque = start->torque;
    by_center =
        pose_rate_adjoint(s->pose_now[i], center, moved.w, (const double(*)[4])f->motion_now_bar[i], to->now.pose[i]);
  }
  if (!to->in_target) {
    force = vec3_add(force, f->ahead[i].force);
    torque = vec3_add(torque, f->ahead[i].torque);
    Vec3 by = pose_rate_adjoint(f->predicted[i], center, moved.w, (const double(*)[4])f->motion_ahead_bar[i],
                                f->ahead_bar[i]);
    by_center = vec3_add(by_center, by);
  }
  Mat3 by_rotation = mat3_scale(mat3_mul(mat3_cross(torque), moved.m), 0.5);
  by_center = vec3_sub(by_center, mat3_tmul_vec(moved.m, force));
  model_gradient_center(s->model, i, by_center, to->gradient);
  pose_matrix_add_rotation(to->in_target ? to->now.pose[i] : f->ahead_bar[i], by_rotation);
}

void internal_forces_adjoint(const Sim* s, const double (*motion)[3][4], bool in_target, StateBar now, StateBar old,
                             double (*rate_bar)[3][4], ModelGradient* gradient) {
  InternalForces* f = s->internal_forces;
  const InternalBars to = {s, motion, in_target, now, old, rate_bar, gradient};
  if (!f) return;
  set_motions(&to);
  for (int k = 0; k < s->model->tendon_count; k++) tendon_wrench_adjoint(&to, k);
  for (int k = 0; k < s->model->bushing_count; k++) bushing_wrench_adjoint(&to, k);
  for (int i = 0; i < s->model->link_count; i++)
    if (f->has_ball_torque[i]) ball_axes_adjoint(&to, i);
  for (int i = 0; i < s->model->link_count; i++)
    if (is_selected(&to, i) && fluid_buoyancy_acts_at_start(s, i)) buoyancy_adjoint(&to, i);
  for (int i = 0; i < s->model->link_count; i++)
    if (is_selected(&to, i)) link_adjoint(&to, i);
  for (int i = 0; !in_target && i < s->model->link_count; i++)
    predicted_pose_adjoint(&to, i, (const double(*)[4])f->ahead_bar[i]);
}

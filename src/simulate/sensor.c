/* Computes measurements of the state for feedback, and their derivatives. */
#include <assert.h>

#include "simulate/sensor.h"

static double component(Vec3 v, int axis) { return axis == 0 ? v.x : axis == 1 ? v.y : v.z; }

/* Returns the time derivative dT/dt of a link's pose: the difference of the last two states divided by the step length,
 * or the initial velocity in the first step. */
static Pose pose_rate(const Sim* s, int link) {
  assert(link >= 0 && link < s->model->link_count);
  if (!(s->clock.dt_before > 0)) return s->pose_rate[link];
  double f = 1 / s->clock.dt_before;
  const Pose *now = &s->pose_now[link], *old = &s->pose_old[link];
  return (Pose){mat3_scale(mat3_sub(now->r, old->r), f), vec3_scale(vec3_sub(now->t, old->t), f)};
}

static double joint_rate(const Sim* s, const ModelLink* link, int k) {
  int q = link->coordinate_first + k;
  if (!(s->clock.dt_before > 0)) return s->model->initial_velocities[link->dof_first + k];
  return (s->q_now[q] - s->q_old[q]) / s->clock.dt_before;
}

/* Returns the rotation of a link in the last step, world axes. */
static Quat last_rotation(const Sim* s, int link) {
  return quat_from_mat3(mat3_mul(s->pose_now[link].r, mat3_transpose(s->pose_old[link].r)));
}

/* Returns the angular velocity of a link, world axes [rad/s]: the rotation vector of the last step divided by its
 * length, or the initial angular velocity in the first step. */
static Vec3 angular_velocity(const Sim* s, int link) {
  if (s->clock.dt_before > 0) return vec3_scale(quat_log(last_rotation(s, link)), 1 / s->clock.dt_before);
  return vec3_scale(mat3_axial(mat3_mul(s->pose_rate[link].r, mat3_transpose(s->pose_now[link].r))), 0.5);
}

double sensor_value(const Sim* s, const SceneMeasure* m) {
  const ModelLink* link = &s->model->links[m->link];
  const Pose* pose = &s->pose_now[m->link];
  switch (m->kind) {
    case MEASURE_COORDINATE:
      return s->q_now[link->coordinate_first + m->index];
    case MEASURE_RATE:
      return joint_rate(s, link, m->index);
    case MEASURE_POSITION:
      return component(pose->t, m->index);
    case MEASURE_CENTER:
      return component(pose_apply(*pose, link->center), m->index);
    case MEASURE_VELOCITY: {
      Pose change = pose_rate(s, m->link);
      return component(pose_apply(change, link->center), m->index);
    }
    case MEASURE_ANGULAR_VELOCITY:
      return component(angular_velocity(s, m->link), m->index);
    case MEASURE_FORCE:
      return component(s->state.contact_force[m->link], m->index);
    case MEASURE_AXIS:
      break;
  }
  return pose->r.m[m->index % 3][m->index / 3];
}

double sensor_length_slope(const Sim* s, const SceneMeasure* m) {
  bool rate = m->kind == MEASURE_RATE || m->kind == MEASURE_VELOCITY || m->kind == MEASURE_ANGULAR_VELOCITY;
  return rate && s->clock.dt_before > 0 ? -sensor_value(s, m) / s->clock.dt_before : 0;
}

static void add_pose_bar(double bar[3][4], Mat3 by_r, Vec3 by_t, double factor) {
  const double t[3] = {by_t.x, by_t.y, by_t.z};
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 3; j++) bar[i][j] += factor * by_r.m[i][j];
    bar[i][3] += factor * t[i];
  }
}

static void add_pose_rate_bar(const Sim* s, int link, Mat3 by_r, Vec3 by_t, const FeedbackBars* out) {
  if (!(s->clock.dt_before > 0)) {
    add_pose_bar(out->rate_bar[link], by_r, by_t, 1);
    return;
  }
  add_pose_bar(out->now.pose[link], by_r, by_t, 1 / s->clock.dt_before);
  add_pose_bar(out->old.pose[link], by_r, by_t, -1 / s->clock.dt_before);
}

/* Sets *by_r and *by_t to bar times the derivatives of one component of T X_c with respect to the rotation and
 * translation parts of T. Adds bar times the derivative with respect to X_c to the gradient. of: T, a pose or its time
 * derivative. */
static void center_component_bars(const Sim* s, const SceneMeasure* m, Pose of, double bar, Mat3* by_r, Vec3* by_t,
                                  const FeedbackBars* out) {
  Vec3 along = vec3_scale(vec3_axis(m->index), bar);
  *by_r = mat3_outer(along, s->model->links[m->link].center);
  *by_t = along;
  model_gradient_center(s->model, m->link, mat3_tmul_vec(of.r, along), out->gradient);
}

/* Adds the derivatives of bar times one component of the angular velocity. After the first step they are those of the
 * rotation vector phi of R R_old^T. Small rotations of R and R_old in world axes change phi by J^T and -J, where J is
 * the derivative of phi with respect to rotations about its own axes. In the first step w = axial(D R^T) / 2 with D =
 * dR/dt: K-bar = [bar]x / 2, D-bar = K-bar R, R-bar = K-bar^T D, because a . axial(K) = K : [a]x. */
static void angular_velocity_adjoint(const Sim* s, const SceneMeasure* m, double bar, const FeedbackBars* out) {
  if (s->clock.dt_before > 0) {
    RotationVector phi = rotation_vector_derivatives(last_rotation(s, m->link));
    double by = 0.5 * bar / s->clock.dt_before, now[3], old[3];
    for (int k = 0; k < 3; k++) {
      now[k] = by * phi.first[k][m->index];
      old[k] = -by * phi.first[m->index][k];
    }
    pose_matrix_add_rotation(out->now.pose[m->link], mat3_mul(mat3_cross(vec3_at(now)), s->pose_now[m->link].r));
    pose_matrix_add_rotation(out->old.pose[m->link], mat3_mul(mat3_cross(vec3_at(old)), s->pose_old[m->link].r));
    return;
  }
  Mat3 by_k = mat3_cross(vec3_scale(vec3_axis(m->index), 0.5 * bar)), r = s->pose_now[m->link].r;
  Mat3 change = pose_rate(s, m->link).r;
  Vec3 none = {0, 0, 0};
  add_pose_rate_bar(s, m->link, mat3_mul(by_k, r), none, out);
  add_pose_bar(out->now.pose[m->link], mat3_mul(mat3_transpose(by_k), change), none, 1);
}

static void joint_rate_adjoint(const Sim* s, const ModelLink* link, int k, double bar, const FeedbackBars* out) {
  int dof = link->dof_first + k;
  if (!(s->clock.dt_before > 0)) {
    out->gradient->velocities[dof] += bar;
    return;
  }
  out->now.q[dof] += bar / s->clock.dt_before;
  out->old.q[dof] -= bar / s->clock.dt_before;
}

void sensor_adjoint(const Sim* s, const SceneMeasure* m, double bar, const FeedbackBars* out) {
  const ModelLink* link = &s->model->links[m->link];
  Mat3 by_r;
  Vec3 by_t;
  switch (m->kind) {
    case MEASURE_COORDINATE:
      out->now.q[link->dof_first + m->index] += bar;
      break;
    case MEASURE_RATE:
      joint_rate_adjoint(s, link, m->index, bar, out);
      break;
    case MEASURE_POSITION:
      out->now.pose[m->link][m->index][3] += bar;
      break;
    case MEASURE_CENTER:
      center_component_bars(s, m, s->pose_now[m->link], bar, &by_r, &by_t, out);
      add_pose_bar(out->now.pose[m->link], by_r, by_t, 1);
      break;
    case MEASURE_VELOCITY:
      center_component_bars(s, m, pose_rate(s, m->link), bar, &by_r, &by_t, out);
      add_pose_rate_bar(s, m->link, by_r, by_t, out);
      break;
    case MEASURE_ANGULAR_VELOCITY:
      angular_velocity_adjoint(s, m, bar, out);
      break;
    case MEASURE_FORCE:
      out->contact_force[m->link] = vec3_add_scaled(out->contact_force[m->link], bar, vec3_axis(m->index));
      break;
    case MEASURE_AXIS:
      out->now.pose[m->link][m->index % 3][m->index / 3] += bar;
      break;
  }
}

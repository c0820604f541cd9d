/* Computes derivatives of a scalar with respect to the start of a run: initial coordinates, initial velocities, and the
 * coordinates at which closures were placed (docs/derivations/adjoint.md, A12). */
#include <string.h>

#include "simulate/step_adjoint.h"

/* In this function, twists refer to the origins of the link frames. */
void step_adjoint_rates(StepAdjoint* a, const Pose* pose, const Screw* screws, double (*bar)[3][4], double* q_bar,
                        const double* velocities, double* velocities_bar, ModelGradient* gradient) {
  const Model* m = a->model;
  Vec3* at = a->force; /* frame origins */
  for (int i = 0; i < m->link_count; i++) at[i] = pose[i].t;
  step_adjoint_twists(m, screws, at, velocities, a->twist);
  step_adjoint_compose(a, pose, bar);
  if (velocities_bar) step_adjoint_reduce(a, pose, screws, velocities_bar);
  for (int i = 0; i < m->link_count;
       i++) { /* curvature of the motion (kinematics.md, K2) between joint i and the joints from i to the root */
    Mat3 k = a->bar_moment[i];
    Vec3 f = a->bar_force[i];
    double trace = mat3_trace(k);
    const ModelLink* link = &m->links[i];
    int ball = link->dof_first +
               link->joint.scalar_count; /* first degree of freedom of the ball joint, if the joint has one */
    for (int j = link->dof_first; j < link->dof_first + link->dof_count; j++) {
      Vec3 v = screw_velocity(&screws[j], pose[i].t), w = screws[j].w;
      Vec3 curve = vec3_add(vec3_sub(mat3_tmul_vec(k, w), vec3_scale(w, trace)), vec3_cross(v, f));
      for (int up = i; up >= 0; up = m->links[up].parent)
        for (int n = m->links[up].dof_first; n < m->links[up].dof_first + m->links[up].dof_count; n++) {
          bool same = up == i, in_ball = same && n >= ball && j >= ball;
          if (same && n > j && !in_ball) continue;
          double share = vec3_dot(screws[n].w, curve);
          q_bar[n] += velocities[j] *
                      share; /* an increment of joint n, which is nearer the root, also moves the screw of joint j */
          if (n != j && !in_ball) q_bar[j] += velocities[n] * share;
        }
    }
  }
  FrameRotationInput motion = {at, a->bar_moment, a->bar_force, velocities, screws, (const double(*)[6])a->twist, NULL};
  step_adjoint_frame_rotations_of_motion(a, pose, &motion, gradient);
  /* a displacement of a joint in its parent displaces the link, so the rotation of the parent gives the link another
   * velocity */
  for (int i = 0; i < m->link_count; i++) {
    int up = m->links[i].parent;
    a->bar_force[i] = up < 0 ? vec3(0, 0, 0) : vec3_cross(a->bar_force[i], twist_from_array(a->twist[up]).w);
  }
  step_adjoint_frame_positions(a, pose, a->bar_force, gradient);
}

/* Converts the derivatives of a scalar with respect to the initial coordinates and velocities of prescribed joints into
 * its derivatives with respect to the signals of these joints. Keeps those with respect to coordinates or velocities
 * that are given and do not follow from the signals. */
static void prescribed_start_adjoint(StepAdjoint* a, ModelGradient* gradient) {
  const Model* m = a->model;
  const double zero[JOINT_MAX_DOF] = {0};
  bool keeps_q = m->prescribed_coordinates_are_given, keeps_v = m->prescribed_velocities_are_given;
  for (int i = 0; i < m->link_count; i++) {
    const ModelLink* link = &m->links[i];
    if (link->prescribed < 0) continue;
    double *q = gradient->coordinates + link->dof_first, *v = gradient->velocities + link->dof_first;
    step_adjoint_controller_signal(a, link->prescribed, 0, keeps_q ? zero : q, keeps_v ? zero : v, gradient);
    if (!keeps_q) memset(q, 0, sizeof(double) * (size_t)link->dof_count);
    if (!keeps_v) memset(v, 0, sizeof(double) * (size_t)link->dof_count);
  }
}

/* Adds the derivatives of a scalar with respect to joint origins and the numbers of closures, if closures were placed
 * at other coordinates than those of the first state. q[nq]: the coordinates at which they were placed. */
static void closure_coordinates_adjoint(StepAdjoint* a, const double* q, ModelGradient* gradient) {
  const Model* m = a->model;
  if (!a->closures) return;
  Pose* pose = MEMORY_NEW(Pose, m->link_count);
  double(*bar)[3][4] = memory_alloc(sizeof(double[3][4]) * (size_t)m->link_count);
  memset(bar, 0, sizeof(double[3][4]) * (size_t)m->link_count);
  model_poses(m, q, pose);
  closure_adjoint_start(a->closures, m, pose, bar, gradient);
  closure_adjoint_offsets(a->closures, m, q, NULL, gradient);
  step_adjoint_compose(a, pose, bar);
  step_adjoint_frames(a, pose, gradient);
  memory_free(bar);
  memory_free(pose);
}

/* Adds the derivatives of a scalar with respect to a joint's coordinates q and velocities v to q_bar and v_bar. bar:
 * the derivatives with respect to the increments of the coordinates one step of length dt before q. */
static void extrapolation_adjoint(const Joint* joint, const double* v, double dt, const double* bar, double* q_bar,
                                  double* v_bar) {
  int first = joint->scalar_count;
  for (int k = 0; k < first; k++) {
    q_bar[k] += bar[k];
    v_bar[k] -= dt * bar[k];
  }
  if (!joint->quaternion) return;
  Vec3 back = vec3_scale(vec3_at(v + first), -dt), by = vec3_at(bar + first);
  Vec3 by_q = mat3_mul_vec(mat3_from_quat(quat_exp(back)), by), by_v = rotation_rate(vec3_scale(back, -1), by);
  for (int k = 0; k < 3; k++) {
    const double turned[3] = {by_q.x, by_q.y, by_q.z}, rate[3] = {by_v.x, by_v.y, by_v.z};
    q_bar[first + k] += turned[k];
    v_bar[first + k] -= dt * rate[k];
  }
}

void step_adjoint_before_start(StepAdjoint* a, const double* q, StateBar before, double* q_bar,
                               ModelGradient* gradient) {
  const Model* m = a->model;
  double *q_old = MEMORY_NEW(double, m->coordinate_count), *difference = MEMORY_NEW(double, m->dof_count);
  Pose* pose_old = MEMORY_NEW(Pose, m->link_count);
  double dt = simulation_substep_length(&m->simulation);
  sim_coordinates_before_start(m, q, dt, difference, q_old);
  model_poses(m, q_old, pose_old);
  model_screws(m, q_old, pose_old, a->sim->assembly.screws);
  step_adjoint_compose(a, pose_old, before.pose);
  step_adjoint_reduce(a, pose_old, a->sim->assembly.screws, before.q);
  step_adjoint_frames(a, pose_old, gradient);
  for (int i = 0; i < m->link_count; i++) {
    int dof = m->links[i].dof_first;
    extrapolation_adjoint(&m->links[i].joint, m->initial_velocities + dof, dt, before.q + dof, q_bar + dof,
                          gradient->velocities + dof);
  }
  memory_free(q_old);
  memory_free(difference);
  memory_free(pose_old);
}

void step_adjoint_start(StepAdjoint* a, const double* q, const Pose* pose, StateBar first, const double* rate,
                        ModelGradient* gradient) {
  const Model* m = a->model;
  if (m->start) {
    step_adjoint_spring_thetas(a, gradient);
    return;
  }
  model_screws(m, q, pose, a->sim->assembly.screws);
  for (int k = 0; k < m->dof_count; k++) {
    gradient->coordinates[k] += first.q[k];
    gradient->velocities[k] += rate[k];
  }
  spin_adjoint_start(a->spin, a->sim, pose, first, gradient);
  if (m->closure_coordinates) {
    closure_coordinates_adjoint(a, m->closure_coordinates, gradient);
  } else {
    closure_adjoint_start(a->closures, m, pose, first.pose, gradient);
    closure_adjoint_offsets(a->closures, m, q, gradient->coordinates, gradient);
  }
  step_adjoint_compose(a, pose, first.pose);
  step_adjoint_reduce(a, pose, a->sim->assembly.screws, gradient->coordinates);
  step_adjoint_frames(a, pose, gradient);
  step_adjoint_rates(a, pose, a->sim->assembly.screws, a->rate_bar, gradient->coordinates, m->initial_velocities,
                     gradient->velocities, gradient);
  step_adjoint_spring_thetas(a, gradient);
  prescribed_start_adjoint(a, gradient);
}

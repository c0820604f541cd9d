/* Prepares the objective of the step from t to t + dt: the predicted positions to which inertia pulls the links
 * (targets), and the factors of the terms (weights) (docs/derivations/step.md, S2-S4). */
#include <assert.h>
#include <string.h>

#include "simulate/target_rounding.h"
#include "simulate/bushings.h"
#include "simulate/feedback.h"
#include "simulate/fluid.h"
#include "simulate/internal_forces.h"
#include "simulate/roll_shift.h"
#include "simulate/spin.h"
#include "simulate/stops.h"
#include "simulate/tendons.h"
#include "simulate/tree_flight.h"

/* Sets weight to the weights of four states in the second derivative at time 0 of the cubic through them. The states
 * are those at the times 0, -1, -b and -c, in units of the present step. The weights are L_i''(0) of the Lagrange
 * polynomials. b = 2, c = 3 gives 2, -5, 4, -1 (Houbolt) (S13). */
static void cubic_weights(double b, double c, double weight[4]) {
  weight[0] = 2 * (1 + b + c) / (b * c);
  weight[1] = -2 * (b + c) / ((b - 1) * (c - 1));
  weight[2] = 2 * (1 + c) / (b * (b - 1) * (c - b));
  weight[3] = -2 * (1 + b) / (c * (c - 1) * (c - b));
}

/* Returns the weights of the first-order scheme, whose acceleration is ((x+ - x)/dt - (x - x-)/dt_before) / dt (SDRS
 * Eq. 2). */
static StepWeights first_order_weights(const StepClock* clock) {
  double dt = clock->dt;
  if (!(clock->dt_before > 0)) return (StepWeights){1, 1, 0, 0, 1, 1 / dt, 0};
  double ratio = dt / clock->dt_before;
  return (StepWeights){1, 1 + ratio, -ratio, 0, 0, 1 / dt, 0};
}

/* Returns the weights of the second-order scheme: the acceleration is the second derivative of a cubic through four
 * states, the rate is the first derivative of a quadratic through three. States before t = 0 follow from the initial
 * velocity v (S3). Step 1: 2 (x+ - x - dt v). Step 2: x-- = x - 2 dt_before v by the central difference, with x the
 * state after step 1. */
static StepWeights second_order_weights(const StepClock* clock) {
  double dt = clock->dt, before = clock->dt_before;
  if (!(before > 0)) return (StepWeights){2, 1, 0, 0, 1, 1 / dt, 0};
  bool second = !(clock->dt_older > 0);
  double b = 1 + before / dt, c = b + (second ? before : clock->dt_older) / dt, weight[4];
  cubic_weights(b, c, weight);
  double now = -weight[1] / weight[0], old = -weight[2] / weight[0], older = -weight[3] / weight[0];
  double rate_now = (1 + 1 / b) / dt, rate_old = 1 / b / before;
  if (!second) return (StepWeights){weight[0], now, old, older, 0, rate_now, rate_old};
  return (StepWeights){weight[0], now + older, old, 0, -2 * older * (before / dt), rate_now, rate_old};
}

/* Returns the weights for steps of unequal length. The force at t acts from the middle of the previous step to the
 * middle of this step (S15). */
static StepWeights unequal_step_weights(const StepClock* clock) {
  StepWeights w = first_order_weights(clock);
  if (clock->dt_before > 0) w.factor = 2 * clock->dt / (clock->dt + clock->dt_before);
  return w;
}

StepWeights step_weights(Integrator integrator, const StepClock* clock) {
  bool second = integrator == INTEGRATOR_SECOND_ORDER;
  bool uneven = clock->kind != STEP_FREE;
  if (second && !uneven) return second_order_weights(clock);
  /* weights of the integrators first_order and momentum. Under momentum, spin_set_targets replaces the rotations of
   * free bodies, and tree_flight_set_targets replaces the targets of trees */
  StepWeights w = uneven ? unequal_step_weights(clock) : first_order_weights(clock);
  /* the initial velocity belongs to t = 0, half a step before the middle of the first step (S3) */
  if (integrator == INTEGRATOR_MOMENTUM && !(clock->dt_before > 0)) w.factor = 2;
  return w;
}

double step_force_time(Integrator integrator, const StepClock* clock) {
  assert(clock->dt > 0);
  bool cubic = integrator == INTEGRATOR_SECOND_ORDER && clock->kind == STEP_FREE;
  return cubic ? clock->dt : clock->dt / step_weights(integrator, clock).factor;
}

double step_force_ratio(Integrator integrator, const StepClock* clock) {
  if (!(clock->dt_before > 0)) return 1;
  const StepClock before = {.dt = clock->dt_before, .dt_before = clock->dt_older, .kind = clock->kind_before};
  return step_force_time(integrator, &before) / step_force_time(integrator, clock);
}

/* Returns last (now - old) + before (old - older) + by_rate rate, entry by entry. Differences of neighbouring states
 * are exact; weighted sums of states would lose digits if consecutive steps have very different lengths. */
static Pose weighted_displacement(Pose now, double last, Pose old, double before, Pose older, double by_rate,
                                  Pose rate) {
  Pose out;
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++)
      out.r.m[i][j] = last * (now.r.m[i][j] - old.r.m[i][j]) + before * (old.r.m[i][j] - older.r.m[i][j]) +
                      by_rate * rate.r.m[i][j];
  Vec3 change = vec3_add_scaled(vec3_scale(vec3_sub(now.t, old.t), last), before, vec3_sub(old.t, older.t));
  out.t = vec3_add_scaled(change, by_rate, rate.t);
  return out;
}

/* Returns the displacement of a link from its pose at t to its target without gravity. */
static Pose link_displacement(const Sim* s, int link) {
  StepWeights w = s->weights;
  return weighted_displacement(
      s->pose_now[link], -w.y_old - w.y_older, s->pose_old[link], -w.y_older, s->pose_older[link],
      w.y_rate * s->clock.dt,
      s->pose_rate[link]); /* differences suffice, because the weights y_now, y_old and y_older add up to 1 */
}

static Vec3 gravity_displacement(const Sim* s, int link) {
  return vec3_scale(model_link_gravity(s->model, link), s->clock.dt * s->clock.dt / s->weights.factor);
}

static void set_link_targets(Sim* s) {
  for (int i = 0; i < s->model->link_count; i++) {
    Pose displacement = link_displacement(s, i), now = s->pose_now[i];
    s->target[i] =
        (Pose){mat3_add(now.r, displacement.r), vec3_add(vec3_add(now.t, displacement.t), gravity_displacement(s, i))};
  }
}

Vec3 target_rounding_error(const Sim* s, int link) {
  Pose displacement = link_displacement(s, link), now = s->pose_now[link], target = s->target[link];
  if (tree_flight_has_target(s->flight, &s->model->links[link])) return vec3(0, 0, 0);
  Vec3 center = s->model->links[link].center, exact = vec3_add(displacement.t, gravity_displacement(s, link));
  Vec3 turned = mat3_mul_vec(mat3_sub(displacement.r, mat3_sub(target.r, now.r)), center);
  return vec3_add(turned, vec3_sub(exact, vec3_sub(target.t, now.t)));
}

static void set_drive_input(const Sim* s, int controller, JointDrive* drive) {
  const Model* m = s->model;
  const ModelController* c = &m->controllers[controller];
  const Joint* joint = &m->links[c->link].joint;
  DriveInput in;
  controller_input(s, controller, &in);
  if (c->feedback_first >= 0)
    memcpy(s->feedback + c->feedback_first, in.feedback, sizeof(double) * (size_t)joint->dof_count);
  *drive = (JointDrive){.target = {0}};
  joint_zero(joint, drive->target);
  if (c->type == CONTROLLER_TORQUE) memcpy(drive->push, in.value, sizeof(double) * (size_t)joint->dof_count);
  if (c->type == CONTROLLER_VELOCITY) memcpy(drive->target_rate, in.value, sizeof(double) * (size_t)joint->dof_count);
  if (c->type == CONTROLLER_PD) {
    joint_coordinates_from_target(joint, in.value, drive->target);
    joint_rates_from_target(joint, in.at_rate, in.rate, drive->target_rate);
  }
  memcpy(drive->position_gain, c->position_gain, sizeof(drive->position_gain));
  memcpy(drive->velocity_gain, c->velocity_gain, sizeof(drive->velocity_gain));
  memcpy(drive->damping_gain, c->damping_gain, sizeof(drive->damping_gain));
  memcpy(drive->max_force, c->max_force, sizeof(drive->max_force));
  drive->limit_width = c->limit_width;
}

/* Sets s->rate_before, the rates at which dampers act in part (drives.md, M12). */
static void set_rates_before(Sim* s) {
  bool first = !(s->clock.dt_before > 0);
  for (int d = 0; d < s->model->dof_count; d++)
    s->rate_before[d] = first ? s->start_rate[d] : s->difference_old[d] / s->clock.dt_before;
}

/* Sets s->armature_target, the predicted increments of the joint coordinates with armature (M6). */
static void set_armature_targets(Sim* s) {
  const Model* m = s->model;
  for (int i = 0; s->armature_target && i < m->link_count; i++)
    for (int k = 0; k < m->links[i].joint.scalar_count; k++) {
      int dof = m->links[i].dof_first + k, q = m->links[i].coordinate_first + k;
      s->armature_target[dof] = armature_aim(&s->weights, s->clock.dt, s->difference_old[dof],
                                             s->q_old[q] - s->q_older[q], s->start_rate[dof]);
    }
}

static void set_joint_inputs(Sim* s, double t) {
  const Model* m = s->model;
  for (int i = 0; i < m->link_count; i++) {
    const ModelLink* link = &m->links[i];
    JointDrive* drive = s->drive_list.drives + s->drive_list.first[i];
    if (s->drive_list.first[i + 1] > s->drive_list.first[i])
      for (int c = 0; c < m->controller_count; c++)
        if (m->controllers[c].link == i && m->controllers[c].type != CONTROLLER_PRESCRIBED)
          set_drive_input(s, c, drive++);
    if (link->prescribed < 0) continue;
    double value[JOINT_MAX_DOF], rate[JOINT_MAX_DOF];
    signal_eval(&m->controllers[link->prescribed].target, t, value, rate);
    joint_coordinates_from_target(&link->joint, value, s->prescribed_joints.target + link->coordinate_first);
  }
}

void step_prepare(Sim* s) {
  assert(s->clock.dt > 0);
  block_solver_keep_orders(s->solver);
  s->weights = step_weights(s->model->simulation.integrator, &s->clock);
  set_link_targets(s);
  spin_set_targets(s);
  set_rates_before(s);
  set_joint_inputs(s, s->clock.time);
  set_armature_targets(s);
  loads_prepare_step(s);
  tendons_prepare_step(s);
  bushings_prepare_step(s);
  internal_forces_prepare_step(s);
  tree_flight_set_targets(s);
  roll_shifts_compute(s);
  stops_prepare_substep(s);
  fluid_prepare_step(s);
  Configuration* c = &s->configuration[s->current];
  memcpy(c->q, s->q_now, sizeof(double) * (size_t)s->model->coordinate_count);
  memcpy(c->pose, s->pose_now, sizeof(Pose) * (size_t)s->model->link_count);
}

/* Derivatives of a recorded step with respect to earlier states and the model, term by term: the adjoint solution
 * lambda times the derivatives of the step's equations F (docs/derivations/adjoint.md, A1, A10, A13). */
#include <string.h>

#include "contact/step.h"
#include "simulate/bushings.h"
#include "simulate/delay.h"
#include "simulate/fluid.h"
#include "simulate/internal_forces.h"
#include "simulate/loads.h"
#include "simulate/roll_shift.h"
#include "simulate/step_adjoint.h"
#include "simulate/tendons.h"

/* Adds the derivatives of a scalar with respect to the gains of a drive and the input of the drive, that is, its signal
 * and the measured state. */
static void drive_adjoint(StepAdjoint* a, int controller, int drive, const FeedbackBars* out) {
  const ModelController* c = &a->model->controllers[controller];
  int dof = a->model->links[c->link].dof_count;
  DriveInput in, bar = {.value = {0}};
  double* gains = out->gradient->gains + c->gain_first + 1;
  for (int kind = 0; kind < JOINT_GAIN_KINDS; kind++)
    for (int k = 0; k < dof; k++) gains[kind * dof + k] += a->gains[drive][kind][k];
  if (c->type == CONTROLLER_PD) {
    const Joint* joint = &a->model->links[c->link].joint;
    double zero[JOINT_MAX_DOF] = {0}, unused[JOINT_MAX_DOF] = {0};
    controller_input(a->sim, controller, &in);
    joint_target_adjoint(joint, in.value, in.rate, a->target[drive], zero, bar.value, unused);
    joint_target_adjoint(joint, in.at_rate, in.rate, zero, a->target_rate[drive], bar.at_rate, bar.rate);
  } else
    memcpy(bar.value, c->type == CONTROLLER_TORQUE ? a->push[drive] : a->target_rate[drive], sizeof(bar.value));
  controller_input_adjoint(a->sim, controller, &bar, out);
}

static void add_scaled_bar(double to[3][4], double factor, const double from[3][4]) {
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 4; j++) to[i][j] += factor * from[i][j];
}

/* Sets motion[links] to the directional derivatives along lambda of the rotation matrix and position of every link at t
 * + dt. */
static void compute_pose_changes(StepAdjoint* a, const RecordedStep* step) {
  for (int i = 0; i < a->model->link_count; i++) {
    if (a->model->links[i].tree < 0) continue;
    Twist t = twist_from_array(a->twist[i]);
    Mat3 turn = mat3_mul(mat3_cross(t.w), step->pose_next[i].r);
    Vec3 v = vec3_add(t.v, vec3_cross(t.w, vec3_sub(step->pose_next[i].t, a->sim->assembly.reference[i])));
    double motion[3][4] = {{turn.m[0][0], turn.m[0][1], turn.m[0][2], v.x},
                           {turn.m[1][0], turn.m[1][1], turn.m[1][2], v.y},
                           {turn.m[2][0], turn.m[2][1], turn.m[2][2], v.z}};
    memcpy(a->motion[i], motion, sizeof(motion));
  }
}

/* Adds the contribution of inertia and of the links' targets to the derivatives of lambda . F with respect to earlier
 * poses, gravity and masses. Call after contact_adjoint_without_end_state, which sets expected_bar. */
static void inertia_and_target_adjoint(StepAdjoint* a, const RecordedStep* step, StateBar now, StateBar old,
                                       StateBar older, ModelGradient* gradient) {
  const Sim* s = a->sim;
  double weight = step_inertia_weight(s);
  if (a->aim_bar) memset(a->aim_bar, 0, sizeof(double[3][4]) * (size_t)a->model->link_count);
  for (int i = 0; i < a->model->link_count; i++) {
    const ModelLink* link = &a->model->links[i];
    double target_bar[3][4] = {{0}};
    bool heavy = link->tree >= 0 && link->mass > 0;
    if (heavy) {
      inertia_adjoint(link, step->pose_next[i], s->target[i], weight, a->motion[i], target_bar, &gradient->moment[i]);
      a->rounding += inertia_rounding(link, step->pose_next[i], weight, (const double(*)[4])a->motion[i]);
    }
    if (a->replay) add_scaled_bar(target_bar, 1, (const double(*)[4])a->expected_bar[i]);
    if (a->aim_bar && tree_flight_has_target(s->flight, link)) {
      memcpy(a->aim_bar[i], target_bar, sizeof(target_bar));
      continue;
    }
    Vec3 v = twist_from_array(a->twist[i]).v; /* gravity acts at the centre of mass, which moves by v */
    if (heavy)
      gradient->gravity = vec3_add_scaled(gradient->gravity, -link->mass * (1 - link->gravity_compensation), v);
    spin_adjoint_target(a->spin, s, i, target_bar, now, gradient);
    add_scaled_bar(now.pose[i], s->weights.y_now, target_bar);
    if (s->weights.y_old != 0) add_scaled_bar(old.pose[i], s->weights.y_old, target_bar);
    if (s->weights.y_older != 0) add_scaled_bar(older.pose[i], s->weights.y_older, target_bar);
    if (s->weights.y_rate != 0) add_scaled_bar(a->rate_bar[i], s->weights.y_rate * s->clock.dt, target_bar);
  }
}

/* Adds the derivatives of a scalar with respect to coordinates and initial velocities, through the displacements that
 * armature inertia alone predicts (armature_aim, M6). aim[dof]: derivatives of the scalar with respect to these
 * displacements. */
static void armature_adjoint(const Sim* s, const ModelLink* link, const double* aim, StateBar now, StateBar old,
                             StateBar older, ModelGradient* gradient) {
  const StepWeights* w = &s->weights;
  for (int k = 0; k < link->joint.scalar_count; k++) {
    int dof = link->dof_first + k;
    double first = aim[k] * (-w->y_old - w->y_older), second = aim[k] * -w->y_older;
    now.q[dof] += first;
    old.q[dof] += second - first;
    older.q[dof] -= second;
    gradient->velocities[dof] += aim[k] * w->y_rate * s->clock.dt;
  }
}

/* Returns true if derivatives with respect to the joint's parameters are needed. They are not needed for a free joint
 * that has no damping, spring, dry friction or armature. */
static bool has_parameters(const ModelLink* link) {
  bool damped = link->passive || link->joint.dof_count < 6;
  for (int k = 0; k < link->dof_count; k++) damped = damped || link->damping[k] > 0;
  return damped;
}

/* Continues the derivatives of a scalar with respect to the input of joint i's terms to earlier states and drives. */
static void joint_input_adjoint(StepAdjoint* a, const RecordedStep* step, int i, const JointInput* in,
                                JointBars* shares, StateBar older, const FeedbackBars* bars) {
  const Sim* s = a->sim;
  const Model* m = a->model;
  const ModelLink* link = &m->links[i];
  double *now = bars->now.q, *old = bars->old.q;
  SpringTimeWeights by_theta = step_spring_time_weights_derivative(s, i);
  bars->gradient->thetas[i] += spring_time_dot(&shares->spring, &by_theta);
  bars->gradient->thetas[model_theta_index(m, THETA_JOINT_DAMPER, i)] += shares->damper_theta;
  for (int k = 0; k < link->dof_count; k++) {
    if (s->clock.dt_before > 0) shares->difference_old[k] += shares->rate_before[k] / s->clock.dt_before;
    if (!(s->clock.dt_before > 0)) bars->gradient->velocities[link->dof_first + k] += shares->rate_before[k];
  }
  for (int k = 0; k < link->dof_count; k++) now[link->dof_first + k] += shares->now[k];
  joint_difference_adjoint(&link->joint, step->q_old + link->coordinate_first, step->q_now + link->coordinate_first,
                           shares->difference_old, old + link->dof_first, now + link->dof_first);
  if (s->armature_target && link->passive)
    armature_adjoint(s, link, shares->aim, bars->now, bars->old, older, bars->gradient);
  int drive = 0;
  for (int c = 0; c < m->controller_count && drive < in->drive_count; c++)
    if (m->controllers[c].link == i && m->controllers[c].type != CONTROLLER_PRESCRIBED) {
      drive_adjoint(a, c, drive, bars);
      drive++;
    }
}

/* Returns the derivatives with respect to the input of a joint's terms, which need their arrays to be set. */
static JointBars new_joint_bars(const StepAdjoint* a) {
  return (JointBars){.target = a->target, .target_rate = a->target_rate, .push = a->push, .gains = a->gains};
}

/* Adds the derivatives of lambda . (gradient of the energy of joint i) with respect to earlier states, drives and the
 * joint's parameters. lambda[dof]. */
static void joint_terms_adjoint(StepAdjoint* a, const RecordedStep* step, int i, const JointInput* in,
                                const double* lambda, StateBar older, const FeedbackBars* bars) {
  const ModelLink* link = &a->model->links[i];
  JointBars shares = new_joint_bars(a);
  joint_adjoint(in, lambda, &shares);
  if (has_parameters(link)) joint_own_adjoint(in, lambda, bars->gradient->joint + link->dof_first);
  joint_input_adjoint(a, step, i, in, &shares, older, bars);
}

/* Clears the derivatives with respect to the torques of ball joints, which internal_forces_adjoint adds up. */
static void ball_torques_begin(const Sim* s) {
  InternalForces* f = s->internal_forces;
  for (int i = 0; f && i < s->model->link_count; i++) f->ball_now_bar[i] = f->ball_ahead_bar[i] = vec3(0, 0, 0);
}

/* Adds the derivatives through the torques of ball joints at t (loads.md, L25). Call after all terms with loads. */
static void ball_torques_adjoint(StepAdjoint* a, const RecordedStep* step, StateBar older, const FeedbackBars* bars) {
  const Sim* s = a->sim;
  const InternalForces* f = s->internal_forces;
  for (int i = 0; f && i < a->model->link_count; i++) {
    const ModelLink* link = &a->model->links[i];
    if (!f->has_ball_torque[i] || !f->ball[i].acts) continue;
    JointInput in = step_joint_input(s, &s->configuration[s->current], i);
    JointBars shares = new_joint_bars(a);
    double now[3], ahead[3];
    for (int c = 0; c < in.drive_count; c++) {
      memset(shares.target[c], 0, sizeof(shares.target[c]));
      memset(shares.target_rate[c], 0, sizeof(shares.target_rate[c]));
      memset(shares.push[c], 0, sizeof(shares.push[c]));
      memset(shares.gains[c], 0, sizeof(shares.gains[c]));
    }
    vec3_store(f->ball_now_bar[i], now);
    vec3_store(f->ball_ahead_bar[i], ahead);
    bars->gradient->thetas[i] += ball_start_adjoint(&in, now, ahead, &shares, bars->gradient->joint + link->dof_first);
    joint_input_adjoint(a, step, i, &in, &shares, older, bars);
  }
}

static void joints_adjoint(StepAdjoint* a, const RecordedStep* step, StateBar older, const FeedbackBars* bars) {
  const Sim* s = a->sim;
  for (int i = 0; i < a->model->link_count; i++) {
    const ModelLink* link = &a->model->links[i];
    if (link->dof_count == 0) continue;
    JointInput in = step_joint_input(s, &s->configuration[s->current], i);
    joint_terms_adjoint(a, step, i, &in, a->lambda + link->dof_first, older, bars);
  }
}

/* The target poses of trees in free flight contain joint forces (spin.md, W51). Adds the derivatives of a scalar
 * through these forces with respect to earlier states, drives and joint parameters. Call after tree_flight_adjoint,
 * which stores its multiplier mu in a->product. */
static void target_joint_forces_adjoint(StepAdjoint* a, const RecordedStep* step, StateBar older,
                                        const FeedbackBars* bars) {
  const Sim* s = a->sim;
  for (int i = 0; s->flight && i < a->model->link_count; i++) {
    const ModelLink* link = &a->model->links[i];
    if (!flight_joint_forces(s->flight, link) || !s->flight->has_joint_forces[i]) continue;
    JointInput in = flight_joint_input(s, i);
    double by[JOINT_MAX_DOF] = {0};
    for (int k = 0; k < link->joint.scalar_count; k++)
      by[k] = -a->lambda[link->dof_first + k] - s->flight->gravity_time * a->product[link->dof_first + k];
    joint_terms_adjoint(a, step, i, &in, by, older, bars);
  }
}

/* Adds the derivatives of lambda . F with respect to rotations of joint frames. First adds the change of the inertial
 * wrenches by lambda to a->wrench, which holds the change of all other wrenches. */
static void frame_rotations_adjoint(StepAdjoint* a, const RecordedStep* step, ModelGradient* gradient) {
  if (gradient->without_turns) return;
  const Model* m = a->model;
  const Sim* s = a->sim;
  double weight = step_inertia_weight(s);
  for (int i = 0; i < m->link_count; i++) {
    const ModelLink* link = &m->links[i];
    a->turn_moment[i] = s->assembly.terms[i].moment;
    vec3_store(a->bar_force[i], a->wrench[i] + 3);
    if (link->tree < 0 || !(link->mass > 0)) continue;
    Mat3 r = step->pose_next[i].r;
    Vec3 spin = mat3_tmul_vec(r, twist_from_array(a->twist[i]).w);
    Vec3 torque = mat3_mul_vec(r, mat3_mul_vec(mass_moment_inertia_tensor(&link->moment), spin));
    vec3_store(vec3_add_scaled(vec3_at(a->wrench[i]), weight, torque), a->wrench[i]);
  }
  FrameRotationInput motion = {s->assembly.reference,
                               a->turn_moment,
                               a->force,
                               a->lambda,
                               s->assembly.screws,
                               (const double(*)[6])a->twist,
                               (const double(*)[6])a->wrench};
  step_adjoint_frame_rotations_of_motion(a, step->pose_next, &motion, gradient);
}

/* Adds the derivatives of lambda . F with respect to the positions of joints in their parents (A10). The derivative is
 * the change, by lambda, of the force on the link and its descendants in the parent's axes. */
static void frame_positions_adjoint(StepAdjoint* a, const RecordedStep* step, ModelGradient* gradient) {
  const Model* m = a->model;
  const Sim* s = a->sim;
  double weight = step_inertia_weight(s);
  memset(a->wrench, 0, sizeof(double[6]) * (size_t)m->link_count);
  ContactField field = step_adjoint_field(a->twist, NULL, NULL);
  if (a->replay) contact_replay_product(a->replay, &field, a->wrench);
  for (int i = 0; i < m->link_count; i++)
    for (int k = 0; k < 6; k++) a->wrench[i][k] += a->slip_wrench[i][k];
  closure_adjoint_hessian_product(a->closures, s, (const double(*)[6])a->twist, a->wrench);
  tendons_hessian_product(s->tendons, (const double(*)[6])a->twist, a->wrench);
  bushings_hessian_product(s->bushings, (const double(*)[6])a->twist, a->wrench);
  fluid_hessian_product(s, (const double(*)[6])a->twist, a->wrench);
  for (int i = 0; i < m->link_count; i++) {
    Twist change = twist_from_array(a->wrench[i]), multiplier = twist_from_array(a->twist[i]);
    a->bar_force[i] =
        m->links[i].tree < 0 ? change.v : vec3_add_scaled(change.v, weight * m->links[i].mass, multiplier.v);
    a->force[i] =
        s->assembly.terms[i].force; /* force on the link and its descendants; parents that cannot move do not rotate */
  }
  frame_rotations_adjoint(a, step, gradient);
  for (int i = m->link_count - 1; i >= 0; i--) {
    int up = m->links[i].parent;
    if (up < 0) continue;
    a->bar_force[up] = vec3_add(a->bar_force[up], a->bar_force[i]);
  }
  for (int i = 0; i < m->link_count; i++) {
    int up = m->links[i].parent;
    if (up >= 0) a->bar_force[i] = vec3_add(a->bar_force[i], vec3_cross(a->force[i], twist_from_array(a->twist[up]).w));
  }
  step_adjoint_frame_positions(a, step->pose_next, a->bar_force, gradient);
}

/* Adds the derivatives of contact with respect to everything except the state at t + dt of moving bodies. Half-spaces
 * at t + dt are included: their poses follow from signals and attachments, so this function converts their derivatives
 * to derivatives with respect to these (A13). */
static void contact_adjoint_without_end_state(StepAdjoint* a, const RecordedStep* step, const ForceSlopes* force,
                                              StateBar now, ModelGradient* gradient) {
  const Model* m = a->model;
  if (!a->replay) return;
  ContactField field = step_adjoint_field(a->twist, force, step_adjoint_pair_slopes(a));
  memset(a->ground_bar, 0, sizeof(double[3][4]) * (size_t)m->link_count);
  memset(a->expected_bar, 0, sizeof(double[3][4]) * (size_t)m->link_count);
  if (a->shift_bar) memset(a->shift_bar, 0, sizeof(RollShift) * (size_t)m->link_count);
  contact_replay_set_work_bars(a->replay, spin_adjoint_work_bars(a->spin));
  contact_replay_adjoint(a->replay, &field, now.pose, a->ground_bar, gradient);
  contact_replay_set_work_bars(a->replay, NULL);
  roll_shifts_adjoint(a, now, gradient);
  step_adjoint_compose(a, step->pose_next, a->ground_bar);
  step_adjoint_frames(a, step->pose_next, gradient);
  if (a->sim->prescribed_joints.count == 0) return;
  memset(a->product, 0, sizeof(double) * (size_t)m->dof_count);
  step_adjoint_reduce(a, step->pose_next, a->sim->assembly.screws, a->product);
  step_adjoint_prescribed(a, a->product, step->clock.time, gradient);
  step_lengths_prescribed(a, a->product, step->clock.time);
}

void step_adjoint_distribute(StepAdjoint* a, const RecordedStep* step, const ForceSlopes* force, StateBar now,
                             StateBar old, StateBar older, ModelGradient* gradient) {
  Sim* s = a->sim;
  step_adjoint_twists(a->model, s->assembly.screws, s->assembly.reference, a->lambda, a->twist);
  reaction_adjoint_add(a);
  compute_pose_changes(a, step);
  ball_torques_begin(s);
  contact_adjoint_without_end_state(a, step, force, now, gradient);
  inertia_and_target_adjoint(a, step, now, old, older, gradient);
  loads_adjoint(s, (const double(*)[3][4])a->motion, now, old, a->rate_bar, gradient);
  tendons_adjoint(s, a->lambda, (const double(*)[3][4])a->motion, now, old, gradient);
  bushings_adjoint(s, (const double(*)[6])a->twist, now, old, older, gradient);
  fluid_adjoint(s, (const double(*)[3][4])a->motion, now, old, a->rate_bar, gradient);
  closure_adjoint_numbers(a->closures, s, a->lambda, (const double(*)[3][4])a->motion, step->q_next);
  const FeedbackBars bars = {now, old, a->rate_bar, a->contact_force, gradient, a->pending_delays};
  joints_adjoint(a, step, older, &bars);
  feedback_adjoint(s, force ? force->feedback : NULL, &bars);
  if (a->reacts) step_adjoint_twists(a->model, s->assembly.screws, s->assembly.reference, a->lambda, a->twist);
  frame_positions_adjoint(a, step, gradient);
  tree_flight_adjoint(a, step, now, old, gradient);
  target_joint_forces_adjoint(a, step, older, &bars);
  ball_torques_adjoint(a, step, older, &bars);
  a->lengths->delay_bars = delay_pending_propagate(a->pending_delays, s, &bars);
}

/* Adjoint of a recorded step (docs/derivations/adjoint.md). A Sim without contact evaluates the terms of the step; a
 * ContactReplay evaluates its contact pairs. */
#include <assert.h>
#include <string.h>

#include "contact/step.h"
#include "simulate/delay.h"
#include "simulate/step_adjoint.h"

/* ---------------------------------------------------------------- creation */

StepAdjoint* step_adjoint_create(const Model* model, int threads) {
  StepAdjoint* a = MEMORY_NEW(StepAdjoint, 1);
  size_t links = (size_t)model->link_count;
  a->sim = sim_create_without_contact(model, threads);
  a->sim->replayed.steps = true;
  a->model = model = a->sim->model;
  a->spin = spin_adjoint_create(a->sim);
  a->closures = closure_adjoint_create(a->sim);
  a->lengths = step_lengths_create(model);
  if (model->contact_model != CONTACT_NONE && model->hull_count > 0) a->replay = contact_replay_create(model, threads);
  a->lambda = MEMORY_NEW(double, model->dof_count);
  a->reduced = MEMORY_NEW(double, model->dof_count);
  a->product = MEMORY_NEW(double, model->dof_count);
  a->zero = MEMORY_NEW(double, model->dof_count);
  a->twist = memory_alloc(sizeof(double[6]) * links);
  a->wrench = memory_alloc(sizeof(double[6]) * links);
  a->motion = memory_alloc(sizeof(double[3][4]) * links);
  a->rate_bar = memory_alloc(sizeof(double[3][4]) * links);
  a->ground_bar = memory_alloc(sizeof(double[3][4]) * links);
  a->friction_iteration_bar = memory_alloc(sizeof(double[3][4]) * links);
  a->expected_bar = memory_alloc(sizeof(double[3][4]) * links);
  a->slip_wrench = memory_alloc(sizeof(double[6]) * links);
  a->slip_residual = MEMORY_NEW(double, model->dof_count);
  if (a->replay) contact_replay_set_expected_poses(a->replay, a->sim->target, a->expected_bar);
  if (a->replay && a->sim->shifts) {
    a->shift_bar = MEMORY_NEW(RollShift, links);
    contact_replay_set_shifts(a->replay, a->sim->shifts, a->shift_bar);
  }
  a->solve_bar = (StateBar){memory_alloc(sizeof(double[3][4]) * links), MEMORY_NEW(double, model->dof_count)};
  Vec3** const asides[] = {&a->momentum_aside, &a->stored_contact_force, &a->guess_aside};
  for (int k = 0; k < 3; k++) *asides[k] = MEMORY_NEW(Vec3, links);
  a->force = MEMORY_NEW(Vec3, links);
  a->contact_force = model->feels ? MEMORY_NEW(Vec3, links) : NULL;
  a->contact_force_at_end = model->feels ? MEMORY_NEW(Vec3, links) : NULL;
  a->pending_delays = delay_pending_create(model);
  a->bar_force = MEMORY_NEW(Vec3, links);
  a->bar_moment = MEMORY_NEW(Mat3, links);
  Vec3** const turns[] = {&a->turn_torque, &a->turn_force, &a->turn_curve};
  for (int k = 0; k < 3; k++) *turns[k] = MEMORY_NEW(Vec3, links);
  a->turn_moment = MEMORY_NEW(Mat3, links);
  a->target = memory_alloc(sizeof(double[JOINT_MAX_DOF]) * (size_t)(model->controller_count + 1));
  a->target_rate = memory_alloc(sizeof(double[JOINT_MAX_DOF]) * (size_t)(model->controller_count + 1));
  a->gains = memory_alloc(sizeof(double[JOINT_GAIN_KINDS][JOINT_MAX_DOF]) * (size_t)(model->controller_count + 1));
  a->push = memory_alloc(sizeof(double[JOINT_MAX_DOF]) * (size_t)(model->controller_count + 1));
  if (model->simulation.output & OUTPUT_REACTIONS) {
    a->field = memory_alloc(sizeof(double[6]) * links);
    a->field_now = memory_alloc(sizeof(double[6]) * links);
    a->field_at = MEMORY_NEW(Vec3, links);
    if (a->closures) a->field_rows = MEMORY_NEW(double, a->sim->closures->row_count);
  }
  if (!a->sim->flight) return a;
  a->aim_bar = memory_alloc(sizeof(double[3][4]) * links);
  a->back_bar = memory_alloc(sizeof(double[3][4]) * links);
  a->behind_bar = memory_alloc(sizeof(double[3][4]) * links);
  a->beyond_bar = memory_alloc(sizeof(double[3][4]) * links);
  return a;
}

void step_adjoint_destroy(StepAdjoint* a) {
  if (!a) return;
  sim_destroy(a->sim);
  contact_replay_destroy(a->replay);
  spin_adjoint_destroy(a->spin);
  step_lengths_destroy(a->lengths);
  closure_adjoint_destroy(a->closures);
  delay_pending_destroy(a->pending_delays);
  void* owned[] = {a->lambda,
                   a->reduced,
                   a->product,
                   a->zero,
                   a->twist,
                   a->wrench,
                   a->rate_bar,
                   a->contact_force,
                   a->contact_force_at_end,
                   a->push,
                   a->motion,
                   a->ground_bar,
                   a->force,
                   a->bar_force,
                   a->bar_moment,
                   a->target,
                   a->target_rate,
                   a->gains,
                   a->turn_torque,
                   a->turn_force,
                   a->turn_curve,
                   a->turn_moment,
                   a->aim_bar,
                   a->back_bar,
                   a->beyond_bar,
                   a->field,
                   a->field_now,
                   a->field_at,
                   a->field_rows,
                   a->friction_iteration_bar,
                   a->solve_bar.pose,
                   a->solve_bar.q,
                   a->momentum_aside,
                   a->stored_contact_force,
                   a->guess_aside,
                   a->expected_bar,
                   a->slip_wrench,
                   a->slip_residual,
                   a->behind_bar,
                   a->shift_bar};
  for (size_t k = 0; k < sizeof(owned) / sizeof(owned[0]); k++) memory_free(owned[k]);
  memory_free(a);
}

void step_adjoint_begin(StepAdjoint* a) {
  if (a->replay) contact_replay_begin(a->replay);
  spin_adjoint_begin(a->spin);
  step_lengths_begin(a->lengths);
  closure_adjoint_begin(a->closures, a->sim);
  delay_pending_begin(a->pending_delays);
  memset(a->rate_bar, 0, sizeof(double[3][4]) * (size_t)a->model->link_count);
  if (a->contact_force) memset(a->contact_force, 0, sizeof(Vec3) * (size_t)a->model->link_count);
}

/* ---------------------------------------------------------------- terms of the recorded step */

static void copy_poses(const Model* m, Pose* to, const Pose* from) {
  memcpy(to, from, sizeof(Pose) * (size_t)m->link_count);
}

static void load_history(StepAdjoint* a, const RecordedStep* step) {
  Sim* s = a->sim;
  const Model* m = a->model;
  size_t coordinates = sizeof(double) * (size_t)m->coordinate_count;
  s->clock = step->clock;
  memcpy(s->q_now, step->q_now, coordinates);
  memcpy(s->q_old, step->q_old, coordinates);
  copy_poses(m, s->pose_now, step->pose_now);
  copy_poses(m, s->pose_old, step->pose_old);
  copy_poses(m, s->pose_older, step->pose_older);
  if (s->spin_bodies) memcpy(s->state.momentum, step->momentum_now, sizeof(Vec3) * (size_t)m->link_count);
  if (s->state.contact_force)
    memcpy(s->state.contact_force, step->contact_force_now, sizeof(Vec3) * (size_t)m->link_count);
  if (s->state.delayed) memcpy(s->state.delayed, step->delayed_now, sizeof(double) * 2 * (size_t)m->delayed_count);
  for (int i = 0; i < m->link_count; i++)
    joint_difference(&m->links[i].joint, s->q_old + m->links[i].coordinate_first,
                     s->q_now + m->links[i].coordinate_first, s->difference_old + m->links[i].dof_first);
  if (s->q_older) memcpy(s->q_older, step->q_older, coordinates);
  closure_adjoint_load(s, step->closures_broken, step->closures_joined);
  step_prepare(s);
  Configuration* c = &s->configuration[s->current];
  memcpy(c->q, step->q_next, coordinates);
  copy_poses(m, c->pose, step->pose_next);
}

/* Computes the forces of closures, which the record does not contain, from the balance of all other forces. Then
 * assembles all terms again with these forces. Returns false if the forces cannot be computed. */
static bool compute_closure_forces(Sim* s, ContactTermList contact, Assembly* assembly) {
  bool factored = false;
  double eigenvalue;
  /* any nonsingular matrix gives the same forces: tries the Hessian with curvature, without curvature, and as an
   * indefinite matrix */
  for (int round = 0; round < 3 && !factored; round++) {
    step_extend_pattern(s, contact);
    assemble_hessian(assembly, round != 1, s->solver);
    for (int k = 0; k < s->model->dof_count; k++) s->newton.rhs[k] = s->newton.solution[k] = 0;
    if (s->prescribed_joints.count > 0)
      block_solver_constrain(s->solver, s->prescribed_joints.is_fixed, s->newton.rhs, s->newton.solution);
    factored = round < 2 ? block_solver_factor(s->solver) : block_solver_factor_indefinite(s->solver, &eigenvalue);
  }
  if (!factored) return false;
  if (!closure_adjoint_forces(s)) return false;
  step_assemble_keeping_scales(s, contact, assembly);
  return true;
}

bool step_adjoint_load(StepAdjoint* a, const RecordedStep* step, bool forward, Assembly* assembly) {
  assert(step->clock.dt > 0);
  Sim* s = a->sim;
  load_history(a, step);
  ContactTermList contact = {0};
  if (a->replay) {
    ContactMoment now = {step->pose_now, step->contacts_now, step->contact_count_now, step->number - 1};
    ContactMoment next = {step->pose_next, step->contacts_next, step->contact_count_next, step->number};
    contact_replay_set_dt(a->replay, step->clock.dt);
    const SimSolve* last = step->solve_count > 0 ? &step->solves[step->solve_count - 1] : NULL;
    ContactMoment solve = {0};
    if (last) solve = (ContactMoment){last->pose, last->contacts, last->contact_count, 0};
    contact_replay_set_solve(a->replay, last ? &solve : NULL);
    bool found =
        forward ? contact_replay_load_forward(a->replay, &now, &next) : contact_replay_load(a->replay, &now, &next);
    if (!found) return false;
    contact = contact_replay_terms(a->replay);
  }
  if (!configuration_evaluate(s, &s->configuration[s->current])) return false;
  step_assemble_keeping_scales(s, contact, assembly);
  return step_adjoint_closure_forces(a, assembly);
}

bool step_adjoint_closure_forces(StepAdjoint* a, Assembly* assembly) {
  return !a->sim->closures || compute_closure_forces(a->sim, assembly->contact, assembly);
}

/* ---------------------------------------------------------------- conversions between links and coordinates */

void step_adjoint_compose(StepAdjoint* a, const Pose* pose, double (*bar)[3][4]) {
  pose_bars_sum_forces(a->model, link_span_of_model(a->model), pose, bar, a->bar_force, a->bar_moment);
}

void step_adjoint_reduce(const StepAdjoint* a, const Pose* pose, const Screw* screws, double* reduced) {
  pose_bars_reduce(a->model, link_span_of_model(a->model), pose, screws, a->bar_force, a->bar_moment, reduced);
}

/* Adds the derivatives of a scalar with respect to the attachments of joints. A displacement of the joint in the
 * parent's frame displaces the link and all its descendants. */
void step_adjoint_frame_positions(const StepAdjoint* a, const Pose* pose, const Vec3* force, ModelGradient* gradient) {
  for (int i = 0; i < a->model->link_count; i++) {
    int up = a->model->links[i].parent;
    Vec3 by_position = up < 0 ? force[i] : mat3_tmul_vec(pose[up].r, force[i]);
    gradient->attachments[i] = vec3_add(gradient->attachments[i], by_position);
  }
}

void step_adjoint_twists(const Model* m, const Screw* screws, const Vec3* at, const double* rates, double (*twist)[6]) {
  assert(screws && at && rates && twist);
  for (int i = 0; i < m->link_count; i++) {
    const ModelLink* link = &m->links[i];
    Twist t = {{0, 0, 0}, {0, 0, 0}};
    if (link->parent >= 0) {
      t = twist_from_array(twist[link->parent]);
      t.v = vec3_add(t.v, vec3_cross(t.w, vec3_sub(at[i], at[link->parent])));
    }
    for (int k = link->dof_first; k < link->dof_first + link->dof_count; k++) {
      t.w = vec3_add_scaled(t.w, rates[k], screws[k].w);
      t.v = vec3_add_scaled(t.v, rates[k], screw_velocity(&screws[k], at[i]));
    }
    double out[6] = {t.w.x, t.w.y, t.w.z, t.v.x, t.v.y, t.v.z};
    memcpy(twist[i], out, sizeof(out));
  }
}

void step_adjoint_controller_signal(StepAdjoint* a, int controller, double t, const double* target_bar,
                                    const double* rate_bar, ModelGradient* gradient) {
  assert(controller >= 0 && controller < a->model->controller_count);
  const ModelController* c = &a->model->controllers[controller];
  double value[JOINT_MAX_DOF], rate[JOINT_MAX_DOF], value_bar[JOINT_MAX_DOF] = {0}, value_rate_bar[JOINT_MAX_DOF] = {0};
  signal_eval(&c->target, t, value, rate);
  joint_target_adjoint(&a->model->links[c->link].joint, value, rate, target_bar, rate_bar, value_bar, value_rate_bar);
  signal_eval_vjp(&c->target, t, value_bar, value_rate_bar, gradient->control + c->parameter_first);
}

/* ---------------------------------------------------------------- solution of the adjoint equations */

/* Adds the contribution of the joint rates at t + dt to the derivatives of a scalar with respect to coordinates. The
 * rates are rate_now times the increments from t to t + dt minus rate_old times the increments before. rate[nv]:
 * derivatives of the scalar with respect to these rates. */
static void rates_adjoint(StepAdjoint* a, const RecordedStep* step, const double* rate, StateBar next, StateBar now,
                          StateBar old) {
  const Model* m = a->model;
  for (int i = 0; i < m->link_count; i++) {
    const ModelLink* link = &m->links[i];
    double by_new[JOINT_MAX_DOF], by_old[JOINT_MAX_DOF];
    bool spins = a->sim->spin_bodies &&
                 a->sim->spin_bodies[i].spins; /* angular rates of this link follow from its angular momentum */
    for (int k = 0; k < link->dof_count; k++) {
      if (spins && k >= link->joint.slide_count) {
        by_new[k] = by_old[k] = 0;
        continue;
      }
      by_new[k] = a->sim->weights.rate_now * rate[link->dof_first + k];
      by_old[k] = -a->sim->weights.rate_old * rate[link->dof_first + k];
    }
    const double *q_next = step->q_next + link->coordinate_first, *q_now = step->q_now + link->coordinate_first;
    joint_difference_adjoint(&link->joint, q_now, q_next, by_new, now.q + link->dof_first, next.q + link->dof_first);
    joint_difference_adjoint(&link->joint, step->q_old + link->coordinate_first, q_now, by_old, old.q + link->dof_first,
                             now.q + link->dof_first);
  }
}

/* Returns the array x[count], or NULL if x is NULL or all entries are zero, so that the caller can skip work. */
static const Vec3* null_if_zero(const Vec3* x, size_t count) {
  for (size_t k = 0; x && k < count; k++)
    if (x[k].x != 0 || x[k].y != 0 || x[k].z != 0) return x;
  return NULL;
}

void step_adjoint_forces_to_poses(StepAdjoint* a, const ForceSlopes* force, size_t pairs, const Pose* pose,
                                  double (*bar)[3][4]) {
  assert(pose && bar);
  if (!a->replay) return;
  size_t links = (size_t)a->model->link_count;
  const ContactWork* work_bars = spin_adjoint_work_bars(a->spin);
  if (work_bars) {
    memset(a->wrench, 0, sizeof(double[6]) * links);
    if (contact_replay_add_work_derivatives(a->replay, work_bars, a->wrench))
      step_adjoint_wrenches_to_poses(a, pose, bar);
  }
  ContactField field = step_adjoint_field(NULL, force, step_adjoint_pair_slopes(a));
  field.force = null_if_zero(field.force, links);
  field.pair = null_if_zero(field.pair, pairs);
  if (!field.force && !field.pair && !null_if_zero(field.between.slope, (size_t)field.between.count)) return;
  memset(a->wrench, 0, sizeof(double[6]) * links);
  contact_replay_product(a->replay, &field, a->wrench);
  step_adjoint_wrenches_to_poses(a, pose, bar);
}

bool step_adjoint_carried_loads_to_poses(StepAdjoint* a, const Pose* pose, double (*bar)[3][4]) {
  if (!a->replay) return false;
  memset(a->wrench, 0, sizeof(double[6]) * (size_t)a->model->link_count);
  bool found = contact_replay_add_carried_derivatives(a->replay, a->wrench);
  if (found) step_adjoint_wrenches_to_poses(a, pose, bar);
  return found;
}

void step_adjoint_wrenches_to_poses(const StepAdjoint* a, const Pose* pose, double (*bar)[3][4]) {
  for (int i = 0; i < a->model->link_count; i++) {
    Twist g = twist_from_array(a->wrench[i]); /* torque and force about the centre of mass, converted to derivatives
                                                 with respect to the entries of the pose */
    Vec3 arm = vec3_sub(a->sim->assembly.reference[i], pose[i].t);
    Vec3 torque = vec3_add(g.w, vec3_cross(arm, g.v));
    Mat3 r = mat3_scale(mat3_mul(mat3_cross(torque), pose[i].r), 0.5);
    double v[3] = {g.v.x, g.v.y, g.v.z};
    for (int k = 0; k < 3; k++) {
      for (int j = 0; j < 3; j++) bar[i][k][j] += r.m[k][j];
      bar[i][k][3] += v[k];
    }
  }
}

void step_adjoint_reduce_wrenches(StepAdjoint* a, const RecordedStep* step, const double (*wrench)[6],
                                  double (*bar)[3][4], double* reduced) {
  size_t links = (size_t)a->model->link_count;
  memcpy(a->wrench, wrench, sizeof(double[6]) * links);
  memset(bar, 0, sizeof(double[3][4]) * links);
  step_adjoint_wrenches_to_poses(a, step->pose_next, bar);
  step_adjoint_compose(a, step->pose_next, bar);
  step_adjoint_reduce(a, step->pose_next, a->sim->assembly.screws, reduced);
}

/* Returns the residual of the recorded step: the largest magnitude of a gradient entry of a free degree of freedom. */
static double largest_residual(const Sim* s) {
  double residual = 0;
  for (int k = 0; k < s->model->dof_count; k++)
    if (!s->prescribed_joints.is_fixed[k]) residual = fmax(residual, fabs(s->newton.gradient[k]));
  return residual;
}

/* Assembles the Hessian H of the step's energy. Constrains the fixed degrees of freedom to 0, in H and in right[nv].
 */
static void assemble_constrained(StepAdjoint* a, const Assembly* assembly, double* right) {
  Sim* s = a->sim;
  step_extend_pattern(s, assembly->contact);
  assemble_hessian(assembly, true, s->solver);
  if (s->prescribed_joints.count > 0) block_solver_constrain(s->solver, s->prescribed_joints.is_fixed, a->zero, right);
}

bool step_adjoint_factor(StepAdjoint* a, const Assembly* assembly, double* right, StepAdjointReport* report) {
  assemble_constrained(a, assembly, right);
  if (block_solver_factor(a->sim->solver)) return true;
  assemble_constrained(a, assembly, right);
  report->indefinite = true;
  report->singular = !block_solver_factor_indefinite(a->sim->solver, &report->eigenvalue);
  return !report->singular;
}

/* Returns the derivatives of a scalar with respect to the forces of closure rows (rows), or NULL if there are none. The
 * array belongs to a. */
static const double* closure_force_bars(StepAdjoint* a) {
  if (!a->closures->loaded) return a->reacts ? a->field_rows : NULL;
  for (int row = 0; a->reacts && row < a->sim->closures->row_count; row++)
    a->field_rows[row] += a->closures->by_row[row];
  return a->reacts ? a->field_rows : a->closures->by_row;
}

static bool solve_lambda(StepAdjoint* a, const Assembly* assembly, StepAdjointReport* report) {
  Sim* s = a->sim;
  for (int k = 0; k < a->model->dof_count; k++) a->lambda[k] = -a->reduced[k];
  if (!step_adjoint_factor(a, assembly, a->lambda, report)) return false;
  block_solver_solve(s->solver, a->lambda);
  if (a->closures && !closures_solve(s->closures, s->solver, NULL, s->prescribed_joints.is_fixed, closure_force_bars(a),
                                     a->lambda, a->closures->nu))
    return false;
  for (int k = 0; k < a->model->dof_count; k++) {
    if (!isfinite(a->lambda[k])) return false;
    report->largest_lambda = fmax(report->largest_lambda, fabs(a->lambda[k]));
  }
  return true;
}

void step_adjoint_prescribed(StepAdjoint* a, const double* bar, double t, ModelGradient* gradient) {
  const Model* m = a->model;
  double zero[JOINT_MAX_DOF] = {0};
  for (int i = 0; i < m->link_count; i++)
    if (m->links[i].prescribed >= 0)
      step_adjoint_controller_signal(a, m->links[i].prescribed, t, bar + m->links[i].dof_first, zero, gradient);
}

/* Adds the derivatives of a scalar with respect to prescribed coordinates: reduced plus the Hessian times lambda, the
 * residual of the adjoint equations of these coordinates, which lambda need not satisfy (A11). */
static void prescribed_coordinates_adjoint(StepAdjoint* a, const Assembly* assembly, double t,
                                           ModelGradient* gradient) {
  Sim* s = a->sim;
  if (s->prescribed_joints.count == 0) return;
  assemble_hessian(assembly, true, s->solver);
  block_solver_multiply(s->solver, a->lambda, a->product);
  for (int k = 0; k < a->model->dof_count; k++) a->product[k] += a->reduced[k];
  if (a->closures) closures_add_force(s->closures, a->closures->nu, a->product);
  step_adjoint_prescribed(a, a->product, t, gradient);
  step_lengths_prescribed(a, a->product, t);
}

/* Returns the derivatives with respect to the contact forces at the end of the step. They are the sum of the
 * derivatives of the loss (of_loss; NULL: none) and of drives with feedback, which measure these forces in the next
 * step (feedback.md, E4). */
static ForceSlopes total_force_bars(StepAdjoint* a, const ForceSlopes* of_loss) {
  ForceSlopes sum = of_loss ? *of_loss : (ForceSlopes){0};
  if (!a->contact_force) return sum;
  for (int i = 0; i < a->model->link_count; i++) {
    a->contact_force_at_end[i] = sum.link ? vec3_add(sum.link[i], a->contact_force[i]) : a->contact_force[i];
    a->contact_force[i] = vec3(0, 0, 0);
  }
  sum.link = a->contact_force_at_end;
  return sum;
}

StepAdjointReport step_adjoint_solve(StepAdjoint* a, const RecordedStep* step, StateBar next, const double* rate,
                                     const ForceSlopes* force, StateBar now, StateBar old, StateBar older,
                                     ModelGradient* gradient) {
  StepAdjointReport report = {.sound = false};
  const Model* m = a->model;
  Sim* s = a->sim;
  Assembly assembly;
  if (!step_adjoint_load(a, step, false, &assembly)) {
    report.contact_failed = true;
    return report;
  }
  report.residual = largest_residual(s);
  if (!a->lengths->fixed) closure_adjoint_loads(a->closures, s);
  const ForceSlopes at_end = total_force_bars(a, force);
  if (!step_lengths_compute(a, step, rate, &at_end, &assembly)) {
    report.contact_failed = true;
    return report;
  }
  rates_adjoint(a, step, rate, next, now, old);
  reaction_adjoint_load(a, step, at_end.reaction, next, now);
  spin_adjoint_advance(a->spin, s, step, rate, assembly.contact, next, now, gradient);
  step_adjoint_forces_to_poses(a, &at_end, (size_t)step->contact_count_next, step->pose_next, next.pose);
  (void)step_adjoint_carried_loads_to_poses(a, step->pose_next, next.pose);
  step_adjoint_compose(a, step->pose_next, next.pose);
  memcpy(a->reduced, next.q, sizeof(double) * (size_t)m->dof_count);
  step_adjoint_reduce(a, step->pose_next, s->assembly.screws, a->reduced);
  step_adjoint_frames(a, step->pose_next, gradient);
  if (!solve_lambda(a, &assembly, &report)) return report;
  if (!step_lengths_solve(a, step, &at_end, &assembly, gradient)) {
    report.grazes = true;
    return report;
  }
  prescribed_coordinates_adjoint(a, &assembly, step->clock.time, gradient);
  slip_adjoint(a, step, &assembly, now);
  a->rounding = 0;
  step_adjoint_distribute(a, step, &at_end, now, old, older, gradient);
  friction_iteration_bars(a, step);
  step_lengths_update(a, step);
  if (a->closures) a->closures->loaded = false;
  report.rounding = a->rounding;
  report.sound = true;
  initial_friction_adjoint(a, step, now, old, older, gradient, &report);
  closure_adjoint_join(a->closures, s, step->pose_now, now.pose);
  return report;
}

StepAdjointReport step_adjoint(StepAdjoint* a, const RecordedStep* step, StateBar next, const double* rate,
                               const ForceSlopes* force, StateBar now, StateBar old, StateBar older,
                               ModelGradient* gradient) {
  StepAdjointReport report = step_adjoint_solve(a, step, next, rate, force, now, old, older, gradient);
  friction_iteration_adjoint(a, step, now, old, older, gradient, &report);
  return report;
}

void step_adjoint_discount(StepAdjoint* a, double factor) {
  assert(factor >= 0);
  spin_adjoint_discount(a->spin, factor);
  step_lengths_discount(a->lengths, factor);
  delay_pending_discount(a->pending_delays, factor);
  closure_adjoint_discount(a->closures, a->sim, factor);
  for (int i = 0; a->contact_force && i < a->model->link_count; i++)
    a->contact_force[i] = vec3_scale(a->contact_force[i], factor);
}

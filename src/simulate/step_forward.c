/* Advances the sensitivities of a recorded run with respect to its parameters from step to step
 * (docs/derivations/identify.md, Q1). */
#include <assert.h>
#include <string.h>

#include "simulate/step_forward.h"

/* ---------------------------------------------------------------- creation */

static StateBar bar_create(const Model* model) {
  return (StateBar){memory_alloc(sizeof(double[3][4]) * (size_t)model->link_count),
                    MEMORY_NEW(double, model->dof_count)};
}

StepForward* step_forward_create(const Model* model, int parameters, ForwardChain chain, void* context) {
  assert(model && parameters >= 0 && chain);
  StepForward* f = MEMORY_NEW(StepForward, 1);
  size_t nv = (size_t)model->dof_count, size = nv * (size_t)parameters;
  *f = (StepForward){.model = model, .parameters = parameters, .chain = chain, .context = context};
  f->adjoint = step_adjoint_create(model, 1);
  model_gradient_create(&f->gradient, model);
  for (int k = 0; k < 3; k++) f->bar[k] = bar_create(model);
  for (int k = 0; k < 3; k++) f->screws[k] = MEMORY_NEW(Screw, nv);
  for (int k = 0; k < FORWARD_STATES; k++) f->sensitivity[k] = MEMORY_NEW(double, size);
  f->start = MEMORY_NEW(double, size);
  f->thetas = MEMORY_NEW(double, (size_t)model_theta_count(model) * (size_t)parameters);
  f->rows = MEMORY_NEW(double, size);
  f->slip_rows = MEMORY_NEW(double, size);
  f->column = MEMORY_NEW(double, nv);
  f->right = MEMORY_NEW(double, nv);
  f->solve = MEMORY_NEW(double, size);
  f->solve_screws = MEMORY_NEW(Screw, nv);
  f->start_bar = MEMORY_NEW(double, nv);
  f->start_q = MEMORY_NEW(double, model->coordinate_count);
  f->start_pose = MEMORY_NEW(Pose, model->link_count);
  f->start_screws = MEMORY_NEW(Screw, nv);
  for (int k = 0; k < 3; k++) f->length[k] = MEMORY_NEW(double, parameters);
  f->rates = MEMORY_NEW(double, nv);
  f->by_end = MEMORY_NEW(double, nv);
  f->begin = MEMORY_NEW(double, parameters);
  f->end = MEMORY_NEW(double, parameters);
  f->next_bar = bar_create(model);
  for (int k = 0; f->adjoint->spin && k < 2; k++)
    f->momentum[k] = MEMORY_NEW(double, (size_t)model->link_count * 3 * (size_t)parameters);
  f->next_screws = MEMORY_NEW(Screw, nv);
  if (!f->adjoint->closures) return f;
  size_t closed = (size_t)model->closure_row_count;
  f->start_pose_bar = memory_alloc(sizeof(double[3][4]) * (size_t)model->link_count);
  f->closure_rows = MEMORY_NEW(double, closed*(size_t)parameters);
  f->error_derivative = MEMORY_NEW(double, closed);
  f->change = MEMORY_NEW(double, closed);
  for (int k = 0; f->adjoint->sim->closures->limited && k < 2; k++)
    f->load[k] = MEMORY_NEW(double, (size_t)model->closure_count*(size_t)parameters);
  return f;
}

void step_forward_destroy(StepForward* f) {
  if (!f) return;
  step_adjoint_destroy(f->adjoint);
  model_gradient_destroy(&f->gradient);
  for (int k = 0; k < 3; k++) {
    memory_free(f->bar[k].pose);
    memory_free(f->bar[k].q);
    memory_free(f->screws[k]);
  }
  for (int k = 0; k < FORWARD_STATES; k++) memory_free(f->sensitivity[k]);
  for (int k = 0; k < 3; k++) memory_free(f->length[k]);
  void* owned[] = {f->start,
                   f->carried,
                   f->carried_next,
                   f->carry_row,
                   f->rows,
                   f->slip_rows,
                   f->start_bar,
                   f->start_q,
                   f->start_pose,
                   f->start_screws,
                   f->column,
                   f->start_pose_bar,
                   f->closure_rows,
                   f->error_derivative,
                   f->change,
                   f->closure_pose,
                   f->closure_screws,
                   f->closure_bar,
                   f->friction_limits,
                   f->begin,
                   f->end,
                   f->solve,
                   f->solve_screws,
                   f->right,
                   f->momentum[0],
                   f->momentum[1],
                   f->next_bar.pose,
                   f->next_bar.q,
                   f->thetas,
                   f->rates,
                   f->by_end,
                   f->load[0],
                   f->load[1],
                   f->next_screws};
  for (size_t k = 0; k < sizeof(owned) / sizeof(owned[0]); k++) memory_free(owned[k]);
  memory_free(f);
}

void step_forward_skip_frame_rotations(StepForward* f) { f->gradient.without_turns = true; }

void step_forward_set_closure_coordinates(StepForward* f, const double* q) {
  assert(!f->closure_pose);
  const Model* m = f->model;
  f->closure_q = q;
  f->closure_pose = MEMORY_NEW(Pose, m->link_count);
  f->closure_screws = MEMORY_NEW(Screw, m->dof_count);
  f->closure_bar = MEMORY_NEW(double, m->dof_count);
  model_poses(m, q, f->closure_pose);
  model_screws(m, q, f->closure_pose, f->closure_screws);
}

static double* reserve_rows(double* old, int* capacity, int count) {
  if (count <= *capacity) return old;
  memory_free(old);
  *capacity = count + count / 2 + 16;
  return MEMORY_NEW(double, *capacity);
}

/* ---------------------------------------------------------------- sensitivities at the start of the run */

static void set_start_row(StepForward* f, int dof) {
  model_gradient_clear(&f->gradient, f->model);
  f->gradient.coordinates[dof] = 1;
  f->chain(f->context, &f->gradient, f->start + (size_t)dof * (size_t)f->parameters);
}

/* Converts the derivatives of a scalar with respect to the model (f->gradient) and with respect to the poses of the
 * first state (f->bar[0]) into its derivatives with respect to the parameters, and adds these to row[parameters]. */
static void finish_start_row(StepForward* f, double* row) {
  const Model* m = f->model;
  step_adjoint_compose(f->adjoint, f->start_pose, f->bar[0].pose);
  step_adjoint_reduce(f->adjoint, f->start_pose, f->start_screws, f->bar[0].q);
  step_adjoint_frames(f->adjoint, f->start_pose, &f->gradient);
  model_gradient_masses(m, &f->gradient);
  model_gradient_shapes(m, &f->gradient);
  f->chain(f->context, &f->gradient, row);
  step_forward_add_product(row, f->bar[0].q, m->dof_count, f->start, f->parameters);
}

static void set_start_momenta(StepForward* f) {
  SpinAdjoint* spin = f->adjoint->spin;
  size_t p = (size_t)f->parameters;
  if (!spin) return;
  memset(f->momentum[0], 0, sizeof(double) * (size_t)f->model->link_count * 3 * p);
  for (int i = 0; i < f->model->link_count; i++)
    for (int k = 0; f->model->links[i].spins && k < 3; k++) {
      step_forward_clear(f);
      spin_adjoint_seed(spin, i, k);
      spin_adjoint_start(spin, f->adjoint->sim, f->start_pose, f->bar[0], &f->gradient);
      finish_start_row(f, f->momentum[0] + ((size_t)i * 3 + (size_t)k) * p);
    }
}

/* Sets f->thetas to the sensitivities of the spring thetas, which are constant during the run. */
static void set_theta_sensitivities(StepForward* f) {
  int count = model_theta_count(f->model), p = f->parameters;
  for (int k = 0; f->model->simulation.integrator == INTEGRATOR_MOMENTUM && k < count; k++) {
    double* row = f->thetas + (size_t)k * (size_t)p;
    memset(row, 0, sizeof(double) * (size_t)p);
    step_forward_clear(f);
    f->gradient.thetas[k] = 1;
    step_adjoint_spring_thetas(f->adjoint, &f->gradient);
    model_gradient_masses(f->model, &f->gradient);
    model_gradient_shapes(f->model, &f->gradient);
    f->chain(f->context, &f->gradient, row);
  }
}

void step_forward_begin(StepForward* f, const double* q, const Pose* pose) {
  const Model* m = f->model;
  size_t size = sizeof(double) * (size_t)m->dof_count * (size_t)f->parameters;
  step_adjoint_begin(f->adjoint);
  memcpy(f->start_q, q, sizeof(double) * (size_t)m->coordinate_count);
  memcpy(f->start_pose, pose, sizeof(Pose) * (size_t)m->link_count);
  model_screws(m, q, pose, f->start_screws);
  memset(f->start, 0, size);
  for (int k = 0; k < m->dof_count; k++)
    if (m->links[m->dof_link[k]].prescribed < 0) set_start_row(f, k);
  for (int k = 0; k < FORWARD_STATES; k++) memcpy(f->sensitivity[k], f->start, size);
  for (int k = 0; k < 3; k++) memset(f->length[k], 0, sizeof(double) * (size_t)f->parameters);
  memset(f->end, 0, sizeof(double) * (size_t)f->parameters);
  f->records = 0;
  set_start_momenta(f);
  set_theta_sensitivities(f);
}

/* ---------------------------------------------------------------- one row of a step's Jacobian */

void step_forward_clear(StepForward* f) {
  const Model* m = f->model;
  for (int k = 0; k < 3; k++) {
    memset(f->bar[k].pose, 0, sizeof(double[3][4]) * (size_t)m->link_count);
    memset(f->bar[k].q, 0, sizeof(double) * (size_t)m->dof_count);
  }
  memset(f->adjoint->rate_bar, 0, sizeof(double[3][4]) * (size_t)m->link_count);
  memset(f->start_bar, 0, sizeof(double) * (size_t)m->dof_count);
  model_gradient_clear(&f->gradient, m);
  closure_adjoint_begin(f->adjoint->closures, f->adjoint->sim);
  spin_adjoint_begin(f->adjoint->spin);
  if (f->adjoint->replay) contact_replay_seed_carry(f->adjoint->replay, -1, 0);
}

void step_forward_add_product(double* row, const double* factor_hessian, int count, const double* matrix, int columns) {
  assert(count >= 0 && columns >= 0);
  for (int i = 0; i < count; i++) {
    const double* from = matrix + (size_t)i * (size_t)columns;
    if (factor_hessian[i] == 0) continue;
    for (int j = 0; j < columns; j++) row[j] += factor_hessian[i] * from[j];
  }
}

/* Adds the derivatives of the row's scalar with respect to the initial velocities, on which the first steps depend. */
static void add_start_bars(StepForward* f) {
  const Model* m = f->model;
  StepAdjoint* a = f->adjoint;
  if (a->sim->weights.y_rate == 0) return;
  step_adjoint_rates(a, f->start_pose, f->start_screws, a->rate_bar, f->start_bar, m->initial_velocities,
                     f->gradient.velocities, &f->gradient);
}

/* Adds the derivatives of the row's scalar with respect to the state at which closures were placed. */
static void add_closure_bars(StepForward* f) {
  const Model* m = f->model;
  StepAdjoint* a = f->adjoint;
  if (!a->closures || m->start) return;
  const Pose* pose = f->closure_q ? f->closure_pose : f->start_pose;
  double* bar = f->closure_q ? f->closure_bar : f->start_bar;
  memset(f->start_pose_bar, 0, sizeof(double[3][4]) * (size_t)m->link_count);
  closure_adjoint_start(a->closures, m, pose, f->start_pose_bar, &f->gradient);
  closure_adjoint_offsets(a->closures, m, f->closure_q ? f->closure_q : f->start_q, bar, &f->gradient);
  step_adjoint_compose(a, pose, f->start_pose_bar);
  step_adjoint_reduce(a, pose, f->closure_q ? f->closure_screws : f->start_screws, bar);
  step_adjoint_frames(a, pose, &f->gradient);
}

/* The row includes the derivatives with respect to the numbers that contact pairs carry from step to step. */
void step_forward_finish_row(StepForward* f, const RecordedStep* step, double* row) {
  const Model* m = f->model;
  const Pose* const pose[3] = {step->pose_now, step->pose_old, step->pose_older};
  for (int k = 0; k < 3; k++) {
    step_adjoint_compose(f->adjoint, pose[k], f->bar[k].pose);
    step_adjoint_reduce(f->adjoint, pose[k], f->screws[k], f->bar[k].q);
    step_adjoint_frames(f->adjoint, pose[k], &f->gradient);
  }
  model_gradient_masses(m, &f->gradient);
  model_gradient_shapes(m, &f->gradient);
  f->chain(f->context, &f->gradient, row);
  step_forward_add_product(row, f->gradient.thetas, model_theta_count(m), f->thetas, f->parameters);
  for (int k = 0; k < 3; k++)
    step_forward_add_product(row, f->bar[k].q, m->dof_count, f->sensitivity[1 + k], f->parameters);
  step_forward_add_product(row, f->start_bar, m->dof_count, f->start, f->parameters);
  spin_adjoint_add_product(f->adjoint->spin, f->momentum[0], f->parameters, row);
  if (!f->adjoint->replay || f->records == 0) return;
  int numbers = f->records * contact_replay_carried(f->adjoint->replay);
  contact_replay_read_carry(f->adjoint->replay, f->carry_row);
  step_forward_add_product(row, f->carry_row, numbers, f->carried, f->parameters);
}

/* Adds the derivatives of contact with respect to the lengths of this and of the previous step that
 * contact_replay_adjoint returned. */
static void add_contact_lengths(StepForward* f, double* row) {
  if (!f->adjoint->replay) return;
  ContactLengths by = contact_replay_lengths(f->adjoint->replay);
  for (int j = 0; j < f->parameters; j++) row[j] += by.dt_before * f->length[1][j] + by.dt * f->length[0][j];
}

/* Adds the derivatives of the row's scalar with respect to the end of the previous solve of the step, whose contact
 * forces limit friction. */
static void add_previous_solve(StepForward* f, const RecordedStep* step, double* row) {
  StepAdjoint* a = f->adjoint;
  if (step->solve_count == 0 || !a->replay) return;
  const Pose* pose = step->solves[step->solve_count - 1].pose;
  friction_iteration_bars(a, step);
  memset(a->solve_bar.q, 0, sizeof(double) * (size_t)f->model->dof_count);
  step_adjoint_compose(a, pose, a->friction_iteration_bar);
  step_adjoint_reduce(a, pose, f->solve_screws, a->solve_bar.q);
  step_adjoint_frames(a, pose, &f->gradient);
  step_forward_add_product(row, a->solve_bar.q, f->model->dof_count, f->solve, f->parameters);
}

/* Adds the derivatives of the row's scalar with respect to the friction limits of the pairs in the first step of a run.
 */
static void add_friction_limits(StepForward* f, const RecordedStep* step, double* row) {
  for (int k = 0; step->initial_friction && k < step->contact_count_next; k++) {
    const double by_grip = contact_replay_grip_derivative(f->adjoint->replay, k);
    step_forward_add_product(row, &by_grip, 1, f->friction_limits + (size_t)k * (size_t)f->parameters, f->parameters);
  }
}

/* Sets the factors lambda of the equations of the step and nu of the closure equations to 0. */
static void clear_multipliers(StepForward* f) {
  StepAdjoint* a = f->adjoint;
  memset(a->lambda, 0, sizeof(double) * (size_t)f->model->dof_count);
  if (a->closures) memset(a->closures->nu, 0, sizeof(double) * (size_t)f->model->closure_row_count);
}

/* Adds the derivatives of lambda . F + nu . c with respect to the parameters, at a constant state at t + dt, to row. F:
 * equations of the step; c: closure equations; lambda, nu: factors, which must be set. */
static void add_partial_derivatives(StepForward* f, const RecordedStep* step, double* row) {
  StepAdjoint* a = f->adjoint;
  const size_t screws_size = sizeof(Screw) * (size_t)f->model->dof_count;
  memcpy(f->next_screws, a->sim->assembly.screws, screws_size); /* add_start_bars overwrites them */
  a->lengths->prescribed_bar = 0;
  step_adjoint_distribute(a, step, NULL, f->bar[0], f->bar[1], f->bar[2], &f->gradient);
  slip_forward_add_product(f, step);
  add_contact_lengths(f, row);
  add_friction_limits(f, step, row);
  add_previous_solve(f, step, row);
  add_start_bars(f);
  add_closure_bars(f);
  step_forward_finish_row(f, step, row);
  memcpy(a->sim->assembly.screws, f->next_screws, screws_size);
}

static bool has_variable_end(const RecordedStep* step) { return step_end_depends_on_state(&step->clock); }

/* Returns the contribution of the poses of half-spaces at t + dt to the derivative of a scalar with respect to the end
 * time of the step (adjoint.md, A13). Call after step_adjoint_compose, which sets the derivatives of the scalar with
 * respect to the poses. */
static double half_space_end_derivative(StepForward* f, const RecordedStep* step) {
  StepAdjoint* a = f->adjoint;
  double sum = 0;
  memset(a->product, 0, sizeof(double) * (size_t)f->model->dof_count);
  step_adjoint_reduce(a, step->pose_next, a->sim->assembly.screws, a->product);
  for (int i = 0; i < f->model->dof_count; i++) sum += a->product[i] * f->rates[i];
  return sum;
}

/* Sets row[parameters] to the partial derivatives of equation i of the step with respect to the parameters. Adds the
 * derivative of the equation with respect to the end time to f->by_end[i]. */
static void set_equation_row(StepForward* f, const RecordedStep* step, int i, double* row) {
  StepAdjoint* a = f->adjoint;
  step_forward_clear(f);
  clear_multipliers(f);
  a->lambda[i] = 1;
  add_partial_derivatives(f, step, row);
  f->by_end[i] += has_variable_end(step) ? a->lengths->prescribed_bar : 0;
}

/* Sets f->closure_rows to the partial derivatives of the closure equations with respect to the parameters (Q6). */
static void set_closure_rows(StepForward* f, const RecordedStep* step) {
  StepAdjoint* a = f->adjoint;
  int rows = f->model->closure_row_count;
  memset(f->closure_rows, 0, sizeof(double) * (size_t)rows * (size_t)f->parameters);
  for (int i = 0; i < rows; i++) {
    step_forward_clear(f);
    clear_multipliers(f);
    a->closures->nu[i] = 1;
    add_partial_derivatives(f, step, f->closure_rows + (size_t)i * (size_t)f->parameters);
  }
}

/* Adds the contribution of the state at t + dt to the derivatives of the load that a pair carries to the next step. */
static void add_carried_load(StepForward* f, const RecordedStep* step, double* row) {
  StepAdjoint* a = f->adjoint;
  const Model* m = f->model;
  memset(f->next_bar.pose, 0, sizeof(double[3][4]) * (size_t)m->link_count);
  memset(f->next_bar.q, 0, sizeof(double) * (size_t)m->dof_count);
  if (!step_adjoint_carried_loads_to_poses(a, step->pose_next, f->next_bar.pose)) return;
  step_adjoint_compose(a, step->pose_next, f->next_bar.pose);
  step_adjoint_reduce(a, step->pose_next, a->sim->assembly.screws, f->next_bar.q);
  step_adjoint_frames(a, step->pose_next, &f->gradient);
  step_forward_add_product(row, f->next_bar.q, m->dof_count, f->sensitivity[0], f->parameters);
}

/* Adds the derivatives, with respect to the varying step lengths and the end time, of the number that is seeded. */
static void add_carried_lengths(StepForward* f, double* row) {
  const double* const by[CLOCK_DERIVATIVES] = {f->length[0], f->length[1], f->length[2], f->end};
  for (int k = 0; k < CLOCK_DERIVATIVES; k++) {
    if (!f->adjoint->lengths->by[k].known) continue;
    double slope = contact_replay_length_derivative(f->adjoint->replay, k);
    for (int j = 0; j < f->parameters; j++) row[j] += slope * by[k][j];
  }
}

/* Sets row[parameters] to the sensitivity of a number that a pair passes to the next step (contact_replay_seed_carry).
 */
static void set_carried_row(StepForward* f, const RecordedStep* step, int pair, int number, double* row) {
  StepAdjoint* a = f->adjoint;
  step_forward_clear(f);
  contact_replay_seed_carry(a->replay, pair, number);
  clear_multipliers(f);
  add_carried_load(f, step, row);
  add_carried_lengths(f, row);
  add_partial_derivatives(f, step, row);
  for (int j = 0; has_variable_end(step) && j < f->parameters; j++) row[j] += a->lengths->prescribed_bar * f->end[j];
}

static void update_carried_sensitivities(StepForward* f, const RecordedStep* step) {
  int numbers = contact_replay_carried(f->adjoint->replay), p = f->parameters;
  f->carried_next = reserve_rows(f->carried_next, &f->carried_next_capacity, step->contact_count_next * numbers * p);
  size_t count = (size_t)step->contact_count_next * (size_t)numbers * (size_t)p;
  if (count > 0) memset(f->carried_next, 0, sizeof(double) * count);
  for (int k = 0; k < step->contact_count_next; k++)
    for (int n = 0; n < numbers; n++)
      set_carried_row(f, step, k, n, f->carried_next + ((size_t)k * (size_t)numbers + (size_t)n) * (size_t)p);
  double* other = f->carried;
  int room = f->carried_capacity;
  f->carried = f->carried_next;
  f->carried_capacity = f->carried_next_capacity;
  f->carried_next = other;
  f->carried_next_capacity = room;
  f->records = step->contact_count_next;
}

/* ---------------------------------------------------------------- sensitivities over a step */

static bool factor_hessian(StepForward* f, const Assembly* assembly) {
  StepAdjoint* a = f->adjoint;
  StepAdjointReport report = {0};
  memset(a->lambda, 0, sizeof(double) * (size_t)f->model->dof_count);
  return step_adjoint_factor(a, assembly, a->lambda, &report);
}

/* Corrects the column of sensitivities of one parameter so that it satisfies the closure equations, differentiated with
 * respect to the parameter. Returns false if there is no finite solution. */
static bool satisfy_closures(StepForward* f, int parameter) {
  const Sim* s = f->adjoint->sim;
  for (int i = 0; i < f->model->closure_row_count; i++)
    f->error_derivative[i] = f->closure_rows[(size_t)i * (size_t)f->parameters + (size_t)parameter];
  return closures_solve(s->closures, s->solver, NULL, s->prescribed_joints.is_fixed, f->error_derivative, f->column,
                        f->change);
}

/* Solves Hessian times column = right together with the differentiated closure equations of a parameter; parameter -1:
 * homogeneous closure equations. end: change of the end time of the step, which moves prescribed coordinates [s].
 * Returns false if the solution is not finite. */
static bool solve_column(StepForward* f, int parameter, double end) {
  int nv = f->model->dof_count;
  const Sim* s = f->adjoint->sim;
  for (int i = 0; i < nv; i++) f->column[i] = s->prescribed_joints.is_fixed[i] ? 0 : f->right[i];
  block_solver_solve(s->solver, f->column);
  for (int i = 0; i < nv; i++)
    if (s->prescribed_joints.is_fixed[i]) f->column[i] = end * f->rates[i];
  if (s->closures && parameter >= 0) return satisfy_closures(f, parameter);
  if (s->closures)
    closures_solve(s->closures, s->solver, NULL, s->prescribed_joints.is_fixed, NULL, f->column, f->change);
  return true;
}

static bool solve(StepForward* f) {
  int nv = f->model->dof_count, p = f->parameters;
  const Sim* s = f->adjoint->sim;
  for (int j = 0; j < p; j++) {
    for (int i = 0; i < nv; i++) {
      size_t at = (size_t)i * (size_t)p + (size_t)j;
      f->right[i] = s->prescribed_joints.is_fixed[i] ? 0 : -f->rows[at] - (f->slips ? f->slip_rows[at] : 0);
    }
    if (!solve_column(f, j, f->end[j])) return false;
    for (int i = 0; i < nv; i++) {
      size_t at = (size_t)i * (size_t)p + (size_t)j;
      if (!isfinite(f->column[i])) return false;
      f->sensitivity[0][at] = f->slips ? f->sensitivity[1][at] + f->column[i] : f->column[i];
    }
  }
  return true;
}

static void shift_states(StepForward* f) {
  double* last = f->sensitivity[FORWARD_STATES - 1];
  for (int k = FORWARD_STATES - 1; k > 0; k--) f->sensitivity[k] = f->sensitivity[k - 1];
  f->sensitivity[0] = last;
}

/* ---------------------------------------------------------------- step lengths (impact.md, I12) */

/* Returns the sensitivity of StepClock.share with respect to a parameter, for a substep with END_AT_CLOSURE_OPENING
 * (Z21). */
static double opening_fraction_sensitivity(const StepForward* f, const StepClock* clock, int parameter) {
  size_t at = (size_t)clock->event.closure * (size_t)f->parameters + (size_t)parameter;
  return ((clock->share - 1) * f->load[1][at] - clock->share * f->load[0][at]) / clock->event.rise;
}

static void shift_closure_forces(StepForward* f) {
  double* last = f->load[1];
  f->load[1] = f->load[0];
  f->load[0] = last;
}

/* Sets the sensitivities of the begin, length and end time of this step. If the step ends with an event,
 * add_event_sensitivity later adds the sensitivity of the step length. */
static void set_time_sensitivities(StepForward* f, const RecordedStep* step) {
  const StepClock* c = &step->clock;
  double* oldest = f->length[2];
  f->length[2] = f->length[1];
  f->length[1] = f->length[0];
  f->length[0] = oldest;
  for (int j = 0; j < f->parameters; j++) {
    f->begin[j] = c->begin_varies ? f->end[j] : 0;
    bool share = c->end == END_AT_FRACTION || c->end == END_AT_CLOSURE_OPENING;
    f->length[0][j] = share ? -c->share * f->begin[j] : 0;
    if (c->end == END_AT_CLOSURE_OPENING) f->length[0][j] += opening_fraction_sensitivity(f, c, j) * c->dt / c->share;
    f->end[j] = f->begin[j] + f->length[0][j];
  }
  shift_closure_forces(f);
}

/* If the end time varies, sets f->rates to the rates of prescribed coordinates and f->by_end to the Hessian times these
 * rates, their contribution to the equations. set_equation_row adds the contribution of half-spaces. Overwrites the
 * solver. */
static void set_prescribed_rates(StepForward* f, const RecordedStep* step, const Assembly* assembly) {
  StepAdjoint* a = f->adjoint;
  memset(f->rates, 0, sizeof(double) * (size_t)f->model->dof_count);
  memset(f->by_end, 0, sizeof(double) * (size_t)f->model->dof_count);
  if (a->sim->prescribed_joints.count == 0 || !has_variable_end(step)) return;
  step_lengths_rates(a, step->clock.time, f->rates);
  step_extend_pattern(a->sim, assembly->contact);
  assemble_hessian(assembly, true, a->sim->solver);
  block_solver_multiply(a->sim->solver, f->rates, f->by_end);
}

/* Adds the contribution of varying substep lengths and of a varying end time to f->rows. It is a sum over three lengths
 * (of this and of the two previous substeps) and the end time. Each summand is the derivative of the equations with
 * respect to the length, times the derivative of the length with respect to the parameters. */
static void add_length_contributions(StepForward* f) {
  for (int i = 0; i < f->model->dof_count; i++)
    for (int j = 0; j < f->parameters; j++)
      f->rows[(size_t)i * (size_t)f->parameters + (size_t)j] += f->by_end[i] * f->end[j];
  const double* const by[CLOCK_DERIVATIVES] = {f->length[0], f->length[1], f->length[2], f->end};
  for (int k = 0; k < CLOCK_DERIVATIVES; k++) {
    const ClockDerivative* slope = &f->adjoint->lengths->by[k];
    for (int i = 0; slope->known && i < f->model->dof_count; i++)
      for (int j = 0; j < f->parameters; j++)
        f->rows[(size_t)i * (size_t)f->parameters + (size_t)j] += slope->equations[i] * by[k][j];
  }
}

/* Corrects sensitivity[0] of a step that ends with an event, such as the beginning of an impact. On entry
 * sensitivity[0] holds the sensitivities at constant step length. The sensitivity of the length follows from the event.
 * Returns false if the event has no derivative. */
static bool add_event_sensitivity(StepForward* f, const RecordedStep* step) {
  StepAdjoint* a = f->adjoint;
  StepLengths* l = a->lengths;
  int nv = f->model->dof_count, p = f->parameters;
  EventTerms event;
  if (step->clock.end != END_AT_EVENT) return true;
  if (!step_lengths_event(a, step, &event)) return false;
  double* row = MEMORY_NEW(double, p);
  step_forward_clear(f);
  step_adjoint_frames(a, step->pose_next, &f->gradient);
  if (a->replay) contact_replay_seed_carry(a->replay, -1, 0);
  step_lengths_seed_event(a, step, &event, 1, &f->gradient);
  ContactField none = {.twist = NULL};
  memset(a->ground_bar, 0, sizeof(double[3][4]) * (size_t)f->model->link_count);
  if (a->replay) contact_replay_adjoint(a->replay, &none, f->bar[0].pose, a->ground_bar, &f->gradient);
  step_adjoint_compose(a, step->pose_next, a->ground_bar);
  step_adjoint_frames(a, step->pose_next, &f->gradient);
  double rate = half_space_end_derivative(f, step);
  for (int j = 0; j < p; j++) row[j] += rate * f->end[j];
  step_forward_finish_row(f, step, row);
  step_forward_add_product(row, l->reduced, nv, f->sensitivity[0], p);
  for (int i = 0; i < nv; i++)
    f->right[i] =
        a->sim->prescribed_joints.is_fixed[i] ? 0 : -l->by[0].equations[i] - l->by[3].equations[i] - f->by_end[i];
  if (!solve_column(f, -1, 1)) {
    memory_free(row);
    return false;
  }
  for (int i = 0; i < nv; i++) rate += l->reduced[i] * f->column[i];
  for (int j = 0; j < p; j++) {
    f->length[0][j] = -row[j] / rate;
    f->end[j] += f->length[0][j];
  }
  for (int i = 0; i < nv; i++)
    for (int j = 0; j < p; j++) f->sensitivity[0][(size_t)i * (size_t)p + (size_t)j] += f->column[i] * f->length[0][j];
  memory_free(row);
  return isfinite(1 / rate);
}

/* ---------------------------------------------------------------- forces of closures (closures.md, Z21) */

/* Sets lambda and nu of the adjoint for the force of a closure. Returns the derivative of this force with respect to
 * the end time of the step, through prescribed coordinates. Overwrites the solver. */
static double set_closure_force_adjoint(StepForward* f, const RecordedStep* step, const Assembly* assembly) {
  StepAdjoint* a = f->adjoint;
  Sim* s = a->sim;
  closures_solve(s->closures, s->solver, NULL, s->prescribed_joints.is_fixed, a->closures->by_row, a->lambda,
                 a->closures->nu);
  a->lengths->prescribed_bar = 0;
  if (s->prescribed_joints.count == 0 || !has_variable_end(step)) return 0;
  step_extend_pattern(s, assembly->contact);
  assemble_hessian(assembly, true, s->solver);
  block_solver_multiply(s->solver, a->lambda, a->product);
  closures_add_force(s->closures, a->closures->nu, a->product);
  step_lengths_prescribed(a, a->product, step->clock.time);
  return a->lengths->prescribed_bar;
}

/* Sets row[parameters] to the sensitivity of the force of a closure at the end of the step. The sensitivities of the
 * clock must be complete. Returns false if the sensitivity cannot be computed. */
static bool set_closure_force_row(StepForward* f, const RecordedStep* step, int closure, Assembly* assembly,
                                  double* row) {
  const double* const by[CLOCK_DERIVATIVES] = {f->length[0], f->length[1], f->length[2], f->end};
  StepAdjoint* a = f->adjoint;
  step_forward_clear(f);
  a->closures->by_load[0][closure] = 1;
  closure_adjoint_loads(a->closures, a->sim);
  if (!a->closures->loaded) return true;
  if (!step_lengths_compute(a, step, a->zero, NULL, assembly) || !factor_hessian(f, assembly)) return false;
  double by_end = set_closure_force_adjoint(f, step, assembly);
  for (int k = 0; k < CLOCK_DERIVATIVES; k++) {
    const ClockDerivative* slope = &a->lengths->by[k];
    if (!slope->known) continue;
    double sum = slope->direct;
    for (int i = 0; i < f->model->dof_count; i++) sum += slope->equations[i] * a->lambda[i];
    for (int j = 0; j < f->parameters; j++) row[j] += sum * by[k][j];
  }
  add_partial_derivatives(f, step, row);
  by_end += has_variable_end(step) ? a->lengths->prescribed_bar : 0;
  for (int j = 0; j < f->parameters; j++) row[j] += by_end * f->end[j];
  return true;
}

static bool set_closure_force_rows(StepForward* f, const RecordedStep* step, Assembly* assembly) {
  size_t p = (size_t)f->parameters;
  bool found = true;
  if (!f->load[0]) return true;
  memset(f->load[0], 0, sizeof(double) * (size_t)f->model->closure_count * p);
  for (int k = 0; k < f->model->closure_count && found; k++)
    if (f->model->closures[k].force_limit > 0)
      found = set_closure_force_row(f, step, k, assembly, f->load[0] + (size_t)k * p);
  f->adjoint->closures->loaded = false;
  return found;
}

bool step_forward_solve(StepForward* f, const RecordedStep* step) {
  assert(step->clock.dt > 0);
  const Model* m = f->model;
  StepAdjoint* a = f->adjoint;
  Assembly assembly;
  if (!step_adjoint_load(a, step, true, &assembly)) return false;
  if (!step_lengths_compute(a, step, a->zero, NULL, &assembly)) return false;
  set_prescribed_rates(f, step, &assembly);
  slip_forward_begin(f, step, &assembly);
  if (!factor_hessian(f, &assembly)) return false;
  memset(f->rows, 0, sizeof(double) * (size_t)m->dof_count * (size_t)f->parameters);
  if (a->replay)
    f->carry_row = reserve_rows(f->carry_row, &f->carry_row_capacity,
                                (step->contact_count_now + 1) * contact_replay_carried(a->replay));
  for (int i = 0; i < m->dof_count; i++)
    if (!a->sim->prescribed_joints.is_fixed[i])
      set_equation_row(f, step, i, f->rows + (size_t)i * (size_t)f->parameters);
  if (a->closures) set_closure_rows(f, step);
  add_length_contributions(f);
  return solve(f) && add_event_sensitivity(f, step) && set_closure_force_rows(f, step, &assembly);
}

/* ---------------------------------------------------------------- momenta (spin.md, W8) */

/* Adds the derivatives of the momentum with respect to the step lengths at fixed states. Returns false if the terms of
 * the step cannot be evaluated. */
static bool add_momentum_length_derivatives(StepForward* f, const RecordedStep* step, double* row) {
  const double* const by[CLOCK_DERIVATIVES] = {f->length[0], f->length[1], f->length[2], f->end};
  Assembly assembly;
  if (!step_lengths_compute(f->adjoint, step, f->adjoint->zero, NULL, &assembly)) return false;
  for (int k = 0; k < CLOCK_DERIVATIVES; k++) {
    const ClockDerivative* slope = &f->adjoint->lengths->by[k];
    for (int j = 0; slope->known && j < f->parameters; j++) row[j] += slope->direct * by[k][j];
  }
  return true;
}

/* Sets row[parameters] to the sensitivity of component `axis` of a link's angular momentum at t + dt. Returns false if
 * the sensitivity cannot be computed. */
static bool set_momentum_row(StepForward* f, const RecordedStep* step, int link, int axis, double* row) {
  StepAdjoint* a = f->adjoint;
  const Model* m = f->model;
  step_forward_clear(f);
  spin_adjoint_seed(a->spin, link, axis);
  if (!add_momentum_length_derivatives(f, step, row)) return false;
  ContactTermList contact = {0};
  if (a->replay) contact = contact_replay_terms(a->replay);
  memset(f->next_bar.pose, 0, sizeof(double[3][4]) * (size_t)m->link_count);
  memset(f->next_bar.q, 0, sizeof(double) * (size_t)m->dof_count);
  spin_adjoint_advance(a->spin, a->sim, step, a->zero, contact, f->next_bar, f->bar[0], &f->gradient);
  step_adjoint_forces_to_poses(a, NULL, (size_t)step->contact_count_next, step->pose_next, f->next_bar.pose);
  step_adjoint_compose(a, step->pose_next, f->next_bar.pose);
  step_adjoint_reduce(a, step->pose_next, a->sim->assembly.screws, f->next_bar.q);
  step_adjoint_frames(a, step->pose_next, &f->gradient);
  clear_multipliers(f);
  add_partial_derivatives(f, step, row);
  for (int j = 0; has_variable_end(step) && j < f->parameters; j++) row[j] += a->lengths->prescribed_bar * f->end[j];
  step_forward_add_product(row, f->next_bar.q, m->dof_count, f->sensitivity[0], f->parameters);
  return true;
}

static bool set_momentum_rows(StepForward* f, const RecordedStep* step) {
  const Model* m = f->model;
  size_t p = (size_t)f->parameters;
  bool found = true;
  memset(f->momentum[1], 0, sizeof(double) * (size_t)m->link_count * 3 * p);
  for (int i = 0; i < m->link_count && found; i++)
    for (int k = 0; m->links[i].spins && k < 3 && found; k++)
      found = set_momentum_row(f, step, i, k, f->momentum[1] + ((size_t)i * 3 + (size_t)k) * p);
  return found;
}

static void shift_momenta(StepForward* f) {
  double* before = f->momentum[0];
  f->momentum[0] = f->momentum[1];
  f->momentum[1] = before;
}

/* Advances the sensitivities over one solve of a step. Returns false if the solve has no derivative. */
static bool advance_over_solve(StepForward* f, const RecordedStep* step) {
  if (step->initial_friction && f->adjoint->replay && !initial_friction_forward(f, step)) return false;
  return step_forward_solve(f, step);
}

/* Advances the sensitivities over all solves of a step except the last one, in order (friction.md, F9). Returns false
 * if a solve has no derivative. */
static bool advance_over_solves(StepForward* f, const RecordedStep* step) {
  if (step->solve_count == 0) return true;
  const RecordedStep before = friction_iteration_step(step);
  if (!advance_over_solves(f, &before) || !advance_over_solve(f, &before)) return false;
  memcpy(f->solve, f->sensitivity[0], sizeof(double) * (size_t)f->model->dof_count * (size_t)f->parameters);
  model_screws(f->model, before.q_next, before.pose_next, f->solve_screws);
  return true;
}

bool step_forward_advance(StepForward* f, const RecordedStep* step) {
  const Pose* const pose[3] = {step->pose_now, step->pose_old, step->pose_older};
  const double* const q[3] = {step->q_now, step->q_old, step->q_older};
  shift_states(f);
  for (int k = 0; k < 3; k++) model_screws(f->model, q[k], pose[k], f->screws[k]);
  set_time_sensitivities(f, step);
  if (!advance_over_solves(f, step) || !advance_over_solve(f, step)) return false;
  if (f->adjoint->spin && !set_momentum_rows(f, step)) return false;
  if (f->adjoint->replay) update_carried_sensitivities(f, step);
  shift_momenta(f);
  return true;
}

const double* step_forward_state(const StepForward* f, int before) {
  assert(before >= 0 && before <= 3);
  return f->sensitivity[before];
}

void step_forward_row(StepForward* f, const double* q, const Pose* pose, int before, double (*bar)[3][4], double* row) {
  assert(before >= 0 && before <= 3);
  const Model* m = f->model;
  model_gradient_clear(&f->gradient, m);
  memset(f->bar[0].q, 0, sizeof(double) * (size_t)m->dof_count);
  model_screws(m, q, pose, f->screws[0]);
  step_adjoint_compose(f->adjoint, pose, bar);
  step_adjoint_reduce(f->adjoint, pose, f->screws[0], f->bar[0].q);
  step_adjoint_frames(f->adjoint, pose, &f->gradient);
  f->chain(f->context, &f->gradient, row);
  step_forward_add_product(row, f->bar[0].q, m->dof_count, f->sensitivity[before], f->parameters);
}

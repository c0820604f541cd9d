/* Adjoint of a run: applies the adjoint of each step, from the last step to the first (docs/derivations/adjoint.md,
 * A1). */
#include <assert.h>
#include <string.h>

#include "differentiate/recording.h"

/* Number of states whose derivatives are needed at the same time: the state after a step and the three states on which
 * the step depends. */
enum { ACTIVE_STATES = 4 };

struct RunAdjoint {
  const Model* model;
  StepAdjoint* step;
  StateBar undiscounted[3]; /* derivatives of the loss that one step propagates to the three earlier states, before the
                               factor `discount` */
  StateBar bars[ACTIVE_STATES]; /* derivatives of the loss with respect to the states in use; state number k of the run
                                   has the index k modulo ACTIVE_STATES */
  /* derivatives of the loss with respect to joint velocities: zeros, and those at one row (size: nv) */
  double *zero_rate, *row_rate;
  Vec3* row_force; /* derivatives of the loss with respect to the contact force on each link at one row (size: links) */
};

static StateBar state_bar_create(const Model* model) {
  return (StateBar){memory_alloc(sizeof(double[3][4]) * (size_t)model->link_count),
                    MEMORY_NEW(double, model->dof_count)};
}

static void state_bar_destroy(StateBar bar) {
  memory_free(bar.pose);
  memory_free(bar.q);
}

RunAdjoint* run_adjoint_create(const Model* model, int threads) {
  RunAdjoint* a = MEMORY_NEW(RunAdjoint, 1);
  a->model = model;
  a->step = step_adjoint_create(model, threads);
  for (int k = 0; k < 3; k++) a->undiscounted[k] = state_bar_create(model);
  for (int k = 0; k < ACTIVE_STATES; k++) a->bars[k] = state_bar_create(model);
  a->zero_rate = MEMORY_NEW(double, model->dof_count);
  a->row_rate = MEMORY_NEW(double, model->dof_count);
  a->row_force = MEMORY_NEW(Vec3, model->link_count);
  return a;
}

void run_adjoint_destroy(RunAdjoint* a) {
  if (!a) return;
  step_adjoint_destroy(a->step);
  for (int k = 0; k < 3; k++) state_bar_destroy(a->undiscounted[k]);
  for (int k = 0; k < ACTIVE_STATES; k++) state_bar_destroy(a->bars[k]);
  memory_free(a->zero_rate);
  memory_free(a->row_rate);
  memory_free(a->row_force);
  memory_free(a);
}

static void clear_state_bar(const Model* m, StateBar bar) {
  memset(bar.pose, 0, sizeof(double[3][4]) * (size_t)m->link_count);
  memset(bar.q, 0, sizeof(double) * (size_t)m->dof_count);
}

/* Copies the derivatives of the loss with respect to a state into `bar`. They are zero at the end of a substep inside a
 * step, because losses read rows only. */
static void load_state_seeds(const Model* m, const LossSeeds* seeds, const RecordedState* state, StateBar bar) {
  clear_state_bar(m, bar);
  for (int i = 0; state->row && i < m->link_count; i++) {
    RowIndex index_of_row = row_index(seeds->selection, m, state->step, i);
    const ModelLink* link = &m->links[i];
    if (!index_of_row.kept) continue;
    memcpy(bar.pose[i], seeds->pose[index_of_row.pose], sizeof(double[3][4]));
    for (int k = 0; k < link->dof_count; k++) bar.q[link->dof_first + k] = seeds->q[index_of_row.dof + (size_t)k];
  }
}

/* Copies the derivatives of the loss with respect to joint velocities and contact forces of a row into row_rate and
 * row_force. They are zero for links whose row is not stored. */
static void load_row_seeds(RunAdjoint* a, const LossSeeds* seeds, int row) {
  const Model* m = a->model;
  for (int i = 0; i < m->link_count; i++) {
    RowIndex index_of_row = row_index(seeds->selection, m, row, i);
    const ModelLink* link = &m->links[i];
    a->row_force[i] = index_of_row.kept ? seeds->force[index_of_row.pose] : vec3(0, 0, 0);
    for (int k = 0; k < link->dof_count; k++)
      a->row_rate[link->dof_first + k] = index_of_row.kept ? seeds->rate[index_of_row.dof + (size_t)k] : 0;
  }
}

/* Returns where the derivatives of the loss with respect to a state of a recording are accumulated. Indices before the
 * start of the run denote the initial state. */
static StateBar state_bar(const RunAdjoint* a, const Recording* r, int index) {
  int64_t number = r->first_state + index;
  return a->bars[(number > 0 ? number : 0) % ACTIVE_STATES];
}

RecordedStep recording_find_step(const Recording* r, int index) {
  assert(index >= 1 && index < r->state_count);
  const RecordedState* state[4]; /* states after the step, before it, and two earlier; the initial state replaces states
                                    before the start */
  for (int k = 0; k < 4; k++) state[k] = &r->states[index - k > 0 ? index - k : 0];
  size_t row = (size_t)(state[0]->step - r->first_row) * (size_t)r->model->closure_count;
  const SimJoin* joined = r->joined ? r->joined + row : NULL;
  return (RecordedStep){.clock = state[0]->clock,
                        .q_next = recording_state_q(r, state[0]),
                        .q_now = recording_state_q(r, state[1]),
                        .q_old = recording_state_q(r, state[2]),
                        .q_older = recording_state_q(r, state[3]),
                        .pose_next = recording_state_pose(r, state[0]),
                        .pose_now = recording_state_pose(r, state[1]),
                        .pose_old = recording_state_pose(r, state[2]),
                        .pose_older = recording_state_pose(r, state[3]),
                        .momentum_next = recording_state_momentum(r, state[0]),
                        .momentum_now = recording_state_momentum(r, state[1]),
                        .contact_force_now = recording_state_contact_forces(r, state[1]),
                        .delayed_now = recording_state_delayed(r, state[1]),
                        .contacts_next = r->contacts + state[0]->contact_first_row,
                        .contacts_now = r->contacts + state[1]->contact_first_row,
                        .number = r->first_state + index + 1,
                        .contact_count_next = state[0]->contact_count,
                        .contact_count_now = state[1]->contact_count,
                        .solves = state[0]->solves,
                        .solve_count = state[0]->solve_count,
                        .initial_friction = r->first_row == 0 && index == r->start_state + 1 ? r->guess : NULL,
                        .closures_broken = r->closures_broken,
                        .closures_joined = joined};
}

static void add_discounted(const Model* m, StateBar to, StateBar from, double factor) {
  for (int i = 0; i < m->link_count; i++)
    for (int k = 0; k < 12; k++) to.pose[i][k / 4][k % 4] += factor * from.pose[i][k / 4][k % 4];
  for (int k = 0; k < m->dof_count; k++) to.q[k] += factor * from.q[k];
}

static ForcePairSlopes pair_slopes(const LossSeeds* seeds, int row) {
  size_t count = (size_t)seeds->pair_count;
  return (ForcePairSlopes){seeds->pairs, count > 0 ? seeds->pair_force + (size_t)row * count : NULL, (int)count};
}

/* Applies the adjoint of the substep that ended in the state `index`. Adds derivatives with respect to earlier states
 * and to the parameters (gradient). discount: factor on derivatives for each substep back to an earlier state. */
static StepAdjointReport apply_step_adjoint(RunAdjoint* a, const Recording* r, const LossSeeds* seeds, int index,
                                            double discount, ModelGradient* gradient) {
  assert(index > r->start_state && index < r->state_count);
  const Model* m = a->model;
  const RecordedState* state = &r->states[index];
  RecordedStep recorded = recording_find_step(r, index);
  if (r->first_state + index >= ACTIVE_STATES - 1) /* the oldest state on which the substep depends */
    load_state_seeds(m, seeds, &r->states[index - ACTIVE_STATES + 1], state_bar(a, r, index - ACTIVE_STATES + 1));
  StateBar next = state_bar(a, r, index), before[3];
  for (int k = 0; k < 3; k++) before[k] = state_bar(a, r, index - 1 - k);
  if (state->row) load_row_seeds(a, seeds, state->step);
  const double* rate = state->row ? a->row_rate : a->zero_rate;
  const double(*reaction)[6] =
      seeds->reaction ? (const double(*)[6])(seeds->reaction + (size_t)state->step * (size_t)m->link_count) : NULL;
  const double* feedback = seeds->feedback ? seeds->feedback + (size_t)state->step * (size_t)m->feedback_count : NULL;
  const ForceSlopes row = {a->row_force, pair_slopes(seeds, state->step), reaction, feedback};
  const ForceSlopes* force = state->row ? &row : NULL;
  if (discount == 1.0)
    return step_adjoint(a->step, &recorded, next, rate, force, before[0], before[1], before[2], gradient);
  for (int k = 0; k < 3; k++) clear_state_bar(m, a->undiscounted[k]);
  StepAdjointReport report = step_adjoint(a->step, &recorded, next, rate, force, a->undiscounted[0], a->undiscounted[1],
                                          a->undiscounted[2], gradient);
  step_adjoint_discount(a->step, discount);
  /* The state k + 1 substeps earlier gets the factor discount^(k + 1). With equal factors, derivatives that cancel in
   * the recursion over several states (inertia, friction with a memory) would no longer cancel. */
  double factor = discount;
  for (int k = 0; k < 3; k++, factor *= discount) add_discounted(m, before[k], a->undiscounted[k], factor);
  return report;
}

static double substep_discount(const Recording* r, int step, double discount) {
  int count = recording_substeps(r, step);
  return count == 1 || discount == 1.0 ? discount : math_pow(discount, 1.0 / count);
}

/* Adds the derivatives of the loss at unchanged motion, with respect to mass centres, masses, vertices, shapes,
 * signals and gains. */
static void add_direct_derivatives(const Model* m, const LossSeeds* seeds, ModelGradient* gradient) {
  for (int i = 0; i < m->link_count; i++) model_gradient_center(m, i, seeds->center[i], gradient);
  for (int i = 0; i < m->link_count; i++) gradient->moment[i].s[3][3] += seeds->mass[i];
  for (int k = 0; k < m->vertex_count; k++) gradient->vertices[k] = vec3_add(gradient->vertices[k], seeds->vertices[k]);
  for (int k = 0; k < m->parameter_count; k++) gradient->control[k] += seeds->control[k];
  for (int k = 0; k < m->gain_count; k++) gradient->gains[k] += seeds->gains[k];
  for (int k = 0; k < m->shape_parameter_count; k++) gradient->shapes[k] += seeds->shapes[k];
}

static void update_report(AdjointReport* report, const StepAdjointReport* step, int number, double* first_lambda) {
  report->indefinite_steps += step->indefinite;
  report->rounding += step->rounding;
  if (*first_lambda == 0) *first_lambda = step->largest_lambda;
  if (report->largest_step >= 0 && step->largest_lambda <= report->step.largest_lambda) return;
  report->step = *step;
  report->largest_step = number;
}

/* Loads the derivatives of the loss with respect to the last states of the run, which the segment `last` contains.
 * apply_step_adjoint loads those of all earlier states. */
static void load_last_states(RunAdjoint* a, const Recording* last, const LossSeeds* seeds) {
  for (int k = 0; k < ACTIVE_STATES - 1; k++) {
    int index = last->state_count - 1 - k;
    if (last->first_state + index >= 0)
      load_state_seeds(a->model, seeds, &last->states[index], state_bar(a, last, index));
  }
}

/* Applies the adjoint of all steps of a segment, from the last step to the first. Returns false if a step has no
 * derivative. */
static bool apply_segment_adjoint(RunAdjoint* a, const Recording* segment, const LossSeeds* seeds, double discount,
                                  ModelGradient* gradient, AdjointReport* report, double* first_lambda) {
  for (int index = segment->state_count - 1; index > segment->start_state; index--) {
    int step = segment->states[index].step;
    StepAdjointReport step_report =
        apply_step_adjoint(a, segment, seeds, index, substep_discount(segment, step, discount), gradient);
    if (!step_report.sound) {
      report->sound = false;
      report->unsound_step = step;
      report->step = step_report;
      return false;
    }
    update_report(report, &step_report, step, first_lambda);
  }
  return true;
}

/* Adds the derivatives of the loss with respect to the initial coordinates and velocities. Then applies the chain rules
 * from mass moments to masses and from vertices to shape parameters. */
static void finish_gradient(RunAdjoint* a, const LossSeeds* seeds, const double* q, const Pose* pose,
                            ModelGradient* gradient) {
  load_row_seeds(a, seeds, 0);
  bool continues = !a->model->start && model_has_earlier_states(a->model);
  int first = continues ? STATES_BEFORE : 0;
  if (continues) step_adjoint_before_start(a->step, q, a->bars[first - 1], a->bars[first].q, gradient);
  step_adjoint_start(a->step, q, pose, a->bars[first], a->row_rate, gradient);
  add_direct_derivatives(a->model, seeds, gradient);
  if (seeds->keep_moments) return;
  model_gradient_masses(a->model, gradient);
  model_gradient_shapes(a->model, gradient);
}

AdjointReport run_adjoint(RunAdjoint* a, Recording* r, const LossSeeds* seeds, double discount,
                          ModelGradient* gradient) {
  assert(!seeds->selection == !r->selection);
  AdjointReport report = {.sound = true, .largest_step = -1};
  double first_lambda = 0;
  const Recording* segment = r->segments ? run_segments_last(r->segments) : r;
  assert(!r->selection || r->segments);
  model_gradient_clear(gradient, a->model);
  step_adjoint_begin(a->step);
  if (segment) load_last_states(a, segment, seeds);
  for (; segment; segment = r->segments ? run_segments_previous(r->segments) : NULL) {
    if (!apply_segment_adjoint(a, segment, seeds, discount, gradient, &report, &first_lambda)) return report;
    if (segment->first_row == 0) finish_gradient(a, seeds, segment->q, recording_pose(segment, 0), gradient);
  }
  report.growth = first_lambda > 0 ? report.step.largest_lambda / first_lambda : 0;
  return report;
}

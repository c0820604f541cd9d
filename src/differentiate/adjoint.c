/* Adjoint of a run, step by step backwards in time (SDRS Eq. 86-88; docs/derivations/adjoint.md, A1). */
#include <assert.h>
#include <string.h>

#include "differentiate/recording.h"

/* Number of states whose derivatives are kept in the backward pass: the state after a step and the three states before
 * the step. */
enum { BARS_ALIVE = 4 };

struct RunAdjoint {
  const Model* model;
  StepAdjoint* step;
  StateBar handed[3]; /* contributions of one step to the three states before the step, used if discount is not 1 */
  StateBar
      bars[BARS_ALIVE]; /* derivatives with respect to states; state number k of the run is at k modulo BARS_ALIVE */
  double *no_rate, *rate_now; /* no_rate: zeros; rate_now: derivatives with respect to the rates of one row (nv) */
  Vec3* force_now;            /* derivatives with respect to the forces of one row (links) */
};

static StateBar bar_create(const Model* model) {
  return (StateBar){memory_alloc(sizeof(double[3][4]) * (size_t)model->link_count),
                    MEMORY_NEW(double, model->dof_count)};
}

static void bar_destroy(StateBar bar) {
  memory_free(bar.pose);
  memory_free(bar.q);
}

RunAdjoint* run_adjoint_create(const Model* model, int threads) {
  RunAdjoint* a = MEMORY_NEW(RunAdjoint, 1);
  a->model = model;
  a->step = step_adjoint_create(model, threads);
  for (int k = 0; k < 3; k++) a->handed[k] = bar_create(model);
  for (int k = 0; k < BARS_ALIVE; k++) a->bars[k] = bar_create(model);
  a->no_rate = MEMORY_NEW(double, model->dof_count);
  a->rate_now = MEMORY_NEW(double, model->dof_count);
  a->force_now = MEMORY_NEW(Vec3, model->link_count);
  return a;
}

void run_adjoint_destroy(RunAdjoint* a) {
  if (!a) return;
  step_adjoint_destroy(a->step);
  for (int k = 0; k < 3; k++) bar_destroy(a->handed[k]);
  for (int k = 0; k < BARS_ALIVE; k++) bar_destroy(a->bars[k]);
  memory_free(a->no_rate);
  memory_free(a->rate_now);
  memory_free(a->force_now);
  memory_free(a);
}

/* ---------------------------------------------------------------- derivatives of the loss by a state */

static void clear_bar(const Model* m, StateBar bar) {
  memset(bar.pose, 0, sizeof(double[3][4]) * (size_t)m->link_count);
  memset(bar.q, 0, sizeof(double) * (size_t)m->dof_count);
}

/* Sets bar to the derivatives of the loss with respect to a state. For a state inside a step they are zero, because
 * losses read rows only. */
static void begin_bar(const Model* m, const LossSeeds* seeds, const RecordedState* state, StateBar bar) {
  clear_bar(m, bar);
  for (int i = 0; state->row && i < m->link_count; i++) {
    RowIndex place = row_index(seeds->keep, m, state->step, i);
    const ModelLink* link = &m->links[i];
    if (!place.kept) continue;
    memcpy(bar.pose[i], seeds->pose[place.pose], sizeof(double[3][4]));
    for (int k = 0; k < link->dof_count; k++) bar.q[link->dof_first + k] = seeds->q[place.dof + (size_t)k];
  }
}

/* Sets a->rate_now and a->force_now to the derivatives of the loss with respect to rates and forces of a row. They are
 * zero for links whose row is not kept. */
static void gather_row(RunAdjoint* a, const LossSeeds* seeds, int row) {
  const Model* m = a->model;
  for (int i = 0; i < m->link_count; i++) {
    RowIndex place = row_index(seeds->keep, m, row, i);
    const ModelLink* link = &m->links[i];
    a->force_now[i] = place.kept ? seeds->force[place.pose] : vec3(0, 0, 0);
    for (int k = 0; k < link->dof_count; k++)
      a->rate_now[link->dof_first + k] = place.kept ? seeds->rate[place.dof + (size_t)k] : 0;
  }
}

/* ---------------------------------------------------------------- steps */

/* Returns the derivatives with respect to state `index` of a recording. An index before the start of the run denotes
 * the first state. */
static StateBar bar_of(const RunAdjoint* a, const Recording* r, int index) {
  int64_t number = r->first_state + index;
  return a->bars[(number > 0 ? number : 0) % BARS_ALIVE];
}

RecordedStep recording_find_step(const Recording* r, int index) {
  const RecordedState* state[4]; /* states after the step, before the step, and two earlier; the first state replaces
                                    states before the start */
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
                        .contact_force_now = recording_state_felt(r, state[1]),
                        .delayed_now = recording_state_delayed(r, state[1]),
                        .contacts_next = r->contacts + state[0]->contact_first_row,
                        .contacts_now = r->contacts + state[1]->contact_first_row,
                        .number = r->first_state + index + 1,
                        .contact_count_next = state[0]->contact_count,
                        .contact_count_now = state[1]->contact_count,
                        .solves = state[0]->solves,
                        .solve_count = state[0]->solve_count,
                        .initial_friction = r->first_row == 0 && index == 1 ? r->guess : NULL,
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

/* Applies the adjoint of the substep that led to state `index`. Adds to `gradient` and to the derivatives with respect
 * to the states before the substep. discount: factor on derivatives propagated back by the substep. */
static StepAdjointReport one_step(RunAdjoint* a, const Recording* r, const LossSeeds* seeds, int index, double discount,
                                  ModelGradient* gradient) {
  const Model* m = a->model;
  const RecordedState* state = &r->states[index];
  RecordedStep recorded = recording_find_step(r, index);
  if (r->first_state + index >=
      BARS_ALIVE - 1) /* start the derivatives of the oldest state that the substep depends on */
    begin_bar(m, seeds, &r->states[index - BARS_ALIVE + 1], bar_of(a, r, index - BARS_ALIVE + 1));
  StateBar next = bar_of(a, r, index), before[3];
  for (int k = 0; k < 3; k++) before[k] = bar_of(a, r, index - 1 - k);
  if (state->row) gather_row(a, seeds, state->step);
  const double* rate = state->row ? a->rate_now : a->no_rate;
  const double(*reaction)[6] =
      seeds->reaction ? (const double(*)[6])(seeds->reaction + (size_t)state->step * (size_t)m->link_count) : NULL;
  const ForceSlopes row = {a->force_now, pair_slopes(seeds, state->step), reaction};
  const ForceSlopes* force = state->row ? &row : NULL;
  if (discount == 1.0)
    return step_adjoint(a->step, &recorded, next, rate, force, before[0], before[1], before[2], gradient);
  for (int k = 0; k < 3; k++) clear_bar(m, a->handed[k]);
  StepAdjointReport report =
      step_adjoint(a->step, &recorded, next, rate, force, a->handed[0], a->handed[1], a->handed[2], gradient);
  step_adjoint_discount(a->step, discount);
  for (int k = 0; k < 3; k++) add_discounted(m, before[k], a->handed[k], discount);
  return report;
}

/* Returns the discount of one substep. The product of the discounts of all substeps of a step is `discount`. */
static double substep_discount(const Recording* r, int step, double discount) {
  int count = recording_substeps(r, step);
  return count == 1 || discount == 1.0 ? discount : math_pow(discount, 1.0 / count);
}

/* Adds to `gradient` the direct derivatives of losses with respect to centres, masses, vertices, signals and gains. */
static void add_direct(const Model* m, const LossSeeds* seeds, ModelGradient* gradient) {
  for (int i = 0; i < m->link_count; i++) model_gradient_center(m, i, seeds->center[i], gradient);
  for (int i = 0; i < m->link_count; i++) gradient->moment[i].s[3][3] += seeds->mass[i];
  for (int k = 0; k < m->vertex_count; k++) gradient->vertices[k] = vec3_add(gradient->vertices[k], seeds->vertices[k]);
  for (int k = 0; k < m->parameter_count; k++) gradient->control[k] += seeds->control[k];
  for (int k = 0; k < m->gain_count; k++) gradient->gains[k] += seeds->gains[k];
}

static void note_step(AdjointReport* report, const StepAdjointReport* step, int number, double* last) {
  report->indefinite_steps += step->indefinite;
  report->rounding += step->rounding;
  if (*last == 0) *last = step->largest_lambda;
  if (report->largest_step >= 0 && step->largest_lambda <= report->step.largest_lambda) return;
  report->step = *step;
  report->largest_step = number;
}

/* Starts the derivatives with respect to the states on which the last step depends, except the oldest state. one_step
 * starts the derivatives with respect to the oldest state. */
static void begin_bars(RunAdjoint* a, const Recording* last, const LossSeeds* seeds) {
  for (int k = 0; k < BARS_ALIVE - 1; k++) {
    int index = last->state_count - 1 - k;
    if (last->first_state + index >= 0) begin_bar(a->model, seeds, &last->states[index], bar_of(a, last, index));
  }
}

/* Applies the adjoint of all steps of one interval of the run (`part`), from the last step to the first. Returns false
 * if a step has no derivative. */
static bool part_backwards(RunAdjoint* a, const Recording* part, const LossSeeds* seeds, double discount,
                           ModelGradient* gradient, AdjointReport* report, double* last) {
  for (int index = part->state_count - 1; index > part->entry; index--) {
    int step = part->states[index].step;
    StepAdjointReport one = one_step(a, part, seeds, index, substep_discount(part, step, discount), gradient);
    if (!one.sound) {
      report->sound = false;
      report->unsound_step = step;
      report->step = one;
      return false;
    }
    note_step(report, &one, step, last);
  }
  return true;
}

/* Converts the derivatives with respect to the first row into derivatives with respect to the initial coordinates and
 * velocities. A stored initial state is constant. */
static void finish_at_start(RunAdjoint* a, const LossSeeds* seeds, const double* q, const Pose* pose,
                            ModelGradient* gradient) {
  gather_row(a, seeds, 0);
  if (!a->model->start) step_adjoint_start(a->step, q, pose, a->bars[0], a->rate_now, gradient);
  add_direct(a->model, seeds, gradient);
  if (seeds->keep_moments) return;
  model_gradient_masses(a->model, gradient);
  model_gradient_shapes(a->model, gradient);
}

AdjointReport run_adjoint(RunAdjoint* a, Recording* r, const LossSeeds* seeds, double discount,
                          ModelGradient* gradient) {
  AdjointReport report = {.sound = true, .largest_step = -1};
  double last = 0;
  const Recording* part = r->parts ? run_segments_last(r->parts) : r;
  assert(!r->keep || r->parts);
  model_gradient_clear(gradient, a->model);
  step_adjoint_begin(a->step);
  if (part) begin_bars(a, part, seeds);
  for (; part; part = r->parts ? run_segments_previous(r->parts) : NULL) {
    if (!part_backwards(a, part, seeds, discount, gradient, &report, &last)) return report;
    if (part->first_row == 0) finish_at_start(a, seeds, part->q, recording_pose(part, 0), gradient);
  }
  report.growth = last > 0 ? report.step.largest_lambda / last : 0;
  return report;
}

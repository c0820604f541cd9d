/* The adjoint chained through time (SDRS Eq. 86-88; docs/derivations/adjoint.md, A1). */
#include <string.h>

#include "differentiate/differentiate.h"

/* A step and the three states before it. */
enum { BARS_ALIVE = 4 };

struct RunAdjoint {
  const Model* model;
  StepAdjoint* step;
  StateBar handed[3];           /* what one step hands to the three states before it, when it is discounted */
  StateBar between[BARS_ALIVE]; /* of states inside steps, by their index */
  double* no_rate;              /* zeros  (nv) */
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
  for (int k = 0; k < BARS_ALIVE; k++) a->between[k] = bar_create(model);
  a->no_rate = MEMORY_NEW(double, model->dof_count);
  return a;
}

void run_adjoint_destroy(RunAdjoint* a) {
  if (!a) return;
  step_adjoint_destroy(a->step);
  for (int k = 0; k < 3; k++) bar_destroy(a->handed[k]);
  for (int k = 0; k < BARS_ALIVE; k++) bar_destroy(a->between[k]);
  memory_free(a->no_rate);
  memory_free(a);
}

static StateBar row_bar(const Model* m, LossSeeds* seeds, int row) {
  size_t at = (size_t)row;
  return (StateBar){seeds->pose + at * (size_t)m->link_count, seeds->q + at * (size_t)m->dof_count};
}

/* Derivatives by a state: a row's are with the loss's own, those of a state inside a step live while they are needed.
 */
static StateBar bar_at(RunAdjoint* a, const Recording* r, LossSeeds* seeds, int index) {
  const RecordedState* state = &r->states[index < 0 ? 0 : index];
  return state->between < 0 ? row_bar(a->model, seeds, state->step) : a->between[index % BARS_ALIVE];
}

static RecordedStep step_to(const Recording* r, int index) {
  const RecordedState* state[4]; /* next, now, old, older; before the start they repeat the first */
  for (int k = 0; k < 4; k++) state[k] = &r->states[index - k > 0 ? index - k : 0];
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
                        .contacts_next = r->contacts + state[0]->contact_first,
                        .contacts_now = r->contacts + state[1]->contact_first,
                        .contact_count_next = state[0]->contact_count,
                        .contact_count_now = state[1]->contact_count};
}

static void clear_bar(const Model* m, StateBar bar) {
  memset(bar.pose, 0, sizeof(double[3][4]) * (size_t)m->link_count);
  memset(bar.q, 0, sizeof(double) * (size_t)m->dof_count);
}

static void add_discounted(const Model* m, StateBar to, StateBar from, double factor) {
  for (int i = 0; i < m->link_count; i++)
    for (int k = 0; k < 12; k++) to.pose[i][k / 4][k % 4] += factor * from.pose[i][k / 4][k % 4];
  for (int k = 0; k < m->dof_count; k++) to.q[k] += factor * from.q[k];
}

/* The substep that led to state `index`. discount: for it. */
static StepAdjointReport one_step(RunAdjoint* a, const Recording* r, LossSeeds* seeds, int index, double discount,
                                  ModelGradient* gradient) {
  const Model* m = a->model;
  const RecordedState* state = &r->states[index];
  RecordedStep recorded = step_to(r, index);
  if (index >= BARS_ALIVE - 1) clear_bar(m, a->between[(index - BARS_ALIVE + 1) % BARS_ALIVE]);
  StateBar next = bar_at(a, r, seeds, index), before[3];
  for (int k = 0; k < 3; k++) before[k] = bar_at(a, r, seeds, index - 1 - k);
  bool row = state->between < 0; /* losses see rows only */
  const double* rate = row ? seeds->rate + (size_t)state->step * (size_t)m->dof_count : a->no_rate;
  const Vec3* force = row ? seeds->force + (size_t)state->step * (size_t)m->link_count : NULL;
  if (discount == 1.0)
    return step_adjoint(a->step, &recorded, next, rate, force, before[0], before[1], before[2], gradient);
  for (int k = 0; k < 3; k++) clear_bar(m, a->handed[k]);
  StepAdjointReport report =
      step_adjoint(a->step, &recorded, next, rate, force, a->handed[0], a->handed[1], a->handed[2], gradient);
  step_adjoint_discount(a->step, discount);
  for (int k = 0; k < 3; k++) add_discounted(m, before[k], a->handed[k], discount);
  return report;
}

/* What is discounted by `discount` a step is so in each of its substeps. */
static double substep_discount(const Recording* r, int step, double discount) {
  int count = recording_substeps(r, step);
  return count == 1 || discount == 1.0 ? discount : math_pow(discount, 1.0 / count);
}

/* Centres, vertices and signals that losses name themselves. */
static void add_direct(const Model* m, const LossSeeds* seeds, ModelGradient* gradient) {
  for (int i = 0; i < m->link_count; i++) model_gradient_center(m, i, seeds->center[i], gradient);
  for (int k = 0; k < m->vertex_count; k++) gradient->vertices[k] = vec3_add(gradient->vertices[k], seeds->vertices[k]);
  for (int k = 0; k < m->parameter_count; k++) gradient->control[k] += seeds->control[k];
}

static void note_step(AdjointReport* report, const StepAdjointReport* step, int number, double* last) {
  report->indefinite_steps += step->indefinite;
  if (*last == 0) *last = step->largest_lambda;
  if (report->largest_step >= 0 && step->largest_lambda <= report->step.largest_lambda) return;
  report->step = *step;
  report->largest_step = number;
}

AdjointReport run_adjoint(RunAdjoint* a, const Recording* r, LossSeeds* seeds, double discount,
                          ModelGradient* gradient) {
  const Model* m = a->model;
  AdjointReport report = {.sound = true, .largest_step = -1};
  double last = 0;
  model_gradient_clear(gradient, m);
  step_adjoint_begin(a->step);
  for (int k = 0; k < BARS_ALIVE; k++) clear_bar(m, a->between[k]);
  for (int index = r->row_state[r->steps]; index > 0; index--) {
    int step = r->states[index].step;
    StepAdjointReport one = one_step(a, r, seeds, index, substep_discount(r, step, discount), gradient);
    if (!one.sound) {
      report.sound = false;
      report.unsound_step = step;
      report.step = one;
      return report;
    }
    note_step(&report, &one, step, &last);
  }
  report.growth = last > 0 ? report.step.largest_lambda / last : 0;
  step_adjoint_start(a->step, r->q, recording_pose(r, 0), row_bar(m, seeds, 0), seeds->rate, gradient);
  add_direct(m, seeds, gradient);
  model_gradient_masses(m, gradient);
  return report;
}

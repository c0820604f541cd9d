/* The adjoint chained through time (SDRS Eq. 86-88; docs/derivations/adjoint.md, A1). */
#include <string.h>

#include "differentiate/differentiate.h"

struct RunAdjoint {
  const Model* model;
  StepAdjoint* step;
  StateBar handed[3]; /* what one step hands to the three states before it, when it is discounted */
};

RunAdjoint* run_adjoint_create(const Model* model, int threads) {
  RunAdjoint* a = MEMORY_NEW(RunAdjoint, 1);
  a->model = model;
  a->step = step_adjoint_create(model, threads);
  for (int k = 0; k < 3; k++) {
    a->handed[k].pose = memory_alloc(sizeof(double[3][4]) * (size_t)model->link_count);
    a->handed[k].q = MEMORY_NEW(double, model->dof_count);
  }
  return a;
}

void run_adjoint_destroy(RunAdjoint* a) {
  if (!a) return;
  step_adjoint_destroy(a->step);
  for (int k = 0; k < 3; k++) {
    memory_free(a->handed[k].pose);
    memory_free(a->handed[k].q);
  }
  memory_free(a);
}

static StateBar bar_at(const Model* m, LossSeeds* seeds, int row) {
  size_t at = row < 0 ? 0 : (size_t)row;
  return (StateBar){seeds->pose + at * (size_t)m->link_count, seeds->q + at * (size_t)m->dof_count};
}

static StepClock clock_of(const Model* m, int step) {
  double dt = m->simulation.dt;
  return (StepClock){(step + 1) * dt, dt, step > 0 ? dt : 0, step > 1 ? dt : 0};
}

static RecordedStep step_at(const Recording* r, int step) {
  const Model* m = r->model;
  size_t nq = (size_t)m->coordinate_count;
  int row[4]; /* next, now, old, older; before the start they repeat the first */
  for (int k = 0; k < 4; k++) row[k] = step + 1 - k > 0 ? step + 1 - k : 0;
  const int* first = r->contact_first;
  return (RecordedStep){.clock = clock_of(m, step),
                        .q_next = r->q + (size_t)row[0] * nq,
                        .q_now = r->q + (size_t)row[1] * nq,
                        .q_old = r->q + (size_t)row[2] * nq,
                        .pose_next = recording_pose(r, row[0]),
                        .pose_now = recording_pose(r, row[1]),
                        .pose_old = recording_pose(r, row[2]),
                        .pose_older = recording_pose(r, row[3]),
                        .contacts_next = r->contacts + first[row[0]],
                        .contacts_now = r->contacts + first[row[1]],
                        .contact_count_next = first[row[0] + 1] - first[row[0]],
                        .contact_count_now = first[row[1] + 1] - first[row[1]]};
}

static void clear_handed(RunAdjoint* a) {
  for (int k = 0; k < 3; k++) {
    memset(a->handed[k].pose, 0, sizeof(double[3][4]) * (size_t)a->model->link_count);
    memset(a->handed[k].q, 0, sizeof(double) * (size_t)a->model->dof_count);
  }
}

static void add_discounted(const Model* m, StateBar to, StateBar from, double factor) {
  for (int i = 0; i < m->link_count; i++)
    for (int k = 0; k < 12; k++) to.pose[i][k / 4][k % 4] += factor * from.pose[i][k / 4][k % 4];
  for (int k = 0; k < m->dof_count; k++) to.q[k] += factor * from.q[k];
}

static StepAdjointReport one_step(RunAdjoint* a, const Recording* r, LossSeeds* seeds, int step, double discount,
                                  ModelGradient* gradient) {
  const Model* m = a->model;
  RecordedStep recorded = step_at(r, step);
  StateBar next = bar_at(m, seeds, step + 1), before[3];
  for (int k = 0; k < 3; k++) before[k] = bar_at(m, seeds, step - k);
  const double* rate = seeds->rate + (size_t)(step + 1) * (size_t)m->dof_count;
  const Vec3* force = seeds->force + (size_t)(step + 1) * (size_t)m->link_count;
  if (discount == 1.0)
    return step_adjoint(a->step, &recorded, next, rate, force, before[0], before[1], before[2], gradient);
  clear_handed(a);
  StepAdjointReport report =
      step_adjoint(a->step, &recorded, next, rate, force, a->handed[0], a->handed[1], a->handed[2], gradient);
  for (int k = 0; k < 3; k++) add_discounted(m, before[k], a->handed[k], discount);
  return report;
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
  for (int step = r->steps - 1; step >= 0; step--) {
    StepAdjointReport one = one_step(a, r, seeds, step, discount, gradient);
    if (!one.sound) {
      report.sound = false;
      report.unsound_step = step + 1;
      report.step = one;
      return report;
    }
    note_step(&report, &one, step + 1, &last);
  }
  report.growth = last > 0 ? report.step.largest_lambda / last : 0;
  step_adjoint_start(a->step, r->q, recording_pose(r, 0), bar_at(m, seeds, 0), seeds->rate, gradient);
  add_direct(m, seeds, gradient);
  model_gradient_masses(m, gradient);
  return report;
}

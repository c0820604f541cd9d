/* Derivatives of a random linear function of all poses of a run with respect to the variables of a task, forwards
 * (identify.md, Q1) and backwards (adjoint.md, A1). Both are u^T J with the Jacobian J of the run, so they are equal.
 */
#ifndef SDRS_TESTS_BOTH_WAYS_H
#define SDRS_TESTS_BOTH_WAYS_H

#include "optimize/design.h"
#include "unit/scene/task_testing.h"

typedef struct {
  Task task;
  Design design;
  Model model;
  Recording recording;
  LossSeeds seeds;
  double* forward;  /* (variables) */
  double* backward; /* (variables) */
  bool sound;       /* false if a step has no derivative */
  Diagnostics diagnostics;
} BothWays;

static void both_ways_chain(void* context, const ModelGradient* gradient, double* row) {
  const BothWays* b = context;
  design_gradient(&b->design, 0, &b->model, gradient, 1, row);
}

static void both_ways_visit(void* context, StepForward* forward, int row) {
  BothWays* b = context;
  const Recording* r = &b->recording;
  const RecordedState* state = &r->states[r->row_state[row]];
  size_t links = (size_t)b->model.link_count;
  step_forward_row(forward, recording_state_q(r, state), recording_state_pose(r, state), 0,
                   b->seeds.pose + (size_t)row * links, b->forward);
}

/* Weights on every fifth row, so that late rows do not hide the others. */
static inline void both_ways_seed(BothWays* b, uint64_t seed) {
  Random random = {seed};
  int links = b->model.link_count;
  for (int row = 0; row <= b->recording.steps; row += 5)
    for (int i = 0; i < links; i++)
      for (int k = 0; k < 12; k++) b->seeds.pose[row * links + i][k / 4][k % 4] = random_normal(&random);
}

/* Runs the scene of the task `text` and differentiates the run in both directions. seed: of the weights. Free the
 * result with both_ways_free. */
static inline BothWays both_ways(const char* text, uint64_t seed) {
  BothWays b = {.task = load_task(text)};
  Status status = design_create(&b.design, &b.task, &b.diagnostics);
  if (status == STATUS_OK) status = model_create(&b.model, &b.task.scenarios[0].scene, &b.diagnostics);
  if (status != STATUS_OK) fail_msg("%s", told(&b.diagnostics));
  int n = b.design.variable_count, failed;
  b.forward = MEMORY_NEW(double, n);
  b.backward = MEMORY_NEW(double, n);
  recording_create(&b.recording, &b.model, b.model.simulation.steps);
  RecordOptions options = {.threads = 1};
  RecordReport report;
  if (recording_run(&b.recording, &b.model, &options, &report, &b.diagnostics) != STATUS_OK)
    fail_msg("%s\n%s", told(&b.diagnostics), text);
  b.seeds = loss_seeds_create(&b.model, b.model.simulation.steps);
  both_ways_seed(&b, seed);
  ModelGradient gradient;
  model_gradient_create(&gradient, &b.model);
  RunAdjoint* adjoint = run_adjoint_create(&b.model, 1);
  b.sound = run_adjoint(adjoint, &b.recording, &b.seeds, 1, &gradient).sound;
  design_gradient(&b.design, 0, &b.model, &gradient, 1, b.backward);
  run_adjoint_destroy(adjoint);
  model_gradient_destroy(&gradient);
  StepForward* forward = step_forward_create(&b.model, n, both_ways_chain, &b);
  b.sound = recording_forward(forward, &b.recording, both_ways_visit, &b, &failed) && b.sound;
  step_forward_destroy(forward);
  return b;
}

/* Returns the number of substeps that end as `end`. */
static inline int both_ways_ends(const BothWays* b, StepEnd end) {
  int count = 0;
  for (int k = 0; k < b->recording.state_count; k++) count += b->recording.states[k].clock.end == end;
  return count;
}

static inline void both_ways_free(BothWays* b) {
  loss_seeds_destroy(&b->seeds);
  recording_destroy(&b->recording);
  model_destroy(&b->model);
  design_destroy(&b->design);
  task_free(&b->task);
  memory_free(b->forward);
  memory_free(b->backward);
  diagnostics_free(&b->diagnostics);
}

#endif

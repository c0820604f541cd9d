/* `success` terms of a task: losses with an upper bound that the final design must meet. The optimizer does not
 * minimize them. */
#include <assert.h>
#include <string.h>

#include "optimize/optimization.h"

struct Success {
  Loss** loss; /* `success` terms of every scenario (size: scenarios) */
  int scenario_count, count;
  double *value, *bound; /* value and upper bound of each term (size: count) */
};

/* Returns a task whose losses are the `success` terms, over the whole run. The caller frees its array of scenarios; the
 * rest is borrowed. */
static Task create_success_task(const Task* task) {
  Task judging = *task;
  size_t size = sizeof(TaskScenario) * (size_t)task->scenario_count;
  judging.losses = task->success;
  judging.loss_count = task->success_count;
  judging.subject_count = 0;
  judging.scenarios = memcpy(memory_alloc(size), task->scenarios, size);
  if (task->receding.steps > 0) judging.scenarios[0].steps = task->receding.steps;
  return judging;
}

Status success_create(Success** out, const Optimization* o, Diagnostics* diagnostics) {
  const Task* task = o->task;
  *out = NULL;
  if (task->success_count == 0) return STATUS_OK;
  Success* s = *out = MEMORY_NEW(Success, 1);
  s->scenario_count = o->run_count;
  s->count = task->success_count;
  s->loss = MEMORY_NEW(Loss*, s->scenario_count);
  s->value = MEMORY_NEW(double, s->count);
  s->bound = MEMORY_NEW(double, s->count);
  for (int i = 0; i < s->count; i++) {
    s->value[i] = NAN;
    s->bound[i] = task->success[i].bound;
  }
  Task judging = create_success_task(task);
  Status status = STATUS_OK;
  for (int k = 0; k < s->scenario_count && status == STATUS_OK; k++)
    status = loss_create(&s->loss[k], &judging, k, &o->runs[k].model, diagnostics);
  memory_free(judging.scenarios);
  return status;
}

void success_destroy(Success* s) {
  if (!s) return;
  for (int k = 0; k < s->scenario_count; k++) loss_destroy(s->loss[k]);
  memory_free(s->loss);
  memory_free(s->value);
  memory_free(s->bound);
  memory_free(s);
}

bool success_is_known_in_search(const Optimization* o) {
  if (!o->success || o->draws || o->function.evaluate || o->task->receding.steps > 0) return false;
  for (int i = 0; i < o->task->success_count; i++)
    if (o->task->success[i].type == LOSS_FORCE && o->task->success[i].other.text) return false;
  return true;
}

/* Returns true if the values of a scenario are within their bounds, values[terms]. NaN is not. */
static bool terms_are_met(const Success* s, int scenario, const double* values) {
  bool met = true;
  for (int i = 0; i < s->count; i++) met = met && (values[i] <= s->bound[i] || !loss_is_active(s->loss[scenario], i));
  return met;
}

bool success_is_met(const Optimization* o, ScenarioRun* run) {
  assert(run);
  int scenario = (int)(run - o->runs);
  loss_evaluate(o->success->loss[scenario], &run->recording, run->success_terms, NULL);
  return terms_are_met(o->success, scenario, run->success_terms);
}

const Loss* success_loss(const Success* s, int scenario) {
  assert(scenario >= 0 && scenario < s->scenario_count);
  return s->loss[scenario];
}

void success_add_scenario(Success* s, int scenario, const double* values) {
  for (int i = 0; i < s->count; i++) {
    double value = values ? values[i] : (double)NAN;
    if (scenario == 0) s->value[i] = -HUGE_VAL;
    if (values && !loss_is_active(s->loss[scenario], i)) continue;
    if (!(value <= s->value[i]) && !isnan(s->value[i]))
      s->value[i] = value; /* a term that is NaN in one scenario stays NaN */
  }
}

/* Simulates a design x[variables] in a scenario and sets values[terms] to its success terms. Leaves them unchanged if
 * the run fails. Returns the status of the run. */
static Status simulate_and_evaluate(Optimization* o, const double* x, int scenario, DrawIndex moment, int threads,
                                    double* values) {
  Diagnostics unsaid = {0};
  RecordOptions options = {.threads = threads, .interrupted = o->options.interrupted};
  Model model;
  RecordReport report;
  int count;
  ModelOverride* overrides = optimization_overrides(o, x, scenario, moment, &count);
  Status status = model_create_with(&model, &o->task->scenarios[scenario].scene, overrides, count, &unsaid);
  memory_free(overrides);
  if (status == STATUS_OK) {
    int steps = task_step_count(o->task->scenarios[scenario].steps, model.simulation.steps);
    RowSelection keep = row_selection_create(&model, steps);
    Recording recording;
    loss_select_rows(o->success->loss[scenario], &model, &keep);
    row_selection_compute_offsets(&keep, &model);
    recording_create_selective(&recording, &model, steps, &keep);
    loss_record_pair_forces(o->success->loss[scenario], steps, &recording, NULL);
    status = recording_run(&recording, &model, &options, &report, &unsaid);
    if (status == STATUS_OK) loss_evaluate(o->success->loss[scenario], &recording, values, NULL);
    recording_destroy(&recording);
    row_selection_destroy(&keep);
  }
  model_destroy(&model);
  diagnostics_free(&unsaid);
  return status;
}

Status optimization_evaluate_success(Optimization* o) {
  Success* s = o->success;
  if (!s) return STATUS_OK;
  Status worst = STATUS_OK;
  double* values = MEMORY_NEW(double, s->count);
  for (int k = 0; k < s->scenario_count; k++) {
    int owner = k % processes_count();
    for (int i = 0; i < s->count; i++) values[i] = NAN;
    Status status = STATUS_OK;
    if (owner == processes_rank())
      status = simulate_and_evaluate(o, o->best_x, k, (DrawIndex){0}, o->options.threads, values);
    processes_broadcast(values, sizeof(double) * (size_t)s->count, owner);
    success_add_scenario(s, k, values);
    if (status == STATUS_INTERRUPTED) worst = status;
  }
  memory_free(values);
  worst = (Status)processes_max((int)worst);
  for (int i = 0; i < s->count && worst != STATUS_OK; i++) s->value[i] = NAN;
  return worst;
}

Status success_simulate(Optimization* o, int scenario, DrawIndex draw, bool* met) {
  assert(scenario >= 0 && met);
  const Success* s = o->success;
  double* values = MEMORY_NEW(double, s->count);
  for (int i = 0; i < s->count; i++) values[i] = NAN;
  Status status = simulate_and_evaluate(o, o->best_x, scenario, draw, 1, values);
  *met = terms_are_met(s, scenario, values);
  memory_free(values);
  return status;
}

static bool design_is_successful(Optimization* o, const double* x) {
  const Success* s = o->success;
  double* values = MEMORY_NEW(double, s->count);
  bool met = true;
  for (int k = 0; k < s->scenario_count && met; k++)
    met = simulate_and_evaluate(o, x, k, (DrawIndex){0}, o->options.threads, values) == STATUS_OK &&
          terms_are_met(s, k, values);
  memory_free(values);
  return met;
}

void success_restore(Optimization* o) {
  if (!success_is_known_in_search(o)) return;
  o->is_successful = design_is_successful(o, o->x);
  o->best_is_successful = o->best_iteration == o->iteration ? o->is_successful : design_is_successful(o, o->best_x);
}

int optimization_success_count(const Optimization* o) { return o->success ? o->success->count : 0; }

SuccessTerm optimization_success(const Optimization* o, int i) {
  assert(o->success && i >= 0 && i < o->success->count);
  const Success* s = o->success;
  return (SuccessTerm){loss_name(s->loss[0], i), s->value[i], s->bound[i], s->value[i] <= s->bound[i]};
}

bool optimization_succeeded(const Optimization* o) {
  bool all = true;
  for (int i = 0; i < optimization_success_count(o); i++) all = all && optimization_success(o, i).met;
  return all;
}

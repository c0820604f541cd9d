/* Simulates the best design of an optimization with half the time step, and compares its loss and its success. */
#include <assert.h>
#include "app/design_run.h"

/* The result depends on the time step if half the step changes the loss by more than two bounds. They are STEP_SHARE of
 * the loss, and GAIN_SHARE of the decrease that the optimization achieved. A loss near zero can change by any fraction,
 * so the achieved decrease counts, too. */
#define STEP_SHARE 0.1
#define GAIN_SHARE 0.01

static bool interrupted(void) { return interrupt_signal() != 0; }

static bool has_simulation(const Task* task) {
  for (int k = 0; k < task->scenario_count; k++)
    if (task->scenarios[k].steps != TASK_KINEMATIC) return true;
  return false;
}

/* Simulates the best design in a scenario with half the time step. Computes the losses of `task`. The caller frees *out
 * with refined_run_free. */
static Status run_scenario(DesignRun* run, const Task* task, int scenario, RefinedRun* out) {
  assert(scenario >= 0 && scenario < task->scenario_count);
  RecordOptions options = {.threads = run->options->threads, .interrupted = interrupted};
  options.tolerance = run->task.optimizer.tolerance;
  Diagnostics unsaid = {0};
  RefinedRunInput subject = {optimization_scene(run->optimization, scenario, true), task, scenario, 1};
  Status status = refined_run(out, &subject, 2, &options, &unsaid);
  diagnostics_free(&unsaid);
  return status;
}

/* Returns the loss of the best design with half the time step, summed over scenarios with their weights. Returns NaN if
 * a run fails. */
static double compute_half_step_loss(DesignRun* run) {
  double sum = 0;
  for (int k = 0; k < run->task.scenario_count && isfinite(sum); k++) {
    RefinedRun refined;
    Status status = run_scenario(run, &run->task, k, &refined);
    sum = status == STATUS_OK ? sum + run->task.scenarios[k].weight * refined.value : (double)NAN;
    refined_run_free(&refined);
  }
  return sum;
}

/* Evaluates the success criteria with half the time step. Sets values[success_count] to the largest value over the
 * scenarios, or to NaN if a run fails. */
static void compute_half_step_success(DesignRun* run, double* values) {
  Task judging = run->task;
  judging.losses = run->task.success;
  judging.loss_count = run->task.success_count;
  judging.subject_count = 0;
  for (int i = 0; i < judging.loss_count; i++) values[i] = -HUGE_VAL;
  for (int k = 0; k < run->task.scenario_count; k++) {
    RefinedRun refined;
    bool ran = run_scenario(run, &judging, k, &refined) == STATUS_OK;
    for (int i = 0; i < judging.loss_count; i++)
      if (!ran)
        values[i] = NAN;
      else if (loss_is_active(refined.loss, i) && !isnan(values[i]))
        values[i] = isnan(refined.terms[i]) ? (double)NAN : fmax(values[i], refined.terms[i]);
    refined_run_free(&refined);
  }
}

void design_run_simulate_half_step(DesignRun* run) {
  const Task* task = &run->task;
  HalfStep* half = &run->half_step;
  if (!has_simulation(task) || option_given(run->options, "no-converge") || interrupted()) return;
  double best = optimization_best_loss(run->optimization);
  double gained = fabs(optimization_rows(run->optimization)[0].loss - best);
  half->loss = compute_half_step_loss(run);
  half->differs = !(fabs(half->loss - best) <= fmax(STEP_SHARE * fabs(best), GAIN_SHARE * gained));
  if (task->success_count > 0 && task->draw_count == 0) {
    half->success = MEMORY_NEW(double, task->success_count);
    compute_half_step_success(run, half->success);
  }
  half->given = !interrupted();
}

/* Returns the index of the first criterion that the best design meets with the full but not with half the time step, or
 * -1. */
static int find_unmet_criterion(const DesignRun* run) {
  const Optimization* o = run->optimization;
  for (int i = 0; run->half_step.success && optimization_succeeded(o) && i < optimization_success_count(o); i++)
    if (!(run->half_step.success[i] <= optimization_success(o, i).bound)) return i;
  return -1;
}

static void add_number(Text* out, double value) {
  text_add(out, isfinite(value) ? "%.6g" : "not available, because a run fails", value);
}

void design_run_warn_half_step(const DesignRun* run) {
  const HalfStep* half = &run->half_step;
  int lost = find_unmet_criterion(run);
  if (!half->given || run->options->quiet || (!half->differs && lost < 0)) return;
  Text line = {0};
  text_add(&line, "with half the time step the design's loss is ");
  add_number(&line, half->loss);
  text_add(&line, " instead of %.6g", optimization_best_loss(run->optimization));
  if (lost >= 0) {
    SuccessTerm term = optimization_success(run->optimization, lost);
    text_add(&line, ", and success fails by %s: ", term.name);
    add_number(&line, half->success[lost]);
    text_add(&line, " (at most %.6g)", term.bound);
  }
  fprintf(stderr, "%s: %s: sdrs converge %s/best.scene.yaml", run->task.name, line.data, run->folder);
  if (run->task.scenario_count == 1) {
    const TaskScenario* only = &run->task.scenarios[0];
    int steps = task_step_count(only->steps, only->scene.simulation.steps);
    fprintf(stderr, " compares time steps; --set scene.simulation.dt=%.6g --set steps=%d optimizes with half the step",
            only->scene.simulation.dt / 2, 2 * steps);
  }
  fprintf(stderr, "\n");
  text_free(&line);
}

/* sdrs bench gradient TASK: the time of a run and of its gradient, and their ratio. */
#include "app/bench.h"
#include "optimize/optimize.h"

/* Number of repetitions, of which the median is reported. Other processes disturb single times. */
enum { REPEATS = 7 };

static Status time_repeats(Optimization* o, double forward[REPEATS], double adjoint[REPEATS],
                           Diagnostics* diagnostics) {
  double forward_before, adjoint_before, forward_after, adjoint_after;
  for (int k = 0; k < REPEATS; k++) {
    optimization_times(o, &forward_before, &adjoint_before);
    Status status = optimization_start(o, diagnostics);
    if (status != STATUS_OK) return status;
    optimization_times(o, &forward_after, &adjoint_after);
    forward[k] = 1e3 * (forward_after - forward_before);
    adjoint[k] = 1e3 * (adjoint_after - adjoint_before);
  }
  return STATUS_OK;
}

static void print_times(const Task* task, const Optimization* o, double* forward, double* adjoint) {
  double run = bench_median(forward, REPEATS), back = bench_median(adjoint, REPEATS);
  Text table = {0};
  text_add(&table, "task,variables,scenarios,forward_ms,adjoint_ms,ratio\n%s,%d,%d,%.4g,%.4g,%.3f\n", task->name,
           optimization_variable_count(o), task->scenario_count, run, back, (run + back) / run);
  fputs(table.data, stdout);
  text_free(&table);
}

ExitCode bench_gradient(const Options* options) {
  Task task = {0};
  Diagnostics diagnostics = {0};
  Optimization* optimization = NULL;
  OptimizationOptions settings = {options->threads, NULL};
  double forward[REPEATS], adjoint[REPEATS];
  Status status = task_load(&task, options->operands[1], options->overrides, options->override_count, &diagnostics);
  if (status == STATUS_OK) status = optimization_create(&optimization, &task, &settings, &diagnostics);
  if (status == STATUS_OK) status = time_repeats(optimization, forward, adjoint, &diagnostics);
  print_diagnostics(options, &diagnostics);
  if (status == STATUS_OK) print_times(&task, optimization, forward, adjoint);
  optimization_destroy(optimization);
  task_free(&task);
  diagnostics_free(&diagnostics);
  return status_exit_code(status);
}

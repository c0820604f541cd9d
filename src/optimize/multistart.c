/* Multistart: several searches from different designs. The first starts at the task's initial values, the others
 * start at random designs. The best design is the best of all starts. */
#include <string.h>

#include "optimize/optimization.h"

/* Range of random designs for a variable without bounds, in steps of its block. */
#define OPEN_REACH 10.0
/* Largest number of designs that are drawn for a start until one can be simulated. */
enum { DRAWS_MOST = 20 };

/* Sets x[variables] to a random design (update.md, O17). Each design has its own random stream and uses one random
 * number per variable, so that the bounds of a variable do not affect the others. */
static void draw_start(const Optimization* o, int start, int number, double* x) {
  const TaskOptimizer* settings = &o->task->optimizer;
  Random random = {o->task->seed};
  random.state = random_bits(&random) + (uint64_t)start;
  random.state = random_bits(&random) + (uint64_t)number;
  for (int k = 0; k < o->design.variable_count; k++) {
    const DesignVariable* v = &o->design.variables[k];
    double reach = OPEN_REACH * (v->block == 0 ? settings->design_step : settings->control_step);
    if (o->unit) reach *= o->unit[k];
    double low = v->low > -HUGE_VAL ? v->low : fmin(v->initial, v->high) - reach;
    double high = v->high < HUGE_VAL ? v->high : fmax(v->initial, v->low) + reach;
    x[k] = random_uniform(&random, low, high);
  }
  (void)optimizer_project(o->optimizer,
                          x); /* the result is ignored, because the feasible set is known to be nonempty */
}

bool multistart_has_next(const Optimization* o) {
  bool over = o->stop == STOP_ITERATIONS || o->stop == STOP_STALL || o->stop == STOP_SHORT_STEP || o->stop == STOP_FLAT;
  return over && o->start + 1 < o->task->multistart;
}

/* Moves the first drawn design of a start until it can be simulated, and simulates it. Returns the outcome. */
static TrialOutcome run_moved(Optimization* o, int start, bool* interrupted) {
  double* drawn = MEMORY_NEW(double, o->design.variable_count);
  draw_start(o, start, 0, drawn);
  bool moved = move_to_valid_start(o, drawn);
  memory_free(drawn);
  return moved ? optimization_set_current(o, interrupted) : TRIAL_INVALID;
}

/* Simulates the drawn designs of a start until one succeeds. If none does, moves the first drawn design until it can
 * be simulated. Returns false if no such design is found, or if interrupted. */
static bool find_start(Optimization* o, int start, bool* interrupted) {
  TrialOutcome outcome = TRIAL_INVALID;
  bool invalid = true;
  for (int number = 0; number < DRAWS_MOST && outcome != TRIAL_ACCEPTED; number++) {
    draw_start(o, start, number, o->x);
    outcome = optimization_set_current(o, interrupted);
    if (*interrupted) return false;
    invalid = invalid && outcome == TRIAL_INVALID;
  }
  if (invalid) outcome = run_moved(o, start, interrupted);
  return outcome == TRIAL_ACCEPTED && !*interrupted;
}

static void note_unstarted(Optimization* o) {
  memory_free(o->failed_start_reason);
  o->failed_start_reason = o->reason ? memory_copy_text(o->reason) : NULL;
}

int optimization_failed_starts(const Optimization* o, const char** reason) {
  int begun = 0;
  for (int k = 0; k <= o->iteration; k++) begun += k == 0 || o->rows[k].outcome == TRIAL_START;
  *reason = o->failed_start_reason ? o->failed_start_reason : "";
  return o->start + 1 - begun;
}

Status multistart_next(Optimization* o) {
  bool interrupted = false;
  OptimizationStop reason = o->stop;
  o->next_start_is_pending =
      true; /* the current design is invalid from here on: after an interruption the search resumes at this point */
  o->stop = STOP_NOT_YET;
  while (o->start + 1 < o->task->multistart) {
    continuation_reset_optimizer(o);
    bool found = find_start(o, o->start + 1, &interrupted);
    if (interrupted) return STATUS_INTERRUPTED;
    o->start++;
    if (!found) {
      note_unstarted(o);
      continue;
    }
    o->next_start_is_pending = false;
    o->stuck = false;
    o->since_update = o->since_check = 0;
    o->first_iteration = ++o->iteration;
    optimization_record_start(o);
    return STATUS_OK;
  }
  o->next_start_is_pending = false;
  o->stop = reason == STOP_NOT_YET ? STOP_ITERATIONS : reason;
  return STATUS_OK;
}

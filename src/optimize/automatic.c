/* Choice of the method for `optimizer: auto` (O23). The first method is L-BFGS. If its steps no longer achieve the
 * decrease that gradients predict, CMA-ES follows, then Adam with shorter steps, then CMA-ES again from the best
 * design. Changes depend only on results of trials and iteration counts, so a resumed search makes the same changes. */
#include <string.h>

#include "optimize/optimization.h"

/* The search leaves L-BFGS if at least WEAK_MOST of the last WATCHED trials were weak. */
enum { WATCHED = 10, WEAK_MOST = 7 };
/* A trial is weak if its gain is less than this fraction of the decrease that the gradient predicts. For comparison,
 * the step to the minimum of a parabola gains half of the predicted decrease. */
#define GAIN_LEAST 0.1
/* L-BFGS has converged if the predicted gain of the trial is below this fraction of the total gain so far. The
 * predicted gain of a full step must also not exceed the total gain. */
#define PREDICTED_LEAST 1e-9
/* The method changes if PATIENCE iterations improved the best loss by less than PROGRESS_LEAST of its value. CMA-ES
 * also runs for at least GENERATIONS generations. Adam starts at most RESTARTS_MOST times. */
enum { PATIENCE = 20, GENERATIONS = 6, RESTARTS_MOST = 3 };
#define PROGRESS_LEAST 0.01
/* The steps are multiplied by this factor when the method changes to Adam. In a search with bundles, Adam begins
 * with this factor. */
#define RESTART_STEP 0.25
/* Standard deviation of the first samples of CMA-ES, in steps. It is a fifth of the range of a variable, because the
 * default step is a twentieth of the range. */
#define SAMPLE_STEP 4

static bool is_automatic(const Optimization* o) { return o->task->optimizer.type == OPTIMIZER_AUTO; }

/* Returns true if gradients are random because of draws or bundles. Differences of such gradients give no
 * information on curvature. */
static bool is_noisy(const Optimization* o) { return draws_change(o) || o->task->bundle > 0; }

static void forget(Automatic* a) {
  a->tried = 0;
  a->weak = 0;
  a->mark = HUGE_VAL;
  a->mark_iteration = 0;
}

void automatic_begin(Optimization* o) {
  Automatic* a = &o->automatic;
  a->method = o->task->optimizer.type;
  a->factor = 1;
  a->restarts = 0;
  a->return_to_best = false;
  forget(a);
  if (!is_automatic(o)) return;
  a->method = is_noisy(o) ? OPTIMIZER_ADAM : OPTIMIZER_LBFGS;
  if (is_noisy(o) && !draws_change(o)) a->factor = RESTART_STEP;
}

TaskOptimizer automatic_settings(const Optimization* o) {
  TaskOptimizer settings = o->task->optimizer;
  settings.type = o->automatic.method;
  double* steps[2] = {&settings.design_step, &settings.control_step};
  for (int block = 0; block < 2; block++) {
    bool samples = settings.type == OPTIMIZER_CMA_ES && is_automatic(o);
    *steps[block] = o->step[block] * o->automatic.factor * (samples ? SAMPLE_STEP : 1);
  }
  return settings;
}

void automatic_create_optimizer(Optimization* o) {
  TaskOptimizer settings = automatic_settings(o);
  optimizer_destroy(o->optimizer);
  o->optimizer = optimizer_create_scaled(&settings, &o->design.set, o->unit);
  memory_free(o->spare_state);
  o->spare_state = MEMORY_NEW(double, optimizer_state_size(o->optimizer));
}

/* ---------------------------------------------------------------- changes */

static void change(Optimization* o, TaskOptimizerType to, double factor, MethodReason reason, int count) {
  Automatic* a = &o->automatic;
  if (a->change_count < METHOD_CHANGES_MAX)
    a->changes[a->change_count++] = (MethodChange){o->iteration, a->method, to, reason, count};
  /* The current design of L-BFGS is already the best one, unless the best one is kept because it meets `success`. */
  a->return_to_best = a->method != OPTIMIZER_LBFGS || o->meets != o->best_meets;
  a->method = to;
  a->factor = factor;
  forget(a);
  a->mark_iteration = o->iteration;
  automatic_create_optimizer(o);
}

static int count_bits(unsigned bits) {
  int count = 0;
  for (; bits; bits &= bits - 1) count++;
  return count;
}

/* Returns true if CMA-ES can be used. CMA-ES ranks samples by their loss, so the loss must not change between
 * samples. Draws and multipliers change the loss. */
static bool can_sample(const Optimization* o) { return !o->subjects && !is_noisy(o) && !o->function.evaluate; }

static double gained_so_far(const Optimization* o) { return fmax(o->rows[o->first_iteration].loss - o->best_worth, 0); }

/* Returns true if the task has at least as many iterations as variables. With fewer samples CMA-ES cannot adapt its
 * covariance. */
static bool has_time_to_sample(const Optimization* o) {
  return o->task->optimizer.iterations >= o->design.variable_count;
}

/* Changes the method to CMA-ES if possible, otherwise to Adam with steps multiplied by RESTART_STEP. If there are
 * too few iterations to adapt the covariance, CMA-ES is used only before the first start of Adam; afterwards Adam
 * and L-BFGS alternate. Returns false if Adam has no starts left. */
static bool change_from(Optimization* o, MethodReason reason, int count) {
  Automatic* a = &o->automatic;
  bool time = has_time_to_sample(o) || a->restarts == 0;
  bool samples = a->method != OPTIMIZER_CMA_ES && can_sample(o) && time;
  bool curvature = a->method == OPTIMIZER_ADAM && can_sample(o) && !time;
  bool adam = !samples && !curvature;
  if (adam && a->restarts == RESTARTS_MOST) return false;
  a->restarts += adam;
  TaskOptimizerType to = samples ? OPTIMIZER_CMA_ES : curvature ? OPTIMIZER_LBFGS : OPTIMIZER_ADAM;
  change(o, to, a->factor * (adam ? RESTART_STEP : 1), reason, count);
  return true;
}

/* Returns true if CMA-ES can be used and the best design fails the task's `success`. Simulates the best design to
 * evaluate `success`. An interrupted evaluation counts as a failure. */
static bool needs_samples(Optimization* o) {
  if (!can_sample(o) || optimization_success_count(o) == 0) return false;
  (void)optimization_evaluate_success(o);
  return !optimization_succeeded(o);
}

/* Returns true if CMA-ES searches because L-BFGS ended in a minimum. Gradients are then useful, and L-BFGS can descend
 * from a better sample. */
static bool can_descend_again(const Optimization* o) {
  const Automatic* a = &o->automatic;
  if (a->method != OPTIMIZER_CMA_ES || a->change_count == 0) return false;
  const MethodChange* last = &a->changes[a->change_count - 1];
  return last->from == OPTIMIZER_LBFGS && last->reason != CHANGE_SHORT_OF_PREDICTION && last->reason != CHANGE_NO_SLOPE;
}

static bool watch_progress(Optimization* o, bool can_step) {
  Automatic* a = &o->automatic;
  if (draws_change(o))
    return can_step; /* the best design is unknown, because the loss of a design depends on its draws */
  if (!(a->mark - o->best_worth <= PROGRESS_LEAST * fabs(o->best_worth))) {
    if (a->mark < HUGE_VAL && can_descend_again(o)) {
      change(o, OPTIMIZER_LBFGS, a->factor, CHANGE_BETTER_SAMPLE, 0);
      return true;
    }
    a->mark = o->best_worth;
    a->mark_iteration = o->iteration;
  }
  int idle = o->iteration - a->mark_iteration;
  int generations = has_time_to_sample(o) ? GENERATIONS * optimizer_samples(o->optimizer) : 0;
  return (can_step && (idle < PATIENCE || idle < generations)) || change_from(o, CHANGE_NO_PROGRESS, idle) || can_step;
}

/* Returns true if the gradient predicts that a step of full length gains more than the total gain so far. The
 * current design is then no minimum, even if the last step was small. The step stays within the bounds. */
static bool promises_more(const Optimization* o) {
  int count = o->design.variable_count;
  double promised = 0, *ahead = MEMORY_NEW(double, count);
  for (int k = 0; k < count; k++) {
    double step = o->step[o->design.variables[k].block] * (o->unit ? o->unit[k] : 1);
    ahead[k] = o->x[k] - (o->gradient[k] > 0 ? step : o->gradient[k] < 0 ? -step : 0);
  }
  if (optimizer_project(o->optimizer, ahead))
    for (int k = 0; k < count; k++) promised -= o->gradient[k] * (ahead[k] - o->x[k]);
  memory_free(ahead);
  return promised > gained_so_far(o);
}

static bool watch_lbfgs(Optimization* o, bool weak, double predicted, bool can_step) {
  Automatic* a = &o->automatic;
  bool converged = predicted < PREDICTED_LEAST * gained_so_far(o) && !promises_more(o);
  weak = weak && !converged;
  a->weak = ((a->weak << 1) | weak) & ((1u << WATCHED) - 1);
  if (!can_step && !converged && !o->subjects) return change_from(o, CHANGE_SHORT_STEP, 0);
  if (!can_step && needs_samples(o)) return change_from(o, CHANGE_NO_SUCCESS, 0);
  if (a->tried >= WATCHED && count_bits(a->weak) >= WEAK_MOST)
    return change_from(o, CHANGE_SHORT_OF_PREDICTION, count_bits(a->weak));
  return converged || !can_sample(o) || !has_time_to_sample(o) ? can_step : watch_progress(o, can_step);
}

bool automatic_update(Optimization* o, TrialOutcome outcome, double gained, double predicted, bool can_step) {
  Automatic* a = &o->automatic;
  if (!is_automatic(o) || continuation_is_active(o, o->iteration)) return can_step;
  bool weak = outcome != TRIAL_ACCEPTED || !(gained >= GAIN_LEAST * predicted);
  a->tried++;
  if (a->method == OPTIMIZER_LBFGS) return watch_lbfgs(o, weak, predicted, can_step);
  return watch_progress(o, can_step);
}

bool automatic_handle_zero_gradient(Optimization* o) {
  bool first = o->iteration == o->first_iteration && o->automatic.tried == 0, flat = true;
  if (!is_automatic(o) || optimizer_is_gradient_free(o->optimizer)) return false;
  bool by_pairs = o->automatic.method == OPTIMIZER_LBFGS && o->automatic.tried > 0 && !o->subjects;
  if (by_pairs && promises_more(o)) return change_from(o, CHANGE_SHORT_STEP, 0);
  if (!can_sample(o)) return false;
  for (int k = 0; k < o->design.variable_count; k++) flat = flat && o->gradient[k] == 0;
  if (first && flat)
    change(o, OPTIMIZER_CMA_ES, 1, CHANGE_NO_SLOPE, 0);
  else if (o->automatic.method == OPTIMIZER_LBFGS && needs_samples(o))
    change(o, OPTIMIZER_CMA_ES, o->automatic.factor, flat ? CHANGE_NO_SLOPE : CHANGE_NO_SUCCESS, 0);
  else
    return false; /* the design is a minimum */
  return true;
}

Status automatic_restore_best(Optimization* o) {
  bool interrupted;
  if (!o->automatic.return_to_best) return STATUS_OK;
  memcpy(o->x, o->best_x, sizeof(double) * (size_t)o->design.variable_count);
  TrialOutcome outcome = optimization_reevaluate_current(o, &interrupted);
  if (interrupted) return STATUS_INTERRUPTED; /* the caller calls again */
  o->automatic.return_to_best = false;
  if (outcome != TRIAL_ACCEPTED) o->loss = HUGE_VAL; /* every design that can be simulated is better */
  return STATUS_OK;
}

/* ---------------------------------------------------------------- as text */

int optimization_method_change_count(const Optimization* o) { return o->automatic.change_count; }

void optimization_add_method_change(const Optimization* o, int index, Text* out) {
  const MethodChange* c = &o->automatic.changes[index];
  text_add(out, "iteration %d: ", c->iteration);
  switch (c->reason) {
    case CHANGE_SHORT_OF_PREDICTION:
      text_add(out, "%d of the last %d trials gained less than a tenth of what the gradient predicted", c->count,
               WATCHED);
      break;
    case CHANGE_SHORT_STEP:
      text_add(out, "no step was short enough to lower the loss");
      break;
    case CHANGE_NO_PROGRESS:
      text_add(out, "%d iterations brought no progress", c->count);
      break;
    case CHANGE_NO_SLOPE:
      text_add(out, "the gradient of the loss is zero");
      break;
    case CHANGE_BETTER_SAMPLE:
      text_add(out, "a sample is better than the minimum that was found");
      break;
    case CHANGE_NO_SUCCESS:
      text_add(out, "the minimum that was found fails success");
      break;
  }
  if (c->from == c->to)
    text_add(out, "; %s begins again at the best design with a quarter of its steps", task_optimizer_name(c->to));
  else
    text_add(out, "; %s follows %s", task_optimizer_name(c->to), task_optimizer_name(c->from));
}

/* Method selection of `optimizer: auto` (update.md, O23). L-BFGS is first. If its steps no longer achieve the predicted
 * decrease, CMA-ES follows, then Adam with shorter steps, then CMA-ES again from the best design. The changes depend
 * only on results of trials and iteration counts, so that a resumed search makes the same ones. */
#include <string.h>

#include "optimize/optimization.h"

/* The search leaves L-BFGS if at least POOR_TRIALS_MAX of the last WATCHED_TRIALS trials were poor. */
enum { WATCHED_TRIALS = 10, POOR_TRIALS_MAX = 7 };
/* A trial is poor if its decrease of the loss is below this fraction of the predicted decrease. A step to the minimum
 * of a parabola achieves half of the predicted decrease. */
#define GAIN_MIN 0.1
/* L-BFGS has converged if two conditions are met. The predicted decrease of the trial is below this fraction of the
 * total decrease so far. The predicted decrease of a full step is below the total decrease. */
#define PREDICTED_MIN 1e-9
/* The method changes if PATIENCE iterations improved the best loss by less than PROGRESS_MIN of its value. CMA-ES runs
 * for at least GENERATIONS generations. Adam starts at most RESTARTS_MAX times. */
enum { PATIENCE = 20, GENERATIONS = 6, RESTARTS_MAX = 3 };
#define PROGRESS_MIN 0.01
/* Factor on the step sizes after a change to Adam, and on the step sizes of Adam in a search with bundles. */
#define RESTART_STEP 0.25
/* Standard deviation of the first samples of CMA-ES, in step sizes of the settings. It is a fifth of a variable's
 * range, of which the default step is a twentieth. */
#define SAMPLE_STEP 4
/* (O26) Factor on the smoothing of friction [(m/s)^2] in a search with smoother friction. This search takes at most
 * SMOOTH_ITERATIONS and half of the remaining iterations. It ends after SMOOTH_PATIENCE iterations that improved the
 * loss by less than PROGRESS_MIN of its value. It begins only if SMOOTH_LEFT_MIN iterations remain. */
#define SMOOTH_FRICTION 1e5
enum { SMOOTH_ITERATIONS = 25, SMOOTH_PATIENCE = 5, SMOOTH_LEFT_MIN = 20 };

static bool is_automatic(const Optimization* o) { return o->task->optimizer.type == OPTIMIZER_AUTO; }

/* Returns true if gradients are random, because scenes change randomly or gradients are means over random designs
 * (bundles). Their differences then contain no curvature. */
static bool is_noisy(const Optimization* o) { return draws_change(o) || o->task->bundle > 0; }

static void clear_statistics(Automatic* a) {
  a->tried = 0;
  a->poor_trials = 0;
  a->best_value = HUGE_VAL;
  a->best_value_iteration = 0;
}

void automatic_begin(Optimization* o) {
  Automatic* a = &o->automatic;
  a->method = o->task->optimizer.type;
  a->factor = 1;
  a->restarts = 0;
  a->return_to_best = false;
  a->wants_smooth_friction = a->has_smooth_friction = false;
  a->smooth_friction_end = 0;
  clear_statistics(a);
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
  memory_free(o->saved_state);
  o->saved_state = MEMORY_NEW(double, optimizer_state_size(o->optimizer));
}

static void record_change(Optimization* o, TaskOptimizerType to, MethodReason reason, int count) {
  Automatic* a = &o->automatic;
  if (a->change_count < METHOD_CHANGES_MAX)
    a->changes[a->change_count++] = (MethodChange){o->iteration, a->method, to, reason, count};
}

static void change_method(Optimization* o, TaskOptimizerType to, double factor, MethodReason reason, int count) {
  Automatic* a = &o->automatic;
  record_change(o, to, reason, count);
  /* the current design of L-BFGS is the best one, unless the best one is kept because it meets `success` */
  a->return_to_best = a->method != OPTIMIZER_LBFGS || o->is_successful != o->best_is_successful;
  a->method = to;
  a->factor = factor;
  clear_statistics(a);
  a->best_value_iteration = o->iteration;
  automatic_create_optimizer(o);
}

static int count_bits(unsigned bits) {
  int count = 0;
  for (; bits; bits &= bits - 1) count++;
  return count;
}

/* Returns true if CMA-ES can rank samples: the task has no random changes of the scenes and no multipliers, which
 * change the loss between samples. */
static bool can_sample(const Optimization* o) { return !o->bounded_terms && !is_noisy(o) && !o->function.evaluate; }

static double total_gain(const Optimization* o) {
  return fmax(o->rows[o->first_iteration].loss - o->best_compared_loss, 0);
}

/* Returns true if there are at least as many iterations as variables, which CMA-ES needs to adapt its covariance. */
static bool has_enough_iterations(const Optimization* o) {
  return o->task->optimizer.iterations >= o->design.variable_count;
}

/* Changes to CMA-ES if possible, otherwise to Adam with steps times RESTART_STEP. If there are too few iterations for
 * its covariance, CMA-ES is used only before the first start of Adam, and then Adam and L-BFGS alternate. Returns false
 * if Adam has no starts left. */
static bool change_to_next(Optimization* o, MethodReason reason, int count) {
  Automatic* a = &o->automatic;
  bool time = has_enough_iterations(o) || a->restarts == 0;
  bool samples = a->method != OPTIMIZER_CMA_ES && can_sample(o) && time;
  bool curvature = a->method == OPTIMIZER_ADAM && can_sample(o) && !time;
  bool adam = !samples && !curvature;
  if (adam && a->restarts == RESTARTS_MAX) return false;
  a->restarts += adam;
  TaskOptimizerType to = samples ? OPTIMIZER_CMA_ES : curvature ? OPTIMIZER_LBFGS : OPTIMIZER_ADAM;
  change_method(o, to, a->factor * (adam ? RESTART_STEP : 1), reason, count);
  return true;
}

/* Returns true if CMA-ES can be used and the best design fails `success`. Simulates the best design; an interruption
 * counts as a failure. */
static bool needs_sampling(Optimization* o) {
  if (!can_sample(o) || optimization_success_count(o) == 0) return false;
  (void)optimization_evaluate_success(o);
  return !optimization_succeeded(o);
}

/* Returns true if CMA-ES searches because L-BFGS ended in a minimum, or on a plateau after the start. Gradients are
 * then useful, and L-BFGS can descend from a better sample. */
static bool can_descend_again(const Optimization* o) {
  const Automatic* a = &o->automatic;
  if (a->method != OPTIMIZER_CMA_ES || a->change_count == 0) return false;
  const MethodChange* last = &a->changes[a->change_count - 1];
  return last->from == OPTIMIZER_LBFGS && last->reason != CHANGE_SHORT_OF_PREDICTION &&
         last->reason != CHANGE_SCENE_FRICTION &&
         (last->reason != CHANGE_NO_SLOPE || last->iteration > o->first_iteration);
}

int automatic_patience(const Optimization* o) {
  int generations = has_enough_iterations(o) ? GENERATIONS * optimizer_samples(o->optimizer) : 0;
  return generations > PATIENCE ? generations : PATIENCE;
}

static bool check_progress(Optimization* o, bool can_step) {
  Automatic* a = &o->automatic;
  if (draws_change(o))
    return can_step; /* the best design is unknown, because the loss of a design depends on the random changes of the
                        scenes */
  if (!(a->best_value - o->best_compared_loss <= PROGRESS_MIN * fabs(o->best_compared_loss))) {
    if (a->best_value < HUGE_VAL && can_descend_again(o)) {
      change_method(o, OPTIMIZER_LBFGS, a->factor, CHANGE_BETTER_SAMPLE, 0);
      return true;
    }
    a->best_value = o->best_compared_loss;
    a->best_value_iteration = o->iteration;
  }
  int idle = o->iteration - a->best_value_iteration;
  return (can_step && idle < automatic_patience(o)) || change_to_next(o, CHANGE_NO_PROGRESS, idle) || can_step;
}

/* Returns true if the gradient predicts that a step of full length within the bounds gains more than the total gain so
 * far. Then the current design is no minimum, even if the last step was short. */
static bool predicts_more(const Optimization* o) {
  int count = o->design.variable_count;
  double promised = 0, *ahead = MEMORY_NEW(double, count);
  for (int k = 0; k < count; k++) {
    double step = o->step[o->design.variables[k].block] * (o->unit ? o->unit[k] : 1);
    ahead[k] = o->x[k] - (o->gradient[k] > 0 ? step : o->gradient[k] < 0 ? -step : 0);
  }
  if (optimizer_project(o->optimizer, ahead))
    for (int k = 0; k < count; k++) promised -= o->gradient[k] * (ahead[k] - o->x[k]);
  memory_free(ahead);
  return promised > total_gain(o);
}

/* ---------------------------------------------------------------- smoother friction (O26) */

double automatic_friction_factor(const Optimization* o) {
  return o->automatic.has_smooth_friction ? SMOOTH_FRICTION : 1;
}

/* Returns true if a scene moves under the law whose friction holds by an elastic slip (friction.md, F16). */
static bool has_friction(const Optimization* o) {
  for (int k = 0; k < o->run_count; k++) {
    const Model* m = &o->runs[k].model;
    bool moves = o->task->scenarios[k].steps != TASK_KINEMATIC;
    if (moves && m->contact_model == CONTACT_SEPARATING_PLANE && m->contact.friction > 0) return true;
  }
  return false;
}

/* Begins the search with smoother friction, which takes place once. Returns false if it is not possible. */
static bool begin_smooth_friction(Optimization* o, int poor_trials) {
  Automatic* a = &o->automatic;
  int left = o->first_iteration + o->task->optimizer.iterations - o->iteration;
  if (a->smooth_friction_end > 0 || left < SMOOTH_LEFT_MIN || !can_sample(o) || !has_friction(o)) return false;
  record_change(o, a->method, CHANGE_SMOOTHER_FRICTION, poor_trials);
  a->wants_smooth_friction = true;
  a->smooth_friction_end = o->iteration + (left / 2 < SMOOTH_ITERATIONS ? left / 2 : SMOOTH_ITERATIONS);
  clear_statistics(a);
  a->best_value_iteration = o->iteration;
  return true;
}

/* Updates the progress of the search with smoother friction. Requests its end if it makes no more progress or no step,
 * or has reached its last iteration. */
static void check_smooth_friction(Optimization* o, bool can_step) {
  Automatic* a = &o->automatic;
  if (!(a->best_value - o->loss <= PROGRESS_MIN * fabs(o->loss))) {
    a->best_value = o->loss;
    a->best_value_iteration = o->iteration;
  }
  bool is_idle = o->iteration - a->best_value_iteration >= SMOOTH_PATIENCE;
  if (can_step && !is_idle && o->iteration < a->smooth_friction_end) return;
  a->wants_smooth_friction = false;
  clear_statistics(a);
}

Status automatic_change_friction(Optimization* o) {
  Automatic* a = &o->automatic;
  if (a->has_smooth_friction == a->wants_smooth_friction) return STATUS_OK;
  bool interrupted;
  a->has_smooth_friction = a->wants_smooth_friction;
  TrialOutcome outcome = optimization_reevaluate_current(o, &interrupted);
  if (interrupted) {
    a->has_smooth_friction = !a->wants_smooth_friction;
    return STATUS_INTERRUPTED;
  }
  if (outcome != TRIAL_ACCEPTED) o->loss = HUGE_VAL; /* any valid design is better */
  bool succeeds = outcome == TRIAL_ACCEPTED && o->is_successful && !o->best_is_successful;
  if (a->has_smooth_friction || succeeds || o->loss < o->best_compared_loss) {
    if (!a->has_smooth_friction) record_change(o, a->method, CHANGE_SCENE_FRICTION, 0);
    automatic_create_optimizer(o);
    return STATUS_OK;
  }
  (void)change_to_next(o, CHANGE_SCENE_FRICTION, 0);
  a->return_to_best = true;
  return automatic_restore_best(o);
}

static bool check_lbfgs(Optimization* o, bool is_poor, double predicted, bool can_step) {
  Automatic* a = &o->automatic;
  bool converged = predicted < PREDICTED_MIN * total_gain(o) && !predicts_more(o);
  is_poor = is_poor && !converged;
  a->poor_trials = ((a->poor_trials << 1) | is_poor) & ((1u << WATCHED_TRIALS) - 1);
  if (!can_step && !converged && !o->bounded_terms) return change_to_next(o, CHANGE_SHORT_STEP, 0);
  if (!can_step && needs_sampling(o)) return change_to_next(o, CHANGE_NO_SUCCESS, 0);
  int poor_trials = count_bits(a->poor_trials);
  if (a->tried >= WATCHED_TRIALS && poor_trials >= POOR_TRIALS_MAX)
    return begin_smooth_friction(o, poor_trials) || change_to_next(o, CHANGE_SHORT_OF_PREDICTION, poor_trials);
  return converged || !can_sample(o) || !has_enough_iterations(o) ? can_step : check_progress(o, can_step);
}

bool automatic_update(Optimization* o, TrialOutcome outcome, double gained, double predicted, bool can_step) {
  Automatic* a = &o->automatic;
  if (!is_automatic(o) || continuation_is_active(o, o->iteration)) return can_step;
  bool is_poor = outcome != TRIAL_ACCEPTED || !(gained >= GAIN_MIN * predicted);
  a->tried++;
  if (a->has_smooth_friction) {
    check_smooth_friction(o, can_step);
    return true;
  }
  if (a->method == OPTIMIZER_LBFGS) return check_lbfgs(o, is_poor, predicted, can_step);
  return check_progress(o, can_step);
}

bool automatic_handle_zero_gradient(Optimization* o) {
  bool first = o->iteration == o->first_iteration && o->automatic.tried == 0, flat = true;
  if (!is_automatic(o) || optimizer_is_gradient_free(o->optimizer)) return false;
  bool by_pairs = o->automatic.method == OPTIMIZER_LBFGS && o->automatic.tried > 0 && !o->bounded_terms;
  if (by_pairs && predicts_more(o)) return change_to_next(o, CHANGE_SHORT_STEP, 0);
  if (!can_sample(o)) return false;
  for (int k = 0; k < o->design.variable_count; k++) flat = flat && o->gradient[k] == 0;
  if (flat && (first || o->loss > 0)) /* a plateau; a sum of squares has no smaller value than 0 */
    change_method(o, OPTIMIZER_CMA_ES, 1, CHANGE_NO_SLOPE, 0);
  else if (o->automatic.method == OPTIMIZER_LBFGS && needs_sampling(o))
    change_method(o, OPTIMIZER_CMA_ES, o->automatic.factor, flat ? CHANGE_NO_SLOPE : CHANGE_NO_SUCCESS, 0);
  else
    return false; /* the design is a minimum */
  return true;
}

Status automatic_restore_best(Optimization* o) {
  bool interrupted;
  if (!o->automatic.return_to_best) return STATUS_OK;
  memcpy(o->x, o->best_x, sizeof(double) * (size_t)o->design.variable_count);
  TrialOutcome outcome = optimization_reevaluate_current(o, &interrupted);
  if (interrupted) return STATUS_INTERRUPTED; /* the caller calls the function again */
  o->automatic.return_to_best = false;
  /* the current design cannot be simulated; with an infinite loss any valid design is better */
  if (outcome != TRIAL_ACCEPTED) o->loss = HUGE_VAL;
  return STATUS_OK;
}

int optimization_method_change_count(const Optimization* o) { return o->automatic.change_count; }

void optimization_add_method_change(const Optimization* o, int index, Text* out) {
  const MethodChange* c = &o->automatic.changes[index];
  text_add(out, "iteration %d: ", c->iteration);
  switch (c->reason) {
    case CHANGE_SMOOTHER_FRICTION:
    case CHANGE_SHORT_OF_PREDICTION:
      text_add(out, "%d of the last %d trials gained less than a tenth of what the gradient predicted", c->count,
               WATCHED_TRIALS);
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
    case CHANGE_SCENE_FRICTION:
      text_add(out, "friction is that of the scene again");
      break;
  }
  if (c->reason == CHANGE_SMOOTHER_FRICTION)
    text_add(out, "; %s continues with smoother friction", task_optimizer_name(c->to));
  else if (c->reason == CHANGE_SCENE_FRICTION && c->from == c->to)
    text_add(out, "; %s continues from a better design", task_optimizer_name(c->to));
  else if (c->from == c->to)
    text_add(out, "; %s begins again at the best design with a quarter of its steps", task_optimizer_name(c->to));
  else
    text_add(out, "; %s follows %s", task_optimizer_name(c->to), task_optimizer_name(c->from));
}

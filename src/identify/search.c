/* Minimizes the sum of squares by the methods of optimize/ (docs/derivations/identify.md, Q13). For given variables,
 * the sum is minimized over the increments of each shot's initial state, so that it depends on the variables only. */
#include <string.h>

#include "identify/fit.h"

static SweepWork select_work(const Identification* id, const double* gradient) {
  if (id->locals > 0) return SWEEP_MINIMIZED;
  return gradient ? SWEEP_GRADIENT : SWEEP_COST;
}

/* Sums the gradients of the costs of all shots, always in the same order, and of the priors of the variables x. */
static void sum_gradients(const Identification* id, const double* x, double* gradient) {
  memset(gradient, 0, sizeof(double) * (size_t)id->variables);
  for (int s = 0; s < id->shot_count; s++)
    for (int k = 0; k < id->variables && id->shots[s].usable; k++) gradient[k] += id->trial_sums[s].g[k];
  for (int k = 0; k < id->variables; k++)
    if (id->prior[k] > 0) gradient[k] += (x[k] - id->initial[k]) / (id->prior[k] * id->prior[k]);
}

static TrialOutcome evaluate(void* context, const double* x, double* value, double* gradient, bool* interrupted) {
  Identification* id = context;
  double* locals = fit_locals(id);
  *value = fit_evaluate_shots(id, select_work(id, gradient), x, locals, id->trial_sums);
  memory_free(locals);
  *interrupted = fit_interrupted(id);
  if (!isfinite(*value)) return TRIAL_SOLVER;
  if (gradient) sum_gradients(id, x, gradient);
  return TRIAL_ACCEPTED;
}

static void start_method(Identification* id) {
  id->trial_sums = sums_create(id);
  const OptimizationFunction function = {id, evaluate, id->scale, id->fixed};
  optimization_set_function(id->optimization, &function);
}

static IdentifyStop convert_stop(OptimizationStop stop) {
  switch (stop) {
    case STOP_NOT_YET:
    case STOP_INTERRUPTED:
      return IDENTIFY_RUNNING;
    case STOP_ITERATIONS:
      return IDENTIFY_ITERATIONS;
    case STOP_SHORT_STEP:
      return IDENTIFY_STUCK;
    default:
      return IDENTIFY_DONE;
  }
}

/* Copies the current variables, cost and new convergence rows from the optimization to the fit. */
static void copy_result(Identification* id) {
  Optimization* o = id->optimization;
  id->iteration = optimization_iteration(o);
  id->cost = optimization_best_loss(o);
  for (int k = 0; k < id->variables; k++) id->x[k] = optimization_variable(o, k).best;
  id->stop = convert_stop(optimization_stop(o));
  id->stop_text = optimization_stop_text(optimization_stop(o));
  while (id->row_count <= id->iteration) {
    const OptimizationRow* r = &optimization_rows(o)[id->row_count];
    fit_append_row(id, &(FitRow){.cost = r->loss,
                                 .trial = r->outcome == TRIAL_START ? (double)NAN : r->trial_loss,
                                 .gradient = math_hypot(r->grad_design, r->grad_control),
                                 .step = fmax(r->step_design, r->step_control),
                                 .outcome = r->outcome});
  }
}

static Status advance(Identification* id) {
  Diagnostics unheard = {0};
  Status status = STATUS_OK;
  if (!id->has_started) {
    status = optimization_start(id->optimization, &unheard);
    id->has_started = status == STATUS_OK;
    if (id->has_started) copy_result(id);
    diagnostics_free(&unheard);
    if (status == STATUS_INTERRUPTED) return status;
    if (!id->has_started) { /* the constraints moved the initial values to a point where no shot can be simulated */
      id->stop = IDENTIFY_STUCK;
      id->stop_text = identify_stop_text(IDENTIFY_STUCK);
    }
    if (id->stop != IDENTIFY_RUNNING) return STATUS_OK;
  }
  int64_t simulated = id->simulated;
  status = optimization_advance(id->optimization);
  if (status == STATUS_OK)
    copy_result(id);
  else
    id->simulated = simulated;
  return status;
}

static void minimize_locals(Identification* id) {
  if (id->locals == 0) return;
  size_t n = (size_t)id->locals;
  double* locals = fit_locals(id);
  fit_evaluate_shots(id, SWEEP_MINIMIZED, id->x, locals, id->trial_sums);
  for (int k = 0; k < id->shot_count; k++) memcpy(id->shots[k].local, locals + (size_t)k * n, sizeof(double) * n);
  memory_free(locals);
}

static bool check_task(const Identification* id, Diagnostics* diagnostics) {
  (void)id, (void)diagnostics;
  return true;
}

static void save_state(const Identification* id, NumberFile* file) { optimization_save(id->optimization, file); }

static bool load_state(Identification* id, const NumberFile* file, Diagnostics* diagnostics) {
  if (!optimization_load(id->optimization, file, diagnostics)) return false;
  id->has_started = true;
  copy_result(id);
  return true;
}

const FitMethod METHOD_SEARCH = {.allows = check_task,
                                 .begin = start_method,
                                 .advance = advance,
                                 .end = minimize_locals,
                                 .save = save_state,
                                 .load = load_state};

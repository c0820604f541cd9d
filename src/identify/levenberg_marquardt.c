/* Levenberg-Marquardt method over all shots (docs/derivations/identify.md, Q3). */
#include <string.h>

#include "identify/fit.h"
#include "linalg/dense.h"

/* The fit ends after SMALL_DECREASES_MAX consecutive iterations with a relative decrease below SMALL_DECREASE. */
#define SMALL_DECREASE 1e-5
enum { SMALL_DECREASES_MAX = 2, TRIALS = 12 };

/* Adds to `locals` the steps of the initial-state increments that belong to the step dx of the variables: du = -C^-1 (h
 * + B' dx). B, C, h: blocks of the normal equations (ShotSums). */
static void step_locals(const Identification* id, const double* dx, double* locals) {
  int l = id->locals;
  for (int s = 0; s < id->shot_count && l > 0; s++) {
    if (!id->shots[s].usable) continue;
    double* du = MEMORY_NEW(double, l);
    for (int k = 0; k < l; k++) {
      du[k] = -id->sums[s].h[k];
      for (int i = 0; i < id->variables; i++) du[k] -= id->sums[s].b[i * l + k] * dx[i];
    }
    dense_solve(l, id->sums[s].c, du);
    for (int k = 0; k < l; k++) locals[(size_t)s * (size_t)l + (size_t)k] += du[k];
    memory_free(du);
  }
}

static void accept_step(Identification* id, const double* locals, double cost) {
  memcpy(id->x, id->trial, sizeof(double) * (size_t)id->variables);
  for (int k = 0; k < id->shot_count && id->locals > 0; k++)
    memcpy(id->shots[k].local, locals + (size_t)k * (size_t)id->locals, sizeof(double) * (size_t)id->locals);
  id->small_decreases = cost > (1 - SMALL_DECREASE) * id->cost ? id->small_decreases + 1 : 0;
  id->cost = cost;
}

/* Returns the norm of the gradient over the variables that descent can change: a variable at a bound is left out if
 * descent would move it beyond the bound. */
static double gradient_norm(const Identification* id) {
  double sum = 0;
  for (int k = 0; k < id->variables; k++) {
    double g = id->g[k] * id->scale[k];
    bool blocked = (g > 0 && id->x[k] <= id->low[k]) || (g < 0 && id->x[k] >= id->high[k]);
    if (!blocked && !id->fixed[k]) sum += g * g;
  }
  return sqrt(sum);
}

static double step_length(const Identification* id, const double* dx) {
  double largest = 0;
  for (int k = 0; k < id->variables; k++) largest = fmax(largest, fabs(dx[k]) / id->scale[k]);
  return largest;
}

static void start_method(Identification* id) {
  fit_append_row(id, &(FitRow){.cost = id->cost, .trial = NAN, .gradient = gradient_norm(id), .outcome = TRIAL_START});
}

/* Ends the fit if it has converged. Uses only numbers of the checkpoint, so that a resumed fit ends at the same
 * iteration. */
static void check_convergence(Identification* id) {
  id->stop = id->has_no_step                                  ? IDENTIFY_STUCK
             : id->small_decreases >= SMALL_DECREASES_MAX     ? IDENTIFY_DONE
             : id->iteration >= identification_iterations(id) ? IDENTIFY_ITERATIONS
                                                              : IDENTIFY_RUNNING;
  id->stop_text = identify_stop_text(id->stop);
}

/* An interrupted iteration writes no row and no checkpoint, and a resumed fit repeats it. */
static Status advance(Identification* id) {
  int n = id->variables;
  ShotSums* costs = MEMORY_NEW(ShotSums, id->shot_count + 1);
  double *dx = MEMORY_NEW(double, n + 1), *locals = NULL, cost = NAN;
  bool found = false, stopped = false;
  for (int trial = 0; trial < TRIALS && !found && !stopped; trial++) {
    memory_free(locals);
    locals = fit_locals(id);
    if (bounded_step(id, id->damping, dx)) {
      for (int k = 0; k < n; k++) id->trial[k] = fmin(fmax(id->x[k] + dx[k], id->low[k]), id->high[k]);
      step_locals(id, dx, locals);
      cost = fit_evaluate_shots(id, SWEEP_COST, id->trial, locals, costs);
      stopped = fit_interrupted(id);
      found = !stopped && cost < id->cost;
      if (found) accept_step(id, locals, cost);
    }
    id->damping *= found ? 1.0 / 3 : 4;
  }
  if (found) {
    fit_evaluate_shots(id, SWEEP_NORMAL, id->x, locals, id->sums);
    fit_sum_shots(id);
    stopped = fit_interrupted(id);
  }
  if (!stopped) {
    id->iteration += found;
    id->has_no_step = !found;
    fit_append_row(id, &(FitRow){.cost = id->cost,
                                 .trial = cost,
                                 .gradient = gradient_norm(id),
                                 .step = step_length(id, dx),
                                 .outcome = found ? TRIAL_ACCEPTED : TRIAL_ROSE});
    check_convergence(id);
  }
  memory_free(costs);
  memory_free(dx);
  memory_free(locals);
  return stopped ? STATUS_INTERRUPTED : STATUS_OK;
}

/* Adds an error for constraints and optimizer steps, which the method does not support. */
static bool check_task(const Identification* id, Diagnostics* diagnostics) {
  const Task* task = id->task;
  for (int k = 0; k < id->variables; k++) {
    OptimizationVariable v = optimization_variable(id->optimization, k);
    if (!(v.step > 0)) continue;
    diagnostics_add(diagnostics, SEVERITY_WARNING, v.place,
                    "'step' of '%s' is ignored, because levenberg_marquardt chooses its step lengths: remove 'step'",
                    v.name);
    break;
  }
  if (task->multistart > 1)
    diagnostics_add(diagnostics, SEVERITY_ERROR, task->optimizer.type_place,
                    "levenberg_marquardt does not support multistart: remove multistart, or set optimizer.type to "
                    "another method, such as lbfgs");
  if (task->constraint_count == 0) return task->multistart <= 1;
  diagnostics_add(diagnostics, SEVERITY_ERROR, task->constraints[0].place,
                  "levenberg_marquardt does not support design.constraints: remove the constraints, or set "
                  "optimizer.type to another method, such as lbfgs");
  return false;
}

static void local_name(int shot, char name[32]) { snprintf(name, 32, "local%d", shot); }

static void save_state(const Identification* id, NumberFile* file) {
  int64_t counts[3] = {id->iteration, id->small_decreases, id->has_no_step};
  char name[32];
  double* costs = MEMORY_NEW(double, id->shot_count + 1);
  for (int k = 0; k < id->shot_count; k++) costs[k] = id->sums[k].cost;
  optimization_write_identity(id->optimization, file);
  number_file_add_integers(file, "counts", counts, 3);
  number_file_add_doubles(file, "x", id->x, id->variables);
  number_file_add_doubles(file, "cost", &id->cost, 1);
  number_file_add_doubles(file, "shot_costs", costs, id->shot_count);
  number_file_add_doubles(file, "damping", &id->damping, 1);
  for (int k = 0; k < id->shot_count && id->locals > 0; k++) {
    local_name(k, name);
    number_file_add_doubles(file, name, id->shots[k].local, id->locals);
  }
  memory_free(costs);
}

/* Loads the costs of the shots. A shot that fails later gets its loaded cost. */
static bool load_costs(Identification* id, const NumberFile* file, Diagnostics* diagnostics) {
  double* costs = MEMORY_NEW(double, id->shot_count + 1);
  bool sound = number_file_get_doubles(file, "shot_costs", costs, id->shot_count, diagnostics);
  for (int k = 0; k < id->shot_count && sound; k++) id->sums[k].cost = costs[k];
  memory_free(costs);
  return sound;
}

static bool load_state(Identification* id, const NumberFile* file, Diagnostics* diagnostics) {
  int64_t counts[3];
  double cost;
  char name[32];
  if (!number_file_get_integers(file, "counts", counts, 3, diagnostics) ||
      !number_file_get_doubles(file, "x", id->x, id->variables, diagnostics) ||
      !number_file_get_doubles(file, "cost", &cost, 1, diagnostics) || !load_costs(id, file, diagnostics) ||
      !number_file_get_doubles(file, "damping", &id->damping, 1, diagnostics))
    return false;
  for (int k = 0; k < id->shot_count && id->locals > 0; k++) {
    local_name(k, name);
    if (!number_file_get_doubles(file, name, id->shots[k].local, id->locals, diagnostics)) return false;
  }
  id->iteration = (int)counts[0];
  id->small_decreases = (int)counts[1];
  id->has_no_step = counts[2] != 0;
  fit_update(id);
  id->cost = cost; /* a simulation with derivatives may give a cost that differs from the saved one in the last bits */
  check_convergence(id);
  return true;
}

const FitMethod METHOD_RESIDUALS = {
    .allows = check_task, .begin = start_method, .advance = advance, .save = save_state, .load = load_state};

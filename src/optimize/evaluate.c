/* Evaluation of a design in every scenario, in parallel on processes and threads. Sums are in the order of the
 * scenarios and do not depend on the parallelism. */
#include <assert.h>
#include <string.h>

#include "optimize/optimization.h"

/* Scenarios that this MPI process simulates. They are distributed to the processes in turn. */
typedef struct {
  Optimization* optimization;
  const double* x;
  int first, stride, count;
  int threads; /* number of threads of each run */
} ScenarioBatch;

static int scenario_owner(int scenario) { return scenario % processes_count(); }

static ScenarioBatch create_batch(Optimization* o, const double* x) {
  int first = processes_rank(), stride = processes_count();
  int count = first < o->run_count ? (o->run_count - 1 - first) / stride + 1 : 0;
  return (ScenarioBatch){o, x, first, stride, count, count > 1 ? 1 : o->options.threads};
}

static void run_batch(ScenarioBatch* batch, ParallelBody body) {
  parallel_for(batch->optimization->options.threads, batch->count, 2, 1, body, batch);
}

static int batch_scenario(const ScenarioBatch* batch, int index) { return batch->first + index * batch->stride; }

void scenario_run_free(ScenarioRun* run) {
  if (run->has_model) model_destroy(&run->model);
  run->has_model = false;
  recording_destroy(&run->recording);
  recording_destroy(&run->repeated);
  loss_destroy(run->loss);
  loss_seeds_destroy(&run->seeds);
  row_selection_destroy(&run->selection);
  model_gradient_destroy(&run->gradient);
  memory_free(run->terms);
  memory_free(run->success_terms);
  memory_free(run->by_variables);
  text_free(&run->reason);
}

/* Stores the first error of the diagnostics as reason of the rejection. */
static void store_reason(ScenarioRun* run, const Diagnostics* diagnostics) {
  text_free(&run->reason);
  for (int k = 0; k < diagnostics->count; k++) {
    if (diagnostics->items[k].severity != SEVERITY_ERROR) continue;
    text_add(&run->reason, "%s", diagnostics->items[k].text);
    return;
  }
}

/* Returns true if all hulls that the design changes have at least the task's min_thickness. Otherwise stores the
 * reason. */
static bool hulls_are_thick_enough(const Optimization* o, ScenarioRun* run) {
  double least = o->task->min_thickness;
  for (int i = 0; least > 0 && i < run->model.hull_count; i++) {
    const ModelHull* hull = &run->model.hulls[i];
    if (!design_changes_hull(&o->design, hull->link, i - run->model.links[hull->link].hull_first)) continue;
    double thickness = hull->kind->thickness(hull);
    if (thickness >= least) continue;
    text_free(&run->reason);
    text_add(&run->reason, "a hull of link '%s' is %.4g m thin, less than %.4g m", run->model.links[hull->link].name,
             thickness, least);
    return false;
  }
  return true;
}

/* Returns true if a run can reuse the model of the last design: the run has no steps, and the design changes only the
 * initial state. */
static bool can_restart(const Optimization* o, const ScenarioRun* run, const ModelOverride* overrides, int count) {
  bool moves = o->task->scenarios[run - o->runs].steps != TASK_KINEMATIC;
  return run->has_model && run->model_is_valid && run->number_count == count && !moves &&
         draws_override_capacity(o->draws) == 0 && model_can_restart(&run->model, overrides, count);
}

static bool build_model(const Optimization* o, const double* x, ScenarioRun* run) {
  Diagnostics diagnostics = {0};
  int count;
  ModelOverride* overrides = optimization_overrides(o, x, (int)(run - o->runs), o->draw, &count);
  Status status;
  if (can_restart(o, run, overrides, count)) {
    status = model_restart(&run->model, overrides, count, &diagnostics);
  } else {
    if (run->has_model) model_destroy(&run->model);
    run->has_model = true;
    status = model_create_with(&run->model, run->scene, overrides, count, &diagnostics);
    run->model_is_valid = status == STATUS_OK;
    run->model.contact.smoothing *= automatic_friction_factor(o);
    run->number_count = count;
  }
  memory_free(overrides);
  if (status != STATUS_OK) store_reason(run, &diagnostics);
  diagnostics_free(&diagnostics);
  run->outcome = status == STATUS_OK && hulls_are_thick_enough(o, run) ? TRIAL_ACCEPTED : TRIAL_INVALID;
  return run->outcome == TRIAL_ACCEPTED;
}

/* If the model has closures (joint loops), a recording without steps checks that they can be closed in the initial
 * state. */
bool evaluate_start(Optimization* o, const double* x, int scenario) {
  assert(x && scenario >= 0);
  ScenarioRun* run = &o->runs[scenario];
  if (!build_model(o, x, run)) return false;
  if (run->model.closure_count == 0) return true;
  Diagnostics unsaid = {0};
  Recording start = {0};
  RecordReport report;
  const RecordOptions options = {.threads = 1};
  recording_create(&start, &run->model, 0);
  bool starts = recording_run(&start, &run->model, &options, &report, &unsaid) == STATUS_OK;
  recording_destroy(&start);
  diagnostics_free(&unsaid);
  return starts;
}

static void simulate_scenario(void* context, int index, int thread) {
  (void)thread;
  ScenarioBatch* batch = context;
  Optimization* o = batch->optimization;
  int scenario = batch_scenario(batch, index);
  ScenarioRun* run = &o->runs[scenario];
  run->status = STATUS_OK;
  text_free(&run->reason);
  if (!build_model(o, batch->x, run)) return;
  Diagnostics diagnostics = {0};
  RecordOptions options = {.threads = batch->threads,
                           .tolerance = o->check_tolerance,
                           .interrupted = o->options.interrupted,
                           .substep_reference = run->repeated.steps > 0 ? &run->repeated : NULL};
  double share = o->task->memory * GIBIBYTE / batch->count; /* all recordings exist at the same time */
  if (share > 0 && !options.substep_reference)
    options.memory = recording_memory_left(&run->recording, &run->seeds, share);
  run->status = recording_run(&run->recording, &run->model, &options, &run->report, &diagnostics);
  if (run->status == STATUS_BAD_INPUT) {
    run->outcome = TRIAL_INVALID;
    store_reason(run, &diagnostics);
  }
  if (run->status == STATUS_SOLVER) {
    run->outcome = TRIAL_SOLVER;
    text_free(&run->reason);
    text_add(&run->reason, "step %d: %s, residual %.3g", run->report.failed_step,
             step_outcome_text(run->report.last.outcome), run->report.last.residual);
  }
  diagnostics_free(&diagnostics);
  if (run->status != STATUS_OK) return;
  run->value = loss_evaluate(run->loss, &run->recording, run->terms, NULL);
  if (!isfinite(run->value)) run->outcome = TRIAL_NOT_FINITE;
  run->is_successful = success_is_known_in_search(o) && success_is_met(o, run);
}

/* Sends the result of a scenario from its process to all processes. */
static void broadcast_outcome(Optimization* o, int scenario) {
  ScenarioRun* run = &o->runs[scenario];
  int owner = scenario_owner(scenario);
  struct {
    Status status;
    TrialOutcome outcome;
    double value;
    bool meets;
    size_t length;
  } what = {run->status, run->outcome, run->value, run->is_successful, run->reason.length};
  processes_broadcast(&what, sizeof(what), owner);
  run->status = what.status;
  run->outcome = what.outcome;
  run->value = what.value;
  run->is_successful = what.meets;
  processes_broadcast(run->terms, sizeof(double) * (size_t)o->term_count, owner);
  char* reason = MEMORY_NEW(char, what.length + 1);
  if (run->reason.length == what.length && what.length > 0) memcpy(reason, run->reason.data, what.length);
  processes_broadcast(reason, what.length, owner);
  text_free(&run->reason);
  text_add(&run->reason, "%s", reason);
  memory_free(reason);
}

static TrialOutcome evaluate_function(Optimization* o, const double* x, double* value, double* terms,
                                      bool* interrupted) {
  *interrupted = false;
  memset(terms, 0, sizeof(double) * (size_t)o->term_count);
  double* gradient = optimizer_is_gradient_free(o->optimizer) ? NULL : o->function_gradient;
  TrialOutcome outcome = o->function.evaluate(o->function.context, x, value, gradient, interrupted);
  return outcome == TRIAL_ACCEPTED && !isfinite(*value) ? TRIAL_NOT_FINITE : outcome;
}

TrialOutcome evaluate_design(Optimization* o, const double* x, double* loss, double* terms, bool* interrupted) {
  assert(x && loss && terms && interrupted);
  if (o->function.evaluate) return evaluate_function(o, x, loss, terms, interrupted);
  double start = timer_now();
  ScenarioBatch batch = create_batch(o, x);
  run_batch(&batch, simulate_scenario);
  for (int k = 0; processes_count() > 1 && k < o->run_count; k++) broadcast_outcome(o, k);
  o->forward_seconds += timer_now() - start;
  *loss = 0;
  *interrupted = false;
  o->last_is_successful = success_is_known_in_search(o);
  memset(terms, 0, sizeof(double) * (size_t)o->term_count);
  memory_free(o->reason);
  o->reason = NULL;
  for (int k = 0; k < o->run_count; k++) {
    const ScenarioRun* run = &o->runs[k];
    if (run->status == STATUS_INTERRUPTED) *interrupted = true;
    if (run->outcome != TRIAL_ACCEPTED) {
      *loss = NAN;
      o->failed_scenario = k;
      if (run->reason.data) o->reason = memory_copy_text(run->reason.data);
      return run->outcome;
    }
    *loss += run->weight * run->value;
    o->last_is_successful = o->last_is_successful && run->is_successful;
    for (int t = 0; t < o->term_count; t++) terms[t] += run->weight * run->terms[t];
  }
  return TRIAL_ACCEPTED;
}

static void run_scenario_adjoint(void* context, int index, int thread) {
  (void)thread;
  ScenarioBatch* batch = context;
  Optimization* o = batch->optimization;
  int scenario = batch_scenario(batch, index);
  ScenarioRun* run = &o->runs[scenario];
  loss_seeds_clear(&run->seeds);
  loss_evaluate_with(run->loss, &run->recording, run->terms, o->factors, &run->seeds);
  run->adjoint = optimization_run_adjoint(o, &run->recording, &run->seeds, o->task->optimizer.discount, batch->threads,
                                          &run->gradient);
  memset(run->by_variables, 0, sizeof(double) * (size_t)o->design.variable_count);
  if (run->adjoint.sound)
    design_gradient(&o->design, scenario, &run->model, &run->gradient, run->weight, run->by_variables);
}

static void broadcast_gradient(Optimization* o, int scenario) {
  ScenarioRun* run = &o->runs[scenario];
  processes_broadcast(&run->adjoint, sizeof(run->adjoint), scenario_owner(scenario));
  processes_broadcast(run->by_variables, sizeof(double) * (size_t)o->design.variable_count, scenario_owner(scenario));
}

static void store_adjoint_reason(Optimization* o, const AdjointReport* report) {
  Text text = {0};
  text_add(&text, "step %d has no derivative: %s", report->unsound_step,
           report->step.contact_failed ? "its contacts cannot be computed again"
           : report->step.grazes       ? "an impact begins with a grazing contact"
           : report->step.singular     ? "its Hessian is singular"
                                       : "its derivatives are not finite");
  memory_free(o->reason);
  o->reason = text.data;
}

static TrialOutcome check_gradient(const Optimization* o, const double* gradient) {
  for (int k = 0; k < o->design.variable_count; k++)
    if (!isfinite(gradient[k])) return TRIAL_NOT_FINITE;
  return TRIAL_ACCEPTED;
}

TrialOutcome evaluate_gradient(Optimization* o, double* gradient) {
  assert(gradient || o->design.variable_count == 0);
  size_t size = sizeof(double) * (size_t)o->design.variable_count;
  if (o->function.evaluate) {
    memcpy(gradient, o->function_gradient, size);
    return check_gradient(o, gradient);
  }
  double start = timer_now();
  ScenarioBatch batch = create_batch(o, NULL);
  run_batch(&batch, run_scenario_adjoint);
  for (int k = 0; k < o->run_count; k++) broadcast_gradient(o, k);
  o->adjoint_seconds += timer_now() - start;
  memset(gradient, 0, size);
  for (int k = 0; k < o->run_count; k++) {
    const ScenarioRun* run = &o->runs[k];
    if (run->adjoint.growth > o->adjoint.growth) o->adjoint = run->adjoint;
    if (!run->adjoint.sound) {
      o->failed_scenario = k;
      store_adjoint_reason(o, &run->adjoint);
      return TRIAL_NO_GRADIENT;
    }
    for (int v = 0; v < o->design.variable_count; v++) gradient[v] += run->by_variables[v];
  }
  return check_gradient(o, gradient);
}

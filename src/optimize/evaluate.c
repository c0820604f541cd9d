/* Evaluation of a design in every scenario, in parallel on processes and threads. Sums follow the order of the
 * scenarios, so they do not depend on the parallelism. */
#include <string.h>

#include "optimize/optimization.h"

/* The scenarios that this process simulates: every processes_count()-th scenario. */
typedef struct {
  Optimization* optimization;
  const double* x;
  int first, stride, count;
  int threads; /* threads of each run */
} Batch;

static int owner_of(int scenario) { return scenario % processes_count(); }

static Batch batch_of(Optimization* o, const double* x) {
  int first = processes_rank(), stride = processes_count();
  int count = first < o->run_count ? (o->run_count - 1 - first) / stride + 1 : 0;
  return (Batch){o, x, first, stride, count, count > 1 ? 1 : o->options.threads};
}

static void run_all(Batch* batch, ParallelBody body) {
  parallel_for(batch->optimization->options.threads, batch->count, 2, 1, body, batch);
}

static int scenario_of(const Batch* batch, int index) { return batch->first + index * batch->stride; }

void scenario_run_free(ScenarioRun* run) {
  if (run->has_model) model_destroy(&run->model);
  run->has_model = false;
  recording_destroy(&run->recording);
  recording_destroy(&run->repeated);
  loss_destroy(run->loss);
  loss_seeds_destroy(&run->seeds);
  row_selection_destroy(&run->keep);
  model_gradient_destroy(&run->gradient);
  memory_free(run->terms);
  memory_free(run->success_terms);
  memory_free(run->by_variables);
  text_free(&run->reason);
}

/* Stores the first error as the reason of a rejection. */
static void keep_reason(ScenarioRun* run, const Diagnostics* diagnostics) {
  text_free(&run->reason);
  for (int k = 0; k < diagnostics->count; k++) {
    if (diagnostics->items[k].severity != SEVERITY_ERROR) continue;
    text_add(&run->reason, "%s", diagnostics->items[k].text);
    return;
  }
}

/* Returns true if all hulls that the design changes have at least the task's min_thickness. Otherwise stores the
 * reason in run->reason and returns false. */
static bool thick_enough(const Optimization* o, ScenarioRun* run) {
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

/* Returns true if a run can reuse the model of the last design. A run without steps can, if the design changes only
 * the initial state. */
static bool can_restart(const Optimization* o, const ScenarioRun* run, const ModelOverride* overrides, int count) {
  bool moves = o->task->scenarios[run - o->runs].steps != TASK_KINEMATIC;
  return run->has_model && run->made && run->number_count == count && !moves &&
         draws_override_capacity(o->draws) == 0 && model_can_restart(&run->model, overrides, count);
}

static bool build_model(const Optimization* o, const double* x, ScenarioRun* run) {
  Diagnostics diagnostics = {0};
  int count;
  ModelOverride* overrides = optimization_overrides(o, x, (int)(run - o->runs), o->moment, &count);
  Status status;
  if (can_restart(o, run, overrides, count)) {
    status = model_restart(&run->model, overrides, count, &diagnostics);
  } else {
    if (run->has_model) model_destroy(&run->model);
    run->has_model = true;
    status = model_create_with(&run->model, run->scene, overrides, count, &diagnostics);
    run->made = status == STATUS_OK;
    run->number_count = count;
  }
  memory_free(overrides);
  if (status != STATUS_OK) keep_reason(run, &diagnostics);
  diagnostics_free(&diagnostics);
  run->outcome = status == STATUS_OK && thick_enough(o, run) ? TRIAL_ACCEPTED : TRIAL_INVALID;
  return run->outcome == TRIAL_ACCEPTED;
}

/* sim_create checks that loops close. */
bool evaluate_start(Optimization* o, const double* x, int scenario) {
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

static void run_forward(void* context, int index, int thread) {
  (void)thread;
  Batch* batch = context;
  Optimization* o = batch->optimization;
  int scenario = scenario_of(batch, index);
  ScenarioRun* run = &o->runs[scenario];
  run->status = STATUS_OK;
  text_free(&run->reason);
  if (!build_model(o, batch->x, run)) return;
  Diagnostics diagnostics = {0};
  RecordOptions options = {.threads = batch->threads,
                           .interrupted = o->options.interrupted,
                           .like = run->repeated.steps > 0 ? &run->repeated : NULL};
  double share = o->task->memory * GIBIBYTE / batch->count; /* the recordings of all scenarios exist at the same time */
  if (share > 0 && !options.like) options.memory = recording_memory_left(&run->recording, &run->seeds, share);
  run->status = recording_run(&run->recording, &run->model, &options, &run->report, &diagnostics);
  if (run->status == STATUS_BAD_INPUT) {
    run->outcome = TRIAL_INVALID;
    keep_reason(run, &diagnostics);
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
  run->meets = success_is_known_in_search(o) && success_is_met(o, run);
}

/* Sends the result of a scenario's run from the process that simulated it to all processes. */
static void share_outcome(Optimization* o, int scenario) {
  ScenarioRun* run = &o->runs[scenario];
  int owner = owner_of(scenario);
  struct {
    Status status;
    TrialOutcome outcome;
    double value;
    bool meets;
    size_t length;
  } what = {run->status, run->outcome, run->value, run->meets, run->reason.length};
  processes_broadcast(&what, sizeof(what), owner);
  run->status = what.status;
  run->outcome = what.outcome;
  run->value = what.value;
  run->meets = what.meets;
  processes_broadcast(run->terms, sizeof(double) * (size_t)o->term_count, owner);
  char* reason = MEMORY_NEW(char, what.length + 1);
  if (run->reason.length == what.length && what.length > 0) memcpy(reason, run->reason.data, what.length);
  processes_broadcast(reason, what.length, owner);
  text_free(&run->reason);
  text_add(&run->reason, "%s", reason);
  memory_free(reason);
}

/* Evaluates the function that the optimizer minimizes instead of the losses. */
static TrialOutcome evaluate_function(Optimization* o, const double* x, double* value, double* terms,
                                      bool* interrupted) {
  *interrupted = false;
  memset(terms, 0, sizeof(double) * (size_t)o->term_count);
  double* gradient = optimizer_is_gradient_free(o->optimizer) ? NULL : o->function_gradient;
  TrialOutcome outcome = o->function.evaluate(o->function.context, x, value, gradient, interrupted);
  return outcome == TRIAL_ACCEPTED && !isfinite(*value) ? TRIAL_NOT_FINITE : outcome;
}

TrialOutcome evaluate_design(Optimization* o, const double* x, double* loss, double* terms, bool* interrupted) {
  if (o->function.evaluate) return evaluate_function(o, x, loss, terms, interrupted);
  double start = timer_now();
  Batch batch = batch_of(o, x);
  run_all(&batch, run_forward);
  for (int k = 0; processes_count() > 1 && k < o->run_count; k++) share_outcome(o, k);
  o->forward_seconds += timer_now() - start;
  *loss = 0;
  *interrupted = false;
  o->ran_meets = success_is_known_in_search(o);
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
    o->ran_meets = o->ran_meets && run->meets;
    for (int t = 0; t < o->term_count; t++) terms[t] += run->weight * run->terms[t];
  }
  return TRIAL_ACCEPTED;
}

static void run_backward(void* context, int index, int thread) {
  (void)thread;
  Batch* batch = context;
  Optimization* o = batch->optimization;
  int scenario = scenario_of(batch, index);
  ScenarioRun* run = &o->runs[scenario];
  loss_seeds_clear(&run->seeds);
  loss_evaluate_with(run->loss, &run->recording, run->terms, o->factors, &run->seeds);
  run->adjoint = optimization_run_adjoint(o, &run->recording, &run->seeds, o->task->optimizer.discount, batch->threads,
                                          &run->gradient);
  memset(run->by_variables, 0, sizeof(double) * (size_t)o->design.variable_count);
  if (run->adjoint.sound)
    design_gradient(&o->design, scenario, &run->model, &run->gradient, run->weight, run->by_variables);
}

static void share_gradient(Optimization* o, int scenario) {
  ScenarioRun* run = &o->runs[scenario];
  processes_broadcast(&run->adjoint, sizeof(run->adjoint), owner_of(scenario));
  processes_broadcast(run->by_variables, sizeof(double) * (size_t)o->design.variable_count, owner_of(scenario));
}

static void unsound_reason(Optimization* o, const AdjointReport* report) {
  Text text = {0};
  text_add(&text, "step %d has no derivative: %s", report->unsound_step,
           report->step.contact_failed ? "its contacts cannot be computed again"
           : report->step.grazes       ? "an impact begins with a grazing contact"
           : report->step.singular     ? "its Hessian is singular"
                                       : "its derivatives are not finite");
  memory_free(o->reason);
  o->reason = text.data;
}

static TrialOutcome finite_gradient(const Optimization* o, const double* gradient) {
  for (int k = 0; k < o->design.variable_count; k++)
    if (!isfinite(gradient[k])) return TRIAL_NOT_FINITE;
  return TRIAL_ACCEPTED;
}

TrialOutcome evaluate_gradient(Optimization* o, double* gradient) {
  size_t size = sizeof(double) * (size_t)o->design.variable_count;
  if (o->function.evaluate) {
    memcpy(gradient, o->function_gradient, size);
    return finite_gradient(o, gradient);
  }
  double start = timer_now();
  Batch batch = batch_of(o, NULL);
  run_all(&batch, run_backward);
  for (int k = 0; k < o->run_count; k++) share_gradient(o, k);
  o->adjoint_seconds += timer_now() - start;
  memset(gradient, 0, size);
  o->adjoint = o->runs[0].adjoint;
  for (int k = 0; k < o->run_count; k++) {
    const ScenarioRun* run = &o->runs[k];
    if (run->adjoint.growth > o->adjoint.growth) o->adjoint = run->adjoint;
    if (!run->adjoint.sound) {
      o->adjoint = run->adjoint;
      o->failed_scenario = k;
      unsound_reason(o, &run->adjoint);
      return TRIAL_NO_GRADIENT;
    }
    for (int v = 0; v < o->design.variable_count; v++) gradient[v] += run->by_variables[v];
  }
  return finite_gradient(o, gradient);
}

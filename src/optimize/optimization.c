#include "optimize/optimization.h"

#include <stdlib.h>
#include <string.h>

/* Of a variable that does not say so itself [m, rad, ...]. */
#define LARGE_CHANGE 0.1

const char* trial_outcome_text(TrialOutcome outcome) {
  static const char* const text[] = {"start",           "accepted",          "rejected_rose",      "rejected_invalid",
                                     "rejected_solver", "rejected_gradient", "rejected_not_finite"};
  return text[outcome];
}

const char* optimization_stop_text(OptimizationStop stop) {
  static const char* const text[] = {"running",        "all iterations done", "loss below stop_loss", "stalled",
                                     "step too short", "gradient is zero",    "interrupted"};
  return text[stop];
}

/* ---------------------------------------------------------------- creation */

/* How many entries from k on are corners that hulls of one link have in common. */
static int corner_run(const SharedVertices* shared, int k) {
  int end = k;
  while (end < shared->count && shared->items[end].corner && shared->items[end].link == shared->items[k].link) end++;
  return end - k;
}

static void describe_shared(Optimization* o) {
  const Scene* scene = &o->task->scenarios[0].scene;
  for (int k = 0; k < o->design.shared.count; k++) {
    const SharedVertex* s = &o->design.shared.items[k];
    const char* link = scene->links[s->link].name;
    int corners = corner_run(&o->design.shared, k);
    if (corners > 0) {
      text_add(&o->note, "link '%s': vertices at corners of other hulls that move with them: %d\n", link, corners);
      k += corners - 1;
    } else if (s->child < 0) {
      text_add(&o->note, "link '%s': hulls %d and %d share a vertex at (%.4g, %.4g, %.4g)\n", link, s->hull[0],
               s->hull[1], s->position.x, s->position.y, s->position.z);
    } else {
      text_add(&o->note, "link '%s': hull %d has a vertex at the joint of '%s'%s\n", link, s->hull[0],
               scene->links[s->child].name, s->outside > 0 ? ", which adds a corner" : "");
    }
  }
}

void optimization_room(Optimization* o, int rows) {
  if (rows <= o->capacity) return;
  int capacity = rows + rows / 2 + 64;
  size_t terms = sizeof(double) * (size_t)o->term_count;
  o->rows =
      memory_resize(o->rows, sizeof(OptimizationRow) * (size_t)o->capacity, sizeof(OptimizationRow) * (size_t)capacity);
  o->row_terms = memory_resize(o->row_terms, terms * (size_t)o->capacity, terms * (size_t)capacity);
  size_t multipliers = sizeof(double) * (size_t)subjects_count(o->subjects);
  if (multipliers > 0)
    o->row_multipliers =
        memory_resize(o->row_multipliers, multipliers * (size_t)o->capacity, multipliers * (size_t)capacity);
  o->capacity = capacity;
}

static void make_vectors(Optimization* o) {
  size_t n = (size_t)o->design.variable_count;
  o->x = MEMORY_NEW(double, n);
  o->gradient = MEMORY_NEW(double, n);
  o->trial = MEMORY_NEW(double, n);
  o->trial_gradient = MEMORY_NEW(double, n);
  o->best_x = MEMORY_NEW(double, n);
  o->terms = MEMORY_NEW(double, o->term_count);
  o->trial_terms = MEMORY_NEW(double, o->term_count);
  for (size_t k = 0; k < n; k++) o->x[k] = o->best_x[k] = o->design.variables[k].initial;
}

static int steps_of(const Optimization* o, const ScenarioRun* run) {
  return task_horizon(o->task->scenarios[run - o->runs].steps, run->model.simulation.steps);
}

/* What run->keep says, and what losses ask for; seeds: NULL, or those that go with it. */
static void create_rows(const Optimization* o, ScenarioRun* run, LossSeeds* seeds) {
  int steps = steps_of(o, run);
  if (o->task->memory > 0)
    recording_create_thin(&run->recording, &run->model, steps, &run->keep);
  else
    recording_create(&run->recording, &run->model, steps);
  loss_keep_pairs(run->loss, steps, &run->recording, seeds);
}

static void create_recording(const Optimization* o, ScenarioRun* run) {
  int steps = steps_of(o, run);
  if (o->task->memory > 0) {
    run->keep = row_keep_create(&run->model, steps);
    loss_keep(run->loss, &run->model, &run->keep);
    row_keep_lay_out(&run->keep, &run->model);
    run->seeds = loss_seeds_create_thin(&run->model, &run->keep);
  } else {
    run->seeds = loss_seeds_create(&run->model, steps);
  }
  create_rows(o, run, &run->seeds);
}

void optimization_repeat_parts(Optimization* o) {
  for (int k = 0; k < o->run_count; k++) {
    ScenarioRun* run = &o->runs[k];
    run->repeated = run->recording;
    run->recording = (Recording){0};
    create_rows(o, run, NULL);
  }
}

/* A recorded state is a constant. */
static Status check_start(const Optimization* o, const ScenarioRun* run, Diagnostics* diagnostics) {
  if (!run->model.start || o->task->attachment_count + o->task->start_count == 0) return STATUS_OK;
  diagnostics_add(diagnostics, SEVERITY_ERROR, run->scene->start.place,
                  "start: a run that begins in a recorded state has no gradient by attachments and initial values, "
                  "which the task wants to change");
  return STATUS_BAD_INPUT;
}

static Status create_runs(Optimization* o, Diagnostics* diagnostics) {
  o->run_count = o->task->scenario_count;
  o->runs = MEMORY_NEW(ScenarioRun, o->run_count);
  for (int k = 0; k < o->run_count; k++) {
    ScenarioRun* run = &o->runs[k];
    run->scene = &o->task->scenarios[k].scene;
    run->weight = o->task->scenarios[k].weight;
    run->has_model = true;
    Status status = model_create(&run->model, run->scene, diagnostics);
    if (status == STATUS_OK) status = check_start(o, run, diagnostics);
    if (status == STATUS_OK) status = loss_create(&run->loss, o->task, k, &run->model, diagnostics);
    if (status != STATUS_OK) return status;
    create_recording(o, run);
    if (o->task->memory > 0)
      status = recording_check_memory(&run->recording, &run->seeds, o->task->memory * GIBIBYTE / o->run_count,
                                      o->task->memory_place, diagnostics);
    if (status != STATUS_OK) return status;
    model_gradient_create(&run->gradient, &run->model);
    run->terms = MEMORY_NEW(double, loss_count(run->loss));
    run->by_variables = MEMORY_NEW(double, o->design.variable_count);
  }
  o->term_count = loss_count(o->runs[0].loss);
  return success_create(&o->success, o, diagnostics);
}

Status optimization_create(Optimization** optimization, Task* task, const OptimizationOptions* options,
                           Diagnostics* diagnostics) {
  Optimization* o = MEMORY_NEW(Optimization, 1);
  *optimization = o;
  o->task = task;
  for (int k = 0; k < task->scenario_count; k++) task->scenarios[k].scene.threads = options->threads;
  o->options = *options;
  Status status = design_create(&o->design, task, diagnostics);
  if (status == STATUS_OK) status = continuation_start(o, diagnostics);
  if (status == STATUS_OK) status = create_runs(o, diagnostics);
  if (status != STATUS_OK) return status;
  describe_shared(o);
  o->subjects = subjects_create(task);
  status = draws_create(&o->draws, &o->design, task, diagnostics);
  if (status != STATUS_OK) return status;
  draws_set(o, 0);
  optimization_identify(o);
  make_vectors(o);
  o->optimizer = optimizer_create(&task->optimizer, &o->design.set);
  o->spare_state = MEMORY_NEW(double, optimizer_state_size(o->optimizer));
  if (optimizer_project(o->optimizer, o->x)) return STATUS_OK;
  SourcePlace place = {task->path, 0, 0};
  diagnostics_add(diagnostics, SEVERITY_ERROR, place, "no design obeys the bounds and constraints together");
  return STATUS_BAD_INPUT;
}

void optimization_destroy(Optimization* o) {
  if (!o) return;
  for (int k = 0; o->runs && k < o->run_count; k++) scenario_run_free(&o->runs[k]);
  optimizer_destroy(o->optimizer);
  subjects_destroy(o->subjects);
  success_destroy(o->success);
  validation_destroy(o->validation);
  draws_destroy(o->draws);
  model_scene_destroy(o->shown, o->shown_of);
  design_destroy(&o->design);
  void* owned[] = {o->runs,
                   o->x,
                   o->gradient,
                   o->trial,
                   o->trial_gradient,
                   o->best_x,
                   o->terms,
                   o->trial_terms,
                   o->spare_state,
                   o->rows,
                   o->row_terms,
                   o->reason,
                   o->identity,
                   o->row_multipliers,
                   o->contacts,
                   o->unit,
                   o->function_gradient};
  for (size_t k = 0; k < sizeof(owned) / sizeof(owned[0]); k++) memory_free(owned[k]);
  text_free(&o->note);
  memory_free(o);
}

void optimization_minimise(Optimization* o, const OptimizationFunction* function) {
  size_t n = (size_t)o->design.variable_count;
  o->function = *function;
  o->unit = MEMORY_NEW(double, n);
  o->function_gradient = MEMORY_NEW(double, n);
  memcpy(o->unit, function->unit, sizeof(double) * n);
  for (size_t k = 0; k < n && function->held; k++)
    if (function->held[k]) o->design.set.low[k] = o->design.set.high[k] = o->x[k];
  continuation_forget(o);
}

typedef struct {
  const char* name;
  int index;
} NamedVariable;

static int by_name(const void* a, const void* b) {
  return strcmp(((const NamedVariable*)a)->name, ((const NamedVariable*)b)->name);
}

int optimization_begin_with(Optimization* o, const char* const* names, const double* values, int count) {
  int own = o->design.variable_count, found = 0;
  NamedVariable* sorted = MEMORY_NEW(NamedVariable, own);
  for (int k = 0; k < own; k++) sorted[k] = (NamedVariable){o->design.variables[k].name, k};
  qsort(sorted, (size_t)own, sizeof(NamedVariable), by_name);
  for (int k = 0; k < count; k++) {
    const NamedVariable wanted = {names[k], 0};
    const NamedVariable* at = bsearch(&wanted, sorted, (size_t)own, sizeof(NamedVariable), by_name);
    if (!at) continue;
    o->x[at->index] = values[k];
    found++;
  }
  memory_free(sorted);
  (void)optimizer_project(o->optimizer, o->x); /* the set is not empty, as is known */
  memcpy(o->best_x, o->x, sizeof(double) * (size_t)own);
  return found;
}

void optimization_restart(Optimization* o, const double* x, const bool* held) {
  Design* d = &o->design;
  size_t n = sizeof(double) * (size_t)d->variable_count;
  for (int k = 0; k < d->variable_count; k++) {
    d->set.low[k] = held && held[k] ? x[k] : d->variables[k].low;
    d->set.high[k] = held && held[k] ? x[k] : d->variables[k].high;
  }
  continuation_restart(o);
  continuation_forget(o);
  memcpy(o->x, x, n);
  if (!optimizer_project(o->optimizer, o->x)) memcpy(o->x, x, n); /* rows that only what is held could keep */
  memcpy(o->best_x, o->x, n);
  o->iteration = o->best_iteration = o->since_best = o->since_update = o->since_look = o->first_iteration = 0;
  o->stuck = false;
  o->stop = STOP_NOT_YET;
  o->adjoint = (AdjointReport){0};
  o->seconds_before = 0;
}

/* ---------------------------------------------------------------- the loop */

static double unit_of(const Optimization* o, int variable) { return o->unit ? o->unit[variable] : 1; }

/* Of a gradient. */
static double block_norm(const Optimization* o, const double* v, int block) {
  double sum = 0;
  for (int k = 0; k < o->design.variable_count; k++)
    if (o->design.block[k] == block) sum += v[k] * unit_of(o, k) * (v[k] * unit_of(o, k));
  return sqrt(sum);
}

static double block_step(const Optimization* o, const double* from, const double* to, int block) {
  double largest = 0;
  for (int k = 0; k < o->design.variable_count; k++)
    if (o->design.block[k] == block) largest = fmax(largest, fabs(to[k] - from[k]) / unit_of(o, k));
  return largest;
}

/* What the optimizer makes small, with the multipliers as they are, of a loss and all terms; and the derivatives of
 * that are asked for next. */
static double merit_of(Optimization* o, double loss, const double* terms) {
  if (!o->subjects) return loss;
  o->factors = subjects_factors(o->subjects, terms);
  return subjects_merit(o->subjects, loss, terms);
}

double optimization_merit(Optimization* o, double loss, const double* terms) { return merit_of(o, loss, terms); }

static void write_row(Optimization* o, TrialOutcome outcome, double trial_loss, double step_design,
                      double step_control) {
  optimization_room(o, o->iteration + 1);
  int count, subjects = subjects_count(o->subjects);
  if (subjects > 0)
    memcpy(o->row_multipliers + (size_t)o->iteration * (size_t)subjects, subjects_state(o->subjects, &count),
           sizeof(double) * (size_t)subjects);
  o->rows[o->iteration] = (OptimizationRow){.loss = o->plain,
                                            .trial_loss = trial_loss,
                                            .grad_design = block_norm(o, o->gradient, 0),
                                            .grad_control = block_norm(o, o->gradient, 1),
                                            .step_design = step_design,
                                            .step_control = step_control,
                                            .seconds = o->seconds_before + timer_now() - o->started,
                                            .outcome = outcome};
  memcpy(o->row_terms + (size_t)o->iteration * (size_t)o->term_count, o->terms, sizeof(double) * (size_t)o->term_count);
}

/* Bounds that are kept come before a small loss, and less beside them before more. */
static bool is_better(double violation, double loss, double best_violation, double best_loss) {
  bool kept = violation <= SUBJECTS_TOLERANCE, was_kept = best_violation <= SUBJECTS_TOLERANCE;
  if (kept != was_kept) return kept;
  return kept ? loss < best_loss : violation < best_violation;
}

static double violation_of(const Optimization* o, const double* terms) {
  return o->subjects ? subjects_violation(o->subjects, terms) : -HUGE_VAL;
}

/* Where every iteration has draws of its own, a design is worth the mean of its loss and of the nine before it in its
 * search: its own draws may have been kind. */
enum { MEAN_OVER = 10 };
double optimization_worth(const Optimization* o, int iteration, double loss) {
  if (!draws_vary(o)) return loss;
  double sum = loss;
  int count = 1;
  for (int k = iteration - 1; k >= 0 && count < MEAN_OVER && o->iteration != o->first_iteration; k--, count++) {
    sum += o->rows[k].loss;
    if (o->rows[k].outcome == TRIAL_START) return sum / (count + 1);
  }
  return sum / count;
}

/* How far a design breaks the bounds; where draws vary also the mean of those that its worth is a mean of: a small loss
 * outside of the bounds is worth nothing. */
static double worth_violation(const Optimization* o) {
  double own = violation_of(o, o->terms);
  if (!draws_vary(o) || !o->subjects || o->iteration == o->first_iteration) return own;
  size_t n = (size_t)o->term_count;
  double* mean = MEMORY_NEW(double, n);
  int count = 1;
  memcpy(mean, o->terms, sizeof(double) * n);
  for (int k = o->iteration - 1; k >= o->first_iteration && count < MEAN_OVER; k--, count++)
    for (size_t i = 0; i < n; i++) mean[i] += o->row_terms[(size_t)k * n + i];
  for (size_t i = 0; i < n; i++) mean[i] /= count;
  double all = violation_of(o, mean);
  memory_free(mean);
  return fmax(own, all);
}

/* How long the present start has found nothing better. */
static void count_since_best(Optimization* o, bool first, double violation, double worth) {
  double least = o->task->optimizer.stall_decrease * fabs(o->start_best);
  bool better = first || is_better(violation, worth, o->start_violation, o->start_best);
  bool counts = first || (o->subjects ? better : worth < o->start_best - least);
  o->since_best = counts ? 0 : o->since_best + 1;
  if (!better) return;
  o->start_best = worth;
  o->start_violation = violation;
}

static void keep_best(Optimization* o) {
  bool first = o->iteration == 0 || continuation_goes_on(o, o->iteration - 1); /* the loss was another one before */
  double violation = worth_violation(o), worth = optimization_worth(o, o->iteration, o->plain);
  count_since_best(o, first || o->iteration == o->first_iteration, violation, worth);
  if (!first && !is_better(violation, worth, o->best_violation, o->best_worth)) return;
  o->best_loss = o->plain;
  o->best_worth = worth;
  o->best_start = o->start;
  o->best_violation = violation;
  o->best_iteration = o->iteration;
  memcpy(o->best_x, o->x, sizeof(double) * (size_t)o->design.variable_count);
}

void optimization_judge_end(Optimization* o, bool can_step) {
  const TaskOptimizer* settings = &o->task->optimizer;
  if (continuation_goes_on(o, o->iteration)) {
    if (!can_step) continuation_forget(o);
    return;
  }
  if (o->best_worth <= settings->stop_loss && o->best_violation <= SUBJECTS_TOLERANCE)
    o->stop = STOP_LOSS;
  else if (!can_step)
    o->stop = STOP_SHORT_STEP;
  else if (settings->stall > 0 && o->since_best >= settings->stall)
    o->stop = STOP_STALL;
  else if (o->iteration - o->first_iteration >= settings->iterations)
    o->stop = STOP_ITERATIONS;
}

/* The design of a bundle with this number: normal about x, in the set. */
static void draw_near(const Optimization* o, const double* x, int number, double* out) {
  Random random = {o->task->seed};
  random.state = random_bits(&random) + (uint64_t)o->iteration;
  random.state = random_bits(&random) + (uint64_t)number;
  for (int k = 0; k < o->design.variable_count; k++) out[k] = x[k] + o->task->spread * random_normal(&random);
  (void)optimizer_project(o->optimizer, out); /* the set is not empty, as is known */
}

/* The mean over the designs of a bundle that can be run, in the order of their numbers; that of x itself, which stands
 * in gradient, when none can. docs/derivations/update.md (O13) */
static void average_gradient(Optimization* o, const double* x, double* gradient, bool* interrupted) {
  size_t n = (size_t)o->design.variable_count;
  double *memory = MEMORY_NEW(double, 3 * n + (size_t)o->term_count), *at = memory, *one = at + n, *sum = one + n;
  double *terms = sum + n, loss;
  int count = 0;
  for (int k = 0; k < o->task->bundle && !*interrupted; k++) {
    draw_near(o, x, k, at);
    if (evaluate_design(o, at, &loss, terms, interrupted) != TRIAL_ACCEPTED || *interrupted) continue;
    (void)merit_of(o, loss, terms);
    if (evaluate_gradient(o, one) != TRIAL_ACCEPTED) continue;
    for (size_t v = 0; v < n; v++) sum[v] += one[v];
    count++;
  }
  for (size_t v = 0; v < n && count > 0; v++) gradient[v] = sum[v] / count;
  memory_free(memory);
}

/* At the design x that evaluate_design has just run. */
static TrialOutcome find_gradient(Optimization* o, const double* x, double* gradient, bool* interrupted) {
  if (optimizer_is_free(o->optimizer)) {
    memset(gradient, 0, sizeof(double) * (size_t)o->design.variable_count);
    return TRIAL_ACCEPTED;
  }
  TrialOutcome outcome = evaluate_gradient(o, gradient);
  if (outcome == TRIAL_ACCEPTED && o->task->bundle > 0) average_gradient(o, x, gradient, interrupted);
  return outcome;
}

/* Of what can be followed: not into a bound of its variable. */
static double gradient_norm(const Optimization* o) {
  const FeasibleSet* set = &o->design.set;
  double sum = 0;
  for (int k = 0; k < o->design.variable_count; k++) {
    double g = o->gradient[k];
    bool blocked = (g > 0 && o->x[k] <= set->low[k]) || (g < 0 && o->x[k] >= set->high[k]);
    if (!blocked) sum += g * g;
  }
  return sqrt(sum);
}

TrialOutcome optimization_stand(Optimization* o, bool* interrupted) {
  TrialOutcome outcome = evaluate_design(o, o->x, &o->plain, o->terms, interrupted);
  if (*interrupted || outcome != TRIAL_ACCEPTED) return outcome;
  if (o->subjects) subjects_begin(o->subjects, o->plain, o->terms);
  o->loss = merit_of(o, o->plain, o->terms);
  outcome = find_gradient(o, o->x, o->gradient, interrupted);
  o->norm_updated = gradient_norm(o);
  return outcome;
}

void optimization_note_start(Optimization* o) {
  keep_best(o);
  write_row(o, TRIAL_START, o->plain, 0, 0);
  optimization_judge_end(o, true);
}

/* A sum of squares is more than a loss is. */
static Status check_method(const TaskOptimizer* settings, Diagnostics* diagnostics) {
  if (settings->type != OPTIMIZER_LEVENBERG_MARQUARDT) return STATUS_OK;
  diagnostics_add(diagnostics, SEVERITY_ERROR, settings->type_place,
                  "optimizer.type: levenberg_marquardt needs residuals, which only sdrs identify has; for a loss take "
                  "lbfgs");
  return STATUS_BAD_INPUT;
}

Status optimization_start(Optimization* o, Diagnostics* diagnostics) {
  bool interrupted;
  if (check_method(&o->task->optimizer, diagnostics) != STATUS_OK) return STATUS_BAD_INPUT;
  o->started = timer_now();
  TrialOutcome outcome = optimization_stand(o, &interrupted);
  if (interrupted) return STATUS_INTERRUPTED;
  if (outcome != TRIAL_ACCEPTED) {
    diagnostics_add(diagnostics, SEVERITY_ERROR, (SourcePlace){o->task->path, 0, 0},
                    "the initial design cannot be used: %s%s%s%s", trial_outcome_text(outcome) + strlen("rejected_"),
                    o->reason ? ": " : "", o->reason ? o->reason : "",
                    outcome == TRIAL_SOLVER ? " (sdrs simulate of its scene says between which bodies)" : "");
    return outcome == TRIAL_INVALID ? STATUS_BAD_INPUT : STATUS_SOLVER;
  }
  optimization_note_start(o);
  return STATUS_OK;
}

/* The trial's run and, where it is good enough, its gradient. plain: without bounds. */
static TrialOutcome try_design(Optimization* o, double* plain, double* loss, bool* interrupted) {
  TrialOutcome outcome = evaluate_design(o, o->trial, plain, o->trial_terms, interrupted);
  *loss = *plain;
  if (*interrupted || outcome != TRIAL_ACCEPTED) return outcome;
  if (optimizer_is_free(o->optimizer)) { /* bounds come first, without multipliers */
    double violation = violation_of(o, o->trial_terms);
    return is_better(violation, *plain, violation_of(o, o->terms), o->plain) ? TRIAL_ACCEPTED : TRIAL_ROSE;
  }
  *loss = merit_of(o, *plain, o->trial_terms);
  if (optimizer_descends(o->optimizer) && !(*loss < o->loss)) return TRIAL_ROSE;
  return find_gradient(o, o->trial, o->trial_gradient, interrupted);
}

static void take_trial(Optimization* o, double plain, double loss) {
  size_t n = sizeof(double) * (size_t)o->design.variable_count;
  o->plain = plain;
  o->loss = loss;
  memcpy(o->x, o->trial, n);
  memcpy(o->gradient, o->trial_gradient, n);
  memcpy(o->terms, o->trial_terms, sizeof(double) * (size_t)o->term_count);
}

/* Does the value of a term rise and fall on the way - by the method, or by what is drawn in each iteration? Then no
 * single design says how well a bound is kept. */
static bool wanders(const Optimization* o) { return !optimizer_descends(o->optimizer) || draws_vary(o); }

/* Of all terms over the iterations since the last look: mean, and the largest difference between two values (terms). */
static void look_back(const Optimization* o, double* mean, double* spread) {
  for (int i = 0; i < o->term_count; i++) {
    double low = HUGE_VAL, high = -HUGE_VAL, sum = 0;
    for (int k = o->iteration - o->since_look + 1; k <= o->iteration; k++) {
      double value = o->row_terms[(size_t)k * (size_t)o->term_count + (size_t)i];
      sum += value;
      low = fmin(low, value);
      high = fmax(high, value);
    }
    mean[i] = sum / o->since_look;
    spread[i] = high - low;
  }
}

typedef enum { MULTIPLIERS_STAY, MULTIPLIERS_FOLLOW, MULTIPLIERS_ANEW } Renewal;

/* (O12): the optimizer has done with them, or has had its time. */
static Renewal update_solved(Optimization* o, bool solved) {
  bool changed = subjects_update(o->subjects, o->terms, solved || o->stuck);
  if (!changed && o->stuck) o->stop = STOP_FLAT;
  o->since_look = o->since_update = 0;
  return changed ? MULTIPLIERS_ANEW : MULTIPLIERS_STAY;
}

/* (O20): on the way. */
static Renewal update_on_way(Optimization* o) {
  double *mean = MEMORY_NEW(double, 2 * o->term_count), *spread = mean + o->term_count;
  bool all = wanders(o), changed;
  if (all) look_back(o, mean, spread);
  changed = subjects_follow(o->subjects, all ? mean : o->terms, all ? spread : NULL);
  memory_free(mean);
  o->since_look = 0;
  if (changed) o->since_update = 0;
  return changed ? MULTIPLIERS_FOLLOW : MULTIPLIERS_STAY;
}

static Renewal renew_multipliers(Optimization* o) {
  bool solved, due = subjects_due(o->since_update, o->norm_updated, gradient_norm(o), &solved);
  if (o->stuck || (due && !wanders(o))) return update_solved(o, solved);
  return o->since_look >= optimizer_patience(o->optimizer) ? update_on_way(o) : MULTIPLIERS_STAY;
}

/* The design that stands under other multipliers: loss and gradient are others. A method that compares losses needs
 * both; one that does not, as Adam, goes on with the gradient it has: its means forget by themselves. */
static Status stand_anew(Optimization* o, Renewal renewal) {
  bool interrupted;
  if (!optimizer_descends(o->optimizer)) {
    o->loss = merit_of(o, o->plain, o->terms);
    return STATUS_OK;
  }
  TrialOutcome outcome = evaluate_design(o, o->x, &o->plain, o->terms, &interrupted); /* as it was */
  if (interrupted) return STATUS_INTERRUPTED;
  o->loss = merit_of(o, o->plain, o->terms);
  if (outcome == TRIAL_ACCEPTED) (void)find_gradient(o, o->x, o->gradient, &interrupted);
  if (interrupted) return STATUS_INTERRUPTED;
  if (renewal == MULTIPLIERS_ANEW || optimizer_remembers(o->optimizer)) optimizer_begin_anew(o->optimizer);
  return STATUS_OK;
}

/* Better multipliers, where it is time. */
static Status update_multipliers(Optimization* o) {
  int count, update = o->since_update, look = o->since_look;
  if (!o->subjects || optimizer_is_free(o->optimizer)) return STATUS_OK;
  double* state = subjects_state(o->subjects, &count);
  size_t size = sizeof(double) * (size_t)count;
  double* before = memcpy(memory_alloc(size), state, size);
  Renewal renewal = renew_multipliers(o);
  Status status = renewal == MULTIPLIERS_STAY ? STATUS_OK : stand_anew(o, renewal);
  if (status != STATUS_OK) { /* it begins here again */
    memcpy(state, before, size);
    o->since_update = update;
    o->since_look = look;
  } else if (o->since_update == 0) {
    o->stuck = false;
    o->norm_updated = gradient_norm(o);
  }
  memory_free(before);
  return status;
}

/* No step is left: with other multipliers there may be. */
static Status note_stuck(Optimization* o) {
  if (!o->subjects) o->stop = STOP_FLAT;
  if (!o->subjects && !continuation_goes_on(o, o->iteration)) return STATUS_OK;
  o->stuck = o->subjects != NULL; /* else it is the loss under a schedule's last contact that has no slope: its row */
  o->iteration++;
  o->since_update++;
  o->since_look++;
  keep_best(o);
  write_row(o, TRIAL_ROSE, NAN, 0, 0);
  if (o->subjects) optimization_judge_end(o, true);
  return STATUS_OK;
}

/* To the optimizer; false: it has no further step. */
static bool tell_outcome(Optimization* o, TrialOutcome outcome, double plain, double loss) {
  if (!optimizer_is_free(o->optimizer)) return optimizer_verdict(o->optimizer, outcome == TRIAL_ACCEPTED, loss);
  bool ran = outcome == TRIAL_ACCEPTED || outcome == TRIAL_ROSE;
  return optimizer_tell(o->optimizer, ran ? plain : (double)NAN, ran ? violation_of(o, o->trial_terms) : HUGE_VAL);
}

static Status advance_search(Optimization* o) {
  double loss, plain;
  bool interrupted;
  if (continuation_advance(o) != STATUS_OK) return STATUS_INTERRUPTED;
  if (draws_advance(o) != STATUS_OK) return STATUS_INTERRUPTED;
  Status updated = update_multipliers(o);
  if (updated != STATUS_OK || o->stop == STOP_FLAT) return updated;
  size_t n = sizeof(double) * (size_t)o->design.variable_count;
  optimizer_state_save(o->optimizer, o->spare_state);
  optimizer_propose(o->optimizer, o->x, o->loss, o->gradient, o->trial);
  bool stays = memcmp(o->trial, o->x, n) == 0 && !optimizer_is_free(o->optimizer);
  if (stays && !continuation_goes_on(o, o->iteration + 1)) return note_stuck(o);
  double step_design = block_step(o, o->x, o->trial, 0), step_control = block_step(o, o->x, o->trial, 1);
  TrialOutcome outcome = try_design(o, &plain, &loss, &interrupted);
  if (interrupted) {
    optimizer_state_load(o->optimizer, o->spare_state);
    return STATUS_INTERRUPTED;
  }
  bool accepted = outcome == TRIAL_ACCEPTED;
  if (accepted) take_trial(o, plain, loss);
  bool can_step = tell_outcome(o, outcome, plain, loss);
  o->stuck = o->subjects && !can_step;
  o->iteration++;
  o->since_update++;
  o->since_look++;
  keep_best(o);
  write_row(o, outcome, plain, step_design, step_control);
  optimization_judge_end(o, can_step || o->stuck);
  return STATUS_OK;
}

Status optimization_advance(Optimization* o) {
  if (o->between_starts) return multistart_next(o);
  Status status = advance_search(o);
  if (status != STATUS_OK || !multistart_goes_on(o)) return status;
  if (o->stop == STOP_FLAT) return multistart_next(o); /* there was no iteration */
  o->between_starts = true;
  o->stop = STOP_NOT_YET;
  return STATUS_OK;
}

/* ---------------------------------------------------------------- what others read */

/* Under limits a search whose steps have become too short asks for other multipliers first; there were none. */
static bool was_short(const Optimization* o) {
  const OptimizationRow* last = &o->rows[o->iteration];
  return o->stop == STOP_FLAT && o->subjects && (last->step_design > 0 || last->step_control > 0);
}

OptimizationStop optimization_stop(const Optimization* o) { return was_short(o) ? STOP_SHORT_STEP : o->stop; }
int optimization_iteration(const Optimization* o) { return o->iteration; }
const OptimizationRow* optimization_rows(const Optimization* o) { return o->rows; }
int optimization_term_count(const Optimization* o) { return o->term_count; }
const char* optimization_term_name(const Optimization* o, int term) { return loss_name(o->runs[0].loss, term); }
const double* optimization_terms(const Optimization* o, int iteration) {
  return o->row_terms + (size_t)iteration * (size_t)o->term_count;
}
int optimization_subject_count(const Optimization* o) { return subjects_count(o->subjects); }
const double* optimization_multipliers(const Optimization* o, int iteration) {
  return o->row_multipliers + (size_t)iteration * (size_t)subjects_count(o->subjects);
}
double optimization_best_violation(const Optimization* o) { return o->best_violation; }
double optimization_best_loss(const Optimization* o) { return o->best_loss; }
int optimization_best_start(const Optimization* o) { return o->best_start; }
int optimization_best_iteration(const Optimization* o) { return o->best_iteration; }
const char* optimization_reason(const Optimization* o) { return o->reason ? o->reason : ""; }
AdjointReport optimization_adjoint(const Optimization* o) { return o->adjoint; }
const char* optimization_note(const Optimization* o) { return o->note.data ? o->note.data : ""; }

void optimization_times(const Optimization* o, double* forward, double* adjoint) {
  *forward = o->forward_seconds;
  *adjoint = o->adjoint_seconds;
}

int optimization_variable_count(const Optimization* o) { return o->design.variable_count; }

OptimizationVariable optimization_variable(const Optimization* o, int index) {
  const DesignVariable* v = &o->design.variables[index];
  return (OptimizationVariable){v->name,     v->initial,       v->low,        v->high,
                                o->x[index], o->best_x[index], v->block == 1, v->scale > 0 ? v->scale : LARGE_CHANGE,
                                v->prior};
}

static const Scene* show_scene(Optimization* o, int scenario, const double* x) {
  ModelOverride* overrides = design_overrides(&o->design, x);
  model_scene_destroy(o->shown, o->shown_of);
  o->shown_of = &o->task->scenarios[scenario].scene;
  int count = design_overrides_in(&o->design, scenario, overrides, o->design.number_count);
  o->shown = model_scene_create(o->shown_of, overrides, count);
  memory_free(overrides);
  return o->shown;
}

const Scene* optimization_scene_of(Optimization* o, int scenario, const double* values) {
  return show_scene(o, scenario, values);
}

const Scene* optimization_scene(Optimization* o, int scenario, bool best) {
  return show_scene(o, scenario, best ? o->best_x : o->x);
}

ModelOverride* optimization_overrides(const Optimization* o, const double* x, int scenario, DrawMoment moment,
                                      int* count) {
  ModelOverride* overrides = design_overrides(&o->design, x);
  int room = draws_room(o->draws), own = o->design.number_count;
  *count = own;
  if (room > 0 && moment.stream != DRAW_NONE) {
    overrides =
        memory_resize(overrides, sizeof(ModelOverride) * (size_t)own, sizeof(ModelOverride) * (size_t)(own + room));
    *count = draws_apply(o->draws, moment, scenario, overrides, own);
  }
  *count = design_overrides_in(&o->design, scenario, overrides, *count);
  return overrides;
}

Status optimization_model(const Optimization* o, int scenario, const double* values, Model* model,
                          Diagnostics* diagnostics) {
  ModelOverride* overrides = design_overrides(&o->design, values);
  const Scene* scene = &o->task->scenarios[scenario].scene;
  int count = design_overrides_in(&o->design, scenario, overrides, o->design.number_count);
  Status status = model_create_with(model, scene, overrides, count, diagnostics);
  memory_free(overrides);
  return status;
}

void optimization_chain(const Optimization* o, int scenario, const Model* model, const ModelGradient* gradient,
                        double* slope) {
  design_gradient(&o->design, scenario, model, gradient, 1, slope);
}

bool optimization_turns_joints(const Optimization* o) {
  bool any = false;
  for (int k = 0; k < o->design.turn_count; k++) any = any || !o->design.turns[k].of_start;
  return any;
}

const Scene* optimization_trial_scene(Optimization* o, int* scenario) {
  *scenario = o->failed_scenario;
  return show_scene(o, o->failed_scenario, o->trial);
}

bool optimization_shapes_link(const Optimization* o, int link) { return o->design.link_changes[link]; }

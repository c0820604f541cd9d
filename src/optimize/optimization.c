/* The optimization loop: proposes trials, accepts or rejects them, and updates the multipliers of bounded terms. */
#include <float.h>
#include <string.h>

#include "optimize/optimization.h"

const char* trial_outcome_text(TrialOutcome outcome) {
  static const char* const text[] = {"start",           "accepted",          "rejected_rose",      "rejected_invalid",
                                     "rejected_solver", "rejected_gradient", "rejected_not_finite"};
  return text[outcome];
}

const char* optimization_stop_text(OptimizationStop stop) {
  static const char* const text[] = {"running",    "all iterations done",     "loss below stop_loss",
                                     "stalled",    "no step lowers the loss", "gradient is zero within the bounds",
                                     "interrupted"};
  return text[stop];
}

/* ---------------------------------------------------------------- the loop */

static double unit_of(const Optimization* o, int variable) { return o->unit ? o->unit[variable] : 1; }

/* Returns the Euclidean norm of the entries of v[variables] that belong to a block: 0 design variables, 1 control
 * variables. */
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

/* Returns the value that the optimizer minimizes: the loss plus the terms of the bounds, with the present
 * multipliers. Sets o->factors to the derivatives of this value with respect to the terms, for the next gradient. */
static double merit_of(Optimization* o, double loss, const double* terms) {
  if (!o->bounded_terms) return loss;
  o->factors = bounded_terms_derivatives(o->bounded_terms, terms);
  return bounded_terms_merit(o->bounded_terms, loss, terms);
}

double optimization_merit(Optimization* o, double loss, const double* terms) { return merit_of(o, loss, terms); }

static void write_row(Optimization* o, TrialOutcome outcome, double trial_loss, double step_design,
                      double step_control) {
  optimization_reserve_rows(o, o->iteration + 1);
  int count, subjects = bounded_terms_count(o->bounded_terms);
  if (subjects > 0)
    memcpy(o->row_multipliers + (size_t)o->iteration * (size_t)subjects, bounded_terms_state(o->bounded_terms, &count),
           sizeof(double) * (size_t)subjects);
  o->rows[o->iteration] = (OptimizationRow){.loss = o->unconstrained_loss,
                                            .trial_loss = trial_loss,
                                            .grad_design = block_norm(o, o->gradient, 0),
                                            .grad_control = block_norm(o, o->gradient, 1),
                                            .step_design = step_design,
                                            .step_control = step_control,
                                            .seconds = o->seconds_before + timer_now() - o->started,
                                            .outcome = outcome};
  memcpy(o->row_terms + (size_t)o->iteration * (size_t)o->term_count, o->terms, sizeof(double) * (size_t)o->term_count);
}

/* Values by which designs are compared. */
typedef struct {
  double violation; /* largest relative violation of a bound in the task's key subject_to */
  bool meets;       /* true if the design meets `success` */
  double loss;
} Rank;

/* Returns true if design a is better than `best`. The first criterion is the violation: a design that satisfies all
 * bounds is better than one that does not, and a smaller violation is better than a larger one. Then a design that
 * meets `success` is better. Then the smaller loss is better. */
static bool is_better(Rank a, Rank best) {
  bool kept = a.violation <= BOUNDED_TERM_TOLERANCE, was_kept = best.violation <= BOUNDED_TERM_TOLERANCE;
  if (kept != was_kept) return kept;
  if (!kept) return a.violation < best.violation;
  return a.meets != best.meets ? a.meets : a.loss < best.loss;
}

static double violation_of(const Optimization* o, const double* terms) {
  return o->bounded_terms ? bounded_terms_violation(o->bounded_terms, terms) : -HUGE_VAL;
}

/* Number of losses in the mean by which designs are compared if draws vary. A single draw can give a low loss by
 * chance. The compared value is at least the loss of the design itself, so that earlier losses do not hide a failure.
 */
enum { MEAN_OVER = 10 };
double optimization_compared_loss(const Optimization* o, int iteration, double loss) {
  if (!draws_change(o)) return loss;
  double sum = loss;
  int count = 1;
  for (int k = iteration - 1; k >= 0 && count < MEAN_OVER && o->iteration != o->first_iteration; k--) {
    sum += o->rows[k].loss;
    count++;
    if (o->rows[k].outcome == TRIAL_START) break;
  }
  return fmax(loss, sum / count);
}

/* Returns the violation of the bounds by the current design. If draws vary, the result is at least the violation of
 * the mean terms of the last designs. A design with a small loss outside the bounds then does not count as good. */
static double compared_violation(const Optimization* o) {
  double nominal = violation_of(o, o->terms);
  if (!draws_change(o) || !o->bounded_terms || o->iteration == o->first_iteration) return nominal;
  size_t n = (size_t)o->term_count;
  double* mean = MEMORY_NEW(double, n);
  int count = 1;
  memcpy(mean, o->terms, sizeof(double) * n);
  for (int k = o->iteration - 1; k >= o->first_iteration && count < MEAN_OVER; k--, count++)
    for (size_t i = 0; i < n; i++) mean[i] += o->row_terms[(size_t)k * n + i];
  for (size_t i = 0; i < n; i++) mean[i] /= count;
  double all = violation_of(o, mean);
  memory_free(mean);
  return fmax(nominal, all);
}

/* Updates o->since_best, the number of iterations since the last better design of the present start, and the best
 * values of the start. */
static void count_since_best(Optimization* o, bool first, double violation, double compared_loss) {
  double least = o->task->optimizer.stall_decrease * fabs(o->start_best);
  bool better =
      first || is_better((Rank){violation, false, compared_loss}, (Rank){o->start_violation, false, o->start_best});
  bool counts = first || (o->bounded_terms ? better : compared_loss < o->start_best - least);
  o->since_best = counts ? 0 : o->since_best + 1;
  if (!better) return;
  o->start_best = compared_loss;
  o->start_violation = violation;
}

/* Updates the best design. A loss with smoother friction is not comparable (O26). */
static void keep_best(Optimization* o) {
  if (o->automatic.has_smooth_friction) return;
  bool first = o->iteration == 0 || continuation_is_active(o, o->iteration - 1); /* the loss function has changed */
  double violation = compared_violation(o),
         compared_loss = optimization_compared_loss(o, o->iteration, o->unconstrained_loss);
  count_since_best(o, first || o->iteration == o->first_iteration, violation, compared_loss);
  const Rank best = {o->best_violation, o->best_is_successful, o->best_compared_loss};
  if (!first && !is_better((Rank){violation, o->is_successful, compared_loss}, best)) return;
  o->best_is_successful = o->is_successful;
  o->best_loss = o->unconstrained_loss;
  o->best_compared_loss = compared_loss;
  o->best_start = o->start;
  o->best_violation = violation;
  o->best_iteration = o->iteration;
  memcpy(o->best_x, o->x, sizeof(double) * (size_t)o->design.variable_count);
}

void optimization_check_stop(Optimization* o, bool can_step) {
  const TaskOptimizer* settings = &o->task->optimizer;
  if (continuation_is_active(o, o->iteration)) {
    if (!can_step) continuation_reset_optimizer(o);
    return;
  }
  if (o->best_compared_loss <= settings->stop_loss && o->best_violation <= BOUNDED_TERM_TOLERANCE)
    o->stop = STOP_LOSS;
  else if (!can_step)
    o->stop = STOP_SHORT_STEP;
  else if (settings->stall > 0 && o->since_best >= settings->stall)
    o->stop = STOP_STALL;
  else if (o->iteration - o->first_iteration >= settings->iterations)
    o->stop = STOP_ITERATIONS;
}

/* Sets out[variables] to design `number` of a bundle: a random design near x. The designs are normally distributed
 * about x and projected onto the feasible set. */
static void draw_near(const Optimization* o, const double* x, int number, double* out) {
  Random random = {o->task->seed};
  random.state = random_bits(&random) + (uint64_t)o->iteration;
  random.state = random_bits(&random) + (uint64_t)number;
  for (int k = 0; k < o->design.variable_count; k++) out[k] = x[k] + o->task->spread * random_normal(&random);
  (void)optimizer_project(o->optimizer, out); /* the set is known to be nonempty */
}

/* Sets gradient[variables] to the mean gradient over the designs of a bundle about x (docs/derivations/update.md, O13).
 * Designs whose run fails are left out. If all fail, the gradient at x is kept. The sum runs over the designs in the
 * order of their numbers. */
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

/* Sets gradient[variables] to the gradient at the design x, which evaluate_design simulated last. */
static TrialOutcome find_gradient(Optimization* o, const double* x, double* gradient, bool* interrupted) {
  if (optimizer_is_gradient_free(o->optimizer)) {
    memset(gradient, 0, sizeof(double) * (size_t)o->design.variable_count);
    return TRIAL_ACCEPTED;
  }
  TrialOutcome outcome = evaluate_gradient(o, gradient);
  if (outcome == TRIAL_ACCEPTED && o->task->bundle > 0) average_gradient(o, x, gradient, interrupted);
  return outcome;
}

/* Returns the norm of the gradient. Leaves out variables at a bound if descent would move the variable beyond the
 * bound. */
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

static TrialOutcome evaluate_current(Optimization* o, bool first, bool* interrupted) {
  TrialOutcome outcome = evaluate_design(o, o->x, &o->unconstrained_loss, o->terms, interrupted);
  if (*interrupted || outcome != TRIAL_ACCEPTED) return outcome;
  o->is_successful = o->last_is_successful;
  if (first && o->bounded_terms) bounded_terms_reset(o->bounded_terms, o->unconstrained_loss, o->terms);
  o->loss = merit_of(o, o->unconstrained_loss, o->terms);
  outcome = find_gradient(o, o->x, o->gradient, interrupted);
  o->norm_updated = gradient_norm(o);
  return outcome;
}

TrialOutcome optimization_set_current(Optimization* o, bool* interrupted) {
  return evaluate_current(o, true, interrupted);
}

TrialOutcome optimization_reevaluate_current(Optimization* o, bool* interrupted) {
  return evaluate_current(o, false, interrupted);
}

void optimization_record_start(Optimization* o) {
  keep_best(o);
  write_row(o, TRIAL_START, o->unconstrained_loss, 0, 0);
  optimization_check_stop(o, true);
}

/* Adds an error if the method requires a sum of squares, because the loss of a task is not a sum of squares. */
static Status check_method(const TaskOptimizer* settings, Diagnostics* diagnostics) {
  if (settings->type != OPTIMIZER_LEVENBERG_MARQUARDT) return STATUS_OK;
  diagnostics_add(diagnostics, SEVERITY_ERROR, settings->type_place,
                  "optimizer.type: levenberg_marquardt applies to sdrs identify only: for a loss use lbfgs");
  return STATUS_BAD_INPUT;
}

/* Warns of the first variable with a prior, because an optimization ignores priors. */
static void warn_of_prior(const Design* design, Diagnostics* diagnostics) {
  int k = 0;
  while (k < design->variable_count && !(design->variables[k].prior > 0)) k++;
  if (k < design->variable_count)
    diagnostics_add(diagnostics, SEVERITY_WARNING, design->variables[k].place,
                    "'prior' of '%s' is ignored, because only sdrs identify uses priors: remove 'prior'",
                    design->variables[k].name);
}

Status optimization_start(Optimization* o, Diagnostics* diagnostics) {
  bool interrupted;
  if (check_method(&o->task->optimizer, diagnostics) != STATUS_OK) return STATUS_BAD_INPUT;
  warn_of_prior(&o->design, diagnostics);
  o->started = timer_now();
  TrialOutcome outcome = optimization_set_current(o, &interrupted);
  if (interrupted) return STATUS_INTERRUPTED;
  if (outcome != TRIAL_ACCEPTED) {
    diagnostics_add(
        diagnostics, SEVERITY_ERROR, (SourcePosition){o->task->path, 0, 0},
        "the initial design cannot be used: %s%s%s%s", trial_outcome_text(outcome) + strlen("rejected_"),
        o->reason ? ": " : "", o->reason ? o->reason : "",
        outcome == TRIAL_SOLVER ? " (run `sdrs simulate` on its scene to see which bodies cause the failure)" : "");
    return outcome == TRIAL_INVALID ? STATUS_BAD_INPUT : STATUS_SOLVER;
  }
  optimization_record_start(o);
  return STATUS_OK;
}

/* Computes the gradient of a trial whose loss rose, and reports it to the optimizer (O25). Does nothing if random draws
 * or gradient bundles make the loss random. Keeps the adjoint report of the accepted designs. */
static void report_rejected_gradient(Optimization* o, double loss) {
  if (!optimizer_uses_rejected(o->optimizer) || draws_change(o) || o->task->bundle > 0) return;
  AdjointReport accepted = o->adjoint;
  bool found = evaluate_gradient(o, o->trial_gradient) == TRIAL_ACCEPTED;
  o->adjoint = accepted;
  if (!found) return;
  optimizer_reject(o->optimizer, &(LossAtPoint){o->x, o->loss, o->gradient},
                   &(LossAtPoint){o->trial, loss, o->trial_gradient});
}

/* Simulates the design o->trial. If the method accepts the loss, also computes the gradient. Sets *plain to the loss
 * without bounds and *loss to the minimized value. Returns the outcome. */
static TrialOutcome try_design(Optimization* o, double* plain, double* loss, bool* interrupted) {
  TrialOutcome outcome = evaluate_design(o, o->trial, plain, o->trial_terms, interrupted);
  *loss = *plain;
  o->trial_is_successful = o->last_is_successful;
  if (*interrupted || outcome != TRIAL_ACCEPTED) return outcome;
  if (optimizer_is_gradient_free(
          o->optimizer)) { /* methods without gradients compare violations first and use no multipliers */
    double violation = violation_of(o, o->trial_terms);
    const Rank current = {violation_of(o, o->terms), o->is_successful, o->unconstrained_loss};
    return is_better((Rank){violation, o->trial_is_successful, *plain}, current) ? TRIAL_ACCEPTED : TRIAL_ROSE;
  }
  *loss = merit_of(o, *plain, o->trial_terms);
  if (optimizer_descends(o->optimizer) && !(*loss < o->loss)) {
    report_rejected_gradient(o, *loss);
    return TRIAL_ROSE;
  }
  return find_gradient(o, o->trial, o->trial_gradient, interrupted);
}

static void take_trial(Optimization* o, double plain, double loss) {
  size_t n = sizeof(double) * (size_t)o->design.variable_count;
  o->unconstrained_loss = plain;
  o->loss = loss;
  o->is_successful = o->trial_is_successful;
  memcpy(o->x, o->trial, n);
  memcpy(o->gradient, o->trial_gradient, n);
  memcpy(o->terms, o->trial_terms, sizeof(double) * (size_t)o->term_count);
}

/* Returns true if the loss terms fluctuate between iterations, because draws vary or the method accepts increases of
 * the loss. A single design then does not show how well a bound is satisfied. */
static bool terms_fluctuate(const Optimization* o) { return !optimizer_descends(o->optimizer) || draws_change(o); }

/* Sets mean[terms] to the mean of each term since the last check of violations. Sets spread[terms] to the largest
 * difference between two values of the term. */
static void summarize_terms(const Optimization* o, double* mean, double* spread) {
  for (int i = 0; i < o->term_count; i++) {
    double low = HUGE_VAL, high = -HUGE_VAL, sum = 0;
    for (int k = o->iteration - o->since_check + 1; k <= o->iteration; k++) {
      double value = o->row_terms[(size_t)k * (size_t)o->term_count + (size_t)i];
      sum += value;
      low = fmin(low, value);
      high = fmax(high, value);
    }
    mean[i] = sum / o->since_check;
    spread[i] = high - low;
  }
}

typedef enum { MULTIPLIERS_UNCHANGED, MULTIPLIERS_ADJUSTED, MULTIPLIERS_RESTARTED } MultiplierChange;

/* Updates the multipliers at the end of a minimization (O12). solved: true if the optimizer has converged with the
 * present multipliers, false if it has used its number of iterations. */
static MultiplierChange update_solved(Optimization* o, bool solved) {
  bool changed = bounded_terms_update(o->bounded_terms, o->terms, solved || o->stuck);
  if (!changed && o->stuck) o->stop = STOP_FLAT;
  o->since_check = o->since_update = 0;
  return changed ? MULTIPLIERS_RESTARTED : MULTIPLIERS_UNCHANGED;
}

/* Updates the Lagrange multipliers of bounded terms during a minimization, before it has converged (O20). */
static MultiplierChange update_in_search(Optimization* o) {
  double *mean = MEMORY_NEW(double, 2 * o->term_count), *spread = mean + o->term_count;
  bool all = terms_fluctuate(o), changed;
  if (all) summarize_terms(o, mean, spread);
  changed = bounded_terms_update_in_search(o->bounded_terms, all ? mean : o->terms, all ? spread : NULL);
  memory_free(mean);
  o->since_check = 0;
  if (changed) o->since_update = 0;
  return changed ? MULTIPLIERS_ADJUSTED : MULTIPLIERS_UNCHANGED;
}

static MultiplierChange change_multipliers(Optimization* o) {
  bool solved, due = bounded_terms_update_is_due(o->since_update, o->norm_updated, gradient_norm(o), &solved);
  if (o->stuck || (due && !terms_fluctuate(o))) return update_solved(o, solved);
  return o->since_check >= optimizer_patience(o->optimizer) ? update_in_search(o) : MULTIPLIERS_UNCHANGED;
}

/* Evaluates the current design again with new multipliers. Methods that compare losses need the new loss and
 * gradient. Adam continues with its gradient, because its running means decay. */
static Status apply_multipliers(Optimization* o, MultiplierChange change) {
  bool interrupted;
  if (!optimizer_descends(o->optimizer)) {
    o->loss = merit_of(o, o->unconstrained_loss, o->terms);
    return STATUS_OK;
  }
  /* simulates the current design again, to restore its recordings */
  TrialOutcome outcome = evaluate_design(o, o->x, &o->unconstrained_loss, o->terms, &interrupted);
  if (interrupted) return STATUS_INTERRUPTED;
  o->loss = merit_of(o, o->unconstrained_loss, o->terms);
  if (outcome == TRIAL_ACCEPTED) (void)find_gradient(o, o->x, o->gradient, &interrupted);
  if (interrupted) return STATUS_INTERRUPTED;
  if (change == MULTIPLIERS_RESTARTED || optimizer_uses_curvature(o->optimizer)) optimizer_reset(o->optimizer);
  return STATUS_OK;
}

/* Updates the multipliers if they must be updated after this iteration. */
static Status update_multipliers(Optimization* o) {
  int count, update = o->since_update, look = o->since_check;
  if (!o->bounded_terms || optimizer_is_gradient_free(o->optimizer)) return STATUS_OK;
  double* state = bounded_terms_state(o->bounded_terms, &count);
  size_t size = sizeof(double) * (size_t)count;
  double* before = memcpy(memory_alloc(size), state, size);
  MultiplierChange change = change_multipliers(o);
  Status status = change == MULTIPLIERS_UNCHANGED ? STATUS_OK : apply_multipliers(o, change);
  if (status != STATUS_OK) { /* the next call repeats the update */
    memcpy(state, before, size);
    o->since_update = update;
    o->since_check = look;
  } else if (o->since_update == 0) {
    o->stuck = false;
    o->norm_updated = gradient_norm(o);
  }
  memory_free(before);
  return status;
}

/* Called if the optimizer finds no further step. If the task bounds terms, requests new multipliers, with which the
 * optimizer may find a step. */
static Status handle_no_step(Optimization* o) {
  if (!o->bounded_terms) o->stop = STOP_FLAT;
  if (!o->bounded_terms && !continuation_is_active(o, o->iteration)) return STATUS_OK;
  o->stuck = o->bounded_terms != NULL; /* without bounded terms only a schedule reaches this line: the row below records
                                          the design, at which the gradient is zero */
  o->iteration++;
  o->since_update++;
  o->since_check++;
  keep_best(o);
  write_row(o, TRIAL_ROSE, NAN, 0, 0);
  if (o->bounded_terms) optimization_check_stop(o, true);
  return STATUS_OK;
}

/* Reports the outcome of the trial to the optimizer. plain: loss without bounds; loss: minimized value. Returns false
 * if the optimizer has no further step. */
static bool report_outcome(Optimization* o, TrialOutcome outcome, double plain, double loss) {
  if (!optimizer_is_gradient_free(o->optimizer))
    return optimizer_report_outcome(o->optimizer, outcome == TRIAL_ACCEPTED, loss);
  bool ran = outcome == TRIAL_ACCEPTED || outcome == TRIAL_ROSE;
  double violation = ran ? violation_of(o, o->trial_terms) : HUGE_VAL;
  /* the smallest positive violation ranks the design just before designs that violate bounds */
  if (success_is_known_in_search(o) && !o->trial_is_successful) violation = fmax(violation, DBL_MIN);
  return optimizer_report_loss(o->optimizer, ran ? plain : (double)NAN, violation);
}

/* Returns the decrease of the minimized value that the gradient predicts for the trial. */
static double predicted_gain(const Optimization* o) {
  double sum = 0;
  for (int k = 0; k < o->design.variable_count; k++) sum -= o->gradient[k] * (o->trial[k] - o->x[k]);
  return sum;
}

static Status advance_search(Optimization* o) {
  double loss, plain;
  bool interrupted;
  if (automatic_restore_best(o) != STATUS_OK) return STATUS_INTERRUPTED;
  if (automatic_change_friction(o) != STATUS_OK) return STATUS_INTERRUPTED;
  if (continuation_advance(o) != STATUS_OK) return STATUS_INTERRUPTED;
  if (draws_advance(o) != STATUS_OK) return STATUS_INTERRUPTED;
  Status updated = update_multipliers(o);
  if (updated != STATUS_OK || o->stop == STOP_FLAT) return updated;
  size_t n = sizeof(double) * (size_t)o->design.variable_count;
  optimizer_state_save(o->optimizer, o->saved_state);
  optimizer_propose(o->optimizer, o->x, o->loss, o->gradient, o->trial);
  int moved_trials = o->corrected_trials, start_pairs = o->start_pair_count;
  bool stays = memcmp(o->trial, o->x, n) == 0 && !optimizer_is_gradient_free(o->optimizer);
  if (stays && automatic_handle_zero_gradient(o)) return advance_search(o);
  if (stays && !continuation_is_active(o, o->iteration + 1)) return handle_no_step(o);
  TrialOutcome outcome = try_design(o, &plain, &loss, &interrupted);
  if (outcome == TRIAL_INVALID && !interrupted && correct_trial_gaps(o))
    outcome = try_design(o, &plain, &loss, &interrupted);
  double step_design = block_step(o, o->x, o->trial, 0), step_control = block_step(o, o->x, o->trial, 1);
  if (interrupted) {
    optimizer_state_load(o->optimizer, o->saved_state);
    o->corrected_trials = moved_trials;
    o->start_pair_count = start_pairs;
    return STATUS_INTERRUPTED;
  }
  bool accepted = outcome == TRIAL_ACCEPTED;
  double gained = o->loss - loss, predicted = predicted_gain(o);
  if (accepted) take_trial(o, plain, loss);
  bool can_step = report_outcome(o, outcome, plain, loss);
  o->stuck = o->bounded_terms && !can_step;
  o->iteration++;
  o->since_update++;
  o->since_check++;
  keep_best(o);
  write_row(o, outcome, plain, step_design, step_control);
  can_step = automatic_update(o, outcome, gained, predicted, can_step);
  optimization_check_stop(o, can_step || o->stuck);
  return STATUS_OK;
}

Status optimization_advance(Optimization* o) {
  if (o->next_start_is_pending) return multistart_next(o);
  Status status = advance_search(o);
  if (status != STATUS_OK || !multistart_has_next(o)) return status;
  if (o->stop == STOP_FLAT) return multistart_next(o); /* no iteration took place */
  o->next_start_is_pending = true;
  o->stop = STOP_NOT_YET;
  return STATUS_OK;
}

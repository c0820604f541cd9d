#include "optimize/optimizer.h"
#include <assert.h>
#include <math.h>
#include <string.h>
#include "linalg/arrays.h"
#include "optimize/rule.h"

/* The search ends if the factor on the step sizes is below this value, which about 30 halvings reach. */
#define FACTOR_MIN 1e-9
/* Largest residual of a satisfied linear constraint, relative to its terms. It is above rounding errors. */
#define ROW_TOLERANCE 1e-12
/* Relative tolerance for equal step lengths, above the rounding errors of differences of variables. */
#define LENGTH_TOLERANCE 1e-6

/* Proposes no step: Levenberg-Marquardt needs residuals and computes its steps in identify/. */
static bool propose_nothing(Optimizer* o, const double* x, const double* gradient, double* trial) {
  (void)o, (void)gradient;
  trial[0] = x[0];
  return false;
}
static int no_work(const TaskOptimizer* settings, const FeasibleSet* set) {
  (void)settings, (void)set;
  return 0;
}
static const UpdateRule RULE_RESIDUALS = {
    .descends = true, .factor_limit = 1, .work_size = no_work, .propose = propose_nothing};

static const UpdateRule* const RULES[] = {
    [OPTIMIZER_AUTO] = &RULE_LBFGS, /* first method of `auto` */
    [OPTIMIZER_ADAM] = &RULE_ADAM,         [OPTIMIZER_STEP_BOUNDED] = &RULE_STEP_BOUNDED,
    [OPTIMIZER_GRADIENT] = &RULE_GRADIENT, [OPTIMIZER_LBFGS] = &RULE_LBFGS,
    [OPTIMIZER_CMA_ES] = &RULE_CMA_ES,     [OPTIMIZER_LEVENBERG_MARQUARDT] = &RULE_RESIDUALS,
};

/* Returns the largest power of two <= size > 0. Multiplication by it is exact. */
static double round_to_power_of_two(double size) {
  int exponent;
  frexp(size, &exponent);
  return ldexp(1, exponent - 1);
}

/* Copies the feasible set, with variables divided by their units. Returns the copy, owned by the optimizer. */
static const FeasibleSet* create_scaled_set(Optimizer* o, const FeasibleSet* set, const double* unit) {
  int n = set->count, terms = set->row_count > 0 ? set->row_first[set->row_count] : 0;
  o->unit = MEMORY_NEW(double, n);
  o->scaled_set = *set;
  o->scaled_set.low = MEMORY_NEW(double, n);
  o->scaled_set.high = MEMORY_NEW(double, n);
  o->scaled_set.coefficient = MEMORY_NEW(double, terms);
  o->own_x = MEMORY_NEW(double, n);
  o->own_gradient = MEMORY_NEW(double, n);
  o->own_trial = MEMORY_NEW(double, n);
  o->own_trial_gradient = MEMORY_NEW(double, n);
  for (int i = 0; i < n; i++) {
    o->unit[i] = round_to_power_of_two(unit[i]);
    o->scaled_set.low[i] = set->low[i] / o->unit[i];
    o->scaled_set.high[i] = set->high[i] / o->unit[i];
  }
  for (int k = 0; k < terms; k++) o->scaled_set.coefficient[k] = set->coefficient[k] * o->unit[set->column[k]];
  return &o->scaled_set;
}

static void destroy_scaled_set(Optimizer* o) {
  if (!o->unit) return;
  double* owned[] = {o->unit,  o->scaled_set.low, o->scaled_set.high, o->scaled_set.coefficient,
                     o->own_x, o->own_gradient,   o->own_trial,       o->own_trial_gradient};
  for (size_t k = 0; k < sizeof(owned) / sizeof(owned[0]); k++) memory_free(owned[k]);
}

Optimizer* optimizer_create(const TaskOptimizer* settings, const FeasibleSet* set) {
  return optimizer_create_scaled(settings, set, NULL);
}

Optimizer* optimizer_create_scaled(const TaskOptimizer* settings, const FeasibleSet* given, const double* unit) {
  assert(settings->design_step > 0 && settings->control_step > 0);
  Optimizer* o = MEMORY_NEW(Optimizer, 1);
  o->rule = RULES[settings->type];
  o->settings = *settings;
  const FeasibleSet* set = o->set = unit ? create_scaled_set(o, given, unit) : given;
  o->projector = projector_create(set);
  if (settings->type == OPTIMIZER_STEP_BOUNDED) o->program = linear_program_create(projector_rows(o->projector));
  o->steps[0] = settings->design_step;
  o->steps[1] = settings->control_step;
  o->step_of = MEMORY_NEW(double, set->count);
  o->ones = MEMORY_NEW(double, set->count);
  for (int i = 0; i < set->count; i++) {
    o->step_of[i] = o->steps[set->block[i]];
    o->ones[i] = 1;
  }
  o->clip = 1;
  o->state_size = STATE_OWN + (o->rule->state_size ? o->rule->state_size(settings, set->count) : 0);
  o->state = MEMORY_NEW(double, o->state_size);
  o->rule_state = o->state + STATE_OWN;
  optimizer_reset(o);
  o->work = MEMORY_NEW(double, o->rule->work_size(settings, set));
  return o;
}

void optimizer_destroy(Optimizer* o) {
  if (!o) return;
  projector_destroy(o->projector);
  linear_program_destroy(o->program);
  memory_free(o->step_of);
  memory_free(o->ones);
  memory_free(o->state);
  memory_free(o->work);
  destroy_scaled_set(o);
  memory_free(o);
}

double rule_norm(const double* vector, int count) {
  assert(count >= 0 && (vector || count == 0));
  double largest = 0, sum = 0;
  for (int i = 0; i < count; i++) largest = fmax(largest, fabs(vector[i]));
  if (largest == 0) return 0;
  for (int i = 0; i < count; i++) sum += vector[i] / largest * (vector[i] / largest);
  return largest * sqrt(sum);
}

double rule_largest_entry(const FeasibleSet* set, const double* vector, int block) {
  double largest = 0;
  for (int i = 0; i < set->count; i++)
    if (set->block[i] == block) largest = fmax(largest, fabs(vector[i]));
  return largest;
}

static bool project_unscaled(const Optimizer* o, const double* scale, double* x) {
  ProjectLimits limits = {o->set->low, o->set->high, o->set->row_low, o->set->row_high};
  return projector_project(o->projector, &limits, scale, x);
}

bool rule_project(const Optimizer* o, double* x) { return project_unscaled(o, o->ones, x); }

bool optimizer_project(const Optimizer* o, double* x) {
  assert(x);
  if (!o->unit) return rule_project(o, x);
  int count = o->set->count;
  for (int i = 0; i < count; i++) x[i] /= o->unit[i];
  bool found = rule_project(o, x);
  for (int i = 0; i < count; i++) x[i] *= o->unit[i];
  return found;
}

bool rule_project_step(Optimizer* o, const double* scale, const double* x, const double* step, double* trial) {
  for (int i = 0; i < o->set->count; i++) trial[i] = x[i] + step[i];
  return project_unscaled(o, scale, trial);
}

/* Shifts the limits of a linear constraint (row) by its value at x, so that they apply to the step from x. */
static void shift_row_limits(const FeasibleSet* set, int row, const double* x, double* low, double* high) {
  double value = 0, size = 0;
  for (int k = set->row_first[row]; k < set->row_first[row + 1]; k++) {
    double term = set->coefficient[k] * x[set->column[k]];
    value += term;
    size += fabs(term);
  }
  *low = set->row_low[row] - value;
  *high = set->row_high[row] - value;
  if (fabs(*low) <= ROW_TOLERANCE * size) *low = 0;
  if (fabs(*high) <= ROW_TOLERANCE * size) *high = 0;
  *low = fmin(*low, 0.0);
  *high = fmax(*high, 0.0);
}

void rule_shift_limits(const FeasibleSet* set, const double* x, double* low, double* high, double* row_low,
                       double* row_high) {
  for (int i = 0; i < set->count; i++) {
    low[i] = fmin(set->low[i] - x[i], 0.0);
    high[i] = fmax(set->high[i] - x[i], 0.0);
  }
  for (int row = 0; row < set->row_count; row++) shift_row_limits(set, row, x, &row_low[row], &row_high[row]);
}

/* Returns the factor of the step schedule (update.md, O2) after a number of accepted trials. */
static double schedule_factor(const TaskOptimizer* settings, double accepted) {
  switch (settings->schedule) {
    case SCHEDULE_CONSTANT:
      return 1;
    case SCHEDULE_STEP:
      return settings->decay_every > 0 ? math_pow(settings->decay, floor(accepted / settings->decay_every)) : 1;
    case SCHEDULE_COSINE: {
      double part = settings->iterations > 0 ? fmin(accepted / settings->iterations, 1.0) : 1.0;
      return settings->decay + (1 - settings->decay) * 0.5 * (1 + math_cos(3.14159265358979323846 * part));
    }
  }
  return 1;
}

double optimizer_step_bound(const Optimizer* o, int block) {
  assert(block == 0 || block == 1);
  return o->steps[block] * schedule_factor(&o->settings, o->state[STATE_ACCEPTED]) * o->state[STATE_FACTOR];
}

bool optimizer_descends(const Optimizer* o) { return o->rule->descends; }

/* Largest power of `grow` by which one accepted trial increases the factor, for rules that undo rejections. */
enum { GROWTH_POWER_MAX = 4 };

static double grow_factor(const Optimizer* o) {
  double factor = o->state[STATE_FACTOR], before = o->state[STATE_FACTOR_BEFORE], grow = o->settings.grow;
  if (!o->rule->undoes_rejections) return factor * grow;
  if (before > 0) return fmax(factor * grow, sqrt(factor * before));
  return factor * math_pow(grow, fmin(o->state[STATE_ACCEPTED_IN_ROW], GROWTH_POWER_MAX));
}

static void accept_trial(Optimizer* o) {
  double* factor = &o->state[STATE_FACTOR];
  o->state[STATE_ACCEPTED] += 1;
  o->state[STATE_IS_NEW_POINT] = 1;
  o->state[STATE_REJECTED_LENGTH] = 0;
  o->state[STATE_ACCEPTED_IN_ROW] += 1;
  *factor = fmin(grow_factor(o), o->rule->factor_limit);
  if (o->rule->restores) *factor = fmax(*factor, 1.0);
  o->state[STATE_FACTOR_BEFORE] = 0;
}

/* Increases or decreases the factor on the step sizes according to the outcome of a trial (O3). */
bool optimizer_report_outcome(Optimizer* o, bool accepted, double loss) {
  (void)loss;
  if (accepted) {
    accept_trial(o);
    return true;
  }
  if (o->state[STATE_FACTOR_BEFORE] == 0) o->state[STATE_FACTOR_BEFORE] = o->state[STATE_FACTOR];
  o->state[STATE_ACCEPTED_IN_ROW] = 0;
  o->state[STATE_REJECTED_LENGTH] = o->state[STATE_LENGTH];
  o->state[STATE_FACTOR] *= o->settings.shrink;
  return o->state[STATE_FACTOR] >= FACTOR_MIN;
}

/* Number of iterations after which convergence can be judged. Adam averages over about ten gradients. L-BFGS restarts
 * without curvature pairs and needs time to collect them. */
enum { PATIENCE = 10, PATIENCE_OF_PAIRS = 30 };

int optimizer_patience(const Optimizer* o) { return o->rule->uses_curvature ? PATIENCE_OF_PAIRS : PATIENCE; }

bool optimizer_uses_curvature(const Optimizer* o) { return o->rule->uses_curvature; }

void optimizer_reset(Optimizer* o) {
  double accepted = o->state[STATE_ACCEPTED];
  memset(o->state, 0, sizeof(double) * (size_t)o->state_size);
  o->state[STATE_FACTOR] = 1;
  o->state[STATE_ACCEPTED] = accepted;
  o->state[STATE_IS_NEW_POINT] = 1;
}

bool optimizer_is_gradient_free(const Optimizer* o) { return o->rule->report_loss != NULL; }

int optimizer_samples(const Optimizer* o) {
  return o->rule->samples ? o->rule->samples(&o->settings, o->set->count) : 0;
}

bool optimizer_report_loss(Optimizer* o, double loss, double violation) {
  assert(o->rule->report_loss);
  return o->rule->report_loss(o, loss, violation);
}

/* Returns the Euclidean norm of trial - x, with variables divided by the steps in the settings. */
static double trial_length(const Optimizer* o, const double* x, const double* trial) {
  double sum = 0;
  for (int i = 0; i < o->set->count; i++) {
    double part = (trial[i] - x[i]) / o->step_of[i];
    sum += part * part;
  }
  return sqrt(sum);
}

/* Sets trial[count] to a proposal at most `shrink` times as long as the last rejected trial. Returns false if the rule
 * has no step. Bounds or a quasi-Newton step may keep the length constant, so that the factor is reduced until the
 * trial is short enough. */
static bool propose_shorter(Optimizer* o, const double* x, const double* gradient, double* trial) {
  double allowed =
      o->state[STATE_REJECTED_LENGTH] > 0 ? o->settings.shrink * o->state[STATE_REJECTED_LENGTH] : HUGE_VAL;
  for (;;) {
    if (!o->rule->propose(o, x, gradient, trial)) return false;
    o->state[STATE_LENGTH] = trial_length(o, x, trial);
    if (o->state[STATE_LENGTH] <= allowed * (1 + LENGTH_TOLERANCE) || o->state[STATE_FACTOR] < FACTOR_MIN) return true;
    o->state[STATE_FACTOR] *= o->settings.shrink;
  }
}

static void propose(Optimizer* o, const double* x, const double* gradient, double* trial) {
  int count = o->set->count;
  bool usable = array_finite(count, x) && (o->rule->report_loss || array_finite(count, gradient));
  if (usable && o->rule->report_loss) {
    usable = o->rule->propose(o, x, gradient, trial);
  } else if (usable) {
    double norm = rule_norm(gradient, count);
    o->clip = norm > o->settings.clip ? o->settings.clip / norm : 1.0; /* limits the norm of the gradient (O10) */
    usable = propose_shorter(o, x, gradient, trial) && array_finite(count, trial);
  }
  if (usable) return;
  o->state[STATE_LENGTH] = 0;
  if (count > 0) memcpy(trial, x, sizeof(double) * (size_t)count);
}

/* Returns the point with variables divided by their units, stored in x[count] and gradient[count]. */
static LossAtPoint scaled_point(const Optimizer* o, const LossAtPoint* given, double* x, double* gradient) {
  for (int i = 0; i < o->set->count; i++) {
    x[i] = given->x[i] / o->unit[i];
    gradient[i] = given->gradient[i] * o->unit[i];
  }
  return (LossAtPoint){x, given->loss, gradient};
}

bool optimizer_uses_rejected(const Optimizer* o) {
  bool is_repeated = o->state[STATE_REJECTED_LENGTH] > 0 || o->state[STATE_ACCEPTED_IN_ROW] == 1;
  return o->rule->reject != NULL && is_repeated;
}

void optimizer_reject(Optimizer* o, const LossAtPoint* current, const LossAtPoint* trial) {
  if (!o->unit) {
    o->rule->reject(o, current, trial);
    return;
  }
  LossAtPoint scaled = scaled_point(o, current, o->own_x, o->own_gradient);
  LossAtPoint own_trial = scaled_point(o, trial, o->own_trial, o->own_trial_gradient);
  o->rule->reject(o, &scaled, &own_trial);
}

void optimizer_propose(Optimizer* o, const double* x, double loss, const double* gradient, double* trial) {
  if (!o->unit) {
    propose(o, x, gradient, trial);
    return;
  }
  LossAtPoint scaled = scaled_point(o, &(LossAtPoint){x, loss, gradient}, o->own_x, o->own_gradient);
  propose(o, scaled.x, scaled.gradient, trial);
  for (int i = 0; i < o->set->count; i++) trial[i] *= o->unit[i];
}

void optimizer_set_trial(Optimizer* o, const double* x, const double* trial) {
  double sum = 0;
  for (int i = 0; i < o->set->count; i++) {
    double part = (trial[i] - x[i]) / (o->unit ? o->unit[i] : 1) / o->step_of[i];
    sum += part * part;
  }
  o->state[STATE_LENGTH] = sqrt(sum);
  if (o->rule->set_trial) o->rule->set_trial(o, trial);
}

int optimizer_state_size(const Optimizer* o) { return o->state_size; }

void optimizer_state_save(const Optimizer* o, double* state) {
  memcpy(state, o->state, sizeof(double) * (size_t)o->state_size);
}

void optimizer_state_load(Optimizer* o, const double* state) {
  memcpy(o->state, state, sizeof(double) * (size_t)o->state_size);
}

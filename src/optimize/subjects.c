/* Bounds on terms (`subject_to`): the optimizer minimizes an augmented Lagrangian instead of the loss
 * (docs/derivations/update.md, O11, O12). The optimizer must continue after a change of the function and respect the
 * bounds and rows of the variables. */
#include <string.h>

#include "optimize/optimization.h"

/* A bound has at least this scale, in the unit of its term. The scale gives the bound `max: 0` a relative tolerance. */
#define LEAST_SIZE 1e-3
/* If the initial loss is below LEAST_LOSS, ZERO_LOSS replaces it as the scale of the penalties, so that the bounds
 * act from the beginning. */
#define LEAST_LOSS 1e-9
#define ZERO_LOSS 1e-2
/* A penalty may grow only if the violation exceeds this fraction of its previous value. ENOUGH_FALL applies if the
 * optimizer has converged for the present multipliers, STEADY_FALL during the search. */
#define ENOUGH_FALL 0.25
#define STEADY_FALL 0.5
#define PENALTY_GROWS 4.0
#define PENALTY_MOST 1e12
/* Multipliers have converged if their relative change is below this value. */
#define MULTIPLIER_CHANGE 1e-7
/* Multipliers are updated if the norm of the gradient has fallen to this fraction, or after UPDATE_AFTER iterations. */
#define GRADIENT_FALL 1e-2
enum { UPDATE_AFTER = 60 };
/* The multiplier of a violation that decreases fast enough is not updated. The decrease must be at least PACE_KEPT
 * of the previous decrease. At this rate the violation must be zero within LOOKS_MOST checks. The multiplier also
 * stays if its last update did not increase the decrease by the factor HASTENED, because a method with steps of
 * fixed length cannot be faster. */
#define PACE_KEPT 0.5
#define LOOKS_MOST 10
#define HASTENED 1.5
typedef enum { PACE_OWN, PACE_HURRIED, PACE_FULL } Pace;
/* Number of state entries of a bounded term: multiplier, penalty, violation at the last check, initial size of the
 * violation, decrease before the last check, and the Pace. The Pace is the cause of the decrease. */
enum { PER_SUBJECT = 6 };

/* A violation is small if it is below this fraction of its initial size. During the search, a small violation does
 * not increase its penalty. With descent methods it does not change its multiplier either. */
#define COARSE 1e-3

struct BoundedTerms {
  int count, losses; /* number of bounds, number of losses; terms are ordered losses first */
  double* bound;     /* (count) */
  double* state;   /* multiplier lambda, penalty rho, violation at the last check, initial size, decrease, Pace; (count)
                      each */
  double* factors; /* (losses + count) */
};

BoundedTerms* bounded_terms_create(const Task* task) {
  if (task->subject_count == 0) return NULL;
  BoundedTerms* s = MEMORY_NEW(BoundedTerms, 1);
  s->count = task->subject_count;
  s->losses = task->loss_count - s->count;
  s->bound = MEMORY_NEW(double, s->count);
  s->state = MEMORY_NEW(double, PER_SUBJECT * s->count);
  s->factors = MEMORY_NEW(double, task->loss_count);
  for (int i = 0; i < s->count; i++) s->bound[i] = task->losses[s->losses + i].bound;
  return s;
}

void bounded_terms_destroy(BoundedTerms* s) {
  if (!s) return;
  memory_free(s->bound);
  memory_free(s->state);
  memory_free(s->factors);
  memory_free(s);
}

static double excess(const BoundedTerms* s, const double* terms, int i) { return terms[s->losses + i] - s->bound[i]; }
static double size_of(const BoundedTerms* s, int i) { return fmax(fabs(s->bound[i]), LEAST_SIZE); }

/* Returns the violation g_i = term_i - bound_i, but at least -multiplier / penalty. At that value the bound no
 * longer acts in the augmented Lagrangian. */
static double violation_of(const BoundedTerms* s, const double* terms, int i) {
  return fmax(excess(s, terms, i), -s->state[i] / s->state[s->count + i]);
}

/* Evaluates the augmented Lagrangian (O11). */
double bounded_terms_merit(const BoundedTerms* s, double loss, const double* terms) {
  const double *lambda = s->state, *rho = s->state + s->count;
  for (int i = 0; i < s->count; i++) {
    double shift = lambda[i] / rho[i], inside = excess(s, terms, i) + shift;
    if (!(inside <= 0)) loss += 0.5 * rho[i] * (inside * inside); /* NaN propagates */
    loss -= 0.5 * rho[i] * shift * shift;
  }
  return loss;
}

const double* bounded_terms_derivatives(BoundedTerms* s, const double* terms) {
  const double *lambda = s->state, *rho = s->state + s->count;
  for (int i = 0; i < s->losses; i++) s->factors[i] = 1;
  for (int i = 0; i < s->count; i++) s->factors[s->losses + i] = fmax(0, lambda[i] + rho[i] * excess(s, terms, i));
  return s->factors;
}

double bounded_terms_violation(const BoundedTerms* s, const double* terms) {
  double worst = -HUGE_VAL;
  for (int i = 0; i < s->count; i++) worst = fmax(worst, excess(s, terms, i) / size_of(s, i));
  return worst;
}

void bounded_terms_reset(BoundedTerms* s, double loss, const double* terms) {
  double *lambda = s->state, *rho = s->state + s->count, *last = rho + s->count, *first = last + s->count;
  for (int i = 0; i < s->count; i++) {
    double scale = first[i] = fmax(fabs(excess(s, terms, i)), size_of(s, i));
    lambda[i] = 0;
    rho[i] = 2 * (fabs(loss) < LEAST_LOSS ? ZERO_LOSS : fabs(loss)) / (scale * scale);
    last[i] = violation_of(s, terms, i);
    first[s->count + i] = 0;
    first[2 * s->count + i] = PACE_OWN;
  }
}

static void grow(BoundedTerms* s, int i) {
  double* rho = &s->state[s->count + i];
  if (*rho < PENALTY_MOST) *rho *= PENALTY_GROWS;
}

/* Updates the multipliers at the end of a minimization (O12). */
bool bounded_terms_update(BoundedTerms* s, const double* terms, bool solved) {
  double *lambda = s->state, *last = s->state + 2 * s->count;
  bool changed = false;
  for (int i = 0; i < s->count; i++) {
    double before = lambda[i], violation = violation_of(s, terms, i), size = fabs(violation);
    lambda[i] = fmax(0, before + s->state[s->count + i] * excess(s, terms, i));
    bool kept = size <= BOUNDED_TERM_TOLERANCE * size_of(s, i);
    bool found = fabs(lambda[i] - before) <= MULTIPLIER_CHANGE * fmax(fabs(lambda[i]), fabs(before));
    changed = changed || !kept || !found;
    if (solved && !kept && size > ENOUGH_FALL * fabs(last[i])) grow(s, i);
    last[i] = violation;
  }
  return changed;
}

/* Returns true if a violation decreases fast enough without a new multiplier. Updates its decrease and Pace. size:
 * present absolute value of the violation. */
static bool falls(BoundedTerms* s, int i, double size) {
  double before = fabs(s->state[2 * s->count + i]), fall = before - size;
  double *pace = &s->state[4 * s->count + i], *kind = pace + s->count;
  bool steady = fall > 0 && fall >= PACE_KEPT * *pace;
  if (!steady) *kind = PACE_OWN;
  if (*kind == PACE_HURRIED) *kind = fall < HASTENED * *pace ? PACE_FULL : PACE_OWN;
  *pace = fmax(fall, PACE_KEPT * *pace);
  return size <= STEADY_FALL * before || (steady && (*kind == PACE_FULL || fall * LOOKS_MOST >= before));
}

/* Updates the multipliers during a minimization (O20). */
bool bounded_terms_update_in_search(BoundedTerms* s, const double* mean, const double* spread) {
  double *lambda = s->state, *last = s->state + 2 * s->count, *first = last + s->count, *kind = first + 2 * s->count;
  bool changed = false;
  for (int i = 0; i < s->count; i++) {
    double violation = violation_of(s, mean, i), size = fabs(violation), before = last[i], coarse = COARSE * first[i];
    bool alone = falls(s, i, size);
    last[i] = violation;
    if (alone || !(size > (spread ? BOUNDED_TERM_TOLERANCE * size_of(s, i) : coarse))) continue;
    lambda[i] = fmax(0, lambda[i] + s->state[s->count + i] * excess(s, mean, i));
    kind[i] = PACE_HURRIED;
    changed = true;
    if (before * violation > 0 && size > (spread ? fmax(coarse, spread[s->losses + i]) : coarse)) grow(s, i);
  }
  return changed;
}

bool bounded_terms_update_is_due(int since, double norm_then, double norm, bool* solved) {
  *solved = since >= 1 && norm <= GRADIENT_FALL * norm_then;
  return *solved || since >= UPDATE_AFTER;
}

int bounded_terms_count(const BoundedTerms* s) { return s ? s->count : 0; }

double* bounded_terms_state(BoundedTerms* s, int* count) {
  *count = PER_SUBJECT * s->count;
  return s->state;
}

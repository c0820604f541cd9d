/* Bounded terms (`subject_to`): the optimizer minimizes an augmented Lagrangian instead of the loss
 * (docs/derivations/update.md, O11, O12). */
#include <assert.h>
#include <string.h>

#include "optimize/optimization.h"

/* Smallest scale of a bound, in the unit of its term. It gives the bound `max: 0` a relative tolerance. */
#define BOUND_SCALE_MIN 1e-3
/* If the initial loss is below LOSS_MIN, LOSS_SUBSTITUTE is the scale of the penalties, so that the bounds act from the
 * beginning. */
#define LOSS_MIN 1e-9
#define LOSS_SUBSTITUTE 1e-2
/* A penalty may grow if the violation exceeds this fraction of its previous value, for a converged optimizer and during
 * the search. */
#define CONVERGED_REDUCTION 0.25
#define SEARCH_REDUCTION 0.5
#define PENALTY_FACTOR 4.0
#define PENALTY_MAX 1e12
/* Largest relative change at which multipliers count as converged. */
#define MULTIPLIER_CHANGE 1e-7
/* Multipliers are updated if the norm of the gradient has fallen to this fraction, or after UPDATE_AFTER iterations. */
#define GRADIENT_REDUCTION 1e-2
enum { UPDATE_AFTER = 60 };
/* A multiplier stays if its violation decreases fast enough: by at least DECREASE_KEPT of the previous decrease, and to
 * zero within CHECKS_MAX checks at this rate. It also stays if its last update did not increase the decrease by
 * SPEEDUP_MIN, because steps of fixed length cannot be faster. */
#define DECREASE_KEPT 0.5
#define CHECKS_MAX 10
#define SPEEDUP_MIN 1.5
typedef enum { CAUSE_OPTIMIZER, CAUSE_MULTIPLIER, CAUSE_LIMITED } DecreaseCause;
/* State entries of a term: multiplier, penalty, violation at the last check, initial size of the violation, decrease
 * before the last check, and its cause. */
enum { STATE_PER_TERM = 6 };

/* A violation below this fraction of its initial size does not increase its penalty during the search. With descent
 * methods it does not change its multiplier either. */
#define SMALL_VIOLATION 1e-3

struct BoundedTerms {
  int count, losses; /* number of bounds and of losses */
  double* bound;     /* upper bound of each bounded term (size: count) */
  /* STATE_PER_TERM arrays of state entries, one after the other, with an entry per bounded term (size: count) */
  double* state;
  double* factors; /* derivatives of the minimized function (loss plus penalties) with respect to the terms (losses +
                      count) */
};

BoundedTerms* bounded_terms_create(const Task* task) {
  if (task->subject_count == 0) return NULL;
  BoundedTerms* s = MEMORY_NEW(BoundedTerms, 1);
  s->count = task->subject_count;
  s->losses = task->loss_count - s->count;
  s->bound = MEMORY_NEW(double, s->count);
  s->state = MEMORY_NEW(double, STATE_PER_TERM * s->count);
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

static double term_excess(const BoundedTerms* s, const double* terms, int i) {
  return terms[s->losses + i] - s->bound[i];
}
static double bound_scale(const BoundedTerms* s, int i) { return fmax(fabs(s->bound[i]), BOUND_SCALE_MIN); }

/* Returns the violation g_i = term_i - bound_i, at least -multiplier / penalty, below which the bound does not act. */
static double clamped_violation(const BoundedTerms* s, const double* terms, int i) {
  return fmax(term_excess(s, terms, i), -s->state[i] / s->state[s->count + i]);
}

/* Computes the augmented Lagrangian: loss plus multiplier and penalty terms of the violated bounds (O11). */
double bounded_terms_merit(const BoundedTerms* s, double loss, const double* terms) {
  const double *lambda = s->state, *rho = s->state + s->count;
  for (int i = 0; i < s->count; i++) {
    double shift = lambda[i] / rho[i], inside = term_excess(s, terms, i) + shift;
    if (!(inside <= 0)) loss += 0.5 * rho[i] * (inside * inside); /* if `inside` is NaN, the loss becomes NaN */
    loss -= 0.5 * rho[i] * shift * shift;
  }
  return loss;
}

const double* bounded_terms_derivatives(BoundedTerms* s, const double* terms) {
  const double *lambda = s->state, *rho = s->state + s->count;
  for (int i = 0; i < s->losses; i++) s->factors[i] = 1;
  for (int i = 0; i < s->count; i++) s->factors[s->losses + i] = fmax(0, lambda[i] + rho[i] * term_excess(s, terms, i));
  return s->factors;
}

double bounded_terms_violation(const BoundedTerms* s, const double* terms) {
  double worst = -HUGE_VAL;
  for (int i = 0; i < s->count; i++) worst = fmax(worst, term_excess(s, terms, i) / bound_scale(s, i));
  return worst;
}

void bounded_terms_reset(BoundedTerms* s, double loss, const double* terms) {
  double *lambda = s->state, *rho = s->state + s->count, *last = rho + s->count, *first = last + s->count;
  for (int i = 0; i < s->count; i++) {
    double scale = first[i] = fmax(fabs(term_excess(s, terms, i)), bound_scale(s, i));
    lambda[i] = 0;
    rho[i] = 2 * (fabs(loss) < LOSS_MIN ? LOSS_SUBSTITUTE : fabs(loss)) / (scale * scale);
    last[i] = clamped_violation(s, terms, i);
    first[s->count + i] = 0;
    first[2 * s->count + i] = CAUSE_OPTIMIZER;
  }
}

static void grow_penalty(BoundedTerms* s, int i) {
  double* rho = &s->state[s->count + i];
  if (*rho < PENALTY_MAX) *rho *= PENALTY_FACTOR;
}

/* Updates multipliers and penalties at the end of a minimization (O12). */
bool bounded_terms_update(BoundedTerms* s, const double* terms, bool solved) {
  double *lambda = s->state, *last = s->state + 2 * s->count;
  bool changed = false;
  for (int i = 0; i < s->count; i++) {
    double before = lambda[i], violation = clamped_violation(s, terms, i), size = fabs(violation);
    lambda[i] = fmax(0, before + s->state[s->count + i] * term_excess(s, terms, i));
    bool kept = size <= BOUNDED_TERM_TOLERANCE * bound_scale(s, i);
    bool found = fabs(lambda[i] - before) <= MULTIPLIER_CHANGE * fmax(fabs(lambda[i]), fabs(before));
    changed = changed || !kept || !found;
    if (solved && !kept && size > CONVERGED_REDUCTION * fabs(last[i])) grow_penalty(s, i);
    last[i] = violation;
  }
  return changed;
}

/* Returns true if a violation decreases fast enough without a new multiplier. size: its current absolute value. Stores
 * the decrease and its cause. */
static bool decreases_fast_enough(BoundedTerms* s, int i, double size) {
  double before = fabs(s->state[2 * s->count + i]), fall = before - size;
  double *pace = &s->state[4 * s->count + i], *kind = pace + s->count;
  bool steady = fall > 0 && fall >= DECREASE_KEPT * *pace;
  if (!steady) *kind = CAUSE_OPTIMIZER;
  if (*kind == CAUSE_MULTIPLIER) *kind = fall < SPEEDUP_MIN * *pace ? CAUSE_LIMITED : CAUSE_OPTIMIZER;
  *pace = fmax(fall, DECREASE_KEPT * *pace);
  return size <= SEARCH_REDUCTION * before || (steady && (*kind == CAUSE_LIMITED || fall * CHECKS_MAX >= before));
}

/* Updates multipliers and penalties during a minimization (O20). */
bool bounded_terms_update_in_search(BoundedTerms* s, const double* mean, const double* spread) {
  double *lambda = s->state, *last = s->state + 2 * s->count, *first = last + s->count, *kind = first + 2 * s->count;
  bool changed = false;
  for (int i = 0; i < s->count; i++) {
    double violation = clamped_violation(s, mean, i), size = fabs(violation), before = last[i],
           coarse = SMALL_VIOLATION * first[i];
    bool alone = decreases_fast_enough(s, i, size);
    last[i] = violation;
    if (alone || !(size > (spread ? BOUNDED_TERM_TOLERANCE * bound_scale(s, i) : coarse))) continue;
    lambda[i] = fmax(0, lambda[i] + s->state[s->count + i] * term_excess(s, mean, i));
    kind[i] = CAUSE_MULTIPLIER;
    changed = true;
    if (before * violation > 0 && size > (spread ? fmax(coarse, spread[s->losses + i]) : coarse)) grow_penalty(s, i);
  }
  return changed;
}

bool bounded_terms_update_is_due(int since, double norm_then, double norm, bool* solved) {
  assert(since >= 0 && solved);
  *solved = since >= 1 && norm <= GRADIENT_REDUCTION * norm_then;
  return *solved || since >= UPDATE_AFTER;
}

int bounded_terms_count(const BoundedTerms* s) { return s ? s->count : 0; }

double* bounded_terms_state(BoundedTerms* s, int* count) {
  assert(s && count);
  *count = STATE_PER_TERM * s->count;
  return s->state;
}

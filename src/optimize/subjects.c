/* Terms that must not be above their bounds: an augmented Lagrangian around whatever optimizer makes the loss small
 * (docs/derivations/update.md). It needs nothing of an optimizer but that it goes on when its function changes,
 * keeps rows and bounds of the variables where they are, and has a state of a few numbers. */
#include <string.h>

#include "optimize/optimization.h"

/* A bound counts at least as this size of its own, so that `max: 0` is one. */
#define LEAST_SIZE 1e-3
/* A loss below the first is at its least at the start and says nothing of its scale; the second stands for it then, so
 * that its bounds are felt at once. */
#define LEAST_LOSS 1e-9
#define ZERO_LOSS 1e-2
/* Penalties grow when a bound's violation has not fallen to this part of what it was: where the optimizer had done with
 * the multipliers, and on its way. */
#define ENOUGH_FALL 0.25
#define STEADY_FALL 0.5
#define PENALTY_GROWS 4.0
#define PENALTY_MOST 1e12
/* Multipliers are found when they change by less than this part of themselves. */
#define MULTIPLIER_CHANGE 1e-7
/* The optimizer has done with its multipliers when its gradient has fallen so far, or has had its time. */
#define GRADIENT_FALL 1e-2
enum { UPDATE_AFTER = 60 };
/* On its way is what falls at half its pace or more, and would be there in so many looks; or which penalties do not
 * hasten: a method with steps of a fixed length goes as fast as it can. */
#define PACE_KEPT 0.5
#define LOOKS_MOST 10
#define HASTENED 1.5
typedef enum { PACE_OWN, PACE_HURRIED, PACE_FULL } Pace;
/* Multiplier, penalty, violation when it was looked at last, size at the start, by how much it fell before that look,
 * and what made it (Pace). */
enum { PER_SUBJECT = 6 };

/* A violation below this part of its size at the start is too small to be hurried. */
#define COARSE 1e-3

struct Subjects {
  int count, losses; /* losses come first */
  double* bound;     /* (count) */
  double* state;     /* lambda (count), rho (count), violation then (count), size (count), pace (count), Pace (count) */
  double* factors;   /* (losses + count) */
};

Subjects* subjects_create(const Task* task) {
  if (task->subject_count == 0) return NULL;
  Subjects* s = MEMORY_NEW(Subjects, 1);
  s->count = task->subject_count;
  s->losses = task->loss_count - s->count;
  s->bound = MEMORY_NEW(double, s->count);
  s->state = MEMORY_NEW(double, PER_SUBJECT * s->count);
  s->factors = MEMORY_NEW(double, task->loss_count);
  for (int i = 0; i < s->count; i++) s->bound[i] = task->losses[s->losses + i].bound;
  return s;
}

void subjects_destroy(Subjects* s) {
  if (!s) return;
  memory_free(s->bound);
  memory_free(s->state);
  memory_free(s->factors);
  memory_free(s);
}

static double excess(const Subjects* s, const double* terms, int i) { return terms[s->losses + i] - s->bound[i]; }
static double size_of(const Subjects* s, int i) { return fmax(fabs(s->bound[i]), LEAST_SIZE); }

/* Returns the excess over a bound, but at least -multiplier / penalty, the value at which the augmented Lagrangian's
 * term is zero. */
static double violation_of(const Subjects* s, const double* terms, int i) {
  return fmax(excess(s, terms, i), -s->state[i] / s->state[s->count + i]);
}

/* (O11) */
double subjects_merit(const Subjects* s, double loss, const double* terms) {
  const double *lambda = s->state, *rho = s->state + s->count;
  for (int i = 0; i < s->count; i++) {
    double shift = lambda[i] / rho[i], inside = excess(s, terms, i) + shift;
    if (!(inside <= 0)) loss += 0.5 * rho[i] * (inside * inside); /* NaN goes on */
    loss -= 0.5 * rho[i] * shift * shift;
  }
  return loss;
}

const double* subjects_factors(Subjects* s, const double* terms) {
  const double *lambda = s->state, *rho = s->state + s->count;
  for (int i = 0; i < s->losses; i++) s->factors[i] = 1;
  for (int i = 0; i < s->count; i++) s->factors[s->losses + i] = fmax(0, lambda[i] + rho[i] * excess(s, terms, i));
  return s->factors;
}

double subjects_violation(const Subjects* s, const double* terms) {
  double worst = -HUGE_VAL;
  for (int i = 0; i < s->count; i++) worst = fmax(worst, excess(s, terms, i) / size_of(s, i));
  return worst;
}

void subjects_begin(Subjects* s, double loss, const double* terms) {
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

static void grow(Subjects* s, int i) {
  double* rho = &s->state[s->count + i];
  if (*rho < PENALTY_MOST) *rho *= PENALTY_GROWS;
}

/* (O12) */
bool subjects_update(Subjects* s, const double* terms, bool solved) {
  double *lambda = s->state, *last = s->state + 2 * s->count;
  bool changed = false;
  for (int i = 0; i < s->count; i++) {
    double before = lambda[i], violation = violation_of(s, terms, i), size = fabs(violation);
    lambda[i] = fmax(0, before + s->state[s->count + i] * excess(s, terms, i));
    bool kept = size <= SUBJECTS_TOLERANCE * size_of(s, i);
    bool found = fabs(lambda[i] - before) <= MULTIPLIER_CHANGE * fmax(fabs(lambda[i]), fabs(before));
    changed = changed || !kept || !found;
    if (solved && !kept && size > ENOUGH_FALL * fabs(last[i])) grow(s, i);
    last[i] = violation;
  }
  return changed;
}

/* Does a violation that is `size` now fall by itself? */
static bool falls(Subjects* s, int i, double size) {
  double before = fabs(s->state[2 * s->count + i]), fall = before - size;
  double *pace = &s->state[4 * s->count + i], *kind = pace + s->count;
  bool steady = fall > 0 && fall >= PACE_KEPT * *pace;
  if (!steady) *kind = PACE_OWN;
  if (*kind == PACE_HURRIED) *kind = fall < HASTENED * *pace ? PACE_FULL : PACE_OWN;
  *pace = fmax(fall, PACE_KEPT * *pace);
  return size <= STEADY_FALL * before || (steady && (*kind == PACE_FULL || fall * LOOKS_MOST >= before));
}

/* (O20) */
bool subjects_follow(Subjects* s, const double* mean, const double* spread) {
  double *lambda = s->state, *last = s->state + 2 * s->count, *first = last + s->count, *kind = first + 2 * s->count;
  bool changed = false;
  for (int i = 0; i < s->count; i++) {
    double violation = violation_of(s, mean, i), size = fabs(violation), before = last[i], coarse = COARSE * first[i];
    bool alone = falls(s, i, size);
    last[i] = violation;
    if (alone || !(size > (spread ? SUBJECTS_TOLERANCE * size_of(s, i) : coarse))) continue;
    lambda[i] = fmax(0, lambda[i] + s->state[s->count + i] * excess(s, mean, i));
    kind[i] = PACE_HURRIED;
    changed = true;
    if (before * violation > 0 && size > (spread ? fmax(coarse, spread[s->losses + i]) : coarse)) grow(s, i);
  }
  return changed;
}

bool subjects_due(int since, double norm_then, double norm, bool* solved) {
  *solved = since >= 1 && norm <= GRADIENT_FALL * norm_then;
  return *solved || since >= UPDATE_AFTER;
}

int subjects_count(const Subjects* s) { return s ? s->count : 0; }

double* subjects_state(Subjects* s, int* count) {
  *count = PER_SUBJECT * s->count;
  return s->state;
}

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
/* Penalties grow when a bound's violation has not fallen to this part of what it was. */
#define ENOUGH_FALL 0.25
#define PENALTY_GROWS 4.0
#define PENALTY_MOST 1e12
/* Multipliers are found when they change by less than this part of themselves. */
#define MULTIPLIER_CHANGE 1e-7
/* The optimizer has done with its multipliers when its gradient has fallen so far, or has had its time. */
#define GRADIENT_FALL 1e-2
enum { UPDATE_AFTER = 60 };
enum { PER_SUBJECT = 3 }; /* multiplier, penalty, violation at the last update */

struct Subjects {
  int count, losses; /* losses come first */
  double* bound;     /* (count) */
  double* state;     /* lambda (count), rho (count), last violation (count) */
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
  double *lambda = s->state, *rho = s->state + s->count, *last = rho + s->count;
  for (int i = 0; i < s->count; i++) {
    double scale = fmax(fabs(excess(s, terms, i)), size_of(s, i));
    lambda[i] = 0;
    rho[i] = 2 * (fabs(loss) < LEAST_LOSS ? ZERO_LOSS : fabs(loss)) / (scale * scale);
    last[i] = HUGE_VAL;
  }
}

/* lambda_i = max(0, lambda_i + rho_i g_i); violation max(g_i, -lambda_i / rho_i): of the bound, or of what a bound that
 * is not reached pushes with (O12). */
bool subjects_update(Subjects* s, const double* terms, bool solved) {
  double *lambda = s->state, *rho = s->state + s->count, *last = rho + s->count;
  bool changed = false;
  for (int i = 0; i < s->count; i++) {
    double g = excess(s, terms, i), before = lambda[i], violation = fabs(fmax(g, -before / rho[i]));
    lambda[i] = fmax(0, before + rho[i] * g);
    bool kept = violation <= SUBJECTS_TOLERANCE * size_of(s, i);
    bool found = fabs(lambda[i] - before) <= MULTIPLIER_CHANGE * fmax(fabs(lambda[i]), fabs(before));
    changed = changed || !kept || !found;
    if (solved && !kept && violation > ENOUGH_FALL * last[i] && rho[i] < PENALTY_MOST) rho[i] *= PENALTY_GROWS;
    last[i] = violation;
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

/* Minimizes the cost of a shot over the increments of its initial state (local unknowns) by BFGS
 * (docs/derivations/identify.md, Q13). */
#include <assert.h>
#include <string.h>

#include "identify/fit.h"
#include "linalg/dense.h"

/* The minimization ends if a further step lowers the cost by less than this fraction. */
#define DECREASE_MIN 1e-13
/* A step is accepted if it achieves this fraction of the predicted decrease. */
#define ARMIJO_FRACTION 1e-4
enum { ITERATIONS_MAX = 60, HALVINGS_MAX = 8 };

/* Increments u of the initial state, derivative of the cost with respect to u, and inverse Hessian (n x n). The inverse
 * Hessian of the normal equations is the initial value. */
typedef struct {
  const Identification* id;
  const double* x;
  const Shot* shot;
  ShotSums* out; /* cost and derivatives at the last evaluation */
  int n, runs;
  bool inverse_is_initial; /* true if the inverse Hessian is the inverse matrix of the normal equations at u */
  double cost;
  double *u, *slope, *step, *trial, *inverse;
} LocalMinimization;

static bool evaluate(LocalMinimization* s, const double* u) {
  shot_evaluate(s->id, s->x, s->shot, u, true, s->out);
  s->runs++;
  return s->out->ran;
}

/* Sets the inverse Hessian to the inverse of the matrix of the shot's normal equations, column by column. */
static void initialize_inverse(LocalMinimization* s) {
  int n = s->n;
  for (int i = 0; i < n; i++) {
    memset(s->step, 0, sizeof(double) * (size_t)n);
    s->step[i] = 1;
    dense_solve(n, s->out->c, s->step);
    for (int k = 0; k < n; k++) s->inverse[k * n + i] = s->step[k];
  }
  s->inverse_is_initial = true;
}

static void multiply_inverse(const LocalMinimization* s, const double* v, double* y) {
  for (int i = 0; i < s->n; i++) {
    y[i] = 0;
    for (int k = 0; k < s->n; k++) y[i] += s->inverse[i * s->n + k] * v[k];
  }
}

/* Updates the inverse Hessian H by BFGS, so that H y = step. y: change of the cost's derivative by the step, from
 * s->slope to out->h. */
static void update_inverse(LocalMinimization* s) {
  int n = s->n;
  double *y = MEMORY_NEW(double, 2 * n + 1), *hy = y + n, along = 0, width = 0;
  for (int k = 0; k < n; k++) {
    y[k] = s->out->h[k] - s->slope[k];
    along += y[k] * s->step[k];
  }
  multiply_inverse(s, y, hy);
  for (int k = 0; k < n; k++) width += y[k] * hy[k];
  for (int i = 0; i < n && along > 0; i++)
    for (int k = 0; k < n; k++)
      s->inverse[i * n + k] +=
          ((1 + width / along) * s->step[i] * s->step[k] - hy[i] * s->step[k] - s->step[i] * hy[k]) / along;
  s->inverse_is_initial = false;
  memory_free(y);
}

/* Takes a step that lowers the cost sufficiently. Returns false if no step length lowers it so much. */
static bool take_step(LocalMinimization* s) {
  double promised = 0, part = 1;
  multiply_inverse(s, s->slope, s->step);
  for (int k = 0; k < s->n; k++) promised += s->slope[k] * s->step[k];
  if (!(0.5 * promised > DECREASE_MIN * s->cost)) return false;
  for (int k = 0; k < s->n; k++) s->step[k] = -s->step[k];
  for (int halving = 0; halving < HALVINGS_MAX; halving++) {
    for (int k = 0; k < s->n; k++) s->trial[k] = s->u[k] + s->step[k];
    if (evaluate(s, s->trial) && s->out->cost < s->cost - ARMIJO_FRACTION * part * promised) return true;
    part *= 0.5;
    for (int k = 0; k < s->n; k++) s->step[k] *= 0.5;
  }
  if (!evaluate(s, s->u) || s->inverse_is_initial) return false; /* restores the sums at the current u */
  initialize_inverse(s);
  return take_step(s);
}

static void store_step(LocalMinimization* s) {
  s->cost = s->out->cost;
  memcpy(s->slope, s->out->h, sizeof(double) * (size_t)s->n);
}

void shot_minimize(const Identification* id, const double* x, const Shot* shot, double* local, ShotSums* out) {
  assert(x && shot && local && out);
  int n = id->locals;
  double* room = MEMORY_NEW(double, 3 * n + n * n + 1);
  LocalMinimization s = {id, x, shot, out, n, 0, false, 0, local, room, room + n, room + 2 * n, room + 3 * n};
  memset(local, 0, sizeof(double) * (size_t)n);
  if (evaluate(&s, local)) {
    initialize_inverse(&s);
    store_step(&s);
    for (int round = 0; round < ITERATIONS_MAX && take_step(&s); round++) {
      update_inverse(&s);
      memcpy(local, s.trial, sizeof(double) * (size_t)n);
      store_step(&s);
    }
  }
  out->runs = s.runs;
  memory_free(room);
}

/* Minimizes the cost of a shot over its local unknowns (docs/derivations/identify.md, Q13). */
#include <string.h>

#include "identify/fit.h"
#include "linalg/dense.h"

/* The minimization ends if a further step lowers the cost by less than this fraction. */
#define SETTLED 1e-13
/* A step is accepted if it achieves this fraction of the predicted decrease. */
#define ENOUGH 1e-4
enum { ROUNDS = 60, HALVINGS = 8 };

/* State of the minimization: unknowns u, slope at u, and an inverse Hessian (n x n). The inverse Hessian of the normal
 * equations is the initial value, which BFGS then updates. */
typedef struct {
  const Identification* id;
  const double* x;
  const Shot* shot;
  ShotSums* out; /* at the last evaluation */
  int n, runs;
  bool fresh; /* true if the inverse belongs to the normal equations at u */
  double cost;
  double *u, *slope, *step, *trial, *inverse;
} Settling;

static bool evaluate(Settling* s, const double* u) {
  shot_evaluate(s->id, s->x, s->shot, u, true, s->out);
  s->runs++;
  return s->out->ran;
}

/* Sets the inverse to C^-1, column by column. */
static void begin_inverse(Settling* s) {
  int n = s->n;
  for (int i = 0; i < n; i++) {
    memset(s->step, 0, sizeof(double) * (size_t)n);
    s->step[i] = 1;
    dense_solve(n, s->out->c, s->step);
    for (int k = 0; k < n; k++) s->inverse[k * n + i] = s->step[k];
  }
  s->fresh = true;
}

/* Sets y to the inverse Hessian times v. */
static void apply(const Settling* s, const double* v, double* y) {
  for (int i = 0; i < s->n; i++) {
    y[i] = 0;
    for (int k = 0; k < s->n; k++) y[i] += s->inverse[i * s->n + k] * v[k];
  }
}

/* Updates the inverse H by BFGS, so that H y = step. y: change of the slope from s->slope to out->h. */
static void learn(Settling* s) {
  int n = s->n;
  double *y = MEMORY_NEW(double, 2 * n + 1), *hy = y + n, along = 0, width = 0;
  for (int k = 0; k < n; k++) {
    y[k] = s->out->h[k] - s->slope[k];
    along += y[k] * s->step[k];
  }
  apply(s, y, hy);
  for (int k = 0; k < n; k++) width += y[k] * hy[k];
  for (int i = 0; i < n && along > 0; i++)
    for (int k = 0; k < n; k++)
      s->inverse[i * n + k] +=
          ((1 + width / along) * s->step[i] * s->step[k] - hy[i] * s->step[k] - s->step[i] * hy[k]) / along;
  s->fresh = false;
  memory_free(y);
}

/* Takes a step with sufficient decrease. Returns false if no step length achieves it. */
static bool go(Settling* s) {
  double promised = 0, part = 1;
  apply(s, s->slope, s->step);
  for (int k = 0; k < s->n; k++) promised += s->slope[k] * s->step[k];
  if (!(0.5 * promised > SETTLED * s->cost)) return false;
  for (int k = 0; k < s->n; k++) s->step[k] = -s->step[k];
  for (int halving = 0; halving < HALVINGS; halving++) {
    for (int k = 0; k < s->n; k++) s->trial[k] = s->u[k] + s->step[k];
    if (evaluate(s, s->trial) && s->out->cost < s->cost - ENOUGH * part * promised) return true;
    part *= 0.5;
    for (int k = 0; k < s->n; k++) s->step[k] *= 0.5;
  }
  if (!evaluate(s, s->u) || s->fresh) return false; /* restores the sums at the present u */
  begin_inverse(s);
  return go(s);
}

static void take(Settling* s) {
  s->cost = s->out->cost;
  memcpy(s->slope, s->out->h, sizeof(double) * (size_t)s->n);
}

void shot_minimize(const Identification* id, const double* x, const Shot* shot, double* local, ShotSums* out) {
  int n = id->locals;
  double* room = MEMORY_NEW(double, 3 * n + n * n + 1);
  Settling s = {id, x, shot, out, n, 0, false, 0, local, room, room + n, room + 2 * n, room + 3 * n};
  memset(local, 0, sizeof(double) * (size_t)n);
  if (evaluate(&s, local)) {
    begin_inverse(&s);
    take(&s);
    for (int round = 0; round < ROUNDS && go(&s); round++) {
      learn(&s);
      memcpy(local, s.trial, sizeof(double) * (size_t)n);
      take(&s);
    }
  }
  out->runs = s.runs;
  memory_free(room);
}

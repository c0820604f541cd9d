/* Damped step within bounds (docs/derivations/identify.md, Q3). */
#include <assert.h>
#include <string.h>

#include "identify/fit.h"
#include "linalg/dense.h"

/* Solves the damped normal equations (A + damping D) dx = -g for the step dx of the free variables. A, g: matrix and
 * gradient of the normal equations. D: diagonal of A, with a small lower limit. Rows of fixed variables are rows of the
 * identity. Returns false if the matrix is not positive definite. */
static bool solve_free(const Identification* id, double damping, const bool* fixed, double* dx) {
  int n = id->variables;
  double* a = MEMORY_NEW(double, n* n + 1);
  for (int i = 0; i < n; i++) {
    dx[i] = fixed[i] ? 0 : -id->g[i];
    for (int k = 0; k <= i; k++) a[i * n + k] = fixed[i] || fixed[k] ? 0 : id->a[i * n + k];
    /* for a variable without information, its scale is one standard deviation */
    double least = 1e-12 / (id->scale[i] * id->scale[i]);
    a[i * n + i] = fixed[i] ? 1 : a[i * n + i] + damping * fmax(id->a[i * n + i], least);
  }
  bool sound = dense_cholesky(n, a);
  if (sound) dense_solve(n, a, dx);
  memory_free(a);
  return sound;
}

bool bounded_step(const Identification* id, double damping, double* dx) {
  assert(damping >= 0 && dx);
  int n = id->variables;
  bool *fixed = MEMORY_NEW(bool, n + 1), sound = true, again = true;
  for (int i = 0; i < n; i++)
    fixed[i] = id->fixed[i] || (id->x[i] <= id->low[i] && id->g[i] > 0) || (id->x[i] >= id->high[i] && id->g[i] < 0);
  for (int round = 0; round <= n && again && sound; round++) { /* fixes variables that would cross a bound */
    sound = solve_free(id, damping, fixed, dx);
    again = false;
    for (int i = 0; i < n && sound; i++) {
      bool at_low = id->x[i] <= id->low[i] && dx[i] < 0, at_high = id->x[i] >= id->high[i] && dx[i] > 0;
      if (fixed[i] || !(at_low || at_high)) continue;
      fixed[i] = again = true;
    }
  }
  for (int i = 0; i < n && sound; i++) dx[i] = fmin(fmax(dx[i], id->low[i] - id->x[i]), id->high[i] - id->x[i]);
  memory_free(fixed);
  return sound;
}

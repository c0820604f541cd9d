/* Small dense symmetric matrices, and the damped step within bounds (docs/derivations/identify.md, Q3). */
#include <string.h>

#include "identify/fit.h"

bool dense_cholesky(int n, double* a) {
  for (int j = 0; j < n; j++) {
    double d = a[j * n + j];
    for (int k = 0; k < j; k++) d -= a[j * n + k] * a[j * n + k];
    if (!(d > 0) || !isfinite(d)) return false;
    d = sqrt(d);
    a[j * n + j] = d;
    for (int i = j + 1; i < n; i++) {
      double sum = a[i * n + j];
      for (int k = 0; k < j; k++) sum -= a[i * n + k] * a[j * n + k];
      a[i * n + j] = sum / d;
    }
  }
  return true;
}

void dense_solve(int n, const double* l, double* x) {
  for (int i = 0; i < n; i++) {
    for (int k = 0; k < i; k++) x[i] -= l[i * n + k] * x[k];
    x[i] /= l[i * n + i];
  }
  for (int i = n - 1; i >= 0; i--) {
    for (int k = i + 1; k < n; k++) x[i] -= l[k * n + i] * x[k];
    x[i] /= l[i * n + i];
  }
}

/* ---------------------------------------------------------------- eigenvalues */

/* Most sweeps of Jacobi's method; matrices of these sizes need a dozen. */
enum { SWEEPS = 60 };

static void rotate(int n, double* a, double* v, int p, int q) {
  double apq = a[p * n + q];
  if (apq == 0) return;
  double theta = (a[q * n + q] - a[p * n + p]) / (2 * apq);
  double t = (theta >= 0 ? 1 : -1) / (fabs(theta) + sqrt(theta * theta + 1)), c = 1 / sqrt(t * t + 1), s = t * c;
  for (int k = 0; k < n; k++) {
    double x = a[k * n + p], y = a[k * n + q];
    a[k * n + p] = c * x - s * y;
    a[k * n + q] = s * x + c * y;
  }
  for (int k = 0; k < n; k++) {
    double x = a[p * n + k], y = a[q * n + k];
    a[p * n + k] = c * x - s * y;
    a[q * n + k] = s * x + c * y;
    x = v[p * n + k];
    y = v[q * n + k];
    v[p * n + k] = c * x - s * y;
    v[q * n + k] = s * x + c * y;
  }
}

static void swap_rows(int n, double* a, double* v, int i, int k) {
  double value = a[i * n + i];
  a[i * n + i] = a[k * n + k];
  a[k * n + k] = value;
  for (int j = 0; j < n; j++) {
    double other = v[i * n + j];
    v[i * n + j] = v[k * n + j];
    v[k * n + j] = other;
  }
}

void dense_eigen(int n, double* a, double* values, double* v) {
  for (int i = 0; i < n; i++)
    for (int k = 0; k < n; k++) v[i * n + k] = i == k;
  for (int sweep = 0; sweep < SWEEPS; sweep++) {
    double off = 0, on = 0;
    for (int p = 0; p < n; p++)
      for (int q = 0; q < n; q++) *(p == q ? &on : &off) += a[p * n + q] * a[p * n + q];
    if (!(off > 1e-30 * on)) break;
    for (int p = 0; p < n; p++)
      for (int q = p + 1; q < n; q++) rotate(n, a, v, p, q);
  }
  for (int i = 0; i < n; i++) {
    int best = i;
    for (int k = i + 1; k < n; k++)
      if (a[k * n + k] > a[best * n + best]) best = k;
    if (best != i) swap_rows(n, a, v, i, best);
    values[i] = a[i * n + i];
  }
}

/* ---------------------------------------------------------------- a step */

/* Solves (A + damping D) dx = -g over the free variables; rows of the others are the identity. */
static bool solve_free(const Identification* id, double damping, const bool* fixed, double* dx) {
  int n = id->variables;
  double* a = MEMORY_NEW(double, n* n + 1);
  for (int i = 0; i < n; i++) {
    dx[i] = fixed[i] ? 0 : -id->g[i];
    for (int k = 0; k <= i; k++) a[i * n + k] = fixed[i] || fixed[k] ? 0 : id->a[i * n + k];
    /* without information a large change counts as one standard deviation */
    double least = 1e-12 / (id->scale[i] * id->scale[i]);
    a[i * n + i] = fixed[i] ? 1 : a[i * n + i] + damping * fmax(id->a[i * n + i], least);
  }
  bool sound = dense_cholesky(n, a);
  if (sound) dense_solve(n, a, dx);
  memory_free(a);
  return sound;
}

bool bounded_step(const Identification* id, double damping, double* dx) {
  int n = id->variables;
  bool *fixed = MEMORY_NEW(bool, n + 1), sound = true, again = true;
  for (int i = 0; i < n; i++)
    fixed[i] = id->held[i] || (id->x[i] <= id->low[i] && id->g[i] > 0) || (id->x[i] >= id->high[i] && id->g[i] < 0);
  for (int round = 0; round <= n && again && sound; round++) { /* a variable that would cross its bound is set to it */
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

/* Uncertainty of the fitted parameters (docs/derivations/identify.md, Q4). */
#include <assert.h>
#include <string.h>

#include "identify/fit.h"
#include "linalg/dense.h"

#define NORMAL_975 1.959963984540054
/* Smallest effect of a determined variable on the data, for a change by its scale, in standard deviations. */
#define INFORMATION_MIN 1.0

/* Smallest remaining step that is reported, in standard errors. */
#define STEP_MIN 0.1

/* Uses an expansion in powers of 1 / freedom about the normal distribution. At the probability 0.975 the error is below
 * 0.01 for four or more degrees of freedom. */
double student_quantile(double z, int freedom) {
  assert(freedom > 0);
  double z2 = z * z, v = freedom;
  double first = z * (z2 + 1) / 4, second = z * ((5 * z2 + 16) * z2 + 3) / 96;
  double third = z * (((3 * z2 + 19) * z2 + 17) * z2 - 15) / 384;
  return z + first / v + second / (v * v) + third / (v * v * v);
}

static bool is_determined(const Identification* id, int k) {
  double information = id->a[k * id->variables + k] * id->scale[k] * id->scale[k];
  return !id->fixed[k] && id->x[k] > id->low[k] && id->x[k] < id->high[k] &&
         information > INFORMATION_MIN * INFORMATION_MIN;
}

/* Computes the inverse of the normal equations' matrix over the variables that are free and determined by the data.
 * Other entries are zero. */
static void invert_free(const Identification* id, double* out) {
  int n = id->variables;
  double *a = MEMORY_NEW(double, n*n + 1), *column = MEMORY_NEW(double, n + 1);
  for (int i = 0; i < n; i++)
    for (int k = 0; k < n; k++) a[i * n + k] = is_determined(id, i) && is_determined(id, k) ? id->a[i * n + k] : i == k;
  bool sound = dense_cholesky(n, a);
  memset(out, 0, sizeof(double) * (size_t)(n * n));
  for (int k = 0; k < n && sound; k++) {
    memset(column, 0, sizeof(double) * (size_t)n);
    column[k] = is_determined(id, k);
    dense_solve(n, a, column);
    for (int i = 0; i < n; i++) out[i * n + k] = is_determined(id, i) ? column[i] : 0;
  }
  memory_free(a);
  memory_free(column);
}

/* Computes the covariance from the variance between runs: A^-1 (sum g_r g_r') A^-1 N / (N - 1). A: matrix of the normal
 * equations. g_r: gradient of run r. N = *runs: number of runs. */
static void variance_between_runs(const Identification* id, const double* inverse_a, double* out, int* runs) {
  int n = id->variables;
  double *g = MEMORY_NEW(double, n + 1), *v = MEMORY_NEW(double, n + 1);
  *runs = 0;
  memset(out, 0, sizeof(double) * (size_t)(n * n));
  for (int r = 0; r < id->data.count; r++) {
    int shots = 0;
    memset(g, 0, sizeof(double) * (size_t)n);
    for (int s = 0; s < id->shot_count; s++) {
      if (id->shots[s].run_index != r || !id->shots[s].usable) continue;
      for (int k = 0; k < n; k++) g[k] += id->sums[s].g[k];
      shots++;
    }
    if (shots == 0) continue;
    (*runs)++;
    for (int i = 0; i < n; i++) {
      v[i] = 0;
      for (int k = 0; k < n; k++) v[i] += inverse_a[i * n + k] * g[k];
    }
    for (int i = 0; i < n; i++)
      for (int k = 0; k < n; k++) out[i * n + k] += v[i] * v[k];
  }
  for (int k = 0; k<n * n&& * runs> 1; k++) out[k] *= *runs / (*runs - 1.0);
  memory_free(g);
  memory_free(v);
}

/* Returns the change of a variable by the next Newton step, or 0 if insignificant (Q4). */
static double next_step(const Identification* id, const double* inverse_a, int i, double error) {
  double step = 0;
  for (int k = 0; k < id->variables; k++) step -= inverse_a[i * id->variables + k] * id->g[k];
  return id->noise > NOISE_OF_ROUNDING && fabs(step) > STEP_MIN * error ? step : 0;
}

void compute_parameter_uncertainty(Identification* id) {
  int n = id->variables, residuals = 0, runs, unknowns = id->variables;
  double *inverse_a = MEMORY_NEW(double, n*n + 1), *sandwich = MEMORY_NEW(double, n*n + 1);
  for (int s = 0; s < id->shot_count; s++) residuals += id->shots[s].usable ? id->sums[s].residuals : 0;
  double scale = residuals > unknowns ? 2 * id->cost / (residuals - unknowns) : 1;
  id->noise = sqrt(scale);
  invert_free(id, inverse_a);
  variance_between_runs(id, inverse_a, sandwich, &runs);
  find_contradictions(id);
  id->quantile = runs >= RUNS_FOR_VARIANCE ? student_quantile(NORMAL_975, runs - 1) : NORMAL_975;
  for (int i = 0; i < n; i++) {
    double plain = scale * inverse_a[i * n + i], robust = runs >= RUNS_FOR_VARIANCE ? sandwich[i * n + i] : 0;
    double known = sqrt(fmax(plain, robust) + id->contradiction_width[i] * id->contradiction_width[i]);
    id->next_change[i] = plain > 0 ? next_step(id, inverse_a, i, known) : 0;
    id->error[i] = plain <= 0                ? (double)NAN
                   : id->next_change[i] == 0 ? known
                                             : sqrt(known * known + id->next_change[i] * id->next_change[i]);
  }
  for (int i = 0; i < n; i++)
    for (int k = 0; k < n; k++) {
      bool by_runs = runs >= RUNS_FOR_VARIANCE && sandwich[i * n + i] > scale * inverse_a[i * n + i];
      bool by_runs_too = runs >= RUNS_FOR_VARIANCE && sandwich[k * n + k] > scale * inverse_a[k * n + k];
      id->covariance[i * n + k] = by_runs || by_runs_too ? sandwich[i * n + k] : scale * inverse_a[i * n + k];
    }
  memory_free(inverse_a);
  memory_free(sandwich);
}

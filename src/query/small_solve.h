/* LU decomposition of small dense linear systems. Private to query/. */
#ifndef SDRS_QUERY_SMALL_SOLVE_H
#define SDRS_QUERY_SMALL_SOLVE_H

#include <assert.h>
#include <math.h>
#include <stdbool.h>

enum { LU_INVERSE_MAX = 12 };

/* Factors `a` (order x order, row-major, rows `stride` apart) in place as LU with partial pivoting. Sets row (order):
 * row k was exchanged with row[k] at step k. Returns false, with `a` undefined, if a pivot is zero or NaN. */
static inline bool lu_factor(int order, int stride, double* a, int* row) {
  assert(order >= 0 && order <= stride);
  for (int k = 0; k < order; k++) {
    int best = k;
    for (int i = k + 1; i < order; i++)
      if (fabs(a[i * stride + k]) > fabs(a[best * stride + k])) best = i;
    row[k] = best;
    for (int j = 0; best != k && j < order; j++) {
      double swap = a[k * stride + j];
      a[k * stride + j] = a[best * stride + j];
      a[best * stride + j] = swap;
    }
    double pivot = a[k * stride + k];
    if (!(fabs(pivot) > 0)) return false;
    double over = 1 / pivot;
    for (int i = k + 1; i < order; i++) {
      double factor = a[i * stride + k] *= over;
      for (int j = k + 1; j < order; j++) a[i * stride + j] -= factor * a[k * stride + j];
    }
  }
  return true;
}

/* Solves the linear system with the matrix factored by lu_factor. x (order): right-hand side, replaced by the solution.
 * a, row: factors and row exchanges from lu_factor. */
static inline void lu_solve(int order, int stride, const double* a, const int* row, double* x) {
  for (int k = 0; k < order; k++) {
    double swap = x[row[k]];
    x[row[k]] = x[k];
    x[k] = swap;
  }
  for (int i = 1; i < order; i++)
    for (int j = 0; j < i; j++) x[i] -= a[i * stride + j] * x[j];
  for (int i = order - 1; i >= 0; i--) {
    for (int j = i + 1; j < order; j++) x[i] -= a[i * stride + j] * x[j];
    x[i] /= a[i * stride + i];
  }
}

/* Sets `inverse` to the inverse of the matrix `a` and replaces `a` by its LU factors. Rows of both matrices are
 * `stride` apart. order
 * <= LU_INVERSE_MAX. Returns the condition number of `a` in the 1-norm, or HUGE_VAL if `a` is singular. */
static inline double lu_inverse(int order, int stride, double* a, int* row, double* inverse) {
  assert(order >= 0 && order <= LU_INVERSE_MAX);
  double norm = 0, inverse_norm = 0;
  for (int c = 0; c < order; c++) {
    double sum = 0;
    for (int r = 0; r < order; r++) sum += fabs(a[r * stride + c]);
    norm = fmax(norm, sum);
  }
  if (!lu_factor(order, stride, a, row)) return HUGE_VAL;
  for (int c = 0; c < order; c++) {
    double column[LU_INVERSE_MAX] = {0}, sum = 0;
    column[c] = 1;
    lu_solve(order, stride, a, row, column);
    for (int r = 0; r < order; r++) sum += fabs(inverse[r * stride + c] = column[r]);
    inverse_norm = fmax(inverse_norm, sum);
  }
  double condition = norm * inverse_norm;
  return isfinite(condition) ? condition : HUGE_VAL;
}

#endif

/* Dense linear systems by LAPACK. LAPACK stores matrices by columns, so a row-major lower triangle is an upper triangle
 * for LAPACK. The Makefile links the reference LAPACK into this object under local names. LAPACK functions that call
 * pow, log or the Fortran library (dgelsd, dgesvd, dormqr) are not used, because their results would depend on the
 * processor. */
#include "linalg/dense.h"

#include <assert.h>
#include <lapacke.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/base.h"

/* Components of an eigenvector count as equal if their relative difference is below this value. */
#define EQUAL_COMPONENTS 1e-6

/* Replaces LAPACK's handler of invalid arguments, which prints a message and ends the program. */
void xerbla_(const char* name, const int* argument, size_t length);
void xerbla_(const char* name, const int* argument, size_t length) {
  (void)name, (void)argument, (void)length;
  assert(!"LAPACK refuses an argument");
}

const char* dense_version(void) {
  static _Thread_local char text[40];
  lapack_int number[3];
  LAPACKE_ilaver(&number[0], &number[1], &number[2]);
  snprintf(text, sizeof text, "%d.%d.%d", number[0], number[1], number[2]);
  return text;
}

static bool are_finite(size_t count, const double* values) {
  for (size_t k = 0; k < count; k++)
    if (!isfinite(values[k])) return false;
  return true;
}

static bool is_lower_finite(int n, const double* a) {
  for (int i = 0; i < n; i++)
    if (!are_finite((size_t)i + 1, a + (size_t)i * (size_t)n)) return false;
  return true;
}

/* Makes the component of v (n) of largest magnitude positive. If several components are equal to rounding, the first of
 * them is used. */
static void fix_sign(int n, double* v) {
  double largest = 0;
  for (int k = 0; k < n; k++) largest = fmax(largest, fabs(v[k]));
  int first = 0;
  while (first + 1 < n && fabs(v[first]) < (1 - EQUAL_COMPONENTS) * largest) first++;
  double sign = v[first] < 0 ? -1 : 1;
  for (int k = 0; k < n; k++) v[k] *= sign;
}

/* Workspace of LAPACK's eigenvalue function dsyev per matrix row, in doubles: blocks of 32 columns (dsytrd) and two
 * vectors. */
enum { EIGEN_WORK = 34 };

bool dense_eigen(int n, double* a, double* values) {
  assert(n >= 0 && (n == 0 || (a && values)));
  if (!is_lower_finite(n, a)) return false;
  if (n == 0) return true;
  double* work = MEMORY_NEW(double, EIGEN_WORK* n);
  bool done = LAPACKE_dsyev_work(LAPACK_COL_MAJOR, 'V', 'U', n, a, n, values, work, EIGEN_WORK * n) == 0;
  memory_free(work);
  for (int k = 0; done && k < n; k++) fix_sign(n, a + (size_t)k * (size_t)n);
  return done;
}

bool dense_cholesky(int n, double* a) {
  assert(n >= 0 && (n == 0 || a));
  return is_lower_finite(n, a) && (n == 0 || LAPACKE_dpotrf_work(LAPACK_COL_MAJOR, 'U', n, a, n) == 0);
}

void dense_solve(int n, const double* l, double* x) {
  assert(n >= 0 && (n == 0 || (l && x)));
  if (n > 0) LAPACKE_dpotrs_work(LAPACK_COL_MAJOR, 'U', n, 1, l, n, x, n);
}

bool dense_solve_band(int n, int band, double* a, double* x) {
  assert(n >= 0 && band >= 0 && (n == 0 || (a && x)));
  for (int i = 0; i < n; i++) {
    int outside = band > i ? band - i : 0;
    if (!are_finite((size_t)(band + 1 - outside), a + (size_t)i * (size_t)(band + 1) + outside)) return false;
  }
  return n == 0 || LAPACKE_dpbsv_work(LAPACK_COL_MAJOR, 'U', n, band, 1, a, band + 1, x, n) == 0;
}

/* Computes x = V S^+ U^T b from the singular value decomposition A = U S V^T, with the pseudoinverse S^+ of the
 * diagonal matrix S. LAPACK's dgesvj needs at least as many rows as columns. The code therefore decomposes the m x n
 * matrix M, which is A or its transpose, with m >= n. left (m x n) and right (n x n) are the singular vectors of M,
 * stored by columns. */
int dense_least_squares(int rows, int columns, const double* a, double* b, double rank_tolerance) {
  assert(rows >= 1 && columns >= 1 && a && b && rank_tolerance >= 0);
  bool wide = rows < columns;
  int m = wide ? columns : rows, n = wide ? rows : columns, rank = -1;
  size_t count = (size_t)rows * (size_t)columns, tall = (size_t)m, width = (size_t)n;
  if (!are_finite(count, a) || !are_finite((size_t)rows, b)) return -1;
  double* left = MEMORY_NEW(double, count + width * width + width + tall + width + 6);
  double *right = left + count, *value = right + width * width, *work = value + width;
  for (int i = 0; i < rows; i++)
    for (int j = 0; j < columns; j++) {
      size_t index = wide ? (size_t)i * tall + (size_t)j : (size_t)j * tall + (size_t)i;
      left[index] = a[(size_t)i * (size_t)columns + (size_t)j];
    }
  if (LAPACKE_dgesvj_work(LAPACK_COL_MAJOR, 'G', 'U', 'V', m, n, left, m, value, 0, right, n, work, m + n + 6) == 0) {
    double scale = work[0]; /* scale of the singular values */
    const double *from = wide ? right : left, *to = wide ? left : right;
    memset(work, 0, sizeof(double) * (size_t)columns);
    for (rank = 0; rank < n && value[rank] > rank_tolerance * value[0]; rank++) {
      const double *u = from + (size_t)rank * (size_t)rows, *v = to + (size_t)rank * (size_t)columns;
      double projection = 0;
      for (int i = 0; i < rows; i++) projection += u[i] * b[i];
      projection /= scale * value[rank];
      for (int j = 0; j < columns; j++) work[j] += projection * v[j];
    }
    memcpy(b, work, sizeof(double) * (size_t)columns);
  }
  memory_free(left);
  return rank;
}

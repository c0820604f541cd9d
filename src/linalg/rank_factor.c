/* Factorization P A Q = L U of rank-deficient square matrices A by complete pivoting: P and Q are permutations, L and U
 * triangular. */
#include <assert.h>
#include <math.h>

#include "linalg/linalg.h"

static void swap_rows(int order, double* a, int i, int j) {
  for (int k = 0; k < order && i != j; k++) {
    double previous = a[i * order + k];
    a[i * order + k] = a[j * order + k];
    a[j * order + k] = previous;
  }
}

static void swap_columns(int order, double* a, int i, int j) {
  for (int k = 0; k < order && i != j; k++) {
    double previous = a[k * order + i];
    a[k * order + i] = a[k * order + j];
    a[k * order + j] = previous;
  }
}

static void swap_numbers(int* a, int i, int j) {
  int previous = a[i];
  a[i] = a[j];
  a[j] = previous;
}

/* Exchanges rows and columns so that the largest remaining entry becomes pivot k. Returns the magnitude of this
 * entry. */
static double move_largest_to_pivot(int order, double* a, int k, int* row, int* column) {
  int best_row = k, best_column = k;
  double largest = 0;
  for (int i = k; i < order; i++)
    for (int j = k; j < order; j++)
      if (fabs(a[i * order + j]) > largest) {
        largest = fabs(a[i * order + j]);
        best_row = i;
        best_column = j;
      }
  swap_rows(order, a, k, best_row);
  swap_columns(order, a, k, best_column);
  swap_numbers(row, k, best_row);
  swap_numbers(column, k, best_column);
  return largest;
}

int rank_factor(int order, double* a, int* row, int* column, double least) {
  assert(order >= 0 && !(least < 0));
  for (int i = 0; i < order * order; i++)
    if (!isfinite(a[i])) return -1;
  for (int i = 0; i < order; i++) row[i] = column[i] = i;
  for (int k = 0; k < order; k++) {
    if (!(move_largest_to_pivot(order, a, k, row, column) > least)) return k;
    for (int i = k + 1; i < order; i++) {
      double factor = a[i * order + k] /= a[k * order + k];
      for (int j = k + 1; factor != 0 && j < order; j++) a[i * order + j] -= factor * a[k * order + j];
    }
  }
  return order;
}

/* Replaces y by U^-1 y for the leading rank x rank block of the upper triangular factor U. */
static void solve_upper(int order, int rank, const double* a, double* y) {
  for (int i = rank - 1; i >= 0; i--) {
    for (int j = i + 1; j < rank; j++) y[i] -= a[i * order + j] * y[j];
    y[i] /= a[i * order + i];
  }
}

void rank_solve(int order, int rank, const double* a, const int* row, const int* column, double* x, double* work) {
  assert(rank >= 0 && rank <= order);
  for (int i = 0; i < rank; i++) {
    work[i] = x[row[i]];
    for (int j = 0; j < i; j++) work[i] -= a[i * order + j] * work[j];
  }
  solve_upper(order, rank, a, work);
  for (int i = 0; i < order; i++) x[column[i]] = i < rank ? work[i] : 0;
}

void rank_solve_transposed(int order, int rank, const double* a, const int* row, const int* column, double* x,
                           double* work) {
  assert(rank >= 0 && rank <= order);
  for (int i = 0; i < rank; i++) {
    work[i] = x[column[i]];
    for (int j = 0; j < i; j++) work[i] -= a[j * order + i] * work[j];
    work[i] /= a[i * order + i];
  }
  for (int i = rank - 1; i >= 0; i--)
    for (int j = i + 1; j < rank; j++) work[i] -= a[j * order + i] * work[j];
  for (int i = 0; i < order; i++) x[row[i]] = i < rank ? work[i] : 0;
}

/* Each column without a pivot gives one basis vector of the null space. The vectors are orthonormalized in sequence. */
void rank_remove_null_space(int order, int rank, const double* a, const int* column, double* x, double* work) {
  assert(rank >= 0 && rank <= order);
  int count = order - rank;
  for (int n = 0; n < count; n++) {
    double *null = work + n * order, projection = 0, size = 0;
    double* pivot_part = work + count * order;
    for (int i = 0; i < rank; i++) pivot_part[i] = -a[i * order + rank + n];
    solve_upper(order, rank, a, pivot_part);
    for (int i = 0; i < order; i++) null[column[i]] = i < rank ? pivot_part[i] : i == rank + n;
    for (int m = 0; m < n; m++) {
      double projection_on_earlier = 0;
      for (int i = 0; i < order; i++) projection_on_earlier += null[i] * work[m * order + i];
      for (int i = 0; i < order; i++) null[i] -= projection_on_earlier * work[m * order + i];
    }
    for (int i = 0; i < order; i++) size += null[i] * null[i];
    for (int i = 0; i < order; i++) null[i] /= sqrt(size);
    for (int i = 0; i < order; i++) projection += null[i] * x[i];
    for (int i = 0; i < order; i++) x[i] -= projection * null[i];
  }
}

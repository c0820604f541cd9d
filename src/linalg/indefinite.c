/* Factorization of symmetric indefinite matrices by the method of Bunch and Kaufman (Some stable methods for
 * calculating inertia and solving symmetric linear systems, 1977). Pivots are chosen as in LAPACK's dsytf2. */
#include "linalg/indefinite.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* Threshold of the choice between 1 x 1 and 2 x 2 pivots, (1 + sqrt 17) / 8. With this value, both sizes of pivots have
 * the same bound on the growth of matrix entries. */
#define BUNCH_KAUFMAN_ALPHA 0.6403882032022076

static double* entry_at(double* panel, int stride, int row, int column) { return panel + (long)column * stride + row; }

static void swap(double* a, double* b) {
  double value = *a;
  *a = *b;
  *b = value;
}

/* Exchanges rows and columns i < j of the remaining matrix, and the rows i and j of L. */
static void exchange_rows_and_columns(int stride, double* panel, IndefinitePivots p, int i, int j) {
  if (i == j) return;
  for (int c = 0; c < i; c++) swap(entry_at(panel, stride, i, c), entry_at(panel, stride, j, c));
  for (int c = i + 1; c < j; c++) swap(entry_at(panel, stride, c, i), entry_at(panel, stride, j, c));
  for (int r = j + 1; r < stride; r++) swap(entry_at(panel, stride, r, i), entry_at(panel, stride, r, j));
  swap(entry_at(panel, stride, i, i), entry_at(panel, stride, j, j));
  int previous = p.permutation[i];
  p.permutation[i] = p.permutation[j];
  p.permutation[j] = previous;
}

/* Returns the largest magnitude in column k below the diagonal, among the pivot rows. Sets *row to the row of this
 * entry. */
static double find_largest_below_diagonal(int pivots, int stride, const double* panel, int k, int* row) {
  double largest = 0;
  *row = k;
  for (int i = k + 1; i < pivots; i++) {
    double value = fabs(panel[(long)k * stride + i]);
    if (value > largest) {
      largest = value;
      *row = i;
    }
  }
  return largest;
}

/* Returns the largest magnitude of an off-diagonal entry of row r in the remaining matrix, whose first row is k. */
static double find_largest_off_diagonal(int pivots, int stride, const double* panel, int k, int r) {
  int row;
  double largest = find_largest_below_diagonal(pivots, stride, panel, r, &row);
  for (int c = k; c < r; c++) largest = fmax(largest, fabs(panel[(long)c * stride + r]));
  return largest;
}

/* Chooses the next pivot by the Bunch-Kaufman rule and moves it to position k. Returns the size of the pivot, 1 or
 * 2. */
static int choose_pivot(int pivots, int stride, double* panel, IndefinitePivots p, int k) {
  int r;
  double diagonal = fabs(*entry_at(panel, stride, k, k)),
         largest_in_column = find_largest_below_diagonal(pivots, stride, panel, k, &r);
  if (r == k || diagonal >= BUNCH_KAUFMAN_ALPHA * largest_in_column) return 1;
  double off_diagonal = find_largest_off_diagonal(pivots, stride, panel, k, r);
  if (diagonal * off_diagonal >= BUNCH_KAUFMAN_ALPHA * largest_in_column * largest_in_column) return 1;
  if (fabs(*entry_at(panel, stride, r, r)) >= BUNCH_KAUFMAN_ALPHA * off_diagonal) {
    exchange_rows_and_columns(stride, panel, p, k, r);
    return 1;
  }
  exchange_rows_and_columns(stride, panel, p, k + 1, r);
  return 2;
}

static void eliminate_one_pivot(int pivots, int stride, double* panel, int k) {
  double* column = entry_at(panel, stride, 0, k);
  double inverse = 1.0 / column[k];
  for (int j = k + 1; j < pivots; j++) {
    double factor = column[j] * inverse, *other = entry_at(panel, stride, 0, j);
    for (int i = j; i < pivots; i++) other[i] -= column[i] * factor;
    column[j] = factor;
  }
}

/* Replaces the row vector (x, y) by (x, y) B^-1 for the 2 x 2 pivot B = [d1 b; b d2]. The choice of pivots ensures that
 * |b| is the largest entry. */
static void solve_two_by_two(double d1, double b, double d2, double* x, double* y) {
  double p = d1 / b, q = d2 / b, scale = 1.0 / (b * (p * q - 1.0));
  double u = (q * *x - *y) * scale, v = (p * *y - *x) * scale;
  *x = u;
  *y = v;
}

static void eliminate_two_pivots(int pivots, int stride, double* panel, int k, double off_diagonal) {
  double *first = entry_at(panel, stride, 0, k), *second = entry_at(panel, stride, 0, k + 1);
  for (int j = k + 2; j < pivots; j++) {
    double u = first[j], v = second[j], *other = entry_at(panel, stride, 0, j);
    solve_two_by_two(first[k], off_diagonal, second[k + 1], &u, &v);
    for (int i = j; i < pivots; i++) other[i] -= first[i] * u + second[i] * v;
    first[j] = u;
    second[j] = v;
  }
}

/* Factors the block App of a front's pivot rows as P App P^T = L D L^T. P is a permutation, L unit lower triangular,
 * and D has 1 x 1 and 2 x 2 blocks. Returns the number of replaced pivots, or -1 if a number is not finite. */
static int factor_pivots(int pivots, int stride, double tiny, double* panel, IndefinitePivots p) {
  int replaced = 0;
  for (int k = 0; k < pivots; k++) {
    p.permutation[k] = k;
    p.off_diagonal[k] = 0;
  }
  for (int k = 0, size; k < pivots; k += size) {
    size = choose_pivot(pivots, stride, panel, p, k);
    double* d = entry_at(panel, stride, k, k);
    if (size == 2) {
      p.off_diagonal[k] = d[1];
      d[1] = 0;
      eliminate_two_pivots(pivots, stride, panel, k, p.off_diagonal[k]);
      continue;
    }
    if (!(fabs(*d) >= tiny)) { /* the other entries of the column are at most tiny / BUNCH_KAUFMAN_ALPHA */
      if (!isfinite(*d)) return -1;
      *d = *d < 0 ? -tiny : tiny;
      replaced++;
    }
    eliminate_one_pivot(pivots, stride, panel, k);
  }
  return replaced;
}

/* Replaces the block Arp of the rows after the pivots by W = Arp P^T L^-T, column by column. The pivot rows were
 * factored as P App P^T = L D L^T. */
static void solve_rows_below_pivots(int rows, int pivots, int stride, double* panel) {
  for (int k = 0; k < pivots; k++) {
    double* column = entry_at(panel, stride, 0, k);
    for (int j = 0; j < k; j++) {
      const double* other = entry_at(panel, stride, 0, j);
      double factor = other[k];
      if (factor == 0) continue;
      for (int r = pivots; r < rows; r++) column[r] -= other[r] * factor;
    }
  }
}

/* Sets l (pivots) to row j of the factor below the pivots, Lrp = W D^-1, with W from solve_rows_below_pivots and the
 * block diagonal D. */
static void compute_row_of_l(int pivots, int stride, const double* panel, IndefinitePivots p, int j, double* l) {
  for (int k = 0; k < pivots; k++) l[k] = panel[(long)k * stride + j];
  for (int k = 0; k < pivots; k++) {
    double d = panel[(long)k * stride + k];
    if (p.off_diagonal[k] == 0)
      l[k] /= d;
    else {
      solve_two_by_two(d, p.off_diagonal[k], panel[(long)(k + 1) * stride + k + 1], &l[k], &l[k + 1]);
      k++;
    }
  }
}

/* Sets `update` to the Schur complement Arr - W D^-1 W^T of the rows after the pivots, with W from
 * solve_rows_below_pivots and the block diagonal D. Row j of Lrp is stored temporarily above the diagonal of the
 * update's column j. */
static void compute_schur_complement(int rows, int pivots, int stride, const double* panel, double* update,
                                     IndefinitePivots p) {
  for (int j = pivots; j < rows; j++) {
    double *column = update + (long)(j - pivots) * stride, *l = column;
    compute_row_of_l(pivots, stride, panel, p, j, l);
    for (int k = 0; k < pivots; k++) {
      const double* w = panel + (long)k * stride;
      double factor = l[k];
      for (int r = j; r < rows; r++) column[r] -= w[r] * factor;
    }
  }
}

int indefinite_factor(int rows, int pivots, int stride, double tiny, double* panel, double* update,
                      IndefinitePivots p) {
  assert(pivots >= 0 && pivots <= rows && rows <= stride);
  int replaced = factor_pivots(pivots, stride, tiny, panel, p);
  if (replaced < 0) return -1;
  solve_rows_below_pivots(rows, pivots, stride, panel);
  compute_schur_complement(rows, pivots, stride, panel, update, p);
  return replaced;
}

static void solve_block_diagonal(int pivots, int stride, const double* panel, IndefinitePivots p, double* x) {
  for (int k = 0; k < pivots; k++) {
    double d = panel[(long)k * stride + k];
    if (p.off_diagonal[k] == 0)
      x[k] /= d;
    else {
      solve_two_by_two(d, p.off_diagonal[k], panel[(long)(k + 1) * stride + k + 1], &x[k], &x[k + 1]);
      k++;
    }
  }
}

void indefinite_forward(int pivots, int stride, const double* panel, IndefinitePivots p, double* x, double* work) {
  assert(pivots >= 0 && pivots <= stride);
  for (int k = 0; k < pivots; k++) work[k] = x[p.permutation[k]];
  for (int k = 0; k < pivots; k++) {
    const double* column = panel + (long)k * stride;
    for (int i = k + 1; i < pivots; i++) work[i] -= column[i] * work[k];
  }
  memcpy(x, work, sizeof(double) * (size_t)pivots);
  solve_block_diagonal(pivots, stride, panel, p, work);
  for (int k = 0; k < pivots; k++) {
    const double* column = panel + (long)k * stride;
    for (int r = pivots; r < stride; r++) x[r] -= column[r] * work[k];
  }
}

void indefinite_backward(int pivots, int stride, const double* panel, IndefinitePivots p, double* x, double* work) {
  assert(pivots >= 0 && pivots <= stride);
  memcpy(work, x, sizeof(double) * (size_t)pivots);
  for (int k = 0; k < pivots; k++) {
    const double* column = panel + (long)k * stride;
    for (int r = pivots; r < stride; r++) work[k] -= column[r] * x[r];
  }
  solve_block_diagonal(pivots, stride, panel, p, work);
  for (int k = pivots - 1; k >= 0; k--) {
    const double* column = panel + (long)k * stride;
    for (int i = k + 1; i < pivots; i++) work[k] -= column[i] * work[i];
  }
  for (int k = 0; k < pivots; k++) x[p.permutation[k]] = work[k];
}

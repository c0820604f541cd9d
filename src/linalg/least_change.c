#include <assert.h>

#include "linalg/least_change.h"

#include "linalg/eigen.h"
#include "linalg/linalg.h"

/* A pivot or eigenvalue of the matrix below this value counts as zero, and its equations count as linearly dependent.
 * The matrix is scaled so that its entries are of order 1. */
#define MIN_RANK_TOLERANCE 1e-12
/* Rounding error of an entry of the scaled matrix. A row with a small pivot amplifies this error in later rows by the
 * squared ratio of the row's entry to its pivot. */
#define ENTRY_ROUNDING 1e-14
/* Largest squared violation used as a tolerance. Larger violations do not distinguish dependent from independent
 * equations. */
#define MAX_RANK_TOLERANCE 1e-6

/* Returns the relative tolerance below which an eigenvalue counts as zero: the squared violation of all equations
 * without its component `along` the eigenvector, limited to MIN_RANK_TOLERANCE .. MAX_RANK_TOLERANCE. */
static double rank_tolerance(double squared_violation, double along) {
  double tolerance = squared_violation - along * along;
  if (!(tolerance < MAX_RANK_TOLERANCE)) tolerance = MAX_RANK_TOLERANCE;
  return tolerance > MIN_RANK_TOLERANCE ? tolerance : MIN_RANK_TOLERANCE;
}

static double dot(int order, const double* x, const double* y) {
  double sum = 0;
  for (int i = 0; x && i < order; i++) sum += x[i] * y[i];
  return sum;
}

/* Four independent sums. Each sum adds its terms in the order of a scalar loop. */
typedef double Four __attribute__((vector_size(32), aligned(8)));

/* Computes four or eight entries of row j, from `first` on, minus the contributions of the rows above. */
static inline void subtract_products(int stride, int j, int fours, int first, const double* a, Four sum[2]) {
  const double* rows = a + first;
  for (int f = 0; f < fours; f++) sum[f] = *(const Four*)(rows + j * stride + 4 * f);
  if (fours == 1)
    for (int k = 0; k < j; k++, rows += stride) sum[0] -= *(const Four*)rows * rows[j - first];
  else
    for (int k = 0; k < j; k++, rows += stride) {
      double factor_cholesky = rows[j - first];
      sum[0] -= *(const Four*)rows * factor_cholesky;
      sum[1] -= *(const Four*)(rows + 4) * factor_cholesky;
    }
}

/* Computes row j of the Cholesky factor of the matrix a, without the division by the pivot. Subtracts the contributions
 * of the rows above from the entries at and right of the diagonal. Returns the diagonal entry. The diagonal and the
 * lower triangle of a do not change. */
static double compute_factor_row(int order, int stride, int j, double* a) {
  double *row = a + j * stride, pivot = row[j];
  int first = j & ~3;
  for (; first + 4 <= stride && first < order;) {
    Four sum[2];
    int fours = first + 8 <= stride && first + 4 < order ? 2 : 1;
    subtract_products(stride, j, fours, first, a, sum);
    if (first <= j) {
      pivot = sum[0][j - first];
      for (int i = j + 1; i < first + 4; i++) row[i] = sum[0][i - first];
    } else {
      *(Four*)(row + first) = sum[0];
    }
    if (fours == 2) *(Four*)(row + first + 4) = sum[1];
    first += 4 * fours;
  }
  for (int i = first > j ? first : j; i < order; i++) {
    double sum = row[i];
    for (int k = 0; k < j; k++) sum -= a[k * stride + i] * a[k * stride + j];
    *(i > j ? &row[i] : &pivot) = sum;
  }
  return pivot;
}

/* Returns the factor by which the pivot of row j amplifies rounding errors of earlier rows. */
static double rounding_amplification(int stride, int j, const double* a, const double* pivot) {
  double sum = 0;
  for (int k = 0; k < j; k++) sum += a[k * stride + j] * a[k * stride + j] / (pivot[k] * pivot[k]);
  return sum;
}

/* Computes the Cholesky factor of a. Replaces the upper triangle of a by the factor and sets pivot to the factor's
 * diagonal. The diagonal and the lower triangle of a do not change. Returns false if a is not numerically positive
 * definite. */
static bool factor_cholesky(int order, int stride, double* a, double tolerance, double* pivot) {
  double smallest = INFINITY; /* smallest squared pivot so far */
  for (int j = 0; j < order; j++) {
    double* row = a + j * stride;
    double remainder = compute_factor_row(order, stride, j, a), subtracted = row[j] - remainder;
    /* 2 * subtracted / smallest is a cheap upper bound of the amplification; the exact value is computed only if the
     * bound is too large */
    if (!(remainder > tolerance + ENTRY_ROUNDING * 2 * subtracted / smallest) &&
        !(remainder > tolerance + ENTRY_ROUNDING * rounding_amplification(stride, j, a, pivot)))
      return false;
    double value = pivot[j] = sqrt(remainder);
    smallest = fmin(smallest, remainder);
    for (int i = j + 1; i < order; i++) row[i] /= value;
  }
  return true;
}

static void substitute_both(int order, int stride, const double* a, const double* pivot, double* restrict x) {
  for (int k = 0; k < order; k++) {
    double value = x[k] = x[k] / pivot[k];
    for (int i = k + 1; i < order; i++) x[i] -= a[k * stride + i] * value;
  }
  for (int i = order - 1; i >= 0; i--) {
    double value = x[i];
    for (int k = i + 1; k < order; k++) value -= a[i * stride + k] * x[k];
    x[i] = value / pivot[i];
  }
}

/* Replaces x by the minimum-norm solution A^+ x, with the pseudoinverse A^+ of the matrix `a`, computed from its
 * eigenvectors. Only the lower triangle of a is read. Sets *dropped to true if an eigenvalue counted as zero, otherwise
 * to false. Returns false if the eigenvalues were not found. */
static bool solve_by_eigenvalues(int order, int stride, double* a, double* x, const double* violation, double* values,
                                 double* coefficient, bool* dropped) {
  for (int i = 0; i < order; i++)
    for (int j = 0; j < i; j++) a[j * stride + i] = a[i * stride + j];
  if (!symmetric_eigen(order, stride, a, values, coefficient)) return false;
  double largest = fmax(fabs(values[0]), fabs(values[order - 1])), squared_violation = dot(order, violation, violation);
  *dropped = false;
  for (int e = 0; e < order; e++) {
    const double* vector = a + e * stride;
    bool is_significant = fabs(values[e]) > rank_tolerance(squared_violation, dot(order, violation, vector)) * largest;
    coefficient[e] = is_significant ? dot(order, vector, x) / values[e] : 0;
    *dropped = *dropped || !is_significant;
  }
  for (int i = 0; i < order; i++) {
    x[i] = 0;
    for (int e = 0; e < order; e++) x[i] += coefficient[e] * a[e * stride + i];
  }
  return true;
}

bool symmetric_pseudo_solve_violated(int order, int stride, double* matrix, double* x, const double* scale,
                                     const double* violation, double* work, bool* ambiguous) {
  assert(order >= 0 && stride >= order);
  double *pivot = work, *coefficient = work + order;
  bool dropped = false;
  for (int i = 0; i < order; i++) {
    double* restrict row = matrix + i * stride, value = scale[i];
    if (!isfinite(row[i]) || !isfinite(x[i])) return false;
    x[i] *= value;
    for (int j = 0; j < order; j++) row[j] *= value * scale[j];
  }
  for (int i = 0; i < order;
       i++) /* a zero row fixes its unknown at 0, which keeps the Cholesky factorization possible */
    if (matrix[i * stride + i] == 0) matrix[i * stride + i] = 1, x[i] = 0;
  if (factor_cholesky(order, stride, matrix, rank_tolerance(dot(order, violation, violation), 0), pivot))
    substitute_both(order, stride, matrix, pivot, x);
  else if (!solve_by_eigenvalues(order, stride, matrix, x, violation, pivot, coefficient, &dropped))
    return false;
  if (dropped && ambiguous) *ambiguous = true;
  for (int i = 0; i < order; i++) x[i] *= scale[i];
  return true;
}

bool symmetric_pseudo_solve(int order, double* matrix, double* x, const double* scale, double* work, bool* ambiguous) {
  assert(order >= 0);
  return symmetric_pseudo_solve_violated(order, order, matrix, x, scale, NULL, work, ambiguous);
}

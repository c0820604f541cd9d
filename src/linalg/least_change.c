#include <assert.h>

#include "linalg/least_change.h"

#include "linalg/eigen.h"
#include "linalg/linalg.h"

/* If a pivot or an eigenvalue is below this value, it counts as zero, and the equations count as dependent. The matrix
 * is scaled so that its entries are of order 1. */
#define RANK 1e-12
/* Rounding error of an entry of the scaled matrix. A row with a small pivot amplifies this error in later rows by the
 * squared ratio of the row's entry to its pivot. */
#define ENTRY_ROUNDING 1e-14
/* Largest squared violation used as a threshold. Larger violations cannot separate dependent from independent
 * equations. */
#define OPEN_MOST 1e-6

/* Returns the relative threshold below which eigenvalues count as zero. open: squared violation of all equations;
 * along: the violation's component along the eigenvector. The threshold is open - along^2, limited to RANK ..
 * OPEN_MOST. */
static double rank_of(double open, double along) {
  double rank = open - along * along;
  if (!(rank < OPEN_MOST)) rank = OPEN_MOST;
  return rank > RANK ? rank : RANK;
}

static double dot(int order, const double* x, const double* y) {
  double sum = 0;
  for (int i = 0; x && i < order; i++) sum += x[i] * y[i];
  return sum;
}

/* SIMD vector of four independent sums. Each sum adds its terms in the order of a scalar loop. */
typedef double Four __attribute__((vector_size(32), aligned(8)));

/* Computes four or eight entries of row j, from `first` on, minus the contributions of the rows above. */
static inline void subtract_fours(int stride, int j, int fours, int first, const double* a, Four sum[2]) {
  const double* rows = a + first;
  for (int f = 0; f < fours; f++) sum[f] = *(const Four*)(rows + j * stride + 4 * f);
  if (fours == 1)
    for (int k = 0; k < j; k++, rows += stride) sum[0] -= *(const Four*)rows * rows[j - first];
  else
    for (int k = 0; k < j; k++, rows += stride) {
      double factor = rows[j - first];
      sum[0] -= *(const Four*)rows * factor;
      sum[1] -= *(const Four*)(rows + 4) * factor;
    }
}

/* Computes row j of the Cholesky factor, without the division by the pivot. Subtracts the contributions of the rows
 * above from the entries at and right of the diagonal. Returns the diagonal entry. The diagonal and the lower triangle
 * of a do not change. */
static double subtract_rows(int order, int stride, int j, double* a) {
  double *row = a + j * stride, pivot = row[j];
  int first = j & ~3;
  for (; first + 4 <= stride && first < order;) {
    Four sum[2];
    int fours = first + 8 <= stride && first + 4 < order ? 2 : 1;
    subtract_fours(stride, j, fours, first, a, sum);
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
static double blown_up(int stride, int j, const double* a, const double* pivot) {
  double sum = 0;
  for (int k = 0; k < j; k++) sum += a[k * stride + j] * a[k * stride + j] / (pivot[k] * pivot[k]);
  return sum;
}

/* Computes the Cholesky factor of a. Replaces the upper triangle of a by the factor and sets pivot to the factor's
 * diagonal. The diagonal and the lower triangle of a do not change. Returns false if a is not numerically positive
 * definite. */
static bool factor(int order, int stride, double* a, double rank, double* pivot) {
  double least = INFINITY; /* smallest squared pivot so far */
  for (int j = 0; j < order; j++) {
    double* row = a + j * stride;
    double left = subtract_rows(order, stride, j, a), taken = row[j] - left;
    /* a cheap bound of the amplification is 2 * taken / least; the exact value is computed only if the bound is too
     * large */
    if (!(left > rank + ENTRY_ROUNDING * 2 * taken / least) &&
        !(left > rank + ENTRY_ROUNDING * blown_up(stride, j, a, pivot)))
      return false;
    double own = pivot[j] = sqrt(left);
    least = fmin(least, left);
    for (int i = j + 1; i < order; i++) row[i] /= own;
  }
  return true;
}

static void substitute(int order, int stride, const double* a, const double* pivot, double* restrict x) {
  for (int k = 0; k < order; k++) {
    double own = x[k] = x[k] / pivot[k];
    for (int i = k + 1; i < order; i++) x[i] -= a[k * stride + i] * own;
  }
  for (int i = order - 1; i >= 0; i--) {
    double own = x[i];
    for (int k = i + 1; k < order; k++) own -= a[i * stride + k] * x[k];
    x[i] = own / pivot[i];
  }
}

/* Replaces x by the minimum-norm solution A^+ x, computed from the eigenvectors of a. Only the lower triangle of a is
 * read. The threshold of an eigenvalue excludes the violation along its eigenvector. Sets *dropped to true if an
 * eigenvalue counted as zero, otherwise to false. Returns false if the eigenvalues were not found. */
static bool pseudo_solve(int order, int stride, double* a, double* x, const double* gap, double* values, double* off,
                         bool* dropped) {
  for (int i = 0; i < order; i++)
    for (int j = 0; j < i; j++) a[j * stride + i] = a[i * stride + j];
  if (!symmetric_eigen(order, stride, a, values, off)) return false;
  double largest = fmax(fabs(values[0]), fabs(values[order - 1])), open = dot(order, gap, gap);
  *dropped = false;
  for (int e = 0; e < order; e++) {
    const double* vector = a + e * stride;
    bool says = fabs(values[e]) > rank_of(open, dot(order, gap, vector)) * largest;
    off[e] = says ? dot(order, vector, x) / values[e] : 0;
    *dropped = *dropped || !says;
  }
  for (int i = 0; i < order; i++) {
    x[i] = 0;
    for (int e = 0; e < order; e++) x[i] += off[e] * a[e * stride + i];
  }
  return true;
}

bool symmetric_pseudo_solve_violated(int order, int stride, double* matrix, double* x, const double* scale,
                                     const double* gap, double* work, bool* ambiguous) {
  assert(order >= 0 && stride >= order);
  double *pivot = work, *off = work + order;
  bool dropped = false;
  for (int i = 0; i < order; i++) {
    double* restrict row = matrix + i * stride, own = scale[i];
    if (!isfinite(row[i]) || !isfinite(x[i])) return false;
    x[i] *= own;
    for (int j = 0; j < order; j++) row[j] *= own * scale[j];
  }
  for (int i = 0; i < order;
       i++) /* a zero row fixes its unknown at 0, so that the Cholesky factorization remains possible */
    if (matrix[i * stride + i] == 0) matrix[i * stride + i] = 1, x[i] = 0;
  if (factor(order, stride, matrix, rank_of(dot(order, gap, gap), 0), pivot))
    substitute(order, stride, matrix, pivot, x);
  else if (!pseudo_solve(order, stride, matrix, x, gap, pivot, off, &dropped))
    return false;
  if (dropped && ambiguous) *ambiguous = true;
  for (int i = 0; i < order; i++) x[i] *= scale[i];
  return true;
}

bool symmetric_pseudo_solve(int order, double* matrix, double* x, const double* scale, double* work, bool* ambiguous) {
  assert(order >= 0);
  return symmetric_pseudo_solve_violated(order, order, matrix, x, scale, NULL, work, ambiguous);
}

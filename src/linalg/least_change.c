#include "linalg/least_change.h"

#include "linalg/eigen.h"
#include "linalg/linalg.h"

/* In units in which entries are of order 1, a pivot or eigenvalue below this is rounding of one that is zero: rows that
 * say the same. */
#define RANK 1e-12
/* Rounding of an entry in these units, which a row of small entries blows up in those after it: by the square of what
 * it has of them over its own pivot. */
#define ENTRY_ROUNDING 1e-14
/* What openness may leave out at most: beyond a thousandth of their size equations are too far from holding to be told
 * apart by it. */
#define OPEN_MOST 1e-6

/* Eigenvalues up to this say nothing: of what is open but for `along`. */
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

/* Lower triangle becomes the factor, its diagonal goes to pivot. false: not positive definite, or nearly not. */
static bool factor(int order, double* a, double rank, double* pivot) {
  for (int j = 0; j < order; j++) {
    double sum = a[j * order + j], blown = 0;
    for (int k = 0; k < j; k++) sum -= a[j * order + k] * a[j * order + k];
    for (int k = 0; k < j; k++) blown += a[j * order + k] * a[j * order + k] / (pivot[k] * pivot[k]);
    if (!(sum > rank + ENTRY_ROUNDING * blown)) return false;
    pivot[j] = sqrt(sum);
    for (int i = j + 1; i < order; i++) {
      double entry = a[j * order + i]; /* the upper triangle stays what it was */
      for (int k = 0; k < j; k++) entry -= a[i * order + k] * a[j * order + k];
      a[i * order + j] = entry / pivot[j];
    }
  }
  return true;
}

static void substitute(int order, const double* a, const double* pivot, double* x) {
  for (int i = 0; i < order; i++) {
    for (int k = 0; k < i; k++) x[i] -= a[i * order + k] * x[k];
    x[i] /= pivot[i];
  }
  for (int i = order - 1; i >= 0; i--) {
    for (int k = i + 1; k < order; k++) x[i] -= a[k * order + i] * x[k];
    x[i] /= pivot[i];
  }
}

/* x <- A^+ x by eigenvectors, of the upper triangle. What lies open along a vector itself is no reason to leave it so.
 * *dropped: some of them say nothing. */
static bool pseudo_solve(int order, double* a, double* x, const double* gap, double* values, double* off,
                         bool* dropped) {
  for (int i = 0; i < order; i++)
    for (int j = 0; j < i; j++) a[i * order + j] = a[j * order + i];
  if (!symmetric_eigen(order, order, a, values, off)) return false;
  double largest = fmax(fabs(values[0]), fabs(values[order - 1])), open = dot(order, gap, gap);
  *dropped = false;
  for (int e = 0; e < order; e++) {
    const double* vector = a + e * order;
    bool says = fabs(values[e]) > rank_of(open, dot(order, gap, vector)) * largest;
    off[e] = says ? dot(order, vector, x) / values[e] : 0;
    *dropped = *dropped || !says;
  }
  for (int i = 0; i < order; i++) {
    x[i] = 0;
    for (int e = 0; e < order; e++) x[i] += off[e] * a[e * order + i];
  }
  return true;
}

bool symmetric_least_change_open(int order, double* matrix, double* x, const double* scale, const double* gap,
                                 double* work, bool* ambiguous) {
  double *pivot = work, *off = work + order;
  bool dropped = false;
  for (int i = 0; i < order; i++) {
    double *row = matrix + i * order, *column = matrix + i; /* both triangles in turn: rows are short */
    if (!isfinite(row[i]) || !isfinite(x[i])) return false;
    x[i] *= scale[i];
    for (int j = 0; j < i; j++) {
      double own = scale[i] * scale[j];
      row[j] *= own;
      column[j * order] *= own;
    }
    row[i] *= scale[i] * scale[i];
  }
  for (int i = 0; i < order; i++) /* an empty row changes nothing, and is no reason to look for eigenvalues */
    if (matrix[i * order + i] == 0) matrix[i * order + i] = 1, x[i] = 0;
  if (factor(order, matrix, rank_of(dot(order, gap, gap), 0), pivot))
    substitute(order, matrix, pivot, x);
  else if (!pseudo_solve(order, matrix, x, gap, pivot, off, &dropped))
    return false;
  if (dropped && ambiguous) *ambiguous = true;
  for (int i = 0; i < order; i++) x[i] *= scale[i];
  return true;
}

bool symmetric_least_change(int order, double* matrix, double* x, const double* scale, double* work, bool* ambiguous) {
  return symmetric_least_change_open(order, matrix, x, scale, NULL, work, ambiguous);
}

/* Eigenvalues and eigenvectors by Householder reduction to tridiagonal form and QL iterations with implicit shifts. The
 * method is the same as in EISPACK's tred2 and tql2 (Golub and Van Loan, Matrix Computations, 8.3). Vectors are stored
 * as rows, so that rotations and reflections access memory contiguously. */
#include "linalg/eigen.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <stddef.h>

/* Largest number of QL sweeps per eigenvalue. QL converges cubically, usually in 2 or 3 sweeps. */
enum { MAX_SWEEPS = 60 };

static double dot(int count, const double* x, const double* y) {
  double part[4] = {0, 0, 0, 0};
  int k = 0;
  for (; k + 4 <= count; k += 4)
    for (int i = 0; i < 4; i++) part[i] += x[k + i] * y[k + i];
  for (; k < count; k++) part[0] += x[k] * y[k];
  return (part[0] + part[1]) + (part[2] + part[3]);
}

/* Reduces row i of the symmetric matrix a to tridiagonal form by a Householder reflection I - v v^T / h. The diagonal
 * entry and off[i] remain; v is stored in the row. Returns h, or 0 if the row is tridiagonal already. */
static double reduce_row(int i, int stride, double* a, double* off) {
  double* v = a + (long)i * stride;
  double scale = 0;
  for (int k = 0; k < i; k++) scale = fmax(scale, fabs(v[k]));
  off[i] = v[i - 1];
  double rest = 0;
  for (int k = 0; k + 1 < i; k++) rest = fmax(rest, fabs(v[k]));
  if (rest == 0) return 0;
  for (int k = 0; k < i; k++) v[k] /= scale;
  double h = dot(i, v, v), f = v[i - 1], g = f > 0 ? -sqrt(h) : sqrt(h);
  off[i] = scale * g;
  h -= f * g;
  v[i - 1] = f - g;
  /* applies the reflection to the leading rows A on both sides: p = A v / h, q = p - (v . p / 2h) v, A becomes A - v
   * q^T - q v^T. off[0..i-1] holds p, then q */
  for (int k = 0; k < i; k++) off[k] = dot(i, a + (long)k * stride, v) / h;
  double half = dot(i, off, v) / (h + h);
  for (int k = 0; k < i; k++) off[k] -= half * v[k];
  for (int j = 0; j < i; j++) {
    double* row = a + (long)j * stride;
    double vj = v[j], qj = off[j];
    for (int k = 0; k < i; k++) row[k] -= vj * off[k] + qj * v[k];
  }
  return h;
}

static void reduce_to_tridiagonal(int order, int stride, double* a, double* values, double* off) {
  for (int i = order - 1; i > 0; i--) values[i] = reduce_row(i, stride, a, off);
}

/* Multiplies the Householder reflections H_i of all n rows of a symmetric matrix A: A = Q T Q^T with the orthogonal
 * matrix Q = H_(n-1) ... H_1 and tridiagonal T. Replaces a by Q^T, and values by the diagonal of T. On entry values[i]
 * is the divisor h of the reflection H_i (reduce_row). */
static void accumulate_reflections(int order, int stride, double* a, double* values) {
  for (int i = 0; i < order; i++) {
    double *v = a + (long)i * stride, diagonal = v[i];
    if (i > 0 && values[i] != 0)
      for (int c = 0; c < i; c++) {
        double *z = a + (long)c * stride, projection = dot(i, v, z) / values[i];
        for (int k = 0; k < i; k++) z[k] -= projection * v[k];
      }
    for (int k = 0; k < i; k++) v[k] = a[(long)k * stride + i] = 0;
    v[i] = 1;
    values[i] = diagonal;
  }
}

/* Returns the first index m >= l at which the tridiagonal matrix splits into two, because its off-diagonal entry off[m]
 * is negligible; otherwise order - 1. */
static int find_split(int l, int order, const double* d, const double* off) {
  int m = l;
  while (m + 1 < order && fabs(off[m]) > DBL_EPSILON * (fabs(d[m]) + fabs(d[m + 1]))) m++;
  return m;
}

static void rotate(int order, double c, double s, double* low, double* high) {
  for (int k = 0; k < order; k++) {
    double f = high[k];
    high[k] = s * low[k] + c * f;
    low[k] = c * low[k] - s * f;
  }
}

/* Makes one implicit QL sweep over rows l to m of a tridiagonal matrix. d: its diagonal; off[i]: its entry between rows
 * i and i + 1. z: eigenvectors to rotate, one per row, or NULL. */
static void ql_sweep(int l, int m, int order, int stride, double* d, double* off, double* z) {
  double g = (d[l + 1] - d[l]) / (2 * off[l]), r = sqrt(g * g + 1);
  g = d[m] - d[l] + off[l] / (g + (g < 0 ? -r : r)); /* Wilkinson's shift */
  double s = 1, c = 1, p = 0;
  for (int i = m - 1; i >= l; i--) {
    double f = s * off[i], b = c * off[i];
    off[i + 1] = r = sqrt(f * f + g * g);
    if (r == 0) { /* an off-diagonal entry became zero, so the matrix splits into two */
      d[i + 1] -= p;
      off[m] = 0;
      return;
    }
    s = f / r;
    c = g / r;
    g = d[i + 1] - p;
    r = (d[i] - g) * s + 2 * c * b;
    p = s * r;
    d[i + 1] = g + p;
    g = c * r - b;
    if (z) rotate(order, c, s, z + (long)i * stride, z + (long)(i + 1) * stride);
  }
  d[l] -= p;
  off[l] = g;
  off[m] = 0;
}

/* Computes the eigenvalues of a tridiagonal matrix by QL sweeps. d: diagonal on entry, eigenvalues on return. On entry
 * off[i] couples rows i - 1 and i. z: eigenvectors to rotate, or NULL. Returns false if the iteration does not
 * converge. */
static bool ql_iterate(int order, int stride, double* d, double* off, double* z) {
  for (int i = 1; i < order; i++) off[i - 1] = off[i];
  if (order > 0) off[order - 1] = 0;
  for (int l = 0; l < order; l++)
    for (int count = 0, m; (m = find_split(l, order, d, off)) != l; count++) {
      if (count == MAX_SWEEPS) return false;
      ql_sweep(l, m, order, stride, d, off, z);
    }
  return true;
}

static void sort_rows(int order, int stride, double* d, double* z) {
  for (int i = 0; i + 1 < order; i++) {
    int smallest = i;
    for (int j = i + 1; j < order; j++)
      if (d[j] < d[smallest]) smallest = j;
    if (smallest == i) continue;
    double value = d[i];
    d[i] = d[smallest];
    d[smallest] = value;
    for (int k = 0; z && k < order; k++) {
      double *x = &z[(long)i * stride + k], *y = &z[(long)smallest * stride + k], swap = *x;
      *x = *y;
      *y = swap;
    }
  }
}

bool symmetric_eigen(int order, int stride, double* a, double* values, double* off) {
  assert(order >= 0 && stride >= order);
  for (int i = 0; i < order; i++)
    for (int j = 0; j < order; j++)
      if (!isfinite(a[(long)i * stride + j])) return false;
  reduce_to_tridiagonal(order, stride, a, values, off);
  accumulate_reflections(order, stride, a, values);
  if (!ql_iterate(order, stride, values, off, a)) return false;
  sort_rows(order, stride, values, a);
  return true;
}

bool tridiagonal_eigenvalues(int order, double* diagonal, double* off) {
  assert(order >= 0);
  for (int i = 0; i < order; i++)
    if (!isfinite(diagonal[i]) || !isfinite(off[i])) return false;
  if (!ql_iterate(order, 0, diagonal, off, NULL)) return false;
  sort_rows(order, 0, diagonal, NULL);
  return true;
}

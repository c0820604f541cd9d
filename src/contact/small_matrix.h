/* Private to contact/: Cholesky factorization of symmetric matrices of order 2 to 4, stored in the lower triangle of a
 * 4x4 array. The tests compare it with LAPACK. */
#ifndef SDRS_CONTACT_SMALL_MATRIX_H
#define SDRS_CONTACT_SMALL_MATRIX_H

#include <math.h>

/* Fraction of the diagonal entry below which a pivot counts as zero. */
#define SMALL_PIVOT_FLOOR 1e-14

/* Replaces the lower triangle of a positive semidefinite matrix by its Cholesky factor L. n: order of a. The diagonal
 * of L is stored inverted. If a pivot is below SMALL_PIVOT_FLOOR times the diagonal entry, its inverse is set to zero,
 * so that solutions have no component along it. */
static inline void small_cholesky(int n, double a[4][4]) {
  for (int j = 0; j < n; j++) {
    double diagonal = a[j][j], d = diagonal;
    for (int k = 0; k < j; k++) d -= a[j][k] * a[j][k];
    double inverse = d > SMALL_PIVOT_FLOOR * diagonal ? 1.0 / sqrt(d) : 0.0;
    a[j][j] = inverse;
    for (int i = j + 1; i < n; i++) {
      double v = a[i][j];
      for (int k = 0; k < j; k++) v -= a[i][k] * a[j][k];
      a[i][j] = v * inverse;
    }
  }
}

/* Solves L x = b in place for the factor L (n x n) of small_cholesky. x (n): contains b, and receives x. Components
 * along zero pivots become 0. */
static inline void small_forward(int n, const double a[4][4], double* x) {
  for (int i = 0; i < n; i++) {
    double v = x[i];
    for (int k = 0; k < i; k++) v -= a[i][k] * x[k];
    x[i] = v * a[i][i];
  }
}

/* Solves L^T x = b in place for the factor L (n x n) of small_cholesky. x (n): contains b, and receives x. Components
 * along zero pivots become 0. */
static inline void small_backward(int n, const double a[4][4], double* x) {
  for (int i = n - 1; i >= 0; i--) {
    double v = x[i];
    for (int k = i + 1; k < n; k++) v -= a[k][i] * x[k];
    x[i] = v * a[i][i];
  }
}

#endif

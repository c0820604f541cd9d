/* Private to contact/: Cholesky of matrices of order 2..4 held in a fixed 4x4 array (lower triangle).
 * A LAPACK twin stands in the tests. */
#ifndef SDRS_CONTACT_SMALL_MATRIX_H
#define SDRS_CONTACT_SMALL_MATRIX_H

#include <math.h>

/* Relative floor of a pivot: below it a direction counts as undetermined and is left where it is. */
#define SMALL_PIVOT_FLOOR 1e-14

/* L of a symmetric positive semidefinite matrix; the diagonal of L is stored inverted. A pivot below the floor relative
 * to the matrix's own diagonal entry gets a zero inverse: solutions then have no component along it. */
static inline void small_cholesky(int n, double a[4][4]) {
  for (int j = 0; j < n; j++) {
    double own = a[j][j], d = own;
    for (int k = 0; k < j; k++) d -= a[j][k] * a[j][k];
    double inverse = d > SMALL_PIVOT_FLOOR * own ? 1.0 / sqrt(d) : 0.0;
    a[j][j] = inverse;
    for (int i = j + 1; i < n; i++) {
      double v = a[i][j];
      for (int k = 0; k < j; k++) v -= a[i][k] * a[j][k];
      a[i][j] = v * inverse;
    }
  }
}

/* L x = b in place, of the factor of small_cholesky (n x n); x (n). Along undetermined directions 0. */
static inline void small_forward(int n, const double a[4][4], double* x) {
  for (int i = 0; i < n; i++) {
    double v = x[i];
    for (int k = 0; k < i; k++) v -= a[i][k] * x[k];
    x[i] = v * a[i][i];
  }
}

/* L^T x = b in place, alike. */
static inline void small_backward(int n, const double a[4][4], double* x) {
  for (int i = n - 1; i >= 0; i--) {
    double v = x[i];
    for (int k = i + 1; k < n; k++) v -= a[k][i] * x[k];
    x[i] = v * a[i][i];
  }
}

#endif

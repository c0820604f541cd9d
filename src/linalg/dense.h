/* Dense systems by LAPACK, for use outside of a time step. Inside a step the functions of linalg.h are used instead:
 * they do not allocate, and eigenvectors of orders 3 to 24 take 0.37 to 0.52 of LAPACK's time.
 * scripts/check_elementary.py ensures that contact/, simulate/ and model/ do not include this header. Matrices are
 * row-major. Results do not depend on the processor. The functions are thread-safe. */
#ifndef SDRS_LINALG_DENSE_H
#define SDRS_LINALG_DENSE_H

#include <stdbool.h>

/* Returns the version of LAPACK, "3.11.0". Static for each thread. */
const char* dense_version(void);

/* Replaces a symmetric matrix a (n x n; only the lower triangle is read) by its eigenvectors, one per row, of length 1.
 * Sets values (n) to the eigenvalues, ascending. The largest component of each eigenvector is positive; if components
 * differ by rounding only, the first of them. Returns false if the lower triangle is not finite or the iteration does
 * not converge; a and values are then undefined. Allocates workspace. */
bool dense_eigen(int n, double* a, double* values);

/* Replaces the lower triangle of a (n x n) by L with L L^T = a. The upper triangle is neither read nor written. Returns
 * false if a is not positive definite or not finite; the lower triangle is then undefined. Does not allocate. */
bool dense_cholesky(int n, double* a);
/* Replaces x (n) by the solution y of L L^T y = x, with L (n x n) of dense_cholesky. Does not allocate. */
void dense_solve(int n, const double* l, double* x);

/* Replaces x (n) by the solution y of A y = x for a positive definite band matrix A. a (n x (band + 1)) holds A(i, j)
 * at [i * (band + 1) + j - i + band] for i - band <= j <= i; entries with j < 0 are not read. a is destroyed. Returns
 * false, with x unchanged, if A is not positive definite or not finite. Does not allocate. */
bool dense_solve_band(int n, int band, double* a, double* x);

/* Computes the minimum-norm least-squares solution of A x = b by singular values. a: A (rows x columns), rows, columns
 * >= 1 (asserted). b (max(rows, columns)): right-hand side in the first `rows` entries on entry, x in the first
 * `columns` on return. Singular values of at most `rank` times the largest count as zero. Returns the number of the
 * larger ones. Returns -1, with b unchanged, if a number is not finite or the iteration does not converge. Allocates
 * workspace. */
int dense_least_squares(int rows, int columns, const double* a, double* b, double rank);

#endif

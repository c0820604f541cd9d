/* Dense systems by LAPACK, outside of a step. A step has kernels of its own (linalg.h): they do not allocate, and
 * eigenvectors of orders 3 to 24 take them 0.37 to 0.52 of the time. scripts/check_elementary.py keeps this header out
 * of contact/, simulate/ and model/. Matrices are row-major. Results do not depend on the processor. The functions are
 * thread-safe. */
#ifndef SDRS_LINALG_DENSE_H
#define SDRS_LINALG_DENSE_H

#include <stdbool.h>

/* Version of LAPACK, "3.11.0". Static for each thread. */
const char* dense_version(void);

/* Replaces a symmetric matrix a (n x n; its lower triangle is read) by its eigenvectors, one per row, of length 1. Sets
 * values (n), ascending. The largest component of each eigenvector is positive; of components that differ by rounding,
 * the first. False: an entry that is read is not finite, or no convergence; a and values are then undefined. Allocates
 * workspace. */
bool dense_eigen(int n, double* a, double* values);

/* Replaces the lower triangle of a (n x n) by L, L L^T = a. The upper triangle is neither read nor written. False: a is
 * not positive definite or not finite; the lower triangle is then undefined. Does not allocate. */
bool dense_cholesky(int n, double* a);
/* Replaces x (n) by the solution y of L L^T y = x, with L (n x n) of dense_cholesky. Does not allocate. */
void dense_solve(int n, const double* l, double* x);

/* Replaces x (n) by the solution y of A y = x for a positive definite band matrix. a (n x (band + 1)): A(i, j) at
 * [i * (band + 1) + j - i + band], i - band <= j <= i; entries with j < 0 are not read; destroyed. False: A is not
 * positive definite or not finite; x is then unchanged. Does not allocate. */
bool dense_solve_band(int n, int band, double* a, double* x);

/* Minimum-norm least-squares solution by singular values: replaces b (max(rows, columns); b in its first `rows`) by the
 * shortest x (columns) among those of least |A x - b|. a: A (rows x columns). Singular values of at most `rank` times
 * the largest count as zero. Returns the number of others; -1: not finite, or no convergence; b is then unchanged.
 * rows, columns >= 1 (asserted). Allocates workspace. */
int dense_least_squares(int rows, int columns, const double* a, double* b, double rank);

#endif

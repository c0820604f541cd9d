/* Dense linear systems by LAPACK, for use outside of a time step. Matrices are row-major. Results do not depend on the
 * processor. The functions are thread-safe.
 * Inside a step the functions of linalg.h are used instead, because they do not allocate and are faster for orders 3 to
 * 24. scripts/check_elementary.py checks this. */
#ifndef SDRS_LINALG_DENSE_H
#define SDRS_LINALG_DENSE_H

#include <stdbool.h>

/* Returns the version of LAPACK, for example "3.11.0". The text is static for each thread. */
const char* dense_version(void);

/* Computes the eigenvalues and eigenvectors of a symmetric matrix. a (n x n; only the lower triangle is read) is
 * replaced by the unit eigenvectors, one per row. values (n): receives the eigenvalues, ascending. The component of
 * largest magnitude of each eigenvector is positive (the first one, if several are equal to rounding). Returns false if
 * the lower triangle is not finite or the iteration does not converge; the content of a and values is then unspecified.
 * Allocates workspace. */
bool dense_eigen(int n, double* a, double* values);

/* Computes the Cholesky factor L of a = L L^T (n x n) in the lower triangle of a. The upper triangle is neither read
 * nor written. Returns false if a is not positive definite or not finite; the content of the lower triangle is then
 * unspecified. Does not allocate. */
bool dense_cholesky(int n, double* a);
/* Solves L L^T y = x and replaces x (n) by y. l (n x n): result of dense_cholesky. Does not allocate. */
void dense_solve(int n, const double* l, double* x);

/* Solves A y = x for a positive definite band matrix A and replaces x (n) by y. a (n x (band + 1)): A(i, j) is at [i *
 * (band + 1) + j - i + band] for i - band <= j <= i. Entries with j < 0 are not read. a is destroyed. Returns false,
 * with x unchanged, if A is not positive definite or not finite. Does not allocate. */
bool dense_solve_band(int n, int band, double* a, double* x);

/* Computes the minimum-norm least-squares solution of A x = b from the singular values of A. a: A (rows x columns),
 * rows >= 1 and columns >= 1 (asserted). b (max(rows, columns)): b in the first `rows` entries on entry, x in the first
 * `columns` entries on return. Singular values of at most rank_tolerance times the largest one count as zero. Returns
 * the numerical rank of A. Returns -1, with b unchanged, if a number is not finite or the iteration does not converge.
 * Allocates workspace. */
int dense_least_squares(int rows, int columns, const double* a, double* b, double rank_tolerance);

#endif

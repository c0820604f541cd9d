/* Private to linalg/: minimum-norm solution of linearized equations that are violated at the point of linearization. */
#ifndef SDRS_LINALG_LEAST_CHANGE_H
#define SDRS_LINALG_LEAST_CHANGE_H

#include <stdbool.h>

/* Computes the minimum-norm least-squares solution A^+ x, where A^+ is the pseudoinverse of a positive semidefinite
 * matrix A of linearized equations. Equations that depend on each other only up to their violations count as redundant.
 * violation (order): error of each equation at the point of linearization, divided by the equation's reference size;
 * NULL means that all equations hold. Violations separate dependent equations, which gives A eigenvalues of the order
 * of the squared violation; such eigenvalues count as zero. matrix (order x order, full, rows `stride` apart,
 * preferably a multiple of four): destroyed, including the padding of each row. x (order): right-hand side on entry,
 * solution on return. scale (order): positive factors such that the entries scale[i] A(i, j) scale[j] are of order 1.
 * work: 2 * order doubles. *ambiguous is set to true if an equation was dropped, otherwise left unchanged; ambiguous
 * may be NULL. Returns false if a number is not finite. Does not allocate. */
bool symmetric_pseudo_solve_violated(int order, int stride, double* matrix, double* x, const double* scale,
                                     const double* violation, double* work, bool* ambiguous);

#endif

/* Minimum-norm solution of linearized equations that are violated at the point of linearization
 * (linalg/least_change.c). */
#ifndef SDRS_LINALG_LEAST_CHANGE_H
#define SDRS_LINALG_LEAST_CHANGE_H

#include <stdbool.h>

/* Computes the minimum-norm solution like symmetric_pseudo_solve (linalg.h), but decides for violated equations which
 * of them are dependent. gap (order): violation of each equation, divided by the equation's size; NULL means that all
 * equations hold. A violation separates dependent equations by an amount proportional to the violation. The matrix A
 * then has small eigenvalues of the order of the squared violation, which are dropped like rounding errors. matrix
 * (order x order, full, rows `stride` apart, preferably a multiple of four): destroyed, including the padding of each
 * row. x (order): right-hand side on entry, solution on return. scale (order): > 0. work: 2 order. *ambiguous is set to
 * true if an equation was dropped, otherwise left unchanged; ambiguous may be NULL. Returns false if a number is not
 * finite. Does not allocate. */
bool symmetric_pseudo_solve_violated(int order, int stride, double* matrix, double* x, const double* scale,
                                     const double* gap, double* work, bool* ambiguous);

#endif

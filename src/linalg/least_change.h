/* Minimum-norm solution of equations that are violated at the point of linearization (linalg/least_change.c). */
#ifndef SDRS_LINALG_LEAST_CHANGE_H
#define SDRS_LINALG_LEAST_CHANGE_H

#include <stdbool.h>

/* symmetric_least_change (linalg.h) for equations that are violated where A was computed. gap (order): violation of
 * each equation divided by its size; NULL: all hold. Equations that are dependent where they hold differ by an amount
 * proportional to the violation, which gives A eigenvalues of the order of its square; these are dropped like rounding
 * errors. matrix (order x order, full, rows `stride` apart, preferably a multiple of four): destroyed, including the
 * padding of each row; x (order): right-hand side, becomes the solution; scale (order): > 0; work: 2 order. *ambiguous:
 * set to true if an equation was dropped, else unchanged; may be NULL. False: not finite. Does not allocate. */
bool symmetric_least_change_open(int order, int stride, double* matrix, double* x, const double* scale,
                                 const double* gap, double* work, bool* ambiguous);

#endif

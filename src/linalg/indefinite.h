/* Private to linalg/: fronts (linalg/front.h) of symmetric matrices that need not be positive definite.
 * Among the pivots, Bunch and Kaufman's method: P App P^T = L D L^T with D of 1 x 1 and 2 x 2 blocks. Rows that are not
 * fully summed take no part in the choice, so entries may grow: solutions are refined (linalg/block_solver.c).
 * In the panel: L below the unit diagonal, D's diagonal, and W = Arp P^T L^-T = Lrp D in the rows behind the pivots. */
#ifndef SDRS_LINALG_INDEFINITE_H
#define SDRS_LINALG_INDEFINITE_H

#include <stdbool.h>

typedef struct {
  int* from;      /* (pivots) row k of P App P^T is row from[k] of App */
  double* beside; /* (pivots) D's entry (k + 1, k) of a 2 x 2 block that begins at k; 0: none. */
} IndefinitePivots;

/* Replaces pivots smaller than `tiny` > 0 by it: the matrix is singular to rounding, or nearly so. Returns their
 * number; -1: not finite. panel, update as for front_factor (update may be NULL when rows = pivots); p: (pivots) each,
 * written. No allocation. */
int indefinite_factor(int rows, int pivots, int stride, double tiny, double* panel, double* update, IndefinitePivots p);

/* x = (x1; x2) as for front_forward; `spare`: stride numbers.  x1 <- L^-1 P x1, x2 <- x2 - W D^-1 x1. */
void indefinite_forward(int pivots, int stride, const double* panel, IndefinitePivots p, double* x, double* spare);
/* x1 <- P^T L^-T D^-1 (x1 - W^T x2). x and spare (stride) as above. */
void indefinite_backward(int pivots, int stride, const double* panel, IndefinitePivots p, double* x, double* spare);

#endif

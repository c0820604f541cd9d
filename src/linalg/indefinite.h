/* Private to linalg/: fronts (linalg/front.h) of symmetric indefinite matrices. The pivots are factored by Bunch and
 * Kaufman's method: P App P^T = L D L^T with 1 x 1 and 2 x 2 blocks in D. Rows that are not fully summed take no part
 * in the choice of pivots, so entries may grow; solutions are therefore refined (linalg/block_indefinite.c). The panel
 * holds L below its unit diagonal, the diagonal of D, and W = Arp P^T L^-T = Lrp D in the rows after the pivots. */
#ifndef SDRS_LINALG_INDEFINITE_H
#define SDRS_LINALG_INDEFINITE_H

#include <stdbool.h>

typedef struct {
  int* from;      /* (pivots) row k of P App P^T is row from[k] of App */
  double* beside; /* (pivots) entry (k + 1, k) of D for a 2 x 2 block that begins at k; else 0 */
} IndefinitePivots;

/* Factors a front. Pivots smaller than `tiny` > 0 are replaced by +-tiny: the matrix is nearly singular. Returns their
 * number; -1: not finite. panel, update as for front_factor (update may be NULL if rows = pivots); p: (pivots) each,
 * written. Does not allocate. */
int indefinite_factor(int rows, int pivots, int stride, double tiny, double* panel, double* update, IndefinitePivots p);

/* x1 <- L^-1 P x1, x2 <- x2 - W D^-1 x1 for x = (x1; x2) as in front_forward; spare: `stride` doubles. */
void indefinite_forward(int pivots, int stride, const double* panel, IndefinitePivots p, double* x, double* spare);
/* x1 <- P^T L^-T D^-1 (x1 - W^T x2). x and spare (stride) as above. */
void indefinite_backward(int pivots, int stride, const double* panel, IndefinitePivots p, double* x, double* spare);

#endif

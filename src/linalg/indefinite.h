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

/* Factors a front. Pivots smaller than `tiny` > 0, which occur if the matrix is nearly singular, are replaced by
 * +-tiny. panel and update are as for front_factor; update may be NULL if rows = pivots. Writes the arrays of p,
 * (pivots) each. Returns the number of replaced pivots, or -1 if the matrix is not finite. Does not allocate. */
int indefinite_factor(int rows, int pivots, int stride, double tiny, double* panel, double* update, IndefinitePivots p);

/* Forward substitution: replaces x1 by L^-1 P x1, then x2 by x2 - W D^-1 x1, for x = (x1; x2) as in front_forward.
 * spare: workspace of `stride` doubles. */
void indefinite_forward(int pivots, int stride, const double* panel, IndefinitePivots p, double* x, double* spare);
/* Backward substitution: replaces x1 by P^T L^-T D^-1 (x1 - W^T x2). x and spare (stride) are as in
 * indefinite_forward. */
void indefinite_backward(int pivots, int stride, const double* panel, IndefinitePivots p, double* x, double* spare);

#endif

/* Private to linalg/: factorization of symmetric indefinite fronts (linalg/front.h) by the method of Bunch and Kaufman:
 * P App P^T = L D L^T. App is the block of the pivot rows and Arp the block below it. P is a permutation, L unit lower
 * triangular, and D has 1 x 1 and 2 x 2 blocks on its diagonal. Pivots are chosen among the rows of App only, so
 * entries can grow, and solutions need iterative refinement (linalg/block_indefinite.c). The panel holds L below its
 * unit diagonal and the diagonal of D. In the rows after the pivots the panel holds W = Arp P^T L^-T. */
#ifndef SDRS_LINALG_INDEFINITE_H
#define SDRS_LINALG_INDEFINITE_H

#include <stdbool.h>

typedef struct {
  int* permutation;     /* (size: pivots) row k of P App P^T is row permutation[k] of App */
  double* off_diagonal; /* (size: pivots) entry (k + 1, k) of D if a 2 x 2 block begins at k, otherwise 0 */
} IndefinitePivots;

/* Factors a front as L D L^T. panel and update: the two arrays of the front (front.h); update may be NULL if rows =
 * pivots. Pivots with a magnitude below `tiny` > 0, which occur if the matrix is nearly singular, are replaced by
 * +-tiny. Sets the arrays of p, (pivots) each. Returns the number of replaced pivots, or -1 if the matrix is not
 * finite. Does not allocate. */
int indefinite_factor(int rows, int pivots, int stride, double tiny, double* panel, double* update, IndefinitePivots p);

/* Forward substitution with the factors of indefinite_factor. x = (x1; x2) has the pivot rows x1 and the remaining rows
 * x2. Replaces x1 by L^-1 P x1, then x2 by x2 - W D^-1 x1. x has length `stride` and is zero after the rows of the
 * front. work: `stride` doubles. */
void indefinite_forward(int pivots, int stride, const double* panel, IndefinitePivots p, double* x, double* work);
/* Backward substitution with the factors of indefinite_factor. x = (x1; x2) has the pivot rows x1 and the remaining
 * rows x2. Replaces x1 by P^T L^-T D^-1 (x1 - W^T x2). x has length `stride` and is zero after the rows of the front.
 * work: `stride` doubles. */
void indefinite_backward(int pivots, int stride, const double* panel, IndefinitePivots p, double* x, double* work);

#endif

/* Private to linalg/: partial Cholesky factorization of small dense symmetric matrices ("fronts") and triangular
 * solves. Every entry is computed by the same sequence of roundings as in the textbook loops, independent of processor
 * and blocking: no library with processor-dependent code, no fused operations.
 *
 * A front of `rows` rows (p: pivots, r: the rest) is stored as lower triangles by columns, front_stride(rows) apart:
 *     panel   the first `pivots` columns, fully summed; become columns of L with inverted diagonal
 *     update  the other rows - pivots columns, with all their rows; becomes the Schur complement (NULL if none)
 * Unset entries and the padding rows up to the stride must be zero. Entries above the diagonal are undefined. 64-byte
 * aligned. */
#ifndef SDRS_LINALG_FRONT_H
#define SDRS_LINALG_FRONT_H

#include <stdbool.h>
#include <stddef.h>

enum {
  FRONT_PACKED = 96, /* least number of rows for which operands are packed */
  FRONT_PANEL = 48   /* pivots per panel */
};

/* Returns the stride of a front: rows rounded up to whole vectors, but not to a multiple of 4096 bytes, because such
 * columns evict each other from the cache. */
static inline int front_stride(int rows) {
  int stride = rows < FRONT_PACKED ? (rows + 3) & ~3 : (rows + 7) & ~7;
  return stride % 512 == 0 && stride > 0 ? stride + 8 : stride;
}

/* Returns the workspace of front_factor [doubles]. */
static inline size_t front_work(int rows) { return rows < FRONT_PACKED ? 0 : (size_t)front_stride(rows) * FRONT_PANEL; }

/* Factors a front partially by Cholesky's method: App = Lpp Lpp^T, Lrp = Arp Lpp^-T, and Arr becomes Arr - Lrp Lrp^T.
 * panel: pivots columns of length `stride`; update: rows - pivots columns of length `stride`; work: front_work(rows)
 * doubles, unused below FRONT_PACKED rows. Returns false if a pivot is not positive and finite; panel and update are
 * then undefined. Does not allocate. */
bool front_factor(int rows, int pivots, int stride, double* panel, double* update, double* work);

/* Forward substitution: replaces x1 by Lpp^-1 x1, then x2 by x2 - Lrp x1, for x = (x1; x2) of length `stride`, zero
 * after `rows`. panel: of front_factor, pivots columns of length `stride`. */
void front_forward(int pivots, int stride, const double* panel, double* x);
/* Backward substitution: replaces x1 by Lpp^-T (x1 - Lrp^T x2). x (stride) and panel (pivots columns of stride) are as
 * in front_forward. */
void front_backward(int pivots, int stride, const double* panel, double* x);
/* Forward and backward substitution of four right-hand sides for a front whose rows are all pivots. The results are
 * bit-identical to those of front_forward and front_backward. Unknown k of column c is x[at[k] * apart + c]; apart >=
 * 4; at (pivots). */
void front_solve_four(int pivots, int stride, const double* panel, const int* at, double* x, int apart);

#endif

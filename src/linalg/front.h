/* Private to linalg/: partial Cholesky factorization of small dense symmetric matrices ("fronts"), and triangular
 * solves. Results do not depend on processor or blocking, because every entry is computed by the same sequence of
 * roundings as in the textbook loops.
 *
 * A front has `rows` rows, of which the first `pivots` are eliminated. In the formulas below, index p means these rows,
 * and index r the remaining rows. The front is stored as two lower triangles by columns, front_stride(rows) apart:
 *     panel   the first `pivots` columns; become columns of L with inverted diagonal
 *     update  the other rows - pivots columns; become the Schur complement (NULL if there are none)
 * Unset entries and the padding rows up to the stride must be zero. Entries above the diagonal are undefined. Both
 * arrays are 64-byte aligned. */
#ifndef SDRS_LINALG_FRONT_H
#define SDRS_LINALG_FRONT_H

#include <stdbool.h>
#include <stddef.h>

enum {
  FRONT_PACKED = 96, /* smallest number of rows for which the factorization copies its operands to contiguous memory */
  FRONT_PANEL = 48   /* number of pivots per panel */
};

/* Returns the stride of a front: the number of rows rounded up to whole vectors. Strides of a multiple of 4096 bytes
 * are avoided, because such columns evict each other from the cache. */
static inline int front_stride(int rows) {
  int stride = rows < FRONT_PACKED ? (rows + 3) & ~3 : (rows + 7) & ~7;
  return stride % 512 == 0 && stride > 0 ? stride + 8 : stride;
}

/* Returns the size of the workspace of front_factor, in doubles. */
static inline size_t front_work(int rows) { return rows < FRONT_PACKED ? 0 : (size_t)front_stride(rows) * FRONT_PANEL; }

/* Factors a front partially by Cholesky's method: App = Lpp Lpp^T, Lrp = Arp Lpp^-T. Arr becomes Arr - Lrp Lrp^T.
 * panel: `pivots` columns of length `stride`. update: rows - pivots columns of length `stride`. work: front_work(rows)
 * doubles. Returns false if a pivot is not positive and finite; panel and update are then undefined. Does not
 * allocate. */
bool front_factor(int rows, int pivots, int stride, double* panel, double* update, double* work);

/* Forward substitution for x = (x1; x2): replaces x1 (pivots) by Lpp^-1 x1, then x2 by x2 - Lrp x1. x has length
 * `stride` and is zero after the rows of the front. panel: result of front_factor, `pivots` columns of length
 * `stride`. */
void front_forward(int pivots, int stride, const double* panel, double* x);
/* Backward substitution for x = (x1; x2): replaces x1 (pivots) by Lpp^-T (x1 - Lrp^T x2). x (stride) and panel (pivots
 * columns of length stride) are as in front_forward. */
void front_backward(int pivots, int stride, const double* panel, double* x);
/* Solves a factored system for four right-hand sides. All rows of the front must be pivots. The results are
 * bit-identical to the results of front_forward and front_backward. Unknown k of column c is x[at[k] * apart + c]. at
 * (pivots); apart >= 4. */
void front_solve_four(int pivots, int stride, const double* panel, const int* at, double* x, int apart);

#endif

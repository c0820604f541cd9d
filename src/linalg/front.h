/* Private to linalg/: partial Cholesky factorization of small dense symmetric matrices ("fronts"), and triangular
 * solves. Results depend neither on the processor nor on blocking, because every entry is computed by the same sequence
 * of roundings as in the textbook loops.
 *
 * The first `pivots` of the `rows` rows of a front are eliminated. In the formulas, index p denotes these rows and
 * index r the remaining rows. A front is stored as two lower triangles by columns, front_stride(rows) apart:
 *     panel   the first `pivots` columns; become columns of L with inverted diagonal
 *     update  the other rows - pivots columns; become the Schur complement (NULL if there are none)
 * Unset entries and the padding rows up to the stride must be zero. Entries above the diagonal are unspecified. Both
 * arrays are 64-byte aligned. */
#ifndef SDRS_LINALG_FRONT_H
#define SDRS_LINALG_FRONT_H

#include <stdbool.h>
#include <stddef.h>

enum {
  FRONT_MIN_PACKED_ROWS =
      96, /* smallest number of rows for which the factorization copies its operands to contiguous memory */
  FRONT_PANEL_PIVOTS = 48 /* number of pivots per panel */
};

/* Returns the stride of a front: the number of rows rounded up to whole SIMD vectors. Strides that are a multiple of
 * 4096 bytes are avoided, because their columns evict each other from the cache. */
static inline int front_stride(int rows) {
  int stride = rows < FRONT_MIN_PACKED_ROWS ? (rows + 3) & ~3 : (rows + 7) & ~7;
  return stride % 512 == 0 && stride > 0 ? stride + 8 : stride;
}

/* Returns the size of the workspace of front_factor, in doubles. */
static inline size_t front_work(int rows) {
  return rows < FRONT_MIN_PACKED_ROWS ? 0 : (size_t)front_stride(rows) * FRONT_PANEL_PIVOTS;
}

/* Factors a front A partially by Cholesky's method. Index p: pivot rows, index r: remaining rows. The pivot columns
 * become App = Lpp Lpp^T and Lrp = Arp Lpp^-T. The block Arr becomes the Schur complement Arr - Lrp Lrp^T. panel:
 * `pivots` columns of length `stride`. update: rows - pivots columns of length `stride`. work: front_work(rows)
 * doubles. Returns false if a pivot is not positive and finite; the content of panel and update is then unspecified.
 * Does not allocate. */
bool front_factor(int rows, int pivots, int stride, double* panel, double* update, double* work);

/* Forward substitution with the factor of front_factor. x = (x1; x2) has the pivot rows x1 and the remaining rows x2.
 * Replaces x1 (pivots) by Lpp^-1 x1, then x2 by x2 - Lrp x1. x has length `stride` and is zero after the rows of the
 * front. panel: factor from front_factor, `pivots` columns of length `stride`. */
void front_forward(int pivots, int stride, const double* panel, double* x);
/* Backward substitution with the factor of front_factor. x = (x1; x2) has the pivot rows x1 and the remaining rows x2.
 * Replaces x1 (pivots) by Lpp^-T (x1 - Lrp^T x2). x has length `stride` and is zero after the rows of the front. panel:
 * factor from front_factor, `pivots` columns of length `stride`. */
void front_backward(int pivots, int stride, const double* panel, double* x);
/* Solves a factored system for four right-hand sides. All rows of the front must be pivots. The results are
 * bit-identical to the results of front_forward and front_backward. Unknown k of column c is x[index[k] * stride_x +
 * c]. index (pivots); stride_x >= 4. */
void front_solve_four(int pivots, int stride, const double* panel, const int* index, double* x, int stride_x);

#endif

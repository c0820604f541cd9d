/* Private to linalg/: partial Cholesky factorisation of small dense symmetric matrices ("fronts") and triangular solves
 * with them. Every entry is computed by one sequence of roundings, the one of the textbook loops, whatever the
 * processor and however the loops are blocked: no library that chooses its code by the machine, no fused operation.
 *
 * A front of `rows` rows (p: the pivots, r: the rest) holds lower triangles by columns, `stride` = front_stride(rows)
 * apart:
 *   panel   the first `pivots` columns: fully summed, become columns of L, the diagonal inverted
 *   update  the other rows - pivots columns, with all their rows: becomes the Schur complement (NULL when none)
 * Both are zero where nothing was put, also in the rows of padding up to the stride. What lies above the diagonal has
 * no meaning. 64-byte aligned. */
#ifndef SDRS_LINALG_FRONT_H
#define SDRS_LINALG_FRONT_H

#include <stdbool.h>
#include <stddef.h>

enum {
  FRONT_PACKED = 96, /* from so many rows on, what is multiplied is copied together first */
  FRONT_PANEL = 48   /* so many pivots at a time */
};

/* Whole vectors, and not a multiple of a page: columns that lie 4096 bytes apart evict each other. */
static inline int front_stride(int rows) {
  int stride = rows < FRONT_PACKED ? (rows + 3) & ~3 : (rows + 7) & ~7;
  return stride % 512 == 0 && stride > 0 ? stride + 8 : stride;
}

/* Doubles of work that factoring needs. */
static inline size_t front_work(int rows) { return rows < FRONT_PACKED ? 0 : (size_t)front_stride(rows) * FRONT_PANEL; }

/* Lpp of App = Lpp Lpp^T, Lrp = Arp Lpp^-T, Arr - Lrp Lrp^T. false: a pivot is not positive and finite. Then both have
 * no meaning. work: front_work(rows) doubles, not read below FRONT_PACKED rows. No allocation. */
bool front_factor(int rows, int pivots, int stride, double* panel, double* update, double* work);

/* x = (x1; x2), of length `stride` with zeros behind rows:  x1 <- Lpp^-1 x1, x2 <- x2 - Lrp x1.
 * panel: of front_factor, pivots columns of length `stride`. Cannot fail, nor can front_backward. */
void front_forward(int pivots, int stride, const double* panel, double* x);
/* x1 <- Lpp^-T (x1 - Lrp^T x2). x (stride) and panel (pivots columns of stride) as above. */
void front_backward(int pivots, int stride, const double* panel, double* x);
/* Both, without other rows than pivots, of four right-hand sides beside each other: unknown k of column c at
 * x[at[k] * apart + c]; the bits of the two above. apart: at least 4. at: (pivots). Cannot fail. */
void front_solve_four(int pivots, int stride, const double* panel, const int* at, double* x, int apart);

#endif

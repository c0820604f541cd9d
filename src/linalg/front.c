#include "linalg/front.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <string.h>

/* Width of the SIMD registers in doubles. The width does not change results, because every lane is independent. */
#ifdef __AVX__
enum { LANES = 4 };
#else
enum { LANES = 2 };
#endif
typedef double Lanes __attribute__((vector_size(8 * LANES)));

enum { TILE = 4 }; /* number of columns per tile */

#define INLINE static inline __attribute__((always_inline))

/* Subtracts the matrix product a b^T from c (rows x width), where a and b have `depth` columns. The products are
 * subtracted one by one in ascending order. */
INLINE void subtract_product(int rows, int width, int depth, const double* a, const double* b, int stride, double* c) {
  Lanes sum[TILE][8 / LANES];
  for (int j = 0; j < width; j++)
    for (int i = 0; i < rows / LANES; i++) sum[j][i] = ((const Lanes*)(c + (long)j * stride))[i];
  for (int k = 0; k < depth; k++) {
    const Lanes* column = (const Lanes*)(a + (long)k * stride);
    const double* row = b + (long)k * stride;
    for (int j = 0; j < width; j++)
      for (int i = 0; i < rows / LANES; i++) sum[j][i] -= column[i] * row[j];
  }
  for (int j = 0; j < width; j++)
    for (int i = 0; i < rows / LANES; i++) ((Lanes*)(c + (long)j * stride))[i] = sum[j][i];
}

INLINE void subtract_product_rows(int width, int depth, int from, const double* panel, int column, int stride,
                                  double* c) {
  int r = from;
  for (; LANES > 2 && r + 8 <= stride; r += 8)
    subtract_product(8, width, depth, panel + r, panel + column, stride, c + r);
  for (; r < stride; r += 4) subtract_product(4, width, depth, panel + r, panel + column, stride, c + r);
}

/* Subtracts the contributions of the first `depth` pivot columns from `width` columns of the front, which begin at
 * `column`. */
static void update_tile(int width, int depth, const double* panel, int column, int stride, double* c) {
  int from = column & ~3; /* whole vectors are updated, including unused entries above the diagonal */
  if (depth == 0) return;
  switch (width) {
    case 1:
      subtract_product_rows(1, depth, from, panel, column, stride, c);
      break;
    case 2:
      subtract_product_rows(2, depth, from, panel, column, stride, c);
      break;
    case 3:
      subtract_product_rows(3, depth, from, panel, column, stride, c);
      break;
    default:
      subtract_product_rows(TILE, depth, from, panel, column, stride, c);
  }
}

/* Factors the columns of one tile after their updates by earlier pivots. Returns false if a pivot is not positive and
 * finite. */
static bool factor_tile(int width, int column, int stride, double* c) {
  int from = column & ~3;
  for (int i = 0; i < width; i++) {
    double* pivot_column = c + (long)i * stride;
    for (int k = 0; k < i; k++) {
      const double* other = c + (long)k * stride;
      double factor = other[column + i];
      for (int r = from; r < stride; r++) pivot_column[r] -= other[r] * factor;
    }
    double pivot = pivot_column[column + i];
    if (!(pivot > 0 && pivot <= DBL_MAX)) return false;
    double inverse = 1.0 / sqrt(pivot);
    for (int r = from; r < stride; r++) pivot_column[r] *= inverse;
    pivot_column[column + i] = inverse;
  }
  return true;
}

static double* column_at(int pivots, int stride, double* panel, double* update, int j) {
  return j < pivots ? panel + (long)j * stride : update + (long)(j - pivots) * stride;
}

static int tile_width(int j, int end) { return end - j < TILE ? end - j : TILE; }

/* Factors a front by the left-looking method: each tile is updated by all earlier pivots at once. */
static bool factor_left_looking(int rows, int pivots, int stride, double* panel, double* update) {
  for (int j = 0, width; j < rows; j += width) {
    width = tile_width(j, j < pivots ? pivots : rows);
    double* c = column_at(pivots, stride, panel, update, j);
    update_tile(width, j < pivots ? j : pivots, panel, j, stride, c);
    if (j < pivots && !factor_tile(width, j, stride, c)) return false;
  }
  return true;
}

/* Large fronts are factored panel by panel with packed operands. The products and their order are the same as for small
 * fronts. */

#ifdef __AVX512F__
enum { PACKED_LANES = 8 };
#else
enum { PACKED_LANES = LANES };
#endif
typedef double Wide __attribute__((vector_size(8 * PACKED_LANES)));
enum {
  ACCUMULATORS = 2,
  PACKED_ROWS = ACCUMULATORS * PACKED_LANES
}; /* independent accumulators; all of them fit into registers */

/* Copies the rows from index `from` on of `depth` columns to contiguous memory, in groups of eight rows. */
static void pack_rows(int from, int depth, int stride, const double* panel, double* packed) {
  for (int r = from; r < stride; r += 8)
    for (int k = 0; k < depth; k++, packed += 8) memcpy(packed, panel + (long)k * stride + r, sizeof(double[8]));
}

/* Subtracts the matrix product a b^T from c (sums * PACKED_LANES x 4). a is packed by pack_rows; b has rows of four. */
INLINE void subtract_packed_product(int sums, int depth, const double* a, const double (*b)[TILE], int stride,
                                    double* c) {
  Wide sum[TILE][ACCUMULATORS];
  for (int j = 0; j < TILE; j++)
    for (int i = 0; i < sums; i++) sum[j][i] = ((const Wide*)(c + (long)j * stride))[i];
  for (int k = 0; k < depth; k++)
    for (int i = 0; i < sums; i++) {
      int r = i * PACKED_LANES;
      Wide rows = *(const Wide*)(a + (long)(r / 8) * depth * 8 + k * 8 + r % 8);
      for (int j = 0; j < TILE; j++) sum[j][i] -= rows * b[k][j];
    }
  for (int j = 0; j < TILE; j++)
    for (int i = 0; i < sums; i++) ((Wide*)(c + (long)j * stride))[i] = sum[j][i];
}

/* Subtracts the contributions of a panel of pivot columns from four columns of the front. packed: rows of the panel,
 * from row `from` on. */
static void update_packed(int depth, const double* panel, const double* packed, int from, int column, int stride,
                          double* c) {
  double b[FRONT_PANEL_PIVOTS][TILE];
  for (int k = 0; k < depth; k++)
    for (int j = 0; j < TILE; j++) b[k][j] = panel[(long)k * stride + column + j];
  int r = column & ~7;
  for (; r + PACKED_ROWS <= stride; r += PACKED_ROWS)
    subtract_packed_product(ACCUMULATORS, depth, packed + (long)((r & ~7) - from) * depth + r % 8, b, stride, c + r);
  for (; r < stride; r += PACKED_LANES)
    subtract_packed_product(1, depth, packed + (long)((r & ~7) - from) * depth + r % 8, b, stride, c + r);
}

static bool factor_by_panels(int rows, int pivots, int stride, double* panel, double* update, double* work) {
  for (int first = 0, end; first < pivots; first = end) {
    end = pivots - first < FRONT_PANEL_PIVOTS ? pivots : first + FRONT_PANEL_PIVOTS;
    double* diagonal_panel = panel + (long)first * stride;
    for (int j = first, width; j < end; j += width) {
      width = tile_width(j, end);
      update_tile(width, j - first, diagonal_panel, j, stride, panel + (long)j * stride);
      if (!factor_tile(width, j, stride, panel + (long)j * stride)) return false;
    }
    int from = end & ~7;
    pack_rows(from, end - first, stride, diagonal_panel, work);
    for (int j = end, width; j < rows; j += width) {
      width = tile_width(j, j < pivots ? pivots : rows);
      double* c = column_at(pivots, stride, panel, update, j);
      if (width == TILE)
        update_packed(end - first, diagonal_panel, work, from, j, stride, c);
      else
        update_tile(width, end - first, diagonal_panel, j, stride, c);
    }
  }
  return true;
}

bool front_factor(int rows, int pivots, int stride, double* panel, double* update, double* work) {
  assert(pivots >= 0 && pivots <= rows && rows <= stride);
  return rows < FRONT_MIN_PACKED_ROWS ? factor_left_looking(rows, pivots, stride, panel, update)
                                      : factor_by_panels(rows, pivots, stride, panel, update, work);
}

/* Forward and backward substitution of one to four pivots with stride 4, unrolled. The results are bit-identical to the
 * results of the loops in front_forward and front_backward. */
static void forward_four(int pivots, const double* p, double* x) {
  double a = x[0] * p[0], b = x[1] - p[1] * a, c = x[2] - p[2] * a, d = x[3] - p[3] * a;
  if (pivots > 1) b = b * p[5], c -= p[6] * b, d -= p[7] * b;
  if (pivots > 2) c = c * p[10], d -= p[11] * c;
  if (pivots > 3) d = d * p[15];
  x[0] = a, x[1] = b, x[2] = c, x[3] = d;
}
static void backward_four(int pivots, const double* p, double* x) {
  if (pivots > 3) x[3] = x[3] * p[15];
  if (pivots > 2) x[2] = (x[2] - p[11] * x[3]) * p[10];
  if (pivots > 1) x[1] = (x[1] - (p[6] * x[2] + p[7] * x[3])) * p[5];
  x[0] = (x[0] - (p[1] * x[1] + p[2] * x[2] + p[3] * x[3])) * p[0];
}

void front_forward(int pivots, int stride, const double* panel, double* x) {
  assert(pivots >= 0 && pivots <= stride);
  if (stride == 4 && pivots > 0) {
    forward_four(pivots, panel, x);
    return;
  }
  for (int j = 0; j < pivots; j++) {
    const double* column = panel + (long)j * stride;
    double value = x[j] * column[j];
    x[j] = value;
    for (int r = j + 1; r < stride; r++) x[r] -= column[r] * value;
  }
}

/* Returns the sum of column[r] * x[r] for r from `from` to stride - 1, computed as four interleaved partial sums. */
static double dot(int from, int stride, const double* column, const double* x) {
  double leading = 0, sum[4] = {0, 0, 0, 0};
  int r = from;
  for (; r % 4 != 0; r++) leading += column[r] * x[r];
  for (; r < stride; r += 4)
    for (int i = 0; i < 4; i++) sum[i] += column[r + i] * x[r + i];
  return leading + ((sum[0] + sum[1]) + (sum[2] + sum[3]));
}

void front_backward(int pivots, int stride, const double* panel, double* x) {
  assert(pivots >= 0 && pivots <= stride);
  if (stride == 4 && pivots > 0) {
    backward_four(pivots, panel, x);
    return;
  }
  for (int j = pivots - 1; j >= 0; j--) {
    const double* column = panel + (long)j * stride;
    x[j] = (x[j] - dot(j + 1, stride, column, x)) * column[j];
  }
}

/* One entry of four right-hand sides, one SIMD lane per right-hand side. */
typedef double Four __attribute__((vector_size(32), aligned(8)));

/* Subtracts from four numbers the results of the function dot for four right-hand sides. Padding rows are skipped,
 * because they are zero. */
INLINE void subtract_dot(int from, int rows, const double* column, const int* index, const double* x, size_t stride_x,
                         Four* target) {
  Four leading = {0, 0, 0, 0};
  int r = from;
  for (; r % 4 != 0 && r < rows; r++) leading += *(const Four*)(x + (size_t)index[r] * stride_x) * column[r];
  if (r == rows) {
    *target -= leading;
    return;
  }
  Four sum[4] = {{0, 0, 0, 0}, {0, 0, 0, 0}, {0, 0, 0, 0}, {0, 0, 0, 0}};
  for (; r < rows; r++) sum[r % 4] += *(const Four*)(x + (size_t)index[r] * stride_x) * column[r];
  *target -= leading + ((sum[0] + sum[1]) + (sum[2] + sum[3]));
}

/* Forward and backward substitution of one to four pivots (forward_four, backward_four) for four right-hand sides. */
static void solve_four_by_four(int pivots, const double* p, const int* index, double* x, size_t stride_x) {
  Four v[4] = {{0, 0, 0, 0}, {0, 0, 0, 0}, {0, 0, 0, 0}, {0, 0, 0, 0}};
  for (int k = 0; k < pivots; k++) v[k] = *(const Four*)(x + (size_t)index[k] * stride_x);
  Four a = v[0] * p[0], b = v[1] - a * p[1], c = v[2] - a * p[2], d = v[3] - a * p[3];
  if (pivots > 1) b = b * p[5], c -= b * p[6], d -= b * p[7];
  if (pivots > 2) c = c * p[10], d -= c * p[11];
  if (pivots > 3) d = d * p[15] * p[15];
  if (pivots > 2) c = (c - d * p[11]) * p[10];
  if (pivots > 1) b = (b - (c * p[6] + d * p[7])) * p[5];
  v[0] = (a - (b * p[1] + c * p[2] + d * p[3])) * p[0], v[1] = b, v[2] = c, v[3] = d;
  for (int k = 0; k < pivots; k++) *(Four*)(x + (size_t)index[k] * stride_x) = v[k];
}

void front_solve_four(int pivots, int stride, const double* panel, const int* index, double* x, int stride_x) {
  assert(pivots >= 0 && pivots <= stride && stride_x >= 4);
  size_t next = (size_t)stride_x;
  if (stride == 4) {
    solve_four_by_four(pivots, panel, index, x, next);
    return;
  }
  for (int j = 0; j < pivots; j++) {
    const double* column = panel + (long)j * stride;
    Four* target = (Four*)(x + (size_t)index[j] * next);
    Four value = *target * column[j];
    *target = value;
    for (int r = j + 1; r < pivots; r++) *(Four*)(x + (size_t)index[r] * next) -= value * column[r];
  }
  for (int j = pivots - 1; j >= 0; j--) {
    const double* column = panel + (long)j * stride;
    Four* target = (Four*)(x + (size_t)index[j] * next);
    subtract_dot(j + 1, pivots, column, index, x, next, target);
    *target *= column[j];
  }
}

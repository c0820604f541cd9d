#include "linalg/front.h"

#include <float.h>
#include <math.h>

/* Four lanes on every machine: compilers split them where registers are narrower, with the same results. */
typedef double Four __attribute__((vector_size(32)));
typedef double FourLoose __attribute__((vector_size(32), aligned(8)));

enum { TILE = 4 }; /* columns at a time */

#define INLINE static inline __attribute__((always_inline))

/* c (4 fours x width) -= a b^T over `depth` columns of a and b; the products are subtracted one by one, in order. */
INLINE void subtract(int fours, int width, int depth, const double* a, const double* b, int stride, double* c) {
  Four sum[TILE][2];
  for (int j = 0; j < width; j++)
    for (int i = 0; i < fours; i++) sum[j][i] = ((const Four*)(c + (long)j * stride))[i];
  for (int k = 0; k < depth; k++) {
    const Four* column = (const Four*)(a + (long)k * stride);
    const double* row = b + (long)k * stride;
    for (int j = 0; j < width; j++)
      for (int i = 0; i < fours; i++) sum[j][i] -= column[i] * row[j];
  }
  for (int j = 0; j < width; j++)
    for (int i = 0; i < fours; i++) ((Four*)(c + (long)j * stride))[i] = sum[j][i];
}

INLINE void subtract_tile(int width, int depth, int from, const double* panel, int column, int stride, double* c) {
  int r = from;
  for (; r + 8 <= stride; r += 8) subtract(2, width, depth, panel + r, panel + column, stride, c + r);
  if (r < stride) subtract(1, width, depth, panel + r, panel + column, stride, c + r);
}

/* Columns [column, column + width) of the front, less what the first `depth` pivots take from them. */
static void update_tile(int width, int depth, const double* panel, int column, int stride, double* c) {
  int from = column & ~3; /* whole vectors: a few entries above the diagonal come along, and mean nothing */
  if (depth == 0) return;
  switch (width) {
    case 1:
      subtract_tile(1, depth, from, panel, column, stride, c);
      break;
    case 2:
      subtract_tile(2, depth, from, panel, column, stride, c);
      break;
    case 3:
      subtract_tile(3, depth, from, panel, column, stride, c);
      break;
    default:
      subtract_tile(TILE, depth, from, panel, column, stride, c);
  }
}

/* The columns of one tile by themselves. */
static bool factor_tile(int width, int column, int stride, double* c) {
  int from = column & ~3;
  for (int i = 0; i < width; i++) {
    double* own = c + (long)i * stride;
    for (int k = 0; k < i; k++) {
      const double* other = c + (long)k * stride;
      double factor = other[column + i];
      for (int r = from; r < stride; r++) own[r] -= other[r] * factor;
    }
    double pivot = own[column + i];
    if (!(pivot > 0 && pivot <= DBL_MAX)) return false;
    double inverse = 1.0 / sqrt(pivot);
    for (int r = from; r < stride; r++) own[r] *= inverse;
    own[column + i] = inverse;
  }
  return true;
}

bool front_factor(int rows, int pivots, int stride, double* panel, double* update) {
  for (int j = 0, width; j < rows; j += width) {
    int end = j < pivots ? pivots : rows;
    width = end - j < TILE ? end - j : TILE;
    double* c = j < pivots ? panel + (long)j * stride : update + (long)(j - pivots) * stride;
    update_tile(width, j < pivots ? j : pivots, panel, j, stride, c);
    if (j < pivots && !factor_tile(width, j, stride, c)) return false;
  }
  return true;
}

void front_forward(int pivots, int stride, const double* panel, double* x) {
  for (int j = 0; j < pivots; j++) {
    const double* column = panel + (long)j * stride;
    double value = x[j] * column[j];
    x[j] = value;
    for (int r = j + 1; r < stride; r++) x[r] -= column[r] * value;
  }
}

/* sum over r in [from, stride) of column[r] x[r], in four interleaved sums. */
static double dot(int from, int stride, const double* column, const double* x) {
  double head = 0;
  int r = from;
  for (; r % 4 != 0; r++) head += column[r] * x[r];
  Four sum = {0, 0, 0, 0};
  for (; r < stride; r += 4) sum += *(const Four*)(column + r) * *(const FourLoose*)(x + r);
  return head + ((sum[0] + sum[1]) + (sum[2] + sum[3]));
}

void front_backward(int pivots, int stride, const double* panel, double* x) {
  for (int j = pivots - 1; j >= 0; j--) {
    const double* column = panel + (long)j * stride;
    x[j] = (x[j] - dot(j + 1, stride, column, x)) * column[j];
  }
}

#include <lapacke.h>
#include <string.h>

#include "linalg/linalg.h"

enum { MAX = SYMMETRIC_PROJECT_MAX, WORK = 1 + 6 * MAX + 2 * MAX * MAX, INTEGER_WORK = 3 + 5 * MAX };

bool symmetric_project(int order, double* matrix) {
  double vectors[MAX * MAX], values[MAX], work[WORK];
  int integer_work[INTEGER_WORK], size = order * order;
  for (int k = 0; k < size; k++)
    if (!isfinite(matrix[k])) return false;
  memcpy(vectors, matrix, sizeof(double) * (size_t)size);
  if (LAPACKE_dsyevd_work(LAPACK_COL_MAJOR, 'V', 'L', order, vectors, order, values, work, WORK, integer_work,
                          INTEGER_WORK) != 0)
    return false;
  /* A + sum over negative eigenvalues of |value| v v^T: what is already right keeps its digits */
  for (int e = 0; e < order && values[e] < 0; e++)
    for (int i = 0; i < order; i++)
      for (int j = 0; j < order; j++)
        matrix[i * order + j] -= values[e] * vectors[e * order + i] * vectors[e * order + j];
  return true;
}

#include <assert.h>
#include <string.h>

#include "linalg/eigen.h"
#include "linalg/linalg.h"

enum { MAX = SYMMETRIC_PROJECT_MAX };

bool symmetric_project(int order, double* matrix) {
  assert(order >= 0 && order <= SYMMETRIC_PROJECT_MAX);
  double vectors[MAX * MAX], values[MAX], off[MAX];
  memcpy(vectors, matrix, sizeof(double) * (size_t)(order * order));
  if (!symmetric_eigen(order, order, vectors, values, off)) return false;
  /* adds |lambda| v v^T for each negative eigenvalue lambda with eigenvector v, so a matrix without negative
   * eigenvalues does not change */
  for (int e = 0; e < order && values[e] < 0; e++)
    for (int i = 0; i < order; i++)
      for (int j = 0; j < order; j++)
        matrix[i * order + j] -= values[e] * vectors[e * order + i] * vectors[e * order + j];
  return true;
}

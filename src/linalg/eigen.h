/* Private to linalg/: eigenvalues of small symmetric tridiagonal matrices. symmetric_eigen (linalg.h) also computes
 * eigenvectors. */
#ifndef SDRS_LINALG_EIGEN_H
#define SDRS_LINALG_EIGEN_H

#include "linalg/linalg.h"

/* Computes the eigenvalues of a symmetric tridiagonal matrix. diagonal (order): the diagonal on entry, the eigenvalues
 * in ascending order on return. off (order): off[1] to off[order - 1] are the off-diagonal entries; off[0] is ignored
 * but must be finite. off is destroyed. Returns false if an entry is not finite or the iteration does not converge.
 * Does not allocate. */
bool tridiagonal_eigenvalues(int order, double* diagonal, double* off);

#endif

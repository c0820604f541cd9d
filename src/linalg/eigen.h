/* Private to linalg/: eigenvalues of small symmetric tridiagonal matrices. */
#ifndef SDRS_LINALG_EIGEN_H
#define SDRS_LINALG_EIGEN_H

#include "linalg/linalg.h"

/* Computes the eigenvalues of a symmetric tridiagonal matrix. diagonal (order): the diagonal on entry, the eigenvalues
 * in ascending order on return. off_diagonal (order): entry k is the matrix entry (k - 1, k); entry 0 is ignored but
 * must be finite. off_diagonal is destroyed. Returns false if an entry is not finite or the iteration does not
 * converge. Does not allocate. */
bool tridiagonal_eigenvalues(int order, double* diagonal, double* off_diagonal);

#endif

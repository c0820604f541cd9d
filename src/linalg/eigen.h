/* Private to linalg/: eigenvalues of small symmetric tridiagonal matrices. With eigenvectors: symmetric_eigen
 * (linalg.h). */
#ifndef SDRS_LINALG_EIGEN_H
#define SDRS_LINALG_EIGEN_H

#include "linalg/linalg.h"

/* Eigenvalues of a symmetric tridiagonal matrix. diagonal (order): becomes the eigenvalues, ascending; off (order):
 * off[1..order-1] are the off-diagonal entries, off[0] is ignored but finite; destroyed. False: not finite, or no
 * convergence. Does not allocate. */
bool tridiagonal_eigenvalues(int order, double* diagonal, double* off);

#endif

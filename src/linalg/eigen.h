/* Private to linalg/: eigenvalues of small symmetric matrices; with eigenvectors it is symmetric_eigen (linalg.h). */
#ifndef SDRS_LINALG_EIGEN_H
#define SDRS_LINALG_EIGEN_H

#include "linalg/linalg.h"

/* Without vectors, of the symmetric tridiagonal matrix with `diagonal` (becomes the eigenvalues, ascending)
 * and off[1..order-1] beside it (off[0] is ignored; destroyed). */
bool tridiagonal_eigenvalues(int order, double* diagonal, double* off);

#endif

/* Private to linalg/: eigenvalues of small symmetric matrices; with eigenvectors it is symmetric_eigen (linalg.h). */
#ifndef SDRS_LINALG_EIGEN_H
#define SDRS_LINALG_EIGEN_H

#include "linalg/linalg.h"

/* Without vectors, of the symmetric tridiagonal matrix with `diagonal` (becomes the eigenvalues, ascending)
 * and off[1..order-1] beside it (off[0] is ignored; destroyed). diagonal, off: (order), all finite, off[0] too. false:
 * not finite, or no convergence. No allocation. */
bool tridiagonal_eigenvalues(int order, double* diagonal, double* off);

#endif

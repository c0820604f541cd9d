/* Private to linalg/: eigenvalues and eigenvectors of small symmetric matrices in one fixed order of roundings.
 * a: order x order, rows `stride` apart, both triangles; becomes the eigenvectors, one a row. values: `order`,
 * ascending. off: `order` numbers of work. false: not finite, or no convergence; a has no meaning then. */
#ifndef SDRS_LINALG_EIGEN_H
#define SDRS_LINALG_EIGEN_H

#include <stdbool.h>

bool symmetric_eigen(int order, int stride, double* a, double* values, double* off);

/* The same without vectors, of the symmetric tridiagonal matrix with `diagonal` (becomes the eigenvalues, ascending)
 * and off[1..order-1] beside it (off[0] is ignored; destroyed). */
bool tridiagonal_eigenvalues(int order, double* diagonal, double* off);

#endif

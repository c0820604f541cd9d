/* Private to simulate/: square systems whose equations may say the same twice. Nothing allocates. */
#ifndef SDRS_SIMULATE_RANK_FACTOR_H
#define SDRS_SIMULATE_RANK_FACTOR_H

/* P A Q = L U of a square matrix (order x order, row-major, replaced by the factor) by complete pivoting, up to where
 * no entry that is left exceeds `least`. Sets row and column (order): the equation and the unknown that stand at each
 * place. Returns the rank; -1: not finite. */
int rank_factor(int order, double* a, int* row, int* column, double least);
/* A solution of A y = x replaces x, zero in the unknowns without a pivot; equations without one are not looked at. x
 * (order); work: order. */
void rank_solve(int order, int rank, const double* a, const int* row, const int* column, double* x, double* work);
/* The same of A^T y = x: row and column change their parts. x (order); work: order. */
void rank_solve_transposed(int order, int rank, const double* a, const int* row, const int* column, double* x,
                           double* work);
/* Takes from x (order) what A makes nothing of, which leaves the smallest with the same A x. work: order (order - rank
 * + 1). */
void rank_shorten(int order, int rank, const double* a, const int* column, double* x, double* work);

#endif

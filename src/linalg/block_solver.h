/* Private to linalg/: data and functions shared by the files of the block solver: block_solver.c (pattern, entries, the
 * whole matrix), block_components.c (connected components), block_factor.c (Cholesky and spectral factors, all solves),
 * block_indefinite.c (indefinite components). */
#ifndef SDRS_LINALG_BLOCK_SOLVER_H
#define SDRS_LINALG_BLOCK_SOLVER_H

#include "linalg/indefinite.h"
#include "linalg/linalg.h"
#include "linalg/plan.h"

typedef enum { FACTOR_NONE, FACTOR_CHOLESKY, FACTOR_SPECTRAL, FACTOR_INDEFINITE } FactorKind;

typedef struct {
  int order;
  /* index of the component's first entry in BlockSolver.members and BlockSolver.component_couplings; the range ends at
   * the next component's first entry */
  int member_first, coupling_first;
  int unknown_first; /* index of the component's first entry in BlockSolver.unknowns and in other arrays in the order of
                        `unknowns` */
  size_t storage;    /* offset of the component's factor in BlockSolver.storage */
  int plan;          /* index of the component's symbolic factorization, or -1 for a dense component */
  double norm;       /* largest absolute row sum of the component's matrix; set only for FACTOR_INDEFINITE */
  FactorKind factor;
} Component;

struct BlockSolver {
  int block_count, order;
  int block_capacity; /* block count given to block_solver_create */
  int *size, *first;  /* for each block: number of rows, and index of the first unknown */
  /* sparsity pattern. A coupling is an off-diagonal block that may be nonzero; coupling k is block (row[k], column[k]).
   * The couplings of block row a have the indices row_first[a] to row_first[a + 1] - 1 */
  int coupling_count, coupling_capacity;
  int *row_first, *row, *column;
  size_t* offset; /* offset in `values` of every diagonal block, then of every coupling; blocks are row-major */
  double* values;
  size_t value_capacity;
  bool *filled, *component_filled; /* for each coupling. filled: block_solver_block was called since block_solver_clear.
                                    * component_filled: value of `filled` for which the components were found */
  bool has_components, became_dense; /* has_components: the components are known. became_dense: a sparse component was
                                        factored as a dense one */
  bool filled_checked;               /* true if `filled` is known to equal component_filled */
  /* components, in ascending order of their smallest blocks */
  int component_count;
  Component* components; /* components, and one more entry that marks the end (size: component_count + 1) */
  int* component;        /* component of each block */
  int *members, *component_couplings; /* numbers of all blocks and of the filled couplings, sorted by component */
  int* unknowns;                      /* numbers of the unknowns, sorted by component */
  int* local_first;                   /* first unknown of each block within its component */
  /* Symbolic factorizations of sparse components. A plan belongs to the smallest block of its component (plan_owner),
   * and is kept until another component needs its slot. */
  Plan* plans;
  int *plan_index, *plan_owner;
  int plan_count;
  /* Elimination orders kept by block_solver_keep_orders. rank: position of each block in the last computed order, or
   * -1. flops_ratio: flops of that order divided by the squared number of unknowns. local_rank: ranks in the order of
   * `members`. plan_version: value of order_version for which each plan was made, or -1 */
  bool keeps_orders;
  int64_t order_version, *plan_version;
  int *rank, *local_rank;
  double* flops_ratio;
  int *local, *local_size; /* local: index of each block within its component. local_size, local_couplings: block sizes
                            * and couplings by these indices */
  uint64_t* local_couplings;
  size_t* local_offset; /* PlanValues.offset of each component: first its blocks, then its couplings */
  double* storage;
  size_t storage_capacity;
  double *eigenvalues,
      *off_diagonal;      /* eigenvalues of FACTOR_SPECTRAL components, and workspace; in the order of `unknowns` */
  double* spectral;       /* right-hand side in the eigenvector basis, in the order of `unknowns` */
  int* pivot_permutation; /* pivots of FACTOR_INDEFINITE, in the order of `unknowns` */
  double *pivot_off_diagonal, *right_side,
      *residual; /* right-hand side and residual of the iterative refinement, in the order of `unknowns` */
};

/* Frees `array` and returns a zeroed array of `count` elements of `element` bytes, owned by the caller. */
void* block_reallocate_zeroed(void* array, size_t element, size_t count);
/* Finds the connected components of the filled blocks, and chooses the factorization method of each component. Does
 * nothing if the components are up to date. May allocate. */
void block_find_components(BlockSolver* s);

/* Returns the blocks of a component for plan_factor. The result borrows from the solver. */
PlanValues block_component_values(const BlockSolver* s, const Component* c);
/* Return the storage size of a dense component, in doubles. block_dense_size counts the matrix and two vectors;
 * block_dense_storage also counts the workspace of the factorization. */
size_t block_dense_size(const Component* c);
size_t block_dense_storage(const Component* c);
/* Writes the lower triangle of a component's matrix by columns to a dense matrix (stride x order). */
void block_fill_dense(const BlockSolver* s, const Component* c, double* matrix, int stride);
/* Computes the eigenvalues (s->eigenvalues) and eigenvectors (rows of the factor's storage) of a dense component.
 * Returns false if the component is not finite or the iteration does not converge. */
bool block_compute_eigenvectors(BlockSolver* s, Component* c);
/* Solves H y = b for the matrix H of a component that was factored as L D L^T, with iterative refinement. x: right-hand
 * side b on entry, solution y on return, in the order of the component's unknowns. Returns the backward error |b - H y|
 * / (|H| |y| + |b|). */
double block_solve_refined(BlockSolver* s, const Component* c, double* x);

#endif

/* Private to linalg/: data and functions shared by the files of the block solver.
 * block_solver.c: pattern, entries, operations on the whole matrix.
 * block_components.c: connected components.
 * block_factor.c: Cholesky and spectral factors, all solves.
 * block_indefinite.c: factors of indefinite components.
 * The caller of block_solver_create owns the solver, and the solver owns its arrays. */
#ifndef SDRS_LINALG_BLOCK_SOLVER_H
#define SDRS_LINALG_BLOCK_SOLVER_H

#include "linalg/indefinite.h"
#include "linalg/linalg.h"
#include "linalg/plan.h"

typedef enum { FACTOR_NONE, FACTOR_CHOLESKY, FACTOR_SPECTRAL, FACTOR_INDEFINITE } FactorKind;

typedef struct {
  int order;
  int member_first, link_first; /* index of the component's first entry in `members` and `links`; the next component's
                                   index ends the range */
  int unknown_first;            /* index of the component's first entry in `unknowns` and other lists in that order */
  size_t storage;               /* offset of the component's factor in BlockSolver.storage */
  int plan;                     /* index of the component's plan, or -1 for a dense component */
  double norm; /* largest sum of the magnitudes of a row of the component's matrix; set only for FACTOR_INDEFINITE */
  FactorKind factor;
} Component;

struct BlockSolver {
  int block_count, order;
  int block_capacity; /* block count given to block_solver_create */
  int *size, *first;  /* for each block: number of rows, and index of the first unknown */
  /* pattern: coupling k is block (row[k], column[k]). The couplings of row a are row_first[a] .. row_first[a + 1] -
   * 1 */
  int coupling_count, coupling_capacity;
  int *row_first, *row, *column;
  size_t* offset; /* offset into `values` of every diagonal block, then of every coupling; blocks are row-major */
  double* values;
  size_t value_capacity;
  bool *filled, *grouped_filled; /* for each coupling. filled: block_solver_block was called since block_solver_clear.
                                    grouped_filled: value of `filled` when the components were found */
  bool grouped, became_dense;    /* grouped: components are known. became_dense: a sparse component of this matrix was
                                    factored as a dense one */
  bool checked;                  /* true if `filled` was found equal to grouped_filled */
  /* components, in ascending order of their smallest blocks */
  int component_count;
  Component* components; /* (component_count + 1); the last entry marks the end */
  int* component;        /* index of the component of each block */
  int *members, *links;  /* blocks and filled couplings, grouped by component, ascending */
  int* unknowns;         /* unknowns, grouped by component */
  int* place;            /* for each block: its first unknown, counted within its component */
  /* Symbolic factorizations (plans) of sparse components. A plan is identified by the smallest block of its component,
   * and kept until another component needs its slot. */
  Plan* plans;
  int *plan_of, *plan_owner;
  int plan_count;
  /* Elimination orders that are reused after a call of block_solver_keep_orders. rank: position of each block in the
   * last computed order, or -1 if there is none. rate: flops per order^2 of that order. local_rank: ranks in the order
   * of `members`. plan_version: version of the ranks with which each plan was made, or -1 */
  bool holds;
  int64_t version, *plan_version;
  int *rank, *local_rank;
  double* rate;
  int *local, *local_size; /* local: index of each block within its component. local_size, local_couplings: sizes and
                              couplings by these indices */
  uint64_t* local_couplings;
  size_t* local_offset; /* PlanValues.offset of each component: first its members, then its links */
  /* factors */
  double* storage;
  size_t storage_capacity;
  double *eigenvalues, *off; /* in the order of `unknowns` */
  double* turned;            /* right-hand side in the basis of the eigenvectors, in the order of `unknowns` */
  int* pivot_from;           /* IndefinitePivots of FACTOR_INDEFINITE, in the order of `unknowns` */
  double *pivot_beside, *right,
      *rest; /* right, rest: right-hand side and residual of the iterative refinement, in the order of `unknowns` */
};

/* Frees `array` and returns a zeroed array of `count` elements of `element` bytes. The caller owns the new array. */
void* block_replaced(void* array, size_t element, size_t count);
/* Finds the connected components of the matrix from its filled blocks, and chooses the factorization method of each
 * component. Does nothing if the components are up to date. May allocate. */
void block_find_components(BlockSolver* s);

/* Returns the blocks of a component in the form that plan_factor reads. The result borrows from the solver. */
PlanValues block_values_of(const BlockSolver* s, const Component* c);
/* Return the storage size of a dense component, in doubles. block_dense_size counts the matrix and two vectors.
 * block_dense_storage also counts the workspace of the factorization. */
size_t block_dense_size(const Component* c);
size_t block_dense_storage(const Component* c);
/* Writes the blocks of a component as one dense matrix (stride x order): the lower triangle, by columns. */
void block_fill_dense(const BlockSolver* s, const Component* c, double* matrix, int stride);
/* Computes the eigenvalues and eigenvectors of a dense component. Writes the eigenvectors as rows to the storage of the
 * factor, and the eigenvalues to s->eigenvalues. Returns false if the component is not finite or the iteration does not
 * converge. */
bool block_decompose(BlockSolver* s, Component* c);
/* Replaces x by H^-1 x for a component factored as L D L^T, with iterative refinement. H: matrix of the component; x:
 * its local unknowns. Returns the backward error |b - H x| / (|H| |x| + |b|), where b is the right-hand side. */
double block_solve_refined(BlockSolver* s, const Component* c, double* x);

#endif

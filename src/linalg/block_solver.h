/* Private to linalg/: data and functions shared by the files of the block solver. block_solver.c: pattern, filling,
 * operations on the whole matrix. block_components.c: connected components. block_factor.c: Cholesky and spectral
 * factors, all solves. block_indefinite.c: factors of indefinite components. Ownership is as in linalg.h. */
#ifndef SDRS_LINALG_BLOCK_SOLVER_H
#define SDRS_LINALG_BLOCK_SOLVER_H

#include "linalg/indefinite.h"
#include "linalg/linalg.h"
#include "linalg/plan.h"

typedef enum { FACTOR_NONE, FACTOR_CHOLESKY, FACTOR_SPECTRAL, FACTOR_INDEFINITE } FactorKind;

typedef struct {
  int order;
  int member_first, link_first; /* first index into members and links, ascending within the component; the next
                                   component's index ends them */
  int unknown_first;            /* first index into the lists of unknowns by component */
  size_t storage;               /* offset of the component's factor in BlockSolver.storage */
  int plan;                     /* index of its plan; -1: dense */
  double norm;                  /* largest row sum of magnitudes, for FACTOR_INDEFINITE */
  FactorKind factor;
} Component;

struct BlockSolver {
  int block_count, order;
  int block_capacity; /* block_count of block_solver_create */
  int *size, *first;  /* rows and first unknown of every block */
  /* pattern: coupling k is block (row[k], column[k]); couplings of row a: row_first[a] .. row_first[a + 1] - 1 */
  int coupling_count, coupling_capacity;
  int *row_first, *row, *column;
  size_t* offset; /* offset into values of every diagonal block, then of every coupling; row-major */
  double* values;
  size_t value_capacity;
  bool *filled, *grouped_filled; /* per coupling. filled: requested since block_solver_clear; grouped_filled: `filled`
                                    when the components were found */
  bool grouped, became_dense;    /* grouped: components are known; became_dense: a sparse component was factored densely
                                    for this matrix */
  bool checked;                  /* the filled blocks equal grouped_filled */
  /* components, in the order of their smallest blocks */
  int component_count;
  Component* components; /* (component_count + 1); the last marks the end */
  int* component;        /* component of every block */
  int *members, *links;  /* blocks and filled couplings by component, ascending */
  int* unknowns;         /* unknowns ordered by component */
  int* place;            /* for every block: its first unknown within its component */
  /* plans, identified by the smallest block of their component; kept until another component needs the slot */
  Plan* plans;
  int *plan_of, *plan_owner;
  int plan_count;
  /* held orders. rank: per block, its position in the elimination order when that was searched, -1: none; rate: flops
   * per order^2 of that order; local_rank: ranks in the order of `members`; plan_version: per plan, the version of the
   * ranks it was made with, or -1 */
  bool holds;
  int64_t version, *plan_version;
  int *rank, *local_rank;
  double* rate;
  int *local, *local_size; /* index of a block within its component; sizes and couplings by these indices */
  uint64_t* local_couplings;
  size_t* local_offset; /* PlanValues.offset of each component: members first, then links */
  /* factors */
  double* storage;
  size_t storage_capacity;
  double *eigenvalues, *off; /* in the order of `unknowns` */
  double* turned;            /* a vector in the eigenvector basis, in the order of `unknowns` */
  int* pivot_from;           /* IndefinitePivots of FACTOR_INDEFINITE, in the order of `unknowns` */
  double *pivot_beside, *right,
      *rest; /* right, rest: right-hand side and residual of refinement, in the order of `unknowns` */
};

/* Frees `array` and returns a zeroed array of `count` elements of `element` bytes. Owned by the caller. */
void* block_replaced(void* array, size_t element, size_t count);
/* Finds the components of the filled blocks and chooses their methods, unless they are up to date. May allocate. */
void block_find_components(BlockSolver* s);

/* Returns the values of the blocks of a component in the form that its plan reads. Borrowed from the solver. */
PlanValues block_values_of(const BlockSolver* s, const Component* c);
/* block_dense_size returns the number of doubles of a dense component: matrix and two vectors. block_dense_storage adds
 * the workspace of the factorization. */
size_t block_dense_size(const Component* c);
size_t block_dense_storage(const Component* c);
/* Writes the blocks of a component as one dense matrix (stride x order), lower triangle by columns. */
void block_fill_dense(const BlockSolver* s, const Component* c, double* matrix, int stride);
/* Computes the eigenvalues and eigenvectors of a dense component. Writes the eigenvectors as rows in place of the
 * factor and the eigenvalues to s->eigenvalues. Returns false if the component is not finite or the iteration does not
 * converge. */
bool block_decompose(BlockSolver* s, Component* c);
/* Replaces x by H^-1 x by L D L^T with iterative refinement, in the component's local unknowns. Returns the backward
 * error
 * b - H x| / (|H| |x| + |b|), where b is the right-hand side. */
double block_solve_refined(BlockSolver* s, const Component* c, double* x);

#endif

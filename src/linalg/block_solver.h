/* Private to linalg/: what the files of the block solver share. Patterns, filling and the whole matrix stand in
 * block_solver.c, connected components in block_components.c, their Cholesky and spectral factors and all solutions
 * in block_factor.c, factors of what is not positive definite in block_indefinite.c. Owned as linalg.h says. */
#ifndef SDRS_LINALG_BLOCK_SOLVER_H
#define SDRS_LINALG_BLOCK_SOLVER_H

#include "linalg/indefinite.h"
#include "linalg/linalg.h"
#include "linalg/plan.h"

typedef enum { FACTOR_NONE, FACTOR_CHOLESKY, FACTOR_SPECTRAL, FACTOR_INDEFINITE } FactorKind;

typedef struct {
  int order;
  int member_first, link_first; /* into members and links, ascending within the component; the next one's end them */
  int unknown_first;            /* into the lists of all unknowns by component */
  size_t storage;               /* of its factor */
  int plan;                     /* -1: one dense front */
  double norm;                  /* largest sum of magnitudes of a row, of FACTOR_INDEFINITE */
  FactorKind factor;
} Component;

struct BlockSolver {
  int block_count, order;
  int block_capacity; /* of block_solver_create */
  int *size, *first;  /* of every block */
  /* the pattern: coupling k is block (row[k], column[k]); those of row a are row_first[a] .. row_first[a + 1] */
  int coupling_count, coupling_capacity;
  int *row_first, *row, *column;
  size_t* offset; /* of every diagonal block, then of every coupling, into values; row-major */
  double* values;
  size_t value_capacity;
  bool *filled, *grouped_filled; /* per coupling: asked for since block_solver_clear; when the components were found */
  bool grouped, became_dense;    /* became_dense: a component has left its plan for this matrix alone */
  bool checked;                  /* the filled blocks were compared with the grouping, and have not changed since */
  /* components, in the order of their smallest blocks */
  int component_count;
  Component* components; /* one more than there are */
  int* component;        /* of every block */
  int *members, *links;  /* blocks and filled couplings by component, ascending */
  int* unknowns;         /* by component */
  int* place;            /* of every block: its first unknown within its component */
  /* plans of components, by the component's smallest block, kept until another component needs the room */
  Plan* plans;
  int *plan_of, *plan_owner;
  int plan_count;
  /* held orders: place of every block in the order that its component had when it was looked for, -1: none; flops per
   * order^2 of that; by place in `members`, the places; per plan, of which version of the places it is, or -1 */
  bool holds;
  int64_t version, *plan_version;
  int *rank, *local_rank;
  double* rate;
  int *local, *local_size; /* number of a block within its component; sizes and couplings by those numbers */
  uint64_t* local_couplings;
  size_t* local_offset; /* per component, what PlanValues wants: members first, then links */
  /* factors */
  double* storage;
  size_t storage_capacity;
  double *eigenvalues, *off;           /* by place in `unknowns` */
  double* turned;                      /* a vector in eigenvectors' coordinates, by place */
  int* pivot_from;                     /* of FACTOR_INDEFINITE (IndefinitePivots), by place */
  double *pivot_beside, *right, *rest; /* right-hand side and residual of refinement, by place */
};

/* Room for `count` elements instead of what the array had, which is freed: zeroed, owned by the caller. */
void* block_replaced(void* array, size_t element, size_t count);
/* Groups what is filled into components and chooses their methods, unless it is grouped already. Allocates for what
 * there was no room for. */
void block_find_components(BlockSolver* s);

/* Values of the blocks of a component that is factored by its plan. Borrowed. */
PlanValues block_values_of(const BlockSolver* s, const Component* c);
/* Numbers that one dense front of the component takes: matrix and two vectors; with the work of its factorisation
 * behind them. */
size_t block_dense_size(const Component* c);
size_t block_dense_storage(const Component* c);
/* All of a component's blocks as one matrix, lower triangle by columns. matrix: stride x order. */
void block_fill_dense(const BlockSolver* s, const Component* c, double* matrix, int stride);
/* Eigenvectors, one a row, in place of the factor, eigenvalues by place. false: not finite. */
bool block_decompose(BlockSolver* s, Component* c);
/* x <- H^-1 x by a factor L D L^T with refinement, x by the component's own unknowns; returns the backward error
 * |b - H x| / (|H| |x| + |b|). */
double block_solve_refined(BlockSolver* s, const Component* c, double* x);

#endif

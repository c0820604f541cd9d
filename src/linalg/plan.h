/* Private to linalg/: the multifrontal method for sparse symmetric systems. A Plan is the symbolic factorization of a
 * connected symmetric block matrix: the elimination order and the dense fronts (linalg/front.h). It depends on the
 * sparsity pattern only, so equal patterns are solved with equal roundings.
 *
 * The position of an unknown is its index in the elimination order. A front eliminates `pivots` consecutive unknowns.
 * Its Schur complement is added to its parent front. */
#ifndef SDRS_LINALG_PLAN_H
#define SDRS_LINALG_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "linalg/indefinite.h"
#include "linalg/ordering.h"

typedef struct {
  int first, pivots; /* the front eliminates the unknowns at the positions first ... first + pivots - 1 */
  int rows, stride;  /* number of rows, and distance of columns in the storage (front_stride) */
  int row_first; /* index of the front's first entry in Plan.rows, which holds the position of each row of the front in
                    the elimination order */
  int map_first; /* index of the front's first entry in Plan.map, which holds for each row after the pivots its row in
                    the parent front */
  int parent;    /* index of the parent front, or -1 if there is none */
  int last_child, previous_sibling; /* index of the last child; index of the preceding child of the same parent; -1 if
                                       there is none */
  int entry_first, entry_count;     /* entries of the front in Plan.entries */
  size_t panel_offset;              /* offset of the front's panel in the storage of the factor */
  size_t schur_offset; /* offset of the front's Schur complement on the stack; its order and stride are rows - pivots */
} Front;

/* Position of a block of the matrix in a front. Entry (r, c) of the block goes to row + r, column + c of the front; if
 * transposed, to row + c, column + r. Only one triangle of a diagonal block is used. */
typedef struct {
  int block; /* number of a diagonal block, or block_count plus the number of a coupling */
  int row, column;
  bool transposed;
} FrontEntry;

/* Sparsity pattern of one component. Blocks are numbered within the component: diagonal blocks first, then off-diagonal
 * blocks (couplings). Blocks are row-major; a coupling (a, b), a < b, has the rows of a. */
typedef struct {
  int block_count, coupling_count;
  const int* size;           /* number of rows of each block */
  const uint64_t* couplings; /* a << 32 | b with a < b, sorted */
} PlanPattern;

typedef struct {
  void* data;
  size_t capacity;
} GrowableArray;

typedef struct {
  int block_count, coupling_count, order;
  GrowableArray size, couplings;  /* copy of the sparsity pattern; int and uint64_t */
  GrowableArray unknown;          /* unknown at each position, numbered within the component; int (size: order) */
  GrowableArray fronts;           /* Front */
  GrowableArray rows, map;        /* int */
  GrowableArray entries;          /* FrontEntry */
  GrowableArray work[8], columns; /* workspace of the analysis */
  GrowableArray ordering;         /* int, workspace of the ordering */
  GrowableArray last_couplings, last_order; /* couplings (uint64_t) and result (int) of the last computed ordering */
  int last_block_count, last_coupling_count;
  int front_count;
  size_t panels, update, stack,
      max_stride; /* sizes of the sections of the storage [doubles]; max_stride: stride of the largest front */
  double flops;
} Plan;

/* Frees the arrays of a plan and zeroes the plan. Accepts NULL and a zeroed plan. */
void plan_free(Plan* plan);
/* Returns true if the plan was made for exactly these block sizes and couplings. */
bool plan_matches(const Plan* plan, const PlanPattern* pattern);
/* Computes the symbolic factorization of a sparsity pattern, which is copied. rank (block_count): blocks are eliminated
 * in ascending rank, and blocks of equal rank in ascending number. If rank is NULL, a fill-reducing order is computed.
 * A Plan must be zeroed before the first call. The caller frees the plan with plan_free. May allocate. */
void plan_make(Plan* plan, const PlanPattern* pattern, const int* rank);
/* Returns the blocks in elimination order (block_count), borrowed until the next plan_make. */
const int* plan_order(const Plan* plan);
/* Returns the size of the storage for factoring and solving, in doubles. The caller owns the storage and passes it to
 * plan_factor and plan_solve. */
size_t plan_storage(const Plan* plan);

/* Values of the matrix: block k, numbered as FrontEntry.block, begins at values + offset[k]. */
typedef struct {
  const double* values;
  const size_t* offset;
} PlanValues;
/* Computes the Cholesky factor of a matrix. If relative_shift > 0, each diagonal entry d is first raised by
 * relative_shift * (|d| + 1e-6 * largest diagonal entry). storage: plan_storage doubles; receives the factor. Returns
 * false if the matrix is not positive definite or not finite. Does not allocate. */
bool plan_factor(const Plan* plan, PlanValues matrix, double relative_shift, double* storage);
/* Solves a factored system. x (order), numbered within the component: right-hand side on entry, solution on return.
 * pivots: result of plan_factor_indefinite, or NULL after plan_factor. storage: storage of the factorization, which
 * contains the workspace, so only one solve may run at a time. */
void plan_solve(const Plan* plan, double* storage, const IndefinitePivots* pivots, double* x);
/* Computes the factor L D L^T of an indefinite matrix, with pivots chosen within each front. Pivots smaller than `tiny`
 * are replaced by +-tiny. storage: plan_storage doubles; receives the factor. pivots: arrays of `order` entries each,
 * indexed by position; owned by the caller. Returns the number of replaced pivots, or -1 if the matrix is not finite.
 * Does not allocate. */
int plan_factor_indefinite(const Plan* plan, PlanValues matrix, double tiny, double* storage,
                           const IndefinitePivots* pivots);

#endif

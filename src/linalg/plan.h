/* Private to linalg/: the multifrontal method. A plan is the symbolic factorization of a connected symmetric block
 * matrix: the elimination order and the dense fronts (linalg/front.h). It depends on the pattern only, so equal
 * patterns are solved with equal roundings.
 *
 * "Places" are the positions of unknowns in the elimination order. A front eliminates `pivots` consecutive places and
 * passes its Schur complement to its parent front, which adds it. */
#ifndef SDRS_LINALG_PLAN_H
#define SDRS_LINALG_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "linalg/indefinite.h"
#include "linalg/ordering.h"

typedef struct {
  int first, pivots, rows, stride;
  int row_first;   /* first index into plan.rows, which has the place of each row of the front */
  int map_first;   /* first index into plan.map: row of the parent's front for each of the rows - pivots rows */
  int parent;      /* -1: none */
  int child, next; /* last child, and the previous child of the same parent; -1: none */
  int entry_first, entry_count;
  size_t panel;   /* offset into the storage of the factor */
  size_t waiting; /* offset of its Schur complement on the stack; order and stride rows - pivots */
} Front;

/* A block of the matrix and its target: entry (r, c) goes to row + r, column + c of the front; flipped: to row + c,
 * column + r. Of a diagonal block one triangle is used. */
typedef struct {
  int block; /* below block_count: a diagonal block; else coupling number block - block_count */
  int row, column;
  bool flipped;
} FrontEntry;

/* Pattern of one component in local numbers: diagonal blocks, then couplings. Blocks are row-major with the rows of the
 * lower number. */
typedef struct {
  int block_count, coupling_count;
  const int* size;           /* rows of every block */
  const uint64_t* couplings; /* a << 32 | b with a < b, sorted */
} PlanPattern;

typedef struct {
  void* at;
  size_t capacity;
} Room;

typedef struct {
  int block_count, coupling_count, order;
  Room size, couplings;  /* the pattern of the plan: int, uint64_t */
  Room unknown;          /* int (order): local unknown at every place */
  Room fronts;           /* Front */
  Room rows, map;        /* int */
  Room entries;          /* FrontEntry */
  Room work[8], columns; /* workspace of the analysis */
  Room ordering;         /* int, workspace of the ordering */
  Room base, base_order; /* the pattern ordered last, and its order: uint64_t, int */
  int base_blocks, base_couplings;
  int front_count;
  size_t panels, update, stack,
      longest; /* sizes of the parts of the storage [doubles]; longest: stride of the largest front */
  double flops;
} Plan;

/* Frees the arrays of a plan and zeroes it. Accepts NULL and a zeroed plan. */
void plan_free(Plan* plan);
/* Returns true if the plan was made for exactly this pattern (sizes and couplings). */
bool plan_fits(const Plan* plan, const PlanPattern* pattern);
/* Makes the plan of a pattern, which is copied. rank (block_count): blocks are eliminated in ascending rank, equal
 * ranks by the lower number; if NULL a fill-reducing order is found. A Plan starts zeroed; the caller frees it with
 * plan_free. May allocate. */
void plan_make(Plan* plan, const PlanPattern* pattern, const int* rank);
/* Returns the blocks in elimination order (block_count). Owned by the plan, valid until the next plan_make. */
const int* plan_order(const Plan* plan);
/* Returns the size of `storage` for factoring and solving [doubles]. The caller owns the storage and passes the one of
 * the factorization to plan_solve. */
size_t plan_storage(const Plan* plan);

/* Values of the matrix: block k (as in FrontEntry) begins at values + offset[k]. */
typedef struct {
  const double* values;
  const size_t* offset;
} PlanValues;
/* Computes the Cholesky factor. If relative_shift > 0, each diagonal entry d is first raised by relative_shift (|d| +
 * 1e-6 largest diagonal). storage: plan_storage doubles, receives the factor. Returns false if the matrix is not
 * positive definite or not finite. Does not allocate. */
bool plan_factor(const Plan* plan, PlanValues matrix, double relative_shift, double* storage);
/* Solves for x (order), in local unknowns: right-hand side on entry, solution on return. pivots: of
 * plan_factor_indefinite, or NULL after plan_factor. storage: of the factorization. The storage contains the workspace,
 * so only one solve may run at a time. */
void plan_solve(const Plan* plan, double* storage, const IndefinitePivots* pivots, double* x);
/* Computes the factor L D L^T with pivots chosen within each front. storage: plan_storage doubles, receives the factor;
 * pivots: (order) each, by place, owned by the caller. Returns the number of pivots replaced by `tiny`, or -1 if the
 * matrix is not finite. Does not allocate. */
int plan_factor_indefinite(const Plan* plan, PlanValues matrix, double tiny, double* storage,
                           const IndefinitePivots* pivots);

#endif

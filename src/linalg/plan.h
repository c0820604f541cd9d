/* Private to linalg/: the multifrontal method. A plan says, for a connected symmetric matrix of dense blocks, in which
 * order its unknowns are eliminated and in which dense fronts (linalg/front.h). It depends on the pattern only, so that
 * equal patterns are solved by equal roundings, whatever came before.
 *
 * "Places" are unknowns in the order of elimination. A front eliminates `pivots` places that follow each other and
 * hands its Schur complement to its parent, which adds it up. */
#ifndef SDRS_LINALG_PLAN_H
#define SDRS_LINALG_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "linalg/indefinite.h"
#include "linalg/ordering.h"

typedef struct {
  int first, pivots, rows, stride;
  int row_first;   /* into plan.rows: place of every row */
  int map_first;   /* into plan.map: for rows - pivots rows, which row of the parent's front */
  int parent;      /* -1: none */
  int child, next; /* its last child, and the child of the same parent before it; -1: none */
  int entry_first, entry_count;
  size_t panel;   /* into the storage of the factor */
  size_t waiting; /* its Schur complement on the stack; order and stride rows - pivots */
} Front;

/* A block of the matrix and where it goes: its entry (r, c) to row + r, column + c of the front; flipped: to row + c,
 * column + r. Of a diagonal block only one triangle counts. */
typedef struct {
  int block; /* below block_count: a diagonal one; else the coupling block - block_count */
  int row, column;
  bool flipped;
} FrontEntry;

/* Blocks of one component by local numbers: diagonal ones, then couplings. Row-major, rows of the lower number. */
typedef struct {
  int block_count, coupling_count;
  const int* size;           /* of every block's diagonal one */
  const uint64_t* couplings; /* a << 32 | b with a < b, sorted */
} PlanPattern;

typedef struct {
  void* at;
  size_t capacity;
} Room;

typedef struct {
  int block_count, coupling_count, order;
  Room size, couplings;  /* the pattern it is for: int, uint64_t */
  Room unknown;          /* int (order): local unknown at every place */
  Room fronts;           /* Front */
  Room rows, map;        /* int */
  Room entries;          /* FrontEntry */
  Room work[8], columns; /* of the analysis */
  Room ordering;         /* int, work of looking for an order */
  Room base, base_order; /* the pattern whose order was looked for last, and that order: uint64_t, int */
  int base_blocks, base_couplings;
  int front_count;
  size_t panels, update, stack, longest; /* sizes of what factoring needs, doubles; longest: rows of a front */
  double flops;
} Plan;

/* Frees what a plan owns and leaves a zeroed one; accepts NULL and a zeroed one. */
void plan_free(Plan* plan);
/* Is it the plan of exactly this pattern: the same sizes and couplings? */
bool plan_fits(const Plan* plan, const PlanPattern* pattern);
/* Allocates where its arrays are too short. rank: blocks are eliminated in its ascending order, lower numbers first
 * among equals; NULL: an order is looked for. rank: (block_count). The pattern is copied. A Plan starts zeroed and is
 * freed by plan_free. */
void plan_make(Plan* plan, const PlanPattern* pattern, const int* rank);
/* The blocks in the order of elimination (block_count); valid until the next plan is made of it. Owned by the plan. */
const int* plan_order(const Plan* plan);
/* Doubles of `storage` that factoring and solving need, owned by the caller; solving uses the same after factoring. */
size_t plan_storage(const Plan* plan);

/* Values of the matrix: block k (as in FrontEntry) is at values + offset[k]. relative_shift > 0: the diagonal is raised
 * by it times (|diagonal| + 1e-6 largest diagonal). false: not positive definite. */
typedef struct {
  const double* values;
  const size_t* offset;
} PlanValues;
/* Cholesky. storage: plan_storage doubles, becomes the factor; false: not positive definite, or not finite. No
 * allocation. */
bool plan_factor(const Plan* plan, PlanValues matrix, double relative_shift, double* storage);
/* x by local unknowns. pivots: those of plan_factor_indefinite, or NULL after plan_factor. x: (order), the right-hand
 * side, becomes the solution. storage: of the factoring; its work is overwritten, so one solve at a time. */
void plan_solve(const Plan* plan, double* storage, const IndefinitePivots* pivots, double* x);
/* L D L^T, pivots (of all places) chosen within each front. Returns how many were replaced by `tiny`; -1: not finite.
 * storage: plan_storage doubles; pivots: (order) each, owned by the caller. No allocation. */
int plan_factor_indefinite(const Plan* plan, PlanValues matrix, double tiny, double* storage,
                           const IndefinitePivots* pivots);

#endif

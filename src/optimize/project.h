/* Private to optimize/: nearest points of a polyhedron, by a dual active-set method. docs/derivations/update.md */
#ifndef SDRS_OPTIMIZE_PROJECT_H
#define SDRS_OPTIMIZE_PROJECT_H

#include "base/base.h"

/* Feasible set: low <= x <= high, and rows  low_row <= A x <= high_row (sparse by rows). */
typedef struct {
  int count;
  const int* block; /* of every variable: 0 = design, 1 = control (initial state too) */
  double *low, *high;
  int row_count;
  int* row_first; /* (row_count + 1) */
  int* column;
  double* coefficient;
  double *row_low, *row_high;
} FeasibleSet;

/* low <= x <= high (count) and row_low <= A x <= row_high (row_count), A the rows of the set a projector was made for.
 * Infinite limits are none; equal ones are equations. */
typedef struct {
  const double *low, *high, *row_low, *row_high;
} ProjectLimits;

/* The rows of A by the variables that stand in them; repeated ones are summed. Everything else about a variable is its
 * bounds. */
typedef struct {
  int row_count, column_count;
  int* variable; /* of a column, ascending (column_count) */
  int* first;    /* (row_count + 1) */
  int* column;   /* (first[row_count]) */
  double* value; /* (first[row_count]) */
} ProjectRows;

typedef struct Projector Projector;

/* All memory is taken here; the set's rows are copied. Never NULL; freed with projector_destroy. The set may go at
 * once. */
Projector* projector_create(const FeasibleSet* set);
/* Frees it and all that it owns; NULL is accepted. */
void projector_destroy(Projector* projector);
/* The rows by the variables that stand in them, borrowed from the projector. */
const ProjectRows* projector_rows(const Projector* projector);

/* x becomes the point within the limits that minimises  sum_i ((x_i - x_given,i) / scale_i)^2              (O1)
 * scale[count] > 0, in units of the variables. Bounds hold exactly, rows to 1e-12 of the sum of the sizes of their
 * terms, at x or where it was given. false: there is no such point (empty to 1e-9), or x is not finite; then x is
 * unchanged. No allocation. Not for two threads at a time. x[count] in the units of the variables, in place; limits
 * and scale are borrowed for the call. */
bool projector_nearest(Projector* projector, const ProjectLimits* limits, const double* scale, double* x);
/* The part of a direction along the face that the last nearest point lies on: orthogonal to the bounds and rows that
 * hold it, direction and angles in the variables divided by their scale. direction[count], in place; only after a
 * projector_nearest that gave true. No allocation. */
void projector_along_face(const Projector* projector, double* direction);

#endif

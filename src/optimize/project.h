/* Private to optimize/: projection onto a polyhedron by a dual active-set method (docs/derivations/update.md, O1). */
#ifndef SDRS_OPTIMIZE_PROJECT_H
#define SDRS_OPTIMIZE_PROJECT_H

#include "base/base.h"

/* Feasible set: low <= x <= high, and rows  low_row <= A x <= high_row (sparse by rows). */
typedef struct {
  int count;
  const int* block; /* block of each variable: 0 = design, 1 = control and initial state (count) */
  double *low, *high;
  int row_count;
  int* row_first; /* (row_count + 1) */
  int* column;
  double* coefficient;
  double *row_low, *row_high;
} FeasibleSet;

/* Limits low <= x <= high (count) and row_low <= A x <= row_high (row_count), with the matrix A of the projector's set.
 * An infinite limit is absent; equal limits make an equation. */
typedef struct {
  const double *low, *high, *row_low, *row_high;
} ProjectLimits;

/* The rows of A over the variables that occur in rows ("columns"), with repeated entries summed. All other variables
 * have only bounds. */
typedef struct {
  int row_count, column_count;
  int* variable; /* variable of each column, ascending (column_count) */
  int* first;    /* (row_count + 1) */
  int* column;   /* (first[row_count]) */
  double* value; /* (first[row_count]) */
} ProjectRows;

typedef struct Projector Projector;

/* Allocates all memory and copies the set's rows, so the set may be freed afterwards. Never NULL; freed with
 * projector_destroy. */
Projector* projector_create(const FeasibleSet* set);
/* Frees the projector. Accepts NULL. */
void projector_destroy(Projector* projector);
/* Returns the rows over the variables that occur in them. Owned by the projector. */
const ProjectRows* projector_rows(const Projector* projector);

/* Replaces x by the point within the limits that minimizes
 * sum_i ((x_i - given_i) / scale_i)^2 (O1)
 * where `given` is x on entry. x[count] and scale[count] > 0 in the units of the variables. Bounds hold exactly. A row
 * holds to 1e-12 of the sum of the absolute values of its terms, the larger of those at `given` and at x. Returns
 * false, with x unchanged, if there is no such point (to a tolerance of 1e-9) or x is not finite. Borrows limits and
 * scale for the call. Allocates nothing. Not thread-safe for one projector. */
bool projector_nearest(Projector* projector, const ProjectLimits* limits, const double* scale, double* x);
/* Projects a direction onto the active face of the last nearest point: the result is orthogonal to the normals of the
 * active bounds and rows. direction[count], in place, in variables divided by their scale. Valid only after
 * projector_nearest returned true. Allocates nothing. */
void projector_along_face(const Projector* projector, double* direction);

#endif

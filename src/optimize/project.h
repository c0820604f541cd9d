/* Private to optimize/: projection onto a polyhedron by a dual active-set method (docs/derivations/update.md, O1). */
#ifndef SDRS_OPTIMIZE_PROJECT_H
#define SDRS_OPTIMIZE_PROJECT_H

#include "base/base.h"

/* Feasible set of the variables: low <= x <= high, and row_low <= A x <= row_high. A is sparse, stored by rows. */
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

/* Limits low <= x <= high (count) and row_low <= A x <= row_high (row_count). A is the matrix of the projector's
 * set. An infinite limit means that there is no limit. Equal limits give an equation. */
typedef struct {
  const double *low, *high, *row_low, *row_high;
} ProjectLimits;

/* Matrix A restricted to the variables that occur in rows (columns). */
typedef struct {
  int row_count, column_count;
  int* variable; /* variable of each column, ascending (column_count) */
  int* first;    /* index of the first entry of each row (row_count + 1) */
  int* column;   /* column of each entry (first[row_count]) */
  double* value; /* value of each entry (first[row_count]) */
} ProjectRows;

typedef struct Projector Projector;

/* Creates a projector onto subsets of the set. Copies the rows. The caller frees the projector with projector_destroy.
 */
Projector* projector_create(const FeasibleSet* set);
/* Frees the object. Accepts NULL. */
void projector_destroy(Projector* projector);
/* Returns the matrix of the rows. Owned by the projector. */
const ProjectRows* projector_rows(const Projector* projector);

/* Replaces x[count] by the nearest point within the limits (O1), which minimizes sum_i ((x_i - given_i) / scale_i)^2.
 * given: x on entry. scale[count] > 0. Returns false with x unchanged if the limits admit no point (to 1e-9) or x is
 * not finite. Bounds hold exactly, rows to 1e-12 of the sum of the absolute values of their terms. Not thread-safe for
 * one projector. */
bool projector_project(Projector* projector, const ProjectLimits* limits, const double* scale, double* x);
/* Replaces direction[count] by its component along the active face of the last projection: orthogonal to the normals of
 * the active bounds and rows, in scaled variables. Requires a successful projector_project. */
void projector_project_direction(const Projector* projector, double* direction);

#endif

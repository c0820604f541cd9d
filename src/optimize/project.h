/* Private to optimize/: projection onto a polyhedron by a dual active-set method (docs/derivations/update.md, O1). */
#ifndef SDRS_OPTIMIZE_PROJECT_H
#define SDRS_OPTIMIZE_PROJECT_H

#include "base/base.h"

/* Feasible set of the variables x: low <= x <= high, and row_low <= A x <= row_high. The matrix A of the linear
 * constraints ("rows") is sparse and stored row by row. */
typedef struct {
  int count;
  const int* block; /* block of each variable: 0 = design, 1 = control and initial state (size: count) */
  double *low, *high;
  int row_count;
  int* row_first; /* index of the first entry of each row of A in `column` and `coefficient` (row_count + 1) */
  int* column;
  double* coefficient;
  double *row_low, *row_high;
} FeasibleSet;

/* Limits low <= x <= high (count) and row_low <= A x <= row_high (row_count). A is the matrix of the projector's
 * set. An infinite limit means that there is no limit. Equal limits give an equation. */
typedef struct {
  const double *low, *high, *row_low, *row_high;
} ProjectLimits;

/* Matrix of the linear constraints (rows). Its columns are only the variables that occur in a row. */
typedef struct {
  int row_count, column_count;
  int* variable; /* variable of each column, ascending (size: column_count) */
  int* first;    /* index in `column` and `value` of the first nonzero entry of each row (row_count + 1) */
  int* column;   /* column of each nonzero entry (first[row_count]) */
  double* value; /* value of each nonzero entry (first[row_count]) */
} ProjectRows;

typedef struct Projector Projector;

/* Creates an object that projects points onto subsets of a feasible set. Copies the linear constraints of the set. The
 * caller frees the projector with projector_destroy.
 */
Projector* projector_create(const FeasibleSet* set);
/* Frees the object. Accepts NULL. */
void projector_destroy(Projector* projector);
/* Returns the matrix of the linear constraints. Owned by the projector. */
const ProjectRows* projector_rows(const Projector* projector);

/* Replaces x[count] by the nearest point within the limits (O1), which minimizes sum_i ((x_i - given_i) / scale_i)^2.
 * given: x on entry. scale[count] > 0: unit of distance for each variable. Returns false with x unchanged if the limits
 * admit no point (to 1e-9) or x is not finite. Bounds hold exactly, rows to 1e-12 of the sum of the absolute values of
 * their terms. Not thread-safe for one projector. */
bool projector_project(Projector* projector, const ProjectLimits* limits, const double* scale, double* x);
/* Replaces direction[count] by its component along the face of the feasible set that the last projection reached. It is
 * orthogonal to the normals of the bounds and rows that hold with equality. Normals refer to variables divided by their
 * scales. Requires a successful projector_project. */
void projector_project_direction(const Projector* projector, double* direction);

#endif

/* Projection onto a polyhedron by the dual active-set method of Goldfarb and Idnani, with the identity as Hessian. The
 * method begins at the unconstrained minimum and adds the most violated constraint in each iteration; all multipliers
 * stay nonnegative. Variables at active bounds are removed from the rows, so that the matrices are small. */
#include "optimize/project.h"
#include "linalg/arrays.h"
#include <assert.h>
#include <math.h>
#include <string.h>

/* Largest violation of a satisfied linear constraint. It is relative to the largest sum so far of the absolute values
 * of the constraint's terms. It is above the rounding error of a thousand terms and below the 1e-12 of
 * projector_project. */
#define ROW_TOLERANCE 1e-13
/* Largest violation of a satisfied bound, relative to the values of the variable and of the bound. The result is
 * clamped to the bounds exactly. */
#define BOUND_TOLERANCE 1e-15
/* A constraint normal counts as linearly dependent on the active normals if its component orthogonal to them is shorter
 * than this value. */
#define DEPENDENCE_TOLERANCE 1e-10
/* A dependent constraint makes the set empty if its violation exceeds this fraction of its terms. Smaller violations
 * are rounding errors. */
#define CONTRADICTION_TOLERANCE 1e-9
/* Rate of change below which a multiplier is constant, above rounding errors. */
#define SLOPE_TOLERANCE 1e-13

/* Active limit of a variable or row. AT_BOTH: both limits are equal. */
enum { AT_HIGH = -1, FREE = 0, AT_LOW = 1, AT_BOTH = 2 };

/* Workspace of a projection. Columns are the variables that occur in rows, divided by their scale. Normals of
 * constraints point into the set. */
struct Projector {
  int count;
  ProjectRows rows;
  int* active_bound; /* active bound of each variable after the last projection (size: count) */

  double *x, *low, *high; /* variables and their bounds, divided by the scales of the variables (size: columns) */
  double* magnitude;      /* largest absolute value of each column so far, the reference of rounding errors */
  double* entry; /* entries of the constraint matrix A, times the variable's scale, divided by the norm of their row */
  /* lower and upper limits of the rows of A, divided by the norm of the row (size: row_count) */
  double *row_low, *row_high;
  int *side, *row_side; /* active limit (AT_HIGH, FREE, AT_LOW, AT_BOTH) of each variable and of each row of A */
  bool *ignored,
      *row_ignored; /* true if the constraint is linearly dependent on others and violated by rounding only */
  double *multiplier, *row_multiplier; /* multipliers of bounds and rows, >= 0 unless the two limits are equal */
  int* active;                         /* active rows, in the order added (size: row_count) */
  int active_count;
  double *q, *r; /* QR factors of the active rows' normals restricted to the free columns: active_count x columns, and
                    upper triangle */
  double *normal, *face_direction; /* normal of the new constraint; its component along the active face */
  double *slope, *row_slope; /* decrease of the other multipliers per unit of the multiplier of the new constraint */
};

typedef struct {
  bool is_row;
  int index;
  int side; /* limit to which the constraint belongs: AT_LOW or AT_HIGH */
} Constraint;

/* Returns the column of each variable, or -1 if it occurs in no row. Sets rows->variable to the variables of the
 * columns. The caller frees the result with memory_free. */
static int* number_columns(ProjectRows* rows, const FeasibleSet* set) {
  int* column = MEMORY_NEW(int, set->count);
  int entries = set->row_count > 0 ? set->row_first[set->row_count] : 0;
  for (int k = 0; k < entries; k++) column[set->column[k]] = 1;
  for (int i = 0; i < set->count; i++) rows->column_count += column[i];
  rows->variable = MEMORY_NEW(int, rows->column_count);
  for (int i = 0, next = 0; i < set->count; i++) {
    bool used = column[i] == 1;
    column[i] = used ? next : -1;
    if (used) rows->variable[next++] = i;
  }
  return column;
}

static void add_entry(ProjectRows* rows, int row, int column, double value) {
  for (int k = rows->first[row]; k < rows->first[row + 1]; k++) {
    if (rows->column[k] != column) continue;
    rows->value[k] += value;
    return;
  }
  rows->column[rows->first[row + 1]] = column;
  rows->value[rows->first[row + 1]++] = value;
}

static void copy_rows(ProjectRows* rows, const FeasibleSet* set) {
  rows->row_count = set->row_count;
  int entries = set->row_count > 0 ? set->row_first[set->row_count] : 0;
  rows->first = MEMORY_NEW(int, set->row_count + 1);
  rows->column = MEMORY_NEW(int, entries);
  rows->value = MEMORY_NEW(double, entries);
  int* column = number_columns(rows, set);
  for (int row = 0; row < set->row_count; row++) {
    rows->first[row + 1] = rows->first[row];
    for (int k = set->row_first[row]; k < set->row_first[row + 1]; k++)
      add_entry(rows, row, column[set->column[k]], set->coefficient[k]);
  }
  memory_free(column);
}

Projector* projector_create(const FeasibleSet* set) {
  Projector* p = MEMORY_NEW(Projector, 1);
  p->count = set->count;
  copy_rows(&p->rows, set);
  int columns = p->rows.column_count, rows = p->rows.row_count;
  p->active_bound = MEMORY_NEW(int, set->count);
  double** by_column[] = {&p->x,      &p->magnitude,      &p->low,  &p->high, &p->multiplier,
                          &p->normal, &p->face_direction, &p->slope};
  double** by_row[] = {&p->row_low, &p->row_high, &p->row_multiplier, &p->row_slope};
  for (size_t k = 0; k < sizeof by_column / sizeof *by_column; k++) *by_column[k] = MEMORY_NEW(double, columns);
  for (size_t k = 0; k < sizeof by_row / sizeof *by_row; k++) *by_row[k] = MEMORY_NEW(double, rows);
  p->entry = MEMORY_NEW(double, p->rows.first[rows]);
  p->side = MEMORY_NEW(int, columns);
  p->row_side = MEMORY_NEW(int, rows);
  p->ignored = MEMORY_NEW(bool, columns);
  p->row_ignored = MEMORY_NEW(bool, rows);
  p->active = MEMORY_NEW(int, rows);
  /* at most as many rows as columns can be active */
  size_t active_max = (size_t)(rows < columns ? rows : columns);
  p->q = MEMORY_NEW(double, active_max*(size_t)columns);
  p->r = MEMORY_NEW(double, active_max* active_max);
  return p;
}

void projector_destroy(Projector* p) {
  if (!p) return;
  void* all[] = {p->rows.variable,
                 p->rows.first,
                 p->rows.column,
                 p->rows.value,
                 p->active_bound,
                 p->x,
                 p->magnitude,
                 p->low,
                 p->high,
                 p->entry,
                 p->row_low,
                 p->row_high,
                 p->side,
                 p->row_side,
                 p->ignored,
                 p->multiplier,
                 p->row_multiplier,
                 p->active,
                 p->row_ignored,
                 p->q,
                 p->r,
                 p->normal,
                 p->face_direction,
                 p->slope,
                 p->row_slope,
                 p};
  for (size_t k = 0; k < sizeof all / sizeof *all; k++) memory_free(all[k]);
}

const ProjectRows* projector_rows(const Projector* p) { return &p->rows; }

/* ---------------------------------------------------------------- initial point */

/* Returns the number between low and high nearest to x, and the active bound. */
static double clamp(double x, double low, double high, int* active_bound) {
  *active_bound = low == high ? AT_BOTH : x < low ? AT_LOW : x > high ? AT_HIGH : FREE;
  return fmin(fmax(x, low), high);
}

static bool bounds_are_possible(const Projector* p, const ProjectLimits* limits, const double* x) {
  for (int i = 0; i < p->count; i++)
    if (!isfinite(x[i]) || !(limits->low[i] <= limits->high[i])) return false;
  return true;
}

/* Sets the variables to the nearest point within their bounds, without the linear constraints, and the multipliers of
 * the bounds. */
static void load_columns(Projector* p, const ProjectLimits* limits, const double* scale, const double* x) {
  for (int c = 0; c < p->rows.column_count; c++) {
    int i = p->rows.variable[c];
    double s = scale[i];
    double given = x[i] / s;
    p->low[c] = limits->low[i] / s;
    p->high[c] = limits->high[i] / s;
    p->x[c] = clamp(given, p->low[c], p->high[c], &p->side[c]);
    p->multiplier[c] = fabs(p->x[c] - given);
    p->magnitude[c] = fmax(fabs(given), fabs(p->x[c]));
    p->ignored[c] = false;
  }
}

/* Loads the linear constraints, scaled to normals of length 1. */
static void load_rows(Projector* p, const ProjectLimits* limits, const double* scale) {
  const ProjectRows* rows = &p->rows;
  for (int row = 0; row < rows->row_count; row++) {
    double square = 0;
    for (int k = rows->first[row]; k < rows->first[row + 1]; k++) {
      p->entry[k] = rows->value[k] * scale[rows->variable[rows->column[k]]];
      square += p->entry[k] * p->entry[k];
    }
    double length = square > 0 ? sqrt(square) : 1.0;
    for (int k = rows->first[row]; k < rows->first[row + 1]; k++) p->entry[k] /= length;
    p->row_low[row] = limits->row_low[row] / length;
    p->row_high[row] = limits->row_high[row] / length;
    p->row_side[row] = FREE;
    p->row_ignored[row] = false;
    p->row_multiplier[row] = 0;
  }
  p->active_count = 0;
}

static double row_product(const Projector* p, int row, const double* x) {
  double sum = 0;
  for (int k = p->rows.first[row]; k < p->rows.first[row + 1]; k++) sum += p->entry[k] * x[p->rows.column[k]];
  return sum;
}

static double constraint_limit(const Projector* p, Constraint c) {
  if (c.is_row) return c.side == AT_LOW ? p->row_low[c.index] : p->row_high[c.index];
  return c.side == AT_LOW ? p->low[c.index] : p->high[c.index];
}

static double constraint_violation(const Projector* p, Constraint c) {
  double value = c.is_row ? row_product(p, c.index, p->x) : p->x[c.index];
  return c.side == AT_LOW ? constraint_limit(p, c) - value : value - constraint_limit(p, c);
}

/* Returns the sum of the absolute values of a constraint's terms and limit, the reference of its rounding error. */
static double constraint_magnitude(const Projector* p, Constraint c) {
  double sum = fabs(constraint_limit(p, c));
  if (!c.is_row) return sum + p->magnitude[c.index];
  for (int k = p->rows.first[c.index]; k < p->rows.first[c.index + 1]; k++)
    sum += fabs(p->entry[k]) * p->magnitude[p->rows.column[k]];
  return sum;
}

/* Replaces *worst by constraint c if c is violated more, beyond rounding errors. */
static void compare_violation(const Projector* p, Constraint c, Constraint* worst, double* worst_violation) {
  double violation = constraint_violation(p, c);
  if (!(violation > *worst_violation)) return;
  if (violation <= (c.is_row ? ROW_TOLERANCE : BOUND_TOLERANCE) * constraint_magnitude(p, c)) return;
  *worst = c;
  *worst_violation = violation;
}

/* Finds the most violated constraint. Returns false if all hold. */
static bool find_most_violated(const Projector* p, Constraint* worst) {
  double violation = 0;
  for (int c = 0; c < p->rows.column_count; c++) {
    if (p->side[c] != FREE || p->ignored[c]) continue;
    compare_violation(p, (Constraint){false, c, AT_LOW}, worst, &violation);
    compare_violation(p, (Constraint){false, c, AT_HIGH}, worst, &violation);
  }
  for (int row = 0; row < p->rows.row_count; row++) {
    if (p->row_side[row] != FREE || p->row_ignored[row]) continue;
    compare_violation(p, (Constraint){true, row, AT_LOW}, worst, &violation);
    compare_violation(p, (Constraint){true, row, AT_HIGH}, worst, &violation);
  }
  return violation > 0;
}

/* ---------------------------------------------------------------- active face */

/* Makes v[columns] orthogonal to the first `rank` rows of q. Adds the subtracted components to `amount` unless it is
 * NULL. A second pass removes the rounding errors that nearly parallel rows leave in the first pass. */
static void orthogonalise(const Projector* p, int rank, double* v, double* amount, int stride) {
  int columns = p->rows.column_count;
  for (int pass = 0; pass < 2; pass++)
    for (int k = 0; k < rank; k++) {
      const double* q = p->q + (size_t)k * (size_t)columns;
      double part = array_dot(columns, q, v);
      for (int c = 0; c < columns; c++) v[c] -= part * q[c];
      if (amount) amount[(size_t)k * (size_t)stride] += part;
    }
}

/* Sets v[columns] to sign times the normal of a row, restricted to the free columns. */
static void load_row_normal(const Projector* p, int row, double sign, double* v) {
  memset(v, 0, sizeof(double) * (size_t)p->rows.column_count);
  for (int k = p->rows.first[row]; k < p->rows.first[row + 1]; k++) {
    int c = p->rows.column[k];
    if (p->side[c] == FREE) v[c] = sign * p->entry[k];
  }
}

static double sign_of(int side) { return side == AT_HIGH ? -1.0 : 1.0; }

/* Computes the QR factors of the active rows' normals by Gram-Schmidt orthogonalization. */
static void factorize(Projector* p) {
  int columns = p->rows.column_count, rank = p->active_count;
  memset(p->r, 0, sizeof(double) * (size_t)rank * (size_t)rank);
  for (int k = 0; k < rank; k++) {
    double* q = p->q + (size_t)k * (size_t)columns;
    load_row_normal(p, p->active[k], sign_of(p->row_side[p->active[k]]), q);
    orthogonalise(p, k, q, p->r + k, rank);
    double length = sqrt(array_dot(columns, q, q));
    p->r[k * rank + k] = length > 0 ? length : 1.0;
    for (int c = 0; c < columns; c++) q[c] /= p->r[k * rank + k];
  }
}

/* Computes the direction of the step that adds a constraint: face_direction, the component of its normal along the
 * active face, and the slopes of the active multipliers. Returns |face_direction|^2. */
static double find_direction(Projector* p, Constraint c) {
  int columns = p->rows.column_count, rank = p->active_count;
  memset(p->normal, 0, sizeof(double) * (size_t)columns);
  if (!c.is_row) p->normal[c.index] = sign_of(c.side);
  for (int k = c.is_row ? p->rows.first[c.index] : 0; c.is_row && k < p->rows.first[c.index + 1]; k++)
    p->normal[p->rows.column[k]] = sign_of(c.side) * p->entry[k];
  for (int i = 0; i < columns; i++) p->face_direction[i] = p->side[i] == FREE ? p->normal[i] : 0.0;

  /* the rates of change of the row multipliers (slopes) solve r slope = q normal, with the QR factors q and r of the
   * active rows */
  memset(p->row_slope, 0, sizeof(double) * (size_t)rank);
  orthogonalise(p, rank, p->face_direction, p->row_slope, 1);
  for (int k = rank - 1; k >= 0; k--) {
    for (int j = k + 1; j < rank; j++) p->row_slope[k] -= p->r[k * rank + j] * p->row_slope[j];
    p->row_slope[k] /= p->r[k * rank + k];
  }
  /* the slopes of bound multipliers are the normal minus its combination of row normals */
  memcpy(p->slope, p->normal, sizeof(double) * (size_t)columns);
  for (int k = 0; k < rank; k++) {
    int row = p->active[k];
    double amount = sign_of(p->row_side[row]) * p->row_slope[k];
    for (int e = p->rows.first[row]; e < p->rows.first[row + 1]; e++)
      p->slope[p->rows.column[e]] -= amount * p->entry[e];
  }
  for (int i = 0; i < columns; i++) p->slope[i] = p->side[i] == FREE ? 0.0 : sign_of(p->side[i]) * p->slope[i];
  return array_dot(columns, p->face_direction, p->face_direction);
}

/* Returns the largest multiplier of the new constraint for which all active multipliers stay nonnegative, or INFINITY.
 * *leaving: the constraint whose multiplier becomes zero, a column, or -1 - its position among the active rows. */
static double find_blocking(const Projector* p, int* leaving) {
  double least = HUGE_VAL;
  for (int c = 0; c < p->rows.column_count; c++) {
    if (p->side[c] == FREE || p->side[c] == AT_BOTH || !(p->slope[c] > SLOPE_TOLERANCE)) continue;
    double until = fmax(p->multiplier[c], 0.0) / p->slope[c];
    if (until >= least) continue;
    least = until;
    *leaving = c;
  }
  for (int k = 0; k < p->active_count; k++) {
    int row = p->active[k];
    if (p->row_low[row] == p->row_high[row] || !(p->row_slope[k] > SLOPE_TOLERANCE)) continue;
    double until = fmax(p->row_multiplier[row], 0.0) / p->row_slope[k];
    if (until >= least) continue;
    least = until;
    *leaving = -1 - k;
  }
  return least;
}

static void move_variables(Projector* p, double step) {
  for (int c = 0; c < p->rows.column_count; c++) {
    p->x[c] += step * p->face_direction[c];
    p->magnitude[c] = fmax(p->magnitude[c], fabs(p->x[c]));
  }
}

static void move_multipliers(Projector* p, double step) {
  for (int c = 0; c < p->rows.column_count; c++)
    if (p->side[c] != FREE) p->multiplier[c] -= step * p->slope[c];
  for (int k = 0; k < p->active_count; k++) p->row_multiplier[p->active[k]] -= step * p->row_slope[k];
}

static void deactivate(Projector* p, int leaving) {
  if (leaving >= 0) {
    p->side[leaving] = FREE;
    p->multiplier[leaving] = 0;
  } else {
    int place = -1 - leaving;
    p->row_side[p->active[place]] = FREE;
    p->row_multiplier[p->active[place]] = 0;
    p->active_count--;
    memmove(p->active + place, p->active + place + 1, sizeof(int) * (size_t)(p->active_count - place));
  }
  factorize(p);
}

static void activate(Projector* p, Constraint c, double multiplier) {
  if (c.is_row) {
    p->row_side[c.index] = c.side;
    p->row_multiplier[c.index] = multiplier;
    p->active[p->active_count++] = c.index;
  } else {
    p->side[c.index] = c.side;
    p->multiplier[c.index] = multiplier;
    p->x[c.index] = constraint_limit(p, c);
  }
  factorize(p);
}

/* Ignores a dependent constraint that only rounding errors violate. Returns false for a larger violation, with which
 * the constraints contradict each other. */
static bool ignore_rounding(Projector* p, Constraint c) {
  if (constraint_violation(p, c) > CONTRADICTION_TOLERANCE * constraint_magnitude(p, c)) return false;
  if (c.is_row)
    p->row_ignored[c.index] = true;
  else
    p->ignored[c.index] = true;
  return true;
}

/* Adds a constraint to the active ones and moves x to the minimum. Every pass but the last removes an active
 * constraint, so that the loop ends. Returns false if the set is empty. */
static bool add_constraint(Projector* p, Constraint c) {
  double multiplier = 0;
  for (;;) {
    double square = find_direction(p, c);
    int leaving = 0;
    double until_leaving = find_blocking(p, &leaving);
    if (square <= DEPENDENCE_TOLERANCE * DEPENDENCE_TOLERANCE) {
      if (isinf(until_leaving)) return ignore_rounding(p, c);
      move_multipliers(p, until_leaving);
      multiplier += until_leaving;
      deactivate(p, leaving);
      continue;
    }
    double until_kept = fmax(constraint_violation(p, c), 0.0) / square;
    double step = fmin(until_kept, until_leaving);
    move_variables(p, step);
    move_multipliers(p, step);
    multiplier += step;
    if (until_kept <= until_leaving) {
      activate(p, c, multiplier);
      return true;
    }
    deactivate(p, leaving);
  }
}

/* Corrects rounding errors of x, so that the active rows hold. */
static void refine(Projector* p) {
  int rank = p->active_count, columns = p->rows.column_count;
  double* amount = p->row_slope;
  for (int k = 0; k < rank; k++) {
    int row = p->active[k];
    amount[k] = constraint_violation(p, (Constraint){true, row, p->row_side[row]});
    for (int j = 0; j < k; j++) amount[k] -= p->r[j * rank + k] * amount[j];
    amount[k] /= p->r[k * rank + k];
  }
  for (int k = 0; k < rank; k++)
    for (int c = 0; c < columns; c++) p->x[c] += amount[k] * p->q[(size_t)k * (size_t)columns + (size_t)c];
}

/* Returns true if all rows hold to CONTRADICTION_TOLERANCE, after the iteration limit. */
static bool rows_hold(const Projector* p) {
  for (int row = 0; row < p->rows.row_count; row++)
    for (int side = AT_HIGH; side <= AT_LOW; side += 2) {
      Constraint c = {true, row, side};
      if (constraint_violation(p, c) > CONTRADICTION_TOLERANCE * constraint_magnitude(p, c)) return false;
    }
  return true;
}

/* Finds the nearest point within the limits, for the columns. Returns false if the set is empty. The dual objective
 * increases with every added constraint, so that only rounding errors can reach the iteration limit. */
static bool solve_rows(Projector* p) {
  int limit = 100 + 20 * (p->rows.column_count + p->rows.row_count);
  Constraint worst = {0};
  int taken = 0;
  while (taken < limit && find_most_violated(p, &worst)) {
    if (!add_constraint(p, worst)) return false;
    taken++;
  }
  refine(p);
  return taken < limit || rows_hold(p);
}

bool projector_project(Projector* p, const ProjectLimits* limits, const double* scale, double* x) {
  if (!bounds_are_possible(p, limits, x)) return false;
  load_columns(p, limits, scale, x);
  load_rows(p, limits, scale);
  if (!solve_rows(p)) return false;
  for (int i = 0; i < p->count; i++) x[i] = clamp(x[i], limits->low[i], limits->high[i], &p->active_bound[i]);
  for (int c = 0; c < p->rows.column_count; c++) {
    int i = p->rows.variable[c], ignored;
    x[i] = clamp(p->x[c] * scale[i], limits->low[i], limits->high[i], &ignored);
    if (p->side[c] == AT_LOW) x[i] = limits->low[i];
    if (p->side[c] == AT_HIGH) x[i] = limits->high[i];
    p->active_bound[i] = p->side[c];
  }
  return true;
}

void projector_project_direction(const Projector* p, double* direction) {
  for (int i = 0; i < p->count; i++)
    if (p->active_bound[i] != FREE) direction[i] = 0;
  if (p->active_count == 0) return;
  for (int c = 0; c < p->rows.column_count; c++) p->face_direction[c] = direction[p->rows.variable[c]];
  orthogonalise(p, p->active_count, p->face_direction, NULL, 0);
  for (int c = 0; c < p->rows.column_count; c++) direction[p->rows.variable[c]] = p->face_direction[c];
}

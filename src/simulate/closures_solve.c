/* Computes the forces (multipliers) of closures such that Newton's direction satisfies the linearized closure equations
 * (docs/derivations/closures.md, Z3, Z8). */
#include <assert.h>
#include <string.h>

#include "linalg/least_change.h"
#include "simulate/closures.h"

static JacobianRow jacobian_row(const ClosureSystem* s, int k, int row) {
  int first = s->dof_first[k], count = s->dof_first[k + 1] - first;
  return (JacobianRow){count, s->dof + first, s->slope + s->slope_first[k] + (size_t)row * (size_t)count};
}

void closures_list_nonzero_rows(ClosureSystem* s) {
  s->nonzero_count = 0;
  for (int k = 0; k < s->count; k++)
    for (int i = 0, index = closure_first_row(s, k); i < closure_row_count(s, k); i++, index++)
      if (s->moves[index]) s->nonzero_rows[s->nonzero_count++] = (NonzeroRow){{k, i, index}, jacobian_row(s, k, i)};
}

static double row_product(JacobianRow row, const double* x) {
  double sum = 0;
  for (int n = 0; n < row.count; n++) sum += row.slope[n] * x[row.dof[n]];
  return sum;
}

static void add_scaled_row(JacobianRow row, double factor, double* restrict x) {
  for (int n = 0; n < row.count; n++) x[row.dof[n]] += factor * row.slope[n];
}

/* Number of consecutive rows of one closure that are processed in one loop. Rows of one closure, such as the three of a
 * point, have the same degrees of freedom. The order of summation is the same as without this grouping. */
enum { ROWS_PER_GROUP = 3 };

/* Returns true if the ROWS_PER_GROUP moving rows from `row` on belong to one closure. end: end of the list of moving
 * rows. */
static bool is_group_of_one_closure(const NonzeroRow* row, const NonzeroRow* end) {
  return end - row >= ROWS_PER_GROUP && row[ROWS_PER_GROUP - 1].of.closure == row->of.closure;
}

/* Sets product[i] to the scalar product of x and the derivatives of row i's equation, for three consecutive rows of one
 * closure. */
static void multiply_three_rows(const NonzeroRow* row, const double* x, double product[ROWS_PER_GROUP]) {
  const double *a = row[0].along.slope, *b = row[1].along.slope, *c = row[2].along.slope;
  const int* dof = row->along.dof;
  double sum[ROWS_PER_GROUP] = {0, 0, 0};
  for (int n = 0; n < row->along.count; n++) {
    double entry = x[dof[n]];
    sum[0] += a[n] * entry;
    sum[1] += b[n] * entry;
    sum[2] += c[n] * entry;
  }
  for (int i = 0; i < ROWS_PER_GROUP; i++) product[i] = sum[i];
}

/* Adds the derivatives of three consecutive rows of one closure, each times its entry of factor, to x. Adds to each
 * entry of x in the order of the rows. */
static void add_three_scaled_rows(const NonzeroRow* row, const double factor[ROWS_PER_GROUP], double* restrict x) {
  const double *a = row[0].along.slope, *b = row[1].along.slope, *c = row[2].along.slope;
  const int* dof = row->along.dof;
  for (int n = 0; n < row->along.count; n++)
    x[dof[n]] = ((x[dof[n]] + factor[0] * a[n]) + factor[1] * b[n]) + factor[2] * c[n];
}

/* Adds the derivatives of all moving rows of closures that are not open, each times its entry of factor, to x. A row
 * moves if some derivative is not zero. factor[rows]: one entry for each row of the system, moving or not. */
static void add_transposed_product(const ClosureSystem* s, const double* factor, double* x) {
  const NonzeroRow *row = s->nonzero_rows, *end = s->nonzero_rows + s->nonzero_count;
  while (row < end) {
    bool three = is_group_of_one_closure(row, end), open = s->open[row->of.closure];
    if (three && !open)
      add_three_scaled_rows(
          row, (const double[ROWS_PER_GROUP]){factor[row->of.index], factor[row[1].of.index], factor[row[2].of.index]},
          x);
    else if (!open)
      add_scaled_row(row->along, factor[row->of.index], x);
    row += three ? ROWS_PER_GROUP : 1;
  }
}

double closures_row_product(const ClosureSystem* s, int k, int row, const double* x) {
  assert(k >= 0 && k < s->count && row >= 0 && row < closure_row_count(s, k));
  return row_product(jacobian_row(s, k, row), x);
}

void closures_add_row(const ClosureSystem* s, int k, int row, double factor, double* x) {
  assert(k >= 0 && k < s->count && row >= 0 && row < closure_row_count(s, k));
  add_scaled_row(jacobian_row(s, k, row), factor, x);
}

void closures_add_row_magnitudes(const ClosureSystem* s, int k, int row, double factor, double* x) {
  assert(k >= 0 && k < s->count && row >= 0 && row < closure_row_count(s, k));
  JacobianRow jacobian = jacobian_row(s, k, row);
  for (int n = 0; n < jacobian.count; n++) x[jacobian.dof[n]] += fabs(factor * jacobian.slope[n]);
}

void closures_add_force(const ClosureSystem* s, const double* change, double* gradient) {
  if (s) add_transposed_product(s, change, gradient);
}

void closures_add_stiffness_force(ClosureSystem* s, double factor, double* gradient) {
  if (factor == 0) return;
  for (int row = 0; row < s->row_count; row++) s->pushed[row] = factor * s->stiffness[row] * s->value[row];
  add_transposed_product(s, s->pushed, gradient);
}

bool closures_stiffen(ClosureSystem* s) {
  static const double levels[] = {0, 1, 4, 16, 64, 256, 1024};
  for (size_t k = 0; k < sizeof(levels) / sizeof(levels[0]); k++)
    if (levels[k] > s->stiffening) {
      s->stiffening = levels[k];
      return true;
    }
  s->stiffening = 1;
  return false;
}

/* ---------------------------------------------------------------- clusters of components (Z3) */

void closures_mark_connected(const ClosureSystem* s, BlockSolver* solver, bool* marked) {
  assert(s && solver && marked);
  bool more = block_solver_component_count(solver) > 1;
  while (more) { /* repeated until no mark changes, because a component can belong to several groups */
    more = false;
    for (int k = 0; k < s->model->tree_count; k++) {
      bool *component_mark = &marked[block_solver_component_of(solver, k)],
           *first = &marked[block_solver_component_of(solver, s->group[k])];
      more = more || *component_mark != *first;
      *component_mark = *first = *component_mark || *first;
    }
  }
}

/* Sets component[trees] and cluster[trees]. Components that closures couple form a cluster, whose number is the number
 * of its first tree. */
static void find_clusters(ClosureSystem* s, BlockSolver* solver) {
  int trees = s->model->tree_count, count = block_solver_component_count(solver);
  for (int c = 0; c < count; c++) s->first_tree[c] = s->solved_for[c] = -1;
  if (count == 1) {
    for (int k = 0; k < trees; k++) s->cluster[k] = s->component[k] = 0;
    return;
  }
  disjoint_sets_init(s->cluster, trees);
  for (int k = 0; k < trees; k++) {
    s->component[k] = block_solver_component_of(solver, k);
    int* first = &s->first_tree[s->component[k]];
    if (*first < 0)
      *first = k;
    else
      disjoint_sets_unite(s->cluster, *first, k);
    disjoint_sets_unite(s->cluster, s->group[k], k);
  }
  for (int k = 0; k < trees; k++) s->cluster[k] = disjoint_sets_find(s->cluster, k);
}

/* Trees that are solved together. first: number of the first tree. runs: number of ranges of degrees
 * of freedom in ClosureSystem.run. rows: number of moving rows in ClosureSystem.active. */
typedef struct {
  int first, runs, rows;
} ClosureCluster;

static int closure_cluster(const ClosureSystem* s, int k) {
  return s->cluster[s->model->links[closure_link(s, k)].tree];
}

/* Returns the cluster that contains the moving row `first`. Lists the moving rows of the cluster in s->active and its
 * degrees of freedom in s->run. Marks the closures of the cluster in s->done. */
static ClosureCluster collect_cluster(ClosureSystem* s, int first) {
  int last = s->nonzero_rows[first].of.closure;
  ClosureCluster c = {.first = closure_cluster(s, last)};
  bool in_cluster = s->done[last] = true;
  for (int n = first; n < s->nonzero_count; n++) {
    int k = s->nonzero_rows[n].of.closure;
    if (k != last) {
      in_cluster = !s->open[k] && closure_cluster(s, k) == c.first;
      s->done[k] = s->done[k] || in_cluster;
      last = k;
    }
    if (in_cluster) s->active[c.rows++] = n;
  }
  for (int k = c.first; k < s->model->tree_count; k++) {
    const ModelTree* tree = &s->model->trees[k];
    if (s->cluster[k] != c.first) continue;
    if (c.runs == 0 || s->run[c.runs - 1].end != tree->dof_first) s->run[c.runs++].first = tree->dof_first;
    s->run[c.runs - 1].end = tree->dof_first + tree->dof_count;
  }
  return c;
}

/* ---------------------------------------------------------------- solution of one cluster */

/* Number of right-hand sides that are solved at once, one per vector lane. */
enum { LANES = 4 };
typedef double Four __attribute__((vector_size(8 * LANES), aligned(8)));

static void reserve_rows(ClosureSystem* s, int rows) {
  s->width = (rows + LANES - 1) / LANES * LANES;
  if (s->width <= s->capacity) return;
  size_t old = (size_t)s->capacity, new = (size_t)s->width, dofs = (size_t)s->model->dof_count;
  s->matrix = memory_resize(s->matrix, sizeof(double) * old * old, sizeof(double) * new* new);
  s->column = memory_resize(s->column, sizeof(double) * old * dofs, sizeof(double) * new* dofs);
  s->right = memory_resize(s->right, sizeof(double) * old, sizeof(double) * new);
  s->work = memory_resize(s->work, sizeof(double) * 2 * old, sizeof(double) * 2 * new);
  s->unit = memory_resize(s->unit, sizeof(double) * old, sizeof(double) * new);
  s->separation = memory_resize(s->separation, sizeof(double) * old, sizeof(double) * new);
  s->capacity = s->width;
}

/* Returns the address of the entry of column r at degree of freedom `dof`. */
static double* column_at(const ClosureSystem* s, int dof, int r) {
  return s->column + (size_t)dof * (size_t)s->width + (size_t)r;
}

static const NonzeroRow* active_row(const ClosureSystem* s, int r) { return &s->nonzero_rows[s->active[r]]; }

/* Writes the derivatives of row r of the cluster into column r of s->column, with zeros at fixed degrees of freedom.
 * fixed: NULL if no degree of freedom of the cluster is fixed. */
static void write_column(const ClosureSystem* s, JacobianRow row, const bool* fixed, int r) {
  double* column = column_at(s, 0, r);
  size_t width = (size_t)s->width;
  for (int n = 0; n < row.count; n++) column[(size_t)row.dof[n] * width] = row.slope[n];
  for (int n = 0; fixed && n < row.count; n++)
    if (fixed[row.dof[n]]) column[(size_t)row.dof[n] * width] = 0;
}

/* Writes the derivatives of three rows of one closure into the columns r, r + 1 and r + 2 of s->column. No degree of
 * freedom of the cluster may be fixed. */
static void write_three_columns(const ClosureSystem* s, const NonzeroRow* row, int r) {
  const double *a = row[0].along.slope, *b = row[1].along.slope, *c = row[2].along.slope;
  double* columns = column_at(s, 0, r);
  size_t width = (size_t)s->width;
  for (int n = 0; n < row->along.count; n++) {
    double* at = columns + (size_t)row->along.dof[n] * width;
    at[0] = a[n];
    at[1] = b[n];
    at[2] = c[n];
  }
}

/* Writes the derivatives of all rows of the cluster into the columns of s->column. fixed: as of write_column. Rows of
 * one closure are consecutive in s->active. */
static void write_columns(const ClosureSystem* s, const ClosureCluster* c, const bool* fixed) {
  const NonzeroRow* end = s->nonzero_rows + s->nonzero_count;
  for (int r = 0; r < c->rows;) {
    const NonzeroRow* row = active_row(s, r);
    bool three = !fixed && is_group_of_one_closure(row, end);
    if (three)
      write_three_columns(s, row, r);
    else
      write_column(s, row->along, fixed, r);
    r += three ? ROWS_PER_GROUP : 1;
  }
}

/* Records the components in which column r has entries for the group `four` of four columns: adds new components to
 * s->touched and sets the bit of column r in s->touching. touched: number of components recorded for this group so far.
 * Returns the new number. */
static int record_components(ClosureSystem* s, JacobianRow row, int r, int four, int touched) {
  int first = (int)(row.dof - s->dof);
  for (int n = first; n < first + row.count; n = s->dof_beyond[n]) {
    int component = s->component[s->dof_tree[n]];
    if (s->solved_for[component] != four) {
      s->solved_for[component] = four;
      s->touching[component] = 0;
      s->touched[touched++] = component;
    }
    s->touching[component] |= 1U << r % LANES;
  }
  return touched;
}

/* Multiplies the columns of s->column by the inverse Hessian, four columns at a time. */
static void solve_columns(ClosureSystem* s, BlockSolver* solver, const ClosureCluster* c, const bool* fixed) {
  bool some = false; /* true if the cluster has fixed degrees of freedom */
  for (int n = 0; n < c->runs; n++) {
    DofRun run = s->run[n];
    for (int d = run.first; d < run.end; d++) {
      double* row = column_at(s, d, 0);
      for (int r = 0; r < s->width; r += LANES) *(Four*)(row + r) = (Four){0, 0, 0, 0};
      some = some || fixed[d];
    }
  }
  write_columns(s, c, some ? fixed : NULL);
  for (int first = 0; first < c->rows; first += LANES) {
    int four = active_row(s, first)->of.index, touched = 0; /* row index that identifies this group of four columns */
    for (int r = first; r < first + LANES && r < c->rows; r++)
      touched = record_components(s, active_row(s, r)->along, r, four, touched);
    for (int k = 0; k < touched; k++)
      block_solver_solve_four(solver, s->touched[k], s->touching[s->touched[k]], s->column + first, s->width);
  }
}

/* Adds the scalar products of one row's derivatives and four (fours = 1) or eight (fours = 2) columns of s->column,
 * from column `first` on, to sum. */
static inline void multiply_columns(const ClosureSystem* s, JacobianRow row, int first, int fours, Four sum[2]) {
  const double* column = s->column + first;
  size_t width = (size_t)s->width;
  if (fours == 1)
    for (int n = 0; n < row.count; n++) sum[0] += *(const Four*)(column + (size_t)row.dof[n] * width) * row.slope[n];
  else
    for (int n = 0; n < row.count; n++) {
      const double* x = column + (size_t)row.dof[n] * width;
      sum[0] += *(const Four*)x * row.slope[n];
      sum[1] += *(const Four*)(x + LANES) * row.slope[n];
    }
}

/* Stores the matrix entries (i, first) ... (i, first + 3), except entries above the diagonal, and their mirror images.
 */
static inline void store_four_entries(const ClosureSystem* s, int i, int first, const Four* sum) {
  int width = s->width;
  double *row = s->matrix + i * width + first, *column = s->matrix + first * width + i;
  if (first + LANES <= i) {
    *(Four*)row = *sum;
    for (int r = 0; r < LANES; r++) column[r * width] = (*sum)[r];
  } else {
    for (int r = 0; first + r <= i; r++) row[r] = column[r * width] = (*sum)[r];
  }
}

/* Sets s->matrix to C H^-1 C^T, the motion of the rows by unit multipliers, and s->unit to the units of the
 * multipliers. C: derivatives of the rows; H: Hessian. In these units the mobility of the two links of a row, computed
 * from these links alone, is 1 or 1/2 (Z8). The diagonal of the matrix cannot serve as the unit, because it is only
 * rounding error for a row that no degree of freedom can change. */
static void set_cluster_matrix(ClosureSystem* s, const ClosureCluster* c) {
  double stiffening = s->stiffening > 1 ? s->stiffening : 1;
  for (int i = 0; i < c->rows; i++) {
    const NonzeroRow* row = active_row(s, i);
    double rho = stiffening * s->stiffness[row->of.index];
    s->unit[i] = rho > 0 ? sqrt(rho) : 1;
    for (int first = 0; first <= i; first += 2 * LANES) {
      Four sum[2] = {{0, 0, 0, 0}, {0, 0, 0, 0}};
      multiply_columns(s, row->along, first, first + LANES <= i ? 2 : 1, sum);
      store_four_entries(s, i, first, &sum[0]);
      if (first + LANES <= i) store_four_entries(s, i, first + LANES, &sum[1]);
    }
  }
}

/* Subtracts the columns of s->column, each times its entry of s->right, from x, for the degrees of freedom of the
 * cluster. */
static void subtract_columns(const ClosureSystem* s, const ClosureCluster* c, double* restrict x) {
  const double* right = s->right;
  int rows = c->rows;
  for (int n = 0; n < c->runs; n++) {
    const double* column = column_at(s, s->run[n].first, 0);
    for (int d = s->run[n].first; d < s->run[n].end; d++, column += s->width) {
      double sum = x[d];
      for (int r = 0; r < rows; r++) sum -= right[r] * column[r];
      x[d] = sum;
    }
  }
}

/* Returns the errors of the cluster's rows, each relative to the reference size of its row, at the configuration where
 * their derivatives were computed. The entry of a coupling is 0, because its derivatives are constant. */
static const double* compute_scaled_errors(ClosureSystem* s, const ClosureCluster* c) {
  for (int r = 0; r < c->rows; r++) {
    const ClosureRowIndex* a = &active_row(s, r)->of;
    s->separation[r] =
        closure_coupling(s, a->closure) ? 0 : s->value[a->index] / closure_row_size(s, a->closure, a->row);
  }
  return s->separation;
}

/* Sets s->right to values plus the products of the rows' derivatives and x. values: one entry for each row of the
 * system; NULL: zeros. */
static void set_cluster_right_side(ClosureSystem* s, const ClosureCluster* c, const double* values, const double* x) {
  const NonzeroRow* end = s->nonzero_rows + s->nonzero_count;
  for (int r = 0; r < c->rows;) {
    const NonzeroRow* row = active_row(s, r);
    int rows = is_group_of_one_closure(row, end) ? ROWS_PER_GROUP : 1;
    if (rows == ROWS_PER_GROUP)
      multiply_three_rows(row, x, s->right + r);
    else
      s->right[r] = row_product(row->along, x);
    for (int i = 0; values && i < rows; i++) s->right[r + i] += values[row[i].of.index];
    r += rows;
  }
}

/* Computes the changes of the multipliers with which the displacement x satisfies the linearized rows of a cluster.
 * Writes them to the entries of `change` that belong to the cluster's moving rows. Subtracts the displacement that they
 * cause from x. Returns false if a number is not finite. */
static bool solve_cluster(ClosureSystem* s, BlockSolver* solver, const ClosureCluster* c, const bool* fixed,
                          const double* values, double* x, double* change) {
  reserve_rows(s, c->rows);
  solve_columns(s, solver, c, fixed);
  set_cluster_matrix(s, c);
  set_cluster_right_side(s, c, values, x);
  const double* errors = values && values == s->value ? compute_scaled_errors(s, c) : NULL;
  if (!symmetric_pseudo_solve_violated(c->rows, s->width, s->matrix, s->right, s->unit, errors, s->work, &s->ambiguous))
    return false;
  for (int r = 0; r < c->rows; r++) change[active_row(s, r)->of.index] = s->right[r];
  subtract_columns(s, c, x);
  return true;
}

bool closures_solve(ClosureSystem* s, BlockSolver* solver, const bool* solved, const bool* fixed, const double* values,
                    double* x, double* change) {
  assert(s && solver && x && change);
  bool all = true;
  for (int row = 0; row < s->row_count; row++) change[row] = 0;
  for (int k = 0; k < s->count; k++) s->done[k] = s->open[k];
  find_clusters(s, solver);
  for (int n = 0; n < s->nonzero_count; n++) {
    if (s->done[s->nonzero_rows[n].of.closure]) continue;
    ClosureCluster c = collect_cluster(s, n);
    if (solved && !solved[block_solver_component_of(solver, c.first)]) continue;
    all = solve_cluster(s, solver, &c, fixed, values, x, change) && all;
  }
  return all;
}

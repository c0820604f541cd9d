/* Multipliers with which a direction closes (docs/derivations/closures.md, Z3, Z8). */
#include <string.h>

#include "linalg/least_change.h"
#include "simulate/closures.h"

static const double* row_of_slopes(const ClosureSystem* s, int k, int row) {
  return s->slope + s->slope_first[k] + (size_t)row * (size_t)(s->dof_first[k + 1] - s->dof_first[k]);
}

double closures_row_product(const ClosureSystem* s, int k, int row, const double* x) {
  int first = s->dof_first[k], count = s->dof_first[k + 1] - first;
  const double* slope = row_of_slopes(s, k, row);
  double sum = 0;
  for (int n = 0; n < count; n++) sum += slope[n] * x[s->dof[first + n]];
  return sum;
}

void closures_add_row(const ClosureSystem* s, int k, int row, double factor, double* x) {
  int first = s->dof_first[k], count = s->dof_first[k + 1] - first;
  const double* slope = row_of_slopes(s, k, row);
  for (int n = 0; n < count; n++) x[s->dof[first + n]] += factor * slope[n];
}

void closures_add_size(const ClosureSystem* s, int k, int row, double factor, double* x) {
  int first = s->dof_first[k], count = s->dof_first[k + 1] - first;
  const double* slope = row_of_slopes(s, k, row);
  for (int n = 0; n < count; n++) x[s->dof[first + n]] += fabs(factor * slope[n]);
}

void closures_add_force(const ClosureSystem* s, const double* change, double* gradient) {
  for (int k = 0; s && k < s->count; k++) {
    int first = closure_first(s, k), count = s->open[k] ? 0 : closure_rows(s, k);
    for (int i = 0; i < count; i++)
      if (s->moves[first + i]) closures_add_row(s, k, i, change[first + i], gradient);
  }
}

void closures_add_stiff_force(const ClosureSystem* s, double factor, double* gradient) {
  for (int k = 0; k < s->count && factor != 0; k++) {
    int first = closure_first(s, k), count = s->open[k] ? 0 : closure_rows(s, k);
    for (int i = 0; i < count; i++)
      if (s->moves[first + i])
        closures_add_row(s, k, i, factor * s->stiffness[first + i] * s->value[first + i], gradient);
  }
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

/* One component: its trees and the rows that move in it. */
typedef struct {
  int component, trees, rows;
} Coupled;

static int component_of(const ClosureSystem* s, BlockSolver* solver, int k) {
  return block_solver_component_of(solver, s->model->links[closure_link(s, k)].tree);
}

/* The component of closure `first` with all of its closures from there on. */
static Coupled gather_component(ClosureSystem* s, BlockSolver* solver, int first) {
  Coupled c = {.component = component_of(s, solver, first)};
  for (int k = first; k < s->count; k++) {
    if (s->open[k] || (k > first && component_of(s, solver, k) != c.component)) continue;
    s->done[k] = true;
    for (int i = 0; i < closure_rows(s, k); i++)
      if (s->moves[closure_first(s, k) + i]) s->active[c.rows++] = (ClosureActive){k, i, closure_first(s, k) + i};
  }
  for (int k = 0; k < s->model->tree_count; k++)
    if (block_solver_component_of(solver, k) == c.component) s->tree[c.trees++] = k;
  return c;
}

static void reserve_rows(ClosureSystem* s, int rows) {
  if (rows <= s->capacity) return;
  size_t old = (size_t)s->capacity, new = (size_t)rows, dofs = (size_t)s->model->dof_count;
  s->matrix = memory_resize(s->matrix, sizeof(double) * old * old, sizeof(double) * new* new);
  s->column = memory_resize(s->column, sizeof(double) * old * dofs, sizeof(double) * new* dofs);
  s->right = memory_resize(s->right, sizeof(double) * old, sizeof(double) * new);
  s->work = memory_resize(s->work, sizeof(double) * 2 * old, sizeof(double) * 2 * new);
  s->unit = memory_resize(s->unit, sizeof(double) * old, sizeof(double) * new);
  s->apart = memory_resize(s->apart, sizeof(double) * old, sizeof(double) * new);
  s->capacity = rows;
}

static double* column_of(const ClosureSystem* s, int row) {
  return s->column + (size_t)row * (size_t)s->model->dof_count;
}

static void clear_component(const ClosureSystem* s, const Coupled* c, double* x) {
  for (int n = 0; n < c->trees; n++) {
    const ModelTree* tree = &s->model->trees[s->tree[n]];
    for (int d = tree->dof_first; d < tree->dof_first + tree->dof_count; d++) x[d] = 0;
  }
}

/* Column r <- H^-1 C_r^T in the component, zero where a degree of freedom is fixed. */
static void solve_column(ClosureSystem* s, BlockSolver* solver, const Coupled* c, const bool* fixed, int r) {
  double* x = column_of(s, r);
  int k = s->active[r].closure, first = s->dof_first[k], count = s->dof_first[k + 1] - first;
  const double* slope = row_of_slopes(s, k, s->active[r].row);
  clear_component(s, c, x);
  for (int n = 0; n < count; n++) x[s->dof[first + n]] = fixed[s->dof[first + n]] ? 0 : slope[n];
  block_solver_solve_component(solver, c->component, x);
}

/* C H^-1 C^T, one solve a row. Units: those in which the answer of a row's two bodies alone is 1, or a half (Z8). The
 * diagonal would be none: of a row that nothing answers it is rounding, and so would be all that follows. */
static void fill_matrix(ClosureSystem* s, BlockSolver* solver, const Coupled* c, const bool* fixed) {
  for (int r = 0; r < c->rows; r++) {
    double rho = fmax(s->stiffening, 1) * s->stiffness[s->active[r].index];
    s->unit[r] = rho > 0 ? sqrt(rho) : 1;
    solve_column(s, solver, c, fixed, r);
    for (int i = r; i < c->rows; i++)
      s->matrix[i * c->rows + r] = s->matrix[r * c->rows + i] =
          closures_row_product(s, s->active[i].closure, s->active[i].row, column_of(s, r));
  }
}

/* x -= H^-1 C^T change. */
static void subtract_columns(const ClosureSystem* s, const Coupled* c, double* x) {
  for (int r = 0; r < c->rows; r++) {
    const double* column = column_of(s, r);
    for (int n = 0; n < c->trees; n++) {
      const ModelTree* tree = &s->model->trees[s->tree[n]];
      for (int d = tree->dof_first; d < tree->dof_first + tree->dof_count; d++) x[d] -= s->right[r] * column[d];
    }
  }
}

/* How far the rows are open where their slopes were taken, over their size. Couplings' slopes are the same anywhere. */
static const double* find_apart(ClosureSystem* s, const Coupled* c) {
  for (int r = 0; r < c->rows; r++) {
    const ClosureActive* a = &s->active[r];
    s->apart[r] = closure_coupling(s, a->closure) ? 0 : s->value[a->index] / closure_row_size(s, a->closure, a->row);
  }
  return s->apart;
}

/* The component's multipliers; x closes. */
static bool solve_component(ClosureSystem* s, BlockSolver* solver, const Coupled* c, const bool* fixed,
                            const double* values, double* x, double* change) {
  reserve_rows(s, c->rows);
  fill_matrix(s, solver, c, fixed);
  for (int r = 0; r < c->rows; r++) {
    const ClosureActive* a = &s->active[r];
    s->right[r] = closures_row_product(s, a->closure, a->row, x) + (values ? values[a->index] : 0);
  }
  const double* apart = values && values == s->value ? find_apart(s, c) : NULL;
  if (!symmetric_least_change_open(c->rows, s->matrix, s->right, s->unit, apart, s->work, &s->ambiguous)) return false;
  for (int r = 0; r < c->rows; r++) change[s->active[r].index] = s->right[r];
  subtract_columns(s, c, x);
  return true;
}

bool closures_solve(ClosureSystem* s, BlockSolver* solver, const bool* solved, const bool* fixed, const double* values,
                    double* x, double* change) {
  bool all = true;
  memset(change, 0, sizeof(double) * (size_t)s->row_count);
  memset(s->done, 0, sizeof(bool) * (size_t)s->count);
  for (int k = 0; k < s->count; k++) {
    if (s->open[k] || s->done[k]) continue;
    Coupled c = gather_component(s, solver, k);
    if (solved && !solved[c.component]) continue;
    all = solve_component(s, solver, &c, fixed, values, x, change) && all;
  }
  return all;
}

/* Multipliers with which a direction closes (docs/derivations/closures.md, Z3, Z8). */
#include <string.h>

#include "linalg/least_change.h"
#include "simulate/closures.h"

static SlopeRow slope_row(const ClosureSystem* s, int k, int row) {
  int first = s->dof_first[k], count = s->dof_first[k + 1] - first;
  return (SlopeRow){count, s->dof + first, s->slope + s->slope_first[k] + (size_t)row * (size_t)count};
}

void closures_list_moving(ClosureSystem* s) {
  s->moving_count = 0;
  for (int k = 0; k < s->count; k++)
    for (int i = 0, index = closure_first(s, k); i < closure_rows(s, k); i++, index++)
      if (s->moves[index]) s->moving[s->moving_count++] = (MovingRow){{k, i, index}, slope_row(s, k, i)};
}

static double product_of(SlopeRow row, const double* x) {
  double sum = 0;
  for (int n = 0; n < row.count; n++) sum += row.slope[n] * x[row.dof[n]];
  return sum;
}

static void add_slopes(SlopeRow row, double factor, double* restrict x) {
  for (int n = 0; n < row.count; n++) x[row.dof[n]] += factor * row.slope[n];
}

double closures_row_product(const ClosureSystem* s, int k, int row, const double* x) {
  return product_of(slope_row(s, k, row), x);
}

void closures_add_row(const ClosureSystem* s, int k, int row, double factor, double* x) {
  add_slopes(slope_row(s, k, row), factor, x);
}

void closures_add_size(const ClosureSystem* s, int k, int row, double factor, double* x) {
  SlopeRow own = slope_row(s, k, row);
  for (int n = 0; n < own.count; n++) x[own.dof[n]] += fabs(factor * own.slope[n]);
}

void closures_add_force(const ClosureSystem* s, const double* change, double* gradient) {
  for (int n = 0; s && n < s->moving_count; n++) {
    const MovingRow* row = &s->moving[n];
    if (!s->open[row->of.closure]) add_slopes(row->along, change[row->of.index], gradient);
  }
}

void closures_add_stiff_force(const ClosureSystem* s, double factor, double* gradient) {
  for (int n = 0; n < s->moving_count && factor != 0; n++) {
    const MovingRow* row = &s->moving[n];
    int index = row->of.index;
    if (!s->open[row->of.closure]) add_slopes(row->along, factor * s->stiffness[index] * s->value[index], gradient);
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

/* ---------------------------------------------------------------- clusters of components (Z3) */

void closures_spread(const ClosureSystem* s, BlockSolver* solver, bool* marked) {
  bool more = block_solver_component_count(solver) > 1;
  while (more) { /* twice, but where components join groups one after the other */
    more = false;
    for (int k = 0; k < s->model->tree_count; k++) {
      bool *own = &marked[block_solver_component_of(solver, k)],
           *first = &marked[block_solver_component_of(solver, s->group[k])];
      more = more || *own != *first;
      *own = *first = *own || *first;
    }
  }
}

/* The clusters that trees belong to. */
static void find_clusters(ClosureSystem* s, BlockSolver* solver) {
  int trees = s->model->tree_count, count = block_solver_component_count(solver);
  for (int c = 0; c < count; c++) s->first_tree[c] = s->solved_for[c] = -1;
  if (count == 1) {
    for (int k = 0; k < trees; k++) s->cluster[k] = 0;
    return;
  }
  sets_separate(s->cluster, trees);
  for (int k = 0; k < trees; k++) {
    int* first = &s->first_tree[block_solver_component_of(solver, k)];
    if (*first < 0)
      *first = k;
    else
      sets_join(s->cluster, *first, k);
    sets_join(s->cluster, s->group[k], k);
  }
  for (int k = 0; k < trees; k++) s->cluster[k] = sets_root(s->cluster, k);
}

/* One of them: its degrees of freedom, in runs of trees that follow one another, and the rows that move in it. */
typedef struct {
  int first, runs, rows; /* first: tree */
} Coupled;

static int cluster_of(const ClosureSystem* s, int k) { return s->cluster[s->model->links[closure_link(s, k)].tree]; }

/* The cluster of the moving row `first` with all of its rows from there on. */
static Coupled gather_cluster(ClosureSystem* s, int first) {
  int last = s->moving[first].of.closure;
  Coupled c = {.first = cluster_of(s, last)};
  bool own = s->done[last] = true;
  for (int n = first; n < s->moving_count; n++) {
    int k = s->moving[n].of.closure;
    if (k != last) {
      own = !s->open[k] && cluster_of(s, k) == c.first;
      s->done[k] = s->done[k] || own;
      last = k;
    }
    if (own) s->active[c.rows++] = n;
  }
  for (int k = c.first; k < s->model->tree_count; k++) {
    const ModelTree* tree = &s->model->trees[k];
    if (s->cluster[k] != c.first) continue;
    if (c.runs == 0 || s->run[c.runs - 1].end != tree->dof_first) s->run[c.runs++].first = tree->dof_first;
    s->run[c.runs - 1].end = tree->dof_first + tree->dof_count;
  }
  return c;
}

/* ---------------------------------------------------------------- one of them */

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

static const MovingRow* active_row(const ClosureSystem* s, int r) { return &s->moving[s->active[r]]; }

/* H^-1 C_r^T in the cluster, zero where a degree of freedom is fixed. x (nv) is set there. */
static void solve_column(const ClosureSystem* s, BlockSolver* solver, const Coupled* c, const bool* fixed, int r,
                         double* x) {
  const MovingRow* moving = active_row(s, r);
  const SlopeRow* row = &moving->along;
  for (int n = 0; n < c->runs; n++)
    memset(x + s->run[n].first, 0, sizeof(double) * (size_t)(s->run[n].end - s->run[n].first));
  for (int n = 0; n < row->count; n++) x[row->dof[n]] = fixed[row->dof[n]] ? 0 : row->slope[n];
  for (int n = 0, last = -1; n < row->count; n++) {
    int tree = s->model->links[s->model->dof_link[row->dof[n]]].tree;
    if (tree == last) continue;
    int component = block_solver_component_of(solver, last = tree);
    if (s->solved_for[component] == moving->of.index) continue;
    s->solved_for[component] = moving->of.index;
    block_solver_solve_component(solver, component, x);
  }
}

/* C H^-1 C^T, one solve a row. Units: those in which the answer of a row's two bodies alone is 1, or a half (Z8). The
 * diagonal would be none: of a row that nothing answers it is rounding, and so would be all that follows. */
static void fill_matrix(ClosureSystem* s, BlockSolver* solver, const Coupled* c, const bool* fixed) {
  double stiffening = s->stiffening > 1 ? s->stiffening : 1, *matrix = s->matrix;
  for (int r = 0; r < c->rows; r++) {
    const MovingRow* row = active_row(s, r);
    double rho = stiffening * s->stiffness[row->of.index], *x = column_of(s, r);
    s->unit[r] = rho > 0 ? sqrt(rho) : 1;
    solve_column(s, solver, c, fixed, r, x);
    for (int i = r; i < c->rows; i++)
      matrix[i * c->rows + r] = matrix[r * c->rows + i] = product_of(active_row(s, i)->along, x);
  }
}

/* x -= H^-1 C^T change. */
static void subtract_columns(const ClosureSystem* s, const Coupled* c, double* restrict x) {
  for (int r = 0; r < c->rows; r++) {
    const double* column = column_of(s, r);
    double factor = s->right[r];
    for (int n = 0; n < c->runs; n++)
      for (int d = s->run[n].first; d < s->run[n].end; d++) x[d] -= factor * column[d];
  }
}

/* How far the rows are open where their slopes were taken, over their size. Couplings' slopes are the same anywhere. */
static const double* find_apart(ClosureSystem* s, const Coupled* c) {
  for (int r = 0; r < c->rows; r++) {
    const ClosureActive* a = &active_row(s, r)->of;
    s->apart[r] = closure_coupling(s, a->closure) ? 0 : s->value[a->index] / closure_row_size(s, a->closure, a->row);
  }
  return s->apart;
}

/* The cluster's multipliers; x closes. */
static bool solve_cluster(ClosureSystem* s, BlockSolver* solver, const Coupled* c, const bool* fixed,
                          const double* values, double* x, double* change) {
  reserve_rows(s, c->rows);
  fill_matrix(s, solver, c, fixed);
  for (int r = 0; r < c->rows; r++) {
    const MovingRow* row = active_row(s, r);
    s->right[r] = product_of(row->along, x) + (values ? values[row->of.index] : 0);
  }
  const double* apart = values && values == s->value ? find_apart(s, c) : NULL;
  if (!symmetric_least_change_open(c->rows, s->matrix, s->right, s->unit, apart, s->work, &s->ambiguous)) return false;
  for (int r = 0; r < c->rows; r++) change[active_row(s, r)->of.index] = s->right[r];
  subtract_columns(s, c, x);
  return true;
}

bool closures_solve(ClosureSystem* s, BlockSolver* solver, const bool* solved, const bool* fixed, const double* values,
                    double* x, double* change) {
  bool all = true;
  for (int row = 0; row < s->row_count; row++) change[row] = 0;
  for (int k = 0; k < s->count; k++) s->done[k] = s->open[k];
  find_clusters(s, solver);
  for (int n = 0; n < s->moving_count; n++) {
    if (s->done[s->moving[n].of.closure]) continue;
    Coupled c = gather_cluster(s, n);
    if (solved && !solved[block_solver_component_of(solver, c.first)]) continue;
    all = solve_cluster(s, solver, &c, fixed, values, x, change) && all;
  }
  return all;
}

/* Closures and couplings in the targets of the trees that they connect (docs/derivations/spin.md, W15, W16). */
#include <string.h>

#include "linalg/linalg.h"
#include "simulate/tree_flight.h"

/* A pivot below this counts as zero, if the entries are scaled to order 1. The rows are then linearly dependent. */
#define RANK 1e-12

static int closure_of(const TreeFlight* f, const FlightGroup* g, int n) { return f->closures[g->closure_first + n]; }

static bool holds(const Sim* s, int k) { return !s->closures->open[k]; }

static void find_centers(const Sim* s, const FlightGroup* g, const Pose* pose, Vec3* center) {
  for (int n = 0; n < g->link_count; n++) {
    int i = s->flight->links[g->link_first + n];
    center[i] = pose_apply(pose[i], s->model->links[i].center);
  }
}

static void place(const Sim* s, const FlightGroup* g, ClosureSystem* c, const Pose* pose, const double* q, Vec3* center,
                  const Screw* screws) {
  if (g->closure_count == 0) return;
  find_centers(s, g, pose, center);
  for (int n = 0; n < g->closure_count; n++) {
    int k = closure_of(s->flight, g, n);
    if (holds(s, k)) closures_evaluate_one(c, k, pose, q, center, screws, 1);
  }
}

void flight_rows_begin(const Sim* s, const FlightGroup* g) {
  TreeFlight* f = s->flight;
  place(s, g, f->at_now, s->pose_now, s->q_now, f->center_now, f->screws_now);
  for (int n = 0; n < g->closure_count; n++) {
    int k = closure_of(f, g, n), first = closure_first(f->at_now, k);
    memset(f->push + first, 0, sizeof(double) * (size_t)closure_rows(f->at_now, k));
  }
}

void flight_rows_evaluate(const Sim* s, const FlightGroup* g) {
  TreeFlight* f = s->flight;
  place(s, g, f->at_ahead, f->pose_ahead, f->ahead, f->center_ahead, f->screws_ahead);
}

void flight_rows_add_forces(const Sim* s, const FlightGroup* g) {
  TreeFlight* f = s->flight;
  for (int n = 0; n < g->closure_count; n++) {
    int k = closure_of(f, g, n), first = closure_first(f->at_now, k);
    for (int i = 0; i < closure_rows(f->at_now, k) && holds(s, k); i++)
      if (f->push[first + i] != 0) closures_add_row(f->at_now, k, i, f->push[first + i], f->reduced);
  }
}

/* Lists the closure rows that have nonzero derivatives both at q^t and at the target. */
static void list_active(const Sim* s, const FlightGroup* g) {
  TreeFlight* f = s->flight;
  f->rows.count = 0;
  for (int n = 0; n < g->closure_count; n++) {
    int k = closure_of(f, g, n), first = closure_first(f->at_now, k);
    for (int i = 0; i < closure_rows(f->at_now, k) && holds(s, k); i++)
      if (f->at_now->moves[first + i] && f->at_ahead->moves[first + i])
        f->rows.active[f->rows.count++] = (ClosureRowIndex){k, i, first + i};
  }
}

static double* column_of(const TreeFlight* f, const Sim* s, int r) {
  return f->rows.column + (size_t)r * (size_t)s->model->dof_count;
}

/* Sets the entries of x that belong to the group's degrees of freedom to 0. */
static void clear(const Sim* s, const FlightGroup* g, double* x) {
  for (int n = 0; n < g->tree_count; n++) {
    const ModelTree* t = &s->model->trees[s->flight->trees[g->tree_first + n]];
    memset(x + t->dof_first, 0, sizeof(double) * (size_t)t->dof_count);
  }
}

/* Sets the entries of x that belong to the group's prescribed degrees of freedom to 0. */
static void clear_prescribed(const Sim* s, const FlightGroup* g, double* x) {
  for (int n = 0; s->fixed_count > 0 && n < g->tree_count; n++) {
    const ModelTree* t = &s->model->trees[s->flight->trees[g->tree_first + n]];
    for (int d = t->dof_first; d < t->dof_first + t->dof_count; d++)
      if (s->fixed[d]) x[d] = 0;
  }
}

static bool touches(const Sim* s, int tree, const double* x) {
  const ModelTree* t = &s->model->trees[tree];
  for (int d = t->dof_first; d < t->dof_first + t->dof_count; d++)
    if (x[d] != 0) return true;
  return false;
}

/* Sets column r to A^-1 C(q^t)^T for closure row r. */
static void solve_column(const Sim* s, const FlightGroup* g, int r) {
  TreeFlight* f = s->flight;
  double* x = column_of(f, s, r);
  clear(s, g, x);
  closures_add_row(f->at_now, f->rows.active[r].closure, f->rows.active[r].row, 1, x);
  clear_prescribed(s, g, x);
  for (int n = 0; n < g->tree_count; n++)
    if (touches(s, f->trees[g->tree_first + n], x)) flight_tree_solve(f, f->trees[g->tree_first + n], x);
}

bool flight_rows_factor(const Sim* s, const FlightGroup* g) {
  TreeFlight* f = s->flight;
  FlightRows* rows = &f->rows;
  rows->count = rows->rank = 0;
  if (g->closure_count == 0) return true;
  list_active(s, g);
  for (int r = 0; r < rows->count; r++) {
    double rho = f->at_now->stiffness[rows->active[r].index];
    rows->unit[r] = rho > 0 ? sqrt(rho) : 1;
    solve_column(s, g, r);
  }
  for (int i = 0; i < rows->count; i++)
    for (int r = 0; r < rows->count; r++)
      rows->matrix[i * rows->count + r] =
          rows->unit[i] * rows->unit[r] *
          closures_row_product(f->at_ahead, rows->active[i].closure, rows->active[i].row, column_of(f, s, r));
  rows->rank = rank_factor(rows->count, rows->matrix, rows->equation, rows->unknown, RANK);
  return rows->rank >= 0;
}

void flight_rows_solve(const Sim* s, const FlightGroup* g) {
  TreeFlight* f = s->flight;
  FlightRows* rows = &f->rows;
  for (int r = 0; r < rows->count; r++) {
    const ClosureRowIndex* a = &rows->active[r];
    rows->right[r] = rows->unit[r] *
                     (f->at_ahead->value[a->index] - closures_row_product(f->at_ahead, a->closure, a->row, f->change));
  }
  rank_solve(rows->count, rows->rank, rows->matrix, rows->equation, rows->unknown, rows->right, rows->work);
  for (int r = 0; r < rows->count; r++) {
    double more = rows->unit[r] * rows->right[r];
    const double* column = column_of(f, s, r);
    if (more == 0) continue;
    f->push[rows->active[r].index] += more;
    closures_add_row(f->at_now, rows->active[r].closure, rows->active[r].row, more, f->reduced);
    for (int n = 0; n < g->tree_count; n++) {
      const FlightTree* t = &f->tree[f->trees[g->tree_first + n]];
      for (int k = 0; k < t->free_count; k++)
        f->change[f->free[t->free_first + k]] += more * column[f->free[t->free_first + k]];
    }
  }
}

bool flight_rows_are_satisfied(const Sim* s, const FlightGroup* g) {
  const TreeFlight* f = s->flight;
  for (int n = 0; n < g->closure_count; n++) {
    int k = closure_of(f, g, n);
    if (holds(s, k) && !(closure_relative_error(f->at_ahead, k, f->at_ahead->value) <= 1)) return false;
  }
  return true;
}

void flight_rows_minimize_forces(const Sim* s, const FlightGroup* g) {
  TreeFlight* f = s->flight;
  FlightRows* rows = &f->rows;
  if (g->closure_count == 0 || rows->rank == rows->count) return;
  for (int r = 0; r < rows->count; r++) rows->right[r] = f->push[rows->active[r].index] / rows->unit[r];
  rank_shorten(rows->count, rows->rank, rows->matrix, rows->unknown, rows->right, rows->work);
  for (int r = 0; r < rows->count; r++) f->push[rows->active[r].index] = rows->right[r] * rows->unit[r];
}

void flight_rows_solve_transposed(const Sim* s, const FlightGroup* g, const double* x, double* out) {
  TreeFlight* f = s->flight;
  FlightRows* rows = &f->rows;
  clear(s, g, out);
  for (int n = 0; n < g->closure_count; n++) {
    int k = closure_of(f, g, n);
    memset(f->eta + closure_first(f->at_now, k), 0, sizeof(double) * (size_t)closure_rows(f->at_now, k));
  }
  for (int r = 0; r < rows->count; r++)
    rows->right[r] = rows->unit[r] * (closures_row_product(f->at_now, rows->active[r].closure, rows->active[r].row, x) -
                                      (f->by_row ? f->by_row[rows->active[r].index] / f->gravity_time : 0));
  rank_solve_transposed(rows->count, rows->rank, rows->matrix, rows->equation, rows->unknown, rows->right, rows->work);
  for (int r = 0; r < rows->count; r++) {
    double eta = f->eta[rows->active[r].index] = rows->unit[r] * rows->right[r];
    closures_add_row(f->at_ahead, rows->active[r].closure, rows->active[r].row, eta, out);
  }
  clear_prescribed(s, g, out);
}

/* Closures and couplings in the targets of the trees that they connect (docs/derivations/spin.md, W15, W16). */
#include <string.h>

#include "linalg/linalg.h"
#include "simulate/tree_flight.h"

/* A pivot of the scaled matrix below this value counts as zero. The entries of the matrix are scaled to order 1. A zero
 * pivot means that the closure rows are linearly dependent. */
#define PIVOT_MIN 1e-12

static int group_closure(const TreeFlight* f, const FlightGroup* g, int n) { return f->closures[g->closure_first + n]; }

static bool is_closed(const Sim* s, int k) { return !s->closures->open[k]; }

static void compute_centers(const Sim* s, const FlightGroup* g, const Pose* pose, Vec3* center) {
  for (int n = 0; n < g->link_count; n++) {
    int i = s->flight->links[g->link_first + n];
    center[i] = pose_apply(pose[i], s->model->links[i].center);
  }
}

static void evaluate_closures(const Sim* s, const FlightGroup* g, ClosureSystem* c, const Pose* pose, const double* q,
                              Vec3* center, const Screw* screws) {
  if (g->closure_count == 0) return;
  compute_centers(s, g, pose, center);
  for (int n = 0; n < g->closure_count; n++) {
    int k = group_closure(s->flight, g, n);
    if (is_closed(s, k)) closures_evaluate_one(c, k, pose, q, center, screws, 1);
  }
}

void flight_rows_begin(const Sim* s, const FlightGroup* g) {
  TreeFlight* f = s->flight;
  evaluate_closures(s, g, f->closures_now, s->pose_now, s->q_now, f->center_now, f->screws_now);
  for (int n = 0; n < g->closure_count; n++) {
    int k = group_closure(f, g, n), first = closure_first_row(f->closures_now, k);
    memset(f->row_impulse + first, 0, sizeof(double) * (size_t)closure_row_count(f->closures_now, k));
  }
}

void flight_rows_evaluate(const Sim* s, const FlightGroup* g) {
  TreeFlight* f = s->flight;
  evaluate_closures(s, g, f->closures_at_target, f->target_pose, f->target_q, f->center_target, f->target_screws);
}

void flight_rows_add_forces(const Sim* s, const FlightGroup* g) {
  TreeFlight* f = s->flight;
  for (int n = 0; n < g->closure_count; n++) {
    int k = group_closure(f, g, n), first = closure_first_row(f->closures_now, k);
    for (int i = 0; i < closure_row_count(f->closures_now, k) && is_closed(s, k); i++)
      if (f->row_impulse[first + i] != 0)
        closures_add_row(f->closures_now, k, i, f->row_impulse[first + i], f->reduced);
  }
}

/* Lists the closure rows of the group that have nonzero derivatives both at time t and at the target. */
static void list_nonzero_rows(const Sim* s, const FlightGroup* g) {
  TreeFlight* f = s->flight;
  f->rows.count = 0;
  for (int n = 0; n < g->closure_count; n++) {
    int k = group_closure(f, g, n), first = closure_first_row(f->closures_now, k);
    for (int i = 0; i < closure_row_count(f->closures_now, k) && is_closed(s, k); i++)
      if (f->closures_now->moves[first + i] && f->closures_at_target->moves[first + i])
        f->rows.active[f->rows.count++] = (ClosureRowIndex){k, i, first + i};
  }
}

static double* row_column(const TreeFlight* f, const Sim* s, int r) {
  return f->rows.column + (size_t)r * (size_t)s->model->dof_count;
}

/* Sets the entries of x that belong to the group's degrees of freedom to 0. */
static void clear_group(const Sim* s, const FlightGroup* g, double* x) {
  for (int n = 0; n < g->tree_count; n++) {
    const ModelTree* t = &s->model->trees[s->flight->trees[g->tree_first + n]];
    memset(x + t->dof_first, 0, sizeof(double) * (size_t)t->dof_count);
  }
}

/* Sets the entries of x that belong to the group's prescribed degrees of freedom to 0. */
static void clear_prescribed(const Sim* s, const FlightGroup* g, double* x) {
  for (int n = 0; s->prescribed_joints.count > 0 && n < g->tree_count; n++) {
    const ModelTree* t = &s->model->trees[s->flight->trees[g->tree_first + n]];
    for (int d = t->dof_first; d < t->dof_first + t->dof_count; d++)
      if (s->prescribed_joints.is_fixed[d]) x[d] = 0;
  }
}

static bool acts_on_tree(const Sim* s, int tree, const double* x) {
  const ModelTree* t = &s->model->trees[tree];
  for (int d = t->dof_first; d < t->dof_first + t->dof_count; d++)
    if (x[d] != 0) return true;
  return false;
}

/* Sets column r to the displacement of the coordinates due to a unit force of closure row r in its direction at time t.
 */
static void solve_column(const Sim* s, const FlightGroup* g, int r) {
  TreeFlight* f = s->flight;
  double* x = row_column(f, s, r);
  clear_group(s, g, x);
  closures_add_row(f->closures_now, f->rows.active[r].closure, f->rows.active[r].row, 1, x);
  clear_prescribed(s, g, x);
  for (int n = 0; n < g->tree_count; n++)
    if (acts_on_tree(s, f->trees[g->tree_first + n], x)) flight_tree_solve(f, f->trees[g->tree_first + n], x);
}

bool flight_rows_factor(const Sim* s, const FlightGroup* g) {
  TreeFlight* f = s->flight;
  FlightRows* rows = &f->rows;
  rows->count = rows->rank = 0;
  if (g->closure_count == 0) return true;
  list_nonzero_rows(s, g);
  for (int r = 0; r < rows->count; r++) {
    double rho = f->closures_now->stiffness[rows->active[r].index];
    rows->unit[r] = rho > 0 ? sqrt(rho) : 1;
    solve_column(s, g, r);
  }
  for (int i = 0; i < rows->count; i++)
    for (int r = 0; r < rows->count; r++)
      rows->matrix[i * rows->count + r] = rows->unit[i] * rows->unit[r] *
                                          closures_row_product(f->closures_at_target, rows->active[i].closure,
                                                               rows->active[i].row, row_column(f, s, r));
  rows->rank = rank_factor(rows->count, rows->matrix, rows->equation, rows->unknown, PIVOT_MIN);
  return rows->rank >= 0;
}

void flight_rows_solve(const Sim* s, const FlightGroup* g) {
  TreeFlight* f = s->flight;
  FlightRows* rows = &f->rows;
  for (int r = 0; r < rows->count; r++) {
    const ClosureRowIndex* a = &rows->active[r];
    rows->right[r] = rows->unit[r] * (f->closures_at_target->value[a->index] -
                                      closures_row_product(f->closures_at_target, a->closure, a->row, f->change));
  }
  rank_solve(rows->count, rows->rank, rows->matrix, rows->equation, rows->unknown, rows->right, rows->work);
  for (int r = 0; r < rows->count; r++) {
    double more = rows->unit[r] * rows->right[r];
    const double* column = row_column(f, s, r);
    if (more == 0) continue;
    f->row_impulse[rows->active[r].index] += more;
    closures_add_row(f->closures_now, rows->active[r].closure, rows->active[r].row, more, f->reduced);
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
    int k = group_closure(f, g, n);
    if (is_closed(s, k) && !(closure_relative_error(f->closures_at_target, k, f->closures_at_target->value) <= 1))
      return false;
  }
  return true;
}

void flight_rows_minimize_forces(const Sim* s, const FlightGroup* g) {
  TreeFlight* f = s->flight;
  FlightRows* rows = &f->rows;
  if (g->closure_count == 0 || rows->rank == rows->count) return;
  for (int r = 0; r < rows->count; r++) rows->right[r] = f->row_impulse[rows->active[r].index] / rows->unit[r];
  rank_remove_null_space(rows->count, rows->rank, rows->matrix, rows->unknown, rows->right, rows->work);
  for (int r = 0; r < rows->count; r++) f->row_impulse[rows->active[r].index] = rows->right[r] * rows->unit[r];
}

void flight_rows_solve_transposed(const Sim* s, const FlightGroup* g, const double* x, double* out) {
  TreeFlight* f = s->flight;
  FlightRows* rows = &f->rows;
  clear_group(s, g, out);
  for (int n = 0; n < g->closure_count; n++) {
    int k = group_closure(f, g, n);
    memset(f->eta + closure_first_row(f->closures_now, k), 0,
           sizeof(double) * (size_t)closure_row_count(f->closures_now, k));
  }
  for (int r = 0; r < rows->count; r++)
    rows->right[r] =
        rows->unit[r] * (closures_row_product(f->closures_now, rows->active[r].closure, rows->active[r].row, x) -
                         (f->by_row ? f->by_row[rows->active[r].index] / f->gravity_time : 0));
  rank_solve_transposed(rows->count, rows->rank, rows->matrix, rows->equation, rows->unknown, rows->right, rows->work);
  for (int r = 0; r < rows->count; r++) {
    double eta = f->eta[rows->active[r].index] = rows->unit[r] * rows->right[r];
    closures_add_row(f->closures_at_target, rows->active[r].closure, rows->active[r].row, eta, out);
  }
  clear_prescribed(s, g, out);
}

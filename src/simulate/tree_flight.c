/* Targets of trees of joints that conserve their momentum in free flight (docs/derivations/spin.md, W11-W17). */
#include "simulate/tree_flight.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <string.h>

static LinkSpan tree_span(const Sim* s, int tree) {
  return (LinkSpan){s->trees.links + s->trees.first[tree], s->trees.first[tree + 1] - s->trees.first[tree]};
}

static LinkSpan group_span(const TreeFlight* f, const FlightGroup* g) {
  return (LinkSpan){f->links + g->link_first, g->link_count};
}

double tree_flight_angular_speed(const Sim* s) {
  TreeFlight* f = s->flight;
  double fastest = 0;
  for (int g = 0; f && g < f->group_count; g++) {
    LinkSpan span = group_span(f, &f->group[g]);
    for (int k = 0; k < span.count; k++) {
      const ModelLink* link = &s->model->links[span.links[k]];
      Vec3 w = link->parent >= 0 && s->model->links[link->parent].tree >= 0 ? f->force[link->parent] : vec3(0, 0, 0);
      model_link_screws(s->model, span.links[k], s->q_now, s->pose_now, f->screws_now);
      for (int d = link->dof_first; d < link->dof_first + link->dof_count; d++)
        w = vec3_add_scaled(w, s->state.rate[d], f->screws_now[d].w);
      f->force[span.links[k]] = w;
      if (!f->is_steady_wheel[span.links[k]]) fastest = fmax(fastest, vec3_norm(w));
    }
  }
  return fastest;
}

/* ---------------------------------------------------------------- equations of the target */

/* Sets the coordinates of a joint one step before and one step after time t, extrapolated with the displacement of the
 * last step: `before_q` and `target_q` for the present step length, `behind_q` and `beyond_q` for the longer of the
 * present and the previous length. `target_q` is the initial guess of the joint's target. */
static void extrapolate_joint(Sim* s, int i) {
  TreeFlight* f = s->flight;
  const ModelLink* link = &s->model->links[i];
  bool first = !(s->clock.dt_before > 0);
  int q = link->coordinate_first, dof = link->dof_first;
  memcpy(f->last_displacement + dof, (first ? s->start_rate : s->difference_old) + dof,
         sizeof(double) * (size_t)link->dof_count);
  joint_extrapolate(&link->joint, s->q_now + q, f->last_displacement + dof, -f->factor, f->before_q + q);
  joint_extrapolate(&link->joint, s->q_now + q, f->last_displacement + dof, f->factor, f->target_q + q);
  if (link->prescribed >= 0)
    memcpy(f->target_q + q, s->prescribed_joints.target + q, sizeof(double) * (size_t)link->coordinate_count);
  if (f->bracket_weight == 0) return;
  joint_extrapolate(&link->joint, s->q_now + q, f->last_displacement + dof, -f->extrapolation_factor, f->behind_q + q);
  joint_extrapolate(&link->joint, s->q_now + q, f->last_displacement + dof, f->extrapolation_factor, f->beyond_q + q);
}

static void begin_group(Sim* s, const FlightGroup* g) {
  const Model* m = s->model;
  TreeFlight* f = s->flight;
  LinkSpan span = group_span(f, g);
  for (int k = 0; k < span.count; k++) {
    int i = span.links[k];
    extrapolate_joint(s, i);
    model_link_pose(m, i, f->before_q, f->pose_before);
    if (f->bracket_weight != 0) {
      model_link_pose(m, i, f->behind_q, f->pose_behind);
      model_link_pose(m, i, f->beyond_q, f->pose_beyond);
    }
    model_link_screws(m, i, s->q_now, s->pose_now, f->screws_now);
  }
  for (int n = 0; n < g->tree_count; n++) {
    int tree = f->trees[g->tree_first + n];
    flight_loads_project(s, tree, tree_span(s, tree));
  }
  flight_rows_begin(s, g);
}

static void set_target_poses(Sim* s, const FlightGroup* g) {
  TreeFlight* f = s->flight;
  LinkSpan span = group_span(f, g);
  for (int k = 0; k < span.count; k++) {
    model_link_pose(s->model, span.links[k], f->target_q, f->target_pose);
    model_link_screws(s->model, span.links[k], f->target_q, f->target_pose, f->target_screws);
    flight_joints_evaluate(s, span.links[k]);
  }
  flight_rows_evaluate(s, g);
}

static void pose_matrix(Pose pose, double out[3][4]) {
  double t[3] = {pose.t.x, pose.t.y, pose.t.z};
  for (int r = 0; r < 3; r++) {
    for (int c = 0; c < 3; c++) out[r][c] = pose.r.m[r][c];
    out[r][3] = t[r];
  }
}

void tree_flight_displacement(const Sim* s, int link, double out[3][4]) {
  assert(link >= 0 && link < s->model->link_count);
  const TreeFlight* f = s->flight;
  double ahead[3][4], now[3][4], before[3][4];
  Vec3 g = vec3_scale(model_link_gravity(s->model, link), f->gravity_time);
  double fall[3] = {g.x, g.y, g.z};
  pose_matrix(f->target_pose[link], ahead);
  pose_matrix(s->pose_now[link], now);
  pose_matrix(f->pose_before[link], before);
  for (int r = 0; r < 3; r++) {
    for (int c = 0; c < 4; c++) out[r][c] = (ahead[r][c] - now[r][c]) - (now[r][c] - before[r][c]);
    out[r][3] -= fall[r];
  }
  if (f->bracket_weight == 0) return;
  double behind[3][4], beyond[3][4];
  pose_matrix(f->pose_behind[link], behind);
  pose_matrix(f->pose_beyond[link], beyond);
  for (int r = 0; r < 3; r++)
    for (int c = 0; c < 4; c++)
      out[r][c] -= f->bracket_weight * ((beyond[r][c] - now[r][c]) - (now[r][c] - behind[r][c]));
}

/* Projects f->bar of the tree's links onto the joint coordinates: sets f->reduced to the product of f->bar and the
 * derivatives of the link poses with respect to the coordinates, for the degrees of freedom of the tree. The
 * derivatives are those at the accepted coordinates. */
static void project_to_joints(const Sim* s, int tree, LinkSpan span) {
  TreeFlight* f = s->flight;
  const ModelTree* t = &s->model->trees[tree];
  pose_bars_sum_forces(s->model, span, s->pose_now, f->bar, f->force, f->moment);
  memset(f->reduced + t->dof_first, 0, sizeof(double) * (size_t)t->dof_count);
  pose_bars_reduce(s->model, span, s->pose_now, f->screws_now, f->force, f->moment, f->reduced);
}

/* Adds the joint forces and subtracts the loads that the target of the tree contains, times f->gravity_time, to
 * f->reduced (W51, W52). */
static void add_joint_forces_and_loads(const Sim* s, int tree) {
  TreeFlight* f = s->flight;
  const FlightTree* t = &f->tree[tree];
  const ModelTree* all = &s->model->trees[tree];
  for (int d = all->dof_first; f->contains_loads[tree] && d < all->dof_first + all->dof_count; d++)
    f->reduced[d] -= f->gravity_time * f->load_force[d];
  for (int k = 0; f->contains_joint_forces[tree] && k < t->free_count; k++)
    f->reduced[f->free[t->free_first + k]] += f->gravity_time * f->joint_force[f->free[t->free_first + k]];
}

/* Adds the terms of the wheels among the links to f->reduced (W54). */
static void add_wheels(const Sim* s, LinkSpan span) {
  for (int k = 0; k < span.count; k++)
    if (s->flight->is_wheel[span.links[k]])
      s->flight->reduced[flight_wheel_dof(s, span.links[k])] += flight_wheel_residual(s, span.links[k]);
}

/* Sets f->reduced to the residual of the force balance of the target (first equation of W15, W51, W54) at the present
 * iterate of the target. */
static void compute_residual(const Sim* s, const FlightGroup* g) {
  TreeFlight* f = s->flight;
  LinkSpan span = group_span(f, g);
  for (int k = 0; k < span.count; k++) {
    double d[3][4];
    tree_flight_displacement(s, span.links[k], d);
    inertia_second_moment_product(&s->model->links[span.links[k]], d, f->bar[span.links[k]]);
  }
  for (int n = 0; n < g->tree_count; n++) {
    project_to_joints(s, f->trees[g->tree_first + n], tree_span(s, f->trees[g->tree_first + n]));
    add_joint_forces_and_loads(s, f->trees[g->tree_first + n]);
    add_wheels(s, tree_span(s, f->trees[g->tree_first + n]));
  }
  flight_rows_add_forces(s, g);
}

/* Sets out to the motion of a link's pose under a screw, times the second moment of the link's mass. */
static void moment_of_motion(const ModelLink* link, const Screw* screw, Pose pose, double out[3][4]) {
  double motion[3][4];
  pose_matrix((Pose){mat3_mul(mat3_cross(screw->w), pose.r), screw_velocity(screw, pose.t)}, motion);
  inertia_second_moment_product(link, motion, out);
}

/* Sets column `column` of the tree's matrix (FlightTree.matrix). It is the change of the momentum, projected with the
 * joint directions at time t, for a unit change of `dof` at the target. The matrix has rows and columns for free
 * degrees of freedom only. */
static void set_matrix_column(const Sim* s, int tree, LinkSpan span, int column) {
  const Model* m = s->model;
  TreeFlight* f = s->flight;
  int dof = f->free[f->tree[tree].free_first + column], owner = m->dof_link[dof];
  for (int k = 0; k < span.count; k++) {
    int i = span.links[k], up = i;
    while (up > owner) up = m->links[up].parent;
    if (up == owner)
      moment_of_motion(&m->links[i], &f->target_screws[dof], f->target_pose[i], f->bar[i]);
    else
      memset(f->bar[i], 0, sizeof(f->bar[i]));
  }
  project_to_joints(s, tree, span);
  const FlightTree* flight = &f->tree[tree];
  for (int r = 0; r < flight->free_count; r++)
    flight->matrix[r * flight->free_count + column] = f->reduced[f->free[flight->free_first + r]];
}

/* A pivot below this fraction of the diagonal entry counts as zero. A zero pivot belongs to a motion without inertia.
 */
#define PIVOT_MIN 1e-12

/* Factors A = L U in place, without pivoting, because A differs from the inertia matrix only by the rotation of one
 * step. Returns 0 if a pivot is zero. Returns -1 if a pivot is negative, which means a rotation of more than a right
 * angle. Otherwise returns 1. */
static int factor_matrix(int n, double* a) {
  assert(n >= 0);
  int sign = 1;
  for (int k = 0; k < n; k++) {
    double diagonal = a[k * n + k];
    for (int j = 0; j < k; j++) a[k * n + k] -= a[k * n + j] * a[j * n + k];
    if (!(fabs(a[k * n + k]) > PIVOT_MIN * fabs(diagonal))) return 0;
    if (a[k * n + k] < 0) sign = -1;
    for (int i = k + 1; i < n; i++) {
      for (int j = 0; j < k; j++) a[k * n + i] -= a[k * n + j] * a[j * n + i];
      for (int j = 0; j < k; j++) a[i * n + k] -= a[i * n + j] * a[j * n + k];
      a[i * n + k] /= a[k * n + k];
    }
  }
  return sign;
}

static void solve_factored(int n, const double* a, double* x) {
  for (int i = 1; i < n; i++)
    for (int j = 0; j < i; j++) x[i] -= a[i * n + j] * x[j];
  for (int i = n - 1; i >= 0; i--) {
    for (int j = i + 1; j < n; j++) x[i] -= a[i * n + j] * x[j];
    x[i] /= a[i * n + i];
  }
}

static void solve_factored_transposed(int n, const double* a, double* x) {
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < i; j++) x[i] -= a[j * n + i] * x[j];
    x[i] /= a[i * n + i];
  }
  for (int i = n - 2; i >= 0; i--)
    for (int j = i + 1; j < n; j++) x[i] -= a[j * n + i] * x[j];
}

static void factor_tree(const Sim* s, int tree) {
  FlightTree* t = &s->flight->tree[tree];
  LinkSpan span = tree_span(s, tree);
  for (int k = 0; k < t->free_count; k++) {
    int dof = s->flight->free[t->free_first + k], link = s->model->dof_link[dof];
    set_matrix_column(s, tree, span, k);
    t->matrix[k * t->free_count + k] += s->flight->gravity_time * s->flight->joint_stiffness[dof];
    if (s->flight->is_wheel[link] && dof == flight_wheel_dof(s, link))
      t->matrix[k * t->free_count + k] += flight_wheel_stiffness(s, link);
  }
  t->sign = factor_matrix(t->free_count, t->matrix);
}

/* Factors the matrices of the trees and of the closure rows of a group. Returns 0 if a matrix is singular, -1 if a
 * pivot is negative, otherwise 1. */
static int factor_group(const Sim* s, const FlightGroup* g) {
  const TreeFlight* f = s->flight;
  int sign = 1;
  for (int n = 0; n < g->tree_count; n++) {
    int tree = f->trees[g->tree_first + n];
    factor_tree(s, tree);
    if (f->tree[tree].sign == 0) return 0;
    if (f->tree[tree].sign < 0) sign = -1;
  }
  return flight_rows_factor(s, g) ? sign : 0;
}

/* Applies `by`, a function that solves with the matrix of one tree, to the entries of x for the tree's degrees of
 * freedom that are not prescribed. */
static void solve_in_tree(const TreeFlight* f, int tree, void (*by)(int, const double*, double*), double* x) {
  const FlightTree* t = &f->tree[tree];
  const int* dof = f->free + t->free_first;
  double* packed = f->packed;
  for (int k = 0; k < t->free_count; k++) packed[k] = x[dof[k]];
  by(t->free_count, t->matrix, packed);
  for (int k = 0; k < t->free_count; k++) x[dof[k]] = packed[k];
}

void flight_tree_solve(const TreeFlight* f, int tree, double* x) {
  assert(tree >= 0);
  solve_in_tree(f, tree, solve_factored, x);
}

void flight_tree_solve_transposed(const TreeFlight* f, int tree, double* x) {
  assert(tree >= 0);
  solve_in_tree(f, tree, solve_factored_transposed, x);
}

static void clear_prescribed(const Sim* s, const FlightGroup* g, double* x) {
  LinkSpan span = group_span(s->flight, g);
  for (int k = 0; k < span.count; k++) {
    const ModelLink* link = &s->model->links[span.links[k]];
    for (int d = link->dof_first; link->prescribed >= 0 && d < link->dof_first + link->dof_count; d++) x[d] = 0;
  }
}

bool tree_flight_solve_transposed(const Sim* s, int group, double* x) {
  assert(group < s->flight->group_count);
  assert(group >= 0);
  TreeFlight* f = s->flight;
  const FlightGroup* g = &f->group[group];
  if (factor_group(s, g) == 0) return false;
  clear_prescribed(s, g, x);
  for (int n = 0; n < g->tree_count; n++) flight_tree_solve_transposed(f, f->trees[g->tree_first + n], x);
  if (g->closure_count == 0) return true;
  flight_rows_solve_transposed(s, g, x, f->change);
  for (int n = 0; n < g->tree_count; n++) {
    const FlightTree* t = &f->tree[f->trees[g->tree_first + n]];
    flight_tree_solve_transposed(f, f->trees[g->tree_first + n], f->change);
    for (int k = 0; k < t->free_count; k++) x[f->free[t->free_first + k]] -= f->change[f->free[t->free_first + k]];
  }
  return true;
}

/* ---------------------------------------------------------------- solution of the target */

/* Sets f->change to the solution of the trees' linear equations with right-hand side f->reduced, corrected so that the
 * closure rows are satisfied. */
static void solve_change(const Sim* s, const FlightGroup* g) {
  TreeFlight* f = s->flight;
  for (int n = 0; n < g->tree_count; n++) {
    const ModelTree* t = &s->model->trees[f->trees[g->tree_first + n]];
    memcpy(f->change + t->dof_first, f->reduced + t->dof_first, sizeof(double) * (size_t)t->dof_count);
  }
  clear_prescribed(s, g, f->change);
  for (int n = 0; n < g->tree_count; n++) flight_tree_solve(f, f->trees[g->tree_first + n], f->change);
  flight_rows_solve(s, g);
}

/* Performs one Newton iteration for the target of a group. Returns |change . residual|, the squared norm of the change
 * in the metric of the inertia matrix M; negative if the iteration failed. Sets *sign to the result of factor_group. */
static double newton_step(Sim* s, const FlightGroup* g, int* sign) {
  TreeFlight* f = s->flight;
  LinkSpan span = group_span(f, g);
  double sum = 0;
  set_target_poses(s, g);
  *sign = factor_group(s, g);
  if (*sign == 0) return -1;
  compute_residual(s, g);
  solve_change(s, g);
  for (int n = 0; n < g->tree_count; n++) {
    const FlightTree* t = &f->tree[f->trees[g->tree_first + n]];
    for (int k = 0; k < t->free_count; k++)
      sum += f->change[f->free[t->free_first + k]] * f->reduced[f->free[t->free_first + k]];
  }
  for (int k = 0; k < span.count; k++) {
    const ModelLink* link = &s->model->links[span.links[k]];
    double* q = f->target_q + link->coordinate_first;
    if (link->prescribed < 0) joint_extrapolate(&link->joint, q, f->change + link->dof_first, -1, q);
  }
  return isfinite(sum) ? fabs(sum) : -1;
}

/* Returns the sum over the links of m |displacement to the target|^2, the squared norm of newton_step for the whole
 * displacement. */
static double displacement_norm_squared(const Sim* s, LinkSpan span) {
  double sum = 0;
  for (int k = 0; k < span.count; k++)
    sum += 2 * inertia_energy(&s->model->links[span.links[k]], s->flight->target_pose[span.links[k]],
                              s->pose_now[span.links[k]], 1);
  return sum;
}

/* Relative rounding error of a link's position. It is multiplied by the sum of the link's distance from the origin and
 * its size. */
#define FLIGHT_POSITION_ROUNDING (64 * DBL_EPSILON)

/* Returns the rounding error of displacement_norm_squared. Newton's method cannot reduce its change below this error,
 * which matters for a tree at rest. */
static double displacement_norm_rounding(const Sim* s, LinkSpan span) {
  double sum = 0;
  for (int k = 0; k < span.count; k++) {
    const ModelLink* link = &s->model->links[span.links[k]];
    double off = FLIGHT_POSITION_ROUNDING * (vec3_norm(s->pose_now[span.links[k]].t) + link->reach);
    sum += link->mass * off * off;
  }
  return sum;
}

enum { FLIGHT_ITERATIONS = 20 };
/* The changes of the coordinates in Newton's iterations decrease quadratically. A change that decreased by less than
 * this factor has reached its rounding error. */
#define CONVERGENCE_FACTOR (1.0 / 16)
/* Largest squared change of the coordinates in the last Newton iteration, relative to the squared displacement. It is
 * far above rounding and far below the change between two different roots. */
#define TARGET_TOLERANCE 1e-16

/* Computes the target of a group: coordinates that satisfy the force balance and the closures (W11, W15). Returns true
 * if Newton's method converged. */
static bool solve_target(Sim* s, const FlightGroup* g) {
  LinkSpan span = group_span(s->flight, g);
  begin_group(s, g);
  double last = INFINITY, first = 0;
  for (int k = 0; k < FLIGHT_ITERATIONS; k++) {
    int sign;
    double change = newton_step(s, g, &sign);
    s->flight->is_regular = sign != 0;
    if (change < 0) return false;
    bool is_trusted = k == 0 && sign < 0; /* after a negative pivot in the first iteration, only a solution equal to the
                                           initial guess is accepted */
    if (k == 0 && sign > 0) first = change;
    if (is_trusted || change == 0 || change > CONVERGENCE_FACTOR * last) {
      set_target_poses(s, g);
      return change <= TARGET_TOLERANCE * (displacement_norm_squared(s, span) + first) +
                           displacement_norm_rounding(s, span) &&
             flight_rows_are_satisfied(s, g);
    }
    if (sign < 0 && k > 0) return false;
    last = change;
  }
  return false;
}

/* Stores the forces of closures and of the drives of prescribed joints in free flight (W17). */
static void store_target_forces(Sim* s, const FlightGroup* g) {
  TreeFlight* f = s->flight;
  flight_rows_minimize_forces(s, g);
  for (int n = 0; s->closures && n < g->closure_count; n++) {
    int k = f->closures[g->closure_first + n], first = closure_first_row(f->closures_now, k);
    for (int row = first; row < first + closure_row_count(f->closures_now, k); row++)
      s->closures->target_force[row] = f->row_impulse[row] / f->gravity_time;
  }
  if ((!s->joint_reports.substep_forces && !s->balance) || s->prescribed_joints.count == 0) return;
  compute_residual(s, g);
  for (int n = 0; n < g->tree_count; n++) {
    const ModelTree* t = &s->model->trees[f->trees[g->tree_first + n]];
    for (int d = t->dof_first; d < t->dof_first + t->dof_count; d++) f->drive[d] = f->reduced[d] / f->gravity_time;
  }
}

/* Limits of the angular frequency of a tree times the length of the substep [rad]. Above OSCILLATION_RESOLVED the step
 * is divided into substeps. Above OSCILLATION_STABLE the tree keeps the first-order target, because explicit forces are
 * unstable above 2. */
#define OSCILLATION_RESOLVED 0.5
#define OSCILLATION_STABLE 1.5

static double group_oscillation_angle(Sim* s, const FlightGroup* g) {
  const TreeFlight* f = s->flight;
  double most = 0;
  for (int k = 0; k < g->tree_count; k++) {
    int tree = f->trees[g->tree_first + k];
    most = fmax(most, flight_oscillation_angle(s, tree, tree_span(s, tree)));
  }
  return most;
}

static void clear_forces(const Sim* s, const FlightGroup* g) {
  for (int k = 0; k < g->tree_count; k++) {
    int tree = s->flight->trees[g->tree_first + k];
    flight_joints_clear(s, tree);
    flight_loads_clear(s, tree, tree_span(s, tree));
  }
}

/* Sets f->contains_joint_forces of each tree of a group to true if joint forces act in the tree. Returns true if this
 * holds for at least one tree. */
static bool begin_joint_forces(const Sim* s, const FlightGroup* g) {
  TreeFlight* f = s->flight;
  bool any = false;
  for (int k = 0; k < g->tree_count; k++) {
    int tree = f->trees[g->tree_first + k];
    LinkSpan span = tree_span(s, tree);
    flight_joints_clear(s, tree);
    for (int n = 0; n < span.count; n++) {
      if (!f->has_joint_forces[span.links[n]]) continue;
      flight_joints_begin(s, span.links[n]);
      f->contains_joint_forces[tree] = true;
    }
    any = any || f->contains_joint_forces[tree];
  }
  return any;
}

/* Sets f->contains_loads of each tree of a group to true if loads act in the tree. The target then contains joint
 * forces, too, because direct loads are joint forces of the target. Returns true if loads act in at least one tree. */
static bool begin_loads(const Sim* s, const FlightGroup* g) {
  TreeFlight* f = s->flight;
  bool any = false;
  for (int k = 0; k < g->tree_count; k++) {
    int tree = f->trees[g->tree_first + k];
    bool loaded = flight_loads_begin(s, tree, tree_span(s, tree));
    f->contains_joint_forces[tree] = f->contains_joint_forces[tree] || loaded;
    any = any || loaded;
  }
  return any;
}

/* Finds the target of a group with its loads and the forces of its joints. If there is no such target, or if the step
 * does not resolve an oscillation due to the loads, finds the target without the loads (W52). If there is none, finds
 * the target without these forces, too (W51). Returns true if a target is found. Sets *oscillation to the largest
 * flight_oscillation_angle of the group, or to 0 if no target is found. */
static bool find_target(Sim* s, const FlightGroup* g, double* oscillation) {
  bool with_joints = begin_joint_forces(s, g);
  if (begin_loads(s, g) && solve_target(s, g)) {
    *oscillation = group_oscillation_angle(s, g);
    if (*oscillation <= OSCILLATION_RESOLVED) return true;
  }
  clear_forces(s, g);
  bool found = with_joints && begin_joint_forces(s, g) && solve_target(s, g);
  if (!found) {
    clear_forces(s, g);
    found = solve_target(s, g);
  }
  *oscillation = found ? group_oscillation_angle(s, g) : 0;
  return found;
}

void tree_flight_set_targets(Sim* s) {
  TreeFlight* f = s->flight;
  if (!f) return;
  const Model* m = s->model;
  double dt = s->clock.dt, before = fmax(s->clock.dt_before, 0);
  f->gravity_time = 0.5 * dt * (dt + before);
  f->factor = before > 0 ? dt / before : dt;
  double shorter = before > dt
                       ? dt / before
                       : 1; /* ratio of the present step length to the longer of the present and the previous length */
  f->extrapolation_factor = f->factor / shorter;
  f->bracket_weight = 0.5 * (1 - before / dt) * shorter * shorter;
  f->needs_refinement = false;
  memcpy(f->pose_before, s->pose_now, sizeof(Pose) * (size_t)m->link_count);
  memcpy(f->target_pose, s->pose_now, sizeof(Pose) * (size_t)m->link_count);
  memcpy(f->pose_behind, s->pose_now, sizeof(Pose) * (size_t)m->link_count);
  memcpy(f->pose_beyond, s->pose_now, sizeof(Pose) * (size_t)m->link_count);
  memcpy(f->pose_side, s->pose_now, sizeof(Pose) * (size_t)m->link_count);
  if (s->closures) memset(s->closures->target_force, 0, sizeof(double) * (size_t)s->closures->row_count);
  for (int n = 0; n < f->group_count; n++) {
    const FlightGroup* g = &f->group[n];
    LinkSpan span = group_span(f, g);
    double oscillation;
    bool found = find_target(s, g, &oscillation);
    f->needs_refinement =
        f->needs_refinement || oscillation > OSCILLATION_RESOLVED || (!found && f->is_regular && g->closure_count == 0);
    found = found && oscillation <= OSCILLATION_STABLE;
    if (found) store_target_forces(s, g);
    for (int k = 0; k < g->tree_count; k++) f->has_target[f->trees[g->tree_first + k]] = found;
    if (!found) clear_forces(s, g);
    for (int k = 0; k < span.count; k++) {
      int i = span.links[k];
      if (found)
        s->target[i] = f->target_pose[i];
      else
        f->target_pose[i] = s->pose_now[i];
    }
  }
}

/* ---------------------------------------------------------------- the start of Newton's iteration */

static void mark_groups_without_contact(Sim* s) {
  TreeFlight* f = s->flight;
  const Model* m = s->model;
  for (int n = 0; n < s->scope.tree_count; n++)
    f->is_without_contact[s->scope.trees[n]] = f->has_target[s->scope.trees[n]];
  int count = s->contact ? contact_term_count(s->contact) : 0;
  for (int k = 0; k < count; k++) {
    ContactTerms t = contact_term(s->contact, k);
    int link[2] = {t.link_a, t.link_b};
    for (int side = 0; side < 2; side++)
      if (m->links[link[side]].tree >= 0) f->is_without_contact[m->links[link[side]].tree] = false;
  }
  for (int n = 0; s->closures && n < f->group_count;
       n++) { /* the trees of a group start at their targets together or not at all */
    const FlightGroup* g = &f->group[n];
    bool all = true;
    for (int k = 0; k < g->tree_count; k++) all = all && f->is_without_contact[f->trees[g->tree_first + k]];
    for (int k = 0; k < g->tree_count; k++) f->is_without_contact[f->trees[g->tree_first + k]] = all;
  }
}

void tree_flight_set_start_increments(Sim* s, double* delta) {
  TreeFlight* f = s->flight;
  if (!f) return;
  mark_groups_without_contact(s);
  for (int n = 0; n < s->scope.link_count; n++) {
    int i = s->scope.links[n];
    const ModelLink* link = &s->model->links[i];
    if (!tree_flight_starts_at_target(f, link)) continue;
    const double *at = s->configuration[s->current].q + link->coordinate_first,
                 *to = f->target_q + link->coordinate_first;
    double* d = delta + link->dof_first;
    for (int k = 0; k < link->joint.scalar_count; k++) d[k] = to[k] - at[k];
    if (!link->joint.quaternion) continue;
    int plain = link->joint.scalar_count;
    Quat turn = quat_mul(quat_conjugate(quat_at(at + plain)), quat_at(to + plain));
    vec3_store(xyz_angles_from_mat3(mat3_from_quat(turn)), d + plain);
  }
}

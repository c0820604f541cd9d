/* Trees of joints by their momentum (docs/derivations/spin.md, W11-W12). */
#include "simulate/tree_flight.h"

#include <float.h>
#include <math.h>
#include <string.h>

TreeFlight* tree_flight_create(const Sim* s) {
  const Model* m = s->model;
  if (m->simulation.integrator != INTEGRATOR_MOMENTUM) return NULL;
  size_t largest = 0;
  for (int k = 0; k < m->tree_count; k++)
    if (m->trees[k].flies && (size_t)m->trees[k].dof_count > largest) largest = (size_t)m->trees[k].dof_count;
  if (largest == 0) return NULL;
  size_t links = (size_t)m->link_count, nv = (size_t)m->dof_count;
  TreeFlight* f = MEMORY_NEW(TreeFlight, 1);
  f->found = MEMORY_NEW(bool, m->tree_count);
  f->untouched = MEMORY_NEW(bool, m->tree_count);
  double** const coordinates[] = {&f->before, &f->ahead};
  double** const increments[] = {&f->way, &f->reduced, &f->change};
  Pose** const poses[] = {&f->pose_before, &f->pose_ahead};
  Screw** const screws[] = {&f->screws_now, &f->screws_ahead};
  for (int k = 0; k < 2; k++) *coordinates[k] = MEMORY_NEW(double, m->coordinate_count);
  for (int k = 0; k < 3; k++) *increments[k] = MEMORY_NEW(double, nv);
  for (int k = 0; k < 2; k++) *poses[k] = MEMORY_NEW(Pose, links);
  for (int k = 0; k < 2; k++) *screws[k] = MEMORY_NEW(Screw, nv);
  f->bar = memory_alloc(sizeof(double[3][4]) * links);
  f->force = MEMORY_NEW(Vec3, links);
  f->moment = MEMORY_NEW(Mat3, links);
  f->matrix = MEMORY_NEW(double, largest* largest);
  return f;
}

void tree_flight_destroy(TreeFlight* f) {
  if (!f) return;
  void* owned[] = {f->found,      f->untouched,  f->before,       f->ahead,  f->pose_before,
                   f->pose_ahead, f->screws_now, f->screws_ahead, f->way,    f->bar,
                   f->force,      f->moment,     f->reduced,      f->change, f->matrix};
  for (size_t k = 0; k < sizeof(owned) / sizeof(owned[0]); k++) memory_free(owned[k]);
  memory_free(f);
}

static LinkSpan tree_span(const Sim* s, int tree) {
  return (LinkSpan){s->tree_links + s->tree_first[tree], s->tree_first[tree + 1] - s->tree_first[tree]};
}

/* ---------------------------------------------------------------- the equations */

/* Where the tree would have been a step of this length ago, had its joints moved as they did last. */
static void go_back(Sim* s, LinkSpan span) {
  const Model* m = s->model;
  TreeFlight* f = s->flight;
  bool first = !(s->clock.dt_before > 0);
  f->factor = first ? s->clock.dt : s->clock.dt / s->clock.dt_before;
  for (int k = 0; k < span.count; k++) {
    const ModelLink* link = &m->links[span.links[k]];
    int q = link->coordinate_first, dof = link->dof_first;
    memcpy(f->way + dof, (first ? s->start_rate : s->difference_old) + dof, sizeof(double) * (size_t)link->dof_count);
    joint_continue(&link->joint, s->q_now + q, f->way + dof, -f->factor, f->before + q);
    joint_continue(&link->joint, s->q_now + q, f->way + dof, f->factor, f->ahead + q);
    model_link_pose(m, span.links[k], f->before, f->pose_before);
    model_link_screws(m, span.links[k], s->q_now, s->pose_now, f->screws_now);
  }
}

static void place_ahead(Sim* s, LinkSpan span) {
  TreeFlight* f = s->flight;
  for (int k = 0; k < span.count; k++) {
    model_link_pose(s->model, span.links[k], f->ahead, f->pose_ahead);
    model_link_screws(s->model, span.links[k], f->ahead, f->pose_ahead, f->screws_ahead);
  }
}

static void pose_matrix(Pose pose, double out[3][4]) {
  double t[3] = {pose.t.x, pose.t.y, pose.t.z};
  for (int r = 0; r < 3; r++) {
    for (int c = 0; c < 3; c++) out[r][c] = pose.r.m[r][c];
    out[r][3] = t[r];
  }
}

void tree_flight_displacement(const Sim* s, int link, double out[3][4]) {
  const TreeFlight* f = s->flight;
  double ahead[3][4], now[3][4], before[3][4];
  Vec3 g = vec3_scale(model_link_gravity(s->model, link), f->gravity_time);
  double fall[3] = {g.x, g.y, g.z};
  pose_matrix(f->pose_ahead[link], ahead);
  pose_matrix(s->pose_now[link], now);
  pose_matrix(f->pose_before[link], before);
  for (int r = 0; r < 3; r++) {
    for (int c = 0; c < 4; c++) out[r][c] = (ahead[r][c] - now[r][c]) - (now[r][c] - before[r][c]);
    out[r][3] -= fall[r];
  }
}

/* reduced = J(q^t)^T bar over the tree. */
static void project(const Sim* s, int tree, LinkSpan span) {
  TreeFlight* f = s->flight;
  const ModelTree* t = &s->model->trees[tree];
  bars_compose(s->model, span, s->pose_now, f->bar, f->force, f->moment);
  memset(f->reduced + t->dof_first, 0, sizeof(double) * (size_t)t->dof_count);
  bars_reduce(s->model, span, s->pose_now, f->screws_now, f->force, f->moment, f->reduced);
}

static void residual(const Sim* s, int tree, LinkSpan span) {
  for (int k = 0; k < span.count; k++) {
    double d[3][4];
    tree_flight_displacement(s, span.links[k], d);
    inertia_times(&s->model->links[span.links[k]], d, s->flight->bar[span.links[k]]);
  }
  project(s, tree, span);
}

/* What a link's pose at the aim does under a screw, through its inertia. */
static void moved_bar(const ModelLink* link, const Screw* screw, Pose pose, double out[3][4]) {
  double motion[3][4];
  pose_matrix((Pose){mat3_mul(mat3_cross(screw->w), pose.r), screw_velocity(screw, pose.t)}, motion);
  inertia_times(link, motion, out);
}

/* Column of A: J(q^t)^T M dx^/ddof. */
static void fill_column(const Sim* s, int tree, LinkSpan span, int dof) {
  const Model* m = s->model;
  TreeFlight* f = s->flight;
  const ModelTree* t = &m->trees[tree];
  int owner = m->dof_link[dof];
  for (int k = 0; k < span.count; k++) {
    int i = span.links[k], up = i;
    while (up > owner) up = m->links[up].parent;
    if (up == owner)
      moved_bar(&m->links[i], &f->screws_ahead[dof], f->pose_ahead[i], f->bar[i]);
    else
      memset(f->bar[i], 0, sizeof(f->bar[i]));
  }
  project(s, tree, span);
  int n = t->dof_count, column = dof - t->dof_first;
  for (int r = 0; r < n; r++) f->matrix[r * n + column] = f->reduced[t->dof_first + r];
}

/* Pivots below this part of the diagonal say that some motion has no inertia of its own. */
#define LEAST_PIVOT 1e-12

/* L U without exchanges: A is that of the tree's inertia but for the turn of one step. 0: some motion has no inertia;
 * -1: one by more than a right angle, whose pivot is negative; else 1. */
static int factor(int n, double* a) {
  int sign = 1;
  for (int k = 0; k < n; k++) {
    double diagonal = a[k * n + k];
    for (int j = 0; j < k; j++) a[k * n + k] -= a[k * n + j] * a[j * n + k];
    if (!(fabs(a[k * n + k]) > LEAST_PIVOT * fabs(diagonal))) return 0;
    if (a[k * n + k] < 0) sign = -1;
    for (int i = k + 1; i < n; i++) {
      for (int j = 0; j < k; j++) a[k * n + i] -= a[k * n + j] * a[j * n + i];
      for (int j = 0; j < k; j++) a[i * n + k] -= a[i * n + j] * a[j * n + k];
      a[i * n + k] /= a[k * n + k];
    }
  }
  return sign;
}

static void solve(int n, const double* a, double* x) {
  for (int i = 1; i < n; i++)
    for (int j = 0; j < i; j++) x[i] -= a[i * n + j] * x[j];
  for (int i = n - 1; i >= 0; i--) {
    for (int j = i + 1; j < n; j++) x[i] -= a[i * n + j] * x[j];
    x[i] /= a[i * n + i];
  }
}

static void solve_transposed(int n, const double* a, double* x) {
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < i; j++) x[i] -= a[j * n + i] * x[j];
    x[i] /= a[i * n + i];
  }
  for (int i = n - 2; i >= 0; i--)
    for (int j = i + 1; j < n; j++) x[i] -= a[j * n + i] * x[j];
}

static int factor_at_aim(const Sim* s, int tree, LinkSpan span) {
  const ModelTree* t = &s->model->trees[tree];
  for (int k = 0; k < t->dof_count; k++) fill_column(s, tree, span, t->dof_first + k);
  return factor(t->dof_count, s->flight->matrix);
}

bool tree_flight_solve_transposed(const Sim* s, int tree, double* x) {
  const ModelTree* t = &s->model->trees[tree];
  if (factor_at_aim(s, tree, tree_span(s, tree)) == 0) return false;
  solve_transposed(t->dof_count, s->flight->matrix, x + t->dof_first);
  return true;
}

/* ---------------------------------------------------------------- the aim */

/* What a Newton step still changes, in the measure of M: |change . residual|. Negative: no step. */
static double newton_step(Sim* s, int tree, LinkSpan span, int* sign) {
  TreeFlight* f = s->flight;
  const ModelTree* t = &s->model->trees[tree];
  place_ahead(s, span);
  *sign = factor_at_aim(s, tree, span);
  if (*sign == 0) return -1;
  residual(s, tree, span);
  double *r = f->reduced + t->dof_first, *x = f->change + t->dof_first, sum = 0;
  memcpy(x, r, sizeof(double) * (size_t)t->dof_count);
  solve(t->dof_count, f->matrix, x);
  for (int k = 0; k < t->dof_count; k++) sum += x[k] * r[k];
  for (int k = 0; k < span.count; k++) {
    const ModelLink* link = &s->model->links[span.links[k]];
    double* q = f->ahead + link->coordinate_first;
    joint_continue(&link->joint, q, f->change + link->dof_first, -1, q);
  }
  return isfinite(sum) ? fabs(sum) : -1;
}

/* Twice the energy of the way to the aim, in that measure. */
static double way_energy(const Sim* s, LinkSpan span) {
  double sum = 0;
  for (int k = 0; k < span.count; k++)
    sum += 2 * inertia_energy(&s->model->links[span.links[k]], s->flight->pose_ahead[span.links[k]],
                              s->pose_now[span.links[k]], 1);
  return sum;
}

/* Roundings of a link's place that its way to the aim is made of. */
#define PLACE_ROUNDINGS (64 * DBL_EPSILON)

/* What of that energy no iteration gets below: a tree at rest has no way, but its links have places. */
static double way_rounding(const Sim* s, LinkSpan span) {
  double sum = 0;
  for (int k = 0; k < span.count; k++) {
    const ModelLink* link = &s->model->links[span.links[k]];
    double off = PLACE_ROUNDINGS * (vec3_norm(s->pose_now[span.links[k]].t) + link->reach);
    sum += link->mass * off * off;
  }
  return sum;
}

enum { FLIGHT_ITERATIONS = 20 };
/* Newton's changes shrink quadratically until they are rounding, and by less than this from there on. */
#define STILL_CONVERGING (1.0 / 16)
/* The last one's part of the way, squared: far above rounding, far below what a root elsewhere would leave. */
#define FLIGHT_SOLVED 1e-16

/* W11. */
static bool find_aim(Sim* s, int tree) {
  LinkSpan span = tree_span(s, tree);
  go_back(s, span);
  double last = INFINITY, first = 0;
  for (int k = 0; k < FLIGHT_ITERATIONS; k++) {
    int sign;
    double change = newton_step(s, tree, span, &sign);
    if (change < 0) return false;
    if (k == 0 && sign > 0) first = change; /* else only going on as before is believed */
    if (change == 0 || change > STILL_CONVERGING * last) {
      place_ahead(s, span);
      return change <= FLIGHT_SOLVED * (way_energy(s, span) + first) + way_rounding(s, span);
    }
    if (sign < 0 && k > 0) return false;
    last = change;
  }
  return false;
}

void tree_flight_aim(Sim* s) {
  TreeFlight* f = s->flight;
  if (!f) return;
  const Model* m = s->model;
  f->gravity_time = 0.5 * s->clock.dt * (s->clock.dt + fmax(s->clock.dt_before, 0));
  memcpy(f->pose_before, s->pose_now, sizeof(Pose) * (size_t)m->link_count);
  memcpy(f->pose_ahead, s->pose_now, sizeof(Pose) * (size_t)m->link_count);
  for (int tree = 0; tree < m->tree_count; tree++) {
    f->found[tree] = m->trees[tree].flies && find_aim(s, tree);
    LinkSpan span = tree_span(s, tree);
    for (int k = 0; k < span.count; k++) {
      int i = span.links[k];
      if (f->found[tree])
        s->target[i] = f->pose_ahead[i];
      else
        f->pose_ahead[i] = s->pose_now[i];
    }
  }
}

/* ---------------------------------------------------------------- the start of Newton's iteration */

static void mark_untouched(Sim* s) {
  TreeFlight* f = s->flight;
  const Model* m = s->model;
  for (int k = 0; k < m->tree_count; k++) f->untouched[k] = f->found[k];
  int count = s->contact ? contact_term_count(s->contact) : 0;
  for (int k = 0; k < count; k++) {
    ContactTerms t = contact_term(s->contact, k);
    int link[2] = {t.link_a, t.link_b};
    for (int side = 0; side < 2; side++)
      if (m->links[link[side]].tree >= 0) f->untouched[m->links[link[side]].tree] = false;
  }
}

void tree_flight_increments(Sim* s, double* delta) {
  TreeFlight* f = s->flight;
  if (!f) return;
  mark_untouched(s);
  for (int i = 0; i < s->model->link_count; i++) {
    const ModelLink* link = &s->model->links[i];
    if (!tree_flight_starts_at_aim(f, link)) continue;
    const double *at = s->configuration[s->current].q + link->coordinate_first, *to = f->ahead + link->coordinate_first;
    double* d = delta + link->dof_first;
    for (int k = 0; k < link->joint.plain_count; k++) d[k] = to[k] - at[k];
    if (!link->joint.quaternion) continue;
    int plain = link->joint.plain_count;
    Quat turn = quat_mul(quat_conjugate(quat_at(at + plain)), quat_at(to + plain));
    vec3_store(turns_from_mat3(mat3_from_quat(turn)), d + plain);
  }
}

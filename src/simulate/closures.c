/* Closures in a step (docs/derivations/closures.md). */
#include "simulate/closures.h"

#include <float.h>
#include <string.h>

/* Roundings of a position that no step can do without. */
#define CLOSURE_ROUNDINGS (64 * DBL_EPSILON)
/* Part of its size, or angle, that a closure may be open by at the start: the first step closes it. */
#define START_OPEN 1e-3
/* Rounding of an energy, relative, and of a position. */
#define ENERGY_ROUNDING 1e-14
/* Part of its summands below which a slope is rounding: the plane of a linkage that lies askew is left by no joint, and
 * a row that nothing moves has to be known as one. */
#define SLOPE_ROUNDING 1e-13
#define POSITION_ROUNDING 1e-15

/* ---------------------------------------------------------------- the equations (Z1) */

/* The ends of a closure, and what its rows are made of. */
typedef struct {
  Pose pose[2];
  Vec3 end[2], apart;
} Ends;

static Ends ends_of(const ModelClosure* c, const Pose* poses) {
  Ends e;
  for (int side = 0; side < 2; side++) {
    e.pose[side] = model_closure_pose(c, side, poses);
    e.end[side] = pose_apply(e.pose[side], c->end[side]);
  }
  e.apart = vec3_sub(e.end[0], e.end[1]);
  return e;
}

static Vec3 unit_axis(int axis) { return vec3(axis == 0, axis == 1, axis == 2); }

static double row_value(const ModelClosure* c, const ClosureRow* row, const Ends* e) {
  switch (row->kind) {
    case CLOSURE_POINT:
      return vec3_dot(unit_axis(row->axis), e->apart);
    case CLOSURE_ALIGN:
      return vec3_dot(mat3_mul_vec(e->pose[0].r, row->u), mat3_mul_vec(e->pose[1].r, row->v));
    case CLOSURE_ACROSS:
      return vec3_dot(e->apart, mat3_mul_vec(e->pose[1].r, row->v));
    case CLOSURE_LENGTH:
      break;
  }
  return 0.5 * (vec3_dot(e->apart, e->apart) / c->length - c->length);
}

static double coupling_value(const ModelCoupling* c, const double* q) {
  double sum = -c->offset;
  for (int i = 0; i < c->count; i++) sum += c->slope[i] * q[c->coordinate[i]];
  return sum;
}

void closures_values(const ClosureSystem* s, const Pose* poses, const double* q, double* values) {
  const Model* m = s->model;
  for (int k = 0; k < m->closure_count; k++) {
    const ModelClosure* c = &m->closures[k];
    Ends e = ends_of(c, poses);
    for (int i = 0; i < c->row_count; i++) values[c->row_first + i] = row_value(c, &c->rows[i], &e);
  }
  for (int k = 0; k < m->coupling_count; k++) values[m->couplings[k].row] = coupling_value(&m->couplings[k], q);
}

/* The direction that the row measures `apart` along; zero for directions. */
static Vec3 row_direction(const ModelClosure* c, const ClosureRow* row, const Ends* e) {
  if (row->kind == CLOSURE_POINT) return unit_axis(row->axis);
  if (row->kind == CLOSURE_ACROSS) return mat3_mul_vec(e->pose[1].r, row->v);
  if (row->kind == CLOSURE_LENGTH) return vec3_scale(e->apart, 1 / c->length);
  return vec3(0, 0, 0);
}

/* Derivatives by the motion of both links about their centres of mass, arm: of the ends (Z4). */
static void row_slope(const ModelClosure* c, const ClosureRow* row, const Ends* e, const Vec3 arm[2], Vec3 force[2],
                      Mat3 moment[2]) {
  if (row->kind == CLOSURE_ALIGN) {
    Vec3 u = mat3_mul_vec(e->pose[0].r, row->u), v = mat3_mul_vec(e->pose[1].r, row->v);
    force[0] = force[1] = vec3(0, 0, 0);
    moment[0] = mat3_outer(v, u);
    moment[1] = mat3_outer(u, v);
    return;
  }
  force[0] = row_direction(c, row, e);
  force[1] = vec3_scale(force[0], -1);
  for (int side = 0; side < 2; side++) moment[side] = mat3_outer(force[side], arm[side]);
  if (row->kind == CLOSURE_ACROSS) moment[1] = mat3_add(moment[1], mat3_outer(e->apart, force[0]));
}

/* ---------------------------------------------------------------- terms */

/* A vector's change by both twists (w, v) about the centres: w x arm + v of a, less the same of b where it is theirs.
 */
typedef struct {
  double by[3][12];
} VectorSlope;

static void set_turn(VectorSlope* j, int side, Vec3 arm, double sign) {
  double x[3][3] = {{0, arm.z, -arm.y}, {-arm.z, 0, arm.x}, {arm.y, -arm.x, 0}}; /* w x arm = -[arm]x w */
  for (int i = 0; i < 3; i++)
    for (int k = 0; k < 3; k++) j->by[i][6 * side + k] = sign * x[i][k];
}

static VectorSlope apart_slope(const Vec3 arm[2]) {
  VectorSlope j = {{{0}}};
  for (int side = 0; side < 2; side++) {
    double sign = side == 0 ? 1 : -1;
    set_turn(&j, side, arm[side], sign);
    for (int i = 0; i < 3; i++) j.by[i][6 * side + 3 + i] = sign;
  }
  return j;
}

static VectorSlope turn_slope(int side, Vec3 direction) {
  VectorSlope j = {{{0}}};
  set_turn(&j, side, direction, 1);
  return j;
}

/* H += factor (A^T B + B^T A) / 2. */
static void add_product(const VectorSlope* a, const VectorSlope* b, double factor, double h[12][12]) {
  for (int i = 0; i < 12; i++)
    for (int j = 0; j < 12; j++) {
      double sum = 0;
      for (int k = 0; k < 3; k++) sum += a->by[k][i] * b->by[k][j] + b->by[k][i] * a->by[k][j];
      h[i][j] += 0.5 * factor * sum;
    }
}

/* What is left of the second derivative while poses move along straight lines: products of vectors that both move. */
static void add_curvature(const ModelClosure* c, const ClosureRow* row, const Ends* e, const Vec3 arm[2], double factor,
                          double h[12][12]) {
  if (row->kind == CLOSURE_POINT || factor == 0) return;
  if (row->kind == CLOSURE_ALIGN) {
    VectorSlope u = turn_slope(0, mat3_mul_vec(e->pose[0].r, row->u));
    VectorSlope v = turn_slope(1, mat3_mul_vec(e->pose[1].r, row->v));
    for (int i = 0; i < 3; i++)
      for (int j = 0; j < 3; j++) { /* only both turns count */
        double sum = u.by[0][i] * v.by[0][6 + j] + u.by[1][i] * v.by[1][6 + j] + u.by[2][i] * v.by[2][6 + j];
        h[i][6 + j] += factor * sum;
        h[6 + j][i] += factor * sum;
      }
    return;
  }
  VectorSlope apart = apart_slope(arm);
  if (row->kind == CLOSURE_LENGTH) {
    add_product(&apart, &apart, factor / c->length, h);
    return;
  }
  VectorSlope v = turn_slope(1, mat3_mul_vec(e->pose[1].r, row->v));
  add_product(&apart, &v, 2 * factor, h);
}

/* How easily the two bodies alone would follow the row: sum |force|^2 / m + |torque|^2 / inertia [1/kg ...]. */
static double free_mobility(const ClosureEase* ease, const Vec3 force[2], const Vec3 torque[2]) {
  double sum = 0;
  for (int side = 0; side < 2; side++)
    sum +=
        vec3_dot(force[side], force[side]) * ease->move[side] + vec3_dot(torque[side], torque[side]) * ease->turn[side];
  return sum;
}

static void set_slope(ClosureSystem* s, int k, int row, const Vec3 force[2], const Vec3 torque[2],
                      const Vec3 reference[2], const Screw* screws) {
  int first = s->dof_first[k], count = s->dof_first[k + 1] - first;
  double* out = s->slope + s->slope_first[k] + (size_t)row * (size_t)count;
  for (int n = 0; n < count; n++) {
    const Screw* screw = &screws[s->dof[first + n]];
    double size = 0;
    out[n] = 0;
    for (int side = 0; side < 2; side++) {
      if (!(s->side[first + n] >> side & 1)) continue;
      Vec3 w = screw->w, v = screw_velocity(screw, reference[side]), t = torque[side], g = force[side];
      out[n] += vec3_dot(w, t) + vec3_dot(v, g);
      size += fabs(w.x * t.x) + fabs(w.y * t.y) + fabs(w.z * t.z) + fabs(v.x * g.x) + fabs(v.y * g.y) + fabs(v.z * g.z);
    }
    if (fabs(out[n]) <= SLOPE_ROUNDING * size) out[n] = 0;
  }
}

/* Derivatives of a closure's rows by the twists of both ends. */
typedef struct {
  double by[CLOSURE_ROWS][12], stiffness[CLOSURE_ROWS];
} RowSlopes;

static void add_row(ClosureSum* sum, const Vec3 force[2], const Mat3 moment[2], double push) {
  for (int side = 0; side < 2; side++) {
    sum->force[side] = vec3_add_scaled(sum->force[side], push, force[side]);
    sum->moment[side] = mat3_add(sum->moment[side], mat3_scale(moment[side], push));
  }
}

/* H += sum stiffness j j^T; sides: 1 when the second end is the world's. */
static void add_stiffness(const RowSlopes* j, int rows, int sides, double h[12][12]) {
  for (int i = 0; i < 6 * sides; i++) {
    double sum[12] = {0};
    for (int r = 0; r < rows; r++) {
      double weight = j->stiffness[r] * j->by[r][i];
      for (int n = 0; n < 12; n++) sum[n] += weight * j->by[r][n];
    }
    for (int n = 0; n < 12; n++) h[i][n] += sum[n];
  }
}

static void find_arms(const ModelClosure* c, const Ends* e, const Vec3* reference, Vec3 at[2], Vec3 arm[2]) {
  for (int side = 0; side < 2; side++) {
    at[side] = c->link[side] < 0 ? vec3(0, 0, 0) : reference[c->link[side]];
    arm[side] = vec3_sub(e->end[side], at[side]);
  }
}

void closure_row_wrench(const ClosureSystem* s, int k, const Pose* poses, const Vec3* reference, const double* nu,
                        double wrench[12]) {
  const ModelClosure* c = &s->model->closures[k];
  Ends e = ends_of(c, poses);
  Vec3 at[2], arm[2];
  find_arms(c, &e, reference, at, arm);
  ClosureSum sum = {.force = {{0, 0, 0}}};
  for (int i = 0; i < c->row_count; i++) {
    Vec3 force[2];
    Mat3 moment[2];
    row_slope(c, &c->rows[i], &e, arm, force, moment);
    add_row(&sum, force, moment, nu[c->row_first + i]);
  }
  for (int side = 0; side < 2; side++) {
    vec3_store(mat3_axial(sum.moment[side]), wrench + 6 * side);
    vec3_store(sum.force[side], wrench + 6 * side + 3);
  }
}

/* Of one row, by both twists. */
typedef struct {
  Vec3 force[2], torque[2], u, v; /* u, v: in the world, of those that turn */
} RowWrench;

static RowWrench row_wrench(const ModelClosure* c, const ClosureRow* row, const Ends* e, const Vec3 arm[2]) {
  RowWrench w = {.v = {0, 0, 0}};
  if (row->kind == CLOSURE_ALIGN) {
    w.u = mat3_mul_vec(e->pose[0].r, row->u);
    w.v = mat3_mul_vec(e->pose[1].r, row->v);
    w.torque[0] = vec3_cross(w.u, w.v);
    w.torque[1] = vec3_scale(w.torque[0], -1);
    return w;
  }
  w.force[0] = row_direction(c, row, e);
  w.force[1] = vec3_scale(w.force[0], -1);
  for (int side = 0; side < 2; side++) w.torque[side] = vec3_cross(arm[side], w.force[side]);
  if (row->kind == CLOSURE_ACROSS) w.torque[1] = vec3_add(w.torque[1], vec3_cross(w.force[0], e->apart));
  return w;
}

/* Forces that act at the ends are summed before their moments are taken. */
typedef struct {
  Vec3 at_end;
  Mat3 align, across;
} RowSum;

static void add_row_force(RowSum* sum, const ClosureRow* row, const Ends* e, const RowWrench* w, double push) {
  if (row->kind == CLOSURE_ALIGN)
    sum->align = mat3_add(sum->align, mat3_outer(vec3_scale(w->v, push), w->u));
  else
    sum->at_end = vec3_add_scaled(sum->at_end, push, w->force[0]);
  if (row->kind == CLOSURE_ACROSS)
    sum->across = mat3_add(sum->across, mat3_outer(vec3_scale(e->apart, push), w->force[0]));
}

static void finish_sum(const RowSum* rows, const Vec3 arm[2], ClosureSum* sum) {
  sum->force[0] = rows->at_end;
  sum->force[1] = vec3_scale(rows->at_end, -1);
  sum->moment[0] = mat3_add(mat3_outer(sum->force[0], arm[0]), rows->align);
  sum->moment[1] = mat3_add(mat3_add(mat3_outer(sum->force[1], arm[1]), mat3_transpose(rows->align)), rows->across);
}

static void assemble_closure(ClosureSystem* s, int k, const Pose* poses, const Vec3* reference, const Screw* screws,
                             double weight) {
  const ModelClosure* c = &s->model->closures[k];
  ClosureSum* sum = &s->sum[k];
  Ends e = ends_of(c, poses);
  RowSlopes slopes;
  RowSum rows = {.at_end = {0, 0, 0}};
  Vec3 at[2], arm[2];
  find_arms(c, &e, reference, at, arm);
  memset(sum->hessian, 0, sizeof(sum->hessian));
  s->extent[k] = c->size + vec3_norm(e.end[0]) + vec3_norm(e.end[1]);
  for (int i = 0; i < c->row_count; i++) {
    int row = c->row_first + i;
    RowWrench w = row_wrench(c, &c->rows[i], &e, arm);
    double mobility = free_mobility(&s->ease[k], w.force, w.torque);
    s->value[row] = row_value(c, &c->rows[i], &e);
    slopes.stiffness[i] = s->stiffness[row] = mobility > 0 ? weight / mobility : 0;
    double push = s->multiplier[row] + s->stiffness[row] * s->value[row];
    add_row_force(&rows, &c->rows[i], &e, &w, push);
    for (int side = 0; side < 2; side++) {
      vec3_store(w.torque[side], slopes.by[i] + 6 * side);
      vec3_store(w.force[side], slopes.by[i] + 6 * side + 3);
    }
    if (!s->convex[k]) add_curvature(c, &c->rows[i], &e, arm, push, sum->hessian);
    set_slope(s, k, i, w.force, w.torque, at, screws);
  }
  finish_sum(&rows, arm, sum);
  add_stiffness(&slopes, c->row_count, c->link[1] < 0 ? 1 : 2, sum->hessian);
}

/* How easily the links would follow alone, each about or along its own joint. */
static double coupling_mobility(const Model* m, const ModelCoupling* c, const Vec3* reference, const Screw* screws) {
  double sum = 0;
  for (int i = 0; i < c->count; i++) {
    int dof = c->dof[i], l = m->dof_link[dof];
    const ModelLink* link = &m->links[l];
    Vec3 v = screw_velocity(&screws[dof], reference[l]), w = screws[dof].w;
    double inertia = link->mass * vec3_dot(v, v) + link->armature[dof - link->dof_first] +
                     0.5 * mat3_trace(mass_moment_inertia_tensor(&link->moment)) * vec3_dot(w, w);
    if (link->prescribed < 0 && inertia > 0) sum += c->slope[i] * c->slope[i] / inertia;
  }
  return sum;
}

static void assemble_coupling(ClosureSystem* s, int k, const double* q, const Vec3* reference, const Screw* screws,
                              double weight) {
  const Model* m = s->model;
  const ModelCoupling* c = closure_coupling(s, k);
  double mobility = coupling_mobility(m, c, reference, screws);
  s->value[c->row] = coupling_value(c, q);
  s->stiffness[c->row] = mobility > 0 ? weight / mobility : 0;
  s->extent[k] = c->size + fabs(c->offset);
  for (int i = 0; i < c->count; i++) s->extent[k] += fabs(c->slope[i] * q[c->coordinate[i]]);
  memcpy(s->slope + s->slope_first[k], c->slope, sizeof(double) * (size_t)c->count);
  double push = s->multiplier[c->row] + s->stiffness[c->row] * s->value[c->row];
  s->coupled[k - m->closure_count] = (CouplingTerms){c->count, c->dof, c->slope, push, s->stiffness[c->row]};
}

void closures_assemble(ClosureSystem* s, const Pose* poses, const double* q, const Vec3* reference, const Screw* screws,
                       double weight) {
  for (int k = 0; k < s->model->closure_count; k++)
    if (!s->open[k]) assemble_closure(s, k, poses, reference, screws, weight);
  for (int k = s->model->closure_count; k < s->count; k++) assemble_coupling(s, k, q, reference, screws, weight);
}

void closures_couple(const ClosureSystem* s, Assembly* assembly) {
  if (!s) return;
  assembly->couplings = s->coupled;
  assembly->coupling_count = s->model->coupling_count;
}

void closures_add_work(const ClosureSystem* s, double* at_work) {
  for (int k = 0; k < s->model->coupling_count; k++)
    for (int i = 0; i < s->coupled[k].count; i++)
      at_work[s->coupled[k].dof[i]] += fabs(s->coupled[k].push * s->coupled[k].slope[i]);
}

static int term_count(const void* holder) { return ((const ClosureSystem*)holder)->model->closure_count; }

static ContactTerms term_at(const void* holder, int index) {
  const ClosureSystem* s = holder;
  const ModelClosure* c = &s->model->closures[index];
  const ClosureSum* sum = &s->sum[index];
  if (s->open[index]) return (ContactTerms){-1, -1, sum->force, sum->moment, sum->hessian};
  return (ContactTerms){c->link[0], c->link[1], sum->force, sum->moment, sum->hessian};
}

ContactTermList closures_terms(const ClosureSystem* s) {
  return s ? (ContactTermList){s, term_count, term_at} : (ContactTermList){0};
}

/* ---------------------------------------------------------------- what a step asks */

/* What a row is measured in, and what its positions are rounded by: the size of the links, or 1 rad. */
static bool measures_angle(const ClosureSystem* s, int k, int i) {
  return k < s->model->closure_count && s->model->closures[k].rows[i].kind == CLOSURE_ALIGN;
}
static double size_of(const ClosureSystem* s, int k, int i) {
  if (k >= s->model->closure_count) return closure_coupling(s, k)->size;
  return measures_angle(s, k, i) ? 1 : s->model->closures[k].size;
}
static double extent_of(const ClosureSystem* s, int k, int i) { return measures_angle(s, k, i) ? 1 : s->extent[k]; }

double closure_gap(const ClosureSystem* s, int k, const double* values) {
  double gap = 0;
  for (int i = 0; i < closure_rows(s, k) && !s->open[k]; i++) {
    double allowed = s->exact * size_of(s, k, i) + CLOSURE_ROUNDINGS * extent_of(s, k, i);
    gap = fmax(gap, fabs(values[closure_first(s, k) + i]) / allowed);
  }
  return gap;
}

double closure_open_by(const ClosureSystem* s, int k) {
  double most = 0;
  for (int i = 0; i < closure_rows(s, k); i++) most = fmax(most, fabs(s->value[closure_first(s, k) + i]));
  return most;
}

int closures_open_at_start(ClosureSystem* s, const Pose* poses, const double* q) {
  if (!s) return -1;
  closures_values(s, poses, q, s->value);
  for (int k = 0; k < s->count; k++)
    for (int i = 0; i < closure_rows(s, k) && !s->open[k]; i++)
      if (!(fabs(s->value[closure_first(s, k) + i]) <= START_OPEN * size_of(s, k, i))) return k;
  return -1;
}

double closures_gap(const ClosureSystem* s, int* worst) {
  double gap = 0;
  for (int k = 0; s && k < s->count; k++) {
    double own = closure_gap(s, k, s->value);
    if (own <= gap) continue;
    gap = own;
    if (worst) *worst = k;
  }
  return gap;
}

double closure_energy(const ClosureSystem* s, int k, const double* values) {
  double sum = 0;
  for (int row = closure_first(s, k); row < closure_first(s, k) + closure_rows(s, k) && !s->open[k]; row++)
    sum += (s->multiplier[row] + 0.5 * s->stiffness[row] * values[row]) * values[row];
  return sum;
}

double closure_rounding(const ClosureSystem* s, int k) {
  double sum = 0;
  for (int i = 0; i < closure_rows(s, k) && !s->open[k]; i++) {
    int row = closure_first(s, k) + i;
    double force = fabs(s->multiplier[row]) + s->stiffness[row] * fabs(s->value[row]);
    sum += POSITION_ROUNDING * extent_of(s, k, i) * force;
  }
  return sum + ENERGY_ROUNDING * fabs(closure_energy(s, k, s->value));
}

int closure_link(const ClosureSystem* s, int k) { return s->home[k]; }

/* ---------------------------------------------------------------- multipliers (Z3) */

static double slope_product(const ClosureSystem* s, int k, int row, const double* x) {
  int first = s->dof_first[k], count = s->dof_first[k + 1] - first;
  const double* slope = s->slope + s->slope_first[k] + (size_t)row * (size_t)count;
  double sum = 0;
  for (int n = 0; n < count; n++) sum += slope[n] * x[s->dof[first + n]];
  return sum;
}

static void add_slope(const ClosureSystem* s, int k, int row, double factor, double* x) {
  int first = s->dof_first[k], count = s->dof_first[k + 1] - first;
  const double* slope = s->slope + s->slope_first[k] + (size_t)row * (size_t)count;
  for (int n = 0; n < count; n++) x[s->dof[first + n]] += factor * slope[n];
}

void closures_add_force(const ClosureSystem* s, const double* change, double* gradient) {
  for (int k = 0; s && k < s->count; k++)
    for (int i = 0; i < closure_rows(s, k) && !s->open[k]; i++)
      add_slope(s, k, i, change[closure_first(s, k) + i], gradient);
}

/* One component: its closures and trees. */
typedef struct {
  int component, closures, trees, rows;
} Coupled;

static int component_of(const ClosureSystem* s, BlockSolver* solver, int k) {
  return block_solver_component_of(solver, s->model->links[closure_link(s, k)].tree);
}

/* The component of closure `first` with all of its closures from there on. */
static Coupled gather_component(ClosureSystem* s, BlockSolver* solver, int first) {
  Coupled c = {.component = component_of(s, solver, first)};
  for (int k = first; k < s->count; k++) {
    if (s->open[k] || component_of(s, solver, k) != c.component) continue;
    s->done[k] = true;
    s->member[c.closures++] = k;
    c.rows += closure_rows(s, k);
  }
  for (int k = 0; k < s->model->tree_count; k++)
    if (block_solver_component_of(solver, k) == c.component) s->tree[c.trees++] = k;
  return c;
}

static void reserve_rows(ClosureSystem* s, int rows) {
  if (rows <= s->capacity) return;
  size_t old = (size_t)s->capacity, new = (size_t)rows;
  s->matrix = memory_resize(s->matrix, sizeof(double) * old * old, sizeof(double) * new* new);
  s->right = memory_resize(s->right, sizeof(double) * old, sizeof(double) * new);
  s->work = memory_resize(s->work, sizeof(double) * 2 * old, sizeof(double) * 2 * new);
  s->unit = memory_resize(s->unit, sizeof(double) * old, sizeof(double) * new);
  s->capacity = rows;
}

static void clear_component(const ClosureSystem* s, const Coupled* c, double* x) {
  for (int n = 0; n < c->trees; n++) {
    const ModelTree* tree = &s->model->trees[s->tree[n]];
    for (int d = tree->dof_first; d < tree->dof_first + tree->dof_count; d++) x[d] = 0;
  }
}

/* column <- H^-1 column in the component, zero where a degree of freedom is fixed. */
static void solve_column(ClosureSystem* s, BlockSolver* solver, const Coupled* c, const bool* fixed) {
  for (int n = 0; n < c->trees; n++) {
    const ModelTree* tree = &s->model->trees[s->tree[n]];
    for (int d = tree->dof_first; d < tree->dof_first + tree->dof_count; d++)
      if (fixed[d]) s->column[d] = 0;
  }
  block_solver_solve_component(solver, c->component, s->column);
}

/* Does any joint move it? */
static bool row_moves(const ClosureSystem* s, int k, int row) {
  int count = s->dof_first[k + 1] - s->dof_first[k];
  const double* slope = s->slope + s->slope_first[k] + (size_t)row * (size_t)count;
  for (int n = 0; n < count; n++)
    if (slope[n] != 0) return true;
  return false;
}

/* The entries of C H^-1 C^T below `row` and beside it come from one solve. */
static void fill_column(ClosureSystem* s, const Coupled* c, int from, int first, int column) {
  int at = first;
  for (int n = from; n < c->closures; n++) {
    int k = s->member[n];
    for (int i = 0; i < closure_rows(s, k); i++, at++)
      if (at >= column)
        s->matrix[at * c->rows + column] = s->matrix[column * c->rows + at] = slope_product(s, k, i, s->column);
  }
}

static void fill_matrix(ClosureSystem* s, BlockSolver* solver, const Coupled* c, const bool* fixed) {
  int first = 0;
  for (int n = 0; n < c->closures; n++) {
    int k = s->member[n], count = closure_rows(s, k);
    for (int i = 0; i < count; i++) {
      clear_component(s, c, s->column);
      if (row_moves(s, k, i)) {
        add_slope(s, k, i, 1, s->column);
        solve_column(s, solver, c, fixed);
      }
      fill_column(s, c, n, first, first + i);
    }
    first += count;
  }
}

/* Units in which the answer of a row's two bodies alone is 1, or a half (Z8). The diagonal would be none: of a row that
 * nothing answers it is rounding, and so would be all that follows. */
static void find_units(ClosureSystem* s, const Coupled* c) {
  int at = 0;
  for (int n = 0; n < c->closures; n++)
    for (int i = 0; i < closure_rows(s, s->member[n]); i++) {
      double rho = s->stiffness[closure_first(s, s->member[n]) + i];
      s->unit[at++] = rho > 0 ? sqrt(rho) : 1;
    }
}

/* The component's multipliers; x closes. */
static bool solve_component(ClosureSystem* s, BlockSolver* solver, const Coupled* c, const bool* fixed,
                            const double* values, double* x, double* change) {
  reserve_rows(s, c->rows);
  fill_matrix(s, solver, c, fixed);
  find_units(s, c);
  int at = 0;
  for (int n = 0; n < c->closures; n++) {
    int k = s->member[n];
    for (int i = 0; i < closure_rows(s, k); i++)
      s->right[at++] = slope_product(s, k, i, x) + (values ? values[closure_first(s, k) + i] : 0);
  }
  if (!symmetric_least_change(c->rows, s->matrix, s->right, s->unit, s->work)) return false;
  clear_component(s, c, s->column);
  at = 0;
  for (int n = 0; n < c->closures; n++) {
    int k = s->member[n];
    for (int i = 0; i < closure_rows(s, k); i++, at++) {
      change[closure_first(s, k) + i] = s->right[at];
      add_slope(s, k, i, s->right[at], s->column);
    }
  }
  solve_column(s, solver, c, fixed);
  for (int n = 0; n < c->trees; n++) {
    const ModelTree* tree = &s->model->trees[s->tree[n]];
    for (int d = tree->dof_first; d < tree->dof_first + tree->dof_count; d++) x[d] -= s->column[d];
  }
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

/* ---------------------------------------------------------------- from state to state */

void closures_begin(ClosureSystem* s) {
  memcpy(s->multiplier, s->accepted, sizeof(double) * (size_t)s->row_count);
  memset(s->convex, 0, sizeof(bool) * (size_t)s->count);
  s->gap_before = INFINITY;
}

void closures_keep(ClosureSystem* s) { memcpy(s->kept, s->multiplier, sizeof(double) * (size_t)s->row_count); }

void closures_put_back(ClosureSystem* s) { memcpy(s->multiplier, s->kept, sizeof(double) * (size_t)s->row_count); }

void closures_straighten(ClosureSystem* s, const bool* marked) {
  for (int k = 0; k < s->count; k++) s->convex[k] = s->convex[k] || marked[closure_link(s, k)];
}

void closures_bend(ClosureSystem* s) { memset(s->convex, 0, sizeof(bool) * (size_t)s->count); }

/* What is pulled too hard in this step is gone from the next one on (Z5). */
void closures_advance(ClosureSystem* s, double time) {
  memcpy(s->accepted, s->multiplier, sizeof(double) * (size_t)s->row_count);
  for (int k = 0; k < s->model->closure_count; k++) {
    const ModelClosure* c = &s->model->closures[k];
    if (s->open[k] || !(c->break_force > 0) || vec3_norm(s->sum[k].force[0]) <= c->break_force) continue;
    s->open[k] = true;
    s->broken_at[k] = time;
    for (int i = 0; i < c->row_count; i++) s->multiplier[c->row_first + i] = s->accepted[c->row_first + i] = 0;
  }
}

void closures_save(ClosureSystem* s) {
  memcpy(s->saved, s->accepted, sizeof(double) * (size_t)s->row_count);
  memcpy(s->open_saved, s->open, sizeof(bool) * (size_t)s->count);
}

void closures_restore(ClosureSystem* s) {
  memcpy(s->accepted, s->saved, sizeof(double) * (size_t)s->row_count);
  memcpy(s->open, s->open_saved, sizeof(bool) * (size_t)s->count);
  for (int k = 0; k < s->count; k++)
    if (!s->open[k]) s->broken_at[k] = INFINITY;
}

void closures_pass_state(ClosureSystem* s, StateBlock* block) {
  state_block_doubles(block, s->accepted, (size_t)s->row_count);
  state_block_doubles(block, s->broken_at, (size_t)s->count);
  for (int k = 0; k < s->count; k++) s->open[k] = s->broken_at[k] < (double)INFINITY;
}

/* ---------------------------------------------------------------- for the user */

SimClosure coupling_state(const ClosureSystem* s, int k, const double* q) {
  const ModelCoupling* c = &s->model->couplings[k];
  return (SimClosure){.broken_at = INFINITY, .gap = fabs(coupling_value(c, q)), .force = {-s->accepted[c->row], 0, 0}};
}

SimClosure closure_state(const ClosureSystem* s, int k, const Pose* poses) {
  const ModelClosure* c = &s->model->closures[k];
  SimClosure out = {.broken = s->open[k], .broken_at = s->broken_at[k]};
  Ends e = ends_of(c, poses);
  for (int i = 0; i < c->row_count && !s->open[k]; i++) {
    const Vec3 arm[2] = {{0, 0, 0}, {0, 0, 0}};
    double value = fabs(row_value(c, &c->rows[i], &e)), mu = s->accepted[c->row_first + i];
    bool angle = c->rows[i].kind == CLOSURE_ALIGN;
    Vec3 force[2];
    Mat3 moment[2];
    row_slope(c, &c->rows[i], &e, arm, force, moment);
    *(angle ? &out.angle : &out.gap) = fmax(angle ? out.angle : out.gap, value);
    out.force = vec3_add_scaled(out.force, -mu, force[0]);
    out.torque = vec3_add_scaled(out.torque, -mu, mat3_axial(moment[0]));
  }
  return out;
}

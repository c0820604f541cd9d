/* What closures and couplings put on links and coordinates (docs/derivations/closures.md, Z4). */
#include <string.h>

#include "simulate/closures.h"

/* Part of its summands below which a slope is rounding: the plane of a linkage that lies askew is left by no joint, and
 * a row that nothing moves has to be known as one. */
#define SLOPE_ROUNDING 1e-13

/* ---------------------------------------------------------------- curvature */

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

/* d' . v' and d' . d' / L. */
static void add_curvature(const ModelClosure* c, const ClosureRow* row, const ClosureEnds* e, const Vec3 arm[2],
                          double push, double h[12][12]) {
  VectorSlope apart = apart_slope(arm);
  if (row->kind == CLOSURE_LENGTH) {
    add_product(&apart, &apart, push / c->length, h);
    return;
  }
  VectorSlope v = turn_slope(1, mat3_mul_vec(e->pose[1].r, row->v));
  add_product(&apart, &v, 2 * push, h);
}

/* u' . v' of all rows: with A = sum push v u^T, w_a . (tr A - A) w_b. */
static void set_turning(Mat3 align, double h[12][12]) {
  double trace = mat3_trace(align);
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) h[i][6 + j] = h[6 + j][i] = (i == j ? trace : 0) - align.m[i][j];
}

/* ---------------------------------------------------------------- rows */

static double component(Vec3 a, int k) { return k == 0 ? a.x : k == 1 ? a.y : a.z; }

/* Directions in the world, and what the row hands both twists; of POINT nothing: all is in its axis and the arms. */
static ClosureRowPlace row_place(const ModelClosure* c, const ClosureRow* row, const ClosureEnds* e,
                                 const Vec3 arm[2]) {
  ClosureRowPlace p = {.force = {0, 0, 0}};
  if (row->kind == CLOSURE_POINT) return p;
  if (row->kind == CLOSURE_ALIGN) {
    p.u = mat3_mul_vec(e->pose[0].r, row->u);
    p.v = mat3_mul_vec(e->pose[1].r, row->v);
    p.torque[0] = vec3_cross(p.u, p.v);
    p.torque[1] = vec3_scale(p.torque[0], -1);
    return p;
  }
  p.force = closure_row_direction(c, row, e);
  p.torque[0] = vec3_cross(arm[0], p.force);
  p.torque[1] = vec3_cross(p.force, arm[1]);
  if (row->kind == CLOSURE_ACROSS) p.torque[1] = vec3_add(p.torque[1], vec3_cross(p.force, e->apart));
  return p;
}

/* How easily the two bodies alone would follow the row: sum |force|^2 / m + |torque|^2 / inertia [1/kg ...]. */
static double free_mobility(const ClosureEase* ease, const ClosureRow* row, const ClosureRowPlace* p,
                            const Vec3 arm[2]) {
  double sum = 0;
  for (int side = 0; side < 2; side++) {
    if (row->kind == CLOSURE_POINT) {
      double along = component(arm[side], row->axis);
      sum += ease->move[side] + (vec3_dot(arm[side], arm[side]) - along * along) * ease->turn[side];
    } else {
      sum += vec3_dot(p->force, p->force) * ease->move[side] +
             vec3_dot(p->torque[side], p->torque[side]) * ease->turn[side];
    }
  }
  return sum;
}

/* Component k of v + w x arm, and the size of its summands added. */
static double speed_along(int k, Vec3 w, Vec3 v, Vec3 arm, double* size) {
  double a = k == 0 ? w.y * arm.z : k == 1 ? w.z * arm.x : w.x * arm.y;
  double b = k == 0 ? w.z * arm.y : k == 1 ? w.x * arm.z : w.y * arm.x;
  double c = component(v, k);
  *size += fabs(a) + fabs(b) + fabs(c);
  return c + (a - b);
}

static double product(Vec3 a, Vec3 b, double* size) {
  double x = a.x * b.x, y = a.y * b.y, z = a.z * b.z;
  *size += fabs(x) + fabs(y) + fabs(z);
  return x + y + z;
}

/* One degree of freedom's part in a row: it turns by w and moves the link's centre by v. */
static double row_slope(const ClosureRow* row, const ClosureRowPlace* p, int side, Vec3 w, Vec3 v, Vec3 arm,
                        double* size) {
  double sign = side == 0 ? 1 : -1;
  if (row->kind == CLOSURE_POINT) return sign * speed_along(row->axis, w, v, arm, size);
  double turn = product(w, p->torque[side], size);
  return row->kind == CLOSURE_ALIGN ? turn : turn + sign * product(v, p->force, size);
}

/* C, and which rows are moved by any joint. */
static void set_slopes(ClosureSystem* s, int k, const Vec3 reference[2], const Screw* screws) {
  const ModelClosure* c = &s->model->closures[k];
  const ClosureRowPlace* place = s->place + c->row_first;
  const Vec3* arm = s->arm[k];
  int first = s->dof_first[k], count = s->dof_first[k + 1] - first;
  double* out = s->slope + s->slope_first[k];
  for (int i = 0; i < c->row_count; i++) s->moves[c->row_first + i] = false;
  for (int n = 0; n < count; n++) {
    const Screw* screw = &screws[s->dof[first + n]];
    unsigned ends = s->side[first + n];
    Vec3 v[2];
    for (int side = 0; side < 2; side++) v[side] = screw_velocity(screw, reference[side]);
    for (int i = 0; i < c->row_count; i++) {
      double size = 0, slope = 0;
      for (int side = 0; side < 2; side++)
        if (ends >> side & 1) slope += row_slope(&c->rows[i], &place[i], side, screw->w, v[side], arm[side], &size);
      if (fabs(slope) <= SLOPE_ROUNDING * size) slope = 0;
      out[i * count + n] = slope;
      if (slope != 0) s->moves[c->row_first + i] = true;
    }
  }
}

static void find_arms(const ModelClosure* c, const ClosureEnds* e, const Vec3* reference, Vec3 at[2], Vec3 arm[2]) {
  for (int side = 0; side < 2; side++) {
    at[side] = c->link[side] < 0 ? vec3(0, 0, 0) : reference[c->link[side]];
    arm[side] = vec3_sub(e->end[side], at[side]);
  }
}

void closure_row_wrench(const ClosureSystem* s, int k, const Pose* poses, const Vec3* reference, const double* nu,
                        double wrench[12]) {
  const ModelClosure* c = &s->model->closures[k];
  ClosureEnds e = closure_ends(c, poses);
  Vec3 at[2], arm[2], force = vec3(0, 0, 0), torque[2] = {{0, 0, 0}, {0, 0, 0}};
  find_arms(c, &e, reference, at, arm);
  for (int i = 0; i < c->row_count; i++) {
    ClosureRowPlace p = row_place(c, &c->rows[i], &e, arm);
    double push = nu[c->row_first + i];
    if (c->rows[i].kind == CLOSURE_POINT) {
      p.force = closure_row_direction(c, &c->rows[i], &e);
      p.torque[0] = vec3_cross(arm[0], p.force);
      p.torque[1] = vec3_cross(p.force, arm[1]);
    }
    force = vec3_add_scaled(force, push, p.force);
    for (int side = 0; side < 2; side++) torque[side] = vec3_add_scaled(torque[side], push, p.torque[side]);
  }
  for (int side = 0; side < 2; side++) {
    vec3_store(torque[side], wrench + 6 * side);
    vec3_store(vec3_scale(force, side == 0 ? 1 : -1), wrench + 6 * side + 3);
  }
}

/* ---------------------------------------------------------------- closures */

/* Values, slopes and stiffness, which the multipliers have no part in. */
static void place_closure(ClosureSystem* s, int k, const Pose* poses, const Vec3* reference, const Screw* screws,
                          double weight) {
  const ModelClosure* c = &s->model->closures[k];
  ClosureEnds e = closure_ends(c, poses);
  Vec3 at[2];
  find_arms(c, &e, reference, at, s->arm[k]);
  s->ends[k] = e;
  s->extent[k] = c->size + vec3_norm(e.end[0]) + vec3_norm(e.end[1]);
  for (int i = 0; i < c->row_count; i++) {
    int row = c->row_first + i;
    s->place[row] = row_place(c, &c->rows[i], &e, s->arm[k]);
    double mobility = free_mobility(&s->ease[k], &c->rows[i], &s->place[row], s->arm[k]);
    s->value[row] = closure_row_value(c, &c->rows[i], &e);
    s->stiffness[row] = mobility > 0 ? weight / mobility : 0;
  }
  set_slopes(s, k, at, screws);
}

/* Only directions, and points along axes that stand still: the second derivative couples the turns of both ends, no
 * more. */
static bool turns_only(const ModelClosure* c) {
  return c->type == CLOSURE_WELD || c->type == CLOSURE_HINGE || c->type == CLOSURE_BALL;
}

static double push_of(const ClosureSystem* s, int row) {
  return s->multiplier[row] + s->stiffness[row] * s->value[row];
}

/* align: sum push v u^T. */
static void set_hessian(ClosureSystem* s, int k, Mat3 align) {
  const ModelClosure* c = &s->model->closures[k];
  ClosureSum* sum = &s->sum[k];
  if (c->type == CLOSURE_BALL) return;
  if (!turns_only(c)) memset(sum->hessian, 0, sizeof(sum->hessian));
  set_turning(s->convex[k] ? mat3_zero() : align, sum->hessian);
  for (int i = 0; i < c->row_count && !turns_only(c) && !s->convex[k]; i++)
    if (c->rows[i].kind != CLOSURE_ALIGN)
      add_curvature(c, &c->rows[i], &s->ends[k], s->arm[k], push_of(s, c->row_first + i), sum->hessian);
}

/* Forces at the ends are summed before their moments are taken. */
static void push_closure(ClosureSystem* s, int k) {
  const ModelClosure* c = &s->model->closures[k];
  ClosureSum* sum = &s->sum[k];
  double point[3] = {0, 0, 0};
  Vec3 other = vec3(0, 0, 0);
  Mat3 align = mat3_zero(), across = mat3_zero();
  for (int i = 0; i < c->row_count; i++) {
    const ClosureRowPlace* p = &s->place[c->row_first + i];
    double push = push_of(s, c->row_first + i);
    if (c->rows[i].kind == CLOSURE_POINT)
      point[c->rows[i].axis] += push;
    else if (c->rows[i].kind == CLOSURE_ALIGN)
      align = mat3_add(align, mat3_outer(vec3_scale(p->v, push), p->u));
    else
      other = vec3_add_scaled(other, push, p->force);
    if (c->rows[i].kind == CLOSURE_ACROSS)
      across = mat3_add(across, mat3_outer(vec3_scale(s->ends[k].apart, push), p->force));
  }
  sum->force[0] = vec3_add(vec3(point[0], point[1], point[2]), other);
  sum->force[1] = vec3_scale(sum->force[0], -1);
  sum->moment[0] = mat3_add(mat3_outer(sum->force[0], s->arm[k][0]), align);
  sum->moment[1] = mat3_add(mat3_outer(sum->force[1], s->arm[k][1]), mat3_transpose(align));
  if (c->type == CLOSURE_SLIDE) sum->moment[1] = mat3_add(sum->moment[1], across);
  set_hessian(s, k, align);
}

static int term_count(const void* holder) { return ((const ClosureSystem*)holder)->model->closure_count; }

static ContactTerms term_at(const void* holder, int index) {
  const ClosureSystem* s = holder;
  const ModelClosure* c = &s->model->closures[index];
  const ClosureSum* sum = &s->sum[index];
  int a = s->open[index] ? -1 : c->link[0], b = s->open[index] ? -1 : c->link[1];
  const double(*hessian)[12] = c->type == CLOSURE_BALL ? NULL : sum->hessian; /* its rows are straight */
  return (ContactTerms){a, b, sum->force, sum->moment, hessian, turns_only(c)};
}

ContactTermList closures_terms(const ClosureSystem* s) {
  return s ? (ContactTermList){s, term_count, term_at} : (ContactTermList){0};
}

/* ---------------------------------------------------------------- couplings (Z7) */

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
  s->value[c->row] = closure_coupling_value(c, q);
  s->stiffness[c->row] = mobility > 0 ? weight / mobility : 0;
  s->extent[k] = c->size + fabs(c->offset);
  for (int i = 0; i < c->count; i++) s->extent[k] += fabs(c->slope[i] * q[c->coordinate[i]]);
  memcpy(s->slope + s->slope_first[k], c->slope, sizeof(double) * (size_t)c->count);
  double push = s->multiplier[c->row] + s->stiffness[c->row] * s->value[c->row];
  s->coupled[k - m->closure_count] = (CouplingTerms){c->count, c->dof, c->slope, push, s->stiffness[c->row]};
}

void closures_couple(const ClosureSystem* s, Assembly* assembly) {
  if (!s) return;
  assembly->rows = s->rows;
  assembly->rows_count = s->model->closure_count;
  assembly->couplings = s->coupled;
  assembly->coupling_count = s->model->coupling_count;
}

void closures_add_work(const ClosureSystem* s, double* at_work) {
  for (int k = 0; k < s->model->coupling_count; k++)
    for (int i = 0; i < s->coupled[k].count; i++)
      at_work[s->coupled[k].dof[i]] += fabs(s->coupled[k].push * s->coupled[k].slope[i]);
}

/* ---------------------------------------------------------------- all of them */

static RowTerms stiff_rows(const ClosureSystem* s, int k) {
  const ModelClosure* c = &s->model->closures[k];
  int first = s->dof_first[k];
  return (RowTerms){.rows = s->open[k] ? 0 : c->row_count,
                    .count = s->dof_first[k + 1] - first,
                    .dof = s->dof + first,
                    .slope = s->slope + s->slope_first[k],
                    .stiffness = s->stiffness + c->row_first,
                    .moves = s->moves + c->row_first};
}

/* Are these the coordinates and the weight that everything was found at last? They are from now on. */
static bool placed_before(ClosureSystem* s, const double* q, double weight) {
  size_t size = sizeof(double) * (size_t)s->model->coordinate_count;
  bool same = s->placed_weight == weight && memcmp(s->placed_q, q, size) == 0;
  if (same) return true;
  memcpy(s->placed_q, q, size);
  s->placed_weight = weight;
  return false;
}

void closures_assemble(ClosureSystem* s, const Pose* poses, const double* q, const Vec3* reference, const Screw* screws,
                       double weight) {
  bool before = placed_before(s, q, weight);
  for (int k = 0; k < s->model->closure_count; k++) {
    if (!before) place_closure(s, k, poses, reference, screws, weight); /* broken ones too: they may be put back */
    if (!s->open[k]) push_closure(s, k);
    s->rows[k] = stiff_rows(s, k);
  }
  for (int k = s->model->closure_count; k < s->count; k++) assemble_coupling(s, k, q, reference, screws, weight);
  for (int k = 0; k < s->count; k++) s->gap[k] = closure_gap(s, k, s->value);
}

#include "simulate/closures_adjoint.h"

#include <assert.h>
#include <string.h>

ClosureAdjoint* closure_adjoint_create(const Sim* s) {
  if (!s->closures) return NULL;
  ClosureAdjoint* a = MEMORY_NEW(ClosureAdjoint, 1);
  a->end = memory_alloc(sizeof(Vec3[2]) * (size_t)s->closures->count);
  a->length = MEMORY_NEW(double, s->closures->count);
  a->u = MEMORY_NEW(Vec3, s->closures->row_count);
  a->v = MEMORY_NEW(Vec3, s->closures->row_count);
  a->w = MEMORY_NEW(Vec3, s->closures->row_count);
  a->direction = s->closures->direction;
  a->nu = MEMORY_NEW(double, s->closures->row_count);
  a->by_row = MEMORY_NEW(double, s->closures->row_count);
  for (int n = 0; n < 2; n++) a->by_load[n] = MEMORY_NEW(double, s->closures->count);
  a->ratio = memory_alloc(sizeof(double[COUPLING_TERMS]) * (size_t)s->model->coupling_count);
  return a;
}

void closure_adjoint_destroy(ClosureAdjoint* a) {
  if (!a) return;
  memory_free(a->end);
  memory_free(a->length);
  memory_free(a->u);
  memory_free(a->v);
  memory_free(a->w);
  memory_free(a->nu);
  memory_free(a->by_row);
  for (int n = 0; n < 2; n++) memory_free(a->by_load[n]);
  memory_free(a->ratio);
  memory_free(a);
}

void closure_adjoint_begin(ClosureAdjoint* a, const Sim* s) {
  if (!a) return;
  memset(a->end, 0, sizeof(Vec3[2]) * (size_t)s->closures->count);
  memset(a->length, 0, sizeof(double) * (size_t)s->closures->count);
  memset(a->ratio, 0, sizeof(double[COUPLING_TERMS]) * (size_t)s->model->coupling_count);
  memset(a->u, 0, sizeof(Vec3) * (size_t)s->closures->row_count);
  memset(a->v, 0, sizeof(Vec3) * (size_t)s->closures->row_count);
  memset(a->w, 0, sizeof(Vec3) * (size_t)s->closures->row_count);
  for (int n = 0; n < 2; n++) memset(a->by_load[n], 0, sizeof(double) * (size_t)s->closures->count);
  a->loaded = false;
}

/* ---------------------------------------------------------------- derivatives with respect to forces (closures.md,
 * Z21) */

void closure_adjoint_loads(ClosureAdjoint* a, const Sim* s) {
  const ClosureSystem* system = s->closures;
  if (!a || !system->limited) return;
  a->loaded = false;
  memset(a->by_row, 0, sizeof(double) * (size_t)system->row_count);
  for (int k = 0; k < s->model->closure_count; k++) {
    const ModelClosure* c = &s->model->closures[k];
    double force = closure_force(system, k, system->multiplier, system->target_force);
    if (a->by_load[0][k] == 0 || system->open[k] || !(force > 0)) continue;
    a->loaded = true;
    for (int i = 0; i < c->row_count; i++) {
      int row = c->row_first + i;
      if (c->rows[i].kind != CLOSURE_ALIGN)
        a->by_row[row] = a->by_load[0][k] * (system->multiplier[row] + system->target_force[row]) / force;
    }
  }
  double* last = a->by_load[0];
  a->by_load[0] = a->by_load[1];
  a->by_load[1] = last;
  memset(last, 0, sizeof(double) * (size_t)system->count);
}

void closure_adjoint_opens(ClosureAdjoint* a, const StepClock* clock, double by_share) {
  int k = clock->event.closure;
  double rise = clock->event.rise;
  a->by_load[0][k] -= by_share * clock->share / rise;
  a->by_load[1][k] += by_share * (clock->share - 1) / rise;
}

double closure_adjoint_target_force_product(const ClosureAdjoint* a, const Sim* s) {
  double sum = 0;
  for (int row = 0; a && a->loaded && row < s->closures->row_count; row++)
    sum += a->by_row[row] * s->closures->target_force[row];
  return sum;
}

void closure_adjoint_discount(ClosureAdjoint* a, const Sim* s, double factor) {
  for (int n = 0; a && n < 2; n++)
    for (int k = 0; k < s->closures->count; k++) a->by_load[n][k] *= factor;
}

/* Two times count as equal if they differ by less than this fraction of a substep. Used to compare the time at which a
 * closure closes with the start of a substep. */
#define CLOSING_TIME_TOLERANCE 1e-3

void closure_adjoint_load(Sim* s, const double* broken_at, const SimJoin* joined) {
  assert(!s->closures || joined || !s->closures->placed);
  ClosureSystem* c = s->closures;
  if (!c) return;
  closures_include_curvature(c);
  memset(c->multiplier, 0, sizeof(double) * (size_t)c->row_count);
  if (joined) closures_apply_joined(c, joined);
  for (int k = 0; k < s->model->closure_count; k++)
    c->open[k] = (broken_at && broken_at[k] < s->clock.time) ||
                 (joined && closure_is_switched(s->model, k) &&
                  (!(joined[k].since <= s->clock.time - (1 - CLOSING_TIME_TOLERANCE) * s->clock.dt) ||
                   joined[k].until < s->clock.time - CLOSING_TIME_TOLERANCE * s->clock.dt));
}

bool closure_adjoint_forces(Sim* s) {
  ClosureSystem* c = s->closures;
  for (int k = 0; k < s->model->dof_count; k++)
    s->newton.solution[k] = s->prescribed_joints.is_fixed[k] ? 0 : -s->newton.gradient[k];
  block_solver_solve(s->solver, s->newton.solution);
  if (!closures_solve(c, s->solver, NULL, s->prescribed_joints.is_fixed, NULL, s->newton.solution, c->change))
    return false;
  for (int row = 0; row < c->row_count; row++) c->multiplier[row] += c->change[row];
  return true;
}

/* ---------------------------------------------------------------- derivatives with respect to poses */

void closure_adjoint_hessian_product(const ClosureAdjoint* a, const Sim* s, const double (*twist)[6],
                                     double (*wrench)[6]) {
  if (!a) return;
  const ClosureSystem* c = s->closures;
  for (int k = 0; k < s->model->closure_count; k++) {
    if (c->open[k]) continue;
    const int* link = s->model->closures[k].link;
    double both[12] = {0}, out[12], product[12];
    for (int side = 0; side < 2; side++)
      if (link[side] >= 0 && s->model->links[link[side]].tree >= 0)
        memcpy(both + 6 * side, twist[link[side]], sizeof(double[6]));
    closure_row_wrench(c, k, s->configuration[s->current].pose, s->assembly.reference, a->nu, out);
    for (int i = 0; i < 12; i++) {
      product[i] = out[i];
      for (int j = 0; j < 12; j++) product[i] += c->sum[k].hessian[i][j] * both[j];
    }
    for (int side = 0; side < 2; side++)
      for (int i = 0; link[side] >= 0 && i < 6; i++) wrench[link[side]][i] += product[6 * side + i];
  }
}

/* ---------------------------------------------------------------- derivatives with respect to ends and directions */

/* One of the two links of a closure: rotation matrix r and attachment point `end` in the world. dr, end_dot:
 * directional derivatives of r and `end` along the adjoint solution lambda. */
typedef struct {
  Mat3 r, dr;
  Vec3 end, end_dot;
} ClosureSide;

/* Returns side 0 (body a) or 1 (body b) of a closure at poses[links]. motion (links): directional derivatives of the
 * poses along lambda. NULL means zero. */
static ClosureSide closure_side(const Model* m, const ModelClosure* c, int side, const Pose* poses,
                                const double (*motion)[3][4]) {
  int link = c->link[side];
  Pose at = model_closure_pose(c, side, poses);
  ClosureSide out = {.r = at.r, .dr = mat3_zero(), .end = pose_apply(at, c->end[side]), .end_dot = vec3(0, 0, 0)};
  if (!motion || link < 0 || m->links[link].tree < 0) return out;
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) out.dr.m[i][j] = motion[link][i][j];
  Vec3 dt = vec3(motion[link][0][3], motion[link][1][3], motion[link][2][3]);
  out.end_dot = vec3_add(mat3_mul_vec(out.dr, c->end[side]), dt);
  return out;
}

/* Derivatives of the scalar mu c' + nu c with respect to the quantities on which a constraint row depends. c is the
 * value of the row, c' its directional derivative along the adjoint variable lambda, and mu and nu are scalar factors.
 * Quantities: offset d between the two ends, directions u and v, prescribed length. d_dot, u_dot, v_dot: derivatives
 * with respect to the directional derivatives of d, u, v along lambda. */
typedef struct {
  Vec3 d, d_dot, u, u_dot, v, v_dot;
  double length;
} RowBar;

static RowBar compute_row_bar(const ModelClosure* c, const ClosureRow* row, const ClosureSide side[2], double mu,
                              double nu) {
  RowBar b = {.length = 0};
  Vec3 d = vec3_sub(side[0].end, side[1].end), d_dot = vec3_sub(side[0].end_dot, side[1].end_dot);
  Vec3 u = mat3_mul_vec(side[0].r, row->u), u_dot = mat3_mul_vec(side[0].dr, row->u);
  Vec3 v = mat3_mul_vec(side[1].r, row->v), v_dot = mat3_mul_vec(side[1].dr, row->v);
  switch (row->kind) {
    case CLOSURE_POINT: {
      Vec3 e = vec3_at(c->frame.m[row->axis]);
      b.d_dot = vec3_scale(e, mu);
      b.d = vec3_scale(e, nu);
      break;
    }
    case CLOSURE_ALIGN:
      b.u = vec3_add(vec3_scale(v_dot, mu), vec3_scale(v, nu));
      b.v = vec3_add(vec3_scale(u_dot, mu), vec3_scale(u, nu));
      b.u_dot = vec3_scale(v, mu);
      b.v_dot = vec3_scale(u, mu);
      break;
    case CLOSURE_ACROSS:
      b.d = vec3_add(vec3_scale(v_dot, mu), vec3_scale(v, nu));
      b.v = vec3_add(vec3_scale(d_dot, mu), vec3_scale(d, nu));
      b.d_dot = vec3_scale(v, mu);
      b.v_dot = vec3_scale(d, mu);
      break;
    case CLOSURE_LENGTH: {
      double l = c->length;
      b.d = vec3_scale(vec3_add(vec3_scale(d_dot, mu), vec3_scale(d, nu)), 1 / l);
      b.d_dot = vec3_scale(d, mu / l);
      b.length = -mu * vec3_dot(d, d_dot) / (l * l) - 0.5 * nu * (vec3_dot(d, d) / (l * l) + 1);
      break;
    }
  }
  return b;
}

static Vec3 bar_in_link_frame(const ClosureSide* side, Vec3 bar, Vec3 bar_dot) {
  return vec3_add(mat3_tmul_vec(side->r, bar), mat3_tmul_vec(side->dr, bar_dot));
}

void closure_adjoint_coupling(ClosureAdjoint* a, const Model* m, int k, double mu, double nu, const double* lambda,
                              const double* q) {
  assert(k >= 0 && k < m->coupling_count);
  const ModelCoupling* c = &m->couplings[k];
  a->length[m->closure_count + k] -= nu;
  for (int i = 1; i < c->count; i++) a->ratio[k][i] -= mu * lambda[c->dof[i]] + nu * q[c->coordinate[i]];
}

/* Adds to bar the derivative of a scalar with respect to a link's rotation matrix and position. local: coordinates in
 * the link frame of a point (place 1) or of a direction (place 0) on which the scalar depends. by: derivative of the
 * scalar with respect to this point or direction. */
static void add_point_bar(double bar[3][4], Vec3 by, Vec3 local, double place) {
  const double b[3] = {by.x, by.y, by.z}, x[4] = {local.x, local.y, local.z, place};
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 4; j++) bar[i][j] += b[i] * x[j];
}

static void add_row_to_links(const ModelClosure* c, const ClosureRow* row, const RowBar* b, ClosurePoseBars out) {
  for (int side = 0; out.pose && side < 2; side++) {
    int link = c->link[side];
    double sign = side == 0 ? 1 : -1;
    if (link < 0) continue;
    add_point_bar(out.pose[link], vec3_scale(b->d, sign), c->end[side], 1);
    add_point_bar(out.pose[link], side == 0 ? b->u : b->v, side == 0 ? row->u : row->v, 0);
    if (!out.motion) continue;
    add_point_bar(out.motion[link], vec3_scale(b->d_dot, sign), c->end[side], 1);
    add_point_bar(out.motion[link], side == 0 ? b->u_dot : b->v_dot, side == 0 ? row->u : row->v, 0);
  }
}

void closure_adjoint_rows(ClosureAdjoint* a, const Model* m, int k, const Pose* poses, const double (*motion)[3][4],
                          const double* mu, const double* nu, ClosurePoseBars out) {
  assert(k >= 0 && k < m->closure_count);
  const ModelClosure* c = &m->closures[k];
  ClosureSide side[2] = {closure_side(m, c, 0, poses, motion), closure_side(m, c, 1, poses, motion)};
  for (int i = 0; i < c->row_count; i++) {
    int row = c->row_first + i;
    RowBar b = compute_row_bar(c, &c->rows[i], side, mu ? mu[row] : 0, nu ? nu[row] : 0);
    a->end[k][0] = vec3_add(a->end[k][0], bar_in_link_frame(&side[0], b.d, b.d_dot));
    a->end[k][1] = vec3_sub(a->end[k][1], bar_in_link_frame(&side[1], b.d, b.d_dot));
    a->u[row] = vec3_add(a->u[row], bar_in_link_frame(&side[0], b.u, b.u_dot));
    a->v[row] = vec3_add(a->v[row], bar_in_link_frame(&side[1], b.v, b.v_dot));
    a->length[k] += b.length;
    add_row_to_links(c, &c->rows[i], &b, out);
  }
}

void closure_adjoint_numbers(ClosureAdjoint* a, const Sim* s, const double* lambda, const double (*motion)[3][4],
                             const double* q) {
  const Model* m = s->model;
  if (!a) return;
  /* the derivatives of the rows times lambda are -by_row, so the stiffness of the rows adds -stiffness by_row to nu */
  for (int row = 0; a->loaded && row < s->closures->row_count; row++)
    a->nu[row] -= s->closures->stiffness[row] * a->by_row[row];
  for (int k = 0; k < m->coupling_count; k++) {
    int row = m->couplings[k].row;
    closure_adjoint_coupling(a, m, k, s->closures->multiplier[row], a->nu[row], lambda, q);
  }
  for (int k = 0; k < m->closure_count; k++)
    if (!s->closures->open[k])
      closure_adjoint_rows(a, m, k, s->configuration[s->current].pose, motion, s->closures->multiplier, a->nu,
                           (ClosurePoseBars){NULL, NULL});
}

/* ---------------------------------------------------------------- derivatives with respect to the placement of
 * closures */

/* Converts `by`, the derivative of a scalar with respect to the local coordinates in a link frame of a fixed world
 * point. Adds its derivatives with respect to the rotation matrix and the position of the link to bar. from_origin:
 * vector from the link's origin to the point. */
static void add_local_point_bar(double bar[3][4], Vec3 from_origin, Vec3 by, Mat3 r) {
  Mat3 turn = mat3_outer(from_origin, by);
  Vec3 back = mat3_mul_vec(r, by);
  pose_matrix_add(bar, turn, vec3_scale(back, -1));
}

static void add_rotation_bar(double bar[3][4], Vec3 direction, Vec3 by) {
  pose_matrix_add_rotation(bar, mat3_outer(direction, by));
}

static void add_origin_bar(double (*bar)[3][4], int link, Vec3 by) {
  if (link < 0) return;
  bar[link][0][3] += by.x;
  bar[link][1][3] += by.y;
  bar[link][2][3] += by.z;
}

/* When a closure closes, its attachment point and directions on link b are set from those on link a at the present
 * poses. Converts the derivatives of a scalar with respect to the quantities on b into derivatives with respect to the
 * poses and the quantities on a (Z12). */
void closure_adjoint_join(ClosureAdjoint* a, const Sim* s, const Pose* pose, double (*bar)[3][4]) {
  const ClosureSystem* system = s->closures;
  if (!a || !system->joined) return;
  double begin = s->clock.time - s->clock.dt;
  for (int k = 0; k < s->model->closure_count; k++) {
    if (!closure_is_switched(s->model, k) ||
        !(fabs(system->joined[k].since - begin) < CLOSING_TIME_TOLERANCE * s->clock.dt))
      continue;
    const ModelClosure* c = &s->model->closures[k];
    Pose at[2] = {model_closure_pose(c, 0, pose), model_closure_pose(c, 1, pose)};
    int link[2] = {c->link[0], c->link[1]};
    Vec3 by = mat3_mul_vec(at[1].r, a->end[k][1]), x = pose_apply(at[0], c->end[0]);
    if (link[1] >= 0) add_local_point_bar(bar[link[1]], vec3_sub(x, at[1].t), a->end[k][1], at[1].r);
    add_rotation_bar(bar[link[0]], by, c->end[0]);
    add_origin_bar(bar, link[0], by);
    a->end[k][0] = vec3_add(a->end[k][0], mat3_tmul_vec(at[0].r, by));
    a->end[k][1] = vec3(0, 0, 0);
    for (int row = c->row_first; row < c->row_first + c->row_count; row++) {
      Vec3 w = system->direction[row], turned = mat3_mul_vec(at[1].r, a->v[row]);
      if (link[1] >= 0) add_rotation_bar(bar[link[1]], mat3_mul_vec(at[0].r, w), a->v[row]);
      add_rotation_bar(bar[link[0]], turned, w);
      a->w[row] = vec3_add(a->w[row], mat3_tmul_vec(at[0].r, turned));
      a->v[row] = vec3(0, 0, 0);
    }
  }
}

/* Derivatives of a scalar with respect to the initial geometry of a closure (Z9): `end`: its attachment points in the
 * world; `turn`: a common rotation of its directions, world axes. */
typedef struct {
  Vec3 end[2], turn;
} StartBar;

static StartBar compute_start_bar(const ClosureAdjoint* a, const Model* m, int k, const ClosureStart* start,
                                  const Pose at[2]) {
  const ModelClosure* c = &m->closures[k];
  const SceneClosure* source = &m->scene->closures[k];
  StartBar b = {.turn = vec3(0, 0, 0)};
  for (int side = 0; side < 2; side++) b.end[side] = mat3_mul_vec(at[side].r, a->end[k][side]);
  for (int i = 0; i < c->row_count; i++) {
    const ClosureRow* row = &c->rows[i];
    if (c->type != CLOSURE_HINGE && row->kind != CLOSURE_ACROSS)
      continue; /* this direction does not depend on the closure's axis */
    Vec3 u = mat3_mul_vec(at[0].r, row->u), v = mat3_mul_vec(at[1].r, row->v);
    b.turn = vec3_add(b.turn, vec3_cross(u, mat3_mul_vec(at[0].r, a->u[c->row_first + i])));
    b.turn = vec3_add(b.turn, vec3_cross(v, mat3_mul_vec(at[1].r, a->v[c->row_first + i])));
    if (!a->direction) continue;
    Vec3 w = mat3_mul_vec(at[0].r, a->direction[c->row_first + i]);
    b.turn = vec3_add(b.turn, vec3_cross(w, mat3_mul_vec(at[0].r, a->w[c->row_first + i])));
  }
  if (c->type == CLOSURE_DISTANCE && source->has_axis)
    b.turn = vec3_scale(vec3_cross(start->axis, b.end[1]), source->length);
  return b;
}

/* Adds the derivatives of a scalar with respect to the closure's point, which determines both ends. An exception is the
 * second end of a distance closure: this end follows from the closure's axis, or is the origin of the other link. */
static void propagate_start_points(const ClosureAdjoint* a, const Model* m, int k, const ClosureStart* start,
                                   const Pose at[2], StartBar b, double (*bar)[3][4], ModelGradient* gradient) {
  const ModelClosure* c = &m->closures[k];
  const SceneClosure* source = &m->scene->closures[k];
  double* out = gradient->closures[k];
  bool own_end = c->type == CLOSURE_DISTANCE && !source->has_axis;
  Vec3 by_length = vec3_scale(vec3_sub(start->end[1], start->end[0]), c->length > 0 ? a->length[k] / c->length : 0);
  if (own_end) add_origin_bar(bar, c->link[1], vec3_add(b.end[1], by_length));
  Vec3 by_point = own_end ? vec3_sub(b.end[0], by_length) : vec3_add(b.end[0], b.end[1]);
  if (c->type == CLOSURE_DISTANCE && source->has_axis)
    out[CLOSURE_NUMBER_LENGTH] += a->length[k] + vec3_dot(b.end[1], start->axis);
  if (!source->has_point || source->link_axes) add_origin_bar(bar, c->link[0], by_point);
  if (!source->has_point) return;
  if (source->link_axes) {
    add_rotation_bar(bar[c->link[0]], by_point, source->point);
    by_point = mat3_tmul_vec(at[0].r, by_point);
  }
  double point[3];
  vec3_store(by_point, point);
  for (int i = 0; i < 3; i++) out[CLOSURE_NUMBER_POINT + i] += point[i];
}

/* Adds the derivatives of a scalar with respect to the closure's axis. A change of the axis rotates the directions by
 * axis x change. The axis given in the scene may have any length. */
static void propagate_start_axis(const Model* m, int k, const ClosureStart* start, const Pose at[2], Vec3 turn,
                                 double (*bar)[3][4], ModelGradient* gradient) {
  const SceneClosure* source = &m->scene->closures[k];
  if (!source->has_axis) return;
  Vec3 by = vec3_cross(turn, start->axis);
  if (source->link_axes) {
    Vec3 local = mat3_tmul_vec(at[0].r, start->axis);
    add_rotation_bar(bar[source->a], by, local);
    by = mat3_tmul_vec(at[0].r, by);
  }
  double axis[3];
  vec3_store(vec3_scale(by, 1 / vec3_norm(source->axis)), axis);
  for (int i = 0; i < 3; i++) gradient->closures[k][CLOSURE_NUMBER_AXIS + i] += axis[i];
}

void closure_adjoint_start(const ClosureAdjoint* a, const Model* m, const Pose* pose, double (*bar)[3][4],
                           ModelGradient* gradient) {
  for (int k = 0; a && k < m->closure_count; k++) {
    const ModelClosure* c = &m->closures[k];
    Pose at[2] = {model_closure_pose(c, 0, pose), model_closure_pose(c, 1, pose)};
    for (int side = 0; side < 2; side++) {
      int link = c->link[side];
      if (link < 0) continue;
      add_local_point_bar(bar[link], mat3_mul_vec(at[side].r, c->end[side]), a->end[k][side], at[side].r);
      for (int i = 0; i < c->row_count; i++) {
        Vec3 local = side == 0 ? c->rows[i].u : c->rows[i].v;
        add_rotation_bar(bar[link], mat3_mul_vec(at[side].r, local), (side == 0 ? a->u : a->v)[c->row_first + i]);
      }
    }
    for (int row = c->row_first; a->direction && row < c->row_first + c->row_count; row++)
      add_rotation_bar(bar[c->link[0]], mat3_mul_vec(at[0].r, a->direction[row]), a->w[row]);
    ClosureStart start = model_closure_start(&m->scene->closures[k], at);
    StartBar b = compute_start_bar(a, m, k, &start, at);
    propagate_start_points(a, m, k, &start, at, b, bar, gradient);
    propagate_start_axis(m, k, &start, at, b.turn, bar, gradient);
  }
}

void closure_adjoint_offsets(const ClosureAdjoint* a, const Model* m, const double* q, double* coordinates,
                             ModelGradient* gradient) {
  for (int k = 0; a && k < m->coupling_count; k++) {
    const ModelCoupling* c = &m->couplings[k];
    bool given = m->scene->couplings[k].has_offset;
    double by_offset = given ? 0 : a->length[m->closure_count + k];
    if (given) gradient->ratios[k][0] += a->length[m->closure_count + k];
    for (int i = 0; i < c->count; i++) {
      if (coordinates) coordinates[c->dof[i]] += by_offset * c->slope[i];
      if (i > 0) gradient->ratios[k][i] += a->ratio[k][i] - by_offset * q[c->coordinate[i]];
    }
  }
}

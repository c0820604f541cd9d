/* Where the equations of closures stand, and how the joints move them (docs/derivations/closures.md, Z1, Z2, Z4). */
#include <string.h>

#include "simulate/closures.h"

/* Part of its summands below which a slope is rounding: the plane of a linkage that lies askew is left by no joint, and
 * a row that nothing moves has to be known as one. */
#define SLOPE_ROUNDING 1e-13

static double component(Vec3 a, int k) { return k == 0 ? a.x : k == 1 ? a.y : a.z; }
static Vec3 unit_axis(int axis) { return vec3(axis == 0, axis == 1, axis == 2); }
static double size_of(Vec3 a) { return fabs(a.x) + fabs(a.y) + fabs(a.z); }

/* ---------------------------------------------------------------- the equations (Z1) */

ClosureEnds closure_ends(const ModelClosure* c, const Pose* poses) {
  ClosureEnds e;
  for (int side = 0; side < 2; side++) {
    e.pose[side] = model_closure_pose(c, side, poses);
    e.end[side] = pose_apply(e.pose[side], c->end[side]);
  }
  e.apart = vec3_sub(e.end[0], e.end[1]);
  return e;
}

/* Value; u, v and force of the place are set, but for the force of POINT, which is its axis. */
static double find_row(const ModelClosure* c, const ClosureRow* row, const ClosureEnds* e, ClosureRowPlace* p) {
  switch (row->kind) {
    case CLOSURE_POINT:
      return component(e->apart, row->axis);
    case CLOSURE_ALIGN:
      p->u = mat3_mul_vec(e->pose[0].r, row->u);
      p->v = mat3_mul_vec(e->pose[1].r, row->v);
      return vec3_dot(p->u, p->v);
    case CLOSURE_ACROSS:
      p->force = mat3_mul_vec(e->pose[1].r, row->v);
      return vec3_dot(e->apart, p->force);
    case CLOSURE_LENGTH:
      break;
  }
  p->force = vec3_scale(e->apart, 1 / c->length);
  return 0.5 * (vec3_dot(e->apart, e->apart) / c->length - c->length);
}

double closure_row_value(const ModelClosure* c, const ClosureRow* row, const ClosureEnds* e) {
  ClosureRowPlace p;
  return find_row(c, row, e, &p);
}

Vec3 closure_row_direction(const ModelClosure* c, const ClosureRow* row, const ClosureEnds* e) {
  ClosureRowPlace p = {.force = {0, 0, 0}};
  if (row->kind == CLOSURE_POINT) return unit_axis(row->axis);
  (void)find_row(c, row, e, &p);
  return p.force;
}

double closure_coupling_value(const ModelCoupling* c, const double* q) {
  double sum = -c->offset;
  for (int i = 0; i < c->count; i++) sum += c->slope[i] * q[c->coordinate[i]];
  return sum;
}

/* Rows of a closure or coupling. */
static void find_one(ClosureSystem* s, int k, const Pose* poses, const double* q) {
  const ModelCoupling* coupling = closure_coupling(s, k);
  if (coupling) {
    s->found_value[coupling->row] = closure_coupling_value(coupling, q);
    return;
  }
  const ModelClosure* c = &s->model->closures[k];
  double apart[3];
  s->ends[k] = closure_ends(c, poses);
  vec3_store(s->ends[k].apart, apart);
  for (int i = 0, row = c->row_first; i < c->row_count; i++, row++)
    s->found_value[row] = c->rows[i].kind == CLOSURE_POINT ? apart[c->rows[i].axis]
                                                           : find_row(c, &c->rows[i], &s->ends[k], &s->place[row]);
}

/* Were the rows found at these coordinates last? They are from now on. */
static void find_rows(ClosureSystem* s, const Pose* poses, const double* q) {
  size_t size = sizeof(double) * (size_t)s->model->coordinate_count;
  if (s->found && memcmp(s->found_q, q, size) == 0) return;
  memcpy(s->found_q, q, size);
  s->found = true;
  s->placed_weight = -1;
  for (int k = 0; k < s->count; k++) find_one(s, k, poses, q);
}

void closures_values(ClosureSystem* s, const Pose* poses, const double* q, double* values) {
  find_rows(s, poses, q);
  memcpy(values, s->found_value, sizeof(double) * (size_t)s->row_count);
}

/* ---------------------------------------------------------------- forces and stiffness */

/* What a unit of the row's multiplier hands both twists; of POINT nothing: all is in its axis and the arms. */
static void set_torques(const ClosureRow* row, const ClosureEnds* e, const Vec3 arm[2], ClosureRowPlace* p) {
  if (row->kind == CLOSURE_POINT) return;
  if (row->kind == CLOSURE_ALIGN) {
    p->torque[0] = vec3_cross(p->u, p->v);
    p->torque[1] = vec3_scale(p->torque[0], -1);
    return;
  }
  p->torque[0] = vec3_cross(arm[0], p->force);
  p->torque[1] = vec3_cross(p->force, arm[1]);
  if (row->kind == CLOSURE_ACROSS) p->torque[1] = vec3_add(p->torque[1], vec3_cross(p->force, e->apart));
}

/* How easily the two bodies alone would follow the row: sum |force|^2 / m + |torque|^2 / inertia [1/kg ...]. reach:
 * squares of the arms' lengths [m^2]. */
static double free_mobility(const ClosureEase* ease, const ClosureRow* row, const ClosureRowPlace* p, const Vec3 arm[2],
                            const double reach[2]) {
  double sum = 0, force = row->kind == CLOSURE_ALIGN ? 0 : vec3_dot(p->force, p->force);
  for (int side = 0; side < 2; side++) {
    if (row->kind == CLOSURE_POINT) {
      double along = component(arm[side], row->axis);
      sum += ease->move[side] + (reach[side] - along * along) * ease->turn[side];
    } else {
      sum += force * ease->move[side] + vec3_dot(p->torque[side], p->torque[side]) * ease->turn[side];
    }
  }
  return sum;
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
    ClosureRowPlace p = {.force = {0, 0, 0}};
    double push = nu[c->row_first + i];
    (void)find_row(c, &c->rows[i], &e, &p);
    set_torques(&c->rows[i], &e, arm, &p);
    if (c->rows[i].kind == CLOSURE_POINT) {
      p.force = unit_axis(c->rows[i].axis);
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

/* ---------------------------------------------------------------- slopes */

/* One degree of freedom at one end: it turns the link by w, moves its centre by v and the closure's end by `end`. */
typedef struct {
  double sign; /* of a 1, of b -1 */
  Vec3 w, v, arm, end;
} EndMotion;

static EndMotion end_motion(const Screw* screw, int side, Vec3 at, Vec3 arm) {
  Vec3 w = screw->w, v = screw_velocity(screw, at);
  return (EndMotion){side == 0 ? 1 : -1, w, v, arm, vec3_add(v, vec3_cross(w, arm))};
}

/* Of rows that are not POINT, whose slope is what moves the ends apart. */
static double row_slope(const ClosureRow* row, const ClosureRowPlace* p, int side, const EndMotion* by) {
  double turn = vec3_dot(by->w, p->torque[side]);
  return row->kind == CLOSURE_ALIGN ? turn : turn + by->sign * vec3_dot(by->v, p->force);
}

static double product_size(Vec3 a, Vec3 b) { return fabs(a.x * b.x) + fabs(a.y * b.y) + fabs(a.z * b.z); }

/* The size of its summands. */
static double slope_size(const ClosureRow* row, const ClosureRowPlace* p, int side, const EndMotion* by) {
  if (row->kind == CLOSURE_POINT) {
    Vec3 w = by->w, arm = by->arm;
    double a = row->axis == 0 ? w.y * arm.z : row->axis == 1 ? w.z * arm.x : w.x * arm.y;
    double b = row->axis == 0 ? w.z * arm.y : row->axis == 1 ? w.x * arm.z : w.y * arm.x;
    return fabs(a) + fabs(b) + fabs(component(by->v, row->axis));
  }
  double turn = product_size(by->w, p->torque[side]);
  return row->kind == CLOSURE_ALIGN ? turn : turn + product_size(by->v, p->force);
}

/* Is the slope its summands' rounding, no more? ends: which of them the degree of freedom moves, bits. */
static bool is_rounding(double slope, const ClosureRow* row, const ClosureRowPlace* p, unsigned ends,
                        const EndMotion by[2]) {
  double size = 0;
  for (int side = 0; side < 2; side++)
    if (ends >> side & 1) size += slope_size(row, p, side, &by[side]);
  return fabs(slope) <= SLOPE_ROUNDING * size;
}

/* The summands of points along axes and of directions, whose torques are below 1, are no larger. */
static double largest_size(const EndMotion* by) {
  return 2 * ((1 + size_of(by->arm)) * size_of(by->w) + size_of(by->v));
}

/* What moves both ends alike turns no more than the gap: a slope that is gone when the row is closed, and that would
 * hold a row across the plane of a flat linkage, which nothing moves, by any force (Z3). */
enum { BOTH_ENDS = 3 };

/* C, and which rows are moved by any joint. */
static void set_slopes(ClosureSystem* s, int k, const Vec3 at[2], const Screw* screws) {
  const ModelClosure* c = &s->model->closures[k];
  const ClosureRowPlace* place = s->place + c->row_first;
  int first = s->dof_first[k], count = s->dof_first[k + 1] - first;
  double* out = s->slope + s->slope_first[k];
  for (int i = 0; i < c->row_count; i++) s->moves[c->row_first + i] = false;
  for (int n = 0; n < count; n++) {
    unsigned ends = s->side[first + n];
    EndMotion by[2] = {{0}};
    double size = 0, apart[3];
    Vec3 sum = vec3(0, 0, 0);
    for (int side = 0; side < 2; side++) {
      if (!(ends >> side & 1)) continue;
      by[side] = end_motion(&screws[s->dof[first + n]], side, at[side], s->arm[k][side]);
      size += largest_size(&by[side]);
      sum = vec3_add_scaled(sum, by[side].sign, by[side].end);
    }
    vec3_store(sum, apart);
    for (int i = 0; i < c->row_count; i++) {
      double slope = c->rows[i].kind == CLOSURE_POINT && ends != BOTH_ENDS ? apart[c->rows[i].axis] : 0;
      for (int side = 0; side < 2 && c->rows[i].kind != CLOSURE_POINT; side++)
        if (ends >> side & 1) slope += row_slope(&c->rows[i], &place[i], side, &by[side]);
      bool plain = c->rows[i].kind <= CLOSURE_ALIGN && fabs(slope) > SLOPE_ROUNDING * size;
      if (!plain && (slope == 0 || is_rounding(slope, &c->rows[i], &place[i], ends, by))) slope = 0;
      out[i * count + n] = slope;
      if (slope != 0) s->moves[c->row_first + i] = true;
    }
  }
}

/* ---------------------------------------------------------------- all of them */

static void place_closure(ClosureSystem* s, int k, const Vec3* reference, const Screw* screws, double weight) {
  const ModelClosure* c = &s->model->closures[k];
  const ClosureEnds* e = &s->ends[k];
  Vec3 at[2];
  find_arms(c, e, reference, at, s->arm[k]);
  const double reach[2] = {vec3_dot(s->arm[k][0], s->arm[k][0]), vec3_dot(s->arm[k][1], s->arm[k][1])};
  s->extent[k] = c->size + vec3_norm(e->end[0]) + vec3_norm(e->end[1]);
  for (int i = 0, row = c->row_first; i < c->row_count; i++, row++) {
    set_torques(&c->rows[i], e, s->arm[k], &s->place[row]);
    double mobility = free_mobility(&s->ease[k], &c->rows[i], &s->place[row], s->arm[k], reach);
    s->value[row] = s->found_value[row];
    s->stiffness[row] = mobility > 0 ? weight / mobility : 0;
  }
  set_slopes(s, k, at, screws);
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

static void place_coupling(ClosureSystem* s, int k, const double* q, const Vec3* reference, const Screw* screws,
                           double weight) {
  const ModelCoupling* c = closure_coupling(s, k);
  double mobility = coupling_mobility(s->model, c, reference, screws);
  s->value[c->row] = s->found_value[c->row];
  s->stiffness[c->row] = mobility > 0 ? weight / mobility : 0;
  s->extent[k] = c->size + fabs(c->offset);
  for (int i = 0; i < c->count; i++) s->extent[k] += fabs(c->slope[i] * q[c->coordinate[i]]);
  memcpy(s->slope + s->slope_first[k], c->slope, sizeof(double) * (size_t)c->count);
}

static void place_found(ClosureSystem* s, int k, const double* q, const Vec3* reference, const Screw* screws,
                        double weight) {
  if (closure_coupling(s, k))
    place_coupling(s, k, q, reference, screws, weight);
  else
    place_closure(s, k, reference, screws, weight);
}

void closures_place(ClosureSystem* s, const Pose* poses, const double* q, const Vec3* reference, const Screw* screws,
                    double weight) {
  find_rows(s, poses, q);
  if (s->placed_weight == weight) return;
  s->placed_weight = weight;
  for (int k = 0; k < s->count; k++) place_found(s, k, q, reference, screws, weight);
}

void closures_place_one(ClosureSystem* s, int k, const Pose* poses, const double* q, const Vec3* reference,
                        const Screw* screws, double weight) {
  s->found = false;
  find_one(s, k, poses, q);
  place_found(s, k, q, reference, screws, weight);
}

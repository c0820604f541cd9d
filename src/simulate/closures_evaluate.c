/* Values and forces of closure rows at a configuration, and derivatives of their values with respect to degrees of
 * freedom (docs/derivations/closures.md, Z1, Z2, Z4). */
#include <assert.h>
#include <string.h>

#include "simulate/closures.h"

/* The derivative of a closure row's value with respect to a degree of freedom is set to 0 if it is below this fraction
 * of the sum of the magnitudes of its summands, because it is then rounding error. In a planar linkage, no joint moves
 * the row perpendicular to the plane. The limit detects this row also if the plane is not aligned with the axes. */
#define JACOBIAN_ROUNDING 1e-13

static double absolute_sum(Vec3 a) { return fabs(a.x) + fabs(a.y) + fabs(a.z); }

/* ---------------------------------------------------------------- values of the closure equations (Z1) */

static void set_attachments(const ModelClosure* c, const Pose* poses, ClosureAttachments* e) {
  for (int side = 0; side < 2; side++) {
    e->pose[side] = model_closure_pose(c, side, poses);
    e->end[side] = pose_apply(e->pose[side], c->end[side]);
  }
  e->separation = vec3_sub(e->end[0], e->end[1]);
}

ClosureAttachments closure_attachments(const ModelClosure* c, const Pose* poses) {
  ClosureAttachments e;
  set_attachments(c, poses, &e);
  return e;
}

/* Returns the value of one closure equation (row). Sets the directions u and v of *p for an ALIGN row, or the force of
 * *p for an ACROSS or LENGTH row. Sets nothing for a POINT row, whose force is its axis. */
static double evaluate_row(const ModelClosure* c, const ClosureRow* row, const ClosureAttachments* e,
                           ClosureRowGeometry* p) {
  switch (row->kind) {
    case CLOSURE_POINT:
      return vec3_dot(vec3_at(c->frame.m[row->axis]), e->separation);
    case CLOSURE_ALIGN:
      p->u = mat3_mul_vec(e->pose[0].r, row->u);
      p->v = mat3_mul_vec(e->pose[1].r, row->v);
      return vec3_dot(p->u, p->v);
    case CLOSURE_ACROSS:
      p->force = mat3_mul_vec(e->pose[1].r, row->v);
      return vec3_dot(e->separation, p->force);
    case CLOSURE_LENGTH:
      break;
  }
  p->force = vec3_scale(e->separation, 1 / c->length);
  return 0.5 * (vec3_dot(e->separation, e->separation) / c->length - c->length);
}

double closure_row_value(const ModelClosure* closure, const ClosureRow* row, const ClosureAttachments* attachments) {
  ClosureRowGeometry p;
  return evaluate_row(closure, row, attachments, &p);
}

Vec3 closure_row_direction(const ModelClosure* closure, const ClosureRow* row, const ClosureAttachments* attachments) {
  ClosureRowGeometry p = {.force = {0, 0, 0}};
  if (row->kind == CLOSURE_POINT) return vec3_at(closure->frame.m[row->axis]);
  (void)evaluate_row(closure, row, attachments, &p);
  return p.force;
}

double closure_coupling_value(const ModelCoupling* c, const double* q) {
  double sum = -c->offset;
  for (int i = 0; i < c->count; i++) sum += c->slope[i] * q[c->coordinate[i]];
  return sum;
}

/* Returns the value of an ALIGN row whose u equals the u of the row before, as in a hinge, and sets u and v of *p. u:
 * direction of the row before, already rotated. */
static double evaluate_align_row(const ClosureRow* row, const ClosureAttachments* e, Vec3 u, ClosureRowGeometry* p) {
  p->u = u;
  p->v = mat3_mul_vec(e->pose[1].r, row->v);
  return vec3_dot(p->u, p->v);
}

/* Computes the attachment points and row values of closure k, or the row value of a coupling. */
static void evaluate_closure_rows(ClosureSystem* s, int k, const Pose* poses, const double* q) {
  const ModelCoupling* coupling = closure_coupling(s, k);
  if (coupling) {
    s->evaluated_value[coupling->row] = closure_coupling_value(coupling, q);
    return;
  }
  const ModelClosure* c = &s->model->closures[k];
  const ClosureAttachments* e = &s->attachments[k];
  double* value = s->evaluated_value + c->row_first;
  set_attachments(c, poses, &s->attachments[k]);
  if (closure_has_points(c)) vec3_store(closure_frame_components(c, e->separation), value);
  for (int i = closure_has_points(c) ? 3 : 0; i < c->row_count; i++) {
    ClosureRowGeometry* p = &s->place[c->row_first + i];
    bool again = c->type == CLOSURE_HINGE && c->rows[i - 1].kind == CLOSURE_ALIGN;
    value[i] = again ? evaluate_align_row(&c->rows[i], e, p[-1].u, p) : evaluate_row(c, &c->rows[i], e, p);
  }
}

static void evaluate_rows(ClosureSystem* s, const Pose* poses, const double* q) {
  size_t size = sizeof(double) * (size_t)s->model->coordinate_count;
  if (s->found && memcmp(s->evaluated_q, q, size) == 0) return;
  memcpy(s->evaluated_q, q, size);
  s->found = true;
  s->has_jacobian = false;
  s->evaluated_weight = -1;
  for (int k = 0; k < s->count; k++) evaluate_closure_rows(s, k, poses, q);
}

void closures_compute_values(ClosureSystem* s, const Pose* poses, const double* q, double* values) {
  assert(s && poses && q && values);
  evaluate_rows(s, poses, q);
  memcpy(values, s->evaluated_value, sizeof(double) * (size_t)s->row_count);
}

/* ---------------------------------------------------------------- torques and mobilities of closure rows */

/* Sets p->torque to the torques that a unit multiplier of the row exerts on both links. Does nothing for POINT rows,
 * whose torques follow from their force and the arms. */
static void set_torques(const ClosureRow* row, const ClosureAttachments* e, const Vec3 arm[2], ClosureRowGeometry* p) {
  if (row->kind == CLOSURE_POINT) return;
  if (row->kind == CLOSURE_ALIGN) {
    p->torque[0] = vec3_cross(p->u, p->v);
    p->torque[1] = vec3_scale(p->torque[0], -1);
    return;
  }
  p->torque[0] = vec3_cross(arm[0], p->force);
  p->torque[1] = vec3_cross(p->force, arm[1]);
  if (row->kind == CLOSURE_ACROSS) p->torque[1] = vec3_add(p->torque[1], vec3_cross(p->force, e->separation));
}

/* Returns the mobility of a row, not of kind POINT, as if both links were free bodies: the sum over both links of
 * |force|^2 / m + |torque|^2 / I [1/kg; ALIGN: 1/(kg m^2)]. */
static double free_mobility(const ClosureMobility* ease, const ClosureRow* row, const ClosureRowGeometry* p) {
  double sum = 0;
  if (row->kind == CLOSURE_ALIGN) { /* b receives the opposite torque, and there are no forces */
    double square = vec3_dot(p->torque[0], p->torque[0]);
    return square * ease->turn[0] + square * ease->turn[1];
  }
  for (int side = 0; side < 2; side++)
    sum +=
        vec3_dot(p->force, p->force) * ease->move[side] + vec3_dot(p->torque[side], p->torque[side]) * ease->turn[side];
  return sum;
}

/* Sets mobility[i] to the mobility of POINT row i as if both links were free bodies [1/kg]. */
static void point_mobilities(const ModelClosure* c, const ClosureMobility* ease, const Vec3 arm[2],
                             double mobility[3]) {
  const double reach[2] = {vec3_dot(arm[0], arm[0]), vec3_dot(arm[1], arm[1])};
  double along[2][3];
  for (int side = 0; side < 2; side++) vec3_store(closure_frame_components(c, arm[side]), along[side]);
  for (int i = 0; i < 3; i++)
    mobility[i] = ease->move[0] + (reach[0] - along[0][i] * along[0][i]) * ease->turn[0] +
                  (ease->move[1] + (reach[1] - along[1][i] * along[1][i]) * ease->turn[1]);
}

static void set_centers(const ModelClosure* c, const Vec3* reference, Vec3 at[2]) {
  for (int side = 0; side < 2; side++) at[side] = c->link[side] < 0 ? vec3(0, 0, 0) : reference[c->link[side]];
}

static void compute_arms(const ModelClosure* c, const ClosureAttachments* e, const Vec3* reference, Vec3 arm[2]) {
  Vec3 at[2];
  set_centers(c, reference, at);
  for (int side = 0; side < 2; side++) arm[side] = vec3_sub(e->end[side], at[side]);
}

void closure_row_wrench(const ClosureSystem* s, int k, const Pose* poses, const Vec3* reference, const double* nu,
                        double wrench[12]) {
  assert(k >= 0 && k < s->model->closure_count);
  const ModelClosure* c = &s->model->closures[k];
  ClosureAttachments e = closure_attachments(c, poses);
  Vec3 arm[2], force = vec3(0, 0, 0), torque[2] = {{0, 0, 0}, {0, 0, 0}};
  compute_arms(c, &e, reference, arm);
  for (int i = 0; i < c->row_count; i++) {
    ClosureRowGeometry p = {.force = {0, 0, 0}};
    double push = nu[c->row_first + i];
    (void)evaluate_row(c, &c->rows[i], &e, &p);
    set_torques(&c->rows[i], &e, arm, &p);
    if (c->rows[i].kind == CLOSURE_POINT) {
      p.force = vec3_at(c->frame.m[c->rows[i].axis]);
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

/* ---------------------------------------------------------------- derivatives of the closure equations */

/* Motion of a closure's ends at a unit rate of one degree of freedom: angular velocity w of the links that it moves,
 * velocities v of their centres of mass, and the rate of the offset `separation` along the directions of the POINT
 * rows. */
typedef struct {
  unsigned ends; /* ends of the closure that the degree of freedom moves, as bits */
  Vec3 w, v[2];
  double size; /* upper bound of the sum of |summands| in the derivative of a POINT or ALIGN row (ALIGN torques are at
                  most 1) */
  double separation[3];
} DofMotion;

static double side_sign(int side) { return side == 0 ? 1 : -1; }

static void compute_dof_motion(const ModelClosure* c, const Screw* screw, unsigned ends, const Vec3 at[2],
                               const Vec3 arm[2], const double arm_size[2], DofMotion* motion) {
  Vec3 sum = vec3(0, 0, 0);
  motion->ends = ends;
  motion->w = screw->w;
  motion->v[0] = motion->v[1] = sum;
  motion->size = 0;
  double turn = absolute_sum(screw->w);
  for (int side = 0; side < 2; side++) {
    if (!(ends >> side & 1)) continue;
    Vec3 v = motion->v[side] = screw_velocity(screw, at[side]);
    motion->size += 2 * ((1 + arm_size[side]) * turn + absolute_sum(v));
    sum = vec3_add_scaled(sum, side_sign(side), vec3_add(v, vec3_cross(screw->w, arm[side])));
  }
  vec3_store(closure_frame_components(c, sum), motion->separation);
}

/* Returns the derivative of a row's value with respect to one degree of freedom; not for rows of kind POINT. */
static double row_derivative(const ClosureRow* row, const ClosureRowGeometry* p, const DofMotion* motion) {
  double slope = 0;
  for (int side = 0; side < 2; side++) {
    if (!(motion->ends >> side & 1)) continue;
    double turn = vec3_dot(motion->w, p->torque[side]);
    slope += row->kind == CLOSURE_ALIGN ? turn : turn + side_sign(side) * vec3_dot(motion->v[side], p->force);
  }
  return slope;
}

static double product_magnitude(Vec3 a, Vec3 b) { return fabs(a.x * b.x) + fabs(a.y * b.y) + fabs(a.z * b.z); }

/* Returns the sum of the |summands| that belong to one side of the closure, in the derivative of a row's value with
 * respect to one degree of freedom. w, v, arm: angular velocity, velocity of the centre of mass and arm of this side.
 */
static double derivative_magnitude(const ModelClosure* c, const ClosureRow* row, const ClosureRowGeometry* p, int side,
                                   Vec3 w, Vec3 v, Vec3 arm) {
  if (row->kind == CLOSURE_POINT) {
    Vec3 e = vec3_at(c->frame.m[row->axis]);
    double x = fabs(w.y * arm.z) + fabs(w.z * arm.y) + fabs(v.x), y = fabs(w.z * arm.x) + fabs(w.x * arm.z) + fabs(v.y);
    double z = fabs(w.x * arm.y) + fabs(w.y * arm.x) + fabs(v.z);
    return fabs(e.x) * x + fabs(e.y) * y + fabs(e.z) * z;
  }
  double turn = product_magnitude(w, p->torque[side]);
  return row->kind == CLOSURE_ALIGN ? turn : turn + product_magnitude(v, p->force);
}

/* Returns true if `slope`, the derivative of row i's value with respect to one degree of freedom, is not larger than
 * the rounding error of its summands. */
static bool is_rounding_error(double slope, const ModelClosure* c, int i, const ClosureRowGeometry* p,
                              const DofMotion* motion, const Vec3 arm[2]) {
  double size = 0;
  for (int side = 0; side < 2; side++)
    if (motion->ends >> side & 1)
      size += derivative_magnitude(c, &c->rows[i], p, side, motion->w, motion->v[side], arm[side]);
  return fabs(slope) <= JACOBIAN_ROUNDING * size;
}

/* Value of DofMotion.ends for a degree of freedom that moves both ends. Such a degree of freedom only rotates the gap,
 * so the derivatives of POINT rows with respect to it are proportional to the gap and vanish in a closed closure. They
 * are set to 0. Otherwise the row perpendicular to the plane of a planar linkage, which no joint moves, could have an
 * arbitrary multiplier (Z3). */
enum { BOTH_ENDS = 3 };

/* Sets the derivatives of all rows of a closure with respect to one degree of freedom. Consecutive rows are `count`
 * entries apart. Returns the rows with a nonzero entry as bits. */
static unsigned set_jacobian_column(const ModelClosure* c, const ClosureRowGeometry* place, const Vec3 arm[2],
                                    const DofMotion* motion, int count, double* out) {
  int points = closure_has_points(c) ? 3 : 0;
  unsigned moved = 0;
  double rounding_limit =
      JACOBIAN_ROUNDING *
      motion->size; /* a derivative of a POINT or ALIGN row above this bound is not rounding error */
  for (int i = 0; i < points; i++, out += count) {
    double slope = motion->ends == BOTH_ENDS ? 0 : motion->separation[i];
    if (fabs(slope) <= rounding_limit && slope != 0 && is_rounding_error(slope, c, i, &place[i], motion, arm))
      slope = 0;
    *out = slope;
    if (slope != 0) moved |= 1u << i;
  }
  for (int i = points; i < c->row_count; i++, out += count) {
    double slope = row_derivative(&c->rows[i], &place[i], motion);
    bool doubtful = fabs(slope) <= rounding_limit || c->rows[i].kind != CLOSURE_ALIGN;
    if (slope != 0 && doubtful && is_rounding_error(slope, c, i, &place[i], motion, arm)) slope = 0;
    *out = slope;
    if (slope != 0) moved |= 1u << i;
  }
  return moved;
}

/* Sets the derivatives of the row values of closure k with respect to its degrees of freedom. Returns the rows with a
 * nonzero entry as bits. */
static unsigned set_jacobian(ClosureSystem* s, int k, const Vec3* reference, const Screw* screws) {
  const ModelClosure* c = &s->model->closures[k];
  int first = s->dof_first[k], count = s->dof_first[k + 1] - first;
  const double arm_size[2] = {absolute_sum(s->arm[k][0]), absolute_sum(s->arm[k][1])};
  double* out = s->slope + s->slope_first[k];
  unsigned moved = 0;
  Vec3 at[2];
  set_centers(c, reference, at);
  for (int n = 0; n < count; n++) {
    DofMotion motion;
    compute_dof_motion(c, &screws[s->dof[first + n]], s->side[first + n], at, s->arm[k], arm_size, &motion);
    moved |= set_jacobian_column(c, s->place + c->row_first, s->arm[k], &motion, count, out + n);
  }
  return moved;
}

/* Stores which rows of closure k have a nonzero derivative with respect to a degree of freedom. moved: these rows as
 * bits. Returns true if they changed. */
static bool record_nonzero_rows(ClosureSystem* s, int k, unsigned moved) {
  const ModelClosure* c = &s->model->closures[k];
  if (moved == s->moved[k]) return false;
  s->moved[k] = moved;
  for (int i = 0; i < c->row_count; i++) s->moves[c->row_first + i] = moved >> i & 1;
  return true;
}

/* ---------------------------------------------------------------- all closures and couplings */

static void set_stiffness_and_torques(ClosureSystem* s, int k, const Vec3* reference, double weight) {
  const ModelClosure* c = &s->model->closures[k];
  const ClosureAttachments* e = &s->attachments[k];
  double mobility[CLOSURE_ROWS];
  compute_arms(c, e, reference, s->arm[k]);
  s->extent[k] = c->size + vec3_norm(e->end[0]) + vec3_norm(e->end[1]);
  if (closure_has_points(c)) point_mobilities(c, &s->mobility[k], s->arm[k], mobility);
  for (int i = closure_has_points(c) ? 3 : 0; i < c->row_count; i++) {
    ClosureRowGeometry* p = &s->place[c->row_first + i];
    set_torques(&c->rows[i], e, s->arm[k], p);
    mobility[i] = free_mobility(&s->mobility[k], &c->rows[i], p);
  }
  for (int i = 0, row = c->row_first; i < c->row_count; i++, row++) {
    s->value[row] = s->evaluated_value[row];
    s->stiffness[row] = mobility[i] > 0 ? weight / mobility[i] : 0;
  }
}

/* Returns the mobility of a coupling as if each link moved independently along or about its joint: sum of slope^2 /
 * inertia. */
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

static void set_coupling_stiffness(ClosureSystem* s, int k, const double* q, const Vec3* reference, const Screw* screws,
                                   double weight) {
  const ModelCoupling* c = closure_coupling(s, k);
  double mobility = coupling_mobility(s->model, c, reference, screws);
  s->value[c->row] = s->evaluated_value[c->row];
  s->stiffness[c->row] = mobility > 0 ? weight / mobility : 0;
  s->extent[k] = c->size + fabs(c->offset);
  for (int i = 0; i < c->count; i++) s->extent[k] += fabs(c->slope[i] * q[c->coordinate[i]]);
}

static void evaluate_forces(ClosureSystem* s, int k, const double* q, const Vec3* reference, const Screw* screws,
                            double weight) {
  if (closure_coupling(s, k))
    set_coupling_stiffness(s, k, q, reference, screws, weight);
  else
    set_stiffness_and_torques(s, k, reference, weight);
}

void closures_evaluate(ClosureSystem* s, const Pose* poses, const double* q, const Vec3* reference, const Screw* screws,
                       double weight) {
  assert(s && !(weight < 0));
  evaluate_rows(s, poses, q);
  if (s->evaluated_weight == weight) return;
  s->evaluated_weight = weight;
  for (int k = 0; k < s->count; k++) evaluate_forces(s, k, q, reference, screws, weight);
}

void closures_compute_jacobian(ClosureSystem* s, const Pose* poses, const double* q, const Vec3* reference,
                               const Screw* screws, double weight) {
  closures_evaluate(s, poses, q, reference, screws, weight);
  if (s->has_jacobian) return;
  s->has_jacobian = true;
  bool others = s->nonzero_count == 0;
  for (int k = 0; k < s->model->closure_count; k++)
    others = record_nonzero_rows(s, k, set_jacobian(s, k, reference, screws)) || others;
  if (others) closures_list_nonzero_rows(s);
}

void closures_evaluate_one(ClosureSystem* s, int k, const Pose* poses, const double* q, const Vec3* reference,
                           const Screw* screws, double weight) {
  assert(k >= 0 && k < s->count);
  s->found = false;
  evaluate_closure_rows(s, k, poses, q);
  evaluate_forces(s, k, q, reference, screws, weight);
  if (!closure_coupling(s, k)) (void)record_nonzero_rows(s, k, set_jacobian(s, k, reference, screws));
}

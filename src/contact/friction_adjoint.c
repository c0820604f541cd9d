/* Adjoint of the friction force of a pair (docs/derivations/adjoint.md, A7-A8). Computes the derivatives of
 *   Phi = mu sum w phi(r) . zeta,  phi = r / rho,  zeta = E^T eta,
 * summed over the contact points. mu: friction coefficient; w: weight (normal force) of a point; r: its slip; rho =
 * sqrt(|r|^2 + smoothing). E: tangents of the contact plane; eta: velocity of the point by the twists of both bodies.
 * Phi depends on the slip s = (u, omega) of the pair, which solves sum w J^T phi = 0 with J = dr/ds. Let a solve
 *   (sum w J^T h J) a = - sum w J^T h zeta,  h = dphi/dr.
 * Then the derivative of Phi equals the derivative of mu sum w phi(r) . q at fixed s and a, with q = zeta + J a. */
#include "contact/friction_adjoint.h"

#include <string.h>

#include "contact/small_matrix.h"

/* Slip r of a contact point, rho = sqrt(|r|^2 + smoothing), the smoothed direction phi = r / rho of the slip, and the
 * symmetric derivative h = dphi/dr. */
typedef struct {
  double r[2], phi[2], h[2][2], rho;
} Slip;

static Slip slip_from(double r0, double r1, double smoothing) {
  Slip s = {.r = {r0, r1}, .rho = sqrt(r0 * r0 + r1 * r1 + smoothing)};
  for (int i = 0; i < 2; i++) s.phi[i] = s.r[i] / s.rho;
  for (int i = 0; i < 2; i++)
    for (int j = 0; j < 2; j++) s.h[i][j] = ((i == j ? 1.0 : 0.0) - s.phi[i] * s.phi[j]) / s.rho;
  return s;
}

static Slip slip_at(const FrictionLag* lag, const FrictionVertex* v, double smoothing) {
  const double* s = lag->slip;
  return slip_from(v->velocity[0] - s[0] + s[2] * v->scaled[1], v->velocity[1] - s[1] - s[2] * v->scaled[0], smoothing);
}

static Slip ground_slip(const FrictionLag* lag, double smoothing) {
  return slip_from(-lag->slip[0], -lag->slip[1], smoothing);
}

/* Adds the terms of one contact point to the linear equations for the adjoint `a` of the slip (FrictionReverse.a). Adds
 * w J^T h J to the lower triangle of the argument `h`, and -w J^T h zeta to rhs. w: weight of the point; zeta: its
 * velocity by the twists. In these formulas, h is dphi/dr (s->h). J = [-1 0 y2; 0 -1 -y1] is the derivative of the
 * point's slip with respect to the slip of the pair. */
static void add_normal_equations(double w, const Slip* s, const double y[2], const double zeta[2], double h[4][4],
                                 double rhs[3]) {
  double j[2][3] = {{-1, 0, y[1]}, {0, -1, -y[0]}}, hj[2][3], hz[2];
  for (int i = 0; i < 2; i++) {
    hz[i] = w * (s->h[i][0] * zeta[0] + s->h[i][1] * zeta[1]);
    for (int k = 0; k < 3; k++) hj[i][k] = w * (s->h[i][0] * j[0][k] + s->h[i][1] * j[1][k]);
  }
  for (int k = 0; k < 3; k++) {
    rhs[k] -= j[0][k] * hz[0] + j[1][k] * hz[1];
    for (int l = 0; l <= k; l++) h[k][l] += j[0][k] * hj[0][l] + j[1][k] * hj[1][l];
  }
}

static void vertex_zeta(const FrictionLag* lag, Vec3 field, double zeta[2]) {
  zeta[0] = vec3_dot(lag->e1, field);
  zeta[1] = vec3_dot(lag->e2, field);
}

static Vec3 field_of(const PairBody* body, const double twist[6], Vec3 x) {
  return vec3_add(vec3(twist[3], twist[4], twist[5]),
                  vec3_cross(vec3(twist[0], twist[1], twist[2]), vec3_sub(x, body->reference)));
}

/* Returns the velocity of the end of an arm that rotates with its body, relative to the start of the arm. turn: rate of
 * FrictionRoll.change if the body moves with its twist. */
static Vec3 arm_field(const FrictionLag* lag, int side, Vec3 arm, Vec3 turn) {
  RollRows rows = roll_rows(&lag->shift[side], arm);
  return roll_rows_displacement(&rows, turn);
}

static HullField hull_field(const FrictionLag* lag, int side, const PairBody* next, const double twist[6]) {
  HullField f = {.motion = friction_motion(lag, side, &next->hull.pose), .w = vec3(twist[0], twist[1], twist[2])};
  f.field = field_of(next, twist, f.motion.center);
  if (f.motion.rolls)
    f.field = vec3_add(f.field, arm_field(lag, side, lag->arm[side], axial_change(f.motion.roll.turn, f.w)));
  f.spin = vec3_dot(friction_axial_by_rotation(f.motion.rotation, lag->normal), f.w);
  return f;
}

static void hull_zeta(const FrictionLag* lag, const HullField* f, const FrictionVertex* v, double zeta[2]) {
  vertex_zeta(lag, f->field, zeta);
  zeta[0] -= f->spin * v->position[1];
  zeta[1] += f->spin * v->position[0];
}

/* Returns the velocity that `twist` gives to a contact point over a half-space, including the rotation of its arm
 * (A8d). */
static Vec3 roll_field(const FrictionLag* lag, const FrictionVertex* v, const FrictionRoll* roll, const PairBody* next,
                       const double twist[6]) {
  Vec3 turn = axial_change(roll->turn, vec3(twist[0], twist[1], twist[2]));
  return vec3_add(field_of(next, twist, pose_apply(next->hull.pose, v->local)), arm_field(lag, 0, v->arm, turn));
}

static void solve_slip_adjoint(const FrictionLag* lag, double smoothing, const PairBody next[2],
                               const double twist[2][6], const HullField hull[2], const FrictionRoll* roll,
                               double a[3]) {
  static const double centre[2] = {0, 0};
  double h[4][4] = {{0}};
  a[0] = a[1] = a[2] = 0;
  for (int k = 0; k < lag->count[0] + lag->count[1]; k++) {
    const FrictionVertex* v = &lag->vertices[k];
    int side = k >= lag->count[0];
    double zeta[2];
    if (lag->half_space)
      vertex_zeta(lag, roll_field(lag, v, roll, &next[side], twist[side]), zeta);
    else
      hull_zeta(lag, &hull[side], v, zeta);
    Slip s = slip_at(lag, v, smoothing);
    add_normal_equations(v->weight, &s, v->scaled, zeta, h, a);
  }
  if (lag->half_space) {
    Slip s = ground_slip(lag, smoothing);
    add_normal_equations(lag->ground_weight, &s, centre, centre, h, a);
  }
  for (int k = lag->order; k < 3; k++) a[k] = 0;
  small_cholesky(lag->order, h);
  small_forward(lag->order, h, a);
  small_backward(lag->order, h, a);
}

/* Derivatives of the weight (smoothed normal force) A(|P'| |n|) of a contact point with respect to its clearance, the
 * length |n| of the plane's normal, and the support. P': derivative of the barrier. */
typedef struct {
  double by_clearance, by_length, by_support;
} WeightSlope;

static WeightSlope weight_slope(const ActiveVertex* v, double support, double length) {
  double force = -v->first * length, floor = FRICTION_WEIGHT_FLOOR / (support * support);
  double root = sqrt(force * force + floor * floor), slope = force / root;
  return (WeightSlope){
      -slope * v->second * length, -slope * v->first,
      -slope * active_first_by_support(v, support) * length - 2 * (floor / root - 1) * floor / support};
}

/* Returns the contact point v as an ActiveVertex at t. x0: position of the contact point at t, world [m]; for a ball,
 * the ball's point nearest to the plane. */
static ActiveVertex lagged_vertex(const FrictionVertex* v, const HullInstance* hull, double sigma, double support,
                                  const Plane* plane, Vec3 x0) {
  Vec3 x = vec3_sub(x0, plane->origin);
  double clearance = sigma * (vec3_dot(plane->n, x) + plane->o);
  Barrier b = vertex_barrier(hull, support, clearance);
  Vec3 center = vec3_add_scaled(x, sigma * hull->rounding / vec3_norm(plane->n), plane->n);
  return (ActiveVertex){v->vertex, center, b.first, b.second, clearance, x};
}

static void add_weight(const WeightSlope* slope, double weight_bar, double sigma, Vec3 x, LagBar* bar,
                       PairShares* out) {
  double c = weight_bar * slope->by_clearance * sigma;
  bar->plane[0] += c * x.x;
  bar->plane[1] += c * x.y;
  bar->plane[2] += c * x.z;
  bar->plane[3] += c;
  bar->length += weight_bar * slope->by_length;
  out->support += weight_bar * slope->by_support;
}

/* Returns the motion of a half-space from t to t + dt. Returns the identity if the pair has no half-space or the
 * half-space does not move. */
static Pose ground_motion(const FrictionLag* lag, const PairBody next[2]) {
  if (!lag->half_space || memcmp(&lag->start[1], &next[1].hull.pose, sizeof(Pose)) == 0) return pose_identity();
  return pose_mul(next[1].hull.pose, pose_inverse(lag->start[1]));
}

static Vec3 in_plane(const FrictionLag* lag, double a, double b) {
  return vec3_add(vec3_scale(lag->e1, a), vec3_scale(lag->e2, b));
}

/* (A8b) Friction of a ball acts at its point x0 = center + e nearest to the plane, with e = -sigma r n^. r: radius; n^:
 * unit normal; sigma: -1 for body a, +1 for body b. Adds the contribution of e to the derivatives of Phi. The
 * derivative with respect to the normal n^ is added to *bar, the derivative with respect to the radius r to *out. by:
 * derivatives of Phi with respect to x0 at t and at t + dt. by_arm: derivative of Phi with respect to e at t + dt. */
static void ball_reverse(FrictionReverse* f, int side, const VertexShare* by, Vec3 by_arm, LagBar* bar,
                         PairShares* out) {
  const PairBody *now = &f->now[side], *next = &f->next[side];
  double lean = (side == 0 ? 1 : -1), radius = now->hull.rounding;
  Vec3 n = f->lag->normal, e = vec3_scale(n, lean * radius), by_e = vec3_add(by->now, by_arm);
  if (f->at_solve) { /* the vector e is fixed in the body and rotates with it */
    Mat3 start = f->lag->start[side].r;
    Vec3 e_start = mat3_mul_vec(start, mat3_tmul_vec(now->hull.pose.r, e));
    Vec3 back = mat3_mul_vec(now->hull.pose.r, mat3_tmul_vec(next->hull.pose.r, by->next));
    back = vec3_add(back, mat3_mul_vec(now->hull.pose.r, mat3_tmul_vec(start, by->now)));
    out->turn_now[side] = vec3_add(out->turn_now[side], vec3_cross(e_start, by->now));
    out->turn_solve[side] = vec3_add(out->turn_solve[side], vec3_cross(back, e));
    f->fixed = vec3_add_scaled(f->fixed, lean * radius, back);
    by_e = vec3_add(by->solve, back);
  }
  bar->direction = vec3_add_scaled(bar->direction, lean * radius, by_e);
  out->rounding[side] += lean * vec3_dot(n, by_e);
}

/* Evaluates the term mu w phi . q of one contact point in Phi (see the head of this file). mu: friction coefficient; w:
 * weight; phi: direction of the slip; q: velocity of the point by the twists, corrected for the change of the pair's
 * slip. Adds the term and its derivative with respect to the smoothing to *out. Sets e to the derivative of the term
 * with respect to q, and b to its derivative with respect to the slip r. Sets *phi_q to phi . q. */
static void slip_reverse(const FrictionReverse* f, const FrictionVertex* v, const double zeta[2], double b[2],
                         double e[2], double* phi_q, PairShares* out) {
  double weight = f->parameters->coefficient * v->weight, q[2];
  Slip s = slip_at(f->lag, v, f->parameters->smoothing);
  q[0] = zeta[0] - f->a[0] + f->a[2] * v->scaled[1];
  q[1] = zeta[1] - f->a[1] - f->a[2] * v->scaled[0];
  *phi_q = s.phi[0] * q[0] + s.phi[1] * q[1];
  for (int i = 0; i < 2; i++) {
    b[i] = weight * (s.h[i][0] * q[0] + s.h[i][1] * q[1]);
    e[i] = weight * s.phi[i];
  }
  out->value += e[0] * zeta[0] + e[1] * zeta[1];
  out->smoothing -= 0.5 * weight * (s.r[0] * q[0] + s.r[1] * q[1]) / (s.rho * s.rho * s.rho);
}

/* Adds the derivatives of Phi with respect to the tangents e_i to f->by_e. `displacement` and `field` are projected
 * onto these tangents. by_r, by_q: derivatives of Phi with respect to the projections of `displacement` and of
 * `field`. */
static void add_tangents(FrictionReverse* f, const double by_r[2], Vec3 displacement, const double by_q[2],
                         Vec3 field) {
  for (int i = 0; i < 2; i++)
    f->by_e[i] = vec3_add(f->by_e[i], vec3_add(vec3_scale(displacement, by_r[i]), vec3_scale(field, by_q[i])));
}

/* (A7c) Adds the contribution of the tangents e_i to the derivatives of Phi. The tangents change with the normal by
 * de_i = -(e_i . dn^) n^. With direction-dependent friction, they also change with the axis and the ratio by de_i = dS
 * e_i. S: matrix of FrictionDirection; e_i here: the tangent before the multiplication by S. */
static void tangents_reverse(FrictionReverse* f, LagBar* bar, PairShares* out) {
  const FrictionLag* lag = f->lag;
  Vec3 n = lag->normal, by_n = {0, 0, 0}, by_p = {0, 0, 0}, p = {0, 0, 0};
  if (lag->directed) p = vec3_add_scaled(lag->axis, -vec3_dot(n, lag->axis), n);
  for (int i = 0; i < 2; i++) {
    Vec3 e = lag->directed ? lag->basis[i] : i == 0 ? lag->e1 : lag->e2;
    by_n = vec3_add_scaled(by_n, -vec3_dot(n, f->by_e[i]), e);
    double along = vec3_dot(p, e), by_along = vec3_dot(p, f->by_e[i]);
    out->ratio += along * by_along;
    by_p = vec3_add(by_p, vec3_add(vec3_scale(f->by_e[i], along), vec3_scale(e, by_along)));
  }
  if (lag->directed) {
    by_p = vec3_scale(by_p, lag->direction.ratio - 1);
    double lean = vec3_dot(n, by_p);
    f->by_axis = vec3_add_scaled(by_p, -lean, n);
    by_n = vec3_sub(by_n, vec3_add(vec3_scale(lag->axis, lean), vec3_scale(by_p, vec3_dot(n, lag->axis))));
  }
  f->fixed = vec3_add(f->fixed, by_n);
  bar->direction = vec3_add(bar->direction, by_n);
}

/* Adds the contribution of the axis of direction-dependent friction to the derivatives of Phi. The axis is fixed in one
 * body, so the derivative is with respect to the rotation of this body in the reference state. */
static void axis_reverse(const FrictionReverse* f, PairShares* out) {
  const FrictionLag* lag = f->lag;
  if (!lag->directed) return;
  Vec3 torque = vec3_cross(lag->axis, f->by_axis);
  int side = lag->direction.side;
  Vec3* turn = f->at_solve ? &out->turn_solve[side] : &out->turn_now[side];
  if (side == 1 && lag->half_space) turn = f->at_solve ? &out->ground_next.torque : &out->ground_now.torque;
  *turn = vec3_add(*turn, torque);
}

static void add_offset(FrictionReverse* f, const double b[2]) {
  for (int i = 0; i < 2; i++) f->by_offset[i] += b[i];
}

/* Adds the contribution of the radius of a contact point's circle to the derivatives with respect to the shape. */
static void add_circle_radius(const FrictionReverse* f, int side, const FrictionVertex* v, double by, PairShares* out) {
  const HullInstance* hull = &f->now[side].hull;
  if (hull->ring_count == 0) return;
  for (int k = 0; k < hull->slope_count; k++) out->shape[side][k] += by * hull->slope[k].radius[v->vertex];
}

/* Returns derivatives of Phi with respect to the position of a contact point over a half-space, at t + dt (`next`) and
 * at t (`now`). They include only the dependence of Phi through the slip of the point, its velocity by the twists, and
 * the displacement of body a relative to body b. Sets *by_arm to the derivative of Phi with respect to the arm of the
 * point at t + dt. Sets *weight_bar to the derivative of Phi with respect to the weight of the point. */
static VertexShare over_ground(FrictionReverse* f, const FrictionVertex* v, const double twist[6], double b[2],
                               double e[2], double* weight_bar, Vec3* by_arm, PairShares* out) {
  const FrictionLag* lag = f->lag;
  double dt = f->parameters->dt, side_weight = lag->total_weight - lag->ground_weight, zeta[2], phi_q;
  Vec3 w = vec3(twist[0], twist[1], twist[2]), turn = axial_change(f->roll.turn, w);
  Vec3 x1 = vec3_add(pose_apply(f->next[0].hull.pose, v->local), v->arm);
  x1 = vec3_add(x1, friction_arm_displacement(lag, 0, v->arm, v->radius, &f->roll));
  Vec3 x0 = vec3_add(pose_apply(lag->start[0], v->local), v->arm);
  Vec3 moved = vec3_sub(x1, pose_apply(f->ground, x0)), field = roll_field(lag, v, &f->roll, &f->next[0], twist);
  vertex_zeta(lag, field, zeta);
  slip_reverse(f, v, zeta, b, e, &phi_q, out);
  add_offset(f, b);
  /* the displacement of body a relative to body b is the weighted mean of `moved` over the contact points */
  *weight_bar =
      f->parameters->coefficient * phi_q + vec3_dot(f->by_displacement, vec3_sub(moved, f->displacement)) / side_weight;
  Vec3 by_r = in_plane(lag, b[0] / dt, b[1] / dt), by_q = in_plane(lag, e[0], e[1]);
  by_r = vec3_add_scaled(by_r, v->weight / side_weight, f->by_displacement);
  ground_add(&out->ground_next, vec3_scale(by_r, -1), vec3_sub(x1, moved), f->next[1].hull.pose.t);
  add_tangents(f, (const double[2]){b[0] / dt, b[1] / dt}, moved, e, field);
  *by_arm = vec3_add(by_r, friction_turning_reverse(f, 0, v->arm, v->radius, by_r, by_q, f->roll.change, turn, out));
  f->by_arms = vec3_add(f->by_arms, vec3_cross(v->arm, *by_arm));
  add_circle_radius(f, 0, v, friction_by_drift_radius(lag, 0, by_r), out);
  return (VertexShare){.vertex = v->vertex,
                       .next = vec3_add(by_r, vec3_cross(by_q, w)),
                       .now = vec3_scale(mat3_tmul_vec(f->ground.r, by_r), -1)};
}

/* Adds to f->by[side] the contribution of one contact point of a hull to the derivatives of Phi. It acts through the
 * point's slip and its velocity by the twists. hull_reverse uses these sums. */
static void over_hull(FrictionReverse* f, int side, const FrictionVertex* v, double b[2], double e[2], double* phi_q,
                      PairShares* out) {
  const FrictionLag* lag = f->lag;
  double dt = f->parameters->dt, zeta[2];
  HullBar* by = &f->by[side];
  hull_zeta(lag, &f->hull[side], v, zeta);
  slip_reverse(f, v, zeta, b, e, phi_q, out);
  if (side == 0) add_offset(f, b);
  by->displacement = vec3_add(by->displacement, in_plane(lag, b[0] / dt, b[1] / dt));
  by->field = vec3_add(by->field, in_plane(lag, e[0], e[1]));
  for (int i = 0; i < 2; i++) {
    by->slip[i] += b[i] / dt;
    by->dual[i] += e[i];
  }
  by->spin += (v->position[0] * b[1] - v->position[1] * b[0]) / dt;
  by->field_spin += v->position[0] * e[1] - v->position[1] * e[0];
}

/* (A7b) Adds the contribution of a hull's motion to derivatives of Phi. They are derivatives with respect to
 * FrictionLag.center, to the hull's pose at t and to the contact normal. */
static void hull_reverse(FrictionReverse* f, int side, LagBar* bar, PairShares* out) {
  const FrictionLag* lag = f->lag;
  const HullField* h = &f->hull[side];
  const HullBar* by = &f->by[side];
  Mat3 turn = h->motion.rotation;
  Vec3 n = lag->normal, arm = vec3_sub(vec3_sub(lag->from[side], lag->arm[side]), lag->start[side].t), by_turn;
  Vec3 forth = vec3_add(by->displacement, vec3_cross(by->field, h->w));
  if (f->at_solve) { /* the centre c moves with the body from the body's pose in the previous solve of the step */
    Pose solve = f->now[side].hull.pose;
    Vec3 local =
        vec3_sub(mat3_tmul_vec(f->next[side].hull.pose.r, forth), mat3_tmul_vec(lag->start[side].r, by->displacement));
    Vec3 by_c = mat3_mul_vec(solve.r, local);
    f->by_center = vec3_add(f->by_center, by_c);
    out->move_solve[side] = vec3_sub(out->move_solve[side], by_c);
    out->turn_solve[side] = vec3_sub(out->turn_solve[side], vec3_cross(vec3_sub(lag->center, solve.t), by_c));
    out->move_now[side] = vec3_sub(out->move_now[side], by->displacement);
    by_turn = vec3_scale(vec3_cross(arm, by->displacement), -1);
  } else {
    Vec3 back = mat3_tmul_vec(turn, forth);
    f->by_center = vec3_add(f->by_center, vec3_sub(back, by->displacement));
    if (h->motion.rolls) friction_arm_reverse(f, side, vec3_sub(back, by->displacement), bar, out);
    out->move_now[side] = vec3_sub(out->move_now[side], back);
    by_turn = vec3_scale(vec3_cross(arm, back), -1);
  }
  by_turn = vec3_add_scaled(by_turn, -by->spin, axial_change(turn, n));
  by_turn = vec3_add_scaled(by_turn, by->field_spin * vec3_dot(n, h->w), h->motion.sine);
  by_turn = vec3_add_scaled(by_turn, 0.5 * by->field_spin, vec3_cross(h->w, mat3_tmul_vec(turn, n)));
  out->turn_now[side] = vec3_add(out->turn_now[side], by_turn);
  add_tangents(f, by->slip, h->motion.displacement, by->dual, h->field);
  Vec3 by_normal = vec3_scale(h->motion.sine, by->spin);
  by_normal = vec3_add_scaled(by_normal, by->field_spin, axial_change(turn, h->w));
  bar->direction = vec3_add(bar->direction, by_normal);
}

/* Returns the member of `share` that belongs to the friction reference. It is VertexShare.solve if the reference is the
 * previous solve of the step, and VertexShare.now if the reference is the state at t. */
static Vec3* lagged_share(const FrictionReverse* f, VertexShare* share) {
  return f->at_solve ? &share->solve : &share->now;
}

/* Adds the contribution of the weight of a vertex to the derivatives of Phi with respect to plane, support, rounding
 * and position. weight_bar: derivative of Phi with respect to the weight. */
static void weight_reverse(const FrictionReverse* f, int side, double weight_bar, const ActiveVertex* vertex,
                           LagBar* bar, PairShares* out, VertexShare* share) {
  double sigma = side == 0 ? -1 : 1;
  WeightSlope slope = weight_slope(vertex, f->support, f->length);
  add_weight(&slope, weight_bar, sigma, vertex->nearest_point, bar, out);
  out->rounding[side] -= weight_bar * slope.by_clearance * f->length;
  Vec3* lagged = lagged_share(f, share);
  *lagged = vec3_add_scaled(*lagged, weight_bar * slope.by_clearance * sigma, f->plane->n);
}

/* Returns the position of contact point v in the reference state, world [m]. */
static Vec3 point_at_start(const FrictionReverse* f, int side, const FrictionVertex* v) {
  return vec3_add(pose_apply(f->now[side].hull.pose, v->local), v->arm);
}

/* Returns derivatives of Phi at fixed weight of a contact point. They are derivatives with respect to the position of
 * the point at t and to the position of its centre at t + dt. Sets *weight_bar to the derivative of Phi with respect to
 * the weight. Sets *by_arm to the derivative of Phi with respect to the arm of the point at t + dt. */
static VertexShare point_reverse(FrictionReverse* f, int side, const FrictionVertex* v, const double twist[6],
                                 double* weight_bar, LagBar* bar, Vec3* by_arm, PairShares* out) {
  const FrictionLag* lag = f->lag;
  double b[2], e[2], omega = lag->slip[2] / lag->length, turn = f->a[2] / lag->length;
  VertexShare share = {.vertex = v->vertex};
  *by_arm = vec3(0, 0, 0);
  if (lag->half_space) {
    share = over_ground(f, v, twist, b, e, weight_bar, by_arm, out);
  } else {
    over_hull(f, side, v, b, e, weight_bar, out);
    *weight_bar *= f->parameters->coefficient;
    omega -= f->hull[side].motion.spin / f->parameters->dt;
    turn -= f->hull[side].spin;
  }
  /* Phi depends on the position y = x - c of the contact point through (omega - spin) n x y. Over a half-space, omega
   * and turn are 0. */
  double by_spin[2] = {omega * b[0] + turn * e[0], omega * b[1] + turn * e[1]};
  Vec3 y = vec3_sub(point_at_start(f, side, v), lag->center);
  Vec3 by_y = vec3_cross(lag->normal, in_plane(lag, by_spin[0], by_spin[1])), across = vec3_cross(lag->normal, y);
  for (int i = 0; i < 2; i++) f->by_e[i] = vec3_add_scaled(f->by_e[i], -by_spin[i], across);
  Vec3* lagged = lagged_share(f, &share);
  *lagged = vec3_add(*lagged, by_y);
  f->by_center = vec3_sub(f->by_center, by_y);
  bar->direction = vec3_add_scaled(bar->direction, -v->height, by_y);
  return share;
}

static VertexShare vertex_reverse(FrictionReverse* f, int side, const FrictionVertex* v, const double twist[6],
                                  ActiveVertex* vertex, LagBar* bar, PairShares* out) {
  double weight_bar;
  Vec3 by_arm;
  VertexShare share = point_reverse(f, side, v, twist, &weight_bar, bar, &by_arm, out);
  if (f->now[side].hull.rounding > 0) ball_reverse(f, side, &share, by_arm, bar, out);
  *vertex = lagged_vertex(v, &f->now[side].hull, side == 0 ? -1 : 1, f->support, f->plane, point_at_start(f, side, v));
  weight_reverse(f, side, weight_bar, vertex, bar, out, &share);
  return share;
}

/* The centre c and FrictionLag.mean_arm are weighted means over the contact points. Returns the contribution of c to
 * the derivative of Phi with respect to the position of one contact point at t. Sets *weight_bar to the derivative of
 * Phi with respect to the weight of the point. Sets *by_arm to the contribution of FrictionLag.mean_arm to the
 * derivative of Phi with respect to the arm of the point. side_weight: total weight of the points of the side. */
static Vec3 center_share(const FrictionReverse* f, int side, const FrictionVertex* v, double side_weight,
                         double* weight_bar, Vec3* by_arm) {
  const FrictionLag* lag = f->lag;
  *weight_bar = vec3_dot(f->by_mean[side], vec3_sub(v->arm, lag->mean_arm[side])) / side_weight;
  *weight_bar += f->by_radius[side] * (v->radius - lag->mean_radius[side]) / side_weight;
  *by_arm = vec3_scale(f->by_mean[side], v->weight / side_weight);
  if (!f->centers[side]) return vec3(0, 0, 0);
  double weight = f->centers[1 - side] ? lag->total_weight - lag->ground_weight : side_weight;
  *weight_bar += vec3_dot(f->by_center, vec3_sub(point_at_start(f, side, v), lag->center)) / weight;
  return vec3_scale(f->by_center, v->weight / weight);
}

static void center_reverse(FrictionReverse* f, int side, const FrictionVertex* v, double side_weight,
                           const ActiveVertex* vertex, LagBar* bar, PairShares* out, VertexShare* share) {
  double weight_bar;
  Vec3 by_arm, *lagged = lagged_share(f, share), by_x0 = center_share(f, side, v, side_weight, &weight_bar, &by_arm);
  *lagged = vec3_add(*lagged, by_x0);
  VertexShare mean = {.vertex = v->vertex};
  *lagged_share(f, &mean) = by_x0;
  if (f->now[side].hull.rounding > 0) ball_reverse(f, side, &mean, by_arm, bar, out);
  weight_reverse(f, side, weight_bar, vertex, bar, out, share);
}

/* Adds the derivatives of the single friction term of a half-space. In this term, the slip is minus the pair's slip
 * velocity u, and q (slip_reverse) is minus the adjoint a of the slip. */
static void ground_reverse(const FrictionReverse* f, const ActiveVertex* ground, LagBar* bar, PairShares* out) {
  const FrictionLag* lag = f->lag;
  double mu = f->parameters->coefficient, q[2] = {-f->a[0], -f->a[1]};
  Slip s = ground_slip(lag, f->parameters->smoothing);
  out->smoothing -= 0.5 * mu * lag->ground_weight * (s.r[0] * q[0] + s.r[1] * q[1]) / (s.rho * s.rho * s.rho);
  WeightSlope slope = weight_slope(ground, f->support, f->length);
  add_weight(&slope, mu * (s.phi[0] * q[0] + s.phi[1] * q[1]), 1, ground->nearest_point, bar, out);
}

/* Adds the derivatives of Phi with respect to the pose of the half-space at t. A common motion of the body and the
 * half-space at t changes only the direction of the plane relative to the later motion, which f->fixed accounts for.
 * The other derivatives are therefore minus those of the body. moved, turned: derivatives of the body before friction
 * was added. */
static void ground_follows(const FrictionReverse* f, const ActiveVertex* vertices, int first, Vec3 moved, Vec3 turned,
                           PairShares* out) {
  if (f->now[0].hull.ring_count > 0) {
    Vec3 move = vec3_sub(moved, out->move_now[0]), turn = vec3_sub(turned, out->turn_now[0]);
    ground_add(&out->ground_now, move, f->now[0].hull.pose.t, f->now[1].hull.pose.t);
    out->ground_now.torque = vec3_add(out->ground_now.torque, turn);
    return;
  }
  for (int k = 0; k < f->lag->count[0]; k++) {
    VertexShare* share = &out->share[0][first + k];
    Vec3 at = vec3_add(f->plane->origin, vertices[k].x);
    GroundShare* ground = f->at_solve ? &out->ground_next : &out->ground_now;
    ground_add(ground, vec3_scale(*lagged_share(f, share), -1), at, f->now[1].hull.pose.t);
    if (!f->at_solve) continue;
    Vec3 x0 = pose_apply(f->lag->start[0], f->lag->vertices[k].local);
    ground_add(&out->ground_now, vec3_scale(share->now, -1), x0, f->lag->start[1].t);
  }
}

/* Adds the contribution of the plane at t to the derivatives of Phi with respect to the points that determine the plane
 * (implicit function theorem). These points are the active vertices in the state of the friction reference, and the
 * nodes of circles. first[side]: index of the first entry of out->share[side] that belongs to friction. */
static void plane_reverse(const FrictionReverse* f, const PlaneSolution* solution, const ActiveSides* sides,
                          LagBar* bar, PairShares* out, const int first[2]) {
  Vec3 n = f->lag->normal;
  Vec3 across = vec3_add_scaled(bar->direction, -vec3_dot(n, bar->direction), n);
  Vec3 by_n = vec3_add_scaled(vec3_scale(across, 1 / f->length), bar->length, n);
  double plane_bar[4] = {bar->plane[0] + by_n.x, bar->plane[1] + by_n.y, bar->plane[2] + by_n.z, bar->plane[3]}, z[4];
  plane_solve_adjoint(solution, f->lag->half_space, plane_bar, z);
  Vec3 zn = vec3(z[0], z[1], z[2]);
  out->support -= norm_first_by_support(f->length, f->support) * vec3_dot(n, zn);
  for (int side = 0; side < (f->lag->half_space ? 1 : 2); side++)
    for (int k = 0; k < sides->count[side]; k++) {
      double sigma = side == 0 ? -1 : 1;
      const ActiveVertex* v = &sides->vertices[k + (side ? sides->count[0] : 0)];
      double along = vec3_dot(v->nearest_point, zn) + z[3];
      Vec3 by = vec3_add_scaled(vec3_scale(f->plane->n, v->second * along), sigma * v->first, zn);
      out->rounding[side] += ball_radius_derivative(f->plane->n, v, sigma * along, zn);
      out->support += sigma * active_first_by_support(v, f->support) * along;
      if (f->now[side].hull.ring_count > 0) {
        active_add_derivatives(&f->now[side].hull, f->plane, side, v, vec3(0, 0, 0), by, out);
        continue;
      }
      Vec3* lagged = lagged_share(f, &out->share[side][first[side] + k]);
      *lagged = vec3_add(*lagged, by);
    }
  if (!f->lag->half_space || sides->count[1] == 0) return;
  const ActiveVertex* ground = &sides->vertices[sides->count[0]];
  out->support += active_first_by_support(ground, f->support) * (vec3_dot(ground->x, zn) + z[3]);
}

/* Returns the number of consecutive nodes of circle `ring` in active[count], starting with index `first`. */
static int nodes_of(const ActiveVertex* active, int first, int count, int ring) {
  int last = first;
  while (last < count && active[last].vertex == ring) last++;
  return last - first;
}

/* Adds the derivatives of Phi with respect to the contact points of one side. Writes the active vertices of the side to
 * `active` and returns their number. */
static int side_reverse(FrictionReverse* f, int side, const double twist[6], ActiveVertex* active, LagBar* bar,
                        PairShares* out) {
  const FrictionLag* lag = f->lag;
  const FrictionVertex* v = lag->vertices + (side ? lag->count[0] : 0);
  if (f->now[side].hull.ring_count == 0) {
    for (int k = 0; k < lag->count[side]; k++)
      out->share[side][out->count[side]++] = vertex_reverse(f, side, &v[k], twist, &active[k], bar, out);
    return lag->count[side];
  }
  int count = active_vertices(&f->now[side].hull, side == 0 ? -1 : 1, f->support, f->plane, active);
  for (int k = 0, first = 0, nodes; k < lag->count[side]; k += RING_POINTS, first += nodes) {
    RingBar ring;
    nodes = nodes_of(active, first, count, v[k].vertex);
    for (int j = 0; j < RING_POINTS; j++)
      ring.by[j] = point_reverse(f, side, &v[k + j], twist, &ring.weight[j], bar, &ring.arm[j], out);
    friction_ring_reverse(f, side, &v[k], &ring, &active[first], nodes, bar, out);
  }
  return count;
}

/* Adds the contribution of FrictionLag.center, a mean of the contact points, to the derivatives of Phi with respect to
 * the contact points of one side. share: these derivatives. */
static void side_center(FrictionReverse* f, int side, const ActiveVertex* active, int count, VertexShare* share,
                        LagBar* bar, PairShares* out) {
  const FrictionLag* lag = f->lag;
  const FrictionVertex* v = lag->vertices + (side ? lag->count[0] : 0);
  bool rings = f->now[side].hull.ring_count > 0;
  double side_weight = 0;
  for (int k = 0; k < lag->count[side]; k++) side_weight += v[k].weight;
  for (int k = 0; k < lag->count[side] && !rings; k++)
    center_reverse(f, side, &v[k], side_weight, &active[k], bar, out, &share[k]);
  for (int k = 0, first = 0, nodes; k < lag->count[side] && rings; k += RING_POINTS, first += nodes) {
    RingBar ring = {0};
    nodes = nodes_of(active, first, count, v[k].vertex);
    for (int j = 0; j < RING_POINTS; j++) {
      ring.by[j].now = center_share(f, side, &v[k + j], side_weight, &ring.weight[j], &ring.arm[j]);
      add_circle_radius(f, side, &v[k + j], f->by_radius[side] * v[k + j].weight / side_weight, out);
    }
    friction_ring_reverse(f, side, &v[k], &ring, &active[first], nodes, bar, out);
  }
}

/* (A7d) Adds the contribution of the displacement of body a relative to body b to derivatives of Phi, except those with
 * respect to single contact points over a half-space (over_ground). */
static void add_displacement(FrictionReverse* f, const DisplacementBar* passed, LagBar* bar, PairShares* out) {
  for (int side = 0; side < 2 && !f->lag->half_space; side++)
    f->by[side].displacement = vec3_add_scaled(f->by[side].displacement, side == 0 ? 1 : -1, passed->by_displacement);
  f->fixed = vec3_add(f->fixed, passed->by_normal);
  bar->direction = vec3_add(bar->direction, passed->by_normal);
  out->elastic = vec3_add(out->elastic, passed->by_elastic);
}

/* (friction.md, F16) Adds the contribution of the elastic slip at t, which is a part of the slip of the points of body
 * a, to derivatives of Phi. */
static void offset_reverse(FrictionReverse* f, PairShares* out) {
  const FrictionLag* lag = f->lag;
  out->elastic = vec3_add(out->elastic, in_plane(lag, f->by_offset[0], f->by_offset[1]));
  for (int i = 0; i < 2; i++) f->by_e[i] = vec3_add_scaled(f->by_e[i], f->by_offset[i], lag->elastic);
}

/* Sets f->a, the solution of the linear equations for the adjoint of the slip (head of this file). Also sets f->hull
 * for two hulls, or f->roll over a half-space. */
static void find_fields(FrictionReverse* f, const double twist[2][6]) {
  const FrictionLag* lag = f->lag;
  for (int side = 0; side < 2 && !lag->half_space; side++)
    f->hull[side] = hull_field(lag, side, &f->next[side], twist[side]);
  if (lag->half_space) f->roll = friction_roll(lag, 0, &f->next[0].hull.pose);
  solve_slip_adjoint(lag, f->parameters->smoothing, f->next, twist, f->hull, &f->roll, f->a);
}

/* Adds to wrench[6] the product with the Hessian (friction_product) of one contact point over a half-space. */
static void add_ground_product(const FrictionReverse* f, const FrictionVertex* v, const double twist[6],
                               double wrench[6]) {
  double b[2], e[2], phi_q, zeta[2];
  PairShares unused = {0};
  vertex_zeta(f->lag, roll_field(f->lag, v, &f->roll, &f->next[0], twist), zeta);
  slip_reverse(f, v, zeta, b, e, &phi_q, &unused);
  Vec3 by = in_plane(f->lag, b[0] / f->parameters->dt, b[1] / f->parameters->dt);
  Vec3 arm = vec3_sub(pose_apply(f->next[0].hull.pose, v->local), f->next[0].reference);
  RollRows rows = roll_rows(&f->lag->shift[0], v->arm);
  Vec3 torque = vec3_add(vec3_cross(arm, by), friction_axial_by_rotation(f->roll.turn, roll_rows_moment(&rows, by)));
  friction_add_wrench(by, torque, wrench);
}

/* Adds to wrench[6] the product with the Hessian (friction_product) of the contact points of one of two hulls. */
static void add_hull_product(FrictionReverse* f, int side, double wrench[6]) {
  const FrictionLag* lag = f->lag;
  const HullField* h = &f->hull[side];
  const HullBar* by = &f->by[side];
  PairShares unused = {0};
  for (int k = 0; k < lag->count[side]; k++) {
    double b[2], e[2], phi_q;
    over_hull(f, side, &lag->vertices[side * lag->count[0] + k], b, e, &phi_q, &unused);
  }
  Vec3 torque = vec3_cross(vec3_sub(h->motion.center, f->next[side].reference), by->displacement);
  torque = vec3_add_scaled(torque, by->spin, friction_axial_by_rotation(h->motion.rotation, lag->normal));
  RollRows rows = roll_rows(&lag->shift[side], lag->arm[side]);
  if (h->motion.rolls)
    torque =
        vec3_add(torque, friction_axial_by_rotation(h->motion.roll.turn, roll_rows_moment(&rows, by->displacement)));
  friction_add_wrench(by->displacement, torque, wrench);
}

void friction_product(const FrictionLag* lag, const FrictionParameters* parameters, const PairBody next[2],
                      const double twist[2][6], double wrench[2][6]) {
  memset(wrench, 0, sizeof(double[2][6]));
  if (!(lag->total_weight > 0)) return;
  FrictionReverse f = {.lag = lag, .parameters = parameters, .next = next};
  find_fields(&f, twist);
  for (int side = 0; side < 2 && !lag->half_space; side++) add_hull_product(&f, side, wrench[side]);
  for (int k = 0; k < lag->count[0] && lag->half_space; k++)
    add_ground_product(&f, &lag->vertices[k], twist[0], wrench[0]);
}

void friction_adjoint(const FrictionLag* lag, const FrictionParameters* parameters, double support,
                      const PairBody now[2], const PairBody next[2], bool at_solve, const PlaneSolution* solution,
                      const double twist[2][6], const DisplacementBar* passed, ActiveSides* active_sides,
                      PairShares* out) {
  if (!(lag->total_weight > 0)) return;
  FrictionReverse f = {.lag = lag,
                       .parameters = parameters,
                       .support = support,
                       .length = vec3_norm(solution->plane.n),
                       .now = now,
                       .next = next,
                       .at_solve = at_solve,
                       .plane = &solution->plane,
                       .ground = ground_motion(lag, next)};
  if (passed) f.displacement = passed->displacement;
  if (passed) f.by_displacement = passed->by_displacement;
  for (int side = 0; side < 2; side++) f.centers[side] = friction_centers(lag, &now[0].hull, &now[1].hull, side);
  find_fields(&f, twist);
  LagBar bar = {{0, 0, 0}, 0, {0}};
  double before = out->value;
  int first[2] = {out->count[0], out->count[1]};
  Vec3 moved = out->move_now[0], turned = out->turn_now[0];
  int sides = lag->half_space ? 1 : 2;
  active_sides->count[0] = active_sides->count[1] = 0;
  for (int side = 0; side < sides; side++)
    active_sides->count[side] =
        side_reverse(&f, side, twist[side], active_sides->vertices + active_sides->count[0], &bar, out);
  if (passed) add_displacement(&f, passed, &bar, out);
  for (int side = 0; side < 2 && !lag->half_space; side++) hull_reverse(&f, side, &bar, out);
  offset_reverse(&f, out);
  for (int side = 0; side < 2; side++) friction_drift_reverse(&f, side, &bar, out);
  for (int side = 0; side < 2 && !lag->half_space; side++)
    side_center(&f, side, active_sides->vertices + (side ? active_sides->count[0] : 0), active_sides->count[side],
                out->share[side] + first[side], &bar, out);
  active_sides->is_set = true;
  if (!lag->half_space) active_balance(solution, active_sides);
  tangents_reverse(&f, &bar, out);
  if (lag->half_space) {
    ActiveVertex* ground = active_sides->vertices + active_sides->count[0];
    active_sides->count[1] = active_vertices(&now[1].hull, 1, support, f.plane, ground);
    if (active_sides->count[1] > 0) ground_reverse(&f, ground, &bar, out);
    GroundShare* at = at_solve ? &out->ground_next : &out->ground_now;
    at->torque = vec3_add(at->torque, vec3_cross(lag->normal, f.fixed));
  }
  plane_reverse(&f, solution, active_sides, &bar, out, first);
  if (lag->half_space) {
    ground_follows(&f, active_sides->vertices, first[0], moved, turned, out);
    out->ground_now.torque = vec3_add(out->ground_now.torque, f.by_arms);
    if (!at_solve) friction_roll_reverse(&f, 0, twist[0], out);
  }
  for (int side = 0; side < 2 && !lag->half_space; side++)
    if (f.hull[side].motion.rolls) friction_roll_reverse(&f, side, twist[side], out);
  axis_reverse(&f, out);
  if (parameters->coefficient > 0) out->friction += (out->value - before) / parameters->coefficient;
}

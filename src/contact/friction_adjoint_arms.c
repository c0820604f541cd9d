/* Contributions of the lever arms of rolling bodies, and of circles, to the adjoint of friction
 * (docs/derivations/adjoint.md, A8c-A8e). */
#include "contact/friction_adjoint.h"

Vec3 friction_turning_reverse(FrictionReverse* f, int side, Vec3 arm, double radius, Vec3 by_r, Vec3 by_q, Vec3 change,
                              Vec3 rate, PairShares* out) {
  const RollShift* shift = &f->lag->shift[side];
  RollRows rows = roll_rows(shift, arm);
  f->by_roll[side] = vec3_add(f->by_roll[side], vec3_cross(arm, by_r));
  f->by_drift[side] = vec3_add_scaled(f->by_drift[side], 0.5 * radius, by_r);
  f->by_angle[side] = vec3_add(f->by_angle[side], roll_rows_moment(&rows, by_r));
  f->by_change[side] = vec3_add(f->by_change[side], roll_rows_moment(&rows, by_q));
  RollShift unused = {0}, *bar = f->lag->shifted[side] ? &out->shift[side] : &unused;
  Vec3 by_arm =
      vec3_add(roll_rows_reverse(shift, arm, change, by_r, bar), roll_rows_reverse(shift, arm, rate, by_q, bar));
  return vec3_add(by_arm, vec3_cross(by_r, f->lag->roll[side]));
}

/* (A8d) The arm of a hull is e = w E + (1 - w) (n^ . E) n^, with its mean arm E and the weight w. The weight depends on
 * q = n^ . z with the axis z of the circles. Adds the contribution of e to the derivatives of Phi. Sets the derivative
 * of Phi with respect to E. Adds the derivatives of Phi with respect to n^ and to the rotation of z. by_e: derivative
 * of Phi with respect to e. */
static void mean_arm_reverse(FrictionReverse* f, int side, Vec3 by_e, LagBar* bar, PairShares* out) {
  Vec3 n = f->lag->normal, mean = f->lag->mean_arm[side], axis = friction_ring_axis(&f->now[side].hull);
  const RingArmWeight weight = friction_mean_arm_weight(&f->now[side].hull, vec3_dot(n, axis), f->support);
  double w = weight.value, along = vec3_dot(n, mean), by_along = (1 - w) * vec3_dot(n, by_e);
  double by_w = vec3_dot(mean, by_e) - along * vec3_dot(n, by_e);
  double by_q = -2 * vec3_dot(n, axis) * weight.by_square * by_w;
  f->by_mean[side] = vec3_add_scaled(vec3_scale(by_e, w), by_along, n);
  out->support += weight.by_support * by_w;
  ring_profile_reverse(&f->now[side].hull, &(RingProfile){.largest = weight.by_radius * by_w}, out->shape[side]);
  Vec3 by_n = vec3_add_scaled(vec3_scale(mean, by_along), (1 - w) * along, by_e);
  bar->direction = vec3_add(bar->direction, vec3_add_scaled(by_n, by_q, axis));
  out->turn_now[side] = vec3_add(out->turn_now[side], vec3_cross(axis, vec3_scale(n, by_q)));
}

void friction_arm_reverse(FrictionReverse* f, int side, Vec3 by_point, LagBar* bar, PairShares* out) {
  const HullField* h = &f->hull[side];
  const HullBar* by = &f->by[side];
  Vec3 e = f->lag->arm[side], turn = axial_change(h->motion.roll.turn, h->w);
  double radius = f->lag->mean_radius[side];
  Vec3 by_turned =
      friction_turning_reverse(f, side, e, radius, by->displacement, by->field, h->motion.roll.change, turn, out);
  f->by_radius[side] += friction_by_drift_radius(f->lag, side, by->displacement);
  mean_arm_reverse(f, side, vec3_sub(by_turned, by_point), bar, out);
}

void friction_drift_reverse(FrictionReverse* f, int side, LagBar* bar, PairShares* out) {
  const HullInstance* hull = &f->now[side].hull;
  const RingDrift drift = friction_ring_drift(f->lag, side, hull, f->support);
  if (!drift.acts) return;
  const RingDriftBar by = ring_drift_reverse(&drift, f->by_drift[side]);
  double sign = side == 0 ? 1 : -1;
  Vec3 axis = hull->rings[0].axis, torque_start = vec3_cross(drift.nearest[0].axis, by.axis[0]);
  double stretch = vec3_norm(mat3_mul_vec(f->lag->aim[side], axis)); /* the expected rotation may be affine */
  out->support += by.support;
  f->by_roll[side] = vec3_add(f->by_roll[side], by.roll);
  ring_profile_reverse(hull, &(RingProfile){.largest = by.largest}, out->shape[side]);
  out->aim[side] = mat3_add(out->aim[side], mat3_outer(vec3_scale(by.axis[1], 1 / stretch), axis));
  out->turn_now[side] = vec3_add(out->turn_now[side], torque_start);
  bar->direction = vec3_add_scaled(bar->direction, sign, by.direction);
  /* over a half-space, the displacement and the expected rotation are given in world axes and do not rotate with the
   * bodies at t */
  f->fixed = vec3_add_scaled(f->fixed, sign, by.direction);
  f->by_arms = vec3_add(f->by_arms, torque_start);
}

/* Differentiates the scalar product of the vector a and the rotation vector k v of the rotation matrix P. Returns the
 * derivative with respect to the entries of P. v = axial(P) / 2 is half of the axial vector of P, and k = angle / s. s
 * = |v| is the sine of the rotation angle, c = (tr P - 1) / 2 its cosine. */
static Mat3 rotation_vector_reverse(Mat3 p, Vec3 a) {
  Vec3 v = vec3_scale(mat3_axial(p), 0.5);
  double s = vec3_norm(v), c = 0.5 * (mat3_trace(p) - 1), q = s * s + c * c, along = vec3_dot(a, v);
  double k = s > 0 ? math_atan2(s, c) / s : 1 / c, x = s / c, x2 = x * x,
         slope; /* slope: derivative of k with respect to s, divided by s */
  if (c > 0 && x < 0.05)
    slope = (-2.0 / 3 + x2 * (4.0 / 5 + x2 * (-6.0 / 7 + x2 * (8.0 / 9 - x2 * 10.0 / 11)))) / (c * c * c);
  else
    slope = (c / q - k) / (s * s);
  Vec3 by_v = vec3_add_scaled(vec3_scale(a, k), along * slope, v);
  return mat3_add(mat3_cross(vec3_scale(by_v, 0.5)), mat3_scale(mat3_identity(), -0.5 * along / q));
}

void friction_roll_reverse(const FrictionReverse* f, int side, const double twist[6], PairShares* out) {
  const FrictionLag* lag = f->lag;
  Vec3 w = vec3(twist[0], twist[1], twist[2]), u = f->by_change[side];
  Mat3 by_turn = mat3_sub(mat3_scale(mat3_identity(), 0.5 * vec3_dot(w, u)), mat3_scale(mat3_outer(u, w), 0.5));
  by_turn = mat3_add(by_turn, mat3_cross(vec3_scale(f->by_angle[side], 0.5)));
  Mat3 by_aim = mat3_mul(mat3_transpose(by_turn), f->next[side].hull.pose.r);
  Vec3* turn_now = &out->turn_now[side];
  if (!lag->aimed) {
    *turn_now = vec3_add(*turn_now, mat3_axial(mat3_mul(by_aim, mat3_transpose(lag->aim[side]))));
    return;
  }
  Mat3 start = lag->start[side].r, p = mat3_mul(lag->aim[side], mat3_transpose(start));
  Mat3 by_p = rotation_vector_reverse(p, f->by_roll[side]);
  out->aim[side] = mat3_add(out->aim[side], mat3_add(by_aim, mat3_mul(by_p, start)));
  *turn_now = vec3_add(*turn_now, mat3_axial(mat3_mul(mat3_transpose(by_p), p)));
}

static void move_now(PairShares* out, int side, Vec3 by, Vec3 arm) {
  out->move_now[side] = vec3_add(out->move_now[side], by);
  out->turn_now[side] = vec3_add(out->turn_now[side], vec3_cross(arm, by));
}

void friction_ring_reverse(const FrictionReverse* f, int side, const FrictionVertex* v, const RingBar* ring,
                           const ActiveVertex* nodes, int node_count, LagBar* bar, PairShares* out) {
  const HullInstance *now = &f->now[side].hull, *next = &f->next[side].hull;
  double sigma = side == 0 ? -1 : 1, weight_bar = 0, radius_bar = 0, spread_bar = 0;
  RingLoad load = ring_load(now, v->vertex, sigma, f->support, f->plane);
  double R = load.ring.radius, d = FRICTION_WEIGHT_FLOOR / (f->support * f->support);
  double share = load.force * f->length / RING_POINTS, root = sqrt(share * share + d * d);
  Vec3 n = f->lag->normal, sum = {0, 0, 0}, middle = vec3_add(load.ring.center, f->plane->origin);
  Vec3 by_now = {0, 0, 0}, by_next = {0, 0, 0};
  for (int j = 0; j < RING_POINTS; j++) {
    Vec3 both = vec3_add(ring->by[j].now, ring->arm[j]);
    by_now = vec3_add(by_now, ring->by[j].now);
    by_next = vec3_add(by_next, ring->by[j].next);
    Vec3 e = mat3_mul_vec(now->pose.r, ring_radius(&now->rings[v->vertex], j));
    out->turn_now[side] = vec3_add(out->turn_now[side], vec3_cross(vec3_scale(e, R * load.spread), both));
    sum = vec3_add(sum, both);
    radius_bar += vec3_dot(vec3_add_scaled(load.mean, load.spread, e), both);
    spread_bar += R * vec3_dot(e, both);
    weight_bar += ring->weight[j];
  }
  double force_bar = weight_bar * share / root * f->length / RING_POINTS;
  bar->length += weight_bar * share / root * load.force / RING_POINTS;
  out->support -= weight_bar * 2 * (d / root - 1) * d / f->support;
  double rest = 1 - vec3_dot(load.mean, load.mean);
  Vec3 mean_bar = vec3_add_scaled(vec3_scale(sum, R), -4 * RING_SPREAD * rest * spread_bar, load.mean);
  bar->direction = vec3_add_scaled(bar->direction, -sigma * now->rounding, sum);
  out->rounding[side] -= sigma * vec3_dot(n, sum);
  move_now(out, side, by_now, vec3_sub(middle, now->pose.t));
  out->turn_now[side] = vec3_add(out->turn_now[side], vec3_cross(load.mean, mean_bar));
  Vec3 local = vec3_add(mat3_tmul_vec(now->pose.r, by_now), mat3_tmul_vec(next->pose.r, by_next));
  for (int k = 0; k < now->slope_count; k++)
    out->shape[side][k] +=
        vec3_dot(local, now->slope[k].center[v->vertex]) + now->slope[k].radius[v->vertex] * radius_bar;
  for (int k = 0; k < node_count; k++) {
    const ActiveVertex* node = &nodes[k];
    Vec3 radial = R > 0 ? vec3_scale(vec3_sub(node->x, load.ring.center), 1 / R) : load.mean;
    double by = vec3_dot(mean_bar, vec3_sub(radial, load.mean)) / load.force + force_bar, c = -by * node->second;
    active_add_derivatives(now, f->plane, side, node, vec3(0, 0, 0), vec3_scale(f->plane->n, c * sigma), out);
    bar->plane[0] += c * sigma * node->nearest_point.x;
    bar->plane[1] += c * sigma * node->nearest_point.y;
    bar->plane[2] += c * sigma * node->nearest_point.z;
    bar->plane[3] += c * sigma;
    out->rounding[side] -= c * f->length;
    out->support -= by * active_first_by_support(node, f->support);
  }
}

/* Adjoint of the contact force of a pair (docs/derivations/adjoint.md, A5-A6; half-spaces A13). */
#include <assert.h>

#include "contact/adjoint.h"
#include "contact/ring.h"
#include "contact/small_matrix.h"

static int active_nodes(const HullInstance* h, double sigma, double support, const Plane* plane, ActiveVertex* out) {
  int count = 0;
  double s2 = support * support, length = vec3_norm(plane->n);
  for (int k = 0; k < h->ring_count; k++) {
    RingLoad load = ring_load(h, k, sigma, support, plane);
    if (!(load.force > 0)) continue;
    RingNodes nodes;
    ring_nodes(&load.position, &nodes);
    for (int i = 0; i < 2 * nodes.count; i++) {
      int n = i / 2;
      Barrier b = barrier_eval(nodes.clearance[n]);
      double r = load.ring.radius, w = nodes.weight[n];
      Vec3 x = vec3_add_scaled(load.ring.center, r * nodes.cosine[n], load.position.u);
      x = vec3_add_scaled(x, i % 2 ? -r * nodes.sine[n] : r * nodes.sine[n], load.position.v);
      Vec3 at = vec3_add_scaled(x, -sigma * h->rounding / length, plane->n);
      out[count++] =
          (ActiveVertex){k, x, w * b.first / s2, w * b.second / (s2 * support), nodes.clearance[n] * support, at};
    }
  }
  return count;
}

void active_add_derivatives(const HullInstance* at, const Plane* plane, int side, const ActiveVertex* v, Vec3 next,
                            Vec3 now, PairShares* out) {
  assert(side == 0 || side == 1);
  if (at->ring_count == 0) {
    out->share[side][out->count[side]++] = (VertexShare){.vertex = v->vertex, .next = next, .now = now};
    return;
  }
  Vec3 arm = vec3_add(v->x, vec3_sub(plane->origin, at->pose.t)), both = vec3_add(next, now);
  out->move_now[side] = vec3_add(out->move_now[side], now);
  out->move_next[side] = vec3_add(out->move_next[side], next);
  out->turn_now[side] = vec3_add(out->turn_now[side], vec3_cross(arm, now));
  out->turn_next[side] = vec3_add(out->turn_next[side], vec3_cross(arm, next));
  const Circle* ring = &at->rings[v->vertex];
  Vec3 local = mat3_tmul_vec(at->pose.r, both);
  Vec3 radial = vec3_sub(mat3_tmul_vec(at->pose.r, arm), ring->center);
  double outward = ring->radius > 0 ? vec3_dot(local, radial) / ring->radius : 0;
  for (int k = 0; k < at->slope_count; k++)
    out->shape[side][k] += vec3_dot(local, at->slope[k].center[v->vertex]) + at->slope[k].radius[v->vertex] * outward;
}

int active_vertices(const HullInstance* h, double sigma, double support, const Plane* plane, ActiveVertex* out) {
  assert(out);
  if (h->half_space) { /* a half-space has one term, at the point of its boundary nearest to the plane's origin */
    double level = h->offset - vec3_dot(h->normal, plane->origin);
    Vec3 x = vec3_scale(h->normal, level);
    double c = vec3_dot(plane->n, x) + plane->o;
    if (!(c < support) || !(c > 0)) return 0;
    Barrier b = vertex_barrier(h, support, c);
    out[0] = (ActiveVertex){-1, x, b.first, b.second, c, x};
    return 1;
  }
  int count = 0;
  Vec3 shift = vec3_sub(h->pose.t, plane->origin), n = mat3_tmul_vec(h->pose.r, plane->n);
  double length = vec3_norm(plane->n), o = sigma * (vec3_dot(plane->n, shift) + plane->o) - h->rounding * length;
  n = vec3_scale(n, sigma);
  for (int m = 0; m < h->points.count; m++) {
    double c = n.x * h->points.x[m] + n.y * h->points.y[m] + n.z * h->points.z[m] + o;
    if (!(c < support) || !(c > 0)) continue;
    Vec3 x = vec3_add(mat3_mul_vec(h->pose.r, point_at(h->points, m)), shift);
    Barrier b = vertex_barrier(h, support, c);
    Vec3 at = vec3_add_scaled(x, -sigma * h->rounding / length, plane->n);
    out[count++] = (ActiveVertex){m, x, b.first, b.second, c, at};
  }
  return count + active_nodes(h, sigma, support, plane, out + count);
}

void active_balance(const PlaneSolution* solution, ActiveSides* active) {
  int count = active->count[0] + active->count[1];
  Vec3 length_slope = vec3_scale(solution->plane.n, -solution->norm_first / vec3_norm(solution->plane.n));
  double gradient[4] = {length_slope.x, length_slope.y, length_slope.z, 0}, dp[4];
  for (int k = 0; k < count; k++) {
    const ActiveVertex* v = &active->vertices[k];
    double first = k < active->count[0] ? -v->first : v->first,
           x[4] = {v->nearest_point.x, v->nearest_point.y, v->nearest_point.z, 1};
    for (int j = 0; j < 4; j++) gradient[j] += first * x[j];
  }
  plane_solve_adjoint(solution, false, gradient, dp);
  for (int k = 0; k < count; k++) {
    ActiveVertex* v = &active->vertices[k];
    double change = vec3_dot(v->nearest_point, vec3_at(dp)) + dp[3];
    v->first += v->second * (k < active->count[0] ? -change : change);
  }
}

void active_compute(const ImpactMoment* at, double support, ActiveSides* active) {
  assert(at->solution && active->vertices && support > 0);
  if (active->is_set) return;
  active->count[0] = active->count[1] = 0;
  for (int side = 0; side < 2; side++)
    active->count[side] = active_vertices(&at->body[side].hull, side == 0 ? -1 : 1, support, &at->solution->plane,
                                          active->vertices + active->count[0]);
  active->is_set = true;
  if (!at->body[1].hull.half_space) active_balance(at->solution, active);
}

static Vec3 point_rate(const double twist[6], Vec3 arm) {
  return vec3_add(vec3(twist[3], twist[4], twist[5]), vec3_cross(vec3(twist[0], twist[1], twist[2]), arm));
}

/* Sets dp[4] to the first-order change of the plane (normal, offset) if the bodies move by their twists. */
static void plane_rate(const PlaneResponse* response, const double twist[2][6], double dp[4]) {
  for (int k = 0; k < 4; k++) {
    dp[k] = 0;
    for (int i = 0; i < 6; i++) dp[k] += response->dp[k][i] * twist[0][i] + response->dp[k][6 + i] * twist[1][i];
  }
}

/* Corrects dp, the change of the plane of two hulls by their twists, such that the potential's derivative with respect
 * to the offset stays 0. The changes of the forces on both hulls are then opposite to rounding (A5). */
static void balance_plane_rate(const PairBody body[2], const PlaneSolution* solution, const ActiveSides* active,
                               const double twist[2][6], double dp[4]) {
  double remainder[4] = {0}, change[4];
  for (int k = 0; k < active->count[0] + active->count[1]; k++) {
    const ActiveVertex* v = &active->vertices[k];
    int side = k < active->count[0] ? 0 : 1;
    Vec3 rate = point_rate(twist[side], vec3_add(v->x, vec3_sub(solution->plane.origin, body[side].reference)));
    remainder[3] += v->second * (vec3_dot(solution->plane.n, rate) + vec3_dot(v->nearest_point, vec3_at(dp)) + dp[3]);
  }
  plane_solve_adjoint(solution, false, remainder, change);
  for (int k = 0; k < 4; k++) dp[k] += change[k];
}

/* The pair's potential U contains the term W(1 - |n|), which keeps the length |n| of the plane's normal below 1.
 * Returns the contribution of this term to (d2U/dp ds) . dp. p: plane (normal n, offset). s: support. dp: given change
 * of the plane. */
static double length_term_by_support(Vec3 n, double support, const double dp[4]) {
  double length = vec3_norm(n);
  return -norm_first_by_support(length, support) * (n.x * dp[0] + n.y * dp[1] + n.z * dp[2]) / length;
}

double ball_radius_derivative(Vec3 n, const ActiveVertex* v, double change, Vec3 dn) {
  double length = vec3_norm(n);
  return -length * v->second * change - v->first * vec3_dot(n, dn) / length;
}

void plane_adjoint(const PairBody body[2], double support, const PlaneSolution* solution, const PlaneResponse* response,
                   const double twist[2][6], ActiveSides* active, PairShares* out) {
  const Plane* plane = &solution->plane;
  Vec3 n = plane->n;
  double dp[4];
  plane_rate(response, twist, dp);
  const ImpactMoment moment = {body, solution};
  active_compute(&moment, support, active);
  if (!body[1].hull.half_space) balance_plane_rate(body, solution, active, twist, dp);
  Vec3 dn = vec3_at(dp);
  out->support += length_term_by_support(n, support, dp);
  for (int side = 0; side < 2; side++) {
    double sigma = side == 0 ? -1 : 1;
    Vec3 w = vec3(twist[side][0], twist[side][1], twist[side][2]);
    Vec3 shift = vec3_sub(plane->origin, body[side].reference);
    bool ground = body[side].hull.half_space;
    const ActiveVertex* vertices = active->vertices + (side ? active->count[0] : 0);
    for (int k = 0; k < active->count[side]; k++) {
      const ActiveVertex* v = &vertices[k];
      Vec3 rate = ground ? vec3(0, 0, 0) : point_rate(twist[side], vec3_add(v->x, shift));
      double normal_rate = vec3_dot(n, rate);
      double turned = vec3_dot(v->nearest_point, dn) + dp[3];
      out->value += sigma * v->first * (normal_rate + turned);
      out->support += sigma * active_first_by_support(v, support) * (normal_rate + turned);
      if (ground) continue;
      out->rounding[side] += ball_radius_derivative(n, v, sigma * (normal_rate + turned), dn);
      /* derivative with respect to vertex m: v_m + g_m x w (A5) */
      Vec3 change = vec3_add_scaled(vec3_scale(n, v->second * (normal_rate + turned)), sigma * v->first, dn);
      if (body[1].hull.half_space) { /* a rotation of the half-space by d has the same effect as a rotation of body and
                                        twist by -d */
        Vec3 at = vec3_add(plane->origin, v->x);
        ground_add(&out->ground_next, vec3_scale(change, -1), at, body[1].hull.pose.t);
        out->ground_next.torque = vec3_add_scaled(out->ground_next.torque, -sigma * v->first, vec3_cross(rate, n));
      }
      change = vec3_add_scaled(change, sigma * v->first, vec3_cross(n, w));
      active_add_derivatives(&body[side].hull, plane, side, v, change, vec3(0, 0, 0), out);
    }
  }
  /* Adds the gradient of W(1 - |n|) with respect to the plane, times dp. A common motion of both bodies then gives zero
   * up to rounding. */
  out->value -= solution->norm_first * vec3_dot(n, dn) / vec3_norm(n);
}

void plane_solve_adjoint(const PlaneSolution* solution, bool half_space, const double plane_bar[4], double z[4]) {
  double gradient[4], h[4][4];
  Vec3 n = solution->plane.n;
  plane_assemble(&solution->side[0], &solution->side[1], solution->norm_first, solution->norm_second, n, gradient, h);
  if (!half_space) {
    for (int k = 0; k < 4; k++) z[k] = -plane_bar[k];
    small_cholesky(4, h);
    small_forward(4, h, z);
    small_backward(4, h, z);
    return;
  }
  Vec3 u = vec3_normalized(
      n); /* a half-space fixes the direction u of the normal, so only its length and the offset are unknown */
  double axis[3] = {u.x, u.y, u.z}, two[4][4] = {{0}}, x[2] = {0, -plane_bar[3]};
  for (int i = 0; i < 3; i++) {
    x[0] -= axis[i] * plane_bar[i];
    two[1][0] += axis[i] * h[3][i];
    for (int j = 0; j < 3; j++) two[0][0] += axis[i] * axis[j] * (i >= j ? h[i][j] : h[j][i]);
  }
  two[1][1] = h[3][3];
  small_cholesky(2, two);
  small_forward(2, two, x);
  small_backward(2, two, x);
  for (int i = 0; i < 3; i++) z[i] = axis[i] * x[0];
  z[3] = x[1];
}

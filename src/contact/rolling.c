#include "contact/rolling.h"

#include <assert.h>

static const double SMOOTHING = ROLLING_RATE * ROLLING_RATE;

RollingLag rolling_lag(const HullInstance* a, const HullInstance* b, const Plane* plane, double force) {
  return (RollingLag){{a->pose.r, b->pose.r}, vec3_normalized(plane->n), force};
}

/* Returns the rotation matrix r r0^T, which leads from the orientation r0 to r. Its axial part is linear in r. */
static Mat3 rotation_since(Mat3 r, Mat3 r0) { return mat3_mul(r, mat3_transpose(r0)); }

static Vec3 relative_rate(const RollingLag* lag, const Pose* a, const Pose* b, double dt) {
  Vec3 one = mat3_axial(rotation_since(a->r, lag->turn[0])), other = mat3_axial(rotation_since(b->r, lag->turn[1]));
  return vec3_scale(vec3_sub(one, other), 0.5 / dt);
}

double rolling_value(const RollingLag* lag, const RollingParameters* p, const Pose* a, const Pose* b) {
  assert(!(p->dt <= 0));
  Vec3 rate = relative_rate(lag, a, b, p->dt);
  double along = vec3_dot(lag->normal, rate);
  Vec3 across = vec3_add_scaled(rate, -along, lag->normal);
  double square_across = vec3_dot(across, across),
         square_along = along * along; /* with x = rolls or spins and e = SMOOTHING, sqrt(x + e) - sqrt(e) is computed
                                   as x / (sqrt(x + e) + sqrt(e)), which loses no digits */
  return lag->force * p->dt *
         (p->rolling * square_across / (sqrt(square_across + SMOOTHING) + ROLLING_RATE) +
          p->spinning * square_along / (sqrt(square_along + SMOOTHING) + ROLLING_RATE));
}

/* (rolling.md, T2) Sets *q to the derivative of the friction energy D of one step with respect to the relative angular
 * velocity `rate`, divided by the step length. Sets *by_rate to the derivative of *q with respect to the rate. */
static void rate_derivative(const RollingLag* lag, const RollingParameters* p, Vec3 rate, Vec3* q, Mat3* by_rate) {
  Vec3 n = lag->normal;
  double along = vec3_dot(n, rate);
  Vec3 across = vec3_add_scaled(rate, -along, n);
  double root = sqrt(vec3_dot(across, across) + SMOOTHING), root_n = sqrt(along * along + SMOOTHING);
  double rolling = lag->force * p->rolling / root, spinning = lag->force * p->spinning / root_n;
  *q = vec3_add_scaled(vec3_scale(across, rolling), spinning * along, n);
  double second_along = spinning * SMOOTHING / (root_n * root_n);
  Mat3 nn = mat3_outer(n, n), projection = mat3_sub(mat3_identity(), nn);
  Mat3 outer = mat3_scale(mat3_outer(across, across), 1 / (root * root));
  *by_rate = mat3_add(mat3_scale(mat3_sub(projection, outer), rolling), mat3_scale(nn, second_along));
}

/* (T3) Returns (tr(M) I - M) / 2, the derivative of the axial part of the rotation matrix M with respect to a further
 * rotation of the body. M: rotation of the body since the friction reference (rotation_since). */
static Mat3 axial_derivative(Mat3 m) {
  return mat3_scale(mat3_sub(mat3_scale(mat3_identity(), mat3_trace(m)), m), 0.5);
}

void rolling_derivatives(const RollingLag* lag, const RollingParameters* p, const Pose* a, const Pose* b,
                         bool half_space, PairDerivatives* out) {
  const Pose* pose[2] = {a, b};
  Vec3 q;
  Mat3 by_rate, slope[2];
  rate_derivative(lag, p, relative_rate(lag, a, b, p->dt), &q, &by_rate);
  int sides = half_space ? 1 : 2;
  for (int i = 0; i < sides; i++) {
    Mat3 m = rotation_since(pose[i]->r, lag->turn[i]);
    double sign = i == 0 ? 1 : -1;
    slope[i] = mat3_scale(axial_derivative(m), sign);
    out->moment[i] = mat3_add(out->moment[i], mat3_mul(mat3_cross(vec3_scale(q, 0.5 * sign)), mat3_transpose(m)));
  }
  for (int i = 0; i < sides; i++)
    for (int k = 0; k < sides; k++) {
      Mat3 block = mat3_scale(mat3_mul(mat3_transpose(slope[i]), mat3_mul(by_rate, slope[k])), 1 / p->dt);
      for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++) out->hessian[6 * i + r][6 * k + c] += block.m[r][c];
    }
}

/* ---------------------------------------------------------------- adjoint of rolling friction */

/* Adds the contribution of the normal at t to the derivatives of Phi. The derivatives are with respect to the rotation
 * of the half-space, or to the vertices that determine the plane at t. bar: derivative of Phi with respect to the
 * normal. */
static void normal_adjoint(Vec3 bar, const RollingLag* lag, double support, const ImpactMoment* now, ActiveSides* sides,
                           PairShares* out) {
  Vec3 n = lag->normal, across = vec3_project(bar, n);
  if (now->body[1].hull.half_space) {
    out->ground_now.torque = vec3_add(out->ground_now.torque, vec3_cross(n, across));
    return;
  }
  const Plane* plane = &now->solution->plane;
  double length = vec3_norm(plane->n), z[4];
  const double plane_bar[4] = {across.x / length, across.y / length, across.z / length, 0};
  plane_solve_adjoint(now->solution, false, plane_bar, z);
  Vec3 zn = vec3(z[0], z[1], z[2]);
  out->support -= norm_first_by_support(length, support) * vec3_dot(n, zn);
  active_compute(now, support, sides);
  for (int side = 0; side < 2; side++) {
    double sigma = side == 0 ? -1 : 1;
    for (int k = 0; k < sides->count[side]; k++) {
      const ActiveVertex* v = &sides->vertices[k + (side ? sides->count[0] : 0)];
      double along = vec3_dot(v->nearest_point, zn) + z[3];
      Vec3 share = vec3_add_scaled(vec3_scale(plane->n, v->second * along), sigma * v->first, zn);
      active_add_derivatives(&now->body[side].hull, plane, side, v, vec3(0, 0, 0), share, out);
      out->rounding[side] += ball_radius_derivative(plane->n, v, sigma * along, zn);
      out->support += sigma * active_first_by_support(v, support) * along;
    }
  }
}

double rolling_adjoint(const RollingLag* lag, const RollingParameters* p, double support, const ImpactMoment* now,
                       const PairBody next[2], const double twist[2][6], ActiveSides* sides, PairShares* out) {
  Vec3 q, rate = relative_rate(lag, &next[0].hull.pose, &next[1].hull.pose, p->dt), n = lag->normal, eta = {0, 0, 0};
  Vec3 angular_motion[2] = {vec3_at(twist[0]), vec3_at(twist[1])};
  Mat3 by_rate, m[2];
  if (next[1].hull.half_space)
    angular_motion[1] = vec3(0, 0, 0); /* the equations of the step have no unknowns for a half-space */
  rate_derivative(lag, p, rate, &q, &by_rate);
  for (int i = 0; i < 2; i++) { /* Phi = q . eta; eta is dt times the change of rho under the twists */
    m[i] = rotation_since(next[i].hull.pose.r, lag->turn[i]);
    eta = vec3_add_scaled(eta, i == 0 ? 1 : -1, mat3_mul_vec(axial_derivative(m[i]), angular_motion[i]));
  }
  Vec3 bar_rate = mat3_mul_vec(by_rate, eta);
  for (int i = 0; i < 2; i++) { /* (T4) derivatives with respect to rotations at t */
    double sign = i == 0 ? 1 : -1;
    Vec3 direct = vec3_scale(mat3_mul_vec(axial_derivative(m[i]), bar_rate), -sign / p->dt);
    Mat3 k = mat3_mul(mat3_mul(mat3_cross(q), mat3_cross(angular_motion[i])), m[i]);
    out->turn_now[i] = vec3_add(out->turn_now[i], vec3_add_scaled(direct, -0.5 * sign, mat3_axial(k)));
  }
  if (next[1].hull.half_space) { /* the terms do not contain the pose of a half-space at t + dt */
    Vec3 end = vec3_scale(mat3_tmul_vec(axial_derivative(m[1]), bar_rate), -1 / p->dt);
    out->ground_next.torque = vec3_add(out->ground_next.torque, end);
  }
  double along = vec3_dot(n, rate), eta_n = vec3_dot(n, eta), both = vec3_dot(rate, eta) - along * eta_n;
  double root2 = vec3_dot(rate, rate) - along * along + SMOOTHING, root = sqrt(root2);
  double root_n2 = along * along + SMOOTHING, root_n = sqrt(root_n2), f = lag->force;
  double by_rolling = both / root,
         by_spinning = along * eta_n / root_n; /* derivatives of Phi divided by the normal force p, with respect to the
                                                  coefficients of rolling and spinning friction */
  double by_along =
      f * (p->rolling * (both * along / root2 - eta_n) / root + p->spinning * eta_n * SMOOTHING / (root_n2 * root_n));
  double by_eta = f * (p->spinning / root_n - p->rolling / root) * along;
  normal_adjoint(vec3_add(vec3_scale(rate, by_along), vec3_scale(eta, by_eta)), lag, support, now, sides, out);
  out->rolling += f * by_rolling;
  out->spinning += f * by_spinning;
  double value = p->rolling * by_rolling + p->spinning * by_spinning;
  out->value += f * value;
  return value;
}

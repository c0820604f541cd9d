#include <assert.h>

#include "linalg/linalg.h"

/* For arguments below this value, two terms of a series replace the closed form, which would give 0/0 at zero. The next
 * term is below 1e-16. */
#define SERIES_LIMIT 1e-4

/* Shepperd's method divides only by the largest of the four components of the quaternion. */
Quat quat_from_mat3(Mat3 r) {
  double xx = r.m[0][0], yy = r.m[1][1], zz = r.m[2][2], trace = xx + yy + zz;
  Quat q;
  if (trace >= xx && trace >= yy && trace >= zz)
    q = (Quat){1 + trace, r.m[2][1] - r.m[1][2], r.m[0][2] - r.m[2][0], r.m[1][0] - r.m[0][1]};
  else if (xx >= yy && xx >= zz)
    q = (Quat){r.m[2][1] - r.m[1][2], 1 + xx - yy - zz, r.m[0][1] + r.m[1][0], r.m[0][2] + r.m[2][0]};
  else if (yy >= zz)
    q = (Quat){r.m[0][2] - r.m[2][0], r.m[0][1] + r.m[1][0], 1 + yy - xx - zz, r.m[1][2] + r.m[2][1]};
  else
    q = (Quat){r.m[1][0] - r.m[0][1], r.m[0][2] + r.m[2][0], r.m[1][2] + r.m[2][1], 1 + zz - xx - yy};
  q = quat_normalized(q);
  return q.w < 0 ? (Quat){-q.w, -q.x, -q.y, -q.z} : q;
}

Quat quat_from_rpy(Vec3 rpy) {
  Quat roll = quat_about(vec3(1, 0, 0), rpy.x), pitch = quat_about(vec3(0, 1, 0), rpy.y);
  return quat_mul(quat_about(vec3(0, 0, 1), rpy.z), quat_mul(pitch, roll));
}

/* Solves R = Rz(yaw) Ry(pitch) Rx(roll). Near pitch = +-pi/2 the yaw is arbitrary. Pitch and roll follow from Rz(-yaw)
 * R, so all three angles reproduce R. */
Vec3 rpy_from_mat3(Mat3 r) {
  double yaw = math_atan2(r.m[1][0], r.m[0][0]), c = math_cos(yaw), s = math_sin(yaw);
  double pitch = math_atan2(-r.m[2][0], c * r.m[0][0] + s * r.m[1][0]);
  double roll = math_atan2(s * r.m[0][2] - c * r.m[1][2], c * r.m[1][1] - s * r.m[0][1]);
  return vec3(roll, pitch, yaw);
}

/* The angles of Rx Ry Rz are minus the roll, pitch and yaw of the transposed matrix. */
Vec3 xyz_angles_from_mat3(Mat3 r) {
  assert(!(fabs(mat3_det(r) - 1) > 1e-6)); /* NaN is accepted */
  return vec3_scale(rpy_from_mat3(mat3_transpose(r)), -1.0);
}

/* v = 2 atan2(n, w) u / n, where u is the vector part of q, w the scalar part and n = |u|. For small t = n / w the
 * series atan(t) / t = 1 - t^2/3 is used. */
Vec3 quat_log(Quat q) {
  assert(q.w != 0 || q.x != 0 || q.y != 0 || q.z != 0);
  double sign = q.w < 0 ? -1.0 : 1.0; /* q and -q are the same rotation; the sign limits the angle to pi */
  double w = sign * q.w;
  Vec3 u = vec3(sign * q.x, sign * q.y, sign * q.z);
  double n = vec3_norm(u);
  if (n < SERIES_LIMIT * w) return vec3_scale(u, 2.0 / w * (1.0 - n * n / (3.0 * w * w)));
  return vec3_scale(u, 2.0 * math_atan2(n, w) / n);
}

/* q = (cos(a/2), sin(a/2) / a * v) with a = |v|. For small a the series sin(a/2) / a = 1/2 - a^2/48 is used. */
Quat quat_exp(Vec3 v) {
  double a = vec3_norm(v);
  double sine, cosine;
  math_sincos(0.5 * a, &sine, &cosine);
  double s = a < SERIES_LIMIT ? 0.5 - a * a / 48.0 : sine / a;
  return (Quat){cosine, s * v.x, s * v.y, s * v.z};
}

/* Coefficients a, b of the right Jacobian J_r(v) = I - a [v]x + b [v]x^2 of a rotation vector v, and their derivatives:
 * a = (1 - cos t)/t^2, b = (t - sin t)/t^3, a_derivative = (da/dt)/t, b_derivative = (db/dt)/t, with t = |v|. */
typedef struct {
  double a, b, a_derivative, b_derivative;
} RightJacobian;

/* Below this angle [rad] series are used, because the closed forms lose digits. The relative truncation error of the
 * series is below 1e-15. */
#define JACOBIAN_SERIES_LIMIT 0.1

static RightJacobian right_jacobian(Vec3 v) {
  double t2 = vec3_dot(v, v), t = sqrt(t2);
  if (t < JACOBIAN_SERIES_LIMIT)
    return (RightJacobian){1.0 / 2 - t2 * (1.0 / 24 - t2 * (1.0 / 720 - t2 * (1.0 / 40320 - t2 / 3628800))),
                           1.0 / 6 - t2 * (1.0 / 120 - t2 * (1.0 / 5040 - t2 * (1.0 / 362880 - t2 / 39916800))),
                           -1.0 / 12 + t2 * (1.0 / 180 - t2 * (1.0 / 6720 - t2 / 453600)),
                           -1.0 / 60 + t2 * (1.0 / 1260 - t2 * (1.0 / 60480 - t2 / 4989600))};
  double half = math_sin(0.5 * t), sine = math_sin(t);
  double versine = 2 * half * half, lag = t - sine; /* versine = 1 - cos t, without cancellation */
  return (RightJacobian){versine / t2, lag / (t2 * t), (t * sine - 2 * versine) / (t2 * t2),
                         (versine * t - 3 * lag) / (t2 * t2 * t)};
}

Vec3 rotation_rate(Vec3 v, Vec3 rate) {
  RightJacobian j = right_jacobian(v);
  Vec3 cross = vec3_cross(v, rate);
  return vec3_add_scaled(vec3_add_scaled(rate, -j.a, cross), j.b, vec3_cross(v, cross));
}

void rotation_rate_vjp(Vec3 v, Vec3 rate, Vec3 bar, Vec3* v_bar, Vec3* rate_bar) {
  assert(v_bar && rate_bar);
  RightJacobian j = right_jacobian(v);
  Vec3 cross = vec3_cross(v, bar); /* J^T = I + a [v]x + b [v]x^2 */
  *rate_bar = vec3_add_scaled(vec3_add_scaled(bar, j.a, cross), j.b, vec3_cross(v, cross));
  Vec3 c = vec3_cross(v, rate);
  Vec3 out = vec3_scale(v, -j.a_derivative * vec3_dot(bar, c) + j.b_derivative * vec3_dot(bar, vec3_cross(v, c)) -
                               2 * j.b * vec3_dot(bar, rate));
  out = vec3_add_scaled(out, -j.a, vec3_cross(rate, bar));
  out = vec3_add_scaled(out, j.b * vec3_dot(v, rate), bar);
  *v_bar = vec3_add_scaled(out, j.b * vec3_dot(bar, v), rate);
}

/* The inverse of the right Jacobian is J_r^-1 = I + 1/2 [v]x + c [v]x^2 with c = (1 - a1 / (2 a)) / t^2, t = |v|, a =
 * (1 - cos t) / t^2 and a1 = sin t / t. c equals -a_derivative / (2 a) of RightJacobian. */
Vec3 rotation_rate_inverse(Vec3 v, Vec3 rotation) {
  assert(!(vec3_norm(v) >= 2 * M_PI)); /* NaN is accepted */
  RightJacobian j = right_jacobian(v);
  Vec3 c = vec3_cross(v, rotation);
  return vec3_add_scaled(vec3_add_scaled(rotation, 0.5, c), -j.a_derivative / (2 * j.a), vec3_cross(v, c));
}

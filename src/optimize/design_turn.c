/* Joint axes and joint rotations as variables: rotations relative to the scene (docs/derivations/design.md, D11). */
#include "optimize/design.h"

static Vec3 axis_of(int k) { return vec3(k == 0, k == 1, k == 2); }

/* ---------------------------------------------------------------- values */

void design_rotation_values(const DesignRotation* own, const double* x, double* numbers) {
  Vec3 v = {0, 0, 0};
  for (int k = 0; k < 3; k++)
    if (own->variable[k] >= 0) v = vec3_add_scaled(v, x[own->variable[k]], axis_of(k));
  if (own->of_axis) {
    Vec3 a = vec3_add(own->axis, vec3_cross(v, own->axis));
    vec3_store(vec3_scale(a, 1 / vec3_norm(a)), numbers);
    return;
  }
  quat_store(quat_mul(own->rotation, quat_exp(v)), numbers);
}

/* ---------------------------------------------------------------- derivatives */

/* Returns J_r(v)^T, the transposed right Jacobian of the rotation exp(v). A change dv rotates the rotated joint frame
 * by J_r(v) dv.
 * J_r^T = 1 + (1 - cos |v|) / |v|^2 [v]x + (|v| - sin |v|) / |v|^3 [v]x^2. */
static Mat3 turn_slope(Vec3 v) {
  double t2 = vec3_dot(v, v), t = sqrt(t2), first = 0.5 - t2 / 24, second = 1.0 / 6 - t2 / 120;
  if (t > 1e-2) {
    first = (1 - math_cos(t)) / t2;
    second = (t - math_sin(t)) / (t2 * t);
  }
  Mat3 cross = mat3_cross(v);
  return mat3_add(mat3_add(mat3_identity(), mat3_scale(cross, first)), mat3_scale(mat3_mul(cross, cross), second));
}

void design_rotation_gradient(const DesignRotation* own, const double* numbers, Vec3 by_turn, double* slope) {
  Vec3 by;
  if (own->of_axis) {
    Vec3 a = vec3_at(numbers); /* a = (a0 + v x a0) / s with 1 / s = a . a0; da rotates a by a x da */
    by = vec3_scale(vec3_cross(own->axis, vec3_cross(by_turn, a)), vec3_dot(a, own->axis));
  } else {
    Quat turned = quat_mul(quat_conjugate(own->rotation), quat_at(numbers));
    if (turned.w < 0) turned = (Quat){-turned.w, -turned.x, -turned.y, -turned.z};
    by = mat3_mul_vec(turn_slope(quat_log(turned)), by_turn);
  }
  for (int k = 0; k < 3; k++)
    if (own->variable[k] >= 0) slope[own->variable[k]] += design_component(by, k);
}

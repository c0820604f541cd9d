/* Joint axes and joint rotations as variables: rotations relative to the scene (docs/derivations/design.md, D11). */
#include "optimize/design.h"

static Vec3 unit_axis(int k) { return vec3(k == 0, k == 1, k == 2); }

void design_rotation_values(const DesignRotation* rotation, const double* x, double* numbers) {
  Vec3 v = {0, 0, 0};
  for (int k = 0; k < 3; k++)
    if (rotation->variable[k] >= 0) v = vec3_add_scaled(v, x[rotation->variable[k]], unit_axis(k));
  if (rotation->changes_axis) {
    Vec3 a = vec3_add(rotation->axis, vec3_cross(v, rotation->axis));
    vec3_store(vec3_scale(a, 1 / vec3_norm(a)), numbers);
    return;
  }
  quat_store(quat_mul(rotation->rotation, quat_exp(v)), numbers);
}

/* Returns J_r(v)^T, the transposed right Jacobian of exp(v). v: rotation vector of the joint's variables. A change dv
 * rotates the rotated joint frame by J_r(v) dv. J_r^T = 1 + (1 - cos |v|) / |v|^2 [v]x + (|v| - sin |v|) / |v|^3
 * [v]x^2. */
static Mat3 right_jacobian_transposed(Vec3 v) {
  double t2 = vec3_dot(v, v), t = sqrt(t2), first = 0.5 - t2 / 24, second = 1.0 / 6 - t2 / 120;
  if (t > 1e-2) {
    first = (1 - math_cos(t)) / t2;
    second = (t - math_sin(t)) / (t2 * t);
  }
  Mat3 cross = mat3_cross(v);
  return mat3_add(mat3_add(mat3_identity(), mat3_scale(cross, first)), mat3_scale(mat3_mul(cross, cross), second));
}

void design_rotation_gradient(const DesignRotation* rotation, const double* numbers, Vec3 by_turn, double* gradient) {
  Vec3 by;
  if (rotation->changes_axis) {
    Vec3 a = vec3_at(numbers); /* rotated axis a = (a0 + v x a0) / s, with the initial axis a0 and 1 / s = a . a0; a
                                  change da rotates a by a x da */
    by = vec3_scale(vec3_cross(rotation->axis, vec3_cross(by_turn, a)), vec3_dot(a, rotation->axis));
  } else {
    Quat turned = quat_mul(quat_conjugate(rotation->rotation), quat_at(numbers));
    if (turned.w < 0) turned = (Quat){-turned.w, -turned.x, -turned.y, -turned.z};
    by = mat3_mul_vec(right_jacobian_transposed(quat_log(turned)), by_turn);
  }
  for (int k = 0; k < 3; k++)
    if (rotation->variable[k] >= 0) gradient[rotation->variable[k]] += design_component(by, k);
}

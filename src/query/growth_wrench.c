/* Power-law contact force on the gap of the growth distance, as wrenches on both bodies, with derivatives (growth.md,
 * G24). */
#include <assert.h>

#include "query/growth.h"

GrowthWrench growth_wrench(Pose pose_a, Pose pose_b, const Growth* answer, double stiffness, double exponent) {
  assert(!answer->coincident);
  assert(stiffness > 0 && exponent >= 1);
  GrowthWrench w = {.force = 0};
  if (!(answer->gap < 0)) return w;
  w.force = stiffness * math_pow(-answer->gap, exponent);
  Vec3 push = vec3_scale(answer->normal, w.force);
  growth_put(vec3_cross(push, vec3_sub(answer->point, pose_a.t)), w.on_a, 1);
  growth_put(vec3_scale(push, -1), w.on_a + 3, 1);
  growth_put(vec3_cross(vec3_sub(answer->point, pose_b.t), push), w.on_b, 1);
  growth_put(push, w.on_b + 3, 1);
  return w;
}

/* Returns the derivative of sign * (arm x push) by the product rule. */
static Vec3 torque_derivative(Vec3 arm, Vec3 push, Vec3 d_arm, Vec3 d_push, double sign) {
  return vec3_scale(vec3_add(vec3_cross(d_arm, push), vec3_cross(arm, d_push)), sign);
}

void growth_wrench_derivatives(Pose pose_a, Pose pose_b, const Growth* answer, double stiffness, double exponent,
                               const double* rows, int columns, double* out) {
  assert(stiffness > 0 && exponent >= 1 && columns >= 0);
  double slope = 0, force = 0;
  if (answer->gap < 0) {
    slope = -stiffness * exponent * math_pow(-answer->gap, exponent - 1);
    force = stiffness * math_pow(-answer->gap, exponent);
  }
  Vec3 push = vec3_scale(answer->normal, force);
  const Vec3 arm[2] = {vec3_sub(answer->point, pose_a.t), vec3_sub(answer->point, pose_b.t)};
  for (int k = 0; k < columns; k++) {
    Vec3 e = vec3_axis(k), none = {0, 0, 0};
    bool moves = k < QUERY_POSE_COLUMNS && k % 6 >= 3;
    const Vec3 centre[2] = {moves && k < 6 ? e : none, moves && k >= 6 ? e : none};
    double change = slope * rows[GROWTH_GAP * columns + k];
    Vec3 at = growth_column(rows, GROWTH_POINT, columns, k);
    Vec3 d_push =
        vec3_add_scaled(vec3_scale(answer->normal, change), force, growth_column(rows, GROWTH_NORMAL, columns, k));
    out[k] = change;
    for (int side = 0; side < 2; side++) {
      double sign = side ? 1 : -1, *wrench = out + (ptrdiff_t)(side ? WRENCH_ON_B : WRENCH_ON_A) * columns + k;
      growth_put(torque_derivative(arm[side], push, vec3_sub(at, centre[side]), d_push, sign), wrench, columns);
      growth_put(vec3_scale(d_push, sign), wrench + (ptrdiff_t)3 * columns, columns);
    }
  }
}

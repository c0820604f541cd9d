/* Displacement of the contact point of a body on circles, because the point runs round the body in the step
 * (docs/derivations/friction.md, F17; docs/derivations/adjoint.md, A8e). */
#include "contact/ring_drift.h"

#include <assert.h>

#include "contact/ring.h"

/* Returns the direction from the centre of a circle to its point nearest to the other body. direction: unit vector to
 * the other body; axis: unit axis of the circle; world axes. */
static RingNearest nearest_point(Vec3 direction, Vec3 axis, double radius, double support) {
  RingNearest out = {.axis = axis, .cosine = vec3_dot(axis, direction)};
  Vec3 radial = vec3_add_scaled(direction, -out.cosine, axis);
  out.sine = vec3_norm(radial);
  out.weight = ring_arm_weight(out.sine * out.sine, radius, support);
  if (out.weight.value > 0) out.nearest = vec3_scale(radial, 1 / out.sine);
  return out;
}

RingDrift ring_drift(const HullInstance* hull, Vec3 direction, Vec3 roll, const Mat3 turn[2], double support) {
  RingDrift drift = {.direction = direction, .roll = roll};
  double largest = ring_profile(hull).largest;
  if (!(largest > 0)) return drift;
  for (int k = 0; k < 2; k++) {
    Vec3 axis = vec3_normalized(mat3_mul_vec(turn[k], hull->rings[0].axis));
    drift.nearest[k] = nearest_point(direction, axis, largest, support);
  }
  drift.weight = drift.nearest[0].weight.value * drift.nearest[1].weight.value;
  drift.acts = drift.weight > 0;
  if (!drift.acts) return drift;
  drift.displacement = vec3_cross(roll, vec3_sub(drift.nearest[1].nearest, drift.nearest[0].nearest));
  return drift;
}

/* Adds the derivatives of the scalar (nearest . by_nearest + weight * by_weight) to *bar, with `nearest` and `weight`
 * of drift->nearest[k]. */
static void nearest_reverse(const RingDrift* drift, int k, Vec3 by_nearest, double by_weight, RingDriftBar* bar) {
  const RingNearest* at = &drift->nearest[k];
  Vec3 by_radial = vec3_add_scaled(by_nearest, -vec3_dot(at->nearest, by_nearest), at->nearest);
  by_radial = vec3_scale(by_radial, 1 / at->sine);
  by_radial = vec3_add_scaled(by_radial, 2 * at->sine * at->weight.by_square * by_weight, at->nearest);
  double along = vec3_dot(at->axis, by_radial);
  bar->largest += at->weight.by_radius * by_weight;
  bar->support += at->weight.by_support * by_weight;
  bar->direction = vec3_add(bar->direction, vec3_add_scaled(by_radial, -along, at->axis));
  Vec3 by_axis = vec3_add_scaled(vec3_scale(by_radial, -at->cosine), -along, drift->direction);
  bar->axis[k] = vec3_add_scaled(by_axis, -vec3_dot(at->axis, by_axis), at->axis);
}

RingDriftBar ring_drift_reverse(const RingDrift* drift, Vec3 by) {
  assert(drift->acts);
  const RingNearest* at = drift->nearest;
  const Vec3 apart = vec3_sub(at[1].nearest, at[0].nearest), torque = vec3_cross(by, drift->roll);
  const double by_weight = vec3_dot(apart, torque);
  RingDriftBar bar = {.roll = vec3_scale(vec3_cross(apart, by), drift->weight)};
  const Vec3 by_nearest = vec3_scale(torque, drift->weight);
  nearest_reverse(drift, 0, vec3_scale(by_nearest, -1), by_weight * at[1].weight.value, &bar);
  nearest_reverse(drift, 1, by_nearest, by_weight * at[0].weight.value, &bar);
  return bar;
}

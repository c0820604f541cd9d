/* Lever arm at t of the contact forces of a free body that rolls on circles (docs/derivations/spin.md, W21). */
#include "simulate/spin_arm.h"

#include <assert.h>

/* Square of the sine of the angle between axis and normal below which the axis of a capsule counts as normal to the
 * plane. The torque then vanishes. */
#define UPRIGHT_SQUARE 1e-12

/* Sets the members of *arm that depend on the axis of the body at one of both times. */
static void set_position(SpinArm* arm, int time, Vec3 axis, double radius, double support) {
  arm->axis[time] = axis;
  arm->across[time] = vec3_cross(axis, arm->normal);
  arm->square[time] = vec3_dot(arm->across[time], arm->across[time]);
  arm->weight[time] = radius > 0 ? ring_arm_weight(arm->square[time], radius, support)
                                 : (RingArmWeight){.value = arm->square[time] > UPRIGHT_SQUARE};
  if (arm->weight[time].value > 0) arm->slope[time] = vec3_dot(axis, arm->normal) / sqrt(arm->square[time]);
}

/* Sets the radius at the position of the normal force along the axis. This position and the radius follow from the
 * torque, since all points of contact lie on a straight profile. */
static void set_radius(SpinArm* arm, const RingProfile* profile, double center) {
  double at_center = profile->origin + profile->taper * center;
  double radius = (at_center + profile->taper * arm->moment / arm->force) / (1 + profile->taper * arm->slope[1]);
  arm->circle = radius > profile->largest ? ARM_ON_LARGEST : radius >= profile->least ? ARM_BETWEEN : ARM_ON_LEAST;
  if (profile->taper == 0) arm->circle = ARM_BETWEEN;
  arm->radius = arm->circle == ARM_BETWEEN ? radius : arm->circle == ARM_ON_LARGEST ? profile->largest : profile->least;
}

/* Sets the torque by which the lever arm of circles or of a capsule at t differs from that at t + dt, and its weight.
 */
static void add_axial_torque(SpinArm* arm, SpinArmBody body, const ContactWork* work, const Mat3 turn[2]) {
  const RingProfile* profile = &work->profile[arm->side];
  for (int k = 0; k < 2; k++) set_position(arm, k, mat3_mul_vec(turn[k], body.axis), profile->largest, work->support);
  if (!(arm->weight[0].value * arm->weight[1].value > 0)) return;
  arm->axial_torque = vec3_sub(work->torque[arm->side], vec3_cross(arm->offset[1], work->force[arm->side]));
  arm->moment = vec3_dot(arm->axial_torque, arm->across[1]) / arm->square[1];
  set_radius(arm, profile, body.center);
  arm->moment_start = arm->moment + arm->radius * arm->force * (arm->slope[0] - arm->slope[1]);
  arm->along = arm->moment / arm->force - arm->radius * arm->slope[1];
  Vec3 shift = vec3_scale(vec3_sub(arm->axis[0], arm->axis[1]), arm->along);
  arm->torque = vec3_add(arm->torque, vec3_cross(shift, arm->friction));
  arm->torque = vec3_add_scaled(arm->torque, arm->moment_start, arm->across[0]);
  arm->torque = vec3_add_scaled(arm->torque, -arm->moment, arm->across[1]);
}

SpinArm spin_arm(SpinArmBody body, double time, int side, ContactTerms terms, const ContactWork* work,
                 const Mat3 turn[2]) {
  assert(side == 0 || side == 1);
  SpinArm arm = {.side = side, .force = vec3_norm(work->force[side]), .time = time};
  if (!(arm.force > 0)) return arm;
  arm.normal = vec3_scale(work->force[side], 1 / arm.force);
  arm.total = vec3_scale(terms.force[side], -1); /* terms.force is a gradient */
  arm.friction = vec3_sub(arm.total, work->force[side]);
  for (int k = 0; k < 2; k++) arm.offset[k] = mat3_mul_vec(turn[k], body.offset);
  arm.torque = vec3_cross(vec3_sub(arm.offset[0], arm.offset[1]), arm.total);
  arm.weight[0].value = arm.weight[1].value = 1;
  if (!body.is_ball) add_axial_torque(&arm, body, work, turn);
  double weight = arm.weight[0].value * arm.weight[1].value;
  arm.acts = weight > 0;
  if (arm.acts) arm.momentum_change = vec3_scale(arm.torque, weight * arm.time);
  return arm;
}

/* Adds the derivatives with respect to the axis at one of both times, to the normal, the radius and the support to
 * *bar and *by_normal. by_across, by_square, by_slope: derivatives with respect to members of the arm. by_weight:
 * derivative with respect to the weight of this time. */
static void reverse_position(const SpinArm* arm, int time, Vec3 by_across, double by_square, double by_slope,
                             double by_weight, SpinArmBar* bar, Vec3* by_normal) {
  const RingArmWeight* weight = &arm->weight[time];
  Vec3 axis = arm->axis[time];
  double by_cosine = by_slope / sqrt(arm->square[time]);
  by_square += by_weight * weight->by_square - 0.5 * by_slope * arm->slope[time] / arm->square[time];
  bar->work.profile[arm->side].largest += by_weight * weight->by_radius;
  bar->work.support += by_weight * weight->by_support;
  by_across = vec3_add_scaled(by_across, 2 * by_square, arm->across[time]);
  Vec3 by_axis = vec3_add_scaled(vec3_cross(arm->normal, by_across), by_cosine, arm->normal);
  bar->axis[time] = vec3_add(bar->axis[time], by_axis);
  *by_normal = vec3_add(*by_normal, vec3_add_scaled(vec3_cross(by_across, axis), by_cosine, axis));
}

/* Derivatives of a scalar with respect to members of SpinArm. */
typedef struct {
  double moment, force, slope;
} RadiusBar;

/* Returns the derivatives of a scalar through arm->radius. by: derivative with respect to the radius. */
static RadiusBar reverse_radius(const SpinArm* arm, SpinArmBody body, const RingProfile* profile, double by,
                                SpinArmBar* bar) {
  RingProfile* out = &bar->work.profile[arm->side];
  if (arm->circle == ARM_ON_LARGEST) out->largest += by;
  if (arm->circle == ARM_ON_LEAST) out->least += by;
  if (arm->circle != ARM_BETWEEN) return (RadiusBar){0, 0, 0};
  double share = by / (1 + profile->taper * arm->slope[1]), place = arm->moment / arm->force;
  out->origin += share;
  out->taper += share * (body.center + place - arm->radius * arm->slope[1]);
  bar->center = share * profile->taper;
  double by_place = share * profile->taper;
  return (RadiusBar){by_place / arm->force, -by_place * place / arm->force, -by_place * arm->radius};
}

/* Adds the derivatives of the scalar by . (torque of add_axial_torque) to *bar. by_weights: derivative with respect to
 * the product of both weights. */
static void reverse_axial_torque(const SpinArm* arm, SpinArmBody body, const ContactWork* work, Vec3 by,
                                 double by_weights, SpinArmBar* bar) {
  int side = arm->side;
  double radius = arm->radius, weight[2] = {arm->weight[0].value, arm->weight[1].value};
  Vec3 apart = vec3_sub(arm->axis[0], arm->axis[1]);
  double by_along = vec3_dot(by, vec3_cross(apart, arm->friction)), by_start = vec3_dot(by, arm->across[0]);
  double by_moment = by_start - vec3_dot(by, arm->across[1]) + by_along / arm->force;
  Vec3 by_apart = vec3_scale(vec3_cross(arm->friction, by), arm->along);
  bar->friction = vec3_scale(vec3_cross(by, apart), arm->along);
  bar->axis[0] = by_apart;
  bar->axis[1] = vec3_scale(by_apart, -1);
  double by_radius = by_start * arm->force * (arm->slope[0] - arm->slope[1]) - by_along * arm->slope[1];
  const RadiusBar by_of = reverse_radius(arm, body, &work->profile[side], by_radius, bar);
  double by_force =
      by_start * radius * (arm->slope[0] - arm->slope[1]) - by_along * arm->moment / (arm->force * arm->force);
  by_force += by_of.force;
  by_moment += by_of.moment;
  Vec3 by_across = vec3_scale(arm->axial_torque, by_moment / arm->square[1]), by_normal = {0, 0, 0};
  Vec3 by_torque = vec3_scale(arm->across[1], by_moment / arm->square[1]);
  bar->work.torque[side] = by_torque;
  bar->offset[1] = vec3_sub(bar->offset[1], vec3_cross(work->force[side], by_torque));
  reverse_position(arm, 0, vec3_scale(by, arm->moment_start), 0, by_start * radius * arm->force, by_weights * weight[1],
                   bar, &by_normal);
  reverse_position(arm, 1, vec3_add_scaled(by_across, -arm->moment, by), -by_moment * arm->moment / arm->square[1],
                   by_of.slope - radius * (by_start * arm->force + by_along), by_weights * weight[0], bar, &by_normal);
  by_normal = vec3_add_scaled(by_normal, -vec3_dot(arm->normal, by_normal), arm->normal);
  bar->work.force[side] = vec3_add_scaled(vec3_scale(by_normal, 1 / arm->force), by_force, arm->normal);
  bar->work.force[side] = vec3_sub(bar->work.force[side], bar->friction); /* friction is total minus normal force */
  bar->work.force[side] = vec3_sub(bar->work.force[side], vec3_cross(by_torque, arm->offset[1]));
}

SpinArmBar spin_arm_reverse(const SpinArm* arm, SpinArmBody body, const ContactWork* work, Vec3 by_momentum) {
  assert(arm->acts);
  SpinArmBar bar = {.work.stored = 0};
  Vec3 by = vec3_scale(by_momentum, arm->weight[0].value * arm->weight[1].value * arm->time);
  Vec3 by_offset = vec3_cross(arm->total, by);
  bar.total = vec3_cross(by, vec3_sub(arm->offset[0], arm->offset[1]));
  bar.offset[0] = by_offset;
  bar.offset[1] = vec3_scale(by_offset, -1);
  if (!body.is_ball) reverse_axial_torque(arm, body, work, by, vec3_dot(by_momentum, arm->torque) * arm->time, &bar);
  return bar;
}

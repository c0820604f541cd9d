#include "contact/elastic_slip.h"

#include <assert.h>

/* Largest elastic slip a_max divided by the root of the smoothing eps of friction (friction.md, F16). Each body carries
 * half of it, so the elastic slip holds the fraction 6 / sqrt(1 + 6^2) = 98.6 % of the largest friction force. Friction
 * pushes bodies back by at most a_max dt. With 24 in place of 12 the elastic slip holds 99.7 %. A box on a slope and
 * scenes/rack-gripper.yaml then need the same number of Newton iterations. */
#define MAX_ELASTIC_SLIP_RATIO 12.0

FrictionSlip friction_slip(const FrictionLag* lag, Vec3 displacement, double dt) {
  assert(dt > 0);
  Vec3 slip = vec3_scale(vec3_project(displacement, lag->normal), 1 / dt);
  return (FrictionSlip){true, vec3_dot(slip, slip), dt};
}

/* Returns the sum s d / dt + a, whose projection onto the contact plane is the trial elastic slip V. */
static Vec3 unprojected_trial(const FrictionLag* lag, Vec3 displacement, double share, double dt) {
  assert(dt > 0);
  return vec3_add_scaled(lag->elastic, share / dt, displacement);
}

/* Returns the factor g = (1 + x^16)^(-1/16), which limits the elastic slip x g to 1. Sets *bend to x^14 g / (1 + x^16),
 * which its derivative contains. Powers of large x do not overflow. */
static double return_map_factor(double x, double* bend) {
  bool large = x > 1;
  double z = large ? 1 / x : x, z2 = z * z, z4 = z2 * z2, z8 = z4 * z4, z16 = z8 * z8;
  double g = 1 / sqrt(sqrt(sqrt(sqrt(1 + z16))));
  if (large) g *= z;
  *bend = (large ? z2 : z8 * z4 * z2) * g / (1 + z16);
  return g;
}

Vec3 elastic_slip_return_map(Vec3 trial, double smoothing) {
  double bend;
  return vec3_scale(trial, return_map_factor(vec3_norm(trial) / (MAX_ELASTIC_SLIP_RATIO * sqrt(smoothing)), &bend));
}

Vec3 elastic_slip_return_map_reverse(Vec3 trial, double smoothing, Vec3 by, double* by_smoothing) {
  double most = MAX_ELASTIC_SLIP_RATIO * sqrt(smoothing), bend, along = vec3_dot(by, trial);
  double g = return_map_factor(vec3_norm(trial) / most, &bend), square = vec3_dot(trial, trial) / (most * most);
  *by_smoothing = 0.5 * along * square * bend / smoothing;
  return vec3_add_scaled(vec3_scale(by, g), -bend * along / (most * most), trial);
}

ElasticSlip elastic_slip_next(const FrictionLag* lag, Vec3 displacement, ElasticShare share, double dt,
                              double smoothing) {
  Vec3 trial = vec3_project(unprojected_trial(lag, displacement, share.value, dt), lag->normal);
  Vec3 tangential = vec3_scale(vec3_project(displacement, lag->normal), 1 / dt);
  double unused;
  return (ElasticSlip){
      elastic_slip_return_map(trial, smoothing),
      elastic_slip_return_map_reverse(trial, smoothing, vec3_scale(tangential, share.by_now), &unused),
      elastic_slip_return_map_reverse(trial, smoothing, vec3_scale(tangential, -share.value / dt), &unused)};
}

DisplacementBar displacement_reverse(const FrictionLag* lag, const Pose* const next[2], double share, double dt,
                                     double smoothing, Vec3 by_elastic, double by_square) {
  DisplacementBar bar = {.displacement = friction_displacement(lag, next[0], next[1])};
  Vec3 n = lag->normal, d = bar.displacement, tangential = vec3_project(d, n);
  Vec3 sum = unprojected_trial(lag, d, share, dt);
  Vec3 by_trial = elastic_slip_return_map_reverse(vec3_project(sum, n), smoothing, by_elastic, &bar.by_smoothing);
  bar.by_elastic = vec3_project(by_trial, n);
  bar.by_share = vec3_dot(by_trial, tangential) / dt;
  Vec3 by_square_d = vec3_scale(tangential, 2 * by_square / (dt * dt));
  bar.by_displacement = vec3_add_scaled(by_square_d, share / dt, bar.by_elastic);
  /* the projection Pi x of a vector x changes with the normal by -(n . x) dn - (x . dn) n */
  bar.by_normal = vec3_scale(by_trial, -vec3_dot(n, sum));
  bar.by_normal = vec3_add_scaled(bar.by_normal, -vec3_dot(n, by_trial), sum);
  bar.by_normal = vec3_add_scaled(bar.by_normal, -vec3_dot(n, d), by_square_d);
  return bar;
}

void displacement_wrench(const FrictionLag* lag, const Pose* const next[2], const Vec3 reference[2],
                         Vec3 by_displacement, double wrench[2][6]) {
  for (int side = 0; side < (lag->half_space ? 1 : 2); side++) {
    FrictionMotion m = friction_motion(lag, side, next[side]);
    Vec3 arm = lag->half_space ? lag->mean_arm[0] : lag->arm[side], center = m.center;
    Vec3 by = vec3_scale(by_displacement, side == 0 ? 1 : -1);
    if (lag->half_space) {
      m.roll = friction_roll(lag, side, next[side]);
      center = pose_apply(*next[side], pose_apply_inverse(lag->start[0], vec3_sub(lag->center, arm)));
    }
    Vec3 torque = vec3_cross(vec3_sub(center, reference[side]), by);
    RollRows rows = roll_rows(&lag->shift[side], arm);
    if (lag->half_space || m.rolls)
      torque = vec3_add(torque, friction_axial_by_rotation(m.roll.turn, roll_rows_moment(&rows, by)));
    friction_add_wrench(by, torque, wrench[side]);
  }
}

#include "contact/pair.h"

#include <assert.h>

HullInstance pair_hull_at(const ModelHull* hull, const Pose* pose) {
  RoundBody body = hull_contact_geometry(hull);
  HullInstance h = {.points = body.points,
                    .rings = body.rings,
                    .ring_count = body.ring_count,
                    .rounding = body.rounding,
                    .pose = *pose,
                    .half_space = !hull->kind->bounded};
  if (body.ring_count > 0) {
    h.slope = hull->smooth->slope;
    h.slope_count = hull->smooth->parameter_count;
  }
  h.radius = hull->kind->bounded ? hull->radius : 0;
  h.center = pose_apply(*pose, hull->center);
  if (h.half_space) {
    h.normal = mat3_mul_vec(pose->r, hull->normal);
    h.offset = hull->offset + vec3_dot(h.normal, pose->t);
  }
  return h;
}

static RoundBody body_of(const HullInstance* h) { return (RoundBody){h->points, h->rings, h->ring_count, h->rounding}; }

double pair_support(const HullInstance* hull, Vec3 direction, Vec3* at) {
  assert(!hull->half_space);
  RoundBody body = body_of(hull);
  double height = round_support(&body, mat3_tmul_vec(hull->pose.r, direction), at);
  if (at) *at = pose_apply(hull->pose, *at);
  return height;
}

/* Returns the height of the lowest point of hull a above the boundary of half-space b [m]. */
static double height_over_half_space(const HullInstance* a, const HullInstance* b) {
  return vec3_dot(b->normal, a->pose.t) - b->offset - pair_support(a, vec3_scale(b->normal, -1.0), NULL);
}

double pair_distance(const HullInstance* a, const HullInstance* b, GjkCache* cache, GjkResult* result) {
  if (!b->half_space) {
    RoundBody body_a = body_of(a), body_b = body_of(b);
    *result = round_distance(&body_a, a->pose, &body_b, b->pose, cache);
    return result->distance;
  }
  double height = height_over_half_space(a, b);
  *result = (GjkResult){.distance = height > 0 ? height : 0, .normal = vec3_scale(b->normal, -1.0)};
  return result->distance;
}

double pair_gap_along(const HullInstance* a, const HullInstance* b, Vec3 axis) {
  assert(!(fabs(vec3_norm(axis) - 1) > 1e-6));
  if (b->half_space)
    return height_over_half_space(
        a, b); /* a half-space is bounded only along its normal, so the argument `axis` is ignored */
  double far_a = pair_support(a, axis, NULL), far_b = pair_support(b, vec3_scale(axis, -1.0), NULL);
  return -far_b + vec3_dot(axis, b->pose.t) - far_a - vec3_dot(axis, a->pose.t);
}

void pair_scale(PairDerivatives* d, double factor) {
  for (int k = 0; k < 2; k++) {
    d->force[k] = vec3_scale(d->force[k], factor);
    d->moment[k] = mat3_scale(d->moment[k], factor);
  }
  for (int i = 0; i < 12; i++)
    for (int j = 0; j < 12; j++) d->hessian[i][j] *= factor;
}

/* `torque` contributes only to the antisymmetric part of the moment. */
static void add_shifted_wrench(int side, Vec3 arm, Vec3 torque, Vec3 force, PairDerivatives* out) {
  out->force[side] = vec3_add(out->force[side], force);
  Mat3 moment = mat3_add(mat3_outer(force, arm), mat3_scale(mat3_cross(torque), 0.5));
  out->moment[side] = mat3_add(out->moment[side], moment);
}

void pair_add_shifted(const Vec3 arm[2], bool half_space, const double gradient[12], const double (*hessian)[12],
                      PairDerivatives* out) {
  assert(gradient && hessian);
  double j[12][12] = {{0}}, hj[12][12]; /* j: twists about the shifted points by twists: v + w x arm */
  int sides = half_space ? 1 : 2, n = 6 * sides;
  for (int side = 0; side < sides; side++) {
    Mat3 back = mat3_scale(mat3_cross(arm[side]), -1);
    add_shifted_wrench(side, arm[side], vec3_at(gradient + 6 * side), vec3_at(gradient + 6 * side + 3), out);
    for (int i = 0; i < 6; i++) j[6 * side + i][6 * side + i] = 1;
    for (int i = 0; i < 9; i++) j[6 * side + 3 + i / 3][6 * side + i % 3] = back.m[i / 3][i % 3];
  }
  if (half_space) out->force[1] = vec3_sub(out->force[1], vec3_at(gradient + 3));
  for (int i = 0; i < n; i++)
    for (int k = 0; k < n; k++) {
      hj[i][k] = 0;
      for (int l = 0; l < n; l++) hj[i][k] += hessian[i][l] * j[l][k];
    }
  for (int i = 0; i < n; i++)
    for (int k = 0; k < n; k++)
      for (int l = 0; l < n; l++) out->hessian[i][k] += j[l][i] * hj[l][k];
}

void pair_shift_twists(const Vec3 arm[2], bool half_space, const double twist[2][6], double out[12]) {
  assert(out);
  for (int side = 0; side < 2; side++) {
    double* at = out + 6 * side;
    bool moves = side == 0 || !half_space;
    Vec3 w = moves ? vec3_at(twist[side]) : vec3(0, 0, 0), v = moves ? vec3_at(twist[side] + 3) : vec3(0, 0, 0);
    vec3_store(w, at);
    vec3_store(vec3_add(v, vec3_cross(w, arm[side])), at + 3);
  }
}

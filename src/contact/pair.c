#include "contact/pair.h"

#include <assert.h>

HullInstance pair_hull_at(const ModelHull* hull, const Pose* pose) {
  RoundBody body = hull_body(hull);
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

#include "contact/pair.h"

HullInstance pair_hull_at(const ModelHull* hull, const Pose* pose) {
  HullInstance h = {
      .points = hull_core(hull), .rounding = hull_rounding(hull), .pose = *pose, .half_space = !hull->kind->bounded};
  h.radius = hull->kind->bounded ? hull->radius : 0;
  h.center = pose_apply(*pose, hull->center);
  if (h.half_space) {
    h.normal = mat3_mul_vec(pose->r, hull->normal);
    h.offset = hull->offset + vec3_dot(h.normal, pose->t);
  }
  return h;
}

/* Of the lowest vertex of a over the boundary of b [m]. */
static double height_over_half_space(const HullInstance* a, const HullInstance* b) {
  double farthest;
  support_index(a->points, mat3_tmul_vec(a->pose.r, vec3_scale(b->normal, -1.0)), &farthest);
  return vec3_dot(b->normal, a->pose.t) - b->offset - farthest - a->rounding;
}

double pair_distance(const HullInstance* a, const HullInstance* b, GjkCache* cache, GjkResult* result) {
  if (!b->half_space) {
    *result = gjk_distance(a->points, a->pose, b->points, b->pose, cache);
    double round = a->rounding + b->rounding;
    if (!(round > 0)) return result->distance;
    result->distance = result->distance > round ? result->distance - round : 0;
    result->witness_a = vec3_add_scaled(result->witness_a, a->rounding, result->normal);
    result->witness_b = vec3_add_scaled(result->witness_b, -b->rounding, result->normal);
    return result->distance;
  }
  double height = height_over_half_space(a, b);
  *result = (GjkResult){.distance = height > 0 ? height : 0, .normal = vec3_scale(b->normal, -1.0)};
  return result->distance;
}

double pair_gap_along(const HullInstance* a, const HullInstance* b, Vec3 axis) {
  if (b->half_space) return height_over_half_space(a, b); /* it has no end along other axes */
  double far_a, far_b;
  support_index(a->points, mat3_tmul_vec(a->pose.r, axis), &far_a);
  support_index(b->points, mat3_tmul_vec(b->pose.r, vec3_scale(axis, -1.0)), &far_b);
  return -far_b + vec3_dot(axis, b->pose.t) - far_a - vec3_dot(axis, a->pose.t) - a->rounding - b->rounding;
}

void pair_scale(PairDerivatives* d, double factor) {
  for (int k = 0; k < 2; k++) {
    d->force[k] = vec3_scale(d->force[k], factor);
    d->moment[k] = mat3_scale(d->moment[k], factor);
  }
  for (int i = 0; i < 12; i++)
    for (int j = 0; j < 12; j++) d->hessian[i][j] *= factor;
}

/* Gap of two bodies of which the second may be a half-space: growth gap of two shapes, or height of a shape. */
#include <assert.h>

#include "query/query.h"

/* If the bounding balls of both shapes are separated, sets *out to their distance and returns true. */
static bool are_balls_apart(const GapBodies* bodies, BodyGap* out) {
  Vec3 r = vec3_sub(bodies->pose[1].t, bodies->pose[0].t);
  double length = vec3_norm(r), apart = length - bodies->shape[0]->outer - bodies->shape[1]->outer;
  if (!(apart > 0)) return false;
  *out = (BodyGap){.found = true, .far = true, .gap = apart, .distance = apart, .normal = vec3_scale(r, 1 / length)};
  return true;
}

/* Returns the gap of two shapes, and as lower bound of their distance the distance between the parallel tangent planes
 * at both witness points. The gap itself is no lower bound, because it is measured along the line of centres. */
static BodyGap gap_of_shapes(const GapBodies* bodies, GrowthCache* cache) {
  BodyGap out = {.growth = growth_query(bodies->shape[0], bodies->pose[0], bodies->shape[1], bodies->pose[1], cache)};
  out.found = out.growth.proved && !out.growth.coincident;
  if (!out.found) return out;
  out.gap = out.growth.gap;
  out.normal = out.growth.normal;
  out.witness[0] = out.growth.witness_a;
  out.witness[1] = out.growth.witness_b;
  Vec3 along = vec3_normalized(vec3_sub(bodies->pose[1].t, bodies->pose[0].t));
  out.distance = out.gap * vec3_dot(out.normal, along);
  growth_gap_gradient(bodies->pose[0], bodies->pose[1], &out.growth, out.gradient);
  return out;
}

static BodyGap gap_over_half_space(const GapBodies* bodies) {
  BodyGap out = {.found = true,
                 .height = half_space_gap(bodies->shape[0], bodies->pose[0], bodies->normal, bodies->offset)};
  out.gap = out.distance = out.height.gap;
  out.normal = vec3_scale(bodies->normal, -1);
  out.witness[0] = out.height.point;
  out.witness[1] = vec3_add_scaled(out.height.point, -out.gap, bodies->normal);
  half_space_gap_gradient(&out.height, out.gradient);
  return out;
}

BodyGap body_gap(const GapBodies* bodies, bool skip_far, GrowthCache* cache) {
  assert(bodies->shape[0] && cache);
  BodyGap far;
  if (!bodies->shape[1]) return gap_over_half_space(bodies);
  if (skip_far && are_balls_apart(bodies, &far)) return far;
  return gap_of_shapes(bodies, cache);
}

int body_gap_columns(const GapBodies* bodies) {
  assert(bodies->shape[0]);
  int parameters = shape_parameter_count(bodies->shape[0]);
  return QUERY_POSE_COLUMNS + parameters + (bodies->shape[1] ? shape_parameter_count(bodies->shape[1]) : 0);
}

const char* body_gap_derivatives(const GapBodies* bodies, const BodyGap* gap, bool parameters, double* work,
                                 double* out) {
  assert(gap->found && !gap->far);
  if (!bodies->shape[1])
    return half_space_gap_derivatives(bodies->shape[0], bodies->pose[0], bodies->pose[1].t, &gap->height, parameters,
                                      out);
  return growth_gap_derivatives(bodies->shape[0], bodies->pose[0], bodies->shape[1], bodies->pose[1], &gap->growth,
                                parameters, work, out);
}

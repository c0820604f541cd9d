#include "support/bodies.h"

Body body_create(const Vec3* points, int count) {
  Vec3 low = points[0], high = points[0];
  for (int k = 1; k < count; k++) {
    low = vec3_min(low, points[k]);
    high = vec3_max(high, points[k]);
  }
  Body body = {.middle = vec3_scale(vec3_add(low, high), 0.5), .hull.points = point_view_create(points, count)};
  for (int k = 0; k < count; k++)
    body.hull.radius = fmax(body.hull.radius, vec3_norm(vec3_sub(points[k], body.middle)));
  body_place(&body, pose_identity());
  return body;
}

Body body_box(Vec3 size) {
  Vec3 corner[8];
  for (int k = 0; k < 8; k++)
    corner[k] = vec3(k & 1 ? 0.5 * size.x : -0.5 * size.x, k & 2 ? 0.5 * size.y : -0.5 * size.y,
                     k & 4 ? 0.5 * size.z : -0.5 * size.z);
  return body_create(corner, 8);
}

Body body_random(Random* random, int count, double radius, double flatness) {
  Vec3* points = MEMORY_NEW(Vec3, count);
  for (int k = 0; k < count; k++) {
    Vec3 d = random_direction(random);
    points[k] = vec3(radius * d.x, radius * d.y, radius * flatness * d.z);
  }
  Body body = body_create(points, count);
  memory_free(points);
  return body;
}

Body body_half_space(Vec3 normal, double offset) {
  Body body = {.middle = {0, 0, 0}};
  body.hull =
      (HullInstance){.pose = pose_identity(), .half_space = true, .normal = vec3_normalized(normal), .offset = offset};
  return body;
}

void body_round(Body* body, double radius) {
  body->hull.rounding = radius;
  body->hull.radius += radius;
}

void body_free(Body* body) { point_view_free(&body->hull.points); }

void body_place(Body* body, Pose pose) {
  body->hull.pose = pose;
  body->hull.center = pose_apply(pose, body->middle);
}

Vec3 body_vertex(const Body* body, int index) {
  const PointView* p = &body->hull.points;
  return pose_apply(body->hull.pose, vec3(p->x[index], p->y[index], p->z[index]));
}

double body_distance(const Body* a, const Body* b) {
  if (!b->hull.half_space)
    return gjk_distance(a->hull.points, a->hull.pose, b->hull.points, b->hull.pose, NULL).distance - a->hull.rounding -
           b->hull.rounding;
  double least = HUGE_VAL;
  for (int k = 0; k < a->hull.points.count; k++)
    least = fmin(least, vec3_dot(b->hull.normal, body_vertex(a, k)) - b->hull.offset);
  return least - a->hull.rounding;
}

void body_bring_near(const Body* a, Body* b, double gap) {
  if (b->hull.half_space) {
    b->hull.offset += body_distance(a, b) - gap;
    return;
  }
  GjkResult found = gjk_distance(a->hull.points, a->hull.pose, b->hull.points, b->hull.pose, NULL);
  Pose pose = b->hull.pose;
  pose.t = vec3_add_scaled(pose.t, gap - found.distance + a->hull.rounding + b->hull.rounding, found.normal);
  body_place(b, pose);
}

Vec3 random_direction(Random* random) {
  for (;;) {
    Vec3 v = vec3(random_normal(random), random_normal(random), random_normal(random));
    double length = vec3_norm(v);
    if (length > 1e-3) return vec3_scale(v, 1.0 / length);
  }
}

Mat3 random_rotation(Random* random) {
  Quat q = {random_normal(random), random_normal(random), random_normal(random), random_normal(random)};
  return mat3_from_quat(quat_normalized(q));
}

Pose random_pose(Random* random, double extent) {
  Pose pose = {random_rotation(random), {0, 0, 0}};
  pose.t.x = random_uniform(random, -extent, extent);
  pose.t.y = random_uniform(random, -extent, extent);
  pose.t.z = random_uniform(random, -extent, extent);
  return pose;
}

Pose pose_twisted(Pose pose, Vec3 c, const double t[6]) {
  Mat3 turn = mat3_from_quat(quat_exp(vec3(t[0], t[1], t[2])));
  Vec3 arm = mat3_mul_vec(turn, vec3_sub(pose.t, c));
  return (Pose){mat3_mul(turn, pose.r), vec3_add(vec3_add(c, vec3(t[3], t[4], t[5])), arm)};
}

Workspace workspace_create(const Body* a, const Body* b) {
  int capacity = a->hull.points.padded + b->hull.points.padded + 8;
  double* m = MEMORY_NEW(double, 3 * capacity);
  return (Workspace){m, {.x = m, .y = m + capacity, .z = m + 2 * capacity, .capacity = capacity}};
}

void workspace_free(Workspace* workspace) { memory_free(workspace->memory); }

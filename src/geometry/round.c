/* Convex hulls of points and circles with a radius about them: support and distance. */
#include "geometry/geometry.h"

enum { LANES = 8, SEEDS = 8, REFINEMENTS = 40, ROOM = ROUND_RINGS_MAX * (SEEDS + REFINEMENTS) };
/* Of the larger body: where the bounds of a distance differ by no more they are one. */
#define SETTLED 1e-13

static Vec3 ring_support(const Circle* ring, Vec3 direction) {
  Vec3 across = vec3_add_scaled(direction, -vec3_dot(direction, ring->axis), ring->axis);
  double length = vec3_norm(across);
  if (!(length > 1e-14 * vec3_norm(direction))) return ring->center;
  return vec3_add_scaled(ring->center, ring->radius / length, across);
}

double round_support(const RoundBody* body, Vec3 direction, Vec3* at) {
  double best = -HUGE_VAL, length = body->rounding > 0 ? vec3_norm(direction) : 0;
  Vec3 where = {0, 0, 0};
  if (body->points.count > 0) {
    int i = support_index(body->points, direction, &best);
    where = vec3(body->points.x[i], body->points.y[i], body->points.z[i]);
  }
  for (int k = 0; k < body->ring_count; k++) {
    Vec3 x = ring_support(&body->rings[k], direction);
    double height = vec3_dot(direction, x);
    if (!(height > best)) continue;
    best = height;
    where = x;
  }
  if (at) *at = body->rounding > 0 ? vec3_add_scaled(where, body->rounding / length, direction) : where;
  return best + body->rounding * length;
}

/* ---------------------------------------------------------------- distance */

/* Points of a body, more of them where it is nearest to the other. */
typedef struct {
  _Alignas(64) double x[ROOM];
  _Alignas(64) double y[ROOM];
  _Alignas(64) double z[ROOM];
  int count;
} Inscribed;

static void add_point(Inscribed* in, Vec3 p) {
  in->x[in->count] = p.x;
  in->y[in->count] = p.y;
  in->z[in->count++] = p.z;
}

static void seed(Inscribed* in, const RoundBody* body) {
  in->count = 0;
  for (int k = 0; k < body->ring_count; k++) {
    const Circle* ring = &body->rings[k];
    Vec3 e = vec3_across(ring->axis), f = vec3_cross(ring->axis, e);
    for (int i = 0; i < SEEDS; i++) {
      double s, c;
      math_sincos(2 * M_PI * i / SEEDS, &s, &c);
      add_point(in, vec3_add_scaled(vec3_add_scaled(ring->center, ring->radius * c, e), ring->radius * s, f));
    }
  }
  for (int i = 0; i < body->points.count && in->count < SEEDS * ROUND_RINGS_MAX; i++)
    if (body->ring_count > 0) add_point(in, vec3(body->points.x[i], body->points.y[i], body->points.z[i]));
}

static PointView view_of(Inscribed* in, const RoundBody* body) {
  if (body->ring_count == 0) return body->points;
  int padded = (in->count + LANES - 1) / LANES * LANES;
  for (int i = in->count; i < padded; i++) {
    in->x[i] = in->x[in->count - 1];
    in->y[i] = in->y[in->count - 1];
    in->z[i] = in->z[in->count - 1];
  }
  return (PointView){in->x, in->y, in->z, in->count, padded};
}

/* Of the hulls without their rounding. Inscribed points bound the distance from above, the support planes along the
 * normal from below; points of support are added until both agree. */
static GjkResult core_distance(const RoundBody* a, Pose pose_a, const RoundBody* b, Pose pose_b) {
  Inscribed in_a, in_b;
  seed(&in_a, a);
  seed(&in_b, b);
  RoundBody core_a = *a, core_b = *b;
  core_a.rounding = core_b.rounding = 0;
  GjkResult found;
  double least = -HUGE_VAL;
  for (int k = 0;; k++) {
    found = gjk_distance(view_of(&in_a, a), pose_a, view_of(&in_b, b), pose_b, NULL);
    if (!(found.distance > 0)) return found;
    Vec3 n = found.normal, at_a, at_b, d = vec3_sub(pose_b.t, pose_a.t);
    double far_a = round_support(&core_a, mat3_tmul_vec(pose_a.r, n), &at_a);
    double far_b = round_support(&core_b, mat3_tmul_vec(pose_b.r, vec3_scale(n, -1)), &at_b);
    double gap = vec3_dot(n, d) - far_a - far_b, size = vec3_norm(d) + found.distance;
    least = fmax(least, gap);
    if (k == REFINEMENTS - 1 || found.distance - gap <= SETTLED * size) break;
    if (a->ring_count > 0) add_point(&in_a, at_a);
    if (b->ring_count > 0) add_point(&in_b, at_b);
  }
  found.distance = fmax(0, least);
  return found;
}

GjkResult round_distance(const RoundBody* a, Pose pose_a, const RoundBody* b, Pose pose_b, GjkCache* cache) {
  bool rings = a->ring_count + b->ring_count > 0;
  GjkResult found =
      rings ? core_distance(a, pose_a, b, pose_b) : gjk_distance(a->points, pose_a, b->points, pose_b, cache);
  double round = a->rounding + b->rounding;
  if (!(round > 0)) return found;
  found.distance = found.distance > round ? found.distance - round : 0;
  found.witness_a = vec3_add_scaled(found.witness_a, a->rounding, found.normal);
  found.witness_b = vec3_add_scaled(found.witness_b, -b->rounding, found.normal);
  return found;
}

/* Support and distance of round bodies: convex hulls of points and circles, enlarged by a radius. */
#include <assert.h>
#include "geometry/geometry.h"

enum {
  LANES = 8,
  SEEDS = 8,
  REFINEMENTS = 40,
  POINTS_MAX = ROUND_RINGS_MAX * (SEEDS + 3 * REFINEMENTS) + REFINEMENTS + LANES
};
/* The upper and lower bound of the distance of two bodies count as equal up to SIZE_TOLERANCE of the bodies' size plus
 * DISTANCE_TOLERANCE of the distance. */
#define SIZE_TOLERANCE 1e-13
#define DISTANCE_TOLERANCE 1e-9

static Vec3 ring_support(const Circle* ring, Vec3 direction) {
  Vec3 across = vec3_add_scaled(direction, -vec3_dot(direction, ring->axis), ring->axis);
  double length = vec3_norm(across);
  if (!(length > 1e-14 * vec3_norm(direction))) return ring->center;
  return vec3_add_scaled(ring->center, ring->radius / length, across);
}

double round_support(const RoundBody* body, Vec3 direction, Vec3* at) {
  assert(!(vec3_dot(direction, direction) <= 0));
  double best = -HUGE_VAL, length = body->rounding > 0 ? vec3_norm(direction) : 0;
  Vec3 where = {0, 0, 0};
  if (body->points.count > 0) {
    int i = support_index(body->points, direction, &best);
    where = point_at(body->points, i);
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

/* Polyhedron inscribed in a body: its vertices and points on its circles. Points are added where the body is nearest to
 * the other body. */
typedef struct {
  _Alignas(64) double x[POINTS_MAX];
  _Alignas(64) double y[POINTS_MAX];
  _Alignas(64) double z[POINTS_MAX];
  int count;
} InscribedPoints;

static void add_point(InscribedPoints* in, Vec3 p) {
  in->x[in->count] = p.x;
  in->y[in->count] = p.y;
  in->z[in->count++] = p.z;
}

static void add_initial_points(InscribedPoints* in, const RoundBody* body) {
  in->count = 0;
  for (int k = 0; k < body->ring_count; k++) {
    const Circle* ring = &body->rings[k];
    Vec3 e = vec3_perpendicular(ring->axis), f = vec3_cross(ring->axis, e);
    for (int i = 0; i < SEEDS; i++) {
      double s, c;
      math_sincos(2 * M_PI * i / SEEDS, &s, &c);
      add_point(in, vec3_add_scaled(vec3_add_scaled(ring->center, ring->radius * c, e), ring->radius * s, f));
    }
  }
  for (int i = 0; i < body->points.count && in->count < SEEDS * ROUND_RINGS_MAX; i++)
    if (body->ring_count > 0) add_point(in, point_at(body->points, i));
}

static PointView create_view(InscribedPoints* in, const RoundBody* body) {
  if (body->ring_count == 0) return body->points;
  int padded = (in->count + LANES - 1) / LANES * LANES;
  for (int i = in->count; i < padded; i++) {
    in->x[i] = in->x[in->count - 1];
    in->y[i] = in->y[in->count - 1];
    in->z[i] = in->z[in->count - 1];
  }
  return (PointView){in->x, in->y, in->z, in->count, padded};
}

/* Adds the points of the circles nearest to the point `other` of the other body, and one point on each side of them.
 * The distance error is then quadratic in the length of the chords at the nearest point. simplex (count): indices of
 * the simplex vertices in `in`. */
static void add_nearest(InscribedPoints* in, const RoundBody* core, Pose pose, Vec3 other, const int* simplex,
                        int count) {
  Vec3 x = mat3_tmul_vec(pose.r, vec3_sub(other, pose.t));
  for (int k = 0; k < core->ring_count; k++) {
    const Circle* ring = &core->rings[k];
    Vec3 p = ring_support(ring, vec3_sub(x, ring->center)), beside = vec3_cross(ring->axis, vec3_sub(p, ring->center));
    double chord = 0;
    for (int i = 0; i < count; i++) {
      int at = simplex[i];
      double d = vec3_norm(vec3_sub(vec3(in->x[at], in->y[at], in->z[at]), p));
      if (d < ring->radius) chord = fmax(chord, d);
    }
    double turn = 0.5 * chord * chord / (ring->radius * ring->radius);
    add_point(in, p);
    if (!(turn > 0)) continue;
    for (int side = -1; side <= 1; side += 2)
      add_point(in, ring_support(ring, vec3_add_scaled(vec3_sub(p, ring->center), side * turn, beside)));
  }
}

/* Adds the support point of the core along a world direction. Returns its height along the direction [m]. */
static double add_support_point(InscribedPoints* in, const RoundBody* core, Pose pose, Vec3 direction) {
  Vec3 at;
  double height = round_support(core, mat3_tmul_vec(pose.r, direction), &at);
  if (core->ring_count > 0) add_point(in, at);
  return height;
}

/* Returns the distance of the cores, which are the bodies without their rounding radii. Points on the circles give an
 * upper bound, and support planes along the normal give a lower bound. Support points are added until the bounds agree.
 * Each search starts from the last simplex. `last`: direction of an earlier result, or 0. */
static GjkResult core_distance(const RoundBody* a, Pose pose_a, const RoundBody* b, Pose pose_b, Vec3 last) {
  InscribedPoints in_a, in_b;
  add_initial_points(&in_a, a);
  add_initial_points(&in_b, b);
  RoundBody core_a = *a, core_b = *b;
  core_a.rounding = core_b.rounding = 0;
  double round = a->rounding + b->rounding, least = -HUGE_VAL;
  Vec3 d = vec3_sub(pose_b.t, pose_a.t);
  GjkCache simplex = {.direction = last};
  if (vec3_dot(last, last) > 0) {
    add_support_point(&in_a, &core_a, pose_a, vec3_scale(last, -1));
    add_support_point(&in_b, &core_b, pose_b, last);
  }
  GjkResult found;
  int iterations = 0;
  for (int k = 0;; k++) {
    found = gjk_distance(create_view(&in_a, a), pose_a, create_view(&in_b, b), pose_b, &simplex);
    found.iterations = iterations += found.iterations;
    if (!(found.distance > 0)) return found;
    Vec3 n = found.normal;
    double far_a = add_support_point(&in_a, &core_a, pose_a, n),
           far_b = add_support_point(&in_b, &core_b, pose_b, vec3_scale(n, -1));
    double gap = vec3_dot(n, d) - far_a - far_b, size = vec3_norm(d) + found.distance;
    least = fmax(least, gap);
    if (k == REFINEMENTS - 1 ||
        found.distance - least <= SIZE_TOLERANCE * size + DISTANCE_TOLERANCE * fmax(least - round, 0))
      break;
    add_nearest(&in_a, &core_a, pose_a, found.witness_b, simplex.a, simplex.count);
    add_nearest(&in_b, &core_b, pose_b, found.witness_a, simplex.b, simplex.count);
  }
  found.distance = fmax(0, least);
  return found;
}

GjkResult round_distance(const RoundBody* a, Pose pose_a, const RoundBody* b, Pose pose_b, GjkCache* cache) {
  assert(a->ring_count >= 0 && a->ring_count <= ROUND_RINGS_MAX && !(a->rounding < 0));
  assert(b->ring_count >= 0 && b->ring_count <= ROUND_RINGS_MAX && !(b->rounding < 0));
  bool rings = a->ring_count + b->ring_count > 0;
  Vec3 last = cache ? cache->direction : vec3(0, 0, 0);
  GjkResult found =
      rings ? core_distance(a, pose_a, b, pose_b, last) : gjk_distance(a->points, pose_a, b->points, pose_b, cache);
  if (rings && cache) *cache = (GjkCache){.direction = vec3_scale(found.normal, -found.distance)};
  double round = a->rounding + b->rounding;
  if (!(round > 0)) return found;
  found.distance = found.distance > round ? found.distance - round : 0;
  found.witness_a = vec3_add_scaled(found.witness_a, a->rounding, found.normal);
  found.witness_b = vec3_add_scaled(found.witness_b, -b->rounding, found.normal);
  return found;
}

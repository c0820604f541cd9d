/* Penetration depth of two hulls A and B: depth of the origin in the Minkowski difference C = A - B, by an expanding
 * polytope. The polytope is the hull of some vertices of C. The vertex of C farthest beyond the face nearest to the
 * origin is added until there is none. */
#include <assert.h>

#include "geometry/facets.h"
#include "geometry/point_set.h"

/* The iteration ends if no vertex of the Minkowski difference C is farther beyond the nearest face than this, relative
 * to the size of C. */
#define FACE_TOLERANCE 1e-13
/* Each iteration adds a vertex of C. Hulls of 500 vertices need a few dozen. */
#define ITERATION_LIMIT 2000

typedef struct {
  PointView a, b;
  Pose pose_a, pose_b; /* poses relative to the origin of B, because differences of large coordinates lose digits */
  Vec3* points;        /* vertices of C found so far */
  int count, capacity;
  double size; /* largest distance of a vertex of C from the origin [m] */
} Polytope;

static Vec3 farthest_vertex(PointView view, Pose pose, Vec3 direction) {
  double height;
  int i = support_index(view, mat3_tmul_vec(pose.r, direction), &height);
  return pose_apply(pose, point_at(view, i));
}

/* Returns the vertex of the Minkowski difference C = A - B farthest along a direction. */
static Vec3 difference_support(const Polytope* polytope, Vec3 direction) {
  return vec3_sub(farthest_vertex(polytope->a, polytope->pose_a, direction),
                  farthest_vertex(polytope->b, polytope->pose_b, vec3_scale(direction, -1.0)));
}

static void polytope_append(Polytope* polytope, Vec3 point) {
  polytope->points = memory_grow_array(polytope->points, sizeof(Vec3), polytope->count, &polytope->capacity);
  polytope->points[polytope->count++] = point;
  polytope->size = fmax(polytope->size, vec3_norm(point));
}

/* Initializes the polytope with the support points in 26 directions. Adds the support points in both directions along
 * the normal of three widely separated points, in case all other points are coplanar. */
static void polytope_start(Polytope* polytope) {
  for (int x = -1; x <= 1; x++)
    for (int y = -1; y <= 1; y++)
      for (int z = -1; z <= 1; z++)
        if (x != 0 || y != 0 || z != 0) polytope_append(polytope, difference_support(polytope, vec3(x, y, z)));
  Vec3 normal = compute_extent(polytope->points, polytope->count).normal;
  polytope_append(polytope, difference_support(polytope, normal));
  polytope_append(polytope, difference_support(polytope, vec3_scale(normal, -1.0)));
}

/* Finds the face with the smallest height above the origin. The height is negative if the origin is outside. Sets
 * *normal and *height. Returns false if the polytope is flat. */
static bool find_nearest_face(const Polytope* polytope, Vec3* normal, double* height) {
  Facets facets;
  bool solid = facets_create(&facets, polytope->points, polytope->count) == HULL_OK;
  *height = HUGE_VAL;
  for (int i = 0; solid && i < facets.facet_count; i++) {
    const double* plane = facets.planes[i];
    if (-plane[3] >= *height) continue;
    *height = -plane[3];
    *normal = vec3(plane[0], plane[1], plane[2]);
  }
  facets_free(&facets);
  return solid;
}

/* Returns the depth of the origin in the Minkowski difference C = A - B, along the normal of the nearest face. Returns
 * 0 if the origin is outside. Moving B by d moves C by -d, so *normal is the direction in which B must move to
 * separate. */
static double compute_origin_depth(Polytope* polytope, Vec3* normal) {
  double reach = 0;
  for (int round = 0; round < ITERATION_LIMIT; round++) {
    double height;
    if (!find_nearest_face(polytope, normal, &height))
      return 0; /* C is flat, so an arbitrarily small displacement separates the hulls */
    Vec3 beyond = difference_support(polytope, *normal);
    reach = vec3_dot(beyond, *normal);
    if (!(reach > 0)) return 0;
    if (reach <= height + FACE_TOLERANCE * polytope->size) break;
    polytope_append(polytope, beyond);
  }
  return reach;
}

double hull_penetration(PointView a, Pose pose_a, PointView b, Pose pose_b, Vec3* normal) {
  assert(a.count > 0 && b.count > 0 && normal);
  Polytope polytope = {.a = a, .b = b, .pose_a = pose_a, .pose_b = pose_b};
  polytope.pose_a.t = vec3_sub(pose_a.t, pose_b.t);
  polytope.pose_b.t = vec3(0, 0, 0);
  polytope_start(&polytope);
  double depth = compute_origin_depth(&polytope, normal);
  if (!(depth > 0)) *normal = vec3(0, 0, 0);
  memory_free(polytope.points);
  return depth;
}

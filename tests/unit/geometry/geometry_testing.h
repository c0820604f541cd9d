/* Helpers of the geometry tests: hulls as point views, random poses, independent checks of hulls. */
#ifndef SDRS_TESTS_GEOMETRY_TESTING_H
#define SDRS_TESTS_GEOMETRY_TESTING_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include "geometry/geometry.h"

#define SHARED_DATA "../shared/data/"
#define COUNT(array) ((int)(sizeof(array) / sizeof((array)[0])))

#define assert_close(got, want, tolerance) assert_close_at((got), (want), (tolerance), #got, __FILE__, __LINE__)
static inline void assert_close_at(double got, double want, double tolerance, const char* what, const char* file,
                                   int line) {
  if (fabs(got - want) <= tolerance) return;
  print_error("%s:%d: %s = %.17g, want %.17g +- %g (difference %g)\n", file, line, what, got, want, tolerance,
              got - want);
  _fail(file, line);
}

#define assert_vec3_close(got, want, tolerance) \
  do {                                          \
    Vec3 got_ = (got), want_ = (want);          \
    assert_close(got_.x, want_.x, tolerance);   \
    assert_close(got_.y, want_.y, tolerance);   \
    assert_close(got_.z, want_.z, tolerance);   \
  } while (0)

/* ---------------------------------------------------------------- random things */

static inline Vec3 random_vector(Random* random, double size) {
  double x = random_uniform(random, -size, size), y = random_uniform(random, -size, size);
  return vec3(x, y, random_uniform(random, -size, size));
}

static inline Vec3 random_direction(Random* random) {
  double x = random_normal(random), y = random_normal(random);
  return vec3_normalized(vec3(x, y, random_normal(random)));
}

static inline Mat3 random_rotation(Random* random) {
  double w = random_normal(random), x = random_normal(random), y = random_normal(random);
  return mat3_from_quat(quat_normalized((Quat){w, x, y, random_normal(random)}));
}

static inline Pose random_pose(Random* random, double distance) {
  Mat3 r = random_rotation(random);
  return (Pose){r, random_vector(random, distance)};
}

/* ---------------------------------------------------------------- hulls */

static inline double diameter_of(const Vec3* points, int count) {
  Vec3 low = points[0], high = points[0];
  for (int i = 0; i < count; i++) {
    low = vec3_min(low, points[i]);
    high = vec3_max(high, points[i]);
  }
  return vec3_norm(vec3_sub(high, low));
}

/* Divergence theorem with the field (x, 0, 0): the flux through a triangle is its projected area times the mean x. */
static inline double volume_by_flux(const ConvexHull* hull) {
  double volume = 0;
  Vec3 origin = hull->vertices[0];
  for (int i = 0; i < hull->triangle_count; i++) {
    const int* t = hull->triangles[i];
    Vec3 a = vec3_sub(hull->vertices[t[0]], origin), b = vec3_sub(hull->vertices[t[1]], origin);
    Vec3 c = vec3_sub(hull->vertices[t[2]], origin);
    volume += 0.5 * vec3_cross(vec3_sub(b, a), vec3_sub(c, a)).x * (a.x + b.x + c.x) / 3.0;
  }
  return volume;
}

static inline int compare_directed(const void* left, const void* right) {
  uint64_t a = *(const uint64_t*)left, b = *(const uint64_t*)right;
  return (a > b) - (a < b);
}

/* Every directed edge once, with its opposite, and V - E + F = 2: a closed oriented surface like a sphere. */
static inline void check_hull_surface(const ConvexHull* hull) {
  int count = 3 * hull->triangle_count;
  uint64_t* edges = MEMORY_NEW(uint64_t, count);
  bool* used = MEMORY_NEW(bool, hull->vertex_count);
  for (int i = 0; i < hull->triangle_count; i++)
    for (int k = 0; k < 3; k++) {
      int from = hull->triangles[i][k], to = hull->triangles[i][(k + 1) % 3];
      assert_in_range(from, 0, hull->vertex_count - 1);
      used[from] = true;
      edges[3 * i + k] = (uint64_t)from << 32 | (uint64_t)to;
    }
  qsort(edges, (size_t)count, sizeof *edges, compare_directed);
  for (int i = 0; i < count; i++) {
    if (i > 0) assert_true(edges[i] != edges[i - 1]);
    uint64_t opposite = edges[i] << 32 | edges[i] >> 32;
    assert_non_null(bsearch(&opposite, edges, (size_t)count, sizeof *edges, compare_directed));
  }
  for (int i = 0; i < hull->vertex_count; i++) assert_true(used[i]);
  assert_int_equal(hull->vertex_count - count / 2 + hull->triangle_count, 2);
  memory_free(edges);
  memory_free(used);
}

/* Returns the largest distance of the points outside of the faces' planes, relative to their diameter. Faces without
 * area are skipped. */
static inline double outside_of_faces(const ConvexHull* hull, const Vec3* points, int count) {
  double diameter = diameter_of(points, count), worst = 0;
  for (int i = 0; i < hull->triangle_count; i++) {
    const int* t = hull->triangles[i];
    Vec3 origin = hull->vertices[t[0]], u = vec3_sub(hull->vertices[t[1]], origin);
    Vec3 v = vec3_sub(hull->vertices[t[2]], origin), normal = vec3_cross(u, v);
    double longest = fmax(vec3_norm(u), fmax(vec3_norm(v), vec3_norm(vec3_sub(u, v))));
    if (vec3_norm(normal) < 1e-6 * diameter * longest) continue; /* thinner than 1e-6: the plane is too uncertain */
    normal = vec3_normalized(normal);
    for (int j = 0; j < count; j++) worst = fmax(worst, vec3_dot(normal, vec3_sub(points[j], origin)));
  }
  return worst / diameter;
}

/* The hull's vertices are the input's points, in the order of their first appearance. */
static inline void check_hull_vertices(const ConvexHull* hull, const Vec3* points, int count) {
  int next = 0;
  for (int i = 0; i < count && next < hull->vertex_count; i++)
    if (memcmp(&points[i], &hull->vertices[next], sizeof(Vec3)) == 0) next++;
  assert_int_equal(next, hull->vertex_count);
}

static inline void check_hull(const ConvexHull* hull, const Vec3* points, int count) {
  check_hull_surface(hull);
  check_hull_vertices(hull, points, count);
  double outside = outside_of_faces(hull, points, count);
  if (outside > 1e-9) print_error("a point lies outside the hull by %g of the diameter\n", outside);
  assert_true(outside <= 1e-9);
}

/* ---------------------------------------------------------------- files */

static inline bool shared_data_present(void) {
  if (file_exists(SHARED_DATA "README.md")) return true;
  print_message("skipped: %s is not there\n", SHARED_DATA);
  return false;
}

#endif

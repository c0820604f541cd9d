#include <string.h>
#include "geometry/geometry.h"

/* Largest subdivisions. With finer subdivisions neighbouring points coincide by rounding, or their number overflows. */
#define SPHERE_RESOLUTION_MAX 6
#define SEGMENTS_MAX 4096

HullResult primitive_box(ConvexHull* hull, Vec3 size) {
  Vec3 corners[8];
  for (int i = 0; i < 8; i++)
    corners[i] = vec3(i & 4 ? 0.5 * size.x : -0.5 * size.x, i & 2 ? 0.5 * size.y : -0.5 * size.y,
                      i & 1 ? 0.5 * size.z : -0.5 * size.z);
  return hull_create(hull, corners, 8);
}

/* Divides a spherical triangle into four triangles, `depth` times, and writes the corners to out. Returns the end of
 * the output. The midpoint of an edge is bit-identical for both triangles at the edge (a + b = b + a), so hull_create
 * removes the duplicates. */
static Vec3* split_triangle(Vec3* out, double radius, int depth, Vec3 a, Vec3 b, Vec3 c) {
  if (depth == 0) {
    *out++ = vec3_scale(a, radius);
    *out++ = vec3_scale(b, radius);
    *out++ = vec3_scale(c, radius);
    return out;
  }
  Vec3 ab = vec3_normalized(vec3_add(a, b)), bc = vec3_normalized(vec3_add(b, c)), ca = vec3_normalized(vec3_add(c, a));
  out = split_triangle(out, radius, depth - 1, a, ab, ca);
  out = split_triangle(out, radius, depth - 1, ab, b, bc);
  out = split_triangle(out, radius, depth - 1, ca, bc, c);
  return split_triangle(out, radius, depth - 1, ab, bc, ca);
}

/* Sets the corners of an icosahedron: the cyclic permutations of (0, +-1, +-golden ratio), normalized. Three corners
 * that are all neighbours form a face. */
static void icosahedron_corners(Vec3 corners[12]) {
  double golden = 0.5 * (1.0 + sqrt(5.0));
  for (int i = 0; i < 4; i++) {
    double u = i & 1 ? 1.0 : -1.0, v = i & 2 ? golden : -golden;
    corners[3 * i] = vec3_normalized(vec3(0, u, v));
    corners[3 * i + 1] = vec3_normalized(vec3(v, 0, u));
    corners[3 * i + 2] = vec3_normalized(vec3(u, v, 0));
  }
}

static bool neighbours(Vec3 a, Vec3 b) {
  return vec3_dot(a, b) > 0.4;
} /* the cosine is 1/sqrt(5) = 0.447 for neighbours and negative otherwise */

/* Returns the corners of all triangles, with duplicates (*count). The caller frees the array with memory_free. */
static Vec3* triangle_corners(double radius, int resolution, int* count) {
  Vec3 corners[12];
  icosahedron_corners(corners);
  Vec3 *points = MEMORY_NEW(Vec3, 60 << (2 * resolution)), *end = points;
  for (int i = 0; i < 12; i++)
    for (int j = i + 1; j < 12; j++)
      for (int k = j + 1; k < 12; k++)
        if (neighbours(corners[i], corners[j]) && neighbours(corners[j], corners[k]) &&
            neighbours(corners[k], corners[i]))
          end = split_triangle(end, radius, resolution, corners[i], corners[j], corners[k]);
  *count = (int)(end - points);
  return points;
}

HullResult primitive_sphere(ConvexHull* hull, double radius, int resolution) {
  *hull = (ConvexHull){0};
  if (resolution < 0 || resolution > SPHERE_RESOLUTION_MAX) return HULL_FAILED;
  int count;
  Vec3* points = triangle_corners(radius, resolution, &count);
  HullResult result = hull_create(hull, points, count);
  memory_free(points);
  return result;
}

/* Returns the slot of a hash table that contains the point, or the free slot for the point. Entries are point numbers +
 * 1. `slots` is a power of two. */
static int find_slot(const int* table, int slots, const Vec3* points, Vec3 point) {
  uint64_t word[3], mixed = 0;
  memcpy(word, &point, sizeof word);
  for (int k = 0; k < 3; k++) mixed = (mixed ^ word[k]) * 0x9e3779b97f4a7c15u;
  int at = (int)(mixed >> 40) & (slots - 1);
  while (table[at] && vec3_norm(vec3_sub(points[table[at] - 1], point)) > 0) at = (at + 1) & (slots - 1);
  return at;
}

Vec3* primitive_sphere_points(int resolution, int* count) {
  *count = 0;
  if (resolution < 0 || resolution > SPHERE_RESOLUTION_MAX) return NULL;
  int all, slots = 64 << (2 * resolution);
  Vec3* points = triangle_corners(1, resolution, &all);
  int* table = MEMORY_NEW(int, slots);
  for (int i = 0; i < all; i++) {
    Vec3 point = vec3_add(points[i], vec3(0, 0, 0)); /* adding 0 replaces -0 by 0 */
    int at = find_slot(table, slots, points, point);
    if (table[at]) continue;
    points[*count] = points[i];
    table[at] = ++*count;
  }
  memory_free(table);
  return points;
}

/* Writes points of a circle about the z axis to out. Returns the end of the output. */
static Vec3* add_ring(Vec3* out, double radius, double z, int segments) {
  for (int i = 0; i < segments; i++) {
    double angle = 2 * M_PI * i / segments;
    *out++ = vec3(radius * math_cos(angle), radius * math_sin(angle), z);
  }
  return out;
}

HullResult primitive_cylinder(ConvexHull* hull, double radius, double length, int segments) {
  *hull = (ConvexHull){0};
  if (segments < 3 || segments > SEGMENTS_MAX) return HULL_FAILED;
  Vec3* points = MEMORY_NEW(Vec3, 2 * segments);
  add_ring(add_ring(points, radius, -0.5 * length, segments), radius, 0.5 * length, segments);
  HullResult result = hull_create(hull, points, 2 * segments);
  memory_free(points);
  return result;
}

/* Writes the rings of a cap from the rim to the pole, and the pole, to out. side = -1: lower cap. Returns the end of
 * the output. */
static Vec3* add_cap(Vec3* out, double radius, double length, int segments, int rings, double side) {
  for (int j = 0; j < rings; j++) {
    double latitude = 0.5 * M_PI * j / rings;
    out = add_ring(out, radius * math_cos(latitude), side * (0.5 * length + radius * math_sin(latitude)), segments);
  }
  *out++ = vec3(0, 0, side * (0.5 * length + radius));
  return out;
}

HullResult primitive_capsule(ConvexHull* hull, double radius, double length, int segments) {
  *hull = (ConvexHull){0};
  if (segments < 3 || segments > SEGMENTS_MAX || !(length >= 0)) return HULL_FAILED;
  int rings = segments < 8 ? 1 : segments / 4;
  int count = 2 * (rings * segments + 1);
  Vec3* points = MEMORY_NEW(Vec3, count);
  add_cap(add_cap(points, radius, length, segments, rings, -1), radius, length, segments, rings, 1);
  HullResult result = hull_create(hull, points, count);
  memory_free(points);
  return result;
}

/* Distance of the outermost grid lines from the cube's edges, in grid spacings. The distance is large enough to
 * separate points of neighbouring faces, and small enough to keep the shape of an even grid. */
#define EDGE_SPREAD 0.1

/* Returns a point of a face of the unit cube. axis: axis of the face normal. side = +-1: sign of the normal. u, v:
 * coordinates along the next two axes. */
static Vec3 cube_point(int axis, double side, double u, double v) {
  double c[3];
  c[axis] = side;
  c[(axis + 1) % 3] = u;
  c[(axis + 2) % 3] = v;
  return vec3(c[0], c[1], c[2]);
}

/* Projects the point to the sphere. Then moves each coordinate outward by half the extent. No coordinate is 0. */
static Vec3 round_and_shift(Vec3 point, double radius, Vec3 extent) {
  Vec3 p = vec3_scale(vec3_normalized(point), radius);
  return vec3_add(p, vec3(copysign(0.5 * extent.x, p.x), copysign(0.5 * extent.y, p.y), copysign(0.5 * extent.z, p.z)));
}

HullResult primitive_rounded_box(ConvexHull* hull, double radius, Vec3 extent, int segments) {
  *hull = (ConvexHull){0};
  if (segments < 8 || segments > SEGMENTS_MAX) return HULL_FAILED;
  int lines = 2 * (segments / 8),
      count = 0; /* even, because an odd number would put points on the planes of symmetry */
  double* grid = MEMORY_NEW(double, lines);
  for (int i = 0; i < lines; i++) grid[i] = (double)(2 * i - lines + 1) / (lines - 1);
  grid[lines - 1] = 1.0 - EDGE_SPREAD * 2.0 / (lines - 1);
  grid[0] = -grid[lines - 1];
  Vec3* points = MEMORY_NEW(Vec3, 6 * lines * lines);
  for (int face = 0; face < 6; face++)
    for (int i = 0; i < lines; i++)
      for (int j = 0; j < lines; j++)
        points[count++] =
            round_and_shift(cube_point(face / 2, face % 2 ? 1.0 : -1.0, grid[i], grid[j]), radius, extent);
  HullResult result = hull_create(hull, points, count);
  memory_free(grid);
  memory_free(points);
  return result;
}

HullResult primitive_circles(ConvexHull* hull, const double z[2], const double radius[2], double rounding,
                             int segments) {
  if (segments < 3 || segments > SEGMENTS_MAX) return HULL_FAILED;
  int arcs = rounding > 0 ? segments / 8 + 2 : 1, count = 0;
  Vec3* points = MEMORY_NEW(Vec3, 2 * arcs * segments);
  for (int end = 0; end < 2; end++)
    for (int k = 0; k < arcs; k++) {
      double up = arcs > 1 ? 0.5 * M_PI * k / (arcs - 1) : 0, out = radius[end] + rounding * math_cos(up);
      double height = z[end] + (end == 0 ? -1 : 1) * rounding * math_sin(up);
      for (int i = 0; i < segments; i++) {
        double angle = 2 * M_PI * i / segments;
        points[count++] = vec3(out * math_cos(angle), out * math_sin(angle), height);
      }
    }
  HullResult result = hull_create(hull, points, count);
  memory_free(points);
  return result;
}

/* Distance and depth of convex polyhedra by exhaustive search over all vertex-face and edge-edge pairs, and over all
 * face normals and cross products of edges, in extended precision: a method that shares nothing with GJK. */
#ifndef SDRS_TESTS_SUPPORT_EXHAUSTIVE_H
#define SDRS_TESTS_SUPPORT_EXHAUSTIVE_H

#include <math.h>
#include <stdlib.h>
#include "geometry/geometry.h"

typedef long double Real;
typedef struct {
  Real x, y, z;
} Point;

static inline Point minus(Point a, Point b) { return (Point){a.x - b.x, a.y - b.y, a.z - b.z}; }
static inline Point along(Point a, Real s, Point b) { return (Point){a.x + s * b.x, a.y + s * b.y, a.z + s * b.z}; }
static inline Real dot(Point a, Point b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
static inline Point cross(Point a, Point b) {
  return (Point){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
static inline Real norm(Point a) { return sqrtl(dot(a, a)); }
static inline Real clamp(Real t) { return t < 0 ? 0 : t > 1 ? 1 : t; }
static inline Point point_of(Vec3 a) { return (Point){(Real)a.x, (Real)a.y, (Real)a.z}; }

static inline Point transformed(Pose pose, Vec3 v) {
  Point p = point_of(v), result = point_of(pose.t);
  for (int k = 0; k < 3; k++) {
    Real component = k == 0 ? p.x : k == 1 ? p.y : p.z;
    Point column = {(Real)pose.r.m[0][k], (Real)pose.r.m[1][k], (Real)pose.r.m[2][k]};
    result = along(result, component, column);
  }
  return result;
}

/* ---------------------------------------------------------------- a hull in the world */

typedef struct {
  Point* points;
  int count;
  const ConvexHull* hull;
} Solid;

static inline Solid solid_at(const ConvexHull* hull, Pose pose) {
  Solid solid = {calloc((size_t)hull->vertex_count, sizeof(Point)), hull->vertex_count, hull};
  for (int i = 0; i < solid.count; i++) solid.points[i] = transformed(pose, hull->vertices[i]);
  return solid;
}

static inline Point corner(const Solid* solid, int triangle, int k) {
  return solid->points[solid->hull->triangles[triangle][k % 3]];
}

static inline void extent(const Solid* solid, Point axis, Real* low, Real* high) {
  *low = HUGE_VALL;
  *high = -HUGE_VALL;
  for (int i = 0; i < solid->count; i++) {
    Real h = dot(axis, solid->points[i]);
    if (h < *low) *low = h;
    if (h > *high) *high = h;
  }
}

/* ---------------------------------------------------------------- exhaustive search */

/* Largest gap of the two shadows over one axis; skips axes that are rounding only. */
static inline void try_axis(const Solid* a, const Solid* b, Point axis, Real size, Real* most) {
  Real length = norm(axis), low_a, high_a, low_b, high_b;
  if (!(length > 1e-9L * size)) return;
  axis = (Point){axis.x / length, axis.y / length, axis.z / length};
  extent(a, axis, &low_a, &high_a);
  extent(b, axis, &low_b, &high_b);
  Real gap = low_b - high_a > low_a - high_b ? low_b - high_a : low_a - high_b;
  if (gap > *most) *most = gap;
}

/* Convex polyhedra are apart exactly when a face normal or a cross product of edges shows it. */
static inline Real exhaustive_separation(const Solid* a, const Solid* b, Real size) {
  Real most = -HUGE_VALL;
  for (int side = 0; side < 2; side++) {
    const Solid* s = side ? b : a;
    for (int i = 0; i < s->hull->triangle_count; i++)
      try_axis(a, b, cross(minus(corner(s, i, 1), corner(s, i, 0)), minus(corner(s, i, 2), corner(s, i, 0))),
               size * size, &most);
  }
  for (int i = 0; i < 3 * a->hull->triangle_count; i++)
    for (int j = 0; j < 3 * b->hull->triangle_count; j++) {
      Point edge_a = minus(corner(a, i / 3, i + 1), corner(a, i / 3, i));
      Point edge_b = minus(corner(b, j / 3, j + 1), corner(b, j / 3, j));
      try_axis(a, b, cross(edge_a, edge_b), size * size, &most);
    }
  return most;
}

static inline Real point_segment(Point p, Point a, Point b) {
  Point e = minus(b, a);
  return norm(minus(p, along(a, clamp(dot(minus(p, a), e) / dot(e, e)), e)));
}

static inline Real point_triangle(Point p, Point a, Point b, Point c) {
  Point n = cross(minus(b, a), minus(c, a));
  bool over = dot(n, cross(minus(b, a), minus(p, a))) >= 0 && dot(n, cross(minus(c, b), minus(p, b))) >= 0 &&
              dot(n, cross(minus(a, c), minus(p, c))) >= 0;
  if (over && norm(n) > 0) return fabsl(dot(n, minus(p, a))) / norm(n);
  return fminl(point_segment(p, a, b), fminl(point_segment(p, b, c), point_segment(p, c, a)));
}

/* Where both nearest points are inside the segments; end points are covered by point_triangle. */
static inline Real segment_segment(Point a, Point b, Point c, Point d) {
  Point u = minus(b, a), v = minus(d, c), w = minus(a, c);
  Real uu = dot(u, u), vv = dot(v, v), uv = dot(u, v), den = uu * vv - uv * uv;
  if (!(den > 0)) return HUGE_VALL;
  Real s = (uv * dot(v, w) - vv * dot(u, w)) / den, t = (uu * dot(v, w) - uv * dot(u, w)) / den;
  if (!(s >= 0 && s <= 1 && t >= 0 && t <= 1)) return HUGE_VALL;
  return norm(minus(along(a, s, u), along(c, t, v)));
}

/* Distance of hulls that are apart. */
static inline Real exhaustive_distance(const Solid* a, const Solid* b) {
  Real least = HUGE_VALL;
  for (int side = 0; side < 2; side++) {
    const Solid *s = side ? b : a, *other = side ? a : b;
    for (int i = 0; i < s->hull->triangle_count; i++)
      for (int j = 0; j < other->count; j++)
        least = fminl(least, point_triangle(other->points[j], corner(s, i, 0), corner(s, i, 1), corner(s, i, 2)));
  }
  for (int i = 0; i < 3 * a->hull->triangle_count; i++)
    for (int j = 0; j < 3 * b->hull->triangle_count; j++)
      least = fminl(least, segment_segment(corner(a, i / 3, i), corner(a, i / 3, i + 1), corner(b, j / 3, j),
                                           corner(b, j / 3, j + 1)));
  return least;
}

#endif

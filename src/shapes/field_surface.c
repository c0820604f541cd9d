/* Triangles on the surface of a field. */
#include <assert.h>
#include <string.h>
#include "shapes/shapes.h"

/* Number of Newton steps along the gradient that project a point onto phi = 0. */
enum { PROJECTION_STEPS = 8 };

static TriangleSurface surface_create(int points, int triangles) {
  return (TriangleSurface){.points = MEMORY_NEW(Vec3, points),
                           .triangles = (int(*)[3])MEMORY_NEW(int, 3 * triangles),
                           .point_count = points,
                           .triangle_count = triangles};
}

static TriangleSurface shape_surface(const Shape* shape, int level) {
  ConvexHull hull;
  if (shape_mesh(shape, level, &hull) != HULL_OK) return (TriangleSurface){0};
  TriangleSurface out = surface_of_hull(&hull);
  hull_free(&hull);
  return out;
}

/* ---------------------------------------------------------------- unions */

/* Returns true if a surface point of part k lies on the surface of the union or difference. In a union, the point lies
 * outside all other parts. In a difference, it lies outside the subtrahend or inside the minuend. */
static bool is_on_surface(const Field* whole, int k, Vec3 position) {
  for (int i = 0; i < whole->part_count; i++) {
    if (i == k) continue;
    bool outside = field_evaluate(&whole->parts[i], position).value >= 0;
    bool must_be_outside = whole->kind == FIELD_UNION || i == 1;
    if (outside != must_be_outside) return false;
  }
  return true;
}

static void copy_points(const Field* whole, int k, const TriangleSurface* part, TriangleSurface* out, int* index) {
  for (int i = 0; i < part->point_count; i++) {
    index[i] = -1;
    if (!is_on_surface(whole, k, part->points[i])) continue;
    index[i] = out->point_count;
    out->points[out->point_count++] = part->points[i];
  }
}

static void copy_triangles(const TriangleSurface* part, bool flipped, TriangleSurface* out, const int* index) {
  for (int i = 0; i < part->triangle_count; i++) {
    int corner[3];
    bool whole = true;
    for (int k = 0; k < 3; k++) {
      corner[k] = index[part->triangles[i][flipped ? 2 - k : k]];
      whole = whole && corner[k] >= 0;
    }
    if (whole) memcpy(out->triangles[out->triangle_count++], corner, sizeof corner);
  }
}

static TriangleSurface combined_surface(const Field* whole, int level) {
  TriangleSurface* parts = MEMORY_NEW(TriangleSurface, whole->part_count);
  int points = 0, triangles = 0;
  for (int k = 0; k < whole->part_count; k++) {
    parts[k] = field_surface(&whole->parts[k], level);
    points += parts[k].point_count;
    triangles += parts[k].triangle_count;
  }
  TriangleSurface out = surface_create(points, triangles);
  int* index = MEMORY_NEW(int, points);
  out.point_count = out.triangle_count = 0;
  for (int k = 0; k < whole->part_count; k++) {
    copy_points(whole, k, &parts[k], &out, index);
    copy_triangles(&parts[k], whole->kind == FIELD_SUBTRACTION && k == 1, &out, index);
    surface_free(&parts[k]);
  }
  memory_free(index);
  memory_free(parts);
  return out;
}

/* Moves the points of a surface along the gradient onto phi = 0. The points lie on the surfaces of the parts, and
 * smoothing displaces the surface phi = 0 from them. */
static void project_points(const Field* field, TriangleSurface* surface) {
  for (int i = 0; i < surface->point_count; i++)
    for (int step = 0; step < PROJECTION_STEPS; step++) {
      FieldValue v = field_evaluate(field, surface->points[i]);
      double square = vec3_dot(v.gradient, v.gradient);
      if (!(square > 0)) break;
      surface->points[i] = vec3_add_scaled(surface->points[i], -v.value / square, v.gradient);
    }
}

static TriangleSurface surface_of_points(const Field* field) {
  TriangleSurface out = surface_create(field->count, 0);
  memcpy(out.points, field->points, sizeof(Vec3) * (size_t)field->count);
  return out;
}

TriangleSurface field_surface(const Field* field, int level) {
  assert(level >= 0);
  TriangleSurface out;
  if (field->kind == FIELD_SHAPE)
    out = shape_surface(&field->shape, level);
  else if (field->kind == FIELD_POINTS)
    out = surface_of_points(field);
  else
    out = combined_surface(field, level);
  if (field->kind != FIELD_SHAPE) {
    Field local = *field; /* copy of the field with the identity as its pose */
    local.pose = pose_identity();
    project_points(&local, &out);
  }
  for (int i = 0; i < out.point_count; i++) out.points[i] = pose_apply(field->pose, out.points[i]);
  return out;
}

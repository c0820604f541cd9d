/* Convex polyhedra, the convex hulls of their vertices. */
#include <string.h>
#include "model/build.h"

void place_hull(ModelHull* hull, const ConvexHull* piece, Pose pose) {
  ConvexHull* solid = &hull->solid;
  *solid = (ConvexHull){.vertex_count = piece->vertex_count, .triangle_count = piece->triangle_count};
  solid->vertices = MEMORY_NEW(Vec3, piece->vertex_count);
  solid->triangles = memory_alloc(sizeof *piece->triangles * (size_t)piece->triangle_count);
  for (int i = 0; i < piece->vertex_count; i++) solid->vertices[i] = pose_apply(pose, piece->vertices[i]);
  memcpy(solid->triangles, piece->triangles, sizeof *piece->triangles * (size_t)piece->triangle_count);
  hull->kind = &SOLID_HULL;
  hull->points = point_view_create(solid->vertices, solid->vertex_count);
  Vec3 low = solid->vertices[0], high = low;
  for (int i = 1; i < solid->vertex_count; i++) {
    low = vec3_min(low, solid->vertices[i]);
    high = vec3_max(high, solid->vertices[i]);
  }
  hull->center = vec3_scale(vec3_add(low, high), 0.5);
  hull->half_extent = vec3_scale(vec3_sub(high, low), 0.5);
  for (int i = 0; i < solid->vertex_count; i++)
    hull->radius = fmax(hull->radius, vec3_norm(vec3_sub(solid->vertices[i], hull->center)));
}

static double support(const ModelHull* hull, Vec3 direction, int* vertex) {
  double height;
  *vertex = support_index(hull->points, direction, &height);
  return height;
}

static MassMoment moment(const ModelHull* hull) { return mass_moment_solid(&hull->solid); }
static double thickness(const ModelHull* hull) { return hull_feature(&hull->solid); }

const SolidKind SOLID_HULL = {true, support, moment, thickness};

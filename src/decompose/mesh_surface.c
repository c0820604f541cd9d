/* Computes the repaired surface of a mesh, for rendering and for exported triangles. */
#include <string.h>

#include "decompose/mesh_repair.h"

bool mesh_surface(ConvexHull* surface, MeshCondition* condition, const Mesh* mesh) {
  Part solid;
  UnitFrame frame;
  MeshCondition unused;
  bool usable = mesh_repair(mesh, &solid, &frame, condition ? condition : &unused);
  *surface = (ConvexHull){0};
  if (usable) {
    *surface = (ConvexHull){.vertex_count = solid.point_count, .triangle_count = solid.triangle_count};
    surface->vertices = MEMORY_NEW(Vec3, solid.point_count);
    surface->triangles = memory_alloc(sizeof *surface->triangles * (size_t)solid.triangle_count);
    for (int i = 0; i < solid.point_count; i++)
      surface->vertices[i] = vec3_add_scaled(frame.center, frame.scale, solid.points[i]);
    memcpy(surface->triangles, solid.triangles, sizeof *surface->triangles * (size_t)solid.triangle_count);
  }
  part_free(&solid);
  return usable;
}

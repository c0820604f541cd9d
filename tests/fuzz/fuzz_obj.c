/* libFuzzer target: any bytes give a consistent mesh or an error with a place; a small mesh also gets its hull. */
#include "fuzz/fuzzing.h"
#include "geometry/geometry.h"

/* Qhull on thousands of points would only slow the search down. */
#define HULL_POINTS_MAX 64

static void check_mesh(const Mesh* mesh) {
  require(mesh->face_count > 0 && mesh->face_first[0] == 0);
  require(mesh->face_first[mesh->face_count] == mesh->corner_count);
  for (int i = 0; i < mesh->face_count; i++) {
    require(mesh->face_first[i + 1] - mesh->face_first[i] >= 3);
    require(mesh->face_line[i] >= 1);
  }
  for (int i = 0; i < mesh->corner_count; i++)
    require(mesh->corners[i] >= 0 && mesh->corners[i] < mesh->position_count);
  for (int i = 0; i < mesh->position_count; i++)
    require(isfinite(mesh->positions[i].x) && isfinite(mesh->positions[i].y) && isfinite(mesh->positions[i].z));
  int next = 0;
  for (int i = 0; i < mesh->group_count; i++) {
    require(mesh->groups[i].name && mesh->groups[i].first_face == next && mesh->groups[i].face_count > 0);
    next += mesh->groups[i].face_count;
  }
  require(next == mesh->face_count);
}

static void check_hull(const Mesh* mesh) {
  ConvexHull hull;
  HullResult result = hull_create(&hull, mesh->positions, mesh->position_count);
  require((result == HULL_OK) == (hull.vertex_count >= 4));
  require(result != HULL_OK || hull.triangle_count == 2 * hull.vertex_count - 4);
  hull_free(&hull);
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  Mesh mesh;
  Diagnostics diagnostics = {0};
  Status status = mesh_parse_obj(&mesh, "fuzz.obj", (const char*)data, size, 1.0, &diagnostics);
  if (status == STATUS_OK) {
    require(diagnostics.error_count == 0);
    check_mesh(&mesh);
    if (mesh.position_count <= HULL_POINTS_MAX) check_hull(&mesh);
  } else {
    require(status == STATUS_BAD_INPUT && diagnostics.error_count > 0 && diagnostics.error_count <= 20);
    for (int i = 0; i < diagnostics.count; i++) require(diagnostics.items[i].line >= 1);
    require(mesh.position_count == 0 && mesh.face_count == 0);
  }
  mesh_free(&mesh);
  diagnostics_free(&diagnostics);
  return 0;
}

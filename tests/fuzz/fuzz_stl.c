/* libFuzzer target: any bytes as STL, text or binary, give a consistent mesh or an error. */
#include "fuzz/fuzzing.h"
#include "geometry/geometry.h"

static void check_mesh(const Mesh* mesh) {
  require(mesh->face_count > 0 && mesh->face_first[0] == 0);
  require(mesh->face_first[mesh->face_count] == mesh->corner_count);
  for (int i = 0; i < mesh->face_count; i++) {
    require(mesh->face_first[i + 1] - mesh->face_first[i] == 3);
    require(mesh->face_line[i] >= 0);
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

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  Mesh mesh;
  Diagnostics diagnostics = {0};
  Status status = mesh_parse_stl(&mesh, "fuzz.stl", (const char*)data, size, 1.0, &diagnostics);
  if (status == STATUS_OK) {
    require(diagnostics.error_count == 0);
    check_mesh(&mesh);
  } else {
    require(status == STATUS_BAD_INPUT && diagnostics.error_count > 0 && diagnostics.error_count <= 20);
    require(mesh.position_count == 0 && mesh.face_count == 0);
  }
  mesh_free(&mesh);
  diagnostics_free(&diagnostics);
  return 0;
}

/* Helpers of the decomposition tests: meshes of prisms over a polygon, and point lattices. */
#ifndef SDRS_TESTS_DECOMPOSE_TESTING_H
#define SDRS_TESTS_DECOMPOSE_TESTING_H

#include "decompose/decompose.h"
#include "unit/geometry/geometry_testing.h"

/* A prism from z = 0 to 1 over a polygon, counter-clockwise, with one face for each cap. */
static inline Mesh prism_mesh(const double (*corners)[2], int count) {
  Text text = {0};
  Diagnostics diagnostics = {0};
  Mesh mesh;
  for (int z = 0; z < 2; z++)
    for (int i = 0; i < count; i++) text_add(&text, "v %.17g %.17g %d\n", corners[i][0], corners[i][1], z);
  text_add(&text, "f");
  for (int i = count; i >= 1; i--) text_add(&text, " %d", i);
  text_add(&text, "\nf");
  for (int i = 1; i <= count; i++) text_add(&text, " %d", count + i);
  text_add(&text, "\n");
  for (int i = 1; i <= count; i++) {
    int j = i % count + 1;
    text_add(&text, "f %d %d %d %d\n", i, j, count + j, count + i);
  }
  assert_int_equal(mesh_parse_obj(&mesh, "prism", text.data, text.length, 1.0, &diagnostics), STATUS_OK);
  text_free(&text);
  diagnostics_free(&diagnostics);
  return mesh;
}

static inline Mesh mesh_of_text(const char* text) {
  Diagnostics diagnostics = {0};
  Mesh mesh;
  assert_int_equal(mesh_parse_obj(&mesh, "text", text, strlen(text), 1.0, &diagnostics), STATUS_OK);
  diagnostics_free(&diagnostics);
  return mesh;
}

/* A box as a surface of its own, added to the text of a mesh that has `boxes` of them so far. */
static inline void add_box(Text* text, int boxes, Vec3 low, Vec3 high) {
  static const char* const FACES[6] = {"4 3 2 1", "5 6 7 8", "1 2 6 5", "2 3 7 6", "3 4 8 7", "4 1 5 8"};
  for (int i = 0; i < 8; i++)
    text_add(text, "v %.17g %.17g %.17g\n", ((i + 1) / 2 % 2) ? high.x : low.x, (i / 2 % 2) ? high.y : low.y,
             i >= 4 ? high.z : low.z);
  for (int f = 0; f < 6; f++) {
    text_add(text, "f");
    for (const char* c = FACES[f]; *c; c++)
      if (*c != ' ') text_add(text, " %d", 8 * boxes + *c - '0');
    text_add(text, "\n");
  }
}

/* Crossing number of a ray from the point to the right. */
static inline bool in_polygon(const double (*corners)[2], int count, double x, double y) {
  bool inside = false;
  for (int i = 0, j = count - 1; i < count; j = i++) {
    double yi = corners[i][1], yj = corners[j][1];
    if ((yi > y) == (yj > y)) continue;
    if (x < corners[i][0] + (y - yi) / (yj - yi) * (corners[j][0] - corners[i][0])) inside = !inside;
  }
  return inside;
}

/* Inside all faces, by signed volumes of tetrahedra. */
static inline bool in_hull(const ConvexHull* hull, Vec3 p, double slack) {
  for (int t = 0; t < hull->triangle_count; t++) {
    Vec3 a = hull->vertices[hull->triangles[t][0]];
    Vec3 n = vec3_cross(vec3_sub(hull->vertices[hull->triangles[t][1]], a),
                        vec3_sub(hull->vertices[hull->triangles[t][2]], a));
    if (vec3_dot(n, vec3_sub(p, a)) > slack * vec3_norm(n)) return false;
  }
  return true;
}

static const char CUBE[] =
    "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nv 0 0 1\nv 1 0 1\nv 1 1 1\nv 0 1 1\n"
    "f 4 3 2 1\nf 5 6 7 8\nf 1 2 6 5\nf 2 3 7 6\nf 3 4 8 7\nf 4 1 5 8\n";

#endif

/* Tests merged flat faces of hulls against the known face numbers of solids. Edges and triangles satisfy Euler's
 * formula. */
#include "geometry_testing.h"

static void expect_faces(const Vec3* points, int count, int faces, const char* what) {
  ConvexHull hull;
  FlatFaces found;
  assert_int_equal(hull_create(&hull, points, count), HULL_OK);
  flat_faces_create(&found, &hull);
  if (found.count != faces) fail_msg("%s: %d faces, expected %d", what, found.count, faces);
  int edges = found.edge_first[found.count];
  assert_int_equal(hull.vertex_count - edges / 2 + faces, 2); /* each edge stands once in each of its two faces */
  for (int f = 0; f < faces; f++)
    assert_int_equal(found.edge_first[f + 1] - found.edge_first[f], found.corner_first[f + 1] - found.corner_first[f]);
  flat_faces_free(&found);
  hull_free(&hull);
}

static void boxes_have_six(void** state) {
  (void)state;
  Vec3 points[8], turned[8];
  Mat3 turn = mat3_from_quat(quat_about(vec3(0.6, 0, 0.8), 0.7));
  for (int i = 0; i < 8; i++) points[i] = vec3(i & 1 ? 2 : -1, i & 2 ? 0.3 : 0, i & 4 ? 5 : 4);
  for (int i = 0; i < 8; i++) turned[i] = vec3_add(mat3_mul_vec(turn, points[i]), vec3(10, 20, 30));
  expect_faces(points, 8, 6, "a box");
  expect_faces(turned, 8, 6, "a box turned and moved");
}

static void prisms_have_two_and_their_sides(void** state) {
  (void)state;
  for (int n = 3; n <= 40; n++) {
    Vec3 points[80];
    for (int i = 0; i < n; i++) {
      double angle = 2 * M_PI * i / n;
      points[2 * i] = vec3(cos(angle), sin(angle), -1);
      points[2 * i + 1] = vec3(cos(angle), sin(angle), 1);
    }
    expect_faces(points, 2 * n, n + 2, "a prism");
  }
}

static void a_bend_parts_faces(void** state) {
  (void)state;
  Vec3 points[8];
  for (int i = 0; i < 8; i++) points[i] = vec3(i & 1, i & 2 ? 1 : 0, i & 4 ? 1 : 0);
  points[7].z += 1e-6; /* the three faces at this corner */
  points[7].x += 1e-6;
  points[7].y += 1e-6;
  expect_faces(points, 8, 9, "a box with a corner pulled out");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(boxes_have_six),
      cmocka_unit_test(prisms_have_two_and_their_sides),
      cmocka_unit_test(a_bend_parts_faces),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

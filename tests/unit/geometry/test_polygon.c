#include "geometry/geometry.h"
#include "geometry_testing.h"

static double signed_area(const Vec3* points, const int* t, Vec3 normal) {
  return 0.5 * vec3_dot(normal, vec3_cross(vec3_sub(points[t[1]], points[t[0]]), vec3_sub(points[t[2]], points[t[0]])));
}

/* Returns the area by the shoelace formula. */
static double polygon_area(const Vec3* points, const int* corners, int count, Vec3 normal) {
  Vec3 sum = {0, 0, 0};
  for (int i = 0; i < count; i++) sum = vec3_add(sum, vec3_cross(points[corners[i]], points[corners[(i + 1) % count]]));
  return 0.5 * vec3_dot(sum, normal);
}

/* Triangles of one sense whose areas add up to the polygon's do not overlap and leave nothing out. */
static void check_cut(const Vec3* points, const int* corners, int count, Vec3 normal) {
  int triangles[64][3];
  assert_int_equal(polygon_triangulate(points, corners, count, normal, triangles), count - 2);
  double want = polygon_area(points, corners, count, normal), sum = 0;
  assert_true(want > 0);
  for (int i = 0; i < count - 2; i++) {
    double part = signed_area(points, triangles[i], normal);
    assert_true(part >= -1e-15 * want);
    sum += part;
  }
  assert_close(sum, want, 1e-13 * want);
}

static void convex_and_concave_polygons(void** state) {
  (void)state;
  const Vec3 normal = {0, 0, 1};
  const Vec3 u[] = {{0, 0, 0}, {3, 0, 0}, {3, 2, 0}, {2, 2, 0}, {2, 1, 0}, {1, 1, 0}, {1, 2, 0}, {0, 2, 0}};
  const Vec3 arrow[] = {{0, 0, 0}, {2, 1, 0}, {0, 2, 0}, {0.5, 1, 0}};
  const Vec3 straight[] = {{0, 0, 0}, {1, 0, 0}, {2, 0, 0}, {2, 1, 0}, {2, 2, 0}, {1, 2, 0}, {0, 2, 0}, {0, 1, 0}};
  const int order[] = {0, 1, 2, 3, 4, 5, 6, 7};
  for (int start = 0; start < 8; start++) {
    int turned[8], turned4[4];
    for (int i = 0; i < 8; i++) turned[i] = (i + start) % 8;
    for (int i = 0; i < 4; i++) turned4[i] = (i + start) % 4;
    check_cut(u, turned, 8, normal);
    check_cut(straight, turned, 8, normal);
    check_cut(arrow, turned4, 4, normal);
  }
  check_cut(u, order, 8, normal);
}

/* Star-shaped polygons in a random plane: as concave as a simple polygon without holes easily gets. */
static void random_stars(void** state) {
  (void)state;
  Random random = {61};
  for (int trial = 0; trial < 2000; trial++) {
    int count = 3 + (int)(random_bits(&random) % 40), corners[64];
    Vec3 points[64];
    Pose pose = random_pose(&random, 1);
    for (int i = 0; i < count; i++) {
      double angle = 6.283185307179586 * i / count, radius = random_uniform(&random, 0.1, 1);
      points[i] = pose_apply(pose, vec3(radius * cos(angle), radius * sin(angle), 0));
      corners[i] = i;
    }
    check_cut(points, corners, count, mat3_mul_vec(pose.r, vec3(0, 0, 1)));
  }
}

static void crossing_and_degenerate_polygons_end(void** state) {
  (void)state;
  const Vec3 points[] = {{0, 0, 0}, {1, 1, 0}, {1, 0, 0}, {0, 1, 0}, {0, 1, 0}, {0, 0, 0}};
  const int corners[] = {0, 1, 2, 3, 4, 5};
  int triangles[8][3];
  for (int count = 0; count <= 6; count++)
    assert_int_equal(polygon_triangulate(points, corners, count, vec3(0, 0, 1), triangles), count < 3 ? 0 : count - 2);
  const int same[] = {2, 2, 2, 2, 2};
  assert_int_equal(polygon_triangulate(points, same, 5, vec3(0, 0, 1), triangles), 3);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(convex_and_concave_polygons),
      cmocka_unit_test(random_stars),
      cmocka_unit_test(crossing_and_degenerate_polygons_end),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

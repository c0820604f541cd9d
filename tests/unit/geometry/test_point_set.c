#include "geometry/point_set.h"
#include "geometry_testing.h"

static void spread_corners_of_a_box(void** state) {
  (void)state;
  Random random = {81};
  for (int trial = 0; trial < 100; trial++) {
    Vec3 size = {1, 0.5, random_uniform(&random, 1e-3, 0.4)}, points[8];
    Pose pose = random_pose(&random, 10);
    for (int i = 0; i < 8; i++)
      points[i] = pose_apply(pose, vec3(i & 1 ? size.x : 0, i & 2 ? size.y : 0, i & 4 ? size.z : 0));
    PointExtent spread = compute_extent(points, 8);
    assert_close(spread.diameter, vec3_norm(size), 1e-13); /* the space diagonal */
    assert_true(spread.height >= 0.5 * size.z && spread.height <= 1.1 * size.y);
    assert_close(vec3_norm(spread.normal), 1, 1e-14);
    for (int i = 0; i < 8; i++) /* no point is farther from the plane */
      assert_true(fabs(vec3_dot(spread.normal, vec3_sub(points[i], points[spread.corner[0]]))) <=
                  spread.height + 1e-13);
  }
}

static void spread_of_less_than_a_solid(void** state) {
  (void)state;
  const Vec3 same[] = {{1, 2, 3}, {1, 2, 3}}, line[] = {{0, 0, 0}, {1, 1, 1}, {3, 3, 3}};
  const Vec3 flat[] = {{0, 0, 1}, {1, 0, 1}, {0, 2, 1}, {1, 2, 1}};
  assert_close(compute_extent(same, 2).diameter, 0, 0);
  assert_close(compute_extent(line, 3).diameter, sqrt(27), 1e-15);
  assert_close(compute_extent(line, 3).height, 0, 1e-15);
  assert_close(compute_extent(flat, 4).height, 0, 1e-15);
  assert_close(fabs(compute_extent(flat, 4).normal.z), 1, 1e-15);
}

static void a_normalised_set_keeps_the_first_of_equal_points(void** state) {
  (void)state;
  const Vec3 points[] = {{10, 20, 30}, {14, 20, 30}, {10, 20, 30}, {10, 22, 30}, {14, 20, 30}, {10, 20, 31}};
  const int source[] = {0, 1, 3, 5};
  NormalizedSet set;
  assert_int_equal(normalized_set_create(&set, points, 6), HULL_OK);
  assert_int_equal(set.count, 4);
  assert_close(set.factor, 0.5, 0); /* half of the largest side is 2 */
  for (int i = 0; i < 4; i++) {
    assert_int_equal(set.source[i], source[i]);
    Vec3 back = vec3_add(set.center, vec3_scale(set.points[i], 1 / set.factor));
    assert_vec3_close(back, points[source[i]], 0);
    assert_true(fabs(set.points[i].x) <= 1 && fabs(set.points[i].y) <= 1 && fabs(set.points[i].z) <= 1);
  }
  normalized_set_free(&set);
}

static void extreme_coordinates_do_not_overflow(void** state) {
  (void)state;
  for (int exponent = -300; exponent <= 300; exponent += 50) {
    double s = pow(10, exponent);
    const Vec3 points[] = {{-s, -s, -s}, {s, 0, 0}, {0, s, 0}, {0, 0, s}};
    NormalizedSet set;
    assert_int_equal(normalized_set_create(&set, points, 4), HULL_OK);
    normalized_set_free(&set);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(spread_corners_of_a_box),
      cmocka_unit_test(spread_of_less_than_a_solid),
      cmocka_unit_test(a_normalised_set_keeps_the_first_of_equal_points),
      cmocka_unit_test(extreme_coordinates_do_not_overflow),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Tests volume estimates of convex hulls against closed forms and against the hull of all points. */
#include "decompose/hull_estimate.h"

#include "unit/decompose/decompose_testing.h"

static void a_box_with_inner_points_is_exact(void** state) {
  (void)state;
  Random random = {5};
  Vec3 points[400];
  for (int i = 0; i < COUNT(points); i++)
    points[i] = i < 8 ? vec3(i & 1, i >> 1 & 1, i >> 2) : vec3_scale(random_vector(&random, 0.4), 1.0);
  for (int i = 8; i < COUNT(points); i++) points[i] = vec3_add(points[i], vec3(0.5, 0.5, 0.5));
  assert_close(hull_estimate(points, COUNT(points)).volume, 1.0, 1e-12);
  assert_close(hull_volume_bound(points, COUNT(points)), 1.0, 1e-12);
}

static void volumes_agree_with_the_hull(void** state) {
  (void)state;
  Random random = {11};
  for (int round = 0; round < 20; round++) {
    Vec3 points[60];
    for (int i = 0; i < COUNT(points); i++) points[i] = random_vector(&random, 1.0);
    ConvexHull hull;
    assert_int_equal(hull_create(&hull, points, COUNT(points)), HULL_OK);
    assert_close(points_volume(points, COUNT(points)), mass_moment_solid(&hull).s[3][3], 1e-12);
    hull_free(&hull);
  }
}

static void flat_points_have_no_volume(void** state) {
  (void)state;
  Vec3 points[10];
  for (int i = 0; i < COUNT(points); i++) points[i] = vec3(i, i * i, 3);
  assert_close(points_volume(points, COUNT(points)), 0, 1e-12);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_box_with_inner_points_is_exact),
      cmocka_unit_test(volumes_agree_with_the_hull),
      cmocka_unit_test(flat_points_have_no_volume),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

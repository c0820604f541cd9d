#include "fixture.h"
#include "model/build.h"

static double feature_of(const Vec3* points, int count) {
  ConvexHull hull;
  assert_int_equal(hull_create(&hull, points, count), HULL_OK);
  double feature = hull_feature(&hull);
  hull_free(&hull);
  return feature;
}

static void feature_R3_of_a_box_is_its_least_edge(void** state) {
  (void)state;
  ConvexHull hull;
  primitive_box(&hull, vec3(0.3, 0.2, 0.7));
  check_near(hull_feature(&hull), 0.2, 1e-15, "box");
  hull_free(&hull);
  primitive_box(&hull, vec3(2, 1e-3, 3));
  check_near(hull_feature(&hull), 1e-3, 1e-15, "plate");
  hull_free(&hull);
}

/* For any body around an inscribed sphere, 6 V / A is that sphere's diameter: edge / sqrt 6 for the tetrahedron, less
 * than its height edge sqrt(2/3). */
static void feature_R3_of_a_tetrahedron_is_its_inscribed_sphere(void** state) {
  (void)state;
  const Vec3 points[4] = {{1, 1, 1}, {1, -1, -1}, {-1, 1, -1}, {-1, -1, 1}};
  check_near(feature_of(points, 4), sqrt(8) / sqrt(6), 1e-14, "tetrahedron");
}

/* A fine sphere's feature nears its diameter from below, at second order in the mesh size. */
static void feature_R3_of_a_sphere_nears_its_diameter(void** state) {
  (void)state;
  double error[2];
  for (int level = 1; level <= 2; level++) {
    ConvexHull hull;
    primitive_sphere(&hull, 0.5, level);
    error[level - 1] = 1 - hull_feature(&hull);
    hull_free(&hull);
  }
  assert_true(error[0] > 0 && error[0] < 0.12 && error[1] > 0);
  check_near(error[0] / error[1], 4, 0.5, "error ratio");
}

/* Beyond the work bound not every face is looked at: still the thickness of a fine disc. */
static void feature_R3_of_a_hull_with_many_vertices(void** state) {
  (void)state;
  ConvexHull hull;
  primitive_cylinder(&hull, 1, 0.05, 2500);
  double start = timer_now();
  check_near(hull_feature(&hull), 0.05, 1e-12, "disc of 5000 vertices");
  assert_true(timer_now() - start < 5);
  hull_free(&hull);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(feature_R3_of_a_box_is_its_least_edge),
      cmocka_unit_test(feature_R3_of_a_tetrahedron_is_its_inscribed_sphere),
      cmocka_unit_test(feature_R3_of_a_sphere_nears_its_diameter),
      cmocka_unit_test(feature_R3_of_a_hull_with_many_vertices),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

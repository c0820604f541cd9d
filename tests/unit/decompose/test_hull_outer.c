/* Tests outer simplification of hulls: the simplified hull contains the original, and its volume grows little. */
#include "decompose/blocks.h"
#include "unit/decompose/decompose_testing.h"

static void check_thinned(int max_vertices, double most_volume) {
  ConvexHull sphere, thin;
  assert_int_equal(primitive_sphere(&sphere, 1.0, 3), HULL_OK);
  assert_int_equal(primitive_sphere(&thin, 1.0, 3), HULL_OK);
  assert_int_equal(hull_outer_mirrored(&thin, 0, max_vertices, NULL), HULL_OK);
  assert_true(thin.vertex_count <= max_vertices);
  for (int i = 0; i < sphere.vertex_count; i++) assert_true(in_hull(&thin, sphere.vertices[i], 1e-9));
  double volume = mass_moment_solid(&thin).s[3][3];
  assert_true(volume < most_volume * 4.18879020478639);
  hull_free(&sphere);
  hull_free(&thin);
}

static void a_sphere_of_64_vertices_holds_the_sphere(void** state) {
  (void)state;
  check_thinned(64, 1.10);
}

static void a_sphere_of_8_vertices_holds_the_sphere(void** state) {
  (void)state;
  check_thinned(8, 3.0);
}

static void few_vertices_stay_as_they_are(void** state) {
  (void)state;
  ConvexHull box;
  assert_int_equal(primitive_box(&box, vec3(1, 2, 3)), HULL_OK);
  assert_int_equal(hull_outer_mirrored(&box, 0, 8, NULL), HULL_OK);
  assert_close(mass_moment_solid(&box).s[3][3], 6.0, 1e-12);
  hull_free(&box);
}

/* Hulls are simplified on one side of their mirror planes. Every mirror image of a corner must be a corner, bit for
 * bit. The factor 1.10 is the limit of the sphere above without symmetry. */
static void a_symmetric_sphere_stays_symmetric(void** state) {
  (void)state;
  ConvexHull sphere, thin;
  assert_int_equal(primitive_sphere(&sphere, 0.5, 3), HULL_OK);
  assert_int_equal(primitive_sphere(&thin, 0.5, 3), HULL_OK);
  assert_int_equal(hull_outer_mirrored(&thin, 7, 64, NULL), HULL_OK);
  assert_true(thin.vertex_count <= 64);
  for (int i = 0; i < sphere.vertex_count; i++) assert_true(in_hull(&thin, sphere.vertices[i], 1e-9));
  for (int i = 0; i < thin.vertex_count; i++)
    for (int which = 1; which < 8; which++) {
      Vec3 image = vec3_mirrored(thin.vertices[i], which);
      bool found = false;
      for (int k = 0; k < thin.vertex_count; k++) {
        Vec3 v = thin.vertices[k];
        found |= v.x == image.x && v.y == image.y && v.z == image.z;
      }
      assert_true(found);
    }
  double volume = mass_moment_solid(&thin).s[3][3];
  assert_true(volume > 0.125 * 4.0 && volume < 1.10 * 0.125 * 4.18879020478639);
  hull_free(&sphere);
  hull_free(&thin);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_sphere_of_64_vertices_holds_the_sphere),
      cmocka_unit_test(a_sphere_of_8_vertices_holds_the_sphere),
      cmocka_unit_test(few_vertices_stay_as_they_are),
      cmocka_unit_test(a_symmetric_sphere_stays_symmetric),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

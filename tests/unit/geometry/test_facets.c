#include "geometry/facets.h"
#include "geometry_testing.h"

/* A box with points on its faces and edges, anywhere: six facets of four corners, whose planes are the box's. */
static void a_box_has_six_facets(void** state) {
  (void)state;
  Random random = {91};
  for (int trial = 0; trial < 100; trial++) {
    double scale = pow(10, random_uniform(&random, -6, 6));
    Vec3 half = vec3_scale(vec3(1, 0.6, 0.3), scale), points[27];
    Pose pose = random_pose(&random, scale);
    for (int i = 0; i < 27; i++) {
      int x = i % 3 - 1, y = i / 3 % 3 - 1, z = i / 9 - 1;
      points[i] = pose_apply(pose, vec3(x * half.x, y * half.y, z * half.z));
    }
    Facets facets;
    assert_int_equal(facets_create(&facets, points, 27), HULL_OK);
    assert_int_equal(facets.facet_count, 6);
    for (int f = 0; f < 6; f++) {
      assert_int_equal(facets.first[f + 1] - facets.first[f], 4);
      const double* plane = facets.planes[f];
      Vec3 normal = vec3(plane[0], plane[1], plane[2]), local = mat3_tmul_vec(pose.r, normal);
      double reach = fabs(local.x) * half.x + fabs(local.y) * half.y + fabs(local.z) * half.z;
      assert_close(fmax(fabs(local.x), fmax(fabs(local.y), fabs(local.z))), 1, 1e-14);
      assert_close(plane[3], -reach - vec3_dot(normal, pose.t), 1e-13 * scale);
      const int* c = facets.corners + facets.first[f];
      Vec3 turn = vec3_cross(vec3_sub(points[c[1]], points[c[0]]), vec3_sub(points[c[2]], points[c[0]]));
      assert_true(vec3_dot(turn, normal) > 0);
    }
    int triangles[12][3];
    assert_int_equal(facets_triangles(&facets, points, triangles), 12);
    facets_free(&facets);
  }
}

static void planes_hold_all_points(void** state) {
  (void)state;
  Random random = {92};
  Vec3 points[100];
  for (int trial = 0; trial < 100; trial++) {
    for (int i = 0; i < 100; i++) points[i] = random_vector(&random, 1);
    Facets facets;
    assert_int_equal(facets_create(&facets, points, 100), HULL_OK);
    for (int f = 0; f < facets.facet_count; f++) {
      const double* plane = facets.planes[f];
      for (int i = 0; i < 100; i++)
        assert_true(vec3_dot(vec3(plane[0], plane[1], plane[2]), points[i]) + plane[3] <= 1e-13);
    }
    facets_free(&facets);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_box_has_six_facets),
      cmocka_unit_test(planes_hold_all_points),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

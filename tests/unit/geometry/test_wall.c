#include "geometry_testing.h"

static ConvexHull plate(double x, double y, double z, Vec3 center, Pose pose) {
  ConvexHull hull;
  assert_int_equal(primitive_box(&hull, vec3(x, y, z)), HULL_OK);
  for (int i = 0; i < 8; i++) hull.vertices[i] = pose_apply(pose, vec3_add(center, hull.vertices[i]));
  return hull;
}

/* A tray in a general rotation has a floor of 3 and walls of 2, 4, 5 and 6. The smallest wall thickness is 2. */
static void walls_of_a_tray_U5(void** state) {
  (void)state;
  Random random = {3};
  for (int trial = 0; trial < 5; trial++) {
    Pose pose = random_pose(&random, 50);
    ConvexHull hulls[5] = {plate(100, 80, 3, vec3(0, 0, 0), pose), plate(2, 80, 30, vec3(-49, 0, 13.5), pose),
                           plate(4, 80, 30, vec3(48, 0, 13.5), pose), plate(100, 5, 30, vec3(0, -37.5, 13.5), pose),
                           plate(100, 6, 30, vec3(0, 37, 13.5), pose)};
    TriangleSurface tray;
    double snap, spacing, again;
    assert_int_equal(hulls_union(&tray, &snap, hulls, 5), UNION_OK);
    double thickness = surface_thickness(&tray, 4096, 1, &spacing);
    assert_close(thickness, 2, 10 * snap);
    double area = spacing * spacing * 4096; /* outside and inside of floor and walls, rims */
    assert_close(area, 2 * 100 * 80 + 2 * 30 * (100 + 80) + 2 * 27 * (94 + 69), 1);
    assert_true(surface_thickness(&tray, 4096, 3, &again) == thickness);
    surface_free(&tray);
    for (int h = 0; h < 5; h++) hull_free(&hulls[h]);
  }
}

/* A slab whose upper face leans by 20 degrees is thinnest at its thin end: found to spacing tan 30. One that leans by
 * 40 degrees has no walls but the sides, which are parallel. */
static void a_wedge_is_a_wall_up_to_30_degrees(void** state) {
  (void)state;
  for (int k = 0; k < 2; k++) {
    double lean = (k == 0 ? 20 : 40) * 3.14159265358979323846 / 180, rise = 10 * tan(lean);
    const Vec3 points[8] = {{0, 0, 0}, {10, 0, 0}, {0, 50, 0},        {10, 50, 0},
                            {0, 0, 1}, {0, 50, 1}, {10, 0, 1 + rise}, {10, 50, 1 + rise}};
    ConvexHull hull;
    assert_int_equal(hull_create(&hull, points, 8), HULL_OK);
    TriangleSurface slab = {hull.vertices, hull.vertex_count, hull.triangles, hull.triangle_count};
    double spacing, thickness = surface_thickness(&slab, 20000, 1, &spacing);
    if (k == 0) {
      assert_true(thickness > 1 * cos(lean) - 1e-9 && thickness < 1 + spacing * tan(3.14159265358979323846 / 6));
    } else {
      assert_close(thickness, 10, 1e-9); /* from the short side to the long one */
    }
    hull_free(&hull);
  }
}

static void a_tetrahedron_has_no_walls(void** state) {
  (void)state;
  const Vec3 points[4] = {{1, 1, 1}, {1, -1, -1}, {-1, 1, -1}, {-1, -1, 1}};
  ConvexHull hull;
  assert_int_equal(hull_create(&hull, points, 4), HULL_OK);
  TriangleSurface solid = {hull.vertices, hull.vertex_count, hull.triangles, hull.triangle_count};
  double spacing;
  assert_true(surface_thickness(&solid, 4096, 1, &spacing) == HUGE_VAL);
  hull_free(&hull);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(walls_of_a_tray_U5),
      cmocka_unit_test(a_wedge_is_a_wall_up_to_30_degrees),
      cmocka_unit_test(a_tetrahedron_has_no_walls),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

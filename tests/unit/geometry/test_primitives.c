#include "geometry_testing.h"

#define PI 3.14159265358979323846

static void boxes(void** state) {
  (void)state;
  static const Vec3 sizes[] = {{1, 1, 1}, {100, 100, 1}, {1e-3, 2e-3, 3e-3}, {2, 0.4, 0.2}, {1, 1, 1e-6}};
  for (int i = 0; i < COUNT(sizes); i++) {
    Vec3 s = sizes[i];
    ConvexHull hull;
    assert_int_equal(primitive_box(&hull, s), HULL_OK);
    assert_int_equal(hull.vertex_count, 8);
    assert_int_equal(hull.triangle_count, 12);
    check_hull_surface(&hull);
    assert_close(volume_by_flux(&hull), s.x * s.y * s.z, 1e-14 * s.x * s.y * s.z);
    for (int k = 0; k < 8; k++) {
      assert_true(fabs(hull.vertices[k].x) == 0.5 * s.x && fabs(hull.vertices[k].y) == 0.5 * s.y);
      assert_true(fabs(hull.vertices[k].z) == 0.5 * s.z);
    }
    hull_free(&hull);
  }
  ConvexHull hull;
  assert_int_equal(primitive_box(&hull, vec3(1, 1, 0)), HULL_FLAT);
  assert_int_equal(primitive_box(&hull, vec3(1, 1, (double)NAN)), HULL_FAILED);
}

/* Vertices on the sphere; the inradius of the icosahedron and the volume's approach to the ball's are known. */
static void spheres(void** state) {
  (void)state;
  static const int vertices[] = {12, 42, 162, 642, 2562};
  double last = 0;
  for (int resolution = 0; resolution < COUNT(vertices); resolution++) {
    ConvexHull hull;
    double radius = 0.3, ball = 4.0 / 3.0 * PI * radius * radius * radius;
    assert_int_equal(primitive_sphere(&hull, radius, resolution), HULL_OK);
    assert_int_equal(hull.vertex_count, vertices[resolution]);
    assert_int_equal(hull.triangle_count, 2 * vertices[resolution] - 4);
    check_hull_surface(&hull);
    for (int i = 0; i < hull.vertex_count; i++) assert_close(vec3_norm(hull.vertices[i]), radius, 1e-15);
    double volume = volume_by_flux(&hull);
    if (resolution == 0) { /* 5/12 (3 + sqrt 5) a^3 with circumradius a/4 sqrt(10 + 2 sqrt 5) */
      double a = 4 * radius / sqrt(10 + 2 * sqrt(5));
      assert_close(volume, 5.0 / 12.0 * (3 + sqrt(5)) * a * a * a, 1e-15);
    }
    if (resolution > 1) assert_close((ball - volume) / (ball - last), 0.25, 0.05); /* second order in the edge */
    last = volume;
    hull_free(&hull);
  }
  ConvexHull hull;
  assert_int_equal(primitive_sphere(&hull, 1, -1), HULL_FAILED);
  assert_int_equal(primitive_sphere(&hull, 1, 100), HULL_FAILED);
  assert_int_equal(primitive_sphere(&hull, 0, 1), HULL_TOO_FEW_POINTS);
}

/* Without Qhull the same vertices to the bit, in the same order. */
static void points_of_spheres_are_their_vertices(void** state) {
  (void)state;
  for (int resolution = 0; resolution < 5; resolution++) {
    ConvexHull hull;
    int count;
    Vec3* points = primitive_sphere_points(resolution, &count);
    assert_int_equal(primitive_sphere(&hull, 1, resolution), HULL_OK);
    assert_int_equal(count, hull.vertex_count);
    assert_memory_equal(points, hull.vertices, sizeof(Vec3) * (size_t)count);
    memory_free(points);
    hull_free(&hull);
  }
  int none;
  assert_null(primitive_sphere_points(-1, &none));
  assert_null(primitive_sphere_points(7, &none));
  assert_int_equal(none, 0);
}

static void cylinders(void** state) {
  (void)state;
  static const int segments[] = {3, 4, 7, 8, 16, 64, 500};
  for (int i = 0; i < COUNT(segments); i++) {
    int n = segments[i];
    double radius = 0.2, length = 1.5;
    ConvexHull hull;
    assert_int_equal(primitive_cylinder(&hull, radius, length, n), HULL_OK);
    assert_int_equal(hull.vertex_count, 2 * n);
    check_hull_surface(&hull);
    double base = 0.5 * n * radius * radius * sin(2 * PI / n);
    assert_close(volume_by_flux(&hull), base * length, 1e-14);
    for (int k = 0; k < hull.vertex_count; k++) {
      assert_close(hypot(hull.vertices[k].x, hull.vertices[k].y), radius, 1e-15);
      assert_true(fabs(hull.vertices[k].z) == 0.5 * length);
    }
    hull_free(&hull);
  }
  ConvexHull hull;
  assert_int_equal(primitive_cylinder(&hull, 1, 1, 2), HULL_FAILED);
  assert_int_equal(primitive_cylinder(&hull, 1, 0, 8), HULL_FLAT);
}

/* Every vertex is at the radius from the segment, and all are kept: the hull is inscribed. */
static void capsules(void** state) {
  (void)state;
  static const int segments[] = {3, 4, 8, 12, 16, 32};
  for (int i = 0; i < COUNT(segments); i++) {
    int n = segments[i], rings = n / 4 > 1 ? n / 4 : 1;
    double radius = 0.2, length = 0.6;
    ConvexHull hull;
    assert_int_equal(primitive_capsule(&hull, radius, length, n), HULL_OK);
    assert_int_equal(hull.vertex_count, 2 * (rings * n + 1));
    check_hull_surface(&hull);
    double top = 0;
    for (int k = 0; k < hull.vertex_count; k++) {
      Vec3 p = hull.vertices[k];
      double z = fmax(fabs(p.z) - 0.5 * length, 0);
      assert_close(vec3_norm(vec3(p.x, p.y, z)), radius, 1e-15);
      top = fmax(top, p.z);
    }
    assert_close(top, 0.5 * length + radius, 1e-16);
    double exact = PI * radius * radius * (length + 4.0 / 3.0 * radius), volume = volume_by_flux(&hull);
    assert_true(volume < exact && volume > (1 - 12.0 / (n * n)) * exact);
    hull_free(&hull);
  }
  ConvexHull sphere;
  assert_int_equal(primitive_capsule(&sphere, 0.2, 0, 8), HULL_OK); /* no straight part: the rims coincide */
  assert_int_equal(sphere.vertex_count, 2 * (2 * 8 + 1) - 8);
  hull_free(&sphere);
  assert_int_equal(primitive_capsule(&sphere, 0.2, -1, 8), HULL_FAILED);
  assert_int_equal(primitive_capsule(&sphere, 0.2, 1, 2), HULL_FAILED);
}

static void rounded_boxes_have_96_different_vertices(void** state) {
  (void)state;
  static const Vec3 extents[] = {{0, 0, 0}, {0.5, 0, 0}, {0.02, 0.02, 0.5}, {1, 2, 3}};
  for (int i = 0; i < COUNT(extents); i++) {
    double radius = 0.24;
    Vec3 e = extents[i];
    ConvexHull hull;
    assert_int_equal(primitive_rounded_box(&hull, radius, e, 16), HULL_OK);
    assert_int_equal(hull.vertex_count, 96);
    check_hull_surface(&hull);
    double nearest = HUGE_VAL;
    for (int a = 0; a < 96; a++) {
      Vec3 p = hull.vertices[a];
      Vec3 back = vec3(p.x - copysign(0.5 * e.x, p.x), p.y - copysign(0.5 * e.y, p.y), p.z - copysign(0.5 * e.z, p.z));
      assert_close(vec3_norm(back), radius, 1e-15);
      for (int b = 0; b < a; b++) nearest = fmin(nearest, vec3_norm(vec3_sub(p, hull.vertices[b])));
    }
    assert_true(nearest > 0.03 * radius);
    hull_free(&hull);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(boxes),
      cmocka_unit_test(spheres),
      cmocka_unit_test(points_of_spheres_are_their_vertices),
      cmocka_unit_test(cylinders),
      cmocka_unit_test(capsules),
      cmocka_unit_test(rounded_boxes_have_96_different_vertices),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

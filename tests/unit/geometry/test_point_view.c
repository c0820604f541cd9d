#include "geometry_testing.h"

static const double* coordinates(const PointView* view, int axis) {
  return axis == 0 ? view->x : axis == 1 ? view->y : view->z;
}

/* Every size around the multiples of 8: whole vector registers, aligned, the last point repeated to the end. */
static void arrays_are_aligned_and_padded(void** state) {
  (void)state;
  Vec3 points[33];
  for (int i = 0; i < 33; i++) points[i] = vec3(i + 0.25, -i, 100 + i);
  const int padded[34] = {[1] = 8, [7] = 8, [8] = 8, [9] = 16, [16] = 16, [17] = 24, [32] = 32, [33] = 40};
  for (int count = 1; count <= 33; count++) {
    PointView view = point_view_create(points, count);
    assert_int_equal(view.count, count);
    if (padded[count]) assert_int_equal(view.padded, padded[count]);
    for (int axis = 0; axis < 3; axis++) assert_int_equal((uintptr_t)coordinates(&view, axis) % 64, 0);
    for (int i = 0; i < view.padded; i++) {
      int k = i < count ? i : count - 1;
      assert_true(view.x[i] == k + 0.25 && view.y[i] == -k && view.z[i] == 100 + k);
    }
    point_view_free(&view);
  }
}

/* A copy: the caller's points may change. */
static void points_are_copied(void** state) {
  (void)state;
  Vec3 point = {1, 2, 3};
  PointView view = point_view_create(&point, 1);
  point.x = 7;
  assert_true(view.x[0] == 1 && view.x[7] == 1);
  point_view_free(&view);
  assert_null(view.x);
  assert_int_equal(view.count, 0);
  point_view_free(&view); /* again, empty */
}

/* A point is repeated to the end of arrays of the caller. */
static void one_point_fills_the_arrays(void** state) {
  (void)state;
  _Alignas(64) double storage[3][POINT_VIEW_PADDING];
  PointView view = point_view_of_one(vec3(1, 2, 3), storage);
  assert_int_equal(view.count, 1);
  assert_int_equal(view.padded, POINT_VIEW_PADDING);
  for (int i = 0; i < view.padded; i++) assert_true(view.x[i] == 1 && view.y[i] == 2 && view.z[i] == 3);
  assert_true(view.x == storage[0] && view.z == storage[2]);
}

/* The projection is perpendicular to the normal, and leaves vectors of the plane as they are. */
static void projection_onto_a_plane(void** state) {
  (void)state;
  const Vec3 n = {0.6, 0, 0.8}, v = vec3_project(vec3(5, 7, 0), n);
  assert_true(vec3_norm(vec3_sub(v, vec3(3.2, 7, -2.4))) < 1e-15 * 8);
  assert_true(vec3_norm(vec3_sub(vec3_project(v, n), v)) < 1e-14);
  assert_true(vec3_is_zero(vec3(0, -0.0, 0)) && !vec3_is_zero(vec3(0, 0, 1e-300)));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(arrays_are_aligned_and_padded),
      cmocka_unit_test(points_are_copied),
      cmocka_unit_test(one_point_fills_the_arrays),
      cmocka_unit_test(projection_onto_a_plane),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

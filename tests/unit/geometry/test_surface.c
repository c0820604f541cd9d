#include "geometry_testing.h"

/* Appends the hull of a cube of edge 1, or a translated copy, to the surface. */
static void add_cube(TriangleSurface* surface, double size, Vec3 center, bool inside_out) {
  ConvexHull cube;
  assert_int_equal(primitive_box(&cube, vec3(size, size, size)), HULL_OK);
  int points = surface->point_count, triangles = surface->triangle_count;
  surface->points = memory_resize(surface->points, sizeof(Vec3) * (size_t)points, sizeof(Vec3) * (size_t)(points + 8));
  surface->triangles = memory_resize(surface->triangles, sizeof *surface->triangles * (size_t)triangles,
                                     sizeof *surface->triangles * (size_t)(triangles + 12));
  for (int i = 0; i < 8; i++) surface->points[points + i] = vec3_add(center, cube.vertices[i]);
  for (int t = 0; t < 12; t++)
    for (int k = 0; k < 3; k++)
      surface->triangles[triangles + t][k] = points + cube.triangles[t][inside_out ? 2 - k : k];
  surface->point_count += 8;
  surface->triangle_count += 12;
  hull_free(&cube);
}

/* Let point b be point a wherever a triangle names it. */
static void weld(TriangleSurface* surface, int a, int b) {
  for (int i = 0; i < 3 * surface->triangle_count; i++)
    if (surface->triangles[i / 3][i % 3] == b) surface->triangles[i / 3][i % 3] = a;
}

static void weld_equal(TriangleSurface* surface) {
  for (int a = 0; a < surface->point_count; a++)
    for (int b = a + 1; b < surface->point_count; b++)
      if (vec3_norm(vec3_sub(surface->points[a], surface->points[b])) < 1e-9) weld(surface, a, b);
}

static void a_cube_and_a_cube_with_a_void(void** state) {
  (void)state;
  TriangleSurface surface = {0};
  add_cube(&surface, 1, vec3(5, 0, 0), false);
  SurfaceCheck check = surface_check(&surface);
  assert_true(check.closed && check.manifold && check.oriented);
  assert_int_equal(check.points - check.edges + 12, 2);
  assert_int_equal(check.shells, 1);
  assert_int_equal(check.cavities, 0);
  assert_close(check.volume, 1, 1e-14);
  add_cube(&surface, 0.5, vec3(5, 0, 0), true);
  check = surface_check(&surface);
  assert_true(check.closed && check.manifold && check.oriented);
  assert_int_equal(check.shells, 2);
  assert_int_equal(check.cavities, 1);
  assert_close(check.volume, 1 - 0.125, 1e-14);
  surface_free(&surface);
}

static void what_is_wrong_is_seen(void** state) {
  (void)state;
  TriangleSurface open = {0}, turned = {0}, edge = {0}, point = {0}, none = {0};
  add_cube(&open, 1, vec3(0, 0, 0), false);
  open.triangle_count = 11;
  SurfaceCheck check = surface_check(&open);
  assert_false(check.closed || check.manifold);
  assert_int_equal(check.open_edges, 3);
  add_cube(&turned, 1, vec3(0, 0, 0), false);
  int keep = turned.triangles[0][0];
  turned.triangles[0][0] = turned.triangles[0][1], turned.triangles[0][1] = keep;
  check = surface_check(&turned);
  assert_true(check.closed && check.manifold && !check.oriented);
  add_cube(&edge, 1, vec3(0, 0, 0), false);
  add_cube(&edge, 1, vec3(1, 1, 0), false);
  weld_equal(&edge);
  check = surface_check(&edge);
  assert_true(check.closed && !check.manifold && check.oriented);
  assert_int_equal(check.branching_edges, 1);
  add_cube(&point, 1, vec3(0, 0, 0), false);
  add_cube(&point, 1, vec3(1, 1, 1), false);
  weld_equal(&point);
  check = surface_check(&point);
  assert_true(check.closed && !check.manifold && check.oriented);
  assert_int_equal(check.branching_edges, 0);
  assert_int_equal(check.branching_points, 1);
  assert_false(surface_check(&none).closed);
  surface_free(&open);
  surface_free(&turned);
  surface_free(&edge);
  surface_free(&point);
}

/* A cube whose upper face is laid on its lower one is gone; with one edge made a point it is a closed wedge. */
static void joined_points_leave_a_closed_surface(void** state) {
  (void)state;
  for (int k = 0; k < 2; k++) {
    TriangleSurface cube = {0};
    int number[8];
    add_cube(&cube, 1, vec3(0, 0, 0), false);
    for (int i = 0; i < 8; i++) {
      number[i] = i;
      Vec3 p = cube.points[i];
      if (p.z < 0 || (k == 1 && (p.y < 0 || p.x < 0))) continue;
      Vec3 onto = vec3(p.x, p.y, -0.5);
      for (int j = 0; j < 8; j++)
        if (vec3_norm(vec3_sub(cube.points[j], onto)) < 1e-9) number[i] = j;
    }
    surface_merge_points(&cube, number);
    SurfaceCheck check = surface_check(&cube);
    if (k == 0) assert_int_equal(cube.triangle_count, 0);
    if (k == 1) assert_true(check.closed && check.manifold && check.oriented && cube.triangle_count == 10);
    surface_free(&cube);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_cube_and_a_cube_with_a_void),
      cmocka_unit_test(what_is_wrong_is_seen),
      cmocka_unit_test(joined_points_leave_a_closed_surface),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

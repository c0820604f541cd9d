/* Tests the surface tree against all triangles and against sums of solid angles. */
#include "geometry/geometry.h"

#include "decompose/mesh_repair.h"
#include "unit/decompose/decompose_testing.h"

/* Two boxes that cross, a box with a cavity, and a ball of 320 triangles. */
static Part solid_of(int which) {
  Text text = {0};
  Part solid;
  UnitFrame frame;
  MeshCondition condition;
  add_box(&text, 0, vec3(0, 0, 0), vec3(3, 2, 2));
  if (which == 0)
    add_box(&text, 1, vec3(2, -1, 0.5), vec3(4, 3, 1.5));
  else /* mirrored: it faces inwards */
    add_box(&text, 1, vec3(2, 0.5, 0.5), vec3(1, 1.5, 1));
  if (which == 2) {
    ConvexHull ball;
    text_free(&text);
    assert_int_equal(primitive_sphere(&ball, 1, 2), HULL_OK);
    for (int i = 0; i < ball.vertex_count; i++)
      text_add(&text, "v %.17g %.17g %.17g\n", ball.vertices[i].x, ball.vertices[i].y, ball.vertices[i].z);
    for (int t = 0; t < ball.triangle_count; t++)
      text_add(&text, "f %d %d %d\n", ball.triangles[t][0] + 1, ball.triangles[t][1] + 1, ball.triangles[t][2] + 1);
    hull_free(&ball);
  }
  Mesh mesh = mesh_of_text(text.data);
  assert_true(mesh_repair(&mesh, &solid, &frame, &condition));
  assert_int_equal(condition.cavities, which == 1);
  mesh_free(&mesh);
  text_free(&text);
  return solid;
}

/* Random points, and those of a lattice that lie in line with edges and corners. */
static Vec3 point_of(Random* random, int k) {
  if (k % 2) return vec3(k / 2 % 7 / 6.0 - 0.5, k / 14 % 7 / 6.0 - 0.5, k / 98 % 7 / 6.0 - 0.5);
  return vec3(random_uniform(random, -0.4, 0.4), random_uniform(random, -0.4, 0.4), random_uniform(random, -0.4, 0.4));
}

static void distance_and_winding_are_those_of_all_triangles(void** state) {
  (void)state;
  int counts[3] = {0};
  for (int which = 0; which < 3; which++) {
    Part solid = solid_of(which);
    SurfaceTree tree = surface_tree_create(solid.points, (const int(*)[3])solid.triangles, solid.triangle_count);
    Random random = {5};
    for (int k = 0; k < 2000; k++) {
      Vec3 p = point_of(&random, k);
      double least = HUGE_VAL;
      int nearest = k % tree.count;
      for (int t = 0; t < tree.count; t++) least = fmin(least, surface_tree_triangle_distance(&tree, t, p));
      double distance = surface_tree_distance(&tree, p, &nearest);
      assert_true(distance == least);
      assert_true(surface_tree_triangle_distance(&tree, nearest, p) == least);
      if (distance < 1e-9) continue;
      int winding = surface_tree_winding(&tree, p);
      assert_close(winding, winding_number(&solid, p), 1e-6);
      if (winding >= 0 && winding < 3) counts[winding]++;
    }
    surface_tree_free(&tree);
    part_free(&solid);
  }
  if (counts[0] < 100 || counts[1] < 100 || counts[2] < 10) fail_msg("%d %d %d", counts[0], counts[1], counts[2]);
}

/* Outside a cube: over a face, an edge, a corner. */
static void distances_of_a_cube(void** state) {
  (void)state;
  Mesh mesh = mesh_of_text(CUBE);
  ConvexHull cube;
  assert_true(mesh_surface(&cube, NULL, &mesh));
  SurfaceTree tree = surface_tree_create(cube.vertices, (const int(*)[3])cube.triangles, cube.triangle_count);
  const Vec3 points[4] = {{0.5, 0.25, 3}, {4, 5, 0.5}, {2, 3, 3}, {0.5, 0.5, 0.25}};
  const double truth[4] = {2, 5, 3, 0.25};
  for (int k = 0; k < 4; k++) {
    int nearest = 0;
    assert_close(surface_tree_distance(&tree, points[k], &nearest), truth[k], 1e-14);
    assert_int_equal(surface_tree_winding(&tree, points[k]), k == 3);
  }
  surface_tree_free(&tree);
  hull_free(&cube);
  mesh_free(&mesh);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(distance_and_winding_are_those_of_all_triangles),
      cmocka_unit_test(distances_of_a_cube),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

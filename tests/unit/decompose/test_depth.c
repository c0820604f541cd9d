/* Tests the depth of one hull outside of solids whose depth has a closed form. */
#include "unit/decompose/decompose_testing.h"

static const double ANGLE[][2] = {{0, 0}, {3, 0}, {3, 1}, {1, 1}, {1, 3}, {0, 3}};
static const double CHANNEL[][2] = {{0, 0}, {4, 0}, {4, 3}, {3, 3}, {3, 1}, {1, 1}, {1, 3}, {0, 3}};
static const double SHALLOW[][2] = {{0, 0}, {9, 0}, {9, 3}, {8, 3}, {8, 2.2}, {1, 2.2}, {1, 3}, {0, 3}};

/* Checks the depth of one hull of the mesh in a general pose. `found` is a lower bound and `at most` an upper bound.
 * Both bounds differ by the stated fraction. */
static void check_depth(Mesh* mesh, double truth, double below) {
  Random random = {7};
  for (int trial = 0; trial < 4; trial++) {
    Pose pose = trial == 0 ? pose_identity() : random_pose(&random, 5);
    for (int i = 0; i < mesh->position_count; i++) mesh->positions[i] = pose_apply(pose, mesh->positions[i]);
    Decomposition d;
    assert_int_equal(mesh_decompose(&d, mesh, &(DecomposeOptions){.max_hulls = 1}), HULL_OK);
    assert_int_equal(d.hull_count, 1);
    assert_true(d.depth <= truth + 1e-12 && truth <= d.depth_at_most + 1e-12);
    assert_true(d.depth >= truth - below * d.diagonal);
    assert_true(d.depth_at_most <= d.depth + fmax(2e-3 * d.diagonal, 0.02 * d.depth) + 1e-12);
    assert_true(d.depths[0] == d.depth);
    decomposition_free(&d);
  }
  mesh_free(mesh);
}

/* The midpoint (2, 2) of the hull's slanted edge has the distance 1 to both inner walls. No other point has a larger
 * distance. */
static void an_angle_in_one_hull_has_depth_1(void** state) {
  (void)state;
  Mesh mesh = prism_mesh(ANGLE, COUNT(ANGLE));
  check_depth(&mesh, 1, 2e-3);
}

/* Half the width of the gap where that is less than its depth, else the depth. */
static void the_depth_of_a_channel(void** state) {
  (void)state;
  Mesh deep = prism_mesh(CHANNEL, COUNT(CHANNEL)), shallow = prism_mesh(SHALLOW, COUNT(SHALLOW));
  check_depth(&deep, 1, 2e-3);
  check_depth(&shallow, 0.8, 2e-3);
}

/* The notch leads from (a, 2) over (c, 1) to (b, 2). A point (x, 2) at its opening has the distances (x - a) sin A and
 * (b - x) sin B to the walls. The depth is the distance where both are equal. */
static void the_depth_of_a_notch(void** state) {
  (void)state;
  const double a = 0.7, b = 2.9, c = 1.4;
  const double notch[][2] = {{0, 0}, {4, 0}, {4, 2}, {b, 2}, {c, 1}, {a, 2}, {0, 2}};
  double sin_a = 1 / hypot(c - a, 1), sin_b = 1 / hypot(b - c, 1);
  Mesh mesh = prism_mesh(notch, COUNT(notch));
  check_depth(&mesh, (b - a) * sin_a * sin_b / (sin_a + sin_b), 2e-3);
}

/* A block round two boxes is at most half the gap away from the nearer one. */
static void the_depth_between_two_boxes(void** state) {
  (void)state;
  Text text = {0};
  add_box(&text, 0, vec3(0, 0, 0), vec3(1, 1, 1));
  add_box(&text, 1, vec3(4, 0, 0), vec3(5, 1, 1));
  Mesh mesh = mesh_of_text(text.data);
  Decomposition d;
  assert_int_equal(mesh_decompose(&d, &mesh, &(DecomposeOptions){.grid = {1, 1, 1}}), HULL_OK);
  assert_close(d.depth, 1.5, 2e-3 * d.diagonal);
  assert_true(d.depth <= 1.5 + 1e-12 && d.depth_at_most >= 1.5 - 1e-12);
  decomposition_free(&d);
  mesh_free(&mesh);
  text_free(&text);
}

/* Where hulls overlap inside the part is no depth. */
static void exact_hulls_have_no_depth(void** state) {
  (void)state;
  Mesh meshes[3] = {prism_mesh(ANGLE, COUNT(ANGLE)), prism_mesh(CHANNEL, COUNT(CHANNEL)), mesh_of_text(CUBE)};
  for (int k = 0; k < 3; k++) {
    Decomposition d;
    assert_int_equal(mesh_decompose(&d, &meshes[k], &(DecomposeOptions){.symmetry_auto = true}), HULL_OK);
    assert_true(d.depth <= 1e-12 && d.depth_at_most <= 2e-3 * d.diagonal);
    for (int h = 0; h < d.hull_count; h++) assert_true(d.depths[h] <= 1e-12);
    decomposition_free(&d);
    mesh_free(&meshes[k]);
  }
}

/* Blocks with edges of 1 are exact, those of 1.5 stick out by 0.5 over the inner walls. */
static void each_block_has_its_depth(void** state) {
  (void)state;
  Mesh mesh = prism_mesh(ANGLE, COUNT(ANGLE));
  for (int blocks = 2; blocks <= 3; blocks++) {
    Decomposition d;
    assert_int_equal(mesh_decompose(&d, &mesh, &(DecomposeOptions){.grid = {blocks, blocks, 1}}), HULL_OK);
    assert_int_equal(d.hull_count, 2 * blocks - 1);
    for (int h = 0; h < d.hull_count; h++) assert_close(d.depths[h], blocks == 2 ? 0.5 : 0, 1e-12);
    decomposition_free(&d);
  }
  mesh_free(&mesh);
}

static void depths_are_those_of_their_hulls(void** state) {
  (void)state;
  Mesh mesh = prism_mesh(ANGLE, COUNT(ANGLE));
  Decomposition d;
  assert_int_equal(mesh_decompose(&d, &mesh, &(DecomposeOptions){.grid = {2, 3, 1}, .threads = 3}), HULL_OK);
  assert_int_equal(d.hull_count, 4);
  for (int h = 0; h < d.hull_count; h++) { /* those above y = 1 reach x = 1.5, the wall ends at 1 */
    double low = HUGE_VAL;
    for (int i = 0; i < 8; i++) low = fmin(low, d.hulls[h].vertices[i].y);
    assert_close(d.depths[h], low > 0.5 ? 0.5 : 0, 1e-12);
  }
  decomposition_free(&d);
  mesh_free(&mesh);
}

static void threads_do_not_change_the_depth(void** state) {
  (void)state;
  Mesh mesh = prism_mesh(CHANNEL, COUNT(CHANNEL));
  Decomposition one, three;
  assert_int_equal(mesh_decompose(&one, &mesh, &(DecomposeOptions){.max_hulls = 2, .threads = 1}), HULL_OK);
  assert_int_equal(mesh_decompose(&three, &mesh, &(DecomposeOptions){.max_hulls = 2, .threads = 3}), HULL_OK);
  assert_true(one.depth > 0.5);
  assert_true(one.depth_at_most == three.depth_at_most);
  assert_memory_equal(one.depths, three.depths, sizeof(double) * (size_t)one.hull_count);
  decomposition_free(&one);
  decomposition_free(&three);
  mesh_free(&mesh);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(an_angle_in_one_hull_has_depth_1),
      cmocka_unit_test(the_depth_of_a_channel),
      cmocka_unit_test(the_depth_of_a_notch),
      cmocka_unit_test(the_depth_between_two_boxes),
      cmocka_unit_test(exact_hulls_have_no_depth),
      cmocka_unit_test(each_block_has_its_depth),
      cmocka_unit_test(depths_are_those_of_their_hulls),
      cmocka_unit_test(threads_do_not_change_the_depth),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

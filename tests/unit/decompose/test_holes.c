/* Tests the number of holes in meshes of overlapping boxes, where the number is known. Also tests how many hulls a
 * tolerance requires. */
#include "unit/decompose/decompose_testing.h"

typedef struct {
  double low[3], high[3];
} BoxEnds;

static Mesh mesh_of_boxes(const BoxEnds* boxes, int count) {
  Text text = {0};
  for (int k = 0; k < count; k++)
    add_box(&text, k, vec3(boxes[k].low[0], boxes[k].low[1], boxes[k].low[2]),
            vec3(boxes[k].high[0], boxes[k].high[1], boxes[k].high[2]));
  Mesh mesh = mesh_of_text(text.data);
  text_free(&text);
  return mesh;
}

/* Those of the mesh, and those that so many hulls leave. */
static void check_holes(const BoxEnds* boxes, int count, int hulls, int of_mesh, int of_hulls) {
  Mesh mesh = mesh_of_boxes(boxes, count);
  Decomposition d;
  HoleCount holes;
  assert_int_equal(mesh_decompose(&d, &mesh, &(DecomposeOptions){.max_hulls = hulls}), HULL_OK);
  assert_true(decomposition_count_holes(&holes, &d, &mesh));
  assert_int_equal(holes.mesh, of_mesh);
  assert_int_equal(holes.hulls, of_hulls);
  decomposition_free(&d);
  mesh_free(&mesh);
}

/* A ladder: two rails and rungs that end inside the rails. It has one hole less than rungs. */
static const BoxEnds LADDER[] = {{{0, 0, 0}, {6, 1, 1}},
                                 {{0, 4, 0.1}, {6, 5, 1.1}},
                                 {{0, 0.5, 0.2}, {1, 4.5, 0.9}},
                                 {{2.5, 0.5, 0.2}, {3.5, 4.5, 0.9}},
                                 {{5, 0.5, 0.2}, {5.9, 4.5, 0.95}}};
/* Six walls round a void. */
static const BoxEnds ROOM[] = {{{0, 0, 0}, {4, 4, 0.5}},         {{0, 0, 3.5}, {4, 4, 4}},
                               {{0, 0, 0.2}, {0.5, 4, 3.7}},     {{3.5, 0, 0.2}, {4, 4, 3.7}},
                               {{0.2, 0, 0.2}, {3.7, 0.5, 3.7}}, {{0.2, 3.5, 0.2}, {3.7, 4, 3.7}}};

static void a_ladder_has_a_hole_less_than_rungs(void** state) {
  (void)state;
  check_holes(LADDER, 5, 16, 2, 2);
  check_holes(LADDER, 4, 16, 1, 1);
  check_holes(LADDER, 3, 16, 0, 0);
}

static void one_hull_fills_all_holes(void** state) {
  (void)state;
  check_holes(LADDER, 5, 1, 2, 0);
}

/* A box with a void becomes a bowl without one wall, and a tube without two opposite walls. */
static void a_void_is_no_hole(void** state) {
  (void)state;
  check_holes(ROOM, 6, 16, 0, 0);
  check_holes(ROOM, 5, 16, 0, 0);
  check_holes(ROOM, 4, 16, 1, 1);
}

static void parts_apart_count_each(void** state) {
  (void)state;
  BoxEnds two[10];
  memcpy(two, LADDER, sizeof LADDER);
  memcpy(two + 5, LADDER, sizeof LADDER);
  for (int k = 5; k < 10; k++) two[k].low[0] += 8, two[k].high[0] += 8;
  check_holes(two, 10, 32, 4, 4);
}

/* One hull exceeds the mesh by at least 0.75, half the width of a hole. An exact decomposition does not exceed it. */
static void a_tolerance_takes_as_few_hulls_as_keep_it(void** state) {
  (void)state;
  Mesh mesh = mesh_of_boxes(LADDER, 5);
  const double tolerances[] = {0.9, 0.3, 0.05};
  int before = 0;
  for (int k = 0; k < 3; k++) {
    Decomposition d;
    assert_int_equal(mesh_decompose(&d, &mesh, &(DecomposeOptions){.tolerance = tolerances[k]}), HULL_OK);
    assert_true(d.within_tolerance && d.covers);
    assert_true(d.depth <= d.depth_at_most && d.depth_at_most <= tolerances[k]);
    assert_true(d.hull_count >= before && d.hull_count <= 16);
    before = d.hull_count;
    decomposition_free(&d);
  }
  assert_true(before >= 5); /* no two of its boxes are one convex body */
  mesh_free(&mesh);
}

static void a_tolerance_that_cannot_be_kept_is_told(void** state) {
  (void)state;
  Mesh mesh = mesh_of_boxes(LADDER, 5);
  Decomposition d;
  assert_int_equal(mesh_decompose(&d, &mesh, &(DecomposeOptions){.tolerance = 0.05, .max_hulls = 2}), HULL_OK);
  assert_true(!d.within_tolerance && d.hull_count <= 2);
  decomposition_free(&d);
  mesh_free(&mesh);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_ladder_has_a_hole_less_than_rungs),
      cmocka_unit_test(one_hull_fills_all_holes),
      cmocka_unit_test(a_void_is_no_hole),
      cmocka_unit_test(parts_apart_count_each),
      cmocka_unit_test(a_tolerance_takes_as_few_hulls_as_keep_it),
      cmocka_unit_test(a_tolerance_that_cannot_be_kept_is_told),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

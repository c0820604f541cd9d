/* Tests the connectivity of hulls on hulls by hand whose connections are known. */
#include "decompose/check.h"
#include "unit/decompose/decompose_testing.h"

typedef struct {
  Vec3 low, high;
} Box;

/* The check of hulls that are boxes, for a mesh of boxes. */
static Decomposition check_boxes_by(const Box* parts, int part_count, const Box* hulls, int hull_count, bool inside) {
  Text text = {0};
  for (int k = 0; k < part_count; k++) add_box(&text, k, parts[k].low, parts[k].high);
  Mesh mesh = mesh_of_text(text.data);
  text_free(&text);
  Decomposition d = {.hulls = MEMORY_NEW(ConvexHull, hull_count), .hull_count = hull_count};
  for (int h = 0; h < hull_count; h++) {
    assert_int_equal(primitive_box(&d.hulls[h], vec3_sub(hulls[h].high, hulls[h].low)), HULL_OK);
    Vec3 middle = vec3_scale(vec3_add(hulls[h].low, hulls[h].high), 0.5);
    for (int i = 0; i < 8; i++) d.hulls[h].vertices[i] = vec3_add(d.hulls[h].vertices[i], middle);
  }
  Part solid;
  UnitFrame frame;
  assert_true(mesh_repair(&mesh, &solid, &frame, &d.condition));
  decomposition_check(&d, &mesh, &solid, frame,
                      &(DecomposeOptions){.max_hulls = 16, .inside = inside, .max_vertices = 64, .threads = 1});
  assert_true(d.covers && d.convex);
  part_free(&solid);
  mesh_free(&mesh);
  return d;
}

static Decomposition check_boxes(const Box* parts, int part_count, const Box* hulls, int hull_count) {
  return check_boxes_by(parts, part_count, hulls, hull_count, false);
}

static void check_component(const Decomposition* d, int k, int pieces, double overlap) {
  assert_int_equal(d->components[k].pieces, pieces);
  assert_close(d->components[k].overlap, overlap, 1e-9);
}

static const Box BAR = {{0, 0, 0}, {3, 1, 1}};

static void halves_that_touch_fall_apart(void** state) {
  (void)state;
  const Box halves[2] = {{{0, 0, 0}, {1.5, 1, 1}}, {{1.5, 0, 0}, {3, 1, 1}}};
  Decomposition d = check_boxes(&BAR, 1, halves, 2);
  assert_int_equal(d.component_count, 1);
  check_component(&d, 0, 2, 0);
  assert_false(d.connected);
  assert_int_equal(d.apart, 1);
  decomposition_free(&d);
}

/* Boxes overlap by 0.1 and 0.3. The largest balls in the overlaps have half of these widths as diameters. The first and
 * the last box are disjoint. */
static void the_weakest_overlap_counts(void** state) {
  (void)state;
  const Box thirds[3] = {{{0, 0, 0}, {1.1, 1, 1}}, {{1, 0, 0}, {2.3, 1, 1}}, {{2, 0, 0}, {3, 1, 1}}};
  Decomposition d = check_boxes(&BAR, 1, thirds, 3);
  check_component(&d, 0, 1, 0.05);
  assert_int_equal(d.components[0].hull_count, 3);
  assert_true(d.connected);
  decomposition_free(&d);
  /* one more round both of the first: they hang together by it, 0.15 remains the weakest */
  const Box more[4] = {thirds[0], thirds[1], thirds[2], {{0.2, 0, 0}, {1.9, 1, 1}}};
  d = check_boxes(&BAR, 1, more, 4);
  check_component(&d, 0, 1, 0.15);
  decomposition_free(&d);
}

/* The union has two pieces, as many as the mesh, but they are the wrong ones: the bar is cut, the other box crosses it.
 */
static void numbers_of_pieces_do_not_tell(void** state) {
  (void)state;
  const Box parts[2] = {BAR, {{2.5, -0.5, 0.25}, {3.5, 1.5, 0.75}}};
  const Box hulls[3] = {{{0, 0, 0}, {1.5, 1, 1}}, {{1.5, 0, 0}, {3, 1, 1}}, parts[1]};
  Decomposition d = check_boxes(parts, 2, hulls, 3);
  assert_int_equal(d.pieces, 2);
  assert_int_equal(d.component_count, 2);
  check_component(&d, 0, 2, 0.25); /* the other box and the half that it crosses */
  check_component(&d, 1, 1, 0.25);
  assert_false(d.connected);
  assert_int_equal(d.apart, 1);
  decomposition_free(&d);
}

/* A hull that holds nothing of the bar lies over the cut: the bar's own hulls still fall apart. */
static void hulls_of_others_do_not_join(void** state) {
  (void)state;
  const Box parts[2] = {BAR, {{1.2, 0.3, 0.3}, {1.8, 0.7, 0.7}}};
  const Box hulls[3] = {{{0, 0, 0}, {1.5, 1, 1}}, {{1.5, 0, 0}, {3, 1, 1}}, parts[1]};
  Decomposition d = check_boxes(parts, 2, hulls, 3);
  assert_int_equal(d.pieces, 1);
  assert_false(d.connected);
  decomposition_free(&d);
}

/* The larger box touches the smaller one. The common face lies in both hulls and equals the smaller box's face. */
static void boxes_that_touch_are_two_components(void** state) {
  (void)state;
  const Box parts[2] = {{{0, 0, 0}, {1, 1, 1}}, {{1, -1, -1}, {2, 2, 2}}};
  Decomposition d = check_boxes(parts, 2, parts, 2);
  assert_int_equal(d.component_count, 2);
  for (int k = 0; k < 2; k++) {
    check_component(&d, k, 1, 0);
    assert_int_equal(d.components[k].hull_count, 1);
    assert_int_equal(d.components[k].hulls[0], k);
  }
  assert_true(d.connected);
  decomposition_free(&d);
}

static void two_boxes_apart_are_fine(void** state) {
  (void)state;
  Text text = {0};
  add_box(&text, 0, vec3(0, 0, 0), vec3(1, 1, 1));
  add_box(&text, 1, vec3(4, 0, 0), vec3(5, 1, 1));
  Mesh mesh = mesh_of_text(text.data);
  text_free(&text);
  for (int grid = 0; grid < 2; grid++) {
    Decomposition d;
    assert_int_equal(mesh_decompose(&d, &mesh, &(DecomposeOptions){.grid = {10 * grid, 1, 1}}), HULL_OK);
    assert_int_equal(d.component_count, 2);
    assert_int_equal(d.hull_count, grid ? 4 : 2);
    for (int k = 0; k < 2; k++) check_component(&d, k, 1, 0);
    assert_true(d.connected);
    decomposition_free(&d);
  }
  mesh_free(&mesh);
}

/* A hull inside a component is a component of its own. Two disjoint inner hulls are two components. */
static void hulls_inside_are_told_apart_too(void** state) {
  (void)state;
  const Box parts[2] = {BAR, {{5, 0, 0}, {6, 1, 1}}};
  for (int apart = 0; apart < 2; apart++) {
    const Box hulls[3] = {{{0.1, 0.1, 0.1}, {1.5, 0.9, 0.9}},
                          {{apart ? 1.6 : 1.3, 0.1, 0.1}, {2.9, 0.9, 0.9}},
                          {{5.1, 0.1, 0.1}, {5.9, 0.9, 0.9}}};
    Decomposition d = check_boxes_by(parts, 2, hulls, 3, true);
    check_component(&d, 0, apart ? 2 : 1, apart ? 0 : 0.1);
    check_component(&d, 1, 1, 0);
    assert_int_equal(d.components[1].hull_count, 1);
    assert_int_equal(d.components[1].hulls[0], 2);
    assert_int_equal(d.connected, !apart);
    assert_true(d.depth == 0);
    decomposition_free(&d);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(halves_that_touch_fall_apart),        cmocka_unit_test(the_weakest_overlap_counts),
      cmocka_unit_test(numbers_of_pieces_do_not_tell),       cmocka_unit_test(hulls_of_others_do_not_join),
      cmocka_unit_test(boxes_that_touch_are_two_components), cmocka_unit_test(two_boxes_apart_are_fine),
      cmocka_unit_test(hulls_inside_are_told_apart_too),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

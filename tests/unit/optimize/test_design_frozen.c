/* Tests the frozen set: vertices that do not move, for designs by vertices and by cages. */
#include "design_testing.h"

#define LOSS "loss: [{type: shape}]\n"
#define BOX "{type: box, size: [1, 2, 3]}"
#define TWO \
  "scene: {links: [{name: a, mass: 1, shape: " BOX "}, {name: b, mass: 1, position: [9, 0, 0], shape: " BOX "}]}\n"
#define TOP "box: {low: [-9, -9, 1], high: [9, 9, 9]}"
/* Two boxes whose common corners are tied. */
#define CHAIN \
  "scene: {shapes: {box: " BOX "}, links: [{name: a, mass: 1, shapes: [box, {shape: box, position: [1, 0, 0]}]}]}\n"

static void expect_moved(DesignCase* c, const char* link, bool (*stays)(Vec3), const char* what) {
  SceneShape* hull = case_hull(c, 0, link, 0);
  int count = hull->point_count, stay = 0;
  Vec3* before = MEMORY_NEW(Vec3, count);
  memcpy(before, hull->points, sizeof(Vec3) * (size_t)count);
  double* x = random_design(&c->design, 7, 0.1);
  design_apply(&c->design, x, case_scene(c, 0));
  hull = case_hull(c, 0, link, 0);
  for (int k = 0; k < count; k++) {
    bool moved = vec3_norm(vec3_sub(hull->points[k], before[k])) > 0;
    if (moved == stays(before[k])) fail_msg("%s: vertex %d of %s", what, k, link);
    stay += !moved;
  }
  assert_int_equal(stay, 4);
  memory_free(before);
  memory_free(x);
}

static bool is_top(Vec3 p) { return p.z > 1; }

static void a_box_of_vertices_stays(void** state) {
  (void)state;
  DesignCase* c = design_case(TWO "design: {vertices: [{links: [a, b]}], frozen: [{link: a, " TOP "}]}\n" LOSS);
  assert_int_equal(c->design.variable_count, 3 * (4 + 8));
  expect_moved(c, "a", is_top, "vertices");
  design_case_free(c);
}

/* A cage moves the other vertices around the frozen ones. */
static void a_cage_leaves_it(void** state) {
  (void)state;
  DesignCase* c = design_case(TWO "design: {cage: [{link: a, cells: [1, 1, 1]}], frozen: [{link: a, " TOP "}]}\n" LOSS);
  expect_moved(c, "a", is_top, "cage");
  design_case_free(c);
}

static void followers_keep_what_their_leader_keeps(void** state) {
  (void)state;
  DesignCase* c = design_case(TWO "design: {vertices: [{links: [a, b]}], frozen: [{link: a, " TOP
                                  "}], symmetry: [{type: copy, links: [a, b]}]}\n" LOSS);
  assert_int_equal(c->design.variable_count, 3 * 4);
  expect_moved(c, "b", is_top, "follower");
  design_case_free(c);
}

/* Vertices of two hulls that are one do not part: where one stays, so does the other. */
static void ties_hold_too(void** state) {
  (void)state;
  DesignCase* c = design_case(CHAIN "design: {vertices: [{link: a}], frozen: [{link: a, hulls: [0]}]}\n" LOSS);
  assert_int_equal(c->design.variable_count, 3 * 4);
  design_case_free(c);
}

static void what_holds_nothing_is_refused(void** state) {
  (void)state;
  expect_design_problems(
      TWO "design: {vertices: [{link: a}], frozen: [{link: a, box: {low: [5, 5, 5], high: [6, 6, 6]}}]}\n" LOSS,
      "2:42: error: frozen: link 'a' has no vertex in the given 'hulls' and 'box': enlarge the box, or choose other "
      "hulls\n");
  expect_design_problems(TWO "design: {vertices: [{link: a}], frozen: [{link: b}]}\n" LOSS,
                         "2:42: error: frozen: link 'b' has no vertices that are design variables: remove the entry\n");
  expect_design_problems(
      TWO "design: {cage: [{link: a, cells: [1, 1, 1]}], frozen: [{link: a, hulls: [0]}]}\n" LOSS,
      "2:56: error: frozen: link 'a' is moved by a cage: select the frozen vertices by 'box' instead of 'hulls'\n"
      "2:17: error: the cage of link 'a' contains no vertex that can move: enlarge its box or unfreeze vertices\n");
  expect_design_problems(
      TWO "design: {vertices: [{links: [a, b]}], frozen: [{link: b, " TOP
          "}], symmetry: [{type: copy, links: [a, b]}]}\n" LOSS,
      "2:48: error: frozen: link 'b' follows another link by a symmetry: freeze vertices of the other link\n");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_box_of_vertices_stays),
      cmocka_unit_test(a_cage_leaves_it),
      cmocka_unit_test(followers_keep_what_their_leader_keeps),
      cmocka_unit_test(ties_hold_too),
      cmocka_unit_test(what_holds_nothing_is_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

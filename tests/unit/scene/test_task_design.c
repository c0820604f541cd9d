#include "task_testing.h"

#define REST MOVE_BOX SHAPE_LOSS

static void expect_axes(const bool axes[3], bool x, bool y, bool z) {
  assert_true(axes[0] == x && axes[1] == y && axes[2] == z);
}

static void expect_unbounded(const TaskBounds* bounds) {
  assert_true(bounds->within > 1e308 && isinf(bounds->within));
  for (int i = 0; i < 3; i++) assert_true(bounds->low[i] < -1e308 && bounds->high[i] > 1e308);
}

/* ---------------------------------------------------------------- the section */

static void the_design_has_defaults(void** state) {
  (void)state;
  static const char* const TEXTS[] = {TWO_LINKS REST, TWO_LINKS "design:\n" REST, TWO_LINKS "design: {}\n" REST};
  for (int i = 0; i < COUNT(TEXTS); i++) {
    Task task = load_task(TEXTS[i]);
    assert_int_equal(task.mass, TASK_MASS_FIXED);
    compare_near(task.min_thickness, 0, 0, "min_thickness");
    assert_true(task.optimizer.connect);
    assert_int_equal(task.vertices_count + task.attachment_count + task.symmetry_count + task.constraint_count, 0);
    task_free(&task);
  }
}

static void the_design_is_read(void** state) {
  (void)state;
  Task task = load_task(TWO_LINKS "design: {mass: density, min_thickness: 0.01, connect: false}\n" REST);
  assert_int_equal(task.mass, TASK_MASS_DENSITY);
  compare_near(task.min_thickness, 0.01, 0, "min_thickness");
  assert_false(task.optimizer.connect);
  task_free(&task);
}

/* ---------------------------------------------------------------- vertices */

static void vertices_have_defaults(void** state) {
  (void)state;
  Task task = load_task(TWO_LINKS "design:\n  vertices: [{link: box}]\n" SHAPE_LOSS);
  assert_int_equal(task.vertices_count, 1);
  const TaskVertices* vertices = &task.vertices[0];
  assert_string_equal(vertices->link.text, "box");
  assert_int_equal(vertices->link.place.line, 3);
  assert_int_equal(vertices->link.place.column, 21);
  assert_string_equal(vertices->link.place.file, TASK_PATH);
  assert_int_equal(vertices->place.column, 14);
  assert_null(vertices->hulls);
  assert_int_equal(vertices->hull_count, 0);
  assert_false(vertices->has_box);
  expect_axes(vertices->axes, true, true, true);
  expect_unbounded(&vertices->bounds);
  task_free(&task);
}

static void vertices_are_read(void** state) {
  (void)state;
  Task task = load_task(TWO_LINKS
                        "design:\n"
                        "  vertices:\n"
                        "    - {link: arm, hulls: [2, 0], box: {low: [-1, -2, -3], high: [1, 2, 3]}, axes: [z, x],\n"
                        "       within: 0.05, low: -0.5, high: [1, 2, 3]}\n"
                        "    - {link: box, within: 0, low: [-1, 0, 1]}\n" SHAPE_LOSS);
  assert_int_equal(task.vertices_count, 2);
  const TaskVertices* a = &task.vertices[0];
  assert_string_equal(a->link.text, "arm");
  assert_int_equal(a->hull_count, 2);
  assert_true(a->hulls[0] == 2 && a->hulls[1] == 0);
  assert_true(a->has_box);
  compare_vec3(a->box_low, vec3(-1, -2, -3), 0, "box low");
  compare_vec3(a->box_high, vec3(1, 2, 3), 0, "box high");
  expect_axes(a->axes, true, false, true);
  compare_near(a->bounds.within, 0.05, 0, "within");
  for (int i = 0; i < 3; i++) {
    compare_near(a->bounds.low[i], -0.5, 0, "low");
    compare_near(a->bounds.high[i], i + 1, 0, "high");
  }
  const TaskBounds* b = &task.vertices[1].bounds;
  compare_near(b->within, 0, 0, "within");
  for (int i = 0; i < 3; i++) {
    compare_near(b->low[i], i - 1, 0, "low");
    assert_true(isinf(b->high[i]) && b->high[i] > 0);
  }
  task_free(&task);
}

static void several_links_stand_for_several_items(void** state) {
  (void)state;
  Task task = load_task(TWO_LINKS
                        "design:\n"
                        "  vertices: [{links: [box, arm], hulls: [0], within: 0.1}, {link: box}]\n"
                        "  attachments: [{links: [arm, box], axes: [y]}]\n" SHAPE_LOSS);
  assert_int_equal(task.vertices_count, 3);
  assert_string_equal(task.vertices[0].link.text, "box");
  assert_string_equal(task.vertices[1].link.text, "arm");
  assert_string_equal(task.vertices[2].link.text, "box");
  assert_int_equal(task.vertices[1].hull_count, 1);
  assert_ptr_not_equal(task.vertices[0].hulls, task.vertices[1].hulls); /* each is freed on its own */
  compare_near(task.vertices[1].bounds.within, 0.1, 0, "within");
  assert_int_equal(task.attachment_count, 2);
  assert_string_equal(task.attachments[1].link.text, "box");
  expect_axes(task.attachments[1].axes, false, true, false);
  task_free(&task);
}

static void mistakes_in_vertices_are_told(void** state) {
  (void)state;
  expect_task_problems(
      TWO_LINKS
      "design:\n"
      "  vertices:\n"
      "    - {hulls: [0, 1.5], axes: []}\n"
      "    - {link: box, links: [arm], within: -1}\n"
      "    - {link: box, low: [1, 2], high: x}\n"
      "    - {link: box, low: [0, 5, 0], high: 4}\n"
      "    - {link: box, box: {low: [0, 0, 1], high: [1, 1, 0]}}\n"
      "    - {links: [box, box], axes: [w, x, x]}\n"
      "    - box\n" SHAPE_LOSS,
      "4:31: error: design.vertices[0].axes: must not be empty\n4:7: error: design.vertices[0]: 'link' is missing: "
      "give the name of a link, or give 'links', a list of names\n4:19: error: design.vertices[0].hulls[1]: must be a "
      "whole number, got 1.5\n5:41: error: design.vertices[1].within: must be >= 0 m, got -1\n5:19: error: "
      "design.vertices[1]: give 'link' or 'links', not both\n6:24: error: design.vertices[2].low: expected a list of 3 "
      "numbers, got 2\n6:38: error: design.vertices[2].high: expected a number, got 'x'\n7:41: error: "
      "design.vertices[3].high: must not be below 'low': 4 is below 5\n8:47: error: design.vertices[4].box.high: must "
      "not be below 'low': 0 is below 1\n9:34: error: design.vertices[5].axes[0]: must be x, y or z, got 'w'\n9:40: "
      "error: design.vertices[5].axes[2]: 'x' occurs twice: remove one of the two\n9:21: error: "
      "design.vertices[5].links[1]: 'box' occurs twice: remove one of the two\n10:7: error: design.vertices[6]: "
      "expected a map, got 'box'\n");
}

/* ---------------------------------------------------------------- cages */

static void cages_are_read(void** state) {
  (void)state;
  Task task = load_task(TWO_LINKS
                        "design:\n"
                        "  cage: [{links: [box, arm], cells: [2, 3, 4], axes: [x], within: 0.1},\n"
                        "    {link: box, cells: [1, 1, 1], box: {low: [-1, -2, -3], high: [1, 2, 3]}}]\n" SHAPE_LOSS);
  assert_int_equal(task.cage_count, 3);
  assert_string_equal(task.cages[1].link.text, "arm");
  for (int k = 0; k < 3; k++) assert_int_equal(task.cages[1].cells[k], 2 + k);
  expect_axes(task.cages[1].axes, true, false, false);
  compare_near(task.cages[1].bounds.within, 0.1, 0, "within");
  assert_false(task.cages[1].has_box);
  assert_true(task.cages[2].has_box);
  compare_vec3(task.cages[2].box_low, vec3(-1, -2, -3), 0, "low");
  compare_vec3(task.cages[2].box_high, vec3(1, 2, 3), 0, "high");
  expect_unbounded(&task.cages[2].bounds);
  task_free(&task);
}

static void mistakes_in_cages_are_told(void** state) {
  (void)state;
  expect_task_problems(
      TWO_LINKS
      "design:\n"
      "  cage:\n"
      "    - {link: box}\n"
      "    - {link: box, cells: [1, 2]}\n"
      "    - {link: box, cells: [0, 1, 65]}\n"
      "    - {link: box, cells: [1, 1, 1], box: {low: [0, 0, 1], high: [1, 1, 0]}}\n" SHAPE_LOSS,
      "4:7: error: design.cage[0]: 'cells' is missing: give a list of whole numbers\n5:26: error: "
      "design.cage[1].cells: expected 3 numbers, along x, y and z, got 2\n6:27: error: design.cage[2].cells[0]: must "
      "be between 1 and 64, got 0\n6:33: error: design.cage[2].cells[2]: must be between 1 and 64, got 65\n7:65: "
      "error: design.cage[3].box.high: must not be below 'low': 0 is below 1\n");
}

/* ---------------------------------------------------------------- attachments */

static void attachments_are_read(void** state) {
  (void)state;
  Task task =
      load_task(TWO_LINKS
                "design:\n"
                "  attachments: [{link: arm}, {link: arm, axes: [x, z], within: 0.2, low: -1, high: 1}]\n" SHAPE_LOSS);
  assert_int_equal(task.attachment_count, 2);
  expect_axes(task.attachments[0].axes, true, true, true);
  expect_unbounded(&task.attachments[0].bounds);
  const TaskAttachment* second = &task.attachments[1];
  assert_string_equal(second->link.text, "arm");
  assert_int_equal(second->place.column, 30);
  expect_axes(second->axes, true, false, true);
  compare_near(second->bounds.within, 0.2, 0, "within");
  compare_near(second->bounds.low[2], -1, 0, "low");
  compare_near(second->bounds.high[0], 1, 0, "high");
  task_free(&task);
}

/* ---------------------------------------------------------------- symmetries */

static void symmetries_are_read(void** state) {
  (void)state;
  Task task = load_task(TWO_LINKS
                        "design:\n"
                        "  symmetry:\n"
                        "    - {type: mirror, links: [box, arm], normal: [0, 3, 4]}\n"
                        "    - {type: rotation, links: [arm], axis: [0, 0, -2], count: 6}\n"
                        "    - {type: copy, links: [arm, box]}\n" REST);
  assert_int_equal(task.symmetry_count, 3);
  const TaskSymmetry* all = task.symmetries;
  assert_int_equal(all[0].type, SYMMETRY_MIRROR);
  assert_int_equal(all[0].link_count, 2);
  assert_string_equal(all[0].links[1].text, "arm");
  compare_vec3(all[0].normal, vec3(0, 0.6, 0.8), 1e-15, "normal");
  assert_int_equal(all[1].type, SYMMETRY_ROTATION);
  compare_vec3(all[1].axis, vec3(0, 0, -1), 0, "axis");
  assert_int_equal(all[1].count, 6);
  assert_int_equal(all[2].type, SYMMETRY_COPY);
  assert_string_equal(all[2].links[0].text, "arm");
  assert_int_equal(all[2].place.line, 6);
  task_free(&task);
}

static void mistakes_in_symmetries_are_told(void** state) {
  (void)state;
  expect_task_problems(
      TWO_LINKS
      "design:\n"
      "  symmetry:\n"
      "    - {type: copy, links: [box]}\n"
      "    - {type: rotation, links: [box, arm], axis: [1, 0, 0], count: 2}\n"
      "    - {type: mirror, links: [], normal: [0, 0, 0]}\n"
      "    - {type: rotation, links: [box], axis: [1, 0, 0], count: 1}\n"
      "    - {type: copy, links: [box, arm], normal: [1, 0, 0]}\n" REST,
      "4:27: error: design.symmetry[0].links: a symmetry of type copy needs two or more links, got one\n"
      "5:31: error: design.symmetry[1].links: a symmetry of type rotation needs exactly one link, got 2\n"
      "6:41: error: design.symmetry[2].normal: must not be the zero vector: give a direction such as [1, 0, 0]\n"
      "6:29: error: design.symmetry[2].links: must not be empty\n"
      "7:62: error: design.symmetry[3].count: must be between 2 and 1000, got 1\n"
      "8:39: error: design.symmetry[4]: the type copy has no key 'normal': remove the key, or use type mirror\n");
}

/* ---------------------------------------------------------------- constraints */

static void constraints_are_read(void** state) {
  (void)state;
  Task task = load_task(TWO_LINKS
                        "design:\n"
                        "  constraints:\n"
                        "    - {variables: [arm/attachment/x, box/velocity/0], relation: equal}\n"
                        "    - {variables: [arm/attachment/z], coefficients: [-2.5], relation: at_least, value: 3}\n"
                        "    - {variables: [arm/attachment/z], relation: at_most}\n" REST);
  assert_int_equal(task.constraint_count, 3);
  const TaskConstraint* all = task.constraints;
  assert_int_equal(all[0].count, 2);
  assert_string_equal(all[0].variables[1].text, "box/velocity/0");
  compare_near(all[0].coefficients[0], 1, 0, "coefficient");
  compare_near(all[0].coefficients[1], 1, 0, "coefficient");
  assert_int_equal(all[0].relation, RELATION_EQUAL);
  compare_near(all[0].value, 0, 0, "value");
  compare_near(all[1].coefficients[0], -2.5, 0, "coefficient");
  assert_int_equal(all[1].relation, RELATION_AT_LEAST);
  compare_near(all[1].value, 3, 0, "value");
  assert_int_equal(all[1].place.line, 5);
  assert_int_equal(all[2].relation, RELATION_AT_MOST);
  task_free(&task);
}

static void mistakes_in_constraints_are_told(void** state) {
  (void)state;
  expect_task_problems(TWO_LINKS
                       "design:\n"
                       "  constraints:\n"
                       "    - {variables: [box/b/c, box/b/d], coefficients: [1], relation: equal}\n"
                       "    - {variables: [], relation: below}\n"
                       "    - {relation: equal}\n" REST,
                       "4:53: error: design.constraints[0].coefficients: expected 2 numbers, one per variable, got "
                       "1\n5:33: error: design.constraints[1].relation: must be at_most, equal or at_least, got "
                       "'below'\n5:19: error: design.constraints[1].variables: must not be empty\n6:7: error: "
                       "design.constraints[2]: 'variables' is missing: give a list of names\n");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_design_has_defaults),
      cmocka_unit_test(the_design_is_read),
      cmocka_unit_test(vertices_have_defaults),
      cmocka_unit_test(vertices_are_read),
      cmocka_unit_test(several_links_stand_for_several_items),
      cmocka_unit_test(mistakes_in_vertices_are_told),
      cmocka_unit_test(cages_are_read),
      cmocka_unit_test(mistakes_in_cages_are_told),
      cmocka_unit_test(attachments_are_read),
      cmocka_unit_test(symmetries_are_read),
      cmocka_unit_test(mistakes_in_symmetries_are_told),
      cmocka_unit_test(constraints_are_read),
      cmocka_unit_test(mistakes_in_constraints_are_told),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

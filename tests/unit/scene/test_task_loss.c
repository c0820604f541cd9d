#include "task_testing.h"

#define BEFORE TWO_LINKS MOVE_BOX

static void terms_have_defaults(void** state) {
  (void)state;
  Task task = load_task(BEFORE
                        "loss: [{type: point, link: arm, target: [1, 2, 3]}, {type: reach, link: arm, target: [0, 0, "
                        "0]}, {type: force, link: arm}]\n");
  assert_int_equal(task.loss_count, 3);
  const TaskLoss* loss = &task.losses[0];
  assert_int_equal(loss->type, LOSS_POINT);
  assert_string_equal(loss->name, "point");
  compare_near(loss->weight, 1, 0, "weight");
  assert_string_equal(loss->link.text, "arm");
  assert_null(loss->other.text);
  assert_false(loss->has_point);
  compare_vec3(loss->target, vec3(1, 2, 3), 0, "target");
  assert_int_equal(loss->power, 2);
  compare_near(loss->from, -1, 0, "from");
  compare_near(loss->to, -1, 0, "to");
  compare_vec3(loss->spread, vec3(0, 0, 0), 0, "spread");
  compare_near(task.losses[1].margin, 0, 0, "margin");
  compare_vec3(task.losses[2].target, vec3(0, 0, 0), 0, "target");
  task_free(&task);
}

static void every_type_and_key_is_read(void** state) {
  (void)state;
  Task task = load_task(BEFORE
                        "loss:\n"
                        "  - {type: point, name: tip, link: arm, point: [0, 0, -0.5], target: [1, 0, 0], power: 1, "
                        "weight: 3, from: 0.5,\n"
                        "     to: 2.5, spread: [1, 2, 3]}\n"
                        "  - {type: travel, link: box, direction: [0, -2, 0], from: 0, to: 0}\n"
                        "  - {type: relative, link: box, other: arm, to: 1}\n"
                        "  - {type: reach, link: box, point: [1, 1, 1], target: [1, 0, 0], margin: 0.1, from: 1}\n"
                        "  - {type: orientation, link: box, axis: [0, 0, 5], target: [3, 0, 4]}\n"
                        "  - {type: velocity, link: box, point: [0, 1, 0], target: [1, 2, 3]}\n"
                        "  - {type: effort, link: arm, weight: 1e-6}\n"
                        "  - {type: smoothness}\n"
                        "  - {type: force, link: box, target: [0, 0, 9], spread: [0, 0, 1]}\n"
                        "  - {type: gap, link: box, other: arm, margin: 0.2}\n"
                        "  - {type: shape, link: box}\n"
                        "  - {type: volume}\n"
                        "  - {type: roughness}\n"
                        "  - {type: approach, links: [box, a*], other: arm, smoothing: 0.1, margin: 0.3}\n"
                        "  - {type: touch, link: box, other: arm, point: [1, 0, 0], margin: -0.001}\n"
                        "  - {type: closure, link: box, other: arm, friction: 0.7, quality: 0.2, length: 0.02}\n"
                        "  - {type: pose, link: box, target: [1, 2, 3], rotation: [0, 1, 0, 0], length: 0.5,\n"
                        "     target_motion: {type: sequence, interval: 0.1, values: [[0, 0, 0], [1, 2, 3]]}}\n"
                        "  - {type: neck, link: box, margin: 0.01}\n"
                        "  - {type: wall, link: box, margin: 0.02}\n"
                        "  - {type: overhang, link: box, direction: [0, 0, 2], angle: 0.8}\n"
                        "  - {type: extent, link: box, direction: [1, 0, 0]}\n"
                        "  - {type: keep_out, link: box, box: {low: [0, 0, 1], high: [1, 1, 3]}, margin: 0.03}\n"
                        "  - {type: clearance, link: arm, other: box, margin: 0.04}\n"
                        "  - {type: removal, link: arm, direction: [0, 0, -4], length: 0.7, margin: 0.05}\n"
                        "  - {type: mass, links: [box, arm]}\n"
                        "  - {type: coordinate, link: box, other: arm, dof: 2, value: -0.5, over: worst}\n");
  assert_int_equal(task.loss_count, LOSS_TYPE_COUNT);
  const TaskLoss* all = task.losses;
  for (int i = 0; i < LOSS_TYPE_COUNT; i++) assert_int_equal(all[i].type, i);
  const TaskLoss* point = &all[LOSS_POINT];
  assert_string_equal(point->name, "tip");
  assert_true(point->has_point);
  compare_vec3(point->point, vec3(0, 0, -0.5), 0, "point");
  assert_int_equal(point->power, 1);
  compare_near(point->weight, 3, 0, "weight");
  compare_near(point->from, 0.5, 0, "from");
  compare_near(point->to, 2.5, 0, "to");
  compare_vec3(point->spread, vec3(1, 2, 3), 0, "spread");
  assert_int_equal(point->place.line, 4);
  compare_vec3(all[LOSS_TRAVEL].direction, vec3(0, -1, 0), 0, "direction");
  compare_near(all[LOSS_TRAVEL].from, 0, 0, "from");
  compare_near(all[LOSS_TRAVEL].to, 0, 0, "to");
  assert_string_equal(all[LOSS_RELATIVE].other.text, "arm");
  compare_near(all[LOSS_RELATIVE].from, -1, 0, "from");
  compare_near(all[LOSS_RELATIVE].to, 1, 0, "to");
  compare_near(all[LOSS_REACH].margin, 0.1, 0, "margin");
  compare_near(all[LOSS_REACH].from, 1, 0, "from");
  compare_near(all[LOSS_REACH].to, -1, 0, "to");
  compare_vec3(all[LOSS_ORIENTATION].axis, vec3(0, 0, 1), 0, "axis");
  compare_vec3(all[LOSS_ORIENTATION].target, vec3(0.6, 0, 0.8), 1e-15, "target");
  compare_vec3(all[LOSS_VELOCITY].target, vec3(1, 2, 3), 0, "target");
  assert_true(all[LOSS_VELOCITY].has_point);
  assert_string_equal(all[LOSS_EFFORT].link.text, "arm");
  compare_near(all[LOSS_EFFORT].weight, 1e-6, 0, "weight");
  assert_null(all[LOSS_SMOOTHNESS].link.text);
  compare_vec3(all[LOSS_FORCE].target, vec3(0, 0, 9), 0, "target");
  compare_near(all[LOSS_GAP].margin, 0.2, 0, "margin");
  assert_string_equal(all[LOSS_SHAPE].link.text, "box");
  assert_null(all[LOSS_VOLUME].link.text);
  assert_string_equal(all[LOSS_ROUGHNESS].name, "roughness");
  assert_int_equal(all[LOSS_APPROACH].links_count, 2);
  assert_string_equal(all[LOSS_APPROACH].links[1].text, "a*");
  compare_near(all[LOSS_APPROACH].smoothing, 0.1, 0, "smoothing");
  compare_near(all[LOSS_APPROACH].margin, 0.3, 0, "margin");
  compare_vec3(all[LOSS_KEEP_OUT].box_high, vec3(1, 1, 3), 0, "box");
  compare_vec3(all[LOSS_REMOVAL].direction, vec3(0, 0, -1), 0, "direction");
  compare_near(all[LOSS_REMOVAL].length, 0.7, 0, "length");
  assert_string_equal(all[LOSS_CLEARANCE].other.text, "box");
  assert_int_equal(all[LOSS_COORDINATE].dof, 2);
  assert_int_equal(all[LOSS_COORDINATE].over, OVER_WORST);
  assert_int_equal(all[LOSS_TRAVEL].over, OVER_MEAN);
  compare_near(all[LOSS_COORDINATE].value, -0.5, 0, "value");
  compare_near(all[LOSS_POSE].rotation.x, 1, 0, "rotation");
  compare_near(all[LOSS_POSE].length, 0.5, 0, "length");
  assert_int_equal(all[LOSS_POSE].motion.rows, 2);
  compare_near(all[LOSS_POSE].motion.values[4], 2, 0, "motion");
  task_free(&task);
}

static void terms_without_a_name_are_numbered(void** state) {
  (void)state;
  static const char* const WANTED[] = {"shape", "shape_3", "volume", "shape_2", "shape_4", "volume_3", "volume_2"};
  Task task = load_task(BEFORE
                        "loss: [{type: shape}, {type: shape}, {type: volume}, {type: volume, name: shape_2},\n"
                        "  {type: shape}, {type: volume}, {type: shape, name: volume_2}]\n");
  assert_int_equal(task.loss_count, COUNT(WANTED));
  for (int i = 0; i < COUNT(WANTED); i++) assert_string_equal(task.losses[i].name, WANTED[i]);
  task_free(&task);
}

static void a_name_is_a_column(void** state) {
  (void)state;
  expect_task_problems(
      BEFORE
      "loss:\n"
      "  - {type: shape, name: a}\n"
      "  - {type: shape, name: a}\n"
      "  - {type: shape, name: \"b,c\"}\n"
      "  - {type: shape, name: \"b\\nc\"}\n"
      "  - {type: shape, name: grad_design}\n",
      "6:25: error: loss[2].name: a name must not contain a comma, a quote or a new line\n"
      "7:25: error: loss[3].name: a name must not contain a comma, a quote or a new line\n"
      "8:25: error: loss[4].name: the name 'grad_design' is already used by a column of convergence.csv: choose "
      "another name\n"
      "5:5: error: loss[1]: the name 'a' is already used by the term of line 4: choose another name\n");
}

static void mistakes_are_told(void** state) {
  (void)state;
  expect_task_problems(
      BEFORE
      "loss:\n"
      "  - {link: arm}\n"
      "  - {type: pint, link: arm}\n"
      "  - {type: point, link: arm, target: [1, 2], power: 0}\n"
      "  - {type: travel, link: arm, direction: [0, 0, 0], weight: -1}\n"
      "  - {type: travel, link: arm, direction: [0, 0, 0]}\n"
      "  - {type: orientation, link: arm, axis: [1, 0, 0], target: [0, 0, 0]}\n"
      "  - {type: point, link: arm, target: [0, 0, 1], from: 2, to: 1}\n"
      "  - {type: gap, link: arm, other: arm, margin: 1}\n"
      "  - {type: effort, target: [0, 0, 1]}\n"
      "  - {type: shape, to: 3}\n"
      "  - {type: reach, link: arm, target: [0, 0, 1], spread: [0, -1, 0], from: -1}\n",
      "4:5: error: loss[0]: 'type' is missing: give point, travel, relative, reach, orientation, velocity, effort, "
      "smoothness, force, gap, shape, volume, roughness, approach, touch, closure, pose, neck, wall, overhang, extent, "
      "keep_out, clearance, removal, mass or coordinate\n5:12: error: loss[1].type: must be point, travel, relative, "
      "reach, orientation, velocity, effort, smoothness, force, gap, shape, volume, roughness, approach, touch, "
      "closure, pose, neck, wall, overhang, extent, keep_out, clearance, removal, mass or coordinate, got 'pint' (did "
      "you mean 'point'?)\n6:38: error: loss[2].target: expected a list of 3 numbers, got 2\n6:53: error: "
      "loss[2].power: must be between 1 and 2, got 0\n7:61: error: loss[3].weight: must be > 0, got -1\n8:42: error: "
      "loss[4].direction: must not be the zero vector: give a direction such as [1, 0, 0]\n9:61: error: "
      "loss[5].target: must not be the zero vector: give a direction such as [1, 0, 0]\n10:62: error: loss[6].to: must "
      "not be before 'from', 2 s: increase 'to', or reduce 'from'\n11:35: error: loss[7]: 'link' and 'other' are the "
      "same link: name two different links\n12:20: error: loss[8]: the type effort has no key 'target': remove the "
      "key, or use a key of this type: link, over, from or to\n13:19: error: loss[9]: the type "
      "shape has no key 'to': remove the key, or use a key of this type: link\n14:61: error: "
      "loss[10].spread[1]: "
      "must be >= 0 as the target, got -1\n14:75: error: loss[10].from: must be >= 0 s, got -1\n");
  expect_task_problems(BEFORE "loss: []\n", "3:7: error: loss: must not be empty\n");
  expect_task_problems(BEFORE,
                       "1:1: error: 'loss' is missing: give a list of terms, or give 'data' for sdrs identify\n");
  expect_task_problems(BEFORE "data:\n",
                       "1:1: error: 'loss' is missing: give a list of terms, or give 'data' for sdrs identify\n");
}

static void success_is_a_list_of_its_own(void** state) {
  (void)state;
  Task task = load_task(BEFORE
                        "loss: [{type: point, link: arm, target: [1, 2, 3]}]\n"
                        "subject_to: [{type: point, link: arm, target: [0, 0, 0], max: 7}]\n"
                        "success:\n"
                        "  - {type: point, link: box, target: [1, 2, 3], power: 1, weight: 2, max: 0.5}\n"
                        "  - {type: approach, name: near, link: box, other: arm, max: 0}\n"
                        "  - {type: point, links: [box, arm], target: [1, 2, 3], max: -1}\n");
  assert_int_equal(task.loss_count, 2);
  assert_int_equal(task.subject_count, 1);
  assert_int_equal(task.success_count, 3);
  assert_string_equal(task.success[0].name, "point"); /* beside a loss of that name */
  assert_string_equal(task.success[1].name, "near");
  assert_string_equal(task.success[2].name, "point_2");
  const double bounds[] = {0.5, 0, -1};
  for (int i = 0; i < 3; i++) {
    assert_true(task.success[i].bounded);
    compare_near(task.success[i].bound, bounds[i], 0, "bound");
  }
  compare_near(task.success[0].weight, 2, 0, "weight");
  assert_int_equal(task.success[2].links_count, 2);
  task_free(&task);
}

static void all_that_is_wrong_with_success_is_told(void** state) {
  (void)state;
  expect_task_problems(
      BEFORE
      "loss: [{type: point, link: arm, target: [1, 2, 3]}]\n"
      "success:\n"
      "  - {type: point, name: arm, link: arm, target: [1, 2, 3]}\n"
      "  - {type: point, name: arm, link: arm, target: [1, 2, 3], max: .inf}\n",
      "5:5: error: success[0]: 'max' is missing: give a number\n6:65: error: success[1].max: must be a finite number, "
      "got .inf\n6:5: error: success[1]: the name 'arm' is already used by the term of line 5: choose another name\n");
  expect_task_problems(BEFORE "loss: [{type: point, link: arm, target: [1, 2, 3]}]\nsuccess: []\n",
                       "4:10: error: success: must not be empty\n");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(terms_have_defaults),
      cmocka_unit_test(every_type_and_key_is_read),
      cmocka_unit_test(terms_without_a_name_are_numbered),
      cmocka_unit_test(a_name_is_a_column),
      cmocka_unit_test(mistakes_are_told),
      cmocka_unit_test(success_is_a_list_of_its_own),
      cmocka_unit_test(all_that_is_wrong_with_success_is_told),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

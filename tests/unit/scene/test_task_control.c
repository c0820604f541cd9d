#include "task_testing.h"

static void controls_have_defaults(void** state) {
  (void)state;
  Task task = load_task(TWO_LINKS "control: [{link: arm}]\n" SHAPE_LOSS);
  assert_int_equal(task.control_count, 1);
  const TaskControl* control = &task.controls[0];
  assert_string_equal(control->link.text, "arm");
  assert_false(control->has_parameters);
  assert_int_equal(control->parameters, 0);
  assert_true(isinf(control->within) && control->within > 0);
  assert_true(isinf(control->low) && control->low < 0);
  assert_true(isinf(control->high) && control->high > 0);
  assert_false(control->has_dof);
  for (int i = 0; i < JOINT_MAX_DOF; i++) assert_true(control->dof[i]);
  task_free(&task);
  task = load_task(TWO_LINKS "control: [{link: arm, dof: [2, 0]}]\n" SHAPE_LOSS);
  assert_true(task.controls[0].has_dof);
  for (int i = 0; i < JOINT_MAX_DOF; i++) assert_int_equal(task.controls[0].dof[i], i == 0 || i == 2);
  task_free(&task);
}

static void controls_are_read(void** state) {
  (void)state;
  static const struct {
    const char* words;
    unsigned bits;
  } CASES[] = {
      {"[values]", CONTROL_VALUES},
      {"[amplitude, phase]", CONTROL_AMPLITUDE | CONTROL_PHASE},
      {"[frequency]", CONTROL_FREQUENCY},
      {"[phase, frequency, amplitude, values]", CONTROL_VALUES | CONTROL_AMPLITUDE | CONTROL_FREQUENCY | CONTROL_PHASE},
  };
  for (int i = 0; i < COUNT(CASES); i++) {
    Text text = {0};
    text_add(&text,
             TWO_LINKS "control: [{links: [arm, box], parameters: %s, within: 0.5, low: -2, high: 3}]\n" SHAPE_LOSS,
             CASES[i].words);
    Task task = load_task(text.data);
    assert_int_equal(task.control_count, 2);
    const TaskControl* control = &task.controls[1];
    assert_string_equal(control->link.text, "box");
    assert_true(control->has_parameters);
    assert_int_equal(control->parameters, CASES[i].bits);
    compare_near(control->within, 0.5, 0, "within");
    compare_near(control->low, -2, 0, "low");
    compare_near(control->high, 3, 0, "high");
    assert_int_equal(control->place.line, 2);
    task_free(&task);
    text_free(&text);
  }
}

static void starts_have_defaults(void** state) {
  (void)state;
  Task task = load_task(TWO_LINKS MOVE_BOX SHAPE_LOSS);
  assert_int_equal(task.start_count, 1);
  const TaskStart* start = &task.starts[0];
  assert_string_equal(start->link.text, "box");
  assert_true(start->velocities);
  assert_false(start->coordinates);
  for (int i = 0; i < JOINT_MAX_DOF; i++) assert_true(start->dof[i]);
  assert_true(isinf(start->within) && isinf(start->low) && isinf(start->high));
  task_free(&task);
}

static void starts_are_read(void** state) {
  (void)state;
  Task task =
      load_task(TWO_LINKS
                "initial:\n"
                "  - {links: [arm, box], coordinates: true, dof: [0, 5], within: 3, low: -1, high: -0.5}\n" SHAPE_LOSS);
  assert_int_equal(task.start_count, 2);
  const TaskStart* start = &task.starts[1];
  assert_string_equal(start->link.text, "box");
  assert_true(start->coordinates && !start->velocities);
  for (int i = 0; i < JOINT_MAX_DOF; i++) assert_true(start->dof[i] == (i == 0 || i == 5));
  compare_near(start->within, 3, 0, "within");
  compare_near(start->low, -1, 0, "low");
  compare_near(start->high, -0.5, 0, "high");
  assert_int_equal(start->place.line, 3);
  task_free(&task);
}

static void mistakes_are_told(void** state) {
  (void)state;
  expect_task_problems(
      TWO_LINKS
      "control:\n"
      "  - {link: arm, parameters: [phases]}\n"
      "  - {link: arm, low: 2, high: 1}\n"
      "  - {links: [5]}\n"
      "initial:\n"
      "  - {link: arm}\n"
      "  - {link: arm, velocities: yes}\n"
      "  - {link: arm, velocities: true, dof: [6]}\n"
      "  - {velocities: true, within: .nan, dof: []}\n" SHAPE_LOSS,
      "3:30: error: control[0].parameters[0]: must be values, amplitude, frequency, phase, delay, position_gain, "
      "velocity_gain, damping_gain, max_force or feedback, got 'phases' (did you mean 'phase'?)\n4:31: error: "
      "control[1].high: must not be below 'low': 1 is below 2\n5:14: error: control[2].links[0]: expected a text, got "
      "5: put it in quotes\n7:5: error: initial[0]: the item has no variables: give 'coordinates: true', 'turns: true' "
      "or 'velocities: true'\n8:29: error: initial[1].velocities: expected true or false, got 'yes'\n9:41: error: "
      "initial[2].dof[0]: must be between 0 and 5, got 6\n10:32: error: initial[3].within: must be a finite number, "
      "got .nan\n10:43: error: initial[3].dof: must not be empty\n10:5: error: initial[3]: 'link' is missing: give the "
      "name of a link, or give 'links', a list of names\n");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(controls_have_defaults), cmocka_unit_test(controls_are_read),
      cmocka_unit_test(starts_have_defaults),   cmocka_unit_test(starts_are_read),
      cmocka_unit_test(mistakes_are_told),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

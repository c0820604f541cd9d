#include "scene_round_trip.h"
#include "scene_testing.h"

#define BALL "mass: 1, shape: {type: sphere, radius: 1}"
static const char LINKS[] =
    "links:\n"
    "  - {name: base, fixed: true}\n"
    "  - {name: h, joint: {type: hinge, axis: [0, 1, 0]}, " BALL
    "}\n"
    "  - {name: u, joint: {type: universal, axes: [[1, 0, 0], [0, 1, 0]]}, " BALL
    "}\n"
    "  - {name: b, joint: {type: ball}, " BALL "}\n";

static void gains_are_numbers_or_lists(void** state) {
  (void)state;
  Text text = {0};
  text_add(&text,
           "%scontrollers:\n"
           "  - {link: u, type: pd, position_gain: 3, target: 0}\n"
           "  - {link: u, type: pd, position_gain: [3, 4], velocity_gain: [1, 2], target: 0}\n"
           "  - {link: b, type: pd, position_gain: 0, velocity_gain: 5, target: [0.1, 0.2, 0.3]}\n"
           "  - {link: h, type: prescribed, target: 0}\n"
           "  - {link: u, type: pd, position_gain: 3, damping_gain: [1, 2], max_force: 4, target: 0}\n"
           "  - {link: u, type: torque, damping_gain: 0.5, max_force: 6, target: 7}\n"
           "  - {link: u, type: velocity, damping_gain: 8, target: 9}\n",
           LINKS);
  Scene scene = load(text.data);
  const SceneController* controllers = scene.controllers;
  assert_int_equal(scene.controller_count, 7);
  compare_arrays(controllers[0].position_gain, (double[]){3, 3, 0}, 3, 0, "one gain for two");
  compare_arrays(controllers[0].velocity_gain, (double[]){0, 0}, 2, 0, "default");
  compare_arrays(controllers[1].position_gain, (double[]){3, 4}, 2, 0, "gains");
  compare_arrays(controllers[1].velocity_gain, (double[]){1, 2}, 2, 0, "gains");
  compare_arrays(controllers[2].velocity_gain, (double[]){5, 5, 5}, 3, 0, "gains of a ball");
  assert_int_equal(controllers[2].target.channels, 3);
  assert_int_equal(controllers[2].link, 3);
  assert_int_equal(controllers[3].type, CONTROLLER_PRESCRIBED);
  compare_arrays(controllers[4].damping_gain, (double[]){1, 2}, 2, 0, "damping gains");
  compare_arrays(controllers[4].max_force, (double[]){4, 4}, 2, 0, "one limit for two");
  compare_arrays(controllers[3].max_force, (double[]){0, 0}, 2, 0, "no limit");
  assert_int_equal(controllers[5].type, CONTROLLER_TORQUE);
  compare_near(controllers[5].damping_gain[0], 0.5, 0, "drag of a torque drive");
  assert_int_equal(controllers[6].type, CONTROLLER_VELOCITY);
  compare_near(controllers[6].target.values[0], 9, 0, "speed");

  const char* fault = round_trip_fault(&scene);
  if (fault) fail_msg("written and read again: %s", fault);
  scene_free(&scene);
  text_free(&text);
}

static void mistakes_are_told(void** state) {
  (void)state;
  static const struct {
    const char *item, *problem;
  } CASES[] = {
      {"{}",
       "6:15: error: controllers[0]: 'link' is missing: give a text\n6:15: error: controllers[0]: 'type' is missing: "
       "give pd, prescribed, torque or velocity\n"},
      {"{link: h, type: pd, position_gain: 1}",
       "6:15: error: controllers[0]: 'target' is missing: give a number, a list of numbers or a map [m or rad; m/s or "
       "rad/s; N or N m]\n"},
      {"{link: h, type: prescribed}",
       "6:15: error: controllers[0]: 'target' is missing: give a signal [m or rad], or give 'velocity'\n"},
      {"{link: h, type: prescribed, target: 0, velocity: 1}",
       "6:54: error: controllers[0]: give 'target' or 'velocity', not both\n"},
      {"{link: h, type: prescribed, velocity: {type: spline, duration: 1, values: [0, 1]}}",
       "6:53: error: controllers[0].velocity: 'velocity' must not be a spline or cubic, because velocities are "
       "integrated as piecewise linear: use keyframes or linear interpolation\n"},
      {"{link: base, type: pd, position_gain: 1, target: 0}",
       "6:22: error: controllers[0].link: the joint of 'base' is fixed and cannot be driven: remove the controller, or "
       "change the joint\n"},
      {"{link: h, type: pd, target: 0}",
       "6:15: error: controllers[0]: 'position_gain' is missing: give a number or a list of numbers [N/m or N "
       "m/rad]\n"},
      {"{link: h, type: pd, position_gain: -1, target: 0}",
       "6:50: error: controllers[0].position_gain: must be >= 0 N/m or N m/rad, got -1\n"},
      {"{link: b, type: pd, position_gain: [1, 1], target: 0}",
       "6:50: error: controllers[0].position_gain: expected 3 numbers, one per degree of freedom, got 2\n"},
      {"{link: h, type: pid, target: 0}",
       "6:31: error: controllers[0].type: must be pd, prescribed, torque or velocity, got 'pid' (did "
       "you mean 'pd'?)\n"},
      {"{link: h, type: velocity, target: 0}",
       "6:15: error: controllers[0]: 'damping_gain' is missing: give a number or a list of numbers [N s/m or N m "
       "s/rad]\n"},
      {"{link: h, type: torque, target: 0, max_force: 0}",
       "6:61: error: controllers[0].max_force: must be > 0 N or N m, got 0\n"},
      {"{link: b, type: velocity, damping_gain: 1, target: [1, 2, 3], max_force: [2, 2, 3], delay: -1}",
       "6:106: error: controllers[0].delay: must be between 0 and 1000 s, got -1\n6:77: warning: controllers[0]: "
       "'max_force' limits the magnitude of the torque of three rotations, so the mean of the three numbers is used, "
       "which is exact only for equal gains: give equal limits and gains\n"},
  };
  for (int i = 0; i < COUNT(CASES); i++) {
    Text text = {0};
    text_add(&text, "%scontrollers: [%s]\n", LINKS, CASES[i].item);
    expect_problems(text.data, CASES[i].problem);
    text_free(&text);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(gains_are_numbers_or_lists),
      cmocka_unit_test(mistakes_are_told),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

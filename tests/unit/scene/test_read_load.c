#include "scene_round_trip.h"
#include "scene_testing.h"

static const char LINKS[] =
    "links:\n"
    "  - {name: base, fixed: true}\n"
    "  - {name: arm, parent: base, joint: {type: hinge, axis: [0, 1, 0]}, mass: 1, shape: {type: sphere, radius: 1}}\n"
    "  - {name: lift, joint: {type: slide, axis: [0, 0, 1]}}\n"
    "  - {name: ball0, mass: 1, shape: {type: sphere, radius: 1}}\n"
    "  - {name: ball1, mass: 1, shape: {type: sphere, radius: 1}}\n"
    "controllers: [{link: lift, type: prescribed, target: 0}]\n";

static void forces_and_torques(void** state) {
  (void)state;
  Text text = {0};
  text_add(
      &text,
      "%sloads:\n"
      "  - {link: arm, force: [1, 2, 3]}\n"
      "  - {link: arm, axes: link, point: [0.1, 0.2, 0.3], force: {type: keyframes, times: [0, 1], values: [[0, 0, "
      "0], [1, 2, 3]]}, torque: [4, 5, 6]}\n"
      "  - {link: \"ball{i}\", torque: {type: sines, terms: [[{amplitude: 1, frequency: 2}], [], []]}, repeat: {count: "
      "2}}\n",
      LINKS);
  Scene scene = load(text.data);
  const SceneLoad* loads = scene.loads;
  assert_int_equal(scene.load_count, 4);
  assert_false(loads[0].link_axes || loads[0].has_point);
  compare_arrays(loads[0].force.values, (double[]){1, 2, 3}, 3, 0, "force");
  assert_int_equal(loads[0].torque.channels, 0);
  assert_true(loads[1].link_axes && loads[1].has_point);
  compare_vec3(loads[1].point, vec3(0.1, 0.2, 0.3), 0, "point");
  assert_int_equal(loads[1].force.type, SIGNAL_KEYFRAMES);
  compare_arrays(loads[1].torque.values, (double[]){4, 5, 6}, 3, 0, "torque");
  assert_int_equal(loads[2].link, 3);
  assert_int_equal(loads[3].link, 4);
  assert_int_equal(loads[3].force.channels, 0);
  assert_int_equal(loads[3].torque.terms, 1);

  const char* fault = round_trip_fault(&scene);
  if (fault) fail_msg("written and read again: %s", fault);
  scene_free(&scene);
  text_free(&text);
}

static void fields(void** state) {
  (void)state;
  Text text = {0};
  text_add(&text,
           "%sloads:\n"
           "  - {link: ball0, field: {type: point, to: ball1, strength: 3}}\n"
           "  - {link: arm, point: [0.1, 0, 0], field: {type: point, at: [1, 2, 3], strength: {type: sines, terms: "
           "[[{amplitude: 1, frequency: 2}]]}, power: -1, softening: 0.5}}\n"
           "  - {link: ball1, field: {type: dipole, to: base, at: [0, 0, 1], axis: [0, 0, 2], strength: 3, moment: [1, "
           "2, 3]}}\n"
           "  - {link: \"ball{i}\", field: {type: uniform, axis: [1, 0, 0], strength: 3, flux_density: [0, 0, 1]}, "
           "repeat: {count: 2}}\n",
           LINKS);
  Scene scene = load(text.data);
  const SceneLoad* loads = scene.loads;
  assert_int_equal(scene.load_count, 5);
  assert_int_equal(loads[0].field.type, FIELD_POINT);
  assert_int_equal(loads[0].field.to, 4);
  assert_false(loads[0].field.has_at || loads[0].has_point);
  compare_near(loads[0].field.power, 2, 0, "power");
  compare_arrays(loads[0].force.values, (double[]){3}, 1, 0, "strength");
  assert_int_equal(loads[1].field.to, -1);
  assert_true(loads[1].field.has_at && loads[1].has_point);
  assert_int_equal(loads[1].force.channels, 1);
  compare_near(loads[1].field.softening, 0.5, 0, "softening");
  compare_vec3(loads[2].field.axis, vec3(0, 0, 1), 0, "axis");
  compare_vec3(loads[2].field.other, vec3(1, 2, 3), 0, "moment");
  assert_int_equal(loads[4].field.type, FIELD_UNIFORM);
  compare_vec3(loads[4].field.other, vec3(0, 0, 1), 0, "flux density");
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
       "8:9: error: loads[0]: 'link' is missing: give a text\n8:9: error: loads[0]: the load has no effect: give "
       "'force', 'torque' or 'field'\n"},
      {"{link: arm, force: 3}",
       "8:28: error: loads[0].force: expected three numbers or a signal of three channels, got 3\n"},
      {"{link: arm, force: [1, 2]}", "8:28: error: loads[0].force: expected 3 numbers, one per axis, got 2\n"},
      {"{link: arm, torque: [1, 2, x]}", "8:36: error: loads[0].torque[2]: expected a number, got 'x'\n"},
      {"{link: arm, torque: [1, 2, 3], point: [0, 0, 0]}",
       "8:40: error: loads[0]: 'point' has no meaning for a torque: remove 'point', or give 'force'\n"},
      {"{link: arn, torque: [1, 2, 3]}", "8:16: error: loads[0].link: no link is named 'arn' (did you mean 'arm'?)\n"},
      {"{link: arm, force: [1, 2, 3], field: {type: point, strength: 1}}",
       "8:9: error: loads[0]: a load must not have 'field' together with 'force' or 'torque': write two loads\n"},
      {"{link: arm, field: {type: point, to: arm, strength: 1}}",
       "8:46: error: loads[0].field: a link cannot exert a field on itself: name another link or world in 'to'\n"},
      {"{link: arm, axes: link, field: {type: point, strength: 1}}",
       "8:21: error: loads[0]: 'axes' has no meaning for a field: remove 'axes'\n"},
      {"{link: arm, field: {type: dipole, strength: 1, axis: [0, 0, 0], moment: [0, 0, 1]}}",
       "8:62: error: loads[0].field: the axis must not be the zero vector: give a direction such as [0, 0, 1]\n"},
      {"{link: arm, axes: body, torque: [1, 2, 3]}", "8:27: error: loads[0].axes: must be world or link, got 'body'\n"},
  };
  for (int i = 0; i < COUNT(CASES); i++) {
    Text text = {0};
    text_add(&text, "%sloads: [%s]\n", LINKS, CASES[i].item);
    expect_problems(text.data, CASES[i].problem);
    text_free(&text);
  }
}

/* On links that forces cannot move: fixed, or carried by prescribed joints. */
static void idle_loads_are_warned_of(void** state) {
  (void)state;
  static const char* const names[] = {"base", "lift"};
  for (int i = 0; i < COUNT(names); i++) {
    Text text = {0}, wanted = {0};
    text_add(&text, "%sloads: [{link: %s, force: [0, 0, 1]}]\n", LINKS, names[i]);
    text_add(&wanted,
             "8:9: warning: the load has no effect, because forces cannot move the link '%s': remove the load, or free "
             "the link\n",
             names[i]);
    Scene scene;
    Diagnostics diagnostics = {0};
    Status status = parse_with(&scene, &diagnostics, text.data, NULL);
    assert_int_equal(status, STATUS_OK);
    char* found = told(&diagnostics);
    assert_string_equal(found, wanted.data);
    memory_free(found);
    scene_free(&scene);
    diagnostics_free(&diagnostics);
    text_free(&text);
    text_free(&wanted);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(forces_and_torques),
      cmocka_unit_test(fields),
      cmocka_unit_test(mistakes_are_told),
      cmocka_unit_test(idle_loads_are_warned_of),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

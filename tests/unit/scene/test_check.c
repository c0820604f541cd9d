#include "scene_testing.h"

static void what_does_not_move_needs_no_mass(void** state) {
  (void)state;
  Scene scene = load(
      "shapes: {ground: {type: half_space}, ball: {type: sphere, radius: 1}}\n"
      "links:\n"
      "  - {name: a, fixed: true, shape: ground}\n"
      "  - {name: b, parent: a, fixed: true, shape: ball}\n"
      "  - {name: c, parent: b, joint: {type: hinge, axis: [1, 0, 0]}, shape: ground}\n"
      "  - {name: d, parent: c, fixed: true, shape: ball}\n"
      "controllers: [{link: c, type: prescribed, target: 0}]\n");
  scene_free(&scene);
}

static void what_moves_needs_a_mass(void** state) {
  (void)state;
  expect_problems(
      "shapes: {ground: {type: half_space}, ball: {type: sphere, radius: 1}}\n"
      "links:\n"
      "  - {name: a, shape: ball}\n"
      "  - {name: b, parent: a, fixed: true, shape: ball}\n"
      "  - {name: c, fixed: true}\n"
      "  - {name: d, parent: c, joint: {type: ball}, shape: ball}\n"
      "  - {name: e, parent: d, joint: {type: ball}, shape: ball}\n"
      "  - {name: f, mass: 1}\n"
      "  - {name: g, density: 1}\n"
      "controllers: [{link: d, type: pd, position_gain: 1, target: 0}, {link: e, type: prescribed, target: 0}]\n",
      "3:5: error: the link 'a' moves but has no mass: give 'mass' [kg] or 'density' [kg/m^3], or 'fixed: true'\n"
      "4:5: error: the link 'b' moves but has no mass: give 'mass' [kg] or 'density' [kg/m^3]\n"
      "6:5: error: the link 'd' moves but has no mass: give 'mass' [kg] or 'density' [kg/m^3]\n"
      "7:5: error: the link 'e' moves but has no mass: give 'mass' [kg] or 'density' [kg/m^3]\n"
      "8:5: error: the link 'f' moves but has no shape to carry its mass: give 'shape', or give 'inertia' with "
      "mass_model: given\n"
      "9:5: error: the link 'g' moves but has no shape to carry its mass: give 'shape', or give 'inertia' with "
      "mass_model: given\n");
}

static void a_half_space_stays(void** state) {
  (void)state;
  expect_problems(
      "shapes: {ground: {type: half_space}, ball: {type: sphere, radius: 1}}\n"
      "links:\n"
      "  - {name: a, mass: 1, shapes: [ball, ground]}\n"
      "  - {name: b, parent: a, fixed: true, mass: 1, shape: ground}\n",
      "3:39: error: a half_space cannot be part of a link that moves ('a'): fix the link or prescribe its motion\n"
      "4:55: error: a half_space cannot be part of a link that moves ('b'): fix the link or prescribe its motion\n");
}

static void a_controller_without_effect_is_warned_of(void** state) {
  (void)state;
  const char* text =
      "links: [{name: a, joint: {type: hinge, axis: [1, 0, 0]}}]\n"
      "controllers:\n"
      "  - {link: a, type: pd, position_gain: 1, target: 0}\n"
      "  - {link: a, type: prescribed, target: 0}\n";
  Scene scene;
  Diagnostics diagnostics = {0};
  assert_int_equal(parse_with(&scene, &diagnostics, text, NULL), STATUS_OK);
  char* found = told(&diagnostics);
  assert_string_equal(found,
                      "3:5: warning: the controller has no effect, because another controller prescribes the joint of "
                      "'a': remove one of the two\n");
  memory_free(found);
  scene_free(&scene);
  diagnostics_free(&diagnostics);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_does_not_move_needs_no_mass),
      cmocka_unit_test(what_moves_needs_a_mass),
      cmocka_unit_test(a_half_space_stays),
      cmocka_unit_test(a_controller_without_effect_is_warned_of),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

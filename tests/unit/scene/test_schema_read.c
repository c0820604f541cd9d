/* Tests reading maps into structs through complete scenes: defaults, types, missing and unknown keys. */
#include "scene_testing.h"

static void defaults_come_from_the_table(void** state) {
  (void)state;
  Scene scene = load("links:\n" BALL_LINK);
  const SceneSimulation* simulation = &scene.simulation;
  compare_near(simulation->dt, 0.01, 0, "dt");
  assert_int_equal(simulation->steps, 200);
  compare_vec3(simulation->gravity, vec3(0, 0, -9.81), 0, "gravity");
  assert_int_equal(simulation->integrator, INTEGRATOR_MOMENTUM);
  compare_near(simulation->tolerance, 1e-5, 0, "tolerance");
  compare_near(simulation->force_tolerance, 0, 0, "force_tolerance");
  assert_int_equal(simulation->max_iterations, 1000);
  assert_true(simulation->certificate);
  assert_int_equal(simulation->record_every, 1);
  assert_int_equal(simulation->substeps, 1);
  assert_int_equal(scene.contact.model, CONTACT_SEPARATING_PLANE);
  compare_near(scene.contact.friction, 0.5, 0, "friction");
  compare_near(scene.contact.support + scene.contact.stiffness + scene.contact.smoothing, 0, 0, "derived values");
  assert_int_equal(scene.shapes[0].resolution, 1);
  scene_free(&scene);
}

static void values_replace_the_defaults(void** state) {
  (void)state;
  Scene scene = load(
      "simulation: {dt: 0.002, steps: 7, gravity: [1, -2, 3e-1], integrator: second_order, tolerance: 1e-8,\n"
      "  max_iterations: 5, certificate: false, record_every: 2, substeps: 8}\n"
      "contact: {model: none, barrier_distance: 1e-3, stiffness: 1e-8, friction: 0, smoothing: .5}\n"
      "links:\n" BALL_LINK);
  const SceneSimulation* simulation = &scene.simulation;
  compare_near(simulation->dt, 0.002, 0, "dt");
  assert_int_equal(simulation->steps, 7);
  compare_vec3(simulation->gravity, vec3(1, -2, 0.3), 0, "gravity");
  assert_int_equal(simulation->integrator, INTEGRATOR_SECOND_ORDER);
  assert_false(simulation->certificate);
  assert_int_equal(simulation->max_iterations, 5);
  assert_int_equal(simulation->record_every, 2);
  assert_int_equal(simulation->substeps, 8);
  assert_int_equal(scene.contact.model, CONTACT_NONE);
  compare_near(scene.contact.support, 1e-3, 0, "support");
  compare_near(scene.contact.stiffness, 1e-8, 0, "stiffness");
  compare_near(scene.contact.friction, 0, 0, "friction");
  compare_near(scene.contact.smoothing, 0.5, 0, "smoothing");
  assert_int_equal(scene.contact.support_place.line, 3);
  assert_int_equal(scene.contact.support_place.column, 42);
  scene_free(&scene);
}

static void an_empty_section_means_its_defaults(void** state) {
  (void)state;
  Scene scene = load("simulation:\ncontact: {}\nshapes:\ncontrollers:\ninitial:\nlinks:\n" BALL_LINK);
  assert_int_equal(scene.simulation.steps, 200);
  scene_free(&scene);
}

static void wrong_kinds_are_named(void** state) {
  (void)state;
  static const struct {
    const char *value, *problem;
  } CASES[] = {
      {"dt: {}", "6: error: simulation.dt: expected a number, got a map"},
      {"dt: x", "6: error: simulation.dt: expected a number, got 'x'"},
      {"dt: true", "6: error: simulation.dt: expected a number, got true"},
      {"dt: null", "6: error: simulation.dt: expected a number, got nothing"},
      {"dt: -.inf", "6: error: simulation.dt: must be a finite number, got -.inf"},
      {"dt: 0", "6: error: simulation.dt: must be > 0 and <= 1000 s, got 0"},
      {"steps: 1.5", "9: error: simulation.steps: must be a whole number, got 1.5"},
      {"steps: 0", "9: error: simulation.steps: must be between 1 and 1000000000, got 0"},
      {"steps: 1e10", "9: error: simulation.steps: must be between 1 and 1000000000, got 1e10"},
      {"steps: [1]", "9: error: simulation.steps: expected a whole number, got a list"},
      {"certificate: 1", "15: error: simulation.certificate: expected true or false, got 1"},
      {"certificate: []", "15: error: simulation.certificate: expected true or false, got a list"},
      {"gravity: 9.81", "11: error: simulation.gravity: expected a list of 3 numbers, got 9.81"},
      {"gravity: [0, 0]", "11: error: simulation.gravity: expected a list of 3 numbers, got 2"},
      {"gravity: [0, 0, x]", "18: error: simulation.gravity[2]: expected a number, got 'x'"},
      {"gravity: [0, 0, [1]]", "18: error: simulation.gravity[2]: expected a number, got a list"},
      {"integrator: first",
       "14: error: simulation.integrator: must be first_order, second_order or momentum, got 'first'"},
      {"integrator: first_oder",
       "14: error: simulation.integrator: must be first_order, second_order or momentum, got 'first_oder' (did you "
       "mean "
       "'first_order'?)"},
      {"integrator: [1]",
       "14: error: simulation.integrator: expected first_order, second_order or momentum, got a list"},
      {"integrator:", "13: error: simulation.integrator: expected first_order, second_order or momentum, got nothing"},
      {"\"d\\tt\": 1", "2: error: unknown key 'd?t' in simulation (did you mean 'dt'?)"},
      {"\"\": 1", "2: error: unknown key '' in simulation"},
  };
  for (int i = 0; i < COUNT(CASES); i++) {
    Text text = {0}, wanted = {0};
    text_add(&text, "links: []\nsimulation:\n %s\n", CASES[i].value);
    text_add(&wanted, "3:%s\n", CASES[i].problem);
    expect_problems(text.data, wanted.data);
    text_free(&text);
    text_free(&wanted);
  }
}

static void whole_numbers_may_be_written_as_reals(void** state) {
  (void)state;
  Scene scene = load("simulation: {steps: 1.2e2}\nlinks: []\n");
  assert_int_equal(scene.simulation.steps, 120);
  scene_free(&scene);
}

static void all_problems_are_told_in_one_go(void** state) {
  (void)state;
  expect_problems(
      "simulation: {dt: -1, stesp: 5}\n"
      "contact: {friction: x}\n"
      "links:\n"
      "  - {mass: 1, shape: nix}\n"
      "  - {name: a, mass: 1, mass: 2, shape: {type: sphere}}\n"
      "  - 7\n",
      "5:24: error: the key 'mass' occurs twice, first in line 5: remove one of the two\n1:18: error: simulation.dt: "
      "must be > 0 and <= 1000 s, got -1\n1:22: error: unknown key 'stesp' in simulation (did you mean "
      "'steps'?)\n2:21: error: contact.friction: expected a number, got 'x'\n4:5: error: links[0]: 'name' is missing: "
      "give a text\n4:22: error: links[0].shape: no shape is named 'nix'\n5:40: error: links[1].shape: 'radius' is "
      "missing: give a number [m]\n6:5: error: links[2]: expected a map, got 7\n");
}

static void the_root_must_be_a_map(void** state) {
  (void)state;
  expect_problems("[1, 2]", "1:1: error: expected a map, got a list\n");
  expect_problems("just text", "1:1: error: expected a map, got 'just text'\n");
}

static void hundreds_of_problems_are_cut(void** state) {
  (void)state;
  Text text = {0};
  text_add(&text, "links:\n");
  for (int i = 0; i < 500; i++) text_add(&text, "  - {name: l%d, mas: 1}\n", i);
  Scene scene;
  Diagnostics diagnostics = {0};
  assert_int_equal(parse_with(&scene, &diagnostics, text.data, NULL), STATUS_BAD_INPUT);
  assert_int_equal(diagnostics.error_count, 200);
  assert_int_equal(diagnostics.count, 201);
  assert_string_equal(diagnostics.items[200].text, "more than 200 problems: further problems are not shown");
  scene_free(&scene);
  diagnostics_free(&diagnostics);
  text_free(&text);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(defaults_come_from_the_table),
      cmocka_unit_test(values_replace_the_defaults),
      cmocka_unit_test(an_empty_section_means_its_defaults),
      cmocka_unit_test(wrong_kinds_are_named),
      cmocka_unit_test(whole_numbers_may_be_written_as_reals),
      cmocka_unit_test(all_problems_are_told_in_one_go),
      cmocka_unit_test(the_root_must_be_a_map),
      cmocka_unit_test(hundreds_of_problems_are_cut),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

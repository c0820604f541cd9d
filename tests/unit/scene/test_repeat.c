#include "scene_testing.h"

#define BALL "mass: 1, shape: {type: sphere, radius: 1}"

static void a_chain_hangs_together(void** state) {
  (void)state;
  Scene scene = load(
      "links:\n"
      "  - {name: base, fixed: true}\n"
      "  - name: c{i}\n"
      "    parent: c{i-1}\n"
      "    joint: {type: hinge, axis: [0, 1, 0], position: [0, 0, -0.5]}\n"
      "    mass: 1\n"
      "    shape: {type: sphere, radius: 1}\n"
      "    repeat: {count: 4, start: 1, first: {parent: base, mass: 7, joint: {type: ball, position: [0, 0, 2]}}}\n"
      "  - {name: last, parent: c4, fixed: true, " BALL "}\n");
  assert_int_equal(scene.link_count, 6);
  const SceneLink* links = scene.links;
  assert_string_equal(links[1].name, "c1");
  assert_string_equal(links[4].name, "c4");
  for (int i = 1; i < 6; i++) assert_int_equal(links[i].parent, i - 1);
  assert_int_equal(links[1].joint.type, JOINT_BALL);
  compare_vec3(links[1].joint.position, vec3(0, 0, 2), 0, "first");
  compare_near(links[1].mass, 7, 0, "mass of the first");
  for (int i = 2; i < 5; i++) {
    assert_int_equal(links[i].joint.type, JOINT_HINGE);
    compare_vec3(links[i].joint.position, vec3(0, 0, -0.5), 0, "others");
    compare_near(links[i].mass, 1, 0, "mass of the others");
  }
  scene_free(&scene);
}

static void a_grid_counts_with_the_last_index_fastest(void** state) {
  (void)state;
  Scene scene = load("links: [{name: 'b{n}_{i}{j}{k}', position: [10, 0, 0], " BALL
                     ", repeat: {count: [2, 3, 2], position: [1, 2, 4]}}]\n");
  assert_int_equal(scene.link_count, 12);
  for (int i = 0, n = 0; i < 2; i++)
    for (int j = 0; j < 3; j++)
      for (int k = 0; k < 2; k++, n++) {
        char name[64];
        snprintf(name, sizeof name, "b%d_%d%d%d", n, i, j, k);
        assert_string_equal(scene.links[n].name, name);
        compare_vec3(scene.links[n].joint.position, vec3(10 + i, 2 * j, 4 * k), 0, "grid");
      }
  scene_free(&scene);
}

static void a_grid_may_have_a_vector_per_axis(void** state) {
  (void)state;
  Scene scene =
      load("links: [{name: 'b{n}', " BALL ", repeat: {count: [2, 3], position: [[1, 1, 0], [0, 0.5, 2]]}}]\n");
  for (int n = 0; n < 6; n++) {
    int i = n / 3, j = n % 3;
    compare_vec3(scene.links[n].joint.position, vec3(i, i + 0.5 * j, 2 * j), 0, "item %d", n);
  }
  scene_free(&scene);
}

static void rotations_compose(void** state) {
  (void)state;
  /* Template turned by a quarter about x; each step adds an eighth about z, in the parent's axes. */
  Scene scene = load("links: [{name: 'b{n}', position: [1, 0, 3], rotation_vector: [1.5707963267948966, 0, 0], " BALL
                     ", repeat: {count: 8, start: 5, rotation_vector: [0, 0, 0.7853981633974483]}}]\n");
  for (int n = 0; n < 8; n++) {
    Quat wanted = quat_mul(quat_about(vec3(0, 0, 1), n * PI / 4), quat_about(vec3(1, 0, 0), PI / 2));
    compare_quat(scene.links[n].joint.rotation, wanted, 1e-14, "turned in place");
    compare_vec3(scene.links[n].joint.position, vec3(1, 0, 3), 0, "stays");
  }
  scene_free(&scene);
}

static void a_ring_goes_around_a_point(void** state) {
  (void)state;
  Scene scene = load("links: [{name: 'b{n}', position: [3, 1, 5], " BALL
                     ", repeat: {count: 4, rotation_vector: [0, 0, 1.5707963267948966], around: [1, 1, 0], position: "
                     "[0, 0, 0.5]}}]\n");
  static const Vec3 WANTED[] = {{3, 1, 5}, {1, 3, 5.5}, {-1, 1, 6}, {1, -1, 6.5}};
  for (int n = 0; n < 4; n++) {
    compare_vec3(scene.links[n].joint.position, WANTED[n], 1e-14, "item %d", n);
    compare_quat(scene.links[n].joint.rotation, quat_about(vec3(0, 0, 1), n * PI / 2), 1e-14, "turned along");
  }
  scene_free(&scene);
}

static void names_of_shapes_and_groups_may_vary(void** state) {
  (void)state;
  Scene scene = load(
      "shapes: {s0: {type: sphere, radius: 1}, s1: {type: sphere, radius: 2}}\n"
      "contact: {exclude: [[even0, odd1]]}\n"
      "links: [{name: 'b{n}', mass: 1, shape: 's{n%2}', groups: ['even{n-n%2}', 'odd{n}'], repeat: {count: 5}}]\n");
  for (int n = 0; n < 5; n++) assert_int_equal(scene.links[n].shapes[0].shape, n % 2);
  assert_string_equal(scene.links[3].groups[0], "even2");
  assert_string_equal(scene.links[3].groups[1], "odd3");
  scene_free(&scene);
}

static void controllers_and_initials_repeat(void** state) {
  (void)state;
  Scene scene =
      load("links: [{name: 'a{i}{j}', joint: {type: slide, axis: [1, 0, 0]}, " BALL
           ", repeat: {count: [2, 3]}}]\n"
           "controllers: [{link: 'a{i}{j}', type: pd, position_gain: 1, target: 2, repeat: {count: [2, 2]}}]\n"
           "initial: [{link: 'a{i}{j}', coordinates: [5], velocities: [1], repeat: {count: [2, 3], coordinates: [[10], "
           "[1]], "
           "velocities: [0.5]}}]\n");
  assert_int_equal(scene.controller_count, 4);
  static const int LINKS[] = {0, 1, 3, 4};
  for (int i = 0; i < 4; i++) assert_int_equal(scene.controllers[i].link, LINKS[i]);
  assert_int_equal(scene.initial_count, 6);
  for (int n = 0; n < 6; n++) {
    assert_int_equal(scene.initials[n].link, n);
    int row = n / 3;
    compare_near(scene.initials[n].coordinates[0], 5 + 10 * row + n % 3, 0, "coordinate of item %d", n);
    compare_near(scene.initials[n].velocities[0], 1 + 0.5 * n, 0, "velocity of item %d", n);
  }
  scene_free(&scene);
}

static void first_may_exclude_what_the_template_has(void** state) {
  (void)state;
  Scene scene = load(
      "links: [{name: 'a{i}', mass: 2, shape: {type: sphere, radius: 1}, repeat: {count: 2, first: "
      "{density: 500, shapes: [{type: box, size: [1, 1, 1]}]}}}]\n");
  assert_true(scene.links[0].has_density && !scene.links[0].has_mass);
  assert_true(!scene.links[1].has_density && scene.links[1].has_mass);
  assert_int_equal(scene.shapes[scene.links[0].shapes[0].shape].type, SHAPE_BOX);
  assert_int_equal(scene.shapes[scene.links[1].shapes[0].shape].type, SHAPE_SPHERE);
  scene_free(&scene);
}

static void nothing_is_a_count(void** state) {
  (void)state;
  Scene scene =
      load("links: [{name: a, " BALL ", repeat: {count: 0}}, {name: 'b{n}', " BALL ", repeat: {count: [3, 0, 2]}}]\n");
  assert_int_equal(scene.link_count, 0);
  scene_free(&scene);
  expect_problems("links: [{name: a, mas: 1, repeat: {count: 0}}]\n",
                  "1:19: error: unknown key 'mas' in links[0] (did you mean 'mass'?)\n");
}

static void a_mistake_is_told_once(void** state) {
  (void)state;
  expect_problems("links: [{name: 'a{i}', mass: -1, shape: {type: sphere, radius: 1}, repeat: {count: 1000}}]\n",
                  "1:30: error: links[0].mass: must be > 0 kg, got -1\n");
  expect_problems(
      "shapes: {s0: {type: sphere, radius: 1}}\n"
      "links: [{name: 'a{i}', mass: 1, shape: 's{i}', repeat: {count: 1000}}]\n",
      "2:40: error: links[0].shape: no shape is named 's1' (did you mean 's0'?) (item 1 of the repeat)\n");
  expect_problems(
      "links: [{name: 'a{i}', shape: {type: sphere, radius: 1}, repeat: {count: 1000}}]\n",
      "1:9: error: the link 'a0' moves but has no mass: give 'mass' [kg] or 'density' [kg/m^3], or 'fixed: true'\n");
}

static void mistakes_in_a_repeat_are_told(void** state) {
  (void)state;
  static const struct {
    const char *repeat, *problem;
  } CASES[] = {
      {"5", ": expected a map, got 5"},
      {"{}", ": 'count' is missing: give a whole number, or a list of up to 3 whole numbers"},
      {"{count: [1, 2, 3, 4]}", ".count: expected 1 to 3 whole numbers, got 4"},
      {"{count: []}", ".count: expected 1 to 3 whole numbers, got 0"},
      {"{count: 1.5}", ".count: must be a whole number, got 1.5"},
      {"{count: [x]}", ".count: expected a number, got 'x'"},
      {"{count: [100000, 100000, 100000]}",
       ".count: the product of the counts is more than 100000 items: lower the counts"},
      {"{count: 2, position: 1}", ".position: expected a list of 3 numbers, or a list of such lists, got 1"},
      {"{count: 2, position: [1, 2]}", ".position: expected a list of 3 numbers, got 2"},
      {"{count: [2, 2], position: [1, 2, 3]}",
       ".position: the third component must be 0, because 'count' has only two axes"},
      {"{count: 2, position: [[1, 2, 3], [1, 2, 3]]}", ".position: expected 1 vectors, one per axis of 'count', got 2"},
      {"{count: 2, coordinates: [1]}", NULL},
      {"{count: 2, first: {repeat: {count: 3}}}", ": 'first' must not contain 'repeat': remove 'repeat' from 'first'"},
      {"{count: 2, first: 5}", ".first: expected a map, got 5"},
      {"{count: 2, start: x}", ".start: expected a number, got 'x'"},
  };
  for (int i = 0; i < COUNT(CASES); i++) {
    Text text = {0};
    text_add(&text, "links: [{name: 'a{i}', parent: 'a{i-1}', fixed: true, repeat: %s}]\n", CASES[i].repeat);
    Scene scene;
    Diagnostics diagnostics = {0};
    assert_int_equal(parse_with(&scene, &diagnostics, text.data, NULL), STATUS_BAD_INPUT);
    Text wanted = {0};
    if (CASES[i].problem)
      text_add(&wanted, "links[0].repeat%s", CASES[i].problem);
    else
      text_add(&wanted,
               "unknown key 'coordinates' in links[0].repeat (there are count, start, first, position, rotation_vector "
               "and around)");
    char* found = told(&diagnostics);
    if (diagnostics.count != 1 || strcmp(diagnostics.items[0].text, wanted.data) != 0)
      fail_msg("for %s\ntold %s\nwanted %s", text.data, found, wanted.data);
    memory_free(found);
    assert_int_equal(diagnostics.items[0].line, 1);
    scene_free(&scene);
    diagnostics_free(&diagnostics);
    text_free(&text);
    text_free(&wanted);
  }
}

static void increments_must_fit(void** state) {
  (void)state;
  static const char LINKS[] = "links: [{name: 'a{i}', joint: {type: ball}, " BALL ", repeat: {count: 3}}]\n";
  static const struct {
    const char *initial, *problem;
  } CASES[] = {
      {"coordinates: [0, 0, 0], repeat: {count: 3, coordinates: [1, 0]}",
       "initial[0].coordinates: the item has 3 numbers, but its increment in 'repeat' has 2: give equally many "
       "numbers"},
      {"coordinates: [1, 0, 0, 0], repeat: {count: 3, coordinates: [0, 0.1, 0, 0]}",
       "initial[0].coordinates: a quaternion cannot be incremented: give the rotation as a rotation vector"},
      {"coordinates: [0, 0, 0], repeat: {count: 3, coordinates: []}",
       "initial[0].repeat.coordinates: expected a list of 1 to 7 numbers"},
      {"coordinates: [0, 0, 0], repeat: {count: 3, coordinates: [[1, 0, 0], [1, 0, 0]]}",
       "initial[0].repeat.coordinates: expected 1 lists, one per axis of 'count', got 2"},
      {"coordinates: [0, 0, 0], repeat: {count: [3, 1], coordinates: [[1, 0, 0], [1, 0]]}",
       "initial[0].repeat.coordinates: expected 3 numbers, as in the first list, got 2"},
  };
  for (int i = 0; i < COUNT(CASES); i++) {
    Text text = {0};
    text_add(&text, "%sinitial: [{link: 'a{i}', %s}]\n", LINKS, CASES[i].initial);
    Scene scene;
    Diagnostics diagnostics = {0};
    assert_int_equal(parse_with(&scene, &diagnostics, text.data, NULL), STATUS_BAD_INPUT);
    assert_int_equal(diagnostics.count, 1);
    assert_string_equal(diagnostics.items[0].text, CASES[i].problem);
    scene_free(&scene);
    diagnostics_free(&diagnostics);
    text_free(&text);
  }
}

static void there_is_an_end_to_links(void** state) {
  (void)state;
  Scene scene;
  Diagnostics diagnostics = {0};
  const char* text = "links: [{name: 'a{i}', fixed: true, repeat: {count: 100000}}, {name: x, mass: -1}]\n";
  assert_int_equal(parse_with(&scene, &diagnostics, text, NULL), STATUS_BAD_INPUT);
  assert_int_equal(diagnostics.count, 1);
  assert_string_equal(diagnostics.items[0].text,
                      "links[0]: the scene has more than 20000 links: remove links (item 20000 of the repeat)");
  scene_free(&scene);
  diagnostics_free(&diagnostics);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_chain_hangs_together),
      cmocka_unit_test(a_grid_counts_with_the_last_index_fastest),
      cmocka_unit_test(a_grid_may_have_a_vector_per_axis),
      cmocka_unit_test(rotations_compose),
      cmocka_unit_test(a_ring_goes_around_a_point),
      cmocka_unit_test(names_of_shapes_and_groups_may_vary),
      cmocka_unit_test(controllers_and_initials_repeat),
      cmocka_unit_test(first_may_exclude_what_the_template_has),
      cmocka_unit_test(nothing_is_a_count),
      cmocka_unit_test(a_mistake_is_told_once),
      cmocka_unit_test(mistakes_in_a_repeat_are_told),
      cmocka_unit_test(increments_must_fit),
      cmocka_unit_test(there_is_an_end_to_links),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

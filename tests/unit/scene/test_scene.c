#include <stdlib.h>
#include <unistd.h>
#include "scene_testing.h"

/* ---------------------------------------------------------------- scenes/invalid: one mistake a file */

static void check_invalid(const char* path) {
  char* wanted = expected_problem(path);
  Scene scene;
  Diagnostics diagnostics = {0};
  Status status = scene_load(&scene, path, NULL, 0, &diagnostics);
  char* found = told(&diagnostics);
  found[strcspn(found, "\n")] = '\0';
  if (strcmp(found, wanted) != 0 || diagnostics.count != 1)
    fail_msg("%s: %d problems\ntold   %s\nwanted %s", path, diagnostics.count, found, wanted);
  assert_int_equal(status, STATUS_BAD_INPUT);
  assert_string_equal(diagnostics.items[0].file, path);
  memory_free(found);
  memory_free(wanted);
  scene_free(&scene);
  diagnostics_free(&diagnostics);
}

static void every_invalid_scene_gets_its_message(void** state) {
  (void)state;
  check_every_yaml("scenes/invalid", check_invalid, 25);
}

/* ---------------------------------------------------------------- files */

static void a_file_that_cannot_be_read_is_an_io_error(void** state) {
  (void)state;
  static const char* const PATHS[] = {"scenes/no-such-scene.yaml", "scenes"};
  for (int i = 0; i < COUNT(PATHS); i++) {
    Scene scene;
    Diagnostics diagnostics = {0};
    assert_int_equal(scene_load(&scene, PATHS[i], NULL, 0, &diagnostics), STATUS_IO);
    assert_int_equal(diagnostics.error_count, 1);
    assert_string_equal(diagnostics.items[0].file, PATHS[i]);
    scene_free(&scene);
    diagnostics_free(&diagnostics);
  }
}

static void the_extension_chooses_the_format(void** state) {
  (void)state;
  char folder[] = "/tmp/sdrs-scene-XXXXXX";
  assert_non_null(mkdtemp(folder));
  static const char* const TEXTS[2] = {"links: []\n", "{\"links\": []}"};
  for (int i = 0; i < 2; i++) {
    Text path = {0};
    text_add(&path, "%s/my.scene.%s", folder, i == 0 ? "yaml" : "json");
    assert_int_equal(file_write(path.data, TEXTS[i], strlen(TEXTS[i])), STATUS_OK);
    Scene scene;
    Diagnostics diagnostics = {0};
    assert_int_equal(scene_load(&scene, path.data, NULL, 0, &diagnostics), STATUS_OK);
    assert_string_equal(scene.name, "my.scene");
    assert_string_equal(scene.path, path.data);
    char hash[65];
    hash_sha256(TEXTS[i], strlen(TEXTS[i]), hash);
    assert_string_equal(scene.sha256, hash);
    scene_free(&scene);
    unlink(path.data);
    text_free(&path);
  }
  rmdir(folder);
}

static void a_zeroed_scene_can_be_freed(void** state) {
  (void)state;
  Scene scene = {0};
  scene_free(&scene);
  scene_free(&scene);
}

/* ---------------------------------------------------------------- one model for both formats */

static const char YAML[] =
    "name: both\n"
    "simulation: {dt: 1e-3, steps: 10, integrator: first_order}\n"
    "shapes: {b: {type: box, size: [1, 2, 3]}, g: {type: half_space}}\n"
    "links:\n"
    "  - {name: ground, fixed: true, shape: g}\n"
    "  - {name: \"x\xc3\xa4{i}\", mass: 0.1, shape: b, repeat: {count: 3, position: [0, 0, 4]}}\n";
static const char JSON[] =
    "{\"name\": \"both\", \"simulation\": {\"dt\": 0.001, \"steps\": 10, \"integrator\": \"first_order\"},\n"
    "\"shapes\": {\"b\": {\"type\": \"box\", \"size\": [1, 2, 3]}, \"g\": {\"type\": \"half_space\"}},\n"
    "\"links\": [{\"name\": \"ground\", \"fixed\": true, \"shape\": \"g\"},\n"
    " {\"name\": \"x\\u00e4{i}\", \"mass\": 0.1, \"shape\": \"b\", \"repeat\": {\"count\": 3, \"position\": [0, 0, "
    "4]}}]}";

static void yaml_and_json_say_the_same(void** state) {
  (void)state;
  Scene a, b;
  Diagnostics diagnostics = {0};
  assert_int_equal(scene_parse(&a, "t.yaml", YAML, sizeof YAML - 1, false, NULL, 0, &diagnostics), STATUS_OK);
  assert_int_equal(scene_parse(&b, "t.json", JSON, sizeof JSON - 1, true, NULL, 0, &diagnostics), STATUS_OK);
  assert_int_equal(a.link_count, 4);
  assert_int_equal(b.link_count, 4);
  compare_near(a.simulation.dt, b.simulation.dt, 0, "dt");
  for (int i = 0; i < 4; i++) {
    assert_string_equal(a.links[i].name, b.links[i].name);
    compare_near(a.links[i].mass, b.links[i].mass, 0, "mass");
    compare_vec3(a.links[i].joint.position, b.links[i].joint.position, 0, "position");
    assert_int_equal(a.links[i].shapes[0].shape, b.links[i].shapes[0].shape);
  }
  compare_vec3(a.shapes[0].size, b.shapes[0].size, 0, "size");
  scene_free(&a);
  scene_free(&b);
}

static void json_messages_have_their_place(void** state) {
  (void)state;
  const char* text = "{\"links\": [\n  {\"name\": \"a\", \"mass\": -1, \"shap\": 3}]}";
  Scene scene;
  Diagnostics diagnostics = {0};
  assert_int_equal(scene_parse(&scene, "t.json", text, strlen(text), true, NULL, 0, &diagnostics), STATUS_BAD_INPUT);
  char* found = told(&diagnostics);
  assert_string_equal(found,
                      "2:25: error: links[0].mass: must be > 0 kg, got -1\n2:29: error: unknown key 'shap' in links[0] "
                      "(did you mean 'shape'?)\n2:3: error: the link 'a' moves but has no shape to carry its mass: "
                      "give 'shape', or give 'inertia' with mass_model: given\n");
  memory_free(found);
  scene_free(&scene);
  diagnostics_free(&diagnostics);
}

/* ---------------------------------------------------------------- times, names, pairs */

static void the_duration_is_rounded_to_steps(void** state) {
  (void)state;
  static const struct {
    const char* text;
    int steps;
  } CASES[] = {{"dt: 0.01, duration: 2", 200}, {"dt: 0.1, duration: 0.3", 3}, {"dt: 0.1, duration: 0.24", 2},
               {"dt: 0.1, duration: 0.05", 1}, {"dt: 0.001, steps: 7", 7},    {"dt: 0.5", 4}};
  for (int i = 0; i < COUNT(CASES); i++) {
    Text text = {0};
    text_add(&text, "simulation: {%s, integrator: first_order}\nlinks: []\n", CASES[i].text);
    Scene scene = load(text.data);
    if (scene.simulation.steps != CASES[i].steps) fail_msg("%s: %d steps", CASES[i].text, scene.simulation.steps);
    scene_free(&scene);
    text_free(&text);
  }
  expect_problems("simulation: {dt: 1e-9, duration: 100, integrator: first_order}\nlinks: []\n",
                  "1:34: error: simulation.duration: must be at most 1000000000 time steps of 1e-09 s: reduce "
                  "'duration', or increase 'dt'\n");
  expect_problems("simulation: {dt: 10, integrator: first_order}\nlinks: []\n",
                  "1:13: error: simulation.duration: must be at least half a time step of 10 s: increase 'duration', "
                  "or reduce 'dt'\n");
}

static void a_name_names_a_folder(void** state) {
  (void)state;
  Scene scene = load("links: []\n");
  assert_string_equal(scene.name, "test");
  scene_free(&scene);
  scene = load("name: other\nlinks: []\n");
  assert_string_equal(scene.name, "other");
  scene_free(&scene);
  expect_problems("name: a/b\nlinks: []\n", "1:7: error: name: a scene's name must not contain a slash\n");
  expect_problems("name: ..\nlinks: []\n", "1:7: error: name: a scene's name must not begin with a dot\n");
}

static void pairs_have_materials(void** state) {
  (void)state;
  Scene scene = load(
      "contact:\n"
      "  pairs:\n"
      "    - {a: a, b: g, friction: 0.2}\n"
      "    - {a: g, b: g, restitution: 0.5}\n"
      "links:\n"
      "  - {name: a, friction: 0.8, shape: {type: sphere, radius: 0.1}, mass: 1}\n"
      "  - {name: b, groups: [g], restitution: 1, shape: {type: sphere, radius: 0.1}, mass: 1}\n");
  const ScenePair* pairs = scene.contact.pairs;
  assert_int_equal(scene.contact.pair_count, 2);
  assert_string_equal(pairs[0].name[1], "g");
  assert_true(pairs[0].material.given[MATERIAL_FRICTION] && !pairs[0].material.given[MATERIAL_RESTITUTION]);
  compare_near(pairs[0].material.value[MATERIAL_FRICTION], 0.2, 0, "friction");
  compare_near(pairs[1].material.value[MATERIAL_RESTITUTION], 0.5, 0, "restitution");
  assert_true(scene.links[0].material.given[MATERIAL_FRICTION] && !scene.links[1].material.given[MATERIAL_FRICTION]);
  compare_near(scene.links[1].material.value[MATERIAL_RESTITUTION], 1, 0, "restitution of b");
  scene_free(&scene);
  expect_problems(
      "contact:\n"
      "  restitution: null\n"
      "  pairs: [{a: a, b: gg, friction: -1}, {a: a, friction: 1}, {a: a, b: g, restitution: 0.1}]\n"
      "links:\n"
      "  - {name: a, restitution: 1.5, shape: {type: sphere, radius: 0.1}, mass: 1}\n"
      "  - {name: b, groups: [g], restitution: 1, shape: {type: sphere, radius: 0.1}, mass: 1}\n",
      "5:28: error: links[0].restitution: must be between 0 and 1, got 1.5\n3:35: error: contact.pairs[0].friction: "
      "must be between 0 and 100, got -1\n3:21: error: contact.pairs[0].b: no link or group is named 'gg' (did you "
      "mean 'g'?)\n3:40: error: contact.pairs[1]: 'b' is missing: give a text\n5:5: error: the link 'a' has a "
      "restitution, but contact.restitution is null: set contact.restitution to a number\n6:5: error: the link 'b' has "
      "a restitution, but contact.restitution is null: set contact.restitution to a number\n3:61: error: a pair has a "
      "restitution, but contact.restitution is null: set contact.restitution to a number\n");
}

static void pairs_have_laws(void** state) {
  (void)state;
  Scene scene = load(
      "contact: {pairs: [{a: a, b: b, model: ipc, barrier_distance: 0.01}, {a: b, b: a, friction: 1}]}\n"
      "links: [{name: a, fixed: true}, {name: b, fixed: true}]\n");
  const ScenePair* pairs = scene.contact.pairs;
  assert_true(pairs[0].has_model && pairs[0].model == CONTACT_IPC && !pairs[1].has_model);
  compare_near(pairs[0].material.value[MATERIAL_SUPPORT], 0.01, 0, "support");
  scene_free(&scene);
  scene = load(
      "contact: {pairs: [{a: a, b: b, model: manifold, exponent: 2}, {a: b, b: a, model: long_range, blend: 0.4, "
      "hierarchy: false}, {a: b, b: a, model: long_range}]}\n"
      "links: [{name: a, fixed: true}, {name: b, fixed: true}]\n");
  pairs = scene.contact.pairs;
  assert_true(pairs[0].law_parameter_given[0] && !pairs[0].law_parameter_given[1] && !pairs[0].hierarchy_given);
  compare_near(pairs[0].law_parameters[0], 2, 0, "exponent, which two laws have");
  assert_true(pairs[1].law_parameter_given[0] && pairs[1].hierarchy_given && !pairs[1].hierarchy);
  compare_near(pairs[1].law_parameters[0], 0.4, 0, "blend");
  assert_false(pairs[2].law_parameter_given[0] || pairs[2].hierarchy_given);
  scene_free(&scene);
  expect_problems(
      "contact:\n"
      "  pairs:\n"
      "    - {a: a, b: b, blend: 0.5}\n"
      "    - {a: a, b: b, model: ipc, blend: 0.5}\n"
      "    - {a: a, b: b, model: long_range, blend: 500, hierarchy: 1, blind: 1}\n"
      "    - {a: a, b: b, model: none, exponent: 2}\n"
      "links: [{name: a, fixed: true}, {name: b, fixed: true}]\n",
      "3:7: error: contact.pairs[0]: 'blend' is valid only in a pair with its own 'model': add 'model', or remove "
      "'blend'\n"
      "4:32: error: contact.pairs[1]: the type ipc has no key 'blend': remove the key, or use type long_range\n"
      "5:46: error: contact.pairs[2].blend: must be between 0.01 and 100, got 500\n"
      "5:62: error: contact.pairs[2].hierarchy: expected true or false, got 1\n"
      "5:65: error: unknown key 'blind' in contact.pairs[2] (did you mean 'blend'?)\n"
      "6:33: error: contact.pairs[3]: the type none has no key 'exponent': remove the key, or use type penalty or "
      "manifold\n");
  expect_problems(
      "contact:\n"
      "  pairs:\n"
      "    - {a: a, b: b, stiffness: 1}\n"
      "    - {a: a, b: b, model: long_range, barrier_distance: 1, restitution: 0.1}\n"
      "    - {a: a, b: b, model: newton}\n"
      "links: [{name: a, fixed: true}, {name: b, fixed: true}]\n",
      "3:7: error: contact.pairs[0]: 'stiffness' is valid only in a pair with its own 'model': add 'model', or remove "
      "'stiffness'\n4:7: error: contact.pairs[1]: the law long_range has no key 'restitution': remove the key, or use "
      "another 'model'\n4:7: error: contact.pairs[1]: the law long_range has no key 'barrier_distance': remove the "
      "key, or use another 'model'\n5:27: error: contact.pairs[2].model: must be none, separating_plane, long_range, "
      "ipc, penalty or manifold, got 'newton'\n");
}

static void pairs_are_excluded(void** state) {
  (void)state;
  Scene scene = load(
      "contact: {exclude: [[a, b], [g, a]]}\n"
      "links: [{name: a, fixed: true}, {name: b, fixed: true, groups: [g]}]\n");
  assert_int_equal(scene.contact.exclude_count, 2);
  assert_string_equal(scene.contact.exclude[0][1], "b");
  assert_string_equal(scene.contact.exclude[1][0], "g");
  assert_int_equal(scene.contact.exclude_place[1].column, 29);
  scene_free(&scene);
  expect_problems(
      "contact: {exclude: [[a, bb], 5, [a, b, c], [1, a]]}\n"
      "links: [{name: a, fixed: true}, {name: b, fixed: true, groups: [g]}]\n",
      "1:25: error: contact.exclude[0]: no link or group is named 'bb' (did you mean 'b'?)\n"
      "1:30: error: contact.exclude[1]: expected a pair of names, got 5\n"
      "1:33: error: contact.exclude[2]: expected a pair of names, got a list\n"
      "1:45: error: contact.exclude[3]: expected a text, got 1: put it in quotes\n");
}

/* ---------------------------------------------------------------- size */

static void a_thousand_links_of_a_hundred_points_load(void** state) {
  (void)state;
  Text text = {0};
  text_add(&text, "links:\n");
  for (int i = 0; i < 1000; i++) {
    text_add(&text, " - {name: l%d, mass: 1, shape: {type: points, points: [", i);
    for (int k = 0; k < 100; k++) text_add(&text, "%s[%d.5, %d, %d.25]", k ? ", " : "", k, k * k % 17, i);
    text_add(&text, "]}}\n");
  }
  Scene scene = load(text.data);
  assert_int_equal(scene.link_count, 1000);
  assert_int_equal(scene.shapes[999].point_count, 100);
  compare_vec3(scene.shapes[999].points[99], vec3(99.5, 99 * 99 % 17, 999.25), 0, "the last point");
  scene_free(&scene);
  text_free(&text);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_invalid_scene_gets_its_message),
      cmocka_unit_test(a_file_that_cannot_be_read_is_an_io_error),
      cmocka_unit_test(the_extension_chooses_the_format),
      cmocka_unit_test(a_zeroed_scene_can_be_freed),
      cmocka_unit_test(yaml_and_json_say_the_same),
      cmocka_unit_test(json_messages_have_their_place),
      cmocka_unit_test(the_duration_is_rounded_to_steps),
      cmocka_unit_test(a_name_names_a_folder),
      cmocka_unit_test(pairs_have_materials),
      cmocka_unit_test(pairs_have_laws),
      cmocka_unit_test(pairs_are_excluded),
      cmocka_unit_test(a_thousand_links_of_a_hundred_points_load),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

#include "scene_testing.h"

#define BALL "shape: {type: sphere, radius: 1}"

static void everything_of_a_link_is_read(void** state) {
  (void)state;
  Scene scene = load(
      "links:\n"
      "  - {name: a, density: 500, mass_model: uniform, collide: false, groups: [x, 'y z'], color: [0, 0.5, 1], " BALL
      "}\n"
      "  - {name: b b, mass: 2, color: \"#fF8000\", " BALL
      "}\n"
      "  - {name: c, mass: 2, inertia: [1, 2, 2.5, 0.1, -0.1, 0.2], center: [1, 2, 3]}\n"
      "  - {name: '\xc3\xa4', mass: 2, mass_model: given, inertia: [1, 1, 1, 0, 0, 0]}\n");
  const SceneLink* links = scene.links;
  assert_true(links[0].has_density && !links[0].has_mass);
  compare_near(links[0].density, 500, 0, "density");
  assert_int_equal(links[0].mass_model, MASS_UNIFORM);
  assert_false(links[0].collide);
  assert_int_equal(links[0].group_count, 2);
  assert_string_equal(links[0].groups[1], "y z");
  compare_arrays(links[0].color, (double[]){0, 0.5, 1}, 3, 0, "colour");
  assert_true(links[1].collide && links[1].has_mass);
  assert_int_equal(links[1].mass_model, MASS_BY_SHAPE);
  compare_arrays(links[1].color, (double[]){1, 128 / 255.0, 0}, 3, 0, "colour");
  compare_near(links[2].color[0], -1, 0, "no colour");
  assert_int_equal(links[2].mass_model, MASS_GIVEN);
  compare_vec3(links[2].center, vec3(1, 2, 3), 0, "centre");
  compare_arrays(links[2].inertia, (double[]){1, 2, 2.5, 0.1, -0.1, 0.2}, 6, 0, "inertia");
  assert_int_equal(links[3].mass_model, MASS_GIVEN);
  assert_int_equal(links[3].place.line, 5);
  assert_int_equal(links[3].place.column, 5);
  scene_free(&scene);
}

static void mistakes_are_told(void** state) {
  (void)state;
  static const struct {
    const char *keys, *problem;
  } CASES[] = {
      {"name: a, mass: 1, shape: 5", ".shape: expected a text, got 5: put it in quotes"},
      {"name: '', fixed: true", ".name: must not be empty"},
      {"name: ' a', fixed: true", ".name: a name must not begin or end with a blank, or begin with a dot"},
      {"name: .., fixed: true", ".name: a name must not begin or end with a blank, or begin with a dot"},
      {"name: \"a,b\", fixed: true", ".name: a name must not contain the character ,: choose another name"},
      {"name: \"a\\nb\", fixed: true",
       ".name: a name must not contain a control character (a new line, a tab, ...): remove the character"},
      {"name: null, fixed: true", ".name: expected a text, got nothing"},
      {"name: [a], fixed: true", ".name: expected a text, got a list"},
      {"name: a, fixed: true, parent: 5", ".parent: expected a text, got 5: put it in quotes"},
      {"name: a, fixed: true, parent: world",
       ".parent: no link is named 'world': name a link; for the world as parent, omit 'parent' or write null"},
      {"name: a, fixed: 1", ".fixed: expected true or false, got 1"},
      {"name: a, fixed: true, groups: [1]", ".groups: expected a text, got 1: put it in quotes"},
      {"name: a, fixed: true, groups: x", ".groups: expected a list of names, got 'x'"},
      {"name: a, fixed: true, color: [0, 0, 2]", ".color[2]: must be between 0 and 1, got 2"},
      {"name: a, fixed: true, color: [0, 0]", ".color: expected a list of 3 numbers, got 2"},
      {"name: a, fixed: true, color: '#12345g'", ".color: must be \"#rrggbb\" (in quotes) or [r, g, b], got '#12345g'"},
      {"name: a, mass: 1, inertia: [1, 1, 1]", ".inertia: expected 6 numbers [ixx, iyy, izz, ixy, ixz, iyz], got 3"},
      {"name: a, mass: 1, inertia: [1, 1, 1, 2, 0, 0]",
       ".inertia: must be positive definite: check the order ixx iyy izz ixy ixz iyz"},
      {"name: a, mass: 1, inertia: [0, 0, 0, 0, 0, 0]",
       ".inertia: must be positive definite: check the order ixx iyy izz ixy ixz iyz"},
      {"name: a, mass: 1, mass_model: given", ": mass_model: given needs 'inertia': give 6 numbers [kg m^2]"},
      {"name: a, mass: 1, " BALL ", center: [0, 0, 1]",
       ": 'center' needs 'mass_model: given' and 'inertia': give both, or remove 'center'"},
      {"name: a, mass: 1, " BALL ", mass_model: uniform, inertia: [1, 1, 1, 0, 0, 0]",
       ": 'inertia' needs 'mass_model: given': set mass_model: given, or remove 'inertia'"},
  };
  for (int i = 0; i < COUNT(CASES); i++) {
    Text text = {0};
    text_add(&text, "links: [{%s}]\n", CASES[i].keys);
    Scene scene;
    Diagnostics diagnostics = {0};
    assert_int_equal(parse_with(&scene, &diagnostics, text.data, NULL), STATUS_BAD_INPUT);
    char* found = told(&diagnostics);
    Text wanted = {0};
    text_add(&wanted, " error: links[0]%s\n", CASES[i].problem);
    char* behind = strstr(found, " error:");
    if (diagnostics.count != 1 || !behind || strcmp(behind, wanted.data) != 0)
      fail_msg("for %s\ntold %s\nwanted %s", CASES[i].keys, found, wanted.data);
    memory_free(found);
    scene_free(&scene);
    diagnostics_free(&diagnostics);
    text_free(&text);
    text_free(&wanted);
  }
}

/* A thin rod: the two large moments must not differ by more than the small one. */
static void an_impossible_inertia_is_warned_of(void** state) {
  (void)state;
  Scene scene;
  Diagnostics diagnostics = {0};
  const char* text = "links: [{name: a, mass: 1, inertia: [1, 1, 2.1, 0, 0, 0]}]\n";
  assert_int_equal(parse_with(&scene, &diagnostics, text, NULL), STATUS_OK);
  assert_int_equal(diagnostics.warning_count, 1);
  assert_non_null(strstr(diagnostics.items[0].text, "the inertia is physically impossible"));
  scene_free(&scene);
  diagnostics_free(&diagnostics);
  scene = load("links: [{name: a, mass: 1, inertia: [1, 1, 2, 0, 0, 0]}]\n"); /* a disc: just possible */
  scene_free(&scene);
}

static void parents_stand_before_their_children(void** state) {
  (void)state;
  expect_problems(
      "links:\n"
      "  - {name: a, parent: b, fixed: true}\n"
      "  - {name: b, parent: a, fixed: true}\n"
      "  - {name: c, parent: c, fixed: true}\n"
      "  - {name: d, parent: aa, fixed: true}\n",
      "4:23: error: links[2].parent: the link is its own parent: name an earlier link, or remove 'parent'\n"
      "2:23: error: links[0].parent: the parent 'b' must stand before its child: move the parent up in the file\n"
      "5:23: error: links[3].parent: no link is named 'aa' (did you mean 'a'?)\n");
}

static void an_unreadable_name_excuses_its_users(void** state) {
  (void)state;
  expect_problems(
      "links:\n"
      "  - {name: 5, fixed: true}\n"
      "  - {name: b, parent: five, fixed: true}\n"
      "contact: {exclude: [[b, five]]}\n"
      "initial: [{link: five}]\n",
      "2:12: error: links[0].name: expected a text, got 5: put it in quotes\n");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(everything_of_a_link_is_read),         cmocka_unit_test(mistakes_are_told),
      cmocka_unit_test(an_impossible_inertia_is_warned_of),   cmocka_unit_test(parents_stand_before_their_children),
      cmocka_unit_test(an_unreadable_name_excuses_its_users),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

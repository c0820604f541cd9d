/* Tests included files: names, paths, joints to included links, variables and expressions. */
#include <unistd.h>

#include "scene/expression.h"
#include "scene_testing.h"

static const char ARM[] =
    "variables: {leg: 0.3, half: \"{leg / 2}\"}\n"
    "contact: {exclude: [[upper, tip], [skin, base]]}\n"
    "shapes: {ball: {type: sphere, radius: \"{half}\"}}\n"
    "links:\n"
    "  - {name: base, fixed: true, mass: 1, shape: ball, position: [1, 0, 0], groups: [skin]}\n"
    "  - {name: upper, parent: base, mass: 1, shape: ball, joint: {type: hinge, axis: [0, 1, 0], position: [0, 0, "
    "\"{-leg}\"]}}\n"
    "  - {name: tip, parent: upper, mass: 1, shape: ball, joint: {type: hinge, axis: [0, 1, 0]}}\n"
    "controllers: [{link: tip, type: pd, position_gain: 3, target: 0.5}]\n"
    "loads:\n"
    "  - {link: upper, force: [0, 0, 1]}\n"
    "  - {link: tip, field: {type: point, to: base, strength: 1}}\n"
    "  - {link: tip, field: {type: dipole, at: [1, 0, 0], axis: [0, 0, 1], strength: 1, moment: [2, 0, 0]}}\n"
    "initial: [{link: upper, coordinates: [0.4]}, {link: tip, coordinates: [0.2]}]\n";

static Scene load_part(const char* text, const char* wanted) {
  Scene scene;
  Diagnostics diagnostics = {0};
  FILE* file = fopen("out/include-test.yaml", "w");
  assert_non_null(file);
  fputs(ARM, file);
  fclose(file);
  scene_parse(&scene, "out/scene.yaml", text, strlen(text), false, NULL, 0, &diagnostics);
  char* found = told(&diagnostics);
  if (wanted ? !strstr(found, wanted) : *found != 0) fail_msg("for\n%s\ntold\n%s", text, found);
  memory_free(found);
  diagnostics_free(&diagnostics);
  unlink("out/include-test.yaml");
  return scene;
}

static int link_of(const Scene* scene, const char* name) {
  for (int i = 0; i < scene->link_count; i++)
    if (strcmp(scene->links[i].name, name) == 0) return i;
  fail_msg("no link '%s'", name);
  return -1;
}

static void parts_have_prefix_and_pose(void** state) {
  (void)state;
  Scene s = load_part(
      "include:\n"
      "  - {file: include-test.yaml, prefix: a_, position: [0, 5, 0]}\n"
      "  - {file: include-test.yaml, prefix: b_, position: [0, 0, 2], rpy: [0, 0, 1.5707963267948966], set: "
      "[variables.leg=0.5]}\n"
      "links: [{name: rider, parent: a_tip, mass: 1, shape: a_ball, joint: {type: ball}}]\n",
      NULL);
  assert_int_equal(s.link_count, 7);
  compare_vec3(s.links[link_of(&s, "a_base")].joint.position, vec3(1, 5, 0), 1e-15, "moved");
  compare_vec3(s.links[link_of(&s, "b_base")].joint.position, vec3(0, 1, 2), 1e-15, "turned and moved");
  compare_vec3(s.links[link_of(&s, "a_upper")].joint.position, vec3(0, 0, -0.3), 0, "no root: as it was");
  compare_vec3(s.links[link_of(&s, "b_upper")].joint.position, vec3(0, 0, -0.5), 0, "by the variable that was set");
  assert_int_equal(s.links[link_of(&s, "rider")].parent, link_of(&s, "a_tip"));
  compare_near(s.shapes[s.links[link_of(&s, "b_tip")].shapes[0].shape].radius, 0.25, 0, "shape of b");
  compare_near(s.shapes[s.links[link_of(&s, "rider")].shapes[0].shape].radius, 0.15, 0, "shape of a");
  assert_int_equal(s.controller_count, 2);
  assert_int_equal(s.controllers[1].link, link_of(&s, "b_tip"));
  assert_int_equal(s.load_count, 6);
  assert_int_equal(s.loads[3].link, link_of(&s, "b_upper"));
  assert_int_equal(s.loads[4].field.to, link_of(&s, "b_base"));
  assert_int_equal(s.loads[5].field.to, -1);
  compare_vec3(s.loads[5].field.at, vec3(0, 1, 2), 1e-15, "a field of the world is turned and moved");
  compare_vec3(s.loads[5].field.other, vec3(0, 2, 0), 1e-15, "its moment is turned");
  assert_int_equal(s.contact.exclude_count, 4);
  assert_string_equal(s.contact.exclude[0][0], "a_upper");
  assert_string_equal(s.contact.exclude[3][0], "b_skin");
  assert_int_equal(s.file_count, 2);
  scene_free(&s);
}

static void a_part_hangs_on_a_link(void** state) {
  (void)state;
  Scene s = load_part(
      "include: [{file: include-test.yaml, prefix: a_, attach: cart, position: [0, 0, 1]}]\n"
      "links: [{name: cart, mass: 1, shape: {type: sphere, radius: 0.1}}]\n",
      NULL);
  assert_int_equal(s.loads[2].field.to, link_of(&s, "cart"));
  compare_vec3(s.loads[2].field.at, vec3(1, 0, 1), 1e-15, "where a field of the world acts on the cart");
  assert_int_equal(s.links[link_of(&s, "a_base")].parent, link_of(&s, "cart"));
  compare_vec3(s.links[link_of(&s, "a_base")].joint.position, vec3(1, 0, 1), 0, "in the cart's frame");
  assert_true(link_of(&s, "a_base") > link_of(&s, "cart"));
  scene_free(&s);
}

static void links_can_be_left_out_and_started_otherwise(void** state) {
  (void)state;
  Scene s = load_part(
      "include: [{file: include-test.yaml, without: [tip]}]\n"
      "links: []\n"
      "initial: [{link: upper, coordinates: [-0.7]}]\n",
      NULL);
  assert_int_equal(s.link_count, 2);
  assert_int_equal(s.controller_count, 0);
  assert_int_equal(s.initial_count, 1);
  compare_near(s.initials[0].coordinates[0], -0.7, 0, "the scene's own start");
  assert_int_equal(s.contact.exclude_count, 1);
  scene_free(&s);
}

static void mistakes_are_told(void** state) {
  (void)state;
  static const char* const CASES[][2] = {
      {"include: [{file: nowhere.yaml}]\nlinks: []\n", "include[0]: cannot read out/nowhere.yaml"},
      {"include: [{file: include-test.yaml}, {file: include-test.yaml}]\nlinks: []\n",
       "the name 'base' is taken by another link: give the include a 'prefix'"},
      {"include: [{file: include-test.yaml, attach: cart}]\nlinks: []\n", "no link is named 'cart'"},
      {"include: [{file: include-test.yaml, without: [foot]}]\nlinks: []\n",
       "no link of the included file is named 'foot': correct the name in 'without'"},
      {"include: [{file: include-test.yaml, prefix: a/}]\nlinks: []\n",
       "'prefix' must not contain the character /: remove the character"},
      {"variables: {i: 3}\nlinks: []\n", "'i' cannot name a variable"},
      {"variables: {a: \"{b}\"}\nlinks: []\n", "{} contains a name that 'variables' does not define, in '{b}'"},
      {"simulation: {dt: \"{1/0}\", integrator: first_order}\nlinks: []\n", "the value of {} is not finite"},
      {"simulation: {dt: \"{0 - 1}\", integrator: first_order}\nlinks: []\n", "must be > 0"},
  };
  for (int i = 0; i < COUNT(CASES); i++) {
    Scene s = load_part(CASES[i][0], CASES[i][1]);
    scene_free(&s);
  }
}

static void a_ring_of_files_ends(void** state) {
  (void)state;
  const char* text = "include: [{file: ring.yaml, prefix: a}]\nlinks: []\n";
  FILE* file = fopen("out/ring.yaml", "w");
  fputs(text, file);
  fclose(file);
  Scene s = load_part(text, "out/ring.yaml includes itself through the file named here: remove one of the includes");
  scene_free(&s);
  unlink("out/ring.yaml");
  for (int k = 0; k < 10; k++) { /* each another file, none a ring */
    char name[40], inside[100];
    snprintf(name, sizeof name, "out/deep%d.yaml", k);
    snprintf(inside, sizeof inside, "include: [{file: deep%d.yaml, prefix: a}]\nlinks: []\n", k + 1);
    file = fopen(name, "w");
    fputs(inside, file);
    fclose(file);
  }
  s = load_part("include: [{file: deep0.yaml, prefix: a}]\nlinks: []\n", "includes are nested more than 8 deep");
  scene_free(&s);
  for (int k = 0; k < 10; k++) {
    char name[40];
    snprintf(name, sizeof name, "out/deep%d.yaml", k);
    unlink(name);
  }
}

static void expressions_stand_for_numbers(void** state) {
  (void)state;
  static const struct {
    const char* text;
    double value;
  } CASES[] = {{"{1 + 2 * 3}", 7},
               {"{(1 + 2) * 3}", 9},
               {"{-2 ^ 2}", -4},
               {"{2 ^ 3 ^ 2}", 512},
               {"{7 % 4}", 3},
               {"{-1 % 4}", 3},
               {"{1.5e-3}", 0.0015},
               {"{leg / 2}", 0.15},
               {"{sqrt(16) + abs(-1)}", 5},
               {"{max(1, 2) - min(1, 2)}", 1},
               {"{cos(pi)}", -1},
               {"{floor(2.7)}", 2},
               {"{ 2 - -2 }", 4},
               {"{1 / 4 / 2}", 0.125}};
  Variables variables = {0};
  assert_true(variables_add(&variables, "leg", 0.3));
  assert_false(variables_add(&variables, "leg", 1));
  assert_false(variables_add(&variables, "2x", 1));
  assert_false(variables_add(&variables, "sqrt", 1));
  for (int i = 0; i < COUNT(CASES); i++) {
    double value;
    const char* problem = NULL;
    if (!expression_evaluate(CASES[i].text, NULL, &variables, &value, &problem))
      fail_msg("%s: %s", CASES[i].text, problem);
    compare_near(value, CASES[i].value, 1e-15, "%s", CASES[i].text);
  }
  static const char* const BAD[] = {"{",    "{}",  "{1",    "{1}}", "{1 2}",  "{leg(2)}", "{sqrt}", "{sqrt(1, 2)}",
                                    "{(1}", "{x}", "{1 +}", "{i}",  "{0 / 0}"};
  for (int i = 0; i < COUNT(BAD); i++) {
    double value;
    const char* problem = NULL;
    if (expression_evaluate(BAD[i], NULL, &variables, &value, &problem)) fail_msg("%s is %g", BAD[i], value);
    assert_non_null(problem);
  }
  variables_free(&variables);
}

/* The same in a repeat, and in shapes that are written in its links. */
static void repeats_use_expressions(void** state) {
  (void)state;
  Scene s = load_part(
      "variables: {count: 3, gap: 0.5, first: 7}\n"
      "links:\n"
      "  - {name: 'post{i + first}', fixed: true, position: [\"{i * gap}\", 0, 0], repeat: {count: \"{count}\"},\n"
      "     shape: {type: box, size: [1, 1, \"{1 + n}\"]}}\n",
      NULL);
  assert_int_equal(s.link_count, 3);
  assert_string_equal(s.links[2].name, "post9");
  for (int i = 0; i < 3; i++) {
    compare_near(s.links[i].joint.position.x, 0.5 * i, 0, "place %d", i);
    compare_near(s.shapes[s.links[i].shapes[0].shape].size.z, 1 + i, 0, "height %d", i);
  }
  scene_free(&s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(parts_have_prefix_and_pose),
      cmocka_unit_test(a_part_hangs_on_a_link),
      cmocka_unit_test(links_can_be_left_out_and_started_otherwise),
      cmocka_unit_test(mistakes_are_told),
      cmocka_unit_test(a_ring_of_files_ends),
      cmocka_unit_test(expressions_stand_for_numbers),
      cmocka_unit_test(repeats_use_expressions),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

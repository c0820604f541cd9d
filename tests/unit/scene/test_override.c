#include "scene_testing.h"

static const char TEXT[] =
    "name: t\n"
    "simulation: {dt: 0.01, duration: 1, integrator: first_order}\n"
    "shapes:\n"
    "  ball: {type: sphere, radius: 0.1}\n"
    "  ball.big: {type: sphere, radius: 1}\n"
    "links:\n"
    "  - {name: base, fixed: true, shapes: [ball, {shape: ball, position: [1, 2, 3]}]}\n"
    "  - {name: 'arm{i}', mass: 1, shape: ball, joint: {type: hinge, axis: [0, 1, 0]}, repeat: {count: 3}}\n"
    "  - {name: arm, mass: 1, shape: ball.big, joint: {type: universal, axes: [[1, 0, 0], [0, 1, 0]]}}\n"
    "controllers:\n"
    "  - {link: 'arm{i}', type: pd, position_gain: 1, target: 0, repeat: {count: 3}}\n"
    "  - {link: arm, type: pd, position_gain: 1, target: {type: sines, terms: [[{amplitude: 1, frequency: 2}], []]}}\n"
    "initial:\n"
    "  - {link: arm1, coordinates: [0.1]}\n";

static Scene load_set(const char* set) {
  Scene scene;
  Diagnostics diagnostics = {0};
  Status status = parse_with(&scene, &diagnostics, TEXT, set);
  char* found = told(&diagnostics);
  if (status != STATUS_OK || *found) fail_msg("--set %s: %s", set, found);
  memory_free(found);
  diagnostics_free(&diagnostics);
  return scene;
}

static void values_are_replaced(void** state) {
  (void)state;
  Scene scene = load_set("simulation.dt=1e-3");
  assert_int_equal(scene.simulation.steps, 1000);
  scene_free(&scene);
  scene = load_set("simulation.gravity=[0, 0, -1.62]");
  compare_vec3(scene.simulation.gravity, vec3(0, 0, -1.62), 0, "gravity");
  scene_free(&scene);
  scene = load_set("shapes.ball.radius=0.3");
  compare_near(scene.shapes[0].radius, 0.3, 0, "radius");
  scene_free(&scene);
  scene = load_set("shapes.ball.big.radius=0.3"); /* the longest name that fits */
  compare_near(scene.shapes[0].radius, 0.1, 0, "radius");
  compare_near(scene.shapes[1].radius, 0.3, 0, "radius");
  scene_free(&scene);
  scene = load_set("shapes.ball={type: box, size: [1, 1, 1]}");
  assert_int_equal(scene.shapes[0].type, SHAPE_BOX);
  scene_free(&scene);
}

/* Items that a pattern covers, and no others. */
static void a_pattern_sets_every_item_like_it(void** state) {
  (void)state;
  Scene scene = load_set("controllers.*.position_gain=7");
  for (int i = 0; i < 4; i++) compare_near(scene.controllers[i].position_gain[0], 7, 0, "gain");
  scene_free(&scene);
  scene = load_set("links.arm*.mass=3");
  for (int i = 1; i < 5; i++) compare_near(scene.links[i].mass, 3, 0, "mass");
  assert_false(scene.links[0].has_mass);
  scene_free(&scene);
  scene = load_set("links.ar?.mass=3");
  compare_near(scene.links[4].mass, 3, 0, "mass of arm");
  compare_near(scene.links[1].mass, 1, 0, "mass of arm0");
  scene_free(&scene);
  scene = load_set("shapes.*.radius=0.25");
  compare_near(scene.shapes[0].radius, 0.25, 0, "radius");
  compare_near(scene.shapes[1].radius, 0.25, 0, "radius");
  scene_free(&scene);
}

static void a_plus_adds_an_item(void** state) {
  (void)state;
  Scene scene = load_set("links.+={name: more, mass: 2, shape: ball}");
  assert_int_equal(scene.link_count, 6);
  assert_string_equal(scene.links[5].name, "more");
  scene_free(&scene);
  scene = load_set("loads.+={link: arm, force: [1, 0, 0]}"); /* a list that was not there */
  assert_int_equal(scene.load_count, 1);
  scene_free(&scene);
  scene = load_set("contact.exclude.+=[base, arm]");
  assert_int_equal(scene.contact.exclude_count, 1);
  scene_free(&scene);
}

static void patterns_without_an_item_are_told(void** state) {
  (void)state;
  static const char* const SETS[][2] = {
      {"links.leg*.mass=1", "no item of the list matches the pattern 'leg*': correct the pattern"},
      {"shapes.cube?.radius=1", "no name matches the pattern 'cube?': correct the pattern"},
      {"links.+.mass=1", "'+' appends an item and must be the last part of the path"},
  };
  for (int i = 0; i < COUNT(SETS); i++) {
    Scene scene;
    Diagnostics diagnostics = {0};
    Status status = parse_with(&scene, &diagnostics, TEXT, SETS[i][0]);
    char* found = told(&diagnostics);
    assert_int_equal(status, STATUS_BAD_INPUT);
    if (!strstr(found, SETS[i][1])) fail_msg("--set %s: %s", SETS[i][0], found);
    memory_free(found);
    scene_free(&scene);
    diagnostics_free(&diagnostics);
  }
}

static void list_items_go_by_name_or_number(void** state) {
  (void)state;
  static const char* const SETS[] = {"links.arm{i}.repeat.count=7", "links.1.repeat.count=7"};
  for (int i = 0; i < COUNT(SETS); i++) {
    Scene scene = load_set(SETS[i]);
    assert_int_equal(scene.link_count, 9);
    scene_free(&scene);
  }
  Scene scene = load_set("links.arm.mass=5"); /* the written name comes before one without its expressions */
  compare_near(scene.links[4].mass, 5, 0, "mass of arm");
  compare_near(scene.links[1].mass, 1, 0, "mass of arm0");
  scene_free(&scene);
  scene = load_set("controllers.arm{i}.position_gain=9");
  compare_near(scene.controllers[2].position_gain[0], 9, 0, "gain");
  compare_near(scene.controllers[3].position_gain[0], 1, 0, "gain");
  scene_free(&scene);
  scene = load_set("initial.arm1.coordinates=[0.4]");
  compare_near(scene.initials[0].coordinates[0], 0.4, 0, "coordinate");
  scene_free(&scene);
}

static void a_name_without_its_expressions_will_do(void** state) {
  (void)state;
  const char* text = "links: [{name: 'chain{i}', fixed: true, repeat: {count: 3}}]\n";
  Scene scene;
  Diagnostics diagnostics = {0};
  assert_int_equal(parse_with(&scene, &diagnostics, text, "links.chain.repeat.count=16"), STATUS_OK);
  assert_int_equal(scene.link_count, 16);
  scene_free(&scene);
  diagnostics_free(&diagnostics);
}

static void parts_of_lists_can_be_set(void** state) {
  (void)state;
  Scene scene = load_set("links.base.shapes.1.position.2=-7");
  compare_vec3(scene.links[0].shapes[1].position, vec3(1, 2, -7), 0, "position");
  scene_free(&scene);
  scene = load_set("links.base.shapes.0=ball.big");
  assert_int_equal(scene.links[0].shapes[0].shape, 1);
  scene_free(&scene);
  scene = load_set("controllers.arm.target.terms.0.0.amplitude=4");
  compare_near(scene.controllers[3].target.amplitude[0], 4, 0, "amplitude");
  scene_free(&scene);
  scene = load_set("simulation.gravity.1=3"); /* the default, but for one number */
  compare_vec3(scene.simulation.gravity, vec3(0, 3, -9.81), 0, "gravity");
  scene_free(&scene);
}

static void new_keys_come_into_being(void** state) {
  (void)state;
  Scene scene = load_set("contact.friction=0.2");
  compare_near(scene.contact.friction, 0.2, 0, "friction");
  assert_string_equal(scene.contact.place.file, "--set contact.friction=0.2");
  scene_free(&scene);
  scene = load_set("shapes.new={type: box, size: [1, 1, 1]}");
  assert_int_equal(scene.shape_count, 3);
  scene_free(&scene);
  scene = load_set("links.arm.joint.damping=[1, 2]");
  compare_arrays(scene.links[4].joint.damping, (double[]){1, 2}, 2, 0, "damping");
  scene_free(&scene);
}

static void a_new_key_drops_what_it_excludes(void** state) {
  (void)state;
  Scene scene = load_set("simulation.steps=5");
  assert_int_equal(scene.simulation.steps, 5);
  scene_free(&scene);
  scene = load_set("links.arm.density=500");
  assert_true(scene.links[4].has_density && !scene.links[4].has_mass);
  scene_free(&scene);
}

static void later_overrides_see_earlier_ones(void** state) {
  (void)state;
  const SceneOverride overrides[] = {{"shapes.s.type=box"}, {"shapes.s.size=[1, 2, 3]"}, {"shapes.s.size.0=9"}};
  Scene scene;
  Diagnostics diagnostics = {0};
  assert_int_equal(scene_parse(&scene, "t.yaml", TEXT, sizeof TEXT - 1, false, overrides, 3, &diagnostics), STATUS_OK);
  compare_vec3(scene.shapes[2].size, vec3(9, 2, 3), 0, "size");
  scene_free(&scene);
  diagnostics_free(&diagnostics);
}

static void a_variable_without_use_is_reported(void** state) {
  (void)state;
  static const char TEXTS[2][120] = {"links:\n  - {name: a, fixed: true, shape: {type: sphere, radius: '{2 * r}'}}\n",
                                     "links:\n  - {name: a, fixed: true, shape: {type: sphere, radius: '{2 * rr}'}}\n"};
  static const SceneOverride OVERRIDES[] = {{"variables.r=3"}, {"variables.rr=1"}};
  for (int i = 0; i < 2; i++) {
    Scene scene;
    Diagnostics diagnostics = {0};
    assert_int_equal(scene_parse(&scene, "t.yaml", TEXTS[i], strlen(TEXTS[i]), false, OVERRIDES, i + 1, &diagnostics),
                     STATUS_OK);
    char* found = told(&diagnostics);
    assert_string_equal(found, i == 0 ? ""
                                      : "0:0: warning: no variable and no expression of the file has the name 'r', so "
                                        "the value has no effect: check the name\n");
    memory_free(found);
    scene_free(&scene);
    diagnostics_free(&diagnostics);
  }
}

static void mistakes_name_the_override(void** state) {
  (void)state;
  static const struct {
    const char *set, *problem;
  } CASES[] = {
      {"contact.frction=1", "unknown key 'frction' in contact (did you mean 'friction'?)"},
      {"contct.friction=1", "unknown key 'contct' in the file (did you mean 'contact'?)"},
      {"links.arm.joint.dampng=1", "unknown key 'dampng' in links.arm.joint (did you mean 'damping'?)"},
      {"contact.friction=-1", "contact.friction: must be between 0 and 100, got -1"},
      {"contact.friction=", "contact.friction: expected a number, got nothing"},
      {"contact.friction=[1", NULL},
      {"contact.friction", "expected path.to.key=value, got 'contact.friction'"},
      {"=1", "expected path.to.key=value, got '=1'"},
      {".a=1", "expected path.to.key=value, got '.a=1'"},
      {"contact.=1", "expected path.to.key=value, got 'contact.=1'"},
      {"contact..friction=1", "unknown key '' in contact"},
      {"shapes.b\xff=1", "the override must be UTF-8 text"},
      {"links.amr.mass=1", "links has no item named 'amr' (did you mean 'arm'?)"},
      {"links.9.mass=1", "the list has no item with the index 9: indices begin at 0"},
      {"links.99999999999.mass=1", "links has no item named '99999999999'"},
      {"simulation.dt.x=1", "'dt' has no keys: end the path there"},
      {"simulation.gravity.3=1", "the list has no item with the index 3: indices begin at 0"},
      {"links.base.shapes.0.radius=1",
       "the key 'radius' cannot be set, because the value before the key in the path is not a map: correct the path"},
      {"links.arm.groups.0=x", "the file has no 'groups': set the whole value, not one of its keys"},
      {"shapes.ball.radius=&a [*a]",
       "the value is not valid YAML: an alias must not stand inside its own anchor: move the alias"},
      {"shapes.ball.size=[1, 1, 1]",
       "shapes.ball: the type sphere has no key 'size': remove the key, or use type box, rounded_box, height_field, "
       "superellipsoid or superquadric"},
  };
  for (int i = 0; i < COUNT(CASES); i++) {
    Scene scene;
    Diagnostics diagnostics = {0};
    Text source = {0};
    text_add(&source, "--set %s", CASES[i].set);
    assert_int_equal(parse_with(&scene, &diagnostics, TEXT, CASES[i].set), STATUS_BAD_INPUT);
    if (diagnostics.count != 1) fail_msg("--set %s: %d problems", CASES[i].set, diagnostics.count);
    assert_string_equal(diagnostics.items[0].file, source.data);
    assert_int_equal(diagnostics.items[0].line, 0);
    if (CASES[i].problem) assert_string_equal(diagnostics.items[0].text, CASES[i].problem);
    scene_free(&scene);
    diagnostics_free(&diagnostics);
    text_free(&source);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(values_are_replaced),
      cmocka_unit_test(list_items_go_by_name_or_number),
      cmocka_unit_test(a_pattern_sets_every_item_like_it),
      cmocka_unit_test(a_plus_adds_an_item),
      cmocka_unit_test(patterns_without_an_item_are_told),
      cmocka_unit_test(a_name_without_its_expressions_will_do),
      cmocka_unit_test(parts_of_lists_can_be_set),
      cmocka_unit_test(new_keys_come_into_being),
      cmocka_unit_test(a_new_key_drops_what_it_excludes),
      cmocka_unit_test(later_overrides_see_earlier_ones),
      cmocka_unit_test(a_variable_without_use_is_reported),
      cmocka_unit_test(mistakes_name_the_override),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Tests overridden values: the model equals that of a scene with these values, and the given scene stays unchanged. */
#include "fixture.h"

#define SCENE(point, height, amplitude, angle, speed)                                                \
  "shapes:\n"                                                                                        \
  "  tip: {type: points, points: [[0, 0, 0], [1, 0, 0], [0, 1, 0], " point                           \
  "]}\n"                                                                                             \
  "links:\n"                                                                                         \
  "  - {name: arm, mass: 1, joint: {type: hinge, axis: [0, 1, 0], position: [0, 0, " height          \
  "]}, shape: tip}\n"                                                                                \
  "  - {name: hand, mass: 1, parent: arm, joint: {type: ball, position: [3, 0, 0]}, shape: tip}\n"   \
  "controllers:\n"                                                                                   \
  "  - {link: arm, type: pd, position_gain: 1, target: 0.25}\n"                                      \
  "  - {link: arm, type: pd, position_gain: 1, target: {type: sines, terms: [{amplitude: " amplitude \
  ", frequency: 2}]}}\n"                                                                             \
  "initial:\n"                                                                                       \
  "  - {link: arm, coordinates: [" angle                                                             \
  "]}\n"                                                                                             \
  "  - {link: hand, velocities: [0, " speed                                                          \
  ", 0]}\n"                                                                                          \
  "contact: {model: none}\n"

static void parse(Scene* scene, const char* yaml, Diagnostics* diagnostics) {
  assert_int_equal(scene_parse(scene, "inline.yaml", yaml, strlen(yaml), false, NULL, 0, diagnostics), STATUS_OK);
}

static void check_models(const Model* a, const Model* b) {
  assert_int_equal(a->hull_count, b->hull_count);
  for (int h = 0; h < a->hull_count; h++)
    for (int i = 0; i < a->hulls[h].solid.vertex_count; i++)
      check_vec3(a->hulls[h].solid.vertices[i], b->hulls[h].solid.vertices[i], 0, "vertex");
  for (int i = 0; i < a->link_count; i++) {
    check_vec3(a->links[i].origin.t, b->links[i].origin.t, 0, "origin");
    check_vec3(a->links[i].center, b->links[i].center, 0, "centre");
  }
  for (int k = 0; k < a->coordinate_count; k++)
    check_near(a->initial_coordinates[k], b->initial_coordinates[k], 0, "coordinate");
  for (int k = 0; k < a->dof_count; k++) check_near(a->initial_velocities[k], b->initial_velocities[k], 0, "velocity");
  for (int c = 0; c < a->controller_count; c++)
    for (double t = 0; t < 1; t += 0.1) {
      double value[2], rate[2];
      signal_eval(&a->controllers[c].target, t, &value[0], &rate[0]);
      signal_eval(&b->controllers[c].target, t, &value[1], &rate[1]);
      check_near(value[0], value[1], 0, "target");
    }
}

static void overridden_numbers_are_as_if_written(void** state) {
  (void)state;
  /* the second controller's values: one offset, then the amplitude */
  const ModelOverride overrides[] = {{OVERRIDE_VERTEX, 1, 0, 3 * 3 + 2, 1.5},
                                     {OVERRIDE_ATTACHMENT, 0, 0, 2, 0.75},
                                     {OVERRIDE_CONTROL, 0, 1, 1, 0.125},
                                     {OVERRIDE_COORDINATE, 0, 0, 0, -0.5},
                                     {OVERRIDE_VELOCITY, 1, 0, 1, 4}};
  const int count = sizeof overrides / sizeof overrides[0];
  Diagnostics diagnostics = {0};
  Scene given = {0}, written = {0};
  Model plain, other, wanted;
  parse(&given, SCENE("[0, 0, 1]", "2", "0.5", "0.25", "1"), &diagnostics);
  parse(&written, SCENE("[0, 0, 1.5]", "0.75", "0.125", "-0.5", "4"), &diagnostics);
  assert_int_equal(model_create(&plain, &given, &diagnostics), STATUS_OK);
  assert_int_equal(model_create_with(&other, &given, overrides, count, &diagnostics), STATUS_OK);
  assert_int_equal(model_create(&wanted, &written, &diagnostics), STATUS_OK);
  check_models(&other, &wanted); /* both links use the shape, and both have its vertex */
  for (int k = 0; k < count; k++) {
    assert_true(*model_scene_number(&given, &overrides[k]) != overrides[k].value);
    assert_true(*model_scene_number(other.own_scene, &overrides[k]) == overrides[k].value);
  }
  model_destroy(&other);
  Model again;
  assert_int_equal(model_create(&again, &given, &diagnostics), STATUS_OK);
  check_models(&again, &plain);
  model_destroy(&again);
  model_destroy(&plain);
  model_destroy(&wanted);
  scene_free(&given);
  scene_free(&written);
  diagnostics_free(&diagnostics);
}

/* The written initial coordinate agreed with the signal before the override. */
static void a_prescribed_joint_starts_where_its_new_signal_says(void** state) {
  (void)state;
  static const char YAML[] =
      "links:\n"
      "  - {name: car, mass: 1, joint: {type: slide, axis: [1, 0, 0]}, shape: {type: box, size: [1, 1, 1]}}\n"
      "controllers:\n"
      "  - {link: car, type: prescribed, target: {type: sines, offset: 0.5, terms: [{amplitude: 1, frequency: 0}]}}\n"
      "initial:\n"
      "  - {link: car, coordinates: [0.5], velocities: [0]}\n"
      "contact: {model: none}\n";
  const ModelOverride moved = {OVERRIDE_CONTROL, 0, 0, 0, 0.75};
  Diagnostics diagnostics = {0};
  Scene scene = {0};
  Model model;
  parse(&scene, YAML, &diagnostics);
  uint64_t before = memory_bytes_in_use();
  assert_int_equal(model_create_with(&model, &scene, &moved, 1, &diagnostics), STATUS_OK);
  check_near(model.initial_coordinates[0], 0.75, 0, "start");
  model_destroy(&model);
  assert_true(memory_bytes_in_use() == before); /* the copied signal is freed */
  assert_true(scene.initials[0].has_coordinates && scene.initials[0].has_velocities);
  scene_free(&scene);
  diagnostics_free(&diagnostics);
}

/* Solids that are there already make the model that would be made without them; vertices that move make their own. */
static void a_model_of_solids_that_are_there(void** state) {
  (void)state;
  static const char YAML[] =
      "links:\n"
      "  - {name: ball, mass: 1, shape: {type: sphere, radius: 0.3}}\n"
      "  - {name: rock, density: 500, mass_model: uniform, position: [2, 0, 0], shape: {type: points,\n"
      "     points: [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [0.1, 0.1, 0.1]]}}\n";
  const ModelOverride numbers[] = {{OVERRIDE_MASS, 1, 0, 0, 700}, {OVERRIDE_VERTEX, 1, 0, 5, 0.75}};
  Diagnostics diagnostics = {0};
  Scene scene = {0};
  Model made, with;
  parse(&scene, YAML, &diagnostics);
  ModelSolids* solids = model_solids_create(&scene);
  assert_non_null(solids);
  for (int k = 0; k < 3; k++) {
    assert_int_equal(model_create_with(&made, &scene, numbers, k, &diagnostics), STATUS_OK);
    assert_int_equal(model_create_from(&with, &scene, solids, numbers, k, &diagnostics), STATUS_OK);
    check_models(&with, &made);
    model_destroy(&made);
    model_destroy(&with);
  }
  model_solids_destroy(solids);
  model_solids_destroy(NULL);
  scene_free(&scene);
  diagnostics_free(&diagnostics);
}

/* Changing a model's initial state equals building the model anew with it. Invalid initial states are refused. */
static void a_model_starts_elsewhere(void** state) {
  (void)state;
  ModelOverride number = {OVERRIDE_COORDINATE, 0, 0, 0, -0.5}, others[] = {number, {OVERRIDE_MASS, 0, 0, 0, 2}};
  Diagnostics diagnostics = {0};
  Scene scene = {0};
  Model moved, made, plain;
  parse(&scene, SCENE("[0, 0, 1]", "2", "0.5", "0.25", "1"), &diagnostics);
  assert_int_equal(model_create(&plain, &scene, &diagnostics), STATUS_OK);
  assert_int_equal(model_create_with(&moved, &scene, &number, 1, &diagnostics), STATUS_OK);
  assert_false(model_can_restart(&plain, &number, 1)); /* its scene is not its own */
  assert_false(model_can_restart(&moved, others, 2));
  assert_true(model_can_restart(&moved, &number, 1));
  for (int k = 0; k < 3; k++) {
    number.value = 0.3 * k;
    assert_int_equal(model_restart(&moved, &number, 1, &diagnostics), STATUS_OK);
    assert_int_equal(model_create_with(&made, &scene, &number, 1, &diagnostics), STATUS_OK);
    check_models(&moved, &made);
    int64_t identity[2][MODEL_IDENTITY];
    model_identity(&moved, identity[0]);
    model_identity(&made, identity[1]);
    assert_memory_equal(identity[0], identity[1], sizeof identity[0]);
    model_destroy(&made);
  }
  check_near(scene.initials[0].coordinates[0], 0.25, 0, "the given scene's");
  model_destroy(&moved);
  model_destroy(&plain);
  scene_free(&scene);
  diagnostics_free(&diagnostics);
}

/* An initial state outside of the limits is refused, as in a new model. */
static void a_start_outside_its_limits_is_refused(void** state) {
  (void)state;
  static const char YAML[] =
      "shapes: {box: {type: box, size: [1, 1, 1]}}\n"
      "links: [{name: arm, mass: 1, shape: box, joint: {type: hinge, axis: [0, 1, 0], limits: [-1, 1]}}]\n"
      "initial: [{link: arm, coordinates: [0]}]\ncontact: {model: none}\n";
  ModelOverride number = {OVERRIDE_COORDINATE, 0, 0, 0, 0.5};
  Diagnostics diagnostics = {0};
  Scene scene = {0};
  Model model;
  parse(&scene, YAML, &diagnostics);
  assert_int_equal(model_create_with(&model, &scene, &number, 1, &diagnostics), STATUS_OK);
  number.value = 2;
  assert_int_equal(model_restart(&model, &number, 1, &diagnostics), STATUS_BAD_INPUT);
  assert_non_null(strstr(diagnostics.items[diagnostics.count - 1].text, "limits"));
  number.value = -0.5;
  assert_int_equal(model_restart(&model, &number, 1, &diagnostics), STATUS_OK);
  model_destroy(&model);
  scene_free(&scene);
  diagnostics_free(&diagnostics);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(overridden_numbers_are_as_if_written), cmocka_unit_test(a_model_of_solids_that_are_there),
      cmocka_unit_test(a_model_starts_elsewhere), cmocka_unit_test(a_start_outside_its_limits_is_refused),
      cmocka_unit_test(a_prescribed_joint_starts_where_its_new_signal_says)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Tests feedback of controllers: named measurements, the matrix, and every error with its line. */
#include "scene_testing.h"

static const char LINKS[] =
    "links:\n"
    "  - {name: h, joint: {type: hinge, axis: [0, 1, 0]}, mass: 1, shape: {type: sphere, radius: 1}}\n"
    "  - {name: u, joint: {type: universal, axes: [[1, 0, 0], [0, 1, 0]]}, mass: 1, shape: {type: sphere, radius: 1}}\n"
    "  - {name: f, mass: 1, shape: {type: sphere, radius: 1}}\n"
    "controllers:\n";

static void expect_feedback_problem(const char* link, const char* feedback, const char* problem) {
  Text text = {0};
  text_add(&text, "%s  - {link: %s, type: torque, target: 0, feedback: %s}\n", LINKS, link, feedback);
  expect_problems(text.data, problem);
  text_free(&text);
}

static void names_of_measurements(void** state) {
  (void)state;
  static const struct {
    const char* name;
    MeasureKind kind;
    int link, index;
  } CASES[] = {{"h/angle", MEASURE_COORDINATE, 0, 0},    {"h/angle/rate", MEASURE_RATE, 0, 0},
               {"u/angle2", MEASURE_COORDINATE, 1, 1},   {"f/x", MEASURE_COORDINATE, 2, 0},
               {"f/z/rate", MEASURE_RATE, 2, 2},         {"f/py", MEASURE_POSITION, 2, 1},
               {"h/cx", MEASURE_CENTER, 0, 0},           {"f/vz", MEASURE_VELOCITY, 2, 2},
               {"u/wx", MEASURE_ANGULAR_VELOCITY, 1, 0}, {"f/zx", MEASURE_AXIS, 2, 6}};
  for (int k = 0; k < COUNT(CASES); k++) {
    Text text = {0};
    text_add(&text, "%s  - {link: h, type: torque, target: 0, feedback: {measures: [%s]}}\n", LINKS, CASES[k].name);
    Scene scene = load(text.data);
    const SceneController* c = &scene.controllers[0];
    assert_int_equal(c->measure_count, 1);
    assert_string_equal(c->measures[0].name, CASES[k].name);
    assert_int_equal(c->measures[0].kind, CASES[k].kind);
    assert_int_equal(c->measures[0].link, CASES[k].link);
    assert_int_equal(c->measures[0].index, CASES[k].index);
    compare_near(c->feedback[0], 0, 0, "no matrix: zero");
    scene_free(&scene);
    text_free(&text);
  }
}

static void a_matrix_of_two_rows(void** state) {
  (void)state;
  Text text = {0};
  text_add(&text,
           "%s  - {link: u, type: pd, position_gain: 1, target: 0, feedback: {measures: [h/angle, f/x, f/y], "
           "matrix: [[1, 2, 3], [4, 5, 6]]}}\n",
           LINKS);
  Scene scene = load(text.data);
  compare_arrays(scene.controllers[0].feedback, (double[]){1, 2, 3, 4, 5, 6}, 6, 0, "row by row");
  assert_int_equal(controller_gain_count(&scene.controllers[0]), 1 + 8 + 6);
  Gain last = controller_gain_at(&scene.controllers[0], 14);
  assert_int_equal(last.kind, GAIN_FEEDBACK);
  compare_near(*controller_gain_value(&scene.controllers[0], 14), 6, 0, "the last entry");
  compare_near(*controller_gain_value(&scene.controllers[0], 2), 1, 0, "the second position gain");
  assert_false(controller_gain_has_effect(&scene.controllers[0], 0)); /* no delay */
  assert_false(controller_gain_has_effect(&scene.controllers[0], 8)); /* no limit */
  scene_free(&scene);
  text_free(&text);
}

/* Weights that are drawn: those of the hidden layers within their bound, those of the output zero; the same for the
 * same seed. */
static void a_network_that_says_nothing_yet(void** state) {
  (void)state;
  static const char MLP[] =
      "  - {link: u, type: torque, target: 0, feedback: {type: mlp, measures: [h/angle, f/x, f/y, f/z]%s}}\n";
  Text text = {0};
  text_add(&text, "%s", LINKS);
  text_add(&text, MLP, "");
  text_add(&text, MLP, ", seed: 2");
  Scene scene = load(text.data), again = load(text.data);
  const SceneController *c = &scene.controllers[0], *other = &scene.controllers[1];
  assert_int_equal(controller_feedback_count(c), 8 * (4 + 1) + 2 * (8 + 1));
  assert_int_equal(controller_gain_count(c), 1 + 8 + 58);
  bool differs = false;
  for (int k = 0; k < 32; k++) {
    if (!(fabs(c->feedback[k]) <= 0.5) || c->feedback[k] == 0) fail_msg("weight %d: %g", k, c->feedback[k]);
    differs = differs || c->feedback[k] != other->feedback[k];
  }
  assert_true(differs);
  for (int k = 32; k < 58; k++) compare_near(c->feedback[k], 0, 0, "biases, and the output");
  compare_arrays(c->feedback, again.controllers[0].feedback, 58, 0, "drawn again");
  compare_near(c->scale, 1, 0, "scale");
  scene_free(&scene);
  scene_free(&again);
  text_free(&text);
}

static void mistakes(void** state) {
  (void)state;
  expect_feedback_problem(
      "h", "{type: mlp, measures: []}",
      "6:50: error: controllers[0].feedback: an mlp needs 1 to 128 measurements, got 0: change 'measures'\n");
  expect_feedback_problem(
      "h", "{type: mlp, measures: [h/angle], layers: [2, 2, 2, 2, 2]}",
      "6:91: error: controllers[0].feedback: the network has more than 4 hidden layers: give fewer numbers\n");
  expect_feedback_problem("h", "{type: mlp, measures: [h/angle], layers: [0]}",
                          "6:92: error: controllers[0].feedback.layers[0]: must be between 1 and 128, got "
                          "0\n");
  expect_feedback_problem(
      "h", "{type: mlp, measures: [h/angle], layers: [2], weights: [1, 2, 3]}",
      "6:105: error: controllers[0].feedback.weights: expected 7 numbers (weights and biases of 2 layers), got 3\n");
  expect_feedback_problem(
      "h", "{measures: [h/angle], layers: [2]}",
      "6:72: error: controllers[0].feedback: the type matrix has no key 'layers': remove the key, or use type mlp\n");
  expect_feedback_problem(
      "h", "{file: a.json, type: mlp}",
      "6:50: error: controllers[0].feedback: 'file' defines the whole feedback: remove the other keys\n");
  expect_feedback_problem("h", "{type: mlp}",
                          "6:50: error: controllers[0].feedback: 'measures' is missing: give a list of names\n");
  expect_feedback_problem("h", "{measures: [g/angle]}",
                          "6:62: error: controllers[0].feedback.measures: no link is named 'g'\n");
  expect_feedback_problem(
      "h", "{measures: [angle]}",
      "6:62: error: controllers[0].feedback.measures: expected a measurement of the form LINK/QUANTITY, got 'angle'\n");
  expect_feedback_problem("h", "{measures: [h/speed]}",
                          "6:62: error: controllers[0].feedback.measures: 'speed' is no measurement of link 'h': use a "
                          "coordinate of its joint, a coordinate with /rate, or a quantity such as px, cx, vx, wx, fx "
                          "or zx (see feedback in docs/scene-format.md)\n");
  expect_feedback_problem("h", "{measures: [h/angle, h/cx], matrix: [1]}",
                          "6:86: error: controllers[0].feedback.matrix: expected 2 numbers, one per measurement, got "
                          "1\n");
  expect_feedback_problem("u", "{measures: [h/angle], matrix: [1]}",
                          "6:80: error: controllers[0].feedback.matrix: expected 2 rows, one per degree of freedom, "
                          "each of 1 numbers\n");
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(names_of_measurements), cmocka_unit_test(a_matrix_of_two_rows),
                                     cmocka_unit_test(a_network_that_says_nothing_yet), cmocka_unit_test(mistakes)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}

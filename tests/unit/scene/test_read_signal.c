#include "scene_testing.h"

static const char ARM[] =
    "links:\n"
    "  - {name: h, joint: {type: hinge, axis: [0, 1, 0]}, mass: 1, shape: {type: sphere, radius: 1}}\n"
    "  - {name: u, joint: {type: universal, axes: [[1, 0, 0], [0, 1, 0]]}, mass: 1, shape: {type: sphere, radius: 1}}\n"
    "controllers:\n";

static Scene load_target(const char* link, const char* target) {
  Text text = {0};
  text_add(&text, "%s  - link: %s\n    type: prescribed\n    target: %s\n", ARM, link, target);
  Scene scene = load(text.data);
  text_free(&text);
  assert_int_equal(scene.controller_count, 1);
  return scene;
}

static void expect_target_problem(const char* link, const char* target, int column, const char* problem) {
  Text text = {0}, wanted = {0};
  text_add(&text, "%s  - link: %s\n    type: prescribed\n    target: %s\n", ARM, link, target);
  text_add(&wanted, "7:%d: error: controllers[0].target%s\n", column, problem);
  expect_problems(text.data, wanted.data);
  text_free(&text);
  text_free(&wanted);
}

static void constants(void** state) {
  (void)state;
  static const struct {
    const char *link, *text;
    int channels;
    double values[2];
  } CASES[] = {
      {"h", "0.5", 1, {0.5}},
      {"h", "[0.5]", 1, {0.5}},
      {"u", "0.5", 2, {0.5, 0.5}},
      {"u", "[1, 2]", 2, {1, 2}},
      {"u", "{type: constant, value: 3}", 2, {3, 3}},
      {"u", "{type: constant, value: [3, 4]}", 2, {3, 4}},
  };
  for (int i = 0; i < COUNT(CASES); i++) {
    Scene scene = load_target(CASES[i].link, CASES[i].text);
    const SceneSignal* signal = &scene.controllers[0].target;
    assert_int_equal(signal->type, SIGNAL_CONSTANT);
    assert_int_equal(signal->channels, CASES[i].channels);
    assert_int_equal(signal->rows, 1);
    compare_arrays(signal->values, CASES[i].values, CASES[i].channels, 0, CASES[i].text);
    scene_free(&scene);
  }
}

static void keyframes_and_splines(void** state) {
  (void)state;
  Scene scene = load_target("u", "{type: keyframes, times: [0, 0.5, 2], values: [[1, 2], [3, 4], [5, 6]]}");
  const SceneSignal* signal = &scene.controllers[0].target;
  assert_int_equal(signal->type, SIGNAL_KEYFRAMES);
  assert_int_equal(signal->rows, 3);
  compare_arrays(signal->times, (double[]){0, 0.5, 2}, 3, 0, "times");
  compare_arrays(signal->values, (double[]){1, 2, 3, 4, 5, 6}, 6, 0, "values");
  assert_int_equal(signal->place.line, 7);
  assert_int_equal(signal->place.column, 13);
  scene_free(&scene);
  scene = load_target("h", "{type: spline, duration: 3, values: [1, 2, 3, 4]}");
  signal = &scene.controllers[0].target;
  assert_int_equal(signal->type, SIGNAL_SPLINE);
  compare_arrays(signal->times, (double[]){0, 1, 2, 3}, 4, 1e-15, "uniform knots");
  compare_arrays(signal->values, (double[]){1, 2, 3, 4}, 4, 0, "values");
  scene_free(&scene);
  scene = load_target("h", "{type: spline, times: [0, 1], values: [[1], [2]]}");
  compare_arrays(scene.controllers[0].target.values, (double[]){1, 2}, 2, 0, "values");
  scene_free(&scene);
  scene = load_target("u", "{type: sequence, interval: 0.1, values: [[1, 2], [3, 4]]}");
  signal = &scene.controllers[0].target;
  assert_int_equal(signal->type, SIGNAL_SEQUENCE);
  compare_near(signal->interval, 0.1, 0, "interval");
  assert_int_equal(signal->rows, 2);
  scene_free(&scene);
}

static void sines(void** state) {
  (void)state;
  Scene scene =
      load_target("u",
                  "{type: sines, offset: [7, 8], terms: [[{amplitude: 1, frequency: 2, phase: 3}, {amplitude: "
                  "4, frequency: 5}], [{amplitude: 6, frequency: 0}]]}");
  const SceneSignal* signal = &scene.controllers[0].target;
  assert_int_equal(signal->type, SIGNAL_SINES);
  assert_int_equal(signal->terms, 2);
  assert_int_equal(signal->rows, 1);
  compare_arrays(signal->values, (double[]){7, 8}, 2, 0, "offset");
  compare_arrays(signal->amplitude, (double[]){1, 4, 6, 0}, 4, 0, "amplitude");
  compare_arrays(signal->frequency, (double[]){2, 5, 0, 0}, 4, 0, "frequency");
  compare_arrays(signal->phase, (double[]){3, 0, 0, 0}, 4, 0, "phase");
  compare_near(signal->ramp, 0, 0, "ramp");
  scene_free(&scene);
  scene = load_target("h", "{type: sines, ramp: 0.5, terms: [{amplitude: 1, frequency: 2}]}");
  compare_near(scene.controllers[0].target.ramp, 0.5, 0, "ramp");
  scene_free(&scene);
  scene = load_target("h", "{type: sines, terms: []}");
  assert_int_equal(scene.controllers[0].target.terms, 0);
  scene_free(&scene);
}

static void mistakes_are_told(void** state) {
  (void)state;
  expect_target_problem("h", "x", 13, ": expected a number, got 'x'");
  expect_target_problem("u", "[1, 2, 3]", 13, ": expected 2 numbers, one per degree of freedom, got 3");
  expect_target_problem("u", "[1, [2]]", 17, "[1]: expected a number, got a list");
  expect_target_problem("u", "{value: 3}", 13,
                        ": 'type' is missing: give constant, keyframes, spline, sines, sequence or csv");
  expect_target_problem("u", "{type: constant}", 13,
                        ": 'value' is missing: give a number or a list of numbers [m, rad, N ...]");
  expect_target_problem("u", "{type: constant, value: [1]}", 37,
                        ".value: expected 2 numbers, one per degree of freedom, got 1");
  expect_target_problem("u", "{type: sines, terms: [[{amplitude: 1}], []]}", 36,
                        ".terms[0][0]: 'frequency' is missing: give a number [Hz]");
  expect_target_problem("u", "{type: sines, terms: [[], 5]}", 39, ".terms: expected a list of sines, got 5");
  expect_target_problem("h", "{type: sines, terms: [5]}", 35, ".terms[0]: expected a map, got 5");
  expect_target_problem("h", "{type: sines, terms: [{amplitude: 1, frequency: -1}]}", 61,
                        ".terms[0].frequency: must be >= 0 Hz, got -1");
  expect_target_problem("h", "{type: sines, ramp: -1, terms: []}", 33, ".ramp: must be >= 0 s, got -1");
  expect_target_problem("h", "{type: constant, value: 1, ramp: 1}", 40,
                        ": the type constant has no key 'ramp': remove the key, or use type sines");
  expect_target_problem("h", "{type: keyframes, values: [1, 2]}", 13,
                        ": 'times' is missing: give a list of numbers [s]");
  expect_target_problem("h", "{type: spline, values: [1, 2]}", 13,
                        ": 'times' is missing: give a list of numbers [s], or 'duration'");
  expect_target_problem("h", "{type: spline, values: [1, 2], duration: 1, times: [0, 1]}", 57,
                        ": give 'duration' or 'times', not both");
  expect_target_problem("h", "{type: keyframes, duration: 1, times: [0, 1], values: [1, 2]}", 31,
                        ": the type keyframes has no key 'duration': remove the key, or use type spline");
  expect_target_problem("h", "{type: keyframes, times: [0, 1], values: []}", 54, ".values: must not be empty");
  expect_target_problem("u", "{type: keyframes, times: [0], values: [1]}", 52,
                        ".values[0]: expected a list of 2 numbers, got 1");
  expect_target_problem("h", "{type: sequence, interval: 0, values: [1]}", 40, ".interval: must be > 0 s, got 0");
  expect_target_problem("h", "{type: sequence, values: [1]}", 13, ": 'interval' is missing: give a number [s]");
}

/* The last row stands for those that are missing. */
static void rows_of_a_sequence(void** state) {
  (void)state;
  Scene scene = load_target("u", "{type: sequence, interval: 0.5, rows: 4, values: [[1, 2], [3, 4]]}");
  const SceneSignal* signal = &scene.controllers[0].target;
  assert_int_equal(signal->rows, 4);
  compare_arrays(signal->values, (double[]){1, 2, 3, 4, 3, 4, 3, 4}, 8, 0, "values");
  scene_free(&scene);
  scene = load_target("h", "{type: sequence, interval: 0.5, rows: 2, values: [1, 2]}");
  compare_arrays(scene.controllers[0].target.values, (double[]){1, 2}, 2, 0, "values");
  scene_free(&scene);
  expect_target_problem("h", "{type: sequence, interval: 0.5, rows: 1, values: [1, 2]}", 51,
                        ".rows: must be at least 2, the number of rows of 'values', got 1");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(constants),          cmocka_unit_test(keyframes_and_splines), cmocka_unit_test(sines),
      cmocka_unit_test(rows_of_a_sequence), cmocka_unit_test(mistakes_are_told),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

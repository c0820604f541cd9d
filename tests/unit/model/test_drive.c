#include "fixture.h"

static void controllers_carry_gains_signals_and_prescriptions(void** state) {
  (void)state;
  Fixture f;
  fixture_load(
      &f,
      "links:\n"
      "  - {name: a, mass: 1, shape: {type: box, size: [0.1, 0.1, 0.1]}, joint: {type: universal, axes: [[1, 0, "
      "0], [0, 1, 0]]}}\n"
      "  - {name: b, mass: 1, shape: {type: box, size: [0.1, 0.1, 0.1]}, joint: {type: slide, axis: [1, 0, 0], "
      "position: [1, 0, 0]}}\n"
      "controllers:\n"
      "  - {link: a, type: pd, position_gain: [10, 20], velocity_gain: 0.1, damping_gain: [1, 2], max_force: 7, "
      "target: [0.1, 0.2]}\n"
      "  - {link: b, type: prescribed, target: {type: spline, duration: 2, values: [0, 1, 0]}}\n");
  check_clean(&f);
  const Model* m = &f.model;
  assert_int_equal(m->controller_count, 2);
  assert_int_equal(link_named(m, "a")->prescribed, -1);
  assert_int_equal(link_named(m, "b")->prescribed, 1);
  assert_int_equal(m->controllers[0].link, 0);
  assert_int_equal(m->controllers[0].type, CONTROLLER_PD);
  check_near(m->controllers[0].position_gain[1], 20, 0, "position gain");
  check_near(m->controllers[0].velocity_gain[1], 0.1, 0, "velocity gain");
  check_near(m->controllers[0].damping_gain[1], 2, 0, "damping gain");
  check_near(m->controllers[0].max_force[1], 7, 0, "limit");
  double value[2], rate[2];
  signal_eval(&m->controllers[0].target, 1, value, rate);
  check_near(value[1], 0.2, 0, "constant target");
  signal_eval(&m->controllers[1].target, 1, value, rate);
  check_near(value[0], 1, 1e-15, "spline at its middle knot");
  fixture_free(&f);
}

/* "10, 5" at 10 ms moves an arm by a hundredth of the target angle in 2 s, which gives a warning. A fifth of the gain,
 * a moving target or a reached target give none. */
static void creeping_joints_are_warned_of(void** state) {
  (void)state;
  static const struct {
    const char* controller;
    int warnings;
  } cases[] = {
      {"position_gain: 10, velocity_gain: 5, target: 1", 1},
      {"position_gain: 10, velocity_gain: 0.1, target: 1", 0},
      {"position_gain: 10, damping_gain: 500, target: 1", 0},
      {"position_gain: 10, velocity_gain: 5, target: 0", 0},
      {"position_gain: 10, velocity_gain: 5, target: {type: keyframes, times: [0, 1], values: [0, 1]}", 0},
  };
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    Fixture f;
    Text text = {0};
    text_add(
        &text,
        "simulation: {integrator: first_order}\n"
        "links:\n"
        "  - {name: arm, mass: 1, shape: {type: box, size: [0.1, 0.1, 0.1]}, joint: {type: hinge, axis: [0, 1, 0]}}\n"
        "controllers: [{link: arm, type: pd, %s}]\n",
        cases[k].controller);
    fixture_load(&f, text.data);
    assert_int_equal(f.diagnostics.count, cases[k].warnings);
    if (cases[k].warnings > 0) {
      assert_int_equal(f.diagnostics.items[0].severity, SEVERITY_WARNING);
      assert_non_null(strstr(f.diagnostics.items[0].text, "time constant of 50 s"));
    }
    fixture_free(&f);
    text_free(&text);
  }
}

/* velocity_gain 50 at dt 10 ms and two substeps is the damping constant 50 / 0.005 = 10000. Each integrator gives one
 * message. */
static void every_velocity_gain_is_warned_of_except_under_first_order(void** state) {
  (void)state;
  static const char* const integrators[] = {"momentum", "second_order", "first_order"};
  for (int k = 0; k < 3; k++) {
    Fixture f;
    Text text = {0};
    text_add(
        &text,
        "simulation: {dt: 0.01, substeps: 2, integrator: %s}\n"
        "links:\n"
        "  - {name: arm, mass: 1, shape: {type: box, size: [0.1, 0.1, 0.1]}, joint: {type: hinge, axis: [0, 1, 0]}}\n"
        "controllers: [{link: arm, type: pd, position_gain: 1, velocity_gain: 50, target: 1}]\n",
        integrators[k]);
    fixture_load(&f, text.data);
    assert_int_equal(f.diagnostics.count, 1);
    assert_non_null(find_message(
        &f, k < 2 ? "velocity_gain / dt = 10000" : "velocity_gain 50 at dt = 0.005 s is a damping of 10000"));
    fixture_free(&f);
    text_free(&text);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(controllers_carry_gains_signals_and_prescriptions),
      cmocka_unit_test(creeping_joints_are_warned_of),
      cmocka_unit_test(every_velocity_gain_is_warned_of_except_under_first_order),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

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
      "  - {link: a, type: pd, position_gain: [10, 20], velocity_gain: 3, target: [0.1, 0.2]}\n"
      "  - {link: b, type: prescribed, target: {type: spline, duration: 2, values: [0, 1, 0]}}\n");
  check_clean(&f);
  const Model* m = &f.model;
  assert_int_equal(m->controller_count, 2);
  assert_int_equal(link_named(m, "a")->prescribed, -1);
  assert_int_equal(link_named(m, "b")->prescribed, 1);
  assert_int_equal(m->controllers[0].link, 0);
  assert_int_equal(m->controllers[0].type, CONTROLLER_PD);
  check_near(m->controllers[0].position_gain[1], 20, 0, "position gain");
  check_near(m->controllers[0].velocity_gain[1], 3, 0, "velocity gain");
  double value[2], rate[2];
  signal_eval(&m->controllers[0].target, 1, value, rate);
  check_near(value[1], 0.2, 0, "constant target");
  signal_eval(&m->controllers[1].target, 1, value, rate);
  check_near(value[0], 1, 1e-15, "spline at its middle knot");
  fixture_free(&f);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(controllers_carry_gains_signals_and_prescriptions)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}

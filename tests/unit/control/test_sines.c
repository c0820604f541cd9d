#include "check.h"
#include "support/compare.h"

static double OFFSET[] = {0.1, -0.2};
static double AMPLITUDE[] = {1.0, 0.3, 0.5, 2.0};
static double FREQUENCY[] = {0.5, 2.0, 1.0, 0.25};
static double PHASE[] = {0, 0.4, -1.0, 1.5707963267948966};
static const SceneSignal SINES = {.type = SIGNAL_SINES,
                                  .channels = 2,
                                  .values = OFFSET,
                                  .rows = 1,
                                  .terms = 2,
                                  .amplitude = AMPLITUDE,
                                  .frequency = FREQUENCY,
                                  .phase = PHASE};

/* At t = 0.5: 2 pi f t = pi/2, 2 pi | pi, pi/4; sines and cosines of those by hand. */
static void values_by_hand(void** state) {
  (void)state;
  const double pi = 3.14159265358979324;
  Signal signal;
  signal_create(&signal, &SINES);
  check_near(value_at(&signal, 0.5, 0), 0.1 + 1.0 + 0.3 * sin(0.4), 1e-14, "channel 0");
  check_near(rate_at(&signal, 0.5, 0), 0.3 * 4 * pi * cos(0.4), 1e-13, "rate of channel 0");
  check_near(value_at(&signal, 0.5, 1), -0.2 + 0.5 * sin(1.0) + sqrt(2), 1e-14, "channel 1");
  check_near(rate_at(&signal, 0.5, 1), -pi * cos(1.0) - 2 * 0.5 * pi / sqrt(2), 1e-13, "rate of channel 1");
  assert_int_equal(signal_parameter_count(&signal), 14);
  signal_destroy(&signal);
}

static void rate_matches_central_difference(void** state) {
  (void)state;
  Signal signal;
  signal_create(&signal, &SINES);
  for (double t = 0.2; t < 3; t += 0.31)
    check_derivative(value_of_time, &signal, t, rate_at(&signal, t, 0), 10, "rate");
  signal_destroy(&signal);
}

/* A drive with a delay asks: there all stands as at the start. */
static void before_the_start_it_stands(void** state) {
  (void)state;
  Signal signal;
  signal_create(&signal, &SINES);
  compare_near(value_at(&signal, -0.7, 0), value_at(&signal, 0, 0), 0, "value");
  compare_near(rate_at(&signal, -0.7, 0), 0, 0, "rate");
  assert_true(rate_at(&signal, 0, 0) != 0);
  check_vjp(&SINES, -0.7, 100);
  signal_destroy(&signal);
}

static void parameter_derivatives_match_central_differences(void** state) {
  (void)state;
  for (double t = 0; t < 2; t += 0.45) check_vjp(&SINES, t, 100);
}

static void no_terms_is_the_offset(void** state) {
  (void)state;
  SceneSignal none = SINES;
  none.terms = 0;
  Signal signal;
  signal_create(&signal, &none);
  check_near(value_at(&signal, 1.7, 1), -0.2, 0, "value");
  check_near(rate_at(&signal, 1.7, 1), 0, 0, "rate");
  signal_destroy(&signal);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(values_by_hand),
      cmocka_unit_test(rate_matches_central_difference),
      cmocka_unit_test(before_the_start_it_stands),
      cmocka_unit_test(parameter_derivatives_match_central_differences),
      cmocka_unit_test(no_terms_is_the_offset),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

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

static const double RAMP = 0.8;

static SceneSignal swelling(void) {
  SceneSignal source = SINES;
  source.ramp = RAMP;
  return source;
}

/* Halfway through the ramp the amplitude factor is 1/2 and grows by 15/8 per ramp. After a quarter it is 53/512. The
 * signal starts at the offset and has its full amplitude after the ramp. */
static void swells_by_hand(void** state) {
  (void)state;
  SceneSignal source = swelling();
  Signal signal, whole;
  signal_create(&signal, &source);
  signal_create(&whole, &SINES);
  check_near(value_at(&signal, 0, 0), 0.1, 0, "value at the start");
  check_near(rate_at(&signal, 0, 0), 0, 0, "rate at the start");
  double half = 0.5 * RAMP, sines = value_at(&whole, half, 0) - 0.1;
  check_near(value_at(&signal, half, 0), 0.1 + 0.5 * sines, 1e-15, "value half way");
  check_near(rate_at(&signal, half, 0), 0.5 * rate_at(&whole, half, 0) + 15.0 / 8 / RAMP * sines, 1e-14,
             "rate half way");
  sines = value_at(&whole, 0.25 * RAMP, 1) + 0.2;
  check_near(value_at(&signal, 0.25 * RAMP, 1), -0.2 + 53.0 / 512 * sines, 1e-15, "value after a quarter");
  for (double t = RAMP; t < 2; t += 0.4) {
    check_near(value_at(&signal, t, 1), value_at(&whole, t, 1), 0, "value at its end and later");
    check_near(rate_at(&signal, t, 1), rate_at(&whole, t, 1), 0, "rate at its end and later");
  }
  signal_destroy(&signal);
  signal_destroy(&whole);
}

static double rate_of_time(void* context, double t) { return rate_at(context, t, 0); }

/* Value, rate and acceleration have no jump where it ends: on both sides each is the slope of the one before. */
static void derivatives_by_time_while_it_swells(void** state) {
  (void)state;
  SceneSignal source = swelling();
  Signal signal;
  double acceleration[CHANNELS_MAX], after[CHANNELS_MAX];
  signal_create(&signal, &source);
  for (double t = 0.11; t < 1.5; t += 0.13) {
    check_derivative(value_of_time, &signal, t, rate_at(&signal, t, 0), 10, "rate");
    signal_acceleration(&signal, t, acceleration);
    check_derivative(rate_of_time, &signal, t, acceleration[0], 100, "acceleration");
  }
  signal_acceleration(&signal, RAMP - 1e-9, acceleration);
  signal_acceleration(&signal, RAMP, after);
  check_near(acceleration[0], after[0], 1e-5, "acceleration at the end of the ramp");
  signal_destroy(&signal);
}

static void parameter_derivatives_while_it_swells(void** state) {
  (void)state;
  SceneSignal source = swelling();
  const double times[] = {0, 0.1, 0.4, 0.79, 0.8, 0.81, 1.7};
  for (int k = 0; k < 7; k++) check_vjp(&source, times[k], 100);
}

static void rate_matches_central_difference(void** state) {
  (void)state;
  Signal signal;
  signal_create(&signal, &SINES);
  for (double t = 0.2; t < 3; t += 0.31)
    check_derivative(value_of_time, &signal, t, rate_at(&signal, t, 0), 10, "rate");
  signal_destroy(&signal);
}

/* A drive with a delay evaluates the signal before t = 0. The signal then has its initial value. */
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
      cmocka_unit_test(swells_by_hand),
      cmocka_unit_test(derivatives_by_time_while_it_swells),
      cmocka_unit_test(parameter_derivatives_while_it_swells),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

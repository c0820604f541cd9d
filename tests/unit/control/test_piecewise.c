#include "check.h"

static double TIMES[] = {0.5, 1.0, 3.0};
static double VALUES[] = {1, -1, 2, -3, 4, -2};
static const SceneSignal KEYFRAMES = {
    .type = SIGNAL_KEYFRAMES, .channels = 2, .times = TIMES, .values = VALUES, .rows = 3};
static const SceneSignal SEQUENCE = {
    .type = SIGNAL_SEQUENCE, .channels = 2, .values = VALUES, .rows = 3, .interval = 0.1};
static const SceneSignal HELD = {
    .type = SIGNAL_ZERO_ORDER_HOLD, .channels = 2, .values = VALUES, .rows = 3, .interval = 0.1};
static const SceneSignal CONSTANT = {.type = SIGNAL_CONSTANT, .channels = 2, .values = VALUES, .rows = 1};

static void check_at(const SceneSignal* source, double t, double value0, double rate0, double value1, double rate1) {
  Signal signal;
  signal_create(&signal, source);
  check_near(value_at(&signal, t, 0), value0, 1e-12, "value of channel 0");
  check_near(rate_at(&signal, t, 0), rate0, 1e-12, "rate of channel 0");
  check_near(value_at(&signal, t, 1), value1, 1e-12, "value of channel 1");
  check_near(rate_at(&signal, t, 1), rate1, 1e-12, "rate of channel 1");
  signal_destroy(&signal);
}

static void constant_holds(void** state) {
  (void)state;
  check_at(&CONSTANT, -1, 1, 0, -1, 0);
  check_at(&CONSTANT, 7, 1, 0, -1, 0);
}

static void keyframes_are_linear_between_and_held_outside(void** state) {
  (void)state;
  check_at(&KEYFRAMES, 0.2, 1, 0, -1, 0);
  check_at(&KEYFRAMES, 0.75, 1.5, 2, -2, -4);
  check_at(&KEYFRAMES, 2.0, 3, 1, -2.5, 0.5);
  check_at(&KEYFRAMES, 3.5, 4, 0, -2, 0);
}

/* Row k applies from after k * interval to the end of its step, also with a rounded end. Every substep lies within one
 * row. */
static void rows_that_are_held_belong_to_the_step_that_ends(void** state) {
  (void)state;
  check_at(&HELD, 0, 1, 0, -1, 0);
  check_at(&HELD, 0.1, 1, 0, -1, 0);
  check_at(&HELD, 0.1 + 0.1 / 64, 2, 0, -3, 0);
  check_at(&HELD, 0.2, 2, 0, -3, 0);
  check_at(&HELD, 0.1 + 0.2, 4, 0, -2, 0); /* a little more than 0.3 */
  check_at(&HELD, 0.7, 4, 0, -2, 0);
  static double many[2000];
  for (int k = 0; k < 2000; k++) many[k] = k;
  const SceneSignal long_one = {
      .type = SIGNAL_ZERO_ORDER_HOLD, .channels = 1, .values = many, .rows = 2000, .interval = 0.003};
  Signal signal;
  signal_create(&signal, &long_one);
  for (int k = 0; k < 2000; k++) check_near(value_at(&signal, (k + 1) * 0.003, 0), k, 0, "row of a step");
  signal_destroy(&signal);
}

static void rates_are_right_sided_at_a_row(void** state) {
  (void)state;
  check_at(&KEYFRAMES, 0.5, 1, 2, -1, -4);
  check_at(&KEYFRAMES, 1.0, 2, 1, -3, 0.5);
  check_at(&KEYFRAMES, 3.0, 4, 0, -2, 0);
  check_at(&SEQUENCE, 0, 1, 10, -1, -20);
  check_at(&SEQUENCE, 0.1, 2, 20, -3, 10);
}

static void last_row_of_a_sequence_is_held(void** state) {
  (void)state;
  check_at(&SEQUENCE, 0.05, 1.5, 10, -2, -20);
  check_at(&SEQUENCE, 0.2, 4, 0, -2, 0);
  check_at(&SEQUENCE, 9, 4, 0, -2, 0);
}

/* k * 0.1 may be a little below the decimal k/10; the slope must still be that of the span that begins there. */
static void rounded_times_belong_to_the_row_they_mean(void** state) {
  (void)state;
  enum { ROWS = 1000 };
  double* values = MEMORY_NEW(double, ROWS);
  double* times = MEMORY_NEW(double, ROWS);
  for (int k = 0; k < ROWS; k++) {
    values[k] = k * k;
    times[k] = k / 10.0;
  }
  SceneSignal sequence = {.type = SIGNAL_SEQUENCE, .channels = 1, .values = values, .rows = ROWS, .interval = 0.1};
  SceneSignal keyframes = {.type = SIGNAL_KEYFRAMES, .channels = 1, .values = values, .times = times, .rows = ROWS};
  Signal a, b;
  signal_create(&a, &sequence);
  signal_create(&b, &keyframes);
  double t = 0;
  for (int k = 0; k + 1 < ROWS; k++, t += 0.1) {
    check_near(rate_at(&a, k * 0.1, 0), 10.0 * (2 * k + 1), 1e-7, "rate of the sequence");
    check_near(rate_at(&b, k * 0.1, 0), 10.0 * (2 * k + 1), 1e-7, "rate of the keyframes");
    check_near(rate_at(&a, t, 0), 10.0 * (2 * k + 1), 1e-7, "rate at a summed time");
  }
  signal_destroy(&a);
  signal_destroy(&b);
  memory_free(values);
  memory_free(times);
}

static void rate_matches_central_difference(void** state) {
  (void)state;
  Signal signal;
  signal_create(&signal, &KEYFRAMES);
  for (double t = 0.61; t < 2.9; t += 0.37) {
    double h = 1e-3;
    double difference = (value_at(&signal, t + h, 0) - value_at(&signal, t - h, 0)) / (2 * h);
    check_near(rate_at(&signal, t, 0), difference, 1e-11, "rate");
  }
  signal_destroy(&signal);
}

static void parameter_derivatives_match_central_differences(void** state) {
  (void)state;
  const double keyframe_times[] = {0.1, 0.5, 0.7, 1.0, 2.2, 3.0, 5.0};
  const double sequence_times[] = {0, 0.03, 0.1, 0.17, 0.2, 4};
  for (size_t i = 0; i < sizeof keyframe_times / sizeof *keyframe_times; i++)
    check_vjp(&KEYFRAMES, keyframe_times[i], 10);
  for (size_t i = 0; i < sizeof sequence_times / sizeof *sequence_times; i++)
    check_vjp(&SEQUENCE, sequence_times[i], 10);
  for (size_t i = 0; i < sizeof sequence_times / sizeof *sequence_times; i++) check_vjp(&HELD, sequence_times[i], 10);
  check_vjp(&CONSTANT, 0.3, 10);
}

static void parameter_counts(void** state) {
  (void)state;
  Signal signal;
  signal_create(&signal, &KEYFRAMES);
  assert_int_equal(signal_parameter_count(&signal), 6);
  signal_create(&signal, &SEQUENCE);
  assert_int_equal(signal_parameter_count(&signal), 6);
  signal_create(&signal, &CONSTANT);
  assert_int_equal(signal_parameter_count(&signal), 2);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(constant_holds),
      cmocka_unit_test(keyframes_are_linear_between_and_held_outside),
      cmocka_unit_test(rows_that_are_held_belong_to_the_step_that_ends),
      cmocka_unit_test(rates_are_right_sided_at_a_row),
      cmocka_unit_test(last_row_of_a_sequence_is_held),
      cmocka_unit_test(rounded_times_belong_to_the_row_they_mean),
      cmocka_unit_test(rate_matches_central_difference),
      cmocka_unit_test(parameter_derivatives_match_central_differences),
      cmocka_unit_test(parameter_counts),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

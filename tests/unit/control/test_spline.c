#include "check.h"

static double TIMES[] = {0, 0.4, 1.0, 1.3, 2.5, 3.0};
static double VALUES[] = {0, 1, 1, 0.5, -0.3, 0.2, 2, -1, 0.4, 0, 1, 3};
static const SceneSignal SPLINE = {.type = SIGNAL_SPLINE, .channels = 2, .times = TIMES, .values = VALUES, .rows = 6};

/* Central second difference of channel 0. */
static double bend_at(const Signal* signal, double t, double h) {
  return (value_at(signal, t + h, 0) - 2 * value_at(signal, t, 0) + value_at(signal, t - h, 0)) / (h * h);
}

static void passes_through_its_knots(void** state) {
  (void)state;
  Signal signal;
  signal_create(&signal, &SPLINE);
  for (int i = 0; i < 6; i++)
    for (int c = 0; c < 2; c++) check_near(value_at(&signal, TIMES[i], c), VALUES[2 * i + c], 1e-14, "value at a knot");
  signal_destroy(&signal);
}

/* First and second derivative are continuous at inner knots, and the second derivative is zero at both ends. A cubic's
 * second difference is exact, so it may use large steps and extrapolation to the knot. */
static void is_smooth_and_straight_at_the_ends(void** state) {
  (void)state;
  Signal signal;
  signal_create(&signal, &SPLINE);
  const double h = 0.02;
  for (int i = 1; i < 5; i++) {
    check_near(rate_at(&signal, TIMES[i] - 1e-9, 0), rate_at(&signal, TIMES[i], 0), 1e-7, "rate at a knot");
    double left = 2 * bend_at(&signal, TIMES[i] - h, h) - bend_at(&signal, TIMES[i] - 2 * h, h);
    double right = 2 * bend_at(&signal, TIMES[i] + h, h) - bend_at(&signal, TIMES[i] + 2 * h, h);
    check_near(left, right, 1e-8, "second derivative at a knot");
    check_near(right, signal.curvature[2 * i], 1e-8, "stored second derivative");
  }
  check_near(2 * bend_at(&signal, h, h) - bend_at(&signal, 2 * h, h), 0, 1e-8, "second derivative at the start");
  check_near(2 * bend_at(&signal, 3 - h, h) - bend_at(&signal, 3 - 2 * h, h), 0, 1e-8, "second derivative at the end");
  signal_destroy(&signal);
}

static void is_held_outside(void** state) {
  (void)state;
  Signal signal;
  signal_create(&signal, &SPLINE);
  check_near(value_at(&signal, -1, 1), 1, 0, "before");
  check_near(rate_at(&signal, -1, 1), 0, 0, "rate before");
  check_near(value_at(&signal, 3.5, 1), 3, 0, "after");
  check_near(rate_at(&signal, 3, 1), 0, 0, "rate at the last knot");
  signal_destroy(&signal);
}

/* One bump (0, 1, 0) at times 0, 1, 2: 4 M = 6 (-1 - 1), M = -3; value at 1/2 is 1/2 + (1/8 - 1/2)/6 (-3) = 11/16. */
static void three_knots_by_hand(void** state) {
  (void)state;
  double times[] = {0, 1, 2}, values[] = {0, 1, 0};
  SceneSignal source = {.type = SIGNAL_SPLINE, .channels = 1, .times = times, .values = values, .rows = 3};
  Signal signal;
  signal_create(&signal, &source);
  check_near(value_at(&signal, 0.5, 0), 11.0 / 16, 1e-15, "value");
  check_near(value_at(&signal, 1.5, 0), 11.0 / 16, 1e-15, "mirrored value");
  check_near(rate_at(&signal, 0, 0), 1.5, 1e-15, "rate at the start"); /* 1 - M/6 h */
  check_near(rate_at(&signal, 1, 0), 0, 1e-15, "rate at the top");
  signal_destroy(&signal);
}

static void one_and_two_knots(void** state) {
  (void)state;
  double times[] = {1, 3}, values[] = {2, 6};
  SceneSignal source = {.type = SIGNAL_SPLINE, .channels = 1, .times = times, .values = values, .rows = 2};
  Signal signal;
  signal_create(&signal, &source);
  check_near(value_at(&signal, 2, 0), 4, 1e-15, "line");
  check_near(rate_at(&signal, 2, 0), 2, 1e-15, "slope");
  signal_destroy(&signal);
  check_vjp(&source, 1.7, 10);
  source.rows = 1;
  signal_create(&signal, &source);
  check_near(value_at(&signal, 9, 0), 2, 0, "single knot");
  signal_destroy(&signal);
  check_vjp(&source, 1.7, 10);
}

static void rate_matches_central_difference(void** state) {
  (void)state;
  Signal signal;
  signal_create(&signal, &SPLINE);
  for (double t = 0.2; t < 2.9; t += 0.253) {
    double h = 1e-5;
    double difference = (value_at(&signal, t + h, 0) - value_at(&signal, t - h, 0)) / (2 * h);
    check_near(rate_at(&signal, t, 0), difference, 1e-8, "rate");
  }
  signal_destroy(&signal);
}

static void parameter_derivatives_match_central_differences(void** state) {
  (void)state;
  for (double t = -0.1; t < 3.2; t += 0.13) check_vjp(&SPLINE, t, 100);
  for (int i = 0; i < 6; i++) check_vjp(&SPLINE, TIMES[i], 100);
}

/* The spline is linear in its values, so <a, value> + <b, rate> = <gradient, values> on a long one too. */
static void long_spline_derivative_is_the_transpose(void** state) {
  (void)state;
  enum { ROWS = 3000 };
  double *times = MEMORY_NEW(double, ROWS), *values = MEMORY_NEW(double, ROWS), *gradient = MEMORY_NEW(double, ROWS);
  Random random = {20260101};
  for (int i = 0; i < ROWS; i++) {
    times[i] = (i > 0 ? times[i - 1] : 0) + random_uniform(&random, 0.05, 1.0);
    values[i] = random_normal(&random);
  }
  SceneSignal source = {.type = SIGNAL_SPLINE, .channels = 1, .times = times, .values = values, .rows = ROWS};
  Signal signal;
  signal_create(&signal, &source);
  uint64_t allocations = memory_allocation_count();
  const double a = 0.6, b = -1.4;
  for (int trial = 0; trial < 20; trial++) {
    double t = random_uniform(&random, times[0], times[ROWS - 1]), sum = 0;
    memset(gradient, 0, sizeof(double) * ROWS);
    signal_eval_vjp(&signal, t, &a, &b, gradient);
    for (int i = 0; i < ROWS; i++) sum += gradient[i] * values[i];
    double wanted = a * value_at(&signal, t, 0) + b * rate_at(&signal, t, 0);
    check_near(sum, wanted, 1e-11 * (1 + fabs(wanted)), "transpose identity, seed 20260101");
  }
  assert_int_equal(memory_allocation_count(), allocations);
  signal_destroy(&signal);
  memory_free(times);
  memory_free(values);
  memory_free(gradient);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(passes_through_its_knots),
      cmocka_unit_test(is_smooth_and_straight_at_the_ends),
      cmocka_unit_test(is_held_outside),
      cmocka_unit_test(three_knots_by_hand),
      cmocka_unit_test(one_and_two_knots),
      cmocka_unit_test(rate_matches_central_difference),
      cmocka_unit_test(parameter_derivatives_match_central_differences),
      cmocka_unit_test(long_spline_derivative_is_the_transpose),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

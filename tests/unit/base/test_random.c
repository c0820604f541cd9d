#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <math.h>
#include "base/base.h"

/* First outputs of splitmix64 for seed 1234567, published with the algorithm. */
static void bits_are_those_of_splitmix64(void** state) {
  (void)state;
  Random random = {1234567};
  const uint64_t expected[] = {6457827717110365317U, 3203168211198807973U, 9817491932198370423U, 4593380528125082431U,
                               16408922859458223821U};
  for (int i = 0; i < 5; i++) assert_true(random_bits(&random) == expected[i]);
}

#define SAMPLES 100000

/* Bounds are five standard errors. */
static void check_moments(double sum, double squares, double mean, double variance, double fourth) {
  double got_mean = sum / SAMPLES, got_variance = squares / SAMPLES - got_mean * got_mean;
  double mean_bound = 5 * sqrt(variance / SAMPLES), variance_bound = 5 * sqrt((fourth - variance * variance) / SAMPLES);
  if (!(fabs(got_mean - mean) < mean_bound)) fail_msg("mean %g, expected %g", got_mean, mean);
  if (!(fabs(got_variance - variance) < variance_bound)) fail_msg("variance %g, expected %g", got_variance, variance);
}

static void uniform_fills_its_interval(void** state) {
  (void)state;
  Random random = {1};
  double sum = 0, squares = 0;
  for (int i = 0; i < SAMPLES; i++) {
    double x = random_uniform(&random, -1.0, 3.0);
    assert_true(x >= -1.0 && x < 3.0);
    sum += x, squares += x * x;
  }
  check_moments(sum, squares, 1.0, 16.0 / 12.0, 256.0 / 80.0);
}

static void normal_has_unit_variance(void** state) {
  (void)state;
  Random random = {2};
  double sum = 0, squares = 0;
  for (int i = 0; i < SAMPLES; i++) {
    double x = random_normal(&random);
    assert_true(isfinite(x));
    sum += x, squares += x * x;
  }
  check_moments(sum, squares, 0.0, 1.0, 3.0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(bits_are_those_of_splitmix64),
      cmocka_unit_test(uniform_fills_its_interval),
      cmocka_unit_test(normal_has_unit_variance),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

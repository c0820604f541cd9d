#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <math.h>
#include "app/bench.h"

static void median_and_mean_of_known_lists(void** state) {
  (void)state;
  double odd[] = {5, 1, 3}, even[] = {4, 1, 3, 2};
  assert_true(bench_median(odd, 3) == 3.0);
  assert_true(bench_median(even, 4) == 2.5);
  assert_true(bench_median(even, 0) == 0.0);
  assert_true(bench_mean(even, 4) == 2.5);
  assert_true(bench_mean(even, 0) == 0.0);
}

static void a_power_law_gives_back_its_exponent(void** state) {
  (void)state;
  double x[6] = {10, 50, 100, 200, 500, 1000}, y[6];
  for (int i = 0; i < 6; i++) y[i] = x[i] < 100 ? 7.0 : 3.0 * pow(x[i], 1.25);
  double exponent = bench_exponent(x, y, 6, 100, 1000);
  if (!(fabs(exponent - 1.25) < 1e-12)) fail_msg("got %.17g, expected 1.25", exponent);
  assert_true(isnan(bench_exponent(x, y, 6, 600, 1000))); /* one point is no line */
  assert_true(isnan(bench_exponent(x, y, 0, 1, 10)));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(median_and_mean_of_known_lists),
      cmocka_unit_test(a_power_law_gives_back_its_exponent),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

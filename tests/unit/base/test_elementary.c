/* Tests the elementary functions against the C library's in long double. The arguments are ordinary, huge, tiny and
 * special. scripts/check_bits.sh tests that results are bit-identical on every processor. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "support/compare.h"

enum { VALUES = 200000 };

/* Any finite number. */
static double any_number(Random* random) {
  for (;;) {
    uint64_t bits = random_bits(random);
    double x;
    memcpy(&x, &bits, sizeof x);
    if (isfinite(x)) return x;
  }
}

/* Returns, by `k` modulo 4: any finite number, an ordinary number, a number near 1, a tiny number. */
static double argument(Random* random, int k) {
  switch (k % 4) {
    case 0:
      return any_number(random);
    case 1:
      return random_uniform(random, -100, 100);
    case 2:
      return 1 + random_normal(random) * 1e-3;
    default:
      return random_normal(random) * 1e-9;
  }
}

static double within(double x, double limit) { return fabs(x) <= limit ? x : 1 / x; }

/* Distance in units in the last place of the result. */
static void compare_units(double got, long double wanted, double units, const char* name, double x, double y) {
  if (!isfinite((double)wanted) || wanted == 0) {
    if (!(got == (double)wanted || (isnan(got) && isnan((double)wanted))))
      fail_msg("%s(%.17g, %.17g) = %.17g, wanted %.17g", name, x, y, got, (double)wanted);
    return;
  }
  if (fabsl(wanted) < 1e-300) units = 2; /* near the numbers that lose digits */
  double place = fmax(nextafter(fabs((double)wanted), INFINITY) - fabs((double)wanted), DBL_TRUE_MIN);
  double error = (double)(fabsl((long double)got - wanted) / (long double)place);
  if (!(error <= units))
    fail_msg("%s(%.17g, %.17g) = %.17g, wanted %.21Lg: %.3g units in the last place", name, x, y, got, wanted, error);
}

static void functions_of_one_number(void** state) {
  (void)state;
  static const struct {
    const char* name;
    double (*got)(double);
    long double (*wanted)(long double);
    int domain; /* 0: all, 1: [-1, 1], 2: not negative */
  } rows[] = {{"sin", math_sin, sinl, 0}, {"cos", math_cos, cosl, 0},       {"acos", math_acos, acosl, 1},
              {"log", math_log, logl, 2}, {"log10", math_log10, log10l, 2}, {"cbrt", math_cbrt, cbrtl, 0}};
  for (size_t row = 0; row < sizeof rows / sizeof *rows; row++) {
    Random random = {171 + row};
    for (int k = 0; k < VALUES; k++) {
      double x = argument(&random, k);
      if (rows[row].domain == 1) x = within(x, 1);
      if (rows[row].domain == 2) x = fabs(x);
      compare_units(rows[row].got(x), rows[row].wanted(x), 1, rows[row].name, x, NAN);
    }
  }
}

static void functions_of_two_numbers(void** state) {
  (void)state;
  Random random = {181};
  for (int k = 0; k < VALUES; k++) {
    double x = argument(&random, k), y = argument(&random, k / 4);
    compare_units(math_atan2(y, x), atan2l(y, x), 2, "atan2", y, x);
    if (fabs(x) < 1e300 && fabs(y) < 1e300) compare_units(math_hypot(x, y), hypotl(x, y), 2, "hypot", x, y);
    double exponent = random_uniform(&random, -30, 30);
    long double power = powl(fabsl(x), exponent);
    if (power < DBL_MAX && power > DBL_MIN) compare_units(math_pow(fabs(x), exponent), power, 1, "pow", x, exponent);
  }
}

/* Near multiples of pi/2 all but the last digits of the argument cancel. Computing sine and cosine together gives the
 * same bits as computing them separately. */
static void sine_and_cosine_near_their_zeros(void** state) {
  (void)state;
  Random random = {191};
  for (int k = 0; k < VALUES; k++) {
    double x = rint(random_uniform(&random, 0, k % 2 ? 100 : 600000)) * 1.5707963267948966, s, c;
    if (k % 3) x += random_normal(&random) * 1e-12;
    compare_units(math_sin(x), sinl(x), 1, "sin", x, NAN);
    compare_units(math_cos(x), cosl(x), 1, "cos", x, NAN);
    math_sincos(-x, &s, &c);
    if (s != -math_sin(x) || c != math_cos(x)) fail_msg("seed 191, sincos(%.17g): %.17g, %.17g", -x, s, c);
  }
}

static void special_arguments(void** state) {
  (void)state;
  assert_true(math_sin(0.0) == 0 && !signbit(math_sin(0.0)) && signbit(math_sin(-0.0)));
  assert_true(math_cos(0.0) == 1 && math_acos(1.0) == 0);
  assert_true(isnan(math_sin(INFINITY)) && isnan(math_cos(NAN)) && isnan(math_acos(1.5)) && isnan(math_log(-1)));
  assert_true(math_log(1.0) == 0 && isinf(math_log(0.0)));
  compare_near(math_atan2(0.0, -1.0), 3.14159265358979323846, 0, "atan2(0, -1)");
  compare_near(math_atan2(-0.0, -1.0), -3.14159265358979323846, 0, "atan2(-0, -1)");
  assert_true(math_atan2(0.0, 0.0) == 0 && math_hypot(0, 0) == 0 && math_hypot(3, -4) == 5);
  assert_true(isinf(math_hypot(INFINITY, 1)) && isnan(math_hypot(NAN, 1)));
  assert_true(math_pow(0, 0) == 1 && math_pow(2, 10) == 1024 && math_pow(10, 3) == 1000 && math_pow(0.9, 0) == 1);
  assert_true(math_cbrt(-27) == -3 && math_cbrt(0.0) == 0 && math_log10(1000) == 3);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(functions_of_one_number),
      cmocka_unit_test(functions_of_two_numbers),
      cmocka_unit_test(sine_and_cosine_near_their_zeros),
      cmocka_unit_test(special_arguments),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

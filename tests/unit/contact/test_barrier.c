/* Tests the clamped barrier Q (C2) against the paper's polynomial in long double and against finite differences. Both
 * ends of the range are included. */
#include "model/model.h"
#include "support/sweep.h"

/* P_s(c) = (c - s)^4 / c^5 with s = 1, and its derivatives as the quotient rule gives them. */
static void paper(long double c, long double p[3]) {
  long double d = c - 1, c5 = powl(c, 5);
  p[0] = d * d * d * d / c5;
  p[1] = 4 * d * d * d / c5 - 5 * d * d * d * d / (c5 * c);
  p[2] = 12 * d * d / c5 - 40 * d * d * d / (c5 * c) + 30 * d * d * d * d / (c5 * c * c);
}

static void barrier_C2_matches_the_papers_formula(void** state) {
  (void)state;
  for (double z = 1e-6; z < 1; z *= 1.07) {
    long double p[3];
    paper((long double)z, p);
    Barrier b = barrier_eval(z);
    compare_relative(b.value, (double)p[0], 4e-15, "Q at z = %g", z);
    compare_relative(b.first, (double)p[1], 4e-15, "Q' at z = %g", z);
    compare_relative(b.second, (double)p[2], 6e-15, "Q'' at z = %g", z);
  }
}

/* Near z = 1 the value is t^4 (1 + 5 t + 15 t^2 ...) with t = 1 - z, which is exact in floating point. */
static void barrier_C2_keeps_its_digits_near_the_support(void** state) {
  (void)state;
  for (double t = 1e-2; t > 1e-15; t *= 0.3) {
    double z = 1 - t, exact = 1 - z;
    long double p[3];
    paper((long double)z, p);
    Barrier b = barrier_eval(z);
    compare_relative(b.value, (double)p[0], 4e-15, "Q at 1 - %g", exact);
    compare_relative(b.first, (double)p[1], 4e-15, "Q' at 1 - %g", exact);
    compare_relative(b.second, (double)p[2], 6e-15, "Q'' at 1 - %g", exact);
  }
}

static bool value_and_slope(void* context, const double* x, double* y) {
  (void)context;
  Barrier b = barrier_eval(x[0]);
  y[0] = b.value;
  y[1] = b.first;
  return true;
}

static void barrier_C2_matches_central_differences(void** state) {
  (void)state;
  const double at[] = {1e-4, 1e-2, 0.1, 0.3, 0.5, 0.8, 0.95, 0.999, 1 - 1e-6};
  for (size_t k = 0; k < sizeof at / sizeof *at; k++) {
    double z = at[k], width = fmin(z, 1 - z);
    Barrier b = barrier_eval(z);
    const double jacobian[2] = {b.first, b.second};
    const double scale[2] = {fabs(b.first), fabs(b.second)};
    Sweep sweep = {value_and_slope, NULL, 1, 2, &z, &width, scale, 0.1, 4, 10};
    /* near 1 the sum 1 - t rounds to 1e-16 / t of t */
    sweep_expect(&sweep, jacobian, 0, fmax(1e-8, 1e-13 / width), "z = %g", z);
  }
}

/* Value, slope, curvature and its slope vanish at z = 1: three times continuously differentiable. */
static void barrier_C2_is_smooth_at_the_support(void** state) {
  (void)state;
  for (double t = 1e-3; t > 1e-12; t *= 0.1) {
    Barrier b = barrier_eval(1 - t);
    compare_at_most(b.value, 1.1 * pow(t, 4), "Q at 1 - %g", t);
    compare_at_most(-b.first, 4.1 * pow(t, 3), "-Q' at 1 - %g", t);
    compare_at_most(b.second, 12.5 * t * t, "Q'' at 1 - %g", t);
  }
}

/* contact.md, worked example: Q(1/2) = 2, Q' = -36, Q'' = 656. */
static void barrier_C2_worked_example(void** state) {
  (void)state;
  Barrier b = barrier_eval(0.5);
  compare_near(b.value, 2, 0, "Q(1/2)");
  compare_near(b.first, -36, 0, "Q'(1/2)");
  compare_near(b.second, 656, 0, "Q''(1/2)");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(barrier_C2_matches_the_papers_formula),
      cmocka_unit_test(barrier_C2_keeps_its_digits_near_the_support),
      cmocka_unit_test(barrier_C2_matches_central_differences),
      cmocka_unit_test(barrier_C2_is_smooth_at_the_support),
      cmocka_unit_test(barrier_C2_worked_example),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

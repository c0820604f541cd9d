/* Tests integrals of velocity signals against closed forms and Simpson's rule, and derivatives against finite
 * differences. */
#include "check.h"

#include "support/compare.h"

static double times[] = {-0.4, 0.5, 1.25, 2}, values[] = {1, -2, 3, 0.5, -1, 4, 2, 2};
static double amplitude[] = {0.7, -0.3, 0.4, 0.2}, frequency[] = {1.5, 0, 1e-3, 4}, phase[] = {0.3, 0.9, -0.4, 2};

/* The last case is the sines' again, which swell. */
static const SignalType TYPES[] = {SIGNAL_CONSTANT, SIGNAL_KEYFRAMES, SIGNAL_SINES, SIGNAL_SEQUENCE, SIGNAL_SINES};
enum { CASE_COUNT = 5 };

static SceneSignal source_of(int which) {
  SignalType type = TYPES[which];
  return (SceneSignal){.type = type,
                       .channels = 2,
                       .times = times,
                       .values = values,
                       .rows = type == SIGNAL_CONSTANT || type == SIGNAL_SINES ? 1 : 4,
                       .terms = type == SIGNAL_SINES ? 2 : 0,
                       .amplitude = amplitude,
                       .frequency = frequency,
                       .phase = phase,
                       .interval = 0.6,
                       .ramp = which == CASE_COUNT - 1 ? 1.25 : 0,
                       .integrated = true};
}

static const double MOMENTS[] = {0, 0.1, 0.5, 0.9, 1.25, 1.7, 2, 3.1};
enum { MOMENT_COUNT = 8 };

/* Simpson's rule on pieces that end where a row stands: exact for linear pieces, to 1e-12 for slow sines. */
static void integrals_by_quadrature(void** state) {
  (void)state;
  for (int i = 0; i < CASE_COUNT; i++) {
    SceneSignal rates = source_of(i), whole = rates;
    rates.integrated = false;
    Signal rate, integral;
    signal_create(&rate, &rates);
    signal_create(&integral, &whole);
    double sum[2] = {0, 0}, h = 3.1 / 6200; /* rows stand on multiples of it */
    int next = 0;
    for (int k = 0; k <= 6200; k++) {
      double v[2], at[2], middle[2], end[2], unused[2];
      if (next < MOMENT_COUNT && fabs(k * h - MOMENTS[next]) < h / 2) {
        signal_eval(&integral, MOMENTS[next], v, at);
        compare_arrays(v, sum, 2, 1e-9, "case %d at %g", i, MOMENTS[next]);
        signal_eval(&rate, MOMENTS[next++], v, unused);
        compare_arrays(at, v, 2, 0, "its rate, case %d", i);
      }
      signal_eval(&rate, k * h, at, unused);
      signal_eval(&rate, (k + 0.5) * h, middle, unused);
      signal_eval(&rate, (k + 1) * h, end, unused);
      for (int c = 0; c < 2; c++) sum[c] += h / 6 * (at[c] + 4 * middle[c] + end[c]);
    }
    assert_int_equal(next, MOMENT_COUNT);
    signal_destroy(&rate);
    signal_destroy(&integral);
  }
}

/* 2 sin(2 pi 3 t): (1 - cos(6 pi t)) / (3 pi). */
static void a_sine_in_closed_form(void** state) {
  (void)state;
  double offset[] = {0.5}, a[] = {2}, f[] = {3}, p[] = {0}, value, rate;
  SceneSignal source = {.type = SIGNAL_SINES,
                        .channels = 1,
                        .values = offset,
                        .rows = 1,
                        .terms = 1,
                        .amplitude = a,
                        .frequency = f,
                        .phase = p,
                        .integrated = true};
  Signal signal;
  signal_create(&signal, &source);
  for (int k = 0; k <= 10; k++) {
    double t = 0.137 * k;
    signal_eval(&signal, t, &value, &rate);
    compare_near(value, 0.5 * t + (1 - cos(6 * M_PI * t)) / (3 * M_PI), 1e-14, "t = %g", t);
  }
  signal_destroy(&signal);
}

/* A sine at its maximum grows by the ramp w(x) with x = t / ramp up to 1. The integral of w is ramp (x^6 - 3 x^5 + 5/2
 * x^4). */
static void a_swell_in_closed_form(void** state) {
  (void)state;
  double offset[] = {0.5}, a[] = {2}, f[] = {0}, p[] = {M_PI / 2}, value, rate;
  SceneSignal source = {.type = SIGNAL_SINES,
                        .channels = 1,
                        .values = offset,
                        .rows = 1,
                        .terms = 1,
                        .amplitude = a,
                        .frequency = f,
                        .phase = p,
                        .ramp = 0.7,
                        .integrated = true};
  Signal signal;
  signal_create(&signal, &source);
  for (int k = 0; k <= 10; k++) {
    double t = 0.137 * k, x = fmin(t / 0.7, 1),
           wanted = 0.5 * t + 2 * (0.7 * (pow(x, 6) - 3 * pow(x, 5) + 2.5 * pow(x, 4)) + fmax(t - 0.7, 0));
    signal_eval(&signal, t, &value, &rate);
    compare_near(value, wanted, 1e-15, "t = %g", t);
  }
  signal_destroy(&signal);
}

/* Integration uses points below an angle of 4 and parts above. Simpson's rule on 20000 intervals is the reference at
 * the change and far from it. */
static void swelling_by_points_and_by_parts(void** state) {
  (void)state;
  double offset[] = {0}, a[] = {1}, f[] = {1}, p[] = {0.4}, value, rate, at, middle, end, unused;
  SceneSignal source = {.type = SIGNAL_SINES,
                        .channels = 1,
                        .values = offset,
                        .rows = 1,
                        .terms = 1,
                        .amplitude = a,
                        .frequency = f,
                        .phase = p,
                        .ramp = 1};
  const double angles[] = {1e-3, 0.5, 3.999, 4.001, 9, 60, 400};
  for (int k = 0; k < 7; k++)
    for (double t = 0.6; t < 1.7; t += 0.5) {
      f[0] = angles[k] / (2 * M_PI * fmin(t, 1));
      SceneSignal whole = source;
      whole.integrated = true;
      Signal rates, integral;
      signal_create(&rates, &source);
      signal_create(&integral, &whole);
      double sum = 0, h = t / 20000;
      for (int i = 0; i < 20000; i++) {
        signal_eval(&rates, i * h, &at, &unused);
        signal_eval(&rates, (i + 0.5) * h, &middle, &unused);
        signal_eval(&rates, (i + 1) * h, &end, &unused);
        sum += h / 6 * (at + 4 * middle + end);
      }
      signal_eval(&integral, t, &value, &rate);
      compare_near(value, sum, 1e-13 + 1e-9 * fabs(sum), "angle %g, t = %g", angles[k], t);
      if (angles[k] < 100) check_vjp(&whole, t, 10);
      signal_destroy(&rates);
      signal_destroy(&integral);
    }
}

static void integrals_vjp_against_differences(void** state) {
  (void)state;
  for (int i = 0; i < CASE_COUNT; i++)
    for (int k = 1; k < MOMENT_COUNT; k++) {
      SceneSignal source = source_of(i);
      check_vjp(&source, MOMENTS[k] + 0.003, 10);
    }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(integrals_by_quadrature), cmocka_unit_test(a_sine_in_closed_form),
                                     cmocka_unit_test(a_swell_in_closed_form),
                                     cmocka_unit_test(swelling_by_points_and_by_parts),
                                     cmocka_unit_test(integrals_vjp_against_differences)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}

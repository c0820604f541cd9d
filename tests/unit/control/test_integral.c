/* Rates as signals: their integral against closed forms and Simpson's rule, derivatives against differences. */
#include "check.h"

#include "support/compare.h"

static double times[] = {-0.4, 0.5, 1.25, 2}, values[] = {1, -2, 3, 0.5, -1, 4, 2, 2};
static double amplitude[] = {0.7, -0.3, 0.4, 0.2}, frequency[] = {1.5, 0, 1e-3, 4}, phase[] = {0.3, 0.9, -0.4, 2};

static SceneSignal source_of(SignalType type) {
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
                       .integrated = true};
}

static const SignalType TYPES[] = {SIGNAL_CONSTANT, SIGNAL_KEYFRAMES, SIGNAL_SINES, SIGNAL_SEQUENCE};
enum { TYPE_COUNT = 4 };
static const double MOMENTS[] = {0, 0.1, 0.5, 0.9, 1.25, 1.7, 2, 3.1};
enum { MOMENT_COUNT = 8 };

/* Simpson's rule on pieces that end where a row stands: exact for linear pieces, to 1e-12 for slow sines. */
static void integrals_by_quadrature(void** state) {
  (void)state;
  for (int i = 0; i < TYPE_COUNT; i++) {
    SceneSignal rates = source_of(TYPES[i]), whole = rates;
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
        compare_arrays(v, sum, 2, 1e-9, "type %d at %g", TYPES[i], MOMENTS[next]);
        signal_eval(&rate, MOMENTS[next++], v, unused);
        compare_arrays(at, v, 2, 0, "its rate, type %d", TYPES[i]);
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

static void integrals_vjp_against_differences(void** state) {
  (void)state;
  for (int i = 0; i < TYPE_COUNT; i++)
    for (int k = 1; k < MOMENT_COUNT; k++) {
      SceneSignal source = source_of(TYPES[i]);
      check_vjp(&source, MOMENTS[k] + 0.003, 10);
    }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(integrals_by_quadrature), cmocka_unit_test(a_sine_in_closed_form),
                                     cmocka_unit_test(integrals_vjp_against_differences)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Tests the smooth force limit of a drive. */
#include "control/control.h"
#include "support/sweep.h"

static void limit_M2_worked_example(void** state) {
  (void)state;
  compare_near(limited_force(9, 10, 0.05).force, 9, 0, "below");
  compare_near(limited_force(9, 10, 0.05).slope, 1, 0, "slope below");
  compare_near(limited_force(10, 10, 0.05).force, 9.921875, 1e-14, "half way");
  compare_near(limited_force(10, 10, 0.05).slope, 0.5, 1e-14, "slope half way");
  compare_near(limited_force(11, 10, 0.05).force, 10, 1e-14, "beyond");
  compare_near(limited_force(-1e9, 10, 0.05).force, -10, 1e-14, "far beyond, the other way");
  compare_near(limited_force(11, 10, 0.05).slope, 0, 0, "slope beyond");
  compare_near(limited_force(1e9, 0, 0.05).force, 1e9, 0, "without a limit");
}

static const double WIDTHS[] = {0.05, 0.01, 0.3};

/* Of a width, and a limit of 4. */
static bool law_at(void* context, const double* x, double* y) {
  LimitedForce f = limited_force(x[0], 4, *(const double*)context);
  y[0] = f.energy;
  y[1] = f.force;
  y[2] = 10 * f.slope; /* the second derivative is there, and continuous */
  return true;
}

/* d slope / d u by the formula: -S' of the smoothstep. */
static double bend(double u, double limit, double w) {
  double x = fabs(u) / limit, t = (x - (1 - w)) / (2 * w);
  if (t <= 0 || t >= 1) return 0;
  return -copysign(30 * t * t * (1 - t) * (1 - t) / (2 * w) / limit, u);
}

/* On both sides of every branch, and at the joints themselves; `at`: of 0.05, the corner's part of others as far. */
static void limit_M2_energy_force_and_slope(void** state) {
  (void)state;
  const double limit = 4;
  static const double at[] = {0, 1, 3.7, 3.79, 3.8, 3.81, 4, 4.1, 4.19, 4.2, 4.21, 6, -3.85, -4, -4.15, -5};
  for (size_t n = 0; n < sizeof WIDTHS / sizeof *WIDTHS; n++)
    for (size_t k = 0; k < sizeof at / sizeof *at; k++) {
      double w = WIDTHS[n], off = (fabs(at[k]) - limit) * (fabs(at[k]) > 3 && fabs(at[k]) < 5 ? w / 0.05 : 1);
      double u = copysign(limit + off, at[k]);
      LimitedForce f = limited_force(u, limit, w);
      const double jacobian[3] = {f.force, f.slope, 10 * bend(u, limit, w)};
      Sweep sweep = {.function = law_at, .context = &w, .inputs = 1, .outputs = 3, .x = &u, .first = 2e-3 * w / 0.05};
      sweep.factor = 4, sweep.steps = 8;
      SweepResult r = sweep_jacobian(&sweep, jacobian, 1);
      compare_at_most(r.error[r.best], 2e-6 * 0.05 / fmin(w, 0.05), "width %g, wanted %g: row %d, %g for %g", w, u,
                      r.row, r.found, r.wanted);
    }
}

static void limit_M2_is_never_more_than_asked_for_or_allowed(void** state) {
  (void)state;
  for (size_t n = 0; n < sizeof WIDTHS / sizeof *WIDTHS; n++)
    for (int k = 0; k <= 1000; k++) {
      double w = WIDTHS[n], limit = 4, u = limit * (1 + 2 * w * (k / 500.0 - 1)), ideal = fmin(u, limit);
      double force = limited_force(u, limit, w).force;
      compare_at_most(force, ideal + 1e-15, "never more than asked for or allowed, %g", u);
      compare_at_most(ideal - force, 0.15626 * w * limit, "nor much less, %g", u);
    }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(limit_M2_worked_example),
      cmocka_unit_test(limit_M2_energy_force_and_slope),
      cmocka_unit_test(limit_M2_is_never_more_than_asked_for_or_allowed),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

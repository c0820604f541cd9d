/* Tests bounds by an augmented Lagrangian. Value and factors are compared with finite differences, multipliers with a
 * closed form. */
#include <math.h>

#include "optimize/optimization.h"
#include "support/compare.h"

/* A task of one loss and two bounds. */
static BoundedTerms* two_bounds(TaskLoss losses[3], double first, double second) {
  losses[0] = (TaskLoss){.weight = 1};
  losses[1] = (TaskLoss){.weight = 1, .bounded = true, .bound = first};
  losses[2] = (TaskLoss){.weight = 1, .bounded = true, .bound = second};
  Task task = {.losses = losses, .loss_count = 3, .subject_count = 2};
  return bounded_terms_create(&task);
}

/* dA by every term, on both sides of where a bound begins to count, and its value there, which is continuous. */
static void merit_and_factors_O11(void** state) {
  (void)state;
  TaskLoss losses[3];
  BoundedTerms* s = two_bounds(losses, 2, -1);
  double start[3] = {7, 2.5, 0.3};
  bounded_terms_reset(s, 7, start);
  (void)bounded_terms_update(s, start, false);
  for (int k = -20; k <= 20; k++) {
    double terms[3] = {7 + 0.1 * k, 2 + 0.13 * k, -1 - 0.11 * k}, h = 1e-6;
    const double* factors = bounded_terms_derivatives(s, terms);
    compare_near(factors[0], 1, 0, "of the loss");
    for (int i = 1; i < 3; i++) {
      double up[3] = {terms[0], terms[1], terms[2]}, down[3] = {terms[0], terms[1], terms[2]};
      up[i] += h, down[i] -= h;
      double slope = (bounded_terms_merit(s, up[0], up) - bounded_terms_merit(s, down[0], down)) / (2 * h);
      compare_near(factors[i], slope, 1e-6 * fmax(1, fabs(slope)), "k = %d, term %d", k, i);
    }
  }
  bounded_terms_destroy(s);
}

/* min (x - 3)^2 / 2 with x <= 1 and -x <= 5: x = 1, multipliers 2 and 0. The minimum of A by x is exact here. */
static void multipliers_O12(void** state) {
  (void)state;
  TaskLoss losses[3];
  BoundedTerms* s = two_bounds(losses, 1, 5);
  double x = 3, terms[3] = {0, x, -x};
  bounded_terms_reset(s, 2, terms);
  int count, updates = 0;
  const double* lambda = bounded_terms_state(s, &count);
  do {
    for (int k = 0; k < 200; k++) { /* Newton's steps on a piecewise quadratic, by a secant */
      double probe[2];
      for (int n = 0; n < 2; n++) {
        double at = x + (n ? 1e-4 : 0), t[3] = {0, at, -at};
        const double* f = bounded_terms_derivatives(s, t);
        probe[n] = at - 3 + f[1] - f[2];
      }
      x -= probe[0] / ((probe[1] - probe[0]) / 1e-4);
    }
    terms[1] = x, terms[2] = -x;
  } while (bounded_terms_update(s, terms, true) && ++updates < 100);
  print_message("%d updates: x = %.12g, multipliers %.12g, %.12g\n", updates, x, lambda[0], lambda[1]);
  assert_true(updates < 100);
  compare_near(x, 1, 1e-6, "x");
  compare_near(lambda[0], 2, 1e-5, "of the bound that holds");
  compare_near(lambda[1], 0, 0, "of the other");
  assert_true(bounded_terms_violation(s, terms) <= BOUNDED_TERM_TOLERANCE);
  terms[1] = 1.5;
  compare_near(bounded_terms_violation(s, terms), 0.5, 1e-15, "relative to the bound");
  bounded_terms_destroy(s);
}

/* The same problem by steps of fixed length, as Adam's, which oscillate forever. The mean of ten steps measures the
 * violation. The multiplier follows to its value within a step's resolution: a step changes the force of 2 by (1 + rho)
 * step. The penalty must not grow because of the oscillation. */
static void follows_O20(void** state) {
  (void)state;
  for (int k = 0; k < 3; k++) {
    TaskLoss losses[3];
    BoundedTerms* s = two_bounds(losses, 1, 5);
    double step = (double[]){0.1, 0.01, 0.001}[k], x = 3, terms[3] = {0, x, -x}, sum = 0, low = x, high = x,
           mean_lambda = 0;
    int count, since = 0, rounds = 0;
    bounded_terms_reset(s, 2, terms);
    const double* lambda = bounded_terms_state(s, &count);
    for (int iteration = 0; iteration < 6000; iteration++) {
      terms[1] = x, terms[2] = -x;
      const double* f = bounded_terms_derivatives(s, terms);
      x -= step * (x - 3 + f[1] - f[2] > 0 ? 1 : -1);
      sum += x, low = fmin(low, x), high = fmax(high, x);
      if (++since < 10) continue;
      double mean[3] = {0, sum / since, -sum / since}, spread[3] = {0, high - low, high - low};
      (void)bounded_terms_update_in_search(s, mean, spread);
      sum = 0, since = 0, low = HUGE_VAL, high = -HUGE_VAL;
      if (iteration >= 4000) mean_lambda += lambda[0], rounds++;
    }
    mean_lambda /= rounds;
    print_message("steps of %g: x = %.4f, multiplier %.4f, penalty %.4g\n", step, x, mean_lambda, lambda[2]);
    compare_near(x, 1, 2 * step, "x, steps of %g", step);
    compare_near(mean_lambda, 2, (1 + lambda[2]) * step, "multiplier, steps of %g", step);
    compare_near(lambda[1], 0, 0, "of the other");
    bounded_terms_destroy(s);
  }
}

/* A method that is as fast whatever the penalty is not hurried twice. */
static void full_speed_O20(void** state) {
  (void)state;
  TaskLoss losses[3];
  BoundedTerms* s = two_bounds(losses, 1, 5);
  double terms[3] = {0, 3, -3};
  int count;
  bounded_terms_reset(s, 2, terms);
  const double* lambda = bounded_terms_state(s, &count);
  double penalty = lambda[2];
  for (int k = 1; k <= 150; k++) {
    terms[1] = 3 - 0.01 * k;
    assert_true(bounded_terms_update_in_search(s, terms, NULL) == (k == 1));
    compare_near(lambda[2], 4 * penalty, 1e-15, "look %d", k);
  }
  bounded_terms_destroy(s);
}

/* A violation that halves in ten iterations, or falls at a constant rate, changes no penalty. One that slows down or
 * rises does. Below a thousandth of the initial violation, a converged design keeps its penalty, but a mean does not.
 */
static void leaves_alone_what_falls_O20(void** state) {
  (void)state;
  TaskLoss losses[3];
  BoundedTerms* s = two_bounds(losses, 1, 5);
  double terms[3] = {0, 3, -3}, spread[3] = {0};
  int count;
  bounded_terms_reset(s, 2, terms);
  const double* lambda = bounded_terms_state(s, &count);
  double penalty = lambda[2];
  compare_near(penalty, 2 * 2 / (2.0 * 2.0), 1e-15, "2 L / g^2");
  for (int k = 1; k <= 4; k++) {
    terms[1] = 3 - 0.25 * k;
    assert_false(bounded_terms_update_in_search(s, terms, NULL));
  }
  compare_near(lambda[0], 0, 0, "at a steady pace");
  terms[1] = 1.45;
  assert_false(bounded_terms_update_in_search(s, terms, NULL));
  compare_near(lambda[0], 0, 0, "halved");
  terms[1] = 1.3;
  assert_true(bounded_terms_update_in_search(s, terms, NULL));
  compare_near(lambda[0], penalty * 0.3, 1e-15, "slower than before");
  compare_near(lambda[2], 4 * penalty, 1e-15, "nor on another side");
  terms[1] = 1.001;
  assert_false(bounded_terms_update_in_search(s, terms, NULL));
  assert_false(bounded_terms_update_in_search(s, terms, NULL));
  assert_true(bounded_terms_update_in_search(s, terms, spread));
  compare_near(lambda[2], 4 * penalty, 1e-15, "too small to be hurried");
  terms[1] = 1.1;
  assert_true(bounded_terms_update_in_search(s, terms, spread));
  compare_near(lambda[2], 16 * penalty, 1e-15, "it rises");
  bounded_terms_destroy(s);
}

static void nothing_is_bounded(void** state) {
  (void)state;
  Task task = {0};
  assert_null(bounded_terms_create(&task));
  assert_int_equal(bounded_terms_count(NULL), 0);
  bounded_terms_destroy(NULL);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(merit_and_factors_O11),
      cmocka_unit_test(multipliers_O12),
      cmocka_unit_test(follows_O20),
      cmocka_unit_test(full_speed_O20),
      cmocka_unit_test(leaves_alone_what_falls_O20),
      cmocka_unit_test(nothing_is_bounded),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

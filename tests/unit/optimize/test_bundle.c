/* Tests gradients by bundles of random samples. For a quadratic loss the mean follows from the samples. */
#include <math.h>
#include <string.h>

#include "optimize/optimize.h"
#include "support/compare.h"

/* After N steps without contact x = N dt v, so the loss is (N dt v - 2)^2. */
static const char TASK[] =
    "seed: %d\n"
    "scene: {simulation: {dt: 0.01, steps: 60, gravity: [0, 0, 0], integrator: first_order}, contact: {model: none}, "
    "links: [{name: ball, mass: "
    "1, "
    "shape: {type: sphere, radius: 0.1}}], initial: [{link: ball, velocities: [1, 0, 0, 0, 0, 0]}]}\n"
    "initial: [{link: ball, velocities: true, dof: [0], within: %g}]\n"
    "loss: [{type: point, link: ball, target: [2, 0, 0]}]\n"
    "optimizer: {type: gradient, iterations: 1}\n"
    "gradient: {bundle: %d, spread: 0.3}\n";

static double gradient_of(int seed, double within, int bundle) {
  Task task;
  Optimization* optimization;
  Diagnostics diagnostics = {0};
  Text text = {0};
  OptimizationOptions options = {.threads = 1};
  text_add(&text, TASK, seed, within, bundle);
  assert_int_equal(task_parse(&task, "inline.yaml", text.data, text.length, false, NULL, 0, &diagnostics), STATUS_OK);
  assert_int_equal(optimization_create(&optimization, &task, &options, &diagnostics), STATUS_OK);
  assert_int_equal(optimization_start(optimization, &diagnostics), STATUS_OK);
  double norm = optimization_rows(optimization)[0].grad_control;
  optimization_destroy(optimization);
  task_free(&task);
  text_free(&text);
  diagnostics_free(&diagnostics);
  return norm;
}

/* The numbers of (O13): seed, iteration 0, number. */
static double draw(int seed, int number) {
  Random random = {(uint64_t)seed};
  random.state = random_bits(&random);
  random.state = random_bits(&random) + (uint64_t)number;
  return random_normal(&random);
}

static void the_mean_over_a_bundle_O13(void** state) {
  (void)state;
  const double T = 0.6;
  for (int seed = 0; seed < 3; seed++)
    for (int bundle = 0; bundle <= 9; bundle += 3) {
      double mean = 1;
      for (int k = 0; k < bundle; k++) mean += 0.3 * draw(seed, k) / bundle;
      double expected = fabs(2 * T * (T * mean - 2)), found = gradient_of(seed, 100, bundle);
      compare_relative(found, expected, 1e-9, "seed %d, bundle of %d", seed, bundle);
      assert_true(bundle == 0 || fabs(found - 2 * T * (2 - T)) > 1e-4);
    }
}

/* Designs beyond the bounds are the nearest ones within. */
static void a_bundle_keeps_to_the_bounds_O13(void** state) {
  (void)state;
  const double T = 0.6;
  double mean = 1;
  for (int k = 0; k < 9; k++) mean += fmax(-0.05, fmin(0.05, 0.3 * draw(1, k))) / 9;
  compare_relative(gradient_of(1, 0.05, 9), fabs(2 * T * (T * mean - 2)), 1e-9, "clamped");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_mean_over_a_bundle_O13),
      cmocka_unit_test(a_bundle_keeps_to_the_bounds_O13),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

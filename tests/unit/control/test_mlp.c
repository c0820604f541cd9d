/* Tests neural-network controllers: a value by hand, tanh of the C library, and derivatives against finite differences.
 */
#include "check.h"

static void mlp_E7_by_hand(void** state) {
  (void)state;
  double numbers[] = {2, -0.3, 3, 0.1}, y = 0.5, value = 1;
  SceneController c = {.feedback_type = FEEDBACK_MLP, .hidden = {1}, .hidden_count = 1, .scale = 10};
  c.measure_count = 1, c.feedback = numbers, c.target.channels = 1;
  assert_int_equal(controller_feedback_count(&c), 4);
  mlp_eval(&c, &y, &value);
  check_near(value, 1 + 10 * (3 * tanh(0.7) + 0.1), 1e-13, "added to what stands there");
  static const double places[] = {-800, -30, -1, -1e-3, 0, 1e-9, 0.3, 5, 400};
  for (size_t k = 0; k < sizeof places / sizeof *places; k++) {
    double one[] = {1, 0, 1, 0};
    c.feedback = one, c.scale = 1, y = places[k], value = 0;
    mlp_eval(&c, &y, &value);
    check_near(value, tanh(places[k]), 4e-16, "tanh");
  }
}

enum { NUMBERS = 5 * 4 + 3 * 6 + 2 * 4, INPUTS = 3 };

static double weighted(const SceneController* c, const double* y) {
  double value[2] = {0};
  mlp_eval(c, y, value);
  return 0.7 * value[0] - 1.3 * value[1];
}

/* Two hidden layers and two outputs: central differences of all numbers and measurements, at two step sizes. */
static void mlp_E7_against_differences(void** state) {
  (void)state;
  Random random = {5};
  double numbers[NUMBERS], y[INPUTS], by_numbers[NUMBERS] = {0}, by_y[INPUTS];
  const double bar[2] = {0.7, -1.3};
  for (int k = 0; k < NUMBERS; k++) numbers[k] = random_uniform(&random, -0.8, 0.8);
  for (int k = 0; k < INPUTS; k++) y[k] = random_uniform(&random, -1, 1);
  SceneController c = {.feedback_type = FEEDBACK_MLP, .hidden = {5, 3}, .hidden_count = 2, .scale = 2.5};
  c.measure_count = INPUTS, c.feedback = numbers, c.target.channels = 2;
  assert_int_equal(controller_feedback_count(&c), NUMBERS);
  mlp_eval_vjp(&c, y, bar, by_numbers, by_y);
  for (int k = 0; k < NUMBERS + INPUTS; k++) {
    double *at = k < NUMBERS ? &numbers[k] : &y[k - NUMBERS], kept = *at, error[2];
    double found = k < NUMBERS ? by_numbers[k] : by_y[k - NUMBERS];
    for (int i = 0; i < 2; i++) {
      double h = i == 0 ? 1e-2 : 1e-3;
      *at = kept + h;
      double above = weighted(&c, y);
      *at = kept - h;
      error[i] = fabs((above - weighted(&c, y)) / (2 * h) - found);
      *at = kept;
    }
    if (!(error[0] < 1e-3)) fail_msg("seed 5, number %d: %g, off by %g", k, found, error[0]);
    if (!(error[1] < 0.02 * error[0] + 1e-12)) fail_msg("seed 5, number %d: %g then %g", k, error[0], error[1]);
  }
  mlp_eval_vjp(&c, y, bar, by_numbers, by_y);
  mlp_eval_vjp(&c, y, (const double[2]){0, 0}, by_numbers, by_y);
  for (int j = 0; j < INPUTS; j++) check_near(by_y[j], 0, 0, "set, not added to");
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(mlp_E7_by_hand), cmocka_unit_test(mlp_E7_against_differences)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}

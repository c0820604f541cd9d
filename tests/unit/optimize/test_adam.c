#include "optimize_driving.h"

static TaskOptimizer settings(void) {
  TaskOptimizer s = test_settings(OPTIMIZER_ADAM);
  s.beta1 = 0.5;
  s.beta2 = 0.75;
  s.epsilon = 0;
  s.design_step = 0.1;
  s.control_step = 1;
  return s;
}

/* Gradients 1, -2, 3 of one variable and their negative, a thousand times as large, in the other block. By hand:
 *   mean 1/2, -3/4, 9/8          / (1 - 1/2^k):   1, -1, 9/7
 *   square 1/4, 19/16, 201/64    / (1 - (3/4)^k): 1, 19/7, 201/37 */
static const double GRADIENTS[3][2] = {{1, -1000}, {-2, 2000}, {3, -3000}};
static const double MOVES[3][2] = {{-1.0, 1}, {1, 19.0 / 7}, {-9.0 / 7, 201.0 / 37}};

static double move(int k) { return MOVES[k][0] / sqrt(MOVES[k][1]); }

static void O5_sequence_by_hand(void** state) {
  (void)state;
  TestSet* t = test_set_create(2, 0);
  t->block[1] = 1;
  TaskOptimizer s = settings();
  Optimizer* optimizer = optimizer_create(&s, &t->set);
  double x[2] = {5, 7}, trial[2];
  for (int k = 0; k < 3; k++) {
    optimizer_propose(optimizer, x, 0, GRADIENTS[k], trial);
    compare_near(trial[0] - x[0], 0.1 * move(k), 1e-15, "design, step %d", k);
    compare_near(trial[1] - x[1], -move(k), 2e-15, "control, step %d", k);
    assert_true(optimizer_report_outcome(optimizer, true, 0));
    memcpy(x, trial, sizeof x);
  }
  assert_false(optimizer_descends(optimizer));
  optimizer_destroy(optimizer);
  memory_free(t);
}

/* The second gradient is rejected twice. The steps keep their direction and have 1/2 and 1/4 of the length, from the
 * same moments. The third gradient is taken at half the step as if nothing were rejected, and the next at the full
 * step. */
static void O5_a_rejected_gradient_counts_once(void** state) {
  (void)state;
  TestSet* t = test_set_create(2, 0);
  TaskOptimizer s = settings();
  s.grow = 2;
  Optimizer* optimizer = optimizer_create(&s, &t->set);
  double x[2] = {0, 0}, trial[2];
  optimizer_propose(optimizer, x, 0, GRADIENTS[0], trial);
  optimizer_report_outcome(optimizer, true, 0);
  compare_near(optimizer_step_bound(optimizer, 0), 0.1, 0, "no more than the full step");
  for (int refused = 0; refused < 3; refused++) {
    optimizer_propose(optimizer, x, 0, GRADIENTS[1], trial);
    compare_near(trial[0], 0.1 * move(1) * pow(0.5, refused), 1e-16, "refused %d times", refused);
    assert_true(optimizer_report_outcome(optimizer, refused == 2, 0));
  }
  optimizer_propose(optimizer, x, 0, GRADIENTS[2], trial);
  compare_near(trial[0], 0.05 * move(2), 1e-16, "the next gradient");
  optimizer_report_outcome(optimizer, true, 0);
  compare_near(optimizer_step_bound(optimizer, 0), 0.1, 0, "full again");
  optimizer_destroy(optimizer);
  memory_free(t);
}

static void zero_gradients_stay(void** state) {
  (void)state;
  TestSet* t = test_set_create(2, 0);
  TaskOptimizer s = settings(); /* epsilon = 0: 0 / 0 must not come up */
  Optimizer* optimizer = optimizer_create(&s, &t->set);
  double x[2] = {0.3, 0.4}, g[2] = {0, 1}, trial[2];
  optimizer_propose(optimizer, x, 0, g, trial);
  compare_near(trial[0], 0.3, 0, "without a gradient");
  compare_near(trial[1], 0.3, 1e-16, "with one");
  optimizer_destroy(optimizer);
  memory_free(t);
}

/* Onto x + y = 0 the step (-a, -2 a) / ... becomes its part along the line. */
static void the_proposal_is_projected(void** state) {
  (void)state;
  TestSet* t = test_set_create(3, 1);
  t->dense[0][0] = t->dense[0][1] = 1;
  t->row_low[0] = t->row_high[0] = 0;
  t->high[2] = 0.05;
  test_set_pack(t);
  TaskOptimizer s = settings();
  Optimizer* optimizer = optimizer_create(&s, &t->set);
  double x[3] = {0, 0, 0}, g[3] = {1, -1, -1}, h[3] = {1, 1, 1}, trial[3];
  optimizer_propose(optimizer, x, 0, g, trial);
  compare_arrays(trial, (double[]){-0.1, 0.1, 0.05}, 3, 1e-15, "along the line, to the bound");
  optimizer_destroy(optimizer);
  optimizer = optimizer_create(&s, &t->set);
  optimizer_propose(optimizer, x, 0, h, trial);
  compare_near(hypot(trial[0], trial[1]), 0, 1e-16, "across the line");
  compare_near(trial[2], -0.1, 1e-16, "the free one");
  optimizer_destroy(optimizer);
  memory_free(t);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(O5_sequence_by_hand),
      cmocka_unit_test(O5_a_rejected_gradient_counts_once),
      cmocka_unit_test(zero_gradients_stay),
      cmocka_unit_test(the_proposal_is_projected),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

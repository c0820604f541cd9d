#include "optimize_driving.h"

/* Small gradients: x - step g. Large ones: no entry of a block moves further than its step. */
static void O4_step_and_cap(void** state) {
  (void)state;
  TestSet* t = test_set_create(4, 0);
  t->block[2] = t->block[3] = 1;
  TaskOptimizer s = test_settings(OPTIMIZER_GRADIENT);
  s.design_step = 0.5;
  s.control_step = 2;
  Optimizer* optimizer = optimizer_create(&s, &t->set);
  double x[4] = {1, 1, 1, 1}, trial[4];
  optimizer_propose(optimizer, x, 0, (double[]){0.5, -0.25, 8, -2}, trial);
  compare_arrays(trial, (double[]){0.75, 1.125, -1, 1.5}, 4, 1e-15, "one block capped");
  optimizer_propose(optimizer, x, 0, (double[]){4, -1, 0, 0.5}, trial);
  compare_arrays(trial, (double[]){0.5, 1.125, 1, 0}, 4, 1e-15, "the other");
  assert_true(optimizer_descends(optimizer));
  optimizer_destroy(optimizer);
  memory_free(t);
}

/* By hand: the bound cuts the step 1 to 0.2. Halving gives the same cut step down to 1/4. The first step of at most
 * half of 0.2 is 1/16. A variable at its bound with a larger gradient changes nothing. */
static void a_rejected_step_to_a_bound_gets_shorter(void** state) {
  (void)state;
  TestSet* t = test_set_create(2, 0);
  t->low[0] = -0.2;
  t->low[1] = 0;
  TaskOptimizer s = test_settings(OPTIMIZER_GRADIENT);
  s.design_step = 1;
  Optimizer* optimizer = optimizer_create(&s, &t->set);
  double x[2] = {0, 0}, g[2] = {1, 1}, trial[2], wanted[4] = {-0.2, -0.0625, -0.03125, -0.015625};
  for (int k = 0; k < 4; k++) {
    optimizer_propose(optimizer, x, 0, g, trial);
    compare_near(trial[0], wanted[k], 1e-16, "after %d rejections", k);
    compare_near(trial[1], 0, 0, "at the bound");
    assert_true(optimizer_report_outcome(optimizer, false, 1));
  }
  optimizer_destroy(optimizer);
  memory_free(t);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(O4_step_and_cap),
      cmocka_unit_test(a_rejected_step_to_a_bound_gets_shorter),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

#include "optimize_driving.h"

static double inner(int count, const double* a, const double* b) {
  double sum = 0;
  for (int i = 0; i < count; i++) sum += a[i] * b[i];
  return sum;
}

static TaskOptimizer settings(TaskNorm norm) {
  TaskOptimizer s = test_settings(OPTIMIZER_STEP_BOUNDED);
  s.norm = norm;
  s.design_step = 0.3;
  s.control_step = 0.7;
  return s;
}

static void step(const TaskOptimizer* s, const TestSet* t, const double* x, const double* gradient, double* d) {
  double trial[TEST_COUNT_MAX];
  Optimizer* optimizer = optimizer_create(s, &t->set);
  optimizer_propose(optimizer, x, 0, gradient, trial);
  test_expect_inside(t, trial, 1e-12, "trial", 0);
  for (int i = 0; i < t->set.count; i++) d[i] = trial[i] - x[i];
  optimizer_destroy(optimizer);
}

static void O6_bounds_alone_have_a_closed_form(void** state) {
  (void)state;
  TestSet* t = test_set_create(6, 0);
  const int block[6] = {0, 0, 0, 1, 1, 1};
  memcpy(t->block, block, sizeof block);
  t->low[1] = 0.9;
  t->high[4] = 1;
  TaskOptimizer s = settings(NORM_INFINITY);
  double x[6] = {1, 1, 1, 1, 1, 1}, g[6] = {1e-12, 5, -1, 3, -2, 0}, d[6];
  step(&s, t, x, g, d);
  compare_arrays(d, (double[]){-0.3, -0.1, 0.3, -0.7, 0, 0}, 6, 1e-15, "to the ends");
  memory_free(t);
}

/* A row over all variables that holds nothing sends them to GLPK: the same step, to 1e-12. */
static void O6_closed_form_and_linear_program_agree(void** state) {
  (void)state;
  Random random = {41};
  for (int round = 0; round < 200; round++) {
    int n = 1 + round % 25;
    double inside[TEST_COUNT_MAX], g[TEST_COUNT_MAX], closed[TEST_COUNT_MAX], by_program[TEST_COUNT_MAX];
    TestSet* t = test_set_random(&random, n, 1, 1, inside);
    t->row_low[0] = -1e3, t->row_high[0] = 1e3;
    for (int i = 0; i < n; i++) g[i] = random_bits(&random) % 5 ? random_normal(&random) : 0;
    TaskOptimizer s = settings(NORM_INFINITY);
    step(&s, t, inside, g, by_program);
    t->set.row_count = 0;
    step(&s, t, inside, g, closed);
    for (int i = 0; i < n; i++) compare_near(by_program[i], closed[i], 1e-12, "round %d, d[%d]", round, i);
    memory_free(t);
  }
}

/* With linear constraints: the decrease equals GLPK's minimum over the set and the trust region, and no shorter step
 * reaches it. */
static void O6_decrease_matches_a_linear_program(void** state) {
  (void)state;
  Random random = {42};
  for (int round = 0; round < 200; round++) {
    int n = 2 + round % 30, rows = 1 + round % 8;
    double x[TEST_COUNT_MAX], g[TEST_COUNT_MAX] = {0}, d[TEST_COUNT_MAX];
    double least[TEST_COUNT_MAX] = {0}, most[TEST_COUNT_MAX] = {0}, wanted[TEST_COUNT_MAX] = {0};
    TestSet* t = test_set_random(&random, n, rows, 0.4, x);
    TaskOptimizer s = settings(NORM_INFINITY);
    for (int i = 0; i < n; i++) {
      double radius = t->block[i] ? s.control_step : s.design_step;
      least[i] = x[i] - radius;
      most[i] = x[i] + radius;
      g[i] = random_normal(&random);
    }
    step(&s, t, x, g, d);
    for (int i = 0; i < n; i++) compare_at_most(fabs(d[i]), most[i] - x[i] + 1e-15, "round %d, d[%d]", round, i);
    assert_true(test_linear_program(t, g, least, most, wanted));
    double decrease = inner(n, g, wanted) - inner(n, g, x);
    compare_near(inner(n, g, d), decrease, 1e-8 * n, "round %d: decrease", round);
    memory_free(t);
  }
}

/* With x0 + x1 = 1 and a gradient in x2 only, x0 and x1 must not move, although any move of theirs is as good. With a
 * gradient in x0 both move together. */
static void O6_nothing_moves_without_a_reason(void** state) {
  (void)state;
  TestSet* t = test_set_create(4, 2);
  t->dense[0][0] = t->dense[0][1] = 1;
  t->row_low[0] = t->row_high[0] = 1;
  t->dense[1][2] = 1, t->dense[1][3] = 2;
  t->row_high[1] = 5;
  test_set_pack(t);
  TaskOptimizer s = settings(NORM_INFINITY);
  double x[4] = {0.5, 0.5, 1, 1}, d[4] = {0};
  step(&s, t, x, (double[]){0, 0, 1, 0}, d);
  compare_arrays(d, (double[]){0, 0, -0.3, 0}, 4, 1e-15, "only the third");
  step(&s, t, x, (double[]){1, 0, 0, 0}, d);
  compare_arrays(d, (double[]){-0.3, 0.3, 0, 0}, 4, 1e-15, "the pair");
  step(&s, t, x, (double[]){1, 1, 0, 0}, d);
  for (int i = 0; i < 4; i++) compare_near(d[i], 0, 1e-15, "against the row, d[%d]", i);
  memory_free(t);
}

/* test_step_ball tests (O7) and (O8). Here the update must use them. */
static void euclidean_radius_holds_per_block(void** state) {
  (void)state;
  Random random = {43};
  for (int round = 0; round < 60; round++) {
    int n = 4 + round % 20, rows = round % 4;
    double x[TEST_COUNT_MAX], g[TEST_COUNT_MAX], d[TEST_COUNT_MAX], infinity[TEST_COUNT_MAX];
    TestSet* t = test_set_random(&random, n, rows, 0.4, x);
    TaskOptimizer s = settings(NORM_EUCLIDEAN), other = settings(NORM_INFINITY);
    for (int i = 0; i < n; i++) g[i] = random_normal(&random);
    step(&s, t, x, g, d);
    step(&other, t, x, g, infinity);
    for (int b = 0; b < 2; b++) {
      double square = 0, radius = b ? s.control_step : s.design_step;
      for (int i = 0; i < n; i++) square += t->block[i] == b ? d[i] * d[i] : 0;
      compare_at_most(sqrt(square), radius * (1 + 1e-12), "round %d, block %d", round, b);
    }
    /* The ball lies within the box. */
    compare_at_most(inner(n, g, infinity), inner(n, g, d) + 1e-12, "round %d: the box is larger", round);
    compare_at_most(inner(n, g, d), 0, "round %d: descends", round);
    memory_free(t);
  }
}

/* A step that ends at a bound before the radius comes back shorter, in both norms. */
static void a_rejected_step_gets_shorter(void** state) {
  (void)state;
  for (int euclidean = 0; euclidean < 2; euclidean++)
    for (int with_row = 0; with_row < 2; with_row++) {
      TestSet* t = test_set_create(3, with_row);
      t->low[0] = -0.01, t->high[1] = 0.02;
      t->low[2] = 0;
      for (int i = 0; i < 3 && with_row; i++) t->dense[0][i] = 1;
      test_set_pack(t);
      TaskOptimizer s = settings(euclidean ? NORM_EUCLIDEAN : NORM_INFINITY);
      Optimizer* optimizer = optimizer_create(&s, &t->set);
      double x[3] = {0, 0, 0}, g[3] = {1, -1, 1}, trial[3], last = 1;
      for (int k = 0; k < 10; k++) {
        optimizer_propose(optimizer, x, 0, g, trial);
        double length = fmax(fabs(trial[0]), fabs(trial[1]));
        compare_at_most(length, 0.51 * last, "norm %d, row %d, rejection %d", euclidean, with_row, k);
        assert_true(length > 0.2 * last || k == 0);
        last = length;
        assert_true(optimizer_report_outcome(optimizer, false, 1));
      }
      optimizer_destroy(optimizer);
      memory_free(t);
    }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(O6_bounds_alone_have_a_closed_form),   cmocka_unit_test(O6_closed_form_and_linear_program_agree),
      cmocka_unit_test(O6_decrease_matches_a_linear_program), cmocka_unit_test(O6_nothing_moves_without_a_reason),
      cmocka_unit_test(euclidean_radius_holds_per_block),     cmocka_unit_test(a_rejected_step_gets_shorter),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

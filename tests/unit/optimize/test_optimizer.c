#include "optimize/optimizer.h"
#include "optimize_driving.h"

static const TaskOptimizerType TYPES[] = {OPTIMIZER_ADAM, OPTIMIZER_STEP_BOUNDED, OPTIMIZER_GRADIENT, OPTIMIZER_LBFGS};
enum { TYPE_COUNT = 4, STEP_BOUNDED_EUCLIDEAN = 4, WAYS = 5 };
static const char* const WAY_NAMES[WAYS] = {"adam", "step_bounded", "gradient", "lbfgs", "step_bounded, euclidean"};

/* All methods, step_bounded with both norms. */
static TaskOptimizer way(int index) {
  TaskOptimizer s = test_settings(index < TYPE_COUNT ? TYPES[index] : OPTIMIZER_STEP_BOUNDED);
  if (index == STEP_BOUNDED_EUCLIDEAN) s.norm = NORM_EUCLIDEAN;
  return s;
}

/* ---------------------------------------------------------------- step lengths */

static void accept(Optimizer* optimizer, int times) {
  for (int k = 0; k < times; k++) assert_true(optimizer_report_outcome(optimizer, true, 0));
}

static void O2_schedules(void** state) {
  (void)state;
  TestSet* t = test_set_create(1, 0);
  TaskOptimizer s = test_settings(OPTIMIZER_ADAM);
  s.iterations = 8;
  s.design_step = 2;
  s.schedule = SCHEDULE_STEP;
  s.decay = 0.5;
  s.decay_every = 3;
  Optimizer* optimizer = optimizer_create(&s, &t->set);
  const double steps[10] = {2, 2, 2, 1, 1, 1, 0.5, 0.5, 0.5, 0.25};
  for (int k = 0; k < 10; k++, accept(optimizer, 1))
    compare_near(optimizer_step_bound(optimizer, 0), steps[k], 1e-15, "by steps, %d", k);
  optimizer_destroy(optimizer);

  s.schedule = SCHEDULE_COSINE;
  s.decay = 0.2;
  optimizer = optimizer_create(&s, &t->set);
  /* Between 2 and 0.4; at a quarter of the period cos(pi/4); flat afterwards. */
  const double at_2 = 0.4 + 0.8 * (1 + sqrt(0.5)), at_4 = 1.2, at_6 = 0.4 + 0.8 * (1 - sqrt(0.5));
  const double cosine[12] = {2, -1, at_2, -1, at_4, -1, at_6, -1, 0.4, 0.4, 0.4, 0.4};
  for (int k = 0; k < 12; k++, accept(optimizer, 1))
    if (cosine[k] > 0) compare_near(optimizer_step_bound(optimizer, 0), cosine[k], 1e-15, "cosine, %d", k);
  optimizer_destroy(optimizer);

  s.schedule = SCHEDULE_CONSTANT;
  optimizer = optimizer_create(&s, &t->set);
  accept(optimizer, 30);
  compare_near(optimizer_step_bound(optimizer, 0), 2, 0, "constant");
  compare_near(optimizer_step_bound(optimizer, 1), 0.1, 0, "constant");
  optimizer_destroy(optimizer);
  memory_free(t);
}

static void O3_shrinks_and_grows_within_limits(void** state) {
  (void)state;
  TestSet* t = test_set_create(1, 0);
  for (int w = 0; w < TYPE_COUNT; w++) {
    TaskOptimizer s = way(w);
    s.shrink = 0.25;
    s.grow = 2;
    Optimizer* optimizer = optimizer_create(&s, &t->set);
    accept(optimizer, 20);
    double full = TYPES[w] == OPTIMIZER_ADAM ? 0.1 : 1;
    compare_near(optimizer_step_bound(optimizer, 0), full, 0, "%s: no more than 10 times", WAY_NAMES[w]);
    for (int k = 0; k < 6; k++) assert_true(optimizer_report_outcome(optimizer, false, 0));
    compare_near(optimizer_step_bound(optimizer, 1), full * pow(0.25, 6), 1e-18, "%s: shrunk", WAY_NAMES[w]);
    accept(optimizer, 1);
    double wanted = TYPES[w] == OPTIMIZER_LBFGS ? 0.1 : full * pow(0.25, 6) * 2;
    if (TYPES[w] == OPTIMIZER_ADAM) wanted = full * pow(0.25, 3); /* half the way */
    compare_near(optimizer_step_bound(optimizer, 0), wanted, 1e-17, "%s: after a success", WAY_NAMES[w]);
    optimizer_destroy(optimizer);
  }
  memory_free(t);
}

/* After thirteen rejections the step halves its way back, then grows by 1.2^2, 1.2^3, 1.2^4, 1.2^4, ... Each stage also
 * passes through a checkpoint. */
static void O3_adam_recovers_after_refusals(void** state) {
  (void)state;
  TestSet* t = test_set_create(1, 0);
  TaskOptimizer s = way(0);
  s.type = OPTIMIZER_ADAM;
  s.shrink = 0.5;
  s.grow = 1.2;
  Optimizer* optimizer = optimizer_create(&s, &t->set);
  for (int k = 0; k < 13; k++) assert_true(optimizer_report_outcome(optimizer, false, 0));
  double factor = pow(0.5, 13);
  for (int k = 1; k <= 16; k++) {
    compare_relative(optimizer_step_bound(optimizer, 0), 0.1 * factor, 1e-14, "after %d successes", k - 1);
    Optimizer* loaded = optimizer_create(&s, &t->set);
    double* kept = MEMORY_NEW(double, optimizer_state_size(optimizer));
    optimizer_state_save(optimizer, kept);
    optimizer_state_load(loaded, kept);
    memory_free(kept);
    optimizer_destroy(optimizer);
    optimizer = loaded;
    assert_true(optimizer_report_outcome(optimizer, true, 0));
    factor = fmin(k == 1 ? pow(0.5, 6.5) : factor * pow(1.2, k < 4 ? k : 4), 1);
  }
  compare_near(optimizer_step_bound(optimizer, 0), 0.1, 0, "the full step again");
  optimizer_destroy(optimizer);
  memory_free(t);
}

/* Trials that fail whatever their length leave steps of a useful length: the median of 101 searches. */
static void O3_adam_lives_with_trials_that_fail(void** state) {
  (void)state;
  TestSet* t = test_set_create(1, 0);
  TaskOptimizer s = way(0);
  s.type = OPTIMIZER_ADAM;
  s.shrink = 0.5;
  s.grow = 1.2;
  int useful = 0;
  for (uint64_t seed = 1; seed <= 101; seed++) {
    Random random = {seed};
    Optimizer* optimizer = optimizer_create(&s, &t->set);
    for (int k = 0; k < 40; k++) optimizer_report_outcome(optimizer, random_uniform(&random, 0, 1) > 17 / 40.0, 0);
    useful += optimizer_step_bound(optimizer, 0) > 0.1 * 1e-2;
    optimizer_destroy(optimizer);
  }
  if (useful <= 50) fail_msg("steps of a hundredth and more after 40 trials: %d of 101 searches", useful);
  memory_free(t);
}

static void O3_gives_up_when_the_step_is_too_short(void** state) {
  (void)state;
  TestSet* t = test_set_create(1, 0);
  for (int w = 0; w < WAYS; w++) {
    TaskOptimizer s = way(w);
    Optimizer* optimizer = optimizer_create(&s, &t->set);
    double x[1] = {1}, g[1] = {1}, trial[1], last = 1;
    int rejections = 0;
    do {
      optimizer_propose(optimizer, x, 0, g, trial);
      assert_true(fabs(trial[0] - x[0]) < last);
      last = fabs(trial[0] - x[0]);
      rejections++;
    } while (optimizer_report_outcome(optimizer, false, 1));
    assert_int_equal(rejections, 30); /* 2^-30 < 1e-9 < 2^-29 */
    optimizer_destroy(optimizer);
  }
  memory_free(t);
}

/* |g| = 5, clipped to 1: the gradient method takes a fifth of the step. Means of Adam: the second moves are those of
 * the clipped sequence. step_bounded and the first step of lbfgs do not depend on the length of g. */
/* With another function (O12): moments, pairs and length are forgotten, the time of the schedule is not. */
static void O2_goes_on_where_the_function_changes(void** state) {
  (void)state;
  for (int type = OPTIMIZER_ADAM; type <= OPTIMIZER_LBFGS; type++) {
    TestSet* t = test_set_create(3, 0);
    TaskOptimizer settings = test_settings(type);
    settings.schedule = SCHEDULE_STEP;
    settings.decay = 0.5;
    settings.decay_every = 4;
    Optimizer *used = optimizer_create(&settings, &t->set), *fresh = optimizer_create(&settings, &t->set);
    double x[3] = {1, 1, 1}, gradient[3] = {1, -2, 3}, trial[3], wanted[3];
    optimizer_propose(used, x, 0, gradient, trial);
    accept(used, 4);
    assert_true(optimizer_report_outcome(used, false, 0));
    optimizer_reset(used);
    compare_near(optimizer_step_bound(used, 0), 0.5 * settings.design_step, 0, "method %d", type);
    accept(fresh, 4);
    optimizer_reset(fresh);
    optimizer_propose(used, x, 0, gradient, trial);
    optimizer_propose(fresh, x, 0, gradient, wanted);
    for (int k = 0; k < 3; k++) compare_near(trial[k], wanted[k], 0, "method %d, variable %d", type, k);
    optimizer_destroy(used);
    optimizer_destroy(fresh);
    memory_free(t);
  }
}

static void O10_clipping(void** state) {
  (void)state;
  TestSet* t = test_set_create(2, 0);
  double x[2] = {0, 0}, trial[2], whole[2], first[2] = {3, 4}, second[2] = {0.3, 0.4};
  TaskOptimizer s = way(OPTIMIZER_GRADIENT);
  for (int w = 0; w < WAYS; w++) {
    s = way(w);
    Optimizer* plain = optimizer_create(&s, &t->set);
    s.clip = 1;
    Optimizer* clipped = optimizer_create(&s, &t->set);
    optimizer_propose(plain, x, 0, (double[]){0.6, 0.8}, whole);
    optimizer_propose(clipped, x, 0, first, trial);
    compare_arrays(trial, whole, 2, 1e-15, "%s: as if the gradient were shorter", WAY_NAMES[w]);
    optimizer_report_outcome(plain, true, 0);
    optimizer_report_outcome(clipped, true, 0);
    if (TYPES[w % TYPE_COUNT] != OPTIMIZER_LBFGS) { /* its pairs are of the true gradients */
      optimizer_propose(plain, whole, 0, second, whole);
      optimizer_propose(clipped, trial, 0, second, trial);
      compare_arrays(trial, whole, 2, 1e-15, "%s: the next, not clipped", WAY_NAMES[w]);
    }
    optimizer_destroy(plain);
    optimizer_destroy(clipped);
  }
  memory_free(t);
}

/* ---------------------------------------------------------------- numbers that are none */

static void gradients_that_are_no_numbers_stay(void** state) {
  (void)state;
  Random random = {61};
  double x[8], trial[8], clean[8], g[8], bad[8];
  TestSet* t = test_set_random(&random, 8, 2, 0.5, x);
  for (int w = 0; w < WAYS; w++) {
    TaskOptimizer s = way(w);
    Optimizer *optimizer = optimizer_create(&s, &t->set), *untouched = optimizer_create(&s, &t->set);
    for (int i = 0; i < 8; i++) g[i] = random_normal(&random);
    const double kinds[3] = {NAN, INFINITY, -INFINITY};
    for (int k = 0; k < 3; k++) {
      memcpy(bad, g, sizeof bad);
      bad[k + 2] = kinds[k];
      optimizer_propose(optimizer, x, NAN, bad, trial);
      compare_bytes(trial, x, sizeof x, "%s: no step", WAY_NAMES[w]);
    }
    optimizer_propose(optimizer, bad, 0, g, trial);
    compare_bytes(trial, bad, sizeof x, "%s: x is no number", WAY_NAMES[w]);
    /* And nothing of it stays behind. */
    optimizer_propose(optimizer, x, 0, g, trial);
    optimizer_propose(untouched, x, 0, g, clean);
    compare_bytes(trial, clean, sizeof trial, "%s: state", WAY_NAMES[w]);
    assert_true(optimizer_report_outcome(optimizer, false, NAN));
    optimizer_destroy(optimizer);
    optimizer_destroy(untouched);
  }
  optimizer_destroy(NULL);
  memory_free(t);
}

/* Gradients so large that their squares are out of range: a trial of the set, or no step. */
static void huge_and_tiny_gradients(void** state) {
  (void)state;
  Random random = {62};
  double x[8], trial[8], g[8];
  TestSet* t = test_set_random(&random, 8, 2, 0.5, x);
  const double sizes[4] = {1e200, 1e300, 1e-200, 1e-310};
  for (int w = 0; w < WAYS; w++)
    for (int k = 0; k < 4; k++) {
      TaskOptimizer s = way(w);
      Optimizer* optimizer = optimizer_create(&s, &t->set);
      for (int i = 0; i < 8; i++) g[i] = sizes[k] * random_uniform(&random, -1, 1);
      optimizer_propose(optimizer, x, 0, g, trial);
      test_expect_inside(t, trial, 1e-11, WAY_NAMES[w], k);
      optimizer_destroy(optimizer);
    }
  memory_free(t);
}

static void an_empty_set_is_found(void** state) {
  (void)state;
  TestSet* t = test_set_create(2, 1);
  t->dense[0][0] = t->dense[0][1] = 1;
  t->row_low[0] = 3;
  t->high[0] = t->high[1] = 1;
  test_set_pack(t);
  for (int w = 0; w < WAYS; w++) {
    TaskOptimizer s = way(w);
    Optimizer* optimizer = optimizer_create(&s, &t->set);
    double x[2] = {0.5, 0.5}, g[2] = {1, 2}, trial[2];
    assert_false(optimizer_project(optimizer, x));
    compare_bytes(x, (double[]){0.5, 0.5}, sizeof x, "left alone");
    optimizer_propose(optimizer, x, 0, g, trial); /* no crash, no step */
    compare_bytes(trial, x, sizeof x, "%s", WAY_NAMES[w]);
    optimizer_destroy(optimizer);
  }
  memory_free(t);
}

static void nothing_to_move(void** state) {
  (void)state;
  TestSet* t = test_set_create(0, 0);
  for (int w = 0; w < WAYS; w++) {
    TaskOptimizer s = way(w);
    Optimizer* optimizer = optimizer_create(&s, &t->set);
    optimizer_propose(optimizer, NULL, 0, NULL, NULL);
    assert_true(optimizer_report_outcome(optimizer, true, 0));
    optimizer_destroy(optimizer);
  }
  memory_free(t);
}

/* ---------------------------------------------------------------- convergence to a minimum */

/* Required distance from the minimum, and the number of evaluations, for each method. A descent ends where losses
 * differ by rounding only, at distances of about 1e-7. Adam is limited by its final step. step_bounded knows no
 * curvature, so it oscillates while its step shrinks. */
typedef struct {
  int trials;
  double distance;
} Aim;

static void minima_of_a_quadratic(bool with_rows, const Aim aims[WAYS]) {
  Random random = {63};
  for (int round = 0; round < 6; round++) {
    enum { N = 12 };
    double start[N], x[N], gradient[N];
    TestSet* t = test_set_random(&random, N, with_rows ? 3 : 0, 0.4, start);
    TestQuadratic* q = test_quadratic_create(&random, N);
    for (int w = 0; w < WAYS; w++) {
      TaskOptimizer s = way(w);
      s.iterations = aims[w].trials;
      if (s.type == OPTIMIZER_ADAM) s.schedule = SCHEDULE_COSINE, s.decay = 1e-5;
      Optimizer* optimizer = optimizer_create(&s, &t->set);
      memcpy(x, start, sizeof x);
      TestDrive drive = test_drive(optimizer, t, test_quadratic, q, aims[w].trials, x);
      test_quadratic(q, N, x, gradient);
      compare_at_most(test_distance_bound(t, gradient, x, 0.1 * aims[w].distance), aims[w].distance,
                      "%s, round %d: distance from the minimum after %d + %d trials", WAY_NAMES[w], round,
                      drive.accepted, drive.rejected);
      optimizer_destroy(optimizer);
    }
    memory_free(q);
    memory_free(t);
  }
}

static void every_method_minimises_within_bounds(void** state) {
  (void)state;
  minima_of_a_quadratic(false, (Aim[WAYS]){{500, 1e-4}, {300, 1e-5}, {300, 3e-6}, {100, 1e-6}, {300, 1e-5}});
}

static void every_method_minimises_within_rows(void** state) {
  (void)state;
  minima_of_a_quadratic(true, (Aim[WAYS]){{500, 1e-4}, {300, 1e-5}, {1500, 3e-6}, {150, 1e-6}, {300, 1e-5}});
}

/* ---------------------------------------------------------------- state */

/* One in four is refused, whatever the loss. */
static bool is_accepted(int trial) { return trial % 4 != 2; }

static void wander(Optimizer* optimizer, const TestSet* t, const TestQuadratic* q, int first, int last, double* x) {
  double gradient[TEST_COUNT_MAX], trial[TEST_COUNT_MAX];
  for (int k = first; k < last; k++) {
    double loss = test_quadratic(q, t->set.count, x, gradient);
    optimizer_propose(optimizer, x, loss, gradient, trial);
    optimizer_report_outcome(optimizer, is_accepted(k), loss);
    if (is_accepted(k)) memcpy(x, trial, sizeof(double) * (size_t)t->set.count);
  }
}

/* 30 trials in one go, against `stop` of them, all state into another optimizer, and the rest; optionally stopped
 * between a proposal and its verdict. */
static void check_resumed(int w, int rows, int stop, bool open_trial) {
  enum { N = 9 };
  Random random = {64};
  double start[N], straight[N], resumed[N], gradient[N], trial[N];
  TestSet* t = test_set_random(&random, N, rows, 0.5, start);
  TestQuadratic* q = test_quadratic_create(&random, N);
  TaskOptimizer s = way(w);
  s.memory = 3;
  s.iterations = 30;
  s.clip = 2;
  s.schedule = SCHEDULE_COSINE;
  s.decay = 0.1;
  Optimizer *whole = optimizer_create(&s, &t->set), *before = optimizer_create(&s, &t->set),
            *after = optimizer_create(&s, &t->set);
  int size = optimizer_state_size(before);
  double *saved = MEMORY_NEW(double, size), *end = MEMORY_NEW(double, size), *wanted = MEMORY_NEW(double, size);
  memcpy(straight, start, sizeof start);
  memcpy(resumed, start, sizeof start);
  wander(whole, t, q, 0, 30, straight);
  wander(before, t, q, 0, stop, resumed);
  double loss = test_quadratic(q, N, resumed, gradient);
  if (open_trial) optimizer_propose(before, resumed, loss, gradient, trial);
  optimizer_state_save(before, saved);
  optimizer_destroy(before);
  optimizer_state_load(after, saved);
  if (open_trial) {
    optimizer_report_outcome(after, is_accepted(stop), loss);
    if (is_accepted(stop)) memcpy(resumed, trial, sizeof resumed);
  }
  wander(after, t, q, stop + open_trial, 30, resumed);
  compare_bytes(resumed, straight, sizeof resumed, "%s, %d rows, stopped at %d", WAY_NAMES[w], rows, stop);
  optimizer_state_save(whole, wanted);
  optimizer_state_save(after, end);
  compare_bytes(end, wanted, sizeof(double) * (size_t)size, "%s: state", WAY_NAMES[w]);
  assert_true(memcmp(straight, start, sizeof start) != 0);
  memory_free(saved);
  memory_free(end);
  memory_free(wanted);
  optimizer_destroy(whole);
  optimizer_destroy(after);
  memory_free(q);
  memory_free(t);
}

static void a_resumed_run_has_the_same_bits(void** state) {
  (void)state;
  for (int rows = 0; rows <= 3; rows += 3)
    for (int w = 0; w < WAYS; w++)
      for (int stop = 11; stop <= 14; stop++)
        for (int open_trial = 0; open_trial < 2; open_trial++) check_resumed(w, rows, stop, open_trial);
}

static void nothing_is_allocated_by_a_trial(void** state) {
  (void)state;
  Random random = {65};
  double x[20];
  TestSet* t = test_set_random(&random, 20, 4, 0.4, x);
  TestQuadratic* q = test_quadratic_create(&random, 20);
  for (int w = 0; w < WAYS; w++) {
    TaskOptimizer s = way(w);
    Optimizer* optimizer = optimizer_create(&s, &t->set);
    double state_before[2000];
    assert_in_range(optimizer_state_size(optimizer), 4, 2000);
    uint64_t before = memory_allocation_count();
    wander(optimizer, t, q, 0, 12, x);
    optimizer_state_save(optimizer, state_before);
    assert_int_equal(memory_allocation_count(), before);
    optimizer_destroy(optimizer);
  }
  memory_free(q);
  memory_free(t);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(O2_schedules),
      cmocka_unit_test(O3_shrinks_and_grows_within_limits),
      cmocka_unit_test(O3_adam_recovers_after_refusals),
      cmocka_unit_test(O3_adam_lives_with_trials_that_fail),
      cmocka_unit_test(O3_gives_up_when_the_step_is_too_short),
      cmocka_unit_test(O2_goes_on_where_the_function_changes),
      cmocka_unit_test(O10_clipping),
      cmocka_unit_test(gradients_that_are_no_numbers_stay),
      cmocka_unit_test(huge_and_tiny_gradients),
      cmocka_unit_test(an_empty_set_is_found),
      cmocka_unit_test(nothing_to_move),
      cmocka_unit_test(every_method_minimises_within_bounds),
      cmocka_unit_test(every_method_minimises_within_rows),
      cmocka_unit_test(a_resumed_run_has_the_same_bits),
      cmocka_unit_test(nothing_is_allocated_by_a_trial),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Tests several starts: their initial designs, starts that cannot run, and the choice of the best. */
#include <math.h>

#include "optimize/optimize.h"
#include "support/compare.h"

enum { STARTS = 4, ITERATIONS = 2 };

/* Balls 0.1 m in radius along x, one of which may begin anywhere between -low and high; another one sits at 0, so that
 * some of the starts cannot be run. */
static const char TASK[] =
    "seed: %d\n"
    "multistart: 4\n"
    "scene:\n"
    "  simulation: {dt: 0.01, steps: 5, gravity: [0, 0, 0], integrator: first_order}\n"
    "  links:\n"
    "    - {name: post, fixed: true, shape: {type: sphere, radius: 0.1}}\n"
    "    - {name: ball, mass: 1, shape: {type: sphere, radius: 0.1}}\n"
    "  initial: [{link: ball, coordinates: [%g, 0, 0, 1, 0, 0, 0]}]\n"
    "initial: [{link: ball, coordinates: true, dof: [0], low: %g, high: %g}]\n"
    "loss: [{type: point, link: ball, target: [2, 0, 0]}]\n"
    "optimizer: {type: gradient, iterations: 2, control_step: 0.05, stop_loss: -1}\n";

typedef struct {
  Task task;
  Optimization* optimization;
} Sought;

static void begin(Sought* s, int seed, double first, double low, double high) {
  Diagnostics diagnostics = {0};
  Text text = {0};
  OptimizationOptions options = {.threads = 1};
  text_add(&text, TASK, seed, first, low, high);
  assert_int_equal(task_parse(&s->task, "inline.yaml", text.data, text.length, false, NULL, 0, &diagnostics),
                   STATUS_OK);
  assert_int_equal(optimization_create(&s->optimization, &s->task, &options, &diagnostics), STATUS_OK);
  assert_int_equal(optimization_start(s->optimization, &diagnostics), STATUS_OK);
  text_free(&text);
  diagnostics_free(&diagnostics);
}

static void end(Sought* s) {
  optimization_destroy(s->optimization);
  task_free(&s->task);
}

/* (O17): seed, start, attempt. */
static double drawn(int seed, int start, int attempt, double low, double high) {
  Random random = {(uint64_t)seed};
  random.state = random_bits(&random) + (uint64_t)start;
  random.state = random_bits(&random) + (uint64_t)attempt;
  return random_uniform(&random, low, high);
}

/* Triangulated spheres intersect at the latest at a distance of 0.158, and at the earliest at 0.2. */
static bool meets(double x) { return fabs(x) < 0.158; }

static void starts_are_drawn_between_the_bounds_O17(void** state) {
  (void)state;
  int refused = 0;
  for (int seed = 0; seed < 6; seed++) {
    Sought s;
    begin(&s, seed, 1, -0.5, 1.5);
    double best = (1.0 - 2) * (1.0 - 2);
    for (int start = 0; start < STARTS; start++) {
      double at = optimization_variable(s.optimization, 0).current, loss;
      int attempt = 0;
      while (start > 0 && meets(drawn(seed, start, attempt, -0.5, 1.5))) attempt++, refused++;
      double wanted = start > 0 ? drawn(seed, start, attempt, -0.5, 1.5) : 1;
      bool clear = fabs(wanted) > 0.2;
      if (clear) compare_near(at, wanted, 1e-15, "seed %d, start %d", seed, start);
      for (int k = 0; k < ITERATIONS; k++) {
        loss = optimization_rows(s.optimization)[optimization_iteration(s.optimization)].loss;
        best = fmin(best, loss);
        assert_int_equal(optimization_advance(s.optimization), STATUS_OK);
      }
      best = fmin(best, optimization_rows(s.optimization)[optimization_iteration(s.optimization)].loss);
      if (start + 1 < STARTS) assert_int_equal(optimization_advance(s.optimization), STATUS_OK);
    }
    assert_int_equal(optimization_stop(s.optimization), STOP_ITERATIONS);
    assert_int_equal(optimization_iteration(s.optimization), STARTS * (ITERATIONS + 1) - 1);
    compare_near(optimization_best_loss(s.optimization), best, 0, "the best of all, seed %d", seed);
    end(&s);
  }
  assert_true(refused > 0);
}

/* The ball's position is 0.21, with bounds -0.15 and 0.21. If all 20 samples of a start intersect, the first sample is
 * moved until the spheres are disjoint. It stays below 0.2 plus the equilibrium gap, less than 0.201. Halving would
 * exceed this limit. */
static void drawn_starts_that_intersect_are_moved_O22(void** state) {
  (void)state;
  const char* reason;
  int moved = 0;
  for (int seed = 0; seed < 40 && moved < 3; seed++) {
    Sought s;
    int start = 1;
    for (; start < STARTS; start++) {
      int clear = 0;
      for (int attempt = 0; attempt < 20; attempt++) clear += !meets(drawn(seed, start, attempt, -0.15, 0.21));
      if (clear == 0) break;
    }
    if (start == STARTS) continue;
    begin(&s, seed, 0.21, -0.15, 0.21);
    for (int begun = 0, last = 0; optimization_stop(s.optimization) == STOP_NOT_YET;) {
      int iteration = optimization_iteration(s.optimization);
      begun += iteration != last && optimization_rows(s.optimization)[iteration].outcome == TRIAL_START;
      if (iteration != last && begun == start) {
        double at = optimization_variable(s.optimization, 0).current;
        assert_true(at > 0.158 && at < 0.201);
        moved++;
        break;
      }
      last = iteration;
      assert_int_equal(optimization_advance(s.optimization), STATUS_OK);
    }
    assert_int_equal(optimization_failed_starts(s.optimization, &reason), 0);
    end(&s);
  }
  assert_true(moved > 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(starts_are_drawn_between_the_bounds_O17),
      cmocka_unit_test(drawn_starts_that_intersect_are_moved_O22),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

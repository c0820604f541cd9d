/* Tests the success of a result: the worst of several scenarios counts, and NaN never meets a condition. */
#include <math.h>

#include "optimize/optimization.h"
#include "support/compare.h"

/* Two balls thrown without contact, at speeds of their own: x = N dt v. */
static const char TASK[] =
    "scenarios:\n"
    "  - scene: &thrown {simulation: {dt: 0.01, steps: 100, gravity: [0, 0, 0], integrator: first_order}, contact: "
    "{model: none}, links: "
    "[{name: "
    "ball, mass: 1, shape: {type: sphere, radius: 0.1}}], initial: [{link: ball, velocities: [1, 0, 0, 0, 0, 0]}]}\n"
    "  - {name: shorter, scene: *thrown, steps: 50}\n"
    "initial: [{link: ball, velocities: true, dof: [0]}]\n"
    "loss: [{type: point, link: ball, target: [1, 0, 0]}]\n"
    "success:\n"
    "  - {type: point, link: ball, target: [1, 0, 0], power: 1, max: 0.5}\n"
    "  - {type: travel, link: ball, direction: [1, 0, 0], max: -1}\n"
    "  - {type: point, name: start, link: ball, target: [1, 0, 0], power: 1, from: 0, to: 0.25, weight: 2, max: "
    "1.75}\n";

typedef struct {
  Task task;
  Optimization* optimization;
  Diagnostics diagnostics;
} Fixture;

static void create(Fixture* f) {
  OptimizationOptions options = {.threads = 1};
  *f = (Fixture){.optimization = NULL};
  Status status = task_parse(&f->task, "inline.yaml", TASK, sizeof(TASK) - 1, false, NULL, 0, &f->diagnostics);
  assert_int_equal(status, STATUS_OK);
  assert_int_equal(optimization_create(&f->optimization, &f->task, &options, &f->diagnostics), STATUS_OK);
}

static void destroy(Fixture* f) {
  optimization_destroy(f->optimization);
  task_free(&f->task);
  diagnostics_free(&f->diagnostics);
}

static void the_worst_scenario_counts(void** state) {
  (void)state;
  Fixture f;
  create(&f);
  const Optimization* o = f.optimization;
  assert_int_equal(optimization_success_count(o), 3);
  for (int i = 0; i < 3; i++) assert_false(optimization_success(o, i).met); /* not judged */
  assert_false(optimization_succeeded(o));
  assert_int_equal(optimization_evaluate_success(f.optimization), STATUS_OK);
  /* at 1 m/s: the shorter run ends at 0.5 m; mean over 26 states of 2 (1 - k dt) */
  const double value[] = {0.5, -0.5, 1.75}, bound[] = {0.5, -1, 1.75};
  for (int i = 0; i < 3; i++) {
    compare_near(optimization_success(o, i).value, value[i], 1e-12, "value of %d", i);
    compare_near(optimization_success(o, i).bound, bound[i], 0, "bound of %d", i);
  }
  assert_false(optimization_success(o, 1).met);
  assert_false(optimization_succeeded(o));
  destroy(&f);
}

static void nothing_is_met_without_a_number(void** state) {
  (void)state;
  Fixture f;
  create(&f);
  Success* s = f.optimization->success;
  const double low[] = {0, -2, 0}, high[] = {0.25, -1.5, 1}, none[] = {0, NAN, 0};
  success_add_scenario(s, 0, low);
  success_add_scenario(s, 1, high);
  for (int i = 0; i < 3; i++) {
    assert_true(optimization_success(f.optimization, i).met);
    compare_near(optimization_success(f.optimization, i).value, high[i], 0, "value of %d", i);
  }
  assert_true(optimization_succeeded(f.optimization));
  for (int order = 0; order < 2; order++) {
    success_add_scenario(s, 0, order == 0 ? none : low);
    success_add_scenario(s, 1, order == 0 ? low : none);
    assert_true(isnan(optimization_success(f.optimization, 1).value));
    assert_false(optimization_succeeded(f.optimization));
  }
  success_add_scenario(s, 0, NULL);
  success_add_scenario(s, 1, low);
  for (int i = 0; i < 3; i++) assert_false(optimization_success(f.optimization, i).met);
  destroy(&f);
}

/* One ball, x = v after 1 s: the loss (x - 2)^2 falls to v = 2, success wants |x| <= 1. */
static const char APART[] =
    "seed: 1\n"
    "scene: {simulation: {dt: 0.01, steps: 100, gravity: [0, 0, 0], integrator: first_order}, contact: {model: none}, "
    "links: [{name: ball, mass: 1, shape: {type: sphere, radius: 0.1}}], initial: [{link: ball, velocities: [0.5, 0, "
    "0, "
    "0, 0, 0]}]}\n"
    "initial: [{link: ball, velocities: true, dof: [0], low: -3, high: 3}]\n"
    "loss: [{type: point, link: ball, target: [2, 0, 0]}]\n"
    "success: [{type: point, link: ball, target: [0, 0, 0], power: 1, max: 1}]\n"
    "optimizer: {iterations: 150}\n";

static void create_apart(Fixture* f, TaskOptimizerType type) {
  OptimizationOptions options = {.threads = 1};
  *f = (Fixture){.optimization = NULL};
  Status status = task_parse(&f->task, "inline.yaml", APART, sizeof(APART) - 1, false, NULL, 0, &f->diagnostics);
  assert_int_equal(status, STATUS_OK);
  f->task.optimizer.type = type;
  assert_int_equal(optimization_create(&f->optimization, &f->task, &options, &f->diagnostics), STATUS_OK);
}

static void seek(Fixture* f) {
  while (optimization_stop(f->optimization) == STOP_NOT_YET)
    assert_int_equal(optimization_advance(f->optimization), STATUS_OK);
}

/* The best design is the fastest that success allows, of those that were tried: samples close in on v = 1. */
static void what_succeeds_ranks_first_O23(void** state) {
  (void)state;
  const TaskOptimizerType types[] = {OPTIMIZER_CMA_ES, OPTIMIZER_LBFGS, OPTIMIZER_ADAM, OPTIMIZER_AUTO};
  for (int t = 0; t < 4; t++) {
    Fixture f;
    create_apart(&f, types[t]);
    assert_int_equal(optimization_start(f.optimization, &f.diagnostics), STATUS_OK);
    seek(&f);
    OptimizationVariable v = optimization_variable(f.optimization, 0);
    assert_true(v.best >= 0.5 && v.best <= 1);
    compare_near(optimization_best_loss(f.optimization), (v.best - 2) * (v.best - 2), 1e-12, "loss at %g", v.best);
    if (types[t] == OPTIMIZER_CMA_ES) compare_near(v.best, 1, 1e-3, "the bound of success");
    if (types[t] == OPTIMIZER_LBFGS) compare_near(v.current, 2, 1e-6, "the least loss");
    assert_int_equal(optimization_evaluate_success(f.optimization), STATUS_OK);
    assert_true(optimization_succeeded(f.optimization));
    destroy(&f);
  }
}

/* A resumed search ranks as before: same bits, from before and after the first designs that fail. */
static void resumes_with_its_ranks(void** state) {
  (void)state;
  Fixture whole;
  NumberFile saved[3] = {0};
  create_apart(&whole, OPTIMIZER_CMA_ES);
  assert_int_equal(optimization_start(whole.optimization, &whole.diagnostics), STATUS_OK);
  for (int k = 0; k < 3; k++) {
    for (int i = 0; i < 7; i++) assert_int_equal(optimization_advance(whole.optimization), STATUS_OK);
    optimization_save(whole.optimization, &saved[k]);
  }
  seek(&whole);
  OptimizationVariable a = optimization_variable(whole.optimization, 0);
  for (int k = 0; k < 3; k++) {
    Fixture part;
    create_apart(&part, OPTIMIZER_CMA_ES);
    assert_true(optimization_load(part.optimization, &saved[k], &part.diagnostics));
    seek(&part);
    OptimizationVariable b = optimization_variable(part.optimization, 0);
    if (a.current != b.current || a.best != b.best) fail_msg("%d: %a and %a", k, a.best, b.best);
    destroy(&part);
    number_file_free(&saved[k]);
  }
  destroy(&whole);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_worst_scenario_counts),
      cmocka_unit_test(nothing_is_met_without_a_number),
      cmocka_unit_test(what_succeeds_ranks_first_O23),
      cmocka_unit_test(resumes_with_its_ranks),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

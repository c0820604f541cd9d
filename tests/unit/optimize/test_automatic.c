/* Tests `optimizer: auto`: when it changes its method, that it then reaches a lower loss, and that a resumed search is
 * equal. */
#include <math.h>
#include <string.h>

#include "optimize/optimization.h"
#include "support/compare.h"

enum { ITERATIONS = 120, COUNT = 6 };

/* Six numbers that move nothing that is looked at: the function below stands for the loss. */
static const char TASK[] =
    "seed: 1\n"
    "scene:\n"
    "  simulation: {dt: 0.01, steps: 1, gravity: [0, 0, 0], integrator: first_order}\n"
    "  links: [{name: box, mass: 1, shape: {type: box, size: [0.2, 0.2, 0.2]}}]\n"
    "initial: [{link: box, velocities: true, low: -2, high: 2}]\n"
    "loss: [{type: point, link: box, target: [0, 0, 0]}]\n"
    "optimizer: {iterations: 120}\n";

static const char DRAWN[] =
    "seed: 1\n"
    "scene:\n"
    "  simulation: {dt: 0.01, steps: 1, gravity: [0, 0, 0], integrator: first_order}\n"
    "  links: [{name: box, mass: 1, shape: {type: box, size: [0.2, 0.2, 0.2]}}]\n"
    "  initial: [{link: box, coordinates: [0, 0, 0, 0, 0, 0]}]\n"
    "initial: [{link: box, velocities: true, low: -2, high: 2}]\n"
    "loss: [{type: point, link: box, target: [0, 0, 0]}]\n"
    "draws: {numbers: [{link: box, of: start, dof: [0], low: -0.1, high: 0.1}]}\n"
    "optimizer: {type: auto, iterations: 60, control_step: 0.1}\n";

/* The variable is the angle q in [-0.9, 3] rad of a point on a circle of 1 m, with a target at q = 2.6. The loss 2 - 2
 * cos(q - 2.6) falls from q = -0.7 to the bound q = -0.9, 2.78 rad from the target. */
static const char CIRCLE[] =
    "seed: 1\n"
    "scene:\n"
    "  simulation: {dt: 0.01, steps: 1, gravity: [0, 0, 0]}\n"
    "  contact: {model: none}\n"
    "  links: [{name: arm, mass: 1, joint: {type: hinge, axis: [0, -1, 0]}, shape: {type: box, size: [0.2, 0.2, "
    "0.2]}}]\n"
    "  initial: [{link: arm, coordinates: [-0.7]}]\n"
    "initial: [{link: arm, coordinates: true, low: -0.9, high: 3}]\n"
    "loss: [{type: point, link: arm, point: [1, 0, 0], target: [-0.856888753, 0, 0.515501372], power: 2}]\n"
    "success: [{type: point, link: arm, point: [1, 0, 0], target: [-0.856888753, 0, 0.515501372], power: 1, max: "
    "0.3}]\n"
    "optimizer: {type: auto, iterations: 60}\n";

/* A cart of 1 kg whose force has 120 values is to be at three places in turn: the distances have kinks at zero. */
static const char CART[] =
    "seed: 1\n"
    "scene:\n"
    "  simulation: {dt: 0.01, steps: 60, gravity: [0, 0, 0]}\n"
    "  contact: {model: none}\n"
    "  links: [{name: cart, mass: 1, joint: {type: slide, axis: [1, 0, 0]}, shape: {type: box, size: [0.2, 0.2, "
    "0.2]}}]\n"
    "  controllers: [{link: cart, type: torque, target: {type: sequence, interval: 0.005, rows: 120, values: [0]}}]\n"
    "control: [{link: cart, low: -200, high: 200}]\n"
    "loss:\n"
    "  - {type: point, name: a, link: cart, target: [0.3, 0, 0], power: 1, from: 0.2, to: 0.2}\n"
    "  - {type: point, name: b, link: cart, target: [-0.2, 0, 0], power: 1, from: 0.4, to: 0.4}\n"
    "  - {type: point, name: c, link: cart, target: [0.1, 0, 0], power: 1, from: 0.6, to: 0.6}\n"
    "optimizer: {type: auto, iterations: 60}\n";

typedef struct {
  Task task;
  Optimization* optimization;
  OptimizationFunction function;
} Sought;

/* A valley with an edge at its bottom: sum_i |x_i - c_i| (i + 1), and a parabola where smooth. */
static TrialOutcome evaluate(void* context, const double* x, double* value, double* gradient, bool* interrupted) {
  const bool* smooth = context;
  *value = 0;
  *interrupted = false;
  for (int i = 0; i < COUNT; i++) {
    double d = x[i] - 0.3 * (i + 1) + 1.1, w = i + 1;
    *value += *smooth ? w * d * d : w * fabs(d);
    if (gradient) gradient[i] = *smooth ? 2 * w * d : (d > 0 ? w : -w);
  }
  return TRIAL_ACCEPTED;
}

static bool smooth = true, kinked = false;

static void begin_task(Sought* s, void* kind, const char* text, const TaskOptimizerType* type) {
  static const double unit[COUNT] = {1, 1, 1, 1, 1, 1};
  Diagnostics diagnostics = {0};
  OptimizationOptions options = {.threads = 1};
  assert_int_equal(task_parse(&s->task, "inline.yaml", text, strlen(text), false, NULL, 0, &diagnostics), STATUS_OK);
  if (type) s->task.optimizer.type = *type;
  assert_int_equal(optimization_create(&s->optimization, &s->task, &options, &diagnostics), STATUS_OK);
  s->function = (OptimizationFunction){.context = kind, .evaluate = evaluate, .unit = unit};
  optimization_set_function(s->optimization, &s->function);
  diagnostics_free(&diagnostics);
}

static void begin(Sought* s, bool* kind) { begin_task(s, kind, TASK, NULL); }

static void end(Sought* s) {
  optimization_destroy(s->optimization);
  task_free(&s->task);
}

static void start(Sought* s) {
  Diagnostics diagnostics = {0};
  assert_int_equal(optimization_start(s->optimization, &diagnostics), STATUS_OK);
  diagnostics_free(&diagnostics);
}

static void seek(Sought* s) {
  while (optimization_stop(s->optimization) == STOP_NOT_YET)
    assert_int_equal(optimization_advance(s->optimization), STATUS_OK);
}

static void stays_with_lbfgs_where_it_is_smooth_O23(void** state) {
  (void)state;
  Sought s;
  begin(&s, &smooth);
  start(&s);
  seek(&s);
  assert_int_equal(optimization_method_change_count(s.optimization), 0);
  if (!(optimization_best_loss(s.optimization) < 1e-12)) fail_msg("loss %g", optimization_best_loss(s.optimization));
  end(&s);
}

/* The loss when the method changes first, and at the end. */
static void leaves_lbfgs_at_kinks_O23(void** state) {
  (void)state;
  Sought s;
  double before = NAN;
  begin(&s, &kinked);
  start(&s);
  while (optimization_stop(s.optimization) == STOP_NOT_YET) {
    assert_int_equal(optimization_advance(s.optimization), STATUS_OK);
    if (isnan(before) && optimization_method_change_count(s.optimization) > 0)
      before = optimization_best_loss(s.optimization);
  }
  Text line = {0};
  assert_true(optimization_method_change_count(s.optimization) > 0);
  optimization_add_method_change(s.optimization, 0, &line);
  assert_non_null(strstr(line.data, "adam follows lbfgs"));
  if (!(optimization_best_loss(s.optimization) < 0.3 * before))
    fail_msg("loss %g at the change, %g at the end", before, optimization_best_loss(s.optimization));
  text_free(&line);
  end(&s);
}

static void create(Sought* s, const char* text) {
  Diagnostics diagnostics = {0};
  OptimizationOptions options = {.threads = 1};
  assert_int_equal(task_parse(&s->task, "inline.yaml", text, strlen(text), false, NULL, 0, &diagnostics), STATUS_OK);
  assert_int_equal(optimization_create(&s->optimization, &s->task, &options, &diagnostics), STATUS_OK);
  diagnostics_free(&diagnostics);
}

static void samples_after_a_minimum_that_fails_success_O23(void** state) {
  (void)state;
  Sought s;
  Text line = {0};
  create(&s, CIRCLE);
  start(&s);
  seek(&s);
  assert_true(optimization_method_change_count(s.optimization) > 0);
  optimization_add_method_change(s.optimization, 0, &line);
  assert_non_null(strstr(line.data, "fails success; cma_es follows lbfgs"));
  OptimizationVariable q = optimization_variable(s.optimization, 0);
  assert_true(optimization_method_change_count(s.optimization) > 1);
  optimization_add_method_change(s.optimization, 1, &line);
  assert_non_null(strstr(line.data, "better than the minimum that was found; lbfgs follows cma_es"));
  compare_near(q.best, 2.6, 1e-6, "L-BFGS converges from the sample");
  text_free(&line);
  end(&s);
}

/* 120 variables and 60 iterations: samples are left after 20 iterations, not after six generations, and Adam goes lower
 * than L-BFGS did. */
static void draws_few_samples_without_time_for_them_O23(void** state) {
  (void)state;
  Sought s;
  double before = NAN;
  create(&s, CART);
  start(&s);
  while (optimization_stop(s.optimization) == STOP_NOT_YET) {
    assert_int_equal(optimization_advance(s.optimization), STATUS_OK);
    if (isnan(before) && optimization_method_change_count(s.optimization) > 0)
      before = optimization_best_loss(s.optimization);
  }
  Text line = {0};
  assert_true(optimization_method_change_count(s.optimization) > 1);
  optimization_add_method_change(s.optimization, 1, &line);
  assert_non_null(strstr(line.data, ": 20 iterations brought no progress; adam follows cma_es"));
  text_free(&line);
  if (!(optimization_best_loss(s.optimization) < before))
    fail_msg("loss %g at the change, %g at the end", before, optimization_best_loss(s.optimization));
  end(&s);
}

static void stops_at_a_minimum_without_success_to_judge_O23(void** state) {
  (void)state;
  Sought s;
  char text[sizeof CIRCLE];
  memcpy(text, CIRCLE, sizeof CIRCLE);
  *strstr(text, "success:") = '#';
  create(&s, text);
  start(&s);
  seek(&s);
  assert_int_equal(optimization_method_change_count(s.optimization), 0);
  OptimizationVariable q = optimization_variable(s.optimization, 0);
  assert_true(q.best == -0.9 && optimization_iteration(s.optimization) < 60);
  end(&s);
}

/* The task `hook` has contact with friction, so that L-BFGS leaves the scene's friction. */
static void create_hook(Sought* s) {
  Diagnostics diagnostics = {0};
  OptimizationOptions options = {.threads = 1};
  assert_int_equal(task_load(&s->task, "benchmarks/design/hook.yaml", NULL, 0, &diagnostics), STATUS_OK);
  assert_int_equal(optimization_create(&s->optimization, &s->task, &options, &diagnostics), STATUS_OK);
  diagnostics_free(&diagnostics);
}

/* Smoother friction ends with at most half of the iterations. A design that was simulated with it is never the best
 * one. A search that was saved during this phase ends with the same bits. */
static void smooths_friction_where_lbfgs_fails_O26(void** state) {
  (void)state;
  Sought whole, part;
  Diagnostics diagnostics = {0};
  NumberFile saved = {0};
  Text line = {0};
  int count = 0, last = 0;
  create_hook(&whole);
  start(&whole);
  while (optimization_stop(whole.optimization) == STOP_NOT_YET) {
    double best = optimization_best_loss(whole.optimization);
    assert_int_equal(optimization_advance(whole.optimization), STATUS_OK);
    if (automatic_friction_factor(whole.optimization) == 1) continue;
    last = optimization_iteration(whole.optimization);
    assert_true(optimization_best_loss(whole.optimization) == best);
    if (++count == 3) optimization_save(whole.optimization, &saved);
  }
  assert_in_range(count, 3, 25);
  assert_in_range(last, 13, 40);
  optimization_add_method_change(whole.optimization, 0, &line);
  assert_non_null(strstr(line.data, "lbfgs continues with smoother friction"));
  text_free(&line);
  create_hook(&part);
  assert_true(optimization_load(part.optimization, &saved, &diagnostics));
  assert_true(automatic_friction_factor(part.optimization) > 1);
  seek(&part);
  for (int k = 0; k < optimization_variable_count(whole.optimization); k++) {
    OptimizationVariable a = optimization_variable(whole.optimization, k);
    OptimizationVariable b = optimization_variable(part.optimization, k);
    if (a.current != b.current || a.best != b.best) fail_msg("%s: %a and %a", a.name, a.current, b.current);
  }
  number_file_free(&saved);
  diagnostics_free(&diagnostics);
  end(&part);
  end(&whole);
}

/* Saved after any iteration and loaded by another, it ends at the same bits, with the same changes. */
static void resumes_to_the_same_bits(void** state) {
  (void)state;
  Sought whole;
  Diagnostics diagnostics = {0};
  begin(&whole, &kinked);
  start(&whole);
  NumberFile saved[ITERATIONS + 1] = {0};
  optimization_save(whole.optimization, &saved[0]);
  while (optimization_stop(whole.optimization) == STOP_NOT_YET) {
    assert_int_equal(optimization_advance(whole.optimization), STATUS_OK);
    int at = optimization_iteration(whole.optimization);
    if (saved[at].kind == NULL) optimization_save(whole.optimization, &saved[at]);
  }
  int last = optimization_iteration(whole.optimization);
  for (int at = 0; at < last; at += 7) {
    Sought part;
    begin(&part, &kinked);
    assert_true(optimization_load(part.optimization, &saved[at], &diagnostics));
    seek(&part);
    assert_int_equal(optimization_iteration(part.optimization), last);
    assert_int_equal(optimization_method_change_count(part.optimization),
                     optimization_method_change_count(whole.optimization));
    for (int k = 0; k < COUNT; k++) {
      OptimizationVariable a = optimization_variable(whole.optimization, k);
      OptimizationVariable b = optimization_variable(part.optimization, k);
      if (a.current != b.current || a.best != b.best)
        fail_msg("saved at %d: %s %a and %a", at, a.name, a.current, b.current);
    }
    end(&part);
  }
  for (int at = 0; at <= ITERATIONS; at++) number_file_free(&saved[at]);
  diagnostics_free(&diagnostics);
  end(&whole);
}

/* Where draws vary it is Adam with the steps of the settings, to the same bits. */
static void takes_adams_steps_under_draws_O23(void** state) {
  (void)state;
  Sought automatic, adam;
  const TaskOptimizerType type = OPTIMIZER_ADAM;
  begin_task(&automatic, &kinked, DRAWN, NULL);
  begin_task(&adam, &kinked, DRAWN, &type);
  start(&automatic);
  start(&adam);
  seek(&automatic);
  seek(&adam);
  assert_int_equal(optimization_method_change_count(automatic.optimization), 0);
  assert_int_equal(optimization_iteration(automatic.optimization), 60);
  for (int k = 0; k < COUNT; k++) {
    OptimizationVariable a = optimization_variable(automatic.optimization, k);
    OptimizationVariable b = optimization_variable(adam.optimization, k);
    if (a.current != b.current || a.current == a.initial)
      fail_msg("%s: %a by auto, %a by adam", a.name, a.current, b.current);
  }
  end(&adam);
  end(&automatic);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(stays_with_lbfgs_where_it_is_smooth_O23),
      cmocka_unit_test(leaves_lbfgs_at_kinks_O23),
      cmocka_unit_test(samples_after_a_minimum_that_fails_success_O23),
      cmocka_unit_test(draws_few_samples_without_time_for_them_O23),
      cmocka_unit_test(stops_at_a_minimum_without_success_to_judge_O23),
      cmocka_unit_test(takes_adams_steps_under_draws_O23),
      cmocka_unit_test(smooths_friction_where_lbfgs_fails_O26),
      cmocka_unit_test(resumes_to_the_same_bits),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Variables and losses that belong to single scenarios, against the closed form of a body that flies on: x = x0 + T v.
 */
#include <math.h>

#include "design_testing.h"
#include "optimize/optimize.h"

/* The body flies for T seconds; its rod is turned by a prescribed drive, to what `values` say at the end. */
#define SCENE(T, angle)                                                                                             \
  "{simulation: {dt: 0.01, steps: " T                                                                               \
  ", gravity: [0, 0, 0], integrator: first_order}, contact: {model: none}, links: [{name: a, mass: 1, shape: "      \
  "{type: sphere, radius: 0.1}}, {name: rod, mass: 1, joint: {type: slide, axis: [1, 0, 0], position: [0, 5, 0]}, " \
  "shape: {type: sphere, radius: 0.1}}], controllers: [{link: rod, type: prescribed, target: " angle                \
  "}], initial: [{link: a, velocities: [1, 0, 0, 0, 0, 0]}]}"
#define SCENARIOS \
  "scenarios:\n  - {name: one, scene: " SCENE("50", "0.2") "}\n  - {name: two, scene: " SCENE("100", "0.3") "}\n" \
  "  - {name: three, scene: " SCENE("20", "0.4") ", weight: 2}\n"
#define LOSSES                                                                           \
  "loss:\n  - {type: point, name: near, link: a, target: [2, 0, 0], scenarios: [one]}\n" \
  "  - {type: point, name: far, link: a, target: [3, 0, 0], scenarios: [two]}\n"         \
  "  - {type: point, name: rod, link: rod, target: [1, 5, 0]}\n"

static void names_and_values(void** state) {
  (void)state;
  DesignCase* c = design_case(SCENARIOS
                              "control: [{link: rod, scenarios: [three, one]}]\n"
                              "initial: [{link: a, velocities: true, dof: [0], scenarios: [\"*\"]}]\n" LOSSES);
  expect_variables(&c->design,
                   "rod/values/0@one\nrod/values/0@three\na/velocity/0@one\na/velocity/0@two\na/velocity/0@three\n");
  compare_near(variable_of(&c->design, "rod/values/0@one")->initial, 0.2, 0, "one");
  compare_near(variable_of(&c->design, "rod/values/0@three")->initial, 0.4, 0, "three");
  /* each scenario's scene takes its own, the second keeps its rod */
  double x[] = {10, 30, 1, 2, 3};
  static const double RODS[] = {10, 0.3, 30};
  for (int s = 0; s < 3; s++) {
    ModelOverride* overrides = design_overrides(&c->design, x);
    int count = design_overrides_in(&c->design, s, overrides, c->design.number_count);
    Scene* moved = model_scene_create(case_scene(c, s), overrides, count);
    compare_near(moved->controllers[0].target.values[0], RODS[s], 0, "rod of %d", s);
    compare_near(model_scene_initial(moved, 0)->velocities[0], s + 1, 0, "speed of %d", s);
    model_scene_destroy(moved, case_scene(c, s));
    memory_free(overrides);
  }
  design_case_free(c);
}

typedef struct {
  Task task;
  Optimization* optimization;
  Diagnostics diagnostics;
} Sought;

static Sought* sought(const char* text) {
  Sought* s = MEMORY_NEW(Sought, 1);
  OptimizationOptions options = {.threads = 2};
  s->task = load_task(text);
  assert_int_equal(optimization_create(&s->optimization, &s->task, &options, &s->diagnostics), STATUS_OK);
  assert_int_equal(optimization_start(s->optimization, &s->diagnostics), STATUS_OK);
  return s;
}

static void sought_free(Sought* s) {
  optimization_destroy(s->optimization);
  task_free(&s->task);
  diagnostics_free(&s->diagnostics);
  memory_free(s);
}

static double best_of(const Sought* s, const char* name) {
  for (int k = 0; k < optimization_variable_count(s->optimization); k++) {
    OptimizationVariable v = optimization_variable(s->optimization, k);
    if (strcmp(v.name, name) == 0) return v.best;
  }
  fail_msg("no variable %s", name);
  return 0;
}

/* Scenarios have speeds and targets of their own. The third scenario has no loss, so its speed stays. */
static void each_scenario_meets_its_own(void** state) {
  (void)state;
  Sought* s =
      sought(SCENARIOS
             "control: [{link: rod}]\n"
             "initial: [{link: a, velocities: true, dof: [0], scenarios: [one, two, three]}]\n" LOSSES
             "success:\n  - {type: point, name: near, link: a, target: [2, 0, 0], scenarios: [one], max: 1e-9}\n"
             "  - {type: point, name: far, link: a, target: [3, 0, 0], scenarios: [two], max: 1e-9}\n"
             "optimizer: {type: lbfgs, iterations: 40, control_step: 1, stop_loss: 1.0e-24}\n");
  const double* terms = optimization_terms(s->optimization, 0);
  compare_near(terms[0], 1.5 * 1.5, 1e-9, "near: 0.5 s at 1 m/s");
  compare_near(terms[1], 2 * 2, 1e-9, "far: 1 s at 1 m/s");
  /* the rod's one variable begins where the first scenario has it; weights 1, 1 and 2 */
  compare_near(terms[2], 4 * 0.8 * 0.8, 1e-9, "rod");
  while (optimization_stop(s->optimization) == STOP_NOT_YET)
    assert_int_equal(optimization_advance(s->optimization), STATUS_OK);
  compare_near(best_of(s, "a/velocity/0@one"), 2 / 0.5, 1e-9, "one");
  compare_near(best_of(s, "a/velocity/0@two"), 3 / 1.0, 1e-9, "two");
  compare_near(best_of(s, "a/velocity/0@three"), 1, 0, "three");
  compare_near(best_of(s, "rod/values/0"), 1, 1e-9, "rod");
  assert_int_equal(optimization_evaluate_success(s->optimization), STATUS_OK);
  assert_true(optimization_succeeded(s->optimization));
  sought_free(s);
}

/* A success term of one scenario is evaluated in this scenario only. The second scenario ends at 4 m, which does not
 * count. */
static void success_of_one_scenario(void** state) {
  (void)state;
  Sought* s =
      sought(SCENARIOS "initial: [{link: a, velocities: true, dof: [0], scenarios: [one]}]\n" LOSSES
                       "success:\n  - {type: point, name: far, link: a, target: [3, 0, 0], scenarios: [two], max: 3}\n"
                       "  - {type: point, name: all, link: a, target: [0, 0, 0], max: 3}\n");
  assert_int_equal(optimization_evaluate_success(s->optimization), STATUS_OK);
  compare_near(optimization_success(s->optimization, 0).value, 4, 1e-9, "of the second");
  assert_false(optimization_success(s->optimization, 0).met);
  compare_near(optimization_success(s->optimization, 1).value, 1, 1e-9, "the largest, of the second");
  assert_true(optimization_success(s->optimization, 1).met);
  sought_free(s);
}

static void messages(void** state) {
  (void)state;
  expect_task_problems(SCENARIOS "control: [{link: rod, scenarios: [on]}]\n" LOSSES,
                       "5:35: error: control[0]: no scenario is named 'on' (did you mean 'one'?)\n");
  expect_design_problems(SCENARIOS "control: [{link: rod}, {link: rod, scenarios: [two]}]\n" LOSSES,
                         "5:24: error: variable 'rod/values/0@two' is listed twice, once for a scenario and once for "
                         "all: remove one of them\n");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(names_and_values),
      cmocka_unit_test(each_scenario_meets_its_own),
      cmocka_unit_test(success_of_one_scenario),
      cmocka_unit_test(messages),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

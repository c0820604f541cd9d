/* Tests that every optimizer of a fit converges to the result of the Levenberg-Marquardt method. Another program
 * generated the pendulum data. */
#include "identify/fit.h"

#include <stdio.h>
#include <string.h>

#include "support/compare.h"
#include "support/long.h"
#include "unit/scene/task_testing.h"

#include <cmocka.h>

/* Half the sum of squares this much above the least one is within a fifth of the noise's standard deviation along every
 * combination of variables. */
#define NEAR 0.02

static double least_cost(const char* path, const char* const* sets, int count, const char* type) {
  Task task;
  Diagnostics diagnostics = {0};
  Identification* id;
  char method[64];
  SceneOverride overrides[12] = {{NULL}};
  snprintf(method, sizeof method, "optimizer.type=%s", type);
  for (int i = 0; i < count; i++) overrides[i].text = sets[i];
  overrides[count].text = method;
  if (task_load(&task, path, overrides, count + 1, &diagnostics) != STATUS_OK) fail_msg("%s", told(&diagnostics));
  IdentifyOptions options = {.threads = 2};
  Status status = identification_create(&id, &task, &options, &diagnostics);
  if (status == STATUS_OK) status = identification_start(id, &diagnostics);
  if (status != STATUS_OK) fail_msg("%s", told(&diagnostics));
  while (identification_stop(id) == IDENTIFY_RUNNING) assert_int_equal(identification_advance(id), STATUS_OK);
  double cost = identification_cost(id);
  identification_finish(id, &diagnostics);
  compare_near(identification_cost(id), cost, 1e-9 * cost, "%s: the sums at the end", type);
  assert_true(identification_parameter(id, 0).standard_error > 0);
  identification_destroy(id);
  task_free(&task);
  diagnostics_free(&diagnostics);
  return cost;
}

static void check_all(const char* path, const char* const* sets, int count, int type_count) {
  static const char* const types[] = {"lbfgs", "cma_es", "adam", "step_bounded", "gradient"};
  double least = least_cost(path, sets, count, "levenberg_marquardt");
  for (size_t k = 0; k < (size_t)type_count; k++) {
    double cost = least_cost(path, sets, count, types[k]);
    print_message("%s: %s %.6f beside %.6f\n", path, types[k], cost, least);
    assert_true(cost > least - 1e-3 && cost < least + NEAR);
  }
}

static void every_optimizer_ends_at_the_least_sum_of_a_pendulum_Q13_O21(void** state) {
  (void)state;
  static const char* const sets[] = {
      "scene.simulation.dt=0.01",  "parameters=[{type: center, link: rod, axes: [z]}, {type: damping, link: rod}]",
      "identify.coordinate=0.3",   "optimizer.iterations=400",
      "optimizer.design_step=0.2", "optimizer.control_step=0.2"};
  check_all("scenes/identify/pendulum.yaml", sets, 6, tests_count(3, 5));
}

static void every_optimizer_ends_at_the_least_sum_of_a_pushed_box_Q13(void** state) {
  (void)state;
  static const char* const sets[] = {
      "parameters=[{type: friction, low: 0.01, high: 1.5}, {type: center, link: box, axes: [y]}]",
      "identify.position=0.05",
      "identify.rotation=0.5",
      "optimizer.iterations=300",
      "optimizer.design_step=0.1",
      "optimizer.control_step=0.1"};
  check_all("scenes/identify/pushed.yaml", sets, 6, tests_count(1, 5));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_optimizer_ends_at_the_least_sum_of_a_pendulum_Q13_O21),
      cmocka_unit_test(every_optimizer_ends_at_the_least_sum_of_a_pushed_box_Q13),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

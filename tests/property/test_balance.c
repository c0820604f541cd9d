/* Tests an inverted pendulum whose feedback gains are optimized from zero. The pole stays upright from initial states
 * that the optimization did not use. */
#include "optimize/optimize.h"
#include "scene_run.h"

#define DEGREE (M_PI / 180)

/* Ten seconds from this start: the pole is up in the last of them. Returns the largest angle of that second. */
static double held(const Scene* found, const double start[4]) {
  SceneRun run;
  memset(&run, 0, sizeof run);
  assert_int_equal(model_create(&run.model, found, &run.diagnostics), STATUS_OK);
  run.model.simulation.steps = 1000;
  const int cart = 0, pole = 1; /* the joints' numbers */
  run.model.initial_coordinates[cart] = start[0], run.model.initial_velocities[cart] = start[1];
  run.model.initial_coordinates[pole] = start[2], run.model.initial_velocities[pole] = start[3];
  SimOptions options = {.threads = 1};
  assert_int_equal(sim_create(&run.sim, &run.model, &options, &run.diagnostics), STATUS_OK);
  double largest = 0;
  for (int k = 0; k < 1000; k++) {
    if (step_outcome_failed(sim_step(run.sim).outcome)) fail_msg("step %d fails", k);
    if (k >= 900) largest = fmax(largest, fabs(sim_state(run.sim)->q[pole]));
  }
  sim_destroy(run.sim);
  model_destroy(&run.model);
  diagnostics_free(&run.diagnostics);
  return largest;
}

/* From 20 degrees and from starts that nobody looked at. */
static void expect_holds(const Scene* found, const double most[4], int starts) {
  const double twenty[4] = {0, 0, 20 * DEGREE, 0};
  expect_between(held(found, twenty), 0, 0.01, "from 20 degrees");
  Random random = {11};
  for (int k = 0; k < starts; k++) {
    double start[4];
    for (int i = 0; i < 4; i++) start[i] = random_uniform(&random, -most[i], most[i]);
    double left = held(found, start);
    if (!(left < 0.01))
      fail_msg("seed 11, start %d (%g m, %g m/s, %g rad, %g rad/s): %g rad in the last second", k, start[0], start[1],
               start[2], start[3], left);
  }
}

/* Numbers of feedback are found by a task that begins with a drive which does nothing. */
static void expect_learns(const char* path, const double most[4], int starts) {
  Task task;
  Diagnostics diagnostics = {0};
  Optimization* o = NULL;
  OptimizationOptions options = {.threads = 1};
  assert_int_equal(task_load(&task, path, NULL, 0, &diagnostics), STATUS_OK);
  assert_int_equal(optimization_create(&o, &task, &options, &diagnostics), STATUS_OK);
  assert_int_equal(optimization_start(o, &diagnostics), STATUS_OK);
  while (optimization_stop(o) == STOP_NOT_YET) assert_int_equal(optimization_advance(o), STATUS_OK);
  expect_holds(optimization_scene(o, 0, true), most, starts);
  optimization_destroy(o);
  task_free(&task);
  diagnostics_free(&diagnostics);
}

static void gains_from_zero_hold_the_pole(void** state) {
  (void)state;
  expect_learns("scenes/tasks/balance.yaml", (const double[4]){0.3, 0.5, 20 * DEGREE, 0.5}, 50);
}

static void a_network_that_says_nothing_learns_to_hold_it(void** state) {
  (void)state;
  expect_learns("scenes/tasks/policy.yaml", (const double[4]){0.3, 0.5, 20 * DEGREE, 0.5}, 50);
}

/* scenes/balance.yaml, and without its feedback: then it falls. */
static void the_shipped_gains_hold_it_too(void** state) {
  (void)state;
  SceneRun run;
  run_open(&run, "scenes/balance.yaml", NULL);
  run_until(&run, 10);
  expect_between(fabs(run_coordinate(&run, "cart", 0)), 0, 1e-3, "the cart");
  expect_between(fabs(run_coordinate(&run, "pole", 0)), 0, 1e-3, "the pole");
  run_close(&run);
  run_open(&run, "scenes/balance.yaml", (const char* const[]){"controllers.cart.feedback.matrix=[0,0,0,0]", NULL});
  run_until(&run, 1.5);
  expect_between(run_coordinate(&run, "pole", 0), 1.5, 7, "nobody holds it");
  run_close(&run);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(gains_from_zero_hold_the_pole),
                                     cmocka_unit_test(a_network_that_says_nothing_learns_to_hold_it),
                                     cmocka_unit_test(the_shipped_gains_hold_it_too)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}

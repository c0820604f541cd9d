/* Runs the repository's scenes to their end, which takes too long for `make check`. */
#include "property/scene_run.h"

static const double GRAVITY = 9.81;

enum { PLANKS = 20 };

static const char* plank(int k) {
  static char name[16];
  snprintf(name, sizeof name, "plank%d", k);
  return name;
}

static double worst_weight_error(const SceneRun* run) {
  double worst = 0;
  for (int k = 1; k <= PLANKS; k++) {
    char below[16];
    snprintf(below, sizeof below, k < PLANKS ? "plank%d" : "ground", k + 1);
    worst = fmax(worst, fabs(run_force(run, below, plank(k)).z / (k * 0.16 * GRAVITY) - 1));
  }
  return worst;
}

static double farthest_from(const SceneRun* run, const Vec3* place) {
  double farthest = 0;
  for (int k = 1; k <= PLANKS; k++)
    farthest = fmax(farthest, vec3_norm(vec3_sub(run_position(run, plank(k)), place[k])));
  return farthest;
}

/* For a minute: no plank moves 1 mm after the first second, each interface carries the weight above it within 0.1 %. */
static void stack_stands_for_a_minute(void** state) {
  (void)state;
  SceneRun run;
  Vec3 place[PLANKS + 1];
  double weight_error = 0;
  run_open(&run, "scenes/stack.yaml", NULL);
  run_until(&run, 1.0);
  for (int k = 1; k <= PLANKS; k++) place[k] = run_position(&run, plank(k));
  for (int second = 1; second <= 60; second++) {
    run_until(&run, second);
    weight_error = fmax(weight_error, worst_weight_error(&run));
  }
  print_message("stack: planks move %.2e m from 1 s to 60 s, weights wrong by %.1e of them\n",
                farthest_from(&run, place), weight_error);
  expect_between(farthest_from(&run, place), 0, 1e-3, "movement of a plank, m");
  expect_between(weight_error, 0, 1e-3, "relative error of a carried weight");
  run_close(&run);
}

static void stack_with_more_overhang_lies_on_the_ground(void** state) {
  (void)state;
  SceneRun run;
  run_open(&run, "scenes/stack-falls.yaml", NULL);
  run_until(&run, 5.0);
  double top = run_position(&run, plank(1)).z;
  print_message("stack-falls: top plank at %.3f m after 5 s, smallest gap %.2e m\n", top, run.smallest_gap);
  expect_between(top, 0.1, 1.5, "height of the top plank, m");
  run_close(&run);
}

static void pile_comes_to_rest(void** state) {
  (void)state;
  SceneRun run;
  run_open(&run, "scenes/pile.yaml", NULL);
  run_until(&run, 3.0);
  SimMeasure end = sim_measure(run.sim);
  print_message("pile: kinetic energy %.2e J, potential %.2f J, smallest gap %.2e m\n", end.kinetic, end.potential,
                run.smallest_gap);
  expect_between(end.kinetic, 0, 0.05, "kinetic energy at the end, J");
  expect_between(run.smallest_gap, 1e-5, 1, "smallest gap, m");
  for (int i = 1; i < run.model.link_count; i++) {
    Vec3 center = sim_state(run.sim)->center[i];
    expect_between(fmax(fabs(center.x), fabs(center.y)), 0, 0.6, "place of a body in the bin");
    expect_between(center.z, 0, 1, "height of a body");
  }
  run_close(&run);
}

static void long_chains_whirl(void** state) {
  (void)state;
  SceneRun run;
  run_open(&run, "scenes/chains.yaml", NULL);
  assert_int_equal(run.model.dof_count, 8 * (16 - 1) + 21);
  run_until(&run, 6.0);
  print_message("chains: smallest gap %.2e m\n", run.smallest_gap);
  run_close(&run);
}

static void gears_turn_to_the_end(void** state) {
  (void)state;
  SceneRun run;
  run_open(&run, "scenes/mesh.yaml", NULL);
  run_until(&run, 2.0);
  double sum = run_coordinate(&run, "driver", 0) + run_coordinate(&run, "follower", 0);
  expect_between(sum - 0.2618, 0, 0.12, "play of the follower behind the driver, rad");
  run_close(&run);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(stack_stands_for_a_minute), cmocka_unit_test(stack_with_more_overhang_lies_on_the_ground),
      cmocka_unit_test(pile_comes_to_rest),        cmocka_unit_test(long_chains_whirl),
      cmocka_unit_test(gears_turn_to_the_end),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Tests losses over the best or the worst state of a window instead of the mean. */
#include "loss_testing.h"

/* Heights of `a` above its start at the states 0 to 4 [m]. */
static const double HEIGHTS[] = {0, -1, 3, 2, 2.5};

static LossRun* jump(void) {
  LossRun* run = loss_run_create(4, TWO_BRICKS);
  for (int k = 0; k <= 4; k++) {
    *pose_at(run, k, 0) = (Pose){mat3_identity(), vec3(0, 0, HEIGHTS[k])};
    *pose_at(run, k, 1) = (Pose){mat3_identity(), vec3(0, 0, 2 * HEIGHTS[4 - k])};
  }
  return run;
}

static TaskLoss upwards(LossOver over) {
  TaskLoss loss = loss_of(LOSS_TRAVEL, "a");
  loss.direction = vec3(0, 0, 1);
  loss.over = over;
  return loss;
}

static void travel_to_the_highest_and_the_lowest_state(void** state) {
  (void)state;
  LossRun* run = jump();
  TaskLoss best = upwards(OVER_BEST), worst = upwards(OVER_WORST), last = upwards(OVER_MEAN);
  compare_near(loss_value(run, &best), -3, 1e-12, "highest");
  compare_near(loss_value(run, &worst), 1, 1e-12, "lowest");
  compare_near(loss_value(run, &last), -2.5, 1e-12, "last");
  best.from = 0.3; /* from state 3 on: only state 4 is compared with it */
  best.weight = 2;
  compare_near(loss_value(run, &best), -2 * 0.5, 1e-12, "window");
  loss_run_free(run);
}

/* The reference state does not count. In a fall the best travel is that of the first step. */
static void a_fall_has_travelled_downwards(void** state) {
  (void)state;
  LossRun* run = loss_run_create(4, TWO_BRICKS);
  move_evenly(run, 0, vec3(0, 0, 0), vec3(0, 0, -2));
  TaskLoss best = upwards(OVER_BEST);
  compare_near(loss_value(run, &best), 2, 1e-12, "fall");
  loss_run_free(run);
}

/* Terms that use the last state by default use the whole run here. The centre of a is (0.1, 0.2, 0.3 + height). */
static void the_whole_run_by_default(void** state) {
  (void)state;
  LossRun* run = jump();
  TaskLoss loss = loss_of(LOSS_POINT, "a");
  loss.target = vec3(0.1, 0.2, 3.3);
  compare_near(loss_value(run, &loss), 0.25, 1e-12, "last state");
  loss.over = OVER_BEST;
  compare_near(loss_value(run, &loss), 0, 1e-12, "nearest");
  loss.over = OVER_WORST;
  compare_near(loss_value(run, &loss), 16, 1e-12, "farthest");
  loss_run_free(run);
}

/* Squared heights of both links: 0 + 25, 1 + 16, 9 + 36, 4 + 4, 6.25 + 0. The sum has its extremes at the states 4 and
 * 2; individual links have theirs at other states. */
static void the_sum_of_links_has_one_state(void** state) {
  (void)state;
  LossRun* run = jump();
  TaskName both[] = {{.text = name_text("a")}, {.text = name_text("b")}};
  TaskLoss loss = loss_of(LOSS_POINT, NULL);
  loss.links = both;
  loss.links_count = 2;
  loss.has_point = true;
  loss.over = OVER_BEST;
  compare_near(loss_value(run, &loss), 6.25, 1e-12, "best");
  loss.over = OVER_WORST;
  compare_near(loss_value(run, &loss), 45, 1e-12, "worst");
  loss_run_free(run);
}

static double height_seed(const LossRun* run, const LossSeeds* seeds, int step) {
  return seeds->pose[step * run->run->model.link_count][2][3];
}

/* The first of equal states has the derivative, the reference state the opposite one. */
static void the_first_of_equal_states_has_the_derivative(void** state) {
  (void)state;
  LossRun* run = loss_run_create(4, TWO_BRICKS);
  for (int k = 0; k <= 4; k++) *pose_at(run, k, 0) = (Pose){mat3_identity(), vec3(0, 0, k == 2 || k == 3 ? 1 : 0)};
  TaskLoss best = upwards(OVER_BEST);
  Loss* loss = loss_make(run, &best);
  LossSeeds seeds = loss_seeds_create(&run->run->model, 4);
  compare_near(loss_evaluate(loss, &run->recording, NULL, &seeds), -1, 1e-15, "value");
  static const double WANTED[] = {1, 0, -1, 0, 0};
  for (int k = 0; k <= 4; k++) compare_near(height_seed(run, &seeds, k), WANTED[k], 1e-15, "seed of state %d", k);
  loss_seeds_destroy(&seeds);
  loss_destroy(loss);
  loss_run_free(run);
}

static void a_state_without_value_leaves_the_term_without(void** state) {
  (void)state;
  LossRun* run = jump();
  pose_at(run, 3, 0)->t.z = NAN;
  TaskLoss best = upwards(OVER_BEST);
  assert_true(isnan(loss_value(run, &best)));
  loss_run_free(run);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(travel_to_the_highest_and_the_lowest_state),
      cmocka_unit_test(a_fall_has_travelled_downwards),
      cmocka_unit_test(the_whole_run_by_default),
      cmocka_unit_test(the_sum_of_links_has_one_state),
      cmocka_unit_test(the_first_of_equal_states_has_the_derivative),
      cmocka_unit_test(a_state_without_value_leaves_the_term_without),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

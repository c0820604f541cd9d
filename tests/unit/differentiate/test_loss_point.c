/* Tests the distance of a point to its target: by numbers, at the tip of the cone, and after a motion of the whole
 * scene. tests/gradient/test_losses.c tests the derivatives. */
#include "loss_testing.h"

/* Centre of mass (0.1, 0.2, 0.3) in a's frame, which is at (k, 0, 0): at the end, k = 4, (4.1, 0.2, 0.3). */
static void end_state_is_the_default(void** state) {
  (void)state;
  LossRun* run = loss_run_create(4, TWO_BRICKS);
  move_evenly(run, 0, vec3(0, 0, 0), vec3(1, 0, 0));
  TaskLoss loss = loss_of(LOSS_POINT, "a");
  loss.target = vec3(1.1, 0.2, 4.3);
  compare_near(loss_value(run, &loss), 9 + 16, 1e-12, "squared");
  loss.power = 1;
  compare_near(loss_value(run, &loss), 5, 1e-12, "distance");
  loss.has_point = true;
  loss.point = vec3(0.1, 0.2, 4.3);
  compare_near(loss_value(run, &loss), 3, 1e-12, "distance of a point");
  loss.weight = 2.5;
  compare_near(loss_value(run, &loss), 7.5, 1e-12, "weighted");
  loss_run_free(run);
}

/* Mean over states 1, 2, 3 at x = 1, 2, 3 of the squared distance to 0. */
static void windows_are_means(void** state) {
  (void)state;
  LossRun* run = loss_run_create(4, TWO_BRICKS);
  move_evenly(run, 0, vec3(0, 0, 0), vec3(1, 0, 0));
  TaskLoss loss = loss_of(LOSS_POINT, "a");
  loss.has_point = true;
  loss.from = 0.1;
  loss.to = 0.3;
  compare_near(loss_value(run, &loss), (1 + 4 + 9) / 3.0, 1e-12, "mean");
  loss_run_free(run);
}

/* At its target the loss is zero, without a derivative; a hair away the derivative has length 1. */
static void the_tip_of_the_cone(void** state) {
  (void)state;
  LossRun* run = loss_run_create(4, TWO_BRICKS);
  move_evenly(run, 0, vec3(0, 0, 0), vec3(0, 0, 0));
  LossSeeds seeds = loss_seeds_create(&run->run->model, 4);
  TaskLoss loss = loss_of(LOSS_POINT, "a");
  loss.power = 1;
  loss.has_point = true;
  for (int k = 0; k < 2; k++) {
    loss.target = vec3(k * 3e-200, 0, k * -4e-200);
    Loss* made = loss_make(run, &loss);
    double term;
    loss_seeds_clear(&seeds);
    loss_evaluate(made, &run->recording, &term, &seeds);
    const double(*pose)[4] = (const double(*)[4])seeds.pose[4 * 2 + 0];
    compare_near(term, 0, 1e-150, "value");
    assert_true(isfinite(pose[0][3]) && isfinite(pose[2][3]));
    loss_destroy(made);
  }
  loss.target = vec3(3e-12, 0, -4e-12);
  Loss* made = loss_make(run, &loss);
  double term;
  loss_seeds_clear(&seeds);
  loss_evaluate(made, &run->recording, &term, &seeds);
  compare_relative(term, 5e-12, 1e-14, "value");
  compare_near(seeds.pose[8][0][3], -0.6, 1e-14, "x");
  compare_near(seeds.pose[8][2][3], 0.8, 1e-14, "z");
  loss_destroy(made);
  loss_seeds_destroy(&seeds);
  loss_run_free(run);
}

static void the_world_may_move(void** state) {
  (void)state;
  Random random = {81};
  LossRun* run = loss_run_create(4, TWO_BRICKS);
  for (int i = 0; i < 10; i++) run->recording.pose[i] = random_pose(&random, 1);
  for (int power = 1; power <= 2; power++) {
    Pose motion = random_pose(&random, 2);
    TaskLoss loss = loss_of(LOSS_POINT, "b"), moved;
    loss.power = power;
    loss.from = 0;
    loss.target = vec3(1, 2, 3);
    moved = loss;
    moved.target = pose_apply(motion, loss.target);
    expect_same_when_moved(run, loss, moved, motion, "point, seed 81");
  }
  loss_run_free(run);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(end_state_is_the_default),
      cmocka_unit_test(windows_are_means),
      cmocka_unit_test(the_tip_of_the_cone),
      cmocka_unit_test(the_world_may_move),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

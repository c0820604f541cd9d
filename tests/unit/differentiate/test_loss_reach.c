/* Tests the reach loss with a margin. */
#include "loss_testing.h"

static void only_what_is_beyond_the_margin_counts(void** state) {
  (void)state;
  LossRun* run = loss_run_create(4, TWO_BRICKS);
  move_evenly(run, 0, vec3(0, 0, 0), vec3(1, 0, 0));
  TaskLoss loss = loss_of(LOSS_REACH, "a");
  loss.has_point = true;
  loss.margin = 2.5;
  compare_near(loss_value(run, &loss), 16 - 6.25, 1e-12, "the end at distance 4");
  loss.from = 0;
  compare_near(loss_value(run, &loss), (9 - 6.25 + 16 - 6.25) / 5, 1e-12, "mean over distances 0 to 4");
  loss.margin = 4;
  compare_bytes(&(double){loss_value(run, &loss)}, &(double){0}, sizeof(double), "at the margin");
  loss_run_free(run);
}

static void the_world_may_move(void** state) {
  (void)state;
  Random random = {85};
  LossRun* run = loss_run_create(4, TWO_BRICKS);
  for (int i = 0; i < 10; i++) run->recording.pose[i] = random_pose(&random, 1);
  Pose motion = random_pose(&random, 2);
  TaskLoss loss = loss_of(LOSS_REACH, "b"), moved;
  loss.target = vec3(1, 2, 3);
  loss.margin = 0.5;
  moved = loss;
  moved.target = pose_apply(motion, loss.target);
  expect_same_when_moved(run, loss, moved, motion, "reach, seed 85");
  loss_run_free(run);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(only_what_is_beyond_the_margin_counts),
      cmocka_unit_test(the_world_may_move),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Tests the orientation loss: an axis of a link against a world direction. */
#include "loss_testing.h"

/* 4 sin^2 of half the angle, whatever the lengths that were written. */
static void half_the_angle(void** state) {
  (void)state;
  LossRun* run = loss_run_create(4, TWO_BRICKS);
  TaskLoss loss = loss_of(LOSS_ORIENTATION, "a");
  loss.axis = vec3(0, 0, 7);
  loss.target = vec3(0, 0, 0.1);
  for (int k = 0; k <= 4; k++) pose_at(run, k, 0)->r = mat3_from_quat(quat_about(vec3(1, 0, 0), 0.3 * k));
  compare_near(loss_value(run, &loss), 4 * pow(sin(0.6), 2), 1e-14, "the end, angle 1.2");
  loss.to = 0.1;
  compare_near(loss_value(run, &loss), 2 * pow(sin(0.15), 2), 1e-14, "mean of angles 0 and 0.3");
  loss.target = vec3(0, 0, -5);
  loss.from = loss.to = 0;
  compare_near(loss_value(run, &loss), 4, 1e-14, "opposite");
  loss_run_free(run);
}

static void the_world_may_move(void** state) {
  (void)state;
  Random random = {86};
  LossRun* run = loss_run_create(4, TWO_BRICKS);
  for (int i = 0; i < 10; i++) run->recording.pose[i] = random_pose(&random, 1);
  Pose motion = random_pose(&random, 2);
  TaskLoss loss = loss_of(LOSS_ORIENTATION, "b"), moved;
  loss.axis = random_direction(&random);
  loss.target = random_direction(&random);
  moved = loss;
  moved.target = mat3_mul_vec(motion.r, loss.target);
  expect_same_when_moved(run, loss, moved, motion, "orientation, seed 86");
  loss_run_free(run);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(half_the_angle),
      cmocka_unit_test(the_world_may_move),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

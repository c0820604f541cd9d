/* Tests travel along a direction: by numbers, and after a rotation of the whole scene. */
#include "loss_testing.h"

/* a moves (1, 2, 0) per state; along (3, 4, 0) / 5 that is 11 / 5 per state. */
static void from_the_first_state_of_the_window_to_the_last(void** state) {
  (void)state;
  LossRun* run = loss_run_create(4, TWO_BRICKS);
  move_evenly(run, 0, vec3(5, 5, 5), vec3(1, 2, 0));
  TaskLoss loss = loss_of(LOSS_TRAVEL, "a");
  loss.direction = vec3(30, 40, 0);
  compare_near(loss_value(run, &loss), -4 * 11 / 5.0, 1e-12, "the whole run");
  loss.from = 0.1;
  loss.to = 0.3;
  loss.weight = 3;
  compare_near(loss_value(run, &loss), -3 * 2 * 11 / 5.0, 1e-12, "window");
  loss_run_free(run);
}

static void the_world_may_move(void** state) {
  (void)state;
  Random random = {82};
  LossRun* run = loss_run_create(4, TWO_BRICKS);
  for (int i = 0; i < 10; i++) run->recording.pose[i] = random_pose(&random, 1);
  Pose motion = random_pose(&random, 2);
  TaskLoss loss = loss_of(LOSS_TRAVEL, "b"), moved;
  loss.direction = random_direction(&random);
  moved = loss;
  moved.direction = mat3_mul_vec(motion.r, loss.direction);
  expect_same_when_moved(run, loss, moved, motion, "travel, seed 82");
  loss_run_free(run);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(from_the_first_state_of_the_window_to_the_last),
      cmocka_unit_test(the_world_may_move),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

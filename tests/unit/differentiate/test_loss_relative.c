/* Tests the motion of one link relative to another. */
#include "loss_testing.h"

static TaskLoss loss_ab(void) {
  TaskLoss loss = loss_of(LOSS_RELATIVE, "a");
  loss.other.text = name_text("b");
  return loss;
}

/* b's centre moves by (1, 0, 0) per state and a by (0, 2, 0): 5 k^2 against state 0. */
static void the_end_against_the_beginning(void** state) {
  (void)state;
  LossRun* run = loss_run_create(4, TWO_BRICKS);
  move_evenly(run, 0, vec3(0, 0, 0), vec3(0, 2, 0));
  move_evenly(run, 1, vec3(9, 0, 0), vec3(1, 0, 0));
  TaskLoss loss = loss_ab();
  compare_near(loss_value(run, &loss), 5 * 16, 1e-12, "the end");
  loss.from = 0.1;
  loss.to = 0.4;
  compare_near(loss_value(run, &loss), 5 * (1 + 4 + 9) / 3.0, 1e-12, "window: mean over the states after its first");
  loss_run_free(run);
}

/* If both links move together, the loss does not change. */
static void what_moves_together_does_not_count(void** state) {
  (void)state;
  Random random = {83};
  LossRun* run = loss_run_create(4, TWO_BRICKS);
  Pose grip = random_pose(&random, 1);
  for (int k = 0; k <= 4; k++) {
    *pose_at(run, k, 0) = random_pose(&random, 3);
    *pose_at(run, k, 1) = pose_mul(*pose_at(run, k, 0), grip);
  }
  TaskLoss loss = loss_ab();
  compare_near(loss_value(run, &loss), 0, 1e-28, "seed 83");
  loss_run_free(run);
}

/* a rotates by 90 degrees about z in place. In a's frame b's centre moves from (9, 0, 0) to (0, -9, 0). */
static void turning_counts(void** state) {
  (void)state;
  LossRun* run = loss_run_create(4, TWO_BRICKS);
  move_evenly(run, 0, vec3(0, 0, 0), vec3(0, 0, 0));
  move_evenly(run, 1, vec3(9, 0, 0), vec3(0, 0, 0));
  pose_at(run, 4, 0)->r = mat3_from_quat(quat_about(vec3(0, 0, 1), M_PI / 2));
  TaskLoss loss = loss_ab();
  compare_near(loss_value(run, &loss), 81 + 81, 1e-11, "a quarter turn");
  loss_run_free(run);
}

/* b rotates by 90 degrees about z in place. A point 2 m in front of its centre moves from (2, 0, 0) to (0, 2, 0). */
static void a_point_is_one_of_the_other(void** state) {
  (void)state;
  LossRun* run = loss_run_create(4, TWO_BRICKS);
  move_evenly(run, 0, vec3(0, 0, 0), vec3(0, 0, 0));
  move_evenly(run, 1, vec3(9, 0, 0), vec3(0, 0, 0));
  pose_at(run, 4, 1)->r = mat3_from_quat(quat_about(vec3(0, 0, 1), M_PI / 2));
  TaskLoss loss = loss_ab();
  compare_near(loss_value(run, &loss), 0, 1e-12, "the centre");
  loss.has_point = true;
  loss.point = vec3(2, 0, 0);
  compare_near(loss_value(run, &loss), 4 + 4, 1e-12, "the point");
  loss_run_free(run);
}

static void the_world_may_move(void** state) {
  (void)state;
  Random random = {84};
  LossRun* run = loss_run_create(4, TWO_BRICKS);
  for (int i = 0; i < 10; i++) run->recording.pose[i] = random_pose(&random, 1);
  expect_same_when_moved(run, loss_ab(), loss_ab(), random_pose(&random, 2), "relative, seed 84");
  loss_run_free(run);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_end_against_the_beginning),
      cmocka_unit_test(what_moves_together_does_not_count),
      cmocka_unit_test(turning_counts),
      cmocka_unit_test(a_point_is_one_of_the_other),
      cmocka_unit_test(the_world_may_move),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

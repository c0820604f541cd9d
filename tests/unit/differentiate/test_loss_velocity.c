/* Tests velocities by backward differences. */
#include "loss_testing.h"

/* 1, 2, 0 m per 0.1 s. */
static void even_motion_has_its_velocity(void** state) {
  (void)state;
  LossRun* run = loss_run_create(4, TWO_BRICKS);
  move_evenly(run, 0, vec3(3, 3, 3), vec3(1, 2, 0));
  TaskLoss loss = loss_of(LOSS_VELOCITY, "a");
  loss.target = vec3(10, 20, 0);
  compare_near(loss_value(run, &loss), 0, 1e-24, "the wanted velocity");
  loss.target = vec3(10, 17, 4);
  compare_near(loss_value(run, &loss), 25, 1e-12, "another");
  loss_run_free(run);
}

/* x = 0, 0, 0, 1, 0: velocities 0, 0, 10, -10 at states 1 to 4. */
static void states_count_from_the_first_step(void** state) {
  (void)state;
  LossRun* run = loss_run_create(4, TWO_BRICKS);
  move_evenly(run, 0, vec3(0, 0, 0), vec3(0, 0, 0));
  pose_at(run, 3, 0)->t.x = 1;
  TaskLoss loss = loss_of(LOSS_VELOCITY, "a");
  compare_near(loss_value(run, &loss), 200 / 4.0, 1e-12, "the run: four velocities");
  loss.from = 0;
  loss.to = 0.3;
  compare_near(loss_value(run, &loss), 100 / 3.0, 1e-12, "states 0 to 3: three velocities");
  loss.from = 0.2;
  loss.to = 0.2;
  compare_near(loss_value(run, &loss), 0, 1e-24, "state 2");
  loss_run_free(run);
}

/* The mean velocity of a falling body over a step, not that at its end: v = - g (k - 1/2) dt. */
static void a_parabola_shows_its_mean_velocity(void** state) {
  (void)state;
  LossRun* run = loss_run_create(4, TWO_BRICKS);
  for (int k = 0; k <= 4; k++) *pose_at(run, k, 0) = (Pose){mat3_identity(), vec3(0, 0, -5 * 0.01 * k * k)};
  TaskLoss loss = loss_of(LOSS_VELOCITY, "a");
  loss.from = loss.to = 0.4;
  loss.target = vec3(0, 0, -3.5);
  compare_near(loss_value(run, &loss), 0, 1e-24, "half way through the fourth step of 0.1 s, at 10 m/s^2");
  loss_run_free(run);
}

static void the_world_may_move(void** state) {
  (void)state;
  Random random = {87};
  LossRun* run = loss_run_create(4, TWO_BRICKS);
  for (int i = 0; i < 10; i++) run->recording.pose[i] = random_pose(&random, 1);
  Pose motion = random_pose(&random, 2);
  TaskLoss loss = loss_of(LOSS_VELOCITY, "b"), moved;
  loss.target = vec3(1, -4, 2);
  moved = loss;
  moved.target = mat3_mul_vec(motion.r, loss.target);
  expect_same_when_moved(run, loss, moved, motion, "velocity, seed 87");
  loss_run_free(run);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(even_motion_has_its_velocity),
      cmocka_unit_test(states_count_from_the_first_step),
      cmocka_unit_test(a_parabola_shows_its_mean_velocity),
      cmocka_unit_test(the_world_may_move),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Tests the pose loss: distance and angle of one frame in closed form, moving targets, and sums over links. */
#include <math.h>
#include <string.h>

#include "unit/differentiate/loss_testing.h"

/* A turn by the angle counts length^2 4 sin^2(angle / 2), whatever its axis. */
static void place_and_angle(void** state) {
  (void)state;
  LossRun* run = loss_run_create(4, TWO_BRICKS);
  Random random = {19};
  for (int k = 0; k < 20; k++) {
    Vec3 axis = random_direction(&random);
    double angle = random_uniform(&random, 0, M_PI), length = 0.3;
    Quat goal = quat_normalized((Quat){0.4, -0.2, 0.8, 0.1}), turn = quat_about(axis, angle);
    TaskLoss loss = loss_of(LOSS_POSE, "a");
    loss.has_point = true;
    loss.point = vec3(0, 0, 0);
    loss.target = vec3(1, 2, 3);
    loss.rotation = goal;
    loss.length = length;
    *pose_at(run, 4, 0) = (Pose){mat3_from_quat(quat_mul(turn, goal)), vec3(1, 2.5, 3)};
    double half = sin(angle / 2), expected = 0.25 + length * length * 4 * half * half;
    compare_relative(loss_value(run, &loss), expected, 1e-12, "seed 19, angle %g", angle);
  }
  loss_run_free(run);
}

/* The target is at (t, 0, 0) by the run's clock, and so is the link: nothing; two links count twice. */
static void a_target_that_moves_and_two_links(void** state) {
  (void)state;
  LossRun* run = loss_run_create(4, TWO_BRICKS);
  double times[2] = {0, 1}, values[6] = {0, 0, 0, 1, 0, 0};
  TaskName links[1] = {{.text = name_text("?")}};
  TaskLoss loss = loss_of(LOSS_POINT, NULL);
  loss.links = links;
  loss.links_count = 1;
  loss.power = 2;
  loss.has_point = true;
  loss.motion = (SceneSignal){.type = SIGNAL_KEYFRAMES, .channels = 3, .times = times, .values = values, .rows = 2};
  loss.from = 0, loss.to = 0.4;
  for (int link = 0; link < 2; link++) move_evenly(run, link, vec3(0, 0, 0), vec3(0.1, 0, 0));
  compare_near(loss_value(run, &loss), 0, 1e-30, "with the target");
  move_evenly(run, 1, vec3(0, 0.5, 0), vec3(0.1, 0, 0));
  compare_near(loss_value(run, &loss), 0.25, 1e-15, "one of the two beside it");
  move_evenly(run, 0, vec3(0, 0, 2), vec3(0.1, 0, 0));
  compare_near(loss_value(run, &loss), 4.25, 1e-14, "both: the sum");
  loss_run_free(run);
}

/* Links are selected by names, groups and patterns. A name without a match is reported. */
static void links_by_name_group_and_pattern(void** state) {
  (void)state;
  LossRun* run =
      loss_run_create(1,
                      "simulation: {dt: 0.1, steps: 1, gravity: [0, 0, 0], integrator: first_order}\n"
                      "links:\n"
                      "  - {name: cube1, mass: 1, groups: [red], shape: {type: box, size: [1, 1, 1]}}\n"
                      "  - {name: cube2, mass: 1, shape: {type: box, size: [1, 1, 1]}, position: [9, 0, 0]}\n"
                      "  - {name: ball, mass: 1, groups: [red], shape: {type: sphere, radius: 1}, position: "
                      "[0, 9, 0]}\n");
  static const struct {
    const char* name;
    double sum;
  } rows[] = {{"cube2", 81}, {"red", 81}, {"cube*", 81}, {"*", 162}, {"[cb]*[2l]", 162}};
  for (int k = 0; k < 5; k++) {
    TaskName links[1] = {{.text = name_text(rows[k].name)}};
    TaskLoss loss = loss_of(LOSS_REACH, NULL);
    loss.links = links;
    loss.links_count = 1;
    compare_near(loss_value(run, &loss), rows[k].sum, 1e-12, "%s", rows[k].name);
  }
  TaskName none[1] = {{.text = name_text("sphere*")}};
  TaskLoss loss = loss_of(LOSS_REACH, NULL), *losses = &loss;
  loss.links = none;
  loss.links_count = 1;
  LossTask task;
  Loss* made;
  Diagnostics diagnostics = {0};
  loss_task_set(&task, losses, 1);
  assert_int_equal(loss_create(&made, &task.task, 0, &run->run->model, &diagnostics), STATUS_BAD_INPUT);
  assert_non_null(strstr(diagnostics.items[0].text, "no link or group is named 'sphere*'"));
  diagnostics_free(&diagnostics);
  loss_run_free(run);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(place_and_angle),
      cmocka_unit_test(a_target_that_moves_and_two_links),
      cmocka_unit_test(links_by_name_group_and_pattern),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Tests robots and scanned objects of ../shared/data. The solver never fails, no bodies intersect, and a pushed object
 * moves. The test is skipped without the data. */
#include "scene_run.h"

#include <stdlib.h>
#include "support/long.h"

static void skip_without_data(void) {
  if (file_exists("../shared/data/README.md")) return;
  print_message("SKIP: no ../shared/data\n");
  skip();
}

static void panda_pushes_scanned_objects(void** state) {
  (void)state;
  skip_without_data();
  SceneRun run;
  run_open(&run, "tests/real/panda.yaml", NULL);
  run_until(&run, 0.5); /* all have fallen, the hand has not met them */
  Vec3 mustard = run_position(&run, "mustard"), banana = run_position(&run, "banana");
  Vec3 drill = run_position(&run, "drill");
  run_until(&run, 1.2);
  double way = vec3_norm(vec3_sub(run_position(&run, "mustard"), mustard));
  print_message("panda: mustard pushed by %.3f m, banana by %.3f m, smallest gap %.2e m\n", way,
                vec3_norm(vec3_sub(run_position(&run, "banana"), banana)), run.smallest_gap);
  expect_between(way, 0.1, 1.0, "way of the mustard bottle, m");
  expect_between(vec3_norm(vec3_sub(run_position(&run, "banana"), banana)), 0.05, 1.0, "way of the banana, m");
  expect_between(vec3_norm(vec3_sub(run_position(&run, "drill"), drill)), 0, 0.01, "way of the drill, out of reach, m");
  expect_near(run_coordinate(&run, "link1", 0), -0.7 + 1.6 * (1.2 - 0.2) / 1.2, 0.1, "angle of the first joint");
  expect_near(run_coordinate(&run, "link4", 0), -2.2, 0.1, "angle of the fourth joint");
  run_close(&run);
}

static void shadow_hand_closes_on_objects(void** state) {
  (void)state;
  skip_without_data();
  SceneRun run;
  run_open(&run, "tests/real/shadow.yaml", NULL);
  run_until(&run, 0.2);
  Vec3 banana = run_position(&run, "banana");
  run_until(&run, 1.0);
  Vec3 held = run_position(&run, "banana");
  print_message("shadow: banana moved by %.4f m, smallest gap %.2e m\n", vec3_norm(vec3_sub(held, banana)),
                run.smallest_gap);
  expect_between(vec3_norm(vec3_sub(held, banana)), 0.005, 0.1, "way of the banana, m");
  expect_between(held.z, 0, 0.05, "height of the banana in the hand, m");
  expect_between(run_coordinate(&run, "proximal3", 0), 0.5, 1.57, "angle of a finger");
  run_close(&run);
}

/* Hulls of 12 to 32 for each scan. In one hull of the mug the ball would lie on its rim, 72 mm up. */
static void decomposed_scans_keep_their_hollows(void** state) {
  (void)state;
  if (!tests_are_long()) skip();
  skip_without_data();
  setenv("SDRS_CACHE", "off", 1);
  SceneRun run;
  run_open(&run, "tests/real/decomposed.yaml", NULL);
  assert_true(run.model.hull_count > 30);
  run_until(&run, 0.7);
  Vec3 mug = run_position(&run, "mug"), ball = run_position(&run, "ball"), drill = run_position(&run, "drill");
  print_message("decomposed: ball in the mug at %.4f m, smallest gap %.2e m\n", ball.z - mug.z, run.smallest_gap);
  expect_between(ball.z - mug.z, 0.012, 0.03, "height of the ball above the foot of the mug, m");
  expect_between(hypot(ball.x - mug.x, ball.y - mug.y), 0, 0.03, "ball from the axis of the mug, m");
  expect_near(run_position(&run, "bunny").z - 0.04, -0.0331, 1.5e-3, "the bunny sits on the brick, m");
  expect_between(drill.z, 0, 0.15, "the drill is on its way down, m");
  expect_between(run.smallest_gap, 1e-7, 1e-2, "nothing touches, m");
  run_close(&run);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(panda_pushes_scanned_objects),
      cmocka_unit_test(shadow_hand_closes_on_objects),
      cmocka_unit_test(decomposed_scans_keep_their_hollows),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

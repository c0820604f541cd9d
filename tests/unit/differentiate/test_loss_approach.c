/* Tests the approach loss against closed forms of the smoothed distance: two cubes, and a cube above the ground. */
#include <math.h>

#include "unit/differentiate/loss_testing.h"

/* Two cubes of edge 2, and the ground below z = -20. */
static const char CUBES[] =
    "simulation: {dt: 0.1, steps: 1, gravity: [0, 0, 0], integrator: first_order}\n"
    "shapes: {cube: {type: box, size: [2, 2, 2]}}\n"
    "links:\n"
    "  - {name: a, mass: 1, shape: cube}\n"
    "  - {name: b, mass: 1, shape: cube, position: [50, 0, 0]}\n"
    "  - {name: ground, fixed: true, shape: {type: half_space, offset: -20}}\n";

static double value_of(const LossRun* run, const char* link, const char* other, double smoothing, double margin) {
  TaskLoss loss = loss_of(LOSS_APPROACH, link);
  loss.other.text = name_text(other);
  loss.smoothing = smoothing;
  loss.margin = margin;
  loss.from = loss.to = 0.1;
  return loss_value(run, &loss);
}

/* Faces 3 apart: 4 vertices of each are at distance 3 and the other 4 at 5, so
 * D = 9 - s^2 log((1 + exp(-16 / s^2)) / 2). */
static void cubes_face_to_face(void** state) {
  (void)state;
  LossRun* run = loss_run_create(1, CUBES);
  *pose_at(run, 1, 0) = pose_identity();
  *pose_at(run, 1, 1) = (Pose){mat3_identity(), vec3(5, 0, 0)};
  for (int k = 0; k < 3; k++) {
    double s = (const double[]){0.01, 1, 7}[k], expected = 9 - s * s * log((1 + exp(-16 / (s * s))) / 2);
    compare_near(value_of(run, "a", "b", s, 0), expected, 1e-12 * expected, "smoothing %g", s);
    compare_near(value_of(run, "b", "a", s, 2), expected - 4, 1e-12 * expected, "margin, the other way round");
    compare_near(value_of(run, "a", "b", s, 10), 0, 0, "within the margin");
  }
  loss_run_free(run);
}

/* Corners at heights 4 and 6: the ground has no vertices of its own. */
static void a_cube_over_the_ground(void** state) {
  (void)state;
  LossRun* run = loss_run_create(1, CUBES);
  *pose_at(run, 1, 0) = (Pose){mat3_identity(), vec3(3, 4, -15)};
  double s = 3, expected = 16 - s * s * log((1 + exp(-20 / (s * s))) / 2);
  compare_near(value_of(run, "a", "ground", s, 0), expected, 1e-12 * expected, "over the ground");
  pose_at(run, 1, 0)->t.z = -25;
  compare_near(value_of(run, "a", "ground", s, 0), 0, 1e-13, "below it");
  loss_run_free(run);
}

/* The smoothed distance falls, and has a slope, also where the exact one has none yet: a cube beside another. */
static void never_less_than_the_distance(void** state) {
  (void)state;
  Random random = {41};
  LossRun* run = loss_run_create(1, CUBES);
  TaskLoss gap = loss_of(LOSS_GAP, "a");
  gap.other.text = name_text("b");
  gap.margin = 30;
  gap.from = gap.to = 0.1;
  for (int k = 0; k < 200; k++) {
    *pose_at(run, 1, 0) = random_pose(&random, 1);
    *pose_at(run, 1, 1) = random_pose(&random, 8);
    double distance = 30 - sqrt(loss_value(run, &gap)), smooth = value_of(run, "a", "b", 0.3, 0);
    if (!(smooth >= distance * distance - 1e-12)) fail_msg("seed 41, trial %d: %g < %g^2", k, smooth, distance);
  }
  loss_run_free(run);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(cubes_face_to_face),
      cmocka_unit_test(a_cube_over_the_ground),
      cmocka_unit_test(never_less_than_the_distance),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

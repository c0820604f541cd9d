/* Tests that Newton's method solves the islands of a scene independently (S9). A body without contact, of any type,
 * changes no bit of the other bodies. */
#include <string.h>

#include "simulate/sim.h"
#include "support/runs.h"

/* A wall of bricks, each on two below, and one brick that falls onto it. */
enum { ROWS = 12, BRICKS = 11, WALL = ROWS * BRICKS, STEPS = 10 };

static const char rail[] =
    "  - {name: rail, fixed: true, shape: brick, position: [0, 0, 50]}\n"
    "  - {name: far, mass: 1, shape: brick, position: [0.5, 0, 50], joint: {type: slide, axis: [1, 0, 0]}}\n";

/* links, sections: YAML text for more links and sections of the scene, after the wall. Both may be empty. */
static Run* struck_wall(const char* links, const char* sections) {
  Text yaml = {0};
  text_add(&yaml,
           "simulation: {dt: 0.005, steps: 100, integrator: first_order}\n"
           "contact: {friction: 0.5}\n"
           "shapes:\n  brick: {type: box, size: [0.2, 0.1, 0.1]}\n"
           "links:\n  - {name: ground, fixed: true, shape: {type: half_space}}\n");
  for (int n = 0; n < WALL; n++) {
    int row = n / BRICKS, column = n % BRICKS;
    text_add(&yaml, "  - {name: b%d, mass: 1, shape: brick, position: [%.4f, 0, %.4f]}\n", n,
             0.21 * (column + 0.5 * (row % 2)), 0.0505 + 0.1006 * row);
  }
  text_add(&yaml,
           "  - {name: falls, mass: 1, shape: brick, joint: {type: free, position: [1, 0.02, %.4f], "
           "rotation_vector: [0.05, 0.08, 0.3]}}\n%s"
           "initial:\n  - {link: falls, velocities: [2, 0, -8, 0, 0, 0]}\n%s",
           0.0605 + 0.1006 * ROWS, links, sections);
  Run* run = run_create(1, 1e-8, "%s", yaml.data);
  text_free(&yaml);
  return run;
}

static void compare_to_wall_alone(const char* links, const char* sections) {
  Run *alone = struck_wall("", ""), *other = struck_wall(links, sections);
  size_t size = sizeof(double) * (size_t)alone->model.coordinate_count;
  for (int n = 0; n < STEPS; n++) {
    run_steps(alone, 1);
    run_steps(other, 1);
    if (memcmp(sim_state(alone->sim)->q, sim_state(other->sim)->q, size) != 0) fail_msg("step %d differs", n + 1);
  }
  run_free(alone);
  run_free(other);
}

static void unrelated_S9_body_at_rest_changes_no_bit(void** state) {
  (void)state;
  compare_to_wall_alone(rail, "");
}

static void unrelated_S9_prescribed_joint_changes_no_bit(void** state) {
  (void)state;
  compare_to_wall_alone(rail,
                        "controllers:\n  - {link: far, type: prescribed, target: {type: constant, value: [0.0]}}\n");
}

static void unrelated_S9_tendon_changes_no_bit(void** state) {
  (void)state;
  compare_to_wall_alone(rail,
                        "tendons:\n  - {points: [{link: rail, point: [0.1, 0, 0]}, {link: far, point: [-0.1, 0, 0]}], "
                        "stiffness: 10, rest_length: 0.4}\n");
}

static void unrelated_S9_closure_changes_no_bit(void** state) {
  (void)state;
  compare_to_wall_alone(
      "  - {name: p, mass: 1, shape: brick, position: [0, 0, 50]}\n"
      "  - {name: q, mass: 1, shape: brick, position: [0.5, 0, 50]}\n",
      "closures: [{type: ball, a: p, b: q, point: [0.25, 0, 50]}]\n");
}

/* Tilted boxes in a row over the ground, each higher than the one before, and some more of them 50 m away. */
enum { BOXES = 6, FAR_BOXES = 12, FALL_STEPS = 60 };

static void add_boxes(Text* yaml, const char* name, int count, double x, unsigned seed) {
  Random random = {seed};
  for (int n = 0; n < count; n++) {
    double turn[3];
    for (int k = 0; k < 3; k++) turn[k] = random_uniform(&random, -0.15, 0.15);
    text_add(yaml,
             "  - {name: %s%d, mass: 1, shape: box, joint: {type: free, position: [%.2f, 0, %.2f], "
             "rotation_vector: [%.3f, %.3f, %.3f]}}\n",
             name, n, x + 0.5 * n, 0.2 + 0.05 * n, turn[0], turn[1], turn[2]);
  }
}

static Run* falling_boxes(int far, unsigned seed) {
  Text yaml = {0};
  text_add(&yaml,
           "simulation: {dt: 0.01, steps: 100}\ncontact: {friction: 0.5}\n"
           "shapes:\n  box: {type: box, size: [0.2, 0.16, 0.12]}\n"
           "links:\n  - {name: ground, fixed: true, shape: {type: half_space}}\n");
  add_boxes(&yaml, "near", BOXES, 0, seed);
  add_boxes(&yaml, "far", far, 50, seed + 1);
  Run* run = run_create(1, 1e-8, "%s", yaml.data);
  text_free(&yaml);
  return run;
}

/* Boxes land in different steps: whether one repeats its last motion (S8) does not depend on those that cannot. */
static void unrelated_S8_boxes_that_land_change_no_bit(void** state) {
  (void)state;
  for (unsigned seed = 1; seed <= 4; seed++) {
    Run *alone = falling_boxes(0, seed), *other = falling_boxes(FAR_BOXES, seed);
    size_t size = sizeof(double) * (size_t)alone->model.coordinate_count;
    for (int n = 0; n < FALL_STEPS; n++) {
      run_steps(alone, 1);
      run_steps(other, 1);
      if (memcmp(sim_state(alone->sim)->q, sim_state(other->sim)->q, size) != 0)
        fail_msg("seed %u: step %d differs", seed, n + 1);
    }
    run_free(alone);
    run_free(other);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(unrelated_S9_body_at_rest_changes_no_bit),
      cmocka_unit_test(unrelated_S9_prescribed_joint_changes_no_bit),
      cmocka_unit_test(unrelated_S9_tendon_changes_no_bit),
      cmocka_unit_test(unrelated_S9_closure_changes_no_bit),
      cmocka_unit_test(unrelated_S8_boxes_that_land_change_no_bit),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

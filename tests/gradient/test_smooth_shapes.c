/* Tests runs of smooth shapes. Gradients of all blocks are compared with central differences (gradcheck_scene) under
 * penalty contact and polyhedral laws. An impact is compared with its closed form. */
#include <string.h>

#include "gradient/rows.h"
#include "gradient/variables.h"
#include "support/runs.h"

#define EGG EGG_OF("0")
#define CONE                                                                                                           \
  "{type: truncated_cone, bottom_radius: 0.12, top_radius: 0.06, below: 0.1, above: 0.12, sharpness: 20, resolution: " \
  "0}"
#define EGG_MEETS_CONE                         \
  "links:\n"                                   \
  "  - {name: egg, density: 1000, shape: " EGG \
  ", rpy: [0.1, 0.2, 0.3]}\n"                  \
  "  - {name: cone, mass: 4, shape: " CONE ", position: [0.25, 0, 0.05], rpy: [0, 1, 0.2]}\n" EGG_FLIES

static void run_G12_G13_two_shapes_meet(void** state) {
  (void)state;
  check_gradients("two shapes", 8,
                  "simulation: {dt: 0.005, tolerance: 1e-10, integrator: first_order}\n"
                  "contact: {model: penalty, stiffness: 1e5, friction: 0}\n" EGG_MEETS_CONE,
                  ALL_BLOCKS, 1e-6);
}

static void run_G14_G15_two_shapes_rub(void** state) {
  (void)state;
  check_gradients("two shapes with friction", 8,
                  "simulation: {dt: 0.005, tolerance: 1e-10, integrator: first_order}\n"
                  "contact: {model: penalty, stiffness: 1e5, friction: 0.4, exponent: 2}\n" EGG_MEETS_CONE,
                  ALL_BLOCKS, 1e-6);
}

static void run_G13_G15_on_a_moving_half_space(void** state) {
  (void)state;
  check_gradients("a half-space that moves", 8, EGG_ON_A_MOVING_HALF_SPACE("model: penalty", EGG), ALL_BLOCKS, 1e-6);
}

/* Points of the surface under the law of polyhedra; their parameters are the shape's. */
static void run_A9_points_of_smooth_shapes(void** state) {
  (void)state;
  check_gradients("separating planes", 6,
                  "simulation: {dt: 0.01, tolerance: 1e-10, integrator: first_order}\n"
                  "links:\n"
                  "  - {name: ground, fixed: true, shape: {type: half_space}}\n"
                  "  - {name: egg, density: 1000, position: [0, 0, 0.155], rpy: [0.1, 0.2, 0.3], shape: " EGG
                  "}\n"
                  "  - {name: cone, density: 900, position: [0.22, 0, 0.14], rpy: [0, 1, 0.2], shape: " CONE
                  "}\n" EGG_FLIES,
                  ALL_BLOCKS, 2e-6);
}

/* Sizes and exponents are variables of a task, tested individually. */
static void run_A9_shapes_as_variables(void** state) {
  (void)state;
  static const char* const ITEMS[] = {"{type: shape_size, links: [egg, cone]}",
                                      "{type: shape_form, links: [egg, cone]}",
                                      "{type: shape_size, link: egg, tie: false, within: 0.01}"};
  for (size_t k = 0; k < sizeof ITEMS / sizeof *ITEMS; k++) {
    char text[3000];
    snprintf(text, sizeof text,
             "steps: 8\n"
             "scene:\n"
             "  simulation: {dt: 0.005, steps: 8, tolerance: 1e-10, integrator: first_order}\n"
             "  contact: {model: penalty, stiffness: 1e5, friction: 0.2}\n"
             "  links:\n"
             "    - {name: egg, density: 1000, shape: " EGG
             ", rpy: [0.1, 0.2, 0.3]}\n"
             "    - {name: cone, mass: 4, shape: " CONE
             ", position: [0.25, 0, 0.05], rpy: [0, 1, 0.2]}\n"
             "  initial: [{link: egg, velocities: [1, 0, 0, 2, 1, 0]}]\n"
             "loss: [{type: point, link: cone, point: [0.1, 0.05, 0.02], target: [0.4, 0.2, 0.1]}]\n"
             "optimizer: {tolerance: 1.0e-12}\n"
             "parameters: [%s]\n",
             ITEMS[k]);
    Task task = load_task(text);
    expect_variables(&task, ITEMS[k], 1e-4);
    task_free(&task);
  }
}

/* Kinematic tasks: losses of the initial state, by joint angles and a free body's pose. */
static void run_V4_V10_grasps_by_poses(void** state) {
  (void)state;
  static const char* const LOSSES[] = {
      "{type: touch, link: cone, other: egg, point: [0, 0, 0.06], target: [0.1, 0, 0], margin: 0.01}",
      "{type: touch, link: egg, other: thumb}",
      "{type: closure, links: [cone, thumb, palm], other: egg, friction: 0.6, quality: 0.9, length: 0.1}"};
  for (size_t k = 0; k < sizeof LOSSES / sizeof *LOSSES; k++) {
    char text[3000];
    snprintf(text, sizeof text,
             "steps: 0\n"
             "scene:\n"
             "  contact: {model: penalty, stiffness: 1e5, friction: 0.2}\n"
             "  links:\n"
             "    - {name: egg, mass: 1, shape: " EGG
             ", rpy: [0.1, 0.2, 0.3]}\n"
             "    - {name: palm, fixed: true, shape: " EGG
             ", position: [0.01, 0.02, -0.31]}\n"
             "    - {name: cone, parent: palm, mass: 4, shape: " CONE
             ", joint: {type: hinge, axis: [0, 1, 0], position: [0.25, 0, 0.3], rpy: [0.3, 1, 0.2]}}\n"
             "    - {name: thumb, parent: palm, mass: 1, shape: " EGG
             ", joint: {type: hinge, axis: [0.3, 1, 0.2], position: [-0.24, 0.04, 0.35]}}\n"
             "loss: [%s]\n"
             "initial: [{links: [egg, cone, thumb], coordinates: true}]\n",
             LOSSES[k]);
    Task task = load_task(text);
    expect_variables(&task, LOSSES[k], 1e-4);
    task_free(&task);
  }
}

/* Two balls head on: kappa delta^(p+1) / (p+1) = m v^2 / 2 of the reduced mass at the deepest. */
static void run_G11_the_deepest_overlap_in_closed_form(void** state) {
  (void)state;
  Run* run = run_create(1, 0,
                        "simulation: {dt: 2e-4, steps: 400, gravity: [0, 0, 0], integrator: second_order}\n"
                        "contact: {model: penalty, stiffness: 1e5, friction: 0}\n"
                        "shapes: {ball: {type: superellipsoid, size: [0.1, 0.1, 0.1], exponent: 1, resolution: 0}}\n"
                        "links:\n"
                        "  - {name: a, mass: 2, shape: ball}\n"
                        "  - {name: b, mass: 3, shape: ball, position: [0.21, 0, 0]}\n"
                        "initial: [{link: a, velocities: [1, 0, 0, 0, 0, 0]}]\n");
  double deepest = 0, reduced = 2.0 * 3 / 5;
  for (int step = 0; step < 400; step++) {
    run_steps(run, 1);
    deepest = fmin(deepest, sim_measure(run->sim).smallest_gap);
  }
  compare_relative(-deepest, pow(2.5 * reduced / (2 * 1e5), 1 / 2.5), 2e-3, "deepest overlap");
  run_free(run);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(run_G12_G13_two_shapes_meet),
      cmocka_unit_test(run_G14_G15_two_shapes_rub),
      cmocka_unit_test(run_G13_G15_on_a_moving_half_space),
      cmocka_unit_test(run_A9_points_of_smooth_shapes),
      cmocka_unit_test(run_A9_shapes_as_variables),
      cmocka_unit_test(run_V4_V10_grasps_by_poses),
      cmocka_unit_test(run_G11_the_deepest_overlap_in_closed_form),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

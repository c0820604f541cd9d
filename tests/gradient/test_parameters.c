/* Tests physical parameters as variables of a task. Gradients by each kind are compared with central differences of
 * whole runs, with contact, drives and all integrators. */
#include "gradient/variables.h"
#include "support/long.h"

#include <cmocka.h>

#define SCENE                                                                                                          \
  "steps: 40\n"                                                                                                        \
  "scene:\n"                                                                                                           \
  "  simulation: {dt: 0.005, steps: 40, integrator: %s}\n"                                                             \
  "  contact: {friction: 0.3, barrier_distance: 2.0e-3, stiffness: 1.0e-7, smoothing: 1.0e-4,"                         \
  " spinning: 0.01, pairs: [{a: ground, b: box, rolling: 0.02}]}\n"                                                    \
  "  shapes: {ground: {type: half_space}, box: {type: box, size: [0.2, 0.1, 0.15]}}\n"                                 \
  "  links:\n"                                                                                                         \
  "    - {name: ground, fixed: true, shape: ground}\n"                                                                 \
  "    - name: box\n"                                                                                                  \
  "      shapes: [{shape: box, position: [0.02, 0.01, 0], rotation: [0.9238795325, 0, 0, 0.3826834324]}]\n"            \
  "      mass: 1\n"                                                                                                    \
  "      position: [0, 0, 0.12]\n"                                                                                     \
  "    - {name: arm, shape: {type: box, size: [0.3, 0.05, 0.04]}, mass: 0.4, joint: {type: hinge, axis: [0, -1, 0],"   \
  " position: [0, 1, 0.6], damping: 0.02, stiffness: 0.3, friction: 0.05, static_friction: 0.08, stribeck_speed: 1, "  \
  "armature: 0.01}}\n"                                                                                                 \
  "    - {name: ball, parent: arm, shape: {type: box, size: [0.1, 0.05, 0.24]}, density: 160,"                         \
  " joint: {type: ball, position: [0.2, 0, 0], damping: [0.002, 0.003, 0.001], stiffness: 0.1}}\n"                     \
  "    - {name: slide, parent: ball, shape: {type: box, size: [0.05, 0.05, 0.1]}, mass: 0.2,"                          \
  " joint: {type: slide, position: [0.05, 0, 0.2], axis: [0.6, 0, 0.8], rotation: [0.8, 0.6, 0, 0], stiffness: 20}}\n" \
  "  initial:\n"                                                                                                       \
  "    - {link: box, velocities: [1, 0.3, -0.5, 2, 1, -1.5]}\n"                                                        \
  "    - {link: arm, velocities: [1]}\n"                                                                               \
  "    - {link: ball, velocities: [0.3, -1, 2]}\n"                                                                     \
  "loss:\n"                                                                                                            \
  "  - {type: point, name: a, link: box, point: [0.1, 0.05, 0.02], target: [0.4, 0.2, 0.1]}\n"                         \
  "  - {type: point, name: b, link: ball, point: [0.1, 0.05, 0.12], target: [0.2, 1, 0.5]}\n"                          \
  "optimizer: {tolerance: 1.0e-12}\n"                                                                                  \
  "design: {mass: density}\n"

/* Variables, tested individually so that a larger derivative cannot hide an error. */
static const char* const ITEMS[] = {
    "{type: mass, links: [box, arm]}",
    "{type: mass, link: ball}", /* a density */
    "{type: center, link: arm}",
    "{type: center, link: box, axes: [z]}",
    "{type: inertia, link: arm}",
    "{type: inertia, link: ball, form: diagonal}",
    "{type: inertia, links: [box, ball], form: scale, tie: true}",
    "{type: size, link: box}",
    "{type: size, link: box, anchor: [-1, 0.5, 1]}",
    "{type: size, link: box, axes: [z]}, {type: size, link: box, axes: [x]}", /* one box, two entries */
    "{type: damping, links: [arm, ball]}",
    "{type: joint_stiffness, links: [arm, ball]}",
    "{type: joint_friction, link: arm}",
    "{type: armature, link: arm}",
    "{type: joint_static_friction, link: arm}",
    "{type: axis, link: arm}",
    "{type: axis, link: slide}",
    "{type: rotation, link: arm}",
    "{type: rotation, links: [ball, slide]}",
    "{type: rotation, link: ground}",
    "{type: pair_rolling, a: box, b: ground}",
    "{type: gravity, axes: [x, y, z]}",
    "{type: friction}",
    "{type: barrier_distance}",
    "{type: stiffness}",
    "{type: smoothing}",
    "{type: rest_speed}",
    "{type: spinning}",
};

/* A gate hung by a hinge, a puck on a rail of it, a bob of two ropes, a plank at a corner of the gate, a rack. */
#define MACHINE                                                                                                     \
  "steps: 40\n"                                                                                                     \
  "scene:\n"                                                                                                        \
  "  simulation: {dt: 0.005, steps: 40, integrator: %s}\n"                                                          \
  "  contact: {model: none}\n"                                                                                      \
  "  shapes: {box: {type: box, size: [0.2, 0.1, 0.15]}}\n"                                                          \
  "  links:\n"                                                                                                      \
  "    - {name: gate, mass: 1, shape: box, position: [0.1, 0.2, 0.3], rotation_vector: [0.2, 0.1, 0.3]}\n"          \
  "    - {name: puck, mass: 0.5, shape: box, position: [0.4, 0.1, 0.3], rotation_vector: [0.1, 0, 0.3]}\n"          \
  "    - {name: bob, mass: 0.7, shape: box, position: [1, 0, 0]}\n"                                                 \
  "    - {name: plank, parent: gate, mass: 0.2, shape: box, joint: {type: universal, axes: [[0, 1, 0], [1, 0, 0]]," \
  " position: [0, 0.2, 0.1]}}\n"                                                                                    \
  "    - {name: rack, mass: 0.3, shape: box, joint: {type: slide, axis: [1, 0, 0.5], position: [0, 3, 0]}}\n"       \
  "    - {name: pinion, mass: 0.4, shapes: [{shape: box, position: [0.1, 0, 0]}], joint: {type: hinge,"             \
  " axis: [0, 1, 0], position: [0, 2, 0]}}\n"                                                                       \
  "    - {name: wheel, mass: 0.4, shapes: [{shape: box, position: [0.1, 0, 0]}], joint: {type: hinge,"              \
  " axis: [0, 1, 0], position: [0, 4, 0]}}\n"                                                                       \
  "    - {name: drum, mass: 0.4, shapes: [{shape: box, position: [0.1, 0, 0]}], joint: {type: hinge,"               \
  " axis: [0, 1, 0], position: [0, 5, 0]}}\n"                                                                       \
  "  closures:\n"                                                                                                   \
  "    - {type: hinge, a: gate, point: [0, 0.1, 0.2], axis: [0.2, 1, 0.4]}\n"                                       \
  "    - {type: slide, a: puck, b: gate, axes: link, axis: [1, 0.2, -0.3]}\n"                                       \
  "    - {type: distance, a: bob, point: [1.05, 0.05, 0.05], axis: [0.2, 0.1, 1], length: 0.4}\n"                   \
  "    - {type: distance, a: bob, axes: link, point: [-0.05, 0.02, 0], axis: [-0.7, 0.1, 0.9], length: 0.6}\n"      \
  "    - {type: distance, a: plank, b: puck, axes: link, point: [0.1, 0.03, 0.05], axis: [1, 1, 0], length: 0.3}\n" \
  "  couplings: [{link: rack, of: pinion, ratio: 0.2}, {link: wheel, of: rack, ratio: 3, offset: -0.1},\n"          \
  "              {link: drum, of: wheel, ratio: -0.5, offset: 0.2}]\n"                                              \
  "  initial:\n"                                                                                                    \
  "    - {link: pinion, coordinates: [0.4], velocities: [2]}\n"                                                     \
  "    - {link: rack, velocities: [0.4]}\n"                                                                         \
  "    - {link: wheel, coordinates: [-0.1], velocities: [1.2]}\n"                                                   \
  "    - {link: drum, coordinates: [0.25], velocities: [-0.6]}\n"                                                   \
  "    - {link: gate, velocities: [0.1, 0, 0.2, 0.5, 0.3, 0.2]}\n"                                                  \
  "loss:\n"                                                                                                         \
  "  - {type: point, name: a, link: gate, point: [0.1, 0.05, 0.02], target: [0.4, 0.2, 0.1]}\n"                     \
  "  - {type: point, name: b, link: puck, point: [0.1, 0.05, 0.12], target: [0.2, 1, 0.5]}\n"                       \
  "  - {type: point, name: c, link: bob, point: [0.1, 0.05, 0.12], target: [0.2, 1, 0.5]}\n"                        \
  "  - {type: point, name: d, link: plank, point: [0.1, 0.05, 0.12], target: [0.2, 1, 0.5]}\n"                      \
  "  - {type: point, name: e, link: pinion, point: [0.1, 0.05, 0.12], target: [0.2, 1, 0.5]}\n"                     \
  "  - {type: point, name: f, link: wheel, point: [0.1, 0.05, 0.12], target: [0.2, 1, 0.5]}\n"                      \
  "  - {type: point, name: g, link: drum, point: [0.1, 0.05, 0.12], target: [0.2, 1, 0.5]}\n"                       \
  "optimizer: {tolerance: 1.0e-12}\n"

static const char* const OF_MACHINE[] = {
    "{type: closure_point, a: gate}",
    "{type: closure_axis, a: gate, b: world}",
    "{type: closure_axis, a: gate, axes: [x, y, z]}",
    "{type: closure_axis, a: puck, b: gate}",
    "{type: closure_point, a: bob}",
    "{type: closure_axis, a: bob}",
    "{type: closure_length, a: bob}",
    "{type: closure_point, a: plank, b: puck, axes: [x]}",
    "{type: closure_length, a: plank, b: puck}",
    "{type: ratio, link: rack}",
    "{type: offset, link: drum}",
    "{type: offset, links: [wheel, drum]}",
};

/* A tilted box that falls, slides and gives back on a ground it has numbers of its own with; a second one lands beside.
 */
#define BOUNCE                                                                                                        \
  "steps: 20\n"                                                                                                       \
  "scene:\n"                                                                                                          \
  "  simulation: {dt: 0.005, steps: 20, integrator: %s}\n"                                                            \
  "  contact: {friction: 0.5, restitution: 0.1, rest_speed: 0.02, barrier_distance: 2.0e-3, stiffness: 1.0e-7, "      \
  "smoothing: "                                                                                                       \
  "1.0e-3, pairs: [{a: ground, b: box, friction: 0.2, restitution: 0.4}]}\n"                                          \
  "  shapes: {ground: {type: half_space}, box: {type: box, size: [0.2, 0.1, 0.15]}}\n"                                \
  "  links:\n"                                                                                                        \
  "    - {name: ground, fixed: true, shape: ground}\n"                                                                \
  "    - {name: box, shape: box, mass: 1, mass_model: vertices, position: [0, 0, 0.17], rotation_vector: [0.3, 0.5, " \
  "0.1]}\n"                                                                                                           \
  "    - {name: other, shape: box, mass: 1, mass_model: vertices, restitution: 0.3, friction: 0.4, position: [1, 0, " \
  "0.17], "                                                                                                           \
  "rotation_vector: [0.5, 0.2, 0.1]}\n"                                                                               \
  "  initial:\n"                                                                                                      \
  "    - {link: box, velocities: [1, 0.3, -0.9, 0.2, 0.1, 0]}\n"                                                      \
  "    - {link: other, velocities: [0.5, 0.3, -0.9, 0.2, 0.1, 0]}\n"                                                  \
  "loss:\n"                                                                                                           \
  "  - {type: point, name: a, link: box, point: [0.1, 0.05, 0.02], target: [0.4, 0.2, 0.1]}\n"                        \
  "  - {type: point, name: b, link: other, point: [0.1, 0.05, 0.02], target: [0.4, 0.2, 0.1]}\n"                      \
  "optimizer: {tolerance: 1.0e-12}\n"

static const char* const OF_BOUNCE[] = {
    "{type: pair_friction, a: box, b: ground}",
    "{type: pair_restitution, a: ground, b: box}",
    "{type: link_friction, link: other}",
    "{type: link_restitution, link: other}",
};

/* A cart on four driven wheels, from rest: it goes as far as their radius, width and tyre let it. */
#define CART                                                                                               \
  "steps: 40\n"                                                                                            \
  "scene:\n"                                                                                               \
  "  simulation: {dt: 0.005, steps: 40, integrator: %s}\n"                                                 \
  "  contact: {friction: 0.8}\n"                                                                           \
  "  links:\n"                                                                                             \
  "    - {name: ground, fixed: true, shape: {type: half_space}}\n"                                         \
  "    - {name: body, mass: 2, shape: {type: box, size: [0.5, 0.3, 0.1]}, position: [0, 0, 0.1003]}\n"     \
  "    - &wheel\n"                                                                                         \
  "      name: a\n"                                                                                        \
  "      parent: body\n"                                                                                   \
  "      joint: {type: hinge, axis: [0, 1, 0], position: [0.2, 0.2, 0]}\n"                                 \
  "      density: 300\n"                                                                                   \
  "      shapes: [{type: wheel, radius: 0.1, width: 0.05, rim: 0.015, rpy: [1.5707963267948966, 0, 0]}]\n" \
  "    - {<<: *wheel, name: b, joint: {type: hinge, axis: [0, 1, 0], position: [0.2, -0.2, 0]}}\n"         \
  "    - {<<: *wheel, name: c, joint: {type: hinge, axis: [0, 1, 0], position: [-0.2, 0.2, 0]}}\n"         \
  "    - {<<: *wheel, name: d, joint: {type: hinge, axis: [0, 1, 0], position: [-0.2, -0.2, 0]}}\n"        \
  "  controllers:\n"                                                                                       \
  "    - {link: a, type: velocity, target: 5, damping_gain: 0.2}\n"                                        \
  "    - {link: b, type: velocity, target: 5, damping_gain: 0.2}\n"                                        \
  "loss: [{type: travel, link: body, direction: [1, 0, 0]}]\n"                                             \
  "optimizer: {tolerance: 1.0e-12}\n"                                                                      \
  "design: {mass: density}\n"

static const char* const OF_CART[] = {
    "{type: size, links: [a, b, c, d], tie: true}",
    "{type: size, link: a}",
    "{type: size, link: d}",
};

static void check_item(const char* integrator, const char* form, const char* item) {
  char scene[5000], text[6000];
  snprintf(scene, sizeof scene,
           strcmp(form, "machine") == 0  ? MACHINE
           : strcmp(form, "bounce") == 0 ? BOUNCE
           : strcmp(form, "cart") == 0   ? CART
                                         : SCENE,
           integrator);
  snprintf(text, sizeof text, "%sparameters: [%s]\n", scene, item);
  Task task = load_task(text);
  /* impacts round more (impact.md, I12), and so do wheels that come to their gap at rest (friction.md, F14) */
  double resolved = strcmp(form, "bounce") == 0 ? 1e-2 : strcmp(form, "cart") == 0 ? 1e-3 : 1e-4;
  expect_variables(&task, item, resolved);
  task_free(&task);
}

static void first_order_A14(void** state) {
  (void)state;
  for (int k = 0; k < (int)(sizeof ITEMS / sizeof ITEMS[0]); k++)
    if (tests_pair(k, 0, 3)) check_item("first_order", "bodies", ITEMS[k]);
}

static void second_order_A14_A20(void** state) {
  (void)state;
  for (int k = 0; k < (int)(sizeof ITEMS / sizeof ITEMS[0]); k++)
    if (tests_pair(k, 1, 3)) check_item("second_order", "bodies", ITEMS[k]);
}

static void momentum_A14(void** state) {
  (void)state;
  for (int k = 0; k < (int)(sizeof ITEMS / sizeof ITEMS[0]); k++)
    if (tests_pair(k, 2, 3)) check_item("momentum", "bodies", ITEMS[k]);
}

static void closures_Z9(void** state) {
  (void)state;
  static const char* const integrators[] = {"first_order", "second_order", "momentum"};
  for (int i = 0; i < 3; i++)
    for (int k = 0; k < (int)(sizeof OF_MACHINE / sizeof OF_MACHINE[0]); k++)
      if (tests_pair(k, i, 3)) check_item(integrators[i], "machine", OF_MACHINE[k]);
}

static void friction_and_restitution_of_pairs_A14(void** state) {
  (void)state;
  for (size_t k = 0; k < sizeof OF_BOUNCE / sizeof OF_BOUNCE[0]; k++) check_item("first_order", "bounce", OF_BOUNCE[k]);
}

static void distance_by_sizes_of_wheels_A14(void** state) {
  (void)state;
  for (size_t k = 0; k < sizeof OF_CART / sizeof OF_CART[0]; k++) check_item("momentum", "cart", OF_CART[k]);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(friction_and_restitution_of_pairs_A14),
      cmocka_unit_test(distance_by_sizes_of_wheels_A14),
      cmocka_unit_test(first_order_A14),
      cmocka_unit_test(second_order_A14_A20),
      cmocka_unit_test(momentum_A14),
      cmocka_unit_test(closures_Z9),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Gradients of runs whose first step begins with bodies that rub, against central differences
 * (docs/derivations/friction.md, F7): pressed far too hard, as at rest, hardly at all, so on both sides of the branch
 * of (F6). Sensitivities forwards are held to these in test_forward.c. */
#include "rows.h"
#include "support/long.h"

enum {
  STATE = 1 << GRADCHECK_STATE,
  CONTACT = 1 << GRADCHECK_CONTACT,
  MASS = 1 << GRADCHECK_MASS,
  SHAPES = 1 << GRADCHECK_SHAPES,
  HULLS = STATE | CONTACT | 1 << GRADCHECK_VERTICES | 1 << GRADCHECK_ATTACHMENTS
};

/* Its first step rubs as (F6) says: less than the force at the start would, or more. */
typedef enum { LESS, MORE } Side;

static void check_first_step(const char* name, const char* scene, Side side, unsigned blocks) {
  Run* run = run_create(1, 0, "%s", scene);
  (void)run_steps(run, 1);
  const InitialFriction* guess = sim_initial_friction(run->sim);
  assert_non_null(guess);
  bool found = false;
  for (int k = 0; k < guess->start.count; k++) {
    const ContactRecord* r = &guess->start.records[k];
    ContactGripFactor grip = contact_normal_force_factor(&run->model, &guess->start, &guess->end, r->hull_a, r->hull_b);
    found = found || (grip.start >= 0 && (side == LESS ? grip.value < 0.995 : grip.value > 1.005));
  }
  if (!found) fail_msg("%s: no pair of the first step is on the side that is asked for", name);
  run_free(run);
  check_gradients(name, 2, scene, blocks, 1e-6);
}

/* ---------------------------------------------------------------- one brick that slides, turns and leans a little */

#define SLIDES(step, law, height)                                                             \
  "simulation: {" step                                                                        \
  ", tolerance: 1e-10}\n"                                                                     \
  "contact: {" law                                                                            \
  ", smoothing: 1e-4}\n"                                                                      \
  "shapes: {brick: {type: box, size: [0.2, 0.16, 0.1]}}\n"                                    \
  "links:\n"                                                                                  \
  "  - {name: ground, fixed: true, shape: {type: half_space, normal: [0.1, 0, 1]}}\n"         \
  "  - {name: brick, mass: 0.6, mass_model: vertices, shape: brick, position: [0, 0, " height \
  "], rotation_vector: [2e-3, 0.098669, 0.1]}\n"                                              \
  "initial:\n"                                                                                \
  "  - {link: brick, velocities: [0.8, 0.2, -0.01, 0.05, 0, 0.9]}\n"
#define PLANES "friction: 0.3, barrier_distance: 2e-3, stiffness: 1e-7"
#define FINE "dt: 2e-3, integrator: momentum"

static void first_step_F7_planes(void** state) {
  (void)state;
  check_first_step("pressed hard", SLIDES(FINE, PLANES, "0.0513"), LESS, HULLS);
  check_first_step("pressed hard, first order", SLIDES("dt: 2e-3, integrator: first_order", PLANES, "0.0513"), LESS,
                   HULLS);
  check_first_step("pressed hard, second order", SLIDES("dt: 2e-3, integrator: second_order", PLANES, "0.0513"), LESS,
                   HULLS);
  check_first_step("in substeps", SLIDES("dt: 4e-3, substeps: 2, integrator: first_order", PLANES, "0.0513"), LESS,
                   HULLS);
  check_first_step("hardly", SLIDES("dt: 1e-2, integrator: first_order", PLANES, "0.053"), MORE, HULLS | MASS);
  check_first_step("rolling friction", SLIDES(FINE, PLANES ", rolling: 2e-3, spinning: 1e-3", "0.0513"), LESS, HULLS);
}

static void first_step_F7_other_laws(void** state) {
  (void)state;
  check_first_step("features",
                   SLIDES(FINE, "model: ipc, friction: 0.3, barrier_distance: 2e-3, stiffness: 1e7", "0.0513"), LESS,
                   STATE | CONTACT);
  check_first_step("far-reaching", SLIDES(FINE, "model: long_range, friction: 0.3, stiffness: 1e-3", "0.0513"), LESS,
                   HULLS);
}

/* ---------------------------------------------------------------- several bodies */

#define PILE(law)                                                                                                  \
  "simulation: {dt: 2e-3, tolerance: 1e-10, integrator: first_order}\n"                                            \
  "contact: {" law                                                                                                 \
  ", smoothing: 1e-4, pairs: [{a: lid, b: brick, friction: 0.2}]}\n"                                               \
  "shapes: {brick: {type: box, size: [0.2, 0.16, 0.1]}}\n"                                                         \
  "links:\n"                                                                                                       \
  "  - {name: ground, fixed: true, shape: {type: half_space}}\n"                                                   \
  "  - {name: brick, mass: 0.6, mass_model: vertices, shape: brick, position: [0, 0, 0.0513]}\n"                   \
  "  - {name: lid, mass: 2, mass_model: vertices, shape: brick, position: [0.02, 0.01, 0.1528], rotation_vector: " \
  "[1e-3, 0, 0.2]}\n"                                                                                              \
  "  - {name: arm, parent: brick, mass: 0.2, mass_model: vertices, shape: {type: box, size: [0.1, 0.04, 0.04]}, "  \
  "joint: {type: hinge, "                                                                                          \
  "axis: [0, 1, 0], position: [0.2, 0, 0.01]}}\n"                                                                  \
  "initial:\n"                                                                                                     \
  "  - {link: brick, velocities: [0.8, 0.2, 0, 0, 0, 0.9]}\n"                                                      \
  "  - {link: lid, velocities: [-0.3, 0, 0, 0, 0, 0]}\n"

static void first_step_F7_several_bodies(void** state) {
  (void)state;
  check_first_step("pile", PILE("friction: 0.3, barrier_distance: 2e-3, stiffness: 1e-7"), LESS, HULLS | MASS);
  check_first_step("pile, features", PILE("model: ipc, friction: 0.3, barrier_distance: 2e-3, stiffness: 1e7"), LESS,
                   STATE | CONTACT);
  check_first_step("pile, far-reaching", PILE("model: long_range, friction: 0.3, stiffness: 1e-3"), LESS, HULLS);
}

/* ---------------------------------------------------------------- smooth bodies that overlap */

#define EGGS(law, integrator, height, rise) \
  "simulation: {dt: 2e-3, tolerance: 1e-10, integrator: " integrator                                               \
  "}\n"                                                                                                            \
  "contact: {" law                                                                                                 \
  ", stiffness: 1e5, friction: 0.3, smoothing: 1e-4}\n"                                                            \
  "links:\n"                                                                                                       \
  "  - {name: ground, fixed: true, shape: {type: half_space}}\n"                                                   \
  "  - {name: egg, density: 1000, mass_model: vertices, position: [0, 0, " height "], rpy: [0.1, 0.2, 0.3], shape: " EGG_OF("2") "}\n"                         \
  "  - {name: ball, density: 1000, mass_model: vertices, position: [0.02, 0.01, 0.389], shape: {type: superellipsoid, size: [0.1, 0.1, "  \
  "0.1], exponent: 2, resolution: 2}}\n"                                                                           \
  "initial: [{link: egg, velocities: [1, 0, " rise ", 2, 1, 0]}, {link: ball, velocities: [0, 0.4, 0, 0, -2, 0]}]\n"

/* Two that roll on each other and on the ground. */
static void first_step_F7_bodies_that_overlap(void** state) {
  (void)state;
  const unsigned blocks = STATE | CONTACT | SHAPES | MASS;
  check_first_step("eggs", EGGS("model: penalty", "momentum", "0.145", "0.5"), LESS, blocks);
  if (tests_are_long()) check_first_step("eggs, lower", EGGS("model: penalty", "momentum", "0.142", "0"), MORE, blocks);
  check_first_step("eggs, second order", EGGS("model: penalty", "second_order", "0.142", "0"), MORE, blocks);
  check_first_step("eggs of many points", EGGS("model: manifold", "momentum", "0.145", "0"), LESS, blocks);
  if (tests_are_long())
    check_first_step("eggs of many points, lower", EGGS("model: manifold", "momentum", "0.142", "0"), MORE, blocks);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(first_step_F7_planes),
      cmocka_unit_test(first_step_F7_other_laws),
      cmocka_unit_test(first_step_F7_several_bodies),
      cmocka_unit_test(first_step_F7_bodies_that_overlap),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Friction by direction and static friction of contacts in runs (docs/derivations/friction.md, F11, F12): closed forms
 * and gradients. */
#include "gradient/rows.h"

#define BOX "shape: {type: box, size: [0.2, 0.1, 0.1]}"
enum { BLOCKS = ALL_BLOCKS & ~(1 << GRADCHECK_SHAPES) };

#define SLIDES "initial: [{link: box, velocities: [1, 0.7, 0, 0, 0, 3]}]\n"
#define HALF_SPACE "  - {name: ground, fixed: true, shape: {type: half_space}}\n"
#define FLOOR "  - {name: ground, fixed: true, position: [0, 0, -0.1], shape: {type: box, size: [2, 2, 0.2]}}\n"
#define DIRECTED_BOX(more) \
  "  - {name: box, " BOX   \
  ", mass: 1, position: [0, 0, 0.05045], friction: [0.1, 0.6], friction_axis: [1, 0.2, 0.3]" more "}\n"

/* Farthest that a run of so many steps has carried the second link along x [m]. */
static double carried(Run* run, int steps) {
  for (int k = 0; k < steps; k++) assert_int_equal(sim_step(run->sim).outcome, STEP_CONVERGED);
  return sim_state(run->sim)->pose[1].t.x;
}

static Run* box_on_a_slope(const char* material) {
  return run_create(1, 0,
                    "simulation: {dt: 0.001, gravity: [4.905, 0, -8.4957092]}\n"
                    "links:\n" HALF_SPACE "  - {name: box, " BOX ", mass: 1, position: [0, 0, 0.05023], %s}\n",
                    material);
}

/* A slope of 30 degrees: with friction 0.1 along the axis and 0.6 across it slides along the axis alone. */
static void slope_F11_slides_along_the_axis(void** state) {
  (void)state;
  Run* run = box_on_a_slope("friction: [0.1, 0.6], friction_axis: [2, 0, 0]");
  compare_relative(carried(run, 500), 0.5 * (4.905 - 0.1 * 8.4957092) * 0.25, 2e-3, "along the axis");
  run_free(run);
  run = box_on_a_slope("friction: [0.1, 0.6], friction_axis: [0, 1, 0]");
  assert_true(fabs(carried(run, 500)) < 2e-3);
  run_free(run);
}

/* Of an axis that is normal to the plane nothing is left, and to the bit: friction is that across. */
static void slope_F11_fades_to_that_across(void** state) {
  (void)state;
  Run *directed = box_on_a_slope("friction: [0.1, 0.4], friction_axis: [0, 0, 1]"),
      *plain = box_on_a_slope("friction: 0.4");
  compare_relative(carried(directed, 300), carried(plain, 300), 1e-6, "with an axis along the normal");
  run_free(directed);
  run_free(plain);
}

static Run* pair_on_a_slope(const char* pair, const char* link) {
  return run_create(1, 0,
                    "simulation: {dt: 0.001, gravity: [4.905, 0, -8.4957092]}\n"
                    "contact: {pairs: [{%s}]}\n"
                    "links:\n"
                    "  - {name: ground, fixed: true, rpy: [0, 0, 1.5707963267948966], shape: {type: half_space}}\n"
                    "  - {name: box, " BOX ", mass: 1, position: [0, 0, 0.05023]%s}\n",
                    pair, link);
}

/* The same by an item of contact.pairs, in the axes of its link `a`, whatever the links say; the ground is turned by 90
 * degrees. */
static void slope_F11_of_a_pair(void** state) {
  (void)state;
  static const char* const slides[] = {"a: box, b: ground, friction: [0.1, 0.6], friction_axis: [2, 0, 0]",
                                       "a: ground, b: box, friction: [0.1, 0.6], friction_axis: [0, 2, 0]"};
  static const char* const holds[] = {"a: box, b: ground, friction: [0.1, 0.6], friction_axis: [0, 1, 0]",
                                      "a: ground, b: box, friction: [0.1, 0.6], friction_axis: [1, 0, 0]"};
  for (int k = 0; k < 4; k++) {
    Run* run = pair_on_a_slope(slides[k % 2], k < 2 ? "" : ", friction: [0.2, 0.7], friction_axis: [0, 1, 0]");
    compare_relative(carried(run, 500), 0.5 * (4.905 - 0.1 * 8.4957092) * 0.25, 2e-3, "along the axis, %d", k);
    run_free(run);
    run = pair_on_a_slope(holds[k % 2], k < 2 ? "" : ", friction: [0.2, 0.7], friction_axis: [1, 0, 0]");
    assert_true(fabs(carried(run, 500)) < 2e-3);
    run_free(run);
  }
}

/* Static friction alone holds on a slope between the two angles; after a push it slides on by sliding friction. */
static void slope_F12_holds_or_slides(void** state) {
  (void)state;
  Run* run = box_on_a_slope("friction: 0.4, static_friction: 0.65");
  assert_true(fabs(carried(run, 500)) < 2e-3);
  run_free(run);
  run = run_create(1, 0,
                   "simulation: {dt: 0.001, gravity: [4.905, 0, -8.4957092]}\n"
                   "links:\n" HALF_SPACE "  - {name: box, " BOX
                   ", mass: 1, position: [0, 0, 0.05023], friction: 0.4, static_friction: 0.65}\n"
                   "initial: [{link: box, velocities: [0.5, 0, 0, 0, 0, 0]}]\n");
  compare_relative(carried(run, 500), 0.25 + 0.5 * (4.905 - 0.4 * 8.4957092) * 0.25, 3e-3, "after a push");
  run_free(run);
}

static void gradients_F11_A7c_over_half_spaces_and_hulls(void** state) {
  (void)state;
  check_gradients("an item of contact.pairs", 10,
                  "simulation: {dt: 0.002, tolerance: 1e-11}\n"
                  "contact: {pairs: [{a: ground, b: box, friction: [0.1, 0.6], friction_axis: [1, 0.2, 0.3]}]}\n"
                  "links:\n" HALF_SPACE "  - {name: box, " BOX ", mass: 1, position: [0, 0, 0.05045]}\n" SLIDES,
                  BLOCKS, 1e-6);
  check_gradients("a half-space", 10,
                  "simulation: {dt: 0.002, tolerance: 1e-11}\n"
                  "links:\n" HALF_SPACE DIRECTED_BOX("") SLIDES,
                  BLOCKS, 1e-6);
  check_gradients("two hulls", 10, "simulation: {dt: 0.002, tolerance: 1e-11}\nlinks:\n" FLOOR DIRECTED_BOX("") SLIDES,
                  BLOCKS & ~(1 << GRADCHECK_VERTICES), 1e-6);
  check_gradients("its own force", 10,
                  "simulation: {dt: 0.002, tolerance: 1e-11}\ncontact: {friction_iterations: 20}\n"
                  "links:\n" FLOOR DIRECTED_BOX("") SLIDES,
                  BLOCKS & ~(1 << GRADCHECK_VERTICES), 1e-6);
}

#define CARPET(more)                                                                                          \
  "  - {name: ground, shape: {type: half_space}, mass: 1, inertia: [1, 1, 1, 0, 0, 0], "                      \
  "joint: {type: planar, axis: [0, 0, 1]}, friction: [0.05, 0.7], friction_axis: [1, 1, 0.1]" more            \
  "}\n"                                                                                                       \
  "  - {name: box, " BOX                                                                                      \
  ", mass: 1, position: [0, 0, 0.05045], friction: 0.5}\n"                                                    \
  "controllers:\n"                                                                                            \
  "  - {link: ground, type: prescribed, target: {type: sines, offset: [0, 0, 0], terms: [[{amplitude: 0.02, " \
  "frequency: 2}], [{amplitude: 0.02, frequency: 2}], [{amplitude: 0.1, frequency: 3}]]}}\n" SLIDES

static void gradients_F11_A7c_of_a_carpet_that_moves(void** state) {
  (void)state;
  check_gradients("a carpet", 10, "simulation: {dt: 0.002, tolerance: 1e-11}\nlinks:\n" CARPET(""), BLOCKS, 1e-6);
}

static void gradients_F12_A7d_of_static_friction(void** state) {
  (void)state;
  check_gradients("a half-space", 10,
                  "simulation: {dt: 0.002, tolerance: 1e-11}\ncontact: {stribeck_speed: 1.5}\n"
                  "links:\n" HALF_SPACE DIRECTED_BOX(", static_friction: 0.8") SLIDES,
                  BLOCKS, 1e-6);
  check_gradients("two hulls", 10,
                  "simulation: {dt: 0.002, tolerance: 1e-11}\n"
                  "contact: {friction: 0.5, static_friction: 0.7, stribeck_speed: 1.5}\n"
                  "links:\n" FLOOR DIRECTED_BOX("") SLIDES,
                  BLOCKS & ~(1 << GRADCHECK_VERTICES), 1e-6);
  check_gradients(
      "a carpet", 10,
      "simulation: {dt: 0.002, tolerance: 1e-11}\nlinks:\n" CARPET(", static_friction: 0.9, stribeck_speed: 1.5"),
      BLOCKS, 1e-6);
  check_gradients(
      "a wheel", 10,
      "simulation: {dt: 0.002, tolerance: 1e-11}\ncontact: {stribeck_speed: 1.5}\n"
      "links:\n" HALF_SPACE
      "  - {name: box, shape: {type: wheel, radius: 0.1, width: 0.06, rim: 0.02}, mass: 1, position: [0, 0, "
      "0.0304], friction: [0.1, 0.6], friction_axis: [1, 0.2, 0.3], static_friction: 0.8}\n" SLIDES,
      ALL_BLOCKS, 1e-6);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(slope_F11_slides_along_the_axis),
      cmocka_unit_test(slope_F11_of_a_pair),
      cmocka_unit_test(slope_F11_fades_to_that_across),
      cmocka_unit_test(slope_F12_holds_or_slides),
      cmocka_unit_test(gradients_F11_A7c_over_half_spaces_and_hulls),
      cmocka_unit_test(gradients_F11_A7c_of_a_carpet_that_moves),
      cmocka_unit_test(gradients_F12_A7d_of_static_friction),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

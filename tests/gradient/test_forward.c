/* Sensitivities forwards against the adjoint of the same runs: a random linear function of all poses of a run has the
 * same derivative by every variable whichever way it is found (Q1). The adjoint is checked against differences in
 * test_run_gradients.c and test_parameters.c; nothing but single steps backwards is shared. */
#include "both_ways.h"

#include <cmocka.h>
#include <math.h>

#include "support/compare.h"

#define CONTACT "friction: 0.3, barrier_distance: 2.0e-3, stiffness: 1.0e-7, smoothing: 1.0e-4"
#define TEXT                                                                                                          \
  "steps: 50\nscene:\n"                                                                                               \
  "  simulation: {dt: 0.005, steps: 50, integrator: %s, substeps: %d}\n"                                              \
  "  contact: {%s}\n"                                                                                                 \
  "  shapes: {ground: {type: half_space}, box: {type: box, size: [0.2, 0.1, 0.15]}}\n"                                \
  "  links:\n"                                                                                                        \
  "    - {name: ground, fixed: true, shape: ground}\n"                                                                \
  "    - {name: box, shape: box, mass: 1, position: [0, 0, %s]}\n"                                                    \
  "    - {name: lid, shape: {type: box, size: [0.1, 0.1, 0.05]}, mass: 0.5, position: [0.02, 0.01, %s]}\n"            \
  "    - {name: arm, shape: {type: box, size: [0.3, 0.05, 0.04]}, mass: 0.4, joint: {type: hinge, axis: [0, -1, 0],"  \
  " position: [0, 1, 0.6], damping: 0.02, stiffness: 0.3, friction: 0.05, armature: 0.01}}\n"                         \
  "    - {name: ball, parent: arm, shape: {type: box, size: [0.1, 0.05, 0.24]}, mass: 0.2,"                           \
  " joint: {type: ball, position: [0.2, 0, 0], damping: [0.002, 0.003, 0.001], stiffness: 0.1}}\n"                    \
  "    - {name: rocker, shape: {type: box, size: [0.3, 0.05, 0.04]}, mass: 0.4, joint: {type: hinge,"                 \
  " axis: [0, 1, 0.1], position: [0, 3, 0.6], stiffness: 250}}\n"                                                     \
  "%s  controllers:\n"                                                                                                \
  "    - {type: pd, link: arm, position_gain: 0.5, velocity_gain: 1.0e-4, target: {type: sines, terms: [{amplitude: " \
  "0.3, frequency: 2,"                                                                                                \
  " phase: 0.4}]}}\n"                                                                                                 \
  "  initial:\n"                                                                                                      \
  "    - {link: box, velocities: [1, 0.3, -0.5, 2, 1, -1.5]}\n"                                                       \
  "    - {link: arm, velocities: [1]}\n    - {link: rocker, velocities: [2]}\n"                                       \
  "    - {link: ball, velocities: [0.3, -1, 2]}\n"                                                                    \
  "control: [{link: arm}]\n"                                                                                          \
  "design: {connect: false, vertices: [{link: lid}], attachments: [{link: ball}]}\n"                                  \
  "initial: [{link: box, coordinates: true, velocities: true, dof: [0, 1, 2]}, {link: arm, coordinates: true,"        \
  " velocities: true}, {link: ball, velocities: true}]\n"                                                             \
  "parameters:\n"                                                                                                     \
  "  - {type: mass, links: [box, arm, rocker]}\n"                                                                     \
  "  - {type: inertia, link: ball}\n"                                                                                 \
  "  - {type: size, link: box}\n"                                                                                     \
  "  - {type: damping, links: [arm, ball]}\n"                                                                         \
  "  - {type: joint_stiffness, links: [arm, ball, rocker]}\n"                                                         \
  "  - {type: armature, link: arm}\n"                                                                                 \
  "  - {type: gravity}\n"                                                                                             \
  "  - {type: friction}\n"                                                                                            \
  "  - {type: stiffness}\n"                                                                                           \
  "  - {type: rest_speed}\n"                                                                                          \
  "  - {type: axis, link: arm}\n"                                                                                     \
  "  - {type: rotation, links: [ball, ground]}\n"                                                                     \
  "loss: [{type: point, link: box, target: [0, 0, 0]}]\n"                                                             \
  "optimizer: {tolerance: 1.0e-12}\n"

/* Where box and lid begin: in the air, or pressed on the ground and on each other. */
typedef struct {
  const char *box, *lid;
} Heights;
static const Heights HIGH = {"0.12", "0.27"}, LOW = {"0.0763", "0.1776"};

/* least: states with contact; guess: the first step has friction. */
static void check_text(const char* text, const char* integrator, int least, bool guess, double bound) {
  BothWays b = both_ways(text, 11);
  assert_true(b.sound);
  int active = 0;
  for (int k = 0; k < b.recording.state_count; k++) active += b.recording.states[k].contact_count > 0;
  assert_true(active >= least);
  assert_true((b.recording.guess != NULL) == guess);
  assert_int_equal(both_ways_ends(&b, END_AT_CLOSURE_OPENING), strstr(text, "break_force") ? 1 : 0);
  for (int k = 0; k < b.design.variable_count; k++)
    compare_near(b.forward[k], b.backward[k], bound * (1e-3 + fabs(b.backward[k])), "%s: %s", integrator,
                 b.design.variables[k].name);
  both_ways_free(&b);
}

static void check_from(Heights from, const char* integrator, int substeps, const char* contact, const char* closures,
                       double bound) {
  char text[6000];
  snprintf(text, sizeof text, TEXT, integrator, substeps, contact, from.box, from.lid, closures);
  check_text(text, integrator, 6, from.box == LOW.box, bound);
}

static void check(const char* integrator, int substeps, const char* contact, const char* closures, double bound) {
  check_from(HIGH, integrator, substeps, contact, closures, bound);
}

static void first_order_Q1(void** state) {
  (void)state;
  check("first_order", 1, CONTACT, "", 1e-8);
}
static void second_order_Q1(void** state) {
  (void)state;
  check("second_order", 1, CONTACT, "", 1e-8);
}
/* Bodies alone carry their angular momentum, trees of joints theirs. */
static void momentum_Q1(void** state) {
  (void)state;
  check("momentum", 1, CONTACT, "", 1e-8);
  check("momentum", 1, CONTACT ", restitution: 0.5", "", 3e-6); /* bounces: see test_transposition.c */
  check("momentum", 1, CONTACT ", static_friction: 0.5, stribeck_speed: 1.5", "", 1e-8);
}
/* A prescribed foot kicks a ball, which falls on a half-space that moves: the impacts begin at times that the
 * parameters change, and the foot and the half-space are elsewhere then. */
#define KICK                                                                                                       \
  "steps: 100\nscene:\n"                                                                                           \
  "  simulation: {dt: 0.004, steps: 100, integrator: %s}\n"                                                        \
  "  contact: {friction: 0.3, restitution: 0.6}\n"                                                                 \
  "  links:\n"                                                                                                     \
  "    - {name: ground, shape: {type: half_space}, joint: {type: slide, axis: [0.1, 0, 1]}}\n"                     \
  "    - {name: ball, mass: 0.4, shape: {type: box, size: [0.15, 0.18, 0.2]}, position: [0, 0, 0.2]}\n"            \
  "    - {name: foot, shapes: [{type: box, size: [0.1, 0.1, 0.1], position: [0, 0, -0.5]}], joint: {type: hinge, " \
  "axis:"                                                                                                          \
  " [0, 1, 0.1], position: [-0.3, 0, 0.7]}}\n"                                                                     \
  "  controllers:\n"                                                                                               \
  "    - {link: ground, type: prescribed, target: {type: sines, terms: [{amplitude: 0.02, frequency: 2}]}}\n"      \
  "    - {link: foot, type: prescribed, target: {type: spline, times: [0, 0.2, 0.4], values: [[0.7], [-0.3],"      \
  " [-0.9]]}}\n"                                                                                                   \
  "  initial: [{link: ball, velocities: [0.1, 0.05, 0, 1, 2, -1]}]\n"                                              \
  "initial: [{link: ball, coordinates: true, velocities: true, dof: [0, 1, 2]}]\n"                                 \
  "parameters: [{type: mass, link: ball}, {type: size, link: ball}, {type: friction}, {type: gravity}]\n"          \
  "loss: [{type: point, link: ball, target: [0, 0, 0]}]\n"                                                         \
  "optimizer: {tolerance: 1.0e-12}\n"

static void impacts_of_prescribed_links_Q1(void** state) {
  (void)state;
  static const char* const INTEGRATORS[] = {"first_order", "momentum", "second_order"};
  for (int k = 0; k < 3; k++) {
    char text[3000];
    snprintf(text, sizeof text, KICK, INTEGRATORS[k]);
    check_text(text, INTEGRATORS[k], 2, false, 1e-5);
  }
}
/* Round bodies that lean on the ground while their contact point runs round (spin.md, W21; friction.md, F17). */
#define LEANING                                                                                    \
  "steps: 20\nscene:\n"                                                                            \
  "  simulation: {dt: 0.01, steps: 20, integrator: momentum}\n"                                    \
  "  contact: {friction: 0.4}\n"                                                                   \
  "  links:\n"                                                                                     \
  "    - {name: ground, fixed: true, shape: {type: half_space}}\n"                                 \
  "    - {name: body, %s, position: [0, 0, %.17g], rpy: [%.17g, 0, 0.1]}\n"                        \
  "  initial: [{link: body, velocities: %s}]\n"                                                    \
  "initial: [{link: body, coordinates: true, velocities: true, dof: [0, 1, 2, 3, 4, 5]}]\n"        \
  "parameters: [{type: mass, link: body}, {type: friction}, {type: gravity}, {type: stiffness}]\n" \
  "loss: [{type: point, link: body, target: [0, 0, 0]}]\n"                                         \
  "optimizer: {tolerance: 1.0e-12}\n"

static void bodies_that_lean_W21(void** state) {
  (void)state;
  static const struct {
    const char *body, *velocities;
    double height, tilt;
  } CASES[] = {
      {"mass: 0.4, shape: {type: disc, radius: 0.1, rim: 0.002}", "[1.1, 0.02, 0, 0.1, 2, -9.6]", 0.09337, 1.2},
      {"mass: 0.4, shape: {type: cone, bottom_radius: 0.1, top_radius: 0.03, length: 0.06}",
       "[0.8, 0.02, 0, 0.1, 2, -8]", 0.10038, 1},
      {"mass: 0.4, shape: {type: capsule, radius: 0.05, length: 0.2}", "[-0.7, 0.02, 0, 0.1, 5, 40]", 0.1197, 0.8},
      {"mass: 0.5, inertia: [4e-4, 5e-4, 3e-4, 0, 0, 0], center: [0.004, 0.003, -0.015], shape: {type: sphere, radius: "
       "0.05}",
       "[0.3, 0.02, 0, 1, 5, 20]", 0.0502, 0.3}};
  for (size_t k = 0; k < sizeof(CASES) / sizeof(CASES[0]); k++) {
    char text[2000];
    snprintf(text, sizeof text, LEANING, CASES[k].body, CASES[k].height, CASES[k].tilt, CASES[k].velocities);
    check_text(text, "momentum", 6, true, 1e-7);
  }
}

/* Bodies that move freely in a plane: a wheel with an eccentric mass that rolls, and a capsule that lands (W53). */
#define IN_A_PLANE                                                                                              \
  "steps: 20\nscene:\n"                                                                                         \
  "  simulation: {dt: 0.01, steps: 20, integrator: momentum}\n"                                                 \
  "  contact: {friction: 0.4}\n"                                                                                \
  "  links:\n"                                                                                                  \
  "    - {name: ground, fixed: true, shape: {type: half_space}}\n"                                              \
  "    - {name: body, %s, joint: {type: free, free_axes: [x, z, ry], position: [0, 0, %.17g], rpy: [0, %.17g, " \
  "0]}}\n"                                                                                                      \
  "  initial: [{link: body, velocities: %s}]\n"                                                                 \
  "initial: [{link: body, coordinates: true, velocities: true, dof: [0, 1, 2]}]\n"                              \
  "parameters: [{type: mass, link: body}, {type: friction}, {type: gravity}, {type: stiffness}]\n"              \
  "loss: [{type: point, link: body, target: [0, 0, 0]}]\n"                                                      \
  "optimizer: {tolerance: 1.0e-12}\n"

static void bodies_in_a_plane_W53(void** state) {
  (void)state;
  static const struct {
    const char *body, *velocities;
    double height, tilt;
  } CASES[] = {{"mass: 1, inertia: [3e-3, 3e-3, 4e-3, 0, 0, 0], center: [0.02, 0, -0.03], shapes: [{type: cylinder, "
                "radius: 0.1, length: 0.06, rpy: [1.5707963267948966, 0, 0]}]",
                "[0.5, 0, 5]", 0.1003, 0.4},
               {"mass: 2, shape: {type: capsule, radius: 0.05, length: 0.2}", "[0.3, -0.4, 3]", 0.16, 0.6}};
  for (size_t k = 0; k < sizeof(CASES) / sizeof(CASES[0]); k++) {
    char text[2000];
    snprintf(text, sizeof text, IN_A_PLANE, CASES[k].body, CASES[k].height, CASES[k].tilt, CASES[k].velocities);
    check_text(text, "momentum", 6, k == 0, 1e-7);
  }
}

/* A weight that falls on its stop, and an arm on it whose elbow comes to its limits. */
#define STOPS                                                                                                     \
  "steps: 80\nscene:\n"                                                                                           \
  "  simulation: {dt: 0.005, steps: 80, integrator: %s}\n"                                                        \
  "  contact: {%s}\n"                                                                                             \
  "  links:\n"                                                                                                    \
  "    - {name: lift, mass: 1, shape: {type: box, size: [0.2, 0.2, 0.2]}, joint: {type: slide, axis: [0, 0, 1],"  \
  " limits: [-0.1, 1], limit_restitution: 0.6}}\n"                                                                \
  "    - {name: arm, parent: lift, mass: 0.4, shape: {type: box, size: [0.3, 0.05, 0.04]}, joint: {type: hinge,"  \
  " axis: [0, -1, 0], position: [0, 1, 0.6]}}\n"                                                                  \
  "    - {name: hand, parent: arm, mass: 0.2, shape: {type: box, size: [0.2, 0.05, 0.04]}, joint: {type: hinge,"  \
  " axis: [0, -1, 0.1], position: [0.2, 0, 0], limits: [-0.5, 0.4], limit_restitution: 0.5}}\n"                   \
  "  initial: [{link: arm, velocities: [1]}, {link: hand, velocities: [3]}]\n"                                    \
  "initial: [{links: [lift, arm, hand], coordinates: true, velocities: true}]\n"                                  \
  "parameters: [{type: mass, links: [lift, hand]}, {type: lower_limit, links: [lift, hand]}, {type: upper_limit," \
  " link: hand}, {type: limit_restitution, links: [lift, hand]}, {type: gravity}]\n"                              \
  "loss: [{type: point, link: hand, target: [0, 0, 0]}]\n"                                                        \
  "optimizer: {tolerance: 1.0e-12}\n"

static void stops_Q1(void** state) {
  (void)state;
  static const char* const INTEGRATORS[] = {"first_order", "momentum", "second_order"};
  for (int k = 0; k < 6; k++) {
    char text[3000];
    snprintf(text, sizeof text, STOPS, INTEGRATORS[k % 3], k < 3 ? "model: none" : "restitution: 0.4");
    check_text(text, INTEGRATORS[k % 3], 0, false, 1e-6);
  }
}
/* Springs, dampers, armatures and drives of trees whose aims contain their forces (W51). The drive of the leg reaches
 * its limit. */
#define HELD                                                                                                         \
  "steps: 40\nscene:\n"                                                                                              \
  "  simulation: {dt: 0.01, steps: 40}\n"                                                                            \
  "  contact: {model: none}\n"                                                                                       \
  "  links:\n"                                                                                                       \
  "    - {name: base, mass: 2, shape: {type: box, size: [0.3, 0.1, 0.05]}}\n"                                        \
  "    - {name: arm, parent: base, mass: 1, shape: {type: box, size: [0.04, 0.04, 0.5], position: [0, 0, -0.25]},"   \
  " joint: {type: hinge, axis: [0, 1, 0], position: [0.1, 0, 0.02], damping: 0.02, armature: 0.003}}\n"              \
  "    - {name: hand, parent: arm, mass: 0.3, shape: {type: box, size: [0.1, 0.05, 0.04]}, joint: {type: slide,"     \
  " axis: [0, 0, 1], position: [0, 0, -0.55], stiffness: 200, damping: 0.3}}\n"                                      \
  "    - {name: leg, parent: base, mass: 0.4, shape: {type: box, size: [0.04, 0.04, 0.3], position: [0, 0, -0.15]}," \
  " joint: {type: hinge, axis: [1, 0, 0], position: [-0.1, 0, 0]}}\n"                                                \
  "  initial: [{link: arm, coordinates: [1.2], velocities: [4]}, {link: leg, velocities: [-3]}]\n"                   \
  "  controllers:\n"                                                                                                 \
  "    - {link: leg, type: pd, target: {type: sines, terms: [{amplitude: 0.6, frequency: 1.5}]}, position_gain: 30," \
  " velocity_gain: 0.3, max_force: 3}\n"                                                                             \
  "    - {link: arm, type: torque, target: {type: sines, terms: [{amplitude: 0.8, frequency: 1}]}}\n"                \
  "initial: [{links: [arm, hand, leg], coordinates: true, velocities: true}]\n"                                      \
  "control: [{links: [leg, arm]}]\n"                                                                                 \
  "parameters: [{type: mass, links: [base, arm, hand, leg]}, {type: joint_stiffness, link: hand}, {type: damping,"   \
  " links: [arm, hand]}, {type: armature, link: arm}, {type: axis, links: [arm, leg]}, {type: gravity}]\n"           \
  "loss: [{type: point, link: hand, target: [0, 0, 0]}, {type: point, link: leg, target: [0, 0, 0]}]\n"              \
  "optimizer: {tolerance: 1.0e-12}\n"

static void held_forces_Q1(void** state) {
  (void)state;
  check_text(HELD, "forces of joints in the aim", 0, false, 1e-7);
}
/* Signals that jump (L99): a push and a torque above the friction limit, the target of a spring, and the switch of a
 * weld that releases a weight. Each jump adds a substep. */
#define JUMPS                                                                                                          \
  "steps: 24\nscene:\n"                                                                                                \
  "  simulation: {dt: 0.01, steps: 24}\n"                                                                              \
  "  contact: {friction: 0.4}\n"                                                                                       \
  "  links:\n"                                                                                                         \
  "    - {name: ground, fixed: true, shape: {type: half_space}}\n"                                                     \
  "    - {name: crate, mass: 10, shape: {type: box, size: [0.4, 0.3, 0.2]}, position: [0, 0, 0.1006]}\n"               \
  "    - {name: slider, mass: 2, shape: {type: box, size: [0.1, 0.1, 0.1]}, joint: {type: slide, axis: [1, 0, 0],"     \
  " position: [0, 3, 1], friction: 5}}\n"                                                                              \
  "    - {name: arm, mass: 1, shape: {type: box, size: [0.1, 0.1, 0.5]}, joint: {type: hinge, axis: [0, 1, 0],"        \
  " position: [2, 0, 1], friction: 0.1}}\n"                                                                            \
  "    - {name: weight, mass: 0.4, position: [2, 3, 1], shape: {type: box, size: [0.1, 0.08, 0.06]}}\n"                \
  "  closures: [{type: weld, a: weight, b: slider, active: {type: keyframes, times: [0.15, 0.1501], values: [1, 0]}}]" \
  "\n"                                                                                                                 \
  "  loads: [{link: crate, point: [-0.2, 0.03, 0.02], force: {type: keyframes, times: [0.03, 0.031, 0.1533, 0.1541],"  \
  " values: [[0, 0, 0], [60, 5, 0], [70, -5, 0], [0, 0, 0]]}}]\n"                                                      \
  "  controllers:\n"                                                                                                   \
  "    - {link: slider, type: torque, target: {type: keyframes, times: [0.0399, 0.0401], values: [0, 9]}}\n"           \
  "    - {link: arm, type: pd, position_gain: 30, damping_gain: 0.5, target: {type: keyframes, times: [0.016, 0.017]," \
  " values: [0, 0.5]}}\n"                                                                                              \
  "initial: [{links: [crate, slider, arm], coordinates: true, velocities: true}]\n"                                    \
  "control: [{links: [slider, arm]}]\n"                                                                                \
  "parameters: [{type: mass, links: [crate, slider, weight]}, {type: joint_friction, links: [slider, arm]}, {type: "   \
  "friction}, {type: gravity}]\n"                                                                                      \
  "loss: [{type: point, link: crate, target: [0, 0, 0]}]\n"                                                            \
  "optimizer: {tolerance: 1.0e-12}\n"

static void jumps_L99_Q1(void** state) {
  (void)state;
  BothWays b = both_ways(JUMPS, 11);
  assert_int_equal(both_ways_ends(&b, END_AT_FIXED_LENGTH), 5);
  both_ways_free(&b);
  check_text(JUMPS, "jumps", 20, true, 1e-7);
}

/* A clamped rod whose springs are faster than the step: their force depends on two states before t (L20). */
#define ROD                                                                                                        \
  "steps: 40\nscene:\n"                                                                                            \
  "  simulation: {dt: 0.01, steps: 40}\n"                                                                          \
  "  rods: [{name: rod, points: [[0, 0, 0], [0.3, 0, 0.1]], segments: 3, radius: 0.004, young: %s, density: "      \
  "1150, damping: 1.0e-4, from: {}}]\n"                                                                            \
  "  links: [{name: far, mass: 1, position: [3, 0, 0], shape: {type: sphere, radius: 0.1}}]\n"                     \
  "parameters: [{type: mass, links: [rod_1, rod_2]}, {type: bushing_stiffness, links: [rod_0, rod_1]}, {type: "    \
  "bushing_damping, links: [rod_0, rod_1]}, {type: bushing_position_a, links: [rod_0, rod_1]}, {type: gravity}]\n" \
  "initial: [{link: rod_2, velocities: true}]\n"                                                                   \
  "loss: [{type: point, link: rod_2, target: [0, 0, 0]}]\n"                                                        \
  "optimizer: {tolerance: 1.0e-12}\n"

static void rods_Q1(void** state) {
  (void)state;
  static const char* const YOUNG[] = {"3.0e+9", "3.0e+5"};
  for (int k = 0; k < 2; k++) {
    char text[3000];
    snprintf(text, sizeof text, ROD, YOUNG[k]);
    check_text(text, YOUNG[k], 0, false, 1e-7);
  }
}
static void in_substeps_Q1(void** state) {
  (void)state;
  check("first_order", 3, CONTACT, "", 1e-8);
}
/* Impacts that give back are resolved in many parts, from one to the next of which pairs hand on their speed. */
static void restitution_Q1(void** state) {
  (void)state;
  check("first_order", 1, CONTACT ", restitution: 0.5", "", 2e-6);
}
/* What is held together moves as if its equations were of the step; where ends are not given they are those of the
 * start. */
static void closures_Q6(void** state) {
  (void)state;
  const char* closures =
      "  closures:\n    - {type: distance, a: ball, b: lid, point: [0.2, 1, 0.6]}\n    - {type: ball, a: box, b: lid, "
      "point: [0.03, 0, "
      "0.2]}\n";
  check("first_order", 1, CONTACT, closures, 1e-8);
  check("second_order", 1, CONTACT, closures, 1e-8);
  check("momentum", 1, CONTACT, closures, 1e-8);
}

/* A four-bar whose crank is prescribed, and a weight on a rod that hangs on the crank by a second closure. */
#define CRANK                                                                                                          \
  "steps: 50\nscene:\n"                                                                                                \
  "  simulation: {dt: 0.005, steps: 50, integrator: %s}\n"                                                             \
  "  contact: {model: none}\n"                                                                                         \
  "  links:\n"                                                                                                         \
  "    - {name: crank, mass: 1, shape: {type: box, size: [0.2, 0.05, 0.04]}, joint: {type: hinge, axis: [0, 1, 0]}}\n" \
  "    - {name: rod, parent: crank, mass: 0.4, shape: {type: box, size: [0.3, 0.05, 0.04]}, joint: {type: hinge,"      \
  " axis: [0, 1, 0], position: [0.2, 0, 0]}}\n"                                                                        \
  "    - {name: rocker, mass: 0.3, shape: {type: box, size: [0.05, 0.05, 0.3]}, joint: {type: hinge, axis: [0, 1,"     \
  " 0], position: [0.6, 0, 0]}}\n"                                                                                     \
  "    - {name: weight, mass: 0.3, shape: {type: box, size: [0.1, 0.08, 0.06]}, position: [0, 0, -0.5]}\n"             \
  "  closures:\n"                                                                                                      \
  "    - {type: ball, a: rod, b: rocker, point: [0.6, 0, 0.3]}\n"                                                      \
  "    - {type: ball, a: crank, b: weight, point: [0.1, 0, -0.4]}\n"                                                   \
  "  controllers: [{type: prescribed, link: crank, target: {type: sines, terms: [{amplitude: 0.4, frequency: 2}]}}]\n" \
  "initial: [{link: weight, velocities: true}]\n"                                                                      \
  "parameters: [{type: mass, links: [rod, rocker, weight]}, {type: gravity}, {type: inertia, link: rod}]\n"            \
  "loss: [{type: point, link: weight, target: [0, 0, 0]}]\n"                                                           \
  "optimizer: {tolerance: 1.0e-12}\n"

static void closures_on_prescribed_links_Q6(void** state) {
  (void)state;
  static const char* const INTEGRATORS[] = {"first_order", "momentum", "second_order"};
  for (int k = 0; k < 3; k++) {
    char text[3000];
    snprintf(text, sizeof text, CRANK, INTEGRATORS[k]);
    check_text(text, INTEGRATORS[k], 0, false, 1e-8);
  }
}

/* An arm swings a weight on its tip, and a prescribed base lifts both. The weld breaks at a time that all variables
 * change. */
#define BREAKS                                                                                                      \
  "steps: 60\nscene:\n"                                                                                             \
  "  simulation: {dt: 0.005, steps: 60, integrator: %s}\n"                                                          \
  "  contact: {model: none}\n"                                                                                      \
  "  links:\n"                                                                                                      \
  "    - {name: base, mass: 1, shape: {type: box, size: [0.1, 0.1, 0.1]}, joint: {type: slide, axis: [0, 0, 1]}}\n" \
  "    - {name: arm, parent: base, mass: 1, shapes: [{type: box, size: [0.5, 0.1, 0.1], position: [0.25, 0, 0]}], " \
  "joint: {type: hinge, axis: [0, 1, 0]}}\n"                                                                        \
  "    - {name: weight, mass: 0.4, position: [0.6, 0, 0], shape: {type: box, size: [0.1, 0.08, 0.06]}}\n"           \
  "  closures: [{type: weld, a: arm, b: weight, break_force: 8}]\n"                                                 \
  "  controllers: [{type: prescribed, link: base, target: {type: sines, terms: [{amplitude: 0.005, frequency: "     \
  "1}]}}]\n"                                                                                                        \
  "initial: [{link: arm, velocities: true}]\n"                                                                      \
  "parameters: [{type: mass, links: [arm, weight]}, {type: gravity}, {type: inertia, link: arm}]\n"                 \
  "loss: [{type: point, link: weight, target: [0, 0, 0]}]\n"                                                        \
  "optimizer: {tolerance: 1.0e-12}\n"

static void a_closure_breaks_Z21(void** state) {
  (void)state;
  static const char* const INTEGRATORS[] = {"first_order", "momentum", "second_order"};
  for (int k = 0; k < 3; k++) {
    char text[3000];
    snprintf(text, sizeof text, BREAKS, INTEGRATORS[k]);
    check_text(text, INTEGRATORS[k], 0, false, 1e-7);
  }
}

/* The first step rests on a solve without friction; under laws whose links carry the potential too. */
static void pressed_at_the_start_F7(void** state) {
  (void)state;
  check_from(LOW, "first_order", 1, CONTACT, "", 1e-8);
  check_from(LOW, "second_order", 1, CONTACT, "", 1e-8);
  check_from(LOW, "first_order", 3, CONTACT ", rolling: 1.0e-3", "", 1e-8);
  check_from(LOW, "momentum", 1, CONTACT, "", 1e-8);
}

static void own_force_F9(void** state) {
  (void)state;
  const char* closures = "  closures:\n    - {type: ball, a: box, b: lid, point: [0.03, 0, 0.2]}\n";
  check("first_order", 1, CONTACT ", friction_iterations: 20", "", 1e-8);
  check("second_order", 1, CONTACT ", friction_iterations: 20", closures, 1e-8);
  check("momentum", 1, CONTACT ", friction_iterations: 20", "", 1e-8);
}

static void weighted_own_force_F14(void** state) {
  (void)state;
  check("momentum", 1, CONTACT ", friction_iterations: null, rest_speed: 0.01", "", 1e-8);
  check("momentum", 1, CONTACT ", friction_iterations: null, rest_speed: 0.03", "", 1e-8);
  check("first_order", 1, CONTACT ", friction_iterations: null, rest_speed: 0.003", "", 1e-8);
  check_from(LOW, "first_order", 1, CONTACT ", friction_iterations: null", "", 1e-8);
  check_from(LOW, "momentum", 1, CONTACT ", friction_iterations: null", "", 1e-8);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(own_force_F9),
      cmocka_unit_test(weighted_own_force_F14),
      cmocka_unit_test(first_order_Q1),
      cmocka_unit_test(second_order_Q1),
      cmocka_unit_test(jumps_L99_Q1),
      cmocka_unit_test(rods_Q1),
      cmocka_unit_test(held_forces_Q1),
      cmocka_unit_test(in_substeps_Q1),
      cmocka_unit_test(restitution_Q1),
      cmocka_unit_test(bodies_that_lean_W21),
      cmocka_unit_test(bodies_in_a_plane_W53),
      cmocka_unit_test(stops_Q1),
      cmocka_unit_test(impacts_of_prescribed_links_Q1),
      cmocka_unit_test(momentum_Q1),
      cmocka_unit_test(closures_Q6),
      cmocka_unit_test(closures_on_prescribed_links_Q6),
      cmocka_unit_test(a_closure_breaks_Z21),
      cmocka_unit_test(pressed_at_the_start_F7),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

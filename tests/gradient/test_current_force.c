/* Tests friction by the normal force of the same step (docs/derivations/friction.md, F8, F9). Landings are compared
 * with Coulomb's impulse. Gradients of landings with slip are compared with central differences. */
#include "gradient/rows.h"

#define GRAVITY 9.81
#define FRICTION 0.3
#define SPAN 0.4
#define DROP 0.05

#define GROUND "  - {name: ground, fixed: true, shape: {type: half_space}}\n"
#define CONTACT "contact: {friction: 0.4, barrier_distance: 0.01, friction_iterations: 20}\n"
#define BOX "shape: {type: box, size: [0.2, 0.15, 0.1]}, mass: 1"
#define BALL "shape: {type: sphere, radius: 0.1}, mass: 1"
#define FALLS "velocities: [1, 0.4, -1, 0.3, -0.5, 2]"

/* The cube loses mu times the impulse that ends its fall, then mu g t. It neither tips nor hops. Velocities are those
 * at the midpoint of a step. */
static void lands(const char* iterations, double dt) {
  int steps = (int)(SPAN / dt + 0.5);
  Run* run =
      run_model("simulation: {dt: %g, steps: %d}\ncontact: {friction: %g, friction_iterations: %s}\nlinks:\n" GROUND
                "  - {name: box, shape: {type: box, size: [0.2, 0.2, 0.2]}, mass: 1, position: [0, 0, %g]}\n"
                "initial: [{link: box, velocities: [2, 0, -1, 0, 0, 0]}]\n",
                dt, steps, FRICTION, iterations, 0.1 + DROP);
  Recording r;
  RecordOptions options = {.threads = 1};
  RecordReport report;
  recording_create(&r, &run->model, steps);
  assert_int_equal(recording_run(&r, &run->model, &options, &report, &run->diagnostics), STATUS_OK);
  double strikes = sqrt(1 + 2 * GRAVITY * DROP), at = (strikes - 1) / GRAVITY;
  double loses = FRICTION * strikes, slides = FRICTION * GRAVITY * (SPAN - 0.5 * dt - at);
  double speed = r.rate[steps * run->model.dof_count];
  compare_near(2 - slides - speed, loses, 0.03 * loses, "dt %g: speed lost in the landing", dt);
  for (int k = 0; k <= steps; k++) {
    const RecordedState* state = &r.states[r.row_state[k]];
    Pose pose = recording_state_pose(&r, state)[1];
    assert_true(pose.r.m[2][2] > cos(0.3 / 57.3));
    if (k * dt > 0.1) assert_true(pose.t.z < 0.1005 + 0.0005);
  }
  recording_destroy(&r);
  run_free(run);
}

static void friction_F8_landing_has_coulombs_impulse(void** state) {
  (void)state;
  static const char* const iterations[] = {"20", "null"};
  for (int k = 0; k < 2; k++) {
    lands(iterations[k], 1e-2);
    lands(iterations[k], 5e-3);
    lands(iterations[k], 2e-3);
  }
}

/* Returns the largest late friction of a cube that lands at about 1.4 m/s with a slip speed [m/s]. */
static double largest_late(double slip, int iterations) {
  Run* run =
      run_create(1, 0,
                 "simulation: {dt: 0.01, steps: 20}\ncontact: {friction: %g, friction_iterations: %d}\nlinks:\n" GROUND
                 "  - {name: box, shape: {type: box, size: [0.2, 0.2, 0.2]}, mass: 1, position: [0, 0, %g]}\n"
                 "initial: [{link: box, velocities: [%g, 0, -1, 0, 0, 0]}]\n",
                 FRICTION, iterations, 0.1 + DROP, slip);
  double most = 0;
  for (int k = 0; k < 20; k++) {
    StepReport report = run_steps(run, 1);
    if (report.late_friction > most) assert_true(report.late_links[0] != report.late_links[1]);
    most = fmax(most, report.late_friction);
  }
  run_free(run);
  return most;
}

/* A step in which the cube lands takes more than half of the approach, and friction of this impulse is late. It changes
 * no more speed than there is. */
static void friction_F8_late_friction_is_measured(void** state) {
  (void)state;
  double strikes = sqrt(1 + 2 * GRAVITY * DROP), most = FRICTION * (strikes + GRAVITY * 0.01),
         late = largest_late(2, 0);
  assert_true(late > 0.5 * most && late < most);
  compare_at_most(largest_late(0.05, 0), 0.05, "late friction of a slow slip");
  compare_at_most(largest_late(0, 0), 1e-9, "late friction without slip");
  compare_at_most(largest_late(2, 20), 0, "late friction with the step's own force");
}

enum { NO_SHAPES = ALL_BLOCKS & ~(1 << GRADCHECK_SHAPES) };

static void friction_F9_box(void** state) {
  (void)state;
  const char* scene = "simulation: {dt: 0.01}\n" CONTACT "links:\n" GROUND "  - {name: box, " BOX
                      ", position: [0, 0, 0.1], rpy: [0.1, 0.04, 0]}\ninitial: [{link: box, " FALLS "}]\n";
  check_gradients("box on the ground", 16, scene, NO_SHAPES, 1e-5);
}

static void friction_F9_two_hulls(void** state) {
  (void)state;
  const char* scene =
      "simulation: {dt: 0.01}\n" CONTACT
      "links:\n  - {name: table, fixed: true, position: [0, 0, -0.1], shape: {type: box, size: [2, 2, 0.2]}}\n"
      "  - {name: box, " BOX ", position: [0, 0, 0.1], rpy: [0.1, 0.04, 0]}\ninitial: [{link: box, " FALLS "}]\n";
  check_gradients("box on a table", 16, scene, NO_SHAPES, 1e-5);
}

static void friction_F9_ball(void** state) {
  (void)state;
  const char* scene = "simulation: {dt: 0.01}\n" CONTACT "links:\n" GROUND "  - {name: ball, " BALL
                      ", position: [0, 0, 0.13]}\ninitial: [{link: ball, " FALLS "}]\n";
  check_gradients("ball on the ground", 16, scene, ALL_BLOCKS, 1e-6);
}

static void friction_F9_ground_that_turns(void** state) {
  (void)state;
  const char* scene =
      "simulation: {dt: 0.01}\n" CONTACT
      "links:\n  - {name: ground, shape: {type: half_space}, joint: {type: hinge, axis: [0.1, 0, 1]}}\n"
      "  - {name: box, " BOX ", position: [0.3, 0.1, 0.1]}\n  - {name: ball, " BALL
      ", position: [-0.3, 0.1, 0.15]}\ncontrollers:\n"
      "  - {link: ground, type: prescribed, target: {type: sines, terms: [{amplitude: 0.3, frequency: 2}]}}\n"
      "initial: [{link: box, " FALLS "}, {link: ball, " FALLS "}]\n";
  check_gradients("ground that turns", 16, scene, ALL_BLOCKS, 1e-6);
}

static void friction_F9_leg(void** state) {
  (void)state;
  const char* scene =
      "simulation: {dt: 0.01}\n" CONTACT "links:\n" GROUND
      "  - {name: body, shape: {type: box, size: [0.3, 0.2, 0.1]}, mass: 3, position: [0, 0, 0.35]}\n"
      "  - {name: leg, parent: body, joint: {type: hinge, axis: [0, 1, 0], position: [0, 0, -0.06]}, mass: 0.5,\n"
      "     shape: {type: box, size: [0.06, 0.06, 0.2], position: [0, 0, -0.12]}}\n"
      "controllers: [{link: leg, type: pd, position_gain: 50, velocity_gain: 1, target: {type: constant, value: "
      "[0.1]}}]\n"
      "initial: [{link: body, velocities: [0.5, 0.1, -1, 0.1, 0.2, 0.1]}]\n";
  check_gradients("leg", 16, scene, NO_SHAPES, 1e-5);
}

/* The solves are differentiated as they were computed, however few they are. */
static void friction_F9_few_solves(void** state) {
  (void)state;
  for (int solves = 1; solves <= 2; solves++) {
    char scene[1024];
    snprintf(scene, sizeof(scene),
             "simulation: {dt: 0.01, gravity: [2, 0, -9.5]}\ncontact: {friction: 0.4, friction_iterations: %d}\n"
             "links:\n" GROUND "  - {name: box, " BOX
             ", position: [0, 0, 0.1], rpy: [0.1, 0.04, 0]}\n  - {name: ball, " BALL
             ", position: [0.5, 0.1, 0.13]}\ninitial: [{link: box, " FALLS "}, {link: ball, " FALLS "}]\n",
             solves);
    check_gradients("box and ball that land on a slope, few solves", 24, scene, NO_SHAPES, 1e-6);
    snprintf(scene, sizeof(scene),
             "simulation: {dt: 0.01}\ncontact: {friction: 0.4, friction_iterations: %d}\nlinks:\n" GROUND
             "  - {name: box, " BOX
             ", position: [0, 0, 0.075]}\n  - {name: plate, shape: {type: box, size: [0.3, 0.3, "
             "0.05]}, mass: 2, position: [0.02, 0.01, 0.2], rpy: [0.02, 0.1, 0]}\n"
             "initial: [{link: box, velocities: [1, 0.3, 0, 0, 0, 0]}, {link: plate, " FALLS "}]\n",
             solves);
    check_gradients("plate that falls on a box, few solves", 24, scene, NO_SHAPES, 1e-5);
  }
}

/* F14: the weight of the step's own force is between 0 and 1 in some of these steps. The motion hardly depends on the
 * mass of the bodies on the slope, so that rounding hides its derivative. */
static void friction_F14_gradient_of_weighted_friction(void** state) {
  (void)state;
  static const double rest_speed[] = {0.01, 0.1, 0.5};
  for (int k = 0; k < 3; k++) {
    char scene[1024];
    snprintf(scene, sizeof(scene),
             "simulation: {dt: 0.01, gravity: [2, 0, -9.5]}\ncontact: {friction: 0.4, friction_iterations: null, "
             "rest_speed: %g}\nlinks:\n" GROUND "  - {name: box, " BOX
             ", position: [0, 0, 0.1], rpy: [0.1, 0.04, 0]}\n  - {name: ball, " BALL
             ", position: [0.5, 0.1, 0.13]}\ninitial: [{link: box, " FALLS "}, {link: ball, " FALLS "}]\n",
             rest_speed[k]);
    check_gradients("box and ball that land on a slope, weighted", 24, scene, NO_SHAPES & ~(1U << GRADCHECK_MASS),
                    1e-5);
    snprintf(scene, sizeof(scene),
             "simulation: {dt: 0.01}\ncontact: {friction: 0.4, friction_iterations: null, rest_speed: %g}\n"
             "links:\n" GROUND "  - {name: box, " BOX
             ", position: [0, 0, 0.075]}\n  - {name: plate, shape: {type: box, size: [0.3, 0.3, "
             "0.05]}, mass: 2, position: [0.02, 0.01, 0.2], rpy: [0.02, 0.1, 0]}\n"
             "initial: [{link: box, velocities: [1, 0.3, 0, 0, 0, 0]}, {link: plate, " FALLS "}]\n",
             rest_speed[k]);
    check_gradients("plate that falls on a box, weighted", 24, scene, NO_SHAPES, 1e-5);
  }
}

/* F14: contact forces at the start of a run have a grip (F6), on which the force that friction owes depends. */
static void friction_F14_gradient_of_a_first_step_with_contact(void** state) {
  (void)state;
  static const double height[] = {0.055, 0.058};
  for (int k = 0; k < 2; k++) {
    char scene[1024];
    snprintf(scene, sizeof(scene),
             "simulation: {dt: 0.01}\ncontact: {friction: 0.4, friction_iterations: null, support: 0.005, rest_speed: "
             "0.01}\nlinks:\n" GROUND "  - {name: box, " BOX
             ", position: [0, 0, %g], rpy: [0.02, 0.01, 0]}\ninitial: [{link: box, " FALLS "}]\n",
             height[k]);
    check_gradients("box that is in contact from the start, weighted", 12, scene, NO_SHAPES, 1e-5);
  }
}

/* F14: a foot that is in contact with a hundredth of its later force where the run begins: friction has all of the
 * impulse that ends the fall of the leg, and of its weight. */
static void friction_F14_foot_in_contact_from_the_start(void** state) {
  (void)state;
  Run* run = run_model(
      "simulation: {dt: 0.01, steps: 12}\ncontact: {friction: 0.2, friction_iterations: null}\nlinks:\n" GROUND
      "  - {name: foot, mass: 2, shape: {type: box, size: [0.2, 0.2, 0.1]}, position: [0, 0, 0.051]}\n"
      "  - {name: body, parent: foot, joint: {type: slide, axis: [0, 0, 1], stiffness: 28800, damping: 960}, mass: 8,\n"
      "     center: [0, 0, 0.2], inertia: [0.05, 0.05, 0.05, 0, 0, 0]}\n"
      "initial: [{link: foot, velocities: [0.5, 0, -1, 0, 0, 0]}]\n");
  Recording r;
  RecordOptions options = {.threads = 1};
  RecordReport report;
  recording_create(&r, &run->model, 12);
  assert_int_equal(recording_run(&r, &run->model, &options, &report, &run->diagnostics), STATUS_OK);
  /* the velocity is that at the midpoint of the last step */
  double loses = 0.2 * (1 + (0.12 - 0.005) * GRAVITY), speed = r.rate[12 * run->model.dof_count];
  compare_near(0.5 - speed, loses, 0.03 * loses, "speed lost by the foot");
  recording_destroy(&r);
  run_free(run);
}

/* Returns where the cube of `lands` is after 0.3 s if it begins at this height. */
static double end_of_landing(double height) {
  Run* run =
      run_model("simulation: {dt: 0.01, steps: 30}\ncontact: {friction: %g, friction_iterations: null}\nlinks:\n" GROUND
                "  - {name: box, shape: {type: box, size: [0.2, 0.2, 0.2]}, mass: 1, position: [0, 0, %.17g]}\n"
                "initial: [{link: box, velocities: [2, 0, -1, 0, 0, 0]}]\n",
                FRICTION, height);
  Recording r;
  RecordOptions options = {.threads = 1};
  RecordReport report;
  recording_create(&r, &run->model, 30);
  assert_int_equal(recording_run(&r, &run->model, &options, &report, &run->diagnostics), STATUS_OK);
  double end = recording_state_pose(&r, &r.states[r.row_state[30]])[1].t.x;
  recording_destroy(&r);
  run_free(run);
  return end;
}

/* F14: the end of the slide over heights 0.25 mm apart, over the fall of a whole step. Without the payment of what the
 * weights leave out, second differences are up to 1e-2 m. */
static void friction_F14_end_is_smooth_over_heights(void** state) {
  (void)state;
  double end[3];
  for (int k = 0; k < 64; k++) {
    end[k % 3] = end_of_landing(0.15 + 2.5e-4 * k);
    if (k >= 2) assert_true(fabs(end[k % 3] - 2 * end[(k + 2) % 3] + end[(k + 1) % 3]) < 3e-4);
  }
}

static void drum_lands(int iterations, double q[6]) {
  Run* run =
      run_model("simulation: {dt: 0.01, steps: 20}\ncontact: {friction: 0.3, friction_iterations: %d}\nlinks:\n" GROUND
                "  - {name: drum, shape: {type: cylinder, radius: 0.1, length: 0.2}, mass: 1, position: [0, 0, "
                "0.15]}\ninitial: [{link: drum, velocities: [2, 0, -1, 0, 0, 0]}]\n",
                iterations);
  Recording r;
  RecordOptions options = {.threads = 1};
  RecordReport report;
  recording_create(&r, &run->model, 20);
  assert_int_equal(recording_run(&r, &run->model, &options, &report, &run->diagnostics), STATUS_OK);
  for (int i = 0; i < 6; i++) q[i] = r.rate[(size_t)20 * 6 + (size_t)i];
  recording_destroy(&r);
  run_free(run);
}

/* F14: a ball that spins by 1.5 rad a step lands: the steps after are divided, and what friction owes goes through
 * substeps of other lengths. */
static void friction_F14_gradient_through_divided_steps(void** state) {
  (void)state;
  const char* scene =
      "simulation: {dt: 0.005, gravity: [0, 0, 0]}\ncontact: {friction: 0.3, friction_iterations: null}\n"
      "links:\n" GROUND
      "  - {name: ball, mass: 1, position: [0, 0, 0.064], shape: {type: sphere, radius: 0.05}}\n"
      "initial: [{link: ball, velocities: [1, 0, -1.4, 0, 300, 0]}]\n";
  check_gradients("ball that lands with a spin", 5, scene, ALL_BLOCKS, 1e-5);
}

/* F14: a drum and a flat disc land while they slide. Their friction keeps the points of t, and the force of the same
 * step limits it. */
static void friction_F14_gradient_of_circles(void** state) {
  (void)state;
  const char* scene =
      "simulation: {dt: 0.01}\ncontact: {friction: 0.3}\nlinks:\n" GROUND
      "  - {name: drum, shape: {type: cylinder, radius: 0.1, length: 0.2}, mass: 1, position: [0, 0, 0.12], rpy: "
      "[0.05, 0.02, 0]}\n"
      "  - {name: puck, shape: {type: disc, radius: 0.1, rim: 0.02}, mass: 1, position: [1, 0, 0.03], rpy: [0.02, "
      "0.03, 0]}\n"
      "initial: [{link: drum, velocities: [1, 0.2, -1, 0.3, 0, 0.5]}, {link: puck, velocities: [1, 0.1, -0.5, 0, 0, "
      "3]}]\n";
  check_gradients("drum and puck that land", 12, scene, ALL_BLOCKS & ~(1U << GRADCHECK_MASS), 1e-5);
}

/* F14: a box, a ball and a drum with static, rolling and spinning friction land while they slide. */
static void friction_F14_gradient_with_other_friction(void** state) {
  (void)state;
  const char* scene =
      "simulation: {dt: 0.01}\ncontact: {friction: 0.3, static_friction: 0.4, stribeck_speed: 0.8, rolling: 0.002, "
      "spinning: 0.003}\nlinks:\n" GROUND "  - {name: box, " BOX
      ", position: [0, 0, 0.07], rpy: [0.05, 0.02, 0]}\n  - {name: ball, " BALL
      ", position: [0.5, 0.1, 0.12]}\n"
      "  - {name: drum, shape: {type: cylinder, radius: 0.1, length: 0.2}, mass: 1, position: [1, 0, 0.12], rpy: "
      "[0.05, 0.02, 0]}\n"
      "initial: [{link: box, " FALLS "}, {link: ball, " FALLS
      "}, {link: drum, velocities: [1, 0.2, -1, 0.3, 0, "
      "0.5]}]\n";
  check_gradients("bodies with all kinds of friction that land", 12, scene, ALL_BLOCKS & ~(1U << GRADCHECK_MASS), 1e-5);
}

/* F14: a box lands, bounces, and slides: friction owes the impulse of its landing in steps after the impacts. */
static void friction_F14_gradient_after_restitution(void** state) {
  (void)state;
  const char* scene =
      "simulation: {dt: 0.01}\ncontact: {friction: 0.3, restitution: 0.3}\nlinks:\n" GROUND "  - {name: box, " BOX
      ", position: [0, 0, 0.06], rpy: [0.02, 0.03, 0.1]}\n"
      "initial: [{link: box, velocities: [2, 0.1, -0.3, 0.1, 0.2, 0.3]}]\n";
  check_gradients("box that bounces and slides", 16, scene, NO_SHAPES & ~(1U << GRADCHECK_MASS), 1e-5);
}

/* F14: a stop of a door ends a substep while a box lands: what friction owes depends on the ratio of lengths. */
static void friction_F14_gradient_through_events(void** state) {
  (void)state;
  const char* scene =
      "simulation: {dt: 0.01}\ncontact: {friction: 0.3, friction_iterations: null}\nlinks:\n" GROUND
      "  - {name: box, " BOX
      ", position: [0, 0, 0.062], rpy: [0.02, 0.03, 0.1]}\n"
      "  - {name: door, mass: 0.5, position: [0, 3, 1], shape: {type: box, size: [0.4, 0.1, 0.1]}, joint: {type: "
      "hinge, "
      "axis: [0, 0, 1], limits: [-0.3, 0.11], limit_restitution: 0.5}}\n"
      "initial: [{link: box, velocities: [2, 0.1, -1, 0.1, 0.2, 0.3]}, {link: door, velocities: [3]}]\n";
  check_gradients("landing beside a stop", 8, scene, NO_SHAPES, 1e-5);
}

/* Pairs with a circle keep the force of t, and the steps are not solved again. */
static void friction_F8_circles_keep_the_force_before(void** state) {
  (void)state;
  double without[6], with[6];
  drum_lands(0, without);
  drum_lands(20, with);
  assert_true(without[0] < 1.9);
  for (int i = 0; i < 6; i++) assert_true(without[i] == with[i]);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(friction_F8_landing_has_coulombs_impulse),
      cmocka_unit_test(friction_F8_late_friction_is_measured),
      cmocka_unit_test(friction_F9_box),
      cmocka_unit_test(friction_F9_two_hulls),
      cmocka_unit_test(friction_F9_ball),
      cmocka_unit_test(friction_F9_ground_that_turns),
      cmocka_unit_test(friction_F9_leg),
      cmocka_unit_test(friction_F9_few_solves),
      cmocka_unit_test(friction_F14_gradient_of_weighted_friction),
      cmocka_unit_test(friction_F14_gradient_of_a_first_step_with_contact),
      cmocka_unit_test(friction_F14_foot_in_contact_from_the_start),
      cmocka_unit_test(friction_F14_end_is_smooth_over_heights),
      cmocka_unit_test(friction_F14_gradient_through_divided_steps),
      cmocka_unit_test(friction_F14_gradient_through_events),
      cmocka_unit_test(friction_F14_gradient_of_circles),
      cmocka_unit_test(friction_F14_gradient_with_other_friction),
      cmocka_unit_test(friction_F14_gradient_after_restitution),
      cmocka_unit_test(friction_F8_circles_keep_the_force_before),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

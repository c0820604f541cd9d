/* Tests solids with circles (docs/derivations/contact.md, C7; adjoint.md, A8c) in runs: closed forms and gradients. */
#include "gradient/rows.h"

#define WHEEL "{type: wheel, radius: 0.05, width: 0.04, rim: 0.008}"
#define DISC "{type: disc, radius: 0.06, rim: 0.01}"
#define CONE "{type: cone, bottom_radius: 0.05, top_radius: 0.03, length: 0.08}"
#define UPRIGHT 1.57079632679489661923

static double speed_of(Run* run, double duration) {
  double dt = run->model.simulation.dt, before = 0;
  int steps = (int)(duration / dt + 0.5);
  for (int k = 0; k < steps; k++) {
    before = sim_state(run->sim)->pose[1].t.x;
    assert_int_equal(sim_step(run->sim).outcome, STEP_CONVERGED);
  }
  return (sim_state(run->sim)->pose[1].t.x - before) / dt;
}

/* A wheel, a disc and a cylinder that roll keep their speed. */
static void rolling_C7_keeps_the_speed(void** state) {
  (void)state;
  static const char* const SHAPES[] = {WHEEL, "{type: cone, bottom_radius: 0.05, top_radius: 0.05, length: 0.08}"};
  for (int k = 0; k < 2; k++) {
    Run* run = run_create(1, 0,
                          "simulation: {dt: 0.01, integrator: momentum}\n"
                          "contact: {friction: 0.5}\n"
                          "links:\n"
                          "  - {name: ground, fixed: true, shape: {type: half_space}}\n"
                          "  - {name: wheel, density: 1000, position: [0, 0, 0.0502], rpy: [%.17g, 0, 0], shape: %s}\n"
                          "initial: [{link: wheel, velocities: [2, 0, 0, 0, 0, -40]}]\n",
                          UPRIGHT, SHAPES[k]);
    compare_relative(speed_of(run, 5), 2, 2e-3, "speed after 5 s, %s", SHAPES[k]);
    run_free(run);
  }
}

/* Uniform pressure on a flat end resists a spin by 2/3 mu N R, so the spin of a cylinder falls by 4/3 mu g / R. */
static void spin_F10_on_a_flat_end(void** state) {
  (void)state;
  const double mu = 0.3, radius = 0.1, time = 0.2, dt = 0.002;
  Run* run = run_create(1, 0,
                        "simulation: {dt: %g, integrator: momentum}\n"
                        "contact: {friction: %g}\n"
                        "links:\n"
                        "  - {name: ground, fixed: true, shape: {type: half_space}}\n"
                        "  - {name: drum, density: 1000, position: [0, 0, 0.0252], "
                        "shape: {type: cylinder, radius: %g, length: 0.05}}\n"
                        "initial: [{link: drum, velocities: [0, 0, 0, 0, 0, 20]}]\n",
                        dt, mu, radius);
  Mat3 before = mat3_identity();
  for (int k = 0; k < (int)(time / dt + 0.5); k++) {
    before = sim_state(run->sim)->pose[1].r;
    assert_int_equal(sim_step(run->sim).outcome, STEP_CONVERGED);
  }
  Mat3 turn = mat3_mul(sim_state(run->sim)->pose[1].r, mat3_transpose(before));
  double spin = atan2(turn.m[1][0], turn.m[0][0]) / dt;
  compare_relative(20 - spin, 4.0 / 3 * mu * 9.81 / radius * time, 0.02, "spin lost in 0.2 s");
  run_free(run);
}

static void gradients_A8c_of_a_wheel_on_the_ground(void** state) {
  (void)state;
  check_gradients("a wheel that rolls, slides and leans", 8,
                  "simulation: {dt: 0.005, tolerance: 1e-11}\n"
                  "contact: {friction: 0.3}\n"
                  "links:\n"
                  "  - {name: ground, fixed: true, shape: {type: half_space}}\n"
                  "  - {name: wheel, density: 1000, position: [0, 0, 0.0503], rpy: [1.56, 0, 0.1], shape: " WHEEL
                  "}\n"
                  "initial: [{link: wheel, velocities: [1, 0.2, 0, 0.1, 0.5, -10]}]\n",
                  ALL_BLOCKS, 1e-6);
}

/* The parts of a pair that has a stiffness of its own are scaled alike, those by radii and lengths too. */
static void gradients_A8c_of_pairs_with_their_own_stiffness(void** state) {
  (void)state;
  check_gradients("a wheel and a ball that press harder than the scene says", 8,
                  "simulation: {dt: 0.005, tolerance: 1e-11}\n"
                  "contact: {friction: 0.3, pairs: [\n"
                  "  {a: ground, b: wheel, model: separating_plane, stiffness: 1.0e-7, barrier_distance: 0.002},\n"
                  "  {a: ground, b: ball, model: separating_plane, stiffness: 1.0e-7, barrier_distance: 0.002}]}\n"
                  "links:\n"
                  "  - {name: ground, fixed: true, shape: {type: box, size: [4, 4, 0.2]}, position: [0, 0, -0.1]}\n"
                  "  - {name: wheel, density: 1000, position: [0, 0, 0.0512], rpy: [1.56, 0, 0.1], shape: " WHEEL
                  "}\n"
                  "  - {name: ball, density: 1000, position: [0.5, 0, 0.0312], shape: {type: sphere, radius: 0.03}}\n"
                  "initial: [{link: wheel, velocities: [1, 0.2, 0, 0.1, 0.5, -10]}, {link: ball, velocities: [1, 0, 0, "
                  "0, 5, 0]}]\n",
                  ALL_BLOCKS, 1e-6);
}

/* What a pair's own stiffness scales: the rotation that friction of round bodies expects, static friction, friction by
 * direction. */
static void gradients_A7_of_pairs_with_their_own_stiffness(void** state) {
  (void)state;
  check_gradients("a wheel on a half-space that presses harder than the scene says", 40,
                  "simulation: {dt: 0.005, tolerance: 1e-11}\n"
                  "contact: {friction: 0.3, pairs: [\n"
                  "  {a: ground, b: wheel, model: separating_plane, stiffness: 1.0e-7, barrier_distance: 0.002}]}\n"
                  "links:\n"
                  "  - {name: ground, fixed: true, shape: {type: half_space}}\n"
                  "  - {name: wheel, density: 1000, position: [0, 0, 0.0512], rpy: [1.56, 0, 0.1], shape: " WHEEL
                  "}\n"
                  "initial: [{link: wheel, velocities: [1, 0.2, 0, 0.1, 0.5, -10]}]\n",
                  ALL_BLOCKS, 1e-6);
  static const char* const frictions[] = {"friction: 0.3, static_friction: 0.5, stribeck_speed: 0.1",
                                          "friction: [0.1, 0.5], friction_axis: [1, 0, 0]"};
  for (int k = 0; k < 2; k++) {
    Text scene = {0};
    text_add(
        &scene,
        "simulation: {dt: 0.005, tolerance: 1e-11}\n"
        "contact: {pairs: [{a: ground, b: box, model: separating_plane, stiffness: 1.0e-7, barrier_distance: 0.002}]}\n"
        "links:\n"
        "  - {name: ground, fixed: true, shape: {type: half_space}}\n"
        "  - {name: box, mass: 1, position: [0, 0, 0.0551], rpy: [0.02, 0.05, 0.1], shape: {type: box, size: [0.1, "
        "0.12, 0.1]}, %s}\n"
        "initial: [{link: box, velocities: [0.3, 0.1, -0.1, 0.1, 0.5, 0.7]}]\n",
        frictions[k]);
    /* differences by the vertices of a box resolve only 3e-5: its flat faces have kinks (seeds 1 to 5: 7e-7 to 2.9e-5)
     */
    check_gradients(frictions[k], 40, scene.data, ALL_BLOCKS & ~(1U << GRADCHECK_SHAPES), 3e-5);
    text_free(&scene);
  }
}

static void gradients_A8c_of_what_lies_flat(void** state) {
  (void)state;
  check_gradients("a disc and a cone that slide and spin", 8,
                  "simulation: {dt: 0.005, tolerance: 1e-11}\n"
                  "contact: {friction: 0.3}\n"
                  "links:\n"
                  "  - {name: ground, fixed: true, shape: {type: half_space}}\n"
                  "  - {name: disc, density: 1000, position: [0, 0, 0.0102], shape: " DISC
                  "}\n"
                  "  - {name: cone, density: 1000, position: [1, 0, 0.0402], shape: " CONE
                  "}\n"
                  "initial: [{link: disc, velocities: [0.4, 0.2, 0, 0, 0, 5]}, {link: cone, velocities: [0.4, 0.2, 0, "
                  "0, 0, 5]}]\n",
                  ALL_BLOCKS, 1e-5);
}

static void gradients_A8c_on_a_moving_half_space(void** state) {
  (void)state;
  check_gradients(
      "a half-space that swings under a cone", 8,
      "simulation: {dt: 0.005, tolerance: 1e-11}\n"
      "contact: {friction: 0.3}\n"
      "links:\n"
      "  - {name: ground, shape: {type: half_space}, joint: {type: hinge, axis: [0, 1, 0]}}\n"
      "  - {name: cone, density: 1000, position: [0.1, 0, 0.0402], rpy: [0.001, 0, 0.2], shape: " CONE
      "}\n"
      "controllers:\n"
      "  - {link: ground, type: prescribed, target: {type: sines, terms: [{amplitude: 0.05, frequency: 3}]}}\n"
      "initial: [{link: cone, velocities: [0.5, 0, 0, 0, 0, 1]}]\n",
      ALL_BLOCKS, 1e-6);
}

static void gradients_A8c_among_boxes(void** state) {
  (void)state;
  check_gradients(
      "a wheel, a disc and a block that touch", 8,
      "simulation: {dt: 0.005, tolerance: 1e-11}\n"
      "contact: {friction: 0.3, barrier_distance: 0.001}\n"
      "links:\n"
      "  - {name: wheel, density: 1000, position: [0, 0, 0.0508], rpy: [1.56, 0, 0.3], shape: " WHEEL
      "}\n"
      "  - {name: block, density: 900, position: [0.01, 0.02, -0.05], rpy: [0.0, 0.0, 0.3], shape: {type: points, "
      "points: [[-0.1, -0.1, -0.05], [0.1, -0.1, -0.05], [0.1, 0.1, -0.05], [-0.1, 0.1, -0.05], [-0.1, -0.1, 0.05], "
      "[0.1, -0.1, 0.05], [0.1, 0.1, 0.0502], [-0.1, 0.1, 0.05]]}}\n"
      "initial: [{link: wheel, velocities: [0.3, 0, -0.2, 0.1, 0.2, 4]}]\n",
      ALL_BLOCKS & ~(1 << GRADCHECK_VERTICES), 1e-6);
}

/* A turntable of radius 1 m rotates at 2.5 rad/s. The first %s is for the table, the second for the rider 0.3 m off its
 * axis. */
#define TURNTABLE                                                                  \
  "simulation: {dt: 0.01}\n"                                                       \
  "contact: {friction: 0.5}\n"                                                     \
  "links:\n"                                                                       \
  "  - {name: table, joint: {type: hinge, axis: [0, 0, 1]}, mass: 5, shape: %s}\n" \
  "  - {name: rider, mass: 0.5, position: [0.3, 0, %g], shape: %s}\n"              \
  "controllers: [{link: table, type: velocity, damping_gain: 100, target: 2.5}]\n" \
  "initial: [{link: table, velocities: [2.5]}, {link: rider, velocities: [0, 0.75, 0, 0, 0, 2.5]}]\n"
#define TABLE "{type: cylinder, radius: 1, length: 0.1}"
#define BOX "{type: box, size: [0.1, 0.08, 0.06]}"

/* Friction of bodies that rotate together is zero (F2, F13). At 38 % of the friction limit a rider creeps by 0.04 mm/s.
 */
static void riders_F13_stay_on_a_turntable(void** state) {
  (void)state;
  static const struct {
    const char *table, *rider;
    double height;
  } CASES[] = {
      {TABLE, BOX, 0.0802},
      {"{type: wheel, radius: 1, width: 0.1, rim: 0.02}", "{type: cylinder, radius: 0.04, length: 0.06}", 0.0802},
      {"{type: disc, radius: 1, rim: 0.05}", DISC, 0.0602}};
  for (int k = 0; k < 3; k++) {
    Run* run = run_create(1, 0, TURNTABLE, CASES[k].table, CASES[k].height, CASES[k].rider);
    for (int step = 0; step < 100; step++) assert_int_equal(sim_step(run->sim).outcome, STEP_CONVERGED);
    Vec3 p = sim_state(run->sim)->pose[1].t;
    compare_relative(hypot(p.x, p.y), 0.3, 1e-3, "distance from the axis after 1 s, %s", CASES[k].rider);
    run_free(run);
  }
}

static void gradients_F13_on_a_turntable(void** state) {
  (void)state;
  check_gradients("a wheel that leans and rolls on a cylinder that turns", 8,
                  "simulation: {dt: 0.005, tolerance: 1e-11}\n"
                  "contact: {friction: 0.3}\n"
                  "links:\n"
                  "  - {name: table, joint: {type: hinge, axis: [0, 0, 1]}, mass: 5, shape: " TABLE
                  "}\n"
                  "  - {name: wheel, density: 1000, position: [0.3, 0, 0.1018], rpy: [1.2, 0, 0.1], shape: " WHEEL
                  "}\n"
                  "  - {name: box, density: 1000, position: [-0.3, 0, 0.0802], shape: " BOX
                  "}\n"
                  "initial: [{link: table, velocities: [2]}, {link: wheel, velocities: [1, 0.2, 0, 0.1, 0.5, -10]}, "
                  "{link: box, velocities: [0.2, -0.5, 0, 0, 0, 3]}]\n",
                  ALL_BLOCKS, 1e-6);
}

/* Euler's disk, a disc of 1 kg whose centre rests while its contact point runs round at a constant rate. Euler's
 * equations about the centre give this rate, with the edge a torus of minor radius r and ring radius a. */
static void precession_F17_of_eulers_disk(void** state) {
  (void)state;
  const double tilt = 0.3, a = 0.098, r = 0.002, across = 0.0025, along = 0.005, g = 9.81, dt = 0.01;
  double sine = sin(tilt), cosine = cos(tilt), spin = -a * cosine / (a + r * sine);
  double rate = sqrt(g * a * cosine / (across * sine * cosine - along * sine * (cosine + spin)));
  Run* run = run_create(1, 0,
                        "simulation: {dt: %g}\n"
                        "contact: {friction: 1}\n"
                        "links:\n"
                        "  - {name: ground, fixed: true, shape: {type: half_space}}\n"
                        "  - {name: disc, mass: 1, inertia: [0.0025, 0.0025, 0.005, 0, 0, 0], position: [0, 0, %.17g], "
                        "rpy: [%g, 0, 0], shape: {type: disc, radius: 0.1, rim: 0.002}}\n"
                        "initial: [{link: disc, velocities: [0, 0, 0, 0, %.17g, %.17g]}]\n",
                        dt, a * sine + r + 2e-5, tilt, rate * sine, rate * (cosine + spin));
  double angle = 0, before = 0;
  for (int k = 0; k < 50; k++) {
    assert_int_equal(sim_step(run->sim).outcome, STEP_CONVERGED);
    Mat3 turn = sim_state(run->sim)->pose[1].r;
    double azimuth = atan2(turn.m[1][2], turn.m[0][2]), change = azimuth - before;
    if (k >= 10) angle += change - 2 * M_PI * round(change / (2 * M_PI));
    before = azimuth;
  }
  compare_relative(fabs(angle) / (40 * dt), rate, 1e-2, "rate of precession");
  run_free(run);
}

/* Bodies on circles that lean: on the ground and on a box, in substeps while the contact point runs round (Euler's
 * disk), from a landing on the edge, and until a body lies flat. The format's arguments are ground, height, tilt,
 * shape and velocities. */
#define LEANS                                                                        \
  "simulation: {dt: 0.01, tolerance: 1e-11}\n"                                       \
  "contact: {friction: 0.4}\n"                                                       \
  "links:\n"                                                                         \
  "  - {name: ground, fixed: true, shape: %s}\n"                                     \
  "  - {name: disc, %s, position: [0, 0, %.17g], rpy: [%.17g, 0, 0.1], shape: %s}\n" \
  "initial: [{link: disc, velocities: %s}]\n"
/* Tilt at which the cone lies on its side. */
#define LYING (M_PI / 2 + 0.8621700546672264)
static void gradients_W21_of_bodies_that_lean(void** state) {
  (void)state;
  static const char GROUND[] = "{type: half_space}", FLOOR[] = "{type: box, size: [4, 4, 0.2]}, position: [0, 0, -0.1]",
                    BOARD[] =
                        "{type: half_space}, position: [0, 0, -0.2003]}\n"
                        "  - {name: board, mass: 5, shape: {type: box, size: [1, 1.2, 0.2]}, position: [0, 0, -0.1]";
  static const char COIN[] = "{type: disc, radius: 0.1, rim: 0.002}",
                    DRUM[] = "{type: cylinder, radius: 0.1, length: 0.06}",
                    PILL[] = "{type: capsule, radius: 0.05, length: 0.2}",
                    HORN[] = "{type: cone, bottom_radius: 0.1, top_radius: 0.03, length: 0.06}",
                    BALL[] = "{type: sphere, radius: 0.05}", ROCKER[] = "{type: cylinder, radius: 0.1, length: 0.06}";
  static const struct {
    const char *name, *ground, *shape, *velocities;
    double tilt, gap;
    int steps;
    double bound; /* a larger one where rounding hides the derivative with respect to the mass */
  } CASES[] = {
      {"a disc that rolls in a circle", GROUND, COIN, "[1.1, 0.02, 0, 0.1, 2, -9.6]", 1.2, 2e-5, 12, 3e-6},
      {"a disc that rolls in a circle on a box", FLOOR, COIN, "[1.1, 0.02, 0, 0.1, 2, -9.6]", 1.2, 2e-5, 8, 3e-5},
      {"Euler's disk", GROUND, COIN, "[0, 0, 0, 0.1, 10.7, 1.6]", 0.3, 2e-5, 6, 3e-6},
      {"a drum on its edge", GROUND, DRUM, "[0.1, 0.1, 0, 0.5, 3, 2]", 0.7, 3e-5, 12, 3e-6},
      {"a disc that lands on its edge", GROUND, COIN, "[0.4, 0.1, -0.3, 0.5, 3, 2]", 0.6, 0.005, 12, 3e-5},
      {"a drum that falls flat", GROUND, DRUM, "[0.1, 0.1, 0, 0, 0.3, 0.2]", 0.15, 3e-5, 20, 3e-6},
      {"a capsule that rolls in a circle", GROUND, PILL, "[-0.7, 0.02, 0, 0.1, 5, 40]", 0.8, 2e-5, 12, 3e-6},
      {"a capsule that rolls in a circle on a box", FLOOR, PILL, "[-0.7, 0.02, 0, 0.1, 5, 40]", 0.8, 2e-5, 8, 3e-6},
      {"a capsule that falls on its side", GROUND, PILL, "[0.1, 0.1, 0, 1.5, 0.5, 3]", 1.45, 2e-5, 16, 3e-5},
      {"a disc on a free board", BOARD, COIN, "[1.1, 0.02, 0, 0.1, 2, -9.6]", 1.2, 2e-5, 8, 3e-6},
      {"a capsule on a free board", BOARD, PILL, "[-0.7, 0.02, 0, 0.1, 5, 40]", 0.8, 2e-5, 6, 1e-5},
      {"a cone that rolls in a circle", GROUND, HORN, "[0.8, 0.02, 0, 0.1, 2, -8]", 1.0, 2e-5, 12, 3e-6},
      {"a cone that rolls in a circle on a box", FLOOR, HORN, "[0.8, 0.02, 0, 0.1, 2, -8]", 1.0, 2e-5, 8, 3e-6},
      {"a cone that rolls on its side", GROUND, HORN, "[0.6, 0.02, 0, 0.3, 2, -9]", LYING, 5e-5, 12, 1e-5},
      {"a cone that rolls on its side on a box", FLOOR, HORN, "[0.6, 0.02, 0, 0.3, 2, -9]", LYING, 5e-5, 8, 3e-6},
      {"a cone on a free board", BOARD, HORN, "[0.8, 0.02, 0, 0.1, 2, -8]", 1.0, 2e-5, 6, 1e-5},
      {"a cone on its small end", GROUND, HORN, "[0.1, 0.02, 0, 0.2, 2, -8]", 2.6, 2e-5, 12, 3e-6},
      {"a ball with an eccentric mass", GROUND, BALL, "[0.3, 0.02, 0, 1, 5, 20]", 0.3, 3e-4, 16, 3e-6},
      {"a ball with an eccentric mass on a box", FLOOR, BALL, "[0.3, 0.02, 0, 1, 5, 20]", 0.3, 3e-4, 12, 3e-6},
      {"a drum with an eccentric mass", GROUND, ROCKER, "[0.3, 0.02, 0, 1, 2, 5]", 1.2, 3e-5, 12, 3e-6}};
  for (size_t k = 0; k < sizeof(CASES) / sizeof(CASES[0]); k++) {
    if (!tests_are_long() && k % 4 == 3) continue;
    bool pill = CASES[k].shape == PILL, ball = CASES[k].shape == BALL;
    double rounding = pill || ball             ? 0.05
                      : CASES[k].shape == COIN ? 0.002
                                               : 0,
           s = sin(CASES[k].tilt), c = cos(CASES[k].tilt);
    double ring = pill || ball ? 0 : 0.1 - rounding;
    double half = pill ? 0.1 : ball || CASES[k].shape == COIN ? 0 : 0.03;
    double top = CASES[k].shape == HORN ? 0.03 : ring; /* radius of the upper circle */
    double height = fmax(ring * s + half * c, top * s - half * c) + rounding + CASES[k].gap;
    Text scene = {0};
    const char* mass = ball ? "mass: 0.5, inertia: [4e-4, 5e-4, 3e-4, 0, 0, 0], center: [0.004, 0.003, -0.015]"
                       : CASES[k].shape == ROCKER
                           ? "mass: 1, inertia: [3e-3, 3e-3, 4e-3, 0, 0, 0], center: [0.03, -0.02, 0.005]"
                           : "density: 1000";
    text_add(&scene, LEANS, CASES[k].ground, mass, height, CASES[k].tilt, CASES[k].shape, CASES[k].velocities);
    check_gradients(CASES[k].name, CASES[k].steps, scene.data, ALL_BLOCKS & ~(1U << GRADCHECK_ATTACHMENTS),
                    CASES[k].bound);
    text_free(&scene);
  }
}

/* Bodies that move freely in a plane (spin.md, W53). They roll with an eccentric mass, topple, slide down a wall, land
 * and rock, and carry each other. The format's arguments are more links, the body, and its initial velocities. */
#define IN_A_PLANE                                                                                            \
  "simulation: {dt: 0.01, tolerance: 1e-11}\n"                                                                \
  "contact: {friction: 0.4}\n"                                                                                \
  "links:\n"                                                                                                  \
  "  - {name: ground, fixed: true, shape: {type: half_space}}\n"                                              \
  "%s"                                                                                                        \
  "  - {name: body, %s, joint: {type: free, free_axes: [%s], position: [0, 0, %.17g], rpy: [0, %.17g, 0]}}\n" \
  "%s"                                                                                                        \
  "initial: [{link: body, velocities: %s}]\n"
static void gradients_W53_of_bodies_in_a_plane(void** state) {
  (void)state;
  static const char NOTHING[] = "",
                    WALL[] =
                        "  - {name: wall, fixed: true, shape: {type: half_space, normal: [1, 0, 0]}, position: "
                        "[-0.0798, 0, 0]}\n",
                    BOARD[] =
                        "  - {name: board, mass: 5, shape: {type: box, size: [1, 0.4, 0.1]}, joint: {type: free, "
                        "free_axes: [x, z, ry], position: [0, 0, 0.0503]}}\n",
                    PUSH[] = "loads: [{link: body, force: [0.3, 0, 0.2], point: [0.01, 0, 0.03]}]\n";
  static const char OFF_AXIS[] =
      "mass: 1, inertia: [3e-3, 3e-3, 4e-3, 0, 0, 0], center: [0.02, 0, -0.03], shapes: [{type: "
      "cylinder, radius: 0.1, length: 0.06, rpy: [1.5707963267948966, 0, 0]}]",
                    PILL[] = "density: 1000, shape: {type: capsule, radius: 0.05, length: 0.2}",
                    DRUM[] = "density: 800, shape: {type: cylinder, radius: 0.1, length: 0.06}",
                    BRICK[] = "density: 1000, shape: {type: box, size: [0.1, 0.1, 0.3]}";
  static const struct {
    const char *name, *links, *body, *axes, *more, *velocities;
    double height, tilt;
    int steps;
    double bound;
  } CASES[] = {
      {"a wheel with an eccentric mass", NOTHING, OFF_AXIS, "x, z, ry", PUSH, "[0.5, 0, 5]", 0.1003, 0.4, 16, 3e-6},
      {"the same with a slide along its axis", NOTHING, OFF_AXIS, "x, y, z, ry", NOTHING, "[0.5, 0.1, 0, 5]", 0.1003,
       0.4, 12, 3e-6},
      {"a capsule that topples", NOTHING, PILL, "x, z, ry", NOTHING, "[0.1, 0, 0.5]", 0.14554, 0.3, 16, 3e-6},
      {"a capsule between floor and wall", WALL, PILL, "x, z, ry", NOTHING, "[0, 0, -0.3]", 0.14558, -0.3, 12, 3e-6},
      {"a capsule that lands", NOTHING, PILL, "x, z, ry", NOTHING, "[0.3, -0.4, 3]", 0.16, 0.6, 16, 3e-5},
      {"a drum on its edge", NOTHING, DRUM, "x, z, ry", NOTHING, "[0.1, 0, 1]", 0.08738, 0.7, 12, 3e-6},
      {"a brick that rocks", NOTHING, BRICK, "x, z, ry", NOTHING, "[0, 0, -0.5]", 0.15454, 0.1, 16, 3e-5},
      {"a wheel on a free board", BOARD, OFF_AXIS, "x, z, ry", NOTHING, "[0.5, 0, 5]", 0.2006, 0.4, 8, 1e-5}};
  for (size_t k = 0; k < sizeof(CASES) / sizeof(CASES[0]); k++) {
    Text scene = {0};
    text_add(&scene, IN_A_PLANE, CASES[k].links, CASES[k].body, CASES[k].axes, CASES[k].height, CASES[k].tilt,
             CASES[k].more, CASES[k].velocities);
    unsigned blocks = CASES[k].body == BRICK ? ALL_BLOCKS & ~(1U << GRADCHECK_SHAPES) : ALL_BLOCKS;
    check_gradients(CASES[k].name, CASES[k].steps, scene.data, blocks, CASES[k].bound);
    text_free(&scene);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(spin_F10_on_a_flat_end),
      cmocka_unit_test(rolling_C7_keeps_the_speed),
      cmocka_unit_test(gradients_A8c_of_a_wheel_on_the_ground),
      cmocka_unit_test(gradients_A8c_of_what_lies_flat),
      cmocka_unit_test(gradients_A8c_of_pairs_with_their_own_stiffness),
      cmocka_unit_test(gradients_A7_of_pairs_with_their_own_stiffness),
      cmocka_unit_test(gradients_A8c_on_a_moving_half_space),
      cmocka_unit_test(gradients_A8c_among_boxes),
      cmocka_unit_test(precession_F17_of_eulers_disk),
      cmocka_unit_test(gradients_W21_of_bodies_that_lean),
      cmocka_unit_test(gradients_W53_of_bodies_in_a_plane),
      cmocka_unit_test(riders_F13_stay_on_a_turntable),
      cmocka_unit_test(gradients_F13_on_a_turntable),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

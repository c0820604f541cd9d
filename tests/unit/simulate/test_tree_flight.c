/* Tests joint trees under integrator `momentum` (W11, W12, W14): wheels, pendulums and robots in flight against closed
 * forms and invariants. */
#include "simulate/tree_flight.h"

#include <string.h>

#include "support/elliptic.h"
#include "support/runs.h"

#define PI 3.14159265358979323846

/* Takes steps of 1, 2, 3 and 1 substeps in turn, so that the previous substep is equal, longer or shorter. */
static void step_unevenly(Run* run, int number) {
  static const int PARTS[] = {1, 2, 3, 1};
  StepReport report = sim_step_with_substeps(run->sim, PARTS[number % 4]);
  if (step_outcome_failed(report.outcome)) fail_msg("a step failed: %s", step_outcome_text(report.outcome));
}

/* ---------------------------------------------------------------- one axis */

static const char WHEEL[] =
    "simulation: {dt: 0.01, duration: 100, integrator: momentum}\n"
    "links:\n"
    "  - {name: wheel, mass: 2, mass_model: uniform, shape: {type: box, size: [0.4, 0.4, 0.1]}, joint: {type: %s, "
    "axis: "
    "[0.3, 1, 0.2], position: [0, 0, 1]}}\n"
    "initial: [{link: wheel, velocities: [%g]}]\n";

/* A wheel whose centre is on its axle goes on turning as it began, below and above a right angle a step. */
static void flight_W11_W14_wheel_keeps_its_rate(void** state) {
  (void)state;
  static const double RATES[] = {0.3, 12, 90, 200, 900};
  for (size_t k = 0; k < sizeof RATES / sizeof *RATES; k++) {
    Run* run = run_create(1, 0, WHEEL, "hinge", RATES[k]);
    for (int n = 0; n < 200; n++) step_unevenly(run, n);
    compare_relative(sim_state(run->sim)->q[0], 2 * RATES[k], 1e-12, "angle after 2 s at %g rad/s", RATES[k]);
    compare_relative(sim_state(run->sim)->rate[0], RATES[k], 1e-9, "rate after 2 s at %g rad/s", RATES[k]);
    run_free(run);
  }
}

/* A slide falls as a parabola from the first step on: the slope of its axis in the field. */
static void flight_W11_slide_falls_on_the_parabola(void** state) {
  (void)state;
  Run* run = run_create(1, 0, WHEEL, "slide", 1.5);
  double slope = -9.81 * 0.2 / sqrt(0.3 * 0.3 + 1 + 0.2 * 0.2);
  for (int n = 0; n < 100; n++) {
    step_unevenly(run, n);
    double t = sim_state(run->sim)->time;
    compare_near(sim_state(run->sim)->q[0], 1.5 * t + 0.5 * slope * t * t, 1e-12, "way at %g s", t);
  }
  run_free(run);
}

/* A physical pendulum: a bar of 0.6 m about a point 0.2 m from its centre, released at 2 rad. */
#define BAR_ARM 0.2
static const char PENDULUM[] =
    "simulation: {dt: %g, duration: 100, integrator: momentum}\n"
    "links:\n"
    "  - {name: bar, mass: 1.3, mass_model: uniform, shape: {type: box, size: [0.05, 0.04, 0.6], position: [0, 0, "
    "-0.2]}, joint: {type: hinge, axis: [0, 1, 0], position: [0, 0, 1]}}\n"
    "initial: [{link: bar, coordinates: [2.0]}]\n";

static const char HANGING[] =
    "simulation: {dt: %g, duration: 1, integrator: momentum}\n"
    "links:\n"
    "  - {name: bar, mass: 1.3, mass_model: uniform, shape: {type: box, size: [0.05, 0.04, 0.6], position: [0, 0, "
    "-0.2]}, joint: {type: hinge, axis: [0, 1, 0], position: [0, 0, 1]}}\n";

static double small_rate(void) {
  double inertia = (0.05 * 0.05 + 0.6 * 0.6) / 12 + BAR_ARM * BAR_ARM; /* over the mass */
  return sqrt(9.81 * BAR_ARM / inertia);
}

/* Of `periods` periods, by where the angle passes zero upwards. */
static double mean_period(double dt, int periods) {
  Run* run = run_create(1, 0, PENDULUM, dt);
  const SimState* now = sim_state(run->sim);
  double before = now->q[0], first = -1, last = -1;
  int passed = 0;
  while (passed <= periods) {
    run_steps(run, 1);
    if (before < 0 && now->q[0] >= 0) {
      last = now->time - dt * now->q[0] / (now->q[0] - before);
      if (passed++ == 0) first = last;
    }
    before = now->q[0];
  }
  run_free(run);
  return (last - first) / periods;
}

static void flight_W11_pendulum_has_its_period(void** state) {
  (void)state;
  double exact = 4 * elliptic_quarter_period(pow(sin(1.0), 2)) / small_rate(), error[3];
  for (int k = 0; k < 3; k++) {
    double dt = 0.02 / (1 << k);
    error[k] = fabs(mean_period(dt, 10) / exact - 1);
    compare_at_most(error[k], 0.2 * pow(small_rate() * dt, 2), "period of ten, dt = %g", dt);
  }
  compare_at_most(error[2], error[0] / 12, "error at dt/4 against that at dt: second order");
}

/* Twice the largest and least angle of a thousand swings: the pendulum neither loses nor gains height. */
static void flight_W12_pendulum_keeps_its_height(void** state) {
  (void)state;
  double dt = 0.01, first = 0, late = 0;
  Run* run = run_create(1, 0, PENDULUM, dt);
  double q[3] = {2, 2, 2};
  for (int n = 0; n < 60000; n++) {
    run_steps(run, 1);
    q[0] = q[1], q[1] = q[2], q[2] = sim_state(run->sim)->q[0];
    double bend = q[0] - 2 * q[1] + q[2]; /* the parabola's top */
    if (!(q[1] > q[0] && q[1] >= q[2])) continue;
    double top = q[1] - pow(q[2] - q[0], 2) / (8 * bend);
    if (n < 2000) first = fmax(first, fabs(top - 2.0));
    if (n >= 58000) late = fmax(late, fabs(top - 2.0));
  }
  compare_at_most(first, 1e-3, "height of the first swings");
  compare_at_most(late, 1.5 * first + 1e-9, "height of the last of 600 s");
  run_free(run);
}

/* ---------------------------------------------------------------- several joints */

#define RODS                                                                                                         \
  "simulation: {dt: %g, duration: 100, integrator: %s}\n"                                                            \
  "contact: {model: none}\n"                                                                                         \
  "shapes: {rod: {type: box, size: [0.04, 0.04, 0.5]}}\n"                                                            \
  "links:\n"                                                                                                         \
  "  - {name: upper, mass: 1, mass_model: uniform, shapes: [{shape: rod, position: [0, 0, -0.25]}], joint: {type: "  \
  "hinge, axis: [0, -1, 0], position: [0, 0, 1.2]}}\n"                                                               \
  "  - {name: lower, parent: upper, mass: 1, mass_model: uniform, shapes: [{shape: rod, position: [0, 0, -0.25]}], " \
  "joint: {type: hinge, axis: [0, -1, 0], position: [0, 0, -0.5]}}\n"
static const char DOUBLE_PENDULUM[] =
    RODS "initial: [{link: upper, coordinates: [2.0]}, {link: lower, coordinates: [0.5]}]\n";
static const char SPUN_PENDULUM[] = RODS
    "initial: [{link: upper, coordinates: [1.0], velocities: [6]}, {link: lower, coordinates: [0.5], velocities: "
    "[-5]}]\n";

/* By the textbook's own mass matrix: rods of length l and mass 1, angles from the vertical, rates given. */
static double rods_energy(const double q[2], const double rate[2]) {
  double l = 0.5, inertia = (0.04 * 0.04 + l * l) / 12, a = rate[0], b = rate[0] + rate[1];
  double first = 0.5 * (inertia + 0.25 * l * l) * a * a;
  double second = 0.5 * inertia * b * b + 0.5 * l * l * (a * a + 0.25 * b * b + a * b * cos(q[1]));
  return first + second - 9.81 * l * (0.5 * cos(q[0]) + cos(q[0]) + 0.5 * cos(q[0] + q[1]));
}

/* The same rods by Runge and Kutta's method of fourth order, from the textbook's equations: upper and lower hinge. */
static void rods_rates(const double q[2], const double rate[2], double out[2]) {
  double l = 0.5, inertia = (0.04 * 0.04 + l * l) / 12, a = rate[0], b = rate[0] + rate[1], g = 9.81;
  double c = cos(q[1]), s = sin(q[1]), half = 0.5 * l * l;
  /* angles from the vertical: of both, a11 a' + a12 b' = f1, a12 a' + a22 b' = f2 */
  double a11 = inertia + 1.25 * l * l, a12 = half * c, a22 = inertia + 0.25 * l * l;
  double f1 = half * s * b * b - 1.5 * g * l * sin(q[0]), f2 = -half * s * a * a - 0.5 * g * l * sin(q[0] + q[1]);
  double det = a11 * a22 - a12 * a12;
  out[0] = (a22 * f1 - a12 * f2) / det;
  out[1] = (a11 * f2 - a12 * f1) / det - out[0];
}

static void rods_advance(double q[2], double rate[2], double h) {
  double k[4][4], at[2], v[2];
  static const double AT[4] = {0, 0.5, 0.5, 1};
  for (int n = 0; n < 4; n++) {
    for (int i = 0; i < 2; i++) {
      at[i] = q[i] + (n > 0 ? AT[n] * h * k[n - 1][i] : 0);
      v[i] = rate[i] + (n > 0 ? AT[n] * h * k[n - 1][2 + i] : 0);
      k[n][i] = v[i];
    }
    rods_rates(at, v, k[n] + 2);
  }
  for (int i = 0; i < 2; i++) {
    q[i] += h / 6 * (k[0][i] + 2 * k[1][i] + 2 * k[2][i] + k[3][i]);
    rate[i] += h / 6 * (k[0][2 + i] + 2 * k[1][2 + i] + 2 * k[2][2 + i] + k[3][2 + i]);
  }
}

/* Largest and last deviation of the energy over `steps` steps, rates by central differences. */
static double energy_error(double dt, int steps, double* last) {
  Run* run = run_create(1, 0, DOUBLE_PENDULUM, dt, "momentum");
  double q[3][2] = {{2, 0.5}, {2, 0.5}, {2, 0.5}}, zero[2] = {0, 0}, worst = 0;
  double start = rods_energy(q[0], zero);
  *last = 0;
  for (int n = 0; n < steps; n++) {
    run_steps(run, 1);
    memcpy(q[0], q[1], sizeof q[0]), memcpy(q[1], q[2], sizeof q[0]);
    memcpy(q[2], sim_state(run->sim)->q, sizeof q[0]);
    if (n == 0) continue;
    double rate[2] = {(q[2][0] - q[0][0]) / (2 * dt), (q[2][1] - q[0][1]) / (2 * dt)};
    double error = fabs(rods_energy(q[1], rate) - start);
    worst = fmax(worst, error);
    if (n >= steps - steps / 10) *last = fmax(*last, error);
  }
  run_free(run);
  return worst;
}

static void flight_W12_double_pendulum_keeps_its_energy(void** state) {
  (void)state;
  double last, coarse = energy_error(4e-3, 500, &last), fine = energy_error(1e-3, 2000, &last);
  compare_at_most(fine, coarse / 10, "error of the energy at dt/4 against that at dt: second order");
  double early = energy_error(4e-3, 2500, &last), late;
  energy_error(4e-3, 25000, &late);
  compare_at_most(late, 2 * early, "error of the energy in the last 10 of 100 s against the first 10 s");
}

/* Against the scheme of second order, far finer. */
static void flight_W11_double_pendulum_converges(void** state) {
  (void)state;
  Run* fine = run_create(1, 1e-10, DOUBLE_PENDULUM, 5e-5, "second_order");
  run_steps(fine, 12000);
  double error[3];
  for (int k = 0; k < 3; k++) {
    Run* run = run_create(1, 0, DOUBLE_PENDULUM, 4e-3 / (1 << k), "momentum");
    run_steps(run, 150 << k);
    error[k] = fabs(sim_state(run->sim)->q[1] - sim_state(fine->sim)->q[1]);
    run_free(run);
  }
  run_free(fine);
  compare_at_most(error[2], error[0] / 12, "error at dt/4 against that at dt: second order");
  compare_at_most(error[2], 1e-3, "angle after 0.6 s");
}

/* Rates at the start that are not zero: forces of the turning joints are those of a start (W11, bend), whatever lengths
 * steps have. */
static double spun_error(double dt, int steps, bool unevenly, const double exact[2]) {
  Run* run = run_create(1, 0, SPUN_PENDULUM, dt, "momentum");
  for (int n = 0; n < steps; n++) {
    StepReport report = sim_step_with_substeps(run->sim, unevenly && n % 3 == 0 ? 2 : 1);
    assert_false(step_outcome_failed(report.outcome));
  }
  const double* q = sim_state(run->sim)->q;
  double error = hypot(q[0] - exact[0], q[1] - exact[1]);
  run_free(run);
  return error;
}

static void flight_W11_begins_at_second_order(void** state) {
  (void)state;
  double q[2] = {1.0, 0.5}, rate[2] = {6, -5};
  for (int n = 0; n < 20000; n++) rods_advance(q, rate, 0.2 / 20000);
  for (int k = 0; k < 2; k++) {
    double coarse = spun_error(4e-3, 50, k == 1, q), fine = spun_error(1e-3, 200, k == 1, q);
    compare_at_most(fine, coarse / 12, "error at dt/4 against that at dt, %s steps", k == 1 ? "uneven" : "even");
    compare_at_most(fine, 1e-4, "angles after 0.2 s");
  }
}

/* A robot in space: a trunk with an arm on a ball and a hand on a hinge, all turning. */
static const char ROBOT[] =
    "simulation: {dt: %g, duration: 100, gravity: [0, 0, 0], integrator: momentum, tolerance: 1.0e-9}\n"
    "contact: {model: none}\n"
    "shapes: {bone: {type: box, size: [0.1, 0.06, 0.3]}}\n"
    "links:\n"
    "  - {name: trunk, mass: 1.5, mass_model: uniform, shape: {type: box, size: [0.3, 0.2, 0.1]}}\n"
    "  - {name: arm, parent: trunk, mass: 0.6, mass_model: uniform, shapes: [{shape: bone, position: [0.02, 0, "
    "-0.15]}], "
    "joint: {type: ball, position: [0.2, 0, 0]}}\n"
    "  - {name: hand, parent: arm, mass: 0.4, mass_model: uniform, shapes: [{shape: bone, position: [0, 0.02, "
    "-0.15]}], "
    "joint: {type: hinge, axis: [0, 1, 0], position: [0, 0, -0.32]}}\n"
    "initial:\n"
    "  - {link: trunk, velocities: [0.3, 0, 0.2, 1, 2, -1]}\n"
    "  - {link: arm, velocities: [2, 1, -1]}\n"
    "  - {link: hand, coordinates: [0.3], velocities: [-2]}\n";

/* Momenta all along 10 s; the most that its kinetic energy differs by. */
static double energy_of_robot(double dt) {
  Run* run = run_create(1, 0, ROBOT, dt);
  run_steps(run, 1);
  SimMeasure start = sim_measure(run->sim);
  double energy[2] = {INFINITY, 0};
  for (int n = 0; n < (int)lround(10 / dt); n++) {
    run_steps(run, 1);
    SimMeasure now = sim_measure(run->sim);
    compare_vec3(now.momentum, start.momentum, 1e-10, "momentum after step %d", n + 2);
    compare_vec3(now.angular_momentum, start.angular_momentum, 1e-9, "angular momentum after step %d", n + 2);
    energy[0] = fmin(energy[0], now.kinetic);
    energy[1] = fmax(energy[1], now.kinetic);
  }
  run_free(run);
  return energy[1] / energy[0] - 1;
}

static void flight_W12_robot_keeps_its_momenta(void** state) {
  (void)state;
  double coarse = energy_of_robot(5e-3), fine = energy_of_robot(2.5e-3);
  compare_at_most(coarse, 1e-3, "least and most kinetic energy over 10 s");
  compare_at_most(fine, coarse / 3.5, "at half the step: second order");
}

/* ---------------------------------------------------------------- where there is no aim */

/* A pendulum that turns by more than a right angle a step: the equation's root would fall upwards. At 1.4 rad the
 * equation has its root, but (W50) counts the rotation x in the first step as sqrt((1 - cos x) / cos x) = 2.2. */
static void flight_W14_beyond_a_right_angle(void** state) {
  (void)state;
  static const double RATES[] = {100, 140, 170};
  for (int k = 0; k < 3; k++) {
    Run* run = run_create(1, 0,
                          "simulation: {dt: 0.01, duration: 1, integrator: momentum}\n"
                          "links: [{name: bar, mass: 1, mass_model: uniform, shape: {type: box, size: [0.05, 0.04, "
                          "0.6], position: [0, 0, -0.2]}, joint: {type: hinge, axis: [0, 1, 0]}}]\n"
                          "initial: [{link: bar, coordinates: [1.0], velocities: [%g]}]\n",
                          RATES[k]);
    sim_set_clock(run->sim, 1, 0);
    step_prepare(run->sim);
    assert_int_equal(run->sim->flight->has_target[0], k == 0);
    run_steps(run, 20);
    assert_true(isfinite(sim_state(run->sim)->q[0]));
    run_free(run);
  }
}

/* A top that spins at 3 rad a step, held at a point. With p = I3 w3 and u = cos(tilt), u' = 0 where
 * 2 m g l I (1 - u^2) = p^2 (u0 - u): it sinks from 0.5 rad to that root, I about the point. */
static double lowest_tilt(double spin) {
  double inertia = 0.004 + 0.2 * 0.2, weight = 9.81 * 0.2, p = 0.002 * spin, from = cos(0.5),
         c = p * p / (2 * weight * inertia);
  return acos(0.5 * (c - sqrt(c * c - 4 * (c * from - 1))));
}

static void flight_W14_fast_top_is_taken_in_parts(void** state) {
  (void)state;
  Run* run = run_create(1, 0,
                        "simulation: {dt: 0.01, duration: 2, integrator: momentum}\n"
                        "links:\n"
                        "  - {name: top, joint: {type: ball, rpy: [0, 0.5, 0]}, mass: 1, mass_model: given, "
                        "center: [0, 0, 0.2], inertia: [0.004, 0.004, 0.002, 0, 0, 0]}\n"
                        "initial: [{link: top, velocities: [0, 0, %g]}]\n",
                        300.0);
  const SimState* now = sim_state(run->sim);
  double lowest = 0;
  for (int k = 0; k < 200; k++) {
    run_steps(run, 1);
    lowest = fmax(lowest, acos(now->pose[0].r.m[2][2]));
  }
  compare_relative(lowest, lowest_tilt(300), 0.02, "the lowest tilt of a top");
  run_free(run);
}

/* The angle of a balanced wheel does not change the inertia, so its steps are whole; one with its mass beside the axis
 * takes parts. */
static void flight_W14_spares_balanced_wheels(void** state) {
  (void)state;
  static const double CENTERS[] = {0, 0.01};
  for (int k = 0; k < 2; k++) {
    Run* run = run_create(1, 0,
                          "simulation: {dt: 0.01, duration: 1, integrator: momentum, gravity: [0, 0, 0]}\n"
                          "links:\n"
                          "  - {name: cart, joint: {type: slide, axis: [1, 0, 0]}, mass: 1, mass_model: given, "
                          "inertia: [0.1, 0.1, 0.1, 0, 0, 0]}\n"
                          "  - {name: wheel, parent: cart, joint: {type: hinge, axis: [0, 1, 0]}, mass: 1, "
                          "mass_model: given, center: [%g, 0, 0], inertia: [0.01, 0.01, 0.01, 0, 0, 0]}\n"
                          "initial: [{link: wheel, velocities: [100]}]\n",
                          CENTERS[k]);
    compare_relative(tree_flight_angular_speed(run->sim), k == 0 ? 0 : 100, 1e-12,
                     "the speed that parts are chosen by");
    run_free(run);
  }
}

/* Trees fly in which something can move, and no other integrator has such trees. */
/* The bar hangs at rest: the weight's frequency is that of small oscillations. */
static void flight_W50_frequency_of_a_pendulum(void** state) {
  (void)state;
  Run* run = run_create(1, 0, HANGING, 1e-3);
  const int links[] = {0};
  run_steps(run, 3);
  step_prepare(run->sim);
  double tension = flight_oscillation_angle(run->sim, 0, (LinkSpan){links, 1});
  compare_relative(tension, small_rate() * 1e-3, 1e-6, "frequency times step [rad]");
  run_free(run);
}

/* A rope of 8 segments with 1 kg at its end swings. Its segments oscillate about the tension at 5 rad a step, which
 * explicit forces do not bear in whole steps. */
static void flight_W50_rope_gains_no_energy(void** state) {
  (void)state;
  Run* run = run_create(1, 0,
                        "simulation: {dt: 0.01, duration: 1, integrator: momentum}\n"
                        "contact: {model: none}\n"
                        "links:\n"
                        "  - {name: s0, mass: 0.01, joint: {type: ball}, shapes: [{type: capsule, radius: 0.005, "
                        "length: 0.05, position: [0, 0, -0.025]}]}\n"
                        "  - {repeat: {count: 6}, name: \"s{i+1}\", parent: \"s{i}\", mass: 0.01, joint: {type: ball, "
                        "position: [0, 0, -0.05]}, shapes: [{type: capsule, radius: 0.005, length: 0.05, position: [0, "
                        "0, -0.025]}]}\n"
                        "  - {name: weight, parent: s6, mass: 1, joint: {type: ball, position: [0, 0, -0.05]}, shapes: "
                        "[{type: sphere, radius: 0.03, position: [0, 0, -0.08]}]}\n"
                        "initial: [{link: s0, velocities: [1, 2, 0]}]\n");
  run_steps(run, 1);
  double start = sim_measure(run->sim).total, most = 0, kinetic = 0;
  for (int k = 0; k < 99; k++) {
    run_steps(run, 1);
    SimMeasure now = sim_measure(run->sim);
    most = fmax(most, now.total - start);
    kinetic = fmax(kinetic, now.kinetic);
  }
  compare_at_most(most, 1e-3 * kinetic, "energy gained [J]");
  run_free(run);
}

static void flight_W11_is_for_trees_with_joints(void** state) {
  (void)state;
  Run* run = run_create(1, 0, DOUBLE_PENDULUM, 1e-3, "first_order");
  assert_null(run->sim->flight);
  run_free(run);
  run = run_create(1, 0,
                   "simulation: {dt: 0.01, integrator: momentum}\n"
                   "shapes: {rod: {type: box, size: [0.04, 0.04, 0.5]}}\n"
                   "links:\n"
                   "  - {name: led, mass: 1, shape: rod, joint: {type: hinge, axis: [0, 1, 0]}}\n"
                   "  - {name: free, mass: 1, shape: rod, joint: {type: hinge, axis: [0, 1, 0], position: [3, 0, 0]}}\n"
                   "  - {name: body, mass: 1, shape: rod, position: [6, 0, 0]}\n"
                   "controllers: [{link: led, type: prescribed, target: [0.0]}]\n");
  assert_non_null(run->sim->flight);
  assert_true(run->model.trees[run->model.links[0].tree].flies);
  assert_true(run->model.trees[run->model.links[1].tree].flies);
  assert_false(run->model.trees[run->model.links[2].tree].flies);
  run_free(run);
}

/* ---------------------------------------------------------------- contact */

/* A box rides on a turntable: friction keeps it where it is on the table while both turn, and what the table loses in
 * taking it along the box gains. dt halves: so does what is lost. */
static const char TURNTABLE[] =
    "simulation: {dt: %g, duration: 2, integrator: momentum, tolerance: 1.0e-8}\n"
    "contact: {friction: 0.6}\n"
    "links:\n"
    "  - {name: table, mass: 4, mass_model: uniform, shape: {type: box, size: [1, 1, 0.1]}, joint: {type: hinge, axis: "
    "[0, 0, 1]}}\n"
    "  - {name: box, mass: 0.5, mass_model: uniform, shape: {type: box, size: [0.1, 0.1, 0.1]}, position: [0.3, 0, "
    "0.1005]}\n"
    "initial: [{link: table, velocities: [2]}]\n";

static double lost_on_turntable(double dt) {
  Run* run = run_create(1, 0, TURNTABLE, dt);
  const SimState* now = sim_state(run->sim);
  run_steps(run, (int)lround(1.5 / dt));
  Vec3 at = pose_apply_inverse(now->pose[0], now->center[1]);
  compare_at_most(hypot(at.x, at.y) - 0.3, 0.02, "the box has slipped outwards, dt = %g", dt);
  double table = 4 * (1.0 + 1.0) / 12, box = 0.5 * (0.02 / 12 + at.x * at.x + at.y * at.y), start = table * 2;
  SimMeasure end = sim_measure(run->sim);
  compare_relative(now->rate[0], end.angular_momentum.z / (table + box), 2e-2, "both turn as one, dt = %g", dt);
  run_free(run);
  return fabs(end.angular_momentum.z / start - 1);
}

static void flight_W12_turntable_takes_a_box_along(void** state) {
  (void)state;
  double coarse = lost_on_turntable(4e-3), fine = lost_on_turntable(1e-3);
  compare_at_most(coarse, 0.02, "angular momentum lost, dt = 4 ms");
  compare_at_most(fine, 0.4 * coarse, "angular momentum lost, dt = 1 ms against 4 ms: first order");
}

/* ---------------------------------------------------------------- forces of joints */

/* (W51) 0.5 kg on a slide that turns at 8 rad/s: a spring of 80 N/m from 0.3 m holds it on a circle, k (r - 0.3) =
 * m r w^2, r = 0.5 m. A drive with the same gain takes the spring's place. */
static const char CIRCLE[] =
    "simulation: {dt: %g, duration: 100, gravity: [0, 0, 0]}\n"
    "links:\n"
    "  - {name: arm, mass: 1, center: [0, 0, 0], inertia: [0.01, 0.01, 0.01, 0, 0, 0], joint: {type: hinge, axis: [0, "
    "0, 1]}}\n"
    "  - {name: bob, parent: arm, mass: 0.5, center: [0, 0, 0], inertia: [1e-4, 1e-4, 1e-4, 0, 0, 0], joint: {type: "
    "slide, axis: [1, 0, 0], position: [0.3, 0, 0]%s}}\n"
    "initial: [{link: arm, velocities: [8]}, {link: bob, coordinates: [0.2]}]\n%s";

/* Returns the largest relative error of the rate in 10 s. */
static double circle_error(double dt, bool driven) {
  Run* run = run_create(1, 0, CIRCLE, dt, driven ? "" : ", stiffness: 80",
                        driven ? "controllers: [{link: bob, type: pd, target: 0, position_gain: 80}]\n" : "");
  double most = 0;
  for (int n = 0; n < (int)lround(10 / dt); n++) {
    run_steps(run, 1);
    most = fmax(most, fabs(sim_state(run->sim)->rate[0] / 8 - 1));
  }
  run_free(run);
  return most;
}

static void flight_W51_spring_holds_on_a_circle(void** state) {
  (void)state;
  for (int driven = 0; driven < 2; driven++) {
    double coarse = circle_error(0.01, driven != 0), fine = circle_error(0.005, driven != 0);
    compare_at_most(coarse, 0.02, "rate after 80 rad, dt = 10 ms");
    compare_at_most(fine, 0.3 * coarse, "rate, dt = 5 ms against 10 ms: second order");
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(flight_W11_W14_wheel_keeps_its_rate),
      cmocka_unit_test(flight_W11_slide_falls_on_the_parabola),
      cmocka_unit_test(flight_W11_pendulum_has_its_period),
      cmocka_unit_test(flight_W12_pendulum_keeps_its_height),
      cmocka_unit_test(flight_W12_double_pendulum_keeps_its_energy),
      cmocka_unit_test(flight_W11_double_pendulum_converges),
      cmocka_unit_test(flight_W11_begins_at_second_order),
      cmocka_unit_test(flight_W12_robot_keeps_its_momenta),
      cmocka_unit_test(flight_W14_beyond_a_right_angle),
      cmocka_unit_test(flight_W14_fast_top_is_taken_in_parts),
      cmocka_unit_test(flight_W14_spares_balanced_wheels),
      cmocka_unit_test(flight_W50_frequency_of_a_pendulum),
      cmocka_unit_test(flight_W50_rope_gains_no_energy),
      cmocka_unit_test(flight_W11_is_for_trees_with_joints),
      cmocka_unit_test(flight_W12_turntable_takes_a_box_along),
      cmocka_unit_test(flight_W51_spring_holds_on_a_circle),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Tests mechanisms under integrator `momentum` (W15-W17): linkages, gears and prescribed joints against closed forms, a
 * Runge-Kutta method of the test, and invariants. */
#include "simulate/tree_flight.h"

#include <string.h>

#include "support/elliptic.h"
#include "support/runs.h"

#define GRAVITY 9.81

static void expect_found(Run* run) {
  for (int k = 0; k < run->sim->flight->group_count; k++)
    assert_true(run->sim->flight->has_target[run->sim->flight->trees[run->sim->flight->group[k].tree_first]]);
}

/* Of `periods` periods, by where the link's first coordinate passes zero upwards. */
static double mean_period(Run* run, const char* link, double dt, int periods) {
  const SimState* now = sim_state(run->sim);
  int q = run->model.links[run_link(run, link)].coordinate_first, passed = 0;
  double before = now->q[q], first = -1, last = -1;
  while (passed <= periods) {
    run_steps(run, 1);
    if (before < 0 && now->q[q] >= 0) {
      last = now->time - dt * now->q[q] / (now->q[q] - before);
      if (passed++ == 0) first = last;
    }
    before = now->q[q];
  }
  expect_found(run);
  return (last - first) / periods;
}

/* The first and the last turning points of a swing that began at rest there. */
static void turning_points(Run* run, const char* link, int steps, double start, double out[2]) {
  const SimState* now = sim_state(run->sim);
  int at = run->model.links[run_link(run, link)].coordinate_first;
  double q[3] = {start, start, start};
  out[0] = out[1] = 0;
  for (int n = 0; n < steps; n++) {
    run_steps(run, 1);
    q[0] = q[1], q[1] = q[2], q[2] = now->q[at];
    if (!(q[1] > q[0] && q[1] >= q[2])) continue;
    double top = q[1] - pow(q[2] - q[0], 2) / (8 * (q[0] - 2 * q[1] + q[2]));
    if (n < steps / 20) out[0] = fmax(out[0], fabs(top - start));
    if (n >= steps - steps / 20) out[1] = fmax(out[1], fabs(top - start));
  }
}

/* ---------------------------------------------------------------- closures */

/* A swing: a beam on two equal rods that stay side by side, of five equations two that say something. A physical
 * pendulum, of rods about their ends and a beam that does not turn. */
#define SWING_ROD 0.5
#define SWING_ROD_MASS 0.7
#define SWING_BEAM_MASS 1.6
static const char SWING[] =
    "simulation: {dt: %g, duration: 1000, integrator: %s}\n"
    "contact: {model: none}\n"
    "shapes: {rod: {type: box, size: [0.03, 0.04, 0.5]}}\n"
    "links:\n"
    "  - {name: left, mass: 0.7, mass_model: uniform, shapes: [{shape: rod, position: [0, 0, -0.25]}], joint: {type: "
    "hinge, axis: [0, -1, 0], position: [0, 0, 1]}}\n"
    "  - {name: beam, parent: left, mass: 1.6, mass_model: uniform, shapes: [{type: box, size: [0.8, 0.05, 0.02], "
    "position: [0.4, 0, 0]}], joint: {type: hinge, axis: [0, -1, 0], position: [0, 0, -0.5]}}\n"
    "  - {name: right, mass: 0.7, mass_model: uniform, shapes: [{shape: rod, position: [0, 0, -0.25]}], joint: {type: "
    "hinge, axis: [0, -1, 0], position: [0.8, 0, 1]}}\n"
    "closures: [{type: hinge, a: beam, b: right, point: [%.17g, 0, %.17g], axis: [0, 1, 0]}]\n"
    "initial: [{link: left, coordinates: [1.2]}, {link: beam, coordinates: [-1.2]}, {link: right, coordinates: "
    "[1.2]}]\n";

static Run* swing(double dt, const char* integrator) {
  return run_create(1, 0, SWING, dt, integrator, 0.8 + SWING_ROD * sin(1.2), 1 - SWING_ROD * cos(1.2));
}

static void flight_W15_swing_has_its_period(void** state) {
  (void)state;
  double l = SWING_ROD, rods = 2 * SWING_ROD_MASS;
  double inertia = rods * ((0.03 * 0.03 + l * l) / 12 + 0.25 * l * l) + SWING_BEAM_MASS * l * l;
  double rate = sqrt(GRAVITY * l * (0.5 * rods + SWING_BEAM_MASS) / inertia), error[3];
  double exact = 4 * elliptic_quarter_period(pow(sin(0.6), 2)) / rate;
  for (int k = 0; k < 3; k++) {
    double dt = 0.02 / (1 << k);
    Run* run = swing(dt, "momentum");
    error[k] = fabs(mean_period(run, "left", dt, 10) / exact - 1);
    run_free(run);
    compare_at_most(error[k], 0.2 * pow(rate * dt, 2), "period of ten, dt = %g", dt);
  }
  compare_at_most(error[2], error[0] / 12, "error at dt/4 against that at dt: second order");
}

static void flight_W15_swing_keeps_its_height(void** state) {
  (void)state;
  double tops[2];
  Run* run = swing(0.01, "momentum");
  turning_points(run, "left", 20000, 1.2, tops);
  compare_at_most(tops[0], 1e-3, "height of the first swings");
  compare_at_most(tops[1], 1.5 * tops[0] + 1e-9, "height of the last of 200 s");
  compare_at_most(sim_closure(run->sim, 0).gap, 1e-9, "the loop is closed");
  run_free(run);
}

/* A crank, a rod and a piston on a slide, let go: one degree of freedom, no symmetry. */
static void flight_W15_slider_crank_keeps_its_height(void** state) {
  (void)state;
  double up = 1.1, x = 0.2 * sin(up) + 0.5, z = -0.2 * cos(up), tops[2];
  Run* run = run_create(
      1, 0,
      "simulation: {dt: 0.005, duration: 1000, integrator: momentum}\n"
      "contact: {model: none}\n"
      "links:\n"
      "  - {name: crank, mass: 1, mass_model: uniform, shapes: [{type: box, size: [0.03, 0.04, 0.3], position: [0, 0, "
      "-0.1]}], joint: {type: hinge, axis: [0, -1, 0]}}\n"
      "  - {name: rod, parent: crank, mass: 0.4, mass_model: uniform, shapes: [{type: box, size: [0.5, 0.02, 0.02], "
      "position: [0.25, 0, 0]}], joint: {type: hinge, axis: [0, -1, 0], position: [0, 0, -0.2]}}\n"
      "  - {name: piston, mass: 0.3, mass_model: uniform, shape: {type: box, size: [0.1, 0.05, 0.05]}, joint: {type: "
      "slide, axis: [1, 0, 0], position: [%.17g, 0, %.17g]}}\n"
      "closures: [{type: ball, a: rod, b: piston, point: [%.17g, 0, %.17g]}]\n"
      "initial: [{link: crank, coordinates: [%.17g]}, {link: rod, coordinates: [%.17g]}]\n",
      x, z, x, z, up, -up);
  turning_points(run, "crank", 20000, up, tops);
  expect_found(run);
  compare_at_most(tops[0], 1e-3, "height of the first swings");
  compare_at_most(tops[1], 1.5 * tops[0] + 1e-9, "height of the last of 100 s");
  run_free(run);
}

/* A tendon holds a ball that circles below its peg: of the conical pendulum height, rate and tension are known. Two
 * cords from one peg to one eye share it evenly. */
static void flight_W17_cords_of_a_conical_pendulum(void** state) {
  (void)state;
  double length = 0.5, tilt = 0.4, rate = sqrt(GRAVITY / (length * cos(tilt))), out = length * sin(tilt);
  for (int cords = 1; cords <= 2; cords++) {
    Run* run = run_create(1, 0,
                          "simulation: {dt: 0.002, duration: 100, integrator: momentum}\n"
                          "contact: {model: none}\n"
                          "links: [{name: ball, mass: 2, shape: {type: sphere, radius: 0.05}, position: [%.17g, 0, "
                          "%.17g]}]\n"
                          "closures:\n"
                          "  - {type: distance, a: ball, point: [%.17g, 0, %.17g], axis: [%.17g, 0, %.17g], length: "
                          "0.5}\n%s"
                          "initial: [{link: ball, velocities: [0, %.17g, 0, 0, 0, 0]}]\n",
                          out, -length * cos(tilt), out, -length * cos(tilt), -sin(tilt), cos(tilt),
                          cords == 2 ? "  - {type: distance, a: ball, point: [0.19470917115432526, 0, "
                                       "-0.46053049700144255], axis: [-0.38941834230865050, 0, 0.92106099400288510], "
                                       "length: 0.5}\n"
                                     : "",
                          rate * out);
    for (int n = 0; n < 2000; n++) {
      run_steps(run, 1);
      Vec3 at = sim_state(run->sim)->center[0];
      compare_near(at.z, -length * cos(tilt), 2e-5, "height, step %d", n);
      compare_relative(vec3_norm(sim_closure(run->sim, 0).force), 2 * GRAVITY / cos(tilt) / cords, 1e-3,
                       "tension of the first of %d", cords);
    }
    Vec3 at = sim_state(run->sim)->center[0];
    compare_near(remainder(atan2(at.y, at.x) - rate * 4, 2 * acos(-1.0)), 0, 1e-3, "angle after 4 s");
    expect_found(run);
    run_free(run);
  }
}

/* A machine that stands still without weight has its aim where it is (W14). */
static void flight_W15_a_loop_at_rest(void** state) {
  (void)state;
  Run* run = swing(0.01, "momentum, gravity: [0, 0, 0]");
  for (int n = 0; n < 50; n++) {
    run_steps(run, 1);
    expect_found(run);
    compare_near(sim_state(run->sim)->q[0], 1.2, 1e-13, "step %d", n);
  }
  run_free(run);
}

/* Rates that do not fit the loop are a blow at the start: what the closures leave of them by Gauss's least constraint.
 * A rod that shall turn alone takes the swing along with its part of the inertia. */
static void flight_W15_rates_that_do_not_fit(void** state) {
  (void)state;
  double l = SWING_ROD, own = SWING_ROD_MASS * ((0.03 * 0.03 + l * l) / 12 + 0.25 * l * l);
  double whole = 2 * own + SWING_BEAM_MASS * l * l, wanted = own * 3 / whole, error[2];
  for (int k = 0; k < 2; k++) {
    double dt = 1e-3 / (1 << 2 * k);
    Run* run = run_create(1, 0,
                          "simulation: {dt: %g, duration: 1000, gravity: [0, 0, 0], integrator: momentum}\n"
                          "contact: {model: none}\n"
                          "shapes: {rod: {type: box, size: [0.03, 0.04, 0.5]}}\n"
                          "links:\n"
                          "  - {name: left, mass: 0.7, mass_model: uniform, shapes: [{shape: rod, position: [0, 0, "
                          "-0.25]}], joint: {type: hinge, axis: [0, -1, 0], position: [0, 0, 1]}}\n"
                          "  - {name: beam, mass: 1.6, mass_model: uniform, shapes: [{type: box, size: [0.8, 0.05, "
                          "0.02]}], position: [0.4, 0, 0.5]}\n"
                          "  - {name: right, mass: 0.7, mass_model: uniform, shapes: [{shape: rod, position: [0, 0, "
                          "-0.25]}], joint: {type: hinge, axis: [0, -1, 0], position: [0.8, 0, 1]}}\n"
                          "closures:\n"
                          "  - {type: hinge, a: beam, b: right, point: [0.8, 0, 0.5], axis: [0, 1, 0]}\n"
                          "  - {type: hinge, a: left, b: beam, point: [0, 0, 0.5], axis: [0, 1, 0]}\n"
                          "initial: [{link: right, velocities: [3]}]\n",
                          dt);
    run_steps(run, 200 << 2 * k);
    expect_found(run);
    error[k] = fabs(sim_state(run->sim)->q[0] - 0.2 * wanted);
    run_free(run);
  }
  compare_at_most(error[0], 1e-4, "angle after 0.2 s");
  compare_at_most(error[1], fmax(error[0] / 12, 1e-10), "at dt/4: second order");
}

/* ---------------------------------------------------------------- couplings */

/* Geared wheels turn as they began, at any rate and whatever lengths steps have; so does a screw that lifts nothing. */
static void flight_W15_gears_keep_their_rate(void** state) {
  (void)state;
  static const double RATES[] = {0.3, 12, 70, 200, 900};
  static const int PARTS[] = {1, 2, 3, 1};
  for (size_t k = 0; k < sizeof RATES / sizeof *RATES; k++) {
    Run* run =
        run_create(1, 0,
                   "simulation: {dt: 0.01, duration: 100, gravity: [0, 0, 0], integrator: momentum}\n"
                   "contact: {model: none}\n"
                   "shapes: {disc: {type: box, size: [0.4, 0.4, 0.1]}}\n"
                   "links:\n"
                   "  - {name: wheel, mass: 2, mass_model: uniform, shape: disc, joint: {type: hinge, axis: [0, "
                   "0, 1]}}\n"
                   "  - {name: pinion, mass: 0.3, mass_model: uniform, shape: disc, joint: {type: hinge, axis: "
                   "[0, 0, 1], position: [1, 0, 0]}}\n"
                   "  - {name: rack, mass: 1, mass_model: uniform, shape: disc, joint: {type: slide, axis: [1, 0, "
                   "0], position: [1, 1, 0]}}\n"
                   "couplings: [{link: pinion, of: wheel, ratio: -1.5}, {link: rack, of: pinion, ratio: 0.2}]\n"
                   "initial: [{link: wheel, velocities: [%.17g]}, {link: pinion, velocities: [%.17g]}, {link: "
                   "rack, velocities: [%.17g]}]\n",
                   RATES[k], -1.5 * RATES[k], -0.3 * RATES[k]);
    for (int n = 0; n < 200; n++)
      assert_false(step_outcome_failed(sim_step_with_substeps(run->sim, PARTS[n % 4]).outcome));
    compare_relative(sim_state(run->sim)->q[0], 2 * RATES[k], 1e-11, "angle after 2 s at %g rad/s", RATES[k]);
    compare_relative(sim_state(run->sim)->q[1], -3 * RATES[k], 1e-11, "of the pinion");
    compare_near(sim_coupling(run->sim, 0).force.x, 0, 1e-8 * RATES[k] * RATES[k], "nothing to pass on");
    run_free(run);
  }
}

/* A bar that swings and turns a balanced wheel by a gear: a pendulum with the wheel's inertia times the ratio squared,
 * and the force of the gear is what turns the wheel. */
static void flight_W15_geared_pendulum_has_its_period(void** state) {
  (void)state;
  double bar = 1.3 * ((0.05 * 0.05 + 0.6 * 0.6) / 12 + 0.2 * 0.2), wheel = 0.8 * (0.2 * 0.2 + 0.2 * 0.2) / 12;
  double rate = sqrt(GRAVITY * 1.3 * 0.2 / (bar + 9 * wheel)), error[3];
  double exact = 4 * elliptic_quarter_period(pow(sin(1.0), 2)) / rate;
  for (int k = 0; k < 3; k++) {
    double dt = 0.01 / (1 << k);
    Run* run =
        run_create(1, 0,
                   "simulation: {dt: %g, duration: 100, integrator: momentum}\n"
                   "contact: {model: none}\n"
                   "links:\n"
                   "  - {name: bar, mass: 1.3, mass_model: uniform, shapes: [{type: box, size: [0.05, 0.04, "
                   "0.6], position: [0, 0, -0.2]}], joint: {type: hinge, axis: [0, 1, 0], position: [0, 0, 1]}}\n"
                   "  - {name: wheel, mass: 0.8, mass_model: uniform, shape: {type: box, size: [0.2, 0.05, 0.2]}, "
                   "joint: {type: hinge, axis: [0, 1, 0], position: [0.5, 0, 1]}}\n"
                   "couplings: [{link: wheel, of: bar, ratio: -3}]\n"
                   "initial: [{link: bar, coordinates: [2.0]}, {link: wheel, coordinates: [-6]}]\n",
                   dt);
    run_steps(run, 20);
    double q = sim_state(run->sim)->q[0], before = sim_state(run->sim)->rate[1], push;
    run_steps(run, 1); /* by the force at the state between both steps */
    push = wheel * (sim_state(run->sim)->rate[1] - before) / dt;
    compare_relative(sim_coupling(run->sim, 0).force.x, push, 1e-9, "what turns the wheel");
    if (k == 2) compare_relative(push, wheel * 3 * rate * rate * sin(q), 0.02, "and ought to");
    error[k] = fabs(mean_period(run, "bar", dt, 10) / exact - 1);
    run_free(run);
    compare_at_most(error[k], 0.2 * pow(3 * rate * dt, 2), "period of ten by the wheel's rate, dt = %g", dt);
  }
  compare_at_most(error[2], error[0] / 12, "error at dt/4 against that at dt: second order");
}

/* ---------------------------------------------------------------- prescribed joints */

/* A pendulum whose point of suspension shakes up and down and to the side: theta'' = -((g + z'') sin + x'' cos) / l. */
#define SHAKE_RATE 17.0
#define SHAKE_UP 0.03
#define SHAKE_ASIDE 0.02
static void shaken_rates(double t, const double y[2], double length, double out[2]) {
  double up = -SHAKE_UP * SHAKE_RATE * SHAKE_RATE * sin(SHAKE_RATE * t + 0.5);
  double aside = -SHAKE_ASIDE * SHAKE_RATE * SHAKE_RATE * sin(SHAKE_RATE * t);
  out[0] = y[1];
  out[1] = -((GRAVITY + up) * sin(y[0]) + aside * cos(y[0])) / length;
}

static double shaken_exactly(double angle, double length, double end, int steps) {
  double y[2] = {angle, 0}, h = end / steps, k[4][2], at[2];
  static const double AT[4] = {0, 0.5, 0.5, 1};
  for (int n = 0; n < steps; n++) {
    for (int i = 0; i < 4; i++) {
      for (int j = 0; j < 2; j++) at[j] = y[j] + (i > 0 ? AT[i] * h * k[i - 1][j] : 0);
      shaken_rates((n + AT[i]) * h, at, length, k[i]);
    }
    for (int j = 0; j < 2; j++) y[j] += h / 6 * (k[0][j] + 2 * k[1][j] + 2 * k[2][j] + k[3][j]);
  }
  return y[0];
}

/* A motor that lifts a weight by a gear and a drum. All rates grow evenly, so the scheme is exact: the wheels rotate by
 * up to 1.9 rad a step, without substeps. */
static void flight_W54_geared_hoist(void** state) {
  (void)state;
  const double motor = 2e-4, drum = 0.02, load = 2, radius = 0.1, ratio = 5, torque = 0.5, dt = 0.01;
  Run* run =
      run_create(1, 1e-12,
                 "simulation: {dt: 0.01, duration: 2}\n"
                 "contact: {model: none}\n"
                 "links:\n"
                 "  - {name: motor, joint: {type: hinge, axis: [0, 1, 0]}, mass: 1, inertia: [1, 2e-4, 1, 0, 0, 0]}\n"
                 "  - {name: drum, joint: {type: hinge, axis: [0, 1, 0]}, mass: 4, inertia: [1, 0.02, 1, 0, 0, 0]}\n"
                 "  - {name: load, joint: {type: slide, axis: [0, 0, 1]}, mass: 2, inertia: [1, 1, 1, 0, 0, 0]}\n"
                 "couplings: [{link: motor, of: drum, ratio: 5}, {link: load, of: drum, ratio: 0.1}]\n"
                 "controllers: [{link: motor, type: torque, target: 0.5}]\n");
  double rate = (ratio * torque - load * GRAVITY * radius) / (ratio * ratio * motor + drum + load * radius * radius);
  for (int k = 1; k <= 200; k++) {
    run_steps(run, 1);
    assert_int_equal(run->sim->substep_memory.last_count, 1);
    compare_relative(sim_state(run->sim)->q[1], rate * pow(k * dt, 2) / 2, 1e-9, "turn of the drum after %d steps", k);
    compare_relative(sim_coupling(run->sim, 0).force.x, ratio * motor * rate - torque, 1e-8, "torque of the gear");
  }
  run_free(run);
}

static void flight_W15_shaken_pendulum(void** state) {
  (void)state;
  double inertia = (0.05 * 0.05 + 0.6 * 0.6) / 12 + 0.2 * 0.2, length = inertia / 0.2, error[3];
  double exact = shaken_exactly(0.7, length, 2, 40000);
  compare_near(exact, shaken_exactly(0.7, length, 2, 20000), 1e-12, "the reference is exact");
  for (int k = 0; k < 3; k++) {
    double dt = 0.005 / (1 << k);
    Run* run = run_create(
        1, 0,
        "simulation: {dt: %g, duration: 100, integrator: momentum}\n"
        "contact: {model: none}\n"
        "links:\n"
        "  - {name: lift, mass: 1, joint: {type: slide, axis: [0, 0, 1]}, shape: {type: box, size: [0.1, 0.1, 0.1]}}\n"
        "  - {name: cart, parent: lift, mass: 1, joint: {type: slide, axis: [1, 0, 0]}, shape: {type: box, size: [0.1, "
        "0.1, 0.1]}}\n"
        "  - {name: bar, parent: cart, mass: 1.3, mass_model: uniform, shapes: [{type: box, size: [0.05, 0.04, 0.6], "
        "position: [0, 0, -0.2]}], joint: {type: hinge, axis: [0, -1, 0]}}\n"
        "controllers:\n"
        "  - {link: lift, type: prescribed, target: {type: sines, terms: [{amplitude: %g, frequency: %.17g, phase: "
        "0.5}]}}\n"
        "  - {link: cart, type: prescribed, target: {type: sines, terms: [{amplitude: %g, frequency: %.17g}]}}\n"
        "initial: [{link: bar, coordinates: [0.7]}]\n",
        dt, SHAKE_UP, SHAKE_RATE / (2 * acos(-1.0)), SHAKE_ASIDE, SHAKE_RATE / (2 * acos(-1.0)));
    run_steps(run, 400 << k);
    expect_found(run);
    error[k] = fabs(sim_state(run->sim)->q[2] - exact);
    run_free(run);
  }
  compare_at_most(error[2], error[0] / 12, "error at dt/4 against that at dt: second order");
  compare_at_most(error[2], 2e-3, "angle after 2 s");
}

/* A crank that a signal turns evenly lifts a wheel on its end: what its drive gives holds their weights, at the angle
 * where the step began. */
static void flight_W17_drive_of_a_led_crank(void** state) {
  (void)state;
  double dt = 0.004;
  Run* run =
      run_create(1, 0,
                 "simulation: {dt: 0.004, duration: 100, integrator: momentum, output: [forces]}\n"
                 "contact: {model: none}\n"
                 "links:\n"
                 "  - {name: crank, mass: 1.5, mass_model: uniform, shapes: [{type: box, size: [0.4, 0.04, 0.05], "
                 "position: [0.2, 0, 0]}], joint: {type: hinge, axis: [0, -1, 0]}}\n"
                 "  - {name: wheel, parent: crank, mass: 0.6, mass_model: uniform, shape: {type: box, size: [0.2, "
                 "0.1, 0.2]}, joint: {type: hinge, axis: [0, -1, 0], position: [0.4, 0, 0]}}\n"
                 "controllers: [{link: crank, type: prescribed, target: {type: keyframes, times: [0, 10], values: "
                 "[0, 20]}}]\n");
  for (int n = 0; n < 300; n++) {
    run_steps(run, 1);
    double angle = 2 * n * dt, wanted = GRAVITY * (1.5 * 0.2 + 0.6 * 0.4) * cos(angle);
    if (n < 1) continue;
    compare_near(sim_joint_forces(run->sim)[JOINT_FORCE_DRIVE * 2], wanted, 1e-4, "torque of step %d", n);
    compare_near(sim_state(run->sim)->q[1], 0, 1e-12, "the wheel turns on with the crank, as it began");
  }
  run_free(run);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(flight_W15_swing_has_its_period),
      cmocka_unit_test(flight_W15_swing_keeps_its_height),
      cmocka_unit_test(flight_W15_slider_crank_keeps_its_height),
      cmocka_unit_test(flight_W17_cords_of_a_conical_pendulum),
      cmocka_unit_test(flight_W15_a_loop_at_rest),
      cmocka_unit_test(flight_W15_rates_that_do_not_fit),
      cmocka_unit_test(flight_W15_gears_keep_their_rate),
      cmocka_unit_test(flight_W15_geared_pendulum_has_its_period),
      cmocka_unit_test(flight_W54_geared_hoist),
      cmocka_unit_test(flight_W15_shaken_pendulum),
      cmocka_unit_test(flight_W17_drive_of_a_led_crank),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

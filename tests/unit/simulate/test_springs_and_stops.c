/* Tests springs under `momentum` (drives.md, M10), restitution of limits (step.md, S22) and the energy of the scheme
 * (S23) against closed forms. */
#include <math.h>
#include <string.h>

#include "support/runs.h"

/* Largest size of a coordinate over so many steps. */
static double largest(Run* run, int coordinate, int steps) {
  double most = 0;
  for (int k = 0; k < steps; k++) {
    run_steps(run, 1);
    most = fmax(most, fabs(sim_state(run->sim)->q[coordinate]));
  }
  return most;
}

static const char SLIDE[] =
    "simulation: {dt: 0.01, duration: 60, gravity: [0, 0, 0], integrator: momentum}\n"
    "links: [{name: w, joint: {type: slide, axis: [1, 0, 0], stiffness: %g}, mass: 1, mass_model: given, inertia: "
    "[0.1, 0.1, 0.1, 0, 0, 0]}]\n"
    "initial: [{link: w, coordinates: [0.1]}]\n";

/* 50 periods of 10 rad/s at 10 ms, and of 50 rad/s, where w = 1/2. */
static void springs_M10_keep_their_amplitude(void** state) {
  (void)state;
  static const double RATES[] = {10, 50};
  for (int k = 0; k < 2; k++) {
    Run* run = run_create(1, 0, SLIDE, RATES[k] * RATES[k]);
    run_steps(run, (int)(100 * 50 * 6.283185307179586 / RATES[k]) - 200);
    compare_relative(largest(run, 0, 200), 0.1, 0.03, "amplitude after 50 periods of %g rad/s", RATES[k]);
    run_free(run);
  }
}

/* Beyond w = 4 a step leaves less than a quarter of an oscillation. */
static void springs_M10_damp_what_is_not_resolved(void** state) {
  (void)state;
  Run* run = run_create(1, 0, SLIDE, 160000.0);
  run_steps(run, 10);
  compare_at_most(fabs(sim_state(run->sim)->q[0]), 0.1 * pow(17, -0.5 * 9), "coordinate after 10 steps of w = 4");
  run_free(run);
}

/* A position gain without damping, and a tendon: a weight on either swings as long. */
static void springs_M10_drives_and_tendons_keep_theirs(void** state) {
  (void)state;
  Run* run = run_create(
      1, 0,
      "simulation: {dt: 0.01, duration: 60, gravity: [0, 0, 0], integrator: momentum}\n"
      "links:\n"
      "  - {name: a, joint: {type: slide, axis: [1, 0, 0]}, mass: 1, mass_model: given, inertia: [1, 1, 1, 0, 0, 0]}\n"
      "  - {name: b, joint: {type: slide, axis: [1, 0, 0]}, mass: 1, mass_model: given, inertia: [1, 1, 1, 0, 0, 0]}\n"
      "controllers: [{link: a, type: pd, position_gain: 100, target: 0}]\n"
      "tendons: [{points: [{point: [-1, 0, 0]}, {link: b, point: [0, 0, 0]}], stiffness: 100, rest_length: 0.5}]\n"
      "loads: [{link: b, force: [50, 0, 0]}]\n"
      "initial:\n"
      "  - {link: a, coordinates: [0.1]}\n"
      "  - {link: b, coordinates: [0.1]}\n");
  run_steps(run, 2900);
  double a = 0, b = 0;
  for (int k = 0; k < 200; k++) {
    run_steps(run, 1);
    a = fmax(a, fabs(sim_state(run->sim)->q[0]));
    b = fmax(b, fabs(sim_state(run->sim)->q[1]));
  }
  compare_relative(a, 0.1, 0.03, "amplitude on a position gain");
  compare_relative(b, 0.1, 0.03, "amplitude on a tendon");
  run_free(run);
}

/* A weight that hangs in balance stays from the first step on. */
static void springs_M10_balance_stays(void** state) {
  (void)state;
  Run* run = run_create(1, 0,
                        "simulation: {dt: 0.01, duration: 1, integrator: momentum}\n"
                        "links: [{name: w, joint: {type: slide, axis: [0, 0, 1], stiffness: 100}, mass: 1, "
                        "mass_model: given, inertia: [1, 1, 1, 0, 0, 0]}]\n"
                        "initial: [{link: w, coordinates: [-0.0981]}]\n");
  run_steps(run, 50);
  compare_near(sim_state(run->sim)->q[0], -0.0981, 1e-9, "a weight in balance");
  run_free(run);
}

/* ---------------------------------------------------------------- limits */

static const char DOOR[] =
    "simulation: {dt: %g, duration: 1, gravity: [0, 0, 0], integrator: %s}\n"
    "contact: {model: none}\n"
    "links:\n"
    "  - {name: door, joint: {type: hinge, axis: [0, 1, 0], limits: [-1, 1], limit_law: %s}, mass: 1, center: [0, 0, "
    "-0.5], inertia: [0.083, 0.083, 0.001, 0, 0, 0]}\n"
    "initial: [{link: door, velocities: [%g]}]\n";

/* At either stop, with either law, for steps of any length: it leaves with nothing. */
static void stops_S22_give_nothing_back(void** state) {
  (void)state;
  static const char* const INTEGRATORS[] = {"momentum", "first_order"};
  static const char* const LAWS[] = {"barrier", "penalty"};
  static const double STEPS[] = {0.01, 0.005, 0.001, 0.0002};
  for (int k = 0; k < 16; k++) {
    double dt = STEPS[k % 4], way = k % 2 ? -1 : 1, back = 0;
    Run* run = run_create(1, 0, DOOR, dt, INTEGRATORS[k / 8], LAWS[k / 4 % 2], 3 * way);
    for (int n = 0; n < (int)(0.6 / dt); n++) {
      run_steps(run, 1);
      back = fmax(back, -way * sim_state(run->sim)->rate[0]);
    }
    compare_at_most(back, 0.01 * 3, "rate away from a %s, %s, dt %g", LAWS[k / 4 % 2], INTEGRATORS[k / 8], dt);
    compare_near(way * sim_state(run->sim)->q[0], 1, 0.1, "angle at the stop");
    run_free(run);
  }
}

/* With small time steps the speeds have the ratio given as restitution. */
static void stops_S22_give_back_what_is_asked(void** state) {
  (void)state;
  Run* run = run_create(1, 0,
                        "simulation: {dt: 1e-5, duration: 1, gravity: [0, 0, 0], integrator: second_order}\n"
                        "contact: {model: none}\n"
                        "links: [{name: door, joint: {type: slide, axis: [1, 0, 0], limits: [-1, 0.03], limit_law: "
                        "penalty, limit_restitution: 0.5}, mass: 1, mass_model: given, inertia: [1, 1, 1, 0, 0, 0]}]\n"
                        "initial: [{link: door, velocities: [3]}]\n");
  run_steps(run, 20000);
  compare_relative(sim_state(run->sim)->rate[0], -1.5, 0.02, "speed away from a stop of restitution 0.5");
  run_free(run);
}

/* A stop holds a load, and lets a joint go that is pulled away from it. */
static void stops_S22_hold_and_let_go(void** state) {
  (void)state;
  Run* run = run_create(1, 0,
                        "simulation: {dt: 0.01, duration: 4, gravity: [0, 0, 0], integrator: momentum}\n"
                        "links: [{name: w, joint: {type: slide, axis: [1, 0, 0], limits: [-1, 0]}, mass: 1, "
                        "mass_model: given, inertia: [1, 1, 1, 0, 0, 0]}]\n"
                        "loads: [{link: w, force: {type: keyframes, times: [0, 2, 2.001], values: [[10, 0, 0], [10, 0, "
                        "0], [-10, 0, 0]]}}]\n"
                        "initial: [{link: w, coordinates: [-0.1]}]\n");
  run_steps(run, 200);
  compare_at_most(fabs(sim_state(run->sim)->rate[0]), 1e-3, "rate of what a stop holds");
  run_steps(run, 40);
  compare_relative(sim_state(run->sim)->rate[0], -4, 0.15, "rate 0.4 s after it was let go, 10 N on 1 kg");
  run_free(run);
}

/* 1 kg that falls on a stop, k = 1e4 N/m and m = 0.01 m: at rest k o^2 / (2 m) is its weight. */
static void stops_S22_hold_a_load_with_their_own_force(void** state) {
  (void)state;
  static const double STEPS[] = {0.01, 0.001};
  for (int k = 0; k < 2; k++) {
    Run* run = run_create(1, 0,
                          "simulation: {dt: %g, duration: 30, integrator: momentum}\n"
                          "links: [{name: w, joint: {type: slide, axis: [0, 0, 1], limits: [0, 1], limit_law: penalty, "
                          "limit_stiffness: 1e4, limit_margin: 0.01}, mass: 1, mass_model: given, inertia: [1, 1, 1, "
                          "0, 0, 0]}]\n"
                          "initial: [{link: w, coordinates: [1e-6]}]\n",
                          STEPS[k]);
    run_steps(run, (int)(15 / STEPS[k] + 0.5));
    compare_relative(sim_state(run->sim)->q[0], -sqrt(2 * 0.01 * 9.81 / 1e4), 1e-3, "coordinate after 15 s, dt %g",
                     STEPS[k]);
    run_free(run);
  }
}

/* ---------------------------------------------------------------- energy of the scheme */

/* After so many steps, with the rate of the first coordinate. */
static SimSchemeWork scheme_after(int steps, double* rate, const char* text, const char* integrator) {
  Run* run = run_model(text, integrator);
  Sim* sim = NULL;
  SimOptions options = {.threads = 1, .scheme_work = true};
  assert_int_equal(sim_create(&sim, &run->model, &options, &run->diagnostics), STATUS_OK);
  for (int k = 0; k < steps; k++) assert_false(step_outcome_failed(sim_step(sim).outcome));
  SimSchemeWork work = sim_scheme_work(sim);
  *rate = sim_state(sim)->rate[0];
  sim_destroy(sim);
  run_free(run);
  return work;
}

#define WHEEL                                                                                                         \
  "simulation: {dt: 0.01, duration: 20, gravity: [0, 0, 0], integrator: %s}\n"                                        \
  "links: [{name: w, joint: {type: hinge, axis: [0, 1, 0]}, mass: 1, mass_model: given, inertia: [0.02, 0.02, 0.02, " \
  "0, 0, 0]}]\n"

/* A wheel that nothing brakes: what first order takes of its energy is the scheme's, to rounding. */
static void scheme_S23_is_what_a_wheel_loses(void** state) {
  (void)state;
  double rate;
  const char* text = WHEEL "initial: [{link: w, velocities: [20]}]\n";
  SimSchemeWork lost = scheme_after(500, &rate, text, "first_order");
  assert_true(rate < 15);
  compare_relative(lost.work, 0.01 * (rate * rate - 400), 1e-6, "energy that first order took of a wheel");
  compare_near(scheme_after(500, &rate, text, "momentum").work, 0, 1e-9, "of momentum");
}

/* A motor of 0.2 N m does work T angle; under first order the scheme takes what the wheel has not. */
static void scheme_S23_leaves_out_work_of_drives(void** state) {
  (void)state;
  double rate;
  const char* text = WHEEL "controllers: [{link: w, type: torque, target: 0.2}]\n";
  SimSchemeWork work = scheme_after(1000, &rate, text, "momentum");
  compare_relative(rate, 100, 1e-3, "rate of a wheel that a motor turns");
  compare_at_most(fabs(work.work), 1e-3 * 0.01 * rate * rate, "energy of the scheme");
}

/* An implicit spring loses amplitude: all of the energy that is gone is the scheme's. */
static void scheme_S23_counts_what_springs_lose(void** state) {
  (void)state;
  double rate;
  const char* text =
      "simulation: {dt: 0.01, duration: 20, gravity: [0, 0, 0], integrator: %s}\n"
      "links: [{name: w, joint: {type: slide, axis: [1, 0, 0], stiffness: 100}, mass: 1, mass_model: given, inertia: "
      "[1, 1, 1, 0, 0, 0]}]\n"
      "initial: [{link: w, coordinates: [0.1]}]\n";
  compare_relative(scheme_after(2000, &rate, text, "first_order").work, -0.5, 0.02, "energy that a damped spring lost");
  compare_near(scheme_after(2000, &rate, text, "momentum").work, 0, 0.005, "of one that keeps it");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(springs_M10_keep_their_amplitude),
      cmocka_unit_test(springs_M10_damp_what_is_not_resolved),
      cmocka_unit_test(springs_M10_drives_and_tendons_keep_theirs),
      cmocka_unit_test(springs_M10_balance_stays),
      cmocka_unit_test(stops_S22_give_nothing_back),
      cmocka_unit_test(stops_S22_give_back_what_is_asked),
      cmocka_unit_test(stops_S22_hold_and_let_go),
      cmocka_unit_test(stops_S22_hold_a_load_with_their_own_force),
      cmocka_unit_test(scheme_S23_is_what_a_wheel_loses),
      cmocka_unit_test(scheme_S23_leaves_out_work_of_drives),
      cmocka_unit_test(scheme_S23_counts_what_springs_lose),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

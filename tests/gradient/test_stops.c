/* Impacts of joint coordinates at their limits (docs/derivations/impact.md, I15): speeds against the rigid formulas,
 * gradients against closed forms, a numerical solution of the equation of motion, and central differences of runs that
 * choose their own substeps. */
#include "differentiate/differentiate.h"

#include <math.h>
#include <stddef.h>

#include "support/runs.h"

static const char* const INTEGRATORS[] = {"first_order", "momentum", "second_order"};
static const double STEPS[] = {0.01, 2e-3, 5e-4, 2e-4};

static void record(Recording* recording, const Run* run) {
  RecordOptions options = {.threads = 1, .tolerance = 1e-11};
  RecordReport report;
  Diagnostics none = {0};
  recording_create(recording, &run->model, run->model.simulation.steps);
  assert_int_equal(recording_run(recording, &run->model, &options, &report, &none), STATUS_OK);
  diagnostics_free(&none);
}

/* Sum of the coordinates in the end, the k-th one k + 1 times. */
static double value_of(const Recording* r) {
  double sum = 0;
  for (int k = 0; k < r->model->coordinate_count; k++) sum += (k + 1) * r->q[r->steps * r->model->coordinate_count + k];
  return sum;
}

static double run_value(const Run* run) {
  Recording recording;
  record(&recording, run);
  double value = value_of(&recording);
  recording_destroy(&recording);
  return value;
}

/* Returns the derivative of value_of with respect to the increment of a degree of freedom: of three rotations by q e/2.
 * One ball joint may stand first. */
static double seed_of(const Model* m, const double* q, int dof) {
  static const Quat UNIT[3] = {{0, 1, 0, 0}, {0, 0, 1, 0}, {0, 0, 0, 1}};
  const ModelLink* link = &m->links[m->dof_link[dof]];
  if (!link->joint.quaternion) return dof + 1;
  Quat d = quat_mul(quat_at(q), UNIT[dof]);
  return 0.5 * (d.w + 2 * d.x + 3 * d.y + 4 * d.z);
}

static void derive(const Run* run, ModelGradient* gradient) {
  Recording recording;
  record(&recording, run);
  const Model* m = &run->model;
  int steps = m->simulation.steps;
  LossSeeds seeds = loss_seeds_create(m, steps);
  loss_seeds_clear(&seeds);
  const double* end = recording.q + (size_t)steps * (size_t)m->coordinate_count;
  for (int k = 0; k < m->dof_count; k++) seeds.q[(size_t)steps * (size_t)m->dof_count + (size_t)k] = seed_of(m, end, k);
  model_gradient_create(gradient, m);
  RunAdjoint* adjoint = run_adjoint_create(m, 1);
  assert_true(run_adjoint(adjoint, &recording, &seeds, 1, gradient).sound);
  run_adjoint_destroy(adjoint);
  loss_seeds_destroy(&seeds);
  recording_destroy(&recording);
}

/* ---------------------------------------------------------------- speeds */

static const char CART[] =
    "simulation: {dt: %g, duration: 0.6, gravity: [0, 0, 0], integrator: %s}\n"
    "links: [{name: cart, mass: 1.3, shape: {type: box, size: [0.2, 0.1, 0.1]}, joint: {type: slide, axis: [1, 0, 0], "
    "limits: [-1, 0.3], limit_restitution: %g, limit_margin: %g}}]\n"
    "initial: [{link: cart, velocities: [1.5]}]\n";

/* It leaves with e times its speed, whatever the step, the integrator and the margin. */
static void stops_I15_give_back_what_is_asked(void** state) {
  (void)state;
  static const double E[] = {0.3, 0.9, 1}, MARGINS[] = {0.013, 1e-5};
  for (int k = 0; k < 3 * 3 * 4 * 2; k++) {
    double e = E[k % 3], dt = STEPS[k / 3 % 4], margin = MARGINS[k / 12 % 2];
    Run* run = run_create(1, 0, CART, dt, INTEGRATORS[k / 24], e, margin);
    run_steps(run, (int)(0.6 / dt + 0.5));
    compare_near(sim_state(run->sim)->rate[0], -1.5 * e, 1e-3, "%s, dt = %g, margin %g: speed away with e = %g",
                 INTEGRATORS[k / 24], dt, margin, e);
    /* impact at 0.3 - 0.995 margin */
    double way = 0.3 - 0.995 * margin, time = way / 1.5;
    compare_near(sim_state(run->sim)->q[0], way - 1.5 * e * (0.6 - time), 1e-3, "place");
    run_free(run);
  }
}

/* Starts over a whole step: margins down to a hundred-thousandth of the default keep e and the slope -e by the start.
 */
static void stops_I15_a_small_margin_at_all_places_in_a_step(void** state) {
  (void)state;
  static const double MARGINS[] = {1e-4, 1e-5, 1e-6, 1e-7}, E = 0.3, DT = 0.01;
  for (int k = 0; k < 32; k++) {
    double margin = MARGINS[k % 4];
    int place = k / 4;
    Run* run = run_model(CART, DT, "momentum", E, margin);
    run->model.initial_coordinates[0] = 0.125 * 1.5 * DT * place;
    Recording recording;
    record(&recording, run);
    int steps = run->model.simulation.steps;
    double way = recording.q[steps] - recording.q[steps - 5];
    recording_destroy(&recording);
    compare_near(way / (5 * DT), -1.5 * E, 1e-4, "margin %g, place %d: speed away", margin, place);
    ModelGradient gradient;
    derive(run, &gradient);
    compare_near(gradient.coordinates[0], -E, 1e-4, "margin %g, place %d: slope by start", margin, place);
    model_gradient_destroy(&gradient);
    run_free(run);
  }
}

/* Impacts below the speed at which restitution begins (5e-3) have none; a cart under load comes to rest. */
static void stops_I15_come_to_rest(void** state) {
  (void)state;
  for (int k = 0; k < 3; k++) {
    Run* run = run_create(1, 0,
                          "simulation: {dt: 0.01, duration: 4, integrator: %s}\n"
                          "links: [{name: w, joint: {type: slide, axis: [0, 0, 1], limits: [0, 1], limit_restitution: "
                          "0.5}, mass: 1, mass_model: given, inertia: [1, 1, 1, 0, 0, 0]}]\n"
                          "initial: [{link: w, coordinates: [0.3]}]\n",
                          INTEGRATORS[k]);
    run_steps(run, 400);
    compare_at_most(fabs(sim_state(run->sim)->rate[0]), 1e-3, "%s: rate at rest on the stop", INTEGRATORS[k]);
    run_free(run);
  }
}

/* Two links in a plane without gravity: the impulse j at the elbow gives M dw = (0, j), and the elbow's rate -e times
 * that before. M in relative angles, with a = i1 + m1 l1^2/4 ...: uniform rods, theta2 = 0 where they are in line. */
static void stops_I15_of_an_elbow_turn_the_shoulder(void** state) {
  (void)state;
  const double m1 = 2, m2 = 1, l1 = 0.8, l2 = 0.6, e = 0.6;
  for (int k = 0; k < 12; k++) {
    double dt = STEPS[k % 4];
    Run* run = run_create(
        1, 0,
        "simulation: {dt: %g, duration: 0.3, gravity: [0, 0, 0], integrator: %s}\n"
        "contact: {model: none}\n"
        "links:\n"
        "  - {name: a, mass: 2, center: [0.4, 0, 0], inertia: [0.01, 0.01, 0.10666666666666667, 0, 0, 0], joint: "
        "{type: hinge, axis: [0, 0, 1]}}\n"
        "  - {name: b, parent: a, mass: 1, center: [0.3, 0, 0], inertia: [0.01, 0.01, 0.03, 0, 0, 0], joint: {type: "
        "hinge, axis: [0, 0, 1], position: [0.8, 0, 0], limits: [-1, 1], limit_restitution: 0.6, limit_margin: "
        "1e-3}}\n"
        "initial: [{link: a, velocities: [0.3]}, {link: b, coordinates: [0.7], velocities: [2]}]\n",
        dt, INTEGRATORS[k / 4]);
    /* rates at the elbow's event follow from the energy and the angular momentum, which both are kept up to it */
    double at = 1 - 0.995e-3, w[2] = {0.3, 2}, energy = 0, spin = 0, m[2][2][2];
    for (int n = 0; n < 2; n++) {
      double c = cos(n == 0 ? 0.7 : at), i1 = m1 * l1 * l1 / 3 + m2 * l1 * l1, i2 = m2 * l2 * l2 / 3,
             b = 0.5 * m2 * l1 * l2 * c;
      m[n][0][0] = i1 + i2 + 2 * b;
      m[n][0][1] = m[n][1][0] = i2 + b;
      m[n][1][1] = i2;
    }
    spin = m[0][0][0] * w[0] + m[0][0][1] * w[1];
    energy = m[0][0][0] * w[0] * w[0] + 2 * m[0][0][1] * w[0] * w[1] + m[0][1][1] * w[1] * w[1];
    /* w0 = (spin - M01 w1) / M00; energy - spin^2 / M00 = (M11 - M01^2 / M00) w1^2 */
    double free = m[1][1][1] - m[1][0][1] * m[1][0][1] / m[1][0][0];
    double elbow = sqrt((energy - spin * spin / m[1][0][0]) / free), after = -e * elbow;
    double shoulder = (spin - m[1][0][1] * after) / m[1][0][0];
    while (sim_state(run->sim)->rate[1] > 0 && sim_state(run->sim)->time < 0.29) run_steps(run, 1);
    run_steps(run, 1);
    double turned = fabs(sim_state(run->sim)->q[1] - at);
    compare_near(sim_state(run->sim)->rate[1], after, 0.01 + 2 * turned, "%s, dt = %g: elbow", INTEGRATORS[k / 4], dt);
    compare_near(sim_state(run->sim)->rate[0], shoulder, 0.01 + 2 * turned, "shoulder");
    run_free(run);
  }
}

/* ---------------------------------------------------------------- gradients against a numerical solution */

/* A pendulum q'' = -k sin q that strikes its lower limit: angle at the time T by Runge and Kutta's method, the impact
 * found by bisection. */
typedef struct {
  double q, w, k, stop, e, time;
} Pendulum;

static void advance(double* q, double* w, double k, double h) {
  double a1 = -k * sin(*q), q2 = *q + 0.5 * h * *w, w2 = *w + 0.5 * h * a1, a2 = -k * sin(q2);
  double q3 = *q + 0.5 * h * w2, w3 = *w + 0.5 * h * a2, a3 = -k * sin(q3), q4 = *q + h * w3, w4 = *w + h * a3;
  double a4 = -k * sin(q4), by_q = (*w + 2 * w2 + 2 * w3 + w4) / 6;
  *w += h * (a1 + 2 * a2 + 2 * a3 + a4) / 6;
  *q += h * by_q;
}

static double swing(Pendulum p) {
  const double h = 1e-4;
  double left = p.time;
  while (left > 0) {
    double step = fmin(h, left), q = p.q, w = p.w;
    advance(&q, &w, p.k, step);
    if (q < p.stop && w < 0) {
      double low = 0, high = step;
      for (int n = 0; n < 60; n++) {
        double middle = 0.5 * (low + high), at = p.q, rate = p.w;
        advance(&at, &rate, p.k, middle);
        *(at < p.stop ? &high : &low) = middle;
      }
      q = p.q, w = p.w;
      advance(&q, &w, p.k, step = high);
      q = p.stop;
      w *= -p.e;
    }
    p.q = q, p.w = w;
    left -= step;
  }
  return p.q;
}

static double swing_slope(const Pendulum* p, size_t offset) {
  double h = 1e-5, end[2];
  for (int side = 0; side < 2; side++) {
    Pendulum moved = *p;
    *(double*)((char*)&moved + offset) += side == 0 ? -h : h;
    end[side] = swing(moved);
  }
  return (end[1] - end[0]) / (2 * h);
}

/* By start, speed, restitution, limit and the mass of a pendulum with a wheel of constant inertia: k = m g l / (m l^2 +
 * 0.02). */
static void check_pendulum(double dt, double e) {
  const double mass = 1.2, l = 0.5, g = 9.81, margin = 1e-4;
  Run* run = run_model(
      "simulation: {dt: %g, duration: 0.8, integrator: momentum}\n"
      "contact: {model: none}\n"
      "links: [{name: p, mass: %g, center: [0, 0, %g], inertia: [1e-9, 1e-9, 1e-9, 0, 0, 0], joint: {type: hinge, "
      "axis: "
      "[0, 1, 0], armature: 0.02, limits: [0.2, 2], limit_restitution: %g, limit_margin: %g}}]\n"
      "initial: [{link: p, coordinates: [1.1], velocities: [-0.4]}]\n",
      dt, mass, -l, e, margin);
  Pendulum p = {1.1, -0.4, mass * g * l / (mass * l * l + 0.02), 0.2 + 0.995 * margin, e, 0.8};
  ModelGradient found;
  derive(run, &found);
  double inertia = mass * l * l + 0.02, by_mass = g * l / inertia - mass * g * l * l * l / (inertia * inertia);
  /* the flight that the impact cuts is of second order: the error of the angle changes with the place of the impact in
   * its step, that of the slopes is of first order */
  const double tolerance = dt > 5e-3   ? 0.1
                           : dt > 1e-3 ? 0.06
                                       : 0.01,
               most = fmax(1, fabs(swing_slope(&p, offsetof(Pendulum, stop))));
  compare_near(run_value(run), swing(p), dt > 1e-3 ? 2e-3 : 1e-4, "dt %g, e %g: angle", dt, e);
  compare_near(found.coordinates[0], swing_slope(&p, offsetof(Pendulum, q)), tolerance * most, "by start");
  compare_near(found.velocities[0], swing_slope(&p, offsetof(Pendulum, w)), tolerance * most, "by speed");
  compare_near(found.joint[0][JOINT_RESTITUTION], swing_slope(&p, offsetof(Pendulum, e)), tolerance * most, "by e");
  compare_near(found.joint[0][JOINT_LOWER], swing_slope(&p, offsetof(Pendulum, stop)), tolerance * most, "by limit");
  compare_near(found.mass[0], by_mass * swing_slope(&p, offsetof(Pendulum, k)), tolerance * most, "by mass");
  model_gradient_destroy(&found);
  run_free(run);
}

static void stops_I15_gradient_of_a_pendulum(void** state) {
  (void)state;
  static const double E[] = {0.3, 0.6, 0.9};
  for (int k = 0; k < 9; k++) check_pendulum(STEPS[k % 3], E[k / 3]);
}

/* ---------------------------------------------------------------- gradients against differences of runs */

/* largest: length of the differences, below those that pass a choice of the run. */
static void check_below(double largest, const Run* run, double* number, double slope, double scale, const char* what,
                        int index) {
  for (double h = largest; h > 5e-6; h *= 0.3) {
    double at = *number, up, down;
    *number = at + h;
    up = run_value(run);
    *number = at - h;
    down = run_value(run);
    *number = at;
    compare_near((up - down) / (2 * h), slope, scale * (2e-5 + 2e-9 / h + 1e5 * h * h), "h = %g: by %s %d", h, what,
                 index);
  }
}

static void check_number(const Run* run, double* number, double slope, double scale, const char* what, int index) {
  check_below(1e-4, run, number, slope, scale, what, index);
}

#define ARM                                                                                                          \
  "links:\n"                                                                                                         \
  "  - {name: a, mass: 2, center: [0.4, 0, 0], inertia: [0.01, 0.11, 0.1, 0, 0, 0], joint: {type: hinge, axis: [0, " \
  "1, "                                                                                                              \
  "0], limits: [-2, 2], limit_restitution: 0.7}}\n"                                                                  \
  "  - {name: b, parent: a, mass: 1, center: [0.3, 0.01, 0], inertia: [0.01, 0.03, 0.03, 0, 0, 0], joint: {type: "   \
  "hinge, axis: [0, 1, 0.1], position: [0.8, 0, 0], limits: [-0.4, 0.5], limit_restitution: 0.5}}\n"                 \
  "initial: [{link: a, velocities: [0.3]}, {link: b, coordinates: [0.1], velocities: [-2]}]\n"
#define FINGERS                                                                                                        \
  "links:\n"                                                                                                           \
  "  - {name: hand, mass: 1, center: [0, 0, 0], inertia: [0.01, 0.01, 0.01, 0, 0, 0], joint: {type: slide, axis: [1, " \
  "0, 0]}}\n"                                                                                                          \
  "  - {name: l, parent: hand, mass: 0.1, center: [0.1, 0, 0], inertia: [1e-4, 1e-4, 1e-4, 0, 0, 0], joint: {type: "   \
  "slide, axis: [1, 0, 0], limits: [0, 0.1], limit_restitution: 0.5}}\n"                                               \
  "  - {name: r, parent: hand, mass: 0.1, center: [-0.1, 0, 0], inertia: [1e-4, 1e-4, 1e-4, 0, 0, 0], joint: {type: "  \
  "slide, axis: [-1, 0, 0], limits: [0, 0.1], limit_restitution: 0.5}}\n"                                              \
  "initial: [{link: l, coordinates: [0.05], velocities: [1]}, {link: r, coordinates: [0.05], velocities: [1]}]\n"
#define BALL_AND_CART                                                                                            \
  "contact: {restitution: 0.6}\n"                                                                                \
  "links:\n"                                                                                                     \
  "  - {name: cart, mass: 1, shape: {type: box, size: [0.4, 0.4, 0.04]}, joint: {type: slide, axis: [0, 0, 1], " \
  "limits: [-0.05, 0.5], limit_restitution: 0.5}}\n"                                                             \
  "  - {name: ball, mass: 0.3, shape: {type: sphere, radius: 0.03}, joint: {type: slide, axis: [0, 0, 1], "      \
  "position: [0, 0, 0.1]}}\n"                                                                                    \
  "initial: [{link: ball, velocities: [-1]}]\n"

static void stops_I15_gradient_is_that_of_runs_with_their_own_substeps(void** state) {
  (void)state;
  static const char* const SCENES[] = {ARM, FINGERS, BALL_AND_CART};
  for (int k = 0; k < 9; k++) {
    /* the cart's slow impacts after 0.2 s begin within 1e-4 m of a choice of second_order */
    Run* run = run_model("simulation: {dt: 4e-3, duration: %g, integrator: %s}\n%s", k / 3 == 2 ? 0.2 : 0.5,
                         INTEGRATORS[k % 3], SCENES[k / 3]);
    Model* m = &run->model;
    ModelGradient g;
    derive(run, &g);
    double scale = 0;
    for (int d = 0; d < m->dof_count; d++) scale = fmax(scale, fabs(g.velocities[d]));
    for (int d = 0; d < m->dof_count; d++) {
      /* two fingers that differ by less than the tie tolerance reach their stops together, otherwise one after the
       * other, without a derivative between */
      if (k / 3 != 1 || d < 1) check_number(run, &m->initial_velocities[d], g.velocities[d], scale, SCENES[k / 3], d);
    }
    for (int i = 0; i < m->link_count; i++) {
      ModelLink* link = &m->links[i];
      if (!link->limited[0] || k / 3 == 1) continue;
      scale = 0;
      for (int n = JOINT_LOWER; n <= JOINT_RESTITUTION; n++) scale = fmax(scale, fabs(g.joint[link->dof_first][n]));
      check_number(run, &link->lower[0], g.joint[link->dof_first][JOINT_LOWER], scale + 1e-3, "lower limit", i);
      check_number(run, &link->upper[0], g.joint[link->dof_first][JOINT_UPPER], scale + 1e-3, "upper limit", i);
      check_number(run, &link->limit_restitution, g.joint[link->dof_first][JOINT_RESTITUTION], scale + 1e-3, "e", i);
    }
    model_gradient_destroy(&g);
    run_free(run);
  }
}

/* The cart's third impact is found at 5.2 mm/s over a whole substep. Over the one that ends at its beginning it is
 * slower than the least speed of an impact, 5 mm/s. */
static void stops_I15_an_approach_that_is_slower_at_first(void** state) {
  (void)state;
  Run* run = run_model(
      "simulation: {dt: 0.01, duration: 1, integrator: second_order}\n"
      "links:\n"
      "  - {name: c, mass: 1, shape: {type: box, size: [0.2, 0.1, 0.1]}, joint: {type: slide, position: [0, 0, 1], "
      "axis: [1, 0, 0], limits: [-0.2, 0.20656638982515957], limit_restitution: 0.3}}\n"
      "  - {name: a, parent: c, mass: 0.5, mass_model: uniform, shapes: [{type: box, size: [0.05, 0.05, 0.4], "
      "position: [0, 0, -0.3]}], joint: {type: hinge, axis: [0, 1, 0], limits: [-1, 1], limit_restitution: 0.3}}\n"
      "initial: [{link: c, velocities: [1.3171376100644276]}, {link: a, velocities: [-0.9976891361387956]}]\n");
  ModelGradient g;
  derive(run, &g);
  double scale = fmax(fabs(g.velocities[0]), fabs(g.velocities[1]));
  for (int d = 0; d < 2; d++) {
    double* number = &run->model.initial_velocities[d];
    double at = *number, h = 1e-5;
    *number = at + h;
    double up = run_value(run);
    *number = at - h;
    double down = run_value(run);
    *number = at;
    compare_near((up - down) / (2 * h), g.velocities[d], 1e-5 * scale, "by velocity %d", d);
  }
  model_gradient_destroy(&g);
  run_free(run);
}

/* A ball joint reaches its cone, its twist stop or its largest angle along a principal axis and stays there, for any
 * step size. */
static void limits_S22_of_a_ball_give_nothing_back(void** state) {
  (void)state;
  static const char* const JOINTS[] = {"swing: 0.5", "swing: 0.5, twist: [-0.3, 0.3]", "limits: [null, 0.5]"};
  for (int k = 0; k < 3 * 4 * 2; k++) {
    bool twist = k % 3 == 1;
    double dt = STEPS[k / 3 % 4];
    Run* run = run_create(1, 0,
                          "simulation: {dt: %g, duration: 0.6, gravity: [0, 0, 0], integrator: %s}\n"
                          "links: [{name: arm, mass: 1, center: [0, 0, 0], inertia: [0.01, 0.02, 0.015, 0, 0, 0], "
                          "joint: {type: ball, %s}}]\n"
                          "initial: [{link: arm, velocities: [%g, 0, %g]}]\n",
                          dt, INTEGRATORS[k / 12], JOINTS[k % 3], twist ? 0.0 : 2.0, twist ? 2.0 : 0.0);
    run_steps(run, (int)(0.6 / dt + 0.5));
    const double* rate = sim_state(run->sim)->rate;
    compare_near(rate[twist ? 2 : 0], 0, 2e-3, "%s, dt = %g, %s: rate at the end", INTEGRATORS[k / 12], dt,
                 JOINTS[k % 3]);
    run_free(run);
  }
}

/* The same rotation about one axis by a hinge and by a ball joint, whose swing, twist or whole angle is limited. */
static void stops_I15_of_a_ball_are_those_of_a_hinge(void** state) {
  (void)state;
  static const char* const JOINTS[] = {"type: ball, swing: 0.8", "type: ball, limits: [null, 0.8]",
                                       "type: ball, twist_axis: [0, 1, 0], swing: 1, twist: [-1, 0.8]"};
  static const double E[] = {0.3, 0.9, 1};
  static const char start[] = "[0.99875026039496625, 0, 0.049979169270678331, 0]"; /* turned by 0.1 about y */
  const double margin = 1e-3, speed = 2;
  for (int k = 0; k < 3 * 4 * 3; k++) {
    double e = E[k % 3], dt = STEPS[k / 3 % 4], place[4], rate[4];
    for (int joint = 0; joint < 4; joint++) {
      Run* run = run_create(1, 0,
                            "simulation: {dt: %g, duration: 0.6, gravity: [0, 0, 0], integrator: %s}\n"
                            "contact: {model: none}\n"
                            "links: [{name: p, mass: 1.2, center: [0, 0, -0.5], inertia: [0.02, 0.02, 0.01, 0, 0, 0], "
                            "joint: {%s, limit_margin: %g, limit_restitution: %g}}]\n"
                            "initial: [{link: p, coordinates: %s, velocities: %s}]\n",
                            dt, INTEGRATORS[k / 12],
                            joint < 3 ? JOINTS[joint] : "type: hinge, axis: [0, 1, 0], limits: [-1, 0.8]", margin, e,
                            joint < 3 ? start : "[0.1]", joint < 3 ? "[0, 2, 0]" : "[2]");
      run_steps(run, (int)(0.6 / dt + 0.5));
      const SimState* at = sim_state(run->sim);
      place[joint] = joint < 3 ? 2 * atan2(at->q[2], at->q[0]) : at->q[0];
      rate[joint] = at->rate[joint < 3 ? 1 : 0];
      run_free(run);
    }
    for (int joint = 0; joint < 3; joint++) {
      compare_near(place[joint], place[3], 1e-7, "%s, dt %g, e %g, %s: place", INTEGRATORS[k / 12], dt, e,
                   JOINTS[joint]);
      compare_near(rate[joint], rate[3], 1e-7, "rate");
    }
    /* first_order takes from a rotation over large steps */
    double loss = k / 12 == 0 ? 3 * dt : k / 12 == 2 ? 0.15 * dt : 0;
    compare_near(rate[0], -e * speed, (1e-4 + loss) * speed, "%s, dt %g, e %g: speed away", INTEGRATORS[k / 12], dt, e);
  }
}

/* A pendulum that leaves its cone and its twist stop: by velocities, bounds, restitution and mass. */
static void stops_I15_gradient_of_a_ball(void** state) {
  (void)state;
  for (int k = 0; k < 3; k++) {
    Run* run = run_model(
        "simulation: {dt: 4e-3, duration: 0.5, integrator: %s}\n"
        "contact: {model: none}\n"
        "links: [{name: p, mass: 1.2, center: [0.02, 0.01, -0.5], inertia: [0.03, 0.02, 0.015, 0, 0, 0], joint: {type: "
        "ball, swing: 0.6, twist: [-0.4, 0.3], limit_restitution: 0.6}}]\n"
        "initial: [{link: p, velocities: [1.5, 2.5, 1.9]}]\n",
        INTEGRATORS[k]);
    Model* m = &run->model;
    ModelLink* link = &m->links[0];
    ModelGradient g;
    derive(run, &g);
    double scale = 0, largest = k == 2 ? 1e-5 : 1e-4; /* second_order chooses where it extrapolates again */
    for (int d = 0; d < 3; d++) scale = fmax(scale, fabs(g.velocities[d]));
    for (int d = 0; d < 3; d++)
      check_below(largest, run, &m->initial_velocities[d], g.velocities[d], scale, INTEGRATORS[k], d);
    assert_true(fabs(g.joint[1][JOINT_UPPER]) > 1e-2); /* the cone is struck */
    assert_true(fabs(g.joint[2][JOINT_UPPER]) > 1e-2); /* the twist stop, too */
    scale = fmax(fabs(g.joint[1][JOINT_UPPER]), fabs(g.joint[0][JOINT_RESTITUTION]));
    check_below(largest, run, &link->upper[1], g.joint[1][JOINT_UPPER], scale, "swing", 1);
    check_below(largest, run, &link->lower[2], g.joint[2][JOINT_LOWER], scale, "lower twist", 2);
    check_below(largest, run, &link->upper[2], g.joint[2][JOINT_UPPER], scale, "upper twist", 2);
    check_below(largest, run, &link->limit_restitution, g.joint[0][JOINT_RESTITUTION], scale, "e", 0);
    model_gradient_destroy(&g);
    run_free(run);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(stops_I15_give_back_what_is_asked),
      cmocka_unit_test(stops_I15_a_small_margin_at_all_places_in_a_step),
      cmocka_unit_test(stops_I15_come_to_rest),
      cmocka_unit_test(stops_I15_of_an_elbow_turn_the_shoulder),
      cmocka_unit_test(limits_S22_of_a_ball_give_nothing_back),
      cmocka_unit_test(stops_I15_of_a_ball_are_those_of_a_hinge),
      cmocka_unit_test(stops_I15_gradient_of_a_ball),
      cmocka_unit_test(stops_I15_gradient_of_a_pendulum),
      cmocka_unit_test(stops_I15_gradient_is_that_of_runs_with_their_own_substeps),
      cmocka_unit_test(stops_I15_an_approach_that_is_slower_at_first),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

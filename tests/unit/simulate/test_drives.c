/* Tests drives with torques, rates and limits. Energy derivatives and adjoints are compared with differences in every
 * zone of the limit, motors with closed forms. */
#include <stdio.h>
#include <string.h>

#include "simulate/terms.h"
#include "support/joints.h"
#include "support/runs.h"
#include "support/sweep.h"

/* ---------------------------------------------------------------- kernels */

typedef struct {
  ModelLink link;
  double q[1], q_now[1], difference_old[1], aim[1];
  JointDrive drive;
  StepWeights weights;
} Driven;

static JointInput input_of(const Driven* d) {
  return (JointInput){&d->link,   d->q,   d->q_now, d->difference_old, &d->drive, 1,    0.01,
                      d->weights, d->aim, 2e4,      {0, 0, 0},         0,         NULL, NULL,
                      NULL};
}

/* A hinge whose drive wants the force `wanted`. */
static Driven driven(double position, double damping, double limit, double wanted) {
  Driven d;
  memset(&d, 0, sizeof d);
  d.link = link_of(0, 1);
  d.q[0] = 0.3, d.q_now[0] = 0.28, d.difference_old[0] = 0.01;
  d.weights = (StepWeights){2, 2.5, -2, 0.5, 0, 150, 50};
  d.drive.target[0] = 0.7, d.drive.target_rate[0] = 0.4;
  d.drive.position_gain[0] = position, d.drive.damping_gain[0] = damping, d.drive.max_force[0] = limit;
  d.drive.limit_width = LIMIT_WIDTH_DEFAULT;
  double rate = 150 * 0.02 - 50 * 0.01;
  d.drive.push[0] = wanted - position * 0.4 - damping * (0.4 - rate);
  return d;
}

static const double zones[] = {-20, -10.2, -9.7, -3, 0, 4, 9.4, 9.6, 10, 10.4, 10.6, 30};
static const double gains[][2] = {{5, 0.2}, {0, 0.3}, {7, 0}, {0, 0}};

static bool energy_and_gradient_at(void* context, const double* x, double* y) {
  Driven d = *(const Driven*)context;
  d.q[0] += x[0];
  JointInput in = input_of(&d);
  JointTerms t;
  if (!joint_terms(&in, true, &t)) return false;
  y[0] = t.controller;
  y[1] = t.gradient[0];
  return true;
}

static void drives_M1_M2_derivatives_in_every_zone(void** state) {
  (void)state;
  for (size_t z = 0; z < sizeof zones / sizeof *zones; z++)
    for (int g = 0; g < 4; g++)
      for (int limited = 0; limited < 2; limited++) {
        Driven d = driven(gains[g][0], gains[g][1], limited ? 10 : 0, zones[z]);
        JointInput in = input_of(&d);
        JointTerms t;
        assert_true(joint_terms(&in, true, &t));
        if (!limited) compare_near(t.gradient[0], -zones[z], 1e-12, "what is wanted");
        compare_at_most(-t.hessian[0][0], 0, "convex");
        const double jacobian[2] = {t.gradient[0], t.hessian[0][0]};
        Sweep sweep = {.function = energy_and_gradient_at, .context = &d, .inputs = 1, .outputs = 2, .first = 1e-3};
        sweep.factor = 4, sweep.steps = 8;
        SweepResult r = sweep_jacobian(&sweep, jacobian, 1);
        compare_at_most(r.error[r.best], 1e-6, "wanted %g, gains %d, limit %d: %g for %g", zones[z], g, limited,
                        r.found, r.wanted);
      }
}

/* x: q^t, the difference before, target, its rate, push. */
static bool torque_at(void* context, const double* x, double* y) {
  Driven d = *(const Driven*)context;
  d.q_now[0] += x[0];
  d.difference_old[0] += x[1];
  d.drive.target[0] += x[2];
  d.drive.target_rate[0] += x[3];
  d.drive.push[0] += x[4];
  d.drive.position_gain[0] += x[5];
  d.drive.velocity_gain[0] += x[6];
  d.drive.damping_gain[0] += x[7];
  d.drive.max_force[0] += x[8];
  JointInput in = input_of(&d);
  JointTerms t;
  if (!joint_terms(&in, true, &t)) return false;
  y[0] = t.gradient[0];
  return true;
}

static void drives_M3_E5_against_differences(void** state) {
  (void)state;
  for (size_t z = 0; z < sizeof zones / sizeof *zones; z++)
    for (int g = 0; g < 4; g++) {
      Driven d = driven(gains[g][0], gains[g][1], 10, zones[z]);
      JointInput in = input_of(&d);
      double target[1][JOINT_MAX_DOF], rate[1][JOINT_MAX_DOF], push[1][JOINT_MAX_DOF], lambda = 1;
      double gain[1][JOINT_GAIN_KINDS][JOINT_MAX_DOF];
      JointBars shares = {.target = target, .target_rate = rate, .push = push, .gains = gain};
      joint_adjoint(&in, &lambda, &shares);
      const double found[9] = {shares.now[0], shares.difference_old[0],
                               target[0][0],  rate[0][0],
                               push[0][0],    gain[0][0][0],
                               gain[0][1][0], gain[0][2][0],
                               gain[0][3][0]};
      Sweep sweep = {.function = torque_at, .context = &d, .inputs = 9, .outputs = 1, .first = 1e-3};
      sweep.factor = 4, sweep.steps = 8;
      SweepResult r = sweep_jacobian(&sweep, found, 1);
      compare_at_most(r.error[r.best], 1e-6, "wanted %g, gains %d: input %d, %g for %g", zones[z], g, r.column, r.found,
                      r.wanted);
    }
}

/* ---------------------------------------------------------------- passive joint forces */

static Driven passive(double rate) {
  Driven d = driven(0, 0, 0, 0);
  d.link.passive = true;
  d.link.stiffness[0] = 3, d.link.rest[0] = -0.2;
  d.link.friction[0] = 0.7, d.link.friction_speed = 0.01;
  d.link.armature[0] = 0.02, d.aim[0] = 0.013;
  d.drive.push[0] = 0;
  d.q[0] = d.q_now[0] + (rate + 50 * d.difference_old[0]) / 150;
  return d;
}

static bool passive_at(void* context, const double* x, double* y) {
  Driven d = *(const Driven*)context;
  d.q[0] += x[0];
  JointInput in = input_of(&d);
  JointTerms t;
  if (!joint_terms(&in, true, &t)) return false;
  y[0] = t.limit + t.damping + t.inertia;
  y[1] = t.gradient[0];
  return true;
}

static const double rates[] = {-3, -0.02, 0, 0.003, 0.01, 0.5};

static void joint_M4_M5_M6_energies_and_derivatives(void** state) {
  (void)state;
  for (size_t k = 0; k < sizeof rates / sizeof *rates; k++) {
    Driven d = passive(rates[k]);
    JointInput in = input_of(&d);
    JointTerms t;
    assert_true(joint_terms(&in, true, &t));
    double way = d.q[0] + 0.2, r = rates[k], root = sqrt(r * r + 1e-4), turn = d.q[0] - d.q_now[0] - 0.013;
    compare_near(t.limit, 1.5 * way * way, 1e-12, "spring");
    compare_near(t.damping, 0.7 / 150 * (root - 0.01), 1e-12, "friction");
    compare_near(t.inertia, 0.01 * 2e4 * turn * turn, 1e-10, "armature");
    compare_near(t.gradient[0], 3 * way + 0.7 * r / root + 0.02 * 2e4 * turn, 1e-9, "forces");
    const double jacobian[2] = {t.gradient[0], t.hessian[0][0]};
    Sweep sweep = {.function = passive_at, .context = &d, .inputs = 1, .outputs = 2, .first = 1e-4};
    sweep.factor = 4, sweep.steps = 8;
    sweep_expect(&sweep, jacobian, 1, 1e-7, "rate %g", rates[k]);
  }
}

/* Static friction 1.1 above 0.4, falling over 0.02, by itself: its work is the integral of its force, in closed form.
 */
static Driven stribeck(double rate) {
  Driven d = passive(rate);
  d.link.stiffness[0] = d.link.armature[0] = 0;
  d.link.friction[0] = 0.4, d.link.static_friction[0] = 1.1, d.link.stribeck_speed = 0.02;
  return d;
}

static void joint_M11_energy_and_derivatives(void** state) {
  (void)state;
  static const double speeds[] = {-3, -0.15, -0.02, 0, 0.003, 0.01, 0.0205, 0.5};
  for (size_t k = 0; k < sizeof speeds / sizeof *speeds; k++) {
    double r = speeds[k], v = 0.01, s = 0.02, root = sqrt(r * r + v * v);
    Driven d = stribeck(r);
    JointInput in = input_of(&d);
    JointTerms t;
    assert_true(joint_terms(&in, true, &t));
    double integral = 0.5 * sqrt(acos(-1)) * s * exp(v * v / (s * s)) * (erf(root / s) - erf(v / s));
    compare_near(t.damping, (0.4 * (root - v) + 0.7 * integral) / 150, 1e-14, "energy at %g", r);
    compare_near(t.gradient[0], r / root * (0.4 + 0.7 * exp(-r * r / (s * s))), 1e-12, "force at %g", r);
    const double jacobian[2] = {t.gradient[0], t.hessian[0][0]};
    Sweep sweep = {.function = passive_at, .context = &d, .inputs = 1, .outputs = 2, .first = 1e-5};
    sweep.factor = 4, sweep.steps = 8;
    sweep_expect(&sweep, jacobian, 1, 1e-7, "rate %g", r);
  }
}

/* x: friction, static friction. */
static bool stribeck_by_numbers_at(void* context, const double* x, double* y) {
  Driven d = *(const Driven*)context;
  d.link.friction[0] += x[0];
  d.link.static_friction[0] += x[1];
  JointInput in = input_of(&d);
  JointTerms t;
  if (!joint_terms(&in, true, &t)) return false;
  y[0] = t.gradient[0];
  return true;
}

static void joint_M11_by_its_own_numbers(void** state) {
  (void)state;
  static const double speeds[] = {-0.03, 0.004, 0.02};
  for (size_t k = 0; k < sizeof speeds / sizeof *speeds; k++) {
    Driven d = stribeck(speeds[k]);
    JointInput in = input_of(&d);
    double own[1][JOINT_OWN_COUNT] = {{0}}, lambda = 1;
    joint_own_adjoint(&in, &lambda, own);
    const double found[2] = {own[0][JOINT_FRICTION], own[0][JOINT_STATIC_FRICTION]};
    Sweep sweep = {.function = stribeck_by_numbers_at, .context = &d, .inputs = 2, .outputs = 1, .first = 1e-3};
    sweep.factor = 4, sweep.steps = 8;
    sweep_expect(&sweep, found, 1, 1e-9, "rate %g", speeds[k]);
  }
}

/* x: q^t, the difference before, the aim. */
static bool passive_force_at(void* context, const double* x, double* y) {
  Driven d = *(const Driven*)context;
  d.q_now[0] += x[0];
  d.difference_old[0] += x[1];
  d.aim[0] += x[2];
  JointInput in = input_of(&d);
  JointTerms t;
  if (!joint_terms(&in, true, &t)) return false;
  y[0] = t.gradient[0];
  return true;
}

static void joint_M7_against_differences(void** state) {
  (void)state;
  for (size_t k = 0; k < sizeof rates / sizeof *rates; k++) {
    Driven d = passive(rates[k]);
    JointInput in = input_of(&d);
    double target[1][JOINT_MAX_DOF], rate[1][JOINT_MAX_DOF], push[1][JOINT_MAX_DOF], lambda = 1;
    double gain[1][JOINT_GAIN_KINDS][JOINT_MAX_DOF];
    JointBars shares = {.target = target, .target_rate = rate, .push = push, .gains = gain};
    joint_adjoint(&in, &lambda, &shares);
    const double found[3] = {shares.now[0], shares.difference_old[0], shares.aim[0]};
    Sweep sweep = {.function = passive_force_at, .context = &d, .inputs = 3, .outputs = 1, .first = 1e-4};
    sweep.factor = 4, sweep.steps = 8;
    sweep_expect(&sweep, found, 1, 1e-7, "rate %g", rates[k]);
  }
}

static void joint_M11_backwards(void** state) {
  (void)state;
  static const double speeds[] = {-0.03, 0, 0.004, 0.02};
  for (size_t k = 0; k < sizeof speeds / sizeof *speeds; k++) {
    Driven d = stribeck(speeds[k]);
    JointInput in = input_of(&d);
    double target[1][JOINT_MAX_DOF], rate[1][JOINT_MAX_DOF], push[1][JOINT_MAX_DOF], lambda = 1;
    double gain[1][JOINT_GAIN_KINDS][JOINT_MAX_DOF];
    JointBars shares = {.target = target, .target_rate = rate, .push = push, .gains = gain};
    joint_adjoint(&in, &lambda, &shares);
    const double found[3] = {shares.now[0], shares.difference_old[0], shares.aim[0]};
    Sweep sweep = {.function = passive_force_at, .context = &d, .inputs = 3, .outputs = 1, .first = 1e-5};
    sweep.factor = 4, sweep.steps = 8;
    sweep_expect(&sweep, found, 1, 1e-7, "rate %g", speeds[k]);
  }
}

#define CART(settings, joint, rest)                                                                              \
  "simulation: {" settings                                                                                       \
  "}\n"                                                                                                          \
  "contact: {model: none}\n"                                                                                     \
  "links:\n"                                                                                                     \
  "  - {name: cart, mass: 2, center: [0, 0, 0], inertia: [1, 1, 1, 0, 0, 0], joint: {type: slide, axis: [1, 0, " \
  "0], " joint "}}\n" rest

/* Mass and armature on a spring: rest + 0.3 cos(w t), w^2 = 50 / (2 + 3); the energy with both stays. */
static void joint_M4_M6_an_oscillator(void** state) {
  (void)state;
  Run* run =
      run_create(1, 1e-12,
                 CART("dt: 0.001, steps: 1000, integrator: second_order", "stiffness: 50, rest: 0.1, armature: 3",
                      "initial: [{link: cart, coordinates: "
                      "[0.4]}]\n"));
  compare_near(sim_measure(run->sim).potential, 0.5 * 50 * 0.09, 1e-12, "energy at the start");
  run_steps(run, 1000);
  compare_near(sim_state(run->sim)->q[0], 0.1 + 0.3 * cos(sqrt(10)), 1e-5, "after a second");
  SimMeasure m = sim_measure(run->sim);
  compare_near(m.kinetic + m.potential, 0.5 * 50 * 0.09, 1e-4, "energy");
  run_free(run);
}

/* Steps of first order with armature alone are those of a larger mass, from the first with its initial velocity on. */
static void joint_M6_is_a_mass(void** state) {
  (void)state;
  static const char* const integrator[] = {"first_order", "second_order"};
  for (int k = 0; k < 2; k++) {
    double q[2];
    for (int side = 0; side < 2; side++) {
      Run* run = run_create(1, 1e-13,
                            CART("dt: 0.01, steps: 40, integrator: %s", "damping: 3, stiffness: 20%s",
                                 "initial: [{link: cart, velocities: [1.5]}]\n"),
                            integrator[k], side ? ", armature: 4" : "");
      if (!side) { /* the mass itself is 2 + 4 */
        run_free(run);
        run =
            run_create(1, 1e-13,
                       "simulation: {dt: 0.01, steps: 40, integrator: %s}\n"
                       "contact: {model: none}\n"
                       "links:\n"
                       "  - {name: cart, mass: 6, center: [0, 0, 0], inertia: [1, 1, 1, 0, 0, 0], joint: {type: slide, "
                       "axis: [1, 0, 0], damping: 3, stiffness: 20}}\n"
                       "initial: [{link: cart, velocities: [1.5]}]\n",
                       integrator[k]);
      }
      run_steps(run, 40);
      q[side] = sim_state(run->sim)->q[0];
      run_free(run);
    }
    compare_near(q[1], q[0], 1e-11, "%s", integrator[k]);
  }
}

/* A cart slides v^2 m / (2 f) far, v dt / 2 less in first-order steps, and then stands; pulled by less than f it stays
 * but for the creep, by more it goes. */
static void joint_M5_slides_and_sticks(void** state) {
  (void)state;
  Run* run = run_create(1, 1e-12,
                        CART("dt: 0.001, steps: 1000, integrator: first_order", "friction: 5",
                             "initial: [{link: cart, velocities: "
                             "[1]}]\n"));
  run_steps(run, 1000);
  double creep = 1e-4;
  compare_near(sim_state(run->sim)->q[0], 1.0 * 2 / (2 * 5) - 0.5 * 0.001, 1e-4, "how far it slides");
  compare_near(sim_state(run->sim)->rate[0], 0, 1e-9, "it stands");
  run_free(run);
  run = run_create(1, 1e-12,
                   CART("dt: 0.001, steps: 1000, integrator: first_order", "friction: 5",
                        "loads: [{link: cart, force: [3, 0, 0]}]\n"));
  run_steps(run, 1000);
  compare_near(sim_state(run->sim)->rate[0], creep * 0.6 / 0.8, 1e-8, "creep under 0.6 of it");
  compare_near(sim_state(run->sim)->q[0], creep * 0.75, 1e-6, "which is all");
  run_free(run);
  run = run_create(1, 1e-12,
                   CART("dt: 0.001, steps: 1000, integrator: first_order", "friction: 5",
                        "loads: [{link: cart, force: [7, 0, 0]}]\n"));
  run_steps(run, 1000);
  compare_near(sim_state(run->sim)->rate[0], 1, creep, "(7 - 5) / 2, but for the smoothing");
  run_free(run);
}

/* Static friction is 10 N, sliding friction 5 N. A pull of 9.8 N holds, 10.1 N breaks away, and a sliding joint feels 5
 * N. */
static void joint_M11_breaks_away(void** state) {
  (void)state;
  for (int k = 0; k < 2; k++) {
    Run* run = run_create(1, 1e-12,
                          CART("dt: 0.001, steps: 2000, gravity: [0, 0, 0]",
                               "friction: 5, static_friction: 10, friction_speed: 1.0e-5, stribeck_speed: 0.01",
                               "loads: [{link: cart, force: [%g, 0, 0]}]\n"),
                          k == 0 ? 9.8 : 10.1);
    run_steps(run, 1000);
    double before = sim_state(run->sim)->rate[0];
    run_steps(run, 1000);
    double after = sim_state(run->sim)->rate[0];
    if (k == 0) compare_at_most(after, 1e-4, "it creeps");
    if (k == 1) compare_near(after - before, (10.1 - 5) / 2, 1e-3, "gain of speed in a second");
    run_free(run);
  }
}

/* A block that a spring of k pulls at the speed V sticks until the spring has static friction, slips half an
 * oscillation and more, and sticks again: with A = (f_s - f) / k and w^2 = k / m it moves by 2 A + V T in a slip of T =
 * 2 (pi - atan(A w / V)) / w, as far as the puller moves in a period 2 A / V + T. */
static void joint_M11_sticks_and_slips(void** state) {
  (void)state;
  Run* run =
      run_create(1, 1e-10,
                 CART("dt: 1.0e-4, steps: 49000, gravity: [0, 0, 0]",
                      "friction: 5, static_friction: 10, friction_speed: 1.0e-6, stribeck_speed: 0.001",
                      "controllers: [{link: cart, type: pd, position_gain: 200, target: {type: keyframes, times: "
                      "[0, 10], values: [0, 1]}}]\n"));
  double w = 10, amplitude = 5.0 / 200, speed = 0.1, slip = 2 * (acos(-1) - atan(amplitude * w / speed)) / w;
  double period = 2 * amplitude / speed + slip, first = 10 / (200 * speed);
  int count = (int)((4.9 - first) / period);
  run_steps(run, (int)(10000 * (first + count * period + 0.2 - 0.5 * slip)));
  compare_near(sim_state(run->sim)->q[0], count * period * speed, 0.02 * count * period * speed, "after %d slips",
               count);
  run_free(run);
}

/* Small steps with a fine tolerance. Near rest all forces are rounding errors, but every step must converge without
 * substeps in a few iterations. */
static void drives_S16_come_to_rest(void** state) {
  (void)state;
  static const char* const joints[] = {"friction: 5", "damping: 40", "friction: 5, stiffness: 100, rest: 0.1"};
  for (int k = 0; k < 3; k++) {
    Run* run = run_create(1, 1e-11,
                          CART("dt: 1.0e-4, steps: 20000, gravity: [0, 0, 0], integrator: first_order", "%s",
                               "initial: [{link: cart, velocities: [0.1]}]\n"),
                          joints[k]);
    int iterations = 0, steps = 12000;
    for (int n = 0; n < steps; n++) {
      StepReport report = run_steps(run, 1);
      assert_int_equal(report.substeps, 1);
      iterations += report.iterations;
    }
    compare_at_most(iterations, 5.0 * steps, "%s: iterations", joints[k]);
    compare_near(sim_state(run->sim)->rate[0], 0, k < 2 ? 1e-9 : 1e-5, "%s: it stands, or creeps", joints[k]);
    run_free(run);
  }
}

/* ---------------------------------------------------------------- motors */

#define MOTOR(settings, controller)                                                                                \
  "simulation: {" settings                                                                                         \
  "}\n"                                                                                                            \
  "contact: {model: none}\n"                                                                                       \
  "links:\n"                                                                                                       \
  "  - {name: cart, mass: 0.2, center: [0, 0, 0], inertia: [1, 1, 1, 0, 0, 0], joint: {type: slide, axis: [1, 0, " \
  "0]}}\n"                                                                                                         \
  "controllers:\n"                                                                                                 \
  "  - {link: cart, " controller "}\n"

/* m v' = tau - c w: implicit steps give v_n = tau/c (1 - (1 + c dt / m)^-n), for both types of drive. */
static void drives_M1_terminal_velocity(void** state) {
  (void)state;
  static const char* const scenes[] = {
      MOTOR("dt: 0.01, steps: 200, integrator: first_order", "type: torque, target: 3, damping_gain: 0.5"),
      MOTOR("dt: 0.01, steps: 200, integrator: first_order", "type: velocity, target: 6, damping_gain: 0.5"),
  };
  for (int k = 0; k < 2; k++) {
    Run* run = run_create(1, 1e-12, "%s", scenes[k]);
    for (int n = 1; n <= 200; n++) {
      run_steps(run, 1);
      compare_near(sim_state(run->sim)->rate[0], 6 * (1 - pow(1 + 0.5 * 0.01 / 0.2, -n)), 1e-8, "drive %d, step %d", k,
                   n);
    }
    run_free(run);
  }
}

/* m v' = -c v under momentum: every step multiplies the rate by exp(-z), z = c dt / m, for joints and drives. */
static void dampers_M12_decay_exactly(void** state) {
  (void)state;
  static const double decays[] = {1e-3, 0.02, 0.24, 0.26, 1, 5, 20};
  static const char* const scene =
      "simulation: {gravity: [0, 0, 0], dt: 0.01, steps: 6}\n"
      "contact: {model: none}\n"
      "links: [{name: cart, mass: 0.2, inertia: [1, 1, 1, 0, 0, 0], joint: {type: slide, axis: [1, 0, 0], damping: "
      "%.17g}}]\n"
      "initial: [{link: cart, velocities: [3]}]\n%s";
  for (int k = 0; k < 14; k++) {
    double z = decays[k / 2], damping = z * 0.2 / 0.01;
    char drive[200];
    snprintf(drive, sizeof drive, "controllers: [{link: cart, type: velocity, target: 0, damping_gain: %.17g}]\n",
             damping);
    Run* run = run_create(1, 1e-13, scene, k % 2 ? 0 : damping, k % 2 ? drive : "");
    run_steps(run, 1);
    double rate = sim_state(run->sim)->rate[0];
    for (int n = 1; n < 6; n++) {
      run_steps(run, 1);
      compare_near(sim_state(run->sim)->rate[0], rate * exp(-z * n), 3e-11, "z %g, drive %d, step %d", z, k % 2, n);
    }
    run_free(run);
  }
}

/* A spring of any stiffness with a damper of any size under momentum: the second half of the run has no larger
 * deflection than the first. The tolerance is for the phases at which the largest deflections are sampled. */
static void dampers_M12_with_springs_are_stable(void** state) {
  (void)state;
  static const double angles[] = {0.1, 1, 3, 10, 100}, decays[] = {0, 0.1, 1, 10, 100};
  for (int k = 0; k < 25; k++) {
    double w = angles[k / 5] / 0.01, z = decays[k % 5], most[2] = {0, 0};
    Run* run = run_create(1, 1e-13,
                          "simulation: {gravity: [0, 0, 0], dt: 0.01, steps: 400}\n"
                          "contact: {model: none}\n"
                          "links: [{name: cart, mass: 1, inertia: [1, 1, 1, 0, 0, 0],"
                          " joint: {type: slide, axis: [1, 0, 0], stiffness: %.17g, damping: %.17g}}]\n"
                          "initial: [{link: cart, coordinates: [0.1], velocities: [-1]}]\n",
                          w * w, z / 0.01);
    for (int n = 0; n < 400; n++) {
      run_steps(run, 1);
      most[n / 200] = fmax(most[n / 200], fabs(sim_state(run->sim)->q[0]));
    }
    compare_at_most(most[1], most[0] * 1.001, "angle %g, decay %g", angles[k / 5], z);
    run_free(run);
  }
}

/* With a target far beyond its limit, the drive gives exactly its limit, so the trajectory is a parabola. */
static void drives_M2_at_the_limit(void** state) {
  (void)state;
  static const char* const scenes[] = {
      MOTOR("dt: 0.01, steps: 100, integrator: second_order", "type: torque, target: 50, max_force: 3"),
      MOTOR("dt: 0.01, steps: 100, integrator: second_order",
            "type: velocity, target: 900, damping_gain: 0.5, max_force: 3"),
      MOTOR("dt: 0.01, steps: 100, integrator: second_order",
            "type: pd, target: 900, position_gain: 20, damping_gain: 1, max_force: 3"),
      MOTOR("dt: 0.01, steps: 100, integrator: second_order",
            "type: pd, target: 900, position_gain: 20, velocity_gain: 0.01, max_force: 3"),
  };
  for (int k = 0; k < 4; k++) {
    Run* run = run_create(1, 1e-12, "%s", scenes[k]);
    run_steps(run, 100);
    compare_near(sim_state(run->sim)->q[0], 0.5 * 3 / 0.2, 1e-8, "drive %d: way of a second", k);
    run_free(run);
  }
}

/* An arm of 1 kg, 0.5 m out, wants to turn up and stalls where its weight's torque is the limit: 4.905 cos = 3. Its
 * motor is asked for more than 1.05 of the limit there. */
static void drives_M2_a_motor_stalls(void** state) {
  (void)state;
  Run* run =
      run_create(1, 1e-12,
                 "simulation: {dt: 0.01, steps: 1500, integrator: first_order}\n"
                 "contact: {model: none}\n"
                 "links:\n"
                 "  - {name: arm, mass: 1, center: [0.5, 0, 0], inertia: [0.01, 0.05, 0.05, 0, 0, 0], joint: {type: "
                 "hinge, axis: [0, -1, 0], damping: 1}}\n"
                 "controllers:\n"
                 "  - {link: arm, type: velocity, target: 2, damping_gain: 5, max_force: 3}\n"
                 "initial: [{link: arm, coordinates: [-1.4]}]\n");
  run_steps(run, 1500);
  compare_near(sim_state(run->sim)->q[0], -acos(3 / 4.905), 1e-6, "where it stalls");
  compare_near(sim_state(run->sim)->rate[0], 0, 1e-6, "and stands");
  run_free(run);
}

/* The same drive at dt and a tenth of it: the angle differs by the scheme's error, which falls with dt^2, while a
 * velocity gain makes another controller of it. */
static double angle_after(const char* gain, double dt) {
  Run* run = run_create(1, 1e-12,
                        MOTOR("dt: %.17g, duration: 0.5, integrator: second_order",
                              "type: pd, position_gain: 20, target: 1, max_force: 8, %s"),
                        dt, gain);
  run_steps(run, run->model.simulation.steps);
  double angle = sim_state(run->sim)->q[0];
  run_free(run);
  return angle;
}

static void drives_M1_damping_gain_does_not_know_dt(void** state) {
  (void)state;
  double coarse = angle_after("damping_gain: 1.5", 1e-2), fine = angle_after("damping_gain: 1.5", 1e-3);
  double finest = angle_after("damping_gain: 1.5", 2.5e-4);
  compare_near(coarse, finest, 5e-3, "dt = 1e-2");
  compare_at_most(fabs(fine - finest), fabs(coarse - finest) / 50, "a tenth of dt, about a hundredth of the error");
  double paper = angle_after("velocity_gain: 0.015", 1e-2), other = angle_after("velocity_gain: 0.015", 1e-3);
  compare_near(paper, coarse, 1e-9, "the same at one dt");
  compare_at_most(0.05, fabs(other - paper), "not at another");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(drives_M1_M2_derivatives_in_every_zone),
      cmocka_unit_test(drives_M3_E5_against_differences),
      cmocka_unit_test(joint_M4_M5_M6_energies_and_derivatives),
      cmocka_unit_test(joint_M7_against_differences),
      cmocka_unit_test(joint_M11_energy_and_derivatives),
      cmocka_unit_test(joint_M11_by_its_own_numbers),
      cmocka_unit_test(joint_M11_backwards),
      cmocka_unit_test(joint_M11_breaks_away),
      cmocka_unit_test(joint_M11_sticks_and_slips),
      cmocka_unit_test(joint_M4_M6_an_oscillator),
      cmocka_unit_test(joint_M6_is_a_mass),
      cmocka_unit_test(joint_M5_slides_and_sticks),
      cmocka_unit_test(drives_S16_come_to_rest),
      cmocka_unit_test(drives_M1_terminal_velocity),
      cmocka_unit_test(dampers_M12_decay_exactly),
      cmocka_unit_test(dampers_M12_with_springs_are_stable),
      cmocka_unit_test(drives_M2_at_the_limit),
      cmocka_unit_test(drives_M2_a_motor_stalls),
      cmocka_unit_test(drives_M1_damping_gain_does_not_know_dt),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

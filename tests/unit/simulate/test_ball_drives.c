/* Tests ball-joint drives: torque limit, torques, dry friction. Derivatives are compared with differences on both sides
 * of the limit's blend, motion with closed forms about any axis. The orientation of the axes must have no influence. */
#include <stdio.h>
#include <string.h>

#include "simulate/terms.h"
#include "support/bodies.h"
#include "support/joints.h"
#include "support/runs.h"
#include "support/sweep.h"

/* ---------------------------------------------------------------- kernels */

typedef struct {
  ModelLink link;
  double q[4], q_now[4], difference_old[3];
  JointDrive drive;
  StepWeights weights;
  SpringTimeWeights spring;
  double rate_past, rate_before[3];
} Ball;

static const StepWeights schemes[] = {{1, 2, -1, 0, 0, 100, 0}, {2, 2.5, -2, 0.5, 0, 150, 50}};

static JointInput input_of(const Ball* b) {
  return (JointInput){&b->link, b->q, b->q_now,  b->difference_old, &b->drive,      1,    0.01, b->weights,
                      NULL,     0,    b->spring, b->rate_past,      b->rate_before, NULL, NULL};
}

static void turned(const double* q, double angle, Random* random, double* out) {
  Quat to = quat_mul(quat_at(q), quat_about(random_direction(random), angle));
  out[0] = to.w, out[1] = to.x, out[2] = to.y, out[3] = to.z;
}

/* step: rotation since t; far: to the target [rad]. */
static Ball ball_of(int scheme, double step, double far, Random* random) {
  Ball b;
  memset(&b, 0, sizeof b);
  b.link = link_of(0, 3);
  b.weights = schemes[scheme];
  b.spring = (SpringTimeWeights){0.3, 0.2, scheme > 0 ? 0.1 : 0};
  b.rate_past = 0.3;
  b.q_now[0] = 1;
  turned(b.q_now, 1.1, random, b.q_now);
  turned(b.q_now, step, random, b.q);
  b.drive.target[0] = 1;
  turned(b.q, far, random, b.drive.target);
  for (int i = 0; i < 3; i++) {
    b.difference_old[i] = 0.5 * step * random_normal(random);
    b.drive.target_rate[i] = random_normal(random);
    b.rate_before[i] = 0.3 * random_normal(random);
    b.drive.position_gain[i] = 5;
    b.drive.velocity_gain[i] = 0.001;
    b.drive.damping_gain[i] = 0.2;
    b.drive.push[i] = random_normal(random);
  }
  return b;
}

static double size_of(const double* v) { return sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]); }

/* The torque without the limit. */
static double unlimited(const Ball* given) {
  Ball b = *given;
  memset(b.drive.max_force, 0, sizeof b.drive.max_force);
  JointInput in = input_of(&b);
  JointTerms t;
  assert_true(joint_terms(&in, true, &t));
  return size_of(t.gradient);
}

static void set_limit(Ball* b, double limit) {
  for (int i = 0; i < 3; i++) b->drive.max_force[i] = limit;
  b->drive.limit_width = LIMIT_WIDTH_DEFAULT;
}

static bool terms_at(const Ball* given, const double* x, JointTerms* t) {
  Ball b = *given;
  joint_increment(&b.link.joint, given->q, x, b.q);
  JointInput in = input_of(&b);
  return joint_terms(&in, true, t);
}

static bool energy_at(void* context, const double* x, double* y) {
  JointTerms t;
  if (!terms_at(context, x, &t)) return false;
  y[0] = t.controller + t.damping + t.limit;
  return true;
}

static bool gradient_at(void* context, const double* x, double* y) {
  JointTerms t;
  if (!terms_at(context, x, &t)) return false;
  memcpy(y, t.gradient, sizeof(double[3]));
  return true;
}

/* Gradient of the energy, and Hessian of R Rx Ry Rz: differences of the gradient show a commutator above it. */
static void check_forward(Ball* b, double floor, const char* what) {
  JointInput in = input_of(b);
  JointTerms t;
  assert_true(joint_terms(&in, true, &t));
  Sweep energy = {energy_at, b, 3, 1, NULL, NULL, NULL, 1e-3, 4, 8};
  SweepResult r = sweep_jacobian(&energy, t.gradient, floor);
  compare_at_most(r.error[r.best], 1e-6, "%s: gradient", what);
  double h[9];
  for (int i = 0; i < 3; i++)
    for (int k = 0; k < 3; k++) {
      double sign = i == (k + 1) % 3 ? 1 : -1;
      h[3 * i + k] = t.hessian[i][k] + (k > i ? sign * t.gradient[3 - i - k] : 0);
    }
  Sweep slope = {gradient_at, b, 3, 3, NULL, NULL, NULL, 1e-3, 4, 8};
  r = sweep_jacobian(&slope, h, floor);
  compare_at_most(r.error[r.best], 1e-6, "%s: Hessian", what);
}

/* x: increments at t, the difference before, of the target and its rate, push, gains of four kinds, friction, the rate
 * before, stiffness, theta of the dampers, time weights of the springs. */
enum { INPUTS = 3 * 12 + 4 };

static bool varied_at(void* context, const double* x, double* y) {
  const Ball* given = context;
  Ball b = *given;
  joint_increment(&b.link.joint, given->q_now, x, b.q_now);
  joint_increment(&b.link.joint, given->drive.target, x + 6, b.drive.target);
  for (int i = 0; i < 3; i++) {
    b.difference_old[i] += x[3 + i];
    b.drive.target_rate[i] += x[9 + i];
    b.drive.push[i] += x[12 + i];
    b.drive.position_gain[i] += x[15 + i];
    b.drive.velocity_gain[i] += 0.01 * x[18 + i];
    b.drive.damping_gain[i] += x[21 + i];
    b.drive.max_force[i] += x[24 + i];
    b.link.friction[i] += x[27 + i];
    b.rate_before[i] += x[30 + i];
    b.link.stiffness[i] += x[33 + i];
  }
  b.rate_past -= x[36];
  b.spring.now += x[37];
  b.spring.old += x[38];
  b.spring.missing += x[39];
  return gradient_at(&b, (const double[3]){0, 0, 0}, y);
}

static void row_of(const Ball* b, const double* lambda, double* row) {
  double target[1][JOINT_MAX_DOF], rate[1][JOINT_MAX_DOF], push[1][JOINT_MAX_DOF], own[3][JOINT_OWN_COUNT] = {{0}};
  double gain[1][JOINT_GAIN_KINDS][JOINT_MAX_DOF];
  JointBars shares = {.target = target, .target_rate = rate, .push = push, .gains = gain};
  JointInput in = input_of(b);
  joint_adjoint(&in, lambda, &shares);
  joint_own_adjoint(&in, lambda, own);
  for (int i = 0; i < 3; i++) {
    const double found[12] = {shares.now[i],
                              shares.difference_old[i],
                              target[0][i],
                              rate[0][i],
                              push[0][i],
                              gain[0][JOINT_POSITION][i],
                              0.01 * gain[0][JOINT_VELOCITY][i],
                              gain[0][JOINT_DAMPING_GAIN][i],
                              gain[0][JOINT_MAX_FORCE][i],
                              own[i][JOINT_FRICTION],
                              shares.rate_before[i],
                              own[i][JOINT_STIFFNESS]};
    for (int k = 0; k < 12; k++) row[3 * k + i] = found[k];
  }
  row[36] = shares.damper_theta;
  row[37] = shares.spring.now;
  row[38] = shares.spring.old;
  row[39] = shares.spring.missing;
}

static void check_backward(Ball* b, double floor, const char* what) {
  double jacobian[3 * INPUTS];
  for (int i = 0; i < 3; i++) {
    const double lambda[3] = {i == 0, i == 1, i == 2};
    row_of(b, lambda, jacobian + i * INPUTS);
  }
  Sweep sweep = {varied_at, b, INPUTS, 3, NULL, NULL, NULL, 1e-3, 4, 8};
  SweepResult r = sweep_jacobian(&sweep, jacobian, floor);
  compare_at_most(r.error[r.best], 1e-6, "%s: row %d, input %d: %g for %g", what, r.row, r.column, r.found, r.wanted);
}

/* Far below the limit, on both halves of the blend, and far above the limit. */
static void ball_M8_M9_derivatives_in_every_zone(void** state) {
  (void)state;
  Random random = {411};
  static const double zones[] = {0.5, 0.97, 1.02, 2, 20}, steps[] = {0, 0.02, 0.3}, fars[] = {0.1, 1.6};
  for (int scheme = 0; scheme < 2; scheme++)
    for (int kind = 0; kind < 3; kind++)
      for (int z = 0; z < 5; z++)
        for (int s = 0; s < 3; s++)
          for (int f = 0; f < 2; f++) {
            Ball b = ball_of(scheme, steps[s], fars[f], &random);
            for (int i = 0; i < 3; i++) { /* pd; a damper; a torque alone */
              if (kind > 0) b.drive.position_gain[i] = 0;
              if (kind > 1) b.drive.velocity_gain[i] = b.drive.damping_gain[i] = b.drive.target_rate[i] = 0;
            }
            double wanted = unlimited(&b);
            set_limit(&b, wanted / zones[z]);
            b.link.passive = true;
            b.link.rest[0] = 1;
            b.link.friction_speed = 0.5;
            for (int i = 0; i < 3; i++) b.link.friction[i] = 0.1 * wanted;
            for (int i = 0; i < 3; i++) b.link.stiffness[i] = (0.1 + 0.05 * i) * wanted;
            char what[160];
            snprintf(what, sizeof what, "seed 411, scheme %d, drive %d, wanted %g, step %g, target at %g", scheme, kind,
                     zones[z], steps[s], fars[f]);
            check_forward(&b, wanted, what);
            b.drive.velocity_gain[0] += kind < 2 ? 1e-4 : 0; /* gains may differ while one of them is varied */
            check_backward(&b, wanted, what);
          }
}

static void ball_M5_derivatives(void** state) {
  (void)state;
  Random random = {412};
  static const double steps[] = {0, 1e-5, 1e-3, 0.05, 0.4};
  for (int scheme = 0; scheme < 2; scheme++)
    for (int s = 0; s < 5; s++) {
      Ball b = ball_of(scheme, steps[s], 0.3, &random);
      memset(&b.drive, 0, sizeof b.drive);
      b.drive.target[0] = 1;
      b.link.passive = true;
      b.link.rest[0] = 1;
      b.link.friction_speed = 0.5;
      for (int i = 0; i < 3; i++) b.link.friction[i] = 0.7;
      char what[60];
      snprintf(what, sizeof what, "seed 412, scheme %d, friction, step %g", scheme, steps[s]);
      check_forward(&b, 0.1, what);
      check_backward(&b, 0.1, what);
    }
}

/* What it gives is what it wants up to 0.95 of the limit, to the bit, and no more than the limit and what a step's
 * rotation bends, in whatever direction. */
static void ball_M8_size_of_the_torque(void** state) {
  (void)state;
  Random random = {413};
  for (int k = 0; k < 200; k++) {
    Ball b = ball_of(k % 2, 0.02, random_uniform(&random, 0, 2.5), &random), open = b;
    double wanted = unlimited(&b), limit = wanted * random_uniform(&random, 0.1, 1.9);
    set_limit(&b, limit);
    JointInput in = input_of(&b), free = input_of(&open);
    JointTerms t = {.controller = 0}, u = {.controller = 0};
    assert_true(joint_terms(&in, true, &t));
    assert_true(joint_terms(&free, true, &u));
    compare_at_most(size_of(t.gradient), limit * (1 + 5e-3), "seed 413, state %d", k);
    if (wanted < 0.94 * limit) assert_memory_equal(t.gradient, u.gradient, sizeof(double[3]));
    if (wanted > 1.07 * limit) compare_relative(size_of(t.gradient), limit, 5e-3, "seed 413, state %d", k);
    for (int i = 0; i < 3; i++) /* the same direction */
      compare_near(t.gradient[i] / size_of(t.gradient), u.gradient[i] / wanted, 1e-12, "seed 413, state %d", k);
  }
}

/* ---------------------------------------------------------------- runs */

/* A ball of 1 kg with the inertia 0.2 about any axis. */
#define TOP(settings, joint, rest)                                                                          \
  "simulation: {gravity: [0, 0, 0], output: [forces], " settings                                            \
  "}\n"                                                                                                     \
  "contact: {model: none}\n"                                                                                \
  "links:\n"                                                                                                \
  "  - {name: top, mass: 1, center: [0, 0, 0], inertia: [0.2, 0.2, 0.2, 0, 0, 0], joint: {type: ball" joint \
  "}}\n" rest

static double angle_of(const Run* run) {
  const double* q = sim_state(run->sim)->q;
  return 2 * atan2(size_of(q + 1), q[0]);
}

static const double axes[3][3] = {{1, 0, 0}, {0, -1, 0}, {1.0 / 3, -2.0 / 3, 2.0 / 3}};

/* Turn of the body after `steps` about axis k, or, k < 0, of the same body on a hinge; `joint`, `drive` as in a scene.
 */
static double turned_by(int k, double speed, const char* integrator, double dt, int steps, const char* joint,
                        const char* drive) {
  const double* n = axes[k < 0 ? 0 : k];
  char start[100], target[100], whole[300];
  snprintf(start, sizeof start, k < 0 ? "%.17g" : "%.17g, %.17g, %.17g", speed * n[0], speed * n[1], speed * n[2]);
  snprintf(target, sizeof target, k < 0 ? "%.17g" : "[%.17g, %.17g, %.17g]", 2.9 * n[0], 2.9 * n[1], 2.9 * n[2]);
  snprintf(whole, sizeof whole, drive ? "controllers: [{link: top, %s, target: %s}]\n" : "", drive, target);
  Run* run =
      run_create(1, 1e-12,
                 "simulation: {gravity: [0, 0, 0], output: [forces], dt: %g, steps: %d, integrator: %s}\n"
                 "contact: {model: none}\n"
                 "links:\n"
                 "  - {name: top, mass: 1, center: [0, 0, 0], inertia: [0.2, 0.2, 0.2, 0, 0, 0], joint: {type: %s%s}}\n"
                 "initial: [{link: top, velocities: [%s]}]\n%s",
                 dt, steps, integrator, k < 0 ? "hinge, axis: [1, 0, 0]" : "ball", joint, start, whole);
  run_steps(run, steps);
  double angle = k < 0 ? fabs(sim_state(run->sim)->q[0]) : angle_of(run);
  run_free(run);
  return angle;
}

/* The body rotates by w^2 I / (2 f) and stops, about any axis as about a hinge. */
static void ball_M5_comes_to_rest(void** state) {
  (void)state;
  double hinge = turned_by(-1, 2, "second_order", 0.001, 1000, ", friction: 0.5", NULL);
  compare_near(hinge, 0.2 * 4 / (2 * 0.5), 1e-4, "a hinge");
  for (int k = 0; k < 3; k++) {
    compare_near(turned_by(k, 2, "second_order", 0.001, 1000, ", friction: 0.5", NULL), hinge, 1e-8, "axis %d", k);
    compare_near(turned_by(k, 2, "first_order", 0.001, 1000, ", friction: 0.5", NULL),
                 turned_by(-1, 2, "first_order", 0.001, 1000, ", friction: 0.5", NULL), 1e-8, "axis %d", k);
  }
}

/* Below the friction limit, at the fraction x, the joint creeps at friction_speed x / sqrt(1 - x^2). */
static void ball_M5_holds(void** state) {
  (void)state;
  Run* run = run_create(1, 1e-12,
                        TOP("dt: 0.01, steps: 100, integrator: first_order", ", friction: 0.5, friction_speed: 1.0e-3",
                            "loads: [{link: top, torque: [0.1, 0.2, -0.2]}]\n"));
  run_steps(run, 100);
  compare_near(size_of(sim_state(run->sim)->rate), 1e-3 * 0.6 / 0.8, 1e-8, "creep under 0.6 of it");
  run_free(run);
}

static const char* const DRIVES[] = {"type: torque, max_force: 0.3", "type: velocity, damping_gain: 2, max_force: 0.3",
                                     "type: pd, position_gain: 20, max_force: 0.3"};

/* At the torque limit the angle is M / I t^2 / 2, about any axis as about a hinge. */
static void ball_M8_at_the_limit(void** state) {
  (void)state;
  for (int d = 0; d < 3; d++) {
    double hinge = turned_by(-1, 0, "second_order", 0.005, 200, "", DRIVES[d]);
    compare_near(hinge, 0.5 * 0.3 / 0.2, 1e-4, "drive %d, a hinge", d);
    for (int k = 0; k < 3; k++)
      compare_near(turned_by(k, 0, "second_order", 0.005, 200, "", DRIVES[d]), hinge, 1e-8, "drive %d, axis %d", d, k);
  }
}

/* A limit that is never reached changes no bit. */
static void ball_M8_out_of_reach(void** state) {
  (void)state;
  static const char* const LIMIT[2] = {"", ", max_force: 1.0e+6"};
  double q[2][4];
  for (int k = 0; k < 2; k++) {
    Run* run =
        run_create(1, 1e-11,
                   TOP("dt: 0.01, steps: 50, integrator: second_order", "",
                       "controllers:\n"
                       "  - {link: top, type: pd, position_gain: 3, damping_gain: 0.1, target: [1, -0.5, 0.3]%s}\n"
                       "initial: [{link: top, velocities: [0.5, 1, -2]}]\n"),
                   LIMIT[k]);
    run_steps(run, 50);
    memcpy(q[k], sim_state(run->sim)->q, sizeof q[k]);
    run_free(run);
  }
  assert_memory_equal(q[0], q[1], sizeof q[0]);
}

/* The same top with a rotated joint frame. The motion is rotated too, through limit and friction. */
static void ball_M5_M8_no_axis_counts(void** state) {
  (void)state;
  Quat frame = quat_exp(vec3(0.4, -1.1, 0.7));
  Vec3 spin = vec3(3, -1, 2), goal = vec3(-1, 0.6, 1.2), end[2];
  for (int k = 0; k < 2; k++) {
    Quat to = k == 0 ? (Quat){1, 0, 0, 0} : frame;
    Mat3 back = mat3_transpose(mat3_from_quat(to));
    Vec3 w = mat3_mul_vec(back, spin), g = mat3_mul_vec(back, goal);
    Run* run = run_create(
        1, 1e-12,
        TOP("dt: 0.01, steps: 60, integrator: first_order", ", friction: 0.1, rotation: [%.17g, %.17g, %.17g, %.17g]",
            "controllers:\n"
            "  - {link: top, type: pd, position_gain: 8, damping_gain: 0.3, max_force: 0.6, target: [%.17g, %.17g, "
            "%.17g]}\ninitial: [{link: top, velocities: [%.17g, %.17g, %.17g]}]\n"),
        to.w, to.x, to.y, to.z, g.x, g.y, g.z, w.x, w.y, w.z);
    run_steps(run, 60);
    const double* q = sim_state(run->sim)->q;
    end[k] = mat3_mul_vec(mat3_from_quat(to), vec3(q[1], q[2], q[3]));
    run_free(run);
  }
  compare_near(vec3_norm(vec3_sub(end[0], end[1])), 0, 1e-9, "vector part of the rotation");
  compare_at_most(0.1 - vec3_norm(end[0]), 0, "it has turned");
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(ball_M8_M9_derivatives_in_every_zone),
                                     cmocka_unit_test(ball_M5_derivatives),
                                     cmocka_unit_test(ball_M8_size_of_the_torque),
                                     cmocka_unit_test(ball_M5_comes_to_rest),
                                     cmocka_unit_test(ball_M5_holds),
                                     cmocka_unit_test(ball_M8_at_the_limit),
                                     cmocka_unit_test(ball_M8_out_of_reach),
                                     cmocka_unit_test(ball_M5_M8_no_axis_counts)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}

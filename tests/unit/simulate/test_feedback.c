/* Tests feedback of drives: measurements and their matrix in closed form, delayed signals, and derivatives of
 * measurements against differences. */
#include "simulate/feedback.h"

#include <string.h>

#include "support/runs.h"

/* One drive with these measurements, all with the factor one, and a body that they look at. */
#define LOOKED_AT(measures)                                                                                    \
  "simulation: {dt: 0.01, steps: 10, gravity: [0, 0, 0], integrator: first_order}\n"                           \
  "contact: {model: none}\n"                                                                                   \
  "links:\n"                                                                                                   \
  "  - {name: cart, joint: {type: slide, axis: [1, 0, 0]}, mass: 1, center: [0, 0, 0], inertia: [1, 1, 1, 0, " \
  "0, 0]}\n"                                                                                                   \
  "  - {name: body, mass: 2, center: [0.5, 0, 0], inertia: [1, 1, 1, 0, 0, 0]}\n"                              \
  "controllers:\n"                                                                                             \
  "  - {link: cart, type: torque, target: 0, feedback: {measures: [" measures "], matrix: [1]}}\n"

static double told(const Run* run) {
  DriveInput input;
  controller_input(run->sim, 0, &input);
  return input.value[0];
}

/* Rates of the worked example: 0.02 m and 0.02 rad in a step of 0.01 s. */
static void set_states(Sim* s) {
  int body = 1;
  s->clock.dt_before = 0.01;
  s->pose_now[body] = (Pose){mat3_from_quat(quat_about(vec3(0, 1, 0), 0)), {0, 0, 1}};
  s->pose_old[body] = (Pose){mat3_identity(), {0, 0, 0.98}};
}

static void feedback_E1_worked_example(void** state) {
  (void)state;
  Run* run = run_create(1, 1e-9, LOOKED_AT("body/vz"));
  set_states(run->sim);
  compare_near(told(run), 2, 1e-13, "velocity");
  run_free(run);
  run = run_create(1, 1e-9, LOOKED_AT("body/wy"));
  set_states(run->sim);
  run->sim->pose_now[1].r = mat3_from_quat(quat_about(vec3(0, 1, 0), 0.02));
  compare_near(told(run), 2, 1e-11, "angular velocity");
  run_free(run);
}

/* A box is lowered onto the ground. The measured contact force is zero at the start and the weight at rest. The
 * measurement belongs to the state, so a restored state has it again. */
static void feedback_E1_contact_force(void** state) {
  (void)state;
  Run* run = run_create(1, 1e-10,
                        "simulation: {dt: 0.005, steps: 400, gravity: [0, 0, -10], integrator: first_order}\n"
                        "contact: {barrier_distance: 4.0e-3}\n"
                        "links:\n"
                        "  - {name: cart, joint: {type: slide, axis: [1, 0, 0], position: [0, 9, 9]}, mass: 1, center: "
                        "[0, 0, 0], inertia: [1, 1, 1, 0, 0, 0]}\n"
                        "  - {name: ground, fixed: true, shape: {type: half_space}}\n"
                        "  - {name: box, mass: 3, position: [0, 0, 0.052], shape: {type: box, size: [0.2, 0.2, 0.1]}}\n"
                        "controllers:\n"
                        "  - {link: cart, type: torque, target: 0, feedback: {measures: [box/fz], matrix: [2]}}\n");
  assert_true(told(run) == 0);
  run_steps(run, 300);
  compare_near(told(run), 60, 1e-4, "twice the weight");
  SimSnapshot* here = sim_save(run->sim);
  double before = told(run);
  Vec3 force[3];
  sim_link_forces(run->sim, force);
  assert_true(before == 2 * force[2].z);
  double v = sim_state(run->sim)->rate[0];
  run_steps(run, 1);
  compare_near(sim_state(run->sim)->rate[0] - v, 0.005 * before, 1e-9, "what the cart is driven by");
  run_steps(run, 3);
  sim_restore(run->sim, here);
  assert_true(told(run) == before);
  sim_snapshot_destroy(here);
  run_free(run);
}

/* Every other measurement of a state that is known. */
static void feedback_E1_what_is_measured(void** state) {
  (void)state;
  static const struct {
    const char* name;
    double wanted;
  } CASES[] = {{"cart/position", 0.3}, {"cart/position/rate", 0.7},
               {"body/x", 1},          {"body/z/rate", 6},
               {"body/px", 1},         {"body/cy", 2.5},
               {"body/vx", 4},         {"body/vy", 5},
               {"body/wz", 3},         {"body/xy", 1},
               {"body/yx", -1}};
  for (size_t k = 0; k < sizeof CASES / sizeof *CASES; k++) {
    Run* run = run_create(1, 1e-9,
                          LOOKED_AT("%s") "initial:\n  - {link: cart, coordinates: [0.3], velocities: [0.7]}\n"
                                          "  - {link: body, coordinates: [1, 2, 3, 0, 0, 1.5707963267948966], "
                                          "velocities: [5.5, 5, 6, 0, 0, 3]}\n",
                          CASES[k].name);
    compare_near(told(run), CASES[k].wanted, 1e-12, "%s", CASES[k].name);
    run_free(run);
  }
}

/* x_(k+1) = 2 x_k - x_(k-1) - 4 dt^2 x_k: the force is that of the state before. */
static void feedback_E2_a_sampled_spring(void** state) {
  (void)state;
  Run* run =
      run_create(1, 1e-13,
                 "simulation: {dt: 0.05, steps: 40, gravity: [0, 0, 0], integrator: first_order}\n"
                 "contact: {model: none}\n"
                 "links:\n"
                 "  - {name: cart, joint: {type: slide, axis: [1, 0, 0]}, mass: 1, center: [0, 0, 0], inertia: "
                 "[1, 1, 1, 0, 0, 0]}\n"
                 "controllers:\n"
                 "  - {link: cart, type: torque, target: 0, feedback: {measures: [cart/position], matrix: [-4]}}\n"
                 "initial:\n  - {link: cart, coordinates: [0.5], velocities: [1]}\n");
  double now = 0.5, old = 0.5 - 0.05;
  for (int k = 0; k < 40; k++) {
    double next = 2 * now - old - 4 * 0.0025 * now;
    old = now, now = next;
    run_steps(run, 1);
    compare_near(sim_state(run->sim)->q[0], now, 1e-12, "step %d", k + 1);
  }
  run_free(run);
}

/* A force has the delay 0.137 s: x_(k+1) = 2 x_k - x_(k-1) + h^2 (mean of f over the step, d earlier). Before the start
 * f is its initial value, which is not zero. */
static void feedback_E2_a_late_signal(void** state) {
  (void)state;
  const double h = 0.01, d = 0.137, pi = acos(-1.0);
  Run* run = run_create(1, 1e-12,
                        "simulation: {dt: 0.01, steps: 50, gravity: [0, 0, 0], integrator: first_order}\n"
                        "contact: {model: none}\n"
                        "links:\n"
                        "  - {name: cart, joint: {type: slide, axis: [1, 0, 0]}, mass: 1, center: [0, 0, 0], "
                        "inertia: [1, 1, 1, 0, 0, 0]}\n"
                        "controllers:\n"
                        "  - {link: cart, type: torque, delay: 0.137, target: {type: sines, terms: [{amplitude: 2, "
                        "frequency: 1.5, phase: 0.4}]}}\n");
  double now = 0, before = 0;
  for (int k = 0; k < 50; k++) {
    double from = k * h - d, to = from + h, first = fmax(from, 0), last = fmax(to, 0);
    double area = 2 * (cos(0.4 + 3 * pi * first) - cos(0.4 + 3 * pi * last)) / (3 * pi);
    area += 2 * sin(0.4) * (fmin(to, 0) - fmin(from, 0)); /* before its start the signal is constant */
    double next = 2 * now - before + h * area;
    before = now;
    now = next;
    run_steps(run, 1);
    compare_near(sim_state(run->sim)->q[0], now, 5e-9, "step %d", k + 1);
  }
  run_free(run);
}

/* Returns the cart's delayed position. Positions are known at multiples of h, with linear interpolation. Before the
 * start the first position applies. */
static double place_at(const double* places, double h, double t) {
  if (t <= 0) return places[0];
  int i = (int)floor(t / h + 1e-9);
  return places[i] + (t / h - i) * (t / h - i > 1e-9 ? places[i + 1] - places[i] : 0);
}

/* x_(k+1) = 2 x_k - x_(k-1) - 4 h^2 x(t_k - d). The delays are fractions of a step, whole steps, and longer than the
 * run. Tested with and without substeps. */
static void feedback_E6_a_late_spring(void** state) {
  (void)state;
  static const double delays[] = {0.013, 0.05, 0.137, 0.15, 9};
  for (int substeps = 1; substeps <= 3; substeps += 2)
    for (int d = 0; d < 5; d++) {
      Run* run =
          run_create(1, 1e-13,
                     "simulation: {dt: 0.05, steps: 40, substeps: %d, gravity: [0, 0, 0], integrator: first_order}\n"
                     "contact: {model: none}\n"
                     "links:\n"
                     "  - {name: cart, joint: {type: slide, axis: [1, 0, 0]}, mass: 1, center: [0, 0, 0], "
                     "inertia: [1, 1, 1, 0, 0, 0]}\n"
                     "controllers:\n"
                     "  - {link: cart, type: torque, target: 0, delay: %g, feedback: {measures: "
                     "[cart/position], matrix: [-4]}}\n"
                     "initial:\n  - {link: cart, coordinates: [0.5], velocities: [1]}\n",
                     substeps, delays[d]);
      double h = 0.05 / substeps, places[121] = {0.5}, before = 0.5 - h;
      for (int k = 0; k < 40 * substeps; k++) {
        places[k + 1] = 2 * places[k] - before - 4 * h * h * place_at(places, h, k * h - delays[d]);
        before = places[k];
        if ((k + 1) % substeps != 0) continue;
        run_steps(run, 1);
        compare_near(sim_state(run->sim)->q[0], places[k + 1], 1e-11, "delay %g, %d substeps, step %d", delays[d],
                     substeps, k + 1);
      }
      run_free(run);
    }
}

/* ---------------------------------------------------------------- backwards */

typedef struct {
  Run* run;
  int entry; /* 0..11 of the pose now, 12..23 of the pose before */
} Nudge;

static double told_with(const Nudge* n, double by) {
  Sim* s = n->run->sim;
  Pose* pose = n->entry < 12 ? &s->pose_now[1] : &s->pose_old[1];
  int row = n->entry % 12 / 4, column = n->entry % 4;
  double* t[3] = {&pose->t.x, &pose->t.y, &pose->t.z};
  double* at = column < 3 ? &pose->r.m[row][column] : t[row];
  double kept = *at;
  *at += by;
  double value = told(n->run);
  *at = kept;
  return value;
}

/* Value measured after a rotation about a world axis: of the present pose (axis 0 to 2) or of the one before. */
static double told_after_rotation(Run* run, int axis, double angle) {
  Pose* pose = axis < 3 ? &run->sim->pose_now[1] : &run->sim->pose_old[1];
  Mat3 kept = pose->r;
  pose->r = mat3_mul(mat3_from_quat(quat_exp(vec3_scale(vec3_axis(axis % 3), angle))), kept);
  double value = told(run);
  pose->r = kept;
  return value;
}

/* Derivatives by rotations, for angular velocities, which are defined for rotation matrices only. */
static void check_rotations(Run* run, const double now[3][4], const double old[3][4], const char* name) {
  for (int axis = 0; axis < 6; axis++) {
    const double(*bar)[4] = axis < 3 ? now : old;
    Mat3 change = mat3_mul(mat3_cross(vec3_axis(axis % 3)), (axis < 3 ? run->sim->pose_now : run->sim->pose_old)[1].r);
    double found = 0, h = 1e-3;
    for (int i = 0; i < 9; i++) found += bar[i / 3][i % 3] * change.m[i / 3][i % 3];
    double wide = told_after_rotation(run, axis, 2 * h) - told_after_rotation(run, axis, -2 * h);
    double near = told_after_rotation(run, axis, h) - told_after_rotation(run, axis, -h);
    compare_near(found, (8 * near - wide) / (12 * h), 1e-9, "%s: rotation %d", name, axis);
  }
}

/* Measurements except angular velocities are at most quadratic in the poses: central differences have no error but
 * rounding. */
static void feedback_E3_E4_against_differences(void** state) {
  (void)state;
  static const char* const NAMES[] = {"body/px", "body/cz", "body/vy", "body/wx", "body/wz", "body/zx"};
  for (size_t k = 0; k < sizeof NAMES / sizeof *NAMES; k++) {
    Run* run = run_create(1, 1e-9, LOOKED_AT("%s"), NAMES[k]);
    Sim* s = run->sim;
    s->clock.dt_before = 0.1;
    s->pose_now[1] = (Pose){mat3_from_quat(quat_exp(vec3(0.3, -0.5, 0.7))), {1, 2, 3}};
    s->pose_old[1] = (Pose){mat3_from_quat(quat_exp(vec3(0.2, -0.4, 0.8))), {1.1, 1.8, 3.3}};
    double now[2][3][4], old[2][3][4], rate[2][3][4], q_now[7] = {0}, q_old[7] = {0};
    memset(now, 0, sizeof now), memset(old, 0, sizeof old), memset(rate, 0, sizeof rate);
    ModelGradient gradient;
    model_gradient_create(&gradient, &run->model);
    FeedbackBars bars = {{now, q_now}, {old, q_old}, rate, NULL, &gradient, NULL};
    const DriveInput one = {.value = {1}};
    controller_input_adjoint(s, 0, &one, &bars);
    compare_near(gradient.gains[1 + 4], told(run), 1e-14, "%s: by the matrix", NAMES[k]);
    if (NAMES[k][5] == 'w') check_rotations(run, (const double(*)[4])now[1], (const double(*)[4])old[1], NAMES[k]);
    for (int entry = 0; NAMES[k][5] != 'w' && entry < 24; entry++) {
      Nudge n = {run, entry};
      double difference = (told_with(&n, 0.1) - told_with(&n, -0.1)) / 0.2;
      double found = entry < 12 ? now[1][entry / 4][entry % 4] : old[1][(entry - 12) / 4][entry % 4];
      compare_near(found, difference, 1e-11, "%s: entry %d", NAMES[k], entry);
    }
    model_gradient_destroy(&gradient);
    run_free(run);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(feedback_E1_contact_force),         cmocka_unit_test(feedback_E1_worked_example),
      cmocka_unit_test(feedback_E1_what_is_measured),      cmocka_unit_test(feedback_E2_a_sampled_spring),
      cmocka_unit_test(feedback_E2_a_late_signal),         cmocka_unit_test(feedback_E6_a_late_spring),
      cmocka_unit_test(feedback_E3_E4_against_differences)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}

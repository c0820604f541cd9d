/* Tests reported velocities and joint forces: statics and motion in closed form, and the balance of forces over a step.
 */
#include <string.h>

#include "support/runs.h"

static double force_at(const Run* run, JointForceKind kind, int dof) {
  return sim_joint_forces(run->sim)[(int)kind * run->model.dof_count + dof];
}

/* ---------------------------------------------------------------- statics */

/* An arm of 2 kg, 0.5 m from its axis, held level by a stiff drive: 2 * 9.81 * 0.5 cos q, and 3 N at its end pull down
 * with 1 m. */
static void joint_forces_statics_of_an_arm(void** state) {
  (void)state;
  Run* run = run_create(1, 1e-12,
                        "simulation: {dt: 0.01, steps: 400, output: [forces, velocities], integrator: first_order}\n"
                        "contact: {model: none}\n"
                        "links:\n"
                        "  - {name: arm, joint: {type: hinge, axis: [0, -1, 0]}, mass: 2, center: [0.5, 0, 0], "
                        "inertia: [0.01, 0.1, 0.1, 0, 0, 0]}\n"
                        "controllers:\n"
                        "  - {link: arm, type: pd, target: 0.3, position_gain: 500, damping_gain: 40}\n"
                        "loads:\n"
                        "  - {link: arm, force: [0, 0, -3], point: [1, 0, 0]}\n");
  assert_true(sim_joint_forces(run->sim) != NULL);
  compare_near(force_at(run, JOINT_FORCE_DRIVE, 0), 0, 0, "nothing yet");
  run_steps(run, 400);
  double q = sim_state(run->sim)->q[0], lever = cos(q);
  compare_near(force_at(run, JOINT_FORCE_LOAD, 0), -3 * lever, 1e-9, "the load's torque");
  compare_near(force_at(run, JOINT_FORCE_DRIVE, 0), (9.81 + 3) * lever, 1e-7, "the drive's torque");
  compare_near(force_at(run, JOINT_FORCE_DRIVE, 0), 500 * (0.3 - q), 1e-7, "the drive's own law");
  run_free(run);
}

/* A joint that is held on its course lacks what its drive gives: m (a + g) with the scheme's own acceleration. */
static void joint_forces_of_a_prescribed_joint(void** state) {
  (void)state;
  Run* run = run_create(1, 1e-12,
                        "simulation: {dt: 0.01, steps: 10, output: [forces], integrator: first_order}\n"
                        "contact: {model: none}\n"
                        "links:\n"
                        "  - {name: lift, joint: {type: slide, axis: [0, 0, 1]}, mass: 3, center: [0, 0, 0], "
                        "inertia: [1, 1, 1, 0, 0, 0]}\n"
                        "  - {name: rider, parent: lift, joint: {type: slide, axis: [0, 0, 1]}, mass: 2, "
                        "center: [0, 0, 0], inertia: [1, 1, 1, 0, 0, 0]}\n"
                        "controllers:\n"
                        "  - {link: lift, type: prescribed, target: {type: sines, terms: [{amplitude: 0.2, "
                        "frequency: 3}]}}\n"
                        "  - {link: rider, type: prescribed, target: 0.1}\n");
  double x[3] = {0};
  for (int k = 0; k < 10; k++) {
    x[2] = x[1], x[1] = x[0];
    run_steps(run, 1);
    x[0] = sim_state(run->sim)->q[0];
  }
  double a = (x[0] - 2 * x[1] + x[2]) / 1e-4;
  compare_near(force_at(run, JOINT_FORCE_DRIVE, 0), 5 * (a + 9.81), 1e-9, "the lift with its rider");
  compare_near(force_at(run, JOINT_FORCE_DRIVE, 1), 2 * (a + 9.81), 1e-9, "the rider");
  run_free(run);
}

/* ---------------------------------------------------------------- balance over a step */

/* Everything that a slide can have, and a coupling to another: its forces add up to m (a - g), a the scheme's
 * difference, at every step. */
static void joint_forces_balance_of_a_slide(void** state) {
  (void)state;
  Run* run = run_create(
      1, 1e-12,
      "simulation: {dt: 0.01, steps: 100, output: [forces], integrator: first_order}\n"
      "contact: {model: none}\n"
      "links:\n"
      "  - {name: cart, joint: {type: slide, axis: [0, 0, 1], damping: 0.7, friction: 0.4, static_friction: 0.9, "
      "stribeck_speed: 0.3, stiffness: 30, rest: 0.1, "
      "limits: [-0.3, 0.2], limit_margin: 0.2, limit_stiffness: 0.1}, mass: 1.5, center: [0, 0, 0], "
      "inertia: [1, 1, 1, 0, 0, 0]}\n"
      "  - {name: mate, joint: {type: slide, axis: [0, 0, 1], position: [1, 0, 0]}, mass: 0.2, center: [0, 0, 0], "
      "inertia: [1, 1, 1, 0, 0, 0]}\n"
      "couplings:\n"
      "  - {link: mate, of: cart, ratio: 0.5}\n"
      "controllers:\n"
      "  - {link: cart, type: pd, target: {type: sines, terms: [{amplitude: 0.3, frequency: 2}]}, position_gain: 80, "
      "damping_gain: 2, velocity_gain: 0.01, max_force: 12}\n"
      "  - {link: cart, type: torque, target: 0.5, damping_gain: 0.2}\n"
      "loads:\n"
      "  - {link: cart, force: [1, 0, 2]}\n");
  double x[3] = {0}, largest[JOINT_FORCE_KINDS] = {0};
  for (int k = 1; k <= 100; k++) {
    x[2] = x[1], x[1] = x[0];
    run_steps(run, 1);
    x[0] = sim_state(run->sim)->q[0];
    double sum = 0;
    for (int kind = 0; kind < JOINT_FORCE_KINDS; kind++) {
      double f = force_at(run, (JointForceKind)kind, 0);
      largest[kind] = fmax(largest[kind], fabs(f));
      sum += f;
    }
    if (k == 1) continue; /* the first step is taken from the velocity */
    compare_near(sum, 1.5 * ((x[0] - 2 * x[1] + x[2]) / 1e-4 + 9.81), 1e-6, "step %d", k);
    double v = (x[0] - x[1]) / 0.01;
    compare_near(force_at(run, JOINT_FORCE_SPRING, 0), -30 * (x[0] - 0.1), 1e-12, "spring, step %d", k);
    compare_near(force_at(run, JOINT_FORCE_DAMPING, 0), -0.7 * v, 1e-9, "damping, step %d", k);
    double dry = 0.4 + 0.5 * exp(-v * v / 0.09);
    compare_near(force_at(run, JOINT_FORCE_FRICTION, 0), -dry * v / sqrt(v * v + 1e-8), 1e-9, "friction, step %d", k);
    compare_near(force_at(run, JOINT_FORCE_LOAD, 0), 2, 1e-12, "load, step %d", k);
  }
  for (int kind = 0; kind < JOINT_FORCE_KINDS; kind++) assert_true(largest[kind] > 0.1);
  run_free(run);
}

/* ---------------------------------------------------------------- velocities */

/* Thrown in free fall: v = v0 - g t exactly for first order, which has its velocity of the whole step. Momentum is that
 * of the links. */
static void velocities_of_a_throw(void** state) {
  (void)state;
  Run* run = run_create(1, 1e-12,
                        "simulation: {dt: 0.01, steps: 50, integrator: first_order}\n"
                        "contact: {model: none}\n"
                        "links:\n"
                        "  - {name: body, mass: 2, center: [0.1, 0, 0], inertia: [0.1, 0.1, 0.1, 0, 0, 0]}\n"
                        "initial:\n"
                        "  - {link: body, velocities: [1, 0.2, 3, 0, 0, 0]}\n");
  Vec3 v, w;
  sim_link_velocities(run->sim, &v, &w);
  compare_vec3(v, vec3(1, 0.2, 3), 1e-15, "at the start");
  run_steps(run, 50);
  sim_link_velocities(run->sim, &v, &w);
  compare_vec3(v, vec3(1, 0.2, 3 - 9.81 * 0.5), 1e-9, "after half a second");
  compare_vec3(vec3_scale(v, 2), sim_measure(run->sim).momentum, 1e-12, "momentum");
  compare_vec3(w, vec3(0, 0, 0), 1e-9, "it does not turn");
  assert_null(sim_joint_forces(run->sim)); /* nobody asked */
  run_free(run);
}

/* Two hinges that turn at given rates: w adds up, and the outer centre goes as w x r up to the chord of a step, a
 * w dt / 2 of it. */
static void velocities_of_a_turning_chain(void** state) {
  (void)state;
  Run* run = run_create(
      1, 1e-12,
      "simulation: {dt: 0.0001, steps: 1000, gravity: [0, 0, 0], output: [velocities], integrator: first_order}\n"
      "contact: {model: none}\n"
      "links:\n"
      "  - {name: one, joint: {type: hinge, axis: [0, 0, 1]}}\n"
      "  - {name: two, parent: one, joint: {type: hinge, axis: [1, 0, 0], position: [1, 0, 0]}, mass: 1, "
      "center: [0, 0.5, 0], inertia: [1, 1, 1, 0, 0, 0]}\n"
      "controllers:\n"
      "  - {link: one, type: prescribed, target: {type: keyframes, times: [0, 1], values: [0, 2]}}\n"
      "  - {link: two, type: prescribed, target: {type: keyframes, times: [0, 1], values: [0, 3]}}\n");
  run_steps(run, 1000);
  Vec3 v[2], w[2];
  sim_link_velocities(run->sim, v, w);
  Mat3 turn = mat3_from_quat(quat_exp(vec3(0, 0, 0.2)));
  Vec3 turning = vec3_add(vec3(0, 0, 2), vec3_scale(mat3_mul_vec(turn, vec3(1, 0, 0)), 3));
  compare_vec3(w[0], vec3(0, 0, 2), 1e-9, "the inner link");
  compare_vec3(w[1], turning, 1e-9, "the outer link");
  Vec3 r = mat3_mul_vec(turn, mat3_mul_vec(mat3_from_quat(quat_exp(vec3(0.3, 0, 0))), vec3(0, 0.5, 0)));
  Vec3 hinge = vec3_cross(vec3(0, 0, 2), mat3_mul_vec(turn, vec3(1, 0, 0)));
  compare_vec3(v[1], vec3_add(hinge, vec3_cross(turning, r)), 1e-3, "the outer centre");
  run_free(run);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(joint_forces_statics_of_an_arm), cmocka_unit_test(joint_forces_of_a_prescribed_joint),
      cmocka_unit_test(joint_forces_balance_of_a_slide), cmocka_unit_test(velocities_of_a_throw),
      cmocka_unit_test(velocities_of_a_turning_chain)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}

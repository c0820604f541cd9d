/* Tests the targets of a step (S2, S3) for both integrators from the first step on. Checks free fall, constant speed,
 * targets of controllers, and the order of convergence for an oscillator and a spinning body. */
#include "simulate/sim.h"

#include "support/runs.h"

/* ---------------------------------------------------------------- closed forms of the schemes themselves */

static const char falling[] =
    "simulation: {dt: 0.01, steps: 100, gravity: [0.5, -1, -9.81], integrator: %s}\n"
    "contact: {model: none}\n"
    "links:\n"
    "  - {name: body, mass: 2, shape: {type: box, size: [0.2, 0.3, 0.4]}, position: [1, 2, 3]}\n"
    "initial:\n"
    "  - {link: body, velocities: [0.7, -0.2, 1.5, 0, 0, 0]}\n";

/* First order: x_n = x_0 + n dt v + g dt^2 n (n + 1) / 2. */
static void prepare_S3_first_order_fall(void** state) {
  (void)state;
  Run* run = run_create(1, 1e-9, falling, "first_order");
  for (int n = 1; n <= 100; n++) {
    run_steps(run, 1);
    Vec3 wanted = vec3(1, 2, 3);
    wanted = vec3_add_scaled(wanted, 0.01 * n, vec3(0.7, -0.2, 1.5));
    wanted = vec3_add_scaled(wanted, 0.5e-4 * n * (n + 1), vec3(0.5, -1, -9.81));
    compare_vec3(sim_state(run->sim)->center[0], wanted, 1e-11, "step %d", n);
  }
  run_free(run);
}

/* Second order: the scheme and its start are exact for a parabola: x_n = x_0 + n dt v + g (n dt)^2 / 2. */
static void prepare_S3_second_order_fall_is_exact(void** state) {
  (void)state;
  Run* run = run_create(1, 1e-9, falling, "second_order");
  for (int n = 1; n <= 100; n++) {
    run_steps(run, 1);
    Vec3 wanted = vec3(1, 2, 3);
    wanted = vec3_add_scaled(wanted, 0.01 * n, vec3(0.7, -0.2, 1.5));
    wanted = vec3_add_scaled(wanted, 0.5e-4 * n * n, vec3(0.5, -1, -9.81));
    compare_vec3(sim_state(run->sim)->center[0], wanted, 1e-10, "step %d", n);
  }
  run_free(run);
}

/* What the weights sum up: a body at rest stays (their sum is 1), one at constant speed goes on (first moment). */
static void prepare_S2_weights_reproduce_uniform_motion(void** state) {
  (void)state;
  static const char* const integrator[] = {"first_order", "second_order"};
  for (int k = 0; k < 2; k++) {
    Run* run = run_create(1, 1e-9, falling, integrator[k]);
    for (int n = 0; n < 5; n++) {
      step_prepare(run->sim);
      StepWeights w = run->sim->weights;
      double h = 0.01;
      compare_near(w.y_now + w.y_old + w.y_older, 1, 1e-15, "%s, step %d: sum of the weights", integrator[k], n);
      /* x = t, x(0) = 0: y must be t + dt, times counted from the present */
      compare_near(-h * w.y_old - 2 * h * w.y_older + h * w.y_rate, h, 1e-16, "%s, step %d: y of uniform motion",
                   integrator[k], n);
      compare_near(w.rate_now * h - w.rate_old * h, 1, 1e-14, "%s, step %d: rate of uniform motion", integrator[k], n);
      run_steps(run, 1);
    }
    run_free(run);
  }
}

/* ---------------------------------------------------------------- order of convergence */

/* A mass on a spring with damping: x'' = -w^2 (x - 0.5) - 2 z w x'. Largest error within 1 s. */
static double oscillator_error(const char* integrator, int steps) {
  double w = 5, z = 0.1, x0 = 0.2, v0 = -0.6, mass = 2, worst = 0;
  Run* run = run_create(1, 1e-11,
                        "simulation: {dt: %.17g, steps: %d, gravity: [0, 0, 0], integrator: %s}\n"
                        "contact: {model: none}\n"
                        "links:\n"
                        "  - {name: body, mass: %g, joint: {type: slide, axis: [1, 0, 0], damping: %.17g}, shape: "
                        "{type: box, size: [1, 1, 1]}}\n"
                        "controllers:\n"
                        "  - {link: body, type: pd, position_gain: %.17g, target: 0.5}\n"
                        "initial:\n"
                        "  - {link: body, coordinates: [%g], velocities: [%g]}\n",
                        1.0 / steps, steps, integrator, mass, 2 * z * w * mass, w * w * mass, x0, v0);
  double wd = w * sqrt(1 - z * z), a = x0 - 0.5, b = (v0 + z * w * a) / wd;
  for (int n = 1; n <= steps; n++) {
    run_steps(run, 1);
    double t = (double)n / steps, exact = 0.5 + exp(-z * w * t) * (a * cos(wd * t) + b * sin(wd * t));
    worst = fmax(worst, fabs(sim_state(run->sim)->q[0] - exact));
  }
  run_free(run);
  return worst;
}

static void prepare_S3_orders_of_an_oscillator(void** state) {
  (void)state;
  static const char* const integrator[] = {"first_order", "second_order"};
  for (int k = 0; k < 2; k++) {
    double coarse = oscillator_error(integrator[k], 400), fine = oscillator_error(integrator[k], 800),
           finest = oscillator_error(integrator[k], 1600);
    double order = log2(coarse / fine), again = log2(fine / finest);
    print_message("%s: errors %.2e %.2e %.2e, orders %.2f %.2f\n", integrator[k], coarse, fine, finest, order, again);
    compare_near(again, k + 1, 0.12, "%s: order", integrator[k]);
    compare_near(order, k + 1, 0.25, "%s: order on the coarser grids", integrator[k]);
  }
}

/* A tumbling free body: angle of a rotation about a principal axis grows as w t; first order loses some, second far
 * less. Exact: a symmetric body spun about its axis keeps turning at w. Errors shrink with the order. */
static double spin_error(const char* integrator, int steps) {
  Run* run = run_create(1, 1e-10,
                        "simulation: {dt: %.17g, steps: %d, gravity: [0, 0, 0], integrator: %s}\n"
                        "contact: {model: none}\n"
                        "links:\n"
                        "  - {name: body, mass: 1, shape: {type: box, size: [0.3, 0.3, 0.1]}}\n"
                        "initial:\n"
                        "  - {link: body, velocities: [0, 0, 0, 0, 0, 2]}\n",
                        1.0 / steps, steps, integrator);
  run_steps(run, steps);
  const double* q = sim_state(run->sim)->q;
  Vec3 turned = quat_log((Quat){q[3], q[4], q[5], q[6]});
  double error = vec3_norm(vec3_sub(turned, vec3(0, 0, 2)));
  run_free(run);
  return error;
}

static void prepare_S3_orders_of_a_spin(void** state) {
  (void)state;
  static const char* const integrator[] = {"first_order", "second_order"};
  for (int k = 0; k < 2; k++) {
    double coarse = spin_error(integrator[k], 100), fine = spin_error(integrator[k], 200),
           finest = spin_error(integrator[k], 400);
    print_message("%s: errors %.2e %.2e %.2e, orders %.2f %.2f\n", integrator[k], coarse, fine, finest,
                  log2(coarse / fine), log2(fine / finest));
    compare_at_most(k + 0.88, log2(fine / finest), "%s: order", integrator[k]);
  }
}

/* ---------------------------------------------------------------- targets */

/* A ball's target is a rotation vector phi(t). The rate of the target is the mean angular velocity of exp(phi(t)) over
 * the step, to second order in dt. */
static void prepare_target_rate_of_a_ball(void** state) {
  (void)state;
  Run* run = run_create(1, 1e-9,
                        "simulation: {dt: 0.01, steps: 300, integrator: first_order}\n"
                        "contact: {model: none}\n"
                        "links:\n"
                        "  - {name: body, mass: 1, joint: {type: ball}, shape: {type: box, size: [0.3, 0.2, 0.1]}}\n"
                        "controllers:\n"
                        "  - {link: body, type: pd, position_gain: 10, velocity_gain: 0.01, target: {type: sines, "
                        "offset: [0.3, -0.2, 0.1], "
                        "terms: [[{amplitude: 1, frequency: 0.3}], [{amplitude: 0.7, frequency: 0.2, phase: 1}], "
                        "[{amplitude: 0.5, frequency: 0.4, phase: 2}]]}}\n");
  for (int k = 0; k < 200; k++) {
    step_prepare(run->sim);
    const JointDrive* drive = &run->sim->drive_list.drives[0];
    double h = 0.01, t = h * sim_state(run->sim)->step, value[2][3], rate[3];
    signal_eval(&run->model.controllers[0].target, t, value[0], rate);
    signal_eval(&run->model.controllers[0].target, t + h, value[1], rate);
    Quat a = quat_exp(vec3(value[0][0], value[0][1], value[0][2])),
         b = quat_exp(vec3(value[1][0], value[1][1], value[1][2]));
    Vec3 wanted = vec3_scale(quat_log(quat_mul(quat_conjugate(a), b)), 1 / h);
    compare_vec3(vec3(drive->target_rate[0], drive->target_rate[1], drive->target_rate[2]), wanted, 3e-5,
                 "t = %g: angular velocity of the target", t);
    run_steps(run, 1);
  }
  run_free(run);
}

/* A prescribed joint is at its signal after every step, and a link below it is carried along. */
static void prepare_prescribed_joint_follows_exactly(void** state) {
  (void)state;
  Run* run =
      run_create(1, 1e-9,
                 "simulation: {dt: 0.01, steps: 100, integrator: first_order}\n"
                 "contact: {model: none}\n"
                 "links:\n"
                 "  - {name: crank, joint: {type: hinge, axis: [0, 1, 0]}, shape: {type: box, size: [0.3, 0.2, 0.1]}}\n"
                 "  - {name: bob, parent: crank, mass: 1, joint: {type: ball, position: [0.5, 0, 0]}, shapes: [{type: "
                 "box, size: [0.1, 0.1, 0.1], position: [0, 0, -0.3]}]}\n"
                 "controllers:\n"
                 "  - {link: crank, type: prescribed, target: {type: sines, terms: [{amplitude: 1, frequency: 1}]}}\n");
  for (int n = 1; n <= 100; n++) {
    run_steps(run, 1);
    compare_near(sim_state(run->sim)->q[0], sin(2 * M_PI * 0.01 * n), 2e-13, "step %d: crank", n);
  }
  run_free(run);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(prepare_S3_first_order_fall),
      cmocka_unit_test(prepare_S3_second_order_fall_is_exact),
      cmocka_unit_test(prepare_S2_weights_reproduce_uniform_motion),
      cmocka_unit_test(prepare_S3_orders_of_an_oscillator),
      cmocka_unit_test(prepare_S3_orders_of_a_spin),
      cmocka_unit_test(prepare_target_rate_of_a_ball),
      cmocka_unit_test(prepare_prescribed_joint_follows_exactly),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

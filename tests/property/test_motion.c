/* Tests laws of every motion: momentum of a free body, action and reaction, energy that never grows. */
#include "scene_run.h"

/* ---------------------------------------------------------------- a free body */

static const char THROWN[] =
    "simulation: {dt: 0.001, duration: 2, integrator: first_order}\n"
    "contact: {model: none}\n"
    "links:\n"
    "  - {name: body, shape: {type: box, size: [0.1, 0.2, 0.3]}, mass: 2.0, mass_model: uniform, position: [1, 2, 3]}\n"
    "initial:\n"
    "  - {link: body, velocities: [3, -2, 4, 3.0, 0.2, 1.0]}\n";

/* Velocity grows by g dt in every step, from the first on: momentum is exact up to rounding of positions over dt. */
static void linear_momentum_is_exact(void** state) {
  (void)state;
  SceneRun run;
  run_parse(&run, THROWN, NULL);
  const double dt = 0.001, rounding = 4e-15 / dt; /* positions of 8 m are rounded to 1e-15 m */
  Vec3 before = sim_state(run.sim)->center[0];
  for (int n = 1; n <= 1000; n++) {
    run_step(&run);
    Vec3 now = sim_state(run.sim)->center[0], velocity = vec3_scale(vec3_sub(now, before), 1 / dt);
    expect_near(velocity.x, 3, rounding, "velocity along x");
    expect_near(velocity.y, -2, rounding, "velocity along y");
    expect_near(velocity.z, 4 - 9.81 * dt * n, n * rounding, "velocity along z");
    before = now;
  }
  run_close(&run);
}

/* Angular velocity (world) that carries one orientation into the next in dt, from the skew part of the turn. */
static Vec3 turn_rate(Mat3 from, Mat3 to, double dt) {
  double q[3][3];
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++)
      q[i][j] = to.m[i][0] * from.m[j][0] + to.m[i][1] * from.m[j][1] + to.m[i][2] * from.m[j][2];
  Vec3 sine = vec3(0.5 * (q[2][1] - q[1][2]), 0.5 * (q[0][2] - q[2][0]), 0.5 * (q[1][0] - q[0][1]));
  double s = vec3_norm(sine);
  return vec3_scale(sine, (s > 1e-9 ? asin(s) / s : 1) / dt);
}

/* World angular momentum of a body with the given principal inertia in link axes. */
static Vec3 angular_momentum(Mat3 rotation, Vec3 inertia, Vec3 rate) {
  Vec3 local = mat3_tmul_vec(rotation, rate);
  return mat3_mul_vec(rotation, vec3(inertia.x * local.x, inertia.y * local.y, inertia.z * local.z));
}

static double angular_momentum_error(double dt) {
  char step[64];
  snprintf(step, sizeof step, "simulation.dt=%.17g", dt);
  const char* overrides[] = {step, "simulation.tolerance=1e-6", NULL};
  SceneRun run;
  run_parse(&run, THROWN, overrides);
  run_until(&run, 1.0 - dt);
  Mat3 before = run_pose(&run, "body").r;
  run_step(&run);
  Mat3 now = run_pose(&run, "body").r;
  run_close(&run);
  Vec3 inertia = vec3(2.0 / 12 * (0.04 + 0.09), 2.0 / 12 * (0.01 + 0.09), 2.0 / 12 * (0.01 + 0.04));
  Vec3 wanted = angular_momentum(mat3_identity(), inertia, vec3(3.0, 0.2, 1.0));
  Vec3 found = angular_momentum(now, inertia, turn_rate(before, now, dt));
  return vec3_norm(vec3_sub(found, wanted)) / vec3_norm(wanted);
}

static void angular_momentum_error_falls_with_dt(void** state) {
  (void)state;
  double before = angular_momentum_error(0.002);
  for (double dt = 0.001; dt > 2e-4; dt /= 2) {
    double error = angular_momentum_error(dt);
    print_message("angular momentum after 1 s: dt %g s, relative error %.3e, ratio %.3f\n", dt, error, before / error);
    expect_between(before / error, 1.8, 2.2, "ratio of errors when dt is halved");
    before = error;
  }
  expect_between(before, 0, 0.01, "relative error of the angular momentum at dt = 0.25 ms");
}

/* ---------------------------------------------------------------- two bodies that collide with friction */

static const char COLLISION[] =
    "simulation: {dt: 0.001, duration: 1, gravity: [0, 0, 0], integrator: first_order}\n"
    "contact: {friction: 0.6}\n"
    "links:\n"
    "  - {name: left, shape: {type: box, size: [0.2, 0.3, 0.1]}, mass: 1.0}\n"
    "  - {name: right, shape: {type: cylinder, radius: 0.1, length: 0.3}, mass: 2.5, position: [0.4, 0.05, 0.02]}\n"
    "initial:\n"
    "  - {link: left, velocities: [2, 0.3, 0.1, 0.5, 2, -3]}\n"
    "  - {link: right, velocities: [-1, -0.2, 0, 4, -1, 2]}\n";

/* The imbalance of a step on each link is at most its residual. Apart from that, the forces of the pair must cancel to
 * 1e-10 of their size. */
static void forces_of_a_pair_cancel(void** state) {
  (void)state;
  SceneRun run;
  run_parse(&run, COLLISION, NULL);
  const double dt = 0.001, mass[2] = {1.0, 2.5};
  Vec3 before = vec3(1.0 * 2 - 2.5, 0.3 - 2.5 * 0.2, 0.1), was[2];
  double strongest = 0, energy = run_energy(&run);
  for (int k = 0; k < 2; k++) was[k] = sim_state(run.sim)->center[k];
  for (int n = 0; n < 300; n++) {
    run_step(&run);
    Vec3 momentum = vec3(0, 0, 0);
    for (int k = 0; k < 2; k++) {
      Vec3 now = sim_state(run.sim)->center[k];
      momentum = vec3_add_scaled(momentum, mass[k] / dt, vec3_sub(now, was[k]));
      was[k] = now;
    }
    double force = vec3_norm(run_force(&run, "left", "right"));
    strongest = fmax(strongest, force);
    double allowed = 2 * sqrt(3) * run.report.residual + 1e-10 * force + 1e-8; /* rounding of m x / dt^2 */
    expect_between(vec3_norm(vec3_sub(momentum, before)) / dt, 0, allowed, "sum of the forces of the pair");
    before = momentum;
  }
  expect_between(strongest, 100, 1e6, "largest force of the impact");
  expect_between(run_energy(&run) / energy, 0.01, 1.0, "energy after the impact over energy before");
  run_close(&run);
}

/* ---------------------------------------------------------------- energy */

/* Without friction, and with restitution 1, an impact keeps the kinetic energy, however the bodies tumble and whatever
 * the time step is: the restitution of bodies that rotate is up to 2e-4 too large (impact.md, I7), so that an impact
 * adds up to 4e-4 of the energy. */
static const char CORNERS[] =
    "simulation: {gravity: [0, 0, 0], integrator: momentum}\n"
    "contact: {friction: 0, restitution: 1}\n"
    "links:\n"
    "  - {name: a, shape: {type: cylinder, radius: 0.11, length: 0.11}, mass: 0.14, mass_model: uniform}\n"
    "  - {name: b, shape: {type: cylinder, radius: 0.07, length: 0.25}, mass: 4.85, mass_model: uniform}\n"
    "initial:\n"
    "  - {link: a, coordinates: [-0.5, 0, 0, -0.39, 1.42, 0.01], velocities: [3.78, 0, 0, 15.62, -8.32, 3.32]}\n"
    "  - {link: b, coordinates: [0.3, -0.05, 0.04, 0.84, -0.21, -0.68], velocities: [-0.3, 0, 0, 3.63, 3.67, 2.9]}\n";

static const char RIMS[] =
    "simulation: {gravity: [0, 0, 0], integrator: momentum}\n"
    "contact: {friction: 0, restitution: 1}\n"
    "links:\n"
    "  - {name: a, shape: {type: capsule, radius: 0.06, length: 0.3}, mass: 0.83, mass_model: uniform}\n"
    "  - {name: b, shape: {type: cylinder, radius: 0.12, length: 0.2, segments: 18}, mass: 1.9, mass_model: uniform}\n"
    "initial:\n"
    "  - {link: a, coordinates: [-0.35, 0, 0, 0.2, 0.9, 0], velocities: [1.3, 0.1, 0, 2, 5, 1]}\n"
    "  - {link: b, coordinates: [0.3, 0.06, 0.05, 1.1, 0.1, 0.4], velocities: [-0.9, 0, 0.05, -3, 4, 6]}\n";

static void expect_energy_kept(const char* scene, double time, double dt, double most) {
  char step[64];
  snprintf(step, sizeof step, "simulation.dt=%.17g", dt);
  SceneRun run;
  run_parse(&run, scene, (const char* const[]){step, NULL});
  double before = run_energy(&run);
  bool touched = false;
  while (sim_state(run.sim)->time < time - 0.5 * dt) {
    run_step(&run);
    touched = touched || run.report.substeps > 1;
  }
  print_message("impact, restitution 1, dt %g s: kinetic energy times %.5f\n", dt, run_energy(&run) / before);
  assert_true(touched);
  expect_between(run_energy(&run) / before, 0.995, most, "energy after the impact over energy before");
  run_close(&run);
}

static void impacts_of_corners_keep_energy(void** state) {
  (void)state;
  const double steps[] = {1e-2, 2.5e-3, 5e-4};
  for (int k = 0; k < 3; k++) {
    expect_energy_kept(CORNERS, 0.4, steps[k], 1.001);
    expect_energy_kept(RIMS, 0.25, steps[k], 1.001);
  }
}

/* Of the second blow of the same bodies, at 0.33 s: the contact passes from one corner to the next where the barrier is
 * pressed deepest. */
static void impacts_passing_from_corner_to_corner_keep_energy(void** state) {
  (void)state;
  const double steps[] = {1e-2, 5e-3, 2.5e-3, 1e-3, 5e-4};
  for (int k = 0; k < 5; k++) expect_energy_kept(RIMS, 0.4, steps[k], 1.002);
}

static void energy_never_grows(const char* path, double time) {
  SceneRun run;
  run_open(&run, path, NULL);
  run_step(&run);
  double first = run_energy(&run), before = first;
  while (sim_state(run.sim)->time < time - 1e-9) {
    run_step(&run);
    double now = run_energy(&run);
    if (!(now <= before + 1e-9 * first))
      fail_msg("%s: energy grows from %.12g to %.12g J at t = %g s", path, before, now, sim_state(run.sim)->time);
    before = now;
  }
  print_message("%s: energy %.6g J, lost after %g s: %.3g %%\n", path, first, time, 100 * (1 - before / first));
  run_close(&run);
}

static void energy_of_pendulum_never_grows(void** state) {
  (void)state;
  energy_never_grows("scenes/pendulum.yaml", 2.0);
}

static void energy_of_double_pendulum_never_grows(void** state) {
  (void)state;
  energy_never_grows("scenes/double-pendulum.yaml", 2.0);
}

static void energy_of_sliding_box_never_grows(void** state) {
  (void)state;
  energy_never_grows("scenes/slide.yaml", 0.3);
}

/* The second-order step may let the energy swing by its own error, but not above where it started. */
static void second_order_keeps_the_energy(void** state) {
  (void)state;
  static const char* const overrides[] = {"simulation.integrator=second_order", "simulation.tolerance=1e-10", NULL};
  SceneRun run;
  run_open(&run, "scenes/pendulum.yaml", overrides);
  double first = run_energy(&run), lowest = INFINITY, highest = 0;
  for (int n = 0; n < 2000; n++) {
    run_step(&run);
    lowest = fmin(lowest, run_energy(&run));
    highest = fmax(highest, run_energy(&run));
  }
  print_message("second order: energy between %.3g below and %.3g above its start\n", 1 - lowest / first,
                highest / first - 1);
  expect_between(lowest / first, 1 - 1e-4, 1, "lowest energy over that at the start");
  expect_between(highest / first, 0, 1 + 1e-9, "highest energy over that at the start");
  run_close(&run);
}

/* ---------------------------------------------------------------- loads */

static void carts_do_what_they_should(void** state) {
  (void)state;
  SceneRun run;
  run_open(&run, "scenes/springs.yaml", NULL);
  run_until(&run, 2.0);
  const double* q = sim_state(run.sim)->q;
  double swings = 0.1 + 0.3 * cos(2 * sqrt(10));
  expect_between(q[0], swings - 2e-5, swings + 2e-5, "on the spring");
  expect_between(q[1], 0.2 - 2e-4, 0.2 + 2e-4, "stopped by friction");
  expect_between(q[2], 0, 1.6e-4, "held by friction");
  expect_between(q[3], 2 - 2e-4, 2 + 2e-4, "pulled away");
  run_close(&run);
}

/* A motor's limit as a corner, of which the scene's is a smooth copy. */
static double limited(double wanted, double limit) { return fmin(fmax(wanted, -limit), limit); }

/* I q'' = limited(20 (1 - q) - c q'), by Runge and Kutta. */
static double reached(double time) {
  enum { STEPS = 40000 };
  double h = time / STEPS, q = 0, w = 0, k[4][2];
  for (int n = 0; n < STEPS; n++) {
    for (int stage = 0; stage < 4; stage++) {
      double part = stage == 0 ? 0 : stage == 3 ? h : h / 2;
      double at = q + (stage ? part * k[stage - 1][0] : 0), rate = w + (stage ? part * k[stage - 1][1] : 0);
      k[stage][0] = rate;
      k[stage][1] = limited(20 * (1 - at) - 2 * sqrt(6) * rate, 3) / 0.3;
    }
    q += h / 6 * (k[0][0] + 2 * k[1][0] + 2 * k[2][0] + k[3][0]);
    w += h / 6 * (k[0][1] + 2 * k[1][1] + 2 * k[2][1] + k[3][1]);
  }
  return q;
}

/* scenes/conveyor.yaml. The parcel falls 0.5^2 / (2 mu g) behind the belt and slides on by as much when it brakes. */
static void prescribed_bodies_carry_others(void** state) {
  (void)state;
  SceneRun run;
  run_open(&run, "scenes/conveyor.yaml", NULL);
  double apart = 0, exact = 0;
  while (sim_state(run.sim)->step < 800) {
    run_step(&run);
    double x = run_position(&run, "table").x;
    apart = fmax(apart, fabs(run_position(&run, "jar").x - x));
    exact = fmax(exact, fabs(x - 0.01 * (cos(4 * M_PI * sim_state(run.sim)->time) - 1)));
  }
  expect_near(run_position(&run, "belt").x, 0.525, 1e-12, "the belt");
  expect_near(run_position(&run, "parcel").x + 0.4, 0.5, 1e-3, "the parcel");
  expect_between(apart, 0, 1e-4, "the jar from the table");
  expect_between(exact, 0, 1e-15, "the table from its signal");
  expect_near(run_position(&run, "tray").z, 0.18, 1e-12, "the tray");
  expect_near(run_position(&run, "cup").z, 0.25025, 1e-4, "the cup above it");
  Vec3 across = mat3_mul_vec(run_pose(&run, "cup").r, vec3(1, 0, 0));
  expect_near(atan2(across.y, across.x), M_PI / 2, 1e-3, "the cup's turn");
  run_close(&run);
}

/* The arm that a motor of 3 N m cannot lift, after one step more of Runge's and Kutta's method: it wants 1 rad/s with 5
 * N m s/rad, against a damping of 2 N m s/rad and its weight. */
static void lifted(double h, double* q, double* w) {
  double k[4][2];
  for (int stage = 0; stage < 4; stage++) {
    double part = stage == 0 ? 0 : stage == 3 ? h : h / 2;
    double at = *q + (stage ? part * k[stage - 1][0] : 0), rate = *w + (stage ? part * k[stage - 1][1] : 0);
    k[stage][0] = rate;
    k[stage][1] = (limited(5 * (1 - rate), 3) - 2 * rate - 4.905 * cos(at)) / 0.3;
  }
  *q += h / 6 * (k[0][0] + 2 * k[1][0] + 2 * k[2][0] + k[3][0]);
  *w += h / 6 * (k[0][1] + 2 * k[1][1] + 2 * k[2][1] + k[3][1]);
}

/* Returns the largest error of the lift's path. It falls with the width of the limit's corner. */
static double lift_error(const char* const* width) {
  SceneRun run;
  run_open(&run, "scenes/motor.yaml", width);
  double at = -1.2, rate = 0, worst = 0;
  while (sim_state(run.sim)->step < 3000) {
    run_step(&run);
    for (int n = 0; n < 10; n++) lifted(1e-4, &at, &rate);
    worst = fmax(worst, fabs(sim_state(run.sim)->q[0] - at));
  }
  run_close(&run);
  return worst;
}

static void motors_meet_their_limit_at_a_corner(void** state) {
  (void)state;
  static const char* const WIDE[] = {"controllers.stalls.limit_width=0.04", NULL};
  double shipped = lift_error(NULL), wide = lift_error(WIDE);
  expect_between(shipped, 0, 1e-4, "on its way");
  expect_between(wide / shipped, 12, 17, "how it falls with the square of the corner's width");
}

static void motors_do_what_they_should(void** state) {
  (void)state;
  SceneRun run;
  run_open(&run, "scenes/motor.yaml", NULL);
  const double* q = sim_state(run.sim)->q;
  run_until(&run, 0.4);
  double w = sqrt(20 / 0.3), strong = 1 - (1 + w * 0.4) * exp(-w * 0.4), weak = reached(0.4);
  expect_between(q[3], strong - 1e-4, strong + 1e-4, "without a limit");
  expect_between(q[2], weak - 1e-4, weak + 1e-4, "with a limit");
  run_until(&run, 3.0);
  double stall = -acos(3 / 4.905), turned = 6 * (3 - 0.6 * (1 - exp(-5)));
  expect_between(q[0], stall - 1e-4, stall + 1e-4, "where it stalls");
  expect_between(q[1], turned - 1e-3, turned + 1e-3, "how far it has turned");
  run_close(&run);
}

/* Half the turn from which the pulled bar swings: theta'' = -k sin theta from 1.5 rad at rest, by Runge and Kutta. */
static double swung(double k, double time) {
  enum { STEPS = 30000 };
  double h = time / STEPS, a = 1.5, w = 0;
  for (int n = 0; n < STEPS; n++) {
    double a2 = a + 0.5 * h * w, w1 = -k * sin(a), w2 = w + 0.5 * h * w1;
    double a3 = a + 0.5 * h * w2, dw2 = -k * sin(a2), w3 = w + 0.5 * h * dw2;
    double a4 = a + h * w3, dw3 = -k * sin(a3), w4 = w + h * dw3, dw4 = -k * sin(a4);
    a += h / 6 * (w + 2 * w2 + 2 * w3 + w4);
    w += h / 6 * (w1 + 2 * dw2 + 2 * dw3 + dw4);
  }
  return a;
}

static void push_goes_where_it_should(void** state) {
  (void)state;
  SceneRun run;
  run_open(&run, "scenes/push.yaml", NULL);
  run_until(&run, 3.0);
  const SimState* at = sim_state(run.sim);
  double rate = 0.4 / (2.0 / 12 * 1.04); /* F l / I */
  double x = 0, y = 2;
  enum { SLICES = 100000 };
  for (int n = 0; n < SLICES; n++) {
    double t = 3.0 * (n + 0.5) / SLICES, angle = 0.5 * rate * t * t, push = 0.5 * (3 - t) * 3.0 / SLICES;
    x -= push * sin(angle);
    y += push * cos(angle);
  }
  expect_between(at->center[0].x, 2.25 - 1e-6, 2.25 + 1e-6, "way of the pulled bar");
  double turn = quat_log(quat_from_mat3(at->pose[0].r)).z, wanted = swung(rate, 3.0);
  expect_between(turn, wanted - 1e-4, wanted + 1e-4, "angle of the pulled bar");
  expect_between(at->center[1].x, x - 3e-5, x + 3e-5, "thruster, x");
  expect_between(at->center[1].y, y - 3e-5, y + 3e-5, "thruster, y");
  run_close(&run);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(linear_momentum_is_exact),
      cmocka_unit_test(angular_momentum_error_falls_with_dt),
      cmocka_unit_test(forces_of_a_pair_cancel),
      cmocka_unit_test(push_goes_where_it_should),
      cmocka_unit_test(prescribed_bodies_carry_others),
      cmocka_unit_test(motors_do_what_they_should),
      cmocka_unit_test(motors_meet_their_limit_at_a_corner),
      cmocka_unit_test(carts_do_what_they_should),
      cmocka_unit_test(impacts_of_corners_keep_energy),
      cmocka_unit_test(impacts_passing_from_corner_to_corner_keep_energy),
      cmocka_unit_test(energy_of_pendulum_never_grows),
      cmocka_unit_test(energy_of_double_pendulum_never_grows),
      cmocka_unit_test(energy_of_sliding_box_never_grows),
      cmocka_unit_test(second_order_keeps_the_energy),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Tests free bodies that are integrated by angular momentum (W4-W7): invariants in flight, exchange in contact. */
#include "simulate/spin.h"

#include "support/elliptic.h"
#include "support/runs.h"

static void run_step(Run* run) {
  StepReport report = sim_step(run->sim);
  if (step_outcome_failed(report.outcome)) fail_msg("a step failed: %s", step_outcome_text(report.outcome));
}

static const char FLIGHT[] =
    "simulation: {dt: %g, duration: 100, integrator: momentum}\n"
    "links:\n"
    "  - {name: brick, mass: 1.5, mass_model: uniform, shape: {type: box, size: [0.3, 0.2, 0.1], position: [0.1, 0, "
    "0]}, "
    "rotation_vector: [0.3, -0.2, 0.5]}\n"
    "initial: [{link: brick, velocities: [0.3, 0.1, 5, %g, %g, %g]}]\n";

/* Angular momentum about the centre of mass to the bit, kinetic energy of the turning to rounding. */
static void flight_keeps_momentum_and_energy(double dt, Vec3 w, int steps) {
  Run* run = run_create(1, 0, FLIGHT, dt, w.x, w.y, w.z);
  const SimState* state = sim_state(run->sim);
  const SpinBody* own = &run->sim->spin_bodies[0];
  Vec3 start = state->momentum[0];
  Mat3 r = state->pose[0].r, inertia = mass_moment_inertia_tensor(&run->model.links[0].moment);
  /* the initial velocities are in the joint's axes, which are rotated against the world */
  Vec3 turning = mat3_mul_vec(run->model.links[0].origin.r, w);
  compare_vec3(start, mat3_mul_vec(r, mat3_mul_vec(inertia, mat3_tmul_vec(r, turning))), 1e-14 * vec3_norm(start),
               "momentum at the start");
  double energy = 0.5 * vec3_dot(mat3_tmul_vec(r, start), spin_velocity(own, state->pose[0], start));
  for (int k = 0; k < steps; k++) {
    run_step(run);
    compare_bytes(&state->momentum[0], &start, sizeof start, "momentum after step %d", k + 1);
    Vec3 local = mat3_tmul_vec(state->pose[0].r, start);
    compare_relative(0.5 * vec3_dot(local, mat3_mul_vec(own->mobility, local)), energy, 1e-12, "energy after step %d",
                     k + 1);
  }
  run_free(run);
}

static void spin_W4_W5_is_kept_in_flight(void** state) {
  (void)state;
  flight_keeps_momentum_and_energy(1e-2, vec3(0.5, 4.9, 0.3), 1000);
  flight_keeps_momentum_and_energy(1e-2, vec3(20, 498, 30), 1000); /* 5 rad a step */
  flight_keeps_momentum_and_energy(1e-4, vec3(0.02, 0.01, 0.03), 500);
}

/* The centre of mass goes as at first order, to rounding. */
static void spin_W4_falls_by_its_parabola(void** state) {
  (void)state;
  Vec3 end[2];
  for (int k = 0; k < 2; k++) {
    Run* run = run_create(1, 1e-12,
                          "simulation: {dt: 0.01, duration: 1, integrator: %s}\n"
                          "links: [{name: ball, mass: 1, shape: {type: box, size: [0.3, 0.2, 0.1]}}]\n"
                          "initial: [{link: ball, velocities: [0.3, 0.1, 2, 0, 0, 0]}]\n",
                          k == 0 ? "momentum" : "first_order");
    run_steps(run, 50);
    end[k] = sim_state(run->sim)->center[0];
    run_free(run);
  }
  Vec3 wanted = vec3(0.3 * 0.5, 0.1 * 0.5, 2 * 0.5 - 0.5 * 9.81 * 0.25);
  compare_vec3(end[0], wanted, 1e-12, "place after 50 steps");
  wanted.z -= 0.5 * 9.81 * 0.5 * 0.01; /* g t dt / 2 */
  compare_vec3(end[1], wanted, 1e-12, "place after 50 steps of first order");
}

static void spin_W7_measures(void** state) {
  (void)state;
  Run* run = run_create(1, 0, FLIGHT, 1e-2, 1.0, 2.0, 3.0);
  const ModelLink* link = &run->model.links[0];
  Vec3 before = {0, 0, 0};
  for (int k = 0; k < 3; k++) {
    SimMeasure m = sim_measure(run->sim);
    const SimState* now = sim_state(run->sim);
    Vec3 v = vec3_scale(vec3_sub(now->center[0], before), 1 / 1e-2);
    if (k == 0) /* the frame's velocity and the arm of the centre of mass */
      v = mat3_mul_vec(link->origin.r, vec3_add(vec3(0.3, 0.1, 5), vec3_cross(vec3(1, 2, 3), link->center)));
    compare_vec3(m.momentum, vec3_scale(v, link->mass), 1e-12, "momentum");
    compare_vec3(m.angular_momentum, vec3_add(now->momentum[0], vec3_cross(now->center[0], m.momentum)), 1e-12,
                 "angular momentum about the origin");
    before = now->center[0];
    Vec3 w = vec3(now->rate[3], now->rate[4], now->rate[5]);
    Mat3 inertia = mass_moment_inertia_tensor(&link->moment);
    double kinetic = 0.5 * link->mass * vec3_dot(v, v) + 0.5 * vec3_dot(w, mat3_mul_vec(inertia, w));
    compare_relative(m.kinetic, kinetic, 1e-12, "kinetic energy at step %d", k);
    run_step(run);
  }
  run_free(run);
}

/* A T-handle, spun about its middle axis, turns over every K / rate: half the period of w2 (Landau and
 * Lifshitz, 37.11), K by the arithmetic-geometric mean. It stands across itself then: the stem's component of the
 * momentum changes sign. */
static const char HANDLE[] =
    "simulation: {dt: %g, duration: 20, gravity: [0, 0, 0], integrator: momentum}\n"
    "links: [{name: handle, mass: 0.5, center: [0, 0, 0], inertia: [0.0009, 0.0014, 0.0022, 0, 0, 0]}]\n"
    "initial: [{link: handle, velocities: [0, 0, 0, 0.05, 8, 0.02]}]\n";

static double time_between_flips(void) {
  double i1 = 0.0009, i2 = 0.0014, i3 = 0.0022, w[3] = {0.05, 8, 0.02};
  double twice = i1 * w[0] * w[0] + i2 * w[1] * w[1] + i3 * w[2] * w[2];
  double square = i1 * i1 * w[0] * w[0] + i2 * i2 * w[1] * w[1] + i3 * i3 * w[2] * w[2];
  if (square < twice * i2) { /* 1 and 3 change places */
    double kept = i1;
    i1 = i3;
    i3 = kept;
  }
  double rate = sqrt((i3 - i2) * (square - twice * i1) / (i1 * i2 * i3));
  double m = (i2 - i1) * (twice * i3 - square) / ((i3 - i2) * (square - twice * i1));
  return 2 * elliptic_quarter_period(m) / rate;
}

static void spin_W1_handle_turns_over(void** state) {
  (void)state;
  for (double dt = 2e-2; dt > 2e-3; dt *= 0.3) {
    Run* run = run_create(1, 0, HANDLE, dt);
    const SimState* now = sim_state(run->sim);
    double before = 1, flips[16];
    int count = 0;
    while (count < 4) {
      run_step(run);
      double along = mat3_tmul_vec(now->pose[0].r, now->momentum[0]).y;
      if (before * along < 0) flips[count++] = now->time - dt * along / (along - before); /* on a straight line */
      before = along;
    }
    /* what the straight line is wrong by, and what is rounded times exp(rate t) near the separatrix */
    for (int k = 1; k < 4; k++)
      compare_near(flips[k] - flips[k - 1], time_between_flips(), 20 * dt * dt * dt + 1e-8, "flip %d, dt = %g", k, dt);
    run_free(run);
  }
}

/* ---------------------------------------------------------------- contact */

static const char MEETING[] =
    "simulation: {dt: %g, duration: 1.0, gravity: [0, 0, 0], integrator: momentum, tolerance: 1.0e-11}\n"
    "contact: {friction: %g}\n"
    "shapes:\n"
    "  box: {type: box, size: [0.3, 0.2, 0.1]}\n"
    "links:\n"
    "  - {name: a, shape: box, mass: 1.0, mass_model: uniform, position: [-0.4, 0, 0]}\n"
    "  - {name: b, shape: box, mass: 0.6, mass_model: uniform, position: [0.4, 0.11, 0.04]}\n"
    "initial:\n"
    "  - {link: a, velocities: [1, 0.1, 0, 1, 2, 5]}\n"
    "  - {link: b, velocities: [-1, 0, 0, -2, 4, 1]}\n";

/* Returns the largest relative loss of angular momentum about the origin in a second with a collision of two boxes. */
static double lost_in_meeting(double dt, double friction) {
  Run* run = run_create(1, 0, MEETING, dt, friction);
  SimMeasure start = sim_measure(run->sim);
  double worst = 0, linear = 0;
  int meets = 0, steps = (int)lround(1 / dt);
  for (int k = 0; k < steps; k++) {
    meets += run_steps(run, 1).active_pairs > 0;
    SimMeasure now = sim_measure(run->sim);
    worst = fmax(worst,
                 vec3_norm(vec3_sub(now.angular_momentum, start.angular_momentum)) / vec3_norm(start.angular_momentum));
    linear = fmax(linear, vec3_norm(vec3_sub(now.momentum, start.momentum)) / vec3_norm(start.momentum));
  }
  assert_true(meets > 0);
  compare_at_most(linear, 1e-10, "momentum, dt = %g", dt);
  run_free(run);
  return worst;
}

/* Without friction angular momentum is kept as well as momentum; friction, whose normals lag, spoils it by O(dt). */
static void spin_W6_two_boxes_meet(void** state) {
  (void)state;
  double dt = 1e-2;
  for (int k = 0; k < 3; k++, dt *= 0.5) {
    compare_at_most(lost_in_meeting(dt, 0), 1e-10, "angular momentum without friction, dt = %g", dt);
    compare_at_most(lost_in_meeting(dt, 0.5), 0.5 * dt, "angular momentum with friction, dt = %g", dt);
  }
}

/* A sphere collides off-centre with another body. */
static const char BALL_MEETS[] =
    "simulation: {dt: 0.01, duration: 1.0, gravity: [0, 0, 0], integrator: momentum, tolerance: 1.0e-11}\n"
    "contact: {friction: 0}\n"
    "links:\n"
    "  - {name: a, mass: 1, shape: {type: sphere, radius: 0.1}, position: [-0.4, 0, 0]}\n"
    "  - {name: b, mass: 0.6, shape: %s, position: [0, 0.1, 0.03]}\n"
    "initial: [{link: a, velocities: [1.5, 0, 0, 0, 0, 0]}]\n";

/* The normal goes through a ball's centre: without friction it keeps its spin of zero, and a box beside it takes what
 * keeps the angular momentum of both. */
static void spin_W6_normal_forces_turn_no_ball(void** state) {
  (void)state;
  for (int other = 0; other < 2; other++) {
    bool box = other == 1;
    Run* run = run_create(1, 0, BALL_MEETS, box ? "{type: box, size: [0.2, 0.3, 0.2]}" : "{type: sphere, radius: 0.1}");
    Vec3 start = sim_measure(run->sim).angular_momentum;
    int meets = 0;
    for (int k = 0; k < 100; k++) {
      meets += run_steps(run, 1).active_pairs > 0;
      SimMeasure now = sim_measure(run->sim);
      compare_at_most(vec3_norm(sim_state(run->sim)->momentum[0]), 1e-12, "spin of the ball, step %d", k);
      if (box)
        compare_at_most(vec3_norm(vec3_sub(now.angular_momentum, start)), 1e-10, "change of both, step %d", k);
      else
        compare_at_most(vec3_norm(sim_state(run->sim)->momentum[1]), 1e-12, "spin of the other, step %d", k);
    }
    assert_true(meets > 0);
    run_free(run);
  }
}

/* Round bodies of 1 kg on a free plate of 2 kg without friction below: by m a_b = f and I w' = f r they have
 * k / (1 + k) of the plate's acceleration 6 / (2 + k / (1 + k)) m/s^2, with k = I / (m r^2). */
static void spin_W6_what_rolls_on_a_plate_that_moves(void** state) {
  (void)state;
  static const struct {
    const char* shape;
    double inertia; /* k */
  } rows[] = {{"{type: sphere, radius: 0.1}", 0.4},
              {"{type: cylinder, radius: 0.1, length: 0.3, rpy: [1.5707963267948966, 0, 0]}", 0.5},
              {"{type: capsule, radius: 0.1, length: 0.3, rpy: [1.5707963267948966, 0, 0]}", 0.5}};
  for (size_t row = 0; row < sizeof rows / sizeof *rows; row++) {
    double k = rows[row].inertia, i = 0.01 * k;
    Run* run =
        run_create(1, 0,
                   "simulation: {dt: 0.01, duration: 1.0}\n"
                   "contact: {friction: 0.8, pairs: [{a: plate, b: ground, friction: 0}]}\n"
                   "links:\n"
                   "  - {name: ground, fixed: true, shape: {type: half_space}}\n"
                   "  - {name: plate, mass: 2, shape: {type: box, size: [4, 1, 0.1]}, position: [0, 0, 0.0505]}\n"
                   "  - {name: round, mass: 1, inertia: [%g, %g, %g, 0, 0, 0], shapes: [%s], position: [0, 0, 0.201]}\n"
                   "loads: [{link: plate, force: [6, 0, 0]}]\n",
                   i, i, i, rows[row].shape);
    double x[4], plate[4];
    for (int n = 0; n < 4; n++) { /* at 0.3, 0.31, 0.9 and 0.91 s */
      run_steps(run, n == 0 ? 30 : n == 2 ? 59 : 1);
      x[n] = sim_state(run->sim)->center[2].x;
      plate[n] = sim_state(run->sim)->center[1].x;
    }
    double share = k / (1 + k), right = 6 / (2 + share);
    compare_relative(((x[3] - x[2]) - (x[1] - x[0])) / 0.01 / 0.6, right * share, 1e-3, "acceleration of body %zu",
                     row);
    compare_relative(((plate[3] - plate[2]) - (plate[1] - plate[0])) / 0.01 / 0.6, right, 1e-3, "of the plate %zu",
                     row);
    run_free(run);
  }
}

/* Forces that are out of balance by more than a fifth of those at work turn nothing. */
static void spin_W6_needs_balance(void** state) {
  (void)state;
  Run* run = run_create(1, 0, MEETING, 1e-2, 0.0);
  while (run_steps(run, 1).active_pairs == 0) continue;
  Sim* s = run->sim;
  spin_compute_residual_forces(s, contact_term_list(s->contact));
  const Pose *now = s->pose_now, *next = s->configuration[s->current].pose;
  assert_true(s->spin_bodies[0].pair_force_sum > 0);
  assert_true(spin_exchange(&run->model, s->spin_bodies, 0, 1, now, next).is_exchanged);
  compare_at_most(vec3_norm(s->spin_bodies[0].residual_force), 1e-6 * s->spin_bodies[0].pair_force_sum,
                  "what a solved step leaves");
  s->spin_bodies[1].residual_force = vec3(0.3 * s->spin_bodies[1].pair_force_sum, 0, 0);
  assert_false(spin_exchange(&run->model, s->spin_bodies, 0, 1, now, next).is_exchanged);
  run_free(run);
}

/* A box that falls flat and one that falls on an edge: what is left of the speed of the first, and the first
 * downward-going state of the second, are those of first order. */
static const char DROPPED[] =
    "simulation: {dt: %g, duration: 2, integrator: %s}\n"
    "contact: {barrier_distance: 1.0e-3, stiffness: 1.0e-7, friction: 0.3}\n"
    "links:\n"
    "  - {name: ground, fixed: true, shape: {type: half_space}}\n"
    "  - {name: box, mass: 1, mass_model: uniform, shape: {type: box, size: [0.2, 0.2, 0.2]}, position: [0, 0, 0.6]}\n";

static double rebound(double dt, const char* integrator) {
  Run* run = run_create(1, 0, DROPPED, dt, integrator);
  double up = 0, down = 0;
  for (int k = 0; k < (int)lround(0.6 / dt); k++) {
    Vec3 before = sim_state(run->sim)->center[1];
    run_step(run);
    double v = (sim_state(run->sim)->center[1].z - before.z) / dt;
    down = fmin(down, v);
    up = fmax(up, v);
  }
  run_free(run);
  return up / -down;
}

static void spin_hardly_rebounds(void** state) {
  (void)state;
  for (double dt = 1e-2; dt > 5e-4; dt *= 0.3) {
    compare_at_most(rebound(dt, "momentum"), 3e-4, "rebound of the speed of landing, dt = %g", dt);
    compare_at_most(rebound(dt, "first_order"), 3e-4, "rebound of the speed of landing, first order, dt = %g", dt);
  }
}

/* A ball of many corners rolls: 5/7 of what slides, and a little more because it falls from corner to corner (8.6 %
 * with a resolution of 3, 3.1 % with 4, at any dt); the same as at first order. */
static double rolled(const char* integrator, double slope) {
  Run* run = run_create(1, 0,
                        "simulation: {dt: 0.002, duration: 1, gravity: [%.17g, 0, %.17g], integrator: %s}\n"
                        "contact: {friction: 0.5}\n"
                        "links:\n"
                        "  - {name: ground, fixed: true, shape: {type: half_space}}\n"
                        "  - {name: ball, mass: 1, center: [0, 0, 0], inertia: [0.004, 0.004, 0.004, 0, 0, 0], "
                        "shape: {type: sphere, radius: 0.1, resolution: 4}, position: [0, 0, 0.1003]}\n",
                        9.81 * sin(slope), -9.81 * cos(slope), integrator);
  run_steps(run, 250);
  double way = sim_state(run->sim)->center[1].x;
  run_free(run);
  return way;
}

static void spin_rolls_down(void** state) {
  (void)state;
  double slope = 0.1, wanted = 0.5 * 5.0 / 7 * 9.81 * sin(slope) * 0.5 * 0.5, found = rolled("momentum", slope);
  compare_near(found, wanted, 0.04 * wanted, "way of the ball");
  double lag = 0.5 * 5.0 / 7 * 9.81 * sin(slope) * 0.5 * 0.002; /* a t dt / 2 */
  /* first_order keeps the energy that (W20) removes from the polyhedron */
  compare_near(found, rolled("first_order", slope) - lag, 0.005 * wanted, "way of the ball at first order");
}

/* Friction takes r from the spin for what it gives to the way, whatever the turn of a step: over three radians a step
 * too. With a turn t of a part the lever is r cos t. */
static void spin_W10_friction_has_its_lever(void** state) {
  (void)state;
  static const double turns[] = {0.1, 0.17, 0.5, 1, 2, 2.8};
  for (int k = 0; k < 6; k++) {
    double dt = 2e-3, turn = turns[k];
    Run* run = run_create(1, 0,
                          "simulation: {dt: %g, steps: 40, integrator: momentum}\n"
                          "contact: {friction: 0.3}\n"
                          "links:\n"
                          "  - {name: ground, fixed: true, shape: {type: half_space}}\n"
                          "  - {name: ball, mass: 1, center: [0, 0, 0], inertia: [0.004, 0.004, 0.004, 0, 0, 0], "
                          "shape: {type: sphere, radius: 0.1, resolution: 5}, position: [0, 0, 0.10044]}\n"
                          "initial: [{link: ball, velocities: [0, 0, 0, 0, %g, 0]}]\n",
                          dt, turn / dt);
    StepReport report = run_steps(run, 40);
    double parts = report.substeps, spun = sim_state(run->sim)->momentum[1].y - 0.004 * turn / dt;
    double moved = sim_state(run->sim)->rate[0], lever = -spun / moved;
    assert_false(report.halved);
    compare_at_most(turn / parts, 0.18, "turn %g: of a part", turn);
    compare_at_most(0.1, moved, "turn %g: speed gained", turn);
    /* a point fixed in the ball would have the lever 0.1 cos(turn / parts) */
    double least = 0.1 * cos(turn / parts);
    compare_near(lever, 0.5 * (0.1 + least), 0.5 * (0.1 - least) + 6e-4, "turn %g, %g parts: lever", turn, parts);
    run_free(run);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(spin_W4_W5_is_kept_in_flight),
      cmocka_unit_test(spin_W4_falls_by_its_parabola),
      cmocka_unit_test(spin_W7_measures),
      cmocka_unit_test(spin_W1_handle_turns_over),
      cmocka_unit_test(spin_W6_two_boxes_meet),
      cmocka_unit_test(spin_W6_normal_forces_turn_no_ball),
      cmocka_unit_test(spin_W6_what_rolls_on_a_plate_that_moves),
      cmocka_unit_test(spin_W6_needs_balance),
      cmocka_unit_test(spin_hardly_rebounds),
      cmocka_unit_test(spin_rolls_down),
      cmocka_unit_test(spin_W10_friction_has_its_lever),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Tests complete runs (S8-S10): rest in closed form, carried weights, momentum, the state after a failed step, and no
 * allocation within a step. */
#include "simulate/simulate.h"

#include <string.h>

#include "support/runs.h"

/* ---------------------------------------------------------------- rest */

typedef long double Real;

/* -P_s'(c) */
static Real push(Real c, Real s) {
  if (c >= s) return 0;
  Real d = s - c, c5 = c * c * c * c * c;
  return 4 * d * d * d / c5 + 5 * d * d * d * d / (c5 * c);
}

/* c with push(c) = p, by bisection. */
static Real clearance_of(Real p, Real s) {
  Real low = 1e-9L * s, high = s;
  for (int k = 0; k < 200; k++) {
    Real middle = 0.5L * (low + high);
    if (push(middle, s) > p)
      low = middle;
    else
      high = middle;
  }
  return 0.5L * (low + high);
}

/* Gap D of a box with 4 lower vertices over a ground with `ground` vertices: with |n| = a, c_box = a D - c_ground,
 * the plane minimises W(1 - a) + 4 P(c_box) + ground P(c_ground), W the barrier of support sigma times sigma / s:
 *   4 push(c_box) = ground push(c_ground) = lambda,   sigma / s push(1 - a) = D lambda,   kappa a lambda = m g. */
static Real rest_gap(Real s, Real kappa, Real weight, int ground) {
  const Real sigma = 1e-3L;
  Real a = 1 - sigma / 2, gap = s;
  for (int k = 0; k < 300; k++) {
    Real lambda = weight / (kappa * a), c_box = clearance_of(lambda / 4, s),
         c_ground = clearance_of(lambda / ground, s);
    gap = (c_box + c_ground) / a;
    a = 1 - clearance_of(gap * lambda * s / sigma, sigma);
  }
  return gap;
}

typedef struct {
  const char* ground;
  int terms;
  double s, kappa, mass;
} Rest;

static void sim_box_rests_at_the_gap_of_the_closed_form(void** state) {
  (void)state;
  static const Rest rests[] = {
      {"position: [0, 0, -0.5], shape: {type: box, size: [100, 100, 1]}", 4, 1e-3, 1e-8, 1},
      {"position: [0, 0, -0.5], shape: {type: box, size: [100, 100, 1]}", 4, 1e-2, 1e-6, 1},
      {"position: [0, 0, -0.5], shape: {type: box, size: [100, 100, 1]}", 4, 1e-3, 1e-8, 30},
      {"shape: {type: half_space}", 1, 1e-3, 1e-8, 1},
      {"shape: {type: half_space}", 1, 1e-2, 1e-6, 1},
      {"shape: {type: half_space}", 1, 1e-3, 1e-8, 30},
  };
  for (size_t k = 0; k < sizeof rests / sizeof *rests; k++) {
    const Rest* r = &rests[k];
    double wanted = (double)rest_gap((Real)r->s, (Real)r->kappa, (Real)r->mass * 9.81L, r->terms);
    Run* run = run_create(
        1, 1e-8,
        "simulation: {dt: 0.02, steps: 100, integrator: first_order}\n"
        "contact: {barrier_distance: %g, stiffness: %g, friction: 0.3, smoothing: 1.0e-6}\n"
        "links:\n"
        "  - {name: ground, fixed: true, %s}\n"
        "  - {name: box, shape: {type: box, size: [0.2, 0.2, 0.2]}, mass: %g, position: [0.3, -0.2, %.17g]}\n",
        r->s, r->kappa, r->ground, r->mass, 0.1 + wanted * 1.001);
    run_steps(run, 100);
    int count;
    const SimContact* contacts = sim_contacts(run->sim, &count);
    assert_int_equal(count, 1);
    compare_relative(contacts[0].gap, wanted, 1e-4, "case %d: gap at rest", (int)k);
    compare_relative(sim_state(run->sim)->center[1].z - 0.1, wanted, 1e-4, "case %d: height of the box over the gap",
                     (int)k);
    compare_relative(contacts[0].force.z, r->mass * 9.81, 1e-6, "case %d: force on the box", (int)k);
    run_free(run);
  }
}

/* Numbers of the guide, found by bisection in decimals of 40 digits: contact has no length of its own, so ten times the
 * support is ten times the gap. */
static void sim_rest_closed_form_gives_the_known_number(void** state) {
  (void)state;
  compare_near((double)rest_gap(1e-3L, 1e-8L, 9.81L, 4), 7.994156234e-4, 1e-12,
               "gap of the 1 kg box at s = 1e-3, kappa = 1e-8");
  compare_near((double)rest_gap(1e-2L, 1e-6L, 9.81L, 4), 7.994156234e-3, 1e-11,
               "gap of the 1 kg box at s = 1e-2, kappa = 1e-6");
}

static const char stack[] =
    "simulation: {dt: 0.01, steps: 300, integrator: first_order}\n"
    "contact: {barrier_distance: 1.0e-3, stiffness: 1.0e-9, friction: 0.5, smoothing: 1.0e-6}\n"
    "shapes:\n"
    "  plank: {type: box, size: [0.4, 0.2, 0.05]}\n"
    "links:\n"
    "  - {name: ground, fixed: true, shape: {type: half_space}}\n"
    "  - {name: \"plank{i}\", shape: plank, mass: 0.3, position: [0, 0, 0.0255], repeat: {count: %d, position: [0.003, "
    "0, 0.0508]}}\n";

/* Each contact of the stack carries the weight above it. */
static void sim_stack_carries_its_weight(void** state) {
  (void)state;
  Run* run = run_create(1, 1e-8, stack, 8);
  run_steps(run, 250);
  int count;
  const SimContact* contacts = sim_contacts(run->sim, &count);
  assert_int_equal(count, 8);
  for (int k = 0; k < count; k++) {
    double above = 0.3 * 9.81 * (8 - k);
    compare_relative(contacts[k].force.z, above, 1e-3, "force on plank %d", k);
    compare_near(contacts[k].force.x, 0, 1e-3 * above, "sideways force on plank %d", k);
  }
  run_free(run);
}

/* A conveyor, a hull or a half-space, accelerates a body by friction to mu g t, up to the belt's speed. */
static void sim_moving_ground_drags_what_lies_on_it(void** state) {
  (void)state;
  static const char* const belt[] = {"{type: box, size: [20, 20, 1], position: [0, 0, -0.5]}", "{type: half_space}"};
  for (int k = 0; k < 2; k++) {
    Run* run =
        run_create(1, 1e-8,
                   "simulation: {dt: 0.005, steps: 100, integrator: first_order}\n"
                   "contact: {barrier_distance: 1.0e-3, stiffness: 1.0e-8, friction: 0.2, smoothing: 1.0e-6}\n"
                   "links:\n"
                   "  - {name: belt, joint: {type: slide, axis: [1, 0, 0]}, shapes: [%s]}\n"
                   "  - {name: box, shape: {type: box, size: [0.2, 0.2, 0.2]}, mass: 1, position: [0, 0, 0.1008]}\n"
                   "controllers:\n"
                   "  - {link: belt, type: prescribed, target: {type: keyframes, times: [0, 10], values: [0, 10]}}\n",
                   belt[k]);
    run_steps(run, 60);
    double speed = sim_state(run->sim)->rate[1];
    compare_near(speed, 0.2 * 9.81 * 0.3, 0.03, "%s: speed of the box after 0.3 s", belt[k]);
    run_steps(run, 90);
    compare_near(sim_state(run->sim)->rate[1], 1, 0.01, "%s: speed of the box in the end", belt[k]);
    run_free(run);
  }
}

/* ---------------------------------------------------------------- momentum */

static const char collision[] =
    "simulation: {dt: 0.002, steps: 200, gravity: [0, 0, 0], integrator: first_order}\n"
    "contact: {barrier_distance: 2.0e-3, stiffness: 1.0e-7, friction: 0.4, smoothing: 1.0e-6}\n"
    "links:\n"
    "  - {name: a, mass: 1.5, shape: {type: box, size: [0.2, 0.3, 0.1]}, position: [0, 0, 0]}\n"
    "  - {name: b, mass: 0.7, shape: {type: sphere, radius: 0.1}, position: [0.3, 0.05, 0.02]}\n"
    "  - {name: c, mass: 1.1, shape: {type: cylinder, radius: 0.1, length: 0.2, segments: 9}, position: [-0.3, -0.03, "
    "0]}\n"
    "initial:\n"
    "  - {link: b, velocities: [-1, 0.1, 0, 0, 2, 3]}\n"
    "  - {link: c, velocities: [0.8, 0, 0.1, 1, 0, -2]}\n";

static void momentum_of(const Run* run, const Vec3* before, double dt, double p[3]) {
  p[0] = p[1] = p[2] = 0;
  const SimState* s = sim_state(run->sim);
  for (int i = 0; i < run->model.link_count; i++) {
    Vec3 v = vec3_scale(vec3_sub(s->center[i], before[i]), run->model.links[i].mass / dt);
    p[0] += v.x, p[1] += v.y, p[2] += v.z;
  }
}

/* Two collisions with friction and spin conserve the sum of m v, to the tolerance of the step. */
static void sim_momentum_is_conserved_in_collisions(void** state) {
  (void)state;
  Run* run = run_create(1, 1e-9, collision);
  const double wanted[3] = {-0.7 + 1.1 * 0.8, 0.07, 0.11};
  Vec3 before[3];
  double least = HUGE_VAL;
  for (int n = 0; n < 200; n++) {
    memcpy(before, sim_state(run->sim)->center, sizeof before);
    run_steps(run, 1);
    double p[3];
    momentum_of(run, before, 0.002, p);
    for (int i = 0; i < 3; i++) compare_near(p[i], wanted[i], 1e-9 + 1e-11 * n, "step %d: momentum %d", n, i);
    least = fmin(least, sim_measure(run->sim).smallest_gap);
  }
  assert_true(least < 2e-3 && least > 0); /* they did meet */
  run_free(run);
}

/* A tumbling free body: linear momentum to rounding; angular momentum drifts with dt at first order, dt^2 at second. */
static double angular_drift(const char* integrator, int steps) {
  Run* run = run_create(1, 1e-10,
                        "simulation: {dt: %.17g, steps: %d, gravity: [0, 0, 0], integrator: %s}\n"
                        "contact: {model: none}\n"
                        "links:\n"
                        "  - {name: body, mass: 1, shape: {type: box, size: [0.3, 0.2, 0.1]}}\n"
                        "initial:\n"
                        "  - {link: body, velocities: [1, -2, 0.5, 3, 0.3, 0.2]}\n",
                        1.0 / steps, steps, integrator);
  const ModelLink* link = &run->model.links[0];
  Mat3 inertia = mass_moment_inertia_tensor(&link->moment);
  Vec3 start = mat3_mul_vec(inertia, vec3(3, 0.3, 0.2)), x0 = sim_state(run->sim)->center[0];
  run_steps(run, steps);
  const SimState* s = sim_state(run->sim);
  compare_vec3(vec3_sub(s->center[0], x0), vec3(1, -2, 0.5), 1e-11 * steps, "%s, %d steps: path of the centre",
               integrator, steps);
  Vec3 w = vec3(s->rate[3], s->rate[4], s->rate[5]); /* link axes */
  Vec3 now = mat3_mul_vec(s->pose[0].r, mat3_mul_vec(inertia, w));
  double drift = vec3_norm(vec3_sub(now, start)) / vec3_norm(start);
  run_free(run);
  return drift;
}

static void sim_angular_momentum_error_has_the_order_of_the_scheme(void** state) {
  (void)state;
  double a = angular_drift("first_order", 200), b = angular_drift("first_order", 400);
  double c = angular_drift("second_order", 200), d = angular_drift("second_order", 400);
  print_message("drift of the angular momentum: first order %.2e %.2e, second order %.2e %.2e\n", a, b, c, d);
  compare_near(log2(a / b), 1, 0.25, "first order");
  compare_at_most(0.9, log2(c / d), "second order: at least first");
  compare_at_most(d, b, "second order drifts less");
}

/* ---------------------------------------------------------------- failure */

/* One Newton iteration is not enough for a body that hits the ground: the state must be that before the step. */
static void sim_failed_step_keeps_the_state(void** state) {
  (void)state;
  Run* run = run_create(1, 1e-12,
                        "simulation: {dt: 0.01, steps: 100, max_iterations: 1, integrator: first_order}\n"
                        "contact: {barrier_distance: 1.0e-3, stiffness: 1.0e-8, friction: 0.3, smoothing: 1.0e-6}\n"
                        "links:\n"
                        "  - {name: ground, fixed: true, shape: {type: half_space}}\n"
                        "  - {name: box, shape: {type: box, size: [0.2, 0.2, 0.2]}, mass: 1, position: [0, 0, 0.13]}\n"
                        "initial:\n"
                        "  - {link: box, velocities: [1, 0, -3, 1, 2, 3]}\n");
  double q[7];
  Pose pose[2];
  StepReport report = {.outcome = STEP_CONVERGED};
  for (int n = 0; n < 100 && !step_outcome_failed(report.outcome); n++) {
    memcpy(q, sim_state(run->sim)->q, sizeof q);
    memcpy(pose, sim_state(run->sim)->pose, sizeof pose);
    int step = sim_state(run->sim)->step;
    report = sim_step(run->sim);
    if (!step_outcome_failed(report.outcome)) continue;
    assert_int_equal(sim_state(run->sim)->step, step);
    compare_bytes(sim_state(run->sim)->q, q, sizeof q, "coordinates after a failed step");
    compare_bytes(sim_state(run->sim)->pose, pose, sizeof pose, "poses after a failed step");
  }
  assert_true(step_outcome_failed(report.outcome));
  StepReport again = sim_step(run->sim); /* the same problem, the same answer */
  assert_int_equal(again.outcome, report.outcome);
  compare_near(again.residual, report.residual, 0, "residual of the repeated step");
  run_free(run);
}

static void sim_outcomes_have_names(void** state) {
  (void)state;
  for (int k = STEP_CONVERGED; k <= STEP_INTERRUPTED; k++) {
    assert_non_null(step_outcome_text((StepOutcome)k));
    assert_int_equal(step_outcome_failed((StepOutcome)k), k > STEP_ROUNDING_FLOOR);
  }
}

/* Far from the origin, at a tolerance below what coordinates of 1 km can resolve: the floor is met and said so. */
static void sim_stops_at_the_rounding_floor(void** state) {
  (void)state;
  static const double far[] = {1, 30, 1000};
  for (int k = 0; k < 3; k++) {
    Run* run =
        run_create(1, 1e-11,
                   "simulation: {dt: 0.001, steps: 100, integrator: first_order}\n"
                   "contact: {barrier_distance: 1.0e-3, stiffness: 1.0e-8, friction: 0.3, smoothing: 1.0e-6}\n"
                   "links:\n"
                   "  - {name: ground, fixed: true, position: [%g, 0, -0.5], shape: {type: box, size: [10, 10, 1]}}\n"
                   "  - {name: box, shape: {type: box, size: [0.2, 0.2, 0.2]}, mass: 1, position: [%g, 0, 0.1008]}\n"
                   "initial:\n"
                   "  - {link: box, velocities: [0.5, 0, 0, 0, 0, 1]}\n",
                   far[k], far[k]);
    int most = 0, floors = 0;
    for (int n = 0; n < 100; n++) {
      StepReport r = sim_step(run->sim);
      if (step_outcome_failed(r.outcome))
        fail_msg("%g m away, step %d: %s, residual %g", far[k], n, step_outcome_text(r.outcome), r.residual);
      if (r.iterations > most) most = r.iterations;
      floors += r.outcome == STEP_ROUNDING_FLOOR;
    }
    print_message("%g m away: at most %d iterations, %d of 100 steps end at the floor\n", far[k], most, floors);
    compare_at_most(most, 30, "%g m away: iterations", far[k]);
    run_free(run);
  }
}

/* ---------------------------------------------------------------- allocation */

static void check_allocations(Run* run, int warm, int steps, const char* what) {
  run_steps(run, warm);
  int with = 0;
  for (int n = 0; n < steps; n++) {
    uint64_t before = memory_allocation_count();
    run_steps(run, 1);
    with += memory_allocation_count() != before;
  }
  if (with > 0) fail_msg("%s: %d of %d steps allocated memory after %d steps of warm-up", what, with, steps, warm);
}

static void sim_step_does_not_allocate(void** state) {
  (void)state;
  Run* run = run_create(2, 0, stack, 12);
  check_allocations(run, 60, 60, "stack of 12 planks");
  run_free(run);
  run = run_create(2, 0,
                   "simulation: {dt: 0.01, steps: 400, gravity: [0, 0, 0], integrator: first_order}\n"
                   "contact: {barrier_distance: 2.0e-3, stiffness: 1.0e-8, friction: 0.3, smoothing: 1.0e-6}\n"
                   "shapes:\n"
                   "  bone: {type: rounded_box, radius: 0.04, size: [0.12, 0, 0]}\n"
                   "links:\n"
                   "  - {name: \"a{i}\", parent: \"a{i-1}\", mass: 0.2, joint: {type: universal, axes: [[0, 1, 0], [0, "
                   "0, 1]], position: [0.22, 0, 0], damping: 0.001}, "
                   "shapes: [{shape: bone, position: [0.11, 0, 0]}], repeat: {count: 6, first: {parent: null, joint: "
                   "{type: universal, axes: [[0, 1, 0], [0, 0, 1]]}}}}\n"
                   "  - {name: \"b{i}\", parent: \"b{i-1}\", mass: 0.2, joint: {type: universal, axes: [[0, 1, 0], [0, "
                   "0, 1]], position: [0.22, 0, 0], damping: 0.001}, "
                   "shapes: [{shape: bone, position: [0.11, 0, 0]}], repeat: {count: 6, first: {parent: null, joint: "
                   "{type: universal, axes: [[0, 1, 0], [0, 0, 1]], position: [0, 0.2, 0]}}}}\n"
                   "controllers:\n"
                   "  - {link: a0, type: pd, position_gain: 20, target: {type: sines, terms: [[{amplitude: 0.3, "
                   "frequency: 1}], [{amplitude: 0.8, frequency: 1}]]}}\n"
                   "  - {link: b0, type: pd, position_gain: 20, target: {type: sines, terms: [[{amplitude: 0.3, "
                   "frequency: 1, phase: 1}], [{amplitude: -0.8, frequency: 1}]]}}\n");
  check_allocations(run, 250, 80, "two chains that strike each other");
  run_free(run);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(sim_box_rests_at_the_gap_of_the_closed_form),
      cmocka_unit_test(sim_rest_closed_form_gives_the_known_number),
      cmocka_unit_test(sim_stack_carries_its_weight),
      cmocka_unit_test(sim_moving_ground_drags_what_lies_on_it),
      cmocka_unit_test(sim_momentum_is_conserved_in_collisions),
      cmocka_unit_test(sim_angular_momentum_error_has_the_order_of_the_scheme),
      cmocka_unit_test(sim_failed_step_keeps_the_state),
      cmocka_unit_test(sim_outcomes_have_names),
      cmocka_unit_test(sim_stops_at_the_rounding_floor),
      cmocka_unit_test(sim_step_does_not_allocate),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

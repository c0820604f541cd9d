/* Tests measures of a state for the output: energies and momenta in closed form, gaps, and one row per pair of links in
 * contact. */
#include "simulate/simulate.h"

#include "support/runs.h"

static void measure_energies_of_a_free_body(void** state) {
  (void)state;
  Run* run = run_create(1, 1e-9,
                        "simulation: {dt: 0.001, steps: 10, gravity: [0, 0, -9.81], integrator: first_order}\n"
                        "contact: {model: none}\n"
                        "links:\n"
                        "  - {name: body, mass: 2, mass_model: vertices, shape: {type: box, size: [0.3, 0.2, 0.1]}, "
                        "position: [0, 0, 5]}\n"
                        "initial:\n"
                        "  - {link: body, velocities: [1, -2, 0.5, 3, 1, -2]}\n");
  SimMeasure m = sim_measure(run->sim);
  /* eight points of 0.25 kg at the corners: I = m (b^2 + c^2) / 4 */
  double inertia[3] = {2 * (0.04 + 0.01) / 4, 2 * (0.09 + 0.01) / 4, 2 * (0.09 + 0.04) / 4};
  double wanted = 0.5 * 2 * (1 + 4 + 0.25) + 0.5 * (9 * inertia[0] + 1 * inertia[1] + 4 * inertia[2]);
  compare_near(m.kinetic, wanted, 1e-12, "kinetic energy at the start");
  compare_near(m.potential, 2 * 9.81 * 5, 1e-12, "potential energy at the start");
  assert_true(isinf(m.smallest_gap));
  int count;
  sim_contacts(run->sim, &count);
  assert_int_equal(count, 0);
  run_steps(run, 1);
  m = sim_measure(run->sim);
  double z = sim_state(run->sim)->center[0].z, fall = (z - 5) / 0.001;
  compare_near(m.potential, 2 * 9.81 * z, 1e-12, "potential energy after a step");
  compare_near(m.kinetic, wanted + (fall * fall - 0.25), 5e-3, "kinetic energy after a step");
  run_free(run);
}

/* Thrown up at 3 m/s: m v^2 / 2 + m g z = 4.5 + 9.81 * 5 for a mass of 1, kept in flight. `momentum` has half of its
 * first step's gravity behind it where its first rate belongs, and the mean of both ends of a step is m g^2 h^2 / 8
 * above its middle; `second_order` has rates of the end, but for the first step. */
static void S20_total_is_of_one_moment(void** state) {
  (void)state;
  static const char* const integrator[] = {"momentum", "second_order"};
  for (int i = 0; i < 2; i++) {
    Run* run = run_create(1, 1e-9,
                          "simulation: {dt: 0.01, steps: 60, gravity: [0, 0, -9.81], integrator: %s}\n"
                          "contact: {model: none}\n"
                          "links:\n"
                          "  - {name: body, mass: 1, mass_model: vertices, shape: {type: box, size: [0.3, 0.2, 0.1]}, "
                          "position: [0, 0, 5]}\n"
                          "initial: [{link: body, velocities: [0, 0, 3, 0, 0, 0]}]\n",
                          integrator[i]);
    double begun = 4.5 + 9.81 * 5, above = 9.81 * 9.81 * 1e-4 / 8;
    compare_near(sim_measure(run->sim).total, begun, 1e-12, "%s: total at the start", integrator[i]);
    run_steps(run, 1);
    double first = sim_measure(run->sim).total;
    for (int n = 2; n <= 60; n++) {
      run_steps(run, 1);
      SimMeasure m = sim_measure(run->sim);
      compare_near(m.total, begun, i == 0 ? 2 * above : 1e-10, "%s: total after step %d", integrator[i], n);
      if (i == 0) compare_near(m.total, first, 1e-10, "%s: step %d against the first", integrator[i], n);
      if (i == 1)
        compare_near(m.total, m.kinetic + m.potential, 0, "%s: step %d ends with its rates", integrator[i], n);
    }
    run_free(run);
  }
}

/* A table on two feet: two hulls on the ground, one row; a cup on the table: another, a < b, force on b. */
static void measure_contacts_are_merged_by_link_and_sorted(void** state) {
  (void)state;
  Run* run = run_create(
      1, 1e-8,
      "simulation: {dt: 0.01, steps: 300, integrator: first_order}\n"
      "contact: {barrier_distance: 1.0e-3, stiffness: 1.0e-8, friction: 0.5, smoothing: 1.0e-6}\n"
      "links:\n"
      "  - {name: cup, mass: 0.5, mass_model: vertices, shape: {type: box, size: [0.1, 0.1, 0.1]}, position: [0, 0, "
      "0.3524]}\n"
      "  - {name: table, mass: 3, mass_model: vertices, position: [0, 0, 0.1508], shapes: [{type: box, size: [0.1, "
      "0.3, "
      "0.3], position: [-0.2, 0, 0]}, {type: box, size: [0.1, 0.3, 0.3], position: [0.2, 0, 0]}, "
      "{type: box, size: [0.5, 0.3, 0.05], position: [0, 0, 0.125]}]}\n"
      "  - {name: ground, fixed: true, shape: {type: half_space}}\n"
      "  - {name: ball, mass: 1, mass_model: vertices, shape: {type: sphere, radius: 0.1}, position: [5, 0, 3]}\n");
  run_steps(run, 60);
  int count;
  const SimContact* c = sim_contacts(run->sim, &count);
  assert_int_equal(count, 2);
  assert_int_equal(c[0].a, 0);
  assert_int_equal(c[0].b, 1);
  assert_int_equal(c[1].a, 1);
  assert_int_equal(c[1].b, 2);
  compare_relative(c[0].force.z, -0.5 * 9.81, 1e-2, "force of the cup on the table");
  compare_relative(c[1].force.z, -3.5 * 9.81, 1e-2, "force of the table on the ground");
  const SimState* s = sim_state(run->sim);
  compare_near(c[0].gap, s->pose[0].t.z - 0.05 - (s->pose[1].t.z + 0.15), 2e-5, "gap of cup and table");
  compare_near(c[1].gap, s->pose[1].t.z - 0.15, 2e-5, "gap of table and ground");
  SimMeasure m = sim_measure(run->sim);
  compare_near(m.smallest_gap, fmin(c[0].gap, c[1].gap), 1e-12, "smallest gap");
  run_free(run);
}

/* ---------------------------------------------------------------- momenta (S19) */

static void near_vector(Vec3 found, Vec3 wanted, double tolerance, const char* what) {
  compare_near(found.x, wanted.x, tolerance, what);
  compare_near(found.y, wanted.y, tolerance, what);
  compare_near(found.z, wanted.z, tolerance, what);
}

/* p = m v, L = c x p + R I R^T w: a quarter turn about x makes y of the body z of the world, rates are in link axes. */
static void S19_momenta_of_a_free_body_at_the_start(void** state) {
  (void)state;
  Run* run = run_create(
      1, 1e-9,
      "contact: {model: none}\n"
      "links:\n"
      "  - {name: body, mass: 2, mass_model: vertices, shape: {type: box, size: [0.3, 0.2, 0.1]}, position: [1, 2, 5], "
      "rotation: [0.7071067811865476, 0.7071067811865476, 0, 0]}\n"
      "initial:\n"
      "  - {link: body, velocities: [1, -2, 0.5, 3, 1, -2]}\n");
  double inertia[3] = {2 * (0.04 + 0.01) / 4, 2 * (0.09 + 0.01) / 4, 2 * (0.09 + 0.04) / 4};
  const SimState* s = sim_state(run->sim);
  /* slides go along the axes of the joint's frame, which is turned as the link is */
  Mat3 r = s->pose[0].r;
  Vec3 p = vec3_scale(mat3_mul_vec(r, vec3(1, -2, 0.5)), 2);
  Vec3 spin = mat3_mul_vec(r, vec3(inertia[0] * 3, inertia[1] * 1, inertia[2] * -2));
  SimMeasure m = sim_measure(run->sim);
  near_vector(m.momentum, p, 1e-12, "momentum");
  near_vector(m.angular_momentum, vec3_add(vec3_cross(vec3(1, 2, 5), p), spin), 1e-12, "angular momentum");
  run_free(run);
}

/* Both schemes are exact for a parabola, p_z = m (v - g t), but for the first step of second order, where one
 * difference of two states is all there is: m (v - g t / 2). A wheel that turns by f from row to row has
 * L = I ((a + b) sin f1 - b sin f2), f1 and f2 the angles to the rows before. */
static void momenta_of_a_spinning_body_in_flight(const char* integrator, double (*rate_old)(int step)) {
  const double dt = 0.01, wheel = 2 * (0.09 + 0.04) / 4;
  Run* run = run_create(1, 1e-12,
                        "simulation: {dt: 0.01, steps: 10, gravity: [0, 0, -9.81], integrator: %s}\n"
                        "contact: {model: none}\n"
                        "links:\n"
                        "  - {name: body, mass: 2, mass_model: vertices, shape: {type: box, size: [0.3, 0.2, 0.1]}}\n"
                        "initial:\n"
                        "  - {link: body, velocities: [1, -2, 3, 0, 0, 5]}\n",
                        integrator);
  double angle[9] = {0};
  for (int step = 1; step < 9; step++) {
    run_steps(run, 1);
    Mat3 r = sim_state(run->sim)->pose[0].r;
    angle[step] = atan2(r.m[1][0], r.m[0][0]);
    SimMeasure m = sim_measure(run->sim);
    double fallen = step == 1 && rate_old(2) > 0 ? 0.5 * dt : dt * step;
    near_vector(m.momentum, vec3(2, -4, 2 * (3 - 9.81 * fallen)), 1e-9, "momentum in flight");
    double b = rate_old(step) / dt, a = 1 / dt + b, f1 = angle[step] - angle[step - 1];
    double f2 = step > 1 ? angle[step] - angle[step - 2] : 0;
    Vec3 c = sim_state(run->sim)->center[0], wanted = vec3_cross(c, m.momentum);
    wanted.z += wheel * ((a + b) * sin(f1) - b * sin(f2));
    near_vector(m.angular_momentum, wanted, 1e-11, "angular momentum in flight");
  }
  run_free(run);
}

static double none_before(int step) {
  (void)step;
  return 0;
}

static double half_after_the_first(int step) { return step > 1 ? 0.5 : 0; }

static void S19_momenta_in_flight_by_both_schemes(void** state) {
  (void)state;
  momenta_of_a_spinning_body_in_flight("first_order", none_before);
  momenta_of_a_spinning_body_in_flight("second_order", half_after_the_first);
}

/* Two boxes collide off-centre in space. Contact conserves the total momentum. */
static void S19_momentum_of_a_closed_system_is_kept(void** state) {
  (void)state;
  Run* run = run_create(
      1, 1e-9,
      "simulation: {dt: 0.01, steps: 60, gravity: [0, 0, 0], integrator: first_order}\n"
      "contact: {barrier_distance: 0.005}\n"
      "links:\n"
      "  - {name: a, mass: 2, mass_model: vertices, shape: {type: box, size: [0.3, 0.2, 0.1]}}\n"
      "  - {name: b, mass: 1, mass_model: vertices, shape: {type: box, size: [0.2, 0.2, 0.2]}, position: [0.5, 0.1, "
      "0.02]}\n"
      "initial:\n"
      "  - {link: a, velocities: [1, 0, 0, 0.3, 0, 0.2]}\n"
      "  - {link: b, velocities: [-1, 0.1, 0, 0, 1, 0]}\n");
  near_vector(sim_measure(run->sim).momentum, vec3(2 * 1 - 1, 0.1, 0), 1e-12, "momentum before");
  int touching = 0, count;
  for (int step = 0; step < 40; step++) {
    run_steps(run, 1);
    sim_contacts(run->sim, &count);
    touching += count > 0;
    near_vector(sim_measure(run->sim).momentum, vec3(1, 0.1, 0), 1e-10, "momentum");
  }
  assert_true(touching > 0);
  run_free(run);
}

/* A bob at distance l of a hinge about y through (0, 0, 1): p = m l w along the circle, and about the origin
 * L = c x p + I w y. */
static void S19_momenta_of_a_pendulum(void** state) {
  (void)state;
  Run* run = run_create(1, 1e-10,
                        "contact: {model: none}\n"
                        "links:\n"
                        "  - {name: bob, mass: 3, mass_model: vertices, joint: {type: hinge, axis: [0, 1, 0], "
                        "position: [0, 0, 1]}, shapes: "
                        "[{type: box, size: [0.2, 0.2, 0.2], position: [0, 0, -0.5]}]}\n"
                        "initial:\n"
                        "  - {link: bob, velocities: [2]}\n");
  /* below the hinge a positive turn about y goes towards -x: y x (0, 0, -l) = (-l, 0, 0) */
  Vec3 p = vec3(-3 * 0.5 * 2, 0, 0), wanted = vec3_cross(vec3(0, 0, 0.5), p);
  wanted.y += 2 * 3 * (0.04 + 0.04) / 4;
  SimMeasure m = sim_measure(run->sim);
  near_vector(m.momentum, p, 1e-12, "momentum of the bob");
  near_vector(m.angular_momentum, wanted, 1e-12, "angular momentum of the bob");
  compare_near(m.kinetic, 0.5 * 3 * 1 + 0.5 * 4 * 3 * 0.02, 1e-12, "kinetic energy of the bob");
  run_free(run);
}

/* Bodies that carry their angular momentum: L of a free one stays that of the start, I w + c x p, through 10 s. */
static void S19_angular_momentum_that_is_carried_is_shown(void** state) {
  (void)state;
  Run* run = run_create(1, 0,
                        "simulation: {dt: 0.01, steps: 1000, gravity: [0, 0, 0], integrator: momentum}\n"
                        "contact: {model: none}\n"
                        "links:\n"
                        "  - {name: body, mass: 2, mass_model: vertices, shape: {type: box, size: [0.3, 0.2, 0.1]}, "
                        "position: [1, 2, 0]}\n"
                        "initial:\n"
                        "  - {link: body, velocities: [0.1, 0, 0.2, 3, 0.1, 4]}\n");
  Vec3 p = vec3(0.2, 0, 0.4), wanted = vec3_cross(vec3(1, 2, 0), p);
  wanted = vec3_add(wanted, vec3(2 * 0.05 / 4 * 3, 2 * 0.1 / 4 * 0.1, 2 * 0.13 / 4 * 4));
  double energy = sim_measure(run->sim).kinetic;
  for (int block = 0; block < 10; block++) {
    SimMeasure m = sim_measure(run->sim);
    near_vector(m.momentum, p, 1e-11, "momentum");
    near_vector(m.angular_momentum, wanted, 1e-10 * vec3_norm(wanted), "angular momentum");
    compare_relative(m.kinetic, energy, 1e-9, "energy");
    run_steps(run, 100);
  }
  run_free(run);
}

/* A table on four feet (hulls of one link) or one plate, pushed down and aside, stands: statics says where the ground
 * presses, and that the moment about there is what friction holds against the push. */
static void measure_contacts_have_the_centre_of_pressure(void** state) {
  (void)state;
  static const char* const shapes[] = {
      "[{type: box, size: [0.4, 0.3, 0.2]}]",
      "[{type: box, size: [0.4, 0.3, 0.1], position: [0, 0, 0.05]}, {type: box, size: [0.06, 0.3, 0.1], position: "
      "[-0.17, 0, -0.05]}, {type: box, size: [0.06, 0.3, 0.1], position: [0.17, 0, -0.05]}]"};
  static const char* const order[] = {"", "  - {name: ground, fixed: true, shape: {type: half_space}}\n"};
  for (int k = 0; k < 4; k++) {
    Run* run = run_create(1, 1e-9,
                          "simulation: {dt: 0.002, steps: 300, output: [contact_points], integrator: first_order}\n"
                          "contact: {friction: 0.6}\n"
                          "links:\n%s"
                          "  - {name: table, mass: 2, center: [0, 0, 0], inertia: [0.02, 0.03, 0.04, 0, 0, 0], shapes: "
                          "%s, position: [0, 0, 0.1004]}\n%s"
                          "loads: [{link: table, point: [0.05, 0.1, 0.1], force: [3, 0, -10]}]\n",
                          order[k / 2], shapes[k % 2], order[1 - k / 2]);
    run_steps(run, 300);
    int count, table = run_link(run, "table");
    const SimContact* c = sim_contacts(run->sim, &count);
    assert_int_equal(count, 1);
    double sign = c->b == table ? 1 : -1, weight = 2 * 9.81 + 10;
    Pose pose = sim_state(run->sim)->pose[table];
    Vec3 at = pose_apply(pose, vec3(0.05, 0.1, 0.1)), push = vec3(3, 0, -10);
    double x = (2 * 9.81 * pose.t.x + 10 * at.x + 3 * at.z) / weight, y = (2 * 9.81 * pose.t.y + 10 * at.y) / weight;
    compare_near(c->press, weight, 1e-3 * weight, "shape %d: pressure", k);
    compare_near(c->point.x, x, 1e-4, "shape %d: x", k);
    compare_near(c->point.y, y, 1e-4, "shape %d: y", k);
    assert_true(fabs(c->point.z) < 1e-3); /* in the gap */
    double turn = vec3_cross(vec3_sub(at, c->point), push).z;
    compare_near(sign * c->moment.z, -turn, 1e-3, "shape %d: moment", k);
    if (k % 2 == 0) compare_near(hypot(c->moment.x, c->moment.y), 0, 1e-12, "shape %d: no other moment", k);
    run_free(run);
  }
}

/* A wheel of 0.01 kg m^2 on a fixed hinge that rotates by w dt rad per step has the energy I w^2 / 2 and the angular
 * momentum I w. */
static void S19_energy_of_a_fast_wheel(void** state) {
  (void)state;
  static const double RATES[] = {10, 100, 250};
  for (int k = 0; k < 3; k++) {
    Run* run = run_create(1, 0,
                          "simulation: {dt: 0.01, duration: 1, integrator: momentum}\n"
                          "contact: {model: none}\n"
                          "links: [{name: wheel, mass: 2, shape: {type: cylinder, radius: 0.1, length: 0.05}, joint: "
                          "{type: hinge, axis: [0, 0, 1]}}]\n"
                          "initial: [{link: wheel, velocities: [%g]}]\n",
                          RATES[k]);
    run_steps(run, 5);
    SimMeasure now = sim_measure(run->sim);
    compare_near(now.kinetic, 0.005 * RATES[k] * RATES[k], 1e-9 * RATES[k] * RATES[k], "kinetic energy");
    near_vector(now.angular_momentum, vec3(0, 0, 0.01 * RATES[k]), 1e-9 * RATES[k], "angular momentum");
    run_free(run);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(measure_contacts_have_the_centre_of_pressure),
      cmocka_unit_test(measure_energies_of_a_free_body),
      cmocka_unit_test(S20_total_is_of_one_moment),
      cmocka_unit_test(S19_momenta_of_a_free_body_at_the_start),
      cmocka_unit_test(S19_momenta_in_flight_by_both_schemes),
      cmocka_unit_test(S19_momentum_of_a_closed_system_is_kept),
      cmocka_unit_test(S19_momenta_of_a_pendulum),
      cmocka_unit_test(S19_energy_of_a_fast_wheel),
      cmocka_unit_test(S19_angular_momentum_that_is_carried_is_shown),
      cmocka_unit_test(measure_contacts_are_merged_by_link_and_sorted),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

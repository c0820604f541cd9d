/* Tests tendons: closed forms of pulled bodies (a block and tackle, a lever, a tendon over two posts, a mass between
 * springs). Also tests energy and momentum of mechanisms, and an arm that curls by a constant angle. */
#include <string.h>

#include "simulate/tendons.h"
#include "support/runs.h"

#define WEIGHTLESS(dt, steps) \
  "simulation: {dt: " dt ", steps: " steps ", gravity: [0, 0, 0], integrator: first_order}\ncontact: {model: none}\n"
#define CUBE "mass_model: uniform, shape: {type: box, size: [0.1, 0.1, 0.1]}"

static const double* coordinates(const Run* run) { return sim_state(run->sim)->q; }

/* Three falls of one tendon: three times its tension, so x = 3 T t^2 / 2 m by steps of first order, x_n = a dt^2 n (n +
 * 1) / 2. */
static void tendons_L5_block_and_tackle(void** state) {
  (void)state;
  Run* run = run_create(1, 1e-12,
                        WEIGHTLESS("0.01", "50") "links:\n  - {name: load, mass: 4, " CUBE
                                                 ", joint: {type: slide, axis: [1, 0, 0]}}\n"
                                                 "tendons:\n  - points: [{link: load}, {point: [5, 0, 0]}, {link: "
                                                 "load}, {point: [6, 0, 0]}]\n    tension: 2\n");
  run_steps(run, 50);
  compare_near(coordinates(run)[0], 3 * 2.0 / 4 * 1e-4 * 50 * 51 / 2, 1e-12, "way of the load");
  run_free(run);
}

/* A lever of weight m g at its middle, held level by a tendon from its end to a point above the hinge: T sin(a) L = m g
 * L / 2. */
static void tendons_L5_a_lever_in_balance(void** state) {
  (void)state;
  double tension = 0.5 * 2 * 9.81 / sin(atan2(0.75, 1.0));
  Run* run = run_create(
      1, 1e-12,
      "simulation: {dt: 0.01, steps: 40, integrator: first_order}\ncontact: {model: none}\n"
      "links:\n  - {name: lever, mass: 2, center: [0.5, 0, 0], inertia: [0.1, 0.1, 0.1, 0, 0, 0], joint: {type: hinge, "
      "axis: [0, 1, 0]}}\n"
      "tendons:\n  - points: [{link: world, point: [0, 0, 0.75]}, {link: lever, point: [1, 0, 0]}]\n    tension: "
      "%.17g\n",
      tension);
  run_steps(run, 40);
  compare_near(coordinates(run)[0], 0, 1e-12, "the lever stays");
  run_free(run);
}

/* Two weights on one elastic tendon over two posts: after the tendon has come to rest its pull is 2 m1 m2 g / (m1 +
 * m2). */
static void tendons_L5_two_weights_on_a_cord(void** state) {
  (void)state;
  Run* run = run_create(1, 1e-12,
                        "simulation: {dt: 0.002, steps: 300, integrator: first_order}\ncontact: {model: none}\n"
                        "links:\n"
                        "  - {name: left, mass: 1, " CUBE
                        ", joint: {type: slide, axis: [0, 0, 1]}}\n"
                        "  - {name: right, mass: 3, " CUBE
                        ", joint: {type: slide, axis: [0, 0, 1], position: [1, 0, 0]}}\n"
                        "tendons:\n  - points: [{link: left}, {point: [0, 0, 2]}, {point: [1, 0, 2]}, {link: right}]\n"
                        "    stiffness: 1.0e+4\n    rest_length: 5\n");
  run_steps(run, 300);
  const double* q = coordinates(run);
  double pull = 2 * 1 * 3 * 9.81 / 4, length = 1 + (2 - q[0]) + (2 - q[1]);
  compare_near(1e4 * (length - 5), pull, 1e-3 * pull, "pull of the tendon");
  /* they move as one mass of 4 kg with 2 kg g, but for the tendon's stretch */
  compare_near(q[0] - q[1], 9.81 * 0.5 * 0.002 * 0.002 * 300 * 301, 2e-3, "they pass each other");
  run_free(run);
}

static double energy_of(const Run* run) {
  SimMeasure m = sim_measure(run->sim);
  return m.kinetic + m.potential;
}

/* A double pendulum on a stretched tendon. */
static void tendons_L5_energy_stays(void** state) {
  (void)state;
  Run* run = run_create(
      1, 1e-12,
      "simulation: {dt: 0.0005, steps: 2000, integrator: second_order}\ncontact: {model: none}\n"
      "links:\n"
      "  - {name: arm, mass: 1, center: [0.2, 0, 0], inertia: [0.01, 0.02, 0.02, 0, 0, 0], joint: {type: universal, "
      "axes: [[0, 1, 0], [0, 0, 1]]}}\n"
      "  - {name: hand, parent: arm, mass: 0.5, center: [0.1, 0, 0], inertia: [0.002, 0.003, 0.003, 0, 0, 0], joint: "
      "{type: hinge, axis: [0, 1, 0], position: [0.4, 0, 0]}}\n"
      "tendons:\n"
      "  - points: [{point: [0, 0.2, 0.3]}, {link: arm, point: [0.3, 0, 0.05]}, {link: hand, point: [0.2, 0, 0]}]\n"
      "    stiffness: 60\n    rest_length: 0.3\n");
  run_steps(run, 1);
  double before = energy_of(run), worst = 0, most = 0;
  for (int k = 0; k < 1000; k++) {
    run_steps(run, 1);
    worst = fmax(worst, fabs(energy_of(run) - before));
    most = fmax(most, model_tendon_energy(&run->model, sim_state(run->sim)->pose, sim_state(run->sim)->q));
  }
  assert_true(most > 1);
  compare_at_most(worst, 0.02 * most, "energy of half a second (stored at most %g J)", most);
  run_free(run);
}

/* Between free bodies it is an inner force: momentum and angular momentum stay. */
static void tendons_L6_momentum_stays(void** state) {
  (void)state;
  Run* run = run_create(
      1, 1e-13,
      WEIGHTLESS("0.01", "100") "links:\n"
                                "  - {name: a, mass: 1, " CUBE "}\n"
                                "  - {name: b, mass: 2, " CUBE ", position: [1, 0.2, 0]}\n"
                                "  - {name: c, mass: 3, " CUBE ", position: [0.3, 1, 0.5]}\n"
                                "tendons:\n  - points: [{link: a, point: [0.05, 0.02, 0]}, {link: b, point: [0, 0.05, "
                                "0.05]}, {link: c, point: [0.03, 0, 0]}]\n"
                                "    tension: {type: sines, offset: 3, terms: [[{amplitude: 2, frequency: 1}]]}\n"
                                "    stiffness: 5\n    rest_length: 1\n");
  run_steps(run, 20);
  SimMeasure m = sim_measure(run->sim);
  compare_vec3(m.momentum, vec3(0, 0, 0), 1e-12, "momentum");
  assert_true(m.kinetic > 1);
  run_free(run);
}

/* Sets *angular and *energy to the changes in the second after the second step, of two free bodies on a tendon with
 * lever arms, without other forces. */
static void changes_without_other_forces(double dt, double* angular, double* energy) {
  Run* run = run_create(1, 1e-12,
                        "simulation: {dt: %.17g, steps: 1000, gravity: [0, 0, 0]}\ncontact: {model: none}\n"
                        "links:\n"
                        "  - {name: a, mass: 1, inertia: [0.02, 0.03, 0.04, 0, 0, 0]}\n"
                        "  - {name: b, mass: 2, inertia: [0.05, 0.04, 0.03, 0, 0, 0], position: [1, 0, 0]}\n"
                        "tendons:\n  - points: [{link: a, point: [0.1, 0.1, 0]}, {link: b, point: [-0.1, 0, 0.1]}]\n"
                        "    stiffness: 20\n    rest_length: 0.5\n"
                        "initial:\n  - {link: a, velocities: [0, 1, 0, 0, 2, 1]}\n",
                        dt);
  run_steps(run, 2);
  SimMeasure first = sim_measure(run->sim);
  run_steps(run, (int)lround(1 / dt));
  SimMeasure last = sim_measure(run->sim);
  *angular = vec3_norm(vec3_sub(last.angular_momentum, first.angular_momentum));
  *energy = fabs(last.total - first.total);
  run_free(run);
}

/* The forces of a tendon act in their directions at t: both changes are of second order in the time step. */
static void tendons_L21_changes_of_second_order(void** state) {
  (void)state;
  double angular[2], energy[2];
  for (int k = 0; k < 2; k++) changes_without_other_forces(k == 0 ? 0.01 : 0.005, &angular[k], &energy[k]);
  compare_at_most(angular[0], 0.01, "change of the angular momentum at 10 ms [kg m^2/s]");
  compare_at_most(energy[0], 0.02, "change of the energy at 10 ms [J]");
  compare_at_most(angular[1], 0.35 * angular[0], "change of the angular momentum at 5 ms");
  compare_at_most(energy[1], 0.35 * energy[0], "change of the energy at 5 ms");
}

/* At rest: every hinge of stiffness k carries T d, whatever hangs on it, so each turns by T d / k where the tendon runs
 * close along them: the exact balance of one hinge between plates whose holes are at (-+h, d) is
 * k q = T (derivative of the chord's length), chord^2 = (2 h cos(q/2) - 2 d sin(q/2))^2. */
static void tendons_L5_an_arm_curls(void** state) {
  (void)state;
  const double k = 0.5, d = 0.03, h = 0.05, tension = 8;
  double q = 0;
  for (int i = 0; i < 100; i++) q = tension * (h * sin(q / 2) + d * cos(q / 2)) / k;
  Run* run = run_create(
      1, 1e-12,
      WEIGHTLESS("0.05", "400") "links:\n  - {name: base, fixed: true}\n  - {name: \"arm{i}\", parent: \"arm{i-1}\", mass: 0.01, center: [0.05, 0, 0], "
                                "inertia: [1.0e-4, 1.0e-4, 1.0e-4, 0, 0, 0], joint: {type: hinge, axis: [0, 0, 1], "
                                "position: [0.1, 0, 0], stiffness: [0.5], damping: [0.05]}, repeat: {count: 5, first: "
                                "{parent: base, joint: {type: hinge, axis: [0, 0, 1], stiffness: [0.5], damping: "
                                "[0.05]}}}}\n"
                                "tendons:\n  - points: [{point: [-0.05, 0.03, 0]}, {link: \"arm{i}\", point: [0.05, 0.03, "
                                "0], repeat: {count: 5}}]\n    tension: 8\n");
  run_steps(run, 400);
  for (int i = 0; i < 5; i++) compare_near(coordinates(run)[i], q, 1e-9, "hinge %d", i);
  run_free(run);
}

/* Slack: it does not push, and has neither energy nor terms. */
static void tendons_L5_loose(void** state) {
  (void)state;
  Run* run = run_create(
      1, 1e-12,
      WEIGHTLESS("0.01", "10") "links:\n  - {name: load, mass: 1, " CUBE
                               "}\n"
                               "tendons:\n  - points: [{link: load}, {point: [1, 0, 0]}]\n    stiffness: 100\n    "
                               "rest_length: 1.5\n");
  run_steps(run, 10);
  compare_near(coordinates(run)[0], 0, 0, "it stays");
  compare_near(model_tendon_energy(&run->model, sim_state(run->sim)->pose, sim_state(run->sim)->q), 0, 0,
               "nothing is stored");
  run_free(run);
}

/* Inside an eyelet: a smooth length, from which it goes on as the distance with equal slope and curvature. */
static void tendons_L5_a_piece_in_an_eyelet(void** state) {
  (void)state;
  const double eyelet = 0.02, h = 1e-6;
  for (int k = 0; k < 40; k++) {
    Vec3 d = vec3_scale(vec3(0.6, -0.48, 0.64), eyelet * 0.05 * k);
    TendonPiece here = tendon_piece(d, eyelet);
    if (k >= 20) compare_near(here.length, vec3_norm(d), 1e-15, "beyond it the length is the distance");
    for (int i = 0; i < 3; i++) {
      Vec3 step = vec3(h * (i == 0), h * (i == 1), h * (i == 2));
      TendonPiece a = tendon_piece(vec3_sub(d, step), eyelet), b = tendon_piece(vec3_add(d, step), eyelet);
      double own[3], by[3];
      vec3_store(here.slope, own);
      compare_near((b.length - a.length) / (2 * h), own[i], 1e-9, "slope at %d twentieths", k);
      vec3_store(vec3_scale(vec3_sub(b.slope, a.slope), 1 / (2 * h)), by);
      for (int j = 0; j < 3; j++) /* the curvature's own slope jumps at the border */
        compare_near(by[j], here.curvature.m[j][i], k == 20 ? 1e-2 : 1e-5, "curvature at %d twentieths", k);
    }
  }
}

/* Two plates drawn together until their holes, at (-+h, d) of the hinge between them, lie on each other: q = 2 atan(h /
 * d) at any tension that is strong enough. Without an eyelet there would be no balance, but a corner of the energy. */
static void tendons_L5_plates_that_fold(void** state) {
  (void)state;
  for (int tension = 5; tension <= 80; tension *= 4) {
    Run* run = run_create(1, 1e-10,
                          WEIGHTLESS("0.004", "200") "links:\n  - {name: base, fixed: true}\n  - {name: plate, parent: base, mass: 0.02, "
                                                     "center: [0.03, 0, 0], inertia: [1.0e-5, 1.0e-5, 1.0e-5, 0, 0, "
                                                     "0], joint: {type: hinge, axis: [0, 0, 1], damping: 0.002}}\n"
                                                     "tendons:\n  - points: [{link: base, point: [-0.03, 0.01, 0]}, "
                                                     "{link: plate, point: [0.03, 0.01, 0]}]\n    tension: %d\n",
                          tension);
    run_steps(run, 200);
    compare_near(coordinates(run)[0], 2 * atan2(0.03, 0.01), 1e-9, "folded by %d N", tension);
    run_free(run);
  }
}

/* Between free bodies, one of them what it goes round: momentum stays, and angular momentum as well as the step has it.
 */
static void tendons_L8_momentum_stays(void** state) {
  (void)state;
  static const char* const types[] = {"cylinder", "sphere"};
  for (int k = 0; k < 2; k++) {
    Run* run = run_create(
        1, 1e-13,
        WEIGHTLESS("0.001", "200") "links:\n"
                                  "  - {name: a, mass: 1, " CUBE ", position: [-1, 0, 0.1]}\n"
                                  "  - {name: b, mass: 2, " CUBE ", position: [1, 0.2, 0]}\n"
                                  "  - {name: c, mass: 3, " CUBE ", position: [0, -0.1, 0.02]}\n"
                                  "tendons:\n  - points: [{link: a, point: [0.05, 0.02, 0]}, {link: b, point: [0, 0.05, "
                                  "0.05]}]\n"
                                  "    wrap: [{type: %s, link: c, radius: 0.3, position: [0.02, 0, 0.03]}]\n"
                                  "    tension: 3\n    stiffness: 5\n    rest_length: 1\n",
        types[k]);
    run_steps(run, 200);
    SimMeasure m = sim_measure(run->sim);
    compare_vec3(m.momentum, vec3(0, 0, 0), 1e-11, "momentum");
    compare_vec3(m.angular_momentum, vec3(0, 0, 0), 2e-3, "angular momentum");
    assert_true(m.kinetic > 0.1);
    run_free(run);
  }
}

/* A cylinder about the axis of a hinge: the moment arm is its radius at every angle, so a constant tension is a
 * constant torque. Steps of first order: angle T r / I dt^2 n (n + 1) / 2. */
static void tendons_L8_the_arm_is_the_radius(void** state) {
  (void)state;
  const double tension = 0.5, radius = 0.04, inertia = 0.02;
  Run* run = run_create(
      1, 1e-13,
      WEIGHTLESS("0.01", "150") "links:\n  - {name: lever, mass: 1, center: [0, 0, 0], inertia: [0.02, 0.02, 0.02, 0, 0, "
                                "0], joint: {type: hinge, axis: [0, 1, 0]}}\n"
                                "tendons:\n  - points: [{link: lever, point: [0.06, 0.01, 0]}, {point: [-0.3, 0, 0.04]}]\n"
                                "    wrap: [{type: cylinder, radius: %g, axis: [0, 1, 0]}]\n    tension: %g\n",
      radius, tension);
  run_steps(run, 100);
  double q = coordinates(run)[0], free = acos(radius / 0.06);
  /* the run along the axis is 1 cm of some 30 cm: the pull's part across it */
  assert_true(fabs(q) > 0.3 && fabs(q) < M_PI / 2 - free + 2);
  compare_near(fabs(q), tension * radius / inertia * 1e-4 * 100 * 101 / 2, 2e-3 * fabs(q), "angle");
  run_free(run);
}

/* Atwood: two weights over a pulley without friction, the tendon stiff: (m2 - m1) g / (m1 + m2), and the pulley carries
 * nothing but the sum of the pulls. */
static void tendons_L8_two_weights_over_a_pulley(void** state) {
  (void)state;
  Run* run =
      run_create(1, 1e-12,
                 "simulation: {dt: 0.002, steps: 300, integrator: first_order}\ncontact: {model: none}\n"
                 "links:\n"
                 "  - {name: left, mass: 1, " CUBE
                 ", joint: {type: slide, axis: [0, 0, 1], position: [-0.2, 0, 0]}}\n"
                 "  - {name: right, mass: 3, " CUBE
                 ", joint: {type: slide, axis: [0, 0, 1], position: [0.2, 0, 0]}}\n"
                 "tendons:\n  - points: [{link: left}, {link: right}]\n"
                 "    wrap: [{type: cylinder, radius: 0.2, position: [0, 0, 2], axis: [0, 1, 0], side: [0, 0, 3]}]\n"
                 "    stiffness: 1.0e+4\n    rest_length: %.17g\n",
                 4 + 0.2 * M_PI);
  run_steps(run, 300);
  const double* q = coordinates(run);
  double pull = 2 * 1 * 3 * 9.81 / 4, length = 0.2 * M_PI + (2 - q[0]) + (2 - q[1]);
  compare_near(1e4 * (length - 4 - 0.2 * M_PI), pull, 1e-3 * pull, "pull of the tendon");
  compare_near(q[0] - q[1], 9.81 * 0.5 * 0.002 * 0.002 * 300 * 301, 2e-3, "they pass each other");
  run_free(run);
}

/* A weight m g on limits of stiffness k and margin m comes to rest where k (over - m / 2) = m g: hanging below the high
 * one, and standing on the low one of the same tendon, which then pushes. */
static void tendons_L94_a_weight_rests_on_a_limit(void** state) {
  (void)state;
  const double sag = 2 * 9.81 / 5e3 + 0.5 * 2e-3;
  for (int side = 0; side < 2; side++) {
    Run* run = run_create(1, 1e-12,
                          "simulation: {dt: 0.002, steps: 500}\ncontact: {model: none}\n"
                          "links:\n  - {name: load, mass: 2, " CUBE
                          ", joint: {type: slide, axis: [0, 0, 1], position: [0, 0, %g]}}\n"
                          "tendons:\n  - points: [{point: [0, 0, 0]}, {link: load}]\n    range: [0.3, 0.5]\n"
                          "    range_stiffness: 5.0e+3\n    range_damping: 100\n",
                          side == 0 ? 0.4 : -0.4);
    run_steps(run, 500);
    compare_near(coordinates(run)[0], (side == 0 ? 0.3 - 0.4 : 0.4 - 0.5) - sag, 2e-5, "rests");
    run_free(run);
  }
}

/* Without gravity a mass that enters a damped limit comes back with exp(-pi z / sqrt(1 - z^2)) of its speed. */
static void tendons_L94_speed_after_a_limit(void** state) {
  (void)state;
  const double ratios[] = {0, 0.2, 0.6};
  for (int k = 0; k < 3; k++) {
    double z = ratios[k];
    Run* run = run_create(1, 1e-12,
                          "simulation: {dt: 0.0002, steps: 1000, gravity: [0, 0, 0], integrator: second_order}\n"
                          "contact: {model: none}\n"
                          "links:\n  - {name: load, mass: 1, " CUBE
                          ", joint: {type: slide, axis: [1, 0, 0]}}\n"
                          "tendons:\n  - points: [{point: [-1, 0, 0]}, {link: load}]\n    range: [null, 1.1]\n"
                          "    range_stiffness: 1.0e+4\n    range_margin: 1.0e-4\n    range_damping: %g\n"
                          "initial:\n  - {link: load, velocities: [2]}\n",
                          2 * z * 100);
    run_steps(run, 1000);
    compare_near(sim_state(run->sim)->rate[0], -2 * exp(-M_PI * z / sqrt(1 - z * z)), 0.03, "speed after the limit");
    run_free(run);
  }
}

/* A tendon over two joints: pull times ratio on each. Two free masses keep m1 v1 / ratio1 = m2 v2 / ratio2, and the sum
 * of the ways stops at the limit. */
static void tendons_L95_a_sum_of_joints(void** state) {
  (void)state;
  Run* run = run_create(1, 1e-12,
                        WEIGHTLESS("0.001", "1000") "links:\n  - {name: a, mass: 1, " CUBE
                                                    ", joint: {type: slide, axis: [1, 0, 0]}}\n"
                                                    "  - {name: b, mass: 3, " CUBE
                                                    ", joint: {type: slide, axis: [0, 1, 0]}}\n"
                                                    "tendons:\n  - joints: [{link: a, ratio: -2}, {link: b}]\n"
                                                    "    tension: 6\n    range: [-0.5, null]\n"
                                                    "    range_stiffness: 1.0e+4\n    range_damping: 100\n");
  run_steps(run, 100);
  const double* q = coordinates(run);
  compare_near(q[0], 2 * 6.0 / 1 * 1e-6 * 100 * 101 / 2, 1e-3 * q[0], "a, pulled with twice the tension");
  compare_near(q[1], -6.0 / 3 * 1e-6 * 100 * 101 / 2, 1e-3 * fabs(q[1]), "b");
  run_steps(run, 900);
  compare_near(-2 * q[0] + q[1], -0.5 - sqrt(2 * 0.005 * 6 / 1e4), 1e-6, "they stop together");
  compare_near(q[0] / 2, -3 * q[1], 1e-9, "shares of the ways");
  run_free(run);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(tendons_L94_a_weight_rests_on_a_limit),
      cmocka_unit_test(tendons_L94_speed_after_a_limit),
      cmocka_unit_test(tendons_L95_a_sum_of_joints),
      cmocka_unit_test(tendons_L5_block_and_tackle),
      cmocka_unit_test(tendons_L5_a_lever_in_balance),
      cmocka_unit_test(tendons_L5_two_weights_on_a_cord),
      cmocka_unit_test(tendons_L5_energy_stays),
      cmocka_unit_test(tendons_L6_momentum_stays),
      cmocka_unit_test(tendons_L21_changes_of_second_order),
      cmocka_unit_test(tendons_L5_an_arm_curls),
      cmocka_unit_test(tendons_L5_loose),
      cmocka_unit_test(tendons_L5_a_piece_in_an_eyelet),
      cmocka_unit_test(tendons_L5_plates_that_fold),
      cmocka_unit_test(tendons_L8_momentum_stays),
      cmocka_unit_test(tendons_L8_the_arm_is_the_radius),
      cmocka_unit_test(tendons_L8_two_weights_over_a_pulley),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

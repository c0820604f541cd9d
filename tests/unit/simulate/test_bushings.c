/* Tests bushings: closed forms (six frequencies, a torsion bar, a preload's rest pose, a damper's decay), momentum
 * conservation, derivatives of the energy against differences, and refused matrices. */
#include <string.h>

#include "simulate/bushings.h"
#include "support/runs.h"

#define WEIGHTLESS(dt, steps) "simulation: {dt: " dt ", steps: " steps ", gravity: [0, 0, 0]}\ncontact: {model: none}\n"
#define BODY "mass: 2, center: [0, 0, 0], inertia: [0.02, 0.03, 0.04, 0, 0, 0]"
#define PI 3.14159265358979324

static const double* coordinates(const Run* run) { return sim_state(run->sim)->q; }

/* Rotation vector of a free joint's quaternion behind three slides. */
static double coordinate_of(const Run* run, int k) {
  const double* q = coordinates(run);
  if (k < 3) return q[k];
  double turn[3];
  vec3_store(quat_log(quat_at(q + 3)), turn);
  return turn[k - 3];
}

/* First time at which the oscillation comes back through zero, which is half a period, from two states. */
static double half_period(Run* run, int k, double dt, int most) {
  run_steps(run, 1);
  double now = coordinate_of(run, k);
  for (int n = 1; n < most; n++) {
    double before = now;
    run_steps(run, 1);
    now = coordinate_of(run, k);
    if (before > 0 && now <= 0) return dt * (n + before / (before - now));
  }
  return (double)NAN;
}

/* Of a body whose centre of mass is where its bushing is: sqrt(k / m), sqrt(k / I). */
static void bushings_L18_six_frequencies(void** state) {
  (void)state;
  const double stiffness[6] = {200, 300, 400, 2, 3, 5}, inertia[6] = {2, 2, 2, 0.02, 0.03, 0.04};
  for (int k = 0; k < 6; k++) {
    double rate[6] = {0};
    rate[k] = 0.01;
    Run* run = run_create(1, 1e-12,
                          WEIGHTLESS("0.002", "400") "links:\n  - {name: body, " BODY
                                                     "}\n"
                                                     "bushings:\n  - {a: body, frame_b: {}, stiffness: [200, 300, 400, "
                                                     "2, 3, 5]}\n"
                                                     "initial:\n  - {link: body, velocities: [%g, %g, %g, %g, %g, "
                                                     "%g]}\n",
                          rate[0], rate[1], rate[2], rate[3], rate[4], rate[5]);
    double expected = PI / sqrt(stiffness[k] / inertia[k]);
    compare_near(half_period(run, k, 0.002, 400), expected, 1e-3 * expected, "half a period of direction %d", k);
    run_free(run);
  }
}

/* A spring of 8 rad a step: x'' = -w^2 (a x+ + b x + c x- + d x--), by (z + 4/5)^2 (z + 1/8) over its value at z = 1. A
 * slow one: x'' = -w^2 (x+ + 2 x + x-) / 4. */
static void bushings_L20_recurrence(void** state) {
  (void)state;
  static const double by[2][4] = {{0.25, 0.5, 0.25, 0}, {1000 / 3645.0, 1725 / 3645.0, 840 / 3645.0, 80 / 3645.0}};
  for (int fast = 0; fast < 2; fast++) {
    const double w = fast ? 800 : 40, dt = 0.01;
    Run* run = run_create(1, 1e-13,
                          WEIGHTLESS("0.01", "20") "links:\n  - {name: body, " BODY
                                                   "}\n"
                                                   "bushings:\n  - {a: body, frame_b: {}, stiffness: [%.17g, 0, 0, 0, "
                                                   "0, 0]}\n"
                                                   "initial:\n  - {link: body, velocities: [1, 0, 0, 0, 0, 0]}\n",
                          2 * w * w);
    double x[16] = {0};
    for (int n = 1; n < 16; n++) {
      run_steps(run, 1);
      x[n] = coordinates(run)[0];
    }
    for (int n = 4; n < 16; n++) {
      double mean = by[fast][0] * x[n] + by[fast][1] * x[n - 1] + by[fast][2] * x[n - 2] + by[fast][3] * x[n - 3];
      compare_near(x[n] - 2 * x[n - 1] + x[n - 2], -w * w * dt * dt * mean, 1e-12, "w = %g, step %d", w, n);
    }
    assert_true(fabs(x[4]) > 1e-7);
    run_free(run);
  }
}

/* Wheel on an arm that a torsion bar holds: period 2 pi sqrt(I / k), at an angle of 1 rad too: the bar is linear. */
static void bushings_L18_torsion_bar(void** state) {
  (void)state;
  Run* run = run_create(1, 1e-12,
                        WEIGHTLESS("0.002", "1000") "links:\n  - {name: arm, mass: 3, center: [0.2, 0, 0], inertia: "
                                                    "[0.01, 0.05, 0.05, 0, 0, 0], joint: {type: hinge, axis: [0, 1, "
                                                    "0]}}\n"
                                                    "bushings:\n  - {a: arm, frame_b: {}, stiffness: [0, 0, 0, 0, 4, "
                                                    "0]}\n"
                                                    "initial:\n  - {link: arm, velocities: [5]}\n");
  double expected = PI * sqrt((0.05 + 3 * 0.04) / 4), most = 0;
  double before = 0, now = 0, found = (double)NAN;
  for (int n = 0; n < 400 && isnan(found); n++) {
    before = now;
    run_steps(run, 1);
    now = coordinates(run)[0];
    most = fmax(most, now);
    if (n > 0 && before > 0 && now <= 0) found = 0.002 * (n + before / (before - now));
  }
  assert_true(most > 0.9);
  compare_near(found, expected, 1e-3 * expected, "half a period");
  run_free(run);
}

/* Force and torque on b while the frames coincide: a's weight rests where stiffness u = preload + weight. */
static void bushings_L18_preload_at_rest(void** state) {
  (void)state;
  Run* run = run_create(1, 1e-10,
                        "simulation: {dt: 0.01, steps: 800}\ncontact: {model: none}\n"
                        "links:\n  - {name: body, " BODY
                        "}\n"
                        "bushings:\n  - {a: body, frame_b: {position: [0, 0, 0.1]}, stiffness: [200, 200, 400, 5, 5, "
                        "5], damping: [20, 20, 40, 0.3, 0.3, 0.3], preload: [0, 0, -10, 0, 0, 0.5]}\n");
  run_steps(run, 800);
  const double* q = coordinates(run);
  compare_near(q[2], 0.1 - (2 * 9.81 - 10) / 400, 1e-8, "height");
  compare_vec3(quat_log(quat_at(q + 3)), vec3(0, 0, -0.1), 1e-8, "torsion by the preload's torque");
  run_free(run);
}

/* m x'' = -c x': the speed falls as exp(-c t / m). */
static void bushings_L18_damper(void** state) {
  (void)state;
  Run* run = run_create(1, 1e-12,
                        WEIGHTLESS("0.001", "500") "links:\n  - {name: body, " BODY
                                                   "}\n"
                                                   "bushings:\n  - {a: body, frame_b: {}, stiffness: [0, 0, 0, 0, 0, "
                                                   "0], damping: [4, 0, 0, 0, 0, 0]}\n"
                                                   "initial:\n  - {link: body, velocities: [1, 0, 0, 0, 0, 0]}\n");
  run_steps(run, 500);
  compare_near(coordinates(run)[0], 0.5 * (1 - exp(-1.0)), 1e-3, "way in half a second");
  run_free(run);
}

/* Two free bodies, full matrices, far from rest: all forces are inner ones. */
static void bushings_L18_momentum_stays(void** state) {
  (void)state;
  Run* run = run_create(
      1, 1e-13,
      WEIGHTLESS("0.005", "100") "links:\n  - {name: a, " BODY
                                 "}\n"
                                 "  - {name: b, mass: 1, center: [0.1, 0, 0], inertia: [0.01, 0.02, 0.02, 0, 0, 0], "
                                 "position: [0.4, 0.1, 0]}\n"
                                 "bushings:\n"
                                 "  - a: a\n    b: b\n    frame_a: {position: [0.1, 0, 0.05], rpy: [0.3, 0.2, 0.1]}\n"
                                 "    frame_b: {position: [-0.1, 0.02, 0], rpy: [0.5, -0.6, 0.9]}\n"
                                 "    stiffness: [[90, 5, 0, 1, 0, 0], [5, 80, 0, 0, 2, 0], [0, 0, 70, 0, 0, 0], [1, "
                                 "0, 0, 3, 0, 0], [0, 2, 0, 0, 4, 0.5], [0, 0, 0, 0, 0.5, 2]]\n"
                                 "    damping: [1, 1, 1, 0.01, 0.01, 0.01]\n"
                                 "    preload: [2, -1, 1, 0.1, 0.2, -0.1]\n");
  run_steps(run, 60);
  SimMeasure m = sim_measure(run->sim);
  assert_true(m.kinetic > 0.1);
  compare_vec3(m.momentum, vec3(0, 0, 0), 1e-11, "momentum");
  run_free(run);
}

/* Gradient and Hessian by both twists are differences of the energy along exp(w), v. */
static void bushings_L18_terms_are_slopes(void** state) {
  (void)state;
  Run* run = run_create(
      1, 1e-12,
      "simulation: {dt: 0.01, steps: 2, gravity: [0, 0, 0]}\ncontact: {model: none}\n"
      "links:\n  - {name: a, " BODY
      "}\n"
      "  - {name: b, mass: 1, center: [0.1, 0, 0], inertia: [0.01, 0.02, 0.02, 0, 0, 0], position: [0.4, 0.1, 0]}\n"
      "bushings:\n"
      "  - {a: a, b: b, frame_a: {position: [0.1, 0, 0.05], rpy: [0.3, 0.2, 0.1]}, frame_b: {position: [-0.1, 0.02, "
      "0], rpy: [0.9, -1, 0.9]}, stiffness: [90, 80, 70, 3, 4, 2], damping: [1, 2, 3, 0.1, 0.2, 0.3], preload: [2, "
      "-1, 1, 0.1, 0.2, -0.1]}\n"
      "initial:\n  - {link: b, velocities: [0.5, 0, 1, 2, 0, 1]}\n");
  run_steps(run, 1);
  Sim* s = run->sim;
  Pose start[2], pose[2] = {sim_state(s)->pose[0], sim_state(s)->pose[1]};
  Vec3 center[2];
  memcpy(start, pose, sizeof start);
  for (int i = 0; i < 2; i++) center[i] = pose_apply(pose[i], run->model.links[i].center);
  bushings_prepare_step(s);
  bushings_assemble(s->bushings, pose, center);
  BushingTerm term = s->bushings->term[0];
  Vec3 torque = vec3(0, 0, 0);
  for (int k = 0; k < 2; k++)
    torque = vec3_add(torque, vec3_add(mat3_axial(term.moment[k]), vec3_cross(center[k], term.force[k])));
  compare_vec3(vec3_add(term.force[0], term.force[1]), vec3(0, 0, 0), 1e-13, "sum of forces");
  compare_vec3(torque, vec3(0, 0, 0), 1e-13, "sum of torques about the world's origin");
  const double h = 1e-4;
  for (int i = 0; i < 12; i++)
    for (int j = 0; j <= i; j++) {
      double energy[2][2];
      for (int n = 0; n < 4; n++) {
        double step[12] = {0};
        step[i] += n & 1 ? h : -h;
        step[j] += n & 2 ? h : -h;
        for (int k = 0; k < 2; k++) {
          Mat3 turn = mat3_from_quat(quat_exp(vec3_at(step + 6 * k)));
          pose[k].r = mat3_mul(turn, start[k].r);
          Vec3 moved = vec3_add(center[k], vec3_at(step + 6 * k + 3));
          pose[k].t = vec3_add(moved, mat3_mul_vec(turn, vec3_sub(start[k].t, center[k])));
        }
        bushings_energies(s->bushings, pose, &energy[n & 1][n >> 1]);
      }
      double second = (energy[1][1] - energy[1][0] - energy[0][1] + energy[0][0]) / (4 * h * h);
      compare_near(term.hessian[i][j], second, 2e-4 * (1 + fabs(second)), "Hessian %d %d", i, j);
      compare_near(term.hessian[i][j], term.hessian[j][i], 1e-11 * (1 + fabs(second)), "symmetry %d %d", i, j);
      if (i != j) continue;
      double slope[6], first = (energy[1][1] - energy[0][0]) / (4 * h);
      vec3_store(mat3_axial(term.moment[i / 6]), slope);
      vec3_store(term.force[i / 6], slope + 3);
      compare_near(slope[i % 6], first, 1e-5 * (1 + fabs(first)), "slope %d", i);
    }
  run_free(run);
}

static void refused(const char* bushing, const char* expected) {
  char text[1000];
  Scene scene = {0};
  Model model = {0};
  Diagnostics diagnostics = {0};
  snprintf(text, sizeof text,
           "simulation: {dt: 0.01, steps: 1}\ncontact: {model: none}\nlinks:\n  - {name: body, " BODY
           "}\nbushings:\n  - %s\n",
           bushing);
  Status status = scene_parse(&scene, "test.yaml", text, strlen(text), false, NULL, 0, &diagnostics);
  if (status == STATUS_OK) status = model_create(&model, &scene, &diagnostics);
  assert_int_equal(status, STATUS_BAD_INPUT);
  assert_true(diagnostics.error_count > 0);
  if (!strstr(diagnostics.items[0].text, expected))
    fail_msg("expected '%s', told '%s'", expected, diagnostics.items[0].text);
  model_destroy(&model);
  scene_free(&scene);
  diagnostics_free(&diagnostics);
}

static void bushings_are_refused(void** state) {
  (void)state;
  refused("{a: body, frame_b: {}, stiffness: [1, 1, 1, 1, 1, -1]}", "'stiffness' must have no negative eigenvalue");
  refused(
      "{a: body, frame_b: {}, stiffness: [[1, 0, 0, 0, 0, 0.5], [0, 1, 0, 0, 0, 0], [0, 0, 1, 0, 0, 0], [0, 0, 0, 1, "
      "0, 0], [0, 0, 0, 0, 1, 0], [0, 0, 0, 0, 0, 1]]}",
      "'stiffness' must be symmetric");
  refused("{a: body, frame_b: {}, stiffness: [1, 1, 1]}", "expected 6 numbers or 6 rows of 6 numbers, got 3");
  refused("{a: body, frame_b: {}, stiffness: [1, 1, 1, 1, 1, 1], preload: [1]}", "expected 6 numbers, three of force");
  refused("{a: body, frame_b: {rpy: [3.1, 0, 0]}, stiffness: [1, 1, 1, 1, 1, 1]}", "is 3.1 rad at the start");
  refused("{a: body, stiffness: [1, 1, 1, 1, 1, 1]}", "'frame_b' is missing");
  refused("{a: body, b: body, frame_b: {}, stiffness: [1, 1, 1, 1, 1, 1]}", "cannot join a link to itself");
  refused("{a: world, frame_b: {}, stiffness: [1, 1, 1, 1, 1, 1]}", "'a' must be a link");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(bushings_L18_six_frequencies),  cmocka_unit_test(bushings_L20_recurrence),
      cmocka_unit_test(bushings_L18_torsion_bar),      cmocka_unit_test(bushings_L18_preload_at_rest),
      cmocka_unit_test(bushings_L18_damper),           cmocka_unit_test(bushings_L18_momentum_stays),
      cmocka_unit_test(bushings_L18_terms_are_slopes), cmocka_unit_test(bushings_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Tests elastic rods: closed forms of bending, torsion, stretching, buckling, a helical spring and a hanging cable. The
 * tests integrate the catenary and the elastica. */
#include "support/runs.h"

#define PI 3.14159265358979324
#define SLOW "simulation: {dt: 0.01, steps: 2000, gravity: [%g, 0, %g]}\ncontact: {model: none}\nlinks: []\n"

static Pose pose_of(const Run* run, int link) { return sim_state(run->sim)->pose[link]; }

static Vec3 end_of(const Run* run, int link, double length) {
  return pose_apply(pose_of(run, link), vec3(0, 0, length / 2));
}

/* Bar of 1 m along x, radius 10 mm, 1e8 Pa: E I = pi / 4 N m^2, with a force and a torque on the free end. */
static Run* cantilever(int segments, Vec3 force, Vec3 torque) {
  Run* run = run_create(1, 1e-12,
                        SLOW
                        "rods: [{name: r, points: [[0, 0, 0], [1, 0, 0]], segments: %d, radius: 0.01, young: 1.0e8, "
                        "shear: 4.0e7, density: 1000, damping: 0.2, from: {}}]\n"
                        "loads: [{link: r_%d, point: [0, 0, %.17g], force: [%.17g, %.17g, %.17g], torque: [%.17g, "
                        "%.17g, %.17g]}]\n",
                        0.0, 0.0, segments, segments - 1, 0.5 / segments, force.x, force.y, force.z, torque.x, torque.y,
                        torque.z);
  run_steps(run, 2000);
  return run;
}

/* F L^3 / 3 E I (1 + 1 / 2 n^2) + the shear's F L / 0.9 G A (1 - 1 / 2 n), small F. */
static void rods_L50_cantilever(void** state) {
  (void)state;
  for (int n = 4; n <= 12; n += 8) {
    const double f = 1e-3;
    Run* run = cantilever(n, vec3(0, 0, f), vec3(0, 0, 0));
    double bending = f / (3 * PI / 4) * (1 + 0.5 / (n * n)), shear = f / (0.9 * 4e7 * PI * 1e-4) * (1 - 0.5 / n);
    compare_near(end_of(run, n - 1, 1.0 / n).z, bending + shear, 1e-5 * bending, "deflection of %d segments", n);
    run_free(run);
  }
}

/* T x / G J at the middle of the last segment, x = L - L / 2 n; F x / E A likewise. */
static void rods_L50_torsion_and_stretching(void** state) {
  (void)state;
  const double torque = 0.2, force = 50;
  Run* run = cantilever(8, vec3(force, 0, 0), vec3(torque, 0, 0));
  Pose pose = pose_of(run, 7);
  double angle = atan2(pose.r.m[2][1], pose.r.m[1][1]); /* y stays across the rod */
  compare_near(fabs(angle), torque * (1 - 1.0 / 16) / (4e7 * PI / 2 * 1e-8), 1e-6, "twist");
  compare_near(pose.t.x - (1 - 1.0 / 16), force * (1 - 1.0 / 16) / (1e8 * PI * 1e-4), 1e-8, "stretching");
  run_free(run);
}

/* Tip of the elastica theta'' = -a cos theta, theta(0) = 0, theta'(1) = 0, by shooting. */
static Vec3 elastica(double a) {
  double low = 0, high = 10, s[4] = {0};
  for (int trial = 0; trial < 60; trial++) {
    double start = 0.5 * (low + high), h = 1e-3;
    for (int i = 0; i < 4; i++) s[i] = i == 1 ? start : 0;
    for (int n = 0; n < 1000; n++) {
      double k[4][4], at[4];
      for (int stage = 0; stage < 4; stage++) {
        for (int i = 0; i < 4; i++) at[i] = s[i] + (stage == 0 ? 0 : (stage == 3 ? h : h / 2) * k[stage - 1][i]);
        const double rate[4] = {at[1], -a * cos(at[0]), cos(at[0]), sin(at[0])};
        for (int i = 0; i < 4; i++) k[stage][i] = rate[i];
      }
      for (int i = 0; i < 4; i++) s[i] += h / 6 * (k[0][i] + 2 * k[1][i] + 2 * k[2][i] + k[3][i]);
    }
    if (s[1] > 0)
      high = start;
    else
      low = start;
  }
  return vec3(s[2], 0, s[3]);
}

static void rods_L50_elastica(void** state) {
  (void)state;
  Run* run = cantilever(24, vec3(0, 0, 5 * PI / 4), vec3(0, 0, 0));
  Vec3 tip = end_of(run, 23, 1.0 / 24), right = elastica(5);
  compare_near(right.z, 0.7137915, 1e-6, "the elastica itself");
  compare_vec3(tip, right, 2e-3, "tip"); /* shear and stretching move it by 3e-4 */
  run_free(run);
}

/* Deflection of a pinned column under p times Euler's load pi^2 E I / L^2, with a push of a thousandth across. */
static double buckled(double p) {
  Run* run = run_create(
      1, 1e-12,
      SLOW
      "rods: [{name: r, points: [[0, 0, 0], [1, 0, 0]], segments: 12, radius: 0.01, young: 1.0e8, density: 1000, "
      "damping: 0.05, from: {type: pinned}}]\n"
      "loads:\n  - {link: r_11, point: [0, 0, 0.04166666666666667], force: [%.17g, 0, 0]}\n"
      "  - {link: r_5, point: [0, 0, 0.04166666666666667], force: [0, 0, %.17g]}\n"
      "bushings: [{a: r_11, frame_a: {position: [0, 0, 0.04166666666666667], rotation_vector: [0, -1.5707963267948966, "
      "0]}, frame_b: {position: [1, 0, 0]}, stiffness: [0, 1.0e5, 1.0e5, 0, 0, 0]}]\n",
      0.0, 0.0, -p * PI * PI * PI / 4, 1e-4);
  run_steps(run, 2000);
  double z = end_of(run, 5, 1.0 / 12).z;
  run_free(run);
  return z;
}

/* Below the load it bends by the push over 1 - p, above it far. */
static void rods_L50_buckling(void** state) {
  (void)state;
  double straight = buckled(0), below = buckled(0.5);
  compare_near(straight, 1e-4 / (48 * PI / 4), 0.02 * straight, "push alone: F L^3 / 48 E I");
  compare_near(straight / below, 0.5, 0.02, "half of the load");
  compare_near(buckled(0.9) > 0 ? straight / buckled(0.9) : 1, 0.1, 0.02, "nine tenths of it");
  assert_true(buckled(1.02) > 0.05);
}

/* A cable of 1.2 m between points 0.8 m apart: sag a (cosh(0.4 / a) - 1), 2 a sinh(0.4 / a) = 1.2. */
static void rods_L50_catenary(void** state) {
  (void)state;
  Run* run = run_create(1, 1e-12,
                        SLOW
                        "rods: [{name: r, points: [[-0.4, 0, 0], [-0.3, 0, -0.3], [0.3, 0, -0.3], [0.4, 0, 0]], rest: "
                        "straight, segments: 40, radius: 0.001, young: 1.0e7, density: 3000, damping: 1, from: {type: "
                        "pinned}, to: {type: pinned}}]\n",
                        0.0, -9.81);
  run_steps(run, 2000);
  double length = 0.6 + 2 * sqrt(0.1), low = 0.05, high = 5, lowest = 0;
  for (int trial = 0; trial < 60; trial++) {
    double a = 0.5 * (low + high);
    if (2 * a * sinh(0.4 / a) > length)
      low = a;
    else
      high = a;
  }
  for (int i = 0; i < run->model.link_count; i++) lowest = fmin(lowest, pose_of(run, i).t.z);
  compare_near(lowest, -low * (cosh(0.4 / low) - 1), 2e-3, "sag");
  run_free(run);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(rods_L50_cantilever), cmocka_unit_test(rods_L50_torsion_and_stretching),
      cmocka_unit_test(rods_L50_elastica),   cmocka_unit_test(rods_L50_buckling),
      cmocka_unit_test(rods_L50_catenary),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

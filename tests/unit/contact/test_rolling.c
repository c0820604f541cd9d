/* Tests rolling and spinning friction of a pair against values by hand and finite differences. */
#include "contact/rolling.h"
#include "support/compare.h"

static Pose turned(Vec3 rotation) { return (Pose){mat3_from_quat(quat_exp(rotation)), {0.1, 0.2, 0.3}}; }

static void rolling_T1_worked_example(void** state) {
  (void)state;
  RollingParameters p = {0.1, 0.3, 0.5};
  RollingLag lag = {{mat3_identity(), mat3_identity()}, {0, 0, 1}, 2};
  Pose a = turned(vec3(0.6, 0, 0)), b = pose_identity();
  double wanted = sqrt(4 * sin(0.6) * sin(0.6) + 1e-4) - 0.01;
  compare_near(rolling_value(&lag, &p, &a, &b), 0.1 * wanted, 1e-15, "rolling");
  compare_near(0.1 * wanted, 0.111933, 1e-6, "as in the text");
  lag.normal = vec3(1, 0, 0);
  compare_near(rolling_value(&lag, &p, &a, &b), 0.3 * wanted, 1e-15, "spinning");
  compare_near(0.3 * wanted, 0.335798, 1e-6, "as in the text");
}

static Vec3 random_vec3(Random* random, double size) {
  double x = random_uniform(random, -size, size), y = random_uniform(random, -size, size);
  return vec3(x, y, random_uniform(random, -size, size));
}

/* R + h [w] R, which is no rotation: the energy's Hessian is for motion of first order. */
static Pose pushed(Pose pose, Vec3 w, double h) {
  pose.r = mat3_add(pose.r, mat3_scale(mat3_mul(mat3_cross(w), pose.r), h));
  return pose;
}

/* First and second derivatives along random rotations of both bodies. The error falls with the square of the step. */
static void rolling_T2_T3_derivatives_against_differences(void** state) {
  (void)state;
  for (uint64_t seed = 1; seed <= 20; seed++) {
    Random random = {seed};
    double size = seed % 4 == 0 ? 1e-4 : 0.3; /* also below the smoothing */
    RollingParameters p = {0.1, 0.3, 0.02};
    RollingLag lag = {
        {mat3_from_quat(quat_exp(random_vec3(&random, 2))), mat3_from_quat(quat_exp(random_vec3(&random, 2)))},
        vec3_normalized(random_vec3(&random, 1)),
        1.7};
    Pose pose[2], none = pose_identity();
    for (int i = 0; i < 2; i++)
      pose[i] = (Pose){mat3_mul(mat3_from_quat(quat_exp(random_vec3(&random, size))), lag.turn[i]), none.t};
    PairDerivatives d = {0};
    rolling_derivatives(&lag, &p, &pose[0], &pose[1], false, &d);
    Vec3 w[2] = {random_vec3(&random, 1), random_vec3(&random, 1)};
    double slope = 0, curve = 0;
    for (int i = 0; i < 12; i++)
      for (int k = 0; k < 12; k++) {
        if (i % 6 > 2 || k % 6 > 2) assert_true(d.hessian[i][k] == 0);
        if (i % 6 > 2 || k % 6 > 2) continue;
        compare_near(d.hessian[i][k], d.hessian[k][i], 1e-12 * (1 + fabs(d.hessian[i][k])), "symmetry");
        curve += (&w[i / 6].x)[i % 6] * d.hessian[i][k] * (&w[k / 6].x)[k % 6];
      }
    for (int i = 0; i < 2; i++) slope += vec3_dot(mat3_axial(d.moment[i]), w[i]);
    double best[2] = {INFINITY, INFINITY}, first[2] = {0};
    for (int k = 0; k < 5; k++) {
      double h = size * pow(10, -1.0 - 0.5 * k), e[3];
      for (int side = -1; side <= 1; side++) {
        Pose a = pushed(pose[0], w[0], side * h), b = pushed(pose[1], w[1], side * h);
        e[side + 1] = rolling_value(&lag, &p, &a, &b);
      }
      double error[2] = {fabs((e[2] - e[0]) / (2 * h) - slope), fabs((e[2] - 2 * e[1] + e[0]) / (h * h) - curve)};
      for (int n = 0; n < 2; n++) {
        if (k == 0) first[n] = error[n];
        best[n] = fmin(best[n], error[n]);
      }
    }
    if (!(best[0] <= 1e-6 * fabs(slope) + 1e-3 * first[0]))
      fail_msg("seed %lu: slope off by %g", (unsigned long)seed, best[0]);
    if (!(best[1] <= 1e-4 * fabs(curve) + 1e-2 * first[1]))
      fail_msg("seed %lu: curvature off by %g of %g", (unsigned long)seed, best[1], curve);
  }
}

/* A common rotation of both bodies causes no rolling. A rotation of the whole scene changes nothing. */
static void rolling_T1_invariance(void** state) {
  (void)state;
  Random random = {5};
  RollingParameters p = {0.1, 0.3, 0.02};
  RollingLag lag = {{mat3_identity(), mat3_identity()}, vec3_normalized(random_vec3(&random, 1)), 1};
  Pose a = turned(vec3(0.1, 0.2, 0.3)), b = a, still = pose_identity();
  compare_near(rolling_value(&lag, &p, &a, &b), 0, 1e-18, "both turn alike");
  double before = rolling_value(&lag, &p, &a, &still);
  Mat3 q = mat3_from_quat(quat_exp(random_vec3(&random, 2)));
  for (int i = 0; i < 2; i++) lag.turn[i] = mat3_mul(q, lag.turn[i]);
  lag.normal = mat3_mul_vec(q, lag.normal);
  a.r = mat3_mul(q, a.r);
  still.r = mat3_mul(q, still.r);
  compare_near(rolling_value(&lag, &p, &a, &still), before, 1e-14 * before, "in another frame");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(rolling_T1_worked_example),
      cmocka_unit_test(rolling_T2_T3_derivatives_against_differences),
      cmocka_unit_test(rolling_T1_invariance),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

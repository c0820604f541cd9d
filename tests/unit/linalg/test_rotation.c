#include "support/sweep.h"

#define PI 3.14159265358979323846

/* A few roundings of numbers of size one. */
#define ROUNDING 1e-14

static void expect_near(const char* what, double got, double expected, double tolerance) {
  if (!(fabs(got - expected) <= tolerance)) fail_msg("%s: got %.17g, expected %.17g", what, got, expected);
}

static void expect_vec(const char* what, Vec3 got, Vec3 expected, double tolerance) {
  expect_near(what, got.x, expected.x, tolerance);
  expect_near(what, got.y, expected.y, tolerance);
  expect_near(what, got.z, expected.z, tolerance);
}

static void expect_mat(const char* what, Mat3 got, Mat3 expected, double tolerance) {
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) expect_near(what, got.m[i][j], expected.m[i][j], tolerance);
}

static Vec3 random_direction(Random* random) {
  return vec3_normalized(vec3(random_normal(random), random_normal(random), random_normal(random)));
}

/* Rodrigues' formula: I + sin a [n]x + (1 - cos a) [n]x^2. */
static Mat3 rodrigues(Vec3 n, double angle) {
  Mat3 k = mat3_cross(n);
  return mat3_add(mat3_identity(), mat3_add(mat3_scale(k, sin(angle)), mat3_scale(mat3_mul(k, k), 1.0 - cos(angle))));
}

/* Both sides of the series switch, small and large angles, up to half a turn and beyond. */
static const double ANGLES[] = {0,         1e-300,    1e-160,     1e-20,     1e-8,     5e-5, 9.9e-5, 1e-4,
                                1.01e-4,   1.99e-4,   2.01e-4,    0.1,       1,        2,    3,      3.14,
                                PI - 1e-9, PI - 1e-4, PI - 1e-14, PI + 1e-4, 1.5 * PI, 6};
#define ANGLE_COUNT (int)(sizeof ANGLES / sizeof *ANGLES)

static void exp_matches_rodrigues(void** state) {
  (void)state;
  Random random = {3};
  for (int i = 0; i < 50; i++) {
    Vec3 n = random_direction(&random);
    for (int a = 0; a < ANGLE_COUNT; a++) {
      Quat q = quat_exp(vec3_scale(n, ANGLES[a]));
      expect_near("norm", q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z, 1.0, ROUNDING);
      expect_mat("exp", mat3_from_quat(q), rodrigues(n, ANGLES[a]), ROUNDING);
    }
  }
}

/* Against quat_about, relative to the angle: small rotations keep all their digits. */
static void log_inverts_a_rotation_about_an_axis(void** state) {
  (void)state;
  Random random = {4};
  for (int i = 0; i < 50; i++) {
    Vec3 n = random_direction(&random);
    for (int a = 0; a < ANGLE_COUNT && ANGLES[a] <= PI; a++) {
      Quat q = quat_about(n, ANGLES[a]);
      double tolerance = 1e-15 * 8 * ANGLES[a];
      expect_vec("log", quat_log(q), vec3_scale(n, ANGLES[a]), tolerance);
      Quat negated = {-q.w, -q.x, -q.y, -q.z};
      Vec3 turned = quat_log(negated);
      if (q.w > 1e-8) expect_vec("log of -q", turned, vec3_scale(n, ANGLES[a]), tolerance);
    }
    /* beyond pi the logarithm is the rotation by the short arc */
    expect_vec("log beyond pi", quat_log(quat_about(n, 1.5 * PI)), vec3_scale(n, -0.5 * PI), ROUNDING);
  }
}

static void log_of_half_a_turn_is_pi_long(void** state) {
  (void)state;
  expect_near("angle", vec3_norm(quat_log((Quat){0, 0, 1, 0})), PI, ROUNDING);
  expect_near("angle", vec3_norm(quat_log((Quat){-0.0, 0, -1, 0})), PI, ROUNDING);
  expect_vec("identity", quat_log(quat_identity()), vec3(0, 0, 0), 0);
  expect_vec("minus identity", quat_log((Quat){-1, 0, 0, 0}), vec3(0, 0, 0), 0);
}

static void from_mat3_gives_back_the_matrix(void** state) {
  (void)state;
  Random random = {5};
  for (int i = 0; i < 200; i++) {
    Vec3 n = random_direction(&random);
    for (int a = 0; a < ANGLE_COUNT; a++) {
      Mat3 r = rodrigues(n, ANGLES[a]);
      Quat q = quat_from_mat3(r);
      assert_true(q.w >= 0);
      expect_near("norm", q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z, 1.0, ROUNDING);
      expect_mat("matrix", mat3_from_quat(q), r, ROUNDING);
    }
  }
}

/* Rotations by pi about the coordinate axes and their diagonals reach all four branches and the ties between them. */
static void from_mat3_in_every_branch(void** state) {
  (void)state;
  for (int x = -1; x <= 1; x++)
    for (int y = -1; y <= 1; y++)
      for (int z = -1; z <= 1; z++) {
        if (x == 0 && y == 0 && z == 0) continue;
        Vec3 n = vec3_normalized(vec3(x, y, z));
        for (int turn = 0; turn <= 12; turn++) { /* 120 degrees about a diagonal ties all four */
          Mat3 r = rodrigues(n, turn * PI / 6);
          expect_mat("matrix", mat3_from_quat(quat_from_mat3(r)), r, ROUNDING);
        }
      }
}

/* A matrix that is a rotation only to 1e-6 still gives a unit quaternion. */
static void from_mat3_normalizes(void** state) {
  (void)state;
  Mat3 r = mat3_scale(rodrigues(vec3_normalized(vec3(1, 2, 3)), 2.0), 1 + 1e-6);
  Quat q = quat_from_mat3(r);
  expect_near("norm", q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z, 1.0, ROUNDING);
  expect_mat("matrix", mat3_from_quat(q), r, 1e-5);
}

/* ---------------------------------------------------------------- rates of rotation vectors */

/* Both sides of where the series of J_r ends (0.1), up to beyond half a turn. */
static const double RATE_ANGLES[] = {0, 1e-9, 1e-3, 0.05, 0.0999, 0.1001, 0.2, 1, 2, 3, 3.14, 4, 6};
enum { RATE_ANGLE_COUNT = sizeof RATE_ANGLES / sizeof *RATE_ANGLES };

/* Rotation vector from exp(v) to exp(v + d), in the axes of the first: J_r(v) d to first order. */
static bool turn_between(void* context, const double* d, double* y) {
  Vec3 v = *(Vec3*)context, moved = vec3_add(v, vec3(d[0], d[1], d[2]));
  Vec3 turn = quat_log(quat_mul(quat_conjugate(quat_exp(v)), quat_exp(moved)));
  y[0] = turn.x, y[1] = turn.y, y[2] = turn.z;
  return true;
}

static void rotation_rate_A3_is_the_turning_of_the_exponential(void** state) {
  (void)state;
  Random random = {6};
  for (int k = 0; k < RATE_ANGLE_COUNT; k++) {
    Vec3 v = vec3_scale(random_direction(&random), RATE_ANGLES[k]);
    double jacobian[9];
    for (int j = 0; j < 3; j++) {
      Vec3 column = rotation_rate(v, vec3(j == 0, j == 1, j == 2));
      jacobian[j] = column.x, jacobian[3 + j] = column.y, jacobian[6 + j] = column.z;
    }
    Sweep sweep = {turn_between, &v, 3, 3, NULL, NULL, NULL, 0.1, 5, 8};
    sweep_expect(&sweep, jacobian, 0, 1e-9, "seed 6, angle %g", RATE_ANGLES[k]);
  }
}

static bool rate_along(void* context, const double* x, double* y) {
  *y = vec3_dot(*(Vec3*)context, rotation_rate(vec3(x[0], x[1], x[2]), vec3(x[3], x[4], x[5])));
  return true;
}

static void rotation_rate_vjp_A3_matches_central_differences(void** state) {
  (void)state;
  Random random = {7};
  for (int k = 0; k < RATE_ANGLE_COUNT; k++) {
    Vec3 v = vec3_scale(random_direction(&random), RATE_ANGLES[k]), bar = random_direction(&random),
         rate = vec3_scale(random_direction(&random), 2), v_bar, rate_bar;
    rotation_rate_vjp(v, rate, bar, &v_bar, &rate_bar);
    const double x[6] = {v.x, v.y, v.z, rate.x, rate.y, rate.z},
                 found[6] = {v_bar.x, v_bar.y, v_bar.z, rate_bar.x, rate_bar.y, rate_bar.z};
    Sweep sweep = {rate_along, &bar, 6, 1, x, NULL, NULL, 0.1, 5, 8};
    sweep_expect(&sweep, found, 0, 1e-9, "seed 7, angle %g", RATE_ANGLES[k]);
  }
}

/* Series and closed form at the same place. */
static void rotation_rate_branches_meet(void** state) {
  (void)state;
  Vec3 axis = vec3_normalized(vec3(1, -2, 0.5)), rate = vec3(0.3, 2, -1), bar = vec3(-1, 0.4, 0.2);
  Vec3 value[2], v_bar[2], rate_bar[2];
  for (int side = 0; side < 2; side++) {
    Vec3 v = vec3_scale(axis, side == 0 ? 0.1 - 1e-14 : 0.1 + 1e-14);
    value[side] = rotation_rate(v, rate);
    rotation_rate_vjp(v, rate, bar, &v_bar[side], &rate_bar[side]);
  }
  expect_vec("rate", value[0], value[1], 1e-13);
  expect_vec("bar of v", v_bar[0], v_bar[1], 1e-11); /* the closed form's slopes lose a few digits here */
  expect_vec("bar of rate", rate_bar[0], rate_bar[1], 1e-13);
}

/* Roll, pitch, yaw by their definition: three matrices about the fixed axes x, y, z in turn. */
static Mat3 matrix_of_rpy(Vec3 rpy) {
  Mat3 roll = rodrigues(vec3(1, 0, 0), rpy.x), pitch = rodrigues(vec3(0, 1, 0), rpy.y);
  return mat3_mul(rodrigues(vec3(0, 0, 1), rpy.z), mat3_mul(pitch, roll));
}

static void rpy_is_about_the_fixed_axes(void** state) {
  (void)state;
  Random random = {8};
  for (int i = 0; i < 200; i++) {
    Vec3 rpy = vec3(random_uniform(&random, -PI, PI), random_uniform(&random, -PI / 2, PI / 2),
                    random_uniform(&random, -PI, PI));
    Mat3 r = matrix_of_rpy(rpy);
    expect_mat("matrix", mat3_from_quat(quat_from_rpy(rpy)), r, ROUNDING);
    expect_mat("there and back", mat3_from_quat(quat_from_rpy(rpy_from_mat3(r))), r, ROUNDING);
  }
}

static void turns_are_about_the_moving_axes(void** state) {
  (void)state;
  Random random = {10};
  for (int i = 0; i < 200; i++) {
    Vec3 d = vec3(random_uniform(&random, -PI, PI), random_uniform(&random, -PI / 2, PI / 2),
                  random_uniform(&random, -PI, PI));
    Mat3 turned = mat3_mul(rodrigues(vec3(0, 1, 0), d.y), rodrigues(vec3(0, 0, 1), d.z));
    Vec3 found = xyz_angles_from_mat3(mat3_mul(rodrigues(vec3(1, 0, 0), d.x), turned));
    for (int k = 0; k < 3; k++) /* the axes nearly coincide where the second is a right angle */
      if (fabs(d.y) < 1.5) assert_true(fabs((&found.x)[k] - (&d.x)[k]) < 1e-12);
  }
}

/* Straight up and down, and all distances from there: as a rotation nothing is lost. */
static void rpy_of_a_vertical_pitch_is_exact(void** state) {
  (void)state;
  Random random = {9};
  for (int i = 0; i < 400; i++) {
    double near = i % 20 == 0 ? 0 : pow(10, -(i % 20));
    Vec3 rpy =
        vec3(random_uniform(&random, -PI, PI), (i % 2 ? 1 : -1) * (PI / 2 - near), random_uniform(&random, -PI, PI));
    Mat3 r = matrix_of_rpy(rpy);
    expect_mat("matrix", mat3_from_quat(quat_from_rpy(rpy_from_mat3(r))), r, ROUNDING);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(exp_matches_rodrigues),
      cmocka_unit_test(log_inverts_a_rotation_about_an_axis),
      cmocka_unit_test(log_of_half_a_turn_is_pi_long),
      cmocka_unit_test(from_mat3_gives_back_the_matrix),
      cmocka_unit_test(from_mat3_in_every_branch),
      cmocka_unit_test(from_mat3_normalizes),
      cmocka_unit_test(rpy_is_about_the_fixed_axes),
      cmocka_unit_test(turns_are_about_the_moving_axes),
      cmocka_unit_test(rpy_of_a_vertical_pitch_is_exact),
      cmocka_unit_test(rotation_rate_A3_is_the_turning_of_the_exponential),
      cmocka_unit_test(rotation_rate_vjp_A3_matches_central_differences),
      cmocka_unit_test(rotation_rate_branches_meet),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Tests the rotation of a free body (W1-W3). References are closed forms (sphere, symmetric top, Jacobi's elliptic
 * functions) and a Runge-Kutta integration. Derivatives are compared with central differences. */
#include "simulate/free_rotation.h"

#include <string.h>

#include "support/bodies.h"
#include "support/sweep.h"

static Mat3 diagonal(double a, double b, double c) { return (Mat3){{{a, 0, 0}, {0, b, 0}, {0, 0, c}}}; }

static Mat3 inverse_of(Vec3 inertia) { return diagonal(1 / inertia.x, 1 / inertia.y, 1 / inertia.z); }

/* Angle between two rotations [rad]. */
static double apart(Quat a, Quat b) { return vec3_norm(quat_log(quat_mul(quat_conjugate(a), b))); }

/* ---------------------------------------------------------------- closed forms */

static void rotation_W1_of_a_sphere(void** state) {
  (void)state;
  Vec3 p = vec3(0.3, -0.2, 0.5);
  for (double dt = 1e-6; dt < 100; dt *= 10) {
    Quat found = free_rotation(diagonal(4, 4, 4), p, dt);
    compare_at_most(apart(found, quat_exp(vec3_scale(p, 4 * dt))), 1e-14 * (1 + 10 * dt), "dt = %g", dt);
  }
}

/* The axis precesses about L with |L| / I1 while the body turns about it with (1/I3 - 1/I1) p3:
 * turn = exp(t p / I1) exp(t (1/I3 - 1/I1) p3 e3). */
static void rotation_W1_of_a_symmetric_top(void** state) {
  (void)state;
  static const double third[] = {0.02, 0.11, 2e-6, 0.12}; /* prolate, oblate, a rod, a plate (against 0.06) */
  for (int k = 0; k < 4; k++)
    for (double dt = 1e-3; dt < 2; dt *= 10) {
      double i1 = 0.06, i3 = third[k];
      Vec3 p = vec3(0.1, 0.3, k == 2 ? 1e-5 : 0.2);
      Quat precession = quat_exp(vec3_scale(p, dt / i1));
      Quat own = quat_exp(vec3(0, 0, dt * (1 / i3 - 1 / i1) * p.z));
      Quat found = free_rotation(diagonal(1 / i1, 1 / i1, 1 / i3), p, dt);
      compare_at_most(apart(found, quat_mul(precession, own)), 1e-14 * (1 + 20 * dt), "inertia %g, dt = %g", i3, dt);
    }
}

/* Jacobi's functions by the descending arithmetic-geometric mean. */
static void jacobi(double u, double m, double* sn, double* cn, double* dn) {
  double a[32], c[32], b = sqrt(1 - m);
  int n = 0;
  a[0] = 1;
  c[0] = sqrt(m);
  while (n < 30 && c[n] > 1e-17) {
    double next = 0.5 * (a[n] + b);
    c[n + 1] = 0.5 * (a[n] - b);
    b = sqrt(a[n] * b);
    a[++n] = next;
  }
  double phi = ldexp(a[n] * u, n);
  for (; n > 0; n--) phi = 0.5 * (phi + asin(c[n] / a[n] * sin(phi)));
  *sn = sin(phi);
  *cn = cos(phi);
  *dn = sqrt(1 - m * *sn * *sn);
}

/* Landau and Lifshitz, Mechanics, 37.10-12: L^2 > 2 E I2, I1 < I2 < I3, t = 0 where w2 = 0. share: of w1 in the start;
 * the larger, the nearer to the separatrix, where the body flips. */
static void rotation_W1_of_an_asymmetric_body(void** state) {
  (void)state;
  const double i1 = 0.02, i2 = 0.05, i3 = 0.11;
  static const double slope[] = {0.1, 1, 2, 2.3, 2.3451};
  for (int k = 0; k < 5; k++) {
    Vec3 w = vec3(5 * slope[k], 0, 5), p = vec3(i1 * w.x, 0, i3 * w.z);
    double twice = i1 * w.x * w.x + i3 * w.z * w.z, square = vec3_dot(p, p);
    assert_true(square > twice * i2);
    double rate = sqrt((i3 - i2) * (square - twice * i1) / (i1 * i2 * i3));
    double m = (i2 - i1) * (twice * i3 - square) / ((i3 - i2) * (square - twice * i1));
    for (double t = 1e-3; t < 3; t *= 3) {
      double sn, cn, dn;
      jacobi(rate * t, m, &sn, &cn, &dn);
      double w2 = sqrt((twice * i3 - square) / (i2 * (i3 - i2))) * sn;
      Vec3 wanted = vec3(i1 * w.x * cn, i2 * w2, i3 * w.z * dn);
      /* momentum in space stays: its body components are turn^T p */
      Vec3 found = mat3_tmul_vec(mat3_from_quat(free_rotation(inverse_of(vec3(i1, i2, i3)), p, t)), p);
      /* near the separatrix what is rounded grows as exp(rate t) */
      double grown = k < 3 ? 1 + 100 * t : exp(fmin(rate * t, 8));
      compare_vec3(found, wanted, 2e-14 * grown * vec3_norm(p), "slope %g, t = %g", slope[k], t);
    }
  }
}

/* ---------------------------------------------------------------- another integration */

static void derivative(Mat3 mobility, const double y[7], double out[7]) {
  Vec3 p = vec3(y[4], y[5], y[6]), w = mat3_mul_vec(mobility, p), dp = vec3_cross(p, w);
  Quat dq = quat_mul((Quat){y[0], y[1], y[2], y[3]}, (Quat){0, w.x, w.y, w.z});
  double values[7] = {0.5 * dq.w, 0.5 * dq.x, 0.5 * dq.y, 0.5 * dq.z, dp.x, dp.y, dp.z};
  memcpy(out, values, sizeof values);
}

/* The classical method of fourth order. */
static Quat small_steps(Mat3 mobility, Vec3 p, double dt, int steps) {
  static const double at[4] = {0, 0.5, 0.5, 1}, share[4] = {1.0 / 6, 1.0 / 3, 1.0 / 3, 1.0 / 6};
  double y[7] = {1, 0, 0, 0, p.x, p.y, p.z}, h = dt / steps;
  for (int n = 0; n < steps; n++) {
    double k[4][7], z[7], sum[7] = {0};
    for (int s = 0; s < 4; s++) {
      for (int i = 0; i < 7; i++) z[i] = y[i] + (s > 0 ? at[s] * h * k[s - 1][i] : 0);
      derivative(mobility, z, k[s]);
      for (int i = 0; i < 7; i++) sum[i] += share[s] * k[s][i];
    }
    for (int i = 0; i < 7; i++) y[i] += h * sum[i];
  }
  return quat_normalized((Quat){y[0], y[1], y[2], y[3]});
}

/* A random inertia tensor: of point masses, so that it is one of a body. */
static Mat3 random_mobility(Random* random) {
  Mat3 inertia = mat3_zero();
  for (int k = 0; k < 5; k++) {
    Vec3 x = vec3_scale(random_direction(random), random_uniform(random, 0.05, 0.3));
    inertia = mat3_add(inertia, mat3_sub(mat3_scale(mat3_identity(), vec3_dot(x, x)), mat3_outer(x, x)));
  }
  return mat3_inverse(inertia);
}

static void rotation_W2_is_that_of_small_steps(void** state) {
  (void)state;
  Random random = {91};
  for (int k = 0; k < 20; k++) {
    Mat3 mobility = random_mobility(&random);
    Vec3 p = vec3_scale(random_direction(&random), random_uniform(&random, 0.01, 0.5));
    double dt = 0.5 / vec3_norm(mat3_mul_vec(mobility, p)) * random_uniform(&random, 0.1, 4);
    compare_at_most(apart(free_rotation(mobility, p, dt), small_steps(mobility, p, dt, 4000)), 1e-11, "seed 91, %d", k);
  }
}

/* One step of dt is as many of dt / 7; energy and the length of the momentum stay. */
static void rotation_W2_composes(void** state) {
  (void)state;
  Random random = {92};
  for (int k = 0; k < 20; k++) {
    Mat3 mobility = random_mobility(&random);
    Vec3 start = vec3_scale(random_direction(&random), 0.2), p = start;
    double dt = random_uniform(&random, 1, 9) / vec3_norm(mat3_mul_vec(mobility, p));
    Quat all = quat_identity();
    for (int n = 0; n < 7; n++) {
      Quat turn = free_rotation(mobility, p, dt / 7);
      all = quat_mul(all, turn);
      p = mat3_tmul_vec(mat3_from_quat(turn), p);
      compare_relative(vec3_dot(p, mat3_mul_vec(mobility, p)), vec3_dot(start, mat3_mul_vec(mobility, start)), 1e-14,
                       "seed 92, energy");
    }
    compare_at_most(apart(free_rotation(mobility, start, dt), all), 1e-13, "seed 92, %d", k);
  }
}

static void rotation_W1_at_rest_and_beyond_reason(void** state) {
  (void)state;
  Quat rest = free_rotation(diagonal(3, 4, 5), vec3(0, 0, 0), 0.1);
  assert_true(rest.w == 1 && rest.x == 0 && rest.y == 0 && rest.z == 0);
  assert_true(isnan(free_rotation(diagonal(3, 4, 5), vec3(1e9, 0, 0), 0.1).w));
  assert_true(isnan(free_rotation(diagonal(3, 4, 5), vec3(NAN, 0, 0), 0.1).w));
}

/* ---------------------------------------------------------------- derivatives */

typedef struct {
  double dt;
  Quat base;
} Flow;

static bool turn_at(void* context, const double* x, double* y) {
  const Flow* flow = context;
  Mat3 mobility;
  memcpy(mobility.m, x + 3, sizeof mobility.m);
  Quat turn = free_rotation(mobility, vec3(x[0], x[1], x[2]), flow->dt);
  Vec3 v = quat_log(quat_mul(quat_conjugate(flow->base), turn));
  y[0] = v.x;
  y[1] = v.y;
  y[2] = v.z;
  return true;
}

static void check_derivatives(const char* name, Mat3 mobility, Vec3 p, double dt) {
  double x[12] = {p.x, p.y, p.z}, jacobian[3][12], unit[12];
  double energy = vec3_dot(p, mat3_mul_vec(mobility, p));
  memcpy(x + 3, mobility.m, sizeof mobility.m);
  Flow flow = {dt, free_rotation(mobility, p, dt)};
  for (int k = 0; k < 3; k++) {
    Vec3 bar = vec3(k == 0, k == 1, k == 2), by_momentum = {0, 0, 0};
    Mat3 by_mobility = mat3_zero();
    free_rotation_vjp(mobility, p, dt, bar, &by_momentum, &by_mobility);
    double row[3] = {by_momentum.x, by_momentum.y, by_momentum.z};
    memcpy(jacobian[k], row, sizeof row);
    memcpy(jacobian[k] + 3, by_mobility.m, sizeof by_mobility.m);
  }
  /* a thin body turns easily about one axis: every entry in its own unit */
  for (int i = 0; i < 3; i++) unit[i] = sqrt((energy > 0 ? energy : 1e-3) / mobility.m[i][i]);
  for (int i = 0; i < 9; i++) unit[3 + i] = sqrt(mobility.m[i / 3][i / 3] * mobility.m[i % 3][i % 3]);
  Sweep sweep = {turn_at, &flow, 12, 3, x, unit, NULL, 1e-2, 3, 15};
  sweep_expect(&sweep, &jacobian[0][0], 1e-12, 1e-8, "%s, dt = %g", name, dt);
}

static void rotation_W3_matches_central_differences(void** state) {
  (void)state;
  static const struct {
    const char* name;
    Vec3 inertia;
  } bodies[] = {{"sphere", {0.05, 0.05, 0.05}},
                {"oblate", {0.05, 0.05, 0.09}},
                {"prolate", {0.05, 0.05, 0.01}},
                {"asymmetric", {0.02, 0.05, 0.06}},
                {"rod", {0.05, 0.05, 5e-5}}};
  Vec3 w = vec3(3, -4, 2);
  for (size_t k = 0; k < sizeof bodies / sizeof *bodies; k++) {
    Vec3 i = bodies[k].inertia, p = vec3(i.x * w.x, i.y * w.y, i.z * w.z);
    check_derivatives(bodies[k].name, inverse_of(i), p, 1e-2); /* one piece */
    check_derivatives(bodies[k].name, inverse_of(i), p, 0.3);  /* some 13 */
    check_derivatives(bodies[k].name, inverse_of(i), p, 1.0);  /* over 5 rad a step */
    check_derivatives(bodies[k].name, inverse_of(i), p, 2.5);  /* more pieces than are kept at once */
  }
  Random random = {93};
  for (int k = 0; k < 5; k++)
    check_derivatives("random, seed 93", random_mobility(&random), vec3_scale(random_direction(&random), 0.1), 0.05);
}

static void rotation_W3_at_rest(void** state) {
  (void)state;
  check_derivatives("at rest", diagonal(20, 30, 25), vec3(0, 0, 0), 0.01);
  check_derivatives("nearly at rest", diagonal(20, 30, 25), vec3(1e-9, 2e-9, 0), 0.01);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(rotation_W1_of_a_sphere),
      cmocka_unit_test(rotation_W1_of_a_symmetric_top),
      cmocka_unit_test(rotation_W1_of_an_asymmetric_body),
      cmocka_unit_test(rotation_W2_is_that_of_small_steps),
      cmocka_unit_test(rotation_W2_composes),
      cmocka_unit_test(rotation_W1_at_rest_and_beyond_reason),
      cmocka_unit_test(rotation_W3_matches_central_differences),
      cmocka_unit_test(rotation_W3_at_rest),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Tests the Jacobian of the rotation vector (linalg.h: rotation_rate) against quaternions, on both sides of the series'
 * limit. Also tests the Jacobian's derivative. */
#include "support/bodies.h"
#include "support/sweep.h"

/* Small angles, both sides of the series' end (0.1), and large ones. */
static const double ANGLES[] = {0, 1e-9, 1e-4, 0.0999999, 0.1000001, 0.5, 1.0, 1.9999999, 2.5, 3.1, 4.5, 6, 20};
enum { ANGLE_COUNT = sizeof ANGLES / sizeof ANGLES[0] };

static Vec3 triple(const double* x) { return vec3(x[0], x[1], x[2]); }

static void fill(Vec3 x, double* out) { out[0] = x.x, out[1] = x.y, out[2] = x.z; }

/* log(exp(v)^-1 exp(v + x)): the turn that x makes of it. */
static bool turn_at(void* context, const double* x, double* y) {
  Vec3 v = *(const Vec3*)context;
  fill(quat_log(quat_mul(quat_conjugate(quat_exp(v)), quat_exp(vec3_add(v, triple(x))))), y);
  return true;
}

static void spin_is_the_derivative_of_the_rotation(void** state) {
  (void)state;
  Random random = {91};
  for (int k = 0; k < ANGLE_COUNT; k++) {
    Vec3 v = vec3_scale(random_direction(&random), ANGLES[k]);
    double jacobian[9], column[3];
    for (int j = 0; j < 3; j++) {
      const double unit[3] = {j == 0, j == 1, j == 2};
      fill(rotation_rate(v, triple(unit)), column);
      for (int i = 0; i < 3; i++) jacobian[3 * i + j] = column[i];
    }
    Sweep sweep = {turn_at, &v, 3, 3, NULL, NULL, NULL, 1e-2, 4, 8};
    sweep_expect(&sweep, jacobian, 0, 1e-8, "angle %.17g, seed 91", ANGLES[k]);
  }
}

typedef struct {
  Vec3 v, rate, g;
} Spin;

static Vec3 gradient_of(const Spin* s) {
  Vec3 by_v, by_rate;
  rotation_rate_vjp(s->v, s->rate, s->g, &by_v, &by_rate);
  return by_v;
}

static bool spin_at(void* context, const double* x, double* y) {
  const Spin* s = context;
  *y = vec3_dot(s->g, rotation_rate(vec3_add(s->v, triple(x)), s->rate));
  return true;
}

static void spin_grad_matches_central_differences(void** state) {
  (void)state;
  Random random = {92};
  for (int k = 0; k < ANGLE_COUNT; k++)
    for (int trial = 0; trial < 3; trial++) {
      Spin s = {vec3_scale(random_direction(&random), ANGLES[k]), random_direction(&random), random_direction(&random)};
      double gradient[3];
      fill(gradient_of(&s), gradient);
      Sweep sweep = {spin_at, &s, 3, 1, NULL, NULL, NULL, 1e-2, 4, 8};
      sweep_expect(&sweep, gradient, 0, 1e-8, "angle %.17g, seed 92", ANGLES[k]);
    }
}

/* J(v)^T = J(-v), and turn undoes spin; near 2 pi, where J is singular, not to so many digits. */
static void transpose_and_inverse(void** state) {
  (void)state;
  Random random = {93};
  for (int k = 0; k < ANGLE_COUNT - 1; k++) {
    Vec3 v = vec3_scale(random_direction(&random), ANGLES[k]), a = random_direction(&random),
         b = random_direction(&random);
    compare_near(vec3_dot(a, rotation_rate(v, b)), vec3_dot(b, rotation_rate(vec3_scale(v, -1), a)), 1e-15,
                 "transpose, angle %.17g", ANGLES[k]);
    compare_vec3(rotation_rate_inverse(v, rotation_rate(v, a)), a, 1e-13, "inverse, angle %.17g", ANGLES[k]);
  }
}

/* Series and closed forms, where one takes over from the other. */
static void branches_meet(void** state) {
  (void)state;
  Vec3 axis = vec3_normalized(vec3(1, -2, 0.5)), u = vec3(0.3, 0.4, -1), g = vec3(1, 1, 0.2);
  Vec3 below = vec3_scale(axis, 0.1 - 1e-12), above = vec3_scale(axis, 0.1 + 1e-12);
  compare_vec3(rotation_rate(below, u), rotation_rate(above, u), 1e-11, "spin");
  compare_vec3(gradient_of(&(Spin){below, u, g}), gradient_of(&(Spin){above, u, g}), 1e-11, "gradient");
  compare_vec3(rotation_rate_inverse(below, u), rotation_rate_inverse(above, u), 1e-11, "turn");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(spin_is_the_derivative_of_the_rotation),
      cmocka_unit_test(spin_grad_matches_central_differences),
      cmocka_unit_test(transpose_and_inverse),
      cmocka_unit_test(branches_meet),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

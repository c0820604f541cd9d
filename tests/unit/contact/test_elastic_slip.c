/* Tests the elastic slip of friction (F16). Run gradients with elastic slip are in tests/gradient. */
#include "contact/elastic_slip.h"

#include "support/sweep.h"

/* phi(V) is V where V is small, 2^(-1/16) V at the largest elastic slip 12 sqrt(eps), and 12 sqrt(eps) where V is
 * large. Its derivatives are those of central differences. */
static void elastic_slip_F16_return_map(void** state) {
  (void)state;
  const double eps = 4e-8, most = 12 * sqrt(eps), h = 1e-5;
  Vec3 direction = vec3_normalized(vec3(1, -2, 0.5)), by = vec3(0.3, 0.7, -0.2);
  compare_near(vec3_norm(elastic_slip_return_map(vec3_scale(direction, 0.1 * most), eps)) / most, 0.1, 1e-15, "small");
  compare_near(vec3_norm(elastic_slip_return_map(vec3_scale(direction, most), eps)) / most, pow(2, -0.0625), 1e-14,
               "at the limit");
  compare_near(vec3_norm(elastic_slip_return_map(vec3_scale(direction, 1e60 * most), eps)) / most, 1, 1e-14, "large");
  for (double x = 0.2; x < 20; x *= 1.7) {
    Vec3 v = vec3_scale(direction, x * most);
    double by_eps;
    Vec3 found = elastic_slip_return_map_reverse(v, eps, by, &by_eps);
    double wanted[4];
    for (int k = 0; k < 4; k++) {
      double d = k < 3 ? h * most : h * eps, at[2];
      for (int side = 0; side < 2; side++) {
        double move = side == 0 ? d : -d;
        Vec3 moved = vec3_add(v, vec3(k == 0 ? move : 0, k == 1 ? move : 0, k == 2 ? move : 0));
        at[side] = vec3_dot(by, elastic_slip_return_map(moved, k == 3 ? eps + move : eps));
      }
      wanted[k] = (at[0] - at[1]) / (2 * d);
    }
    compare_near(found.x, wanted[0], 1e-8, "x %g: by V, x", x);
    compare_near(found.y, wanted[1], 1e-8, "x %g: by V, y", x);
    compare_near(found.z, wanted[2], 1e-8, "x %g: by V, z", x);
    compare_near(by_eps * eps / most, wanted[3] * eps / most, 1e-8, "x %g: by eps", x);
  }
}

/* At the fraction L of the largest friction force, each body slips by V / 2 = sqrt(eps) L / sqrt(1 - L^2). The creep V
 * - phi(V) is the series of F16. */
static void elastic_slip_F16_creep_of_a_load(void** state) {
  (void)state;
  const double eps = 3.5e-9;
  for (double load = 0.9; load < 0.981; load += 0.02) {
    double trial = 2 * sqrt(eps) * load / sqrt(1 - load * load), x = trial / (12 * sqrt(eps));
    double creep = trial - elastic_slip_return_map(vec3(trial, 0, 0), eps).x;
    /* first terms of the series of 1 - (1 + x^16)^(-1/16) */
    double wanted = trial * (pow(x, 16) / 16 - 17 * pow(x, 32) / 512);
    compare_near(creep / trial, wanted / trial, 1e-16 + 0.2 * pow(x, 48), "load %g", load);
  }
}

/* The derivatives by the normal force and by the length of the step are those of central differences. */
static void elastic_slip_F16_next_by_force_and_length(void** state) {
  (void)state;
  const double eps = 4e-8, dt = 5e-3;
  FrictionLag lag = {.normal = vec3_normalized(vec3(0.2, 0.1, 1)), .elastic = vec3(1e-3, -4e-4, 2e-4)};
  Vec3 displacement = vec3(3e-6, 5e-6, -2e-6);
  ElasticSlip found = elastic_slip_next(&lag, displacement, elastic_share(2, 3), dt, eps);
  Vec3 at[2], by_dt[2];
  for (int side = 0; side < 2; side++) {
    double h = side == 0 ? 1e-5 : -1e-5;
    at[side] = elastic_slip_next(&lag, displacement, elastic_share(2, 3 + h), dt, eps).value;
    by_dt[side] = elastic_slip_next(&lag, displacement, elastic_share(2, 3), dt * (1 + h), eps).value;
  }
  double scale = vec3_norm(found.value);
  Vec3 force = vec3_scale(vec3_sub(at[0], at[1]), 1 / 2e-5),
       length = vec3_scale(vec3_sub(by_dt[0], by_dt[1]), 1 / (2e-5 * dt));
  compare_near(vec3_norm(vec3_sub(found.by_force, force)) / scale, 0, 1e-8, "by force");
  compare_near(vec3_norm(vec3_sub(found.by_dt, length)) * dt / scale, 0, 1e-8, "by dt");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(elastic_slip_F16_return_map),
      cmocka_unit_test(elastic_slip_F16_creep_of_a_load),
      cmocka_unit_test(elastic_slip_F16_next_by_force_and_length),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

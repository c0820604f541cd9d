#include "geometry/union.h"
#include "geometry_testing.h"

#define BITS 20

/* A plane with integer normal 2^20 m through the point q / 2^20: exact in 2^-40. */
static ExactPlane plane_through(Random* random, const int64_t q[3]) {
  ExactPlane plane = {{0}};
  for (int k = 0; k < 3; k++) {
    int64_t m = (int64_t)random_uniform(random, -(1 << (BITS - 1)), 1 << (BITS - 1));
    plane.row[k] = m * (1 << BITS);
    plane.row[3] -= m * q[k];
  }
  return plane;
}

/* Three planes intersect in a point. A fourth plane through the point contains it exactly. Moving the fourth plane by
 * one unit of its offset, 1e-12, puts the point on one side. Doubles cannot resolve the difference. */
static void planes_meet_U1_U2_exactly(void** state) {
  (void)state;
  Random random = {11};
  int met = 0;
  for (int trial = 0; trial < 20000; trial++) {
    int64_t q[3];
    for (int k = 0; k < 3; k++) q[k] = (int64_t)random_uniform(&random, -(1 << (BITS - 1)), 1 << (BITS - 1));
    ExactPlane planes[4];
    for (int p = 0; p < 4; p++) planes[p] = plane_through(&random, q);
    if (trial % 4 == 0) /* nearly parallel */
      for (int k = 0; k < 3; k++) {
        int64_t off = (int64_t)(random_bits(&random) % 3);
        planes[1].row[k] = planes[0].row[k] + off * (1 << BITS);
        planes[1].row[3] = (k == 0 ? planes[0].row[3] : planes[1].row[3]) - off * q[k];
      }
    ExactPoint point;
    if (!exact_intersection(&point, &planes[0], &planes[1], &planes[2])) continue;
    met++;
    Vec3 place = exact_position(&point), want = vec3_scale(vec3((double)q[0], (double)q[1], (double)q[2]), 0x1p-20);
    assert_vec3_close(place, want, 1e-15);
    for (int p = 0; p < 4; p++) assert_int_equal(exact_side(&planes[p], &point), 0);
    planes[3].row[3] += 1;
    assert_int_equal(exact_side(&planes[3], &point), 1);
    planes[3].row[3] -= 2;
    assert_int_equal(exact_side(&planes[3], &point), -1);
  }
  print_message("seed 11: %d of 20000 met in a point\n", met);
  assert_true(met > 19000);
}

static void parallel_planes_do_not_meet(void** state) {
  (void)state;
  ExactPoint point;
  ExactPlane x = exact_plane(vec3(1, 0, 0), 0.25), back = exact_plane(vec3(-1, 0, 0), 0.5),
             y = exact_plane(vec3(0, 1, 0), -0.5), z = exact_plane(vec3(0, 0, -1), 0.125);
  assert_false(exact_intersection(&point, &x, &back, &y));
  assert_true(exact_intersection(&point, &x, &y, &z));
  assert_vec3_close(exact_position(&point), vec3(-0.25, 0.5, 0.125), 0);
  assert_true(exact_intersection(&point, &z, &y, &x)); /* w[3] > 0 in every order */
  assert_vec3_close(exact_position(&point), vec3(-0.25, 0.5, 0.125), 0);
  assert_int_equal(exact_side(&back, &point), 1);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(planes_meet_U1_U2_exactly),
      cmocka_unit_test(parallel_planes_do_not_meet),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

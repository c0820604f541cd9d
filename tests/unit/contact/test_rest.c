/* Tests the equilibrium gap of parallel faces against an independent search. */
#include "unit/model/fixture.h"
#include "unit/model/rest_search.h"

static void check_faces(int n_a, int n_b) {
  const double supports[] = {1e-5, 1e-3, 1e-2, 0.1, 0.3}, gaps[] = {0.1, 0.3, 0.5, 0.8, 1.2, 1.7};
  for (int i = 0; i < 5; i++)
    for (int j = 0; j < 6; j++) {
      double s = supports[i], gap = gaps[j] * s, wanted = searched_force(s, n_a, n_b, gap);
      ContactEquilibrium at_gap = contact_rest_at_gap(CONTACT_SEPARATING_PLANE, s, n_a, n_b, gap),
                         under = contact_rest_under_force(CONTACT_SEPARATING_PLANE, s, n_a, n_b, at_gap.force);
      check_near(at_gap.force / wanted, 1, 1e-6, "force at a gap, found / wanted");
      check_near(at_gap.gap / gap, 1, 1e-13, "gap reached / asked for");
      check_near(under.gap / gap, 1, 1e-11, "gap under the force / gap");
    }
}

static void rest_R1_matches_the_minimised_energy(void** state) {
  (void)state;
  check_faces(4, 4);
  check_faces(1, 1);
  check_faces(96, 96);
}

static void rest_R2_matches_the_minimised_energy(void** state) {
  (void)state;
  check_faces(4, 1);
  check_faces(42, 1);
}

/* The stiffness leaves out how |n| answers, which is of order sigma. */
static void stiffness_is_the_slope_of_the_force(void** state) {
  (void)state;
  const double gaps[] = {0.2, 0.5, 1.0, 1.6};
  for (int i = 0; i < 4; i++)
    for (int n_b = 1; n_b <= 4; n_b += 3) {
      double s = 1e-4, gap = gaps[i] * s, h = 1e-4 * gap;
      double slope = -(contact_rest_at_gap(CONTACT_SEPARATING_PLANE, s, 4, n_b, gap + h).force -
                       contact_rest_at_gap(CONTACT_SEPARATING_PLANE, s, 4, n_b, gap - h).force) /
                     (2 * h);
      check_near(contact_rest_at_gap(CONTACT_SEPARATING_PLANE, s, 4, n_b, gap).stiffness / slope, 1, 3 * NORM_WIDTH,
                 "stiffness / slope");
    }
}

/* The equilibrium gap falls with about the sixth root of the load. */
static void gap_follows_the_sixth_root_of_a_large_force(void** state) {
  (void)state;
  double f = contact_rest_at_gap(CONTACT_SEPARATING_PLANE, 1e-3, 4, 4, 1e-5).force;
  double ratio = contact_rest_under_force(CONTACT_SEPARATING_PLANE, 1e-3, 4, 4, f).gap /
                 contact_rest_under_force(CONTACT_SEPARATING_PLANE, 1e-3, 4, 4, 64 * f).gap;
  check_near(ratio, 2, 0.02, "gap ratio for 64 times the force");
}

static void extreme_forces_stay_finite(void** state) {
  (void)state;
  const double forces[] = {1e-300, 1e-30, 1, 1e30, 1e80};
  for (int i = 0; i < 5; i++) {
    ContactEquilibrium rest = contact_rest_under_force(CONTACT_SEPARATING_PLANE, 1e-3, 4, 1, forces[i]);
    assert_true(isfinite(rest.gap) && rest.gap > 0 && rest.gap < 2.01e-3);
    assert_true(isfinite(rest.stiffness));
  }
}

/* The worked example of docs/contact-parameters.md: a box of 1 kg, on a hull and on a half-space. */
static void worked_example_of_the_guide(void** state) {
  (void)state;
  const struct {
    double s, stiffness;
    int n_b;
    double gap;
  } rows[] = {{1e-3, 1e-8, 4, 7.994156234e-4},
              {1e-3, 1e-8, 1, 7.344477232e-4},
              {1e-2, 1e-6, 4, 7.994156234e-3},
              {1e-2, 1e-6, 1, 7.344477232e-3}};
  for (int i = 0; i < 4; i++) {
    double f = 9.81 / rows[i].stiffness,
           gap = contact_rest_under_force(CONTACT_SEPARATING_PLANE, rows[i].s, 4, rows[i].n_b, f).gap;
    check_near(gap, rows[i].gap, 1e-9 * gap, "gap, found / in the guide");
    check_near(gap, searched_gap(rows[i].s, 4, rows[i].n_b, f), 1e-6 * gap, "gap, found / searched");
  }
}

/* The guide's table: gaps over s when the force is a multiple of that at s/2. */
static void table_of_the_guide(void** state) {
  (void)state;
  const double times[] = {1.0 / 228, 0.1, 1, 10, 100, 1000, 2668}, s = 1e-3;
  const double on_hull[] = {1.000, 0.685, 0.500, 0.357, 0.252, 0.175, 0.150};
  const double on_ground[] = {0.927, 0.627, 0.455, 0.324, 0.227, 0.158, 0.135};
  double unit = searched_force(s, 4, 4, 0.5 * s);
  for (int i = 0; i < 7; i++) {
    check_near(contact_rest_under_force(CONTACT_SEPARATING_PLANE, s, 4, 4, times[i] * unit).gap / s, on_hull[i], 5.1e-4,
               "gap on a hull");
    check_near(contact_rest_under_force(CONTACT_SEPARATING_PLANE, s, 4, 1, times[i] * unit).gap / s, on_ground[i],
               5.1e-4, "gap on a half-space");
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(rest_R1_matches_the_minimised_energy),
      cmocka_unit_test(rest_R2_matches_the_minimised_energy),
      cmocka_unit_test(stiffness_is_the_slope_of_the_force),
      cmocka_unit_test(gap_follows_the_sixth_root_of_a_large_force),
      cmocka_unit_test(extreme_forces_stay_finite),
      cmocka_unit_test(worked_example_of_the_guide),
      cmocka_unit_test(table_of_the_guide),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Tests the fraction of the initial normal force that friction uses in a run's first step
 * (docs/derivations/friction.md, F6). The derivatives are compared with finite differences on both sides of the branch.
 */
#include "contact/contact.h"
#include "support/compare.h"

enum { HULLS = 4, LINKS = 3 };

/* Hulls 0, 1 of link 0, 2 of link 1, 3 of link 2. */
static const ModelHull hulls[HULLS] = {{.link = 0}, {.link = 0}, {.link = 1}, {.link = 2}};
static const Model model = {.hull_count = HULLS, .link_count = LINKS, .hulls = (ModelHull*)hulls};

/* A half-space stands second in its record whatever its number. */
static const ContactRecord by_hulls[] = {{.hull_a = 2, .hull_b = 0}, {.hull_a = 1, .hull_b = 3}};
static const ContactRecord by_links[] = {{.hull_a = HULLS + 0, .hull_b = HULLS + 1}};

static double grip(const ContactRecord* records, int count, Vec3 start, Vec3 end, ContactGripFactor* slope) {
  const Vec3 from[2] = {start, start}, to[2] = {end, end};
  ContactForces at[2] = {{records, from, count}, {records, to, count}};
  *slope = contact_normal_force_factor(&model, &at[0], &at[1], 0, 2);
  return slope->value;
}

static void grip_F6_closed_form(void** state) {
  (void)state;
  ContactGripFactor s;
  compare_near(grip(by_hulls, 2, vec3(3, 0, 4), vec3(0, 0, 1), &s), 0.2, 1e-15, "1 N of 5 N");
  assert_int_equal(s.start, 0);
  assert_int_equal(s.end, 0);
  compare_near(grip(by_hulls, 2, vec3(0, 5, 0), vec3(5, 0, 0), &s), 1, 0, "the same force");
  compare_near(grip(by_hulls, 2, vec3(0, 1, 0), vec3(0, 0, 100), &s), 1 + 99 / cbrt(2), 1e-13,
               "a hundred times the force");
  assert_true(grip(by_hulls, 2, vec3(0, 1, 0), vec3(0, 0, 1e6), &s) < 100 + 1e-9);
  compare_near(grip(by_hulls, 2, vec3(0, 1, 0), vec3(0, 0, 0), &s), 0, 0, "nothing is left");
}

/* A pair that separates in the solve is absent from the final record. A pair without contact at the start has no
 * initial force. */
static void grip_F6_pairs_of_one_end(void** state) {
  (void)state;
  const Vec3 one = {0, 0, 1};
  ContactForces none = {0}, some = {by_hulls, &one, 1};
  ContactGripFactor parts = contact_normal_force_factor(&model, &some, &none, 2, 0),
                    meets = contact_normal_force_factor(&model, &none, &some, 0, 2);
  compare_near(parts.value, 0, 0, "parts");
  assert_int_equal(parts.end, -1);
  compare_near(meets.value, 1, 0, "meets");
  assert_int_equal(meets.start, -1);
}

/* Hulls without a contact force of their own get friction from the force of their links. */
static void grip_F6_links_stand_for_hulls(void** state) {
  (void)state;
  ContactGripFactor s;
  compare_near(grip(by_links, 1, vec3(0, 0, 2), vec3(0, 1, 0), &s), 0.5, 1e-15, "by links");
  compare_near(contact_normal_force_factor(&model, &(ContactForces){by_links, &(Vec3){0, 0, 2}, 1},
                                           &(ContactForces){by_links, &(Vec3){0, 0, 1}, 1}, 1, 2)
                   .value,
               0.5, 1e-15, "another hull of theirs");
}

static void grip_F7_derivatives(void** state) {
  (void)state;
  const double ratios[] = {0.01, 0.4, 0.99, 0.9999, 1.0001, 1.01, 2, 5, 60, 150, 3000};
  for (size_t k = 0; k < sizeof ratios / sizeof *ratios; k++) {
    double from = 3, to = ratios[k] * from, h = 1e-5 * to;
    ContactGripFactor s, unused;
    (void)grip(by_hulls, 2, vec3(0, 0, from), vec3(0, 0, to), &s);
    double up = grip(by_hulls, 2, vec3(0, 0, from), vec3(0, 0, to + h), &unused);
    double down = grip(by_hulls, 2, vec3(0, 0, from), vec3(0, 0, to - h), &unused);
    compare_near(s.by_end, (up - down) / (2 * h), 1e-8 / from, "by the end's force, ratio %g", ratios[k]);
    h = 1e-5 * from;
    up = grip(by_hulls, 2, vec3(0, 0, from + h), vec3(0, 0, to), &unused);
    down = grip(by_hulls, 2, vec3(0, 0, from - h), vec3(0, 0, to), &unused);
    compare_near(s.by_start, (up - down) / (2 * h), 1e-8 * (1 + ratios[k]), "by the start's force, ratio %g",
                 ratios[k]);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(grip_F6_closed_form),
      cmocka_unit_test(grip_F6_pairs_of_one_end),
      cmocka_unit_test(grip_F6_links_stand_for_hulls),
      cmocka_unit_test(grip_F7_derivatives),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

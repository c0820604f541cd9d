/* Tests the default contact parameters (docs/contact-parameters.md). The independent search of rest_search.h checks the
 * gaps. */
#include "fixture.h"
#include "rest_search.h"
#include "support/runs.h"

/* A free box of edge 0.2 m and 1 kg over the ground, with lines put before. */
static void load_box(Fixture* f, const char* before) {
  char yaml[1500];
  snprintf(yaml, sizeof yaml,
           "%s\n"
           "links:\n"
           "  - {name: ground, fixed: true, shape: {type: half_space}}\n"
           "  - {name: box, mass: 1, shape: {type: box, size: [0.2, 0.2, 0.2]}, position: [0, 0, 5]}\n",
           before);
  fixture_load(f, yaml);
}

/* The contact parameters of a scene. Its masses may be warned of: they are far from those of solids. */
static ModelContact contact_of(const char* yaml) {
  Fixture f;
  fixture_load(&f, yaml);
  assert_int_equal(f.status, STATUS_OK);
  ModelContact contact = f.model.contact;
  fixture_free(&f);
  return contact;
}

static double gap_of(const ModelContact* contact, double force) {
  return searched_gap(contact->support, 4, 4, force / contact->stiffness);
}

/* The worked example of the guide, numbers and all. */
static void derived_R4_R5_R6_for_one_box(void** state) {
  (void)state;
  Fixture f;
  load_box(&f, "name: box");
  check_clean(&f);
  const ModelContact* c = &f.model.contact;
  assert_true(c->support_derived && c->stiffness_derived && c->smoothing_derived);
  check_near(c->feature, 0.2, 1e-15, "feature");
  check_near(c->support, 1e-3, 1e-17, "support: feature / 200");
  check_near(c->stiffness, 2.97813e-10, 1e-15, "stiffness, the guide's figure");
  check_near(c->smoothing, 7.0632e-9, 1e-13, "smoothing: (6e-5 sqrt(g feature))^2");
  check_near(c->reference_force, 9.81, 1e-12, "reference force");
  check_near(c->gap_at_rest, 5e-4, 1e-12, "gap at rest");
  check_near(gap_of(c, 9.81), 5e-4, 1e-9, "gap at rest by search");
  check_near(searched_gap(c->support, 4, 1, 9.81 / c->stiffness), 4.54657e-4, 1e-9, "the same on a half-space");
  fixture_free(&f);
}

/* A ball of 0.1 m and 1 kg must penetrate by 0.2 m / 400 = 0.5 mm at rest: kappa delta^1.5 = 9.81 N. */
static void derived_R13_for_laws_that_overlap(void** state) {
  (void)state;
  static const char* const laws[] = {"penalty", "manifold"};
  for (int i = 0; i < 2; i++) {
    char yaml[400];
    snprintf(yaml, sizeof yaml,
             "contact: {model: %s}\n"
             "links:\n"
             "  - {name: ground, fixed: true, shape: {type: half_space}}\n"
             "  - {name: ball, mass: 1, position: [0, 0, 5],\n"
             "     shape: {type: superellipsoid, size: [0.1, 0.1, 0.1], exponent: 1}}\n",
             laws[i]);
    ModelContact c = contact_of(yaml);
    assert_true(c.stiffness_derived);
    check_near(c.feature, 0.2, 2e-3, "feature: of the points on it");
    check_near(c.stiffness * pow(c.feature / 400, 1.5), 9.81, 1e-9, laws[i]);
  }
}

/* Under `ipc` the body of median weight rests at half the support. Its four vertices and the four of the other face
 * have the barrier (d - s)^2 ln(s / d) each, with the force s (ln 2 + 1/2) at d = s / 2. The barrier has no force at d
 * = s, so that the lightest body sets no bound. */
static void derived_R5_of_ipc(void** state) {
  (void)state;
  ModelContact c = contact_of(
      "contact: {model: ipc}\n"
      "links:\n"
      "  - {name: ground, fixed: true, shape: {type: half_space}}\n"
      "  - {name: one, mass: 1, shape: {type: box, size: [0.2, 0.2, 0.2]}, position: [0, 0, 5]}\n"
      "  - {name: two, mass: 2, shape: {type: box, size: [0.2, 0.2, 0.2]}, position: [1, 0, 5]}\n"
      "  - {name: four, mass: 4, shape: {type: box, size: [0.2, 0.2, 0.2]}, position: [2, 0, 5]}\n");
  assert_true(c.stiffness_derived);
  check_near(c.stiffness * 8 * c.support * (log(2) + 0.5), 2 * 9.81, 1e-9, "force at half the support");
  check_near(c.gap_at_rest, 0.5 * c.support, 1e-12, "gap at rest");
}

/* A mass ratio of ten million between pile and lightest body exceeds the possible range. The pile then determines the
 * stiffness. */
static void derived_R5_keeps_pile_and_lightest_in_range(void** state) {
  (void)state;
  const double masses[] = {1, 2, 10, 50, 300, 3000, 1e5, 1e8};
  for (int i = 0; i < 8; i++) {
    char yaml[700];
    snprintf(
        yaml, sizeof yaml,
        "shapes: {cube: {type: box, size: [0.2, 0.2, 0.2]}}\n"
        "links:\n"
        "  - {name: light, mass: 1, shapes: [{shape: cube}]}\n"
        "  - {name: \"b{i}\", mass: %g, shapes: [{shape: cube}], position: [1, 0, 0], repeat: {count: 4, position: "
        "[1, 0, 0]}}\n",
        masses[i]);
    ModelContact c = contact_of(yaml);
    double pile = gap_of(&c, 9.81 * (1 + 4 * masses[i])), light = gap_of(&c, 9.81);
    if (!(pile >= 0.15 * c.support * (1 - 1e-6)))
      fail_msg("masses of %g kg: the pile rests at %g of the support", masses[i], pile / c.support);
    bool both_possible = 4 * masses[i] < 5e5;
    if (both_possible && !(light <= c.support * (1 + 1e-6)))
      fail_msg("masses of %g kg: the lightest rests at %g of the support", masses[i], light / c.support);
  }
}

static void derived_R5_without_gravity(void** state) {
  (void)state;
  ModelContact c = contact_of(
      "simulation: {gravity: [0, 0, 0], dt: 0.01, integrator: first_order}\n"
      "links: [{name: a, mass: 3, shape: {type: box, size: [0.2, 0.2, 0.2]}}]\n");
  check_near(c.reference_force, 60, 1e-9, "3 kg 0.2 m / (0.1 s)^2");
  check_near(gap_of(&c, 60), 0.5 * c.support, 1e-9, "gap");
}

/* Returns the creep speed at which friction balances a pull, if each side slips by half. The plane's tangential speed u
 * minimises mu F (sqrt((v - u)^2 + eps) + sqrt(u^2 + eps)). The force is a difference quotient, and bisection finds v.
 */
static double friction_energy(double v, double eps) {
  double low = 0, high = v;
  for (int i = 0; i < 200; i++) {
    double a = low + (high - low) / 3, b = high - (high - low) / 3;
    double at_a = sqrt((v - a) * (v - a) + eps) + sqrt(a * a + eps);
    double at_b = sqrt((v - b) * (v - b) + eps) + sqrt(b * b + eps);
    if (at_a < at_b)
      high = b;
    else
      low = a;
  }
  double u = 0.5 * (low + high);
  return sqrt((v - u) * (v - u) + eps) + sqrt(u * u + eps);
}

static double creep_speed(double part_of_friction, double eps) {
  double low = 0, high = 1000 * sqrt(eps);
  for (int i = 0; i < 60; i++) {
    double v = 0.5 * (low + high), h = 1e-4 * v;
    double force = (friction_energy(v + h, eps) - friction_energy(v - h, eps)) / (2 * h);
    if (force < part_of_friction)
      low = v;
    else
      high = v;
  }
  return 0.5 * (low + high);
}

static void creep_R11_matches_the_guide(void** state) {
  (void)state;
  const double tangent = tan(15 * 3.14159265358979324 / 180), friction[] = {0.28, 0.4, 1.0};
  for (int i = 0; i < 3; i++) {
    double mu = friction[i], eps = 1e-6, wanted = creep_speed(tangent / mu, eps);
    check_near(2 * sqrt(eps) * tangent / sqrt(mu * mu - tangent * tangent), wanted, 1e-6 * wanted, "creep");
  }
  check_near(creep_speed(tangent / 0.4, 1e-6), 1.8e-3, 1e-5, "creep of the guide, eps = 1e-6");
  check_near(creep_speed(tangent / 0.4, 7.0632e-9), 0.15e-3, 3e-6, "creep of the guide, derived smoothing");
}

/* Small bodies at long steps: the floor 3e-4 g dt. */
static void derived_R6_has_a_floor_from_the_step(void** state) {
  (void)state;
  ModelContact c = contact_of(
      "simulation: {dt: 0.02, integrator: first_order}\n"
      "links: [{name: a, mass: 1, shape: {type: box, size: [0.01, 0.01, 0.01]}}]\n");
  check_near(c.smoothing, 5.886e-5 * 5.886e-5, 1e-15, "smoothing");
}

static void derived_R4_grows_with_the_bodies_and_has_a_floor(void** state) {
  (void)state;
  ModelContact c = contact_of(
      "simulation: {dt: 0.1, integrator: first_order}\n"
      "links: [{name: a, density: 1000, shape: {type: box, size: [90, 90, 90]}}]\n");
  check_near(c.support, 0.45, 1e-15, "bodies of 90 m");
  c = contact_of("links: [{name: a, mass: 1, shape: {type: box, size: [0.2, 0.2, 0.2]}, position: [0, 0, 5e6]}]\n");
  check_near(c.support, 5e-3, 1e-9, "5000 km from the origin");
}

/* The support is 3/4 of the displacement at speed sqrt(g feature) in one step, or in one substep if the scene has
 * substeps. */
static void derived_R4_follows_fine_steps(void** state) {
  (void)state;
  const char* box = "links: [{name: a, mass: 1, shape: {type: box, size: [0.2, 0.2, 0.2]}}]\n";
  static const struct {
    const char* head;
    double support;
  } rows[] = {
      {"simulation: {dt: 0.001, integrator: first_order}\n", 1e-3},
      {"simulation: {dt: 1e-4, integrator: first_order}\n", 0.75 * 1.4007141035914502e-4},
      {"simulation: {dt: 4e-4, substeps: 4, integrator: first_order}\n", 0.75 * 1.4007141035914502e-4},
      {"simulation: {dt: 1e-4, integrator: first_order}\ncontact: {restitution: 0.5}\n", 1e-3},
      {"simulation: {dt: 1e-4, gravity: [0, 0, 0], integrator: first_order}\n", 1e-3},
      {"simulation: {dt: 1e-4, gravity: [0, 0, 0], integrator: first_order}\ninitial: [{link: a, velocities: [0, 2, 0, "
       "0, 0, 0]}]\n",
       1e-3},
  };
  for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
    Text text = {0};
    text_add(&text, "%s%s", rows[k].head, box);
    check_near(contact_of(text.data).support, rows[k].support, 1e-12, rows[k].head);
    text_free(&text);
  }
}

/* A sliver of a decomposition is not a feature; a thin body of its own is, also when it stands still only now. */
static void derived_R3_leaves_out_slivers_and_fixed_bodies(void** state) {
  (void)state;
  ModelContact c = contact_of(
      "shapes: {cube: {type: box, size: [0.2, 0.2, 0.2]}, sliver: {type: box, size: [0.2, 0.2, 1e-4]}}\n"
      "links:\n"
      "  - {name: a, mass: 1, shapes: [{shape: cube}, {shape: sliver, position: [0, 0, 0.1]}]}\n"
      "  - {name: sheet, fixed: true, shapes: [{shape: sliver}], position: [3, 0, 0]}\n"
      "  - {name: ghost, mass: 1, collide: false, shapes: [{shape: sliver}], position: [4, 0, 0]}\n");
  check_near(c.feature, 0.2, 1e-15, "feature");
  c = contact_of(
      "shapes: {cube: {type: box, size: [0.2, 0.2, 0.2]}, sheet: {type: box, size: [0.2, 0.2, 1e-4]}}\n"
      "links:\n"
      "  - {name: a, mass: 1, shapes: [{shape: cube}]}\n"
      "  - {name: b, mass: 1, shapes: [{shape: sheet}], position: [3, 0, 0]}\n");
  check_near(c.feature, 1e-4, 1e-18, "feature of the sheet");
}

static void given_values_are_kept_and_the_rest_follows_them(void** state) {
  (void)state;
  Fixture f;
  load_box(&f, "contact: {barrier_distance: 0.01, friction: 0.3}");
  check_clean(&f);
  const ModelContact* c = &f.model.contact;
  assert_true(!c->support_derived && c->stiffness_derived && c->smoothing_derived);
  check_near(c->support, 0.01, 0, "support");
  check_near(gap_of(c, 9.81), 5e-3, 1e-8, "gap for the given support");
  fixture_free(&f);
  load_box(&f, "contact: {barrier_distance: 0.001, stiffness: 1e-8, smoothing: 1e-6}");
  check_clean(&f);
  check_near(f.model.contact.gap_at_rest, 7.994156234e-4, 1e-12, "gap of the guide");
  assert_true(!f.model.contact.stiffness_derived && !f.model.contact.smoothing_derived);
  fixture_free(&f);
}

static void numbers_beyond_doubles_are_an_error(void** state) {
  (void)state;
  Fixture f;
  load_box(&f, "simulation: {gravity: [0, 0, -1e200], integrator: first_order}");
  assert_int_equal(f.status, STATUS_BAD_INPUT);
  check_message(&f, SEVERITY_ERROR, 0, "no valid contact parameters follow from the masses, sizes and gravity");
  fixture_free(&f);
}

/* ---------------------------------------------------------------- warnings */

static void check_warned(const char* before, const char* text) {
  Fixture f;
  load_box(&f, before);
  assert_int_equal(f.status, STATUS_OK);
  check_message(&f, SEVERITY_WARNING, 1, text);
  fixture_free(&f);
}

static void check_silent(const char* before) {
  Fixture f;
  load_box(&f, before);
  check_clean(&f);
  fixture_free(&f);
}

static void warns_R7_of_supports_that_are_too_large_or_too_small(void** state) {
  (void)state;
  check_warned("contact: {barrier_distance: 0.25}",
               "barrier_distance 0.25 m is larger than the smallest feature of the moving bodies, 0.2 m");
  check_warned("contact: {barrier_distance: 1e-12}", "barrier_distance 1e-12 m is below");
  check_silent("contact: {barrier_distance: 0.02}");
  check_warned("contact: {barrier_distance: 0.2001}", "larger than the smallest feature");
  check_warned("contact: {barrier_distance: 30}",
               "larger than the smallest feature of the moving bodies, 0.2 m"); /* no error */
}

/* A box of 0.2 m lies far from its link's origin. Rounding requires a support of 1e-9 of the distance, at most an
 * eighth of the box. */
static void warns_R7_of_bodies_that_are_small_where_they_stand(void** state) {
  (void)state;
  static const double far[] = {1e3, 1e7, 1e8, 1e9}, wanted[] = {1e-3, 1e-2, 2.5e-2, 2.5e-2};
  for (int k = 0; k < 4; k++) {
    Run* run = run_model(
        "name: far\nlinks: [{name: box, mass: 1, shape: {type: box, size: [0.2, 0.2, 0.2]}, position: "
        "[%.17g, 0, 0]}]\n",
        far[k]);
    compare_relative(run->model.contact.support, wanted[k], 1e-6, "a box at %g m", far[k]);
    int warned = 0;
    for (int n = 0; n < run->diagnostics.count; n++)
      warned += strstr(run->diagnostics.items[n].text, "place the scene near the origin") != NULL;
    assert_int_equal(warned, far[k] > 2e7);
    run_free(run);
  }
}

/* The place is that of the value itself: column of the number. */
static void warns_R8_of_stiffness_out_of_range(void** state) {
  (void)state;
  Fixture f;
  load_box(&f, "contact: {barrier_distance: 0.001, stiffness: 1e-5}");
  check_message(&f, SEVERITY_WARNING, 1, "the lightest moving body (9.81 N) rests at a gap of");
  assert_int_equal(find_message(&f, "lightest")->column,
                   (int)strlen("contact: {barrier_distance: 0.001, stiffness: ") + 1);
  fixture_free(&f);
  check_warned("contact: {barrier_distance: 0.001, stiffness: 1e-5}",
               "beyond the barrier_distance 0.001 m: set contact.stiffness to about 3e-10");
  check_warned("contact: {barrier_distance: 0.001, stiffness: 1e-16}",
               "less than a tenth of the barrier_distance 0.001 m");
  check_silent("contact: {barrier_distance: 0.001, stiffness: 3e-8}");
  check_silent("contact: {barrier_distance: 0.001, stiffness: 1e-12}");
}

/* At the equilibrium gap s/2, k = 14.1 F/s. The period is 2 pi sqrt(s / (14.1 g)) = 0.535 s^(1/2), or 17 ms for s = 1
 * mm. Twenty periods equal dt = 10 ms at s = 0.87 um. */
static void warns_R9_of_steps_too_long_for_the_stiffness(void** state) {
  (void)state;
  check_warned("contact: {barrier_distance: 0.8e-6}",
               "time step 0.01 s is too long for the contact stiffness: 20.9 periods");
  check_silent("contact: {barrier_distance: 0.95e-6}");
}

static void warns_R10_of_smoothing(void** state) {
  (void)state;
  check_warned("contact: {smoothing: 100}",
               "friction reaches full strength only at a slip of sqrt(smoothing) dt = 0.1 m per step");
  check_warned("contact: {barrier_distance: 0.01, smoothing: 0.04}",
               "friction reaches full strength only at a slip of sqrt(smoothing) = 0.2 m/s");
  check_warned("contact: {smoothing: 1e-16}", "sqrt(smoothing) = 1e-08 m/s is 2e-07 of the speed");
  check_silent("contact: {smoothing: 1e-6}");
  check_silent("contact: {smoothing: 1e-16, friction: 0}");
}

static void no_contact_no_warnings(void** state) {
  (void)state;
  check_silent("contact: {model: none, barrier_distance: 0.3, stiffness: 1e9, smoothing: 100}");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(derived_R4_R5_R6_for_one_box),
      cmocka_unit_test(derived_R13_for_laws_that_overlap),
      cmocka_unit_test(derived_R5_keeps_pile_and_lightest_in_range),
      cmocka_unit_test(derived_R5_of_ipc),
      cmocka_unit_test(derived_R5_without_gravity),
      cmocka_unit_test(creep_R11_matches_the_guide),
      cmocka_unit_test(derived_R6_has_a_floor_from_the_step),
      cmocka_unit_test(derived_R4_grows_with_the_bodies_and_has_a_floor),
      cmocka_unit_test(derived_R4_follows_fine_steps),
      cmocka_unit_test(derived_R3_leaves_out_slivers_and_fixed_bodies),
      cmocka_unit_test(given_values_are_kept_and_the_rest_follows_them),
      cmocka_unit_test(numbers_beyond_doubles_are_an_error),
      cmocka_unit_test(warns_R7_of_supports_that_are_too_large_or_too_small),
      cmocka_unit_test(warns_R7_of_bodies_that_are_small_where_they_stand),
      cmocka_unit_test(warns_R8_of_stiffness_out_of_range),
      cmocka_unit_test(warns_R9_of_steps_too_long_for_the_stiffness),
      cmocka_unit_test(warns_R10_of_smoothing),
      cmocka_unit_test(no_contact_no_warnings),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

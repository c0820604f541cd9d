#include "fixture.h"

#define BOX "mass: 1, shape: {type: box, size: [0.1, 0.1, 0.1]}"

static void load_hinge(Fixture* f, const char* limits, const char* rest) {
  char yaml[1500];
  snprintf(yaml, sizeof yaml,
           "links:\n"
           "  - name: arm\n"
           "    mass: 1\n"
           "    shape: {type: box, size: [0.1, 0.1, 0.1]}\n"
           "    joint: {type: hinge, axis: [0, 1, 0], limits: %s}\n%s",
           limits, rest);
  fixture_load(f, yaml);
}

static void check_refused(const char* limits, const char* rest, int line, const char* text) {
  Fixture f;
  load_hinge(&f, limits, rest);
  assert_int_equal(f.status, STATUS_BAD_INPUT);
  check_message(&f, SEVERITY_ERROR, line, text);
  fixture_free(&f);
}

static void check_accepted(const char* limits, const char* rest) {
  Fixture f;
  load_hinge(&f, limits, rest);
  check_clean(&f);
  fixture_free(&f);
}

static void start_outside_names_link_dof_value_and_limit(void** state) {
  (void)state;
  check_refused("[-1, 1]", "initial: [{link: arm, coordinates: [1.5]}]\n", 6,
                "initial coordinate 'angle' of link 'arm' is 1.5 rad, but must lie strictly inside the limits [-1, 1]: "
                "change the coordinate in 'initial', or the limits");
  check_refused("[0.2, 1]", "", 5, "is 0 rad, but must lie strictly inside the limits [0.2, 1] (0 because 'initial'");
  check_refused("[null, -0.1]", "", 5, "limits [-inf, -0.1]");
  check_accepted("[-1, 1]", "initial: [{link: arm, coordinates: [0.97]}]\n");
  check_accepted("[null, 1]", "initial: [{link: arm, coordinates: [-50.5]}]\n");
}

/* A barrier pushes within its margin, a hundredth of the range. */
static void start_within_the_margin_is_warned_of(void** state) {
  (void)state;
  Fixture f;
  load_hinge(&f, "[0, 1]", "initial: [{link: arm, coordinates: [0.995]}]\n");
  assert_int_equal(f.status, STATUS_OK);
  assert_int_equal(f.diagnostics.count, 1);
  assert_non_null(find_message(&f, "is 0.995 rad, within 0.01 rad of its limit 1, where the limit force acts"));
  assert_non_null(find_message(&f, "start at 0.99, or set joint.limit_margin below 0.005"));
  fixture_free(&f);
  check_accepted("[0, 1], limit_law: penalty", "initial: [{link: arm, coordinates: [0.995]}]\n");
  /* The coordinate without limit force, 0.19439510239 + 0.021, with the six digits of the message. */
  check_accepted("[0.19439510239, 2.29439510239]", "initial: [{link: arm, coordinates: [0.215395]}]\n");
}

/* At the limit itself a barrier is infinite, a penalty zero. */
static void start_at_the_limit(void** state) {
  (void)state;
  check_refused("[0, 1]", "", 5, "strictly inside");
  check_accepted("[0, 1], limit_law: penalty", "");
  check_refused("[0, 1], limit_law: penalty", "initial: [{link: arm, coordinates: [-1e-9]}]\n", 6, "must lie within");
}

static void a_ball_is_limited_by_its_angle(void** state) {
  (void)state;
  const char* format =
      "links:\n"
      "  - {name: b, " BOX
      ", joint: {type: free, limits: [[-1, 1], null, null, [null, 0.9], null, null]}}\n"
      "initial: [{link: b, coordinates: [0.5, 3, 3, %s]}]\n";
  char yaml[600];
  Fixture f;
  snprintf(yaml, sizeof yaml, format, "0.5, -0.5, 0.5"); /* angle sqrt(0.75) = 0.866 */
  fixture_load(&f, yaml);
  check_clean(&f);
  fixture_free(&f);
  snprintf(yaml, sizeof yaml, format, "0.6, -0.5, 0.5"); /* angle 0.927 */
  fixture_load(&f, yaml);
  check_message(&f, SEVERITY_ERROR, 3, "initial coordinate 'angle' of link 'b' is 0.927362 rad");
  fixture_free(&f);
}

/* Bent by 0.6 about y after a twist of 0.5 about z, as a rotation vector. */
static void a_ball_starts_within_its_swing_and_twist(void** state) {
  (void)state;
  static const char* const cases[][2] = {
      {"swing: 0.61, twist: [-0.1, 0.51]", NULL},
      {"swing: 0.59, twist: [-0.1, 0.51]", "initial coordinate 'swing' of link 'b' is 0.6 rad"},
      {"swing: 0.61, twist: [-0.1, 0.49]", "initial coordinate 'twist' of link 'b' is 0.5 rad"},
      {"swing: 0.61, twist: [0.51, 1]", "initial coordinate 'twist' of link 'b' is 0.5 rad"}};
  for (int k = 0; k < 4; k++) {
    char yaml[600];
    Fixture f;
    snprintf(yaml, sizeof yaml,
             "links:\n"
             "  - {name: b, " BOX
             ", joint: {type: ball, %s}}\n"
             "initial: [{link: b, coordinates: [0.14996168079687, 0.587297534536273, 0.484785345998469]}]\n",
             cases[k][0]);
    fixture_load(&f, yaml);
    if (cases[k][1])
      check_message(&f, SEVERITY_ERROR, 3, cases[k][1]);
    else
      check_clean(&f);
    fixture_free(&f);
  }
}

static void targets_outside_are_warned_of_once(void** state) {
  (void)state;
  Fixture f;
  load_hinge(&f, "[-1, 1]",
             "simulation: {dt: 0.01, duration: 4, integrator: first_order}\n"
             "controllers: [{link: arm, type: pd, position_gain: 10, target: {type: keyframes, times: [0, 2], values: "
             "[0, 2]}}]\n");
  assert_int_equal(f.status, STATUS_OK);
  assert_int_equal(f.diagnostics.count, 1);
  check_message(&f, SEVERITY_WARNING, 7, "target 'angle' of link 'arm' is 1.01 rad at t = 1.01 s, outside");
  fixture_free(&f);
  load_hinge(&f, "[-1, 1]", "controllers: [{link: arm, type: pd, position_gain: 1, target: -1.2}]\n");
  check_message(&f, SEVERITY_WARNING, 6, "is -1.2 rad at t = 0 s");
  fixture_free(&f);
  check_accepted("[-1, 1]", "controllers: [{link: arm, type: pd, position_gain: 1, target: 0.9}]\n");
  check_accepted("[-1, 1]", "controllers: [{link: arm, type: pd, velocity_gain: 10, position_gain: 0, target: 1.9}]\n");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(start_outside_names_link_dof_value_and_limit),
      cmocka_unit_test(start_within_the_margin_is_warned_of),
      cmocka_unit_test(start_at_the_limit),
      cmocka_unit_test(a_ball_is_limited_by_its_angle),
      cmocka_unit_test(a_ball_starts_within_its_swing_and_twist),
      cmocka_unit_test(targets_outside_are_warned_of_once),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Tests that initial velocities that violate loops are reported, with velocities that satisfy the loops. */
#include "fixture.h"

#define BAR "shapes: {bar: {type: box, size: [0.1, 0.1, 0.1]}}\nlinks:\n"
/* A crank of 0.2 m upright, and a rod from its end to a ram on a slide at (0.4, 0, 0). */
#define CRANK                                                                                                \
  BAR "  - {name: crank, shape: bar, mass: 1, joint: {type: hinge, axis: [0, 1, 0]}}\n"                      \
      "  - {name: rod, shape: bar, mass: 1, position: [0.2, 0, 0.1]}\n"                                      \
      "  - {name: ram, shape: bar, mass: 1, joint: {type: slide, axis: [1, 0, 0], position: [0.4, 0, 0]}}\n" \
      "contact: {model: none}\n"                                                                             \
      "closures:\n"                                                                                          \
      "  - {type: hinge, a: crank, b: rod, point: [0, 0, 0.2], axis: [0, 1, 0]}\n"                           \
      "  - {type: hinge, a: rod, b: ram, point: [0.4, 0, 0], axis: [0, 1, 0]}\n"
#define RACK                                                                                                \
  BAR "  - {name: wheel, shape: bar, mass: 1, joint: {type: hinge, axis: [0, 1, 0]}}\n"                     \
      "  - {name: rack, shape: bar, mass: 1, joint: {type: slide, axis: [1, 0, 0], position: [0, 0, 1]}}\n" \
      "couplings: [{link: rack, of: wheel, ratio: 0.1}]\n"
#define MESSAGE "like an impact"

/* velocities: suggestion in the message, or NULL if nothing is reported. */
typedef struct {
  const char* text;
  Severity severity;
  const char* velocities;
} Case;

static void violated_loops_Z22_are_reported_with_velocities(void** state) {
  (void)state;
  static const Case CASES[] = {
      /* the end of the crank moves at 2 m/s along x; the rod does not rotate, so the rod and the ram move alike */
      {CRANK "initial: [{link: crank, velocities: [10]}]\n", SEVERITY_WARNING,
       "{link: rod, velocities: [2, 0, 0, 0, 0, 0]}, {link: ram, velocities: [2]}"},
      {CRANK "initial: [{link: crank, velocities: [10]}, {link: rod, velocities: [2, 0, 0, 0, 0, 0]}, "
             "{link: ram, velocities: [2]}]\n",
       SEVERITY_WARNING, NULL},
      /* rounded to three digits */
      {CRANK "initial: [{link: crank, velocities: [10]}, {link: rod, velocities: [2, 0, 0, 0, 0, 0]}, "
             "{link: ram, velocities: [2.01]}]\n",
       SEVERITY_WARNING, NULL},
      {CRANK "controllers: [{link: crank, type: prescribed, velocity: 10}]\n", SEVERITY_NOTE,
       "{link: rod, velocities: [2, 0, 0, 0, 0, 0]}, {link: ram, velocities: [2]}"},
      {CRANK, SEVERITY_WARNING, NULL},
      {RACK "initial: [{link: wheel, velocities: [10]}]\n", SEVERITY_WARNING, "{link: rack, velocities: [1]}"},
      {RACK "initial: [{link: wheel, velocities: [10]}, {link: rack, velocities: [1]}]\n", SEVERITY_WARNING, NULL},
      /* no velocities of other joints satisfy the coupling */
      {RACK "initial: [{link: wheel, velocities: [10]}, {link: rack, velocities: [2]}]\n", SEVERITY_WARNING,
       "change the initial velocities"},
  };
  for (size_t k = 0; k < sizeof CASES / sizeof CASES[0]; k++) {
    Fixture f;
    fixture_load(&f, CASES[k].text);
    const Diagnostic* found = find_message(&f, MESSAGE);
    if (!found != !CASES[k].velocities) fail_msg("case %d: found '%s'", (int)k, found ? found->text : "");
    if (found && CASES[k].velocities &&
        (found->severity != CASES[k].severity || !strstr(found->text, CASES[k].velocities)))
      fail_msg("case %d: severity %d, '%s'", (int)k, (int)found->severity, found->text);
    assert_int_equal(f.status, STATUS_OK);
    fixture_free(&f);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(violated_loops_Z22_are_reported_with_velocities)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Tests that couplings which lock their joints are refused. Chains, branches and movable rings are accepted. */
#include "fixture.h"

static const char GEARS[] =
    "shapes: {disc: {type: cylinder, radius: 0.1, length: 0.05}}\n"
    "links:\n"
    "  - {name: a, mass: 1, shape: disc, joint: {type: hinge, axis: [0, 0, 1]}}\n"
    "  - {name: b, mass: 1, shape: disc, joint: {type: hinge, axis: [0, 0, 1], position: [1, 0, 0]}}\n"
    "  - {name: c, mass: 1, shape: disc, joint: {type: hinge, axis: [0, 0, 1], position: [2, 0, 0]}}\n"
    "couplings:\n";

/* items: of couplings, from line 7 on. words NULL: nothing is wrong. */
typedef struct {
  const char *items, *words;
  int line;
} Case;

static void couplings_that_cannot_move_are_refused(void** state) {
  (void)state;
  static const Case CASES[] = {
      {"  - {link: b, of: a, ratio: -2}\n  - {link: c, of: b, ratio: 0.5}\n", NULL, 0},
      {"  - {link: b, of: a, ratio: -2}\n  - {link: c, of: a, ratio: 0.5}\n", NULL, 0},
      /* round the ring -2 * 0.5 * -1 = 1 */
      {"  - {link: b, of: a, ratio: -2}\n  - {link: c, of: b, ratio: 0.5}\n  - {link: a, of: c, ratio: -1}\n", NULL, 0},
      {"  - {link: b, of: a, ratio: -2}\n  - {link: c, of: b, ratio: 0.5}\n  - {link: a, of: c, ratio: 3}\n",
       "couplings[0].of: the couplings form a cycle through 'b' with the total ratio -3, so the joint cannot move: "
       "remove one of the couplings, or choose ratios with the product 1",
       7},
      {"  - {link: b, of: a, ratio: 2}\n  - {link: b, of: a, ratio: 3}\n",
       "couplings[1].ratio: two couplings tie 'b' to the same joint with different ratios, 2 and 3, so neither joint "
       "can move: "
       "remove one of the couplings",
       8},
      {"  - {link: b, of: a, ratio: 2}\n  - {link: b, of: a, ratio: 2}\n", NULL, 0},
  };
  for (size_t k = 0; k < sizeof CASES / sizeof CASES[0]; k++) {
    char text[2 * sizeof GEARS];
    snprintf(text, sizeof text, "%s%s", GEARS, CASES[k].items);
    Fixture f;
    fixture_load(&f, text);
    if (CASES[k].words)
      check_message(&f, SEVERITY_ERROR, CASES[k].line, CASES[k].words);
    else
      check_clean(&f);
    fixture_free(&f);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(couplings_that_cannot_move_are_refused)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}

#include "scene/expression.h"
#include "scene_testing.h"

static const RepeatIndices GRID = {.axis_count = 3, .step = {1, 2, 3}, .start = 4, .n = 17}; /* i 5, j 6, k 7 */

static void values_are_integers(void** state) {
  (void)state;
  static const struct {
    const char *text, *wanted;
  } CASES[] = {
      {"", ""},
      {"plain", "plain"},
      {"a{i}b{j}{k}", "a5b67"},
      {"{n}", "17"},
      {"{n%10}", "7"},
      {"{ i - 1 }", "4"},
      {"{i+j*k}", "47"},
      {"{(i+j)*k}", "77"},
      {"{n/5}", "3"},
      {"{-n/5}", "-4"},   /* rounded down */
      {"{(i-7)%8}", "6"}, /* never negative */
      {"{-i}", "-5"},
      {"{--i}", "5"},
      {"{100-10-1}", "89"}, /* from the left */
      {"{100/10/2}", "5"},
      {"{2*(3+(4-(5)))}", "4"},
      {"\xc3\xa4{i}",
       "\xc3\xa4"
       "5"},
  };
  for (int i = 0; i < COUNT(CASES); i++) {
    Text text = {0};
    const char* problem;
    if (!expression_expand(CASES[i].text, &GRID, NULL, &text, &problem)) fail_msg("%s: %s", CASES[i].text, problem);
    assert_string_equal(text.data, CASES[i].wanted);
    text_free(&text);
  }
}

static void mistakes_are_named(void** state) {
  (void)state;
  static const RepeatIndices LINE = {.axis_count = 1};
  static const struct {
    const char *text, *part;
    bool outside;
  } CASES[] = {
      {"{}", "expected a number", false},
      {"{i", "expected + - * / %", false},
      {"i}", "has no matching {", false},
      {"{i+}", "expected a number", false},
      {"{i+", "is incomplete", false},
      {"{(i}", "not closed", false},
      {"{i j}", "expected + - * / %", false},
      {"{x}", "expected a number", false},
      {"{j}", "needs a repeat.count with more axes", false},
      {"{1/i}", "division by zero", false},
      {"{1%(i*2)}", "division by zero", false},
      {"{99999999999999999999}", "too large", false},
      {"{2000000000*2000000000}", "too large", false},
      {"{2000000000+2000000000}", "too large", false},
      {"{((((((((((((((((((((((((((((((((((((i))))))))))))))))))))))))))))))))))))}", "too deeply", false},
      {"{1.5}", "expected + - * / %", false},
      {"{i}", "needs 'repeat' in the same item", true},
  };
  for (int i = 0; i < COUNT(CASES); i++) {
    Text text = {0};
    const char* problem = NULL;
    if (expression_expand(CASES[i].text, CASES[i].outside ? NULL : &LINE, NULL, &text, &problem))
      fail_msg("%s gave %s", CASES[i].text, text.data);
    if (!strstr(problem, CASES[i].part)) fail_msg("%s: '%s', wanted '%s'", CASES[i].text, problem, CASES[i].part);
    text_free(&text);
  }
}

/* Random expressions against C arithmetic, with an independent floor function. */
static void random_expressions_agree_with_c(void** state) {
  (void)state;
  Random random = {20};
  for (int trial = 0; trial < 2000; trial++) {
    int a = (int)(random_bits(&random) % 41) - 20, b = (int)(random_bits(&random) % 41) - 20;
    RepeatIndices indices = {.axis_count = 2, .step = {a, b}};
    Text text = {0}, wanted = {0};
    const char* problem;
    assert_true(expression_expand("{i*j-(i+j)/3} {i/(0-7)} {j%5}", &indices, NULL, &text, &problem));
    text_add(&wanted, "%d %d %d", a * b - (int)floor((a + b) / 3.0), (int)floor(a / -7.0), ((b % 5) + 5) % 5);
    if (strcmp(text.data, wanted.data) != 0)
      fail_msg("seed 20, trial %d: %s, wanted %s", trial, text.data, wanted.data);
    text_free(&text);
    text_free(&wanted);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(values_are_integers),
      cmocka_unit_test(mistakes_are_named),
      cmocka_unit_test(random_expressions_agree_with_c),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include "base/base.h"

static void expect(const char* text, const char* roff) {
  Text out = {0};
  text_add_roff(&out, text);
  assert_string_equal(out.data, roff);
  text_free(&out);
}

static void what_roff_would_take_for_its_own_is_escaped(void** state) {
  (void)state;
  expect("a\n.b\n'c", "a\n\\&.b\n\\&'c");
  expect("--set a\\b", "\\-\\-set a\\eb");
  expect(".5 and 0.5", "\\&.5 and 0.5");
}

static void words_between_backquotes_are_bold(void** state) {
  (void)state;
  expect("say `-v` or `q", "say \\fB\\-v\\fR or \\fBq\\fR");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_roff_would_take_for_its_own_is_escaped),
      cmocka_unit_test(words_between_backquotes_are_bold),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "base/base.h"

static void words_are_found(void** state) {
  (void)state;
  assert_int_equal(words_count("one|two|three"), 3);
  assert_int_equal(words_index("one|two|three", "two"), 1);
  assert_int_equal(words_index("one|two|three", "tw"), -1);
  assert_int_equal(words_index("one|two|three", "two|three"), -1);
  assert_int_equal(words_index("one", ""), -1);
  assert_string_equal(words_at("one|two|three", 2).text, "three");
  Text text = {0};
  words_add_enumeration("one|two|three", &text);
  assert_string_equal(text.data, "one, two or three");
  text_free(&text);
}

static void misspelled_words_find_the_nearest(void** state) {
  (void)state;
  assert_int_equal(words_nearest("visual|collision|inertial", "Collision"), 1);
  assert_int_equal(words_nearest("visual|collision|inertial", "inertia"), 2);
  assert_int_equal(words_nearest("lower|upper", "uper"), 1);
  assert_int_equal(words_nearest("visual|collision|inertial", "contact"), -1);
  assert_int_equal(words_nearest("", "origin"), -1);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(words_are_found),
                                     cmocka_unit_test(misspelled_words_find_the_nearest)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <string.h>
#include "ask/ask.h"

static void expect_place(const char* text, const int* path, int depth, bool key, int line, int column) {
  SourcePosition place = json_find_location("f.json", text, path, depth, key);
  assert_string_equal(place.file, "f.json");
  assert_int_equal(place.line, line);
  assert_int_equal(place.column, column);
}

static void places_are_found_through_lists_objects_and_strings(void** state) {
  (void)state;
  const char* text =
      "[\n"
      "  {\"a\": [[1, 2, 3], [4, 5]], \"]\\\"[\": \"}{\",\n"
      "   \"b\" : {}},\n"
      "  [], true,-1.5e3 , \"x\"\n"
      "]";
  expect_place(text, NULL, 0, false, 1, 1);
  expect_place(text, (const int[]){0}, 1, false, 2, 3);
  expect_place(text, (const int[]){0, 0}, 2, true, 2, 4);
  expect_place(text, (const int[]){0, 0}, 2, false, 2, 9);
  expect_place(text, (const int[]){0, 0, 1}, 3, false, 2, 21);
  expect_place(text, (const int[]){0, 0, 1, 1}, 4, false, 2, 25);
  expect_place(text, (const int[]){0, 1}, 2, true, 2, 30);
  expect_place(text, (const int[]){0, 1}, 2, false, 2, 38);
  expect_place(text, (const int[]){0, 2}, 2, true, 3, 4);
  expect_place(text, (const int[]){0, 2}, 2, false, 3, 10);
  expect_place(text, (const int[]){1}, 1, false, 4, 3);
  expect_place(text, (const int[]){2}, 1, false, 4, 7);
  expect_place(text, (const int[]){3}, 1, false, 4, 12);
  expect_place(text, (const int[]){4}, 1, false, 4, 21);
}

/* cJSON takes every control character for space. */
static void control_characters_are_space(void** state) {
  (void)state;
  expect_place("{\"a\"\001:\001 1\002, \"b\"\003: [\0012]}", (const int[]){1, 0}, 2, false, 1, 21);
}

static void columns_count_characters(void** state) {
  (void)state;
  expect_place("[\"\xc3\xa9\xc3\xa9\", 1]", (const int[]){1}, 1, false, 1, 8);
  expect_place("\xef\xbb\xbf[\n 1]", (const int[]){0}, 1, false, 2, 2);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(places_are_found_through_lists_objects_and_strings),
      cmocka_unit_test(control_characters_are_space),
      cmocka_unit_test(columns_count_characters),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

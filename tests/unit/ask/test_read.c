#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <string.h>
#include "ask/ask.h"

#define GOOD "{\"a\": [[0,0,0],[1,0,0]], \"b\": [[0,0,2.5]], \"support\": 0.01}"

static Status parse(QueryList* list, const char* text, Diagnostics* diagnostics) {
  return query_parse(list, "q.json", text, strlen(text), diagnostics);
}

static void lists_and_single_pairs_are_read(void** state) {
  (void)state;
  QueryList list;
  Diagnostics diagnostics = {0};
  assert_int_equal(parse(&list, "[" GOOD ",\n" GOOD "]", &diagnostics), STATUS_OK);
  assert_int_equal(list.count, 2);
  assert_int_equal(list.items[1].pair.a_count, 2);
  assert_int_equal(list.items[1].pair.b_count, 1);
  assert_true(list.items[1].pair.a[1].x == 1.0);
  assert_true(list.items[1].pair.b[0].z == 2.5);
  assert_true(list.items[1].pair.support == 0.01);
  query_free(&list);
  assert_int_equal(parse(&list, GOOD, &diagnostics), STATUS_OK);
  assert_int_equal(list.count, 1);
  query_free(&list);
  assert_int_equal(parse(&list, "[]", &diagnostics), STATUS_OK);
  assert_int_equal(list.count, 0);
  query_free(&list);
  assert_int_equal(diagnostics.count, 0);
}

static void expect_problem(const char* text, int line, int column, const char* message) {
  QueryList list;
  Diagnostics diagnostics = {0};
  assert_int_equal(parse(&list, text, &diagnostics), STATUS_BAD_INPUT);
  assert_int_equal(diagnostics.error_count, 1);
  assert_string_equal(diagnostics.items[0].text, message);
  assert_int_equal(diagnostics.items[0].line, line);
  assert_int_equal(diagnostics.items[0].column, column);
  diagnostics_free(&diagnostics);
  query_free(&list);
}

static void each_mistake_has_a_place_and_a_rule(void** state) {
  (void)state;
  expect_problem("[1]", 1, 2, "pair 0: expected a pair {\"a\": [...], \"b\": [...], \"support\": s}, got a number");
  expect_problem("[{\"a\": [[0,0,0]],\n\"b\": [[0,0,1]]}]", 1, 2, "pair 0: the key 'support' is missing");
  expect_problem("{\"a\": [[0,0,0]], \"b\": [[0,0,1]], \"suport\": 1, \"support\": 1}", 1, 34,
                 "unknown key 'suport' (did you mean 'support'?)");
  expect_problem("{\"a\": [[0,0,0]], \"b\": [[0,0,1]], \"a\": [[0,0,0]], \"support\": 1}", 1, 34,
                 "the key 'a' occurs twice");
  expect_problem("{\"a\": [[0,0,0],\n [0,1]], \"b\": [[0,0,1]], \"support\": 1}", 2, 2,
                 "a[1]: a point must be [x, y, z], got 2 values");
  expect_problem("{\"a\": [[0,0,\"0\"]], \"b\": [[0,0,1]], \"support\": 1}", 1, 13,
                 "a[0][2]: expected a number, got a text");
  expect_problem("{\"a\": [[0,0,1e999]], \"b\": [[0,0,1]], \"support\": 1}", 1, 13,
                 "a[0][2]: must be in -1e+09 .. 1e+09 m, got inf");
  expect_problem("{\"a\": [], \"b\": [[0,0,1]], \"support\": 1}", 1, 7,
                 "a: expected a list of points [x, y, z], got an empty one");
  expect_problem("{\"a\": [7], \"b\": [[0,0,1]], \"support\": 1}", 1, 8,
                 "a[0]: a point must be [x, y, z], got a number");
  expect_problem("{\"a\": [[0,0,0]], \"b\": [[0,0,1]], \"support\": 0}", 1, 45,
                 "support: must be in 1e-12 .. 1e+09 m, got 0");
  expect_problem("{\"a\": [[0,0,0]], \"b\": [[0,0,1]], \"support\": null}", 1, 45,
                 "support: expected a number, got null");
}

static void all_mistakes_are_told_at_once(void** state) {
  (void)state;
  QueryList list;
  Diagnostics diagnostics = {0};
  assert_int_equal(parse(&list, "[{\"a\": 1, \"b\": [[0,0]], \"support\": -1}, " GOOD ", {}]", &diagnostics),
                   STATUS_BAD_INPUT);
  assert_int_equal(diagnostics.error_count, 3 + 3);
  diagnostics_free(&diagnostics);
  query_free(&list);
}

static void broken_json_has_a_place(void** state) {
  (void)state;
  expect_problem("[\n  {\"a\" 1}]", 2, 8, "not valid JSON from here on");
  expect_problem("[{\"a\": [1,", 1, 11, "not valid JSON: the text ends too early");
  expect_problem("", 1, 1, "not valid JSON: the text ends too early");
  expect_problem("[NaN]", 1, 2, "not valid JSON from here on");
  expect_problem("[] ]", 1, 4, "not valid JSON from here on");
}

static void a_flood_of_mistakes_is_cut(void** state) {
  (void)state;
  Text text = {0};
  text_add(&text, "[0");
  for (int i = 1; i < 1000; i++) text_add(&text, ",0");
  text_add(&text, "]");
  QueryList list;
  Diagnostics diagnostics = {0};
  assert_int_equal(parse(&list, text.data, &diagnostics), STATUS_BAD_INPUT);
  assert_int_equal(diagnostics.error_count, 200);
  assert_string_equal(diagnostics.items[200].text, "800 more problems are not shown");
  diagnostics_free(&diagnostics);
  query_free(&list);
  text_free(&text);
}

/* Bytes of a good text replaced at random: read or refused with a place, never a crash. */
static void mutated_texts_are_read_or_refused(void** state) {
  (void)state;
  static const char alphabet[] = "[]{}\",:0-9e.abn \n\\\x01\xff";
  const uint64_t seed = 7;
  Random random = {seed};
  for (int round = 0; round < 5000; round++) {
    char text[] = "[" GOOD "]";
    size_t length = sizeof text - 1;
    for (int k = 0; k < 3; k++)
      text[random_bits(&random) % length] = alphabet[random_bits(&random) % (sizeof alphabet - 1)];
    QueryList list;
    Diagnostics diagnostics = {0};
    if (query_parse(&list, "q.json", text, length, &diagnostics) != STATUS_OK) {
      assert_true(diagnostics.error_count > 0);
      assert_true(diagnostics.items[0].line > 0 && diagnostics.items[0].column > 0);
    }
    diagnostics_free(&diagnostics);
    query_free(&list);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(lists_and_single_pairs_are_read), cmocka_unit_test(each_mistake_has_a_place_and_a_rule),
      cmocka_unit_test(all_mistakes_are_told_at_once),   cmocka_unit_test(broken_json_has_a_place),
      cmocka_unit_test(a_flood_of_mistakes_is_cut),      cmocka_unit_test(mutated_texts_are_read_or_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include "scene/document.h"
#include "scene/write_text.h"

static void expect_written(const char* text, const char* wanted) {
  Text out = {0};
  write_text(&out, text);
  assert_string_equal(out.data, wanted);
  text_free(&out);
}

static void simple_texts_stand_plain(void** state) {
  (void)state;
  expect_written("arm", "arm");
  expect_written("left_arm-2.b/c", "left_arm-2.b/c");
  expect_written("nothing", "nothing");
}

static void others_stand_in_quotes(void** state) {
  (void)state;
  expect_written("", "\"\"");
  expect_written("5", "\"5\"");
  expect_written("-a", "\"-a\"");
  expect_written("true", "\"true\"");
  expect_written("null", "\"null\"");
  expect_written("nan", "\"nan\"");
  expect_written("Yes", "\"Yes\"");
  expect_written("a b", "\"a b\"");
  expect_written("a: b", "\"a: b\"");
  expect_written("say \"x\\y\"", "\"say \\\"x\\\\y\\\"\"");
  expect_written("\xc3\xa4", "\"\xc3\xa4\"");
  expect_written("a\nb\x7f", "\"a\\u000ab\\u007f\"");
  expect_written("\xe2\x80\xa8\xc2\x85", "\"\\u2028\\u0085\""); /* ends of lines for YAML */
}

/* Random texts as a single value, as a key, and in a flow list. */
static void every_text_reads_back(void** state) {
  (void)state;
  static const char* const PIECES[] = {"a",
                                       "Z",
                                       "0",
                                       "-",
                                       ":",
                                       " ",
                                       "#",
                                       "\"",
                                       "'",
                                       "{",
                                       "]",
                                       ",",
                                       "&",
                                       "*",
                                       "!",
                                       "|",
                                       "\\",
                                       "\n",
                                       "%",
                                       "\t",
                                       "\xc3\xa4",
                                       "\xe2\x80\xa9",
                                       "\xef\xbb\xbf",
                                       "\xf0\x9f\x98\x80",
                                       "\x01",
                                       "null",
                                       "1e3"};
  Random random = {11};
  for (int trial = 0; trial < 3000; trial++) {
    Text text = {0}, yaml = {0};
    text_add_bytes(&text, "", 0);
    for (uint64_t n = random_bits(&random) % 8; n > 0; n--)
      text_add(&text, "%s", PIECES[random_bits(&random) % (sizeof PIECES / sizeof PIECES[0])]);
    write_text(&yaml, text.data);
    text_add(&yaml, ": [");
    write_text(&yaml, text.data);
    text_add(&yaml, "]\nb: ");
    write_text(&yaml, text.data);
    text_add(&yaml, "\n");
    Document document = {0};
    Diagnostics diagnostics = {0};
    const Node* root = document_read_yaml(&document, "t", yaml.data, yaml.length, &diagnostics);
    if (!root) {
      fail_msg("seed 11, trial %d: %s is not YAML", trial, yaml.data);
      return;
    }
    if (strcmp(text.data, "<<") != 0) assert_string_equal(root->first->key, text.data);
    assert_string_equal(root->first->first->text, text.data);
    assert_int_equal(node_scalar_type(root->first->first), SCALAR_TEXT);
    assert_string_equal(node_find(root, "b")->text, text.data);
    document_free(&document);
    diagnostics_free(&diagnostics);
    text_free(&text);
    text_free(&yaml);
  }
}

static void numbers_read_back_to_the_same_bits(void** state) {
  (void)state;
  const double values[] = {0.0, -0.0, 1.0 / 3, 1e300, 5e-324, -2.2250738585072014e-308, 0.1 + 0.2, 1e22};
  const int count = (int)(sizeof values / sizeof values[0]);
  Text yaml = {0};
  write_numbers(&yaml, values, count);
  Document document = {0};
  Diagnostics diagnostics = {0};
  const Node* list = document_read_yaml(&document, "t", yaml.data, yaml.length, &diagnostics);
  assert_non_null(list);
  assert_int_equal(list->count, count);
  for (int i = 0; i < count; i++) {
    double value;
    assert_true(node_number(node_child_at(list, i), &value));
    assert_memory_equal(&value, &values[i], sizeof value);
  }
  document_free(&document);
  diagnostics_free(&diagnostics);
  text_free(&yaml);
}

static void exponents_have_a_point(void** state) {
  (void)state;
  Text out = {0};
  write_numbers(&out, (const double[6]){1e-7, -2e300, 1.5e-9, 0.5, 3, -0.0}, 6);
  assert_string_equal(out.data, "[1.0e-07, -2.0e+300, 1.5e-09, 0.5, 3, -0]");
  text_free(&out);
}

static void keys_follow_a_comma(void** state) {
  (void)state;
  Text out = {0};
  write_key_text(&out, "a", "b c");
  write_key_number(&out, "n", 0.5);
  write_key_vector(&out, "v", vec3(1, -2, 3));
  assert_string_equal(out.data, ", a: \"b c\", n: 0.5, v: [1, -2, 3]");
  text_free(&out);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(simple_texts_stand_plain), cmocka_unit_test(others_stand_in_quotes),
      cmocka_unit_test(every_text_reads_back),    cmocka_unit_test(numbers_read_back_to_the_same_bits),
      cmocka_unit_test(exponents_have_a_point),   cmocka_unit_test(keys_follow_a_comma),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

#include "document_testing.h"

static Node* read_text(const char* text) {
  return document_read_json(&document, "t", text, strlen(text), &diagnostics);
}

static void every_node_knows_its_place(void** state) {
  (void)state;
  Node* root = read_text("{\n  \"a\" : 1,\r\n  \"b\": [ \"x,]\\\"\", {\"\xc3\xa4\": [], \"d\": -2.5e3}, null ]\n}\n");
  assert_non_null(root);
  assert_int_equal(root->place.column, 1);
  const Node *a = node_find(root, "a"), *b = node_find(root, "b");
  assert_int_equal(a->key_line, 2);
  assert_int_equal(a->key_column, 3);
  assert_int_equal(a->place.column, 9);
  assert_int_equal(b->place.line, 3);
  assert_int_equal(b->place.column, 8);
  assert_string_equal(b->first->text, "x,]\"");
  assert_true(b->first->quoted);
  const Node* map = node_child_at(b, 1);
  assert_int_equal(map->place.column, 19);
  assert_int_equal(map->first->kind, NODE_LIST);
  assert_int_equal(map->first->place.column, 25);
  assert_int_equal(node_find(map, "d")->key_column, 29);
  assert_string_equal(node_find(map, "d")->text, "-2.5e3");
  assert_true(node_is_null(node_child_at(b, 2)));
  assert_int_equal(node_child_at(b, 2)->place.column, 43);
}

static void escapes_are_decoded(void** state) {
  (void)state;
  Node* root = read_text("{\"\\u00e4\\n\": \"\\ud83d\\ude00\\\\u0000\"}");
  assert_non_null(root);
  assert_string_equal(root->first->key, "\xc3\xa4\n");
  assert_string_equal(root->first->text, "\xf0\x9f\x98\x80\\u0000");
}

static void one_mistake_one_message(void** state) {
  (void)state;
  expect("", "1:1: error: not valid JSON: the text ends too early\n");
  expect("{\"a\": 1", "1:8: error: not valid JSON: the text ends too early\n");
  expect("{\"a\": 1,}", "1:9: error: expected a key in double quotes\n");
  expect("{\"a\" 1}", "1:6: error: expected a colon after the key\n");
  expect("{\"a\": 1 \"b\": 2}", "1:9: error: expected a comma or }\n");
  expect("[1 2]", "1:4: error: expected a comma or ]\n");
  expect("[1, ]", "1:5: error: expected a value: a text in double quotes, a number, true, false, null, [ or {\n");
  expect("[tru]", "1:2: error: expected a value: a text in double quotes, a number, true, false, null, [ or {\n");
  expect("{\"a\": 1}\nx", "2:1: error: text follows the end of the value: remove the text\n");
  expect("{'a': 1}", "1:2: error: expected a key in double quotes\n");
  expect("{\"a\": 1, \"a\": 2}", "1:10: error: the key 'a' occurs twice, first in line 1: remove one of the two\n");
  expect("[01]", "1:2: error: a JSON number must not begin with 0 before other digits: remove the 0\n");
  expect("[-00]", "1:2: error: a JSON number must not begin with 0 before other digits: remove the 0\n");
  expect("[1.]", "1:2: error: a JSON number needs digits after its decimal point\n");
  expect("[\n  1.e5]", "2:3: error: a JSON number needs digits after its decimal point\n");
  expect("[1e]", "1:2: error: a JSON number needs digits in its exponent\n");
  expect("[-]", "1:2: error: not a JSON number: write digits, for example -1.5e3\n");
  expect("[+1]", "1:2: error: expected a value: a text in double quotes, a number, true, false, null, [ or {\n");
  expect("[1.00000000000000000000000000000000000000000000000000000000000001]",
         "1:2: error: the number has too many digits\n");
  expect("[\"a", "1:4: error: not valid JSON: the text ends too early\n");
  expect("[\"a\nb\"]",
         "1:4: error: a string must end on its line and contain no control characters: write \\n for a new line\n");
  expect("[\"\\x\"]", "1:3: error: a \\ in a string must be followed by one of \" \\ / b f n r t u\n");
  expect("[\"\\u12g4\"]", "1:3: error: \\u must be followed by four hexadecimal digits\n");
  expect("[\"x\\u0000y\"]", "1:4: error: a string must not contain \\u0000: remove the character\n");
  expect("[1,\v2]", "1:4: error: expected a value: a text in double quotes, a number, true, false, null, [ or {\n");
  expect("[\xff]", "1:2: error: the byte 0xff is not valid in UTF-8: save the file as UTF-8\n");
}

/* The grammar does not look into pairs of \\u; cJSON does. */
static void a_broken_surrogate_pair_is_refused(void** state) {
  (void)state;
  assert_null(read_text("[\"\\ud800x\"]"));
  assert_int_equal(diagnostics.count, 1);
  assert_int_equal(diagnostics.items[0].line, 1);
}

static void numbers_of_json_are_numbers(void** state) {
  (void)state;
  Node* root = read_text("[0, -0, 10, 1.5, -2e3, 1E-4, 1.25e+2]");
  assert_non_null(root);
  static const double WANTED[] = {0, 0, 10, 1.5, -2000, 1e-4, 125};
  for (int i = 0; i < COUNT(WANTED); i++) {
    double value;
    assert_int_equal(node_scalar_type(node_child_at(root, i)), SCALAR_NUMBER);
    assert_true(node_number(node_child_at(root, i), &value));
    compare_near(value, WANTED[i], 0, "number %d", i);
  }
}

static void a_byte_order_mark_is_no_part_of_the_text(void** state) {
  (void)state;
  Node* root = read_text("\xef\xbb\xbf[1]");
  assert_non_null(root);
  assert_int_equal(root->first->place.column, 2);
}

static void depth_is_limited(void** state) {
  (void)state;
  char text[400];
  for (int depth = DOCUMENT_DEPTH_MAX - 1; depth <= DOCUMENT_DEPTH_MAX + 1; depth++) {
    document_free(&document);
    diagnostics_free(&diagnostics);
    memset(text, '[', (size_t)depth);
    memset(text + depth, ']', (size_t)depth);
    text[2 * depth] = 0;
    assert_int_equal(read_text(text) != NULL, depth <= DOCUMENT_DEPTH_MAX);
  }
}

#define TEST(name) cmocka_unit_test_teardown(name, teardown)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(every_node_knows_its_place),
      TEST(escapes_are_decoded),
      TEST(one_mistake_one_message),
      TEST(numbers_of_json_are_numbers),
      TEST(a_broken_surrogate_pair_is_refused),
      TEST(depth_is_limited),
      TEST(a_byte_order_mark_is_no_part_of_the_text),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

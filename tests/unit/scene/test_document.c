#include "scene/document.h"
#include "scene_testing.h"

static Node scalar(const char* text, bool quoted) {
  return (Node){.kind = NODE_SCALAR, .text = text, .quoted = quoted};
}

static void scalars_follow_the_core_schema(void** state) {
  (void)state;
  static const struct {
    const char* text;
    ScalarKind kind;
  } CASES[] = {
      {"", SCALAR_NULL},           {"~", SCALAR_NULL},           {"null", SCALAR_NULL},
      {"nULL", SCALAR_TEXT},       {"true", SCALAR_BOOL},        {"False", SCALAR_BOOL},
      {"yes", SCALAR_TEXT},        {"on", SCALAR_TEXT},          {"0", SCALAR_NUMBER},
      {"-12", SCALAR_NUMBER},      {"+3.5", SCALAR_NUMBER},      {".5", SCALAR_NUMBER},
      {"5.", SCALAR_NUMBER},       {"1e-8", SCALAR_NUMBER},      {"1E+8", SCALAR_NUMBER},
      {"-.5e3", SCALAR_NUMBER},    {".", SCALAR_TEXT},           {"-", SCALAR_TEXT},
      {"1e", SCALAR_TEXT},         {"1e+", SCALAR_TEXT},         {"e5", SCALAR_TEXT},
      {"1.2.3", SCALAR_TEXT},      {"0x10", SCALAR_TEXT},        {"1_000", SCALAR_TEXT},
      {"1,5", SCALAR_TEXT},        {" 1", SCALAR_TEXT},          {"1 ", SCALAR_TEXT},
      {".inf", SCALAR_NOT_FINITE}, {"-.Inf", SCALAR_NOT_FINITE}, {".NaN", SCALAR_NOT_FINITE},
      {"nan", SCALAR_NOT_FINITE},  {"inf", SCALAR_NOT_FINITE},   {"infinite", SCALAR_TEXT},
      {"nano", SCALAR_TEXT},
  };
  for (int i = 0; i < COUNT(CASES); i++) {
    Node plain = scalar(CASES[i].text, false), quoted = scalar(CASES[i].text, true);
    if (node_scalar_type(&plain) != CASES[i].kind)
      fail_msg("'%s' is %d, wanted %d", CASES[i].text, node_scalar_type(&plain), CASES[i].kind);
    assert_int_equal(node_scalar_type(&quoted), SCALAR_TEXT);
  }
}

static void numbers_are_the_nearest_doubles(void** state) {
  (void)state;
  static const struct {
    const char* text;
    double value;
  } CASES[] = {{"1e-8", 1e-8}, {".5", 0.5}, {"-9.81", -9.81}, {"+5.", 5.0}, {"1e308", 1e308}, {"1e-400", 0.0}};
  for (int i = 0; i < COUNT(CASES); i++) {
    Node node = scalar(CASES[i].text, false);
    double value;
    assert_true(node_number(&node, &value));
    compare_near(value, CASES[i].value, 0.0, "%s", CASES[i].text);
  }
  double value;
  Node large = scalar("-1e309", false);
  assert_false(node_number(&large, &value));
}

static void children_keep_their_order_and_can_be_removed(void** state) {
  (void)state;
  Document document = {0};
  Node* list = document_node(&document, NODE_LIST, (SourcePosition){0});
  Node* items[3];
  for (int i = 0; i < 3; i++) {
    items[i] = document_node(&document, NODE_SCALAR, (SourcePosition){0});
    node_append(list, items[i]);
  }
  for (int i = 0; i < 3; i++) assert_ptr_equal(node_child_at(list, i), items[i]);
  assert_null(node_child_at(list, 3));
  node_remove(list, items[2]);
  node_append(list, items[2]);
  node_remove(list, items[0]);
  assert_int_equal(list->count, 2);
  assert_ptr_equal(list->first, items[1]);
  assert_ptr_equal(list->last, items[2]);
  node_remove(list, items[0]); /* not there any more */
  node_remove(list, items[1]);
  node_remove(list, items[2]);
  assert_int_equal(list->count, 0);
  assert_null(list->first);
  assert_null(list->last);
  document_free(&document);
}

static void copies_are_of_their_own(void** state) {
  (void)state;
  Document document = {0};
  Diagnostics diagnostics = {0};
  const char* text = "{a: [1, 2], b: x}";
  Node* root = document_read_yaml(&document, "t", text, strlen(text), &diagnostics);
  Node* shallow = document_shallow_copy(&document, root);
  Node* deep = document_deep_copy(&document, root);
  assert_int_equal(shallow->count, 2);
  assert_ptr_equal(shallow->first->first, root->first->first); /* shares what is below */
  assert_ptr_not_equal(deep->first->first, root->first->first);
  assert_string_equal(deep->first->last->text, "2");
  assert_string_equal(deep->last->key, "b");
  node_remove(shallow, shallow->first);
  assert_int_equal(root->count, 2);
  document_free(&document);
  diagnostics_free(&diagnostics);
}

static void bytes_that_are_not_utf8_are_refused(void** state) {
  (void)state;
  static const struct {
    const char* text;
    int column; /* 0 = good */
  } CASES[] = {
      {"a\xc3\xa4 \xe2\x82\xac \xf0\x9f\x98\x80", 0},
      {"ab\xff", 3},           /* no UTF-8 byte at all */
      {"\xc3\xa4\xc3", 2},     /* cut at the end */
      {"\xc0\xaf", 1},         /* overlong */
      {"a\xe0\x80\x80", 2},    /* overlong */
      {"\xed\xa0\x80", 1},     /* surrogate */
      {"\xf4\x90\x80\x80", 1}, /* beyond U+10FFFF */
      {"\xf0\x80\x80\x80", 1},
      {"\x80", 1},
      {"\xe2\x28\xa1", 1},
  };
  for (int i = 0; i < COUNT(CASES); i++) {
    Diagnostics diagnostics = {0};
    bool good = source_check_utf8("t", CASES[i].text, strlen(CASES[i].text), &diagnostics);
    assert_int_equal(good, CASES[i].column == 0);
    if (!good) assert_int_equal(diagnostics.items[0].column, CASES[i].column);
    diagnostics_free(&diagnostics);
  }
  Diagnostics diagnostics = {0};
  assert_false(source_check_utf8("t", "a\0b", 3, &diagnostics));
  diagnostics_free(&diagnostics);
}

static void places_count_lines_and_characters(void** state) {
  (void)state;
  const char* text =
      "ab\r\nc\xc3\xa4"
      "d\re";
  static const int WANTED[][2] = {{1, 1}, {1, 2}, {1, 3}, {1, 4}, {2, 1}, {2, 2}, {2, 3}, {2, 3}, {2, 4}, {3, 1}};
  for (size_t i = 0; i < 10; i++) {
    SourcePosition place = source_position_at("t", text, i);
    if (i == 6) continue; /* inside a character */
    assert_int_equal(place.line, WANTED[i][0]);
    if (i != 3) assert_int_equal(place.column, WANTED[i][1]);
  }
}

static void excerpts_are_short_and_printable(void** state) {
  (void)state;
  char text[200];
  memset(text, 'x', sizeof text);
  text[199] = 0;
  assert_int_equal(strlen(text_excerpt(text).text), 71);
  assert_string_equal(text_excerpt("a\tb\x7f").text, "a?b?");
  for (size_t shift = 60; shift < 70; shift++) { /* a character of two bytes is not cut */
    memset(text, 'x', sizeof text);
    text[shift] = '\xc3';
    text[shift + 1] = '\xa4';
    text[199] = 0;
    Diagnostics diagnostics = {0};
    Excerpt excerpt = text_excerpt(text);
    assert_true(source_check_utf8("t", excerpt.text, strlen(excerpt.text), &diagnostics));
    diagnostics_free(&diagnostics);
  }
}

static void the_format_is_chosen_by_a_flag(void** state) {
  (void)state;
  static const char* const NAMES[] = {"a.json", "folder/a.json", ".json"}; /* and these it is not: */
  static const char* const OTHERS[] = {"a.yaml", "a.json.yaml", "json", "", "a.JSON"};
  for (int i = 0; i < COUNT(NAMES); i++) assert_true(path_is_json(NAMES[i]));
  for (int i = 0; i < COUNT(OTHERS); i++) assert_false(path_is_json(OTHERS[i]));
  Document document = {0};
  Diagnostics diagnostics = {0};
  assert_non_null(document_read(&document, "t", "a: b", 4, false, &diagnostics));
  assert_int_equal(diagnostics.count, 0);
  assert_null(document_read(&document, "t", "a: b", 4, true, &diagnostics));
  assert_int_equal(diagnostics.error_count, 1);
  document_free(&document);
  diagnostics_free(&diagnostics);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(scalars_follow_the_core_schema),
      cmocka_unit_test(numbers_are_the_nearest_doubles),
      cmocka_unit_test(children_keep_their_order_and_can_be_removed),
      cmocka_unit_test(copies_are_of_their_own),
      cmocka_unit_test(bytes_that_are_not_utf8_are_refused),
      cmocka_unit_test(places_count_lines_and_characters),
      cmocka_unit_test(excerpts_are_short_and_printable),
      cmocka_unit_test(the_format_is_chosen_by_a_flag),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

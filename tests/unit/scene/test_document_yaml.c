#include "document_testing.h"

static Node* read_text(const char* text) {
  return document_read_yaml(&document, "t", text, strlen(text), &diagnostics);
}

static void every_node_knows_its_place(void** state) {
  (void)state;
  Node* root = read_text("# comment\na: 1\nb:\n  - x\n  - {c: [2, \"y\"]}\n");
  assert_int_equal(root->kind, NODE_MAP);
  assert_int_equal(root->place.line, 2);
  const Node* b = node_find(root, "b");
  assert_int_equal(b->key_line, 3);
  assert_int_equal(b->key_column, 1);
  assert_int_equal(b->place.line, 4);
  assert_int_equal(b->place.column, 3);
  const Node* c = node_find(node_child_at(b, 1), "c");
  assert_int_equal(c->key_line, 5);
  assert_int_equal(c->key_column, 6);
  assert_int_equal(c->place.column, 9);
  assert_int_equal(node_child_at(c, 1)->place.column, 13);
  assert_true(node_child_at(c, 1)->quoted);
  assert_false(node_child_at(c, 0)->quoted);
  assert_int_equal(node_key_place(c).column, 6);
  assert_int_equal(node_key_place(node_child_at(c, 0)).column, 10);
  assert_string_equal(node_child_at(c, 0)->place.file, "t");
}

static void columns_count_characters(void** state) {
  (void)state;
  Node* root = read_text("\"\xc3\xa4\xe2\x82\xac\": {x: 1}\n");
  assert_int_equal(root->first->place.column, 7);
}

static void aliases_are_copies(void** state) {
  (void)state;
  Node* root =
      read_text("a: &box {size: [1, 2]}\nb: *box\nc: {<<: *box, mass: 3}\nd: {<<: [*box, {mass: 1}], size: 7}\n");
  const Node *a = node_find(root, "a"), *b = node_find(root, "b"), *c = node_find(root, "c"), *d = node_find(root, "d");
  assert_ptr_not_equal(a->first, b->first);
  assert_string_equal(b->first->last->text, "2");
  assert_string_equal(b->key, "b");
  assert_int_equal(b->key_line, 2);
  assert_int_equal(b->first->place.line, 1); /* where it is written */
  assert_int_equal(c->count, 2);
  assert_non_null(node_find(c, "size"));
  assert_null(node_find(c, "<<"));
  assert_string_equal(node_find(d, "size")->text, "7"); /* its own key wins */
  assert_string_equal(node_find(d, "mass")->text, "1");
}

static void the_last_anchor_of_a_name_counts(void** state) {
  (void)state;
  Node* root = read_text("[&a 1, *a, &a 2, *a]");
  assert_string_equal(node_child_at(root, 1)->text, "1");
  assert_string_equal(node_child_at(root, 3)->text, "2");
}

static void texts_can_be_forced(void** state) {
  (void)state;
  Node* root = read_text("[!!str 5, '5', ! 5, 5, !!float 5]");
  for (int i = 0; i < 5; i++) assert_int_equal(node_child_at(root, i)->quoted, i < 3);
}

static void one_mistake_one_message(void** state) {
  (void)state;
  expect("", "1:1: error: the text is empty: write at least one value\n");
  expect("# only a comment\n", "1:1: error: the text is empty: write at least one value\n");
  expect("a: 1\n---\nb: 2\n", "2:1: error: a second YAML document begins here: keep one document per file\n");
  expect("a: 1\na: 2\n", "2:1: error: the key 'a' occurs twice, first in line 1: remove one of the two\n");
  expect("{a: 1, b: 2, a: 3, b: 4}",
         "1:14: error: the key 'a' occurs twice, first in line 1: remove one of the two\n"
         "1:20: error: the key 'b' occurs twice, first in line 1: remove one of the two\n");
  expect("? [1, 2]\n: 3\n", "1:3: error: a key must be a text: write key: value\n");
  expect("a: &x [*x]\n", "1:8: error: an alias must not stand inside its own anchor: move the alias\n");
  expect("a: *x\n", "1:4: error: no anchor of this name precedes the alias: define the anchor first\n");
  expect("a: !run b\n", "1:4: error: YAML tags (!name) are not supported here: remove the tag\n");
  expect("a: !!python/object 1\n", "1:4: error: YAML tags (!name) are not supported here: remove the tag\n");
  expect("a: !!python/object {}\n", "1:4: error: YAML tags (!name) are not supported here: remove the tag\n");
  expect("a: !!map []\n", "1:4: error: YAML tags (!name) are not supported here: remove the tag\n");
  expect("a: !!float b\n", "1:4: error: the tag does not match the kind of the value: remove the tag\n");
  expect("a: !!bool 1\n", "1:4: error: the tag does not match the kind of the value: remove the tag\n");
  expect("a: {<<: 5}\n", "1:9: error: the merge key << expects a map, got 5: give the alias of a map\n");
  expect("a: \"x\\0y\"\n", "1:4: error: the text contains a NUL character: remove the character\n");
  expect("a: b: c\n", "1:5: error: mapping values are not allowed in this context\n");
  expect("a: \x01\n", "1:4: error: control characters are not allowed\n");
  expect("a:\n\t- b\n",
         "2:1: error: found character that cannot start any token while scanning for the next token that "
         "begins in line 2 (a tab: YAML indents with spaces only)\n");
  expect("a: [1, 2\nb: 3\n",
         "2:2: error: did not find expected ',' or ']' while parsing a flow sequence that begins in line 1\n");
  expect("{name: link{i}}\n",
         "1:12: error: did not find expected ',' or '}' while parsing a flow mapping that begins in line 1 (inside { } "
         "and [ ] a text with a brace must be quoted)\n");
  expect("# \xc3\xa4\xc3\xa4\xc3\xa4\n[link{i}]\n",
         "2:6: error: did not find expected ',' or ']' while parsing a flow sequence that begins in line 2 (inside { } "
         "and [ ] a text with a brace must be quoted)\n");
}

static void a_byte_order_mark_is_no_part_of_the_text(void** state) {
  (void)state;
  Node* root = read_text(
      "\xef\xbb\xbf"
      "a: 1\n");
  assert_int_equal(diagnostics.count, 0);
  assert_int_equal(root->first->key_column, 1);
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

static void an_alias_bomb_is_refused_soon(void** state) {
  (void)state;
  Text text = {0};
  text_add(&text, "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n");
  for (int i = 1; i < 30; i++) {
    text_add(&text, "a%d: &a%d [", i, i);
    for (int k = 0; k < 10; k++) text_add(&text, "%s*a%d", k ? ", " : "", i - 1);
    text_add(&text, "]\n");
  }
  assert_null(read_text(text.data));
  assert_int_equal(diagnostics.count, 1);
  assert_string_equal(diagnostics.items[0].text,
                      "the aliases expand to too many values: use fewer aliases, or smaller anchors");
  assert_in_range(document.node_count, 1, 2 * DOCUMENT_ALIAS_MAX);
  text_free(&text);
}

#define TEST(name) cmocka_unit_test_teardown(name, teardown)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(every_node_knows_its_place),
      TEST(columns_count_characters),
      TEST(aliases_are_copies),
      TEST(the_last_anchor_of_a_name_counts),
      TEST(texts_can_be_forced),
      TEST(one_mistake_one_message),
      TEST(a_byte_order_mark_is_no_part_of_the_text),
      TEST(depth_is_limited),
      TEST(an_alias_bomb_is_refused_soon),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

#include "geometry/obj_text.h"
#include "geometry_testing.h"

static ObjText start(const char* text, Diagnostics* diagnostics) {
  return obj_text_start("test.obj", text, strlen(text), diagnostics);
}

static void statements_and_words(void** state) {
  (void)state;
  Diagnostics diagnostics = {0};
  ObjText text = start("# only a comment \\\n\n  v 1 \\\r\n\t2#end\r\rf \\ \nlast\\x", &diagnostics);
  static const struct {
    const char *first, *rest[3];
    int line;
  } want[] = {{"v", {"1", "2"}, 3}, {"f", {"last\\x"}, 6}};
  ObjWord word;
  for (int i = 0; i < COUNT(want); i++) {
    assert_true(obj_text_statement(&text, &word));
    assert_true(obj_word_is(word, want[i].first));
    assert_int_equal(word.place.line, want[i].line);
    for (int k = 0; want[i].rest[k]; k++) {
      assert_true(obj_text_word(&text, &word));
      assert_true(obj_word_is(word, want[i].rest[k]));
    }
    assert_false(obj_text_word(&text, &word));
  }
  assert_false(obj_text_statement(&text, &word));
  diagnostics_free(&diagnostics);
}

static void names_keep_their_blanks(void** state) {
  (void)state;
  static const struct {
    const char *text, *name;
  } row[] = {
      {"o  Left arm \t# it\n", "Left arm"}, {"o part#3 x", "part#3 x"}, {"o # none", ""}, {"o", ""}, {"o \n", ""}};
  for (int i = 0; i < COUNT(row); i++) {
    Diagnostics diagnostics = {0};
    ObjText text = start(row[i].text, &diagnostics);
    ObjWord word;
    assert_true(obj_text_statement(&text, &word));
    assert_true(obj_word_is(obj_text_rest(&text), row[i].name));
    diagnostics_free(&diagnostics);
  }
}

static void whole_numbers_are_limited(void** state) {
  (void)state;
  static const struct {
    const char* text;
    int used, value;
  } row[] = {{"7", 1, 7},
             {"+12/3", 3, 12},
             {"-5x", 2, -5},
             {"", 0, 0},
             {"-", 0, 0},
             {"/7", 0, 0},
             {"2147483647", 10, 2147483647},
             {"2147483648", 10, 2147483647},
             {"-99999999999999999999", 21, -2147483647}};
  for (int i = 0; i < COUNT(row); i++) {
    int value = 0;
    assert_int_equal(obj_word_integer(row[i].text, (int)strlen(row[i].text), &value), row[i].used);
    if (row[i].used > 0) assert_int_equal(value, row[i].value);
  }
}

static void quotes_are_printable_and_short(void** state) {
  (void)state;
  const char* text = "a\x01\x7f\xff~";
  ObjQuote quote = obj_quote((ObjWord){{text, text, 1}, 5});
  assert_string_equal(quote.text, "a\?\?\?~");
  char large[100];
  memset(large, 'x', sizeof large);
  quote = obj_quote((ObjWord){{large, large, 1}, 100});
  assert_int_equal(strlen(quote.text), 43);
  assert_string_equal(quote.text + 40, "...");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(statements_and_words),
      cmocka_unit_test(names_keep_their_blanks),
      cmocka_unit_test(whole_numbers_are_limited),
      cmocka_unit_test(quotes_are_printable_and_short),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

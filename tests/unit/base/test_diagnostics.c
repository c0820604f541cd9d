#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/base.h"

/* Owned by the caller. */
static char* printed(Diagnostics* diagnostics, bool color) {
  FILE* stream = tmpfile();
  diagnostics_print(diagnostics, stream, color);
  size_t length = (size_t)ftell(stream);
  char* text = memory_alloc(length + 1);
  rewind(stream);
  assert_int_equal(fread(text, 1, length, stream), length);
  fclose(stream);
  return text;
}

static void expect_printed(Diagnostics* diagnostics, bool color, const char* expected) {
  char* text = printed(diagnostics, color);
  assert_string_equal(text, expected);
  memory_free(text);
  diagnostics_free(diagnostics);
  assert_int_equal(diagnostics->count, 0);
}

/* A file with the given content in the working folder of the test; *state is its name. */
static int make_source(void** state) {
  char* path = memory_copy_text("/tmp/sdrs-diag-XXXXXX.yaml");
  int descriptor = mkstemps(path, 5);
  const char* content =
      "name: slide\ncontact:\n  frction: 0.3\n\ttab: x\nd\xc3\xa9j\xc3\xa0: vu\r\nlast line has no end";
  size_t length = strlen(content);
  ssize_t written = write(descriptor, content, length);
  close(descriptor);
  *state = path;
  return written == (ssize_t)length ? 0 : -1;
}

static int remove_source(void** state) {
  unlink(*state);
  memory_free(*state);
  return 0;
}

/* Paths and names of a file may hold anything. */
static void a_message_is_one_printable_line(void** state) {
  (void)state;
  Diagnostics diagnostics = {0};
  diagnostics_add(&diagnostics, SEVERITY_ERROR, (SourcePosition){NULL, 0, 0}, "cannot read %s",
                  "a\n\n\tb\x1b[2J\xc3\xa9");
  assert_string_equal(diagnostics.items[0].text, "cannot read a???b?[2J\xc3\xa9");
  diagnostics_free(&diagnostics);
}

static void counts_are_kept_by_severity(void** state) {
  (void)state;
  Diagnostics diagnostics = {0};
  diagnostics_free(&diagnostics);
  SourcePosition place = {"absent.yaml", 1, 2};
  for (int i = 0; i < 50; i++) diagnostics_add(&diagnostics, SEVERITY_ERROR, place, "number %d", i);
  for (int i = 0; i < 2; i++) diagnostics_add(&diagnostics, SEVERITY_WARNING, place, "%s", "w"); /* told once */
  diagnostics_add(&diagnostics, SEVERITY_NOTE, place, "%s", "");
  assert_int_equal(diagnostics.count, 52);
  assert_int_equal(diagnostics.error_count, 50);
  assert_int_equal(diagnostics.warning_count, 1);
  assert_string_equal(diagnostics.items[49].text, "number 49");
  assert_string_equal(diagnostics.items[51].text, "");
  diagnostics_free(&diagnostics);
}

static void unknown_parts_of_the_place_are_left_out(void** state) {
  (void)state;
  Diagnostics diagnostics = {0};
  diagnostics_add(&diagnostics, SEVERITY_NOTE, (SourcePosition){"absent.yaml", 4, 5}, "d");
  diagnostics_add(&diagnostics, SEVERITY_WARNING, (SourcePosition){"absent.yaml", 4, 0}, "c");
  diagnostics_add(&diagnostics, SEVERITY_ERROR, (SourcePosition){"absent.yaml", 0, 0}, "b");
  diagnostics_add(&diagnostics, SEVERITY_ERROR, (SourcePosition){NULL, 0, 0}, "a");
  expect_printed(&diagnostics, false,
                 "error: a\nabsent.yaml: error: b\nabsent.yaml:4: warning: c\nabsent.yaml:4:5: note: d\n");
}

static void sorted_by_place_and_stable(void** state) {
  (void)state;
  Diagnostics diagnostics = {0};
  diagnostics_add(&diagnostics, SEVERITY_ERROR, (SourcePosition){"b", 1, 1}, "6");
  diagnostics_add(&diagnostics, SEVERITY_ERROR, (SourcePosition){"a", 10, 1}, "5");
  diagnostics_add(&diagnostics, SEVERITY_ERROR, (SourcePosition){"a", 2, 9}, "4");
  diagnostics_add(&diagnostics, SEVERITY_NOTE, (SourcePosition){"a", 2, 3}, "1");
  diagnostics_add(&diagnostics, SEVERITY_ERROR, (SourcePosition){"a", 2, 3}, "2");
  diagnostics_add(&diagnostics, SEVERITY_WARNING, (SourcePosition){"a", 2, 3}, "3");
  expect_printed(&diagnostics, false,
                 "a:2:3: note: 1\na:2:3: error: 2\na:2:3: warning: 3\na:2:9: error: 4\na:10:1: error: 5\n"
                 "b:1:1: error: 6\n");
}

static void expect_excerpt(const char* path, int line, int column, bool color, const char* format) {
  Diagnostics diagnostics = {0};
  diagnostics_add(&diagnostics, SEVERITY_ERROR, (SourcePosition){path, line, column}, "bad");
  char* text = printed(&diagnostics, color);
  char expected[400];
  snprintf(expected, sizeof expected, format, path, line, column);
  assert_string_equal(text, expected);
  memory_free(text);
  diagnostics_free(&diagnostics);
}

static void the_caret_stands_below_the_column(void** state) {
  expect_excerpt(*state, 3, 3, false, "%s:%d:%d: error: bad\n    frction: 0.3\n    ^\n");
  expect_excerpt(*state, 4, 2, false, "%s:%d:%d: error: bad\n  \ttab: x\n  \t^\n");
  expect_excerpt(*state, 5, 7, false, "%s:%d:%d: error: bad\n  d\xc3\xa9j\xc3\xa0: vu\n        ^\n");
  expect_excerpt(*state, 6, 20, false, "%s:%d:%d: error: bad\n  last line has no end\n                     ^\n");
  expect_excerpt(*state, 6, 99, false, "%s:%d:%d: error: bad\n  last line has no end\n                      ^\n");
  expect_excerpt(*state, 7, 1, false, "%s:%d:%d: error: bad\n");
  expect_excerpt(*state, 1, 1, true,
                 "\033[1m%s:%d:%d: \033[1;31merror:\033[0m bad\n  name: slide\n  \033[1;32m^\033[0m\n");
}

static void several_problems_share_one_file(void** state) {
  Diagnostics diagnostics = {0};
  diagnostics_add(&diagnostics, SEVERITY_ERROR, (SourcePosition){*state, 3, 3}, "second");
  diagnostics_add(&diagnostics, SEVERITY_ERROR, (SourcePosition){*state, 1, 1}, "first");
  diagnostics_add(&diagnostics, SEVERITY_ERROR, (SourcePosition){*state, 3, 12}, "third");
  char* text = printed(&diagnostics, false);
  assert_non_null(strstr(text, "first\n  name: slide\n  ^\n"));
  assert_non_null(strstr(text, "second\n    frction: 0.3\n    ^\n"));
  assert_non_null(strstr(text, "third\n    frction: 0.3\n             ^\n"));
  memory_free(text);
  diagnostics_free(&diagnostics);
}

static void what_was_told_is_not_told_again(void** state) {
  (void)state;
  Diagnostics first = {0}, more = {0};
  diagnostics_add(&first, SEVERITY_ERROR, (SourcePosition){"a.yaml", 3, 3}, "bad");
  diagnostics_add(&more, SEVERITY_ERROR, (SourcePosition){"a.yaml", 3, 3}, "bad"); /* the same */
  diagnostics_add(&more, SEVERITY_ERROR, (SourcePosition){"b.yaml", 3, 3}, "bad");
  diagnostics_add(&more, SEVERITY_ERROR, (SourcePosition){"a.yaml", 4, 3}, "bad");
  diagnostics_add(&more, SEVERITY_ERROR, (SourcePosition){"a.yaml", 3, 4}, "bad");
  diagnostics_add(&more, SEVERITY_ERROR, (SourcePosition){"a.yaml", 3, 3}, "worse: 100%%");
  diagnostics_add(&more, SEVERITY_WARNING, (SourcePosition){"a.yaml", 3, 3}, "bad");
  diagnostics_add(&more, SEVERITY_NOTE, (SourcePosition){NULL, 0, 0}, "nowhere");
  for (int i = 0; i < 2; i++) { /* the second time adds nothing */
    diagnostics_merge(&first, &more);
    assert_int_equal(first.count, 7);
    assert_int_equal(first.error_count, 5);
    assert_int_equal(first.warning_count, 1);
  }
  assert_string_equal(first.items[4].text, "worse: 100%");
  diagnostics_free(&first);
  diagnostics_free(&more);
}

/* A whole scene on one line of JSON: the part around the caret is shown. */
static void long_lines_are_cut_around_the_caret(void** state) {
  FILE* stream = fopen(*state, "w");
  for (int i = 0; i < 1000; i++) fprintf(stream, "%03d,", i);
  fputs("\x01\n", stream);
  fclose(stream);
  const int columns[] = {1, 50, 2001, 3999, 4001};
  for (int i = 0; i < 5; i++) {
    Diagnostics diagnostics = {0};
    diagnostics_add(&diagnostics, SEVERITY_ERROR, (SourcePosition){*state, 1, columns[i]}, "bad");
    char* text = printed(&diagnostics, false);
    char* excerpt = strchr(text, '\n') + 1;
    char* below = strchr(excerpt, '\n') + 1;
    assert_true(below - excerpt < 130);
    char expected = '?'; /* the control character at the end */
    if (columns[i] <= 4000) {
      char group[16];
      snprintf(group, sizeof group, "%03d,", (columns[i] - 1) / 4);
      expected = group[(columns[i] - 1) % 4];
    }
    assert_int_equal(excerpt[strchr(below, '^') - below], expected);
    memory_free(text);
    diagnostics_free(&diagnostics);
  }
}

/* A FIFO of the same name must not block the reader. */
static void only_regular_files_are_quoted(void** state) {
  (void)state;
  Diagnostics diagnostics = {0};
  diagnostics_add(&diagnostics, SEVERITY_ERROR, (SourcePosition){"/dev/zero", 1, 1}, "bad");
  expect_printed(&diagnostics, false, "/dev/zero:1:1: error: bad\n");
}

/* A scene may name any file of the computer. Messages quote lines of scenes and data files only. */
static void other_files_are_not_quoted(void** state) {
  (void)state;
  char path[] = "/tmp/sdrs-diag-XXXXXX";
  int descriptor = mkstemp(path);
  assert_int_equal(write(descriptor, "secret\n", 7), 7);
  close(descriptor);
  Diagnostics diagnostics = {0};
  diagnostics_add(&diagnostics, SEVERITY_ERROR, (SourcePosition){path, 1, 1}, "bad");
  char* text = printed(&diagnostics, false);
  assert_null(strstr(text, "secret"));
  memory_free(text);
  diagnostics_free(&diagnostics);
  unlink(path);
}

static void control_characters_do_not_reach_the_terminal(void** state) {
  (void)state;
  Diagnostics diagnostics = {0};
  diagnostics_add(&diagnostics, SEVERITY_ERROR, (SourcePosition){"a", 1, 1}, "no link '\033]0;x\a'");
  expect_printed(&diagnostics, false, "a:1:1: error: no link '?]0;x?'\n");
}

/* Fourteen warnings of the same words become one with a count and the first names; twelve stay apart, and so do errors.
 */
static void many_alike_are_one_with_names(void** state) {
  (void)state;
  Diagnostics diagnostics = {0};
  SourcePosition place = {"a", 0, 0};
  for (int i = 0; i < 14; i++) {
    diagnostics_add(&diagnostics, SEVERITY_WARNING, place, "coordinate 'q' of '%c' is %g rad", 'b' + i, 0.25 + i);
    diagnostics_add(&diagnostics, SEVERITY_ERROR, place, "no link '%c'", 'b' + i);
    if (i < 12) diagnostics_add(&diagnostics, SEVERITY_NOTE, place, "'%c' isn't here", 'b' + i);
  }
  char* text = printed(&diagnostics, false);
  int lines = 0;
  for (const char* c = text; *c; c++) lines += *c == '\n';
  assert_int_equal(lines, 1 + 14 + 12);
  assert_non_null(
      strstr(text, "a: warning: coordinate 'q' of 'b' is 0.25 rad (and 13 more alike: 'c', 'd', 'e', 'f', ...)\n"));
  memory_free(text);
  diagnostics_free(&diagnostics);
}

#define SOURCE_TEST(test) cmocka_unit_test_setup_teardown(test, make_source, remove_source)

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_message_is_one_printable_line),
      cmocka_unit_test(counts_are_kept_by_severity),
      cmocka_unit_test(unknown_parts_of_the_place_are_left_out),
      cmocka_unit_test(sorted_by_place_and_stable),
      SOURCE_TEST(the_caret_stands_below_the_column),
      SOURCE_TEST(several_problems_share_one_file),
      SOURCE_TEST(long_lines_are_cut_around_the_caret),
      cmocka_unit_test(other_files_are_not_quoted),
      cmocka_unit_test(control_characters_do_not_reach_the_terminal),
      cmocka_unit_test(only_regular_files_are_quoted),
      cmocka_unit_test(many_alike_are_one_with_names),
      cmocka_unit_test(what_was_told_is_not_told_again),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

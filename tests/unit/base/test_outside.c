#include "base/outside.h"

#include <errno.h>
#include <stdarg.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Returns the output of a program that read this text; NULL where it failed. Owned by the caller. */
static char* answer(const char* const* words, const char* text) {
  char name[] = "/tmp/sdrs-outside-XXXXXX", *data = NULL;
  size_t length;
  int output = mkstemp(name);
  Program program;
  assert_true(output >= 0);
  assert_int_equal(program_start(&program, words, output, -1), 0);
  bool sent = program_send(&program, text, strlen(text)), good = program_finish(&program);
  if (good && sent) assert_int_equal(file_read(name, &data, &length), STATUS_OK);
  close(output);
  unlink(name);
  return data;
}

static void arguments_and_input_arrive_as_they_are(void** state) {
  (void)state;
  static const char TRICKY[] = "`id` $(id) \"';|id\n&";
  char* printed = answer((const char* const[]){"printf", "%s", TRICKY, NULL}, "");
  assert_string_equal(printed, TRICKY);
  memory_free(printed);
  char* echoed = answer((const char* const[]){"cat", NULL}, TRICKY);
  assert_string_equal(echoed, TRICKY);
  memory_free(echoed);
}

static void failures_are_reported(void** state) {
  (void)state;
  Program program;
  assert_int_equal(program_start(&program, (const char* const[]){"sdrs-no-such-program", NULL}, -1, -1), ENOENT);
  assert_null(answer((const char* const[]){"false", NULL}, ""));
  char* large = memory_alloc(1 << 22);
  memset(large, 'x', 1 << 22);
  assert_int_equal(program_start(&program, (const char* const[]){"true", NULL}, -1, -1), 0);
  assert_false(program_send(&program, large, 1 << 22)); /* a dead reader raises no signal */
  assert_true(program_finish(&program));
  memory_free(large);
}

static void control_characters_are_found(void** state) {
  (void)state;
  static const char* const PLAIN[] = {"", "a b`'\"|", "d\xc3\xa9j\xc3\xa0", "\xe2\x82\xac"};
  static const char* const CONTROL[] = {"a\nb", "\t", "\x1b[31m", "a\x7f", "\xc2\x9b", "\xc3\xa9\xc2\x80"};
  for (size_t i = 0; i < sizeof PLAIN / sizeof PLAIN[0]; i++) assert_null(text_find_control_character(PLAIN[i]));
  for (size_t i = 0; i < sizeof CONTROL / sizeof CONTROL[0]; i++)
    assert_non_null(text_find_control_character(CONTROL[i]));
}

static void files_are_data_by_their_ending(void** state) {
  (void)state;
  Diagnostics diagnostics = {0};
  char name[] = "/tmp/sdrs-outside-XXXXXX";
  close(mkstemp(name));
  assert_true(file_is_quotable("x/scene.YAML"));
  assert_true(file_is_quotable("no-such-file"));
  assert_true(file_is_quotable("/dev/zero"));
  assert_false(file_is_quotable("/etc/passwd"));
  assert_false(file_check_quotable(name, &diagnostics));
  assert_int_equal(diagnostics.error_count, 1);
  diagnostics_free(&diagnostics);
  unlink(name);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(arguments_and_input_arrive_as_they_are),
      cmocka_unit_test(failures_are_reported),
      cmocka_unit_test(control_characters_are_found),
      cmocka_unit_test(files_are_data_by_their_ending),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

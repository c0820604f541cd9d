#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>
#include "app/command.h"

static void colours_need_a_terminal_that_wants_them(void** state) {
  (void)state;
  int terminal = posix_openpt(O_RDWR | O_NOCTTY);
  assert_int_equal(grantpt(terminal), 0);
  assert_int_equal(unlockpt(terminal), 0);
  FILE *screen = fopen(ptsname(terminal), "w"), *file = tmpfile();
  assert_true(screen && file);
  setenv("TERM", "xterm", 1);
  unsetenv("NO_COLOR");
  assert_true(stream_has_color(screen));
  assert_false(stream_has_color(file));
  setenv("NO_COLOR", "", 1); /* empty counts as not set: no-color.org */
  assert_true(stream_has_color(screen));
  setenv("NO_COLOR", "1", 1);
  assert_false(stream_has_color(screen));
  unsetenv("NO_COLOR");
  setenv("TERM", "dumb", 1);
  assert_false(stream_has_color(screen));
  fclose(screen);
  fclose(file);
  close(terminal);
}

static void diagnostics_become_a_json_array(void** state) {
  (void)state;
  Diagnostics diagnostics = {0};
  diagnostics_add(&diagnostics, SEVERITY_ERROR, (SourcePosition){"a.yaml", 3, 4}, "bad \"x\"");
  diagnostics_add(&diagnostics, SEVERITY_WARNING, (SourcePosition){NULL, 0, 0}, "odd");
  Text text = {0};
  Json json = {.out = &text};
  json_open(&json, NULL, '{');
  json_diagnostics(&json, "diagnostics", &diagnostics);
  json_close(&json, '}');
  assert_string_equal(text.data,
                      "{\n"
                      "  \"diagnostics\": [\n"
                      "    {\n"
                      "      \"severity\": \"error\",\n"
                      "      \"file\": \"a.yaml\",\n"
                      "      \"line\": 3,\n"
                      "      \"column\": 4,\n"
                      "      \"message\": \"bad \\\"x\\\"\"\n"
                      "    },\n"
                      "    {\n"
                      "      \"severity\": \"warning\",\n"
                      "      \"file\": null,\n"
                      "      \"line\": 0,\n"
                      "      \"column\": 0,\n"
                      "      \"message\": \"odd\"\n"
                      "    }\n"
                      "  ]\n"
                      "}\n");
  text_free(&text);
  diagnostics_free(&diagnostics);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(colours_need_a_terminal_that_wants_them),
      cmocka_unit_test(diagnostics_become_a_json_array),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

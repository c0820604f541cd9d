#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "app/command.h"

/* Output of a run of 100 steps, one per second, to a file or a pipe. */
static void a_file_gets_a_plain_line_every_ten_seconds(void** state) {
  (void)state;
  char* text = NULL;
  size_t length = 0;
  FILE* file = tmpfile();
  assert_non_null(file);
  Progress progress;
  progress_start(&progress, file, "slide", 100, 1000.0);
  for (int step = 1; step <= 25; step++) progress_update(&progress, step, 0.01 * step, 2.0, 1000.0 + step);
  progress_end(&progress);
  length = (size_t)ftell(file);
  text = memory_alloc(length + 1);
  rewind(file);
  assert_int_equal(fread(text, 1, length, file), length);
  fclose(file);
  assert_string_equal(text,
                      "slide:  10 %  step 10/100  t = 0.1 s  2.0 iterations/step  1 min 30 s left\n"
                      "slide:  20 %  step 20/100  t = 0.2 s  2.0 iterations/step  1 min 20 s left\n");
  memory_free(text);
}

static void silence_is_silent(void** state) {
  (void)state;
  Progress progress;
  progress_start(&progress, NULL, "slide", 100, 0.0);
  progress_update(&progress, 1, 0.01, 2.0, 1e6);
  progress_end(&progress);
}

/* Returns the output to a terminal. The caller frees it. */
static char* on_terminal(const char* no_color) {
  int terminal = posix_openpt(O_RDWR | O_NOCTTY);
  assert_true(terminal >= 0);
  assert_int_equal(grantpt(terminal), 0);
  assert_int_equal(unlockpt(terminal), 0);
  FILE* screen = fopen(ptsname(terminal), "w");
  assert_non_null(screen);
  setenv("NO_COLOR", no_color, 1);
  setenv("TERM", "xterm", 1);
  Progress progress;
  progress_start(&progress, screen, "slide", 100, 0.0);
  progress_update(&progress, 1, 0.01, 2.0, 0.05); /* too early to draw */
  progress_update(&progress, 50, 0.5, 2.0, 1.0);
  progress_end(&progress);
  fclose(screen);
  char* text = memory_alloc(4096);
  ssize_t length = 0, more; /* what was written comes in pieces when the machine is busy; at the end, an error */
  while ((more = read(terminal, text + length, (size_t)(4095 - length))) > 0) length += more;
  assert_true(length > 0);
  close(terminal);
  return text;
}

static void a_terminal_gets_one_bar_that_is_wiped(void** state) {
  (void)state;
  char* plain = on_terminal("1");
  assert_string_equal(plain,
                      "\rslide [===============               ]  50 %  step 50/100  t = 0.5 s  2.0 iterations/step  "
                      "1.0 s left\033[K\r\033[K");
  memory_free(plain);
  char* colored = on_terminal("");
  assert_non_null(strstr(colored, "\033[32m["));
  memory_free(colored);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_file_gets_a_plain_line_every_ten_seconds),
      cmocka_unit_test(silence_is_silent),
      cmocka_unit_test(a_terminal_gets_one_bar_that_is_wiped),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

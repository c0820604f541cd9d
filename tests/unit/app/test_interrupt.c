#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "app/command.h"

/* Exit status of a child that installs the handlers and raises the signal `times` times. */
static int status_of_child(int number, int times) {
  pid_t child = fork();
  if (child == 0) {
    interrupt_install();
    for (int i = 0; i < times; i++) raise(number);
    _exit(interrupt_signal() == number ? 42 : 43);
  }
  int status;
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_true(WIFEXITED(status));
  return WEXITSTATUS(status);
}

static void the_first_signal_is_noted_and_the_second_leaves(void** state) {
  (void)state;
  static const int numbers[] = {SIGINT, SIGTERM, SIGUSR1};
  for (int i = 0; i < 3; i++) {
    assert_int_equal(status_of_child(numbers[i], 1), 42);
    assert_int_equal(status_of_child(numbers[i], 2), EXIT_INTERRUPTED);
  }
}

static void signals_have_names(void** state) {
  (void)state;
  assert_string_equal(interrupt_name(SIGINT), "SIGINT");
  assert_string_equal(interrupt_name(SIGTERM), "SIGTERM");
  assert_string_equal(interrupt_name(SIGUSR1), "SIGUSR1");
  assert_int_equal(interrupt_signal(), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_first_signal_is_noted_and_the_second_leaves),
      cmocka_unit_test(signals_have_names),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

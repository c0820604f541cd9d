#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include "base/base.h"

static void every_status_has_its_exit_code(void** state) {
  (void)state;
  assert_int_equal(status_exit_code(STATUS_OK), 0);
  assert_int_equal(status_exit_code(STATUS_BAD_INPUT), 3);
  assert_int_equal(status_exit_code(STATUS_SOLVER), 4);
  assert_int_equal(status_exit_code(STATUS_IO), 5);
  assert_int_equal(status_exit_code(STATUS_NO_MEMORY), 5);
  assert_int_equal(status_exit_code(STATUS_INTERRUPTED), 130);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(every_status_has_its_exit_code)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}

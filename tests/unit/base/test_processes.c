#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include "base/base.h"

/* Without mpirun a process runs independently in every build. tests/mpi/run.sh tests several processes. */
static void alone_nothing_changes(void** state) {
  (void)state;
  int data[3] = {1, 2, 3};
  processes_init();
  assert_int_equal(processes_count(), 1);
  assert_int_equal(processes_rank(), 0);
  processes_broadcast(data, sizeof data, 0);
  assert_true(data[0] == 1 && data[1] == 2 && data[2] == 3);
  assert_int_equal(processes_max(-7), -7);
  processes_finish();
  assert_int_equal(processes_count(), 1);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(alone_nothing_changes)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}

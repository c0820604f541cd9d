#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <unistd.h>
#include "base/base.h"

static void time_goes_forward_in_seconds(void** state) {
  (void)state;
  double start = timer_now(), last = start;
  for (int i = 0; i < 1000; i++) {
    double now = timer_now();
    assert_true(now >= last);
    last = now;
  }
  usleep(20000);
  double slept = timer_now() - start;
  if (!(slept >= 0.0199 && slept < 60.0)) fail_msg("slept for 0.02 s, measured %g s", slept);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(time_goes_forward_in_seconds)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}

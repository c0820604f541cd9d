/* Tests a million poses of each pair of smooth shapes. Every result must be certified. */
#include "support/growth_sweep.h"

static void every_answer_is_proved(void** state) {
  (void)state;
  growth_sweep(71, 1000000);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(every_answer_is_proved)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdlib.h>
#include "base/base.h"

/* The order of unsigned numbers, also where a difference would not fit, or would look negative. */
static void numbers_are_compared_as_unsigned(void** state) {
  (void)state;
  const uint64_t ascending[] = {0, 1, 2, INT64_MAX, (uint64_t)INT64_MAX + 1, UINT64_MAX - 1, UINT64_MAX};
  enum { COUNT = sizeof ascending / sizeof ascending[0] };
  for (int i = 0; i < COUNT; i++)
    for (int j = 0; j < COUNT; j++) {
      int order = compare_uint64(&ascending[i], &ascending[j]);
      assert_int_equal((order > 0) - (order < 0), (i > j) - (i < j));
    }
}

static void qsort_sorts_by_it(void** state) {
  (void)state;
  Random random = {5};
  uint64_t keys[500];
  for (int k = 0; k < 500; k++) keys[k] = random_bits(&random) >> (k % 3 ? 0 : 60); /* some of them equal */
  qsort(keys, 500, sizeof keys[0], compare_uint64);
  for (int k = 1; k < 500; k++) assert_true(keys[k - 1] <= keys[k]);
}

static void each_number_is_left_once(void** state) {
  (void)state;
  uint64_t numbers[] = {7, UINT64_MAX, 7, 0, 3, 0, UINT64_MAX};
  const uint64_t wanted[] = {0, 3, 7, UINT64_MAX};
  assert_int_equal(sort_unique_uint64(numbers, 7), 4);
  assert_memory_equal(numbers, wanted, sizeof wanted);
  assert_int_equal(sort_unique_uint64(numbers, 0), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(numbers_are_compared_as_unsigned),
      cmocka_unit_test(qsort_sorts_by_it),
      cmocka_unit_test(each_number_is_left_once),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

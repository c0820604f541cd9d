#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/base.h"

static void memory_is_zeroed_and_aligned(void** state) {
  (void)state;
  for (size_t size = 0; size < 300; size += 7) {
    unsigned char* bytes = memory_alloc(size);
    assert_non_null(bytes);
    assert_int_equal((uintptr_t)bytes % 64, 0);
    for (size_t i = 0; i < size; i++) assert_int_equal(bytes[i], 0);
    memset(bytes, 0xff, size); /* so that a block handed out again would not be zero by chance */
    memory_free(bytes);
  }
  memory_free(NULL);
}

static void resize_keeps_the_content_and_zeroes_the_rest(void** state) {
  (void)state;
  char* text = memory_resize(NULL, 0, 4);
  memcpy(text, "abcd", 4);
  text = memory_resize(text, 4, 200);
  assert_memory_equal(text, "abcd", 4);
  for (int i = 4; i < 200; i++) assert_int_equal(text[i], 0);
  assert_int_equal((uintptr_t)text % 64, 0);
  text = memory_resize(text, 200, 2);
  assert_memory_equal(text, "ab", 2);
  memory_free(text);
}

static void a_grown_array_has_room_for_one_more(void** state) {
  (void)state;
  int *numbers = NULL, capacity = 0;
  for (int i = 0; i < 1000; i++) {
    numbers = memory_grown(numbers, sizeof(int), i, &capacity);
    assert_true(capacity > i);
    numbers[i] = i;
  }
  for (int i = 0; i < 1000; i++) assert_int_equal(numbers[i], i);
  assert_int_equal(capacity, 1024);
  memory_free(numbers);
}

static void every_allocation_is_counted(void** state) {
  (void)state;
  uint64_t before = memory_allocation_count();
  int* numbers = MEMORY_NEW(int, 3);
  char* copy = memory_text("copy");
  assert_string_equal(copy, "copy");
  numbers = memory_resize(numbers, 3 * sizeof(int), 6 * sizeof(int));
  memory_free(numbers);
  memory_free(copy);
  assert_int_equal(memory_allocation_count() - before, 3);
}

/* The child must leave with EXIT_IO and not by a signal. A negative count must not turn into a small block. */
static void impossible_sizes_end_the_process_in_order(void** state) {
  (void)state;
  volatile int negative = -1;
  const size_t sizes[] = {SIZE_MAX, SIZE_MAX - 63, sizeof(double) * (size_t)negative, PTRDIFF_MAX};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    pid_t child = fork();
    if (child == 0) {
      (void)!freopen("/dev/null", "w", stderr);
      _exit(memory_alloc(sizes[i]) ? 77 : 78);
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), EXIT_IO);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(memory_is_zeroed_and_aligned),
      cmocka_unit_test(resize_keeps_the_content_and_zeroes_the_rest),
      cmocka_unit_test(a_grown_array_has_room_for_one_more),
      cmocka_unit_test(every_allocation_is_counted),
      cmocka_unit_test(impossible_sizes_end_the_process_in_order),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

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

/* Blocks of many pages are remapped instead of copied. The guarantees are the same as for small blocks. */
static void large_blocks_keep_the_content_and_zero_the_rest(void** state) {
  (void)state;
  static const size_t sizes[] = {1000, 3000, 250000, 400000, 400001, 5000000, 300000, 2};
  const uint64_t held = memory_bytes_in_use();
  uint64_t* numbers = NULL;
  size_t before = 0;
  for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
    numbers = memory_resize(numbers, before * sizeof *numbers, sizes[k] * sizeof *numbers);
    assert_int_equal((uintptr_t)numbers % 64, 0);
    size_t kept = before < sizes[k] ? before : sizes[k];
    for (size_t i = 0; i < kept; i++)
      if (numbers[i] != i + 1) fail_msg("size %zu: [%zu] is %lu", sizes[k], i, (unsigned long)numbers[i]);
    for (size_t i = kept; i < sizes[k]; i++)
      if (numbers[i] != 0) fail_msg("size %zu: [%zu] is %lu, not 0", sizes[k], i, (unsigned long)numbers[i]);
    assert_true(memory_bytes_in_use() - held >= sizes[k] * sizeof *numbers);
    assert_true(memory_bytes_in_use() - held <
                sizes[k] * sizeof *numbers + 65536 + 200); /* a page, of those that are large */
    for (size_t i = 0; i < sizes[k]; i++) numbers[i] = i + 1;
    before = sizes[k];
  }
  memory_free(numbers);
  assert_int_equal(memory_bytes_in_use(), held);
}

/* Less is kept than stood there: the rest does not come back. */
static void what_is_not_kept_of_a_large_block_is_zero(void** state) {
  (void)state;
  const size_t size = (size_t)3 << 20, kept = 1000;
  unsigned char* bytes = memory_alloc(size);
  memset(bytes, 0xff, size);
  bytes = memory_resize(bytes, kept, 2 * size);
  for (size_t i = 0; i < 2 * size; i++)
    if (bytes[i] != (i < kept ? 0xff : 0)) fail_msg("[%zu] is %d", i, bytes[i]);
  memory_free(bytes);
}

static void a_grown_array_has_room_for_one_more(void** state) {
  (void)state;
  int *numbers = NULL, capacity = 0;
  for (int i = 0; i < 1000; i++) {
    numbers = memory_grow_array(numbers, sizeof(int), i, &capacity);
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
  char* copy = memory_copy_text("copy");
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

/* ---------------------------------------------------------------- failures that are survived */

typedef struct {
  int wanted, got; /* blocks */
  char* kept[16];
  MemoryPool* inner;
  bool inner_done;
} Taking;

static void take(void* context) {
  Taking* t = context;
  for (t->got = 0; t->got < t->wanted; t->got++) t->kept[t->got] = memory_copy_text("kept");
}

static void a_failure_leads_back_to_where_it_was_expected(void** state) {
  (void)state;
  MemoryPool* pool = memory_pool_create();
  Taking taking = {.wanted = 10};
  assert_null(memory_current_pool());
  assert_true(memory_try(pool, take, &taking));
  assert_int_equal(memory_pool_block_count(pool), 10);
  memory_free(taking.kept[3]);
  assert_int_equal(memory_pool_block_count(pool), 9);
  memory_fail_allocation_at(7);
  assert_false(memory_try(pool, take, &taking));
  assert_int_equal(taking.got, 6);
  for (int again = 0; again < 3; again++) { /* and all after it */
    assert_false(memory_try(pool, take, &taking));
    assert_int_equal(taking.got, 0);
  }
  char* free_of_it = memory_copy_text("not within memory_try");
  memory_fail_allocation_at(0);
  assert_null(memory_current_pool());
  assert_int_equal(memory_pool_block_count(pool), 15);
  memory_free(free_of_it);
  memory_pool_destroy(pool); /* with all that it holds: the address sanitizer looks */
}

static void take_and_grow(void* context) {
  const size_t size = (size_t)3 << 20;
  char** kept = context;
  kept[0] = memory_alloc(size);
  kept[1] = memory_copy_text("between");
  memcpy(kept[0] + size - 5, "last", 5);
  for (size_t more = 2; more < 5; more++) kept[0] = memory_resize(kept[0], (more - 1) * size, more * size);
}

static void a_large_block_that_moves_stays_in_its_pool(void** state) {
  (void)state;
  MemoryPool* pool = memory_pool_create();
  char* kept[2] = {NULL, NULL};
  assert_true(memory_try(pool, take_and_grow, kept));
  assert_int_equal(memory_pool_block_count(pool), 2);
  assert_string_equal(kept[0] + ((size_t)3 << 20) - 5, "last");
  memory_fail_allocation_at(4); /* the second time that it grows */
  assert_false(memory_try(pool, take_and_grow, kept));
  memory_fail_allocation_at(0);
  assert_int_equal(memory_pool_block_count(pool), 4);
  memory_pool_destroy(pool);
}

static void take_in_both(void* context) {
  Taking* t = context;
  t->kept[15] = memory_copy_text("outer");
  t->inner_done = memory_try(t->inner, take, t);
  t->kept[14] = memory_copy_text("outer again");
}

static void the_innermost_counts(void** state) {
  (void)state;
  MemoryPool *outer = memory_pool_create(), *inner = memory_pool_create();
  Taking taking = {.wanted = 5, .inner = inner};
  assert_true(memory_try(outer, take_in_both, &taking));
  assert_true(taking.inner_done);
  assert_int_equal(memory_pool_block_count(outer), 2);
  assert_int_equal(memory_pool_block_count(inner), 5);
  memory_fail_allocation_at(3);
  assert_false(memory_try(outer, take_in_both, &taking)); /* the inner one fails, then what comes after it */
  memory_fail_allocation_at(0);
  assert_false(taking.inner_done);
  assert_int_equal(memory_pool_block_count(outer), 3);
  assert_int_equal(memory_pool_block_count(inner), 6);
  memory_pool_destroy(inner);
  memory_pool_destroy(outer);
}

static void take_much(void* context) { *(void**)context = memory_alloc(PTRDIFF_MAX); }

static void what_cannot_be_had_is_survived_too(void** state) {
  (void)state;
  MemoryPool* pool = memory_pool_create();
  void* got = NULL;
  assert_false(memory_try(pool, take_much, &got));
  assert_null(got);
  assert_int_equal(memory_pool_block_count(pool), 0);
  memory_pool_destroy(pool);
  memory_pool_destroy(NULL);
}

/* Pages of the process that are in memory. */
static long resident(void) {
  long all = 0, here = 0;
  FILE* file = fopen("/proc/self/statm", "r");
  assert_non_null(file);
  assert_int_equal(fscanf(file, "%ld %ld", &all, &here), 2);
  fclose(file);
  return here;
}

/* Every second block of a few sizes is freed. The remaining memory must have no holes. */
static void what_is_freed_between_others_goes_back(void** state) {
  (void)state;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  skip(); /* these keep what is freed */
#endif
  enum { BLOCKS = 200 };
  memory_return_freed_blocks();
  unsigned char* blocks[BLOCKS];
  long page = sysconf(_SC_PAGESIZE), written = 0, freed = 0, before = resident();
  for (int k = 0; k < BLOCKS; k++) {
    size_t size = 150000 + 7000 * (size_t)(k % 11);
    blocks[k] = memory_alloc(size);
    memset(blocks[k], k, size);
    written += (long)size / page;
    if (k % 2 == 1) freed += (long)size / page;
  }
  assert_true(resident() - before > written - written / 20);
  for (int k = 1; k < BLOCKS; k += 2) memory_free(blocks[k]);
  assert_true(resident() - before < written - freed + written / 20);
  for (int k = 0; k < BLOCKS; k += 2) {
    assert_int_equal(blocks[k][149999], k);
    memory_free(blocks[k]);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(memory_is_zeroed_and_aligned),
      cmocka_unit_test(resize_keeps_the_content_and_zeroes_the_rest),
      cmocka_unit_test(large_blocks_keep_the_content_and_zero_the_rest),
      cmocka_unit_test(what_is_not_kept_of_a_large_block_is_zero),
      cmocka_unit_test(a_grown_array_has_room_for_one_more),
      cmocka_unit_test(every_allocation_is_counted),
      cmocka_unit_test(impossible_sizes_end_the_process_in_order),
      cmocka_unit_test(a_failure_leads_back_to_where_it_was_expected),
      cmocka_unit_test(a_large_block_that_moves_stays_in_its_pool),
      cmocka_unit_test(the_innermost_counts),
      cmocka_unit_test(what_cannot_be_had_is_survived_too),
      cmocka_unit_test(what_is_freed_between_others_goes_back),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <math.h>
#include <string.h>
#include "base/base.h"
#include "base/parallel_account.h"

#define COUNT 1000

typedef struct {
  int visits[COUNT], thread[COUNT];
  double value[COUNT];
} Record;

static void record_visit(void* context, int index, int thread) {
  Record* record = context;
  record->visits[index]++;
  record->thread[index] = thread;
  record->value[index] = sin(index) / (1.0 + index);
}

/* Writes before the loop are visible inside the loop, and writes inside are visible after the loop. */
static void each_index_is_visited_once(void** state) {
  (void)state;
  static Record first, record;
  parallel_for(1, COUNT, 0, 1, record_visit, &first);
  const int threads[] = {0, 1, 2, 3, 8}, grains[] = {0, 1, 7, 5000};
  for (int t = 0; t < 5; t++)
    for (int g = 0; g < 4; g++) {
      memset(&record, 0, sizeof record);
      parallel_for(threads[t], COUNT, 0, grains[g], record_visit, &record);
      for (int i = 0; i < COUNT; i++) {
        assert_int_equal(record.visits[i], 1);
        assert_in_range(record.thread[i], 0, threads[t] > 1 ? threads[t] - 1 : 0);
      }
      assert_memory_equal(record.value, first.value, sizeof record.value);
    }
}

static void note_order(void* context, int index, int thread) {
  int* next = context;
  assert_int_equal(index, *next);
  assert_int_equal(thread, 0);
  ++*next;
}

/* In the calling thread the order is that of the indices. */
static void small_loops_run_in_order(void** state) {
  (void)state;
  int next = 0;
  parallel_for(4, 99, 100, 1, note_order, &next);
  assert_int_equal(next, 99);
  next = 0;
  parallel_for(1, 500, 100, 1, note_order, &next);
  assert_int_equal(next, 500);
  parallel_for(4, 0, 0, 1, note_order, &next);
  assert_int_equal(next, 500);
}

static void loops_do_not_allocate(void** state) {
  (void)state;
  static Record record;
  uint64_t before = memory_allocation_count();
  for (int i = 0; i < 10; i++) parallel_for(2, COUNT, 0, 16, record_visit, &record);
  assert_int_equal(memory_allocation_count(), before);
}

/* A thread gets no processor for 4 ms while loops of 0.1 ms are shared. One loss is covered by the gains so far. After
 * repeated losses, loops run on one thread for at least five of six ms. */
static void losses_are_a_small_part_of_the_time(void** state) {
  (void)state;
  ParallelBalance account = {0};
  ParallelLoopTimes quick = {1e-4, 0, 50}, late = {1e-4, 4e-3, 50};
  double now = 1, lost = 0;
  for (int i = 0; i < 1000; i++) parallel_balance_update(&account, &quick, 100, now += 1e-4);
  assert_true(fabs(account.balance - (BALANCE_MAX)) <= 0);
  parallel_balance_update(&account, &late, 100, now += 4e-3);
  assert_true(account.serial_until <= now);
  assert_true(fabs(account.balance - (BALANCE_MAX - 3.9e-3)) <= 1e-15);
  for (double end = now + 10; now < end;) {
    bool shared = now >= account.serial_until;
    now += shared ? 4.1e-3 : 2e-4;
    lost += shared ? 3.9e-3 : 0;
    if (shared) parallel_balance_update(&account, &late, 100, now);
  }
  assert_in_range((int)(1e3 * lost), 1300, 1750); /* of 10 s: 1 / 6 and the gains kept */
}

/* 5 us to wake the others for a loop of 4 us is no gain, of 40 us it is. */
static void loops_too_short_to_share_run_alone(void** state) {
  (void)state;
  ParallelBalance account = {0};
  parallel_balance_update(&account, &(ParallelLoopTimes){4e-6, 5e-6, 20}, 40, 3);
  assert_true(fabs(account.serial_until - (3 + 5e-6)) <= 1e-12);
  account = (ParallelBalance){0};
  parallel_balance_update(&account, &(ParallelLoopTimes){4e-5, 5e-6, 20}, 40, 3);
  assert_true(fabs(account.balance - (35e-6)) <= 1e-15);
  assert_true(account.serial_until < 3);
  parallel_balance_update(&account, &(ParallelLoopTimes){0, 1e-6, 0}, 40, 3); /* others ran all of it */
  assert_true(fabs(account.balance - (34e-6)) <= 1e-15);
}

static void there_is_a_processor(void** state) {
  (void)state;
  assert_true(parallel_processor_count() >= 1);
}

/* Each index takes a block, on every thread. */
static void take_block(void* context, int index, int thread) {
  (void)thread;
  void** blocks = context;
  blocks[index] = memory_alloc(8);
}

static void take_blocks(void* context) { parallel_for(4, COUNT, 0, 1, take_block, context); }

/* Workers must not jump out of the loop: it ends, and then the call that expects a failure hears of it. */
static void memory_that_runs_out_in_a_loop_is_told_after_it(void** state) {
  (void)state;
  static void* blocks[COUNT];
  MemoryPool* pool = memory_pool_create();
  assert_true(memory_try(pool, take_blocks, blocks));
  assert_int_equal(memory_pool_block_count(pool), COUNT);
  memory_fail_allocation_at(COUNT / 2);
  assert_false(memory_try(pool, take_blocks, blocks));
  memory_fail_allocation_at(0);
  assert_int_equal(memory_pool_block_count(pool), COUNT + COUNT / 2 - 1);
  assert_true(memory_try(pool, take_blocks, blocks));
  memory_pool_destroy(pool);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(each_index_is_visited_once),
      cmocka_unit_test(small_loops_run_in_order),
      cmocka_unit_test(loops_do_not_allocate),
      cmocka_unit_test(losses_are_a_small_part_of_the_time),
      cmocka_unit_test(loops_too_short_to_share_run_alone),
      cmocka_unit_test(there_is_a_processor),
      cmocka_unit_test(memory_that_runs_out_in_a_loop_is_told_after_it),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

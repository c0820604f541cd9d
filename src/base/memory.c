#include <limits.h>
#include <malloc.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include "base/base.h"

/* One cache line, and the widest vector register. */
#define ALIGNMENT ((size_t)64)

/* The only mutable globals: counters that only tests read, so they cannot influence a result. */
static atomic_uint_fast64_t allocation_count, held, peak;

void memory_exhausted(size_t size) {
  fprintf(stderr, "sdrs: error: out of memory (%zu bytes asked for)\n", size);
  exit(EXIT_IO);
}

static void count_bytes(void* pointer) {
  uint_fast64_t size = malloc_usable_size(pointer);
  uint_fast64_t now = atomic_fetch_add_explicit(&held, size, memory_order_relaxed) + size;
  uint_fast64_t most = atomic_load_explicit(&peak, memory_order_relaxed);
  while (now > most &&
         !atomic_compare_exchange_weak_explicit(&peak, &most, now, memory_order_relaxed, memory_order_relaxed)) {}
}

static void release(void* pointer) {
  if (pointer) atomic_fetch_sub_explicit(&held, malloc_usable_size(pointer), memory_order_relaxed);
  free(pointer);
}

/* Aligned and not yet zeroed; never NULL, also for size 0. */
static void* allocate(size_t size) {
  atomic_fetch_add_explicit(&allocation_count, 1, memory_order_relaxed);
  if (size > PTRDIFF_MAX - ALIGNMENT) memory_exhausted(size); /* also a negative count turned into a size */
  size_t rounded = (size + ALIGNMENT) / ALIGNMENT * ALIGNMENT;
  void* pointer = aligned_alloc(ALIGNMENT, rounded);
  if (!pointer) memory_exhausted(size);
  count_bytes(pointer);
  return pointer;
}

void* memory_alloc(size_t size) {
  void* pointer = allocate(size);
  return memset(pointer, 0, size);
}

void* memory_resize(void* old, size_t old_size, size_t size) {
  char* pointer = allocate(size);
  size_t kept = old ? (old_size < size ? old_size : size) : 0;
  if (kept > 0) memcpy(pointer, old, kept);
  memset(pointer + kept, 0, size - kept);
  release(old);
  return pointer;
}

void* memory_grown(void* array, size_t element, int count, int* capacity) {
  if (count < *capacity) return array;
  int wanted = *capacity == 0 ? 64 : *capacity > INT_MAX / 2 ? INT_MAX : 2 * *capacity;
  array = memory_resize(array, element * (size_t)*capacity, element * (size_t)wanted);
  *capacity = wanted;
  return array;
}

void memory_free(void* pointer) { release(pointer); }

char* memory_text(const char* text) {
  size_t size = strlen(text) + 1;
  return memcpy(allocate(size), text, size);
}

uint64_t memory_allocation_count(void) { return atomic_load_explicit(&allocation_count, memory_order_relaxed); }

uint64_t memory_held(void) { return atomic_load_explicit(&held, memory_order_relaxed); }

uint64_t memory_peak(void) { return atomic_load_explicit(&peak, memory_order_relaxed); }

void memory_peak_begin(void) { atomic_store_explicit(&peak, memory_held(), memory_order_relaxed); }

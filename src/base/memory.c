#include <limits.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include "base/base.h"

/* One cache line, and the widest vector register. */
#define ALIGNMENT ((size_t)64)

/* The one mutable global: a counter that only tests read, so it cannot influence a result. */
static atomic_uint_fast64_t allocation_count;

void memory_exhausted(size_t size) {
  fprintf(stderr, "sdrs: error: out of memory (%zu bytes asked for)\n", size);
  exit(EXIT_IO);
}

/* Aligned and not yet zeroed; never NULL, also for size 0. */
static void* allocate(size_t size) {
  atomic_fetch_add_explicit(&allocation_count, 1, memory_order_relaxed);
  if (size > PTRDIFF_MAX - ALIGNMENT) memory_exhausted(size); /* also a negative count turned into a size */
  size_t rounded = (size + ALIGNMENT) / ALIGNMENT * ALIGNMENT;
  void* pointer = aligned_alloc(ALIGNMENT, rounded);
  if (!pointer) memory_exhausted(size);
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
  free(old);
  return pointer;
}

void* memory_grown(void* array, size_t element, int count, int* capacity) {
  if (count < *capacity) return array;
  int wanted = *capacity == 0 ? 64 : *capacity > INT_MAX / 2 ? INT_MAX : 2 * *capacity;
  array = memory_resize(array, element * (size_t)*capacity, element * (size_t)wanted);
  *capacity = wanted;
  return array;
}

void memory_free(void* pointer) { free(pointer); }

char* memory_text(const char* text) {
  size_t size = strlen(text) + 1;
  return memcpy(allocate(size), text, size);
}

uint64_t memory_allocation_count(void) { return atomic_load_explicit(&allocation_count, memory_order_relaxed); }

#include "base/base.h"

#include <assert.h>
#include <stdlib.h>

int compare_uint64(const void* a, const void* b) {
  uint64_t x = *(const uint64_t*)a, y = *(const uint64_t*)b;
  return x < y ? -1 : x > y;
}

int sort_unique_uint64(uint64_t* numbers, int count) {
  assert(numbers || count == 0);
  if (count == 0) return 0;
  qsort(numbers, (size_t)count, sizeof(uint64_t), compare_uint64);
  int kept = 1;
  for (int k = 1; k < count; k++)
    if (numbers[k] != numbers[k - 1]) numbers[kept++] = numbers[k];
  return kept;
}

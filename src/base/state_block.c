#include <assert.h>
#include <string.h>
#include "base/base.h"

/* Returns the next `count` words of the archive and moves the position past them. Returns NULL in BLOCK_MEASURE, and if
 * fewer words are left. */
static uint64_t* next_words(StateBlock* block, size_t count) {
  size_t at = block->at;
  if (block->pass == BLOCK_READ && (block->failed || count > block->count - at)) {
    block->failed = true;
    return NULL;
  }
  block->at += count;
  return block->pass == BLOCK_MEASURE ? NULL : block->words + at;
}

void state_block_doubles(StateBlock* block, double* values, size_t count) {
  assert(values || count == 0);
  uint64_t* words = next_words(block, count);
  size_t size = sizeof(double) * count;
  if (size == 0 || block->pass == BLOCK_MEASURE) return;
  if (block->pass == BLOCK_WRITE)
    memcpy(words, values, size);
  else if (words)
    memcpy(values, words, size);
  else
    memset(values, 0, size);
}

void state_block_word(StateBlock* block, uint64_t* value) {
  assert(value);
  uint64_t* words = next_words(block, 1);
  if (block->pass == BLOCK_WRITE) *words = *value;
  if (block->pass == BLOCK_READ) *value = words ? *words : 0;
}

void state_block_int(StateBlock* block, int* value, int low, int high) {
  assert(value);
  assert(low <= high);
  uint64_t word = (uint64_t)(int64_t)*value;
  state_block_word(block, &word);
  if (block->pass != BLOCK_READ) return;
  int64_t read = (int64_t)word;
  bool inside = read >= low && read <= high;
  block->failed = block->failed || !inside;
  *value = inside ? (int)read : low;
}

void state_block_bool(StateBlock* block, bool* value) {
  int number = *value;
  state_block_int(block, &number, 0, 1);
  *value = number == 1;
}

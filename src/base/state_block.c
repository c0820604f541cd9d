#include <string.h>
#include "base/base.h"

void state_block_pass(StateBlock* block, void* data, size_t size) {
  if (size > 0 && block->pass == BLOCK_WRITE) memcpy(block->bytes + block->at, data, size);
  if (size > 0 && block->pass == BLOCK_READ) memcpy(data, block->bytes + block->at, size);
  block->at += size;
}

/* What fuzzers share. */
#ifndef SDRS_TESTS_FUZZING_H
#define SDRS_TESTS_FUZZING_H

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/base.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

static inline void require(bool condition) {
  if (!condition) abort();
}

/* The bytes with a zero behind them; the caller frees. */
static inline char* fuzz_text(const uint8_t* data, size_t size) {
  char* text = memory_alloc(size + 1);
  if (size > 0) memcpy(text, data, size);
  text[size] = '\0';
  return text;
}

/* A file of the bytes; path is a template of mkstemp, and the file's name after that. The caller unlinks. */
static inline void fuzz_file(char* path, const uint8_t* data, size_t size) {
  int descriptor = mkstemp(path);
  require(descriptor >= 0 && write(descriptor, data, size) == (ssize_t)size);
  close(descriptor);
}

#endif

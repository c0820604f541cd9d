/* Copies structs that begin with their size, so that programs built with another version of sdrs.h still work. */
#include <assert.h>
#include <string.h>

#include "library/library.h"

/* Largest plausible size of a struct. A larger value is uninitialized memory. */
enum { STRUCT_SIZE_MAX = 4096 };

static bool has_valid_size(const void* given, size_t known) {
  size_t size = 0;
  if (given) memcpy(&size, given, sizeof(size));
  return size >= known && size <= STRUCT_SIZE_MAX;
}

bool library_copy_argument(void* copy, size_t known, const void* given) {
  assert(copy && known >= sizeof(size_t));
  if (!has_valid_size(given, known)) return false;
  const unsigned char* bytes = given;
  size_t size;
  memcpy(&size, given, sizeof(size));
  for (size_t k = known; k < size; k++)
    if (bytes[k] != 0) return false;
  memcpy(copy, given, known);
  return true;
}

bool library_copy_result(void* given, const void* result, size_t known) {
  assert(result && known >= sizeof(size_t));
  if (!has_valid_size(given, known)) return false;
  memcpy(given, result, known);
  memcpy(given, &known, sizeof(known));
  return true;
}

static sdrs_status wrong_size(sdrs* s, void* type) {
  return library_fail(
      s, SDRS_USAGE,
      "%s: 'size' is not set, or belongs to another version of sdrs: initialise the structure with SDRS_INIT(%s)",
      (const char*)type, (const char*)type);
}

sdrs_status library_wrong_size(sdrs* s, const char* type) {
  return s ? library_call(s, wrong_size, (void*)type) : SDRS_USAGE;
}

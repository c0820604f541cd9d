/* libFuzzer target: any bytes give a checkpoint that is written back byte for byte, or one message. The bytes are tried
 * as a file, and as what stands under a right hash, so that the search gets past it. */
#include "base/base.h"
#include "fuzz/fuzzing.h"

static void check(const char* data, size_t size) {
  NumberFile checkpoint;
  Diagnostics diagnostics = {0};
  if (number_file_parse(&checkpoint, "checkpoint", "fuzz", data, size, &diagnostics) == STATUS_OK) {
    Text again = {0};
    number_file_format(&checkpoint, &again);
    require(diagnostics.count == 0 && again.length == size && memcmp(again.data, data, size) == 0);
    for (int i = 0; i < checkpoint.count; i++) {
      const NumberArray* array = &checkpoint.arrays[i];
      int count = array->is_integers ? number_file_integers_count(&checkpoint, array->name)
                                     : number_file_doubles_count(&checkpoint, array->name);
      require(count == array->count);
    }
    text_free(&again);
  } else {
    require(diagnostics.error_count == 1 && checkpoint.count == 0);
  }
  number_file_free(&checkpoint);
  diagnostics_free(&diagnostics);
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  check((const char*)data, size);
  char hash[65];
  hash_sha256(data, size, hash);
  Text text = {0};
  text_add(&text, "sdrs checkpoint 1\nsha256 %s\n", hash);
  if (size > 0) text_add_bytes(&text, (const char*)data, size);
  check(text.data, text.length);
  text_free(&text);
  return 0;
}

/* Any bytes as a JSON scene. */
#include <stdio.h>
#include <stdlib.h>
#include "unit/scene/scene_consistency.h"
#include "unit/scene/scene_round_trip.h"

#define PATH "folder/fuzz.json"

static void fail(const char* fault, const Diagnostics* diagnostics) {
  fprintf(stderr, "not %s (first message: %s)\n", fault, diagnostics->count ? diagnostics->items[0].text : "none");
  abort();
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  char* text = memory_alloc(size + 1);
  memcpy(text, data, size);
  Scene scene;
  Diagnostics diagnostics = {0};
  Status status = scene_parse(&scene, PATH, text, size, true, NULL, 0, &diagnostics);
  const char* fault = reading_fault(&scene, status, &diagnostics, PATH, count_lines(text, size));
  if (!fault && status == STATUS_OK) fault = round_trip_fault(&scene);
  if (fault) fail(fault, &diagnostics);
  scene_free(&scene);
  diagnostics_free(&diagnostics);
  memory_free(text);
  return 0;
}

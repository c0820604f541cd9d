/* Any bytes as a YAML scene. A first line `--set path=value` is an override. */
#include <stdio.h>
#include <stdlib.h>
#include "unit/scene/scene_consistency.h"
#include "unit/scene/scene_round_trip.h"

#define PATH "folder/fuzz.yaml"

static void check(const char* text, size_t length, const char* set) {
  Scene scene;
  Diagnostics diagnostics = {0};
  SceneOverride override = {set};
  Status status = scene_parse(&scene, PATH, text, length, false, &override, set ? 1 : 0, &diagnostics);
  const char* fault = reading_fault(&scene, status, &diagnostics, PATH, count_lines(text, length));
  if (!fault && status == STATUS_OK) fault = round_trip_fault(&scene);
  if (fault) {
    fprintf(stderr, "not %s (first message: %s)\n", fault, diagnostics.count ? diagnostics.items[0].text : "none");
    abort();
  }
  scene_free(&scene);
  diagnostics_free(&diagnostics);
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const char SET[] = "--set ";
  char* text = memory_alloc(size + 1);
  memcpy(text, data, size);
  char* end = strncmp(text, SET, sizeof SET - 1) == 0 ? memchr(text, '\n', size) : NULL;
  if (end) {
    *end = '\0';
    check(end + 1, size - (size_t)(end + 1 - text), text + sizeof SET - 1);
  } else {
    check(text, size, NULL);
  }
  memory_free(text);
  return 0;
}

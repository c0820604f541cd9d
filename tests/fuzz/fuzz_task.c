/* Any bytes as a YAML task. A first line `--set path=value` is an override. */
#include <stdio.h>
#include <stdlib.h>
#include "unit/scene/task_consistency.h"

#define PATH "no-such-folder/fuzz.yaml" /* scenes are those inside */

static void check(const char* text, size_t length, const char* set) {
  Task task;
  Diagnostics diagnostics = {0};
  SceneOverride override = {set};
  Status status = task_parse(&task, PATH, text, length, false, &override, set ? 1 : 0, &diagnostics);
  const char* fault = task_reading_fault(&task, status, &diagnostics, PATH, count_lines(text, length));
  if (fault) {
    fprintf(stderr, "not %s (first message: %s)\n", fault, diagnostics.count ? diagnostics.items[0].text : "none");
    abort();
  }
  task_free(&task);
  diagnostics_free(&diagnostics);
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const char SET[] = "--set ";
  char* text = memory_alloc(size + 1);
  memcpy(text, data, size);
  char* end = strncmp(text, SET, sizeof SET - 1) == 0 ? memchr(text, '\n', size) : NULL;
  if (strstr(text, "/dev") || strstr(text, "/proc")) {
    memory_free(text); /* a scene that never ends is not the reader's mistake */
    return -1;
  }
  if (end) {
    *end = '\0';
    check(end + 1, size - (size_t)(end + 1 - text), text + sizeof SET - 1);
  } else {
    check(text, size, NULL);
  }
  memory_free(text);
  return 0;
}

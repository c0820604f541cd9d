/* Writes a scene and reads it again, for mutated and fuzzed input. */
#ifndef SDRS_TESTS_UNIT_SCENE_ROUND_TRIP_H
#define SDRS_TESTS_UNIT_SCENE_ROUND_TRIP_H

#include "scene/task.h"
#include "scene_difference.h"

/* Returns the fault of writing a valid scene and reading it again, or NULL if there is none. */
static inline const char* round_trip_fault(const Scene* scene) {
  Scene again;
  Diagnostics diagnostics = {0};
  Text yaml = {0};
  scene_write_yaml(scene, "folder", &yaml);
  Status status = scene_parse(&again, "folder/again.yaml", yaml.data, yaml.length, false, NULL, 0, &diagnostics);
  const char* fault = status == STATUS_OK ? scene_difference(scene, &again) : "read back after writing";
  scene_free(&again);
  diagnostics_free(&diagnostics);
  text_free(&yaml);
  return fault;
}

#endif

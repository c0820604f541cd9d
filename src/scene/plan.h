/* plan: reads planning tasks. A planning task has a body, obstacles and a goal, and no scene to simulate. app/plan.c
 * parses the JSON text that plan_read_json makes. */
#ifndef SDRS_SCENE_PLAN_H
#define SDRS_SCENE_PLAN_H

#include "scene/scene.h"

/* Appends a planning task as JSON to `json`, with overrides applied and each value on its original line. A planning
 * task is a file with the key `plan` at its top level. Sets *found to false, without a message, if the file is not a
 * planning task or cannot be read. Returns STATUS_BAD_INPUT after reporting errors. `json` changes only if *found is
 * true and STATUS_OK is returned. The caller owns `json`. */
Status plan_read_json(const char* path, const SceneOverride* overrides, int override_count, Text* json, bool* found,
                      Diagnostics* diagnostics);

#endif

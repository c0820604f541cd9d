/* Tasks of planning: a body, obstacles and where it is to go, without a scene that runs. app/plan.c reads what they say
 * with the words of `sdrs query`. */
#ifndef SDRS_SCENE_PLAN_H
#define SDRS_SCENE_PLAN_H

#include "scene/scene.h"

/* A file with `plan` at its top: the whole as JSON, each value on the line where it stands. Other files, and those that
 * cannot be read: *found false, nothing told. STATUS_BAD_INPUT: told. Overrides are applied first. json
 * is the caller's, appended to only when *found with STATUS_OK. */
Status plan_text(const char* path, const SceneOverride* overrides, int override_count, Text* json, bool* found,
                 Diagnostics* diagnostics);

#endif

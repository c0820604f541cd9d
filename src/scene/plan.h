/* Planning tasks: a body, obstacles and a goal, without a scene that is simulated. app/plan.c reads them with the words
 * of `sdrs query`. */
#ifndef SDRS_SCENE_PLAN_H
#define SDRS_SCENE_PLAN_H

#include "scene/scene.h"

/* Appends a planning task (a file with `plan` at its top) as JSON, each value on its original line, after applying
 * overrides. *found is false, without a message, for other files and those that cannot be read. Returns
 * STATUS_BAD_INPUT after reporting errors. The caller owns json, appended to only if *found with STATUS_OK. */
Status plan_text(const char* path, const SceneOverride* overrides, int override_count, Text* json, bool* found,
                 Diagnostics* diagnostics);

#endif

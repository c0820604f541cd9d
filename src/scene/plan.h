/* Planning tasks: files with a body, obstacles and a goal, without a scene to simulate. app/plan.c reads them in the
 * terms of `sdrs query`. */
#ifndef SDRS_SCENE_PLAN_H
#define SDRS_SCENE_PLAN_H

#include "scene/scene.h"

/* Appends a planning task (a file with the key `plan` at its top) to `json` as JSON, with overrides applied and each
 * value on its original line. Sets *found to false, without a message, if the file is not a planning task or cannot be
 * read. Returns STATUS_BAD_INPUT after reporting errors. The caller owns json, which changes only if *found is true and
 * STATUS_OK is returned. */
Status plan_text(const char* path, const SceneOverride* overrides, int override_count, Text* json, bool* found,
                 Diagnostics* diagnostics);

#endif

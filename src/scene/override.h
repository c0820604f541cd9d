/* override: `--set path.to.key=value` on the document, before it is read. */
#ifndef SDRS_SCENE_OVERRIDE_H
#define SDRS_SCENE_OVERRIDE_H

#include "scene/schema.h"

/* What messages put before the override's text. */
#define OVERRIDE_PREFIX "--set "

/* source: "--set path.to.key=value"; it names the override in messages and must outlive the nodes. False after a
 * diagnostic. invent: take list items that do not exist for empty ones, to judge a path without a file. */
bool override_apply(const SchemaTable* table, Document* document, Node* root, const char* source, bool invent,
                    Diagnostics* diagnostics);

#endif

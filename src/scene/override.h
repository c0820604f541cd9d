/* override: applies `path.to.key=value` to a document before it is read. */
#ifndef SDRS_SCENE_OVERRIDE_H
#define SDRS_SCENE_OVERRIDE_H

#include "scene/schema.h"

/* Prefix of the text of an override in messages. */
#define OVERRIDE_PREFIX "--set "

/* An override, from the command line or from a task, with its position for messages. */
typedef struct {
  const char* text;  /* "path.to.key=value" */
  SourcePlace place; /* place for messages about it and its value; the file's name must outlive the nodes */
} PlacedOverride;

/* Returns "--set path.to.key=value" for each of the overrides (count), to which positions on the command line refer.
 * The caller frees each text and the array with memory_free. */
char** override_sources(const SceneOverride* overrides, int count);
/* Returns the override of such a text, borrowed. The text is the file name of its position. */
PlacedOverride override_of_source(const char* source);

/* Applies an override. Returns false after a diagnostic; the override may then be applied in part. The document owns
 * added nodes. */
bool override_apply(const SchemaTable* table, Document* document, Node* root, const PlacedOverride* placed,
                    Diagnostics* diagnostics);

#endif

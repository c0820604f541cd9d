/* override: `path.to.key=value` on the document, before it is read. */
#ifndef SDRS_SCENE_OVERRIDE_H
#define SDRS_SCENE_OVERRIDE_H

#include "scene/schema.h"

/* Prefix of the text of an override in messages. */
#define OVERRIDE_PREFIX "--set "

/* An override with its place: on the command line, or in a task. */
typedef struct {
  const char* text;  /* "path.to.key=value" */
  SourcePlace place; /* place for messages about it and its value; the file's name must outlive the nodes */
} PlacedOverride;

/* Returns "--set path.to.key=value" for each of the overrides (count): places on the command line point to these texts.
 * The caller frees each and the array with memory_free. */
char** override_sources(const SceneOverride* overrides, int count);
/* Returns the override in such a text, which it borrows, with the text itself as the file of its place. */
PlacedOverride override_of_source(const char* source);

/* False after a diagnostic. Nodes that are added are the document's. It may be half done after false. */
bool override_apply(const SchemaTable* table, Document* document, Node* root, const PlacedOverride* placed,
                    Diagnostics* diagnostics);

#endif

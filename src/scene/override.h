/* override: applies `path.to.key=value` to a document before the scene or task is read from it. */
#ifndef SDRS_SCENE_OVERRIDE_H
#define SDRS_SCENE_OVERRIDE_H

#include "scene/schema.h"

/* Beginning of an override's text in messages: "--set path.to.key=value". */
#define OVERRIDE_PREFIX "--set "

/* An override, given on the command line or in a task, with the position that messages name. */
typedef struct {
  const char* text;  /* "path.to.key=value" */
  SourcePlace place; /* position for messages about the override and its value; the file name must outlive the nodes */
} PlacedOverride;

/* Returns an array of `count` texts "--set path.to.key=value", one for each override. Messages use them as the file
 * name of positions on the command line. The caller frees each text and the array with memory_free. */
char** override_sources(const SceneOverride* overrides, int count);
/* Returns the override for a text `source` from override_sources, which it borrows. `source` is also the file name of
 * the override's position. */
PlacedOverride override_of_source(const char* source);

/* Applies one override to the tree below `root`. The document owns added nodes. Returns false after a diagnostic; the
 * tree may then be partly changed. */
bool override_apply(const SchemaTable* table, Document* document, Node* root, const PlacedOverride* placed,
                    Diagnostics* diagnostics);

#endif

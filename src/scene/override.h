/* override: changes single values of a document before a scene or task is read from the document. An override has the
 * form `path.to.key=value`. */
#ifndef SDRS_SCENE_OVERRIDE_H
#define SDRS_SCENE_OVERRIDE_H

#include "scene/schema.h"

/* Text before an override in messages, as in "--set path.to.key=value". */
#define OVERRIDE_PREFIX "--set "

/* An override from the command line or from a task, with its position for messages. */
typedef struct {
  const char* text;     /* the override, of the form "path.to.key=value" */
  SourcePosition place; /* position of the override for messages; the file name must outlive the nodes */
} LocatedOverride;

/* Returns an array of `count` texts "--set path.to.key=value", one for each override. Messages about an override of the
 * command line show this text in place of a file name. The caller frees each text and the array with memory_free. */
char** override_source_texts(const SceneOverride* overrides, int count);
/* Returns the override in `source`, a text from override_source_texts. The override borrows `source`, which is also the
 * file name of the override's position. */
LocatedOverride override_from_source_text(const char* source);

/* Changes the value that one override names in the tree below `root`. The document owns added nodes. Returns false
 * after a diagnostic; the tree may then be partly changed. */
bool override_apply(const SchemaTable* table, Document* document, Node* root, const LocatedOverride* placed,
                    Diagnostics* diagnostics);

#endif

/* document: the tree of maps, lists and scalars behind a YAML or JSON text, each with its place in the text.
 * A Document owns all its nodes and texts in an arena; document_free accepts a zeroed one. Nothing here knows scenes.
 */
#ifndef SDRS_SCENE_DOCUMENT_H
#define SDRS_SCENE_DOCUMENT_H

#include "base/base.h"

/* Deeper nesting than any scene needs; keeps recursion off the end of the stack. */
#define DOCUMENT_DEPTH_MAX 64
/* About 2 GB of nodes: a guard against exhausting memory, far above 100 000 vertices (400 000 nodes). */
#define DOCUMENT_NODE_MAX 20000000
/* Nodes that aliases may add: a few nested aliases could stand for billions. */
#define DOCUMENT_ALIAS_MAX 1000000
typedef enum { NODE_SCALAR, NODE_LIST, NODE_MAP } NodeKind;

typedef struct Node Node;
struct Node {
  NodeKind kind;
  bool quoted; /* scalar: a text whatever it looks like */
  int memo;    /* for the reader: what this node was read into, -1 = nothing yet */
  SourcePlace place;
  const char* text; /* scalar: its text */
  const char* key;  /* in a map: the key it stands under */
  int key_line, key_column;
  int count; /* map, list: number of children, linked from first through next */
  Node *first, *last, *next;
};

typedef struct ArenaBlock ArenaBlock;

typedef struct {
  ArenaBlock* blocks;
  int node_count, alias_count;
} Document;

void document_free(Document* document);

/* Parse a whole text. source: the name for messages, which must outlive the nodes. Returns the root, or NULL after a
 * diagnostic (syntax, limits, text that is not UTF-8). Keys that stand twice are told, but do not end the reading. The
 * text must be NUL-terminated. */
Node* document_read_yaml(Document* document, const char* source, const char* text, size_t length,
                         Diagnostics* diagnostics);
Node* document_read_json(Document* document, const char* source, const char* text, size_t length,
                         Diagnostics* diagnostics);

/* The one of the two that the flag says, and the flag that a file's name says. */
Node* document_read(Document* document, const char* source, const char* text, size_t length, bool json,
                    Diagnostics* diagnostics);
bool path_is_json(const char* path);

/* ---- building */
Node* document_node(Document* document, NodeKind kind, SourcePlace place); /* NULL beyond DOCUMENT_NODE_MAX */
const char* document_text(Document* document, const char* bytes, size_t length);
void node_append(Node* parent, Node* child);
void node_remove(Node* parent, const Node* child);
/* A copy that shares all children: for a map that is to differ in a few keys. */
Node* document_shallow_copy(Document* document, const Node* node);
/* A copy in all depth; NULL beyond DOCUMENT_ALIAS_MAX. */
Node* document_deep_copy(Document* document, const Node* node);
/* A diagnostic for every key that stands twice in the map, and only the first is kept. */
void node_check_keys(Node* map, Diagnostics* diagnostics);
/* False after a diagnostic where the text breaks the grammar of JSON (json_grammar.c). */
bool document_check_json(const char* source, const char* text, size_t length, Diagnostics* diagnostics);
/* ---- looking */
const Node* node_find(const Node* map, const char* key); /* NULL when absent or when the node is no map */
const Node* node_at(const Node* list, int index);
SourcePlace node_key_place(const Node* node); /* of its key; its own place outside of a map */

/* What a scalar says by the YAML core schema (JSON's rules are a part of it). */
typedef enum { SCALAR_TEXT, SCALAR_NULL, SCALAR_BOOL, SCALAR_NUMBER, SCALAR_NOT_FINITE } ScalarKind;
ScalarKind node_scalar_kind(const Node* scalar);
bool node_is_null(const Node* node);
/* The number of a SCALAR_NUMBER; false when it is too large for a double. */
bool node_number(const Node* scalar, double* value);

/* "a list", "a map", "nothing", "'abc'", "-1.5". */
Excerpt node_describe(const Node* node);

#endif

/* document: the tree of maps, lists and scalars of a YAML or JSON text, each with its place in the text. A Document
 * owns all its nodes and texts in an arena; document_free accepts a zeroed one. Independent of scenes. */
#ifndef SDRS_SCENE_DOCUMENT_H
#define SDRS_SCENE_DOCUMENT_H

#include "base/base.h"

/* Largest nesting, far above that of any scene; bounds the recursion depth. */
#define DOCUMENT_DEPTH_MAX 64
/* Largest number of nodes, about 2 GB of memory; 100 000 vertices are 400 000 nodes. */
#define DOCUMENT_NODE_MAX 20000000
/* Largest number of nodes that aliases may add: a few nested aliases could produce billions. */
#define DOCUMENT_ALIAS_MAX 1000000
typedef enum { NODE_SCALAR, NODE_LIST, NODE_MAP } NodeKind;

typedef struct Node Node;
struct Node {
  NodeKind kind;
  bool quoted; /* scalar: quoted, so a text even if it looks like a number */
  int memo;    /* for the reader: index of the object read from this node, -1 = none yet */
  SourcePlace place;
  const char* text; /* scalar: its text */
  const char* key;  /* in a map: its key */
  int key_line, key_column;
  int count; /* map, list: number of children, linked from first through next */
  Node *first, *last, *next;
};

typedef struct ArenaBlock ArenaBlock;

typedef struct {
  ArenaBlock* blocks;
  int node_count, alias_count;
} Document;

/* Frees all nodes and texts at once and zeroes it; no node may be used after it. */
void document_free(Document* document);

/* Parses a NUL-terminated text of `length` bytes, which is copied. source: the name for messages, which must outlive
 * the nodes. Returns the root, or NULL after a diagnostic (syntax, limits, text that is not UTF-8). Duplicate keys are
 * reported, but reading continues. */
Node* document_read_yaml(Document* document, const char* source, const char* text, size_t length,
                         Diagnostics* diagnostics);
/* As document_read_yaml for JSON: nodes are owned by the document. NULL after a diagnostic. */
Node* document_read_json(Document* document, const char* source, const char* text, size_t length,
                         Diagnostics* diagnostics);

/* Calls document_read_json or document_read_yaml, as the flag says. Nodes are owned by the document; NULL after a
 * diagnostic. */
Node* document_read(Document* document, const char* source, const char* text, size_t length, bool json,
                    Diagnostics* diagnostics);
/* Returns true if the name ends in .json, lower case. */
bool path_is_json(const char* path);

/* ---- building */
/* Returns a new node without children, key or text, owned by the document; NULL beyond DOCUMENT_NODE_MAX. */
Node* document_node(Document* document, NodeKind kind, SourcePlace place);
/* Returns a copy of `length` bytes with a NUL after them, owned by the document. */
const char* document_text(Document* document, const char* bytes, size_t length);
/* Appends child to the children of parent; it must not be in a list yet. */
void node_append(Node* parent, Node* child);
/* Removes child from parent, without freeing it; does nothing if it is not there. */
void node_remove(Node* parent, const Node* child);
/* Returns a shallow copy that shares all children, owned by the document; NULL beyond DOCUMENT_NODE_MAX. */
Node* document_shallow_copy(Document* document, const Node* node);
/* Returns a deep copy, owned by the document; NULL beyond DOCUMENT_ALIAS_MAX or DOCUMENT_NODE_MAX. */
Node* document_deep_copy(Document* document, const Node* node);
/* Reports every duplicate key of the map, and keeps the first only. Frees nothing; the others stay in their order. */
void node_check_keys(Node* map, Diagnostics* diagnostics);
/* Returns false, after a diagnostic, if the text violates the grammar of JSON (json_grammar.c). text: `length` bytes
 * and a NUL after them. */
bool document_check_json(const char* source, const char* text, size_t length, Diagnostics* diagnostics);
/* ---- looking */
/* Returns the child with this key; NULL if it is absent, or if the node is not a map or NULL. */
const Node* node_find(const Node* map, const char* key);
/* Returns child number `index`, from 0; NULL past the last. */
const Node* node_at(const Node* list, int index);
/* Returns the place of the node's key; outside a map the node's own place. */
SourcePlace node_key_place(const Node* node);

/* Type of a scalar by the YAML core schema, which includes JSON's rules. */
typedef enum { SCALAR_TEXT, SCALAR_NULL, SCALAR_BOOL, SCALAR_NUMBER, SCALAR_NOT_FINITE } ScalarKind;
/* Returns the type of a node of kind NODE_SCALAR. */
ScalarKind node_scalar_kind(const Node* scalar);
/* Returns true for a scalar without value: null, ~ or no text. */
bool node_is_null(const Node* node);
/* Sets *value to the number of a SCALAR_NUMBER. Returns false, with *value infinite, if it is too large for a double.
 */
bool node_number(const Node* scalar, double* value);

/* Returns a description for messages: "a list", "a map", "nothing", "'abc'", "-1.5"; shortened if too long. */
Excerpt node_describe(const Node* node);

#endif

/* document: a YAML or JSON text as a tree of maps, lists and scalars. Each node stores its line and column in the text.
 * A Document owns all its nodes and texts in an arena. document_free accepts a zeroed Document. This module does not
 * depend on scenes. */
#ifndef SDRS_SCENE_DOCUMENT_H
#define SDRS_SCENE_DOCUMENT_H

#include "base/base.h"

/* Largest depth of nested maps and lists. It bounds the recursion depth and is far above the depth of any scene. */
#define DOCUMENT_DEPTH_MAX 64
/* Largest number of nodes, which take about 2 GB of memory. A list of 100 000 vertices has 400 000 nodes. */
#define DOCUMENT_NODE_MAX 20000000
/* Largest number of nodes that copies for aliases may add. Without this limit a few nested aliases could produce
 * billions of nodes. */
#define DOCUMENT_ALIAS_MAX 1000000
typedef enum { NODE_SCALAR, NODE_LIST, NODE_MAP } NodeKind;

typedef struct Node Node;
struct Node {
  NodeKind kind;
  bool quoted; /* scalar: quoted, so a text even if it looks like a number */
  int memo;    /* for the reader: index of the scene object read from this node, -1 if none was read yet */
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

/* Frees all nodes and texts of the document and zeroes it. Pointers to its nodes are then invalid. */
void document_free(Document* document);

/* Parses a NUL-terminated text of `length` bytes, which is copied. `source` is the file name in messages; it must
 * outlive the nodes. Returns the root, which the document owns. Returns NULL after a diagnostic if the syntax is wrong,
 * a limit is exceeded or the text is not UTF-8. Duplicate keys are reported as errors without ending the parsing. */
Node* document_read_yaml(Document* document, const char* source, const char* text, size_t length,
                         Diagnostics* diagnostics);
/* Parses a JSON text, with arguments, result and errors as for document_read_yaml. The document owns the nodes. Returns
 * NULL after a diagnostic. */
Node* document_read_json(Document* document, const char* source, const char* text, size_t length,
                         Diagnostics* diagnostics);

/* Calls document_read_json if `json` is true, otherwise document_read_yaml. Returns the root, which the document owns,
 * or NULL after a diagnostic. */
Node* document_read(Document* document, const char* source, const char* text, size_t length, bool json,
                    Diagnostics* diagnostics);
/* Returns true if `path` ends in ".json" in lower case. */
bool path_is_json(const char* path);

/* ---- building */
/* Returns a new node without children, key or text, which the document owns. Returns NULL if the document has
 * DOCUMENT_NODE_MAX nodes. */
Node* document_node(Document* document, NodeKind kind, SourcePlace place);
/* Returns a copy of bytes[length] followed by a NUL. The document owns the copy. */
const char* document_text(Document* document, const char* bytes, size_t length);
/* Appends `child` to the children of `parent`. `child` must not be in a list or map yet. */
void node_append(Node* parent, Node* child);
/* Removes `child` from the children of `parent` without freeing `child`. Does nothing if `child` is not among the
 * children. */
void node_remove(Node* parent, const Node* child);
/* Returns a copy of `node` whose children are copies that share the children below them. The document owns the copies.
 * Returns NULL if they exceed DOCUMENT_NODE_MAX. */
Node* document_shallow_copy(Document* document, const Node* node);
/* Returns a copy of `node` with all its descendants, which the document owns. Returns NULL if the copied nodes of the
 * document exceed DOCUMENT_ALIAS_MAX, or all its nodes DOCUMENT_NODE_MAX. */
Node* document_deep_copy(Document* document, const Node* node);
/* Removes every repeated key from the map, so that the first entry of each key remains, and reports the removed keys as
 * errors. The remaining entries keep their order. Frees nothing. */
void node_check_keys(Node* map, Diagnostics* diagnostics);
/* Returns true if the text is valid JSON (json_grammar.c); otherwise adds a diagnostic and returns false. text:
 * `length` bytes followed by a NUL. */
bool document_check_json(const char* source, const char* text, size_t length, Diagnostics* diagnostics);
/* ---- looking */
/* Returns the child of `map` with the key `key`. Returns NULL if there is none, or if `map` is NULL or not a map. */
const Node* node_find(const Node* map, const char* key);
/* Returns child number `index`, from 0; NULL if the list has fewer children. */
const Node* node_at(const Node* list, int index);
/* Returns the position of the node's key in the text if the node is in a map, otherwise the position of the node
 * itself. */
SourcePlace node_key_place(const Node* node);

/* Type of a scalar by the YAML core schema, which includes JSON's rules. */
typedef enum { SCALAR_TEXT, SCALAR_NULL, SCALAR_BOOL, SCALAR_NUMBER, SCALAR_NOT_FINITE } ScalarKind;
/* Returns the type of a node of kind NODE_SCALAR. */
ScalarKind node_scalar_kind(const Node* scalar);
/* Returns true if the node is a scalar without a value: null, ~ or an empty text without quotes. */
bool node_is_null(const Node* node);
/* Sets *value to the number of a scalar of kind SCALAR_NUMBER. Returns false, with *value infinite, if the number is
 * too large for a double. */
bool node_number(const Node* scalar, double* value);

/* Returns a short description of the node for messages, such as "a list", "a map", "nothing", "'abc'" or "-1.5". A long
 * text is shortened. */
Excerpt node_describe(const Node* node);

#endif

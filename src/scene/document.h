/* document: a YAML or JSON text as a tree of maps, lists and scalars. Each node stores its position in the text. A
 * Document owns all its nodes and texts. document_free accepts a zeroed Document. This module does not depend on
 * scenes. */
#ifndef SDRS_SCENE_DOCUMENT_H
#define SDRS_SCENE_DOCUMENT_H

#include "base/base.h"

/* Largest nesting depth of maps and lists. The limit bounds the recursion depth of the parser. */
#define DOCUMENT_DEPTH_MAX 64
/* Largest number of nodes in a document. A document of this size takes about 2 GB of memory. */
#define DOCUMENT_NODE_MAX 20000000
/* Largest number of nodes that copies for YAML aliases may add. Without the limit, a few nested aliases could expand to
 * billions of nodes. */
#define DOCUMENT_ALIAS_MAX 1000000
typedef enum { NODE_SCALAR, NODE_LIST, NODE_MAP } NodeKind;

typedef struct Node Node;
struct Node {
  NodeKind kind;
  bool quoted;      /* for a scalar: true if the text is in quotes, so that a number in quotes is a text */
  int object_index; /* index of the scene object that the reader made from this node; -1: none */
  SourcePosition place;
  const char* text; /* for a scalar: text of the value */
  const char* key;  /* key of the node, if the node is in a map */
  int key_line, key_column;
  int count; /* for a map or list: number of children. They are linked through `first` and `next` */
  Node *first, *last, *next;
};

typedef struct ArenaBlock ArenaBlock;

typedef struct {
  ArenaBlock* blocks;
  int node_count, alias_count;
} Document;

/* Frees all nodes and texts of the document and zeroes the struct. Pointers to the nodes become invalid. */
void document_free(Document* document);

/* Parses a YAML text and returns its root node, which the document owns. text: `length` bytes followed by a NUL; the
 * document does not refer to `text` later. source: file name in messages; it must outlive the nodes. Returns NULL after
 * a diagnostic if the syntax is wrong, a limit is exceeded or the text is not UTF-8. A repeated key is reported as an
 * error, but the parser continues. */
Node* document_read_yaml(Document* document, const char* source, const char* text, size_t length,
                         Diagnostics* diagnostics);
/* Parses a JSON text and returns its root node, which the document owns. text: `length` bytes followed by a NUL; the
 * document does not refer to `text` later. source: file name in messages; it must outlive the nodes. Returns NULL after
 * a diagnostic if the syntax is wrong, a limit is exceeded or the text is not UTF-8. A repeated key is reported as an
 * error, but the parser continues. */
Node* document_read_json(Document* document, const char* source, const char* text, size_t length,
                         Diagnostics* diagnostics);

/* Parses a text as JSON if `json` is true, otherwise as YAML. Returns the root node, which the document owns. text:
 * `length` bytes followed by a NUL; the document does not refer to `text` later. source: file name in messages; it must
 * outlive the nodes. Returns NULL after a diagnostic if the text is invalid. */
Node* document_read(Document* document, const char* source, const char* text, size_t length, bool json,
                    Diagnostics* diagnostics);
/* Returns true if `path` ends in ".json" in lower case. */
bool path_is_json(const char* path);

/* ---- building */
/* Returns a new node without children, key or text. The document owns the node. Returns NULL if the document already
 * has DOCUMENT_NODE_MAX nodes. */
Node* document_node(Document* document, NodeKind kind, SourcePosition place);
/* Returns a copy of bytes[length] followed by a NUL. The document owns the copy. */
const char* document_text(Document* document, const char* bytes, size_t length);
/* Appends `child` to the children of `parent`. `child` must not be in a list or map yet. */
void node_append(Node* parent, Node* child);
/* Removes `child` from the children of `parent` without freeing `child`. Does nothing if `child` is not among the
 * children. */
void node_remove(Node* parent, const Node* child);
/* Returns a copy of a node and of its children. Deeper descendants are shared with the original. The document owns the
 * copies. Returns NULL if the document would have more than DOCUMENT_NODE_MAX nodes. */
Node* document_shallow_copy(Document* document, const Node* node);
/* Returns a copy of a node and of all its descendants. The document owns the copies. Returns NULL if the copied nodes
 * of the document exceed DOCUMENT_ALIAS_MAX, or all its nodes exceed DOCUMENT_NODE_MAX. */
Node* document_deep_copy(Document* document, const Node* node);
/* Reports each repeated key of a map as an error and removes the repeated entries. The first entry of each key remains.
 * The remaining entries keep their order. Frees nothing. */
void node_check_keys(Node* map, Diagnostics* diagnostics);
/* Checks the grammar of a JSON text (json_grammar.c). text: `length` bytes followed by a NUL. Returns true if the text
 * is valid. Otherwise adds a diagnostic and returns false. */
bool document_check_json(const char* source, const char* text, size_t length, Diagnostics* diagnostics);
/* ---- lookup */
/* Returns the child of a map that has a given key. Returns NULL if no child has this key, or if `map` is NULL or not a
 * map. */
const Node* node_find(const Node* map, const char* key);
/* Returns a child of a list by its index, from 0. Returns NULL if the list has fewer children. */
const Node* node_child_at(const Node* list, int index);
/* Returns the position of a node's key in the text. Returns the position of the node itself if the node is not in a
 * map. */
SourcePosition node_key_place(const Node* node);

/* Types of a scalar in the YAML core schema, which includes the rules of JSON. */
typedef enum { SCALAR_TEXT, SCALAR_NULL, SCALAR_BOOL, SCALAR_NUMBER, SCALAR_NOT_FINITE } ScalarKind;
/* Returns the type of a node of kind NODE_SCALAR. */
ScalarKind node_scalar_type(const Node* scalar);
/* Returns true if the node has no value: null, ~ or an empty text without quotes. */
bool node_is_null(const Node* node);
/* Sets *value to the number of a scalar of kind SCALAR_NUMBER. Returns false if the number is too large for a double.
 * *value is then infinite. */
bool node_number(const Node* scalar, double* value);

/* Returns a short description of the node for messages, such as "a list", "a map", "nothing", "'abc'" or "-1.5". A long
 * text is shortened. */
Excerpt node_describe(const Node* node);

#endif

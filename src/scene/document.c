#include "scene/document.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------- arena */

struct ArenaBlock {
  ArenaBlock* next;
  size_t used, capacity;
};

#define ARENA_BLOCK ((size_t)1 << 16)
#define ARENA_ALIGNMENT ((size_t)16)
/* Size of the header of a memory block of the arena [bytes], rounded up so that the data after the header are aligned.
 */
#define ARENA_HEADER ((sizeof(ArenaBlock) + ARENA_ALIGNMENT - 1) / ARENA_ALIGNMENT * ARENA_ALIGNMENT)

static void* arena_alloc(Document* document, size_t size) {
  size = (size + ARENA_ALIGNMENT - 1) / ARENA_ALIGNMENT * ARENA_ALIGNMENT;
  ArenaBlock* block = document->blocks;
  if (!block || block->capacity - block->used < size) {
    size_t capacity = size > ARENA_BLOCK ? size : ARENA_BLOCK;
    block = memory_alloc(ARENA_HEADER + capacity);
    *block = (ArenaBlock){document->blocks, 0, capacity};
    document->blocks = block;
  }
  void* pointer = (char*)block + ARENA_HEADER + block->used;
  block->used += size;
  return pointer;
}

void document_free(Document* document) {
  for (ArenaBlock* block = document->blocks; block;) {
    ArenaBlock* next = block->next;
    memory_free(block);
    block = next;
  }
  *document = (Document){0};
}

/* ---------------------------------------------------------------- building */

Node* document_node(Document* document, NodeKind kind, SourcePosition place) {
  assert(document);
  if (document->node_count >= DOCUMENT_NODE_MAX) return NULL;
  document->node_count++;
  Node* node = arena_alloc(document, sizeof(Node));
  *node = (Node){.kind = kind, .place = place, .object_index = -1, .text = ""};
  return node;
}

const char* document_text(Document* document, const char* bytes, size_t length) {
  assert(bytes || length == 0);
  char* text = arena_alloc(document, length + 1);
  if (length > 0) memcpy(text, bytes, length);
  text[length] = '\0';
  return text;
}

void node_append(Node* parent, Node* child) {
  assert(parent->last != child);
  child->next = NULL;
  if (parent->last)
    parent->last->next = child;
  else
    parent->first = child;
  parent->last = child;
  parent->count++;
}

void node_remove(Node* parent, const Node* child) {
  assert(parent && child);
  Node* before = NULL;
  for (Node* node = parent->first; node; before = node, node = node->next) {
    if (node != child) continue;
    if (before)
      before->next = node->next;
    else
      parent->first = node->next;
    if (parent->last == node) parent->last = before;
    parent->count--;
    return;
  }
}

Node* document_shallow_copy(Document* document, const Node* node) {
  assert(node);
  Node* copy = document_node(document, node->kind, node->place);
  if (!copy) return NULL;
  *copy = *node;
  copy->next = copy->first = copy->last = NULL;
  copy->count = 0;
  for (const Node* child = node->first; child; child = child->next) {
    Node* same = document_node(document, child->kind, child->place);
    if (!same) return NULL;
    *same = *child;
    node_append(copy, same);
  }
  return copy;
}

Node* document_deep_copy(Document* document, const Node* node) {
  assert(node);
  if (document->alias_count >= DOCUMENT_ALIAS_MAX) return NULL;
  document->alias_count++;
  Node* copy = document_node(document, node->kind, node->place);
  if (!copy) return NULL;
  *copy = *node;
  copy->next = copy->first = copy->last = NULL;
  copy->count = 0;
  for (const Node* child = node->first; child; child = child->next) {
    Node* below = document_deep_copy(document, child);
    if (!below) return NULL;
    node_append(copy, below);
  }
  return copy;
}

/* ---------------------------------------------------------------- keys */

#define INDEX_REPEATED_KEY (-2)
/* Largest number of errors in a file for which further repeated keys are reported. */
#define DUPLICATES_REPORTED 200

static int compare_keys(const void* left, const void* right) {
  const Node *a = *(const Node*const*)left, *b = *(const Node*const*)right;
  int order = strcmp(a->key, b->key);
  if (order != 0) return order;
  order = (a->key_line > b->key_line) - (a->key_line < b->key_line);
  return order != 0 ? order : (a->key_column > b->key_column) - (a->key_column < b->key_column);
}

/* Reports and marks the repeated keys of a map. Sorting takes n log n steps, which matters for maps with thousands of
 * keys. */
static void report_repeated_keys(const Node* map, Diagnostics* diagnostics) {
  Node** sorted = MEMORY_NEW(Node*, map->count);
  int count = 0;
  for (Node* child = map->first; child; child = child->next) sorted[count++] = child;
  qsort(sorted, (size_t)count, sizeof(Node*), compare_keys);
  int first = 0;
  for (int i = 1; i < count; i++) {
    if (strcmp(sorted[first]->key, sorted[i]->key) != 0) {
      first = i;
      continue;
    }
    sorted[i]->object_index = INDEX_REPEATED_KEY;
    if (diagnostics->error_count < DUPLICATES_REPORTED)
      diagnostics_add(diagnostics, SEVERITY_ERROR, node_key_place(sorted[i]),
                      "the key '%s' occurs twice, first in line %d: remove one of the two",
                      text_excerpt(sorted[i]->key).text, sorted[first]->key_line);
  }
  memory_free(sorted);
}

void node_check_keys(Node* map, Diagnostics* diagnostics) {
  if (map->count < 2) return;
  report_repeated_keys(map, diagnostics);
  Node* child = map->first;
  map->first = map->last = NULL;
  map->count = 0;
  for (Node* next; child; child = next) {
    next = child->next;
    if (child->object_index != INDEX_REPEATED_KEY) node_append(map, child);
  }
}

/* ---------------------------------------------------------------- text */

Node* document_read(Document* document, const char* source, const char* text, size_t length, bool json,
                    Diagnostics* diagnostics) {
  return json ? document_read_json(document, source, text, length, diagnostics)
              : document_read_yaml(document, source, text, length, diagnostics);
}

bool path_is_json(const char* path) {
  assert(path);
  size_t length = strlen(path);
  return length >= 5 && strcmp(path + length - 5, ".json") == 0;
}

/* ---------------------------------------------------------------- lookup */

const Node* node_find(const Node* map, const char* key) {
  if (!map || map->kind != NODE_MAP) return NULL;
  for (const Node* child = map->first; child; child = child->next)
    if (strcmp(child->key, key) == 0) return child;
  return NULL;
}

const Node* node_child_at(const Node* list, int index) {
  assert(list && index >= 0);
  const Node* node = list->first;
  while (node && index-- > 0) node = node->next;
  return node;
}

SourcePosition node_key_place(const Node* node) {
  if (!node->key) return node->place;
  return (SourcePosition){node->place.file, node->key_line, node->key_column};
}

/* ---------------------------------------------------------------- scalars */

static bool is_one_of(const char* text, const char* const words[3]) {
  for (int i = 0; i < 3; i++)
    if (strcmp(text, words[i]) == 0) return true;
  return false;
}

static const char* skip_digits(const char* p) {
  while (*p >= '0' && *p <= '9') p++;
  return p;
}

/* Returns true if the text is a number: [-+]? ( . digits | digits ( . digits? )? ) ( [eE] [-+]? digits )? */
static bool is_number(const char* p) {
  if (*p == '-' || *p == '+') p++;
  const char* start = p;
  p = skip_digits(p);
  ptrdiff_t digits = p - start;
  if (*p == '.') {
    const char* fraction = ++p;
    p = skip_digits(p);
    digits += p - fraction;
  }
  if (digits == 0) return false;
  if (*p == 'e' || *p == 'E') {
    p++;
    if (*p == '-' || *p == '+') p++;
    const char* exponent = p;
    p = skip_digits(p);
    if (p == exponent) return false;
  }
  return *p == '\0';
}

static bool is_not_finite(const char* text) {
  static const char* const INFINITE[3] = {".inf", ".Inf", ".INF"};
  static const char* const NOT_A_NUMBER[3] = {".nan", ".NaN", ".NAN"};
  static const char* const BARE[3] = {"nan", "NaN", "inf"};
  const char* unsigned_text = *text == '-' || *text == '+' ? text + 1 : text;
  return is_one_of(unsigned_text, INFINITE) || is_one_of(text, NOT_A_NUMBER) || is_one_of(unsigned_text, BARE);
}

ScalarKind node_scalar_type(const Node* scalar) {
  assert(scalar->kind == NODE_SCALAR);
  static const char* const NOTHING[3] = {"null", "Null", "NULL"};
  static const char* const YES[3] = {"true", "True", "TRUE"};
  static const char* const NO[3] = {"false", "False", "FALSE"};
  const char* text = scalar->text;
  if (scalar->quoted) return SCALAR_TEXT;
  if (*text == '\0' || strcmp(text, "~") == 0 || is_one_of(text, NOTHING)) return SCALAR_NULL;
  if (is_one_of(text, YES) || is_one_of(text, NO)) return SCALAR_BOOL;
  if (is_number(text)) return SCALAR_NUMBER;
  return is_not_finite(text) ? SCALAR_NOT_FINITE : SCALAR_TEXT;
}

bool node_is_null(const Node* node) { return node->kind == NODE_SCALAR && node_scalar_type(node) == SCALAR_NULL; }

bool node_number(const Node* scalar, double* value) {
  assert(scalar->kind == NODE_SCALAR);
  *value = strtod(scalar->text, NULL);
  return isfinite(*value);
}

/* ---------------------------------------------------------------- messages */

Excerpt node_describe(const Node* node) {
  if (node->kind == NODE_LIST) return (Excerpt){"a list"};
  if (node->kind == NODE_MAP) return (Excerpt){"a map"};
  ScalarKind kind = node_scalar_type(node);
  if (kind == SCALAR_NULL) return (Excerpt){"nothing"};
  Excerpt excerpt = text_excerpt(node->text);
  if (kind != SCALAR_TEXT) return excerpt;
  Excerpt quoted = {{0}};
  snprintf(quoted.text, sizeof quoted.text, "'%.68s'", excerpt.text);
  return quoted;
}

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#include "scene/document.h"

/* A value with an anchor. Aliases refer to the anchor. */
typedef struct {
  char* name;
  const Node* node;
  bool complete; /* false while the value is being read: an alias inside its own value would never end */
} Anchor;

typedef struct {
  yaml_parser_t parser;
  Document* document;
  Diagnostics* diagnostics;
  const char *source, *text;
  size_t length;
  Anchor* anchors;
  int anchor_count, anchor_capacity;
} YamlReader;

static SourcePosition place_of(const YamlReader* reader, yaml_mark_t mark) {
  return (SourcePosition){reader->source, (int)mark.line + 1, (int)mark.column + 1};
}

static const char ALIASES_TOO_MANY[] = "the aliases expand to too many values: use fewer aliases, or smaller anchors";

static Node* fail(YamlReader* reader, yaml_mark_t mark, const char* message) {
  diagnostics_add(reader->diagnostics, SEVERITY_ERROR, place_of(reader, mark), "%s", message);
  return NULL;
}

/* ---------------------------------------------------------------- events */

/* Returns the byte of the text at a mark of libyaml, or 0 at the end. The index of a mark counts characters, not
 * bytes. */
static char byte_at(const YamlReader* reader, yaml_mark_t mark) {
  const char* p = reader->text;
  if (strncmp(p, "\xef\xbb\xbf", 3) == 0) p += 3; /* byte order mark */
  for (size_t i = 0; i < mark.index && *p; i++) {
    p++;
    while (((unsigned char)*p & 0xc0) == 0x80) p++;
  }
  return *p;
}

/* Returns an explanation of the two most frequent syntax errors of libyaml. Returns "" for other errors. The text is
 * static. */
static const char* hint(const YamlReader* reader) {
  const yaml_parser_t* parser = &reader->parser;
  char c = byte_at(reader, parser->problem_mark);
  if (parser->error == YAML_SCANNER_ERROR && c == '\t') return " (a tab: YAML indents with spaces only)";
  bool in_flow = parser->context && strstr(parser->context, "flow");
  if (parser->error == YAML_PARSER_ERROR && in_flow && c == '{')
    return " (inside { } and [ ] a text with a brace must be quoted)";
  return "";
}

static void report_parser(YamlReader* reader) {
  const yaml_parser_t* parser = &reader->parser;
  const char* problem = parser->problem ? parser->problem : "not a YAML text";
  if (parser->error == YAML_READER_ERROR) {
    size_t offset = parser->problem_offset < reader->length ? parser->problem_offset : reader->length;
    diagnostics_add(reader->diagnostics, SEVERITY_ERROR, source_position_at(reader->source, reader->text, offset), "%s",
                    problem);
    return;
  }
  SourcePosition place = place_of(reader, parser->problem_mark);
  if (parser->context)
    diagnostics_add(reader->diagnostics, SEVERITY_ERROR, place, "%s %s that begins in line %d%s", problem,
                    parser->context, (int)parser->context_mark.line + 1, hint(reader));
  else
    diagnostics_add(reader->diagnostics, SEVERITY_ERROR, place, "%s%s", problem, hint(reader));
}

static bool next_event(YamlReader* reader, yaml_event_t* event) {
  if (yaml_parser_parse(&reader->parser, event)) return true;
  if (reader->parser.error == YAML_MEMORY_ERROR) {
    yaml_parser_delete(&reader->parser);
    memory_report_exhausted(0);
  }
  report_parser(reader);
  return false;
}

/* ---------------------------------------------------------------- anchors */

/* Largest number of anchors in a text. The limit bounds the time to find the anchor of an alias. */
#define ANCHOR_MAX 10000

static int add_anchor(YamlReader* reader, const yaml_char_t* name, const Node* node) {
  if (!name || !node || reader->anchor_count >= ANCHOR_MAX) return -1;
  reader->anchors = memory_grow_array(reader->anchors, sizeof(Anchor), reader->anchor_count, &reader->anchor_capacity);
  reader->anchors[reader->anchor_count] = (Anchor){memory_copy_text((const char*)name), node, false};
  return reader->anchor_count++;
}

static void complete_anchor(YamlReader* reader, int index) {
  if (index >= 0) reader->anchors[index].complete = true;
}

/* Returns a copy of the value to which an alias refers. If several anchors have the same name, the latest is used, as
 * YAML requires. Returns NULL after an error. */
static Node* read_alias(YamlReader* reader, const yaml_event_t* event) {
  const char* name = (const char*)event->data.alias.anchor;
  for (int i = reader->anchor_count - 1; i >= 0; i--) {
    const Anchor* anchor = &reader->anchors[i];
    if (strcmp(anchor->name, name) != 0) continue;
    if (!anchor->complete)
      return fail(reader, event->start_mark, "an alias must not stand inside its own anchor: move the alias");
    Node* copy = document_deep_copy(reader->document, anchor->node);
    if (!copy) return fail(reader, event->start_mark, ALIASES_TOO_MANY);
    copy->key = NULL;
    return copy;
  }
  return fail(reader, event->start_mark, "no anchor of this name precedes the alias: define the anchor first");
}

/* ---------------------------------------------------------------- values */

static Node* read_value(YamlReader* reader, const yaml_event_t* event, int depth);

/* Returns true if a list or map has no tag, or the tag of its own kind, `expected`, which has no effect. Otherwise
 * reports an error and returns false. */
static bool check_tag(YamlReader* reader, const yaml_event_t* event, const yaml_char_t* tag, const char* expected) {
  if (!tag || strcmp((const char*)tag, expected) == 0) return true;
  return fail(reader, event->start_mark, "YAML tags (!name) are not supported here: remove the tag") != NULL;
}

static bool is_tag(const char* tag, const char* name) {
  static const char CORE[] = "tag:yaml.org,2002:";
  return strncmp(tag, CORE, sizeof CORE - 1) == 0 && strcmp(tag + sizeof CORE - 1, name) == 0;
}

/* Checks that the tag of a scalar fits its value. The tags "!!str" and "!" make any scalar a text. Returns false after
 * an error. */
static bool check_scalar_tag(YamlReader* reader, const yaml_event_t* event, const char* tag, const Node* node) {
  if (!tag || strcmp(tag, "!") == 0 || is_tag(tag, "str")) return true;
  bool number = is_tag(tag, "int") || is_tag(tag, "float"), boolean = is_tag(tag, "bool"), null = is_tag(tag, "null");
  if (!number && !boolean && !null)
    return fail(reader, event->start_mark, "YAML tags (!name) are not supported here: remove the tag") != NULL;
  ScalarKind kind = node_scalar_type(node);
  bool fits = number    ? kind == SCALAR_NUMBER || kind == SCALAR_NOT_FINITE
              : boolean ? kind == SCALAR_BOOL
                        : kind == SCALAR_NULL;
  return fits ||
         fail(reader, event->start_mark, "the tag does not match the kind of the value: remove the tag") != NULL;
}

static Node* read_scalar(YamlReader* reader, const yaml_event_t* event) {
  const char* tag = (const char*)event->data.scalar.tag;
  Node* node = document_node(reader->document, NODE_SCALAR, place_of(reader, event->start_mark));
  if (!node) return fail(reader, event->start_mark, "the file has too many values: shorten the file");
  const char* bytes = (const char*)event->data.scalar.value;
  if (strlen(bytes) != event->data.scalar.length)
    return fail(reader, event->start_mark, "the text contains a NUL character: remove the character");
  node->text = document_text(reader->document, bytes, event->data.scalar.length);
  bool forced = tag && (strcmp(tag, "!") == 0 || strcmp(tag, YAML_STR_TAG) == 0);
  node->quoted = forced || event->data.scalar.style != YAML_PLAIN_SCALAR_STYLE;
  if (!check_scalar_tag(reader, event, tag, node)) return NULL;
  complete_anchor(reader, add_anchor(reader, event->data.scalar.anchor, node));
  return node;
}

static Node* read_list(YamlReader* reader, const yaml_event_t* start, int depth) {
  if (!check_tag(reader, start, start->data.sequence_start.tag, YAML_SEQ_TAG)) return NULL;
  Node* list = document_node(reader->document, NODE_LIST, place_of(reader, start->start_mark));
  if (!list) return fail(reader, start->start_mark, "the file has too many values: shorten the file");
  int anchor = add_anchor(reader, start->data.sequence_start.anchor, list);
  for (;;) {
    yaml_event_t event;
    if (!next_event(reader, &event)) return NULL;
    bool end = event.type == YAML_SEQUENCE_END_EVENT;
    Node* item = end ? NULL : read_value(reader, &event, depth + 1);
    yaml_event_delete(&event);
    if (end) break;
    if (!item) return NULL;
    node_append(list, item);
  }
  complete_anchor(reader, anchor);
  return list;
}

/* Merges the map `base` into `map`, for the YAML key `<<: *base`. Keys of `map` take precedence. If `base` is a list,
 * merges each map of the list. Returns false after an error. */
static bool merge_map(YamlReader* reader, Node* map, const Node* base) {
  if (base->kind == NODE_LIST) {
    for (const Node* one = base->first; one; one = one->next)
      if (!merge_map(reader, map, one)) return false;
    return true;
  }
  if (base->kind != NODE_MAP) {
    diagnostics_add(reader->diagnostics, SEVERITY_ERROR, base->place,
                    "the merge key << expects a map, got %s: give the alias of a map", node_describe(base).text);
    return false;
  }
  for (const Node* child = base->first; child; child = child->next) {
    if (node_find(map, child->key)) continue;
    Node* copy = document_deep_copy(reader->document, child);
    if (!copy) {
      diagnostics_add(reader->diagnostics, SEVERITY_ERROR, base->place, ALIASES_TOO_MANY);
      return false;
    }
    node_append(map, copy);
  }
  return true;
}

static bool finish_map(YamlReader* reader, Node* map) {
  node_check_keys(map, reader->diagnostics);
  const Node* merge = node_find(map, "<<");
  if (!merge) return true;
  node_remove(map, merge);
  return merge_map(reader, map, merge);
}

/* Reads one `key: value` of a map. Returns false at the end of the map, or after an error. Sets *good to false after an
 * error. */
static bool read_entry(YamlReader* reader, Node* map, int depth, bool* good) {
  yaml_event_t key, value;
  *good = false;
  if (!next_event(reader, &key)) return false;
  bool go_on = false;
  if (key.type == YAML_MAPPING_END_EVENT) {
    *good = true;
  } else if (key.type != YAML_SCALAR_EVENT || strlen((char*)key.data.scalar.value) != key.data.scalar.length) {
    fail(reader, key.start_mark, "a key must be a text: write key: value");
  } else if (next_event(reader, &value)) {
    Node* node = read_value(reader, &value, depth + 1);
    if (node) {
      node->key = document_text(reader->document, (char*)key.data.scalar.value, key.data.scalar.length);
      node->key_line = (int)key.start_mark.line + 1;
      node->key_column = (int)key.start_mark.column + 1;
      node_append(map, node);
      *good = go_on = true;
    }
    yaml_event_delete(&value);
  }
  yaml_event_delete(&key);
  return go_on;
}

static Node* read_map(YamlReader* reader, const yaml_event_t* start, int depth) {
  if (!check_tag(reader, start, start->data.mapping_start.tag, YAML_MAP_TAG)) return NULL;
  Node* map = document_node(reader->document, NODE_MAP, place_of(reader, start->start_mark));
  if (!map) return fail(reader, start->start_mark, "the file has too many values: shorten the file");
  int anchor = add_anchor(reader, start->data.mapping_start.anchor, map);
  bool good;
  while (read_entry(reader, map, depth, &good)) continue;
  if (!good || !finish_map(reader, map)) return NULL;
  complete_anchor(reader, anchor);
  return map;
}

static Node* read_value(YamlReader* reader, const yaml_event_t* event, int depth) {
  assert(depth >= 1);
  if (depth > DOCUMENT_DEPTH_MAX)
    return fail(reader, event->start_mark, "lists and maps are nested too deeply: use fewer levels");
  switch (event->type) {
    case YAML_SCALAR_EVENT:
      return read_scalar(reader, event);
    case YAML_SEQUENCE_START_EVENT:
      return read_list(reader, event, depth);
    case YAML_MAPPING_START_EVENT:
      return read_map(reader, event, depth);
    case YAML_ALIAS_EVENT:
      return read_alias(reader, event);
    default:
      return fail(reader, event->start_mark, "expected a value");
  }
}

/* ---------------------------------------------------------------- the stream */

static bool skip_event(YamlReader* reader) {
  yaml_event_t event;
  if (!next_event(reader, &event)) return false;
  yaml_event_delete(&event);
  return true;
}

/* Reads a text with exactly one YAML document and returns its root node. A second document is an error, because it
 * would have no effect. Returns NULL after an error. */
static Node* read_stream(YamlReader* reader) {
  yaml_event_t event;
  if (!skip_event(reader) || !next_event(reader, &event)) return NULL;
  if (event.type == YAML_STREAM_END_EVENT) {
    yaml_mark_t start = {0};
    return fail(reader, start, "the text is empty: write at least one value");
  }
  yaml_event_delete(&event);
  if (!next_event(reader, &event)) return NULL;
  Node* root = read_value(reader, &event, 1);
  yaml_event_delete(&event);
  if (!root || !skip_event(reader) || !next_event(reader, &event)) return NULL;
  if (event.type != YAML_STREAM_END_EVENT)
    root = fail(reader, event.start_mark, "a second YAML document begins here: keep one document per file");
  yaml_event_delete(&event);
  return root;
}

Node* document_read_yaml(Document* document, const char* source, const char* text, size_t length,
                         Diagnostics* diagnostics) {
  if (!source_check_utf8(source, text, length, diagnostics)) return NULL;
  YamlReader reader = {.document = document, .diagnostics = diagnostics, .source = source, .text = text};
  reader.length = length;
  if (!yaml_parser_initialize(&reader.parser))
    memory_report_exhausted(0); /* yaml_parser_initialize fails for no other reason */
  yaml_parser_set_input_string(&reader.parser, (const unsigned char*)text, length);
  Node* root = read_stream(&reader);
  yaml_parser_delete(&reader.parser);
  for (int i = 0; i < reader.anchor_count; i++) memory_free(reader.anchors[i].name);
  memory_free(reader.anchors);
  return root;
}

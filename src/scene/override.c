#include "scene/override.h"

#include <assert.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "base/outside.h"
#include "scene/alias.h"

char** override_source_texts(const SceneOverride* overrides, int count) {
  assert(count >= 0);
  char** sources = MEMORY_NEW(char*, count);
  for (int i = 0; i < count; i++) {
    Text text = {0};
    text_add(&text, "%s%s", OVERRIDE_PREFIX, overrides[i].text);
    sources[i] = text.data;
  }
  return sources;
}

LocatedOverride override_from_source_text(const char* source) {
  assert(source);
  return (LocatedOverride){source + strlen(OVERRIDE_PREFIX), {source, 0, 0}};
}

typedef struct {
  const SchemaTable* table;
  Document* document;
  const Node* root;
  const LocatedOverride* located;
  const char *path, *path_end; /* the rest of the path `path.to.key` that is not applied yet, and its end */
  const char* value;           /* the new value: text after the = of the override */
  Diagnostics* diagnostics;
} OverrideCursor;

static SourcePosition position_of(const OverrideCursor* override) { return override->located->place; }

static bool fail(const OverrideCursor* override, const char* problem, const char* what) {
  diagnostics_add(override->diagnostics, SEVERITY_ERROR, position_of(override), problem, text_excerpt(what).text);
  return false;
}

/* ---------------------------------------------------------------- the path */

static bool at_end(const OverrideCursor* override) { return override->path >= override->path_end; }

/* Returns the next component of the path, which ends at a dot or at the end of the path. The document owns the text. */
static const char* next_component(const OverrideCursor* override) {
  const char* end = override->path;
  while (end < override->path_end && *end != '.') end++;
  return document_text(override->document, override->path, (size_t)(end - override->path));
}

static void advance(OverrideCursor* override, size_t length) {
  assert(override->path + length <= override->path_end);
  override->path += length;
  if (override->path < override->path_end) override->path++; /* skips the dot after the component */
}

/* Returns true if the rest of the path begins with `name`, followed by a dot or the end of the path. Names may contain
 * dots. */
static bool starts_with_name(const OverrideCursor* override, const char* name) {
  size_t length = strlen(name);
  if (length == 0 || length > (size_t)(override->path_end - override->path)) return false;
  if (strncmp(override->path, name, length) != 0) return false;
  return override->path + length == override->path_end || override->path[length] == '.';
}

/* Returns the next component of the path as an index, or -1 if it is not a whole number. */
static int next_component_as_index(const OverrideCursor* override) {
  const char* component = next_component(override);
  if (*component == '\0' || strlen(component) > 9 || strspn(component, "0123456789") != strlen(component)) return -1;
  return atoi(component);
}

/* ---------------------------------------------------------------- the value */

/* Sets the positions of a node and of its descendants to the position of the override. */
static void set_positions(const OverrideCursor* override, Node* node) {
  node->place = position_of(override);
  node->key_line = node->place.line;
  node->key_column = node->place.column;
  for (Node* child = node->first; child; child = child->next) set_positions(override, child);
}

/* Returns a node for a value that is an expression, such as {2 * a}, or NULL for other values. Expressions need no
 * quotes in an override. A value in braces is a YAML map if it contains a colon or is empty. */
static Node* read_expression(const OverrideCursor* override) {
  const char *text = override->value, *inside = text + 1 + strspn(text + (*text == '{'), " ");
  if (*text != '{' || *inside == '}' || strpbrk(text, ":\"'") || text[strlen(text) - 1] != '}') return NULL;
  Node* node = document_node(override->document, NODE_SCALAR, position_of(override));
  if (node) node->text = document_text(override->document, text, strlen(text));
  return node;
}

static Node* read_value(const OverrideCursor* override) {
  Diagnostics problems = {0};
  size_t length = strlen(override->value);
  Node* node = read_expression(override);
  if (node) return node;
  node = length == 0
             ? document_node(override->document, NODE_SCALAR, position_of(override))
             : document_read_yaml(override->document, position_of(override).file, override->value, length, &problems);
  for (int i = 0; i < problems.count; i++) fail(override, "the value is not valid YAML: %s", problems.items[i].text);
  diagnostics_free(&problems);
  if (node) set_positions(override, node);
  return node;
}

/* Replaces the value of a node by the override's value. The node keeps its key and its next sibling. Returns false if
 * the value is invalid. */
static bool replace_value(const OverrideCursor* override, Node* node) {
  const Node* value = read_value(override);
  if (!value) return false;
  Node kept = *node;
  *node = *value;
  node->key = kept.key;
  node->next = kept.next;
  return true;
}

static Node* add_map(const OverrideCursor* override, Node* parent, const char* key) {
  Node* child = document_node(override->document, NODE_MAP, position_of(override));
  if (!child) return NULL;
  child->key = key;
  node_append(parent, child);
  return child;
}

/* ---------------------------------------------------------------- objects */

static bool walk(OverrideCursor* override, Node* node, const SchemaRow* row);

static bool report_unknown(const OverrideCursor* override, const SchemaObject* object, const char* type,
                           const char* key) {
  Text advice = {0};
  schema_add_key_advice(override->table, object, type, key, &advice);
  const char* start = override->located->text;
  size_t length = override->path > start ? (size_t)(override->path - 1 - start) : 0;
  const char* where = length > 0 ? document_text(override->document, start, length) : "the file";
  diagnostics_add(override->diagnostics, SEVERITY_ERROR, position_of(override), "unknown key '%s' in %s%s",
                  text_excerpt(key).text, text_excerpt(where).text, advice.length > 0 ? advice.data : "");
  text_free(&advice);
  return false;
}

static const char* type_of(const SchemaObject* object, const Node* map) {
  const Node* type = object->type_key ? node_find(map, object->type_key) : NULL;
  return type && type->kind == NODE_SCALAR ? type->text : NULL;
}

/* Returns the name of the schema object of a list's items. Returns NULL for lists of numbers or names. */
static const char* item_object_name(const SchemaRow* row) {
  if (row->kind == VALUE_LIST || row->kind == VALUE_TERMS) return row->of;
  return row->kind == VALUE_SHAPES ? "shape_use" : NULL;
}

static bool is_section(const SchemaRow* row) {
  return row->kind == VALUE_OBJECT || row->kind == VALUE_MAP || row->kind == VALUE_SHAPE || row->kind == VALUE_SIGNAL ||
         row->kind == VALUE_VARIABLES;
}

/* Creates the node for a key that the path of --set names and the file does not have. The node is the given value if
 * the key ends the path. Otherwise it is an empty section, an empty list if the path goes on with `+`, or the default
 * value of a list. Returns NULL after an error. */
static Node* create_child(const OverrideCursor* override, const SchemaRow* row) {
  if (at_end(override)) return read_value(override);
  if (is_section(row)) return document_node(override->document, NODE_MAP, position_of(override));
  bool appends = strcmp(next_component(override), "+") == 0;
  if (appends) return document_node(override->document, NODE_LIST, position_of(override));
  bool has_list = row->fallback && row->fallback[0] == '[';
  if (!has_list) {
    fail(override, "the file has no '%s': set the whole value, not one of its keys", row->key);
    return NULL;
  }
  Node* node = document_read_yaml(override->document, position_of(override).file, row->fallback, strlen(row->fallback),
                                  override->diagnostics);
  if (node) set_positions(override, node);
  return node;
}

static void warn_about_old_name(const OverrideCursor* override, SourcePosition place, const char* old,
                                const char* present) {
  diagnostics_add(override->diagnostics, SEVERITY_WARNING, place, ALIAS_WARNING, old, present, present);
}

/* Applies the rest of the path to a map. name: schema object of the map. Adds missing keys, and removes keys that
 * exclude the added ones. Returns false after an error. */
static bool walk_object(OverrideCursor* override, Node* map, const char* name) {
  const SchemaObject* object = schema_object(override->table, name);
  const char *component = next_component(override), *key = alias_key(object->name, component);
  const char* type = type_of(object, map);
  const SchemaRow* row = schema_row(override->table, object, key, type);
  if (!row) row = schema_row(override->table, object, key, NULL); /* the reader reports that the type has no such key */
  if (!row) return report_unknown(override, object, type, key);
  if (map->kind != NODE_MAP)
    return fail(
        override,
        "the key '%s' cannot be set, because the value before the key in the path is not a map: correct the path", key);
  advance(override, strlen(component));
  if (key != component) warn_about_old_name(override, position_of(override), component, key);
  for (Node* entry = map->first; entry; entry = entry->next) {
    const char* present = alias_key(object->name, entry->key);
    if (present != entry->key) warn_about_old_name(override, node_key_place(entry), entry->key, present);
    entry->key = present;
  }
  Node* child = (Node*)node_find(map, key);
  bool is_there = child && !node_is_null(child);
  if (is_there && !at_end(override)) return walk(override, child, row);
  child = create_child(override, row);
  if (!child) return false;
  child->key = key;
  schema_replace(override->table, object, map, child);
  return at_end(override) || walk(override, child, row);
}

/* Applies the rest of the path to each entry of a map whose key matches a shell pattern. */
static bool walk_matching_names(OverrideCursor* override, Node* map, const SchemaRow* row, const char* pattern) {
  const char* path = override->path;
  bool is_valid = true;
  int count = 0;
  for (Node* child = map->first; child; child = child->next) {
    if (fnmatch(pattern, child->key, 0) != 0) continue;
    override->path = path;
    advance(override, strlen(pattern));
    is_valid = (at_end(override) ? replace_value(override, child) : walk_object(override, child, row->of)) && is_valid;
    count++;
  }
  return count > 0 ? is_valid : fail(override, "no name matches the pattern '%s': correct the pattern", pattern);
}

/* Applies the rest of the path to a map of named objects. */
static bool walk_names(OverrideCursor* override, Node* map, const SchemaRow* row) {
  if (map->kind != NODE_MAP) return fail(override, "'%s' is not a map: set the whole value", row->key);
  Node* found = NULL;
  const char* pattern = next_component(override);
  if (strpbrk(pattern, "*?")) return walk_matching_names(override, map, row, pattern);
  for (Node* child = map->first; child; child = child->next)
    if (starts_with_name(override, child->key) && (!found || strlen(child->key) > strlen(found->key))) found = child;
  const char* key = found ? found->key : next_component(override);
  if (!found) found = add_map(override, map, key);
  if (!found) return false;
  advance(override, strlen(key));
  return at_end(override) ? replace_value(override, found) : walk_object(override, found, row->of);
}

/* ---------------------------------------------------------------- lists */

/* Returns a name without its {expressions}: "leg" for "leg{i}". */
static const char* name_without_expressions(const OverrideCursor* override, const char* name) {
  Text plain = {0};
  text_add_bytes(&plain, "", 0);
  for (int depth = 0; *name; name++) {
    if (*name == '{') depth++;
    if (depth == 0) text_add_bytes(&plain, name, 1);
    if (*name == '}') depth--;
  }
  const char* kept = document_text(override->document, plain.data, plain.length);
  text_free(&plain);
  return kept;
}

/* Returns the `name` or `link` of a list item as the file gives it. Returns "" if the item has neither. */
static const char* item_name(const Node* item) {
  const Node* name = node_find(item, "name");
  if (!name) name = node_find(item, "link");
  return name && name->kind == NODE_SCALAR ? name->text : "";
}

/* Returns the list item whose `name` or `link` is the beginning of the path, and advances the path past it. Prefers
 * names without expressions, then the longest name. Returns NULL if no item matches. */
static Node* find_named_item(OverrideCursor* override, Node* list) {
  Node* found = NULL;
  size_t found_length = 0;
  for (int pass = 0; pass < 2 && !found; pass++)
    for (Node* item = list->first; item; item = item->next) {
      const char* name = pass == 0 ? item_name(item) : name_without_expressions(override, item_name(item));
      if (!starts_with_name(override, name) || strlen(name) <= found_length) continue;
      found = item;
      found_length = strlen(name);
    }
  if (found) advance(override, found_length);
  return found;
}

/* Returns the name that a loss term without `name` gets from its type, such as point or point_2. Returns "" if the term
 * has a name or no type. The document owns the text. */
static const char* derived_loss_name(const OverrideCursor* override, const Node* list, const Node* item) {
  const Node* type = node_find(item, "type");
  if (!type || type->kind != NODE_SCALAR || node_find(item, "name")) return "";
  int number = 1;
  for (const Node* other = list->first; other != item; other = other->next) {
    const Node* same = node_find(other, "type");
    number += same && same->kind == NODE_SCALAR && !node_find(other, "name") && strcmp(same->text, type->text) == 0;
  }
  if (number == 1) return type->text;
  Text name = {0};
  text_add(&name, "%s_%d", type->text, number);
  const char* kept = document_text(override->document, name.data, name.length);
  text_free(&name);
  return kept;
}

static Node* find_item_by_type(OverrideCursor* override, Node* list) {
  Node* found = NULL;
  size_t length = 0;
  for (Node* item = list->first; item; item = item->next) {
    const char* name = derived_loss_name(override, list, item);
    if (!starts_with_name(override, name) || strlen(name) <= length) continue;
    found = item;
    length = strlen(name);
  }
  if (found) advance(override, length);
  return found;
}

/* Returns the most similar name of a list item for a component of the path, or NULL if no name is similar. */
static const char* find_similar_item_name(const OverrideCursor* override, const Node* list, const char* component) {
  const char** names = MEMORY_NEW(const char*, list->count + 1);
  int count = 0;
  for (const Node* item = list->first; item; item = item->next) {
    const char* name = item_name(item);
    names[count++] = *name ? name : derived_loss_name(override, list, item);
  }
  const char* nearest = text_nearest(component, names, count);
  memory_free(names);
  return nearest;
}

static void report_unknown_item(const OverrideCursor* override, const Node* list, const char* component) {
  const char *start = override->located->text, *nearest = find_similar_item_name(override, list, component);
  int length = (int)(override->path - start) - (override->path > start);
  Text message = {0};
  text_add(&message, "%.*s has no item named '%s'", length, start, text_excerpt(component).text);
  text_add(&message, "%s", text_suggestion(nearest).text);
  diagnostics_add(override->diagnostics, SEVERITY_ERROR, position_of(override), "%s", message.data);
  text_free(&message);
}

static Node* find_item(OverrideCursor* override, Node* list) {
  Node* item = find_named_item(override, list);
  if (!item) item = find_item_by_type(override, list);
  if (item) return item;
  int index = next_component_as_index(override);
  const char* component = next_component(override);
  if (index >= 0) item = (Node*)node_child_at(list, index);
  if (item)
    advance(override, strlen(component));
  else if (index >= 0)
    fail(override, "the list has no item with the index %s: indices begin at 0", component);
  else
    report_unknown_item(override, list, component);
  return item;
}

static bool walk_item(OverrideCursor* override, Node* item, const SchemaRow* row);

/* Appends the value to a list, for an override such as links.+={...}. Returns false after an error. */
static bool append_item(OverrideCursor* override, Node* list) {
  advance(override, 1);
  if (!at_end(override)) return fail(override, "'+' appends an item and must be the last part of the path%s", "");
  Node* item = read_value(override);
  if (item) node_append(list, item);
  return item != NULL;
}

/* Applies the rest of the path to each list item whose name matches a shell pattern. */
static bool walk_matching_items(OverrideCursor* override, Node* list, const SchemaRow* row, const char* pattern) {
  const char* path = override->path;
  bool is_valid = true;
  int count = 0;
  for (Node *item = list->first, *next; item; item = next) {
    const char* name = item_name(item);
    next = item->next; /* replacing an item's value keeps its neighbours */
    if (!*name) name = derived_loss_name(override, list, item);
    if (strcmp(pattern, "*") != 0 && fnmatch(pattern, name, 0) != 0) continue;
    override->path = path;
    advance(override, strlen(pattern));
    is_valid = walk_item(override, item, row) && is_valid;
    count++;
  }
  return count > 0 ? is_valid
                   : fail(override, "no item of the list matches the pattern '%s': correct the pattern", pattern);
}

static bool walk_list(OverrideCursor* override, Node* list, const SchemaRow* row) {
  const char* component = next_component(override);
  if (strcmp(component, "+") == 0) return append_item(override, list);
  const char* path = override->path;
  bool pattern = strpbrk(component, "*?") && !find_named_item(override, list);
  if (pattern) return walk_matching_items(override, list, row, component);
  override->path = path;
  Node* item = find_item(override, list);
  return item && walk_item(override, item, row);
}

static bool walk_item(OverrideCursor* override, Node* item, const SchemaRow* row) {
  if (at_end(override)) return replace_value(override, item);
  if (item->kind == NODE_LIST) return walk_list(override, item, row);
  if (!item_object_name(row))
    return fail(override, "the items of '%s' have no keys: end the path at the item", row->key);
  return walk_object(override, item, item_object_name(row));
}

/* ---------------------------------------------------------------- values of any kind */

/* Returns the name of the schema object of a map that is the value of a row. Returns NULL if the value cannot be a map.
 */
static const char* map_object_name(const SchemaRow* row) {
  switch (row->kind) {
    case VALUE_OBJECT:
      return row->of;
    case VALUE_SHAPE:
      return "shape_use";
    case VALUE_SIGNAL:
      return "signal";
    default:
      return NULL;
  }
}

/* Applies the rest of the path to a scene that is written inside a task. */
static bool walk_scene(OverrideCursor* override, Node* node) {
  if (node->kind == NODE_SCALAR)
    return fail(override, "the scene is the separate file '%s': change its values with the key 'set'", node->text);
  override->table = &SCENE_SCHEMA;
  return walk_object(override, node, SCENE_SCHEMA.root);
}

static bool is_word_character(char c) {
  return c == '_' || (c >= '0' && c <= '9') || ((c | 32) >= 'a' && (c | 32) <= 'z');
}

/* Returns true if an expression in a node or its descendants contains the variable `name`. */
static bool is_variable_used(const Node* node, const char* name) {
  size_t length = strlen(name);
  if (node->kind == NODE_SCALAR && strchr(node->text, '{'))
    for (const char* at = strstr(node->text, name); at; at = strstr(at + 1, name))
      if ((at == node->text || !is_word_character(at[-1])) && !is_word_character(at[length])) return true;
  for (const Node* child = node->first; child; child = child->next)
    if (is_variable_used(child, name)) return true;
  return false;
}

static bool walk_variables(OverrideCursor* override, Node* map) {
  const char* name = next_component(override);
  if (map->kind != NODE_MAP)
    return fail(
        override,
        "the key '%s' cannot be set, because the value before the key in the path is not a map: correct the path",
        name);
  advance(override, strlen(name));
  if (!at_end(override))
    return fail(override, "the variable '%s' is a number and has no keys: end the path there", name);
  Node* old = (Node*)node_find(map, name);
  if (old) return replace_value(override, old);
  Node* value = read_value(override);
  if (!value) return false;
  if (!is_variable_used(override->root, name))
    diagnostics_add(
        override->diagnostics, SEVERITY_WARNING, position_of(override),
        "no variable and no expression of the file has the name '%s', so the value has no effect: check the name",
        text_excerpt(name).text);
  value->key = name;
  node_append(map, value);
  return true;
}

static bool walk(OverrideCursor* override, Node* node, const SchemaRow* row) {
  if (row->kind == VALUE_SCENE) return walk_scene(override, node);
  if (row->kind == VALUE_MAP) return walk_names(override, node, row);
  if (row->kind == VALUE_VARIABLES) return walk_variables(override, node);
  if (node->kind == NODE_LIST) return walk_list(override, node, row);
  if (map_object_name(row)) return walk_object(override, node, map_object_name(row));
  return fail(override, "'%s' has no keys: end the path there", row->key);
}

/* Returns true if an override is valid UTF-8. The reader checks the value, but the path may become a name in the
 * document. */
static bool is_utf8(const char* text) {
  Diagnostics ignored = {0};
  bool good = source_check_utf8("", text, strlen(text), &ignored);
  diagnostics_free(&ignored);
  return good;
}

bool override_apply(const SchemaTable* table, Document* document, Node* root, const LocatedOverride* located,
                    Diagnostics* diagnostics) {
  assert(table && root && located);
  const char* path = located->text;
  const char* equals = strchr(path, '=');
  OverrideCursor override = {.table = table, .document = document, .root = root, .located = located, .path = path};
  override.diagnostics = diagnostics;
  bool is_valid = equals && equals > path && path[0] != '.' && equals[-1] != '.';
  if (!is_valid) return fail(&override, "expected path.to.key=value, got '%s'", path);
  if (!is_utf8(path)) return fail(&override, "the override must be UTF-8 text%s", "");
  override.path_end = equals;
  override.value = equals + 1;
  return walk_object(&override, root, table->root);
}

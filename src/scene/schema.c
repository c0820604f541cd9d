#include "scene/schema.h"

#include <assert.h>
#include <string.h>

/* ---------------------------------------------------------------- ranges */

bool range_contains(const ValueRange* range, double value) {
  assert(range);
  if (!isfinite(value)) return false;
  if (!range->given) return true;
  bool low = range->low_open ? value > range->low : value >= range->low;
  bool high = range->high_open ? value < range->high : value <= range->high;
  return low && high;
}

Excerpt range_text(const ValueRange* range) {
  Excerpt text = {{0}};
  if (!range->given) return text;
  bool low = isfinite(range->low), high = isfinite(range->high);
  if (low && high && !range->low_open && !range->high_open)
    snprintf(text.text, sizeof text.text, "between %.10g and %.10g", range->low, range->high);
  else if (low && high)
    snprintf(text.text, sizeof text.text, "%s %.10g and %s %.10g", range->low_open ? ">" : ">=", range->low,
             range->high_open ? "<" : "<=", range->high);
  else if (low)
    snprintf(text.text, sizeof text.text, "%s %.10g", range->low_open ? ">" : ">=", range->low);
  else if (high)
    snprintf(text.text, sizeof text.text, "%s %.10g", range->high_open ? "<" : "<=", range->high);
  return text;
}

/* ---------------------------------------------------------------- rows */

const SchemaObject* schema_object(const SchemaTable* table, const char* name) {
  assert(name);
  for (int i = 0; i < table->object_count; i++)
    if (strcmp(table->objects[i].name, name) == 0) return &table->objects[i];
  return NULL;
}

int schema_direct_rows(const SchemaTable* table, const SchemaObject* object, const SchemaRow* rows[SCHEMA_ROWS_MAX]) {
  int count = 0;
  const SchemaRow* row;
  for (int i = 0; table->external_row && (row = table->external_row(i)); i++)
    if (strcmp(row->object, object->name) == 0 && count < SCHEMA_ROWS_MAX) rows[count++] = row;
  for (int i = 0; i < table->row_count; i++)
    if (strcmp(table->rows[i].object, object->name) == 0 && count < SCHEMA_ROWS_MAX) rows[count++] = &table->rows[i];
  return count;
}

static int add_rows(const SchemaTable* table, const SchemaObject* object, size_t offset, SchemaMember* places,
                    int count) {
  const SchemaRow* rows[SCHEMA_ROWS_MAX];
  int row_count = schema_direct_rows(table, object, rows);
  for (int i = 0; i < row_count && count < SCHEMA_ROWS_MAX; i++) places[count++] = (SchemaMember){rows[i], offset};
  for (int i = 0; i < 2 && object->includes[i].name; i++)
    count = add_rows(table, schema_object(table, object->includes[i].name), offset + object->includes[i].offset, places,
                     count);
  return count;
}

int schema_rows(const SchemaTable* table, const SchemaObject* object, SchemaMember places[SCHEMA_ROWS_MAX]) {
  return add_rows(table, object, 0, places, 0);
}

bool schema_row_allows_type(const SchemaRow* row, const char* type) {
  return !row->only || !type || words_index(row->only, type) >= 0;
}

const SchemaRow* schema_row(const SchemaTable* table, const SchemaObject* object, const char* key, const char* type) {
  assert(key);
  SchemaMember places[SCHEMA_ROWS_MAX];
  int count = schema_rows(table, object, places);
  for (int i = 0; i < count; i++)
    if (strcmp(places[i].row->key, key) == 0 && schema_row_allows_type(places[i].row, type)) return places[i].row;
  return NULL;
}

static const char* group_of(const SchemaTable* table, const SchemaObject* object, const char* key) {
  const SchemaRow* row = schema_row(table, object, key, NULL);
  return row ? row->group : NULL;
}

void schema_replace(const SchemaTable* table, const SchemaObject* object, Node* map, Node* child) {
  assert(map->kind == NODE_MAP);
  const char* group = group_of(table, object, child->key);
  for (Node *old = map->first, *next; old; old = next) {
    next = old->next;
    const char* other = group_of(table, object, old->key);
    if (strcmp(old->key, child->key) == 0 || (group && other && strcmp(group, other) == 0)) node_remove(map, old);
  }
  node_append(map, child);
}

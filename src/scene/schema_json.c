/* Writes the JSON Schema (draft 07) of a schema table, for editors. */
#include <string.h>

#include "scene/alias.h"
#include "scene/schema.h"

static void add_description(const SchemaRow* row, const char* types, Text* out) {
  Text text = {0};
  text_add(&text, "%s", row->meaning);
  if (row->unit) text_add(&text, " Unit: %s.", row->unit);
  if (row->fallback && row->fallback[0] == '(')
    text_add(&text, " Default: %.*s.", (int)strlen(row->fallback) - 2, row->fallback + 1);
  if (row->only && !(types && words_count(row->only) == words_count(types))) {
    text_add(&text, " Type ");
    words_add_enumeration(row->only, &text);
    text_add(&text, " only.");
  }
  text_add(out, "\"description\": ");
  text_add_json_string(out, text.data);
  text_free(&text);
}

/* Appends the default of a row as JSON. Defaults are YAML flow values; those that are not words are also valid JSON. */
static void add_default(const SchemaRow* row, Text* out) {
  if (!row->fallback || row->fallback[0] == '(') return;
  text_add(out, ", \"default\": ");
  if (row->kind != VALUE_CHOICE && row->kind != VALUE_AXES && row->kind != VALUE_WORDS) {
    text_add(out, "%s", row->fallback);
  } else if (row->kind == VALUE_CHOICE) {
    text_add_json_string(out, row->fallback);
  } else { /* a list of words: [x, y] becomes ["x", "y"] */
    for (const char* p = row->fallback; *p;) {
      size_t word = strcspn(p, "[], ");
      if (word > 0) text_add(out, "\"%.*s\"", (int)word, p);
      p += word;
      if (*p) text_add_bytes(out, p++, 1);
    }
  }
}

static void add_property(const SchemaRow* row, const char* types, Text* out) {
  text_add(out, "        \"%s\": {", row->key);
  if (row->nullable) text_add(out, "\"anyOf\": [{");
  value_kind_add_json(row, out);
  if (row->nullable) text_add(out, "}, {\"type\": \"null\"}]");
  text_add(out, ", ");
  add_description(row, types, out);
  add_default(row, out);
  text_add(out, "}");
}

typedef struct {
  const SchemaObject* object;
  const char* types; /* all types of the object as "one|another"; NULL: the object has no types */
  SchemaMember rows[SCHEMA_ROWS_MAX];
  int count;
} ObjectRows;

static bool is_repeated_key(const ObjectRows* rows, int index) {
  for (int i = 0; i < index; i++)
    if (strcmp(rows->rows[i].row->key, rows->rows[index].row->key) == 0) return true;
  return false;
}

/* Returns true if an object has several rows with the same key, whose meaning depends on the type. The rules of the
 * types then repeat the meaning. */
static bool is_ambiguous(const ObjectRows* rows, int index) {
  for (int i = 0; i < rows->count; i++)
    if (i != index && strcmp(rows->rows[i].row->key, rows->rows[index].row->key) == 0) return true;
  return false;
}

static void add_properties(const ObjectRows* rows, Text* out) {
  text_add(out, "      \"properties\": {\n");
  bool first = true;
  for (int i = 0; i < rows->count; i++) {
    if (is_repeated_key(rows, i)) continue;
    if (!first) text_add(out, ",\n");
    first = false;
    if (is_ambiguous(rows, i))
      text_add(out, "        \"%s\": {}", rows->rows[i].row->key);
    else
      add_property(rows->rows[i].row, rows->types, out);
  }
  const char* old;
  for (int i = 0; (old = alias_old_key(rows->object->name, i)); i++)
    text_add(out, ",\n        \"%s\": {\"description\": \"Old name of %s.\"}", old, alias_key(rows->object->name, old));
  text_add(out, "\n      }");
}

/* ---------------------------------------------------------------- rules between keys */

/* Appends the list of keys that are required for a type of the object, or for every type if type is NULL. Returns their
 * number. */
static int add_required(const ObjectRows* rows, const char* type, Text* out) {
  int count = 0;
  for (int i = 0; i < rows->count; i++) {
    const SchemaRow* row = rows->rows[i].row;
    bool wanted = row->required && !row->unless && (type ? row->only && schema_row_allows_type(row, type) : !row->only);
    if (rows->object->instead_of_type && strcmp(row->key, rows->object->type_key) == 0) wanted = false;
    if (wanted) text_add(out, "%s\"%s\"", count++ ? ", " : "", row->key);
  }
  return count;
}

static bool has_other_type_only(const ObjectRows* rows, const char* key, const char* type) {
  for (int i = 0; i < rows->count; i++)
    if (strcmp(rows->rows[i].row->key, key) == 0 && schema_row_allows_type(rows->rows[i].row, type)) return false;
  return true;
}

/* Appends the JSON Schema rule of one type: required keys, forbidden keys, and the meaning of ambiguous keys.
 * is_default: the rule also applies if the file gives no type. */
static void add_type_rule(const ObjectRows* rows, const char* type, bool is_default, Text* out) {
  text_add(out, "{\"if\": {\"properties\": {\"%s\": {\"const\": \"%s\"}}", rows->object->type_key, type);
  if (!is_default) text_add(out, ", \"required\": [\"%s\"]", rows->object->type_key);
  text_add(out, "}, \"then\": {");
  text_add(out, "\"required\": [");
  if (!rows->object->partial) add_required(rows, type, out);
  text_add(out, "], \"properties\": {");
  bool first = true;
  for (int i = 0; i < rows->count; i++) {
    const SchemaRow* row = rows->rows[i].row;
    bool is_absent = row->only && has_other_type_only(rows, row->key, type) && !is_repeated_key(rows, i);
    bool needs_own_text = row->only && is_ambiguous(rows, i) && schema_row_allows_type(row, type);
    if (!is_absent && !needs_own_text) continue;
    if (!first) text_add(out, ", ");
    first = false;
    if (is_absent)
      text_add(out, "\"%s\": false", row->key);
    else
      add_property(row, rows->types, out);
  }
  text_add(out, "}}}");
}

/* Returns true if the required, forbidden or ambiguous keys of a type differ from those of other types. */
static bool has_rule(const ObjectRows* rows, const char* type) {
  for (int i = 0; i < rows->count; i++) {
    const SchemaRow* row = rows->rows[i].row;
    if (row->only && (row->required || is_ambiguous(rows, i) || has_other_type_only(rows, row->key, type))) return true;
  }
  return false;
}

static int add_type_rules(const ObjectRows* rows, int count, Text* out) {
  const SchemaRow* type = NULL;
  for (int i = 0; i < rows->count && rows->object->type_key; i++)
    if (strcmp(rows->rows[i].row->key, rows->object->type_key) == 0) type = rows->rows[i].row;
  for (int i = 0; type && i < words_count(type->of); i++) {
    Excerpt word = words_at(type->of, i);
    if (!has_rule(rows, word.text)) continue;
    text_add(out, count++ ? ",\n        " : "\n        ");
    add_type_rule(rows, word.text, type->fallback && strcmp(type->fallback, word.text) == 0, out);
  }
  return count;
}

static int add_group_rules(const ObjectRows* rows, int count, Text* out) {
  for (int i = 0; i < rows->count; i++)
    for (int j = 0; j < i; j++) {
      const SchemaRow *a = rows->rows[j].row, *b = rows->rows[i].row;
      if (!a->group || !b->group || strcmp(a->group, b->group) != 0 || strcmp(a->key, b->key) == 0) continue;
      text_add(out, count++ ? ",\n        " : "\n        ");
      text_add(out, "{\"not\": {\"required\": [\"%s\", \"%s\"]}}", a->key, b->key);
    }
  return count;
}

static int add_unless_rules(const ObjectRows* rows, int count, Text* out) {
  for (int i = 0; i < rows->count && !rows->object->partial; i++) {
    const SchemaRow* row = rows->rows[i].row;
    if (!row->required || !row->unless) continue;
    text_add(out, count++ ? ",\n        " : "\n        ");
    text_add(out, "{\"anyOf\": [{\"required\": [\"%s\"]}", row->key);
    for (int k = 0; k < words_count(row->unless); k++)
      text_add(out, ", {\"required\": [\"%s\"]}", words_at(row->unless, k).text);
    text_add(out, "]}");
  }
  return count;
}

static void add_rules(const ObjectRows* rows, Text* out) {
  Text rules = {0};
  int count = add_group_rules(rows, 0, &rules);
  count = add_type_rules(rows, count, &rules);
  count = add_unless_rules(rows, count, &rules);
  if (rows->object->instead_of_type)
    text_add(&rules, "%s{\"oneOf\": [{\"required\": [\"%s\"]}, {\"required\": [\"%s\"]}]}",
             count++ ? ",\n        " : "\n        ", rows->object->type_key, rows->object->instead_of_type);
  if (count > 0) text_add(out, ",\n      \"allOf\": [%s\n      ]", rules.data);
  text_free(&rules);
}

/* ---------------------------------------------------------------- objects */

static void add_object(const SchemaTable* table, const SchemaObject* object, Text* out) {
  ObjectRows rows = {.object = object};
  rows.count = schema_rows(table, object, rows.rows);
  const SchemaRow* type = object->type_key ? schema_row(table, object, object->type_key, NULL) : NULL;
  rows.types = type ? type->of : NULL;
  text_add(out, "    \"%s\": {\n      \"type\": \"object\",\n      \"description\": ", object->name);
  text_add_json_string(out, object->meaning);
  text_add(out, ",\n      \"additionalProperties\": false,\n");
  Text required = {0};
  if (!object->partial && add_required(&rows, NULL, &required) > 0)
    text_add(out, "      \"required\": [%s],\n", required.data);
  text_free(&required);
  add_properties(&rows, out);
  add_rules(&rows, out);
  text_add(out, "\n    }");
}

static void add_objects(const SchemaTable* table, Text* out) {
  for (int i = 0; i < table->object_count; i++) {
    if (i > 0) text_add(out, ",\n");
    add_object(table, &table->objects[i], out);
  }
}

void schema_write_json(const SchemaTable* table, Text* out) {
  text_add(out, "{\n  \"$schema\": \"http://json-schema.org/draft-07/schema#\",\n  \"$id\": ");
  text_add_json_string(out, table->id);
  text_add(out, ",\n  \"title\": ");
  text_add_json_string(out, table->title);
  text_add(out, ",\n  \"$ref\": \"#/definitions/%s\",\n  \"definitions\": {\n", table->root);
  add_objects(table, out);
  if (table->embeds) {
    text_add(out, ",\n");
    add_objects(table->embeds, out);
  }
  text_add(out, "\n  }\n}\n");
}

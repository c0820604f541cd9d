/* Writes the reference page of a file format in Markdown from its schema table. */
#include <assert.h>
#include <ctype.h>
#include <string.h>

#include "scene/schema.h"

/* Appends the text of a table cell. Each | is escaped, because it would end the cell. */
static void add_cell(const char* text, Text* out) {
  for (; *text; text++) text_add(out, *text == '|' ? "\\|" : "%c", *text);
}

static void add_words(const char* words, Text* out) {
  for (int i = 0; i < words_count(words); i++) text_add(out, "%s`%s`", i ? ", " : "", words_at(words, i).text);
}

/* Appends the anchor of a heading as common Markdown renderers make it: lower case, dashes for blanks, other
 * punctuation removed. */
static void add_anchor(const char* title, Text* out) {
  for (; *title; title++) {
    if (isalnum((unsigned char)*title) || *title == '_') text_add(out, "%c", tolower((unsigned char)*title));
    if (*title == ' ') text_add(out, "-");
  }
}

static const SchemaObject* find_object_of_row(const SchemaTable* table, const SchemaRow* row) {
  switch (row->kind) {
    case VALUE_OBJECT:
    case VALUE_LIST:
    case VALUE_MAP:
    case VALUE_TERMS:
      return schema_object(table, row->of);
    case VALUE_SHAPE:
    case VALUE_SHAPES:
      return schema_object(table, "shape_use");
    case VALUE_SIGNAL:
      return schema_object(table, "signal");
    default:
      return NULL;
  }
}

/* Returns the object whose section of the page describes an object. A partial object has no section of its own. */
static const SchemaObject* find_documented_object(const SchemaTable* table, const SchemaObject* object) {
  return object && object->partial ? schema_object(table, object->includes[0].name) : object;
}

static void add_type_cell(const SchemaTable* table, const SchemaRow* row, Text* out) {
  const SchemaObject* object = find_documented_object(table, find_object_of_row(table, row));
  if (row->kind == VALUE_CHOICE || row->kind == VALUE_WORDS) {
    if (row->kind == VALUE_WORDS) text_add(out, "list of ");
    add_words(row->of, out);
  } else if (object) {
    text_add(out, "[");
    add_cell(value_kind_title(row->kind), out);
    text_add(out, "](#");
    add_anchor(object->title, out);
    text_add(out, ")");
  } else {
    add_cell(value_kind_title(row->kind), out);
  }
}

/* Appends the types of the object that have a key, such as "`box`, `sphere`: ". Appends "not `fixed`: " if all types
 * but one have the key. */
static void add_types_with_key(const SchemaRow* row, const char* types, Text* out) {
  if (!row->only || (types && words_count(row->only) == words_count(types))) return;
  bool but_one = types && words_count(row->only) > 1 && words_count(row->only) == words_count(types) - 1;
  if (but_one) {
    for (int i = 0; i < words_count(types); i++)
      if (words_index(row->only, words_at(types, i).text) < 0) text_add(out, "not `%s`", words_at(types, i).text);
  } else {
    add_words(row->only, out);
  }
  text_add(out, ": ");
}

static void add_row(const SchemaTable* table, const SchemaRow* row, const char* types, Text* out) {
  text_add(out, "| `%s` | ", row->key);
  add_type_cell(table, row, out);
  text_add(out, " | ");
  add_cell(row->unit ? row->unit : "", out);
  text_add(out, " | ");
  if (row->required)
    text_add(out, "**required**");
  else if (row->fallback && row->fallback[0] == '(')
    text_add(out, "%.*s", (int)strlen(row->fallback) - 2, row->fallback + 1);
  else if (row->fallback)
    text_add(out, "`%s`", row->fallback);
  text_add(out, " | ");
  if (row->range.given) add_cell(range_text(&row->range).text, out);
  text_add(out, " | ");
  add_types_with_key(row, types, out);
  add_cell(row->meaning, out);
  text_add(out, " |\n");
}

/* Appends the rows of an object, and the rows of included objects without a section of their own. */
static void add_rows(const SchemaTable* table, const SchemaObject* object, Text* out) {
  const SchemaRow* type = object->type_key ? schema_row(table, object, object->type_key, NULL) : NULL;
  const SchemaRow* rows[SCHEMA_ROWS_MAX];
  int count = schema_direct_rows(table, object, rows);
  for (int i = 0; i < count; i++) add_row(table, rows[i], type ? type->of : NULL, out);
  for (int i = 0; i < 2 && object->includes[i].name; i++) {
    const SchemaObject* part = schema_object(table, object->includes[i].name);
    if (!part->example) add_rows(table, part, out);
  }
}

static void add_included_objects(const SchemaTable* table, const SchemaObject* object, Text* out) {
  for (int i = 0; i < 2 && object->includes[i].name; i++) {
    const SchemaObject* part = schema_object(table, object->includes[i].name);
    if (!part->example) continue;
    text_add(out, " It has the keys of a [%s](#", part->title);
    add_anchor(part->title, out);
    text_add(out, ") too.");
  }
}

/* Appends one row of the table of contact laws: the unit of a key under each law that reads it. key_rows (count):
 * schema rows with this key. */
static void add_law_row(const SchemaRow* const* key_rows, int count, const char* laws, Text* out) {
  assert(count > 0);
  text_add(out, "| `%s` |", key_rows[0]->key);
  for (int law = 1; law < words_count(laws); law++) {
    const SchemaRow* law_row = NULL;
    for (int k = 0; k < count; k++)
      if (schema_row_allows_type(key_rows[k], words_at(laws, law).text)) law_row = key_rows[k];
    text_add(out, " ");
    if (law_row) add_cell(law_row->unit ? law_row->unit : "yes", out);
    text_add(out, " |");
  }
  text_add(out, "\n");
}

/* Appends the table of the keys that each contact law reads. The first law is `none`, which accepts the keys of the
 * second. */
static void add_laws(const SchemaTable* table, const SchemaObject* object, Text* out) {
  const SchemaRow *rows[2 * SCHEMA_ROWS_MAX], *same[2 * SCHEMA_ROWS_MAX];
  const char* laws = schema_row(table, object, object->type_key, NULL)->of;
  int count = schema_direct_rows(table, object, rows);
  count += schema_direct_rows(table, schema_object(table, object->includes[0].name), rows + count);
  text_add(out,
           "\nThe law in `%s` decides which keys are read; a key of another law is an error. The cells give the unit, "
           "or `yes` for a number without unit. The law `none` accepts the keys of %s, so that contact can be switched "
           "off by this key alone.\n\n| key |",
           object->type_key, words_at(laws, 1).text);
  for (int law = 1; law < words_count(laws); law++) text_add(out, " %s |", words_at(laws, law).text);
  text_add(out, "\n|---|");
  for (int law = 1; law < words_count(laws); law++) text_add(out, "---|");
  text_add(out, "\n");
  for (int i = 0; i < count; i++) {
    int equal = 0;
    bool first = strcmp(rows[i]->key, object->type_key) != 0;
    for (int k = 0; k < i; k++) first = first && strcmp(rows[k]->key, rows[i]->key) != 0;
    for (int k = i; first && k < count; k++)
      if (strcmp(rows[k]->key, rows[i]->key) == 0) same[equal++] = rows[k];
    if (first) add_law_row(same, equal, laws, out);
  }
}

static void add_section(const SchemaTable* table, const SchemaObject* object, Text* out) {
  text_add(out, "\n## %s\n\n%s", object->title, object->meaning);
  add_included_objects(table, object, out);
  text_add(out, "\n\n| key | type | unit | default | range | meaning |\n|---|---|---|---|---|---|\n");
  add_rows(table, object, out);
  if (strcmp(object->name, "contact") == 0) add_laws(table, object, out);
  if (object->example) text_add(out, "\n```yaml\n%s```\n", object->example);
}

void schema_write_markdown(const SchemaTable* table, Text* out) {
  text_add(
      out,
      "# Format of an %s file\n\n"
      "This page is generated by `%s` from the table that also checks the files. Every example is a complete file "
      "that loads.\n\n"
      "* The file is YAML 1.2 (core schema, one document), or JSON if its name ends in `.json`, with the same "
      "keys.\n"
      "* SI units; angles in radians; quaternions w, x, y, z; paths relative to the file.\n"
      "* Unknown keys, keys of another type, duplicate keys, NaN and infinity are errors.\n"
      "* Anchors, aliases and the merge key `<<` work as usual.\n"
      "* In the command line, `--set path.to.key=value` replaces or adds a value before the file is read: %s\n"
      "* Every number may be an expression in quotes, `\"{expression}\"`, of numbers, `variables`, in a repeat `i j "
      "k n`, `pi`, "
      "`+ - * / %% ^ ( )`, `sqrt sin cos tan abs min max floor`.\n"
      "* For completion and checks while typing, begin the file with "
      "`# yaml-language-server: $schema=../docs/%s`.\n",
      table->title, table->command, table->overrides, table->id);
  for (int i = 0; i < table->object_count; i++)
    if (!table->objects[i].partial && !table->objects[i].part) add_section(table, &table->objects[i], out);
}

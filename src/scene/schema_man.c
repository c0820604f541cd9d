/* Writes the manual page of a file format from its schema table, with the text of the page in docs/. */
#include <string.h>

#include "scene/schema.h"

static void add_words(const char* words, Text* out) {
  for (int i = 0; i < words_count(words); i++) {
    text_add(out, "%s`", i ? ", " : "");
    text_add(out, "%s`", words_at(words, i).text);
  }
}

/* Appends the properties of a key, such as "number [m], > 0, default 1.0" or "required". */
static void add_key_properties(const SchemaRow* row, Text* out) {
  if (row->kind == VALUE_CHOICE || row->kind == VALUE_WORDS)
    add_words(row->of, out);
  else
    text_add(out, "%s", value_kind_title(row->kind));
  if (row->unit) text_add(out, " [%s]", row->unit);
  if (row->range.given) text_add(out, ", %s", range_text(&row->range).text);
  if (row->required)
    text_add(out, ", required");
  else if (row->fallback && row->fallback[0] == '(')
    text_add(out, ", default: %.*s", (int)strlen(row->fallback) - 2, row->fallback + 1);
  else if (row->fallback)
    text_add(out, ", default %s", row->fallback);
}

static void add_row(const SchemaRow* row, const char* types, Text* out) {
  Text plain = {0};
  text_add(out, ".TP\n.B %s\n", row->key);
  if (row->only && !(types && words_count(row->only) == words_count(types))) {
    text_add(&plain, "(");
    add_words(row->only, &plain);
    text_add(&plain, ") ");
  }
  add_key_properties(row, &plain);
  text_add(&plain, ". %s\n", row->meaning);
  text_add_roff(out, plain.data);
  text_free(&plain);
}

static void add_rows(const SchemaTable* table, const SchemaObject* object, Text* out) {
  const SchemaRow* rows[SCHEMA_ROWS_MAX];
  int count = schema_direct_rows(table, object, rows);
  const SchemaRow* type = object->type_key ? schema_row(table, object, object->type_key, NULL) : NULL;
  for (int i = 0; i < count; i++) add_row(rows[i], type ? type->of : NULL, out);
  for (int i = 0; i < 2 && object->includes[i].name; i++) {
    const SchemaObject* part = schema_object(table, object->includes[i].name);
    if (part->example)
      text_add(out, ".PP\nIt has the keys of\n.I \"%s\"\ntoo.\n", part->title);
    else
      add_rows(table, part, out);
  }
}

static void add_section(const SchemaTable* table, const SchemaObject* object, Text* out) {
  text_add(out, ".SS \"%s\"\n", object->title);
  text_add_roff(out, object->meaning);
  text_add(out, "\n");
  add_rows(table, object, out);
  if (!object->example) return;
  text_add(out, ".PP\n.RS\n.nf\n");
  text_add_roff(out, object->example);
  text_add(out, ".fi\n.RE\n");
}

void schema_write_man(const SchemaTable* table, const char* name, Text* out) {
  text_add(
      out,
      ".TH sdrs\\-%s 5 \"\" sdrs \"File formats\"\n.SH NAME\nsdrs\\-%s \\- format of an %s file\n"
      ".SH DESCRIPTION\n"
      "YAML 1.2 (core schema, one document), or JSON when the name ends in .json; both say the same. SI units;\n"
      "angles in radians; quaternions w, x, y, z; paths relative to the file. Unknown keys, keys of another type,\n"
      "keys that stand twice, NaN and infinity are errors. Anchors, aliases and the merge key << work as usual.\n"
      ".PP\n",
      name, name, table->title);
  text_add_roff(out,
                "In the command line, `--set path.to.key=value` replaces or adds a value before the file is read: ");
  text_add_roff(out, table->overrides);
  text_add(out, "\n.SH KEYS\n");
  for (int i = 0; i < table->object_count; i++)
    if (!table->objects[i].partial && !table->objects[i].part) add_section(table, &table->objects[i], out);
  text_add(out, ".SH SEE ALSO\n.BR sdrs (1)\n");
}

/* Writes the members of a struct as YAML, with the keys of the schema rows that the reader reads into the struct. */
#include <assert.h>
#include "scene/write_scene.h"

/* Returns the size of a value in the struct [bytes]. Returns 0 for kinds that are stored as nodes or lists. */
static size_t stored_size(ValueKind kind) {
  switch (kind) {
    case VALUE_NUMBER:
      return sizeof(double);
    case VALUE_INTEGER:
    case VALUE_CHOICE:
      return sizeof(int);
    case VALUE_BOOL:
      return sizeof(bool);
    case VALUE_VECTOR:
      return sizeof(Vec3);
    case VALUE_WORDS:
      return sizeof(unsigned);
    default:
      return 0;
  }
}

/* Returns the address of the value of a row, or NULL if the struct does not contain the value. */
static const void* value_address(const SchemaValues* values, const SchemaMember* member) {
  size_t size = stored_size(member->row->kind), offset = member->offset + member->row->offset;
  if (size == 0 || offset < values->offset || offset + size > values->offset + values->size) return NULL;
  return (const char*)values->values + (offset - values->offset);
}

/* Returns the type of the object, which decides which keys are allowed, or "" if the struct does not contain the type.
 */
static Excerpt object_type(const SchemaValues* values, const SchemaObject* object, const SchemaMember* members,
                           int count) {
  for (int i = 0; i < count && object->type_key; i++) {
    const void* value = value_address(values, &members[i]);
    int index;
    if (!value || strcmp(members[i].row->key, object->type_key) != 0) continue;
    memcpy(&index, value, sizeof index);
    return words_at(members[i].row->of, index);
  }
  return (Excerpt){{0}};
}

static bool is_allowed(const SchemaRow* row, const void* value) {
  double numbers[3] = {0};
  int integer;
  switch (row->kind) {
    case VALUE_NUMBER:
      memcpy(numbers, value, sizeof(double));
      return range_contains(&row->range, numbers[0]);
    case VALUE_INTEGER:
      memcpy(&integer, value, sizeof integer);
      return range_contains(&row->range, integer);
    case VALUE_VECTOR:
      memcpy(numbers, value, sizeof numbers);
      return range_contains(&row->range, numbers[0]) && range_contains(&row->range, numbers[1]) &&
             range_contains(&row->range, numbers[2]);
    default:
      return true;
  }
}

/* Returns true if a key must be written. A value outside the row's range means that the key is absent. */
static bool is_written(const SchemaRow* row, const void* value, bool defaults) {
  union {
    double number;
    Vec3 vector;
  } plain = {.vector = {0, 0, 0}};
  if (row->required) return true;
  if (!is_allowed(row, value)) return false;
  bool stated = row->fallback && row->fallback[0] != '(';
  if (stated) schema_default(row, &plain);
  return (defaults && stated) || !is_bitwise_equal(value, &plain, stored_size(row->kind));
}

static void write_words(Text* out, const char* words, unsigned bits) {
  const char* before = "[";
  for (int k = 0; k < words_count(words); k++) {
    if (!(bits & 1u << k)) continue;
    text_add(out, "%s%s", before, words_at(words, k).text);
    before = ", ";
  }
  text_add(out, "]");
}

static void write_value(Text* out, const SchemaRow* row, const void* value) {
  double numbers[3];
  int integer;
  bool set;
  unsigned bits;
  switch (row->kind) {
    case VALUE_NUMBER:
      memcpy(numbers, value, sizeof(double));
      write_number(out, numbers[0]);
      break;
    case VALUE_VECTOR:
      memcpy(numbers, value, sizeof numbers);
      write_numbers(out, numbers, 3);
      break;
    case VALUE_BOOL:
      memcpy(&set, value, sizeof set);
      text_add(out, "%s", set ? "true" : "false");
      break;
    case VALUE_WORDS:
      memcpy(&bits, value, sizeof bits);
      write_words(out, row->of, bits);
      break;
    default:
      memcpy(&integer, value, sizeof integer);
      if (row->kind == VALUE_CHOICE)
        text_add(out, "%s", words_at(row->of, integer).text);
      else
        text_add(out, "%d", integer);
  }
}

void schema_write_row(Text* out, const char* indent, const SchemaRow* row, const void* value, bool defaults) {
  assert(out && row && value);
  if (!is_written(row, value, defaults)) return;
  bool first = out->length > 0 && out->data[out->length - 1] == '{';
  text_add(out, "%s%s: ", indent ? indent : first ? "" : ", ", row->key);
  write_value(out, row, value);
  if (indent) text_add(out, "\n");
}

void schema_write(Text* out, const char* indent, const SchemaValues* values) {
  assert(out && values);
  const SchemaObject* object = schema_object(&SCENE_SCHEMA, values->object);
  SchemaMember members[SCHEMA_ROWS_MAX];
  int count = schema_rows(&SCENE_SCHEMA, object, members);
  Excerpt type = object_type(values, object, members, count);
  for (int i = 0; i < count; i++) {
    const SchemaRow* row = members[i].row;
    const void* value = value_address(values, &members[i]);
    if (!value || !schema_row_allows_type(row, type.text[0] ? type.text : NULL)) continue;
    schema_write_row(out, indent, row, value, values->defaults);
  }
}

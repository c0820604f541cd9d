/* Reads a map into a struct by the rows of the schema. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "scene/alias.h"
#include "scene/reader.h"

/* Largest deviation of a quaternion's length from 1 that is accepted. The quaternion is then normalised. Numbers typed
 * with four digits are within the limit. */
#define QUATERNION_TOLERANCE 1e-3

/* The map that is being read, and the struct that receives its values. */
typedef struct {
  const SchemaObject* object;
  const Node* map;
  const char* type; /* type of the object; NULL if the object has no types or the map gives none */
  Excerpt type_word;
  SchemaMember rows[SCHEMA_ROWS_MAX];
  int row_count;
  char* out;
} Form;

bool node_has_key(const Node* map, const char* key) { return node_find(map, key) != NULL; }

/* ---------------------------------------------------------------- defaults */

static int parse_numbers(const char* text, double* values, int max) {
  int count = 0;
  while (count < max) {
    text += strspn(text, "[], ");
    char* end;
    double value = strtod(text, &end);
    if (end == text) break;
    values[count++] = value;
    text = end;
  }
  return count;
}

/* Returns the set of words in a default such as [x, y]: bit k is set if it contains word k of `words` ("one|another").
 */
static unsigned parse_words(const char* text, const char* words) {
  unsigned bits = 0;
  for (text += strspn(text, "[], "); *text; text += strspn(text, "[], ")) {
    Excerpt word = {{0}};
    size_t length = strcspn(text, "[], ");
    snprintf(word.text, sizeof word.text, "%.*s", (int)length, text);
    bits |= 1u << words_index(words, word.text);
    text += length;
  }
  return bits;
}

void schema_default(const SchemaRow* row, void* out) {
  assert(row->fallback);
  double v[JOINT_MAX_COORDINATE] = {0};
  int count = parse_numbers(row->fallback, v, JOINT_MAX_COORDINATE);
  switch (row->kind) {
    case VALUE_NUMBER:
      *(double*)out = v[0];
      break;
    case VALUE_INTEGER:
      *(int*)out = (int)v[0];
      break;
    case VALUE_BOOL:
      *(bool*)out = row->fallback[0] == 't';
      break;
    case VALUE_CHOICE:
      *(int*)out = words_index(row->of, row->fallback);
      break;
    case VALUE_VECTOR:
      *(Vec3*)out = vec3(v[0], v[1], v[2]);
      break;
    case VALUE_QUATERNION:
      *(Quat*)out = (Quat){v[0], v[1], v[2], v[3]};
      break;
    case VALUE_WORDS:
      *(unsigned*)out = parse_words(row->fallback, row->of);
      break;
    case VALUE_NUMBERS:
    case VALUE_PER_DOF: {
      NumberList* list = out;
      list->count = count;
      memcpy(list->values, v, sizeof v);
      break;
    }
    default:
      break; /* values of the other kinds are stored as document nodes, which are NULL by default */
  }
}

static void store_defaults(const Form* form) {
  memset(form->out, 0, form->object->size);
  for (int i = 0; i < form->row_count; i++) {
    const SchemaRow* row = form->rows[i].row;
    bool has_default = row->fallback && row->fallback[0] != '(' && schema_row_allows_type(row, form->type);
    if (has_default) schema_default(row, form->out + form->rows[i].offset + row->offset);
  }
}

/* ---------------------------------------------------------------- values */

/* Returns the index of a node's text among the words of the row. Returns -1 after an error. */
static int read_word(Reader* reader, const Node* node, const SchemaRow* row) {
  Text sentence = {0};
  words_add_enumeration(row->of, &sentence);
  const char* present = node->kind == NODE_SCALAR ? alias_word(row->of, node->text) : NULL;
  int index = present ? words_index(row->of, present) : -1;
  if (index >= 0) {
    if (present != node->text) reader_warning(reader, node->place, ALIAS_WARNING, node->text, present, present);
    text_free(&sentence);
    return index;
  }
  if (node->kind != NODE_SCALAR || node_is_null(node)) {
    reader_report_wrong_kind(reader, node, sentence.data);
  } else {
    Text advice = {0};
    schema_add_choice_advice(row->of, node->text, &advice);
    reader_error(reader, node->place, "must be %s, got '%s'%s", sentence.data, text_excerpt(node->text).text,
                 advice.length > 0 ? advice.data : "");
    text_free(&advice);
  }
  text_free(&sentence);
  return -1;
}

static void read_choice(Reader* reader, const Node* node, const SchemaRow* row, int* out) {
  int index = read_word(reader, node, row);
  if (index >= 0) *out = index;
}

static void read_words(Reader* reader, const Node* list, const SchemaRow* row, unsigned* out) {
  unsigned bits = 0;
  int place = 0, before = reader->problem_count;
  if (list->count == 0) reader_error(reader, list->place, "must not be empty");
  for (const Node* item = list->first; item; item = item->next) {
    size_t mark = reader_enter_index(reader, place++);
    int index = read_word(reader, item, row);
    if (index >= 0 && (bits >> index & 1u))
      reader_error(reader, item->place, "'%s' occurs twice: remove one of the two", item->text);
    if (index >= 0) bits |= 1u << index;
    reader_leave(reader, mark);
  }
  if (reader->problem_count == before) *out = bits;
}

static void read_vector(Reader* reader, const Node* node, const SchemaRow* row, Vec3* out) {
  double v[3];
  if (reader_numbers(reader, node, &row->range, row->unit, 3, v)) *out = vec3(v[0], v[1], v[2]);
}

static void read_quaternion(Reader* reader, const Node* node, const SchemaRow* row, Quat* out) {
  double v[4];
  if (node->kind == NODE_LIST && node->count == 3) {
    reader_error(
        reader, node->place,
        "expected a unit quaternion w, x, y, z, got 3 numbers: for 3 numbers use rotation_vector or rpy, both in rad");
    return;
  }
  if (!reader_numbers(reader, node, &row->range, row->unit, 4, v)) return;
  double length = sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2] + v[3] * v[3]);
  if (!(fabs(length - 1.0) <= QUATERNION_TOLERANCE))
    reader_error(reader, node->place,
                 "a rotation must be a quaternion of length 1, got length %.6g: divide its numbers by the length",
                 length);
  else if (is_unit_length(length))
    *out = (Quat){v[0], v[1], v[2], v[3]};
  else
    *out = quat_normalized((Quat){v[0], v[1], v[2], v[3]});
}

/* Reads a value of kind VALUE_BOUND: one number for all three axes, or a list of three numbers. */
static void read_bound(Reader* reader, const Node* node, const SchemaRow* row, NumberList* out) {
  NumberList list = {.node = node, .is_list = node->kind == NODE_LIST, .count = 3};
  if (list.is_list) {
    if (!reader_numbers(reader, node, &row->range, row->unit, 3, list.values)) return;
  } else {
    if (!reader_number(reader, node, &row->range, row->unit, &list.values[0])) return;
    list.values[1] = list.values[2] = list.values[0];
  }
  *out = list;
}

static void read_number_list(Reader* reader, const Node* node, const SchemaRow* row, NumberList* out) {
  NumberList list = {.node = node, .is_list = node->kind == NODE_LIST, .count = 1};
  if (list.is_list) {
    list.count = node->count;
    if (list.count < 1 || list.count > JOINT_MAX_COORDINATE) {
      reader_error(reader, node->place, "expected 1 to %d numbers, got %d", JOINT_MAX_COORDINATE, node->count);
      return;
    }
    if (!reader_numbers(reader, node, &row->range, row->unit, list.count, list.values)) return;
  } else if (!reader_number(reader, node, &row->range, row->unit, &list.values[0])) {
    return;
  }
  *out = list;
}

/* Returns the text of a hint if a list is given for the key `link`, or a name for the key `links`. Otherwise returns
 * NULL. */
static const char* suggest_link_key(const Node* node, const SchemaRow* row) {
  if (!row->group || strcmp(row->group, "link") != 0) return NULL;
  if (row->kind == VALUE_TEXT && node->kind == NODE_LIST) return "use 'links' for several links";
  return row->kind == VALUE_NAMES && node->kind == NODE_SCALAR ? "use 'link' for one link" : NULL;
}

/* Returns true if a node is a word that is a type of the expected object, such as `joint: hinge`. */
static bool is_type_word(const Reader* reader, const Node* node, const SchemaRow* row) {
  if (row->kind != VALUE_OBJECT || node->kind != NODE_SCALAR) return false;
  const SchemaObject* object = schema_object(reader->table, row->of);
  const SchemaRow* type = object->type_key ? schema_row(reader->table, object, object->type_key, NULL) : NULL;
  return type && words_index(type->of, node->text) >= 0;
}

/* Reports a value of the wrong kind. If a map is given in place of a name, the message says what the key expects. */
static void report_wrong_kind(Reader* reader, const Node* node, const SchemaRow* row) {
  const char* remedy = suggest_link_key(node, row);
  if (remedy)
    reader_error(reader, node->place, "expected %s, got %s: %s", value_kind_expected(row->kind),
                 node_describe(node).text, remedy);
  else if (row->kind == VALUE_TEXT && node->kind == NODE_MAP)
    reader_error(reader, node->place, "expected %s, got %s: %s", value_kind_expected(row->kind),
                 node_describe(node).text, row->meaning);
  else if (is_type_word(reader, node, row))
    reader_error(reader, node->place, "expected %s, got %s: write {%s: %s, ...}", value_kind_expected(row->kind),
                 node_describe(node).text, schema_object(reader->table, row->of)->type_key, node->text);
  else
    reader_report_wrong_kind(reader, node, value_kind_expected(row->kind));
}

void schema_read_value(Reader* reader, const Node* node, const SchemaRow* row, void* out) {
  assert(node && row && out);
  if (!reader_count_values(reader, node->place, 1) || (row->nullable && node_is_null(node))) return;
  if (!value_kind_accepts(row->kind, node)) {
    report_wrong_kind(reader, node, row);
    return;
  }
  switch (row->kind) {
    case VALUE_NUMBER:
      reader_number(reader, node, &row->range, row->unit, out);
      break;
    case VALUE_INTEGER:
      reader_integer(reader, node, &row->range, out);
      break;
    case VALUE_BOOL:
      reader_bool(reader, node, out);
      break;
    case VALUE_CHOICE:
      read_choice(reader, node, row, out);
      break;
    case VALUE_VECTOR:
      read_vector(reader, node, row, out);
      break;
    case VALUE_QUATERNION:
      read_quaternion(reader, node, row, out);
      break;
    case VALUE_NUMBERS:
    case VALUE_PER_DOF:
      read_number_list(reader, node, row, out);
      break;
    case VALUE_BOUND:
      read_bound(reader, node, row, out);
      break;
    case VALUE_WORDS:
      read_words(reader, node, row, out);
      break;
    case VALUE_TEXT:
      if (reader_is_text(reader, node)) *(const Node**)out = node;
      break;
    default:
      *(const Node**)out = node;
  }
}

/* ---------------------------------------------------------------- keys */

static const char* describe_location(const Reader* reader) {
  return reader->trail.length > 0 ? reader->trail.data : "the file";
}

static void report_unknown(Reader* reader, const Form* form, const Node* entry) {
  Text where = {0}, advice = {0};
  schema_add_key_advice(reader->table, form->object, form->type, entry->key, &advice);
  text_add(&where, "%s", describe_location(reader));
  size_t mark = reader->trail.length;
  reader_leave(reader, 0);
  reader_error(reader, node_key_place(entry), "unknown key '%s' in %s%s", text_excerpt(entry->key).text, where.data,
               advice.length > 0 ? advice.data : "");
  reader_leave(reader, 0);
  if (mark > 0) text_add(&reader->trail, "%s", where.data);
  text_free(&where);
  text_free(&advice);
}

/* Number of types from which a message names the keys of the given type instead of the types that have a key. */
enum { NAMED_TYPES_MAX = 6 };

static void add_word(Text* words, const char* word) { text_add(words, "%s%s", words->length ? "|" : "", word); }

/* Reports a key that only other types of the object have. Names these types, or the keys of the given type if many
 * types have the key. */
static void report_key_of_other_type(Reader* reader, const Form* form, const Node* entry) {
  Text types = {0}, keys = {0}, choice = {0};
  for (int i = 0; i < form->row_count; i++) {
    const SchemaRow* row = form->rows[i].row;
    if (row->only && strcmp(row->key, entry->key) == 0) add_word(&types, row->only);
    if (row->only && schema_row_allows_type(row, form->type)) add_word(&keys, row->key);
  }
  bool many = words_count(types.data) > NAMED_TYPES_MAX && keys.length > 0;
  words_add_enumeration(many ? keys.data : types.data, &choice);
  reader_error(reader, node_key_place(entry), "the type %s has no key '%s': remove the key, or use %s %s", form->type,
               entry->key, many ? "a key of this type:" : "type", choice.data);
  text_free(&types);
  text_free(&keys);
  text_free(&choice);
}

static const SchemaMember* find_row(const Form* form, const char* key, bool any_type) {
  for (int i = 0; i < form->row_count; i++)
    if (strcmp(form->rows[i].row->key, key) == 0 && (any_type || schema_row_allows_type(form->rows[i].row, form->type)))
      return &form->rows[i];
  return NULL;
}

/* Returns true if the object cannot be read without a key: a required key, or the type. */
static bool is_essential(const Form* form, const SchemaRow* row) {
  bool type = form->object->type_key && strcmp(row->key, form->object->type_key) == 0;
  return !form->object->partial && (row->required || type);
}

/* Reads one entry of the map. Returns false after an error in a value without which the object cannot be read
 * (is_essential). */
static bool read_entry(Reader* reader, const Form* form, const Node* entry) {
  const SchemaMember* place = find_row(form, entry->key, false);
  int before = reader->problem_count;
  if (!place && find_row(form, entry->key, true)) {
    report_key_of_other_type(reader, form, entry);
  } else if (!place) {
    report_unknown(reader, form, entry);
  } else {
    size_t mark = reader_enter_key(reader, entry->key);
    schema_read_value(reader, entry, place->row, form->out + place->offset + place->row->offset);
    reader_leave(reader, mark);
  }
  return reader->problem_count == before || !place || !is_essential(form, place->row);
}

/* ---------------------------------------------------------------- rules between keys */

static void check_groups(Reader* reader, const Form* form) {
  for (const Node* later = form->map->first; later; later = later->next) {
    const SchemaMember* a = find_row(form, later->key, false);
    if (!a || !a->row->group) continue;
    for (const Node* earlier = form->map->first; earlier != later; earlier = earlier->next) {
      const SchemaMember* b = find_row(form, earlier->key, false);
      if (b && b->row->group && strcmp(a->row->group, b->row->group) == 0 && strcmp(a->row->key, b->row->key) != 0)
        reader_error(reader, node_key_place(later), "give '%s' or '%s', not both", earlier->key, later->key);
    }
  }
}

static void report_missing(Reader* reader, const Form* form, const SchemaRow* row) {
  Text expected = {0};
  if (row->kind == VALUE_CHOICE)
    words_add_enumeration(row->of, &expected);
  else
    text_add(&expected, "%s", value_kind_expected(row->kind));
  if (row->unit) text_add(&expected, " [%s]", row->unit);
  reader_error(reader, form->map->place, "'%s' is missing: give %s", row->key, expected.data);
  text_free(&expected);
}

/* Reports each required key that is missing. Returns false if a key is missing. */
static bool check_required(Reader* reader, const Form* form) {
  int before = reader->problem_count;
  for (int i = 0; i < form->row_count && !form->object->partial; i++) {
    const SchemaRow* row = form->rows[i].row;
    bool belongs = !row->only || (form->type && schema_row_allows_type(row, form->type));
    bool type_is_elsewhere = form->object->type_key && strcmp(row->key, form->object->type_key) == 0 &&
                             form->object->instead_of_type && node_find(form->map, form->object->instead_of_type);
    bool instead = false;
    for (int k = 0; row->unless && k < words_count(row->unless); k++)
      instead = instead || node_find(form->map, words_at(row->unless, k).text);
    if (row->required && belongs && !type_is_elsewhere && !instead && !node_find(form->map, row->key))
      report_missing(reader, form, row);
  }
  return reader->problem_count == before;
}

/* ---------------------------------------------------------------- objects */

/* Sets form->type, which decides which keys are allowed. read_entry reports an invalid type. */
static void find_type(Form* form) {
  if (!form->object->type_key) return;
  const Node* node = node_find(form->map, form->object->type_key);
  const SchemaMember* place = find_row(form, form->object->type_key, true);
  if (!place || (node ? node->kind != NODE_SCALAR : !place->row->fallback)) return;
  int index = words_index(place->row->of, node ? alias_word(place->row->of, node->text) : place->row->fallback);
  if (index < 0) return;
  form->type_word = words_at(place->row->of, index);
  form->type = form->type_word.text;
}

/* Replaces old names of keys in the map by the present names, with a warning. The nodes belong to the reader's
 * document. */
static void replace_old_keys(Reader* reader, const Form* form) {
  for (const Node* entry = form->map->first; entry; entry = entry->next) {
    const char* present = alias_key(form->object->name, entry->key);
    if (present == entry->key) continue;
    if (node_find(form->map, present))
      reader_error(reader, node_key_place(entry), "give '%s' or '%s' (its old name), not both", present, entry->key);
    else
      reader_warning(reader, node_key_place(entry), ALIAS_WARNING, entry->key, present, present);
    ((Node*)entry)->key = present;
  }
}

/* Reads an object into its struct `out`. Sets *complete to true unless a required key is missing or invalid. Returns
 * false if the node is not a map. */
static bool read_object(Reader* reader, const Node* node, const char* object, void* out, bool* complete) {
  *complete = false;
  Form form = {.object = schema_object(reader->table, object), .map = node, .out = out};
  form.row_count = schema_rows(reader->table, form.object, form.rows);
  if (node->kind == NODE_MAP) find_type(&form);
  store_defaults(&form);
  if (!reader_count_values(reader, node->place, 1)) return false;
  if (node->kind != NODE_MAP) {
    reader_report_wrong_kind(reader, node, "a map");
    return false;
  }
  *complete = true;
  replace_old_keys(reader, &form);
  for (const Node* entry = node->first; entry; entry = entry->next)
    *complete = read_entry(reader, &form, entry) && *complete;
  check_groups(reader, &form);
  *complete = check_required(reader, &form) && *complete;
  return true;
}

bool schema_read(Reader* reader, const Node* node, const char* object, void* out) {
  assert(object && out);
  bool complete;
  return read_object(reader, node, object, out, &complete) && complete;
}

bool schema_read_partial(Reader* reader, const Node* node, const char* object, void* out) {
  bool complete;
  return read_object(reader, node, object, out, &complete);
}

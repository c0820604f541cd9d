#include <cjson/cJSON.h>
#include <string.h>
#include "app/query.h"

/* Problems told before the rest is left unsaid. */
#define PROBLEM_MAX 200
/* Largest coordinate [m]: beyond it squares lose the digits that a contact needs. */
#define COORDINATE_MAX 1e9

/* Where the reading is: the path of child numbers leads to the place, the trail names it. */
typedef struct {
  const char *file, *text;
  Diagnostics* diagnostics;
  int path[8], depth;
  Text trail; /* `pair 3: a[2]` */
  int problems;
} QueryReader;

static size_t enter(QueryReader* reader, int child) {
  reader->path[reader->depth++] = child;
  return reader->trail.length;
}

static void leave(QueryReader* reader, size_t mark) {
  reader->depth--;
  reader->trail.length = mark;
  if (reader->trail.data) reader->trail.data[mark] = '\0';
}

static void problem(QueryReader* reader, bool key, const char* format, ...) __attribute__((format(printf, 3, 4)));
static void problem(QueryReader* reader, bool key, const char* format, ...) {
  if (++reader->problems > PROBLEM_MAX) return;
  Text text = {0};
  va_list arguments;
  va_start(arguments, format);
  text_add_v(&text, format, arguments);
  va_end(arguments);
  SourcePlace place = json_place(reader->file, reader->text, reader->path, reader->depth, key);
  bool named = reader->trail.length > 0;
  diagnostics_add(reader->diagnostics, SEVERITY_ERROR, place, "%s%s%s", named ? reader->trail.data : "",
                  named ? ": " : "", text.data);
  text_free(&text);
}

static const char* kind_name(const cJSON* item) {
  if (cJSON_IsObject(item)) return "an object";
  if (cJSON_IsArray(item)) return "a list";
  if (cJSON_IsString(item)) return "a text";
  if (cJSON_IsNumber(item)) return "a number";
  return cJSON_IsNull(item) ? "null" : "a truth value";
}

/* ---------------------------------------------------------------- values */

static double read_number(QueryReader* reader, const cJSON* item, double low, double high) {
  double value = item->valuedouble;
  if (!cJSON_IsNumber(item))
    problem(reader, false, "expected a number, got %s", kind_name(item));
  else if (!(value >= low && value <= high))
    problem(reader, false, "must be in %g .. %g m, got %g", low, high, value);
  return value;
}

static Vec3 read_point(QueryReader* reader, const cJSON* item) {
  double values[3] = {0};
  int count = cJSON_GetArraySize(item);
  if (!cJSON_IsArray(item) || count != 3) {
    if (cJSON_IsArray(item))
      problem(reader, false, "a point is [x, y, z], got %d values", count);
    else
      problem(reader, false, "a point is [x, y, z], got %s", kind_name(item));
    return vec3(0, 0, 0);
  }
  const cJSON* child = item->child;
  for (int k = 0; k < 3; k++, child = child->next) {
    size_t mark = enter(reader, k);
    text_add(&reader->trail, "[%d]", k);
    values[k] = read_number(reader, child, -COORDINATE_MAX, COORDINATE_MAX);
    leave(reader, mark);
  }
  return vec3(values[0], values[1], values[2]);
}

static void read_points(QueryReader* reader, const cJSON* item, Vec3** points, int* count) {
  if (!cJSON_IsArray(item) || !item->child) {
    problem(reader, false, "expected a list of points [x, y, z], got %s",
            cJSON_IsArray(item) ? "an empty one" : kind_name(item));
    return;
  }
  *count = cJSON_GetArraySize(item);
  *points = MEMORY_NEW(Vec3, *count);
  int index = 0;
  for (const cJSON* child = item->child; child; child = child->next, index++) {
    size_t mark = enter(reader, index);
    text_add(&reader->trail, "[%d]", index);
    (*points)[index] = read_point(reader, child);
    leave(reader, mark);
  }
}

/* Smallest support that is one: below it the barrier's derivatives leave the range of numbers. */
#define SUPPORT_MIN 1e-12

/* ---------------------------------------------------------------- pairs */

static const char* const KEYS[] = {"a", "b", "support"};
enum { KEY_A, KEY_B, KEY_SUPPORT, KEY_COUNT };

static int find_key(const char* name) {
  for (int k = 0; k < KEY_COUNT; k++)
    if (strcmp(KEYS[k], name) == 0) return k;
  return -1;
}

static void refuse_key(QueryReader* reader, const char* name) {
  const char* nearest = text_nearest(name, KEYS, KEY_COUNT);
  if (nearest)
    problem(reader, true, "unknown key '%.60s' (did you mean '%s'?)", name, nearest);
  else
    problem(reader, true, "unknown key '%.60s' (known: a, b, support)", name);
}

static void read_member(QueryReader* reader, const cJSON* item, int key, QueryPair* pair) {
  text_add(&reader->trail, "%s%s", reader->trail.length > 0 ? ": " : "", KEYS[key]);
  if (key == KEY_A) read_points(reader, item, &pair->a, &pair->a_count);
  if (key == KEY_B) read_points(reader, item, &pair->b, &pair->b_count);
  if (key == KEY_SUPPORT) pair->support = read_number(reader, item, SUPPORT_MIN, COORDINATE_MAX);
}

static void read_pair(QueryReader* reader, const cJSON* item, QueryPair* pair) {
  if (!cJSON_IsObject(item)) {
    problem(reader, false, "expected a pair {\"a\": [...], \"b\": [...], \"support\": s}, got %s", kind_name(item));
    return;
  }
  bool seen[KEY_COUNT] = {0};
  int index = 0;
  for (const cJSON* child = item->child; child; child = child->next, index++) {
    size_t mark = enter(reader, index);
    int key = find_key(child->string);
    if (key < 0)
      refuse_key(reader, child->string);
    else if (seen[key])
      problem(reader, true, "the key '%s' stands twice", KEYS[key]);
    else
      read_member(reader, child, key, pair);
    if (key >= 0) seen[key] = true;
    leave(reader, mark);
  }
  for (int k = 0; k < KEY_COUNT; k++)
    if (!seen[k]) problem(reader, false, "the key '%s' is missing", KEYS[k]);
}

static void read_list(QueryReader* reader, const cJSON* root, QueryList* list) {
  bool many = cJSON_IsArray(root);
  list->count = many ? cJSON_GetArraySize(root) : 1;
  list->pairs = MEMORY_NEW(QueryPair, list->count);
  if (!many) {
    read_pair(reader, root, &list->pairs[0]);
    return;
  }
  int index = 0;
  for (const cJSON* child = root->child; child; child = child->next, index++) {
    size_t mark = enter(reader, index);
    text_add(&reader->trail, "pair %d", index);
    read_pair(reader, child, &list->pairs[index]);
    leave(reader, mark);
  }
}

/* ---------------------------------------------------------------- the text */

static Status refuse_syntax(const char* path, const char* text, const char* at, Diagnostics* diagnostics) {
  diagnostics_add(diagnostics, SEVERITY_ERROR, source_place(path, text, at ? (size_t)(at - text) : 0),
                  "not valid JSON%s", at && *at ? " from here on" : ": the text ends too early");
  return STATUS_BAD_INPUT;
}

Status query_parse(QueryList* list, const char* path, const char* text, size_t length, Diagnostics* diagnostics) {
  *list = (QueryList){0};
  const char* stopped = NULL;
  if (strlen(text) != length) return refuse_syntax(path, text, text + strlen(text), diagnostics);
  cJSON* root = cJSON_ParseWithLengthOpts(text, length + 1, &stopped, true);
  if (!root) return refuse_syntax(path, text, stopped, diagnostics);
  QueryReader reader = {.file = path, .text = text, .diagnostics = diagnostics};
  read_list(&reader, root, list);
  cJSON_Delete(root);
  text_free(&reader.trail);
  if (reader.problems > PROBLEM_MAX)
    diagnostics_add(diagnostics, SEVERITY_NOTE, (SourcePlace){path, 0, 0}, "%d more problems are not shown",
                    reader.problems - PROBLEM_MAX);
  return reader.problems > 0 ? STATUS_BAD_INPUT : STATUS_OK;
}

Status query_read(QueryList* list, const char* path, Diagnostics* diagnostics) {
  *list = (QueryList){0};
  char* text;
  size_t length;
  if (file_read_reported(path, &text, &length, diagnostics) != STATUS_OK) return STATUS_IO;
  Status status = query_parse(list, path, text, length, diagnostics);
  memory_free(text);
  return status;
}

void query_free(QueryList* list) {
  for (int i = 0; i < list->count; i++) {
    memory_free(list->pairs[i].a);
    memory_free(list->pairs[i].b);
  }
  memory_free(list->pairs);
  *list = (QueryList){0};
}

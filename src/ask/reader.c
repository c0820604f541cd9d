/* Reads the values of a JSON query. Every message gives line and column. */
#include <assert.h>
#include <string.h>
#include "ask/reader.h"

#define ERRORS_MAX READER_ERRORS_MAX
#define COORDINATE_MAX READER_COORDINATE_MAX

size_t query_reader_enter(QueryReader* reader, int child) {
  assert(reader->depth < READER_DEPTH_MAX && child >= 0);
  reader->path[reader->depth++] = child;
  return reader->trail.length;
}

void query_reader_leave(QueryReader* reader, size_t mark) {
  assert(reader->depth > 0 && mark <= reader->trail.length);
  reader->depth--;
  reader->trail.length = mark;
  if (reader->trail.data) reader->trail.data[mark] = '\0';
}

/* Returns the line and column of the current value in the file. The JSON document may begin anywhere in the file. */
static SourcePosition current_position(const QueryReader* reader, bool key) {
  SourcePosition base = source_position_at(reader->file, reader->whole, (size_t)(reader->text - reader->whole));
  SourcePosition place = json_find_location(reader->file, reader->text, reader->path, reader->depth, key);
  if (place.line == 1) place.column += base.column - 1;
  place.line += base.line - 1;
  return place;
}

void query_reader_error(QueryReader* reader, bool key, const char* format, ...) {
  if (++reader->problems > ERRORS_MAX) return;
  Text text = {0};
  va_list arguments;
  va_start(arguments, format);
  text_add_va_list(&text, format, arguments);
  va_end(arguments);
  SourcePosition place = current_position(reader, key);
  bool has_trail = reader->trail.length > 0;
  diagnostics_add(reader->diagnostics, SEVERITY_ERROR, place, "%s%s%s", has_trail ? reader->trail.data : "",
                  has_trail ? ": " : "", text.data);
  text_free(&text);
}

const char* query_reader_kind_name(const cJSON* item) {
  if (cJSON_IsObject(item)) return "an object";
  if (cJSON_IsArray(item)) return "a list";
  if (cJSON_IsString(item)) return "a text";
  if (cJSON_IsNumber(item)) return "a number";
  return cJSON_IsNull(item) ? "null" : "a truth value";
}

/* ---------------------------------------------------------------- values */

double query_reader_number_in_unit(QueryReader* reader, const cJSON* item, double low, double high, const char* unit) {
  assert(low <= high && unit);
  double value = item->valuedouble;
  if (!cJSON_IsNumber(item))
    query_reader_error(reader, false, "expected a number, got %s", query_reader_kind_name(item));
  else if (!(value >= low && value <= high))
    query_reader_error(reader, false, "must be in %g .. %g%s, got %g", low, high, unit, value);
  return value;
}

double query_reader_length(QueryReader* reader, const cJSON* item, double low, double high) {
  return query_reader_number_in_unit(reader, item, low, high, " m");
}

Vec3 query_reader_point(QueryReader* reader, const cJSON* item) {
  double values[3] = {0};
  int count = cJSON_GetArraySize(item);
  if (!cJSON_IsArray(item) || count != 3) {
    if (cJSON_IsArray(item))
      query_reader_error(reader, false, "a point must be [x, y, z], got %d values", count);
    else
      query_reader_error(reader, false, "a point must be [x, y, z], got %s", query_reader_kind_name(item));
    return vec3(0, 0, 0);
  }
  const cJSON* child = item->child;
  for (int k = 0; k < 3; k++, child = child->next) {
    size_t mark = query_reader_enter(reader, k);
    text_add(&reader->trail, "[%d]", k);
    values[k] = query_reader_length(reader, child, -COORDINATE_MAX, COORDINATE_MAX);
    query_reader_leave(reader, mark);
  }
  return vec3(values[0], values[1], values[2]);
}

void query_reader_points(QueryReader* reader, const cJSON* item, Vec3** points, int* count) {
  if (!cJSON_IsArray(item) || !item->child) {
    query_reader_error(reader, false, "expected a list of points [x, y, z], got %s",
                       cJSON_IsArray(item) ? "an empty one" : query_reader_kind_name(item));
    return;
  }
  *count = cJSON_GetArraySize(item);
  *points = MEMORY_NEW(Vec3, *count);
  int index = 0;
  for (const cJSON* child = item->child; child; child = child->next, index++) {
    size_t mark = query_reader_enter(reader, index);
    text_add(&reader->trail, "[%d]", index);
    (*points)[index] = query_reader_point(reader, child);
    query_reader_leave(reader, mark);
  }
}

int query_reader_find_key(const char* name, const char* const* keys, int count) {
  assert(keys && count >= 0);
  for (int k = 0; k < count; k++)
    if (strcmp(keys[k], name) == 0) return k;
  return -1;
}

void query_reader_report_unknown_key(QueryReader* reader, const char* name, const char* const* keys, int count) {
  const char* nearest = text_nearest(name, keys, count);
  if (nearest) {
    query_reader_error(reader, true, "unknown key '%.60s' (did you mean '%s'?)", name, nearest);
    return;
  }
  Text known = {0};
  for (int k = 0; k < count; k++) text_add(&known, "%s%s", k > 0 ? ", " : "", keys[k]);
  query_reader_error(reader, true, "unknown key '%.60s' (known: %s)", name, known.data);
  text_free(&known);
}

void query_reader_object(QueryReader* reader, const cJSON* item, const char* const* keys, int count,
                         ReaderMember member, void* context, bool* seen) {
  assert(cJSON_IsObject(item));
  assert(cJSON_IsObject(item));
  int index = 0;
  for (const cJSON* child = item->child; child; child = child->next, index++) {
    size_t mark = query_reader_enter(reader, index);
    int key = query_reader_find_key(child->string, keys, count);
    if (key < 0) {
      query_reader_report_unknown_key(reader, child->string, keys, count);
    } else if (seen[key]) {
      query_reader_error(reader, true, "the key '%s' occurs twice", keys[key]);
    } else {
      text_add(&reader->trail, "%s%s", reader->trail.length > 0 ? ": " : "", keys[key]);
      member(reader, child, key, context);
    }
    if (key >= 0) seen[key] = true;
    query_reader_leave(reader, mark);
  }
}

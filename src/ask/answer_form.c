/* Writes the values of an answer as JSON, as numbers of a row, or as the names of these numbers. */
#include <assert.h>
#include "ask/answer.h"

#include "run/run.h"

static void begin_member(AnswerForm* out, const char* key) { text_add(out->line, ", \"%s\": ", key); }

static void append_list(Text* line, const double* values, int count) {
  text_add(line, "[");
  for (int k = 0; k < count; k++) {
    if (k > 0) text_add(line, ", ");
    json_add_number(line, values[k]);
  }
  text_add(line, "]");
}

void query_add_vector(Text* line, Vec3 v) { append_list(line, (const double[3]){v.x, v.y, v.z}, 3); }

double* answer_reserve_numbers(AnswerForm* out, const char* key, int numbers) {
  assert(key && numbers >= 0);
  if (out->names && out->names->count < ANSWER_NAMES) {
    AnswerNames* names = out->names;
    snprintf(names->key[names->count], ANSWER_KEY, "%s", key);
    names->numbers[names->count++] = numbers;
  }
  int place = out->places ? out->places[out->answers] : out->count;
  out->answers++;
  out->count += numbers;
  return out->row && place >= 0 ? out->row + place : NULL;
}

/* Writes the numbers of an answer to a row, or its name to the names of a row. Unknown numbers are NaN. Does nothing
 * and returns false if the output is a line of JSON. */
static bool add_to_row(AnswerForm* out, const char* key, const double* values, int rows, int columns, int stride) {
  if (!answer_has_fixed_layout(out)) return false;
  double* room = answer_reserve_numbers(out, key, rows * columns);
  for (int r = 0; room && r < rows; r++)
    for (int c = 0; c < columns; c++) room[r * columns + c] = values ? values[r * stride + c] : (double)NAN;
  return true;
}

void answer_number(AnswerForm* out, const char* key, double value) {
  if (add_to_row(out, key, &value, 1, 1, 1)) return;
  begin_member(out, key);
  json_add_number(out->line, value);
}

void answer_numbers(AnswerForm* out, const char* key, const double* values, int count) {
  assert(count > 0);
  if (add_to_row(out, key, values, 1, count, count)) return;
  begin_member(out, key);
  if (!values)
    text_add(out->line, "null");
  else if (count == 1)
    json_add_number(out->line, *values);
  else
    append_list(out->line, values, count);
}

void answer_vector(AnswerForm* out, const char* key, const Vec3* value) {
  double three[3];
  if (value) vec3_store(*value, three);
  answer_numbers(out, key, value ? three : NULL, 3);
}

void answer_table(AnswerForm* out, const char* key, const double* values, int rows, int columns, int stride) {
  if (add_to_row(out, key, values, rows, columns, stride)) return;
  begin_member(out, key);
  if (!values) {
    text_add(out->line, "null");
    return;
  }
  text_add(out->line, "%s", rows > 1 ? "[" : "");
  for (int r = 0; r < rows; r++) {
    if (r > 0) text_add(out->line, ", ");
    append_list(out->line, values + r * stride, columns);
  }
  text_add(out->line, "%s", rows > 1 ? "]" : "");
}

void answer_bool(AnswerForm* out, const char* key, bool value) {
  const double number = value;
  if (add_to_row(out, key, &number, 1, 1, 1)) return;
  begin_member(out, key);
  text_add(out->line, value ? "true" : "false");
}

void answer_text(AnswerForm* out, const char* key, const char* text) {
  if (answer_has_fixed_layout(out)) return;
  begin_member(out, key);
  text_add_json_string(out->line, text);
}

void answer_points(AnswerForm* out, const char* key, const Vec3* points, int count) {
  assert(points || count == 0);
  if (answer_has_fixed_layout(out)) return;
  begin_member(out, key);
  text_add(out->line, "[");
  for (int i = 0; i < count; i++) {
    if (i > 0) text_add(out->line, ", ");
    query_add_vector(out->line, points[i]);
  }
  text_add(out->line, "]");
}

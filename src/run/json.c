#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include "run/run.h"

static void begin_item(Json* json, const char* key) {
  if (json->comma) text_add(json->out, ",");
  if (json->depth > 0) text_add(json->out, "\n%*s", 2 * json->depth, "");
  if (key) {
    text_add_json_string(json->out, key);
    text_add(json->out, ": ");
  }
  json->comma = true;
}

void json_open(Json* json, const char* key, char bracket) {
  assert(bracket == '{' || bracket == '[');
  begin_item(json, key);
  text_add(json->out, "%c", bracket);
  json->depth++;
  json->comma = false;
}

void json_close(Json* json, char bracket) {
  assert(json->depth > 0);
  json->depth--;
  if (json->comma) text_add(json->out, "\n%*s", 2 * json->depth, "");
  text_add(json->out, "%c", bracket);
  json->comma = true;
  if (json->depth == 0) text_add(json->out, "\n");
}

void json_text(Json* json, const char* key, const char* value) {
  begin_item(json, key);
  if (value)
    text_add_json_string(json->out, value);
  else
    text_add(json->out, "null");
}

void json_add_number(Text* out, double value) {
  if (isfinite(value))
    text_add_double(out, value);
  else
    text_add(out, "null");
}

void json_number(Json* json, const char* key, double value) {
  begin_item(json, key);
  json_add_number(json->out, value);
}

void json_integer(Json* json, const char* key, int64_t value) {
  begin_item(json, key);
  text_add(json->out, "%" PRId64, value);
}

void json_bool(Json* json, const char* key, bool value) {
  begin_item(json, key);
  text_add(json->out, value ? "true" : "false");
}

void json_vector(Json* json, const char* key, const double* values, int count) {
  assert(values || count == 0);
  begin_item(json, key);
  text_add(json->out, "[");
  for (int i = 0; i < count; i++) {
    if (i > 0) text_add(json->out, ", ");
    json_add_number(json->out, values[i]);
  }
  text_add(json->out, "]");
}

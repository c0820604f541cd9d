#include "export/format.h"

#include <assert.h>
#include <string.h>

void text_add_numbers(Text* out, const double* values, int count) {
  assert(count >= 0);
  for (int k = 0; k < count; k++) {
    text_add(out, " ");
    text_add_double(out, values[k] + 0.0); /* adding 0 turns -0 into 0 */
  }
}

void xml_numbers(Text* out, const char* key, const double* values, int count) {
  text_add(out, " %s=\"", key);
  for (int k = 0; k < count; k++) {
    if (k > 0) text_add(out, " ");
    text_add_double(out, values[k] + 0.0);
  }
  text_add(out, "\"");
}

void xml_vector(Text* out, const char* key, Vec3 value) {
  const double numbers[3] = {value.x, value.y, value.z};
  xml_numbers(out, key, numbers, 3);
}

void xml_quat(Text* out, const char* key, Quat value) {
  const double numbers[4] = {value.w, value.x, value.y, value.z};
  xml_numbers(out, key, numbers, 4);
}

void xml_add_escaped(Text* out, const char* text) {
  for (const char* c = text; *c; c++) {
    if (*c == '&')
      text_add(out, "&amp;");
    else if (*c == '<')
      text_add(out, "&lt;");
    else if (*c == '>')
      text_add(out, "&gt;");
    else if (*c == '"')
      text_add(out, "&quot;");
    else
      text_add_bytes(out, c, 1);
  }
}

void xml_text(Text* out, const char* key, const char* text) {
  text_add(out, " %s=\"", key);
  xml_add_escaped(out, text);
  text_add(out, "\"");
}

void bytes_add_integer(Text* out, uint32_t value, int bytes) {
  assert(bytes >= 1 && bytes <= 4);
  assert(bytes == 1 || bytes == 2 || bytes == 4);
  char data[4];
  for (int k = 0; k < bytes; k++) data[k] = (char)(value >> 8 * k & 255);
  text_add_bytes(out, data, (size_t)bytes);
}

void bytes_add_float(Text* out, double value) {
  float single = (float)value;
  uint32_t bits;
  memcpy(&bits, &single, sizeof bits);
  bytes_add_integer(out, bits, 4);
}

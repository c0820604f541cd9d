#include "scene/write_text.h"

#include <assert.h>
#include <string.h>

#include "scene/document.h"

/* ---------------------------------------------------------------- texts */

/* Returns true if a text needs no quotes in YAML: it consists of letters, digits and a few characters without meaning
 * in YAML, and is no logical word such as yes or off. */
static bool needs_no_quotes(const char* text) {
  static const char LETTERS[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_";
  static const char OTHERS[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789-./";
  static const char* const LOGICAL[] = {"y", "n", "yes", "no", "on", "off"}; /* logical words of YAML 1.1 */
  if (!*text || !strchr(LETTERS, *text) || text[strspn(text, OTHERS)] != '\0') return false;
  for (size_t i = 0; i < sizeof LOGICAL / sizeof LOGICAL[0]; i++)
    if (strcasecmp(text, LOGICAL[i]) == 0) return false;
  return node_scalar_type(&(Node){.text = text}) == SCALAR_TEXT;
}

/* Returns the code point of the UTF-8 character at p, and sets *length to its length [bytes]. */
static unsigned read_character(const unsigned char* p, int* length) {
  *length = p[0] < 0x80 ? 1 : p[0] < 0xe0 ? 2 : p[0] < 0xf0 ? 3 : 4;
  unsigned code = *length == 1 ? p[0] : p[0] & (0xffu >> (*length + 1));
  for (int i = 1; i < *length; i++) code = code << 6 | (p[i] & 0x3fu);
  return code;
}

/* Returns true for characters that YAML forbids in a text or reads as the end of a line: control characters, line and
 * paragraph separators, byte order marks. */
static bool needs_escape(unsigned code) {
  bool control = code < 0x20 || (code >= 0x7f && code < 0xa0);
  return control || code == 0x2028 || code == 0x2029 || code == 0xfeff || code == 0xfffe || code == 0xffff;
}

static void write_quoted(Text* out, const char* text) {
  text_add(out, "\"");
  for (int length; *text; text += length) {
    unsigned code = read_character((const unsigned char*)text, &length);
    if (needs_escape(code))
      text_add(out, "\\u%04x", code);
    else
      text_add(out, "%s%.*s", code == '"' || code == '\\' ? "\\" : "", length, text);
  }
  text_add(out, "\"");
}

void write_text(Text* out, const char* text) {
  assert(text);
  if (needs_no_quotes(text))
    text_add(out, "%s", text);
  else
    write_quoted(out, text);
}

/* ---------------------------------------------------------------- numbers */

void write_number(Text* out, double value) {
  assert(isfinite(value));
  Text digits = {0};
  text_add_double(&digits, value);
  size_t mantissa = strcspn(digits.data, "e");
  bool pointless = digits.data[mantissa] && !memchr(digits.data, '.', mantissa);
  text_add(out, "%.*s%s%s", (int)mantissa, digits.data, pointless ? ".0" : "", digits.data + mantissa);
  text_free(&digits);
}

void write_numbers(Text* out, const double* values, int count) {
  assert(values || count == 0);
  text_add(out, "[");
  for (int i = 0; i < count; i++) {
    if (i > 0) text_add(out, ", ");
    write_number(out, values[i]);
  }
  text_add(out, "]");
}

/* ---------------------------------------------------------------- keys */

void write_key_text(Text* out, const char* key, const char* text) {
  text_add(out, ", %s: ", key);
  write_text(out, text);
}

void write_key_number(Text* out, const char* key, double value) {
  text_add(out, ", %s: ", key);
  write_number(out, value);
}

void write_key_numbers(Text* out, const char* key, const double* values, int count) {
  text_add(out, ", %s: ", key);
  write_numbers(out, values, count);
}

void write_key_vector(Text* out, const char* key, Vec3 v) {
  write_key_numbers(out, key, (const double[3]){v.x, v.y, v.z}, 3);
}

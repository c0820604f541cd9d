/* Finds the line and column of a value in a JSON text. cJSON does not store positions, so the valid text is scanned
 * again for each message. */
#include <string.h>
#include "ask/ask.h"

/* Skips the characters that cJSON treats as white space. cJSON treats all characters up to the code of ' ' as white
 * space. */
static const char* skip_space(const char* p) {
  while (*p && (unsigned char)*p <= ' ') p++;
  return p;
}

/* Moves from an opening quote to the character after the closing quote. */
static const char* skip_string(const char* p) {
  for (p++; *p && *p != '"'; p++)
    if (*p == '\\' && p[1]) p++;
  return *p ? p + 1 : p;
}

/* Moves from the first character of a value to the character after its last. */
static const char* skip_value(const char* p) {
  int depth = 0;
  do {
    if (*p == '"') {
      p = skip_string(p);
    } else if (*p == '[' || *p == '{') {
      depth++;
      p++;
    } else if (*p == ']' || *p == '}') {
      depth--;
      p++;
    } else if (depth > 0) {
      p += strcspn(p, "\"[]{}");
    } else {
      while ((unsigned char)*p > ' ' && !strchr(",]}", *p)) p++;
    }
  } while (depth > 0 && *p);
  return p;
}

/* Moves from the key of an object's member to its value. */
static const char* skip_key(const char* p) {
  p = skip_space(skip_string(p));
  return *p ? skip_space(p + 1) : p;
}

/* Moves from a list or an object to a child, or to the key of the child if `key` is true. */
static const char* descend(const char* p, int child, bool key) {
  bool object = *p == '{';
  p = skip_space(p + 1);
  for (int i = 0; *p && i < child; i++) {
    if (object) p = skip_key(p);
    p = skip_space(skip_value(p));
    if (*p == ',') p = skip_space(p + 1);
  }
  return object && !key && *p ? skip_key(p) : p;
}

SourcePosition json_find_location(const char* file, const char* text, const int* path, int depth, bool key) {
  const char* p = strncmp(text, "\xef\xbb\xbf", 3) == 0 ? text + 3 : text;
  p = skip_space(p);
  for (int i = 0; i < depth; i++) p = descend(p, path[i], key && i == depth - 1);
  return source_position_at(file, text, (size_t)(p - text));
}

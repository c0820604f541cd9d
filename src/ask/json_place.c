/* Finds the line and column of a value in a JSON text. cJSON does not store positions, so the valid text is scanned
 * again for each message. */
#include <assert.h>
#include <string.h>
#include "ask/ask.h"

/* Skips the characters that cJSON treats as white space: all up to the code of ' '. */
static const char* skip_space(const char* p) {
  while (*p && (unsigned char)*p <= ' ') p++;
  return p;
}

/* Returns a pointer past the closing quote of the JSON string that begins at p. */
static const char* skip_string(const char* p) {
  for (p++; *p && *p != '"'; p++)
    if (*p == '\\' && p[1]) p++;
  return *p ? p + 1 : p;
}

/* Returns a pointer past the JSON value that begins at p. */
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

/* Returns a pointer to the value of the object member whose key begins at p. */
static const char* skip_key(const char* p) {
  p = skip_space(skip_string(p));
  return *p ? skip_space(p + 1) : p;
}

/* Returns a pointer to a child of the list or object that begins at p. child: index from 0. key: true: to the key of
 * the child. */
static const char* find_child(const char* p, int child, bool key) {
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
  assert(depth >= 0);
  const char* p = strncmp(text, "\xef\xbb\xbf", 3) == 0 ? text + 3 : text;
  p = skip_space(p);
  for (int i = 0; i < depth; i++) p = find_child(p, path[i], key && i == depth - 1);
  return source_position_at(file, text, (size_t)(p - text));
}

#include <assert.h>
#include <string.h>

#include "base/base.h"

/* Returns the length of the UTF-8 character at p [bytes]. Returns 0 if the character is invalid, overlong or a
 * surrogate. */
static int utf8_length(const unsigned char* p, const unsigned char* end) {
  assert(p < end);
  if (p[0] < 0x80) return 1;
  int length = p[0] >= 0xf0 ? 4 : p[0] >= 0xe0 ? 3 : 2;
  if (p[0] < 0xc2 || p[0] > 0xf4 || end - p < length) return 0;
  for (int i = 1; i < length; i++)
    if ((p[i] & 0xc0) != 0x80) return 0;
  if (p[0] == 0xe0 && p[1] < 0xa0) return 0;
  if (p[0] == 0xed && p[1] > 0x9f) return 0;
  if (p[0] == 0xf0 && p[1] < 0x90) return 0;
  if (p[0] == 0xf4 && p[1] > 0x8f) return 0;
  return length;
}

bool source_check_utf8(const char* source, const char* text, size_t length, Diagnostics* diagnostics) {
  assert(text);
  if (length > SOURCE_LENGTH_MAX) {
    diagnostics_add(diagnostics, SEVERITY_ERROR, (SourcePosition){source, 1, 1},
                    "the text is longer than %zu MB: shorten the text", SOURCE_LENGTH_MAX >> 20);
    return false;
  }
  const unsigned char *p = (const unsigned char*)text, *end = p + length;
  while (p < end) {
    int step = utf8_length(p, end);
    if (step > 0 && *p != 0) {
      p += step;
      continue;
    }
    SourcePosition position = source_position_at(source, text, (size_t)((const char*)p - text));
    diagnostics_add(diagnostics, SEVERITY_ERROR, position,
                    *p != 0 ? "the byte 0x%02x is not valid in UTF-8: save the file as UTF-8"
                            : "the byte 0x%02x is no text: remove the byte, or save the file as UTF-8",
                    *p);
    return false;
  }
  return true;
}

void source_position_advance(SourcePosition* position, const char* at) {
  unsigned char c = (unsigned char)at[0];
  if (c == '\n' || (c == '\r' && at[1] != '\n')) {
    position->line++;
    position->column = 1;
  } else if ((c & 0xc0) != 0x80) { /* the first byte of a character */
    position->column++;
  }
}

SourcePosition source_position_at(const char* source, const char* text, size_t offset) {
  assert(offset <= strlen(text));
  SourcePosition position = {source, 1, 1};
  for (size_t i = 0; i < offset; i++) source_position_advance(&position, text + i);
  return position;
}

#include "geometry/obj_text.h"
#include <assert.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\v' || c == '\f'; }
static bool is_line_end(char c) { return c == '\n' || c == '\r'; }
static bool is_digit(char c) { return c >= '0' && c <= '9'; }

/* Returns the end of a line that ends with a backslash and blanks, or NULL if the line does not continue. */
static const char* continuation(const ObjText* text, const char* at) {
  if (*at != '\\') return NULL;
  do at++;
  while (at < text->end && is_blank(*at));
  return at == text->end || is_line_end(*at) ? at : NULL;
}

/* Skips the end of a line: LF, CR LF or CR. */
static void next_line(ObjText* text) {
  const char* at = text->place.at;
  at += *at == '\r' && at + 1 < text->end && at[1] == '\n' ? 2 : 1;
  text->place = (ObjPlace){at, at, text->place.line + 1};
}

/* Skips blanks and ends of continued lines. */
static void skip_blanks(ObjText* text) {
  while (text->place.at < text->end) {
    const char* joined = continuation(text, text->place.at);
    if (joined) {
      text->place.at = joined;
      if (joined < text->end) next_line(text);
    } else if (is_blank(*text->place.at)) {
      text->place.at++;
    } else {
      return;
    }
  }
}

static void skip_to_line_end(ObjText* text) {
  while (text->place.at < text->end && !is_line_end(*text->place.at)) text->place.at++;
}

static bool at_statement_end(const ObjText* text) {
  return text->place.at >= text->end || is_line_end(*text->place.at) || *text->place.at == '#';
}

ObjText obj_text_start(const char* name, const char* text, size_t length, Diagnostics* diagnostics) {
  const char* start = length >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0 ? text + 3 : text;
  return (ObjText){name, text + length, {start, start, 1}, diagnostics, 0};
}

bool obj_text_word(ObjText* text, ObjWord* word) {
  skip_blanks(text);
  if (at_statement_end(text)) return false;
  word->place = text->place;
  const char* at = text->place.at;
  while (at < text->end && !is_blank(*at) && !is_line_end(*at) && *at != '#' && !continuation(text, at)) at++;
  word->length = (int)(at - text->place.at);
  text->place.at = at;
  return true;
}

bool obj_text_statement(ObjText* text, ObjWord* word) {
  if (text->error_count >= OBJ_ERRORS_MAX) return false;
  while (!obj_text_word(text, word)) {
    skip_to_line_end(text); /* skips a comment, which a backslash does not continue */
    if (text->place.at >= text->end) return false;
    next_line(text);
  }
  return true;
}

void obj_text_skip(ObjText* text) {
  ObjWord word;
  while (obj_text_word(text, &word)) continue;
}

ObjWord obj_text_rest(ObjText* text) {
  skip_blanks(text);
  ObjWord rest = {text->place, 0};
  const char* end = text->place.at;
  for (const char* at = end; at < text->end && !is_line_end(*at); at++) {
    if (continuation(text, at) || (*at == '#' && (at == rest.place.at || is_blank(at[-1])))) break;
    if (!is_blank(*at)) end = at + 1;
  }
  rest.length = (int)(end - rest.place.at);
  text->place.at = end;
  return rest;
}

bool obj_word_is(ObjWord word, const char* text) {
  return (size_t)word.length == strlen(text) && memcmp(word.place.at, text, (size_t)word.length) == 0;
}

/* Returns the column of a position, counted in characters. */
static int column_of(ObjPlace place) {
  int column = 1;
  for (const char* at = place.line_start; at < place.at; at++)
    if (((unsigned char)*at & 0xc0) != 0x80) column++;
  return column;
}

void obj_text_error(ObjText* text, ObjPlace place, const char* format, ...) {
  if (text->error_count >= OBJ_ERRORS_MAX) return;
  Text message = {0};
  va_list arguments;
  va_start(arguments, format);
  text_add_va_list(&message, format, arguments);
  va_end(arguments);
  SourcePosition where = {text->name, place.line, column_of(place)};
  diagnostics_add(text->diagnostics, SEVERITY_ERROR, where, "%s", message.data);
  text_free(&message);
  if (++text->error_count == OBJ_ERRORS_MAX)
    diagnostics_add(text->diagnostics, SEVERITY_NOTE, where, "%d errors: the rest of the file was not read",
                    OBJ_ERRORS_MAX);
}

ObjQuote obj_quote(ObjWord word) {
  ObjQuote quote;
  int room = (int)sizeof quote.text - 4, length = word.length < room ? word.length : room;
  for (int i = 0; i < length; i++) {
    char c = word.place.at[i];
    quote.text[i] = c >= ' ' && c <= '~' ? c : '?';
  }
  snprintf(quote.text + length, sizeof quote.text - (size_t)length, "%s", word.length > room ? "..." : "");
  return quote;
}

bool obj_text_is_text(ObjText* text) {
  size_t length = (size_t)(text->end - text->place.at);
  const char* zero = length > 0 ? memchr(text->place.at, 0, length) : NULL;
  if (!zero) return true;
  ObjText walk = *text;
  while (walk.place.at < zero) {
    skip_to_line_end(&walk);
    if (walk.place.at < zero) next_line(&walk);
  }
  obj_text_error(text, (ObjPlace){zero, walk.place.line_start, walk.place.line},
                 "not text: the file has a NUL byte: save the file as plain text");
  return false;
}

static int digits(const char* at, int length) {
  int count = 0;
  while (count < length && is_digit(at[count])) count++;
  return count;
}

static int sign(const char* at, int length) { return length > 0 && (*at == '+' || *at == '-') ? 1 : 0; }

/* Returns true if the word is [+-] digits [. digits] [e [+-] digits] with at least one digit before the e. Hexadecimal
 * numbers and words such as nan are not accepted. */
static bool is_decimal(const char* at, int length) {
  int i = sign(at, length), whole = digits(at + i, length - i), fraction = 0;
  i += whole;
  if (i < length && at[i] == '.') {
    fraction = digits(at + i + 1, length - i - 1);
    i += 1 + fraction;
  }
  if (whole + fraction == 0) return false;
  if (i < length && (at[i] == 'e' || at[i] == 'E')) {
    i++;
    i += sign(at + i, length - i);
    int exponent = digits(at + i, length - i);
    if (exponent == 0) return false;
    i += exponent;
  }
  return i == length;
}

bool obj_word_number(ObjText* text, ObjWord word, double* value) {
  char buffer[512]; /* longer than any usual decimal number */
  if (!is_decimal(word.place.at, word.length) || word.length >= (int)sizeof buffer) {
    obj_text_error(text, word.place, "expected a finite decimal number, got '%s'", obj_quote(word).text);
    return false;
  }
  memcpy(buffer, word.place.at, (size_t)word.length);
  buffer[word.length] = '\0';
  *value = strtod(buffer, NULL);
  if (isfinite(*value)) return true;
  obj_text_error(text, word.place, "number '%s' is too large", obj_quote(word).text);
  return false;
}

int obj_word_integer(const char* at, int length, int* value) {
  assert(length >= 0);
  int start = sign(at, length), count = digits(at + start, length - start);
  if (count == 0) return 0;
  int64_t magnitude = 0;
  for (int i = start; i < start + count; i++)
    if (magnitude < INT_MAX) magnitude = 10 * magnitude + (at[i] - '0');
  if (magnitude > INT_MAX) magnitude = INT_MAX;
  *value = (int)(start == 1 && *at == '-' ? -magnitude : magnitude);
  return start + count;
}

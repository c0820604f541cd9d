/* Checks the grammar of JSON (RFC 8259). Errors have a position and a reason, which cJSON does not give. cJSON also
 * accepts some invalid texts (01, raw line feeds in strings, control characters as white space). */
#include <assert.h>
#include <string.h>

#include "scene/document.h"

typedef struct {
  const char *source, *text, *end;
  const char* cursor;
  Diagnostics* diagnostics;
} JsonChecker;

static bool fail_at(const JsonChecker* checker, const char* at, const char* message) {
  SourcePosition place = source_position_at(checker->source, checker->text, (size_t)(at - checker->text));
  if (at >= checker->end) message = "not valid JSON: the text ends too early";
  diagnostics_add(checker->diagnostics, SEVERITY_ERROR, place, "%s", message);
  return false;
}

static bool fail(const JsonChecker* checker, const char* message) { return fail_at(checker, checker->cursor, message); }

/* Returns the next character that is not white space, or 0 at the end of the text. */
static char peek(JsonChecker* checker) {
  while (checker->cursor < checker->end && strchr(" \t\r\n", *checker->cursor)) checker->cursor++;
  return checker->cursor < checker->end ? *checker->cursor : 0;
}

static bool is_digit(const JsonChecker* checker) {
  return checker->cursor < checker->end && *checker->cursor >= '0' && *checker->cursor <= '9';
}

static bool skip_digits(JsonChecker* checker) {
  if (!is_digit(checker)) return false;
  while (is_digit(checker)) checker->cursor++;
  return true;
}

/* Largest length of a number that cJSON reads [characters]. */
#define NUMBER_LENGTH_MAX 60

static bool check_number(JsonChecker* checker) {
  const char* start = checker->cursor;
  if (*checker->cursor == '-') checker->cursor++;
  const char* digits = checker->cursor;
  if (!skip_digits(checker)) return fail_at(checker, start, "not a JSON number: write digits, for example -1.5e3");
  if (*digits == '0' && checker->cursor > digits + 1)
    return fail_at(checker, start, "a JSON number must not begin with 0 before other digits: remove the 0");
  if (*checker->cursor == '.') {
    checker->cursor++;
    if (!skip_digits(checker)) return fail_at(checker, start, "a JSON number needs digits after its decimal point");
  }
  if (*checker->cursor == 'e' || *checker->cursor == 'E') {
    checker->cursor++;
    if (*checker->cursor == '-' || *checker->cursor == '+') checker->cursor++;
    if (!skip_digits(checker)) return fail_at(checker, start, "a JSON number needs digits in its exponent");
  }
  return checker->cursor - start <= NUMBER_LENGTH_MAX || fail_at(checker, start, "the number has too many digits");
}

static bool check_escape(JsonChecker* checker) {
  assert(*checker->cursor == '\\');
  const char* start = checker->cursor++;
  if (checker->cursor >= checker->end || !strchr("\"\\/bfnrtu", *checker->cursor))
    return fail_at(checker, start, "a \\ in a string must be followed by one of \" \\ / b f n r t u");
  if (*checker->cursor++ != 'u') return true;
  if (strspn(checker->cursor, "0123456789abcdefABCDEF") < 4)
    return fail_at(checker, start, "\\u must be followed by four hexadecimal digits");
  if (strncmp(checker->cursor, "0000", 4) == 0)
    return fail_at(checker, start, "a string must not contain \\u0000: remove the character");
  checker->cursor += 4;
  return true;
}

static bool check_string(JsonChecker* checker) {
  assert(*checker->cursor == '"');
  checker->cursor++;
  while (checker->cursor < checker->end && *checker->cursor != '"') {
    if ((unsigned char)*checker->cursor < 0x20)
      return fail(checker, "a string must end on its line and contain no control characters: write \\n for a new line");
    if (*checker->cursor != '\\')
      checker->cursor++;
    else if (!check_escape(checker))
      return false;
  }
  if (checker->cursor >= checker->end) return fail(checker, "");
  checker->cursor++;
  return true;
}

static bool check_value(JsonChecker* checker, int depth);

static bool check_key(JsonChecker* checker) {
  if (peek(checker) != '"') return fail(checker, "expected a key in double quotes");
  if (!check_string(checker)) return false;
  if (peek(checker) != ':') return fail(checker, "expected a colon after the key");
  checker->cursor++;
  return true;
}

static bool check_items(JsonChecker* checker, char close, int depth) {
  const char* separator = close == '}' ? "expected a comma or }" : "expected a comma or ]";
  checker->cursor++;
  if (peek(checker) == close) {
    checker->cursor++;
    return true;
  }
  for (;;) {
    if (close == '}' && !check_key(checker)) return false;
    if (!check_value(checker, depth + 1)) return false;
    char c = peek(checker);
    if (c != ',' && c != close) return fail(checker, separator);
    checker->cursor++;
    if (c == close) return true;
  }
}

static bool check_word(JsonChecker* checker) {
  static const char* const WORDS[] = {"true", "false", "null"};
  for (int i = 0; i < 3; i++) {
    if (strncmp(checker->cursor, WORDS[i], strlen(WORDS[i])) != 0) continue;
    checker->cursor += strlen(WORDS[i]);
    return true;
  }
  return fail(checker, "expected a value: a text in double quotes, a number, true, false, null, [ or {");
}

static bool check_value(JsonChecker* checker, int depth) {
  assert(depth >= 1);
  char c = peek(checker);
  if (depth > DOCUMENT_DEPTH_MAX) return fail(checker, "lists and maps are nested too deeply: use fewer levels");
  if (c == '{') return check_items(checker, '}', depth);
  if (c == '[') return check_items(checker, ']', depth);
  if (c == '"') return check_string(checker);
  if (c == '-' || (c >= '0' && c <= '9')) return check_number(checker);
  return check_word(checker);
}

bool document_check_json(const char* source, const char* text, size_t length, Diagnostics* diagnostics) {
  JsonChecker checker = {source, text, text + length, text, diagnostics};
  if (strncmp(text, "\xef\xbb\xbf", 3) == 0) checker.cursor += 3; /* byte order mark */
  if (!check_value(&checker, 1)) return false;
  return peek(&checker) == 0 || fail(&checker, "text follows the end of the value: remove the text");
}

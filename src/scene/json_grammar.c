/* Checks the grammar of JSON (RFC 8259). Errors have a position and a reason, which cJSON does not give. cJSON also
 * accepts some invalid texts (01, raw line feeds in strings, control characters as white space). */
#include <string.h>

#include "scene/document.h"

typedef struct {
  const char *source, *text, *end;
  const char* cursor;
  Diagnostics* diagnostics;
} Grammar;

static bool fail_at(const Grammar* grammar, const char* at, const char* message) {
  SourcePosition place = source_position_at(grammar->source, grammar->text, (size_t)(at - grammar->text));
  if (at >= grammar->end) message = "not valid JSON: the text ends too early";
  diagnostics_add(grammar->diagnostics, SEVERITY_ERROR, place, "%s", message);
  return false;
}

static bool fail(const Grammar* grammar, const char* message) { return fail_at(grammar, grammar->cursor, message); }

/* Returns the next character that is not white space, or 0 at the end of the text. */
static char peek(Grammar* grammar) {
  while (grammar->cursor < grammar->end && strchr(" \t\r\n", *grammar->cursor)) grammar->cursor++;
  return grammar->cursor < grammar->end ? *grammar->cursor : 0;
}

static bool is_digit(const Grammar* grammar) {
  return grammar->cursor < grammar->end && *grammar->cursor >= '0' && *grammar->cursor <= '9';
}

static bool skip_digits(Grammar* grammar) {
  if (!is_digit(grammar)) return false;
  while (is_digit(grammar)) grammar->cursor++;
  return true;
}

/* Largest length of a number that cJSON reads [characters]. */
#define NUMBER_LENGTH_MAX 60

static bool check_number(Grammar* grammar) {
  const char* start = grammar->cursor;
  if (*grammar->cursor == '-') grammar->cursor++;
  const char* whole = grammar->cursor;
  if (!skip_digits(grammar)) return fail_at(grammar, start, "not a JSON number: write digits, for example -1.5e3");
  if (*whole == '0' && grammar->cursor > whole + 1)
    return fail_at(grammar, start, "a JSON number must not begin with 0 before other digits: remove the 0");
  if (*grammar->cursor == '.') {
    grammar->cursor++;
    if (!skip_digits(grammar)) return fail_at(grammar, start, "a JSON number needs digits after its decimal point");
  }
  if (*grammar->cursor == 'e' || *grammar->cursor == 'E') {
    grammar->cursor++;
    if (*grammar->cursor == '-' || *grammar->cursor == '+') grammar->cursor++;
    if (!skip_digits(grammar)) return fail_at(grammar, start, "a JSON number needs digits in its exponent");
  }
  return grammar->cursor - start <= NUMBER_LENGTH_MAX || fail_at(grammar, start, "the number has too many digits");
}

static bool check_escape(Grammar* grammar) {
  const char* start = grammar->cursor++;
  if (grammar->cursor >= grammar->end || !strchr("\"\\/bfnrtu", *grammar->cursor))
    return fail_at(grammar, start, "a \\ in a string must be followed by one of \" \\ / b f n r t u");
  if (*grammar->cursor++ != 'u') return true;
  if (strspn(grammar->cursor, "0123456789abcdefABCDEF") < 4)
    return fail_at(grammar, start, "\\u must be followed by four hexadecimal digits");
  if (strncmp(grammar->cursor, "0000", 4) == 0)
    return fail_at(grammar, start, "a string must not contain \\u0000: remove the character");
  grammar->cursor += 4;
  return true;
}

static bool check_string(Grammar* grammar) {
  grammar->cursor++;
  while (grammar->cursor < grammar->end && *grammar->cursor != '"') {
    if ((unsigned char)*grammar->cursor < 0x20)
      return fail(grammar, "a string must end on its line and contain no control characters: write \\n for a new line");
    if (*grammar->cursor != '\\')
      grammar->cursor++;
    else if (!check_escape(grammar))
      return false;
  }
  if (grammar->cursor >= grammar->end) return fail(grammar, "");
  grammar->cursor++;
  return true;
}

static bool check_value(Grammar* grammar, int depth);

static bool check_key(Grammar* grammar) {
  if (peek(grammar) != '"') return fail(grammar, "expected a key in double quotes");
  if (!check_string(grammar)) return false;
  if (peek(grammar) != ':') return fail(grammar, "expected a colon after the key");
  grammar->cursor++;
  return true;
}

static bool check_items(Grammar* grammar, char close, int depth) {
  const char* separator = close == '}' ? "expected a comma or }" : "expected a comma or ]";
  grammar->cursor++;
  if (peek(grammar) == close) {
    grammar->cursor++;
    return true;
  }
  for (;;) {
    if (close == '}' && !check_key(grammar)) return false;
    if (!check_value(grammar, depth + 1)) return false;
    char c = peek(grammar);
    if (c != ',' && c != close) return fail(grammar, separator);
    grammar->cursor++;
    if (c == close) return true;
  }
}

static bool check_word(Grammar* grammar) {
  static const char* const WORDS[] = {"true", "false", "null"};
  for (int i = 0; i < 3; i++) {
    if (strncmp(grammar->cursor, WORDS[i], strlen(WORDS[i])) != 0) continue;
    grammar->cursor += strlen(WORDS[i]);
    return true;
  }
  return fail(grammar, "expected a value: a text in double quotes, a number, true, false, null, [ or {");
}

static bool check_value(Grammar* grammar, int depth) {
  char c = peek(grammar);
  if (depth > DOCUMENT_DEPTH_MAX) return fail(grammar, "lists and maps are nested too deeply: use fewer levels");
  if (c == '{') return check_items(grammar, '}', depth);
  if (c == '[') return check_items(grammar, ']', depth);
  if (c == '"') return check_string(grammar);
  if (c == '-' || (c >= '0' && c <= '9')) return check_number(grammar);
  return check_word(grammar);
}

bool document_check_json(const char* source, const char* text, size_t length, Diagnostics* diagnostics) {
  Grammar grammar = {source, text, text + length, text, diagnostics};
  if (strncmp(text, "\xef\xbb\xbf", 3) == 0) grammar.cursor += 3; /* byte order mark */
  if (!check_value(&grammar, 1)) return false;
  return peek(&grammar) == 0 || fail(&grammar, "text follows the end of the value: remove the text");
}

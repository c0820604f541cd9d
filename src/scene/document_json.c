#include <cjson/cJSON.h>
#include <string.h>

#include "scene/document.h"

/* cJSON decides what is valid and decodes the strings, but keeps no places. So the text is walked a second time for the
 * places: in a valid text the n-th token is the n-th key or value of cJSON's tree in depth-first order. */
typedef struct {
  Document* document;
  Diagnostics* diagnostics;
  const char *source, *text, *end;
  const char* cursor; /* next character to look at */
  int line, column;
  const char* counted; /* line and column are those of this character */
} JsonReader;

/* A key, a value's first character, or a whole scalar: [start, start + length). */
typedef struct {
  const char* start;
  size_t length;
  SourcePlace place;
} Token;

/* Places are asked for in the order of the text: each character is counted once, also in a file of one long line. */
static SourcePlace place_of(JsonReader* reader, const char* at) {
  for (; reader->counted < at; reader->counted++) {
    if (*reader->counted == '\n') {
      reader->line++;
      reader->column = 1;
    } else {
      reader->column += ((unsigned char)*reader->counted & 0xc0) != 0x80;
    }
  }
  return (SourcePlace){reader->source, reader->line, reader->column};
}

static Node* fail(JsonReader* reader, SourcePlace place, const char* message) {
  diagnostics_add(reader->diagnostics, SEVERITY_ERROR, place, "%s", message);
  return NULL;
}

/* ---------------------------------------------------------------- tokens */

/* To the next token; punctuation was checked by cJSON. */
static void skip_to_token(JsonReader* reader) {
  while (reader->cursor < reader->end && strchr(" \t\r\n,:]}", *reader->cursor)) reader->cursor++;
}

/* Past the closing quote. cJSON lets raw control characters through, and turns \u0000 into an end. */
static bool scan_string(JsonReader* reader) {
  const char* p = reader->cursor + 1;
  for (; p < reader->end && *p != '"'; p++) {
    if ((unsigned char)*p < 0x20)
      return fail(reader, place_of(reader, p), "a control character in a string must be written as \\u00..") != NULL;
    if (*p != '\\') continue;
    if (strncmp(p, "\\u0000", 6) == 0) return fail(reader, place_of(reader, p), "a string holds \\u0000") != NULL;
    p++;
  }
  reader->cursor = p < reader->end ? p + 1 : p;
  return true;
}

/* cJSON reads numbers with strtod, which takes more than JSON does: 01, 1., .5 */
static bool is_json_number(const char* p, const char* end) {
  if (p < end && *p == '-') p++;
  if (p == end || *p < '0' || *p > '9') return false;
  if (*p == '0' && p + 1 < end && p[1] >= '0' && p[1] <= '9') return false;
  while (p < end && *p >= '0' && *p <= '9') p++;
  if (p < end && *p == '.') return p + 1 < end && p[1] >= '0' && p[1] <= '9';
  return true;
}

static bool next_token(JsonReader* reader, Token* token) {
  skip_to_token(reader);
  const char* start = reader->cursor;
  token->start = start;
  token->place = place_of(reader, start);
  if (start >= reader->end) return fail(reader, token->place, "the JSON text ends too early") != NULL;
  if (*start == '{' || *start == '[') {
    reader->cursor++;
  } else if (*start == '"') {
    if (!scan_string(reader)) return false;
  } else {
    while (reader->cursor < reader->end && !strchr(" \t\r\n,:]}", *reader->cursor)) reader->cursor++;
  }
  token->length = (size_t)(reader->cursor - start);
  return true;
}

/* ---------------------------------------------------------------- values */

static Node* build(JsonReader* reader, const cJSON* item, int depth);

static Node* build_scalar(JsonReader* reader, const cJSON* item, const Token* token) {
  if (cJSON_IsNumber(item) && !is_json_number(token->start, token->start + token->length))
    return fail(reader, token->place, "not a JSON number");
  Node* node = document_node(reader->document, NODE_SCALAR, token->place);
  if (!node) return fail(reader, token->place, "too many values");
  node->quoted = cJSON_IsString(item);
  if (node->quoted)
    node->text = document_text(reader->document, item->valuestring, strlen(item->valuestring));
  else
    node->text = document_text(reader->document, token->start, token->length);
  return node;
}

static bool build_children(JsonReader* reader, Node* node, const cJSON* item, int depth) {
  for (const cJSON* child = item->child; child; child = child->next) {
    Token key = {0};
    if (node->kind == NODE_MAP && !next_token(reader, &key)) return false;
    Node* below = build(reader, child, depth + 1);
    if (!below) return false;
    if (node->kind == NODE_MAP) {
      below->key = document_text(reader->document, child->string, strlen(child->string));
      below->key_line = key.place.line;
      below->key_column = key.place.column;
    }
    node_append(node, below);
  }
  if (node->kind == NODE_MAP) node_check_keys(node, reader->diagnostics);
  return true;
}

/* Both walks must see the same kind of value: otherwise one of them is wrong, and the file is refused. */
static bool agrees(const cJSON* item, const Token* token) {
  char c = *token->start;
  if (cJSON_IsObject(item)) return c == '{';
  if (cJSON_IsArray(item)) return c == '[';
  if (cJSON_IsString(item)) return c == '"';
  if (cJSON_IsNumber(item)) return c == '-' || (c >= '0' && c <= '9');
  return c == 't' || c == 'f' || c == 'n';
}

static Node* build(JsonReader* reader, const cJSON* item, int depth) {
  Token token;
  if (!next_token(reader, &token)) return NULL;
  if (!agrees(item, &token)) return fail(reader, token.place, "not valid JSON");
  if (depth > DOCUMENT_DEPTH_MAX) return fail(reader, token.place, "nested too deeply");
  if (!cJSON_IsObject(item) && !cJSON_IsArray(item)) return build_scalar(reader, item, &token);
  Node* node = document_node(reader->document, cJSON_IsObject(item) ? NODE_MAP : NODE_LIST, token.place);
  if (!node) return fail(reader, token.place, "too many values");
  return build_children(reader, node, item, depth) ? node : NULL;
}

/* ---------------------------------------------------------------- the text */

/* cJSON takes any byte up to 32 for white space; JSON knows four. */
static bool check_white_space(JsonReader* reader) {
  for (const char* p = reader->text; p < reader->end; p++) {
    if ((unsigned char)*p >= 0x20 || strchr("\t\r\n", *p)) continue;
    SourcePlace place = document_place(reader->source, reader->text, (size_t)(p - reader->text));
    return fail(reader, place, "a control character does not belong in JSON") != NULL;
  }
  return true;
}

static void report_text(JsonReader* reader, SourcePlace place, const char* at) {
  Text word = {0};
  text_add_bytes(&word, at, strcspn(at, "\n\r \t"));
  diagnostics_add(reader->diagnostics, SEVERITY_ERROR, place,
                  "not valid JSON from '%s' on (expected a value, a comma or a closing bracket)",
                  text_excerpt(word.data).text);
  text_free(&word);
}

static void report_invalid(JsonReader* reader, const char* at) {
  if (!at || at < reader->text || at > reader->end) at = reader->text;
  SourcePlace place = document_place(reader->source, reader->text, (size_t)(at - reader->text));
  if (at == reader->end)
    fail(reader, place, "not valid JSON: the text ends too early");
  else
    report_text(reader, place, at);
}

Node* document_read_json(Document* document, const char* source, const char* text, size_t length,
                         Diagnostics* diagnostics) {
  if (!document_check_text(source, text, length, diagnostics)) return NULL;
  JsonReader reader = {document, diagnostics, source, text, text + length, text, 1, 1, text};
  if (!check_white_space(&reader)) return NULL;
  if (strncmp(text, "\xef\xbb\xbf", 3) == 0) reader.cursor = reader.counted = text + 3; /* byte order mark */
  const char* stopped = NULL;
  cJSON* root = cJSON_ParseWithLengthOpts(text, length + 1, &stopped, true);
  if (!root) {
    report_invalid(&reader, stopped);
    return NULL;
  }
  Node* node = build(&reader, root, 1);
  cJSON_Delete(root);
  return node;
}

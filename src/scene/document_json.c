#include <assert.h>
#include <cjson/cJSON.h>
#include <string.h>

#include "scene/document.h"

/* State of the JSON reader. cJSON decodes the values but does not store their positions, which a second pass over the
 * text finds. Token n of a valid text is key or value n of cJSON's tree in depth-first order. json_grammar.c checks the
 * grammar first. */
typedef struct {
  Document* document;
  Diagnostics* diagnostics;
  const char* end;
  const char* cursor;   /* next character of the text that the second pass reads */
  SourcePosition place; /* line and column of the character to which `located` points */
  const char* located;
} JsonReader;

/* A token of the text: a key, a whole scalar, or the first character of a list or map. */
typedef struct {
  const char* start;
  size_t length;
  SourcePosition place;
} Token;

/* Returns line and column of the character `at`. Calls must be in the order of the text, so that each character is
 * counted once. */
static SourcePosition locate(JsonReader* reader, const char* at) {
  assert(at >= reader->located);
  while (reader->located < at) source_position_advance(&reader->place, reader->located++);
  return reader->place;
}

static Node* fail(JsonReader* reader, SourcePosition place, const char* message) {
  diagnostics_add(reader->diagnostics, SEVERITY_ERROR, place, "%s", message);
  return NULL;
}

/* ---------------------------------------------------------------- tokens */

/* Moves the cursor to the next token, past white space and punctuation, which cJSON has checked. */
static void skip_to_token(JsonReader* reader) {
  while (reader->cursor < reader->end && strchr(" \t\r\n,:]}", *reader->cursor)) reader->cursor++;
}

static void skip_string(JsonReader* reader) {
  assert(*reader->cursor == '"');
  for (reader->cursor++; *reader->cursor != '"'; reader->cursor++)
    if (*reader->cursor == '\\') reader->cursor++;
  reader->cursor++;
}

static bool next_token(JsonReader* reader, Token* token) {
  skip_to_token(reader);
  const char* start = reader->cursor;
  token->start = start;
  token->place = locate(reader, start);
  if (start >= reader->end) return fail(reader, token->place, "not valid JSON") != NULL;
  if (*start == '{' || *start == '[') {
    reader->cursor++;
  } else if (*start == '"') {
    skip_string(reader);
  } else {
    while (reader->cursor < reader->end && !strchr(" \t\r\n,:]}", *reader->cursor)) reader->cursor++;
  }
  token->length = (size_t)(reader->cursor - start);
  return true;
}

/* ---------------------------------------------------------------- values */

static Node* build_node(JsonReader* reader, const cJSON* item);

static Node* build_scalar(JsonReader* reader, const cJSON* item, const Token* token) {
  Node* node = document_node(reader->document, NODE_SCALAR, token->place);
  if (!node) return fail(reader, token->place, "the file has too many values: shorten the file");
  node->quoted = cJSON_IsString(item);
  if (node->quoted)
    node->text = document_text(reader->document, item->valuestring, strlen(item->valuestring));
  else
    node->text = document_text(reader->document, token->start, token->length);
  return node;
}

static bool build_children(JsonReader* reader, Node* node, const cJSON* item) {
  for (const cJSON* child = item->child; child; child = child->next) {
    Token key = {0};
    if (node->kind == NODE_MAP && !next_token(reader, &key)) return false;
    Node* below = build_node(reader, child);
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

/* Returns true if cJSON and the second pass find the same kind of value. Otherwise one of the two passes has an error,
 * and the caller rejects the file. */
static bool has_same_kind(const cJSON* item, const Token* token) {
  char c = *token->start;
  if (cJSON_IsObject(item)) return c == '{';
  if (cJSON_IsArray(item)) return c == '[';
  if (cJSON_IsString(item)) return c == '"';
  if (cJSON_IsNumber(item)) return c == '-' || (c >= '0' && c <= '9');
  return c == 't' || c == 'f' || c == 'n';
}

static Node* build_node(JsonReader* reader, const cJSON* item) {
  Token token;
  if (!next_token(reader, &token)) return NULL;
  if (!has_same_kind(item, &token)) return fail(reader, token.place, "not valid JSON");
  if (!cJSON_IsObject(item) && !cJSON_IsArray(item)) return build_scalar(reader, item, &token);
  Node* node = document_node(reader->document, cJSON_IsObject(item) ? NODE_MAP : NODE_LIST, token.place);
  if (!node) return fail(reader, token.place, "the file has too many values: shorten the file");
  return build_children(reader, node, item) ? node : NULL;
}

/* ---------------------------------------------------------------- the text */

Node* document_read_json(Document* document, const char* source, const char* text, size_t length,
                         Diagnostics* diagnostics) {
  if (!source_check_utf8(source, text, length, diagnostics)) return NULL;
  JsonReader reader = {document, diagnostics, text + length, text, {source, 1, 1}, text};
  if (!document_check_json(source, text, length, diagnostics)) return NULL;
  if (strncmp(text, "\xef\xbb\xbf", 3) == 0) reader.cursor = reader.located = text + 3; /* byte order mark */
  const char* stopped = NULL;
  cJSON* root = cJSON_ParseWithLengthOpts(text, length + 1, &stopped, true);
  if (!root) { /* an invalid surrogate pair, which the grammar does not check */
    size_t offset = stopped >= text && stopped <= reader.end ? (size_t)(stopped - text) : 0;
    return fail(&reader, source_position_at(source, text, offset), "not valid JSON");
  }
  Node* node = build_node(&reader, root);
  cJSON_Delete(root);
  return node;
}

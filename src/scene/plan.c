/* Converts planning tasks to JSON. Values keep their line numbers. */
#include "scene/plan.h"

#include <string.h>

#include "scene/override.h"

typedef struct {
  Text* out;
  int line;
} LineTrackingText;

/* Appends line feeds up to a line, so that values keep the lines of the task file. */
static void append_line_feeds(LineTrackingText* text_at_line, int line) {
  for (; text_at_line->line < line; text_at_line->line++) text_add(text_at_line->out, "\n");
}

static void add_scalar(LineTrackingText* text_at_line, const Node* node) {
  double value = 0;
  ScalarKind kind = node_scalar_type(node);
  if (kind == SCALAR_NUMBER && node_number(node, &value))
    text_add_double(text_at_line->out, value);
  else if (kind == SCALAR_BOOL)
    text_add(text_at_line->out, "%s", strcmp(node->text, "true") == 0 ? "true" : "false");
  else if (kind == SCALAR_NULL)
    text_add(text_at_line->out, "null");
  else
    text_add_json_string(text_at_line->out, node->text);
}

// NOLINTNEXTLINE(misc-no-recursion): as deep as the document, DOCUMENT_DEPTH_MAX
static void add_node(LineTrackingText* text_at_line, const Node* node) {
  append_line_feeds(text_at_line, node->place.line);
  if (node->kind == NODE_SCALAR) {
    add_scalar(text_at_line, node);
    return;
  }
  text_add(text_at_line->out, node->kind == NODE_MAP ? "{" : "[");
  for (const Node* child = node->first; child; child = child->next) {
    if (child != node->first) text_add(text_at_line->out, ", ");
    if (node->kind == NODE_MAP) {
      append_line_feeds(text_at_line, child->key_line);
      text_add_json_string(text_at_line->out, child->key);
      text_add(text_at_line->out, ": ");
    }
    add_node(text_at_line, child);
  }
  text_add(text_at_line->out, node->kind == NODE_MAP ? "}" : "]");
}

Status plan_read_json(const char* path, const SceneOverride* overrides, int override_count, Text* json, bool* found,
                      Diagnostics* diagnostics) {
  char* text;
  size_t length;
  *found = false;
  if (!file_is_regular(path) || file_read(path, &text, &length) != STATUS_OK) return STATUS_OK;
  Document document = {0};
  Diagnostics reported = {0};
  Node* root = document_read(&document, path, text, length, path_is_json(path), &reported);
  *found = node_find(root, "plan") != NULL;
  Status status = *found && reported.error_count > 0 ? STATUS_BAD_INPUT : STATUS_OK;
  char** sources = override_source_texts(overrides, override_count);
  for (int i = 0; *found && i < override_count; i++) {
    LocatedOverride placed = override_from_source_text(sources[i]);
    if (!override_apply(&TASK_SCHEMA, &document, root, &placed, &reported)) status = STATUS_BAD_INPUT;
  }
  if (*found && status == STATUS_OK) add_node(&(LineTrackingText){json, 1}, root);
  if (*found) diagnostics_merge(diagnostics, &reported);
  diagnostics_free(&reported);
  document_free(&document);
  for (int i = 0; i < override_count; i++) memory_free(sources[i]);
  memory_free(sources);
  memory_free(text);
  return status;
}

#include "scene/reader.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/outside.h"

void reader_free(Reader* reader) {
  text_free(&reader->trail);
  variables_free(&reader->variables);
  names_free(&reader->shape_names);
  names_free(&reader->link_names);
  names_free(&reader->group_names);
  memory_free(reader->joint_broken);
  memory_free(reader->initial_of);
  for (int i = 0; i < reader->unresolved_count; i++) {
    memory_free(reader->unresolved[i].name);
    memory_free(reader->unresolved[i].trail);
  }
  memory_free(reader->unresolved);
  for (int i = 0; i < reader->rod_end_count; i++) memory_free(reader->rod_ends[i].trail);
  memory_free(reader->rod_ends);
}

/* ---------------------------------------------------------------- messages */

static void append_item_number(const Reader* reader, Text* text) {
  if (reader->indices && reader->indices->n > 0) text_add(text, " (item %d of the repeat)", reader->indices->n);
}

/* Returns true if an earlier item of the same repeat has caused the same warning. */
static bool is_repeated_warning(const Reader* reader, Severity severity, SourcePosition place, const char* text) {
  if (severity != SEVERITY_WARNING || !reader->indices || reader->indices->n == 0) return false;
  for (int k = 0; k < reader->diagnostics->count; k++) {
    const Diagnostic* d = &reader->diagnostics->items[k];
    if (d->severity == severity && d->line == place.line && d->column == place.column &&
        strncmp(d->text, text, strlen(text)) == 0)
      return true;
  }
  return false;
}

static void report(Reader* reader, Severity severity, SourcePosition place, const char* format, va_list arguments) {
  if (reader->reported_count >= READER_ERRORS_MAX) return;
  Text text = {0};
  if (reader->trail.length > 0) text_add(&text, "%s: ", reader->trail.data);
  text_add_va_list(&text, format, arguments);
  if (is_repeated_warning(reader, severity, place, text.data)) {
    text_free(&text);
    return;
  }
  append_item_number(reader, &text);
  diagnostics_add(reader->diagnostics, severity, place, "%s", text.data);
  text_free(&text);
  if (++reader->reported_count == READER_ERRORS_MAX)
    diagnostics_add(reader->diagnostics, SEVERITY_NOTE, (SourcePosition){place.file, 0, 0},
                    "more than %d problems: further problems are not shown", READER_ERRORS_MAX);
}

void reader_error(Reader* reader, SourcePosition place, const char* format, ...) {
  reader->problem_count++;
  if (reader->muted) return;
  va_list arguments;
  va_start(arguments, format);
  report(reader, SEVERITY_ERROR, place, format, arguments);
  va_end(arguments);
}

void reader_warning(Reader* reader, SourcePosition place, const char* format, ...) {
  if (reader->muted) return;
  va_list arguments;
  va_start(arguments, format);
  report(reader, SEVERITY_WARNING, place, format, arguments);
  va_end(arguments);
}

void reader_report_wrong_kind(Reader* reader, const Node* node, const char* what) {
  reader_error(reader, node->place, "expected %s, got %s", what, node_describe(node).text);
}

bool reader_count_values(Reader* reader, SourcePosition place, int64_t count) {
  assert(count >= 0);
  if (reader->exhausted) return false;
  reader->value_count += count;
  if (reader->value_count <= READER_VALUES_MAX) return true;
  reader->muted = false;
  reader_error(reader, place,
               "the file is too large: repeats and values come to more than %d; lower the counts of 'repeat'",
               READER_VALUES_MAX);
  reader_stop(reader);
  return false;
}

void reader_stop(Reader* reader) { reader->exhausted = reader->muted = true; }

/* ---------------------------------------------------------------- trail */

size_t reader_enter_key(Reader* reader, const char* key) {
  assert(key);
  size_t mark = reader->trail.length;
  text_add(&reader->trail, "%s%s", mark > 0 ? "." : "", text_excerpt(key).text);
  return mark;
}

size_t reader_enter_index(Reader* reader, int index) {
  assert(index >= 0);
  size_t mark = reader->trail.length;
  text_add(&reader->trail, "[%d]", index);
  return mark;
}

void reader_leave(Reader* reader, size_t mark) {
  assert(mark <= reader->trail.length);
  reader->trail.length = mark;
  if (reader->trail.data) reader->trail.data[mark] = '\0';
}

/* ---------------------------------------------------------------- scalars */

static bool check_number(Reader* reader, const Node* node, const ValueRange* range, const char* unit, double number,
                         double* value) {
  assert(range && value);
  if (unit && strcmp(unit, "m") == 0 && fabs(number) > READER_LENGTH_MAX) {
    reader_error(reader, node->place, "must be at most %g m in size, got %s", READER_LENGTH_MAX,
                 text_excerpt(node->text).text);
    return false;
  }
  if (!range_contains(range, number)) {
    reader_error(reader, node->place, "must be %s%s%s, got %s", range_text(range).text, unit ? " " : "",
                 unit ? unit : "", text_excerpt(node->text).text);
    return false;
  }
  *value = number;
  return true;
}

/* Returns true if the text of a node would be a valid expression in braces, such as `i * pitch`. */
static bool is_bare_expression(const Reader* reader, const Node* node) {
  const char* problem;
  double number;
  Text braced = {0};
  text_add(&braced, "{%s}", node->text);
  bool is_expression = expression_evaluate(braced.data, reader->indices, &reader->variables, &number, &problem);
  text_free(&braced);
  return is_expression;
}

static void report_not_a_number(Reader* reader, const Node* node) {
  if (node->kind != NODE_SCALAR || node_is_null(node) || !is_bare_expression(reader, node)) {
    reader_report_wrong_kind(reader, node, "a number");
    return;
  }
  Excerpt text = text_excerpt(node->text);
  bool plain = node->text[strspn(node->text, "+-.0123456789eE")] == '\0';
  if (plain)
    reader_error(reader, node->place, "expected a number, got '%s': remove the quotes", text.text);
  else
    reader_error(reader, node->place, "expected a number, got '%s' (did you mean \"{%s}\"?)", text.text, text.text);
}

bool reader_number(Reader* reader, const Node* node, const ValueRange* range, const char* unit, double* value) {
  assert(node && range && value);
  if (!reader_count_values(reader, node->place, 1)) return false;
  ScalarKind kind = node->kind == NODE_SCALAR ? node_scalar_type(node) : SCALAR_TEXT;
  double number = 0;
  if (node->kind == NODE_SCALAR && node->text[0] == '{') {
    const char* problem;
    if (expression_evaluate(node->text, reader->indices, &reader->variables, &number, &problem))
      return check_number(reader, node, range, unit, number, value);
    reader_error(reader, node->place, "%s, in '%s'", problem, text_excerpt(node->text).text);
    return false;
  }
  if (kind == SCALAR_NOT_FINITE || (kind == SCALAR_NUMBER && !node_number(node, &number))) {
    reader_error(reader, node->place, "must be a finite number, got %s", text_excerpt(node->text).text);
    return false;
  }
  if (kind != SCALAR_NUMBER) {
    report_not_a_number(reader, node);
    return false;
  }
  return check_number(reader, node, range, unit, number, value);
}

bool reader_integer(Reader* reader, const Node* node, const ValueRange* range, int* value) {
  static const ValueRange WHOLE = {true, -2147483648.0, 2147483647.0, false, false};
  double number;
  if (!reader_number(reader, node, range->given ? range : &WHOLE, NULL, &number)) return false;
  if (number != floor(number) || !range_contains(&WHOLE, number)) {
    reader_error(reader, node->place, "must be a whole number, got %s", text_excerpt(node->text).text);
    return false;
  }
  *value = (int)number;
  return true;
}

int* reader_integers(Reader* reader, const Node* list, const char* key, const ValueRange* range, int* count) {
  assert(key && range && count);
  *count = 0;
  if (!list || !reader_count_values(reader, list->place, list->count)) return NULL;
  int* numbers = MEMORY_NEW(int, list->count);
  size_t mark = reader_enter_key(reader, key);
  if (list->count == 0) reader_error(reader, list->place, "must not be empty");
  for (const Node* item = list->first; item && !reader->exhausted; item = item->next) {
    size_t below = reader_enter_index(reader, *count);
    reader_integer(reader, item, range, &numbers[*count]);
    reader_leave(reader, below);
    ++*count;
  }
  reader_leave(reader, mark);
  return numbers;
}

bool reader_bool(Reader* reader, const Node* node, bool* value) {
  if (node->kind != NODE_SCALAR || node_scalar_type(node) != SCALAR_BOOL) {
    reader_report_wrong_kind(reader, node, "true or false");
    return false;
  }
  *value = node->text[0] == 't' || node->text[0] == 'T';
  return true;
}

bool reader_is_text(Reader* reader, const Node* node) {
  if (!reader_count_values(reader, node->place, 1)) return false;
  if (node->kind == NODE_SCALAR && node_scalar_type(node) == SCALAR_TEXT && *node->text) return true;
  if (node->kind == NODE_SCALAR && node->quoted)
    reader_error(reader, node->place, "must not be empty");
  else if (node->kind == NODE_SCALAR && node_scalar_type(node) != SCALAR_NULL)
    reader_error(reader, node->place, "expected a text, got %s: put it in quotes", node_describe(node).text);
  else
    reader_report_wrong_kind(reader, node, "a text");
  return false;
}

/* Returns true for a list whose commas are missing, such as [0 1 0]. */
static bool is_blank_separated(const Node* list) {
  return list->count == 1 && list->first->kind == NODE_SCALAR && strchr(list->first->text, ' ') != NULL;
}

bool reader_numbers(Reader* reader, const Node* node, const ValueRange* range, const char* unit, int count,
                    double* values) {
  assert(count >= 0 && values);
  if (node->kind != NODE_LIST || node->count != count) {
    Excerpt what = {{0}};
    snprintf(what.text, sizeof what.text, "a list of %d numbers", count);
    if (node->kind != NODE_LIST)
      reader_report_wrong_kind(reader, node, what.text);
    else
      reader_error(reader, node->place, "expected %s, got %d%s", what.text, node->count,
                   is_blank_separated(node) ? ": separate the numbers by commas" : "");
    return false;
  }
  bool good = true;
  int index = 0;
  for (const Node* item = node->first; item; item = item->next, index++) {
    size_t mark = reader_enter_index(reader, index);
    good = reader_number(reader, item, range, unit, &values[index]) && good;
    reader_leave(reader, mark);
  }
  return good;
}

bool reader_is_printable(Reader* reader, const Node* node) {
  if (!text_find_control_character(node->text)) return true;
  reader_error(reader, node->place,
               "a name must not contain a control character (a new line, a tab, ...): remove the character");
  return false;
}

char* reader_name(Reader* reader, const Node* node) {
  assert(node);
  if (!reader_is_text(reader, node)) return NULL;
  if (strlen(node->text) > NAME_MAX_LENGTH) {
    reader_error(reader, node->place, "a name must not be longer than %d bytes", NAME_MAX_LENGTH);
    return NULL;
  }
  if (!reader_is_printable(reader, node)) return NULL;
  Text text = {0};
  const char* problem;
  if (expression_expand(node->text, reader->indices, &reader->variables, &text, &problem)) return text.data;
  reader_error(reader, node->place, "%s, in '%s'", problem, text_excerpt(node->text).text);
  text_free(&text);
  return NULL;
}

#define UNIT_TOLERANCE 1e-14

bool is_unit_length(double length) { return fabs(length - 1.0) <= UNIT_TOLERANCE; }

/* Vector components in this range have squares that neither overflow nor underflow. */
#define SQUARE_MIN 1e-140
#define SQUARE_MAX 1e140

Vec3 unit_vector(Vec3 v) {
  double largest = fmax(fabs(v.x), fmax(fabs(v.y), fabs(v.z)));
  if (largest == 0) return v;
  if (largest < SQUARE_MIN || largest > SQUARE_MAX) v = vec3(v.x / largest, v.y / largest, v.z / largest);
  double length = vec3_norm(v);
  return is_unit_length(length) ? v : vec3_scale(v, 1.0 / length);
}

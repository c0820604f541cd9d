#include <assert.h>
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include "base/outside.h"

/* Largest width of a printed source line [bytes]. A JSON file may be one line of megabytes. */
#define EXCERPT_WIDTH 120
/* Number of bytes left of the caret when a longer line is cut [bytes]. */
#define EXCERPT_LEFT 60

static bool same_text(const char* a, const char* b) { return a == b || (a && b && strcmp(a, b) == 0); }

static bool contains_message(const Diagnostics* diagnostics, const Diagnostic* message) {
  for (int i = 0; i < diagnostics->count; i++) {
    const Diagnostic* other = &diagnostics->items[i];
    bool same_place =
        other->line == message->line && other->column == message->column && same_text(other->file, message->file);
    if (same_place && other->severity == message->severity && same_text(other->text, message->text)) return true;
  }
  return false;
}

/* Replaces control characters by '?'. A message may quote any file name and must be one printable line. */
static void replace_control_characters(char* text) {
  for (; *text; text++)
    if ((unsigned char)*text < ' ' || *text == 0x7f) *text = '?';
}

void diagnostics_add(Diagnostics* diagnostics, Severity severity, SourcePosition place, const char* format, ...) {
  assert(diagnostics && format);
  Text text = {0};
  text_add_bytes(&text, "", 0); /* an empty message becomes "", not NULL */
  va_list arguments;
  va_start(arguments, format);
  text_add_va_list(&text, format, arguments);
  va_end(arguments);
  replace_control_characters(text.data);
  Diagnostic message = {severity, NULL, place.line, place.column, text.data};
  if (place.file) message.file = memory_copy_text(place.file);
  if (severity == SEVERITY_WARNING && contains_message(diagnostics, &message)) {
    memory_free(message.file);
    text_free(&text);
    return;
  }
  diagnostics->items =
      memory_grow_array(diagnostics->items, sizeof message, diagnostics->count, &diagnostics->capacity);
  diagnostics->items[diagnostics->count++] = message;
  if (severity == SEVERITY_ERROR) diagnostics->error_count++;
  if (severity == SEVERITY_WARNING) diagnostics->warning_count++;
}

void diagnostics_merge(Diagnostics* diagnostics, const Diagnostics* more) {
  assert(diagnostics != more);
  for (int i = 0; i < more->count; i++) {
    const Diagnostic* message = &more->items[i];
    if (contains_message(diagnostics, message)) continue;
    diagnostics_add(diagnostics, message->severity, (SourcePosition){message->file, message->line, message->column},
                    "%s", message->text);
  }
}

void diagnostics_free(Diagnostics* diagnostics) {
  for (int i = 0; i < diagnostics->count; i++) {
    memory_free(diagnostics->items[i].file);
    memory_free(diagnostics->items[i].text);
  }
  memory_free(diagnostics->items);
  *diagnostics = (Diagnostics){0};
}

/* ---------------------------------------------------------------- order */

typedef struct {
  Diagnostic item;
  int position; /* index before sorting, which makes the sort stable */
} RankedDiagnostic;

static int compare_ints(int a, int b) { return (a > b) - (a < b); }

static int compare_ranked(const void* left, const void* right) {
  const RankedDiagnostic *a = left, *b = right;
  int order = strcmp(a->item.file ? a->item.file : "", b->item.file ? b->item.file : "");
  if (order == 0) order = compare_ints(a->item.line, b->item.line);
  if (order == 0) order = compare_ints(a->item.column, b->item.column);
  return order != 0 ? order : compare_ints(a->position, b->position);
}

static void sort_by_place(Diagnostics* diagnostics) {
  RankedDiagnostic* ranked = MEMORY_NEW(RankedDiagnostic, diagnostics->count);
  for (int i = 0; i < diagnostics->count; i++) ranked[i] = (RankedDiagnostic){diagnostics->items[i], i};
  qsort(ranked, (size_t)diagnostics->count, sizeof *ranked, compare_ranked);
  for (int i = 0; i < diagnostics->count; i++) diagnostics->items[i] = ranked[i].item;
  memory_free(ranked);
}

/* ---------------------------------------------------------------- the source line */

/* The source file whose lines are printed. Lines are requested in ascending order, so each file is read once. */
typedef struct {
  const char* path;
  char* data;
  const char* cursor; /* start of `line`; NULL if the file has no such line */
  int line;
} SourceText;

static void open_source(SourceText* source, const char* path) {
  if (source->path && strcmp(source->path, path) == 0) return;
  memory_free(source->data);
  *source = (SourceText){.path = path, .line = 1};
  size_t length;
  /* a pipe could not be read a second time */
  if (file_is_regular(path) && file_is_quotable(path)) (void)file_read(path, &source->data, &length);
  source->cursor = source->data;
}

static const char* find_source_line(SourceText* source, int line) {
  while (source->cursor && source->line < line) {
    source->cursor = strchr(source->cursor, '\n');
    if (source->cursor) source->cursor++;
    source->line++;
  }
  return source->cursor;
}

static bool continues_character(char c) { return ((unsigned char)c & 0xc0) == 0x80; } /* UTF-8 */

/* Returns the byte offset of a column in a line. column: counts UTF-8 characters, from 1. */
static size_t column_offset(const char* line, size_t length, int column) {
  size_t offset = 0;
  for (int i = 1; i < column && offset < length; i++) {
    offset++;
    while (offset < length && continues_character(line[offset])) offset++;
  }
  return offset;
}

static bool is_control(char c) { return ((unsigned char)c < 0x20 && c != '\t') || c == 0x7f; }

/* Prints a source line and a caret below the given column. A line of more than EXCERPT_WIDTH bytes is cut around the
 * caret. column <= 0: no caret. */
static void print_excerpt(FILE* stream, const char* line, int column, bool color) {
  assert(line);
  size_t length = strcspn(line, "\r\n"), caret = column_offset(line, length, column), start = 0;
  if (length > EXCERPT_WIDTH && caret > EXCERPT_LEFT) start = caret - EXCERPT_LEFT;
  while (start > 0 && continues_character(line[start])) start--;
  size_t end = length - start > EXCERPT_WIDTH ? start + EXCERPT_WIDTH : length;
  while (end < length && continues_character(line[end])) end++;
  fputs("  ", stream);
  for (size_t i = start; i < end; i++) fputc(is_control(line[i]) ? '?' : line[i], stream);
  if (column <= 0) {
    fputc('\n', stream);
    return;
  }
  fputs("\n  ", stream);
  for (size_t i = start; i < caret; i++)
    if (!continues_character(line[i])) fputc(line[i] == '\t' ? '\t' : ' ', stream);
  fputs(color ? "\033[1;32m^\033[0m\n" : "^\n", stream);
}

/* ---------------------------------------------------------------- similar messages */

/* Up to SIMILAR_MAX similar notes or warnings are printed one by one. More of them are printed as one message with
 * their number and SIMILAR_NAMES names. */
enum { SIMILAR_MAX = 12, SIMILAR_NAMES = 4 };

/* Returns a pointer past the quoted name that begins at c, or c itself if none begins there. An apostrophe within a
 * word begins no name. text: beginning of the message. */
static const char* find_quote_end(const char* text, const char* c) {
  if (*c != '\'' || (c > text && isalnum((unsigned char)c[-1]))) return c;
  const char* end = strchr(c + 1, '\'');
  return end ? end + 1 : c;
}

/* Returns the text of a message with '' in place of each quoted name and 0 in place of each number. Messages with equal
 * patterns are similar. The caller frees the pattern with memory_free. */
static char* message_pattern(const char* text) {
  Text out = {0};
  text_add_bytes(&out, "", 0);
  for (const char* c = text; *c;) {
    const char* end = find_quote_end(text, c);
    if (end == c && isdigit((unsigned char)*c)) (void)strtod(c, (char**)&end);
    text_add(&out, end == c ? "%c" : *c == '\'' ? "''" : "0", *c);
    c = end == c ? c + 1 : end;
  }
  return out.data;
}

/* Appends the first quoted name of the message `text` that differs from the name at the same place in the message
 * `other`. Appends nothing if all names are equal. The two texts must have the same pattern. */
static void append_different_name(Text* out, const char* text, const char* other) {
  assert(out && text && other);
  const char *c = text, *d = other;
  for (;;) {
    while (*c && find_quote_end(text, c) == c) c++;
    while (*d && find_quote_end(other, d) == d) d++;
    if (!*c || !*d) return;
    size_t length = (size_t)(find_quote_end(text, c) - c), length_other = (size_t)(find_quote_end(other, d) - d);
    if (length != length_other || memcmp(c, d, length) != 0) {
      text_add(out, out->length > 0 ? ", " : "");
      text_add_bytes(out, c, length);
      return;
    }
    c += length;
    d += length_other;
  }
}

/* Groups of messages with the same file, severity and pattern (message_pattern). Each error is a group of its own. */
typedef struct {
  int* first;  /* for each message, the index of the first message of its group */
  int* count;  /* number of messages of a group, stored at its first message */
  Text* names; /* names in the later messages of a group, stored at its first message */
} SimilarMessages;

static SimilarMessages group_similar(const Diagnostics* diagnostics) {
  int n = diagnostics->count, group_count = 0;
  SimilarMessages groups = {MEMORY_NEW(int, n), MEMORY_NEW(int, n), MEMORY_NEW(Text, n)};
  char** pattern = MEMORY_NEW(char*, n);
  int* group_first = MEMORY_NEW(int, n); /* index of the first message of each group */
  for (int i = 0; i < n; i++) {
    const Diagnostic* item = &diagnostics->items[i];
    int k = item->severity == SEVERITY_ERROR ? group_count : 0;
    pattern[i] = message_pattern(item->text);
    for (; k < group_count; k++) {
      const Diagnostic* other = &diagnostics->items[group_first[k]];
      if (other->severity == item->severity && same_text(other->file, item->file) &&
          strcmp(pattern[group_first[k]], pattern[i]) == 0)
        break;
    }
    if (k == group_count) group_first[group_count++] = i;
    groups.first[i] = group_first[k];
    if (groups.count[group_first[k]]++ > 0 && groups.count[group_first[k]] <= 1 + SIMILAR_NAMES)
      append_different_name(&groups.names[group_first[k]], item->text, diagnostics->items[group_first[k]].text);
  }
  for (int i = 0; i < n; i++) memory_free(pattern[i]);
  memory_free(pattern);
  memory_free(group_first);
  return groups;
}

static void free_groups(SimilarMessages* groups, int messages) {
  for (int i = 0; i < messages; i++) text_free(&groups->names[i]);
  memory_free(groups->first);
  memory_free(groups->count);
  memory_free(groups->names);
}

/* ---------------------------------------------------------------- printing */

static const char* const SEVERITY_NAME[] = {"error", "warning", "note"};
static const char* const SEVERITY_COLOR[] = {"\033[1;31m", "\033[1;35m", "\033[1;36m"};

/* Prints position, severity and text of a message. others: number of similar messages that are not printed. If others >
 * 0, also prints this number and their names. */
static void print_heading(FILE* stream, const Diagnostic* item, int others, const Text* names, bool color) {
  if (color) fputs("\033[1m", stream);
  if (item->file) fprintf(stream, "%s:", item->file);
  if (item->file && item->line > 0) fprintf(stream, "%d:", item->line);
  if (item->file && item->line > 0 && item->column > 0) fprintf(stream, "%d:", item->column);
  if (item->file) fputc(' ', stream);
  fprintf(stream, "%s%s:%s ", color ? SEVERITY_COLOR[item->severity] : "", SEVERITY_NAME[item->severity],
          color ? "\033[0m" : "");
  /* control characters from a file must not reach the terminal */
  for (const char* c = item->text; *c; c++) fputc(is_control(*c) && *c != '\n' ? '?' : *c, stream);
  if (others > 0) {
    bool all = others <= SIMILAR_NAMES;
    fprintf(stream, " (and %d more alike%s", others, names->length > 0 ? ": " : "");
    for (size_t i = 0; i < names->length; i++) fputc(is_control(names->data[i]) ? '?' : names->data[i], stream);
    fputs(names->length > 0 && !all ? ", ...)" : ")", stream);
  }
  fputc('\n', stream);
}

void diagnostics_print(Diagnostics* diagnostics, FILE* stream, bool color) {
  sort_by_place(diagnostics);
  SourceText source = {0};
  SimilarMessages groups = group_similar(diagnostics);
  for (int i = 0; i < diagnostics->count; i++) {
    const Diagnostic* item = &diagnostics->items[i];
    int first = groups.first[i], count = groups.count[first];
    if (count > SIMILAR_MAX && i != first) continue;
    print_heading(stream, item, count > SIMILAR_MAX ? count - 1 : 0, &groups.names[first], color);
    if (!item->file || item->line <= 0) continue;
    open_source(&source, item->file);
    const char* line = find_source_line(&source, item->line);
    if (line && *line) print_excerpt(stream, line, item->column, color);
  }
  memory_free(source.data);
  free_groups(&groups, diagnostics->count);
}

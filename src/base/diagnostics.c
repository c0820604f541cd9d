#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include "base/outside.h"

/* Largest width of a printed source line [characters]. The limit prevents that a JSON file of one long line fills the
 * terminal. */
#define EXCERPT_WIDTH 120
/* Number of characters kept left of the caret when a longer line is cut. */
#define EXCERPT_BEFORE 60

static bool same_text(const char* a, const char* b) { return a == b || (a && b && strcmp(a, b) == 0); }

static bool is_there(const Diagnostics* diagnostics, const Diagnostic* one) {
  for (int i = 0; i < diagnostics->count; i++) {
    const Diagnostic* other = &diagnostics->items[i];
    bool same_place = other->line == one->line && other->column == one->column && same_text(other->file, one->file);
    if (same_place && other->severity == one->severity && same_text(other->text, one->text)) return true;
  }
  return false;
}

/* Replaces control characters by '?', so that a message is one printable line. A message may quote any file name. */
static void keep_printable(char* text) {
  for (; *text; text++)
    if ((unsigned char)*text < ' ' || *text == 0x7f) *text = '?';
}

void diagnostics_add(Diagnostics* diagnostics, Severity severity, SourcePosition place, const char* format, ...) {
  Text text = {0};
  text_add_bytes(&text, "", 0); /* makes an empty message a string */
  va_list arguments;
  va_start(arguments, format);
  text_add_va_list(&text, format, arguments);
  va_end(arguments);
  keep_printable(text.data);
  Diagnostic one = {severity, NULL, place.line, place.column, text.data};
  if (place.file) one.file = memory_copy_text(place.file);
  if (severity == SEVERITY_WARNING && is_there(diagnostics, &one)) {
    memory_free(one.file);
    text_free(&text);
    return;
  }
  diagnostics->items = memory_grow_array(diagnostics->items, sizeof one, diagnostics->count, &diagnostics->capacity);
  diagnostics->items[diagnostics->count++] = one;
  if (severity == SEVERITY_ERROR) diagnostics->error_count++;
  if (severity == SEVERITY_WARNING) diagnostics->warning_count++;
}

void diagnostics_merge(Diagnostics* diagnostics, const Diagnostics* more) {
  for (int i = 0; i < more->count; i++) {
    const Diagnostic* one = &more->items[i];
    if (is_there(diagnostics, one)) continue;
    diagnostics_add(diagnostics, one->severity, (SourcePosition){one->file, one->line, one->column}, "%s", one->text);
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
  int position; /* original index, which keeps the sort stable */
} Ranked;

static int three_way(int a, int b) { return (a > b) - (a < b); }

static int compare_ranked(const void* left, const void* right) {
  const Ranked *a = left, *b = right;
  int order = strcmp(a->item.file ? a->item.file : "", b->item.file ? b->item.file : "");
  if (order == 0) order = three_way(a->item.line, b->item.line);
  if (order == 0) order = three_way(a->item.column, b->item.column);
  return order != 0 ? order : three_way(a->position, b->position);
}

static void sort_by_place(Diagnostics* diagnostics) {
  Ranked* ranked = MEMORY_NEW(Ranked, diagnostics->count);
  for (int i = 0; i < diagnostics->count; i++) ranked[i] = (Ranked){diagnostics->items[i], i};
  qsort(ranked, (size_t)diagnostics->count, sizeof *ranked, compare_ranked);
  for (int i = 0; i < diagnostics->count; i++) diagnostics->items[i] = ranked[i].item;
  memory_free(ranked);
}

/* ---------------------------------------------------------------- the source line */

/* The source file whose lines are printed. Lines are requested in ascending order, so each file is read and scanned
 * once. */
typedef struct {
  const char* path;
  char* data;
  const char* cursor; /* start of `line`; NULL if the file has no such line */
  int line;
} SourceText;

static void source_open(SourceText* source, const char* path) {
  if (source->path && strcmp(source->path, path) == 0) return;
  memory_free(source->data);
  *source = (SourceText){.path = path, .line = 1};
  size_t length;
  /* Only a regular file can be read again; a pipe would be empty or block. */
  if (file_is_regular(path) && file_is_quotable(path)) (void)file_read(path, &source->data, &length);
  source->cursor = source->data;
}

static const char* source_line(SourceText* source, int line) {
  while (source->cursor && source->line < line) {
    source->cursor = strchr(source->cursor, '\n');
    if (source->cursor) source->cursor++;
    source->line++;
  }
  return source->cursor;
}

static bool continues_character(char c) { return ((unsigned char)c & 0xc0) == 0x80; } /* UTF-8 */

/* Returns the byte offset of a column in a line. Columns count characters, from 1. */
static size_t column_offset(const char* line, size_t length, int column) {
  size_t offset = 0;
  for (int i = 1; i < column && offset < length; i++) {
    offset++;
    while (offset < length && continues_character(line[offset])) offset++;
  }
  return offset;
}

static bool is_control(char c) { return ((unsigned char)c < 0x20 && c != '\t') || c == 0x7f; }

/* Prints a source line and a caret below the given column. A long line is cut around the caret. */
static void print_excerpt(FILE* stream, const char* line, int column, bool color) {
  size_t length = strcspn(line, "\r\n"), caret = column_offset(line, length, column), start = 0;
  if (length > EXCERPT_WIDTH && caret > EXCERPT_BEFORE) start = caret - EXCERPT_BEFORE;
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

/* Up to ALIKE_MOST similar notes or warnings are printed one by one. More similar messages are printed as one, with
 * their number and the first ALIKE_NAMES names. */
enum { ALIKE_MOST = 12, ALIKE_NAMES = 4 };

/* Returns the end of the quoted name that begins at c. Returns c if no quoted name begins at c. An apostrophe within a
 * word begins no name. */
static const char* quoted_end(const char* text, const char* c) {
  if (*c != '\'' || (c > text && isalnum((unsigned char)c[-1]))) return c;
  const char* end = strchr(c + 1, '\'');
  return end ? end + 1 : c;
}

/* Returns the pattern of a message. The pattern has '' in place of each quoted name and 0 in place of each number. The
 * caller frees the pattern. */
static char* pattern_of(const char* text) {
  Text out = {0};
  text_add_bytes(&out, "", 0);
  for (const char* c = text; *c;) {
    const char* end = quoted_end(text, c);
    if (end == c && isdigit((unsigned char)*c)) (void)strtod(c, (char**)&end);
    text_add(&out, end == c ? "%c" : *c == '\'' ? "''" : "0", *c);
    c = end == c ? c + 1 : end;
  }
  return out.data;
}

/* Appends the first quoted name of `text` that differs from the corresponding name in `other`. Appends nothing if all
 * names are equal. The two texts must have the same pattern. */
static void add_own_name(Text* out, const char* text, const char* other) {
  const char *c = text, *d = other;
  for (;;) {
    while (*c && quoted_end(text, c) == c) c++;
    while (*d && quoted_end(other, d) == d) d++;
    if (!*c || !*d) return;
    size_t length = (size_t)(quoted_end(text, c) - c), length_other = (size_t)(quoted_end(other, d) - d);
    if (length != length_other || memcmp(c, d, length) != 0) {
      text_add(out, out->length > 0 ? ", " : "");
      text_add_bytes(out, c, length);
      return;
    }
    c += length;
    d += length_other;
  }
}

/* Groups of similar messages. Similar messages have the same file, severity and pattern (pattern_of). Errors are not
 * grouped. */
typedef struct {
  int* first;  /* index of the first message of the group of each message  (messages) */
  int* count;  /* number of messages in the group, stored at its first message  (messages) */
  Text* names; /* names in the other messages of the group, stored at its first message  (messages) */
} Alike;

static Alike find_alike(const Diagnostics* diagnostics) {
  int n = diagnostics->count, kinds = 0;
  Alike alike = {MEMORY_NEW(int, n), MEMORY_NEW(int, n), MEMORY_NEW(Text, n)};
  char** pattern = MEMORY_NEW(char*, n);
  int* kind = MEMORY_NEW(int, n); /* index of the first message of each group */
  for (int i = 0; i < n; i++) {
    const Diagnostic* item = &diagnostics->items[i];
    int k = item->severity == SEVERITY_ERROR ? kinds : 0;
    pattern[i] = pattern_of(item->text);
    for (; k < kinds; k++) {
      const Diagnostic* other = &diagnostics->items[kind[k]];
      if (other->severity == item->severity && same_text(other->file, item->file) &&
          strcmp(pattern[kind[k]], pattern[i]) == 0)
        break;
    }
    if (k == kinds) kind[kinds++] = i;
    alike.first[i] = kind[k];
    if (alike.count[kind[k]]++ > 0 && alike.count[kind[k]] <= 1 + ALIKE_NAMES)
      add_own_name(&alike.names[kind[k]], item->text, diagnostics->items[kind[k]].text);
  }
  for (int i = 0; i < n; i++) memory_free(pattern[i]);
  memory_free(pattern);
  memory_free(kind);
  return alike;
}

static void free_alike(Alike* alike, int messages) {
  for (int i = 0; i < messages; i++) text_free(&alike->names[i]);
  memory_free(alike->first);
  memory_free(alike->count);
  memory_free(alike->names);
}

/* ---------------------------------------------------------------- printing */

static const char* const SEVERITY_NAME[] = {"error", "warning", "note"};
static const char* const SEVERITY_COLOR[] = {"\033[1;31m", "\033[1;35m", "\033[1;36m"};

/* Prints position, severity and text of a message. others: number of further similar messages, which is printed with
 * their names. */
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
    bool all = others <= ALIKE_NAMES;
    fprintf(stream, " (and %d more alike%s", others, names->length > 0 ? ": " : "");
    for (size_t i = 0; i < names->length; i++) fputc(is_control(names->data[i]) ? '?' : names->data[i], stream);
    fputs(names->length > 0 && !all ? ", ...)" : ")", stream);
  }
  fputc('\n', stream);
}

void diagnostics_print(Diagnostics* diagnostics, FILE* stream, bool color) {
  sort_by_place(diagnostics);
  SourceText source = {0};
  Alike alike = find_alike(diagnostics);
  for (int i = 0; i < diagnostics->count; i++) {
    const Diagnostic* item = &diagnostics->items[i];
    int first = alike.first[i], count = alike.count[first];
    if (count > ALIKE_MOST && i != first) continue;
    print_heading(stream, item, count > ALIKE_MOST ? count - 1 : 0, &alike.names[first], color);
    if (!item->file || item->line <= 0) continue;
    source_open(&source, item->file);
    const char* line = source_line(&source, item->line);
    if (line && *line) print_excerpt(stream, line, item->column, color);
  }
  memory_free(source.data);
  free_alike(&alike, diagnostics->count);
}

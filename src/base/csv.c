#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/base.h"

void csv_add_field(Text* row, const char* text) {
  if (!text[strcspn(text, ",\"\r\n")]) {
    text_add_bytes(row, text, strlen(text));
    return;
  }
  text_add_bytes(row, "\"", 1);
  for (const char* c = text; *c; c++) text_add_bytes(row, *c == '"' ? "\"\"" : c, *c == '"' ? 2 : 1);
  text_add_bytes(row, "\"", 1);
}

/* ---------------------------------------------------------------- reading */

/* Cuts the text into cells in place: a cell ends where its separator stood. */
typedef struct {
  char* cursor;
  int line;
  bool open_quote;
  bool row_ends; /* the last cell was the last of its row */
} CsvScanner;

/* A cell in quotes: doubled quotes become one. Leaves the cursor behind the closing quote. */
static char* scan_quoted(CsvScanner* scanner) {
  char *start = ++scanner->cursor, *out = start;
  for (; *scanner->cursor; scanner->cursor++) {
    if (*scanner->cursor == '"' && scanner->cursor[1] != '"') break;
    if (*scanner->cursor == '"') scanner->cursor++;
    scanner->line += *scanner->cursor == '\n';
    *out++ = *scanner->cursor;
  }
  scanner->open_quote = *scanner->cursor != '"';
  if (*scanner->cursor) scanner->cursor++;
  if (out < scanner->cursor) *out = '\0';
  return start;
}

static char* scan_cell(CsvScanner* scanner) {
  char* start = scanner->cursor;
  if (*start == '"') start = scan_quoted(scanner);
  scanner->cursor += strcspn(scanner->cursor, ",\r\n");
  char end = *scanner->cursor;
  char* next = scanner->cursor + (end != '\0');
  if (end == '\r' && *next == '\n') next++;
  *scanner->cursor = '\0';
  scanner->cursor = next;
  scanner->row_ends = end != ',';
  scanner->line += scanner->row_ends && end != '\0';
  return start;
}

/* Growing list of cells. */
typedef struct {
  char** items;
  int count, capacity;
} CellList;

static void cell_list_add(CellList* list, char* cell) {
  list->items = memory_grown(list->items, sizeof(char*), list->count, &list->capacity);
  list->items[list->count++] = cell;
}

/* The cells of one row, appended; returns how many. */
static int scan_row(CsvScanner* scanner, CellList* cells) {
  int first = cells->count;
  do cell_list_add(cells, scan_cell(scanner));
  while (!scanner->row_ends && !scanner->open_quote);
  return cells->count - first;
}

static Status refuse(Diagnostics* diagnostics, const char* path, int line, const char* text) {
  diagnostics_add(diagnostics, SEVERITY_ERROR, (SourcePlace){path, line, 0}, "%s", text);
  return STATUS_BAD_INPUT;
}

static void add_row(CsvTable* table, int line, int* capacity) {
  table->lines = memory_grown(table->lines, sizeof(int), table->row_count, capacity);
  table->lines[table->row_count++] = line;
}

static Status scan_rows(CsvTable* table, CsvScanner* scanner, const char* path, Diagnostics* diagnostics) {
  CellList cells = {0};
  int capacity = 0;
  Status status = STATUS_OK;
  while (*scanner->cursor && status == STATUS_OK) {
    int line = scanner->line, count = scan_row(scanner, &cells);
    add_row(table, line, &capacity);
    if (scanner->open_quote) {
      status = refuse(diagnostics, path, line, "a quoted field is not closed");
    } else if (count != table->column_count) {
      diagnostics_add(diagnostics, SEVERITY_ERROR, (SourcePlace){path, line, 0}, "row has %d fields, the header has %d",
                      count, table->column_count);
      status = STATUS_BAD_INPUT;
    }
  }
  table->cells = cells.items;
  return status;
}

static Status scan_table(CsvTable* table, size_t length, const char* path, Diagnostics* diagnostics) {
  CsvScanner scanner = {.cursor = table->data, .line = 1};
  if (strlen(table->data) != length) return refuse(diagnostics, path, 0, "not a CSV file: it holds a NUL byte");
  if (strncmp(scanner.cursor, "\xef\xbb\xbf", 3) == 0) scanner.cursor += 3; /* byte order mark */
  if (!*scanner.cursor) return refuse(diagnostics, path, 0, "empty file: a CSV file begins with a header line");
  CellList names = {0};
  table->column_count = scan_row(&scanner, &names);
  table->names = names.items;
  if (scanner.open_quote) return refuse(diagnostics, path, 1, "a quoted field is not closed");
  return scan_rows(table, &scanner, path, diagnostics);
}

/* NOLINTNEXTLINE(readability-non-const-parameter): the table owns and cuts it */
Status csv_parse(CsvTable* table, const char* path, char* data, size_t length, Diagnostics* diagnostics) {
  *table = (CsvTable){.data = data};
  return scan_table(table, length, path, diagnostics);
}

Status csv_read(CsvTable* table, const char* path, Diagnostics* diagnostics) {
  char* data;
  size_t length;
  *table = (CsvTable){0};
  if (file_read_reported(path, &data, &length, diagnostics) != STATUS_OK) return STATUS_IO;
  return csv_parse(table, path, data, length, diagnostics);
}

void csv_free(CsvTable* table) {
  memory_free(table->data);
  memory_free(table->names);
  memory_free(table->cells);
  memory_free(table->lines);
  *table = (CsvTable){0};
}

const char* csv_cell(const CsvTable* table, int row, int column) {
  return table->cells[(size_t)row * (size_t)table->column_count + (size_t)column];
}

bool csv_number(const CsvTable* table, const char* path, int row, int column, double* value, Diagnostics* diagnostics) {
  const char* cell = csv_cell(table, row, column);
  char* end;
  *value = strtod(cell, &end);
  if (end != cell && *end == '\0' && isfinite(*value)) return true;
  diagnostics_add(diagnostics, SEVERITY_ERROR, (SourcePlace){path, table->lines[row], 0},
                  "column '%s': '%s' is not a finite number", table->names[column], cell);
  return false;
}

int csv_column(const CsvTable* table, const char* name) {
  for (int i = 0; i < table->column_count; i++)
    if (strcmp(table->names[i], name) == 0) return i;
  return -1;
}

double csv_value(const CsvTable* table, int row, int column) {
  const char* cell = csv_cell(table, row, column);
  char* end;
  double value = strtod(cell, &end);
  return end != cell && *end == '\0' ? value : (double)NAN;
}

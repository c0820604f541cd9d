#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "base/outside.h"

void csv_add_field(Text* row, const char* text) {
  assert(text);
  if (!text[strcspn(text, ",\"\r\n")]) {
    text_add_bytes(row, text, strlen(text));
    return;
  }
  text_add_bytes(row, "\"", 1);
  for (const char* c = text; *c; c++) text_add_bytes(row, *c == '"' ? "\"\"" : c, *c == '"' ? 2 : 1);
  text_add_bytes(row, "\"", 1);
}

/* ---------------------------------------------------------------- reading */

/* Position of a scanner that splits a CSV text into cells in place. The separator after each cell is overwritten by a
 * NUL byte. */
typedef struct {
  char* cursor;
  int line;
  bool open_quote;
  bool row_ends; /* true if the last cell ended its row */
} CsvScanner;

/* Returns the quoted cell at the cursor without its quotes; "" inside the cell becomes ". Leaves the cursor after the
 * closing quote. */
static char* scan_quoted(CsvScanner* scanner) {
  assert(*scanner->cursor == '"');
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

typedef struct {
  char** items;
  int count, capacity;
} CellList;

static void cell_list_add(CellList* list, char* cell) {
  list->items = memory_grow_array(list->items, sizeof(char*), list->count, &list->capacity);
  list->items[list->count++] = cell;
}

/* Appends the cells of the next row to the list. Returns their number. */
static int scan_row(CsvScanner* scanner, CellList* cells) {
  int first = cells->count;
  do cell_list_add(cells, scan_cell(scanner));
  while (!scanner->row_ends && !scanner->open_quote);
  return cells->count - first;
}

static Status report_error(Diagnostics* diagnostics, const char* path, int line, const char* text) {
  diagnostics_add(diagnostics, SEVERITY_ERROR, (SourcePosition){path, line, 0}, "%s", text);
  return STATUS_BAD_INPUT;
}

static void add_row(CsvTable* table, int line, int* capacity) {
  table->lines = memory_grow_array(table->lines, sizeof(int), table->row_count, capacity);
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
      status = report_error(diagnostics, path, line, "a quoted field has no closing quote: add the quote");
    } else if (count != table->column_count) {
      diagnostics_add(diagnostics, SEVERITY_ERROR, (SourcePosition){path, line, 0},
                      "the row has %d fields, but the header has %d: give all rows as many fields as the header", count,
                      table->column_count);
      status = STATUS_BAD_INPUT;
    }
  }
  table->cells = cells.items;
  return status;
}

static bool check_names(const CsvTable* table, const char* path, Diagnostics* diagnostics) {
  for (int i = 0; i < table->column_count; i++) {
    if (!text_find_control_character(table->names[i])) continue;
    diagnostics_add(diagnostics, SEVERITY_ERROR, (SourcePosition){path, 1, 0},
                    "the name of column %d has a control character: remove the character", i + 1);
    return false;
  }
  return true;
}

static Status scan_table(CsvTable* table, size_t length, const char* path, Diagnostics* diagnostics) {
  CsvScanner scanner = {.cursor = table->data, .line = 1};
  if (strlen(table->data) != length)
    return report_error(diagnostics, path, 0,
                        "not a CSV file, because the file has a NUL byte: save the table as plain text");
  if (strncmp(scanner.cursor, "\xef\xbb\xbf", 3) == 0) scanner.cursor += 3; /* byte order mark */
  if (!*scanner.cursor) return report_error(diagnostics, path, 0, "empty file: a CSV file begins with a header line");
  CellList names = {0};
  table->column_count = scan_row(&scanner, &names);
  table->names = names.items;
  if (scanner.open_quote)
    return report_error(diagnostics, path, 1, "a quoted field has no closing quote: add the quote");
  if (!check_names(table, path, diagnostics)) return STATUS_BAD_INPUT;
  return scan_rows(table, &scanner, path, diagnostics);
}

/* NOLINTNEXTLINE(readability-non-const-parameter): the table owns and cuts it */
Status csv_parse(CsvTable* table, const char* path, char* data, size_t length, Diagnostics* diagnostics) {
  assert(data);
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
  assert(row >= 0 && row < table->row_count && column >= 0 && column < table->column_count);
  return table->cells[(size_t)row * (size_t)table->column_count + (size_t)column];
}

/* Reads a decimal number. Returns false for hexadecimal numbers and nan(...), which strtod accepts. */
static bool read_decimal(const char* cell, double* value) {
  char* end;
  *value = strtod(cell, &end);
  return end != cell && *end == '\0' && !strpbrk(cell, "xX(");
}

bool csv_read_number(const CsvTable* table, const char* path, int row, int column, double* value,
                     Diagnostics* diagnostics) {
  assert(row >= 0 && row < table->row_count && column >= 0 && column < table->column_count);
  const char* cell = csv_cell(table, row, column);
  if (read_decimal(cell, value) && isfinite(*value)) return true;
  diagnostics_add(diagnostics, SEVERITY_ERROR, (SourcePosition){path, table->lines[row], 0},
                  "column '%s': '%s' is not a finite decimal number", text_excerpt(table->names[column]).text,
                  text_excerpt(cell).text);
  return false;
}

bool csv_name_is_duplicate(const CsvTable* table, int column) {
  assert(column >= 0 && column < table->column_count);
  for (int i = column + 1; i < table->column_count; i++)
    if (strcmp(table->names[i], table->names[column]) == 0) return true;
  return false;
}

int csv_find_column(const CsvTable* table, const char* name) {
  assert(name);
  for (int i = 0; i < table->column_count; i++)
    if (strcmp(table->names[i], name) == 0) return i;
  return -1;
}

double csv_number_or_nan(const CsvTable* table, int row, int column) {
  assert(row >= 0 && row < table->row_count && column >= 0 && column < table->column_count);
  double value;
  return read_decimal(csv_cell(table, row, column), &value) ? value : (double)NAN;
}

/* ---------------------------------------------------------------- row by row */

typedef struct {
  int row; /* index of the row; -1: the buffer is empty */
  char* text;
  size_t length, capacity;
  CellList cells;
  int line;
  CsvTable table; /* the names of the columns are borrowed from the file */
} BufferedRow;

/* Offset of a row in the file [bytes], and number of its first line. */
typedef struct {
  off_t at;
  int line;
} CsvCheckpoint;
/* The offset of every 64th row is stored, so that a jump back to an earlier row reads at most 64 rows again. */
enum { CHECKPOINT_ROWS = 64 };

struct CsvRows {
  char* path;
  FILE* stream;
  BufferedRow header, buffered[CSV_WINDOW];
  CsvTable names;             /* the header as a table without rows */
  char** empty_cells;         /* a row of empty cells, for rows that cannot be read */
  CsvCheckpoint* checkpoints; /* offset of every CHECKPOINT_ROWS-th row */
  int checkpoint_count, checkpoint_capacity;
  int next, line; /* index and first line of the row that follows in the stream */
  int count;
};

typedef enum { ROW_READ, ROW_NONE, ROW_NUL } RowResult;

static void append_byte(BufferedRow* to, int c) {
  if (to->length + 1 >= to->capacity) {
    size_t capacity = 2 * to->capacity + 256;
    to->text = memory_resize(to->text, to->capacity, capacity);
    to->capacity = capacity;
  }
  to->text[to->length++] = (char)c;
}

/* State of the scanner within a cell. In CELL_QUOTE the last byte was a quote, which either closes the cell or is the
 * first of two. */
typedef enum { CELL_BEGINS, CELL_PLAIN, CELL_QUOTED, CELL_QUOTE } CellState;

static CellState next_cell_state(CellState state, int c) {
  if (state == CELL_QUOTED) return c == '"' ? CELL_QUOTE : CELL_QUOTED;
  if (c == '"' && state != CELL_PLAIN) return CELL_QUOTED;
  return c == ',' ? CELL_BEGINS : CELL_PLAIN;
}

/* Reads the text of the next row of the stream. A line end inside quotes does not end the row. */
static RowResult read_row_text(CsvRows* r, BufferedRow* to) {
  CellState state = CELL_BEGINS;
  int c = getc_unlocked(r->stream);
  to->length = 0;
  to->line = r->line;
  if (c == EOF) return ROW_NONE;
  for (; c != EOF && (state == CELL_QUOTED || (c != '\n' && c != '\r')); c = getc_unlocked(r->stream)) {
    if (c == '\0') return ROW_NUL;
    state = next_cell_state(state, c);
    r->line += c == '\n';
    append_byte(to, c);
  }
  if (c == '\r' && (c = getc_unlocked(r->stream)) != '\n' && c != EOF) ungetc(c, r->stream);
  append_byte(to, '\0');
  return ROW_READ;
}

static Status split_row(CsvRows* r, BufferedRow* row, int columns, Diagnostics* diagnostics) {
  CsvScanner scanner = {.cursor = row->text, .line = row->line};
  row->cells.count = 0;
  int count = scan_row(&scanner, &row->cells);
  r->line++;
  if (scanner.open_quote)
    return report_error(diagnostics, r->path, row->line, "a quoted field has no closing quote: add the quote");
  if (columns == 0 || count == columns) return STATUS_OK;
  diagnostics_add(diagnostics, SEVERITY_ERROR, (SourcePosition){r->path, row->line, 0},
                  "the row has %d fields, but the header has %d: give all rows as many fields as the header", count,
                  columns);
  return STATUS_BAD_INPUT;
}

/* Reads the next row and splits it into `columns` cells; 0: any number of cells. Sets *more to false at the end of the
 * file. */
static Status read_row(CsvRows* r, BufferedRow* to, int columns, bool* more, Diagnostics* diagnostics) {
  RowResult found = read_row_text(r, to);
  *more = found == ROW_READ;
  if (found == ROW_NUL)
    return report_error(diagnostics, r->path, 0,
                        "not a CSV file, because the file has a NUL byte: save the table as plain text");
  return found == ROW_READ ? split_row(r, to, columns, diagnostics) : STATUS_OK;
}

static Status read_header(CsvRows* r, Diagnostics* diagnostics) {
  static const char mark[] = "\xef\xbb\xbf";
  bool more;
  char begin[3];
  r->line = 1;
  if (fread(begin, 1, 3, r->stream) != 3 || memcmp(begin, mark, 3) != 0) rewind(r->stream);
  Status status = read_row(r, &r->header, 0, &more, diagnostics);
  if (status != STATUS_OK) return status;
  if (!more) return report_error(diagnostics, r->path, 0, "empty file: a CSV file begins with a header line");
  r->names = (CsvTable){.names = r->header.cells.items, .column_count = r->header.cells.count};
  r->empty_cells = memory_alloc(sizeof(char*) * (size_t)r->names.column_count);
  for (int k = 0; k < r->names.column_count; k++) r->empty_cells[k] = "";
  return check_names(&r->names, r->path, diagnostics) ? STATUS_OK : STATUS_BAD_INPUT;
}

static void append_checkpoint(CsvRows* r) {
  r->checkpoints =
      memory_grow_array(r->checkpoints, sizeof(CsvCheckpoint), r->checkpoint_count, &r->checkpoint_capacity);
  r->checkpoints[r->checkpoint_count++] = (CsvCheckpoint){ftello(r->stream), r->line};
}

static Status count_rows(CsvRows* r, Diagnostics* diagnostics) {
  bool more = true;
  Status status = STATUS_OK;
  while (status == STATUS_OK && more) {
    if (r->count % CHECKPOINT_ROWS == 0) append_checkpoint(r);
    status = read_row(r, &r->buffered[0], r->names.column_count, &more, diagnostics);
    r->count += more;
  }
  r->next = r->count;
  return status;
}

static bool open_regular_file(CsvRows* r) {
  struct stat info;
  r->stream = file_is_regular(r->path) || stat(r->path, &info) != 0 ? fopen(r->path, "re") : NULL;
  return r->stream != NULL;
}

Status csv_rows_open(CsvRows** result, const char* path, Diagnostics* diagnostics) {
  CsvRows* r = MEMORY_NEW(CsvRows, 1);
  *result = NULL;
  r->path = memory_copy_text(path);
  for (int k = 0; k < CSV_WINDOW; k++) r->buffered[k].row = -1;
  Status status = STATUS_OK;
  if (!open_regular_file(r)) {
    diagnostics_add(diagnostics, SEVERITY_ERROR, (SourcePosition){path, 0, 0}, "cannot read: %s",
                    file_exists(path) ? "not a regular file" : file_error_text(errno));
    status = STATUS_IO;
  }
  if (status == STATUS_OK) status = read_header(r, diagnostics);
  if (status == STATUS_OK) status = count_rows(r, diagnostics);
  if (status == STATUS_OK)
    *result = r;
  else
    csv_rows_close(r);
  return status;
}

static void free_row(BufferedRow* row) {
  memory_free(row->text);
  memory_free(row->cells.items);
}

void csv_rows_close(CsvRows* r) {
  if (!r) return;
  if (r->stream) fclose(r->stream);
  free_row(&r->header);
  for (int k = 0; k < CSV_WINDOW; k++) free_row(&r->buffered[k]);
  memory_free(r->empty_cells);
  memory_free(r->checkpoints);
  memory_free(r->path);
  memory_free(r);
}

int csv_rows_count(const CsvRows* r) { return r->count; }

const CsvTable* csv_rows_header(const CsvRows* r) { return &r->names; }

/* Moves the stream to a row at most CHECKPOINT_ROWS before `row`. Does nothing if the stream is already at such a row.
 */
static void seek_row(CsvRows* r, int row) {
  int place = row / CHECKPOINT_ROWS;
  if (r->next <= row && r->next >= place * CHECKPOINT_ROWS) return;
  (void)fseeko(r->stream, r->checkpoints[place].at, SEEK_SET);
  r->next = place * CHECKPOINT_ROWS;
  r->line = r->checkpoints[place].line;
}

const CsvTable* csv_rows_read(CsvRows* r, int row) {
  assert(row >= 0 && row < r->count);
  BufferedRow* buffered = &r->buffered[row % CSV_WINDOW];
  if (buffered->row == row) return &buffered->table;
  seek_row(r, row);
  for (bool more = true; r->next <= row; r->next++) {
    Diagnostics ignored = {0};
    BufferedRow* to = &r->buffered[r->next % CSV_WINDOW];
    bool good = read_row(r, to, r->names.column_count, &more, &ignored) == STATUS_OK && more;
    diagnostics_free(&ignored);
    to->row = r->next;
    to->table = r->names;
    to->table.cells = good ? to->cells.items : r->empty_cells;
    to->table.lines = &to->line;
    to->table.row_count = 1;
  }
  return &buffered->table;
}

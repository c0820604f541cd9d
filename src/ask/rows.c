/* Answers questions about many poses, which are given as rows of binary numbers instead of lines of JSON. */
#include <assert.h>
#include <inttypes.h>
#include <string.h>
#include "ask/answer.h"
#include "ask/reader.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "rows are written as they lie in memory");

enum { POSE_NUMBERS = QUERY_ROW_NUMBERS / 2, ROW_BYTES = QUERY_ROW_NUMBERS * 8 };

/* Returns the length of the first line without its newline [bytes], or -1 if there is no newline. */
static int64_t first_line(const char* data, size_t length) {
  const char* end = memchr(data, '\n', length);
  return end ? end - data : -1;
}

bool query_rows_recognise(const char* data, size_t length) {
  int64_t line = first_line(data, length);
  cJSON* root = line > 0 ? cJSON_ParseWithLength(data, (size_t)line) : NULL;
  bool found = cJSON_IsObject(root) && cJSON_GetObjectItemCaseSensitive(root, "poses");
  cJSON_Delete(root);
  return found;
}

/* ---------------------------------------------------------------- reading */

typedef struct {
  const char* path;
  Diagnostics* diagnostics;
  int problems;
} RowsReader;

static void report_error(RowsReader* reader, size_t offset, const char* format, ...)
    __attribute__((format(printf, 3, 4)));
static void report_error(RowsReader* reader, size_t offset, const char* format, ...) {
  if (++reader->problems > READER_ERRORS_MAX) return;
  Text text = {0};
  va_list arguments;
  va_start(arguments, format);
  text_add_va_list(&text, format, arguments);
  va_end(arguments);
  diagnostics_add(reader->diagnostics, SEVERITY_ERROR, (SourcePosition){reader->path, 0, 0}, "byte %zu: %s", offset,
                  text.data);
  text_free(&text);
}

static void row_numbers(const QueryRows* rows, int64_t i, double out[QUERY_ROW_NUMBERS]) {
  assert(i >= 0 && rows->bytes);
  memcpy(out, rows->bytes + (size_t)i * ROW_BYTES, ROW_BYTES);
}

/* Checks that the two poses in row i of rows->bytes are valid. number: index of the row in the file, for messages. */
static void check_row(RowsReader* reader, const QueryRows* rows, int64_t i, int64_t number) {
  double x[QUERY_ROW_NUMBERS];
  row_numbers(rows, i, x);
  for (int k = 0; k < 2; k++) {
    const double* pose = x + POSE_NUMBERS * k;
    if (answer_pose_is_valid(pose)) continue;
    size_t at = rows->first + (size_t)number * ROW_BYTES + (size_t)(POSE_NUMBERS * k) * 8;
    Text message = {0};
    int invalid = answer_append_pose_error(pose, k ? "b" : "a", &message);
    report_error(reader, at + (size_t)invalid * 8, "row %" PRId64 ": %s", number, message.data);
    text_free(&message);
  }
}

/* Checks that the number of bytes in the file matches the number of rows in the first line. */
static void check_length(RowsReader* reader, const QueryRows* rows, size_t length) {
  int64_t count = rows->count;
  size_t actual = length - rows->first, expected = (size_t)count * ROW_BYTES;
  if (actual < expected)
    report_error(reader, length,
                 "the file ends within row %zu: %" PRId64
                 " rows of %d bytes, from byte %zu on, are %zu bytes, %zu are there",
                 actual / ROW_BYTES, count, ROW_BYTES, rows->first, expected, actual);
  if (actual > expected)
    report_error(reader, rows->first + expected, "%zu bytes too many: the first line says %" PRId64 " rows of %d bytes",
                 actual - expected, count, ROW_BYTES);
}

static Status read_first_line(QueryRows* rows, const char* path, const char* data, size_t line,
                              Diagnostics* diagnostics) {
  char* text = memory_alloc(line + 1);
  memcpy(text, data, line);
  text[line] = '\0';
  Status status = query_parse_line(&rows->list, path, text, line, true, diagnostics);
  memory_free(text);
  if (status != STATUS_OK || rows->list.count == 1) return status;
  diagnostics_add(diagnostics, SEVERITY_ERROR, (SourcePosition){path, 1, 1},
                  "the first line of a file of rows must have one question, got %d", rows->list.count);
  return STATUS_BAD_INPUT;
}

Status query_rows_open(QueryRows* rows, const char* path, const char* line, size_t length, Diagnostics* diagnostics) {
  assert(length > 0);
  *rows = (QueryRows){.first = length};
  Status status = read_first_line(rows, path, line, length - 1, diagnostics);
  if (status != STATUS_OK) return status;
  rows->count = rows->list.items[0].poses;
  AnswerNames names;
  rows->columns = answer_names(&rows->list, &rows->list.items[0], 0, &names);
  return STATUS_OK;
}

Status query_rows_set_row(QueryRows* rows, const char* path, int64_t number, const char* bytes,
                          Diagnostics* diagnostics) {
  assert(number >= 0 && bytes);
  RowsReader reader = {.path = path, .diagnostics = diagnostics};
  rows->bytes = bytes;
  check_row(&reader, rows, 0, number);
  return reader.problems > 0 ? STATUS_BAD_INPUT : STATUS_OK;
}

Status query_rows_read(QueryRows* rows, const char* path, const char* data, size_t length, Diagnostics* diagnostics) {
  Status status = query_rows_open(rows, path, data, (size_t)first_line(data, length) + 1, diagnostics);
  if (status != STATUS_OK) return status;
  RowsReader reader = {.path = path, .diagnostics = diagnostics};
  rows->bytes = data + rows->first;
  check_length(&reader, rows, length);
  for (int64_t i = 0; i < rows->count && (size_t)(i + 1) * ROW_BYTES <= length - rows->first; i++)
    check_row(&reader, rows, i, i);
  if (reader.problems > READER_ERRORS_MAX)
    diagnostics_add(diagnostics, SEVERITY_NOTE, (SourcePosition){path, 0, 0}, "%d more problems are not shown",
                    reader.problems - READER_ERRORS_MAX);
  return reader.problems > 0 ? STATUS_BAD_INPUT : STATUS_OK;
}

/* ---------------------------------------------------------------- answering */

void query_rows_header(const QueryRows* rows, Text* line) {
  AnswerNames names;
  answer_names(&rows->list, &rows->list.items[0], 0, &names);
  text_add(line, "{\"method\": \"%s\", \"rows\": %" PRId64 ", \"columns\": [",
           query_method_name(rows->list.items[0].method), rows->count);
  for (int k = 0; k < names.count; k++)
    text_add(line, "%s[\"%s\", %d]", k > 0 ? ", " : "", names.key[k], names.numbers[k]);
  text_add(line, "]}\n");
}

void query_rows_answer(const QueryRows* rows, int64_t i, QueryMemory* memory, double* out) {
  assert(i >= 0 && i < rows->count);
  double x[QUERY_ROW_NUMBERS];
  row_numbers(rows, i, x);
  answer_row(&(AnswerForm){.row = out, .in_row = true}, &rows->list, &rows->list.items[0], x, x + POSE_NUMBERS, memory);
}

void query_rows_free(QueryRows* rows) {
  query_free(&rows->list);
  *rows = (QueryRows){0};
}

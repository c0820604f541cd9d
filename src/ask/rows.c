/* Questions about many poses as numbers instead of lines. */
#include <inttypes.h>
#include <string.h>
#include "ask/answer.h"
#include "ask/reader.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "rows are written as they lie in memory");

enum { POSE_NUMBERS = QUERY_ROW_NUMBERS / 2, ROW_BYTES = QUERY_ROW_NUMBERS * 8 };

/* Bytes of the first line without its newline; -1: there is none. */
static int64_t first_line(const char* data, size_t length) {
  const char* end = memchr(data, '\n', length);
  return end ? end - data : -1;
}

bool query_rows_begin(const char* data, size_t length) {
  int64_t line = first_line(data, length);
  cJSON* root = line > 0 ? cJSON_ParseWithLength(data, (size_t)line) : NULL;
  bool found = cJSON_IsObject(root) && cJSON_GetObjectItemCaseSensitive(root, "poses");
  cJSON_Delete(root);
  return found;
}

/* ---------------------------------------------------------------- reading */

typedef struct {
  const char* path;
  size_t first; /* where the rows begin */
  Diagnostics* diagnostics;
  int problems;
} RowsReader;

static void problem(RowsReader* reader, size_t offset, const char* format, ...) __attribute__((format(printf, 3, 4)));
static void problem(RowsReader* reader, size_t offset, const char* format, ...) {
  if (++reader->problems > READER_PROBLEM_MAX) return;
  Text text = {0};
  va_list arguments;
  va_start(arguments, format);
  text_add_v(&text, format, arguments);
  va_end(arguments);
  diagnostics_add(reader->diagnostics, SEVERITY_ERROR, (SourcePlace){reader->path, 0, 0}, "byte %zu: %s", offset,
                  text.data);
  text_free(&text);
}

static void row_numbers(const QueryRows* rows, int64_t i, double out[QUERY_ROW_NUMBERS]) {
  memcpy(out, rows->bytes + (size_t)i * ROW_BYTES, ROW_BYTES);
}

static void check_row(RowsReader* reader, const QueryRows* rows, int64_t i) {
  double x[QUERY_ROW_NUMBERS];
  row_numbers(rows, i, x);
  for (int k = 0; k < 2; k++) {
    const double* pose = x + POSE_NUMBERS * k;
    if (answer_pose_good(pose)) continue;
    size_t at = reader->first + (size_t)i * ROW_BYTES + (size_t)(POSE_NUMBERS * k) * 8;
    Text what = {0};
    int number = answer_pose_problem(pose, k ? "b" : "a", &what);
    problem(reader, at + (size_t)number * 8, "row %" PRId64 ": %s", i, what.data);
    text_free(&what);
  }
}

/* As many bytes as the first line says? */
static void check_length(RowsReader* reader, size_t length, int64_t count) {
  size_t there = length - reader->first, wanted = (size_t)count * ROW_BYTES;
  if (there < wanted)
    problem(reader, length,
            "the file ends within row %zu: %" PRId64
            " rows of %d bytes, from byte %zu on, are %zu bytes, %zu are there",
            there / ROW_BYTES, count, ROW_BYTES, reader->first, wanted, there);
  if (there > wanted)
    problem(reader, reader->first + wanted, "%zu bytes too many: the first line says %" PRId64 " rows of %d bytes",
            there - wanted, count, ROW_BYTES);
}

static Status read_first_line(QueryRows* rows, const char* path, const char* data, size_t line,
                              Diagnostics* diagnostics) {
  char* text = memory_alloc(line + 1);
  memcpy(text, data, line);
  text[line] = '\0';
  Status status = query_parse_line(&rows->list, path, text, line, true, diagnostics);
  memory_free(text);
  if (status != STATUS_OK || rows->list.count == 1) return status;
  diagnostics_add(diagnostics, SEVERITY_ERROR, (SourcePlace){path, 1, 1},
                  "the first line of a file of rows is one question, got %d", rows->list.count);
  return STATUS_BAD_INPUT;
}

/* ---------------------------------------------------------------- answering */

Status query_rows_read(QueryRows* rows, const char* path, const char* data, size_t length, Diagnostics* diagnostics) {
  *rows = (QueryRows){0};
  size_t line = (size_t)first_line(data, length);
  Status status = read_first_line(rows, path, data, line, diagnostics);
  if (status != STATUS_OK) return status;
  RowsReader reader = {.path = path, .first = line + 1, .diagnostics = diagnostics};
  rows->count = rows->list.items[0].poses;
  rows->bytes = data + reader.first;
  check_length(&reader, length, rows->count);
  for (int64_t i = 0; i < rows->count && (size_t)(i + 1) * ROW_BYTES <= length - reader.first; i++)
    check_row(&reader, rows, i);
  if (reader.problems > READER_PROBLEM_MAX)
    diagnostics_add(diagnostics, SEVERITY_NOTE, (SourcePlace){path, 0, 0}, "%d more problems are not shown",
                    reader.problems - READER_PROBLEM_MAX);
  if (reader.problems > 0) return STATUS_BAD_INPUT;
  AnswerNames names;
  rows->columns = answer_names(&rows->list, &rows->list.items[0], 0, &names);
  return STATUS_OK;
}

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
  double x[QUERY_ROW_NUMBERS];
  row_numbers(rows, i, x);
  answer_row(&(AnswerForm){.row = out, .in_row = true}, &rows->list, &rows->list.items[0], x, x + POSE_NUMBERS, memory);
}

void query_rows_free(QueryRows* rows) {
  query_free(&rows->list);
  *rows = (QueryRows){0};
}

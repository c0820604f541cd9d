/* sdrs query FILE: computes distances and contacts of pairs of bodies, with derivatives. */
#include <inttypes.h>
#include <string.h>
#include "app/command.h"
#include "ask/ask.h"

static void print_answers(const QueryList* list) {
  QueryMemory memory = query_memory_create();
  Text line = {0};
  for (int i = 0; i < list->count; i++) {
    line.length = 0;
    query_answer(&line, list, &list->items[i], &memory);
    fwrite(line.data, 1, line.length, stdout);
  }
  query_memory_free(&memory);
  text_free(&line);
}

static void print_header(const QueryRows* rows) {
  Text line = {0};
  query_rows_header(rows, &line);
  fwrite(line.data, 1, line.length, stdout);
  text_free(&line);
}

static void print_row_answers(QueryRows* rows) {
  QueryMemory memory = query_memory_create();
  double* row = MEMORY_NEW(double, rows->columns);
  print_header(rows);
  for (int64_t i = 0; i < rows->count; i++) {
    query_rows_answer(rows, i, &memory, row);
    fwrite(row, sizeof *row, (size_t)rows->columns, stdout);
  }
  query_memory_free(&memory);
  memory_free(row);
}

/* Answers rows from standard input one by one, each before reading the next. */
static Status answer_stream(QueryRows* rows, Diagnostics* diagnostics) {
  QueryMemory memory = query_memory_create();
  double* row = MEMORY_NEW(double, rows->columns);
  Status status = STATUS_OK;
  print_header(rows);
  for (int64_t i = 0; i < rows->count && status == STATUS_OK; i++) {
    char bytes[QUERY_ROW_NUMBERS * sizeof(double)];
    fflush(stdout);
    if (fread(bytes, 1, sizeof bytes, stdin) < sizeof bytes) {
      diagnostics_add(diagnostics, SEVERITY_ERROR, (SourcePosition){"-", 0, 0},
                      "the input ends within row %" PRId64 ": the first line says %" PRId64 " rows of %zu bytes", i,
                      rows->count, sizeof bytes);
      status = STATUS_BAD_INPUT;
      break;
    }
    status = query_rows_set_row(rows, "-", i, bytes, diagnostics);
    if (status != STATUS_OK) break;
    query_rows_answer(rows, 0, &memory, row);
    fwrite(row, sizeof *row, (size_t)rows->columns, stdout);
  }
  query_memory_free(&memory);
  memory_free(row);
  return status;
}

static Status query_lines(const Options* options, const char* data, size_t length, Diagnostics* diagnostics) {
  QueryList list = {0};
  Status status = query_parse(&list, options->operands[0], data, length, diagnostics);
  print_diagnostics(options, diagnostics);
  if (status == STATUS_OK) print_answers(&list);
  query_free(&list);
  return status;
}

static Status query_rows(const Options* options, const char* data, size_t length, Diagnostics* diagnostics) {
  QueryRows rows = {0};
  Status status = query_rows_read(&rows, options->operands[0], data, length, diagnostics);
  print_diagnostics(options, diagnostics);
  if (status == STATUS_OK) print_row_answers(&rows);
  query_rows_free(&rows);
  return status;
}

/* Appends standard input up to the end of the line or of the input. */
static void read_line(Text* out) {
  for (int c = getc(stdin); c != EOF; c = getc(stdin)) {
    const char byte = (char)c;
    text_add_bytes(out, &byte, 1);
    if (byte == '\n') return;
  }
}

static Status query_input(const Options* options, Diagnostics* diagnostics) {
  Text text = {0};
  QueryRows rows = {0};
  Status status;
  read_line(&text);
  if (text.length > 0 && query_rows_recognise(text.data, text.length)) {
    status = query_rows_open(&rows, "-", text.data, text.length, diagnostics);
    if (status == STATUS_OK) status = answer_stream(&rows, diagnostics);
    print_diagnostics(options, diagnostics);
  } else {
    while (!feof(stdin) && !ferror(stdin)) read_line(&text);
    status = query_lines(options, text.length > 0 ? text.data : "", text.length, diagnostics);
  }
  query_rows_free(&rows);
  text_free(&text);
  return status;
}

static Status query_file(const Options* options, Diagnostics* diagnostics) {
  char* data;
  size_t length;
  Status status = file_read_reported(options->operands[0], &data, &length, diagnostics);
  if (status != STATUS_OK)
    print_diagnostics(options, diagnostics);
  else if (query_rows_recognise(data, length))
    status = query_rows(options, data, length, diagnostics);
  else
    status = query_lines(options, data, length, diagnostics);
  memory_free(data);
  return status;
}

static ExitCode query(const Options* options) {
  Diagnostics diagnostics = {0};
  bool piped = strcmp(options->operands[0], "-") == 0;
  Status status = piped ? query_input(options, &diagnostics) : query_file(options, &diagnostics);
  diagnostics_free(&diagnostics);
  return status_exit_code(status);
}

const Verb VERB_QUERY = {
    .name = "query",
    .operands = "FILE",
    .operand_min = 1,
    .operand_max = 1,
    .summary = "distances and contacts of pairs of bodies, with derivatives, without a scene",
    .examples =
        "  echo '{\"method\": \"growth\", \"derivatives\": true,\n"
        "         \"a\": {\"type\": \"superellipsoid\", \"size\": [1, 0.5, 0.5], \"exponent\": 4},\n"
        "         \"b\": {\"type\": \"truncated_cone\", \"bottom_radius\": 0.4, \"top_radius\": 0.2, \"below\": 0.5,\n"
        "               \"above\": 0.5, \"sharpness\": 20, \"position\": [1, 1, 1]}}' > q.jsonl\n"
        "  sdrs query q.jsonl\n"
        "  echo '{\"a\": [[0,0,0],[1,0,0],[0,1,0],[0,0,-1]], \"b\": [[0,0,0.01],[1,0,1],[0,1,1],[0,0,1]],\n"
        "         \"support\": 0.02}' > pair.json\n"
        "  sdrs query pair.json\n"
        "  cat q.jsonl | sdrs query -\n",
    .details =
        "FILE holds questions, one JSON object after the other (a line each) or as a list. Answers: one JSON object\n"
        "a line. docs/queries.md says which method is for what, and names every key.\n"
        "{\"method\": \"growth\" | \"distance\" | \"witness\" | \"touch\" | \"manifold\", \"a\": shape, \"b\": shape,\n"
        "\"derivatives\": true}: a shape has its keys,\n"
        "position and quaternion; what a line leaves out is as in the line before, so a path is one line a pose.\n"
        "{\"a\": [[x,y,z],...], \"b\": [[x,y,z],...], \"support\": s}: two point sets; distance, witness_a,\n"
        "witness_b, potential, plane [nx, ny, nz, o] with A on its negative side, grad_a, grad_b (potential and\n"
        "gradients for stiffness 1). When the hulls intersect, distance is 0 and everything else null. \"law\": "
        "\"long_range\"\n"
        "instead of a support: that law's potential of two pieces. \"law\": \"ipc\", with a support: that of "
        "distances\n"
        "of corners, edges and triangles.\n"
        "For many poses: a first line {\"method\": ..., \"poses\": N, ...}, then N rows of 14 float64 (position and\n"
        "quaternion of a and of b); answers: a line that names the columns, then N rows of float64 (docs/queries.md).\n"
        "FILE - is standard input; there every row is answered when it is there, before the next one is read.\n"
        "Exit codes: 0 answered, 3 the file holds something else, 5 cannot read.\n",
    .run = query,
};

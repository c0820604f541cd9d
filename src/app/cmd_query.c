/* sdrs query FILE: where pairs of bodies meet, and how that moves with them. */
#include "app/command.h"
#include "ask/ask.h"

static void answer_all(const QueryList* list) {
  QueryMemory memory = query_memory();
  Text line = {0};
  for (int i = 0; i < list->count; i++) {
    line.length = 0;
    query_answer(&line, list, &list->items[i], &memory);
    fwrite(line.data, 1, line.length, stdout);
  }
  query_memory_free(&memory);
  text_free(&line);
}

static void answer_rows(QueryRows* rows) {
  QueryMemory memory = query_memory();
  Text line = {0};
  double* row = MEMORY_NEW(double, rows->columns);
  query_rows_header(rows, &line);
  fwrite(line.data, 1, line.length, stdout);
  for (int64_t i = 0; i < rows->count; i++) {
    query_rows_answer(rows, i, &memory, row);
    fwrite(row, sizeof *row, (size_t)rows->columns, stdout);
  }
  query_memory_free(&memory);
  text_free(&line);
  memory_free(row);
}

static Status query_lines(const Options* options, const char* data, size_t length, Diagnostics* diagnostics) {
  QueryList list = {0};
  Status status = query_parse(&list, options->operands[0], data, length, diagnostics);
  print_diagnostics(options, diagnostics);
  if (status == STATUS_OK) answer_all(&list);
  query_free(&list);
  return status;
}

static Status query_rows(const Options* options, const char* data, size_t length, Diagnostics* diagnostics) {
  QueryRows rows = {0};
  Status status = query_rows_read(&rows, options->operands[0], data, length, diagnostics);
  print_diagnostics(options, diagnostics);
  if (status == STATUS_OK) answer_rows(&rows);
  query_rows_free(&rows);
  return status;
}

static ExitCode query(const Options* options) {
  Diagnostics diagnostics = {0};
  char* data;
  size_t length;
  Status status = file_read_reported(options->operands[0], &data, &length, &diagnostics);
  if (status != STATUS_OK)
    print_diagnostics(options, &diagnostics);
  else if (query_rows_begin(data, length))
    status = query_rows(options, data, length, &diagnostics);
  else
    status = query_lines(options, data, length, &diagnostics);
  memory_free(data);
  diagnostics_free(&diagnostics);
  return status_exit_code(status);
}

const Verb VERB_QUERY = {
    .name = "query",
    .operands = "FILE",
    .operand_min = 1,
    .operand_max = 1,
    .summary = "where pairs of bodies meet, with derivatives, without a scene",
    .examples =
        "  echo '{\"method\": \"growth\", \"derivatives\": true,\n"
        "         \"a\": {\"type\": \"superellipsoid\", \"size\": [1, 0.5, 0.5], \"exponent\": 4},\n"
        "         \"b\": {\"type\": \"truncated_cone\", \"bottom_radius\": 0.4, \"top_radius\": 0.2, \"below\": 0.5,\n"
        "               \"above\": 0.5, \"sharpness\": 20, \"position\": [1, 1, 1]}}' > q.jsonl\n"
        "  sdrs query q.jsonl\n"
        "  echo '{\"a\": [[0,0,0],[1,0,0],[0,1,0],[0,0,-1]], \"b\": [[0,0,0.01],[1,0,1],[0,1,1],[0,0,1]],\n"
        "         \"support\": 0.02}' > pair.json\n"
        "  sdrs query pair.json\n",
    .details =
        "FILE holds questions, one JSON object after the other (a line each) or as a list. Answers: one JSON object\n"
        "a line. docs/queries.md says which method is for what, and names every key.\n"
        "{\"method\": \"growth\" | \"distance\" | \"witness\" | \"touch\" | \"manifold\", \"a\": shape, \"b\": shape,\n"
        "\"derivatives\": true}: a shape has its keys,\n"
        "position and quaternion; what a line leaves out is as in the line before, so a path is one line a pose.\n"
        "{\"a\": [[x,y,z],...], \"b\": [[x,y,z],...], \"support\": s}: two point sets; distance, witness_a,\n"
        "witness_b, potential, plane [nx, ny, nz, o] with A on its negative side, grad_a, grad_b (potential and\n"
        "gradients for stiffness 1). When the hulls meet, distance is 0 and everything else null. \"law\": "
        "\"long_range\"\n"
        "instead of a support: that law's potential of two pieces. \"law\": \"ipc\", with a support: that of "
        "distances\n"
        "of corners, edges and triangles.\n"
        "For many poses: a first line {\"method\": ..., \"poses\": N, ...}, then N rows of 14 float64 (position and\n"
        "quaternion of a and of b); answers: a line that names the columns, then N rows of float64 (docs/queries.md).\n"
        "Exit codes: 0 answered, 3 the file holds something else, 5 cannot read.\n",
    .run = query,
};

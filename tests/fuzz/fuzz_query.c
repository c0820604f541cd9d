/* libFuzzer target: any bytes give questions that are answered with numbers or null, or an error with a place; rows of
 * numbers behind a first line likewise. */
#include "ask/ask.h"
#include "fuzz/fuzzing.h"

static void check_item(const QueryList* list, const QueryItem* item, QueryMemory* memory) {
  Text line = {0};
  for (int k = 0; k < 2; k++) require(item->body[k] < list->body_count);
  if (item->method == QUERY_POTENTIAL) return;
  require(item->body[0] >= 0 && item->body[1] >= 0);
  query_answer(&line, list, item, memory);
  require(line.length > 2 && line.data[line.length - 1] == '\n');
  require(!strstr(line.data, "nan") && !strstr(line.data, "inf"));
  text_free(&line);
}

/* A file of rows: as many numbers an answer as its first line says, in a room of just that size. */
static void check_rows(const char* data, size_t size) {
  QueryRows rows;
  Diagnostics diagnostics = {0};
  Status status = query_rows_read(&rows, "fuzz.bin", data, size, &diagnostics);
  require((status == STATUS_OK) == (diagnostics.error_count == 0));
  if (status == STATUS_OK) {
    QueryMemory memory = query_memory_create();
    double* row = malloc(sizeof(double) * (size_t)rows.columns);
    Text line = {0};
    query_rows_header(&rows, &line);
    require(rows.columns > 0 && line.data[line.length - 1] == '\n');
    for (int64_t i = 0; i < rows.count && i < 20; i++) query_rows_answer(&rows, i, &memory, row);
    query_memory_free(&memory);
    text_free(&line);
    free(row);
  }
  query_rows_free(&rows);
  diagnostics_free(&diagnostics);
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  char* text = malloc(size + 1);
  memcpy(text, data, size);
  text[size] = '\0';
  if (query_rows_recognise(text, size)) check_rows(text, size);
  QueryList list;
  Diagnostics diagnostics = {0};
  Status status = query_parse(&list, "fuzz.jsonl", text, size, &diagnostics);
  QueryMemory memory = {.body = {-1, -1}};
  if (status == STATUS_OK) {
    require(diagnostics.error_count == 0);
    for (int i = 0; i < list.count && i < 20; i++) check_item(&list, &list.items[i], &memory);
  } else {
    require(status == STATUS_BAD_INPUT && diagnostics.error_count > 0);
  }
  query_memory_free(&memory);
  query_free(&list);
  diagnostics_free(&diagnostics);
  free(text);
  return 0;
}

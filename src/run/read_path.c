/* Reads path.csv of a recorded run. */
#include "run/writer.h"

Status run_path_open(CsvRows** rows, const char* path, const Model* model, Diagnostics* diagnostics) {
  *rows = NULL;
  return file_exists(path) ? run_columns_open(rows, path, model, RUN_INCREMENTS, diagnostics) : STATUS_OK;
}

void run_path_read_row(CsvRows* rows, int row, const Model* model, double* delta) {
  run_columns_read_row(rows, row, model, RUN_INCREMENTS, delta);
}

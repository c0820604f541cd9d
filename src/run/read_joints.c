/* Reads joints.csv of a recorded run. */
#include "run/writer.h"

Status run_coordinates_open(CsvRows** rows, const char* path, const Model* model, Diagnostics* diagnostics) {
  return run_columns_open(rows, path, model, RUN_COORDINATES, diagnostics);
}

void run_coordinates_read_row(CsvRows* rows, int row, const Model* model, double* q) {
  run_columns_read_row(rows, row, model, RUN_COORDINATES, q);
}

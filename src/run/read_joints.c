/* joints.csv of a recorded run. */
#include "run/writer.h"

static Status read_rows(RunCoordinates* run, const CsvTable* table, const char* path, const Model* model,
                        Diagnostics* diagnostics) {
  size_t count = (size_t)run->coordinate_count;
  run->time = MEMORY_NEW(double, table->row_count + 1);
  run->q = MEMORY_NEW(double, (size_t)table->row_count* count + 1);
  for (int row = 0; row < table->row_count; row++) {
    if (!csv_number(table, path, row, 0, &run->time[row], diagnostics) ||
        !run_columns_read(run->q + (size_t)row * count, row, table, path, model, RUN_COORDINATES, diagnostics))
      return STATUS_BAD_INPUT;
  }
  run->row_count = table->row_count;
  return STATUS_OK;
}

Status run_coordinates_read(RunCoordinates* run, const char* path, const Model* model, Diagnostics* diagnostics) {
  *run = (RunCoordinates){.coordinate_count = model->coordinate_count};
  CsvTable table = {0};
  Status status = csv_read(&table, path, diagnostics);
  if (status == STATUS_OK && !run_columns_fit(&table, path, model, RUN_COORDINATES, diagnostics))
    status = STATUS_BAD_INPUT;
  if (status == STATUS_OK) status = read_rows(run, &table, path, model, diagnostics);
  csv_free(&table);
  return status;
}

void run_coordinates_free(RunCoordinates* run) {
  memory_free(run->time);
  memory_free(run->q);
  *run = (RunCoordinates){0};
}

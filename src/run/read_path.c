/* path.csv of a recorded run. */
#include "run/writer.h"

static Status read_rows(RunPath* run, const CsvTable* table, const char* path, const Model* model,
                        Diagnostics* diagnostics) {
  size_t count = (size_t)run->dof_count;
  run->time = MEMORY_NEW(double, table->row_count + 1);
  run->line = MEMORY_NEW(int, table->row_count + 1);
  run->delta = MEMORY_NEW(double, (size_t)table->row_count* count + 1);
  for (int row = 0; row < table->row_count; row++) {
    if (!csv_number(table, path, row, 0, &run->time[row], diagnostics) ||
        !run_columns_read(run->delta + (size_t)row * count, row, table, path, model, RUN_INCREMENTS, diagnostics))
      return STATUS_BAD_INPUT;
    run->line[row] = table->lines[row];
  }
  run->row_count = table->row_count;
  return STATUS_OK;
}

Status run_path_read(RunPath* run, const char* path, const Model* model, Diagnostics* diagnostics) {
  *run = (RunPath){.dof_count = model->dof_count};
  if (!file_exists(path)) return STATUS_OK;
  CsvTable table = {0};
  Status status = csv_read(&table, path, diagnostics);
  if (status == STATUS_OK && !run_columns_fit(&table, path, model, RUN_INCREMENTS, diagnostics))
    status = STATUS_BAD_INPUT;
  if (status == STATUS_OK) status = read_rows(run, &table, path, model, diagnostics);
  csv_free(&table);
  return status;
}

void run_path_free(RunPath* run) {
  memory_free(run->time);
  memory_free(run->delta);
  memory_free(run->line);
  *run = (RunPath){0};
}

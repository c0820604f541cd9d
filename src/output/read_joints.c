#include <string.h>
#include "output/output.h"

/* Where the writer put each coordinate, or false with a diagnostic: the file must be of this model. */
static bool columns_fit(const CsvTable* table, const char* path, const Model* model, Diagnostics* diagnostics) {
  Text name = {0};
  int column = 1;
  bool fits = table->column_count == 1 + model->coordinate_count && strcmp(table->names[0], "time") == 0;
  for (int i = 0; i < model->link_count && fits; i++)
    for (int k = 0; k < model->links[i].coordinate_count && fits; k++, column++) {
      name.length = 0;
      text_add(&name, "%s/%s", model->links[i].name, scene_joint_coordinate_name(&model->scene->links[i].joint, k));
      fits = strcmp(table->names[column], name.data) == 0;
    }
  text_free(&name);
  if (!fits)
    diagnostics_add(diagnostics, SEVERITY_ERROR, (SourcePlace){path, 1, 0},
                    "its columns are not 'time' and the %d coordinates of the scene's joints: the run was made from "
                    "another scene",
                    model->coordinate_count);
  return fits;
}

/* The columns stand in the order of the links, the coordinates in that of their trees. */
static bool read_row(double* q, int row, const CsvTable* table, const char* path, const Model* model,
                     Diagnostics* diagnostics) {
  int column = 1;
  for (int i = 0; i < model->link_count; i++)
    for (int k = 0; k < model->links[i].coordinate_count; k++, column++)
      if (!csv_number(table, path, row, column, &q[model->links[i].coordinate_first + k], diagnostics)) return false;
  return true;
}

static Status read_rows(RunCoordinates* run, const CsvTable* table, const char* path, const Model* model,
                        Diagnostics* diagnostics) {
  size_t count = (size_t)run->coordinate_count;
  run->time = MEMORY_NEW(double, table->row_count + 1);
  run->q = MEMORY_NEW(double, (size_t)table->row_count* count + 1);
  for (int row = 0; row < table->row_count; row++) {
    if (!csv_number(table, path, row, 0, &run->time[row], diagnostics) ||
        !read_row(run->q + (size_t)row * count, row, table, path, model, diagnostics))
      return STATUS_BAD_INPUT;
  }
  run->row_count = table->row_count;
  return STATUS_OK;
}

Status run_coordinates_read(RunCoordinates* run, const char* path, const Model* model, Diagnostics* diagnostics) {
  *run = (RunCoordinates){.coordinate_count = model->coordinate_count};
  CsvTable table = {0};
  Status status = csv_read(&table, path, diagnostics);
  if (status == STATUS_OK && !columns_fit(&table, path, model, diagnostics)) status = STATUS_BAD_INPUT;
  if (status == STATUS_OK) status = read_rows(run, &table, path, model, diagnostics);
  csv_free(&table);
  return status;
}

void run_coordinates_free(RunCoordinates* run) {
  memory_free(run->time);
  memory_free(run->q);
  *run = (RunCoordinates){0};
}

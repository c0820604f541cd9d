/* Columns that joints.csv and path.csv share. The first column is the time; the numbers of every link's joint
 * follow. */
#include <assert.h>
#include <string.h>

#include "run/writer.h"

static int first_index(const ModelLink* link, RunColumns columns) {
  return columns == RUN_COORDINATES ? link->coordinate_first : link->dof_first;
}

static int number_count(const ModelLink* link, RunColumns columns) {
  return columns == RUN_COORDINATES ? link->coordinate_count : link->dof_count;
}

static int total_count(const Model* model, RunColumns columns) {
  return columns == RUN_COORDINATES ? model->coordinate_count : model->dof_count;
}

void run_columns_name(Text* name, const Model* model, int link, int k, RunColumns columns) {
  assert(link >= 0 && link < model->link_count && k >= 0);
  static const char* const turns[] = {"rx", "ry", "rz"};
  int turn = columns == RUN_INCREMENTS ? k - model->links[link].joint.scalar_count : -1;
  text_add(name, "%s/%s", model->links[link].name,
           turn >= 0 ? turns[turn] : scene_joint_coordinate_name(&model->scene->links[link].joint, k));
}

void run_add_field(Text* row, const char* field) {
  text_add(row, ",");
  csv_add_field(row, field);
}

void run_add_fields(Text* row, const char* name, const char* const* columns, int count) {
  Text field = {0};
  for (int k = 0; k < count; k++) {
    field.length = 0;
    text_add(&field, "%s/%s", name, columns[k]);
    run_add_field(row, field.data);
  }
  text_free(&field);
}

void run_add_numbers(Text* row, const double* values, int count) {
  assert(values || count == 0);
  for (int k = 0; k < count; k++) {
    text_add_bytes(row, ",", 1);
    text_add_double(row, values[k]);
  }
}

void run_columns_header(Text* row, const Model* model, RunColumns columns) {
  text_add(row, "time");
  Text name = {0};
  for (int i = 0; i < model->link_count; i++)
    for (int k = 0; k < number_count(&model->links[i], columns); k++) {
      name.length = 0;
      run_columns_name(&name, model, i, k, columns);
      run_add_field(row, name.data);
    }
  text_add(row, "\n");
  text_free(&name);
}

void run_columns_write(Text* row, double time, const double* numbers, const Model* model, RunColumns columns) {
  text_add_double(row, time);
  for (int i = 0; i < model->link_count; i++)
    run_add_numbers(row, numbers + first_index(&model->links[i], columns), number_count(&model->links[i], columns));
  text_add_bytes(row, "\n", 1);
}

bool run_columns_match_model(const CsvTable* table, const char* path, const Model* model, RunColumns columns,
                             Diagnostics* diagnostics) {
  Text name = {0};
  int column = 1, total = total_count(model, columns);
  bool fits = table->column_count == 1 + total && strcmp(table->names[0], "time") == 0;
  for (int i = 0; i < model->link_count && fits; i++)
    for (int k = 0; k < number_count(&model->links[i], columns) && fits; k++, column++) {
      name.length = 0;
      run_columns_name(&name, model, i, k, columns);
      fits = strcmp(table->names[column], name.data) == 0;
    }
  text_free(&name);
  if (!fits)
    diagnostics_add(diagnostics, SEVERITY_ERROR, (SourcePosition){path, 1, 0},
                    "the columns are not 'time' and the %d %s of the scene's joints, because the run was made from "
                    "another scene: give the scene of the run",
                    total, columns == RUN_COORDINATES ? "coordinates" : "increments");
  return fits;
}

bool run_columns_read(double* numbers, int row, const CsvTable* table, const char* path, const Model* model,
                      RunColumns columns, Diagnostics* diagnostics) {
  int column = 1;
  for (int i = 0; i < model->link_count; i++) {
    double* link_numbers = numbers + first_index(&model->links[i], columns);
    for (int k = 0; k < number_count(&model->links[i], columns); k++, column++)
      if (!csv_read_number(table, path, row, column, &link_numbers[k], diagnostics)) return false;
  }
  return true;
}

static bool rows_are_numbers(CsvRows* rows, const char* path, const Model* model, RunColumns columns,
                             Diagnostics* diagnostics) {
  double* numbers = MEMORY_NEW(double, total_count(model, columns));
  bool good = true;
  for (int row = 0; row < csv_rows_count(rows) && good; row++) {
    const CsvTable* table = csv_rows_read(rows, row);
    double time;
    good = csv_read_number(table, path, 0, 0, &time, diagnostics) &&
           run_columns_read(numbers, 0, table, path, model, columns, diagnostics);
  }
  memory_free(numbers);
  return good;
}

Status run_columns_open(CsvRows** rows, const char* path, const Model* model, RunColumns columns,
                        Diagnostics* diagnostics) {
  Status status = csv_rows_open(rows, path, diagnostics);
  if (status != STATUS_OK) return status;
  if (run_columns_match_model(csv_rows_header(*rows), path, model, columns, diagnostics) &&
      rows_are_numbers(*rows, path, model, columns, diagnostics))
    return STATUS_OK;
  csv_rows_close(*rows);
  *rows = NULL;
  return STATUS_BAD_INPUT;
}

void run_columns_read_row(CsvRows* rows, int row, const Model* model, RunColumns columns, double* numbers) {
  const CsvTable* table = csv_rows_read(rows, row);
  for (int i = 0, column = 1; i < model->link_count; i++) {
    double* link_numbers = numbers + first_index(&model->links[i], columns);
    for (int k = 0; k < number_count(&model->links[i], columns); k++)
      link_numbers[k] = csv_number_or_nan(table, 0, column++);
  }
}

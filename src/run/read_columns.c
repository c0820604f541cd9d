/* What joints.csv and path.csv share: the time, then numbers of every link's joint. */
#include <string.h>

#include "run/writer.h"

static int first_number(const ModelLink* link, RunColumns columns) {
  return columns == RUN_COORDINATES ? link->coordinate_first : link->dof_first;
}

static int number_count(const ModelLink* link, RunColumns columns) {
  return columns == RUN_COORDINATES ? link->coordinate_count : link->dof_count;
}

static void add_name(Text* name, const Model* model, int link, int k, RunColumns columns) {
  if (columns == RUN_INCREMENTS)
    run_increment_name(name, model, link, k);
  else
    text_add(name, "%s/%s", model->links[link].name, scene_joint_coordinate_name(&model->scene->links[link].joint, k));
}

bool run_columns_fit(const CsvTable* table, const char* path, const Model* model, RunColumns columns,
                     Diagnostics* diagnostics) {
  Text name = {0};
  int column = 1, total = columns == RUN_COORDINATES ? model->coordinate_count : model->dof_count;
  bool fits = table->column_count == 1 + total && strcmp(table->names[0], "time") == 0;
  for (int i = 0; i < model->link_count && fits; i++)
    for (int k = 0; k < number_count(&model->links[i], columns) && fits; k++, column++) {
      name.length = 0;
      add_name(&name, model, i, k, columns);
      fits = strcmp(table->names[column], name.data) == 0;
    }
  text_free(&name);
  if (!fits)
    diagnostics_add(diagnostics, SEVERITY_ERROR, (SourcePlace){path, 1, 0},
                    "its columns are not 'time' and the %d %s of the scene's joints: the run was made from "
                    "another scene",
                    total, columns == RUN_COORDINATES ? "coordinates" : "increments");
  return fits;
}

bool run_columns_read(double* numbers, int row, const CsvTable* table, const char* path, const Model* model,
                      RunColumns columns, Diagnostics* diagnostics) {
  int column = 1;
  for (int i = 0; i < model->link_count; i++) {
    double* own = numbers + first_number(&model->links[i], columns);
    for (int k = 0; k < number_count(&model->links[i], columns); k++, column++)
      if (!csv_number(table, path, row, column, &own[k], diagnostics)) return false;
  }
  return true;
}

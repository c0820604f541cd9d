/* Plots arbitrary columns of a CSV file. */
#include <fnmatch.h>
#include <string.h>

#include "render/plot.h"

/* Returns true if a name matches one of the comma-separated shell patterns. */
static bool matches_any(const char* name, const char* patterns) {
  char* copy = memory_copy_text(patterns);
  bool found = false;
  char* rest = copy;
  for (char* pattern; !found && (pattern = strsep(&rest, ",")) != NULL;)
    found = strcmp(pattern, name) == 0 || fnmatch(pattern, name, 0) == 0;
  memory_free(copy);
  return found;
}

/* Returns the default column of the abscissa: `time` if it exists, otherwise the first column if it is numeric,
 * otherwise -1. */
static int abscissa_column(const CsvTable* table) {
  int time = csv_find_column(table, "time");
  if (time >= 0) return time;
  return table->row_count > 0 && isfinite(csv_number_or_nan(table, 0, 0)) ? 0 : -1;
}

static bool find_column(int* column, const CsvTable* table, const char* file, const char* name,
                        Diagnostics* diagnostics) {
  if (!name) return true;
  *column = csv_find_column(table, name);
  if (*column >= 0) return true;
  diagnostics_add(diagnostics, SEVERITY_ERROR, (SourcePosition){file, 1, 0},
                  "the table has no column '%s': line 1 lists the columns", name);
  return false;
}

static const char* cell_text(const CsvTable* table, int row, int column) {
  return table->cells[(size_t)row * (size_t)table->column_count + (size_t)column];
}

static bool same_text(const CsvTable* table, int row, int other, int column) {
  return strcmp(cell_text(table, row, column), cell_text(table, other, column)) == 0;
}

/* Returns the rows with the first occurrence of each text in a column, and sets *count to their number. The caller
 * frees the array. */
static int* first_rows(const CsvTable* table, int column, int* count) {
  int* rows = MEMORY_NEW(int, table->row_count + 1);
  *count = 0;
  for (int row = 0; row < table->row_count; row++) {
    int k = 0;
    while (k < *count && !same_text(table, row, rows[k], column)) k++;
    if (k == *count) rows[(*count)++] = row;
  }
  return rows;
}

/* Returns the name of a row's group, such as "scene.dt = 0.01" for a number, or the text in column `by`. The prefix is
 * `column`, unless it is NULL. The caller frees the name. */
static char* group_name(const CsvTable* table, int by, int row, const char* column) {
  Text name = {0};
  if (column) text_add(&name, "%s, ", column);
  if (isfinite(csv_number_or_nan(table, row, by))) text_add(&name, "%s = ", table->names[by]);
  text_add(&name, "%s", cell_text(table, row, by));
  return name.data;
}

/* Adds a curve of the rows with the same text in column `by` as row `row`. */
static void add_group(PlotPanel* panel, const CsvTable* table, int x, int y, int by, int row, bool several) {
  char* name = group_name(table, by, row, several ? table->names[y] : NULL);
  PlotCurve* curve = plot_panel_add(panel, name, table->row_count);
  curve->count = 0;
  for (int i = row; i < table->row_count; i++) {
    if (!same_text(table, i, row, by)) continue;
    curve->x[curve->count] = x < 0 ? i : csv_number_or_nan(table, i, x);
    curve->y[curve->count++] = csv_number_or_nan(table, i, y);
  }
  memory_free(name);
}

/* Adds column y as one curve if by < 0, otherwise as one curve for each text in column `by`. */
static void add_curves(PlotPanel* panel, const CsvTable* table, int x, int y, int by, bool several) {
  if (by < 0) {
    plot_add_column(panel, table, x, y);
    return;
  }
  int count, *rows = first_rows(table, by, &count);
  for (int k = 0; k < count; k++) add_group(panel, table, x, y, by, rows[k], several);
  memory_free(rows);
}

/* Columns to plot. x: abscissa, or -1 for the row number; by: column of the groups, or -1. */
typedef struct {
  const char* patterns;
  int x, by;
} ColumnSelection;

static bool is_selected(const CsvTable* table, int column, const ColumnSelection* selection) {
  return column != selection->x && column != selection->by && matches_any(table->names[column], selection->patterns);
}

/* Returns the label of the y axis, the name of a single column or the common unit of several. The caller frees it. */
static char* make_y_label(const CsvTable* table, const char* name, const ColumnSelection* selection, int count) {
  const char *first = NULL, *unit = NULL;
  for (int column = 0; column < table->column_count; column++) {
    if (!is_selected(table, column, selection)) continue;
    const char* column_unit = run_column_unit(name, table->names[column]);
    if (first && (!column_unit || !unit || strcmp(column_unit, unit) != 0)) return memory_copy_text("");
    first = table->names[column];
    unit = column_unit;
  }
  return plot_label(count == 1 && first ? first : "", unit);
}

static void fill_panel(PlotPanel* panel, const CsvTable* table, const char* name, const ColumnSelection* selection,
                       const PlotOptions* options) {
  int count = 0, x = selection->x;
  for (int column = 0; column < table->column_count; column++) count += is_selected(table, column, selection);
  char* x_label = x < 0 ? memory_copy_text("row") : plot_label(table->names[x], run_column_unit(name, table->names[x]));
  char* y_label = make_y_label(table, name, selection, count);
  plot_panel_start(panel, options->title ? options->title : name, options->x_label ? options->x_label : x_label,
                   options->y_label ? options->y_label : y_label, options->log_y);
  panel->log_x = options->log_x;
  panel->alternate = selection->by >= 0;
  for (int column = 0; column < table->column_count; column++)
    if (is_selected(table, column, selection)) add_curves(panel, table, x, column, selection->by, count > 1);
  memory_free(x_label);
  memory_free(y_label);
}

Status plot_columns(const char* path, const char* file, const char* patterns, const PlotOptions* options,
                    Diagnostics* diagnostics) {
  CsvTable table = {0};
  PlotPanel panel = {0};
  const char* name = strrchr(file, '/') ? strrchr(file, '/') + 1 : file;
  Status status = csv_read(&table, file, diagnostics);
  if (status == STATUS_OK) {
    ColumnSelection selection = {patterns, abscissa_column(&table), -1};
    bool found = find_column(&selection.x, &table, file, options->x, diagnostics) &&
                 find_column(&selection.by, &table, file, options->by, diagnostics);
    status = found ? STATUS_OK : STATUS_BAD_INPUT;
    if (found) fill_panel(&panel, &table, name, &selection, options);
  }
  if (status == STATUS_OK && !plot_panel_visible(&panel))
    status = plot_report_empty(file,
                               "no column matches --columns, or no row has finite numbers in a matching column and in "
                               "the column of --x: line 1 of the file lists the columns",
                               diagnostics);
  if (status == STATUS_OK) status = plot_draw(path, &panel, 1, options, diagnostics);
  plot_panel_free(&panel);
  csv_free(&table);
  return status;
}

/* CSV files of run folders, in the order in which they are searched. */
static const char* const TABLES[] = {"trajectory.csv",  "joints.csv",     "solver.csv", "contacts.csv",
                                     "convergence.csv", "velocities.csv", "forces.csv", "reactions.csv",
                                     "pressure.csv",    "closures.csv",   "imu.csv",    "design.csv",
                                     "choices.csv",     "windows.csv",    "errors.csv", "path.csv"};
enum { TABLE_COUNT = sizeof TABLES / sizeof TABLES[0] };

/* Returns true if a column other than `time` matches the shell pattern. */
static bool has_column(const CsvTable* table, const char* pattern) {
  for (int column = 0; column < table->column_count; column++)
    if (strcmp(table->names[column], "time") != 0 && matches_any(table->names[column], pattern)) return true;
  return false;
}

/* Returns the number of comma-separated patterns that match a column. Appends the other patterns, quoted and separated
 * by commas, to `missing` unless it is NULL. */
static int count_matched(const CsvTable* table, const char* patterns, Text* missing) {
  char *copy = memory_copy_text(patterns), *rest = copy;
  int count = 0;
  for (char* pattern; (pattern = strsep(&rest, ",")) != NULL;) {
    bool found = has_column(table, pattern);
    count += found;
    if (!found && missing) text_add(missing, "%s'%s'", missing->length > 0 ? ", " : "", pattern);
  }
  memory_free(copy);
  return count;
}

/* Returns the index of the first table in which most patterns match a column, or -1. Sets matches[TABLE_COUNT] to the
 * number of matches in each table. Appends the names of the existing tables to `existing`. */
static int find_table(const char* folder, const char* patterns, int* matches, Text* existing, Text* missing) {
  int best = -1, most = 0;
  for (int i = 0; i < TABLE_COUNT; i++) {
    char* path = file_join(folder, TABLES[i]);
    Diagnostics quiet = {0};
    CsvTable table = {0};
    if (file_exists(path) && csv_read(&table, path, &quiet) == STATUS_OK) {
      Text without = {0};
      int count = count_matched(&table, patterns, &without);
      text_add(existing, "%s%s", existing->length > 0 ? ", " : "", TABLES[i]);
      matches[i] = count;
      if (count > most) {
        best = i;
        most = count;
        text_free(missing);
        *missing = without;
      } else {
        text_free(&without);
      }
    }
    csv_free(&table);
    diagnostics_free(&quiet);
    memory_free(path);
  }
  return best;
}

char* plot_find_file(const char* folder, const char* patterns, Diagnostics* diagnostics) {
  int matches[TABLE_COUNT] = {0};
  Text others = {0}, existing = {0}, missing = {0};
  int best = find_table(folder, patterns, matches, &existing, &missing);
  for (int i = 0; i < TABLE_COUNT; i++)
    if (i != best && matches[i] > 0) text_add(&others, "%s%s", others.length > 0 ? ", " : "", TABLES[i]);
  char* path = best < 0 ? NULL : file_join(folder, TABLES[best]);
  SourcePosition place = {folder, 0, 0};
  if (!path)
    diagnostics_add(
        diagnostics, SEVERITY_ERROR, place,
        "no table of the run has a column '%s' (%s): line 1 of a table lists its columns; simulation.output "
        "says which tables are written",
        patterns, existing.length > 0 ? existing.data : "there is none");
  else if (others.length == 0)
    diagnostics_add(diagnostics, SEVERITY_NOTE, place, "the plotted columns are from %s", TABLES[best]);
  else
    diagnostics_add(diagnostics, SEVERITY_NOTE, place,
                    "the plotted columns are from %s; %s has matching columns too: give the file instead of the folder "
                    "to plot them",
                    TABLES[best], others.data);
  if (path && missing.length > 0)
    diagnostics_add(diagnostics, SEVERITY_WARNING, place,
                    "%s has no column %s, which is not plotted: one plot shows columns of one file", TABLES[best],
                    missing.data);
  text_free(&others);
  text_free(&existing);
  text_free(&missing);
  return path;
}

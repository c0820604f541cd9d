/* Plots of arbitrary columns of a CSV file. */
#include <fnmatch.h>
#include <string.h>

#include "render/plot.h"

/* Returns true if the name matches one of the comma-separated shell patterns. */
static bool in_list(const char* name, const char* patterns) {
  char* copy = memory_text(patterns);
  bool found = false;
  char* rest = copy;
  for (char* pattern; !found && (pattern = strsep(&rest, ",")) != NULL;)
    found = strcmp(pattern, name) == 0 || fnmatch(pattern, name, 0) == 0;
  memory_free(copy);
  return found;
}

/* Returns the column of the abscissa: `time`, else the first column if it is numeric, else -1. */
static int column_across(const CsvTable* table) {
  int time = csv_column(table, "time");
  if (time >= 0) return time;
  return table->row_count > 0 && isfinite(csv_value(table, 0, 0)) ? 0 : -1;
}

static bool find_column(int* column, const CsvTable* table, const char* file, const char* name,
                        Diagnostics* diagnostics) {
  if (!name) return true;
  *column = csv_column(table, name);
  if (*column >= 0) return true;
  diagnostics_add(diagnostics, SEVERITY_ERROR, (SourcePlace){file, 1, 0}, "no column '%s'", name);
  return false;
}

static const char* cell_text(const CsvTable* table, int row, int column) {
  return table->cells[(size_t)row * (size_t)table->column_count + (size_t)column];
}

static bool same_text(const CsvTable* table, int row, int other, int column) {
  return strcmp(cell_text(table, row, column), cell_text(table, other, column)) == 0;
}

/* Rows with the first occurrence of each text in the column. Owned by the caller. */
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

/* Name of a group: "scene.dt = 0.01" for numbers, else the text; preceded by `column` if not NULL. */
static char* group_name(const CsvTable* table, int by, int row, const char* column) {
  Text name = {0};
  if (column) text_add(&name, "%s, ", column);
  if (isfinite(csv_value(table, row, by))) text_add(&name, "%s = ", table->names[by]);
  text_add(&name, "%s", cell_text(table, row, by));
  return name.data;
}

/* Adds the points of the rows with the same text in `by` as `row`. */
static void add_group(PlotPanel* panel, const CsvTable* table, int x, int y, int by, int row, bool several) {
  char* name = group_name(table, by, row, several ? table->names[y] : NULL);
  PlotCurve* curve = plot_panel_add(panel, name, table->row_count);
  curve->count = 0;
  for (int i = row; i < table->row_count; i++) {
    if (!same_text(table, i, row, by)) continue;
    curve->x[curve->count] = x < 0 ? i : csv_value(table, i, x);
    curve->y[curve->count++] = csv_value(table, i, y);
  }
  memory_free(name);
}

/* Adds a column as one curve, or as one per text in column `by`. */
static void add_curves(PlotPanel* panel, const CsvTable* table, int x, int y, int by, bool several) {
  if (by < 0) {
    plot_add_column(panel, table, x, y);
    return;
  }
  int count, *rows = first_rows(table, by, &count);
  for (int k = 0; k < count; k++) add_group(panel, table, x, y, by, rows[k], several);
  memory_free(rows);
}

/* Selected columns; -1: row numbers, no groups. */
typedef struct {
  const char* patterns;
  int x, by;
} Wanted;

static bool is_wanted(const CsvTable* table, int column, const Wanted* wanted) {
  return column != wanted->x && column != wanted->by && in_list(table->names[column], wanted->patterns);
}

/* Label of the y axis: the name of a single column; for several only their common unit. */
static char* y_label_of(const CsvTable* table, const char* name, const Wanted* wanted, int count) {
  const char *first = NULL, *unit = NULL;
  for (int column = 0; column < table->column_count; column++) {
    if (!is_wanted(table, column, wanted)) continue;
    const char* own = run_unit(name, table->names[column]);
    if (first && (!own || !unit || strcmp(own, unit) != 0)) return memory_text("");
    first = table->names[column];
    unit = own;
  }
  return plot_label(count == 1 && first ? first : "", unit);
}

static void fill_panel(PlotPanel* panel, const CsvTable* table, const char* name, const Wanted* wanted,
                       const PlotOptions* options) {
  int count = 0, x = wanted->x;
  for (int column = 0; column < table->column_count; column++) count += is_wanted(table, column, wanted);
  char* x_label = x < 0 ? memory_text("row") : plot_label(table->names[x], run_unit(name, table->names[x]));
  char* y_label = y_label_of(table, name, wanted, count);
  plot_panel_start(panel, options->title ? options->title : name, options->x_label ? options->x_label : x_label,
                   options->y_label ? options->y_label : y_label, options->log_y);
  panel->log_x = options->log_x;
  panel->alternate = wanted->by >= 0;
  for (int column = 0; column < table->column_count; column++)
    if (is_wanted(table, column, wanted)) add_curves(panel, table, x, column, wanted->by, count > 1);
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
    Wanted wanted = {patterns, column_across(&table), -1};
    bool found = find_column(&wanted.x, &table, file, options->x, diagnostics) &&
                 find_column(&wanted.by, &table, file, options->by, diagnostics);
    status = found ? STATUS_OK : STATUS_BAD_INPUT;
    if (found) fill_panel(&panel, &table, name, &wanted, options);
  }
  if (status == STATUS_OK && !plot_panel_visible(&panel))
    status = plot_refuse_empty(file,
                               "no column matches --columns, or no row has a finite number in a matching column and in "
                               "that of --x; line 1 of the file lists its columns",
                               diagnostics);
  if (status == STATUS_OK) status = plot_draw(path, &panel, 1, options, diagnostics);
  plot_panel_free(&panel);
  csv_free(&table);
  return status;
}

/* Tables of run folders, in the order in which they are searched. */
static const char* const TABLES[] = {"trajectory.csv",  "joints.csv",     "solver.csv", "contacts.csv",
                                     "convergence.csv", "velocities.csv", "forces.csv", "reactions.csv",
                                     "pressure.csv",    "closures.csv",   "imu.csv",    "design.csv",
                                     "choices.csv",     "windows.csv",    "errors.csv", "path.csv"};
enum { TABLE_COUNT = sizeof TABLES / sizeof TABLES[0] };

/* Returns true if the table has a column other than `time` with this name or matching this shell pattern. */
static bool has_column(const CsvTable* table, const char* pattern) {
  for (int column = 0; column < table->column_count; column++)
    if (strcmp(table->names[column], "time") != 0 && in_list(table->names[column], pattern)) return true;
  return false;
}

/* Returns how many of the patterns between commas have a column in the table. missing: the others, between commas, with
 * a comma in front of each (NULL: not wanted). */
static int count_matched(const CsvTable* table, const char* patterns, Text* missing) {
  char *copy = memory_text(patterns), *rest = copy;
  int count = 0;
  for (char* pattern; (pattern = strsep(&rest, ",")) != NULL;) {
    bool found = has_column(table, pattern);
    count += found;
    if (!found && missing) text_add(missing, "%s'%s'", missing->length > 0 ? ", " : "", pattern);
  }
  memory_free(copy);
  return count;
}

/* Counts the matches in each table of the folder, and writes the names of those that exist to `existing`. matches:
 * (TABLE_COUNT). Returns the first with most matches; -1: none. */
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

char* plot_file_with(const char* folder, const char* patterns, Diagnostics* diagnostics) {
  int matches[TABLE_COUNT] = {0};
  Text others = {0}, existing = {0}, missing = {0};
  int best = find_table(folder, patterns, matches, &existing, &missing);
  for (int i = 0; i < TABLE_COUNT; i++)
    if (i != best && matches[i] > 0) text_add(&others, "%s%s", others.length > 0 ? ", " : "", TABLES[i]);
  char* path = best < 0 ? NULL : file_join(folder, TABLES[best]);
  SourcePlace place = {folder, 0, 0};
  if (!path)
    diagnostics_add(
        diagnostics, SEVERITY_ERROR, place,
        "no table of the run has a column '%s' (%s): line 1 of a table lists its columns; simulation.output "
        "says which tables are written",
        patterns, existing.length > 0 ? existing.data : "there is none");
  else if (others.length == 0)
    diagnostics_add(diagnostics, SEVERITY_NOTE, place, "the columns are those of %s", TABLES[best]);
  else
    diagnostics_add(diagnostics, SEVERITY_NOTE, place,
                    "the columns are those of %s; such columns are in %s too: to plot these, name the file",
                    TABLES[best], others.data);
  if (path && missing.length > 0)
    diagnostics_add(diagnostics, SEVERITY_WARNING, place, "%s has no column %s: only columns of one file are plotted",
                    TABLES[best], missing.data);
  text_free(&others);
  text_free(&existing);
  text_free(&missing);
  return path;
}

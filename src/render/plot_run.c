/* Plots the CSV files of a run folder by the entries of the table PLOTS. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "render/plot.h"

/* Largest number of curves per panel. If there are more curves, the largest are shown. */
enum { CURVES_MAX = 12 };

char* plot_label(const char* name, const char* unit) {
  Text text = {0};
  text_add(&text, "%s", name);
  if (unit && *unit) text_add(&text, "%s[%s]", *name ? " " : "", unit);
  return text.data ? text.data : memory_copy_text("");
}

/* ---------------------------------------------------------------- columns of a table */

void plot_add_column(PlotPanel* panel, const CsvTable* table, int x, int y) {
  PlotCurve* curve = plot_panel_add(panel, table->names[y], table->row_count);
  for (int i = 0; i < table->row_count; i++) {
    curve->x[i] = x < 0 ? i : csv_number_or_nan(table, i, x);
    curve->y[i] = csv_number_or_nan(table, i, y);
  }
}

static bool add_named_column(PlotPanel* panel, const CsvTable* table, const char* name) {
  int column = csv_find_column(table, name);
  if (column >= 0) plot_add_column(panel, table, 0, column);
  return column >= 0;
}

/* ---------------------------------------------------------------- plots of solver.csv and contacts.csv */

static bool start_energy(PlotPanel* panel, const CsvTable* table) {
  int time = csv_find_column(table, "time");
  plot_panel_start(panel, "energy", "time [s]", "energy [J]", false);
  static const char* const names[] = {"kinetic", "potential", "total"};
  for (int i = 0; i < 3; i++) {
    int column = csv_find_column(table, names[i]);
    if (time < 0 || column < 0) return false;
    plot_add_column(panel, table, time, column);
  }
  return true;
}

static bool start_iterations(PlotPanel* panel, const CsvTable* table) {
  int time = csv_find_column(table, "time"), iterations = csv_find_column(table, "iterations");
  int pairs = csv_find_column(table, "active_pairs");
  plot_panel_start(panel, "Newton iterations, pairs in contact", "time [s]", "number", false);
  if (time < 0 || iterations < 0 || pairs < 0) return false;
  plot_add_column(panel, table, time, iterations);
  plot_add_column(panel, table, time, pairs);
  return true;
}

/* A pair of links in contacts.csv, with its largest force and its number of rows. */
typedef struct {
  const char *a, *b;
  double largest;
  int rows;
} PairCurve;

typedef struct {
  const CsvTable* table;
  int time, a, b, gap, force[3], moment[3]; /* column indices; -1 for a moment that was not recorded */
} ContactColumns;

/* Plotted quantity of a pair of links. */
typedef enum { CONTACT_GAP, CONTACT_FORCE, CONTACT_MOMENT } ContactQuantity;

static bool find_contact_columns(ContactColumns* c, const CsvTable* table) {
  *c = (ContactColumns){.table = table};
  c->time = csv_find_column(table, "time");
  c->a = csv_find_column(table, "a");
  c->b = csv_find_column(table, "b");
  c->gap = csv_find_column(table, "gap");
  for (int k = 0; k < 3; k++) c->force[k] = csv_find_column(table, (const char*[]){"fx", "fy", "fz"}[k]);
  for (int k = 0; k < 3; k++) c->moment[k] = csv_find_column(table, (const char*[]){"mx", "my", "mz"}[k]);
  return c->time >= 0 && c->a >= 0 && c->b >= 0 && c->gap >= 0 && c->force[0] >= 0 && c->force[1] >= 0 &&
         c->force[2] >= 0;
}

static double contact_vector_size(const ContactColumns* c, const int column[3], int row) {
  double sum = 0;
  for (int k = 0; k < 3; k++)
    sum += csv_number_or_nan(c->table, row, column[k]) * csv_number_or_nan(c->table, row, column[k]);
  return sqrt(sum);
}

static double contact_force_size(const ContactColumns* c, int row) { return contact_vector_size(c, c->force, row); }

static double contact_number(const ContactColumns* c, ContactQuantity what, int row) {
  return what == CONTACT_GAP     ? csv_number_or_nan(c->table, row, c->gap)
         : what == CONTACT_FORCE ? contact_force_size(c, row)
                                 : contact_vector_size(c, c->moment, row);
}

static int compare_pairs(const void* left, const void* right) {
  const PairCurve *x = left, *y = right;
  if (x->largest != y->largest) return x->largest > y->largest ? -1 : 1;
  int order = strcmp(x->a, y->a);
  return order ? order : strcmp(x->b, y->b);
}

/* Returns all pairs of links in descending order of their largest force. The caller frees the array. */
static PairCurve* list_pairs(const ContactColumns* c, int* count) {
  PairCurve* pairs = MEMORY_NEW(PairCurve, c->table->row_count + 1);
  *count = 0;
  for (int row = 0; row < c->table->row_count; row++) {
    const char *a = csv_cell(c->table, row, c->a), *b = csv_cell(c->table, row, c->b);
    int i = 0;
    while (i < *count && (strcmp(pairs[i].a, a) != 0 || strcmp(pairs[i].b, b) != 0)) i++;
    if (i == *count) pairs[(*count)++] = (PairCurve){a, b, 0, 0};
    pairs[i].largest = fmax(pairs[i].largest, contact_force_size(c, row));
    pairs[i].rows++;
  }
  qsort(pairs, (size_t)*count, sizeof *pairs, compare_pairs);
  return pairs;
}

/* Adds the curve of a pair of links. Rows more than 1.5 times the shortest interval apart mean that the pair separated,
 * which interrupts the curve. */
static void add_pair(PlotPanel* panel, const ContactColumns* c, const PairCurve* pair, ContactQuantity what) {
  Text name = {0};
  text_add(&name, "%s, %s", pair->a, pair->b);
  PlotCurve* curve = plot_panel_add(panel, name.data, 2 * pair->rows);
  double step = INFINITY, last = -INFINITY;
  int count = 0;
  for (int pass = 0; pass < 2; pass++) {
    last = -INFINITY;
    for (int row = 0; row < c->table->row_count; row++) {
      if (strcmp(csv_cell(c->table, row, c->a), pair->a) != 0 || strcmp(csv_cell(c->table, row, c->b), pair->b) != 0)
        continue;
      double time = csv_number_or_nan(c->table, row, c->time);
      if (pass == 0) {
        step = fmin(step, time - last);
      } else {
        if (isfinite(last) && time - last > 1.5 * step) curve->x[count] = last, curve->y[count++] = (double)NAN;
        curve->x[count] = time;
        curve->y[count++] = contact_number(c, what, row);
      }
      last = time;
    }
  }
  curve->count = count;
  text_free(&name);
}

static bool start_pairs(PlotPanel* panel, const CsvTable* table, ContactQuantity what) {
  static const char* const TITLES[] = {"gaps of touching pairs", "contact forces",
                                       "contact moments about their points"};
  static const char* const LABELS[] = {"gap [m]", "force [N]", "moment [N m]"};
  ContactColumns c;
  if (!find_contact_columns(&c, table)) return false;
  if (what == CONTACT_MOMENT && c.moment[0] < 0) return true; /* moments were not recorded */
  int count;
  PairCurve* pairs = list_pairs(&c, &count);
  int shown = count < CURVES_MAX ? count : CURVES_MAX;
  Text title = {0};
  text_add(&title, "%s", TITLES[what]);
  if (shown < count) text_add(&title, " (%d of %d pairs, the most loaded)", shown, count);
  plot_panel_start(panel, title.data, "time [s]", LABELS[what], what == CONTACT_GAP);
  for (int i = 0; i < shown; i++) add_pair(panel, &c, &pairs[i], what);
  text_free(&title);
  memory_free(pairs);
  return true;
}

static bool start_force(PlotPanel* panel, const CsvTable* table) { return start_pairs(panel, table, CONTACT_FORCE); }

static bool start_gap_panel(PlotPanel* panel, const CsvTable* table) { return start_pairs(panel, table, CONTACT_GAP); }

static bool start_moment(PlotPanel* panel, const CsvTable* table) { return start_pairs(panel, table, CONTACT_MOMENT); }

/* ---------------------------------------------------------------- plots of velocities.csv and forces.csv */

/* A column that may be plotted, and its largest magnitude. */
typedef struct {
  int column;
  double largest;
} ColumnSize;

static int compare_sizes(const void* left, const void* right) {
  const ColumnSize *x = left, *y = right;
  if (x->largest != y->largest) return x->largest > y->largest ? -1 : 1;
  return x->column - y->column;
}

/* Returns the norm of the values in `width` consecutive columns of a row, from `column` on. */
static double size_at(const CsvTable* table, int row, int column, int width) {
  double sum = 0;
  for (int k = 0; k < width; k++)
    sum += csv_number_or_nan(table, row, column + k) * csv_number_or_nan(table, row, column + k);
  return sqrt(sum);
}

/* Returns the columns whose name ends in `end` and that are not all zero, in descending order of size. end NULL: all
 * columns except the time. width: number of consecutive columns of a vector. The caller frees the array. */
static ColumnSize* list_columns(const CsvTable* table, const char* end, int width, int* count) {
  ColumnSize* list = MEMORY_NEW(ColumnSize, table->column_count + 1);
  *count = 0;
  for (int column = 1; column + width <= table->column_count; column++) {
    size_t length = strlen(table->names[column]), tail = end ? strlen(end) : 0;
    if (length < tail || (end && strcmp(table->names[column] + length - tail, end) != 0)) continue;
    ColumnSize one = {column, 0};
    for (int row = 0; row < table->row_count; row++)
      one.largest = fmax(one.largest, size_at(table, row, column, width));
    if (one.largest > 0) list[(*count)++] = one;
  }
  qsort(list, (size_t)*count, sizeof *list, compare_sizes);
  return list;
}

/* Starts a panel, whose title gives the number of shown curves if they are not all. */
static void start_largest(PlotPanel* panel, const char* what, const char* y_label, int shown, int count) {
  Text title = {0};
  text_add(&title, "%s", what);
  if (shown < count) text_add(&title, " (%d of %d, the largest)", shown, count);
  plot_panel_start(panel, title.data, "time [s]", y_label, false);
  text_free(&title);
}

/* Adds a curve of the norm of a vector. column: its first component, named `name/xx`. */
static void add_vector_size(PlotPanel* panel, const CsvTable* table, int time, int column) {
  Text name = {0};
  text_add(&name, "%.*s", (int)strlen(table->names[column]) - 3, table->names[column]);
  PlotCurve* curve = plot_panel_add(panel, name.data, table->row_count);
  text_free(&name);
  for (int row = 0; row < table->row_count; row++) {
    curve->x[row] = csv_number_or_nan(table, row, time);
    curve->y[row] = size_at(table, row, column, 3);
  }
}

/* Fills a panel with the largest columns whose names end in `ending`. width: number of components; the curve of a
 * vector is its norm. Returns false if there is no time column. */
static bool start_columns(PlotPanel* panel, const CsvTable* table, const char* ending, int width, const char* title,
                          const char* label) {
  int count, time = csv_find_column(table, "time");
  if (time < 0) return false;
  ColumnSize* list = list_columns(table, ending, width, &count);
  int shown = count < CURVES_MAX ? count : CURVES_MAX;
  start_largest(panel, title, label, shown, count);
  for (int i = 0; i < shown; i++) (width > 1 ? add_vector_size : plot_add_column)(panel, table, time, list[i].column);
  memory_free(list);
  return true;
}

static bool start_speeds(PlotPanel* panel, const CsvTable* table) {
  return start_columns(panel, table, "/vx", 3, "speeds of centres of mass", "speed [m/s]");
}

static bool start_joint_forces(PlotPanel* panel, const CsvTable* table) {
  return start_columns(panel, table, NULL, 1, "forces along joints", "N, N m");
}

/* Fills a panel with the forces of closures and couplings. */
static bool start_closures(PlotPanel* panel, const CsvTable* table) {
  return start_columns(panel, table, "/fx", 3, "forces of closures", "force [N]");
}

/* Smallest range of a z coordinate that is drawn, relative to the largest range of all coordinates of centres of
 * pressure. */
#define RANGE_RATIO_MIN 0.01

/* Returns the difference of the largest and the smallest finite value of a column, or a negative number if there is
 * none. */
static double column_range(const CsvTable* table, int column) {
  double low = INFINITY, high = -INFINITY;
  for (int row = 0; row < table->row_count; row++) {
    double value = csv_number_or_nan(table, row, column);
    if (!isfinite(value)) continue;
    low = fmin(low, value);
    high = fmax(high, value);
  }
  return high >= low ? high - low : -1;
}

/* Returns 'x', 'y' or 'z' for a coordinate of a centre of pressure, and 0 for other columns. */
static char pressure_axis(const CsvTable* table, int column) {
  const char *name = table->names[column], *slash = strrchr(name, '/');
  bool is = slash && slash[1] >= 'x' && slash[1] <= 'z' && !slash[2];
  return is ? slash[1] : (char)0;
}

/* Fills a panel with the centre of pressure of each link along x and y, and along z where it varies, as on a vertical
 * face. */
static bool start_pressure(PlotPanel* panel, const CsvTable* table) {
  int time = csv_find_column(table, "time"), count = 0, shown = 0;
  double most = 0;
  if (time < 0) return false;
  for (int column = 1; column < table->column_count; column++)
    if (pressure_axis(table, column)) most = fmax(most, column_range(table, column));
  plot_panel_start(panel, "", "time [s]", "x, y, z [m]", false);
  for (int column = 1; column < table->column_count; column++) {
    char axis = pressure_axis(table, column);
    double range = axis ? column_range(table, column) : -1;
    if (range < 0 || (axis == 'z' && !(range > RANGE_RATIO_MIN * most))) continue;
    count++;
    if (shown < CURVES_MAX) plot_add_column(panel, table, time, column), shown++;
  }
  Text title = {0};
  text_add(&title, "centres of pressure");
  if (shown < count) text_add(&title, " (%d of %d curves, the first)", shown, count);
  memory_free(panel->title);
  panel->title = title.data;
  return true;
}

/* ---------------------------------------------------------------- plots of errors.csv (sdrs identify) */

static bool start_error(PlotPanel* panel, const CsvTable* table, const char* what, const char* title,
                        const char* label) {
  int time = csv_find_column(table, "time");
  plot_panel_start(panel, title, "time since a run began [s]", label, false);
  static const char* const width[2] = {"training", "validation"};
  for (int i = 0; i < 2; i++) {
    Text name = {0};
    text_add(&name, "%s_%s", width[i], what);
    int column = csv_find_column(table, name.data);
    text_free(&name);
    if (time < 0 || column < 0) return false;
    plot_add_column(panel, table, time, column);
  }
  return true;
}

static bool start_position_error(PlotPanel* panel, const CsvTable* table) {
  return start_error(panel, table, "position", "mean distance to measured positions", "m");
}

static bool start_rotation_error(PlotPanel* panel, const CsvTable* table) {
  return start_error(panel, table, "rotation", "mean angle to measured rotations", "rad");
}

static bool start_joint_error(PlotPanel* panel, const CsvTable* table) {
  return start_error(panel, table, "coordinate", "mean distance to measured coordinates", "m or rad");
}

/* ---------------------------------------------------------------- plots of convergence.csv */

/* Fills a panel with the loss and its terms. Columns of convergence.csv: iteration, loss, terms ..., grad_design, ...
 */
static bool start_convergence(PlotPanel* panel, const CsvTable* table) {
  plot_panel_start(panel, "loss and its terms", "iteration", "loss", true);
  int end = csv_find_column(table, "grad_design");
  if (end < 2 || strcmp(table->names[0], "iteration") != 0) return false;
  /* with a single term, which equals the loss, only the loss is drawn */
  for (int column = 1; column < (end == 3 ? 2 : end); column++)
    if (panel->curve_count < CURVES_MAX) plot_add_column(panel, table, 0, column);
  return true;
}

static bool start_gradients(PlotPanel* panel, const CsvTable* table) {
  plot_panel_start(panel, "gradient norms", "iteration", "norm", true);
  return add_named_column(panel, table, "grad_design") && add_named_column(panel, table, "grad_control");
}

static bool start_steps(PlotPanel* panel, const CsvTable* table) {
  plot_panel_start(panel, "largest change of a variable", "iteration", "change (m, rad, ...)", true);
  return add_named_column(panel, table, "step_design") && add_named_column(panel, table, "step_control");
}

/* ---------------------------------------------------------------- the table */

static const struct {
  const char *name, *file;
  bool (*start)(PlotPanel* panel, const CsvTable* table); /* returns false if a column is missing */
} PLOTS[] = {
    {"energy", "solver.csv", start_energy},
    {"forces", "contacts.csv", start_force},
    {"gap", "contacts.csv", start_gap_panel},
    {"iterations", "solver.csv", start_iterations},
    {"convergence", "convergence.csv", start_convergence},
    {"gradients", "convergence.csv", start_gradients},
    {"steps", "convergence.csv", start_steps},
    {"speeds", "velocities.csv", start_speeds},
    {"joint-forces", "forces.csv", start_joint_forces},
    {"closures", "closures.csv", start_closures},
    {"pressure", "pressure.csv", start_pressure},
    {"contact-moments", "contacts.csv", start_moment},
    {"position-error", "errors.csv", start_position_error},
    {"rotation-error", "errors.csv", start_rotation_error},
    {"joint-error", "errors.csv", start_joint_error},
};
enum { PLOT_COUNT = sizeof PLOTS / sizeof PLOTS[0] };

const char* plot_name(int index) {
  assert(index >= 0);
  return index < PLOT_COUNT ? PLOTS[index].name : NULL;
}

/* Returns the remedy for a missing file of a run. */
static const char* source_of_file(const char* file) {
  static const struct {
    const char *file, *remedy;
  } SOURCES[] = {{"convergence.csv", "give the output folder of sdrs optimize"},
                 {"errors.csv", "give the output folder of sdrs identify"},
                 {"solver.csv", "give the output folder of sdrs simulate"}};
  for (size_t k = 0; k < sizeof SOURCES / sizeof SOURCES[0]; k++)
    if (strcmp(SOURCES[k].file, file) == 0) return SOURCES[k].remedy;
  return "set simulation.output to write it";
}

static Status start_panel(PlotPanel* panel, int plot, const char* folder, Diagnostics* diagnostics) {
  char* path = file_join(folder, PLOTS[plot].file);
  CsvTable table = {0};
  if (!file_exists(path)) {
    diagnostics_add(diagnostics, SEVERITY_ERROR, (SourcePosition){folder, 0, 0},
                    "plot '%s' needs %s, which is missing: %s", PLOTS[plot].name, PLOTS[plot].file,
                    source_of_file(PLOTS[plot].file));
    memory_free(path);
    return STATUS_BAD_INPUT;
  }
  Status status = csv_read(&table, path, diagnostics);
  if (status == STATUS_OK && !PLOTS[plot].start(panel, &table)) {
    diagnostics_add(diagnostics, SEVERITY_ERROR, (SourcePosition){path, 1, 0},
                    "columns that plot '%s' needs are missing: write the file again with this version of `sdrs "
                    "simulate` or `sdrs optimize`",
                    PLOTS[plot].name);
    status = STATUS_BAD_INPUT;
  }
  csv_free(&table);
  memory_free(path);
  return status;
}

bool plot_panel_visible(const PlotPanel* panel) {
  for (int i = 0; i < panel->curve_count; i++)
    if (plot_curve_visible(panel, &panel->curves[i])) return true;
  return false;
}

Status plot_report_empty(const char* place, const char* missing, Diagnostics* diagnostics) {
  diagnostics_add(diagnostics, SEVERITY_ERROR, (SourcePosition){place, 0, 0}, "nothing to plot: %s", missing);
  return STATUS_BAD_INPUT;
}

/* Selects a linear axis if there are negative values, unless the user requested a logarithmic axis (`requested`). */
static void select_linear_for_negative(PlotPanel* panel, bool requested) {
  for (int c = 0; c < panel->curve_count && !requested; c++)
    for (int i = 0; i < panel->curves[c].count; i++)
      if (panel->curves[c].y[i] < 0) panel->log_y = false;
  if (requested) panel->log_y = true;
}

/* Appends the curves of a further folder to the panel of the first one. */
static void append_panel(PlotPanel* panel, PlotPanel* other, const char* folder) {
  bool first = panel->title == NULL;
  for (int c = 0; c < other->curve_count; c++) {
    Text name = {0};
    text_add(&name, "%s: %s", folder, other->curves[c].name);
    memory_free(other->curves[c].name);
    other->curves[c].name = name.data;
  }
  if (first) {
    *panel = *other;
    *other = (PlotPanel){0};
    return;
  }
  for (int c = 0; c < other->curve_count; c++) {
    PlotCurve* curve = plot_panel_add(panel, other->curves[c].name, 0);
    memory_free(curve->x);
    memory_free(curve->y);
    curve->x = other->curves[c].x;
    curve->y = other->curves[c].y;
    curve->count = other->curves[c].count;
    other->curves[c].x = other->curves[c].y = NULL;
  }
}

static bool has_plot(const char* folder, int plot, const char* what) {
  if (what) return strcmp(what, PLOTS[plot].name) == 0;
  char* file = file_join(folder, PLOTS[plot].file);
  bool exists = file_exists(file);
  memory_free(file);
  return exists;
}

Status plot_runs(const char* path, const char* const* folders, int folder_count, const char* name,
                 const PlotOptions* options, Diagnostics* diagnostics) {
  PlotPanel panels[PLOT_COUNT] = {0};
  Status status = STATUS_OK;
  bool any = false;
  for (int i = 0; i < PLOT_COUNT && status == STATUS_OK; i++) {
    for (int k = 0; k < folder_count && status == STATUS_OK; k++) {
      PlotPanel panel = {0};
      if (!has_plot(folders[k], i, name)) continue;
      status = start_panel(&panel, i, folders[k], diagnostics);
      if (folder_count > 1) {
        append_panel(&panels[i], &panel, folders[k]);
        plot_panel_free(&panel);
      } else {
        panels[i] = panel;
      }
    }
    select_linear_for_negative(&panels[i], options->log_y);
    any = any || plot_panel_visible(&panels[i]);
  }
  if (status == STATUS_OK && !any)
    status =
        plot_report_empty(folders[0],
                          name ? "the files of the run have no numbers for the plot: add the file that the plot needs "
                                 "to simulation.output and run again"
                               : "the folder has no file of a run, or the files have no rows: run the simulation first",
                          diagnostics);
  if (status == STATUS_OK) status = plot_draw(path, panels, PLOT_COUNT, options, diagnostics);
  for (int i = 0; i < PLOT_COUNT; i++) plot_panel_free(&panels[i]);
  return status;
}

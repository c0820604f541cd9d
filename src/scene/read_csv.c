/* Reads signals from the rows of a CSV file. */
#include <string.h>

#include "base/outside.h"
#include "scene/parts.h"

/* Smallest accepted length of a quaternion in a file: far below the length of a rounded quaternion, far above rounding
 * error. */
#define QUATERNION_LENGTH_MIN 1e-6

typedef struct {
  Reader* reader;
  SourcePosition place; /* position of the file's name in the scene */
  const char* path;
  CsvTable table;
  Diagnostics problems; /* errors in the CSV file */
  int time; /* index of the column with the time, and for each channel the index of its column (size: column_count) */
  int* columns;
  int column_count;
} CsvSignal;

/* ---------------------------------------------------------------- choice of columns */

/* Reports errors in the CSV file at the place where the scene names the file. */
static void report_problems(CsvSignal* s) {
  for (int k = 0; k < s->problems.count; k++) {
    const Diagnostic* one = &s->problems.items[k];
    if (one->line > 0)
      reader_error(s->reader, s->place, "%s:%d: %s", s->path, one->line, one->text);
    else
      reader_error(s->reader, s->place, "%s: %s", s->path, one->text);
  }
}

/* Returns the index of a column by its name, or -1 after an error. */
static int find_column(CsvSignal* s, const char* name, SourcePosition place) {
  int column = csv_find_column(&s->table, name);
  if (column >= 0 && csv_name_is_duplicate(&s->table, column)) {
    reader_error(s->reader, place, "%s:1: two columns are named '%s': rename one", s->path, text_excerpt(name).text);
    return -1;
  }
  if (column >= 0) return column;
  const char* near = text_nearest(name, (const char* const*)s->table.names, s->table.column_count);
  reader_error(s->reader, place, "%s:1: the file has no column '%s'%s", s->path, text_excerpt(name).text,
               text_suggestion(near).text);
  return -1;
}

static bool find_columns(CsvSignal* s, const Node* map, const SignalForm* form) {
  const Node* list = form->columns;
  int before = s->reader->problem_count;
  s->time = find_column(s, form->time ? form->time->text : "time", form->time ? form->time->place : s->place);
  s->column_count = list ? list->count : form->column != NULL;
  s->columns = MEMORY_NEW(int, s->column_count + 1);
  if (form->column) s->columns[0] = find_column(s, form->column->text, form->column->place);
  int k = 0;
  for (const Node* item = list ? list->first : NULL; item; item = item->next, k++)
    if (reader_is_text(s->reader, item)) s->columns[k] = find_column(s, item->text, item->place);
  if (!form->column && !list)
    reader_error(s->reader, map->place, "'columns' is missing: give names of columns, one per channel");
  return s->reader->problem_count == before;
}

/* Checks the number of columns: one per channel, or one more if a quaternion gives the last three channels, a rotation.
 * Sets *quaternion to true in the second case. Returns false after an error. */
static bool check_column_count(CsvSignal* s, const Node* map, int channels, bool* quaternion) {
  *quaternion = s->reader->rotations && s->column_count == channels + 1;
  if (s->column_count == channels || *quaternion) return true;
  reader_error(s->reader, map->place, "expected %d column%s, one per channel%s, got %d", channels,
               channels == 1 ? "" : "s", s->reader->rotations ? " (or one more, with a quaternion)" : "",
               s->column_count);
  return false;
}

/* ---------------------------------------------------------------- rows */

static bool read_number(CsvSignal* s, int row, int column, double* value) {
  return csv_read_number(&s->table, s->path, row, column, value, &s->problems);
}

static void report_row_error(CsvSignal* s, int row, const char* rule) {
  diagnostics_add(&s->problems, SEVERITY_ERROR, (SourcePosition){s->path, s->table.lines[row], 0}, "%s", rule);
}

/* Returns the rotation vector of a quaternion q that is nearest to the rotation vector of the previous row [rad].
 * Candidates have the axis of the quaternion's rotation, and its angle plus any multiple of 2 pi. */
static Vec3 nearest_rotation_vector(Quat q, Vec3 before) {
  Vec3 v = quat_log(q);
  double angle = vec3_norm(v);
  if (!(angle > 0)) { /* after whole turns the axis is arbitrary, and the previous axis is used */
    double old = vec3_norm(before);
    return old > 0 ? vec3_scale(before, 2 * M_PI * round(old / (2 * M_PI)) / old) : v;
  }
  Vec3 axis = vec3_scale(v, 1 / angle);
  double turns = round((vec3_dot(before, axis) - angle) / (2 * M_PI));
  return vec3_scale(axis, angle + 2 * M_PI * turns);
}

/* Converts a quaternion to a rotation vector in the last three channels of a row. q: the quaternion w x y z, of any
 * length but zero. Neighbouring rows must be less than half a turn apart, so that the rotation between them is unique.
 * Returns false after an error. */
static bool read_rotation(CsvSignal* s, int row, const double q[4], double* values, int channels) {
  double size = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
  if (!(size > QUATERNION_LENGTH_MIN) || !isfinite(size)) {
    report_row_error(s, row, "a quaternion must not be zero: write 1, 0, 0, 0 for no rotation");
    return false;
  }
  Quat unit = {q[0] / size, q[1] / size, q[2] / size, q[3] / size};
  Vec3 before = row > 0 ? vec3_at(values - 3) : vec3(0, 0, 0); /* rotation vector of the row before */
  Vec3 v = row > 0 ? nearest_rotation_vector(unit, before) : quat_log(unit);
  if (row > 0 && vec3_norm(vec3_sub(v, before)) > M_PI) {
    report_row_error(s, row, "the rotation from the previous row exceeds half a turn: add rows in between");
    return false;
  }
  vec3_store(v, values + channels - 3);
  return true;
}

static bool read_row(CsvSignal* s, int row, bool quaternion, SceneSignal* signal) {
  double* values = signal->values + (size_t)row * (size_t)signal->channels;
  double q[4] = {0};
  if (!read_number(s, row, s->time, &signal->times[row])) return false;
  if (row > 0 && !(signal->times[row] > signal->times[row - 1])) {
    diagnostics_add(&s->problems, SEVERITY_ERROR, (SourcePosition){s->path, s->table.lines[row], 0},
                    "column '%s': times must increase from row to row, got %.10g after %.10g", s->table.names[s->time],
                    signal->times[row], signal->times[row - 1]);
    return false;
  }
  int plain = quaternion ? s->column_count - 4 : s->column_count;
  for (int k = 0; k < s->column_count; k++)
    if (!read_number(s, row, s->columns[k], k < plain ? &values[k] : &q[k - plain])) return false;
  return !quaternion || read_rotation(s, row, q, values, signal->channels);
}

/* Reads all rows of the file into the signal. Returns false after reporting an error in a row. */
static bool read_rows(CsvSignal* s, bool quaternion, SceneSignal* signal) {
  int rows = s->table.row_count;
  if (!reader_count_values(s->reader, s->place, (int64_t)rows * (s->column_count + 1))) return false;
  signal->times = MEMORY_NEW(double, rows);
  signal->values = MEMORY_NEW(double, (size_t)rows*(size_t)signal->channels);
  for (int row = 0; row < rows; row++)
    if (!read_row(s, row, quaternion, signal)) return false;
  signal->rows = rows;
  return true;
}

/* ---------------------------------------------------------------- the signal */

/* Makes the signal zero at all times after a reported error, so that reading can continue. */
static void set_zero(SceneSignal* signal) {
  memory_free(signal->times);
  memory_free(signal->values);
  signal->times = NULL;
  signal->type = SIGNAL_CONSTANT;
  signal->rows = 1;
  signal->values = MEMORY_NEW(double, signal->channels);
}

static bool read_table(CsvSignal* s, const Node* map, const SignalForm* form, SceneSignal* signal) {
  bool quaternion;
  int least = form->interpolation == 1 ? 2 : 1;
  if (!file_check_quotable(s->path, &s->problems) || csv_read(&s->table, s->path, &s->problems) != STATUS_OK)
    return false;
  if (!find_columns(s, map, form) || !check_column_count(s, map, signal->channels, &quaternion)) return false;
  if (s->table.row_count < least) {
    diagnostics_add(&s->problems, SEVERITY_ERROR, (SourcePosition){s->path, 0, 0}, "%s",
                    least == 1 ? "the file has no row below its header: add at least one row"
                               : "interpolation: cubic needs at least two rows: add rows, or use linear");
    return false;
  }
  return read_rows(s, quaternion, signal);
}

void read_csv_signal(Reader* reader, const Node* map, const SignalForm* form, SceneSignal* signal) {
  signal->type = form->interpolation == 1 ? SIGNAL_SPLINE : SIGNAL_KEYFRAMES;
  if (!form->file) {
    set_zero(signal);
    return;
  }
  signal->file = file_resolve(reader->scene->path, form->file->text);
  size_t mark = reader_enter_key(reader, "file");
  CsvSignal s = {.reader = reader, .place = form->file->place, .path = signal->file};
  if (!read_table(&s, map, form, signal)) set_zero(signal);
  report_problems(&s);
  reader_leave(reader, mark);
  diagnostics_free(&s.problems);
  csv_free(&s.table);
  memory_free(s.columns);
}

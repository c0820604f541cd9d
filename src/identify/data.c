/* Reads measured runs from CSV files. */
#include <assert.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>

#include "base/outside.h"
#include "identify/data.h"

typedef struct {
  char** items;
  int count, capacity;
} Paths;

static int compare_texts(const void* a, const void* b) { return strcmp(*(char* const*)a, *(char* const*)b); }

static void add_path(Paths* paths, const char* path) {
  paths->items = memory_grow_array(paths->items, sizeof(char*), paths->count, &paths->capacity);
  paths->items[paths->count++] = memory_copy_text(path);
}

/* Adds the files that match a pattern, sorted by byte values. */
static void add_pattern(Paths* paths, const char* pattern, SourcePosition place, Diagnostics* diagnostics) {
  glob_t found = {0};
  if (!strpbrk(pattern, "*?[")) {
    add_path(paths, pattern);
    return;
  }
  int first = paths->count;
  if (glob(pattern, GLOB_NOSORT, NULL, &found) == 0)
    for (size_t k = 0; k < found.gl_pathc; k++) add_path(paths, found.gl_pathv[k]);
  globfree(&found);
  if (paths->count == first)
    diagnostics_add(diagnostics, SEVERITY_ERROR, place, "no file matches '%s': correct the path, or give --data GLOB",
                    pattern);
  else
    qsort(paths->items + first, (size_t)(paths->count - first), sizeof(char*), compare_texts);
}

static Paths list_files(const Task* task, const char* const* files, int count, Diagnostics* diagnostics) {
  Paths paths = {0};
  for (int k = 0; k < count; k++) add_pattern(&paths, files[k], (SourcePosition){0}, diagnostics);
  for (int k = 0; k < task->data.file_count && count == 0; k++) {
    char* path = file_resolve(task->path, task->data.files[k].text);
    add_pattern(&paths, path, task->data.files[k].place, diagnostics);
    memory_free(path);
  }
  if (paths.count == 0 && diagnostics->error_count == 0)
    diagnostics_add(diagnostics, SEVERITY_ERROR, task->data.place,
                    "no data files are named: give 'files' in 'data', or --data GLOB");
  return paths;
}

typedef struct {
  const CsvTable* table;
  const char* path;
  Diagnostics* diagnostics;
  bool is_valid;
} CellReader;

static int find_column(CellReader* c, const char* name, SourcePosition asked) {
  int column = csv_find_column(c->table, name);
  if (column >= 0 && !csv_name_is_duplicate(c->table, column)) return column;
  if (column >= 0) {
    diagnostics_add(c->diagnostics, SEVERITY_ERROR, asked, "%s has two columns '%s': rename one of the two", c->path,
                    name);
    c->is_valid = false;
    return -1;
  }
  const char* near = text_nearest(name, (const char* const*)c->table->names, c->table->column_count);
  diagnostics_add(c->diagnostics, SEVERITY_ERROR, asked, "%s has no column '%s'%s", c->path, name,
                  text_suggestion(near).text);
  c->is_valid = false;
  return -1;
}

static bool is_empty(const char* cell) { return cell[strspn(cell, " \t")] == 0; }

/* Returns the number in a cell, or NaN for an empty cell. */
static double read_cell(CellReader* c, int row, int column) {
  double value = NAN;
  if (column < 0 || is_empty(csv_cell(c->table, row, column))) return NAN;
  if (!csv_read_number(c->table, c->path, row, column, &value, c->diagnostics)) c->is_valid = false;
  return value;
}

/* Reads the columns of one measured quantity, for example a position (rows x count). Returns NULL if the task names no
 * columns. Each row is complete or NaN. The caller frees the array. */
static double* read_columns(CellReader* c, SourcePosition asked, char* const* names, int count, double scale) {
  int columns[JOINT_MAX_COORDINATE];
  if (count == 0 || !names[0]) return NULL;
  double* out = MEMORY_NEW(double, c->table->row_count* count + 1);
  for (int k = 0; k < count; k++) columns[k] = find_column(c, names[k], asked);
  for (int row = 0; row < c->table->row_count && c->is_valid; row++) {
    int missing = 0;
    for (int k = 0; k < count; k++) {
      out[row * count + k] = scale * read_cell(c, row, columns[k]);
      missing += isnan(out[row * count + k]);
    }
    if (c->is_valid && missing > 0 && missing < count) {
      diagnostics_add(c->diagnostics, SEVERITY_ERROR, (SourcePosition){c->path, c->table->lines[row], 0},
                      "%d of the %d columns from '%s' on are empty: fill all of them, or none if the sample is missing",
                      missing, count, names[0]);
      c->is_valid = false;
    }
  }
  return out;
}

static Vec3* to_vectors(double* numbers, int rows) {
  if (!numbers) return NULL;
  Vec3* out = MEMORY_NEW(Vec3, rows + 1);
  for (int k = 0; k < rows; k++) out[k] = vec3_at(numbers + 3 * k);
  memory_free(numbers);
  return out;
}

static Quat* to_quaternions(double* numbers, int rows) {
  if (!numbers) return NULL;
  Quat* out = MEMORY_NEW(Quat, rows + 1);
  for (int k = 0; k < rows; k++) out[k] = quat_at(numbers + 4 * k);
  memory_free(numbers);
  return out;
}

/* Returns the difference of the largest and the smallest of rows values, at a distance of `stride`; missing values are
 * left out. */
static double column_range(const double* values, int rows, int stride) {
  double least = INFINITY, most = -INFINITY;
  for (int row = 0; row < rows; row++) {
    least = fmin(least, values[row * stride]);
    most = fmax(most, values[row * stride]);
  }
  return most - least;
}

static void read_link(CellReader* c, const TaskMeasured* source, const Model* model, MeasuredLink* out) {
  int rows = c->table->row_count;
  *out = (MeasuredLink){.source = source, .link = -1};
  for (int i = 0; i < model->link_count; i++)
    if (source->link.text && strcmp(model->links[i].name, source->link.text) == 0) out->link = i;
  out->coordinate_count = source->coordinate_count;
  out->rate_count = source->rate_count;
  out->position = to_vectors(read_columns(c, source->place, source->position, 3, source->length_scale), rows);
  out->rotation = to_quaternions(read_columns(c, source->place, source->quaternion, 4, 1), rows);
  out->velocity = to_vectors(read_columns(c, source->place, source->velocity, 3, source->length_scale), rows);
  out->spin = to_vectors(read_columns(c, source->place, source->angular_velocity, 3, source->angle_scale), rows);
  const ModelLink* link = &model->links[out->link < 0 ? 0 : out->link];
  int most = link->joint.scalar_count;
  if (source->coordinate_count > most || source->rate_count > most) {
    diagnostics_add(c->diagnostics, SEVERITY_ERROR, source->place,
                    "the joint of link '%s' has %d coordinates other than ball rotations, but 'coordinates' or 'rates' "
                    "names more columns: remove columns",
                    link->name, most);
    c->is_valid = false;
    out->coordinate_count = out->rate_count = 0;
    return;
  }
  out->coordinates = read_columns(c, source->place, source->coordinates, source->coordinate_count, 1);
  out->rates = read_columns(c, source->place, source->rates, source->rate_count, 1);
  for (int row = 0; row < rows; row++) {
    for (int k = 0; k < out->coordinate_count; k++) {
      double scale = k < link->joint.slide_count ? source->length_scale : source->angle_scale;
      out->coordinates[row * out->coordinate_count + k] *= scale;
    }
    for (int k = 0; k < out->rate_count; k++) {
      double scale = k < link->joint.slide_count ? source->length_scale : source->angle_scale;
      out->rates[row * out->rate_count + k] *= scale;
    }
  }
  for (int k = 0; k < out->coordinate_count; k++)
    out->has_wrapped_angle[k] =
        k >= link->joint.slide_count && column_range(out->coordinates + k, rows, out->coordinate_count) <= TURN;
  out->has_position = out->position != NULL;
  out->has_rotation = out->rotation != NULL;
  out->has_velocity = out->velocity != NULL;
  out->has_spin = out->spin != NULL;
}

/* Reads a measured signal that drives the simulation of a run. The signal has a knot at each row in which all columns
 * have values. */
static void read_input(CellReader* c, const TaskInput* source, const MeasuredRun* run, SceneSignal* out) {
  int n = source->column_count;
  *out = (SceneSignal){.type = source->cubic ? SIGNAL_SPLINE : SIGNAL_KEYFRAMES, .place = source->place, .channels = n};
  out->values = read_columns(c, source->place, source->columns, n, source->scale);
  out->times = MEMORY_NEW(double, run->count + 1);
  for (int row = 0; row < run->count && c->is_valid; row++) {
    if (isnan(out->values[row * n])) continue;
    out->times[out->rows] = run->time[row] - run->time[0];
    memmove(out->values + out->rows++ * n, out->values + row * n, sizeof(double) * (size_t)n);
  }
  if (out->rows == 1) out->type = SIGNAL_CONSTANT;
  if (out->rows > 0 || !c->is_valid) return;
  diagnostics_add(c->diagnostics, SEVERITY_ERROR, source->place,
                  "%s has no value in column '%s': fill the column, or name another one in the task", c->path,
                  source->columns[0]);
  c->is_valid = false;
}

static bool read_time(CellReader* c, const Task* task, MeasuredRun* run) {
  int column = find_column(c, task->data.time, task->data.place);
  for (int row = 0; row < run->count && c->is_valid; row++) {
    run->line[row] = c->table->lines[row];
    run->time[row] = task->data.time_scale * read_cell(c, row, column);
    if (c->is_valid && isnan(run->time[row])) {
      diagnostics_add(c->diagnostics, SEVERITY_ERROR, (SourcePosition){c->path, run->line[row], 0},
                      "column '%s' is empty: give every row a time", task->data.time);
      c->is_valid = false;
    }
  }
  return c->is_valid;
}

static Status read_run(MeasuredRun* run, const Task* task, const char* path, const Model* model,
                       Diagnostics* diagnostics) {
  CsvTable table = {0};
  *run = (MeasuredRun){.path = memory_copy_text(path)};
  Status status = file_check_quotable(path, diagnostics) ? csv_read(&table, run->path, diagnostics) : STATUS_BAD_INPUT;
  CellReader cells = {&table, run->path, diagnostics, true};
  if (status == STATUS_OK) {
    run->count = table.row_count;
    run->time = MEMORY_NEW(double, table.row_count + 1);
    run->line = MEMORY_NEW(int, table.row_count + 1);
    run->link_count = task->data.measured_count;
    run->links = MEMORY_NEW(MeasuredLink, run->link_count);
    run->inputs = MEMORY_NEW(SceneSignal, task->data.input_count + 1);
    if (read_time(&cells, task, run)) {
      for (int k = 0; k < run->link_count && cells.is_valid; k++)
        read_link(&cells, &task->data.measured[k], model, &run->links[k]);
      for (int k = 0; k < task->data.input_count && cells.is_valid; k++)
        read_input(&cells, &task->data.inputs[k], run, &run->inputs[k]);
    }
    if (!cells.is_valid || !measured_check(run, task, model, diagnostics)) status = STATUS_BAD_INPUT;
  }
  csv_free(&table);
  return status;
}

/* Selects a fraction of the runs for training, at least one, by a seeded shuffle. */
static void split_runs(MeasuredData* data, const Task* task) {
  int* order = MEMORY_NEW(int, data->count + 1);
  Random random = {task->seed};
  for (int k = 0; k < data->count; k++) order[k] = k;
  for (int k = data->count - 1; k > 0; k--) {
    int j = (int)random_uniform(&random, 0, k + 1);
    if (j > k) j = k;
    int other = order[k];
    order[k] = order[j];
    order[j] = other;
  }
  int train = (int)(task->identify.train * data->count + 0.5);
  if (train < 1) train = 1;
  for (int k = 0; k < data->count; k++) data->runs[order[k]].train = k < train;
  memory_free(order);
}

static SignalPlace find_signal(const Model* model, const TaskInput* in) {
  SignalPlace place;
  int link = 0;
  while (link < model->link_count - 1 && strcmp(model->links[link].name, in->link.text) != 0) link++;
  for (int number = 0; (place = model_scene_signal(model->scene, link, number)).signal; number++)
    if (place.kind == in->of && place.ordinal == in->number && place.signal->channels > 0) break;
  return place;
}

/* Sets data->inputs to the signals of the scene that measured signals replace. Adds an error for a signal that cannot
 * be replaced. */
static void resolve_inputs(MeasuredData* data, const Task* task, const Model* model, Diagnostics* diagnostics) {
  data->input_count = task->data.input_count;
  data->inputs = MEMORY_NEW(SignalPlace, data->input_count + 1);
  for (int k = 0; k < data->input_count; k++) {
    const TaskInput* in = &task->data.inputs[k];
    SignalPlace place = data->inputs[k] = find_signal(model, in);
    if (!place.signal)
      diagnostics_add(diagnostics, SEVERITY_ERROR, in->place, "link '%s' has no %s number %d", in->link.text,
                      in->of == CONTROL_DRIVES    ? "controller"
                      : in->of == CONTROL_FORCES  ? "load with a force,"
                      : in->of == CONTROL_TORQUES ? "load with a torque,"
                                                  : "tendon",
                      in->number);
    else if (place.signal->channels != in->column_count)
      diagnostics_add(diagnostics, SEVERITY_ERROR, in->place,
                      "expected %d columns, one per channel of the signal, got %d", place.signal->channels,
                      in->column_count);
    for (int c = 0; c < task->control_count && place.signal; c++) {
      const TaskControl* control = &task->controls[c];
      bool signals = !control->has_parameters || (control->parameters & (CONTROL_GAINS - 1));
      if (!signals || !(control->of & in->of) || strcmp(control->link.text, in->link.text) != 0) continue;
      diagnostics_add(
          diagnostics, SEVERITY_ERROR, control->place,
          "the signal that drives link '%s' is data and cannot be fitted: fit gains, delay or max_force instead",
          in->link.text);
    }
  }
}

Status measured_read(MeasuredData* data, const Task* task, const char* const* files, int file_count, const Model* model,
                     Diagnostics* diagnostics) {
  assert(data && task && model && diagnostics && file_count >= 0 && (files || file_count == 0));
  int before = diagnostics->error_count;
  *data = (MeasuredData){0};
  resolve_inputs(data, task, model, diagnostics);
  if (diagnostics->error_count > before) return STATUS_BAD_INPUT;
  Paths paths = list_files(task, files, file_count, diagnostics);
  data->runs = MEMORY_NEW(MeasuredRun, paths.count + 1);
  Status status = STATUS_OK;
  for (int k = 0; k < paths.count && diagnostics->error_count < before + MEASURED_FAULTS_MAX; k++) {
    Status run_status = read_run(&data->runs[data->count++], task, paths.items[k], model, diagnostics);
    if (run_status != STATUS_OK) status = run_status;
  }
  for (int k = 0; k < paths.count; k++) memory_free(paths.items[k]);
  memory_free(paths.items);
  if (diagnostics->error_count > before && status == STATUS_OK) status = STATUS_BAD_INPUT;
  if (status == STATUS_OK) measured_check_rates(data, task, diagnostics);
  for (int k = 0; k < data->count && status == STATUS_OK; k++) measured_rates_to_rows(&data->runs[k]);
  split_runs(data, task);
  return status;
}

void measured_free(MeasuredData* data) {
  assert(data);
  for (int k = 0; k < data->count; k++) {
    MeasuredRun* run = &data->runs[k];
    for (int i = 0; i < run->link_count; i++) {
      MeasuredLink* l = &run->links[i];
      void* owned[] = {l->position, l->velocity, l->rotation, l->spin, l->coordinates, l->rates};
      for (size_t n = 0; n < sizeof(owned) / sizeof(owned[0]); n++) memory_free(owned[n]);
    }
    for (int i = 0; run->inputs && i < data->input_count; i++) {
      memory_free(run->inputs[i].times);
      memory_free(run->inputs[i].values);
    }
    memory_free(run->inputs);
    memory_free(run->links);
    memory_free(run->path);
    memory_free(run->time);
    memory_free(run->line);
  }
  memory_free(data->runs);
  memory_free(data->inputs);
  *data = (MeasuredData){0};
}

/* Writes the result files of a fit: identify.json, fitted.scene.yaml, residuals.csv, convergence.csv, errors.csv. */
#include <assert.h>
#include <string.h>

#include "identify/fit.h"

static void add_parameter(Json* json, const IdentifiedParameter* p) {
  json_open(json, NULL, '{');
  json_text(json, "name", p->name);
  json_number(json, "value", p->value);
  json_number(json, "unfitted", p->initial_value);
  json_number(json, "standard_error", p->standard_error);
  json_number(json, "low", p->low);
  json_number(json, "high", p->high);
  if (p->at_bound) json_bool(json, "at_bound", true);
  if (p->is_fixed) json_bool(json, "undetermined", true);
  json_close(json, '}');
}

static void add_errors(Json* json, const char* key, const RunErrors* j, double inside, const Misfit* misfit) {
  json_open(json, key, '{');
  json_integer(json, "runs", j->runs);
  json_integer(json, "not_simulated", j->failed);
  json_number(json, "position", j->position);
  json_number(json, "rotation", j->rotation);
  json_number(json, "coordinate", j->coordinate);
  json_number(json, "unfitted_position", j->unfitted_position);
  json_number(json, "unfitted_rotation", j->unfitted_rotation);
  json_number(json, "unfitted_coordinate", j->unfitted_coordinate);
  json_number(json, "final_position", j->final_position);
  json_number(json, "final_rotation", j->final_rotation);
  json_number(json, "unfitted_final_position", j->unfitted_final_position);
  json_number(json, "unfitted_final_rotation", j->unfitted_final_rotation);
  json_number(json, "inside_95", inside);
  json_vector(json, "noise", misfit->noise, ERROR_KINDS);
  json_vector(json, "model_difference", misfit->model, ERROR_KINDS);
  json_close(json, '}');
}

/* Writes the correlations of determined parameters. NaN becomes null. */
static void add_correlation(Json* json, const Identification* id) {
  int n = id->variables;
  double* row = MEMORY_NEW(double, n + 1);
  json_open(json, "correlation", '[');
  for (int i = 0; i < n; i++) {
    for (int k = 0; k < n; k++) {
      double size = sqrt(id->covariance[i * n + i] * id->covariance[k * n + k]);
      row[k] = size > 0 ? id->covariance[i * n + k] / size : (double)NAN;
    }
    json_vector(json, NULL, row, n);
  }
  json_close(json, ']');
  memory_free(row);
}

static void add_runs(Json* json, const Identification* id) {
  json_open(json, "runs", '[');
  for (int k = 0; k < id->data.count; k++) {
    static const char* const keys[2][ERROR_NUMBERS] = {
        {"position", "rotation", "coordinate", "final_position", "final_rotation"},
        {"unfitted_position", "unfitted_rotation", "unfitted_coordinate", "unfitted_final_position",
         "unfitted_final_rotation"}};
    const double* j = id->run_errors + 2 * ERROR_NUMBERS * k;
    json_open(json, NULL, '{');
    json_text(json, "file", id->data.runs[k].path);
    json_bool(json, "training", id->data.runs[k].train);
    for (int i = 0; i < 2 * ERROR_NUMBERS; i++) json_number(json, keys[i / ERROR_NUMBERS][i % ERROR_NUMBERS], j[i]);
    json_close(json, '}');
  }
  json_close(json, ']');
}

static void add_verdict(Json* json, const Identification* id) {
  json_bool(json, "identifiable", identification_identifiable(id));
  json_open(json, "verdict", '[');
  const char* at = identification_undetermined_text(id);
  while (*at) {
    size_t length = strcspn(at, "\n");
    Text line = {0};
    text_add_bytes(&line, at, length);
    json_text(json, NULL, line.data);
    text_free(&line);
    at += length + (at[length] == '\n');
  }
  json_close(json, ']');
  json_vector(json, "singular_values", id->singular_values, id->variables);
}

static void add_unconverged(Json* json, const Identification* id) {
  Text line = {0};
  if (identification_append_unconverged(id, &line)) json_text(json, "unfinished", line.data);
  text_free(&line);
}

static void add_contradictions(Json* json, const Identification* id) {
  json_open(json, "doubts", '[');
  for (int k = 0; k < id->contradiction_count; k++) {
    Text line = {0};
    identification_append_contradiction(id, k, &line);
    json_text(json, NULL, line.data);
    text_free(&line);
  }
  json_close(json, ']');
}

/* Writes the linear combinations x_j + sum of c_k x_k of variables that the data determine (base parameters), with
 * their fitted values. */
static void add_base_parameters(Json* json, const Identification* id) {
  int n = id->variables;
  json_open(json, "base_parameters", '[');
  for (int j = 0; j < n && id->undetermined > 0; j++) {
    if (id->fixed[j]) continue;
    double value = 0;
    Text name = {0};
    json_open(json, NULL, '{');
    for (int k = 0; k < n; k++) value += id->base_parameters[j * n + k] * id->x[k];
    text_add(&name, "%s", identification_parameter(id, j).name);
    for (int k = 0; k < n; k++)
      if (k != j && id->base_parameters[j * n + k] != 0)
        text_add(&name, " %+.4g %s", id->base_parameters[j * n + k], identification_parameter(id, k).name);
    json_text(json, "name", name.data);
    json_vector(json, "coefficients", id->base_parameters + (size_t)j * (size_t)n, n);
    json_number(json, "value", value);
    json_number(json, "standard_error", id->error[j]);
    json_close(json, '}');
    text_free(&name);
  }
  json_close(json, ']');
}

static Status write_json(Identification* id, const char* folder, const RunProgram* program, Text* out,
                         Diagnostics* diagnostics) {
  size_t start = out->length;
  Json json = {.out = out};
  json_open(&json, NULL, '{');
  json_text(&json, "task", id->task->name);
  json_text(&json, "version", program->version);
  json_text(&json, "commit", program->commit);
  json_text(&json, "method", task_optimizer_name(id->task->optimizer.type));
  json_text(&json, "stop", id->stop_text ? id->stop_text : identify_stop_text(id->stop));
  json_integer(&json, "iterations", id->iteration);
  json_integer(&json, "shots", id->usable_shots);
  json_integer(&json, "simulated", id->simulated);
  json_number(&json, "cost", id->cost);
  add_verdict(&json, id);
  json_open(&json, "parameters", '[');
  for (int k = 0; k < id->variables; k++) {
    IdentifiedParameter p = identification_parameter(id, k);
    add_parameter(&json, &p);
  }
  json_close(&json, ']');
  add_unconverged(&json, id);
  add_contradictions(&json, id);
  add_base_parameters(&json, id);
  for (int train = 1; train >= 0; train--) {
    RunErrors j = identification_errors(id, train);
    add_errors(&json, train ? "training" : "validation", &j, id->inside[train], &id->misfit[train]);
  }
  add_correlation(&json, id);
  add_runs(&json, id);
  json_close(&json, '}');
  text_add(out, "\n");
  Text json_text = {0};
  text_add_bytes(&json_text, out->data + start, out->length - start);
  char* path = file_join(folder, "identify.json");
  Status status = file_write_reported(path, &json_text, diagnostics);
  memory_free(path);
  text_free(&json_text);
  return status;
}

static Status write_scene(Identification* id, const char* folder, Diagnostics* diagnostics) {
  Text text = {0};
  text_add(&text, "# The scene of task %s as it was fitted to measured runs: see identify.json.\n", id->task->name);
  scene_write_yaml(optimization_scene_of(id->optimization, 0, id->x), folder, &text);
  char* path = file_join(folder, "fitted.scene.yaml");
  Status status = file_write_reported(path, &text, diagnostics);
  memory_free(path);
  text_free(&text);
  return status;
}

typedef struct {
  Identification* id;
  ErrorRows* rows; /* errors of each run (size: runs) */
} ResidualRows;

static void compute_run_errors(void* context, int index, int thread) {
  (void)thread;
  ResidualRows* r = context;
  double unused[ERROR_NUMBERS];
  shot_compute_errors(r->id, r->id->x, &r->id->data.runs[index], unused, &r->rows[index]);
}

/* Returns the residuals of all runs with their predicted uncertainties. The caller frees them. */
static ErrorRows* compute_all_errors(Identification* id) {
  ErrorRows* rows = memory_alloc(sizeof(ErrorRows) * (size_t)(id->data.count + 1));
  double longest = 0;
  for (int k = 0; k < id->data.count; k++) longest = fmax(longest, id->data.runs[k].time[id->data.runs[k].count - 1]);
  for (int k = 0; k < id->data.count; k++) rows[k] = (ErrorRows){.bin = fmax(longest, 1e-9) / ERROR_BINS};
  ResidualRows context = {id, rows};
  parallel_for(id->options.threads, id->data.count, 2, 1, compute_run_errors, &context);
  for (int train = 0; train < 2; train++) {
    int inside = 0, seen = 0;
    for (int k = 0; k < id->data.count; k++) {
      inside += id->data.runs[k].train == train ? rows[k].inside : 0;
      seen += id->data.runs[k].train == train ? rows[k].residual_count : 0;
    }
    id->inside[train] = seen > 0 ? (double)inside / seen : (double)NAN;
  }
  compute_misfit(id, rows);
  return rows;
}

/* Writes simulated minus measured values of each sample. Each run is simulated from its first state. */
static Status write_residuals(const Identification* id, const ErrorRows* rows, const char* folder,
                              Diagnostics* diagnostics) {
  Text text = {0};
  text_add(&text, "run,part,link,time,x,y,z,rx,ry,rz,coordinate,sx,sy,sz,srx,sry,srz,scoordinate\n");
  for (int k = 0; k < id->data.count; k++)
    if (rows[k].text.length > 0) text_add_bytes(&text, rows[k].text.data, rows[k].text.length);
  char* path = file_join(folder, "residuals.csv");
  Status status = file_write_reported(path, &text, diagnostics);
  memory_free(path);
  text_free(&text);
  return status;
}

/* Writes the mean errors over the runs as functions of time. */
static Status write_errors(const Identification* id, const ErrorRows* rows, const char* folder,
                           Diagnostics* diagnostics) {
  Text text = {0};
  text_add(&text, "time,training_position,validation_position,training_rotation,validation_rotation,");
  text_add(&text, "training_coordinate,validation_coordinate\n");
  for (int bin = 0; bin < ERROR_BINS && id->data.count > 0; bin++) {
    text_add_double(&text, (bin + 0.5) * rows[0].bin);
    for (int column = 0; column < 2 * ERROR_KINDS; column++) {
      double sum = 0;
      int count = 0;
      for (int k = 0; k < id->data.count; k++) {
        if (id->data.runs[k].train == (column % 2 == 1)) continue;
        sum += rows[k].sum[column / 2][bin];
        count += rows[k].count[column / 2][bin];
      }
      text_add(&text, ",");
      if (count > 0) text_add_double(&text, sum / count);
    }
    text_add(&text, "\n");
  }
  char* path = file_join(folder, "errors.csv");
  Status status = file_write_reported(path, &text, diagnostics);
  memory_free(path);
  text_free(&text);
  return status;
}

/* Writes a row for the start and for each iteration, without computing times, so that equal fits give equal files. */
static Status write_convergence(const Identification* id, const char* folder, Diagnostics* diagnostics) {
  Text text = {0};
  text_add(&text, "iteration,cost,trial_cost,gradient,step,simulated,outcome\n");
  for (int k = 0; k < id->row_count; k++) {
    const FitRow* r = &id->rows[k];
    const double numbers[] = {r->cost, r->trial, r->gradient, r->step, r->simulated};
    text_add(&text, "%d", k);
    for (size_t n = 0; n < sizeof(numbers) / sizeof(numbers[0]); n++) {
      text_add(&text, ",");
      if (!isnan(numbers[n])) text_add_double(&text, numbers[n]);
    }
    text_add(&text, ",%s\n", trial_outcome_text(r->outcome));
  }
  char* path = file_join(folder, "convergence.csv");
  Status status = file_write_reported(path, &text, diagnostics);
  memory_free(path);
  text_free(&text);
  return status;
}

/* Returns STATUS_INTERRUPTED if this process was interrupted, otherwise `status`. Only this process writes files. */
static Status interrupted_or(const Identification* id, Status status) {
  bool interrupted = id->options.interrupted && id->options.interrupted();
  return status == STATUS_OK && interrupted ? STATUS_INTERRUPTED : status;
}

Status identification_write(Identification* id, const char* folder, const RunProgram* program, Text* json,
                            Diagnostics* diagnostics) {
  assert(folder && json && diagnostics);
  ErrorRows* rows = compute_all_errors(id);
  Status status = interrupted_or(id, STATUS_OK);
  if (status == STATUS_OK) status = write_json(id, folder, program, json, diagnostics);
  if (status == STATUS_OK) status = write_scene(id, folder, diagnostics);
  if (status == STATUS_OK) status = write_convergence(id, folder, diagnostics);
  if (status == STATUS_OK) status = write_residuals(id, rows, folder, diagnostics);
  if (status == STATUS_OK) status = write_errors(id, rows, folder, diagnostics);
  if (status == STATUS_OK) status = overlay_write(id, folder, diagnostics);
  for (int k = 0; k < id->data.count; k++) {
    for (int part = 0; part < ERROR_KINDS; part++) memory_free(rows[k].second[part]);
    text_free(&rows[k].text);
  }
  memory_free(rows);
  return interrupted_or(id, status);
}

/* Writes the files in the folder of `sdrs optimize`. */
#include <errno.h>
#include <string.h>
#include "run/run.h"

static Status write_text(const char* folder, const char* name, const Text* text, Diagnostics* diagnostics) {
  char* path = file_join(folder, name);
  Status status = file_write_reported(path, text, diagnostics);
  memory_free(path);
  return status;
}

static void append_cell(Text* out, double value) {
  text_add(out, ",");
  text_add_double(out, value);
}

Status design_write_convergence(const char* folder, const Optimization* o, Diagnostics* diagnostics) {
  Text text = {0};
  int terms = optimization_term_count(o);
  text_add(&text, "iteration,loss");
  for (int t = 0; t < terms; t++) {
    text_add(&text, ",");
    csv_add_field(&text, optimization_term_name(o, t));
  }
  int subjects = optimization_bounded_term_count(o);
  for (int i = 0; i < subjects; i++) {
    Text name = {0};
    text_add(&name, "multiplier_%s", optimization_term_name(o, terms - subjects + i));
    text_add(&text, ",");
    csv_add_field(&text, name.data);
    text_free(&name);
  }
  text_add(&text, ",grad_design,grad_control,step_design,step_control,seconds,trial_loss,outcome\n");
  for (int k = 0; k <= optimization_iteration(o); k++) {
    const OptimizationRow* r = &optimization_rows(o)[k];
    text_add(&text, "%d", k);
    append_cell(&text, r->loss);
    for (int t = 0; t < terms; t++) append_cell(&text, optimization_terms(o, k)[t]);
    for (int i = 0; i < subjects; i++) append_cell(&text, optimization_multipliers(o, k)[i]);
    const double numbers[6] = {r->grad_design,  r->grad_control, r->step_design,
                               r->step_control, r->seconds,      r->trial_loss};
    for (int n = 0; n < 6; n++) append_cell(&text, numbers[n]);
    text_add(&text, ",%s\n", trial_outcome_text(r->outcome));
  }
  Status status = write_text(folder, "convergence.csv", &text, diagnostics);
  text_free(&text);
  return status;
}

Status design_write_variables(const char* folder, const Optimization* o, Diagnostics* diagnostics) {
  Text text = {0};
  text_add(&text, "variable,block,initial,low,high,best\n");
  for (int k = 0; k < optimization_variable_count(o); k++) {
    OptimizationVariable v = optimization_variable(o, k);
    csv_add_field(&text, v.name);
    text_add(&text, ",%s", v.is_control ? "control" : "design");
    const double numbers[4] = {v.initial, v.low, v.high, v.best};
    for (int n = 0; n < 4; n++) append_cell(&text, numbers[n]);
    text_add(&text, "\n");
  }
  Status status = write_text(folder, "design.csv", &text, diagnostics);
  text_free(&text);
  return status;
}

/* Creates the model of a design to read its shapes. Accepts bodies that intersect at the start, because in tasks with
 * random starts only the drawn starts must be free of intersections. */
static Status create_model_for_shapes(Model* model, const Scene* scene, Diagnostics* diagnostics) {
  Diagnostics ignored = {0}; /* warnings were reported at the start */
  ModelTouch* pairs = NULL;
  Status status = model_create(model, scene, &ignored);
  if (status == STATUS_BAD_INPUT && model_touching(model, &pairs) > 0) status = STATUS_OK;
  for (int k = 0; k < ignored.count && status != STATUS_OK; k++) {
    const Diagnostic* item = &ignored.items[k];
    diagnostics_add(diagnostics, item->severity, (SourcePosition){item->file, item->line, item->column}, "%s",
                    item->text);
  }
  memory_free(pairs);
  diagnostics_free(&ignored);
  return status;
}

Status design_write_shapes(const char* folder, const char* name, Optimization* o, bool best, Diagnostics* diagnostics) {
  Model model = {0};
  Text path = {0};
  text_add(&path, "%s/design/%s", folder, name);
  Status status = create_model_for_shapes(&model, optimization_scene(o, 0, best), diagnostics);
  bool made = false;
  for (int i = 0; status == STATUS_OK && i < model.link_count; i++) {
    if (!optimization_changes_shape(o, i)) continue;
    if (!made) status = file_make_folder_reported(path.data, diagnostics);
    made = true;
    if (status != STATUS_OK) break;
    Text file = {0};
    text_add(&file, "%s/%s.obj", path.data, model.links[i].name); /* link names contain no slash */
    status = run_link_obj(file.data, &model, i, diagnostics);
    text_free(&file);
  }
  text_free(&path);
  model_destroy(&model);
  return status;
}

/* Appends a scene of the task as YAML. The scene gets a unique name, such as throw-best, throw-initial-wet or
 * throw-failed-3, so that its run has a folder of its own. */
static void add_scene(Text* out, const char* folder, const Task* task, const char* what, const char* scenario,
                      const Scene* scene) {
  Scene named = *scene;
  Text name = {0};
  text_add(&name, "%s-%s%s%s", task->name, what, *scenario ? "-" : "", scenario);
  named.name = name.data;
  scene_write_yaml(&named, folder, out);
  text_free(&name);
}

/* Returns the path of a scene file of a scenario. If `best` is true, the file is best.scene.yaml or
 * best.<scenario>.scene.yaml. Otherwise it is initial.scene.yaml or initial.<scenario>.scene.yaml. */
static char* scene_path(const char* folder, const Task* task, int scenario, bool best) {
  Text path = {0};
  text_add(&path, "%s/%s.", folder, best ? "best" : "initial");
  if (scenario > 0) text_add(&path, "%s.", task->scenarios[scenario].name);
  text_add(&path, "scene.yaml");
  return path.data;
}

Status design_write_scenes(const char* folder, const Task* task, Optimization* o, bool best, Diagnostics* diagnostics) {
  Status status = STATUS_OK;
  for (int k = 0; k < task->scenario_count && status == STATUS_OK; k++) {
    Text text = {0};
    char* path = scene_path(folder, task, k, best);
    text_add(&text, "# The %s design of task %s: loss ", best ? "best" : "initial", task->name);
    text_add_double(&text, best ? optimization_best_loss(o) : optimization_rows(o)[0].loss);
    text_add(&text, " at iteration %d.\n", best ? optimization_best_iteration(o) : 0);
    add_scene(&text, folder, task, best ? "best" : "initial", k > 0 ? task->scenarios[k].name : "",
              optimization_scene(o, k, best));
    status = file_write_reported(path, &text, diagnostics);
    text_free(&text);
    memory_free(path);
  }
  return status;
}

char* design_failed_scene_path(const char* folder, int number) {
  Text path = {0};
  text_add(&path, "%s/failed.%d.scene.yaml", folder, number);
  return path.data;
}

static bool has_failed_scene(TrialOutcome outcome) { return outcome == TRIAL_SOLVER || outcome == TRIAL_NO_GRADIENT; }

int design_failed_scene_number(const Optimization* o) {
  const OptimizationRow* rows = optimization_rows(o);
  int iteration = optimization_iteration(o), number = 0;
  if (!has_failed_scene(rows[iteration].outcome)) return 0;
  for (int k = 0; k <= iteration; k++) number += has_failed_scene(rows[k].outcome);
  return number <= FAILED_SCENES ? number : 0;
}

Status design_write_failed(const char* folder, const Task* task, Optimization* o, Diagnostics* diagnostics) {
  int scenario, iteration = optimization_iteration(o);
  const Scene* scene = optimization_trial_scene(o, &scenario);
  char* path = design_failed_scene_path(folder, design_failed_scene_number(o));
  Text text = {0};
  text_add(&text, "# The trial of iteration %d of task %s", iteration, task->name);
  if (task->scenario_count > 1) text_add(&text, ", scenario %s", task->scenarios[scenario].name);
  text_add(&text, ", which failed: %s", trial_outcome_text(optimization_rows(o)[iteration].outcome));
  if (*optimization_reason(o)) text_add(&text, ": %s", optimization_reason(o));
  text_add(&text, ".\n");
  char what[32];
  snprintf(what, sizeof what, "failed-%d", design_failed_scene_number(o));
  add_scene(&text, folder, task, what, "", scene);
  Status status = file_write_reported(path, &text, diagnostics);
  text_free(&text);
  memory_free(path);
  return status;
}

void design_remove_results(const char* folder, const Task* task) {
  for (int n = 1; n <= FAILED_SCENES; n++) {
    char* path = design_failed_scene_path(folder, n);
    remove(path);
    memory_free(path);
  }
  for (int k = 0; k < task->scenario_count; k++) {
    char* path = scene_path(folder, task, k, true);
    remove(path);
    memory_free(path);
  }
  static const char* const names[] = {"design.csv", "summary.json"};
  for (int k = 0; k < 2; k++) {
    char* path = file_join(folder, names[k]);
    remove(path);
    memory_free(path);
  }
}

char* design_checkpoint_path(const char* folder) { return file_join(folder, "checkpoint"); }

Status design_write_checkpoint(const char* folder, const Optimization* o, Diagnostics* diagnostics) {
  NumberFile checkpoint = {0};
  optimization_save(o, &checkpoint);
  char* path = design_checkpoint_path(folder);
  Status status = number_file_write(&checkpoint, path);
  if (status != STATUS_OK)
    diagnostics_add(diagnostics, SEVERITY_ERROR, (SourcePosition){path, 0, 0}, "cannot write: %s", strerror(errno));
  memory_free(path);
  number_file_free(&checkpoint);
  return status;
}

static void add_program(Json* json, const RunProgram* program) {
  json_open(json, "program", '{');
  json_text(json, "version", program->version);
  json_text(json, "commit", program->commit);
  json_text(json, "build_flags", program->build_flags);
  json_close(json, '}');
}

static void add_input(Json* json, const char* path, const char* sha256) {
  json_open(json, NULL, '{');
  json_text(json, "path", path);
  json_text(json, "sha256", sha256);
  json_close(json, '}');
}

static void add_inputs(Json* json, const Task* task) {
  json_open(json, "inputs", '[');
  add_input(json, task->path, task->sha256);
  for (int k = 0; k < task->scenario_count; k++) {
    int count;
    RunInput* inputs = run_inputs(&task->scenarios[k].scene, &count);
    for (int i = 0; i < count; i++) add_input(json, inputs[i].path, inputs[i].sha256);
    run_inputs_free(inputs, count);
  }
  json_close(json, ']');
}

/* Writes the terms of the best design that have a bound, with the multipliers at the end of the optimization. */
static void add_subjects(Json* json, const Task* task, const Optimization* o) {
  int subjects = optimization_bounded_term_count(o), terms = optimization_term_count(o);
  if (subjects == 0) return;
  json_open(json, "subject_to", '[');
  for (int i = 0; i < subjects; i++) {
    int term = terms - subjects + i;
    json_open(json, NULL, '{');
    json_text(json, "name", optimization_term_name(o, term));
    json_number(json, "value", optimization_terms(o, optimization_best_iteration(o))[term]);
    json_number(json, "max", task->losses[term].bound);
    json_number(json, "multiplier", optimization_multipliers(o, optimization_iteration(o))[i]);
    json_close(json, '}');
  }
  json_close(json, ']');
  json_number(json, "violation", optimization_best_violation(o));
}

/* Writes the success criteria with their values (count). If `values` is NULL, writes the values at the full time
 * step. */
static void add_criteria(Json* json, const Optimization* o, const double* values) {
  int count = optimization_success_count(o);
  json_open(json, "success_terms", '[');
  for (int i = 0; i < count; i++) {
    SuccessTerm term = optimization_success(o, i);
    double value = values ? values[i] : term.value;
    json_open(json, NULL, '{');
    json_text(json, "name", term.name);
    json_number(json, "value", value);
    json_number(json, "max", term.bound);
    json_bool(json, "met", value <= term.bound);
    json_close(json, '}');
  }
  json_close(json, ']');
}

void design_add_success(Json* json, const Optimization* o, ExitCode exit_code) {
  int count = optimization_success_count(o);
  if (exit_code == EXIT_INTERRUPTED || count == 0)
    json_text(json, "success", NULL);
  else
    json_bool(json, "success", optimization_succeeded(o));
  if (count > 0) add_criteria(json, o, NULL);
}

static void add_half_step(Json* json, const Optimization* o, const HalfStep* half) {
  if (!half->given) {
    json_text(json, "half_step", NULL);
    return;
  }
  bool met = half->success != NULL;
  for (int i = 0; half->success && i < optimization_success_count(o); i++)
    met = met && half->success[i] <= optimization_success(o, i).bound;
  json_open(json, "half_step", '{');
  json_number(json, "loss", half->loss);
  json_bool(json, "differs", half->differs);
  if (half->success) json_bool(json, "success", met);
  if (half->success) add_criteria(json, o, half->success);
  json_close(json, '}');
}

/* Writes the results of the validation for every scenario, and the sums over all scenarios. */
static void add_validation(Json* json, const Task* task, const Optimization* o) {
  int tries = optimization_validation_tries(o), held = 0;
  if (tries == 0) return;
  for (int k = 0; k < task->scenario_count; k++) held += optimization_validation_passed(o, k);
  json_open(json, "validation", '{');
  json_integer(json, "tried", (int64_t)tries * task->scenario_count);
  json_integer(json, "held", held);
  json_open(json, "objects", '[');
  for (int k = 0; k < task->scenario_count; k++) {
    json_open(json, NULL, '{');
    json_text(json, "name", task->scenarios[k].name);
    json_integer(json, "tried", tries);
    json_integer(json, "held", optimization_validation_passed(o, k));
    json_close(json, '}');
  }
  json_close(json, ']');
  json_close(json, '}');
}

/* Writes the lines of a text as an array of texts. */
static void add_lines(Json* json, const char* key, const Text* lines) {
  json_open(json, key, '[');
  for (const char* line = lines->data; line && *line;) {
    size_t length = strcspn(line, "\n");
    Text one = {0};
    text_add_bytes(&one, line, length);
    json_text(json, NULL, one.data);
    text_free(&one);
    line += length + (line[length] == '\n');
  }
  json_close(json, ']');
}

/* Writes the numbers of rejected trials, the reason why the optimization stopped, and the advice to the user. */
static void add_report(Json* json, const Optimization* o, bool interrupted) {
  RejectedTrials rejected = optimization_rejected(o);
  json_open(json, "rejected", '{');
  json_integer(json, "invalid", rejected.invalid);
  json_integer(json, "solver", rejected.solver);
  json_integer(json, "rose", rejected.rose);
  json_close(json, '}');
  OptimizationReport report;
  optimization_report(o, interrupted, &report);
  json_text(json, "stopped", report.reason.data);
  add_lines(json, "findings", &report.findings);
  add_lines(json, "advice", &report.advice);
  optimization_report_free(&report);
}

static void add_results(Json* json, int starts, const Optimization* o) {
  const OptimizationRow* rows = optimization_rows(o);
  int iteration = optimization_iteration(o), accepted = 0, refused = 0, rose = 0, begun = 1;
  for (int k = 1; k <= iteration; k++) {
    accepted += rows[k].outcome == TRIAL_ACCEPTED;
    rose += rows[k].outcome == TRIAL_ROSE;
    begun += rows[k].outcome == TRIAL_START;
    refused += rows[k].outcome > TRIAL_ROSE;
  }
  json_integer(json, "iterations", iteration);
  json_integer(json, "accepted", accepted);
  json_integer(json, "rejected_rose", rose);
  json_integer(json, "rejected_failed", refused);
  json_number(json, "initial_loss", rows[0].loss);
  json_number(json, "best_loss", optimization_best_loss(o));
  json_integer(json, "best_iteration", optimization_best_iteration(o));
  const char* reason;
  if (starts > 1) json_integer(json, "starts", begun);
  if (starts > 1) json_integer(json, "failed_starts", optimization_failed_starts(o, &reason));
  if (starts > 1) json_integer(json, "best_start", optimization_best_start(o));
  json_open(json, "best_terms", '{');
  for (int t = 0; t < optimization_term_count(o); t++)
    json_number(json, optimization_term_name(o, t), optimization_terms(o, optimization_best_iteration(o))[t]);
  json_close(json, '}');
  AdjointReport adjoint = optimization_adjoint(o);
  json_number(json, "gradient_growth", adjoint.growth);
  json_integer(json, "indefinite_steps", adjoint.indefinite_steps);
}

Status design_write_summary(const char* folder, const DesignSummary* summary, const Task* task, const Optimization* o,
                            Text* text, Diagnostics* diagnostics) {
  const bool interrupted = summary->exit_code == EXIT_INTERRUPTED;
  Json json = {.out = text};
  double forward, adjoint;
  optimization_times(o, &forward, &adjoint);
  json_open(&json, NULL, '{');
  json_text(&json, "task", task->name);
  json_integer(&json, "exit_code", summary->exit_code);
  json_text(&json, "stop", optimization_stop_text(interrupted ? STOP_INTERRUPTED : optimization_stop(o)));
  add_program(&json, summary->program);
  json_integer(&json, "threads", summary->threads);
  add_inputs(&json, task);
  json_open(&json, "overrides", '[');
  for (int k = 0; k < summary->override_count; k++) json_text(&json, NULL, summary->overrides[k].text);
  json_close(&json, ']');
  json_integer(&json, "seed", (int64_t)task->seed);
  json_integer(&json, "variables", optimization_variable_count(o));
  json_text(&json, "shared_vertices", optimization_note(o));
  add_results(&json, task->multistart, o);
  add_report(&json, o, interrupted);
  add_subjects(&json, task, o);
  design_add_success(&json, o, summary->exit_code);
  add_half_step(&json, o, &summary->half_step);
  add_validation(&json, task, o);
  json_open(&json, "seconds", '{');
  json_number(&json, "total", optimization_rows(o)[optimization_iteration(o)].seconds);
  json_number(&json, "forward", forward);
  json_number(&json, "adjoint", adjoint);
  json_close(&json, '}');
  json_close(&json, '}');
  return write_text(folder, "summary.json", text, diagnostics);
}

/* Receding horizon: optimizes consecutive time windows and executes the first steps of each (docs/receding.md). */
#include <assert.h>
#include <string.h>

#include "optimize/optimization.h"

/* Tolerance for equal times, as a fraction of a step. */
#define TIME_ROUNDING 1e-6

struct Receding {
  Task* task;
  Optimization* optimization;
  int steps, window_count, window;
  int executed_steps, windows_to_replay; /* number of executed steps; number of restored windows to execute again */
  SceneStart initial_start;  /* initial state of the whole run; the scene has the initial state of the current window */
  double* window_variables;  /* variables with which each window was executed (window_count x variables) */
  double* terms;             /* values of the terms in each window (window_count x terms) */
  RecedingRow* rows;         /* results of the windows (size: window_count) */
  double* initial_variables; /* initial values of the variables in the current window (size: variables) */
  bool* fixed;               /* true for variables that affect executed steps only (size: variables) */
  Scene displayed;           /* scene of receding_scene; shares its arrays with the scene of the optimization */
  RowSelection selection;    /* rows of `executed` that `success` reads */
  Recording executed;        /* recording of the steps executed so far; used only if the task has `success` terms */
};

static Scene* receding_task_scene(const Receding* r) { return &r->task->scenarios[0].scene; }
static int variable_count(const Receding* r) { return r->optimization->design.variable_count; }
static double* variables_of_window(const Receding* r, int window) {
  return r->window_variables + (size_t)window * (size_t)variable_count(r);
}

/* Entry of a signal that one variable sets. */
typedef struct {
  const SceneSignal* signal;
  int row, channel;
  bool signal_rate_is_used; /* true if the drive uses the rate of the signal, which depends on this row and the next */
} TimedVariable;

static bool signal_rate_is_used(const Scene* scene, SignalPlace place) {
  if (place.kind != CONTROL_DRIVES) return false;
  const SceneController* c = &scene->controllers[place.item];
  bool damped = false;
  for (int k = 0; k < JOINT_MAX_DOF; k++) damped = damped || c->velocity_gain[k] > 0 || c->damping_gain[k] > 0;
  return c->type == CONTROLLER_PD && damped;
}

/* Returns the entry of a signal that a scene value sets, or signal NULL. */
static TimedVariable timed_variable(const Receding* r, const DesignNumber* n) {
  TimedVariable out = {.signal = NULL};
  if (n->kind != OVERRIDE_CONTROL || n->term_count != 1) return out;
  SignalPlace place = model_scene_signal(receding_task_scene(r), n->link, n->part);
  const SceneSignal* s = place.signal;
  bool timed = s->type == SIGNAL_KEYFRAMES || s->type == SIGNAL_SPLINE || s->type == SIGNAL_SEQUENCE;
  if (!timed || n->index >= signal_value_count(s)) return out;
  return (TimedVariable){s, n->index / s->channels, n->index % s->channels,
                         signal_rate_is_used(receding_task_scene(r), place)};
}

static int find_variable(const Receding* r, const DesignNumber* n) {
  return r->optimization->design.terms[n->term_first].variable;
}

static double row_time(const SceneSignal* s, int row) { return s->times ? s->times[row] : row * s->interval; }

static double step_time(const Receding* r, int step) {
  double dt = receding_task_scene(r)->simulation.dt;
  return r->initial_start.time + step * dt;
}

/* Returns the values of a signal for the design x[variables] (rows * channels). The caller frees the array with
 * memory_free. */
static double* evaluate_signal(const Receding* r, const SceneSignal* s, const double* x) {
  const Design* d = &r->optimization->design;
  size_t size = sizeof(double) * (size_t)signal_value_count(s);
  double* values = memcpy(memory_alloc(size), s->values, size);
  for (int k = 0; k < d->number_count; k++) {
    TimedVariable v = timed_variable(r, &d->numbers[k]);
    if (v.signal == s) values[v.row * s->channels + v.channel] = x[find_variable(r, &d->numbers[k])];
  }
  return values;
}

/* Returns the value of a channel at time t [s]: linear between rows, constant before the first and after the last. */
static double interpolate_signal(const SceneSignal* s, const double* values, int channel, double t) {
  int row = 0;
  while (row + 1 < s->rows && row_time(s, row + 1) <= t) row++;
  double from = values[row * s->channels + channel], begin = row_time(s, row);
  if (row + 1 == s->rows || t <= begin) return from;
  double share = (t - begin) / (row_time(s, row + 1) - begin);
  return from + share * (values[(row + 1) * s->channels + channel] - from);
}

/* Returns the last row that affects a window ending at time t [s]. */
static int last_active_row(const SceneSignal* s, double t) {
  int row = 0;
  while (row + 1 < s->rows && row_time(s, row) < t) row++;
  return row;
}

/* Returns true if a step executed before time t [s] depends on a row of a signal. A row acts between its neighbours.
 * Times closer than `rounding` [s] are equal. */
static bool is_executed(const TimedVariable* v, double t, double rounding) {
  if (v->row == 0) return true;
  double from = row_time(v->signal, v->row - 1);
  return v->signal_rate_is_used ? from <= t + rounding : from < t - rounding;
}

/* Returns the initial value of a row for the current window. Rows of the last window, which ended at `end` [s], keep
 * their value. Later rows get the last value plus the difference of both rows in the scene. */
static double shift_value(const Receding* r, const DesignNumber* n, const TimedVariable* v, const double* values,
                          double end) {
  const DesignVariable* variables = r->optimization->design.variables;
  int last = last_active_row(v->signal, end), at = v->row * v->signal->channels + v->channel;
  if (v->row <= last) return values[at];
  int seen = last * v->signal->channels + v->channel;
  return variables[find_variable(r, n)].initial + values[seen] - v->signal->values[seen];
}

/* Sets the initial variables of the current window from the result of the last one, and fixes variables that affect
 * executed steps only. */
static void warm_start(Receding* r) {
  const Design* d = &r->optimization->design;
  const double* x = variables_of_window(r, r->window - 1);
  double dt = receding_task_scene(r)->simulation.dt, begin = step_time(r, r->executed_steps);
  double end = step_time(r, (r->window - 1) * r->task->receding.apply + r->task->receding.horizon);
  memcpy(r->initial_variables, x, sizeof(double) * (size_t)d->variable_count);
  memset(r->fixed, 0, sizeof(bool) * (size_t)d->variable_count);
  for (int k = 0; k < d->number_count; k++) {
    TimedVariable v = timed_variable(r, &d->numbers[k]);
    if (!v.signal) continue;
    int variable = find_variable(r, &d->numbers[k]);
    double t = row_time(v.signal, v.row);
    r->fixed[variable] = is_executed(&v, begin, TIME_ROUNDING * dt);
    if (r->fixed[variable]) continue;
    double* values = evaluate_signal(r, v.signal, x);
    r->initial_variables[variable] =
        r->task->receding.warm_start == WARM_SHIFT
            ? shift_value(r, &d->numbers[k], &v, values, end)
            : interpolate_signal(v.signal, values, v.channel, t - r->task->receding.apply * dt);
    memory_free(values);
  }
}

static void create_executed_recording(Receding* r) {
  const Model* model = &r->optimization->runs[0].model; /* all models have the same sizes */
  if (!r->optimization->success) return;
  r->selection = row_selection_create(model, r->steps);
  loss_select_rows(success_loss(r->optimization->success, 0), model, &r->selection);
  row_selection_compute_offsets(&r->selection, model);
  recording_create_selective(&r->executed, model, r->steps, &r->selection);
  loss_record_pair_forces(success_loss(r->optimization->success, 0), r->steps, &r->executed, NULL);
}

static void record_executed(Receding* r, Sim* sim, int row) {
  if (r->optimization->success) recording_add_row(&r->executed, sim, row);
}

void receding_evaluate_success(Receding* r) {
  Success* success = r->optimization->success;
  int count = optimization_success_count(r->optimization);
  if (!success || r->executed_steps < r->steps) return;
  Model model; /* model with the executed control */
  Diagnostics unsaid = {0};
  double* values = MEMORY_NEW(double, count);
  bool made = model_create(&model, receding_scene(r), &unsaid) == STATUS_OK;
  if (made) {
    r->executed.model = &model;
    loss_evaluate(success_loss(success, 0), &r->executed, values, NULL);
  }
  success_add_scenario(success, 0, made ? values : NULL);
  r->executed.model = &r->optimization->runs[0].model;
  model_destroy(&model);
  memory_free(values);
  diagnostics_free(&unsaid);
}

bool receding_is_reproducible(const Receding* r) {
  const Design* d = &r->optimization->design;
  for (int k = 0; k < d->number_count; k++) {
    TimedVariable v = timed_variable(r, &d->numbers[k]);
    if (!v.signal || v.signal->type == SIGNAL_SPLINE) return r->window_count == 1;
  }
  return true;
}

static void allocate_windows(Receding* r) {
  size_t windows = (size_t)r->window_count, n = (size_t)variable_count(r);
  r->window_variables = MEMORY_NEW(double, windows* n);
  r->terms = MEMORY_NEW(double, windows*(size_t)r->optimization->term_count);
  r->rows = MEMORY_NEW(RecedingRow, windows);
  r->initial_variables = MEMORY_NEW(double, n);
  r->fixed = MEMORY_NEW(bool, n);
  memcpy(r->initial_variables, r->optimization->x, sizeof(double) * n);
}

Status receding_executed_model(Receding* r, Model* model, Diagnostics* diagnostics) {
  bool scheduled = continuation_is_active(r->optimization, 0);
  if (scheduled) continuation_finish(r->optimization);
  Status status = model_create(model, receding_task_scene(r), diagnostics);
  if (scheduled) continuation_restart(r->optimization);
  return status;
}

/* Checks that the scene can start with the last contact of the schedule, with which every window is executed. */
static Status check_last_contact(Receding* r, Diagnostics* diagnostics) {
  if (!continuation_is_active(r->optimization, 0)) return STATUS_OK;
  Model model;
  Status status = receding_executed_model(r, &model, diagnostics);
  if (status != STATUS_OK)
    diagnostics_add(
        diagnostics, SEVERITY_NOTE, r->task->continuation.place,
        "the error occurs with the contact parameters at the end of the schedule: correct the scene or the schedule");
  model_destroy(&model);
  return status;
}

Status receding_create(Receding** out, Task* task, const OptimizationOptions* options, Diagnostics* diagnostics) {
  Receding* r = *out = MEMORY_NEW(Receding, 1);
  TaskScenario* scenario = &task->scenarios[0];
  r->task = task;
  r->steps = scenario->steps > 0 ? scenario->steps : scenario->scene.simulation.steps;
  r->window_count = (r->steps + task->receding.apply - 1) / task->receding.apply;
  task->receding.steps = r->steps;
  scenario->steps = task->receding.horizon;
  if (task->receding.iterations > 0) task->optimizer.iterations = task->receding.iterations;
  Status status = optimization_create(&r->optimization, task, options, diagnostics);
  if (status == STATUS_OK) status = check_last_contact(r, diagnostics);
  if (status != STATUS_OK) return status;
  r->initial_start = scenario->scene.start; /* each window replaces the start of the scene */
  allocate_windows(r);
  create_executed_recording(r);
  return STATUS_OK;
}

void receding_destroy(Receding* r) {
  if (!r) return;
  recording_destroy(&r->executed);
  row_selection_destroy(&r->selection);
  optimization_destroy(r->optimization);
  if (r->executed_steps > 0) scene_set_start(receding_task_scene(r), NULL);
  if (r->executed_steps > 0) receding_task_scene(r)->start = r->initial_start;
  void* owned[] = {r->window_variables, r->terms, r->rows, r->initial_variables, r->fixed};
  for (size_t k = 0; k < sizeof(owned) / sizeof(owned[0]); k++) memory_free(owned[k]);
  memory_free(r);
}

Optimization* receding_optimization(Receding* r) { return r->optimization; }
int receding_steps(const Receding* r) { return r->steps; }
int receding_window_count(const Receding* r) { return r->window_count; }
int receding_window(const Receding* r) { return r->window; }
const RecedingRow* receding_rows(const Receding* r) {
  assert(r);
  return r->rows;
}
const double* receding_terms(const Receding* r, int window) {
  assert(window >= 0);
  return r->terms + (size_t)window * (size_t)r->optimization->term_count;
}

const Scene* receding_scene(Receding* r) {
  r->displayed = *optimization_scene(r->optimization, 0, true);
  r->displayed.simulation.steps = r->steps;
  r->displayed.start = r->initial_start;
  return &r->displayed;
}

void receding_begin(Receding* r) {
  const Optimization* o = r->optimization;
  if (r->window == 0) memcpy(r->initial_variables, o->x, sizeof(double) * (size_t)variable_count(r));
  optimization_restart(r->optimization, r->initial_variables, r->window > 0 ? r->fixed : NULL);
}

static void store_window(Receding* r) {
  const Optimization* o = r->optimization;
  int terms = o->term_count;
  memcpy(variables_of_window(r, r->window), o->best_x, sizeof(double) * (size_t)variable_count(r));
  memcpy(r->terms + (size_t)r->window * (size_t)terms, o->row_terms + (size_t)o->best_iteration * (size_t)terms,
         sizeof(double) * (size_t)terms);
  r->rows[r->window] = (RecedingRow){r->executed_steps, o->iteration, o->rows[0].loss,
                                     o->best_loss,      o->stop,      o->rows[o->iteration].seconds};
}

/* Makes the current state the initial state of the next window. */
static void store_next_start(Receding* r, Sim* sim) {
  NumberFile* state = MEMORY_NEW(NumberFile, 1);
  sim_state_file(sim, state);
  if (r->executed_steps == 0)
    receding_task_scene(r)->start = (SceneStart){.place = r->initial_start.place}; /* r->initial_start owns the start */
  scene_set_start(receding_task_scene(r), state);
}

static Status execute_steps(Receding* r, Sim* sim, RecedingRecord record, void* context, Diagnostics* diagnostics) {
  int left = r->steps - r->executed_steps, count = r->task->receding.apply < left ? r->task->receding.apply : left;
  Status status = r->executed_steps == 0 ? record(context, sim, NULL) : STATUS_OK;
  if (r->executed_steps == 0) record_executed(r, sim, 0);
  for (int k = 0; k < count && status == STATUS_OK; k++) {
    StepReport report = sim_step(sim);
    if (step_outcome_failed(report.outcome)) {
      Text text = {0};
      sim_failure_text(&text, &r->optimization->runs[0].model, sim, &report);
      diagnostics_add(diagnostics, SEVERITY_ERROR, (SourcePosition){r->task->path, 0, 0}, "%s", text.data);
      text_free(&text);
      return STATUS_SOLVER;
    }
    record_executed(r, sim, r->executed_steps + k + 1);
    status = record(context, sim, &report);
  }
  if (status != STATUS_OK) return status;
  store_next_start(r, sim);
  r->executed_steps += count;
  return STATUS_OK;
}

/* Executes the current window with the design x[variables] and advances to the next. */
static Status execute_window(Receding* r, const double* x, RecedingRecord record, void* context,
                             Diagnostics* diagnostics) {
  Model model;
  Sim* sim;
  const SimOptions options = {.threads = r->optimization->options.threads, .path = true, .scheme_work = true};
  Status status = optimization_model(r->optimization, 0, x, &model, diagnostics);
  if (status == STATUS_OK) status = sim_create(&sim, &model, &options, diagnostics);
  if (status == STATUS_OK) {
    status = execute_steps(r, sim, record, context, diagnostics);
    sim_destroy(sim);
  }
  model_destroy(&model);
  if (status != STATUS_OK) return status;
  r->window++;
  if (r->window < r->window_count) warm_start(r);
  return STATUS_OK;
}

Status receding_execute(Receding* r, RecedingRecord record, void* context, Diagnostics* diagnostics) {
  store_window(r);
  return execute_window(r, variables_of_window(r, r->window), record, context, diagnostics);
}

void receding_move_start(Receding* r, Scene* scene) {
  const Design* d = &r->optimization->design;
  if (r->executed_steps == 0) return; /* the scene already has its initial state */
  ModelOverride* overrides = design_overrides(d, r->initial_variables);
  for (int k = 0; k < d->number_count; k++) *model_scene_number(scene, &overrides[k]) = overrides[k].value;
  memory_free(overrides);
  scene_set_start(scene, receding_task_scene(r)->start.state);
  receding_task_scene(r)->start.state = NULL; /* `scene` owns the state now */
}

/* ---------------------------------------------------------------- checkpoints */

enum { ROW_NUMBERS = 6 };

void receding_save(const Receding* receding, bool inside, NumberFile* checkpoint) {
  const Optimization* o = receding->optimization;
  int64_t counts[7] = {receding->window,
                       inside,
                       receding->steps,
                       receding->task->receding.horizon,
                       receding->task->receding.apply,
                       receding->task->optimizer.iterations,
                       receding->task->receding.warm_start};
  optimization_save(o, checkpoint);
  number_file_add_integers(checkpoint, "receding/counts", counts, 7);
  number_file_add_doubles(checkpoint, "receding/found", receding->window_variables,
                          receding->window * variable_count(receding));
  number_file_add_doubles(checkpoint, "receding/terms", receding->terms, receding->window * o->term_count);
  double* numbers = MEMORY_NEW(double, ROW_NUMBERS * receding->window + 1);
  for (int k = 0; k < receding->window; k++) {
    const RecedingRow* row = &receding->rows[k];
    const double all[ROW_NUMBERS] = {row->step, row->iterations,   row->initial_loss,
                                     row->loss, (double)row->stop, row->seconds};
    memcpy(numbers + ROW_NUMBERS * k, all, sizeof(all));
  }
  number_file_add_doubles(checkpoint, "receding/rows", numbers, ROW_NUMBERS * receding->window);
  memory_free(numbers);
}

static bool windows_agree(const Receding* r, const int64_t* counts, const NumberFile* c, Diagnostics* diagnostics) {
  const TaskReceding* t = &r->task->receding;
  bool same = counts[2] == r->steps && counts[3] == t->horizon && counts[4] == t->apply &&
              counts[5] == r->task->optimizer.iterations && counts[6] == (int64_t)t->warm_start;
  bool sound = counts[0] >= 0 && counts[0] <= r->window_count;
  if (same && sound) return true;
  diagnostics_add(diagnostics, SEVERITY_ERROR, (SourcePosition){c->path, 0, 0},
                  "the checkpoint has other windows than the task (length, number, warm start or iterations): restore "
                  "these settings or start without --resume");
  return false;
}

bool receding_load(Receding* r, const NumberFile* c, bool* in_window, Diagnostics* diagnostics) {
  int64_t counts[7];
  if (!number_file_get_integers(c, "receding/counts", counts, 7, diagnostics)) return false;
  if (!windows_agree(r, counts, c, diagnostics)) return false;
  int windows = (int)counts[0];
  double* numbers = MEMORY_NEW(double, ROW_NUMBERS* windows + 1);
  bool whole =
      number_file_get_doubles(c, "receding/found", r->window_variables, windows * variable_count(r), diagnostics) &&
      number_file_get_doubles(c, "receding/terms", r->terms, windows * r->optimization->term_count, diagnostics) &&
      number_file_get_doubles(c, "receding/rows", numbers, ROW_NUMBERS * windows, diagnostics);
  for (int k = 0; whole && k < windows; k++) {
    const double* n = numbers + ROW_NUMBERS * k;
    r->rows[k] = (RecedingRow){(int)n[0], (int)n[1], n[2], n[3], (OptimizationStop)n[4], n[5]};
  }
  memory_free(numbers);
  r->windows_to_replay = windows;
  *in_window = counts[1] != 0;
  return whole;
}

Status receding_replay(Receding* r, RecedingRecord record, void* context, Diagnostics* diagnostics) {
  Status status = STATUS_OK;
  continuation_finish(r->optimization);
  while (r->window < r->windows_to_replay && status == STATUS_OK)
    status = execute_window(r, variables_of_window(r, r->window), record, context, diagnostics);
  return status;
}

/* Fit: creation, evaluation of all shots, start and end (docs/derivations/identify.md). A shot is a measured run or a
 * window of it. */
#include <assert.h>
#include <string.h>

#include "identify/fit.h"

/* Largest depth of a body in the ground, in standard deviations of the position. */
#define DEPTH_MAX 5.0
/* Largest fraction of the shots that may fail at a trial. */
#define FAILED_FRACTION_MAX 0.05

const char* identify_stop_text(IdentifyStop stop) {
  static const char* const text[] = {"running", "the sum of squares falls no more", "all iterations done",
                                     "no step lowers the sum of squares"};
  return text[stop];
}

static void allocate_vectors(Identification* id) {
  int n = id->variables = optimization_variable_count(id->optimization);
  double** const vectors[] = {&id->initial,         &id->low,       &id->high,  &id->scale,
                              &id->prior,           &id->x,         &id->trial, &id->g,
                              &id->singular_values, &id->deviation, &id->error, &id->contradiction_width,
                              &id->next_change};
  for (size_t k = 0; k < sizeof(vectors) / sizeof(vectors[0]); k++) *vectors[k] = MEMORY_NEW(double, n + 1);
  double** const matrices[] = {&id->a, &id->raw_a, &id->directions, &id->covariance, &id->base_parameters};
  for (size_t k = 0; k < sizeof(matrices) / sizeof(matrices[0]); k++) *matrices[k] = MEMORY_NEW(double, n* n + 1);
  id->fixed = MEMORY_NEW(bool, n + 1);
  for (int k = 0; k < n; k++) {
    OptimizationVariable v = optimization_variable(id->optimization, k);
    id->initial[k] = id->x[k] = v.initial;
    id->low[k] = v.low;
    id->high[k] = v.high;
    id->prior[k] = v.prior;
    id->scale[k] = v.scale;
  }
}

ShotSums* sums_create(const Identification* id) {
  assert(id->shot_count >= 0);
  size_t n = (size_t)id->variables, l = (size_t)id->locals;
  ShotSums* sums = MEMORY_NEW(ShotSums, id->shot_count + 1);
  for (int k = 0; k < id->shot_count; k++) {
    ShotSums* s = &sums[k];
    s->a = MEMORY_NEW(double, n* n + 1);
    s->g = MEMORY_NEW(double, n + 1);
    s->b = MEMORY_NEW(double, n* l + 1);
    s->c = MEMORY_NEW(double, l* l + 1);
    s->h = MEMORY_NEW(double, l + 1);
  }
  return sums;
}

void sums_free(const Identification* id, ShotSums* sums) {
  for (int k = 0; k < id->shot_count && sums; k++) {
    ShotSums* s = &sums[k];
    double* owned[] = {s->a, s->g, s->b, s->c, s->h, s->subset_a, s->subset_g};
    for (size_t n = 0; n < sizeof(owned) / sizeof(owned[0]); n++) memory_free(owned[n]);
  }
  memory_free(sums);
}

static const FitMethod* find_method(TaskOptimizerType type) {
  return type == OPTIMIZER_LEVENBERG_MARQUARDT ? &METHOD_RESIDUALS : &METHOD_SEARCH;
}

/* Adds an error for each section of the task that applies to losses only. */
static void check_sections(const Task* task, Diagnostics* diagnostics) {
  const TaskContinuation* c = &task->continuation;
  bool schedule = c->support.iterations > 0 || c->stiffness.iterations > 0 || c->switch_at > 0;
  const struct {
    bool given;
    const char* name;
    SourcePosition place;
  } unused[] = {
      {schedule, "schedule", c->place},
      {task->receding.given, "receding", task->receding.place},
      {task->draw_count > 0, "draws", task->draw_count > 0 ? task->draws[0].place : task->data.place},
      {task->subject_count > 0, "subject_to",
       task->subject_count > 0 ? task->losses[task->loss_count - task->subject_count].place : task->data.place},
  };
  for (size_t k = 0; k < sizeof(unused) / sizeof(unused[0]); k++)
    if (unused[k].given)
      diagnostics_add(diagnostics, SEVERITY_ERROR, unused[k].place,
                      "'%s' applies to sdrs optimize only: remove it from a task with data", unused[k].name);
}

/* Adds an error for each feature of the scene that the fit does not support. */
static Status check_scene(const Identification* id, Diagnostics* diagnostics) {
  const Model* m = &id->model;
  const Task* task = id->task;
  SourcePosition place = task->data.place;
  int before = diagnostics->error_count;
  if (m->feels)
    diagnostics_add(diagnostics, SEVERITY_ERROR, place,
                    "sdrs identify does not support feedback by contact forces: remove the feedback from the "
                    "controllers of the scene");
  if (m->delayed_count > 0)
    diagnostics_add(
        diagnostics, SEVERITY_ERROR, place,
        "sdrs identify does not support feedback with a delay: remove 'delay' from the controllers of the scene");
  for (int k = 0; k < m->closure_count; k++)
    if (m->closures[k].active.source) {
      diagnostics_add(diagnostics, SEVERITY_ERROR, place,
                      "sdrs identify does not support closures[%d].active: remove 'active' from the closure", k);
      break;
    }
  for (int k = 0; k < task->control_count; k++) {
    const TaskControl* c = &task->controls[k];
    for (int i = 0; i < m->link_count; i++)
      if (m->links[i].prescribed >= 0 && (c->of & CONTROL_DRIVES) && strcmp(m->links[i].name, c->link.text) == 0)
        diagnostics_add(
            diagnostics, SEVERITY_ERROR, c->place,
            "the joint of link '%s' is prescribed, so its signal cannot be fitted: use a controller of type pd",
            c->link.text);
  }
  (void)id->method->allows(id, diagnostics);
  check_sections(task, diagnostics);
  if (task->scenario_count > 1)
    diagnostics_add(
        diagnostics, SEVERITY_ERROR, task->scenarios[1].place,
        "measured runs are fitted with one scene: keep one entry of 'scenarios', and write a task for each scene");
  return diagnostics->error_count > before ? STATUS_BAD_INPUT : STATUS_OK;
}

Status identification_create(Identification** result, Task* task, const IdentifyOptions* options,
                             Diagnostics* diagnostics) {
  assert(result && task && options && diagnostics);
  Identification* id = MEMORY_NEW(Identification, 1);
  *result = id;
  id->task = task;
  id->options = *options;
  id->damping = 1e-3;
  id->rank = processes_rank();
  id->processes = processes_count();
  if (!task->data.given) {
    diagnostics_add(diagnostics, SEVERITY_ERROR, (SourcePosition){task->path, 0, 0},
                    "'data' is missing: add 'data' with the measured runs");
    return STATUS_BAD_INPUT;
  }
  if (!task->optimizer.type_given) task->optimizer.type = OPTIMIZER_LEVENBERG_MARQUARDT;
  id->method = find_method(task->optimizer.type);
  OptimizationOptions settings = {options->threads, options->interrupted};
  Status status = optimization_create(&id->optimization, task, &settings, diagnostics);
  if (status != STATUS_OK) return status;
  allocate_vectors(id);
  id->has_model = true;
  status = optimization_model(id->optimization, 0, id->x, &id->model, diagnostics);
  if (status == STATUS_OK) status = check_scene(id, diagnostics);
  if (status == STATUS_OK)
    status = measured_read(&id->data, task, options->files, options->file_count, &id->model, diagnostics);
  if (status != STATUS_OK) return status;
  id->locals = task->identify.fit_initial ? 2 * id->model.dof_count : 0;
  shots_create(id);
  id->sums = sums_create(id);
  id->run_errors = MEMORY_NEW(double, 2 * ERROR_NUMBERS * id->data.count + 1);
  id->run_is_complete = MEMORY_NEW(bool, 2 * id->data.count + 1);
  return STATUS_OK;
}

void identification_destroy(Identification* id) {
  if (!id) return;
  sums_free(id, id->sums);
  sums_free(id, id->trial_sums);
  shots_free(id);
  measured_free(&id->data);
  if (id->has_model) model_destroy(&id->model);
  optimization_destroy(id->optimization);
  void* owned[] = {id->initial,
                   id->low,
                   id->high,
                   id->scale,
                   id->prior,
                   id->x,
                   id->trial,
                   id->g,
                   id->singular_values,
                   id->error,
                   id->deviation,
                   id->a,
                   id->raw_a,
                   id->directions,
                   id->covariance,
                   id->base_parameters,
                   id->fixed,
                   id->rows,
                   id->run_errors,
                   id->run_is_complete,
                   id->contradiction_width,
                   id->contradictions,
                   id->next_change};
  for (size_t k = 0; k < sizeof(owned) / sizeof(owned[0]); k++) memory_free(owned[k]);
  text_free(&id->verdict);
  text_free(&id->determined);
  memory_free(id);
}

typedef struct {
  Identification* id;
  SweepWork work;
  const double* x;
  double* locals; /* increments of the initial states of all shots, one shot after the other */
  ShotSums* out;
} ShotEvaluation;

/* Returns the number of shots or runs that this MPI process evaluates, out of `all`. */
static int local_item_count(const Identification* id, int all) {
  return id->rank < all ? (all - 1 - id->rank) / id->processes + 1 : 0;
}
static int local_item(const Identification* id, int local) {
  assert(local >= 0);
  return id->rank + local * id->processes;
}

static void evaluate_shot(void* context, int item, int thread) {
  (void)thread;
  ShotEvaluation* s = context;
  int index = local_item(s->id, item);
  const Shot* shot = &s->id->shots[index];
  ShotSums* out = &s->out[index];
  double* local = s->locals + (size_t)index * (size_t)s->id->locals;
  if (!shot->usable) return;
  out->runs = 1;
  switch (s->work) {
    case SWEEP_COST:
    case SWEEP_NORMAL:
      shot_evaluate(s->id, s->x, shot, local, s->work == SWEEP_NORMAL, out);
      break;
    case SWEEP_GRADIENT:
      shot_gradient(s->id, s->x, shot, out);
      break;
    case SWEEP_MINIMIZED:
      shot_minimize(s->id, s->x, shot, local, out);
      break;
  }
}

/* Sends the sums of a shot from its process to all processes. */
static void broadcast_sums(const ShotEvaluation* s, int shot) {
  const Identification* id = s->id;
  ShotSums* out = &s->out[shot];
  int owner = shot % id->processes;
  size_t n = (size_t)id->variables, l = (size_t)id->locals, number = sizeof(double);
  processes_broadcast(&out->ran, sizeof(out->ran), owner);
  processes_broadcast(&out->cost, sizeof(out->cost), owner);
  processes_broadcast(&out->residuals, sizeof(out->residuals), owner);
  processes_broadcast(&out->runs, sizeof(out->runs), owner);
  if (s->work == SWEEP_COST || !out->ran) return;
  processes_broadcast(out->g, number * n, owner);
  if (s->work == SWEEP_MINIMIZED) processes_broadcast(s->locals + (size_t)shot * l, number * l, owner);
  if (s->work != SWEEP_NORMAL) return;
  processes_broadcast(out->a, number * n * n, owner);
  processes_broadcast(out->b, number * n * l, owner);
  processes_broadcast(out->c, number * l * l, owner);
  processes_broadcast(out->h, number * l, owner);
  if (!out->subset_a) return;
  processes_broadcast(out->subset_a, number * SUBSETS * n * n, owner);
  processes_broadcast(out->subset_g, number * SUBSETS * n, owner);
}

bool fit_interrupted(const Identification* id) {
  return processes_max(id->options.interrupted && id->options.interrupted());
}

static double prior_cost(const Identification* id, const double* x) {
  double sum = 0;
  for (int k = 0; k < id->variables; k++) {
    if (!(id->prior[k] > 0)) continue;
    double r = (x[k] - id->initial[k]) / id->prior[k];
    sum += 0.5 * r * r;
  }
  return sum;
}

/* Returns the previous cost of a shot whose simulation fails for the variables x, and sets its gradient to zero. */
static double use_previous_cost(const Identification* id, int shot, bool derivatives, ShotSums* out) {
  double cost = id->sums[shot].cost;
  if (derivatives) {
    shot_clear(id, &out[shot]);
    out[shot].cost = cost;
    out[shot].residuals = 0;
  }
  return cost;
}

double fit_evaluate_shots(Identification* id, SweepWork work, const double* x, double* locals, ShotSums* out) {
  assert(x && out && (locals || work != SWEEP_MINIMIZED || id->locals == 0));
  ShotEvaluation s = {.id = id, .work = work, .x = x, .out = out};
  s.locals = locals;
  parallel_for(id->options.threads, local_item_count(id, id->shot_count), 2, 1, evaluate_shot, &s);
  for (int k = 0; id->processes > 1 && k < id->shot_count; k++)
    if (id->shots[k].usable) broadcast_sums(&s, k);
  double cost = prior_cost(id, x);
  int failed = 0;
  for (int k = 0; k < id->shot_count; k++) {
    if (!id->shots[k].usable) continue;
    id->simulated += out[k].runs;
    cost += out[k].ran ? out[k].cost : use_previous_cost(id, k, work != SWEEP_COST, out);
    failed += !out[k].ran;
  }
  return failed > FAILED_FRACTION_MAX * id->usable_shots && id->usable_shots > 0 ? (double)INFINITY : cost;
}

double* fit_locals(const Identification* id) {
  double* all = MEMORY_NEW(double, (size_t)id->shot_count*(size_t)id->locals + 1);
  for (int k = 0; k < id->shot_count && id->locals > 0; k++)
    memcpy(all + (size_t)k * (size_t)id->locals, id->shots[k].local, sizeof(double) * (size_t)id->locals);
  return all;
}

void fit_sum_shots(Identification* id) {
  int n = id->variables;
  memset(id->a, 0, sizeof(double) * (size_t)(n * n));
  memset(id->g, 0, sizeof(double) * (size_t)n);
  for (int s = 0; s < id->shot_count; s++) {
    if (!id->shots[s].usable) continue;
    for (int i = 0; i < n; i++) {
      id->g[i] += id->sums[s].g[i];
      for (int k = 0; k <= i; k++) id->a[i * n + k] += id->sums[s].a[i * n + k];
    }
  }
  for (int i = 0; i < n; i++) {
    for (int k = 0; k < i; k++) id->a[k * n + i] = id->a[i * n + k];
    if (!(id->prior[i] > 0)) continue;
    double p = 1 / (id->prior[i] * id->prior[i]);
    id->a[i * n + i] += p;
    id->g[i] += p * (id->x[i] - id->initial[i]);
  }
}

/* Returns the name of a data column that contains the height of a link, or NULL. */
static const char* height_column(const MeasuredRun* run) {
  for (int k = 0; k < run->link_count; k++)
    if (run->links[k].has_position) return run->links[k].source->position[2];
  return NULL;
}

/* Reports runs that begin deeper in the ground than noise explains. Returns true if there are none. */
static bool runs_begin_outside_ground(const Identification* id, Diagnostics* diagnostics) {
  int before = diagnostics->error_count, ground = 0;
  for (int k = 0; k < id->shot_count && diagnostics->error_count < before + MEASURED_FAULTS_MAX; k++) {
    const Shot* shot = &id->shots[k];
    if (shot->first > 0 || shot->usable) continue;
    double height = shot_height(id, shot, &ground);
    const char* column = height_column(shot->run);
    if (height < -DEPTH_MAX * id->task->identify.position)
      diagnostics_add(diagnostics, SEVERITY_ERROR, (SourcePosition){shot->run->path, shot->run->line[shot->first], 0},
                      "%s%s%sthe run begins %.3g m inside '%s': check the height of the link's origin, the unit of "
                      "lengths (m) and the order of the quaternion (w, x, y, z)",
                      column ? "column '" : "", column ? column : "", column ? "': " : "", -height,
                      id->model.links[ground].name);
  }
  return diagnostics->error_count == before;
}

Status identification_start(Identification* id, Diagnostics* diagnostics) {
  double* locals = fit_locals(id);
  fit_evaluate_shots(id, SWEEP_NORMAL, id->x, locals, id->sums);
  id->usable_shots = 0;
  id->cost = prior_cost(id, id->x);
  for (int k = 0; k < id->shot_count; k++) {
    id->shots[k].usable = id->sums[k].ran;
    id->usable_shots += id->sums[k].ran;
    if (id->sums[k].ran) id->cost += id->sums[k].cost;
  }
  memory_free(locals);
  if (fit_interrupted(id)) return STATUS_INTERRUPTED;
  int begins = 0, cannot = 0; /* windows are excluded, because noise may put their first sample below the ground */
  for (int k = 0; k < id->shot_count; k++) {
    begins += id->shots[k].first == 0;
    cannot += id->shots[k].first == 0 && !id->shots[k].usable;
  }
  if (cannot > 0 && !runs_begin_outside_ground(id, diagnostics)) return STATUS_BAD_INPUT;
  if (2 * cannot > begins || id->usable_shots == 0) {
    for (int k = 0; k < id->shot_count; k++) {
      if (id->shots[k].usable || id->shots[k].first > 0) continue;
      const MeasuredRun* r = id->shots[k].run;
      diagnostics_add(diagnostics, SEVERITY_ERROR, (SourcePosition){r->path, r->line[id->shots[k].first], 0},
                      "the simulation that starts at this row failed: bodies intersect, or a step did not converge; "
                      "compare the scene's sizes and link origins with the data, and the units (m, rad)");
      break;
    }
    diagnostics_add(
        diagnostics, SEVERITY_ERROR, id->task->data.place,
        "the simulation failed for %d of %d runs and windows, more than half: correct the scene or the data first",
        id->shot_count - id->usable_shots, id->shot_count);
    return STATUS_SOLVER;
  }
  if (id->usable_shots < id->shot_count)
    diagnostics_add(diagnostics, SEVERITY_WARNING, id->task->data.place,
                    "the fit ignores %d of %d runs and windows, because their simulation failed (bodies intersect at "
                    "the start, or a step did not converge): compare the scene with the data",
                    id->shot_count - id->usable_shots, id->shot_count);
  fit_sum_shots(id);
  memcpy(id->raw_a, id->a, sizeof(double) * (size_t)(id->variables * id->variables));
  check_identifiability(id);
  id->method->begin(id);
  return STATUS_OK;
}

void fit_update(Identification* id) {
  double* locals = fit_locals(id);
  id->cost = fit_evaluate_shots(id, SWEEP_NORMAL, id->x, locals, id->sums);
  fit_sum_shots(id);
  memory_free(locals);
}

int identification_iterations(const Identification* id) {
  const Task* task = id->task;
  return id->method == &METHOD_RESIDUALS ? task->identify.iterations : task->optimizer.iterations;
}

void fit_append_row(Identification* id, const FitRow* row) {
  assert(row);
  id->rows = memory_grow_array(id->rows, sizeof(FitRow), id->row_count, &id->row_capacity);
  id->rows[id->row_count] = *row;
  id->rows[id->row_count++].simulated = (double)id->simulated;
}

Status identification_advance(Identification* id) { return id->method->advance(id); }

static void evaluate_run(void* context, int item, int thread) {
  (void)thread;
  Identification* id = context;
  int index = local_item(id, item), run = index / 2, which = index % 2; /* index of the values: 0 fitted, 1 initial */
  id->run_is_complete[index] = shot_compute_errors(id, which == 0 ? id->x : id->initial, &id->data.runs[run],
                                                   id->run_errors + ERROR_NUMBERS * index, NULL);
}

/* After the fit, computes the normal equations of all shots, and of subsets of their data (Q12). */
static void sum_subsets(Identification* id) {
  size_t n = (size_t)id->variables;
  for (int k = 0; k < id->shot_count; k++) {
    if (id->sums[k].subset_a) continue;
    id->sums[k].subset_a = MEMORY_NEW(double, SUBSETS* n* n + 1);
    id->sums[k].subset_g = MEMORY_NEW(double, SUBSETS* n + 1);
  }
  fit_update(id);
}

Status identification_finish(Identification* id, Diagnostics* diagnostics) {
  (void)diagnostics;
  int64_t simulated = id->simulated;
  if (id->method->end) id->method->end(id);
  sum_subsets(id);
  id->simulated = simulated;
  compute_parameter_uncertainty(id);
  parallel_for(id->options.threads, local_item_count(id, 2 * id->data.count), 2, 1, evaluate_run, id);
  for (int k = 0; k < 2 * id->data.count; k++) {
    processes_broadcast(&id->run_is_complete[k], sizeof(bool), k % id->processes);
    processes_broadcast(id->run_errors + ERROR_NUMBERS * k, ERROR_NUMBERS * sizeof(double), k % id->processes);
  }
  return fit_interrupted(id) ? STATUS_INTERRUPTED : STATUS_OK;
}

RunErrors identification_errors(const Identification* id, bool train) {
  RunErrors j = {0};
  double sum[2 * ERROR_NUMBERS] = {0};
  int counts[2 * ERROR_NUMBERS] = {0};
  for (int k = 0; k < id->data.count; k++) {
    const double* judged = id->run_errors + 2 * ERROR_NUMBERS * k;
    if (id->data.runs[k].train != train) continue;
    if (isnan(judged[0]) || isnan(judged[ERROR_NUMBERS])) {
      j.failed++;
      continue;
    }
    j.failed += !id->run_is_complete[2 * k] || !id->run_is_complete[2 * k + 1];
    for (int i = 0; i < 2 * ERROR_NUMBERS; i++) {
      if (isnan(judged[i])) continue;
      sum[i] += judged[i];
      counts[i]++;
    }
    j.runs++;
  }
  for (int i = 0; i < 2 * ERROR_NUMBERS; i++)
    if (counts[i] > 0) sum[i] /= counts[i];
  const double *fitted = sum, *unfitted = sum + ERROR_NUMBERS;
  j.position = fitted[0];
  j.rotation = fitted[1];
  j.coordinate = fitted[2];
  j.final_position = fitted[3];
  j.final_rotation = fitted[4];
  j.unfitted_position = unfitted[0];
  j.unfitted_rotation = unfitted[1];
  j.unfitted_coordinate = unfitted[2];
  j.unfitted_final_position = unfitted[3];
  j.unfitted_final_rotation = unfitted[4];
  return j;
}

Misfit identification_misfit(const Identification* id, bool train) { return id->misfit[train]; }

const char* identification_determined_text(const Identification* id) {
  return id->determined.data ? id->determined.data : "";
}

const char* identification_undetermined_text(const Identification* id) {
  return id->verdict.data ? id->verdict.data : "";
}
bool identification_identifiable(const Identification* id) { return id->undetermined == 0; }
IdentifyStop identification_stop(const Identification* id) { return id->stop; }
int identification_iteration(const Identification* id) { return id->iteration; }
double identification_cost(const Identification* id) { return id->cost; }
int identification_parameter_count(const Identification* id) { return id->variables; }

IdentifiedParameter identification_parameter(const Identification* id, int k) {
  assert(k >= 0 && k < id->variables);
  double error = id->fixed[k] ? (double)NAN : id->error[k];
  return (IdentifiedParameter){.name = optimization_variable(id->optimization, k).name,
                               .value = id->x[k],
                               .initial_value = id->initial[k],
                               .standard_error = error,
                               .low = id->x[k] - id->quantile * error,
                               .high = id->x[k] + id->quantile * error,
                               .at_bound = id->x[k] <= id->low[k] || id->x[k] >= id->high[k],
                               .is_fixed = id->fixed[k]};
}

/* Creation of an optimization: design, memory of the runs, and initial values of the variables. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "optimize/optimization.h"

/* Returns the number of consecutive entries from k on that are corners shared by hulls of one link. */
static int count_shared_corners(const SharedVertices* shared, int k) {
  int end = k;
  while (end < shared->count && shared->items[end].corner && shared->items[end].link == shared->items[k].link) end++;
  return end - k;
}

static void write_shared_vertices(Optimization* o) {
  const Scene* scene = &o->task->scenarios[0].scene;
  for (int k = 0; k < o->design.shared.count; k++) {
    const SharedVertex* s = &o->design.shared.items[k];
    const char* link = scene->links[s->link].name;
    int corners = count_shared_corners(&o->design.shared, k);
    if (corners > 0) {
      text_add(&o->note, "link '%s': vertices at corners of other hulls that move with them: %d\n", link, corners);
      k += corners - 1;
    } else if (s->child < 0) {
      text_add(&o->note, "link '%s': hulls %d and %d share a vertex at (%.4g, %.4g, %.4g)\n", link, s->hull[0],
               s->hull[1], s->position.x, s->position.y, s->position.z);
    } else {
      text_add(&o->note, "link '%s': hull %d has a vertex at the joint of '%s'%s\n", link, s->hull[0],
               scene->links[s->child].name, s->outside > 0 ? ", which adds a corner" : "");
    }
  }
}

void optimization_reserve_rows(Optimization* o, int rows) {
  assert(rows >= 0);
  if (rows <= o->capacity) return;
  int capacity = rows + rows / 2 + 64;
  size_t terms = sizeof(double) * (size_t)o->term_count;
  o->rows =
      memory_resize(o->rows, sizeof(OptimizationRow) * (size_t)o->capacity, sizeof(OptimizationRow) * (size_t)capacity);
  o->row_terms = memory_resize(o->row_terms, terms * (size_t)o->capacity, terms * (size_t)capacity);
  size_t multipliers = sizeof(double) * (size_t)bounded_terms_count(o->bounded_terms);
  if (multipliers > 0)
    o->row_multipliers =
        memory_resize(o->row_multipliers, multipliers * (size_t)o->capacity, multipliers * (size_t)capacity);
  o->capacity = capacity;
}

static void allocate_vectors(Optimization* o) {
  size_t n = (size_t)o->design.variable_count;
  o->x = MEMORY_NEW(double, n);
  o->gradient = MEMORY_NEW(double, n);
  o->trial = MEMORY_NEW(double, n);
  o->trial_gradient = MEMORY_NEW(double, n);
  o->best_x = MEMORY_NEW(double, n);
  o->terms = MEMORY_NEW(double, o->term_count);
  o->trial_terms = MEMORY_NEW(double, o->term_count);
  for (size_t k = 0; k < n; k++) o->x[k] = o->best_x[k] = o->design.variables[k].initial;
}

static int run_steps(const Optimization* o, const ScenarioRun* run) {
  return task_step_count(o->task->scenarios[run - o->runs].steps, run->model.simulation.steps);
}

/* Creates the recording of a run, with selected rows only if memory is limited. Recording and seeds (unless NULL) store
 * the pair forces that the losses read. */
static void create_rows(const Optimization* o, ScenarioRun* run, LossSeeds* seeds) {
  int steps = run_steps(o, run);
  if (o->task->memory > 0)
    recording_create_selective(&run->recording, &run->model, steps, &run->selection);
  else
    recording_create(&run->recording, &run->model, steps);
  loss_record_pair_forces(run->loss, steps, &run->recording, seeds);
}

static void create_recording(const Optimization* o, ScenarioRun* run) {
  int steps = run_steps(o, run);
  if (o->task->memory > 0) {
    run->selection = row_selection_create(&run->model, steps);
    loss_select_rows(run->loss, &run->model, &run->selection);
    if (o->success) loss_select_rows(success_loss(o->success, (int)(run - o->runs)), &run->model, &run->selection);
    row_selection_compute_offsets(&run->selection, &run->model);
    run->seeds = loss_seeds_create_selective(&run->model, &run->selection);
  } else {
    run->seeds = loss_seeds_create(&run->model, steps);
  }
  create_rows(o, run, &run->seeds);
}

void optimization_fix_substeps(Optimization* o) {
  for (int k = 0; k < o->run_count; k++) {
    ScenarioRun* run = &o->runs[k];
    run->repeated = run->recording;
    run->recording = (Recording){0};
    create_rows(o, run, NULL);
  }
}

/* Adds an error if variables change the initial state of a scene that starts from a recorded state. */
static Status check_initial_state(const Optimization* o, const ScenarioRun* run, Diagnostics* diagnostics) {
  if (!run->model.start || o->task->attachment_count + o->task->start_count == 0) return STATUS_OK;
  diagnostics_add(
      diagnostics, SEVERITY_ERROR, run->scene->start.place,
      "start: a run that starts from a recorded state has no gradients of attachments and initial values; remove "
      "'start' from the scene, or these variables from the task");
  return STATUS_BAD_INPUT;
}

static Status create_runs(Optimization* o, Diagnostics* diagnostics) {
  o->run_count = o->task->scenario_count;
  o->runs = MEMORY_NEW(ScenarioRun, o->run_count);
  for (int k = 0; k < o->run_count; k++) {
    ScenarioRun* run = &o->runs[k];
    run->scene = &o->task->scenarios[k].scene;
    run->weight = o->task->scenarios[k].weight;
    run->has_model = true;
    Status status = model_create(&run->model, run->scene, diagnostics);
    if (status == STATUS_OK) status = check_initial_state(o, run, diagnostics);
    if (status == STATUS_OK) status = loss_create(&run->loss, o->task, k, &run->model, diagnostics);
    if (status != STATUS_OK) return status;
  }
  Status status = success_create(&o->success, o, diagnostics);
  for (int k = 0; k < o->run_count && status == STATUS_OK; k++) {
    ScenarioRun* run = &o->runs[k];
    create_recording(o, run);
    if (o->task->memory > 0)
      status = recording_check_memory(&run->recording, &run->seeds, o->task->memory * GIBIBYTE / o->run_count,
                                      o->task->memory_place, diagnostics);
    if (status != STATUS_OK) return status;
    model_gradient_create(&run->gradient, &run->model);
    run->terms = MEMORY_NEW(double, loss_count(run->loss));
    run->by_variables = MEMORY_NEW(double, o->design.variable_count);
    run->success_terms = MEMORY_NEW(double, optimization_success_count(o));
  }
  o->term_count = loss_count(o->runs[0].loss);
  return status;
}

/* Default step sizes of a variable as fractions of its range. Methods that draw samples have a larger one, because the
 * samples must cover more of the range. */
#define STEP_FRACTION 0.05
#define DEVIATION_FRACTION 0.2

static double default_step(const TaskOptimizer* settings, int block) {
  return block == 0 ? settings->design_step : settings->control_step;
}

/* Returns the default step of a variable from its range, or 0 without a range or if the task gives steps. */
static double step_from_range(const DesignVariable* v, const TaskOptimizer* settings) {
  double range = v->high - v->low;
  if (v->step > 0 || settings->step_given[v->block] || !isfinite(range)) return 0;
  return (settings->type == OPTIMIZER_CMA_ES ? DEVIATION_FRACTION : STEP_FRACTION) * range;
}

static double variable_step(const DesignVariable* v, const TaskOptimizer* settings) {
  double step = step_from_range(v, settings);
  return v->step > 0 ? v->step : step > 0 ? step : default_step(settings, v->block);
}

/* Sets the step size of a block of variables to the longest default step of its variables, unless the scenes change
 * randomly. Units then divide it by powers of two (docs/derivations/update.md, O23). */
static void set_block_step(Optimization* o, int block) {
  const TaskOptimizer* settings = &o->task->optimizer;
  double longest = 0;
  for (int k = 0; k < o->design.variable_count; k++)
    if (o->design.block[k] == block && !draws_change(o))
      longest = fmax(longest, step_from_range(&o->design.variables[k], settings));
  o->step[block] = longest > 0 ? longest : default_step(settings, block);
}

/* Returns the units of the variables (O21): step of the variable divided by the step of its block. Returns NULL if all
 * are 1. */
static double* compute_units(const Optimization* o) {
  bool has_units = false;
  double* unit = MEMORY_NEW(double, o->design.variable_count);
  for (int k = 0; k < o->design.variable_count; k++) {
    const DesignVariable* v = &o->design.variables[k];
    unit[k] = variable_step(v, &o->task->optimizer) / o->step[v->block];
    has_units = has_units || unit[k] != 1;
  }
  if (has_units) return unit;
  memory_free(unit);
  return NULL;
}

Status optimization_create(Optimization** optimization, Task* task, const OptimizationOptions* options,
                           Diagnostics* diagnostics) {
  assert(optimization && task && options && diagnostics);
  Optimization* o = MEMORY_NEW(Optimization, 1);
  *optimization = o;
  o->task = task;
  for (int k = 0; k < task->scenario_count; k++) task->scenarios[k].scene.threads = options->threads;
  o->options = *options;
  Status status = design_create(&o->design, task, diagnostics);
  if (status == STATUS_OK) status = continuation_start(o, diagnostics);
  if (status == STATUS_OK) status = create_runs(o, diagnostics);
  if (status != STATUS_OK) return status;
  write_shared_vertices(o);
  o->bounded_terms = bounded_terms_create(task);
  status = draws_create(&o->draws, &o->design, task, diagnostics);
  if (status != STATUS_OK) return status;
  draws_select(o, 0);
  optimization_compute_identity(o);
  allocate_vectors(o);
  for (int block = 0; block < 2; block++) set_block_step(o, block);
  o->unit = compute_units(o);
  automatic_begin(o);
  automatic_create_optimizer(o);
  if (optimizer_project(o->optimizer, o->x)) return STATUS_OK;
  SourcePosition place = {task->path, 0, 0};
  diagnostics_add(
      diagnostics, SEVERITY_ERROR, place,
      "no design satisfies all bounds and constraints together: widen the bounds or correct the constraints");
  return STATUS_BAD_INPUT;
}

void optimization_destroy(Optimization* o) {
  if (!o) return;
  for (int k = 0; o->runs && k < o->run_count; k++) scenario_run_free(&o->runs[k]);
  optimizer_destroy(o->optimizer);
  bounded_terms_destroy(o->bounded_terms);
  success_destroy(o->success);
  validation_destroy(o->validation);
  draws_destroy(o->draws);
  model_scene_destroy(o->displayed, o->displayed_source);
  design_destroy(&o->design);
  void* owned[] = {o->runs,
                   o->x,
                   o->gradient,
                   o->trial,
                   o->trial_gradient,
                   o->best_x,
                   o->terms,
                   o->trial_terms,
                   o->saved_state,
                   o->rows,
                   o->row_terms,
                   o->reason,
                   o->failed_start_reason,
                   o->identity,
                   o->row_multipliers,
                   o->contacts,
                   o->unit,
                   o->function_gradient,
                   o->start_pairs};
  for (size_t k = 0; k < sizeof(owned) / sizeof(owned[0]); k++) memory_free(owned[k]);
  text_free(&o->note);
  memory_free(o);
}

void optimization_set_function(Optimization* o, const OptimizationFunction* function) {
  size_t n = (size_t)o->design.variable_count;
  o->function = *function;
  for (int block = 0; block < 2; block++) o->step[block] = default_step(&o->task->optimizer, block);
  memory_free(o->unit);
  o->unit = MEMORY_NEW(double, n);
  o->function_gradient = MEMORY_NEW(double, n);
  for (size_t k = 0; k < n; k++) {
    const DesignVariable* v = &o->design.variables[k];
    o->unit[k] = v->step > 0 ? v->step / o->step[v->block] : function->unit[k];
  }
  for (size_t k = 0; k < n && function->fixed; k++)
    if (function->fixed[k]) o->design.set.low[k] = o->design.set.high[k] = o->x[k];
  continuation_reset_optimizer(o);
}

typedef struct {
  const char* name;
  int index;
} NamedVariable;

static int compare_names(const void* a, const void* b) {
  return strcmp(((const NamedVariable*)a)->name, ((const NamedVariable*)b)->name);
}

int optimization_set_initial(Optimization* o, const char* const* names, const double* values, int count) {
  assert(count >= 0 && ((names && values) || count == 0));
  int variable_count = o->design.variable_count, found = 0;
  NamedVariable* sorted = MEMORY_NEW(NamedVariable, 2 * variable_count);
  int known = variable_count; /* names of earlier versions */
  for (int k = 0; k < variable_count; k++) {
    sorted[k] = (NamedVariable){o->design.variables[k].name, k};
    if (o->design.variables[k].former) sorted[known++] = (NamedVariable){o->design.variables[k].former, k};
  }
  qsort(sorted, (size_t)known, sizeof(NamedVariable), compare_names);
  for (int k = 0; k < count; k++) {
    const NamedVariable wanted = {names[k], 0};
    const NamedVariable* at = bsearch(&wanted, sorted, (size_t)known, sizeof(NamedVariable), compare_names);
    if (!at) continue;
    o->x[at->index] = values[k];
    found++;
  }
  memory_free(sorted);
  (void)optimizer_project(o->optimizer, o->x); /* the set is known to be nonempty */
  memcpy(o->best_x, o->x, sizeof(double) * (size_t)variable_count);
  return found;
}

void optimization_restart(Optimization* o, const double* x, const bool* fixed) {
  assert(x || o->design.variable_count == 0);
  Design* d = &o->design;
  size_t n = sizeof(double) * (size_t)d->variable_count;
  for (int k = 0; k < d->variable_count; k++) {
    d->set.low[k] = fixed && fixed[k] ? x[k] : d->variables[k].low;
    d->set.high[k] = fixed && fixed[k] ? x[k] : d->variables[k].high;
  }
  continuation_restart(o);
  continuation_reset_optimizer(o);
  memcpy(o->x, x, n);
  if (!optimizer_project(o->optimizer, o->x))
    memcpy(o->x, x, n); /* ignores constraints that only fixed variables could satisfy */
  memcpy(o->best_x, o->x, n);
  o->start_pair_count = o->corrected_trials = o->automatic.change_count = 0;
  o->iteration = o->best_iteration = o->since_best = o->since_update = o->since_check = o->first_iteration = 0;
  o->stuck = false;
  o->stop = STOP_NOT_YET;
  o->seconds_before = 0;
}

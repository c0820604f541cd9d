#include "optimize/optimization.h"

#include <string.h>

const char* trial_outcome_text(TrialOutcome outcome) {
  static const char* const text[] = {"start",           "accepted",          "rejected_rose",      "rejected_invalid",
                                     "rejected_solver", "rejected_gradient", "rejected_not_finite"};
  return text[outcome];
}

const char* optimization_stop_text(OptimizationStop stop) {
  static const char* const text[] = {"running",        "all iterations done", "loss below stop_loss", "stalled",
                                     "step too short", "gradient is zero",    "interrupted"};
  return text[stop];
}

/* ---------------------------------------------------------------- creation */

static void describe_shared(Optimization* o) {
  const Scene* scene = &o->task->scenarios[0].scene;
  for (int k = 0; k < o->design.shared.count; k++) {
    const SharedVertex* s = &o->design.shared.items[k];
    const char* link = scene->links[s->link].name;
    if (s->child < 0)
      text_add(&o->note, "link '%s': hulls %d and %d share a vertex at (%.4g, %.4g, %.4g)\n", link, s->hull[0],
               s->hull[1], s->position.x, s->position.y, s->position.z);
    else
      text_add(&o->note, "link '%s': hull %d has a vertex at the joint of '%s'%s\n", link, s->hull[0],
               scene->links[s->child].name, s->outside > 0 ? ", which adds a corner" : "");
  }
}

/* Rows for all iterations to come. */
static void make_rows(Optimization* o) {
  o->capacity = o->task->optimizer.iterations + 1;
  o->rows = MEMORY_NEW(OptimizationRow, o->capacity);
  o->row_terms = MEMORY_NEW(double, (size_t)o->capacity*(size_t)o->term_count);
}

static void make_vectors(Optimization* o) {
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

static Status create_runs(Optimization* o, Diagnostics* diagnostics) {
  o->run_count = o->task->scenario_count;
  o->runs = MEMORY_NEW(ScenarioRun, o->run_count);
  for (int k = 0; k < o->run_count; k++) {
    ScenarioRun* run = &o->runs[k];
    run->scene = &o->task->scenarios[k].scene;
    run->weight = o->task->scenarios[k].weight;
    run->has_model = true;
    Status status = model_create(&run->model, run->scene, diagnostics);
    if (status == STATUS_OK) status = loss_create(&run->loss, o->task, k, &run->model, diagnostics);
    if (status != STATUS_OK) return status;
    recording_create(&run->recording, &run->model, run->model.simulation.steps);
    run->seeds = loss_seeds_create(&run->model, run->model.simulation.steps);
    model_gradient_create(&run->gradient, &run->model);
    run->terms = MEMORY_NEW(double, loss_count(run->loss));
    run->by_variables = MEMORY_NEW(double, o->design.variable_count);
  }
  o->term_count = loss_count(o->runs[0].loss);
  return STATUS_OK;
}

Status optimization_create(Optimization** optimization, Task* task, const OptimizationOptions* options,
                           Diagnostics* diagnostics) {
  Optimization* o = MEMORY_NEW(Optimization, 1);
  *optimization = o;
  o->task = task;
  o->options = *options;
  Status status = design_create(&o->design, task, diagnostics);
  if (status == STATUS_OK) status = create_runs(o, diagnostics);
  if (status != STATUS_OK) return status;
  describe_shared(o);
  make_vectors(o);
  make_rows(o);
  o->optimizer = optimizer_create(&task->optimizer, &o->design.set);
  o->spare_state = MEMORY_NEW(double, optimizer_state_size(o->optimizer));
  if (optimizer_project(o->optimizer, o->x)) return STATUS_OK;
  SourcePlace place = {task->path, 0, 0};
  diagnostics_add(diagnostics, SEVERITY_ERROR, place, "no design obeys the bounds and constraints together");
  return STATUS_BAD_INPUT;
}

void optimization_destroy(Optimization* o) {
  if (!o) return;
  for (int k = 0; o->runs && k < o->run_count; k++) scenario_run_free(&o->runs[k]);
  optimizer_destroy(o->optimizer);
  design_destroy(&o->design);
  void* owned[] = {o->runs,  o->x,           o->gradient,    o->trial, o->trial_gradient, o->best_x,
                   o->terms, o->trial_terms, o->spare_state, o->rows,  o->row_terms,      o->reason};
  for (size_t k = 0; k < sizeof(owned) / sizeof(owned[0]); k++) memory_free(owned[k]);
  text_free(&o->note);
  memory_free(o);
}

/* ---------------------------------------------------------------- the loop */

static double block_norm(const Optimization* o, const double* v, int block) {
  double sum = 0;
  for (int k = 0; k < o->design.variable_count; k++)
    if (o->design.block[k] == block) sum += v[k] * v[k];
  return sqrt(sum);
}

static double block_step(const Optimization* o, const double* from, const double* to, int block) {
  double largest = 0;
  for (int k = 0; k < o->design.variable_count; k++)
    if (o->design.block[k] == block) largest = fmax(largest, fabs(to[k] - from[k]));
  return largest;
}

static void write_row(Optimization* o, TrialOutcome outcome, double trial_loss, double step_design,
                      double step_control) {
  o->rows[o->iteration] = (OptimizationRow){.loss = o->loss,
                                            .trial_loss = trial_loss,
                                            .grad_design = block_norm(o, o->gradient, 0),
                                            .grad_control = block_norm(o, o->gradient, 1),
                                            .step_design = step_design,
                                            .step_control = step_control,
                                            .seconds = o->seconds_before + timer_now() - o->started,
                                            .outcome = outcome};
  memcpy(o->row_terms + (size_t)o->iteration * (size_t)o->term_count, o->terms, sizeof(double) * (size_t)o->term_count);
}

static void keep_best(Optimization* o) {
  bool first = o->iteration == 0;
  double least = o->task->optimizer.stall_decrease * fabs(o->best_loss);
  bool counts = first || o->loss < o->best_loss - least;
  o->since_best = counts ? 0 : o->since_best + 1;
  if (!first && !(o->loss < o->best_loss)) return;
  o->best_loss = o->loss;
  o->best_iteration = o->iteration;
  memcpy(o->best_x, o->x, sizeof(double) * (size_t)o->design.variable_count);
}

static void judge_end(Optimization* o, bool can_step) {
  const TaskOptimizer* settings = &o->task->optimizer;
  if (o->best_loss <= settings->stop_loss)
    o->stop = STOP_LOSS;
  else if (!can_step)
    o->stop = STOP_SHORT_STEP;
  else if (settings->stall > 0 && o->since_best >= settings->stall)
    o->stop = STOP_STALL;
  else if (o->iteration >= settings->iterations)
    o->stop = STOP_ITERATIONS;
}

Status optimization_start(Optimization* o, Diagnostics* diagnostics) {
  bool interrupted;
  o->started = timer_now();
  TrialOutcome outcome = evaluate_design(o, o->x, &o->loss, o->terms, &interrupted);
  if (interrupted) return STATUS_INTERRUPTED;
  if (outcome == TRIAL_ACCEPTED) outcome = evaluate_gradient(o, o->gradient);
  if (outcome != TRIAL_ACCEPTED) {
    diagnostics_add(diagnostics, SEVERITY_ERROR, (SourcePlace){o->task->path, 0, 0},
                    "the initial design cannot be used: %s%s%s", trial_outcome_text(outcome) + strlen("rejected_"),
                    o->reason ? ": " : "", o->reason ? o->reason : "");
    return outcome == TRIAL_INVALID ? STATUS_BAD_INPUT : STATUS_SOLVER;
  }
  keep_best(o);
  write_row(o, TRIAL_START, o->loss, 0, 0);
  judge_end(o, true);
  return STATUS_OK;
}

/* The trial's run and, where it is good enough, its gradient. */
static TrialOutcome try_design(Optimization* o, double* loss, bool* interrupted) {
  TrialOutcome outcome = evaluate_design(o, o->trial, loss, o->trial_terms, interrupted);
  if (*interrupted || outcome != TRIAL_ACCEPTED) return outcome;
  if (optimizer_descends(o->optimizer) && !(*loss < o->loss)) return TRIAL_ROSE;
  return evaluate_gradient(o, o->trial_gradient);
}

static void take_trial(Optimization* o, double loss) {
  size_t n = sizeof(double) * (size_t)o->design.variable_count;
  o->loss = loss;
  memcpy(o->x, o->trial, n);
  memcpy(o->gradient, o->trial_gradient, n);
  memcpy(o->terms, o->trial_terms, sizeof(double) * (size_t)o->term_count);
}

Status optimization_advance(Optimization* o) {
  double loss;
  bool interrupted;
  size_t n = sizeof(double) * (size_t)o->design.variable_count;
  optimizer_state_save(o->optimizer, o->spare_state);
  optimizer_propose(o->optimizer, o->x, o->loss, o->gradient, o->trial);
  if (memcmp(o->trial, o->x, n) == 0) {
    o->stop = STOP_FLAT;
    return STATUS_OK;
  }
  double step_design = block_step(o, o->x, o->trial, 0), step_control = block_step(o, o->x, o->trial, 1);
  TrialOutcome outcome = try_design(o, &loss, &interrupted);
  if (interrupted) {
    optimizer_state_load(o->optimizer, o->spare_state);
    return STATUS_INTERRUPTED;
  }
  bool accepted = outcome == TRIAL_ACCEPTED;
  if (accepted) take_trial(o, loss);
  bool can_step = optimizer_verdict(o->optimizer, accepted, loss);
  o->iteration++;
  keep_best(o);
  write_row(o, outcome, loss, step_design, step_control);
  judge_end(o, can_step);
  return STATUS_OK;
}

/* ---------------------------------------------------------------- what others read */

OptimizationStop optimization_stop(const Optimization* o) { return o->stop; }
int optimization_iteration(const Optimization* o) { return o->iteration; }
const OptimizationRow* optimization_rows(const Optimization* o) { return o->rows; }
int optimization_term_count(const Optimization* o) { return o->term_count; }
const char* optimization_term_name(const Optimization* o, int term) { return loss_name(o->runs[0].loss, term); }
const double* optimization_terms(const Optimization* o, int iteration) {
  return o->row_terms + (size_t)iteration * (size_t)o->term_count;
}
double optimization_best_loss(const Optimization* o) { return o->best_loss; }
int optimization_best_iteration(const Optimization* o) { return o->best_iteration; }
const char* optimization_reason(const Optimization* o) { return o->reason ? o->reason : ""; }
AdjointReport optimization_adjoint(const Optimization* o) { return o->adjoint; }
const char* optimization_note(const Optimization* o) { return o->note.data ? o->note.data : ""; }

void optimization_times(const Optimization* o, double* forward, double* adjoint) {
  *forward = o->forward_seconds;
  *adjoint = o->adjoint_seconds;
}

int optimization_variable_count(const Optimization* o) { return o->design.variable_count; }

OptimizationVariable optimization_variable(const Optimization* o, int index) {
  const DesignVariable* v = &o->design.variables[index];
  return (OptimizationVariable){v->name, v->initial, v->low, v->high, o->x[index], o->best_x[index], v->block == 1};
}

const Scene* optimization_scene(Optimization* o, int scenario, bool best) {
  Scene* scene = &o->task->scenarios[scenario].scene;
  design_apply(&o->design, best ? o->best_x : o->x, scene);
  return scene;
}

bool optimization_shapes_link(const Optimization* o, int link) { return o->design.link_changes[link]; }

/* ---------------------------------------------------------------- checkpoints */

enum { IDENTITY_LENGTH = 64 }; /* digits of a SHA-256 */

static void add_vector(Text* text, Vec3 v) { text_add(text, " %a %a %a", v.x, v.y, v.z); }

static void identify_losses(const Optimization* o, Text* text) {
  for (int t = 0; t < o->term_count; t++) {
    const TaskLoss* l = &o->task->losses[t];
    text_add(text, "%s %d %s %s %d %d %a %a %a %a", loss_name(o->runs[0].loss, t), (int)l->type,
             l->link.text ? l->link.text : "", l->other.text ? l->other.text : "", l->has_point, l->power, l->weight,
             l->margin, l->from, l->to);
    const Vec3 vectors[] = {l->point, l->target, l->direction, l->axis, l->spread};
    for (int k = 0; k < 5; k++) add_vector(text, vectors[k]);
    text_add(text, "\n");
  }
}

static void identify_variables(const Optimization* o, Text* text) {
  const FeasibleSet* set = &o->design.set;
  for (int k = 0; k < o->design.variable_count; k++) {
    const DesignVariable* v = &o->design.variables[k];
    text_add(text, "%s %a %a %a\n", v->name, v->initial, v->low, v->high);
  }
  for (int row = 0; row < set->row_count; row++) {
    for (int k = set->row_first[row]; k < set->row_first[row + 1]; k++)
      text_add(text, "%d %a ", set->column[k], set->coefficient[k]);
    text_add(text, "%a %a\n", set->row_low[row], set->row_high[row]);
  }
}

static void identify_settings(const Optimization* o, Text* text) {
  const TaskOptimizer* s = &o->task->optimizer;
  text_add(text, "%d %d %d %d %d", (int)s->type, (int)s->norm, s->memory, (int)s->schedule, s->decay_every);
  const double numbers[] = {s->design_step, s->control_step, s->beta1,  s->beta2, s->epsilon,  s->decay,
                            s->clip,        s->discount,     s->shrink, s->grow,  s->tolerance};
  for (size_t k = 0; k < sizeof(numbers) / sizeof(numbers[0]); k++) text_add(text, " %a", numbers[k]);
  text_add(text, "\n%d %a %llu\n", (int)o->task->mass, o->task->min_thickness, (unsigned long long)o->task->seed);
}

/* What must be the same for a checkpoint to be of use: all that decides on the next trial and its loss. When to stop
 * and when to save may change. */
static void identify(const Optimization* o, int64_t identity[IDENTITY_LENGTH]) {
  Text text = {0};
  identify_settings(o, &text);
  identify_variables(o, &text);
  identify_losses(o, &text);
  for (int k = 0; k < o->run_count; k++) {
    const Scene* scene = o->runs[k].scene;
    text_add(&text, "%s %a %d\n", scene->sha256, o->runs[k].weight, scene->simulation.steps);
    for (int j = 0; j < scene->source_count; j++) text_add(&text, "%s\n", scene->sources[j]);
  }
  char hex[IDENTITY_LENGTH + 1];
  hash_sha256(text.data, text.length, hex);
  for (int k = 0; k < IDENTITY_LENGTH; k++) identity[k] = (unsigned char)hex[k];
  text_free(&text);
}

enum { ROW_NUMBERS = 8 };

void optimization_save(const Optimization* o, Checkpoint* c) {
  int64_t identity[IDENTITY_LENGTH], counts[4] = {o->iteration, o->best_iteration, o->since_best, o->stop};
  int n = o->design.variable_count, rows = o->iteration + 1, states = optimizer_state_size(o->optimizer);
  identify(o, identity);
  checkpoint_add_integers(c, "identity", identity, IDENTITY_LENGTH);
  checkpoint_add_integers(c, "counts", counts, 4);
  double losses[3] = {o->loss, o->best_loss, o->rows[o->iteration].seconds};
  checkpoint_add_doubles(c, "losses", losses, 3);
  /* Of the last gradient, which a run that goes on may not compute again: summary.json tells it. */
  double adjoint[2] = {o->adjoint.growth, (double)o->adjoint.indefinite_steps};
  checkpoint_add_doubles(c, "adjoint", adjoint, 2);
  checkpoint_add_doubles(c, "x", o->x, n);
  checkpoint_add_doubles(c, "gradient", o->gradient, n);
  checkpoint_add_doubles(c, "best_x", o->best_x, n);
  checkpoint_add_doubles(c, "terms", o->terms, o->term_count);
  double* memory = MEMORY_NEW(double, states > ROW_NUMBERS * rows ? states : ROW_NUMBERS * rows);
  optimizer_state_save(o->optimizer, memory);
  checkpoint_add_doubles(c, "optimizer", memory, states);
  for (int k = 0; k < rows; k++) {
    const OptimizationRow* r = &o->rows[k];
    double numbers[ROW_NUMBERS] = {r->loss,        r->trial_loss,   r->grad_design, r->grad_control,
                                   r->step_design, r->step_control, r->seconds,     (double)r->outcome};
    memcpy(memory + ROW_NUMBERS * k, numbers, sizeof(numbers));
  }
  checkpoint_add_doubles(c, "rows", memory, ROW_NUMBERS * rows);
  checkpoint_add_doubles(c, "row_terms", o->row_terms, rows * o->term_count);
  memory_free(memory);
}

static bool same_identity(const Optimization* o, const Checkpoint* c, Diagnostics* diagnostics) {
  int64_t saved[IDENTITY_LENGTH], identity[IDENTITY_LENGTH];
  if (!checkpoint_get_integers(c, "identity", saved, IDENTITY_LENGTH, diagnostics)) return false;
  identify(o, identity);
  if (memcmp(saved, identity, sizeof(identity)) == 0) return true;
  diagnostics_add(diagnostics, SEVERITY_ERROR, (SourcePlace){c->path, 0, 0},
                  "the checkpoint is of another task, scene or design: start without --resume, or in another folder");
  return false;
}

static void unpack_rows(Optimization* o, const double* numbers, int rows) {
  for (int k = 0; k < rows; k++) {
    const double* r = numbers + ROW_NUMBERS * k;
    o->rows[k] = (OptimizationRow){r[0], r[1], r[2], r[3], r[4], r[5], r[6], (TrialOutcome)r[7]};
  }
}

bool optimization_load(Optimization* o, const Checkpoint* c, Diagnostics* diagnostics) {
  int64_t counts[4];
  double losses[3], adjoint[2];
  int n = o->design.variable_count, states = optimizer_state_size(o->optimizer);
  if (!same_identity(o, c, diagnostics)) return false;
  if (!checkpoint_get_integers(c, "counts", counts, 4, diagnostics)) return false;
  if (!checkpoint_get_doubles(c, "losses", losses, 3, diagnostics)) return false;
  if (!checkpoint_get_doubles(c, "adjoint", adjoint, 2, diagnostics)) return false;
  if (counts[0] < 0 || counts[0] >= o->capacity) {
    diagnostics_add(diagnostics, SEVERITY_ERROR, (SourcePlace){c->path, 0, 0},
                    "the checkpoint stands at iteration %lld, the task ends at %d", (long long)counts[0],
                    o->capacity - 1);
    return false;
  }
  int rows = (int)counts[0] + 1;
  int largest = states > ROW_NUMBERS * rows ? states : ROW_NUMBERS * rows;
  double* memory = MEMORY_NEW(double, largest);
  bool ok = checkpoint_get_doubles(c, "x", o->x, n, diagnostics) &&
            checkpoint_get_doubles(c, "gradient", o->gradient, n, diagnostics) &&
            checkpoint_get_doubles(c, "best_x", o->best_x, n, diagnostics) &&
            checkpoint_get_doubles(c, "terms", o->terms, o->term_count, diagnostics) &&
            checkpoint_get_doubles(c, "row_terms", o->row_terms, rows * o->term_count, diagnostics) &&
            checkpoint_get_doubles(c, "rows", memory, ROW_NUMBERS * rows, diagnostics);
  if (ok) unpack_rows(o, memory, rows);
  ok = ok && checkpoint_get_doubles(c, "optimizer", memory, states, diagnostics);
  if (ok) {
    optimizer_state_load(o->optimizer, memory);
    o->iteration = (int)counts[0];
    o->best_iteration = (int)counts[1];
    o->since_best = (int)counts[2];
    o->stop = STOP_NOT_YET;
    o->loss = losses[0];
    o->best_loss = losses[1];
    o->seconds_before = losses[2];
    o->adjoint = (AdjointReport){.sound = true, .growth = adjoint[0], .indefinite_steps = (int)adjoint[1]};
    o->started = timer_now();
    if (counts[3] == STOP_SHORT_STEP || counts[3] == STOP_FLAT) o->stop = (OptimizationStop)counts[3];
    if (o->stop == STOP_NOT_YET) judge_end(o, true);
  }
  memory_free(memory);
  return ok;
}

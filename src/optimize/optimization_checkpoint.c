/* Checkpoints: files with the state of an optimization between two iterations, as named arrays, and hashes that
 * identify its task. */
#include <limits.h>
#include <string.h>

#include "optimize/optimization.h"

/* ---------------------------------------------------------------- identity */

static void add_vector(Text* text, Vec3 v) { text_add(text, " %a %a %a", v.x, v.y, v.z); }

static void add_numbers(Text* text, const double* values, int count) {
  for (int k = 0; values && k < count; k++) text_add(text, " %a", values[k]);
}

static void identify_motion(const SceneSignal* s, Text* text) {
  if (s->channels == 0) return;
  int terms = signal_sine_count(s);
  text_add(text, " %d %d %d %a", (int)s->type, s->rows, s->terms, s->interval);
  add_numbers(text, s->times, s->rows);
  add_numbers(text, s->values, signal_value_count(s));
  add_numbers(text, s->amplitude, terms);
  add_numbers(text, s->frequency, terms);
  add_numbers(text, s->phase, terms);
}

static void identify_losses(const Optimization* o, Text* text) {
  for (int t = 0; t < o->term_count; t++) {
    const TaskLoss* l = &o->task->losses[t];
    text_add(text, "%s %d %s %s %d %d %a %a %a %a", loss_name(o->runs[0].loss, t), (int)l->type,
             l->link.text ? l->link.text : "", l->other.text ? l->other.text : "", l->has_point, l->power, l->weight,
             l->margin, l->from, l->to);
    const Vec3 vectors[] = {l->point, l->target, l->direction, l->axis, l->spread};
    for (int k = 0; k < 5; k++) add_vector(text, vectors[k]);
    for (int k = 0; k < l->links_count; k++) text_add(text, " %s", l->links[k].text);
    if (l->bounded) text_add(text, " <= %a", l->bound);
    if (l->over != OVER_MEAN) text_add(text, " over %d", (int)l->over);
    if (l->type == LOSS_COORDINATE) text_add(text, " %d %a", l->dof, l->value);
    text_add(text, " %a %a %a %a %a %a", l->length, l->smoothing, l->rotation.w, l->rotation.x, l->rotation.y,
             l->rotation.z);
    identify_motion(&l->motion, text);
    for (int s = 0; l->where.in && s < l->where.count; s++) text_add(text, " in %d", l->where.in[s]);
    text_add(text, "\n");
  }
}

static void identify_variables(const Optimization* o, Text* text) {
  const FeasibleSet* set = &o->design.set;
  for (int k = 0; k < o->design.variable_count; k++) {
    const DesignVariable* v = &o->design.variables[k];
    text_add(text, "%s %a %a %a", v->name, v->initial, v->low, v->high);
    if (v->step > 0) text_add(text, " step %a", v->step);
    text_add(text, "\n");
  }
  for (int row = 0; row < set->row_count; row++) {
    for (int k = set->row_first[row]; k < set->row_first[row + 1]; k++)
      text_add(text, "%d %a ", set->column[k], set->coefficient[k]);
    text_add(text, "%a %a\n", set->row_low[row], set->row_high[row]);
  }
}

static void identify_draws(const Task* task, Text* text) {
  text_add(text, " draws %d", task->draw_every);
  for (int k = 0; k < task->draw_count; k++) {
    const TaskDraw* d = &task->draws[k];
    text_add(text, " %s %d %a %a", d->link.text, (int)d->of, d->low, d->high);
    for (int i = 0; i < JOINT_MAX_DOF; i++) text_add(text, " %d", d->dof[i]);
    if (d->turns) text_add(text, " turns");
    for (int i = 0; i < d->knot_count; i++) text_add(text, " %d", d->knots[i]);
  }
}

static void identify_settings(const Optimization* o, Text* text) {
  const TaskOptimizer* s = &o->task->optimizer;
  text_add(text, "%d %d %d %d %d", (int)s->type, (int)s->norm, s->memory, (int)s->schedule, s->decay_every);
  const double numbers[] = {s->design_step, s->control_step, s->beta1,  s->beta2, s->epsilon,  s->decay,
                            s->clip,        s->discount,     s->shrink, s->grow,  s->tolerance};
  for (size_t k = 0; k < sizeof(numbers) / sizeof(numbers[0]); k++) text_add(text, " %a", numbers[k]);
  const TaskContinuation* c = &o->task->continuation;
  if (c->support.iterations > 0) text_add(text, " support %d %a", c->support.iterations, c->support.to);
  if (c->stiffness.iterations > 0) text_add(text, " stiffness %d %a", c->stiffness.iterations, c->stiffness.to);
  if (c->switch_at > 0) text_add(text, " model %d %s", c->switch_at, contact_model_name(c->model));
  if (s->type == OPTIMIZER_CMA_ES) text_add(text, " population %d", s->population);
  if (o->task->multistart > 1) text_add(text, " starts %d", o->task->multistart);
  if (o->task->draw_count > 0) identify_draws(o->task, text);
  if (o->task->bundle > 0) text_add(text, " bundle %d %a", o->task->bundle, o->task->spread);
  text_add(text, "\n%d %a %llu\n", (int)o->task->mass, o->task->min_thickness, (unsigned long long)o->task->seed);
}

/* Appends the hash of the text to o->identity and clears the text. */
static void add_identity(Optimization* o, Text* text) {
  hash_sha256(text->data, text->length, o->identity[o->identity_count++]);
  text->length = 0;
}

/* Hashes all data that determine the next trial and its loss. Settings for stopping and saving may change and are
 * not hashed. The scenes are the initial ones, with the points of their meshes. */
void optimization_compute_identity(Optimization* o) {
  Text text = {0};
  o->identity = memory_alloc(sizeof(*o->identity) * (size_t)(IDENTITY_SCENES + o->run_count));
  identify_settings(o, &text);
  add_identity(o, &text);
  identify_variables(o, &text);
  add_identity(o, &text);
  identify_losses(o, &text);
  add_identity(o, &text);
  for (int k = 0; k < o->run_count; k++) {
    text_add(&text, "%a\n", o->runs[k].weight);
    scene_write_yaml(o->runs[k].scene, ".", &text);
    add_identity(o, &text);
  }
  text_free(&text);
}

/* ---------------------------------------------------------------- checkpoints */

enum { ROW_NUMBERS = 8, DIGITS = 64 };

/* Returns the digits of all hashes in one array, and sets *count to its length. The caller frees the array with
 * memory_free. */
static int64_t* identity_digits(const Optimization* o, int* count) {
  *count = DIGITS * o->identity_count;
  int64_t* digits = MEMORY_NEW(int64_t, *count);
  for (int k = 0; k < *count; k++) digits[k] = (unsigned char)o->identity[k / DIGITS][k % DIGITS];
  return digits;
}

static void save_subjects(const Optimization* o, int rows, NumberFile* c) {
  int count;
  const double* state = bounded_terms_state(o->bounded_terms, &count);
  int64_t counts[3] = {o->since_update, o->stuck, o->since_check};
  double losses[3] = {o->unconstrained_loss, o->best_violation, o->norm_updated};
  number_file_add_doubles(c, "subjects", state, count);
  number_file_add_integers(c, "subject_counts", counts, 3);
  number_file_add_doubles(c, "subject_losses", losses, 3);
  number_file_add_doubles(c, "row_multipliers", o->row_multipliers, rows * bounded_terms_count(o->bounded_terms));
}

static bool load_subjects(Optimization* o, const NumberFile* c, int rows, Diagnostics* diagnostics) {
  int count;
  int64_t counts[3];
  double losses[3];
  o->unconstrained_loss = o->loss;
  o->best_violation = -HUGE_VAL;
  if (!o->bounded_terms) return true;
  double* state = bounded_terms_state(o->bounded_terms, &count);
  if (!number_file_get_doubles(c, "subjects", state, count, diagnostics) ||
      !number_file_get_integers(c, "subject_counts", counts, 3, diagnostics) ||
      !number_file_get_doubles(c, "subject_losses", losses, 3, diagnostics) ||
      !number_file_get_doubles(c, "row_multipliers", o->row_multipliers, rows * bounded_terms_count(o->bounded_terms),
                               diagnostics))
    return false;
  o->since_update = (int)counts[0];
  o->stuck = counts[1] != 0;
  o->since_check = (int)counts[2];
  o->unconstrained_loss = losses[0];
  o->best_violation = losses[1];
  o->norm_updated = losses[2];
  return true;
}

static bool has_starts(const Optimization* o) { return o->task->multistart > 1 || draws_change(o); }

/* Adds the state of multistart to the checkpoint. Also adds the value by which the best design was compared, which
 * can differ from its loss. */
static void save_starts(const Optimization* o, NumberFile* c) {
  const int64_t counts[4] = {o->start, o->best_start, o->first_iteration, o->next_start_is_pending};
  const double best[3] = {o->start_best, o->start_violation, o->best_compared_loss};
  number_file_add_integers(c, "starts", counts, 4);
  number_file_add_doubles(c, "start_best", best, 3);
}

static bool load_starts(Optimization* o, const NumberFile* c, Diagnostics* diagnostics) {
  int64_t counts[4];
  double best[3];
  if (!number_file_get_integers(c, "starts", counts, 4, diagnostics) ||
      !number_file_get_doubles(c, "start_best", best, 3, diagnostics))
    return false;
  o->start = (int)counts[0];
  o->best_start = (int)counts[1];
  o->first_iteration = (int)counts[2];
  o->next_start_is_pending = counts[3] != 0;
  o->start_best = best[0];
  o->start_violation = best[1];
  o->best_compared_loss = best[2];
  return true;
}

/* Adds to the checkpoint the pairs of links whose initial gap limits the design. */
static void save_start(const Optimization* o, NumberFile* c) {
  const int64_t counts[2] = {o->corrected_trials, o->start_pair_count};
  int64_t* pairs = MEMORY_NEW(int64_t, 3 * o->start_pair_count);
  for (int k = 0; k < o->start_pair_count; k++) {
    pairs[3 * k] = o->start_pairs[k].scenario;
    pairs[3 * k + 1] = o->start_pairs[k].a;
    pairs[3 * k + 2] = o->start_pairs[k].b;
  }
  number_file_add_integers(c, "start_counts", counts, 2);
  number_file_add_integers(c, "start_pairs", pairs, 3 * o->start_pair_count);
  memory_free(pairs);
}

static bool load_start(Optimization* o, const NumberFile* c, Diagnostics* diagnostics) {
  int64_t counts[2];
  const Scene* scene = &o->task->scenarios[0].scene;
  if (!number_file_get_integers(c, "start_counts", counts, 2, diagnostics)) return false;
  int64_t most = (int64_t)o->run_count * scene->link_count * scene->link_count;
  if (counts[1] < 0 || counts[1] > most || counts[1] > INT_MAX / 3)
    counts[1] = 0; /* a stored array of another length than 0 is then an error of the next call */
  int64_t* pairs = MEMORY_NEW(int64_t, 3 * counts[1]);
  bool ok = number_file_get_integers(c, "start_pairs", pairs, 3 * (int)counts[1], diagnostics);
  o->corrected_trials = (int)counts[0];
  o->start_pair_count = 0;
  for (int k = 0; ok && k < counts[1]; k++) {
    StartPair pair = {(int)pairs[3 * k], (int)pairs[3 * k + 1], (int)pairs[3 * k + 2]};
    bool known = pair.scenario >= 0 && pair.scenario < o->run_count && pair.a >= 0 && pair.a < scene->link_count &&
                 pair.b >= 0 && pair.b < scene->link_count;
    if (!known) continue;
    o->start_pairs = memory_grow_array(o->start_pairs, sizeof(StartPair), o->start_pair_count, &o->start_pair_capacity);
    o->start_pairs[o->start_pair_count++] = pair;
  }
  memory_free(pairs);
  return ok;
}

/* AUTOMATIC_COUNTS: number of integers that store the state of `auto` without its method changes. CHANGE_NUMBERS:
 * number of integers that store a method change. */
enum { AUTOMATIC_COUNTS = 10, CHANGE_NUMBERS = 5 };

static void save_automatic(const Optimization* o, NumberFile* c) {
  const Automatic* a = &o->automatic;
  const int64_t counts[AUTOMATIC_COUNTS] = {
      a->method,         a->tried,        a->poor_trials,           a->best_value_iteration, a->restarts,
      a->return_to_best, a->change_count, a->wants_smooth_friction, a->has_smooth_friction,  a->smooth_friction_end};
  const double numbers[2] = {a->factor, a->best_value};
  int64_t changes[METHOD_CHANGES_MAX * CHANGE_NUMBERS] = {0};
  for (int k = 0; k < a->change_count; k++) {
    const MethodChange* m = &a->changes[k];
    const int64_t one[CHANGE_NUMBERS] = {m->iteration, m->from, m->to, m->reason, m->count};
    memcpy(changes + CHANGE_NUMBERS * k, one, sizeof one);
  }
  number_file_add_integers(c, "auto_counts", counts, AUTOMATIC_COUNTS);
  number_file_add_doubles(c, "auto_numbers", numbers, 2);
  number_file_add_integers(c, "auto_changes", changes, METHOD_CHANGES_MAX * CHANGE_NUMBERS);
}

static bool is_method(int64_t type) { return type > OPTIMIZER_AUTO && type < OPTIMIZER_LEVENBERG_MARQUARDT; }

/* Loads the state of `optimizer: auto`. Call before the optimizer is loaded, because the state of the optimizer
 * depends on the method. Returns false, with diagnostics, if the data are missing or impossible. */
static bool load_automatic(Optimization* o, const NumberFile* c, Diagnostics* diagnostics) {
  if (o->task->optimizer.type != OPTIMIZER_AUTO) return true;
  Automatic* a = &o->automatic;
  int64_t counts[AUTOMATIC_COUNTS], changes[METHOD_CHANGES_MAX * CHANGE_NUMBERS];
  double numbers[2];
  if (!number_file_get_integers(c, "auto_counts", counts, AUTOMATIC_COUNTS, diagnostics) ||
      !number_file_get_doubles(c, "auto_numbers", numbers, 2, diagnostics) ||
      !number_file_get_integers(c, "auto_changes", changes, METHOD_CHANGES_MAX * CHANGE_NUMBERS, diagnostics))
    return false;
  bool sound = is_method(counts[0]) && counts[6] >= 0 && counts[6] <= METHOD_CHANGES_MAX && numbers[0] > 0;
  for (int k = 0; sound && k < counts[6]; k++) {
    const int64_t* one = changes + CHANGE_NUMBERS * k;
    sound = is_method(one[1]) && is_method(one[2]) && one[3] >= 0 && one[3] <= CHANGE_SCENE_FRICTION;
    a->changes[k] = (MethodChange){(int)one[0], (TaskOptimizerType)one[1], (TaskOptimizerType)one[2],
                                   (MethodReason)one[3], (int)one[4]};
  }
  if (!sound) {
    diagnostics_add(diagnostics, SEVERITY_ERROR, (SourcePosition){c->path, 0, 0},
                    "the checkpoint is damaged: 'auto_counts' or 'auto_changes' contain impossible numbers; start "
                    "without --resume");
    return false;
  }
  a->method = (TaskOptimizerType)counts[0];
  a->tried = (int)counts[1];
  a->poor_trials = (unsigned)counts[2];
  a->best_value_iteration = (int)counts[3];
  a->restarts = (int)counts[4];
  a->return_to_best = counts[5] != 0;
  a->change_count = (int)counts[6];
  a->wants_smooth_friction = counts[7] != 0;
  a->has_smooth_friction = counts[8] != 0;
  a->smooth_friction_end = (int)counts[9];
  a->factor = numbers[0];
  a->best_value = numbers[1];
  automatic_create_optimizer(o);
  return true;
}

void optimization_write_identity(const Optimization* o, NumberFile* c) {
  int digit_count;
  int64_t* digits = identity_digits(o, &digit_count);
  number_file_add_integers(c, "identity", digits, digit_count);
  memory_free(digits);
}

void optimization_save(const Optimization* o, NumberFile* c) {
  c->kind = CHECKPOINT_KIND;
  int64_t counts[4] = {o->iteration, o->best_iteration, o->since_best, o->stop};
  int n = o->design.variable_count, rows = o->iteration + 1, states = optimizer_state_size(o->optimizer);
  optimization_write_identity(o, c);
  number_file_add_integers(c, "counts", counts, 4);
  double losses[3] = {o->loss, o->best_loss, o->rows[o->iteration].seconds};
  number_file_add_doubles(c, "losses", losses, 3);
  double adjoint[2] = {o->adjoint.growth, o->adjoint.indefinite_steps};
  number_file_add_doubles(c, "adjoint", adjoint, 2);
  number_file_add_doubles(c, "x", o->x, n);
  number_file_add_doubles(c, "gradient", o->gradient, n);
  number_file_add_doubles(c, "best_x", o->best_x, n);
  number_file_add_doubles(c, "terms", o->terms, o->term_count);
  double* memory = MEMORY_NEW(double, states > ROW_NUMBERS * rows ? states : ROW_NUMBERS * rows);
  optimizer_state_save(o->optimizer, memory);
  number_file_add_doubles(c, "optimizer", memory, states);
  for (int k = 0; k < rows; k++) {
    const OptimizationRow* r = &o->rows[k];
    double numbers[ROW_NUMBERS] = {r->loss,        r->trial_loss,   r->grad_design, r->grad_control,
                                   r->step_design, r->step_control, r->seconds,     (double)r->outcome};
    memcpy(memory + ROW_NUMBERS * k, numbers, sizeof(numbers));
  }
  number_file_add_doubles(c, "rows", memory, ROW_NUMBERS * rows);
  number_file_add_doubles(c, "row_terms", o->row_terms, rows * o->term_count);
  memory_free(memory);
  if (o->bounded_terms) save_subjects(o, rows, c);
  if (has_starts(o)) save_starts(o, c);
  save_start(o, c);
  if (o->task->optimizer.type == OPTIMIZER_AUTO) save_automatic(o, c);
}

/* Appends the name of the data that a hash covers to `out`. part: number of the hash. */
static void add_identity_name(const Optimization* o, int part, Text* out) {
  static const char* const words[IDENTITY_SCENES] = {
      "the optimizer's settings, the seed or the rules of the design have",
      "the variables, their bounds or the constraints have", "the losses have"};
  if (part < IDENTITY_SCENES)
    text_add(out, "%s", words[part]);
  else
    text_add(out, "the scene %s, a mesh that it reads or an override of it has",
             o->runs[part - IDENTITY_SCENES].scene->path);
}

/* Returns the index of the first hash that differs, or -1 if all are equal. Compares scenes first, because other data
 * depend on the scenes. saved, identity: digits of the hashes in the file and of this task. */
static int different_part(const Optimization* o, const int64_t* saved, const int64_t* identity) {
  for (int k = 0; k < o->identity_count; k++) {
    int part = (k + IDENTITY_SCENES) % o->identity_count;
    if (memcmp(saved + part * DIGITS, identity + part * DIGITS, DIGITS * sizeof *identity) != 0) return part;
  }
  return -1;
}

bool optimization_matches(const Optimization* o, const NumberFile* c, Diagnostics* diagnostics) {
  int count, part = -1;
  int64_t *identity = identity_digits(o, &count), *saved = MEMORY_NEW(int64_t, count);
  bool same = number_file_get_integers(c, "identity", saved, count, diagnostics);
  if (same) part = different_part(o, saved, identity);
  if (part >= 0) {
    Text name = {0};
    add_identity_name(o, part, &name);
    diagnostics_add(
        diagnostics, SEVERITY_ERROR, (SourcePosition){c->path, 0, 0},
        "%s changed since the checkpoint was written: undo the change, start without --resume, or give another folder",
        name.data);
    text_free(&name);
    same = false;
  }
  memory_free(saved);
  memory_free(identity);
  return same;
}

static void unpack_rows(Optimization* o, const double* numbers, int rows) {
  for (int k = 0; k < rows; k++) {
    const double* r = numbers + ROW_NUMBERS * k;
    o->rows[k] = (OptimizationRow){r[0], r[1], r[2], r[3], r[4], r[5], r[6], (TrialOutcome)r[7]};
  }
}

bool optimization_load(Optimization* o, const NumberFile* c, Diagnostics* diagnostics) {
  int64_t counts[4];
  double losses[3], adjoint[2];
  int n = o->design.variable_count;
  if (!optimization_matches(o, c, diagnostics)) return false;
  if (!load_automatic(o, c, diagnostics)) return false;
  int states = optimizer_state_size(o->optimizer);
  if (!number_file_get_integers(c, "counts", counts, 4, diagnostics)) return false;
  if (!number_file_get_doubles(c, "losses", losses, 3, diagnostics)) return false;
  if (!number_file_get_doubles(c, "adjoint", adjoint, 2, diagnostics)) return false;
  bool one = o->task->multistart <= 1;
  if (counts[0] < 0 || (one && counts[0] > o->task->optimizer.iterations)) {
    diagnostics_add(diagnostics, SEVERITY_ERROR, (SourcePosition){c->path, 0, 0},
                    "the checkpoint is at iteration %lld, but the task ends at %d: increase optimizer.iterations",
                    (long long)counts[0], o->task->optimizer.iterations);
    return false;
  }
  int rows = (int)counts[0] + 1;
  optimization_reserve_rows(o, rows);
  int largest = states > ROW_NUMBERS * rows ? states : ROW_NUMBERS * rows;
  double* memory = MEMORY_NEW(double, largest);
  bool ok = number_file_get_doubles(c, "x", o->x, n, diagnostics) &&
            number_file_get_doubles(c, "gradient", o->gradient, n, diagnostics) &&
            number_file_get_doubles(c, "best_x", o->best_x, n, diagnostics) &&
            number_file_get_doubles(c, "terms", o->terms, o->term_count, diagnostics) &&
            number_file_get_doubles(c, "row_terms", o->row_terms, rows * o->term_count, diagnostics) &&
            number_file_get_doubles(c, "rows", memory, ROW_NUMBERS * rows, diagnostics);
  if (ok) unpack_rows(o, memory, rows);
  ok = ok && number_file_get_doubles(c, "optimizer", memory, states, diagnostics);
  o->loss = losses[0];
  ok = ok && load_subjects(o, c, rows, diagnostics);
  o->start_best = losses[1];
  o->best_compared_loss = losses[1];
  o->start_violation = o->best_violation;
  ok = ok && (!has_starts(o) || load_starts(o, c, diagnostics)) && load_start(o, c, diagnostics);
  if (ok) {
    optimizer_state_load(o->optimizer, memory);
    o->iteration = (int)counts[0];
    continuation_set(o, o->iteration);
    draws_select(o, o->iteration);
    o->best_iteration = (int)counts[1];
    o->since_best = (int)counts[2];
    o->stop = STOP_NOT_YET;
    o->loss = losses[0];
    o->best_loss = losses[1];
    o->adjoint = (AdjointReport){.growth = adjoint[0], .indefinite_steps = (int)adjoint[1]};
    o->seconds_before = losses[2];
    o->started = timer_now();
    if (counts[3] == STOP_SHORT_STEP || counts[3] == STOP_FLAT) o->stop = (OptimizationStop)counts[3];
    if (o->stop == STOP_NOT_YET && !o->next_start_is_pending) optimization_check_stop(o, true);
    if (multistart_has_next(o)) o->next_start_is_pending = true; /* the task allows more or fewer iterations now */
    if (o->next_start_is_pending) o->stop = STOP_NOT_YET;
    success_restore(o);
  }
  memory_free(memory);
  return ok;
}

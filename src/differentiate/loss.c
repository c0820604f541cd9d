/* All losses of a task in one scenario. */
#include "differentiate/loss.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

struct Loss {
  LossTerm* terms;
  int count;
  int steps;        /* horizon */
  ForcePair* pairs; /* pairs whose forces the terms read (pair_count) */
  int pair_count;
};

/* ---------------------------------------------------------------- names */

static bool is_taken(const Loss* loss, const char* name) {
  for (int i = 0; i < loss->count; i++)
    if (loss->terms[i].name && strcmp(loss->terms[i].name, name) == 0) return true;
  return false;
}

static void complain_of_twin(const Task* task, int index, Diagnostics* diagnostics) {
  const TaskLoss* loss = &task->losses[index];
  int first = 0;
  while (!task->losses[first].name || strcmp(task->losses[first].name, loss->name) != 0) first++;
  diagnostics_add(diagnostics, SEVERITY_ERROR, loss->place,
                  "the name '%.60s' is taken by the loss of line %d: rename one of the two losses", loss->name,
                  task->losses[first].place.line);
}

/* Sets the names of the terms. A term without a name gets the word of its kind, followed by _2, _3, ... if needed for
 * uniqueness. */
static void name_terms(Loss* loss, const Task* task, Diagnostics* diagnostics) {
  for (int i = 0; i < loss->count; i++) {
    if (!task->losses[i].name) continue;
    if (is_taken(loss, task->losses[i].name)) complain_of_twin(task, i, diagnostics);
    loss->terms[i].name = memory_copy_text(task->losses[i].name);
  }
  for (int i = 0; i < loss->count; i++) {
    if (loss->terms[i].name) continue;
    char name[40];
    snprintf(name, sizeof name, "%s", loss->terms[i].kind->word);
    for (int n = 2; is_taken(loss, name); n++) snprintf(name, sizeof name, "%s_%d", loss->terms[i].kind->word, n);
    loss->terms[i].name = memory_copy_text(name);
  }
}

/* ---------------------------------------------------------------- creation */

static void list_pair(Loss* loss, int link, int other) {
  for (int k = 0; k < loss->pair_count; k++)
    if (loss->pairs[k].link == link && loss->pairs[k].other == other) return;
  size_t count = (size_t)loss->pair_count++;
  loss->pairs = memory_resize(loss->pairs, sizeof(ForcePair) * count, sizeof(ForcePair) * (count + 1));
  loss->pairs[count] = (ForcePair){link, other};
}

static void list_pairs(Loss* loss, const LossTerm* term) {
  if (term->absent || term->kind != loss_kind(LOSS_FORCE) || term->other < 0) return;
  list_pair(loss, term->link, term->other);
  for (int k = 1; k < term->link_count; k++) list_pair(loss, term->links[k], term->other);
}

Status loss_create(Loss** out, const Task* task, int scenario, const Model* model, Diagnostics* diagnostics) {
  Loss* loss = MEMORY_NEW(Loss, 1);
  *out = NULL;
  int before = diagnostics->error_count, asked = task->scenarios[scenario].steps;
  loss->steps = task_step_count(asked, model->simulation.steps);
  loss->count = task->loss_count;
  loss->terms = MEMORY_NEW(LossTerm, task->loss_count);
  for (int i = 0; i < task->loss_count; i++) {
    const LossContext origin = {task, &task->losses[i], scenario, i, model, loss->steps, diagnostics};
    loss_resolve(&loss->terms[i], &origin);
    list_pairs(loss, &loss->terms[i]);
  }
  name_terms(loss, task, diagnostics);
  if (diagnostics->error_count > before) {
    loss_destroy(loss);
    return STATUS_BAD_INPUT;
  }
  *out = loss;
  return STATUS_OK;
}

void loss_destroy(Loss* loss) {
  if (!loss) return;
  for (int i = 0; i < loss->count; i++) {
    memory_free(loss->terms[i].name);
    loss_hulls_free(&loss->terms[i]);
    loss_release(&loss->terms[i]);
  }
  memory_free(loss->terms);
  memory_free(loss->pairs);
  memory_free(loss);
}

int loss_count(const Loss* loss) { return loss->count; }

const char* loss_name(const Loss* loss, int index) {
  assert(index >= 0 && index < loss_count(loss));
  return loss->terms[index].name;
}

bool loss_is_active(const Loss* loss, int index) {
  assert(index >= 0 && index < loss_count(loss));
  return !loss->terms[index].absent;
}

/* ---------------------------------------------------------------- rows */

static void keep_rows(const LossTerm* term, const Model* model, RowSelection* keep) {
  if (term->absent || term->kind->window == WINDOW_NONE) return;
  int first = term->first < term->reference ? term->first : term->reference;
  if (first > 0) first--; /* losses of velocities read the row before */
  if (term->link >= 0) row_selection_add_link(keep, term->link, first, term->last);
  for (int k = 1; k < term->link_count; k++) row_selection_add_link(keep, term->links[k], first, term->last);
  if (term->other >= 0) row_selection_add_link(keep, term->other, first, term->last);
  for (int i = 0; term->kind->window == WINDOW_START && i < model->link_count; i++)
    if (term->other < 0) row_selection_add_link(keep, i, 0, 0);
  for (int c = 0; term->link < 0 && c < model->controller_count; c++)
    row_selection_add_link(keep, model->controllers[c].link, first, term->last);
}

void loss_select_rows(const Loss* loss, const Model* model, RowSelection* keep) {
  for (int i = 0; i < loss->count; i++) keep_rows(&loss->terms[i], model, keep);
}

void loss_record_pair_forces(const Loss* loss, int steps, Recording* recording, LossSeeds* seeds) {
  if (recording) recording_store_pair_forces(recording, loss->pairs, loss->pair_count, steps);
  if (seeds) loss_seeds_add_pair_forces(seeds, loss->pairs, loss->pair_count, steps);
}

/* ---------------------------------------------------------------- value */

/* Returns the sum of the term over its links, and adds derivatives to seeds unless NULL. */
static double sum_links(LossTerm term, const Recording* recording, LossSeeds* seeds) {
  double sum = term.kind->evaluate(&term, recording, seeds);
  for (int k = 1; k < term.link_count; k++) {
    term.link = term.links[k];
    sum += term.kind->evaluate(&term, recording, seeds);
  }
  return sum;
}

/* Returns the value of the best or the worst state of the window, or NaN if a value is NaN. The derivative is the
 * derivative of the selected state's value: d max_k v_k = dv_k* (envelope theorem). Of states with equal values the
 * first is selected. */
static double extreme_state(LossTerm term, const Recording* recording, LossSeeds* seeds) {
  int last = term.last, found = term.first;
  double extreme = NAN;
  for (int k = term.first; k <= last; k++) {
    term.first = term.last = k;
    double value = sum_links(term, recording, NULL);
    if (isnan(value)) return value;
    if (k > found && !(term.over == OVER_BEST ? value < extreme : value > extreme)) continue;
    extreme = value;
    found = k;
  }
  term.first = term.last = found;
  return seeds ? sum_links(term, recording, seeds) : extreme;
}

/* Returns the term's value times a factor. */
static double evaluate(const LossTerm* term, const Recording* recording, double factor, LossSeeds* seeds) {
  if (term->absent) return 0;
  LossTerm one = *term;
  one.weight *= factor;
  return term->over == OVER_MEAN ? sum_links(one, recording, seeds) : extreme_state(one, recording, seeds);
}

double loss_evaluate_with(const Loss* loss, const Recording* recording, double* terms, const double* factors,
                          LossSeeds* seeds) {
  const double none = NAN;
  bool whole = recording->steps >= loss->steps;
  double sum = 0;
  for (int i = 0; i < loss->count; i++) {
    const LossTerm* term = &loss->terms[i];
    double factor = factors ? factors[i] : term->bounded ? 0 : 1;
    if (seeds && factor != 1 && factor != 0 && whole) evaluate(term, recording, factor, seeds);
    double value = whole ? evaluate(term, recording, 1, factor == 1 ? seeds : NULL) : none;
    if (terms) terms[i] = value;
    if (!term->bounded) sum += value;
  }
  return whole ? sum : none;
}

double loss_evaluate(const Loss* loss, const Recording* recording, double* terms, LossSeeds* seeds) {
  return loss_evaluate_with(loss, recording, terms, NULL, seeds);
}

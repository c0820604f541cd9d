/* Losses of a task in one scenario: creation, and the weighted sum of all terms. */
#include "differentiate/loss.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

struct Loss {
  LossTerm* terms;
  int count;
  int steps;        /* number of time steps of the run (horizon) */
  ForcePair* pairs; /* pairs of links whose contact forces the terms read (size: pair_count) */
  int pair_count;
};

static bool name_is_used(const Loss* loss, const char* name) {
  for (int i = 0; i < loss->count; i++)
    if (loss->terms[i].name && strcmp(loss->terms[i].name, name) == 0) return true;
  return false;
}

static void report_duplicate_name(const Task* task, int index, Diagnostics* diagnostics) {
  const TaskLoss* loss = &task->losses[index];
  int first = 0;
  while (!task->losses[first].name || strcmp(task->losses[first].name, loss->name) != 0) first++;
  diagnostics_add(diagnostics, SEVERITY_ERROR, loss->place,
                  "the name '%.60s' is taken by the loss of line %d: rename one of the two losses", loss->name,
                  task->losses[first].place.line);
}

/* Sets the names of the terms. A term without a name gets the word of its kind, followed by _2, _3, ... for uniqueness.
 */
static void set_term_names(Loss* loss, const Task* task, Diagnostics* diagnostics) {
  for (int i = 0; i < loss->count; i++) {
    if (!task->losses[i].name) continue;
    if (name_is_used(loss, task->losses[i].name)) report_duplicate_name(task, i, diagnostics);
    loss->terms[i].name = memory_copy_text(task->losses[i].name);
  }
  for (int i = 0; i < loss->count; i++) {
    if (loss->terms[i].name) continue;
    char name[40];
    snprintf(name, sizeof name, "%s", loss->terms[i].kind->name_in_task);
    for (int n = 2; name_is_used(loss, name); n++)
      snprintf(name, sizeof name, "%s_%d", loss->terms[i].kind->name_in_task, n);
    loss->terms[i].name = memory_copy_text(name);
  }
}

static void append_pair(Loss* loss, int link, int other) {
  for (int k = 0; k < loss->pair_count; k++)
    if (loss->pairs[k].link == link && loss->pairs[k].other == other) return;
  size_t count = (size_t)loss->pair_count++;
  loss->pairs = memory_resize(loss->pairs, sizeof(ForcePair) * count, sizeof(ForcePair) * (count + 1));
  loss->pairs[count] = (ForcePair){link, other};
}

static void append_term_pairs(Loss* loss, const LossTerm* term) {
  if (term->is_inactive || term->kind != loss_kind(LOSS_FORCE) || term->other < 0) return;
  append_pair(loss, term->link, term->other);
  for (int k = 1; k < term->link_count; k++) append_pair(loss, term->links[k], term->other);
}

Status loss_create(Loss** out, const Task* task, int scenario, const Model* model, Diagnostics* diagnostics) {
  assert(scenario >= 0);
  Loss* loss = MEMORY_NEW(Loss, 1);
  *out = NULL;
  int before = diagnostics->error_count, asked = task->scenarios[scenario].steps;
  loss->steps = task_step_count(asked, model->simulation.steps);
  loss->count = task->loss_count;
  loss->terms = MEMORY_NEW(LossTerm, task->loss_count);
  for (int i = 0; i < task->loss_count; i++) {
    const LossContext context = {task, &task->losses[i], scenario, i, model, loss->steps, diagnostics};
    loss_resolve(&loss->terms[i], &context);
    append_term_pairs(loss, &loss->terms[i]);
  }
  set_term_names(loss, task, diagnostics);
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
  assert(index >= 0 && index < loss->count);
  assert(index >= 0 && index < loss_count(loss));
  return loss->terms[index].name;
}

bool loss_is_active(const Loss* loss, int index) {
  assert(index >= 0 && index < loss_count(loss));
  return !loss->terms[index].is_inactive;
}

static void select_term_rows(const LossTerm* term, const Model* model, RowSelection* selection) {
  if (term->is_inactive || term->kind->window == WINDOW_NONE) return;
  int first = term->first < term->reference ? term->first : term->reference;
  if (first > 0) first--; /* velocities need the previous row */
  if (term->link >= 0) row_selection_add_link(selection, term->link, first, term->last);
  for (int k = 1; k < term->link_count; k++) row_selection_add_link(selection, term->links[k], first, term->last);
  if (term->other >= 0) row_selection_add_link(selection, term->other, first, term->last);
  for (int i = 0; term->kind->window == WINDOW_START && i < model->link_count; i++)
    if (term->other < 0) row_selection_add_link(selection, i, 0, 0);
  for (int c = 0; term->link < 0 && c < model->controller_count; c++)
    row_selection_add_link(selection, model->controllers[c].link, first, term->last);
}

void loss_select_rows(const Loss* loss, const Model* model, RowSelection* selection) {
  for (int i = 0; i < loss->count; i++) select_term_rows(&loss->terms[i], model, selection);
}

void loss_record_pair_forces(const Loss* loss, int steps, Recording* recording, LossSeeds* seeds) {
  if (recording) recording_store_pair_forces(recording, loss->pairs, loss->pair_count, steps);
  if (seeds) loss_seeds_add_pair_forces(seeds, loss->pairs, loss->pair_count, steps);
}

static double sum_links(LossTerm term, const Recording* recording, LossSeeds* seeds) {
  double sum = term.kind->evaluate(&term, recording, seeds);
  for (int k = 1; k < term.link_count; k++) {
    term.link = term.links[k];
    sum += term.kind->evaluate(&term, recording, seeds);
  }
  return sum;
}

/* Returns the value of the best or worst row of the window, or NaN if a value is NaN. Its derivative is the derivative
 * of that row's value: d max_k v_k = dv_k* (envelope theorem). The first of several equal rows is used. */
static double evaluate_extreme_row(LossTerm term, const Recording* recording, LossSeeds* seeds) {
  int last = term.last, found = term.first;
  double extreme = NAN;
  for (int k = term.first; k <= last; k++) {
    term.first = term.last = k;
    double value = sum_links(term, recording, NULL);
    if (isnan(value)) return value;
    if (k > found && !(term.reduction == OVER_BEST ? value < extreme : value > extreme)) continue;
    extreme = value;
    found = k;
  }
  term.first = term.last = found;
  return seeds ? sum_links(term, recording, seeds) : extreme;
}

static double evaluate_term(const LossTerm* term, const Recording* recording, double factor, LossSeeds* seeds) {
  if (term->is_inactive) return 0;
  LossTerm one = *term;
  one.weight *= factor;
  return term->reduction == OVER_MEAN ? sum_links(one, recording, seeds) : evaluate_extreme_row(one, recording, seeds);
}

double loss_evaluate_with(const Loss* loss, const Recording* recording, double* terms, const double* factors,
                          LossSeeds* seeds) {
  const double none = NAN;
  bool whole = recording->steps >= loss->steps;
  double sum = 0;
  for (int i = 0; i < loss->count; i++) {
    const LossTerm* term = &loss->terms[i];
    double factor = factors ? factors[i] : term->bounded ? 0 : 1;
    if (seeds && factor != 1 && factor != 0 && whole) evaluate_term(term, recording, factor, seeds);
    double value = whole ? evaluate_term(term, recording, 1, factor == 1 ? seeds : NULL) : none;
    if (terms) terms[i] = value;
    if (!term->bounded) sum += value;
  }
  return whole ? sum : none;
}

double loss_evaluate(const Loss* loss, const Recording* recording, double* terms, LossSeeds* seeds) {
  return loss_evaluate_with(loss, recording, terms, NULL, seeds);
}

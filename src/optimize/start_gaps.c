/* Correction of trials that are invalid in the initial state: bodies intersect, a loop does not close, or a hull is too
 * thin (update.md, O22). The initial gaps are linearized at the current design and added to the feasible set as rows,
 * and the optimizer proposes the trial again. A trial that still fails is moved halfway towards the current design,
 * repeatedly.
 */
#include <assert.h>
#include <string.h>

#include "optimize/optimization.h"

/* Largest numbers of proposals, of gaps that a proposal adds as constraints, and of halvings of the last step. A
 * fraction 2^-30 of a step is negligible. */
enum { PROPOSALS_MAX = 8, GAPS_MAX = 64, HALVINGS_MAX = 30 };

/* Feasible set with additional rows. Owns the arrays of rows, borrows the limits of the variables. */
typedef struct {
  FeasibleSet set;
  int row_capacity, entry_capacity;
} ExtendedSet;

static ExtendedSet extended_set_create(const FeasibleSet* optimizer) {
  int entries = optimizer->row_count > 0 ? optimizer->row_first[optimizer->row_count] : 0;
  ExtendedSet w = {.set = *optimizer,
                   .row_capacity = optimizer->row_count + PROPOSALS_MAX * GAPS_MAX,
                   .entry_capacity = entries + PROPOSALS_MAX * GAPS_MAX * optimizer->count};
  w.set.row_first = MEMORY_NEW(int, w.row_capacity + 1);
  w.set.row_low = MEMORY_NEW(double, w.row_capacity);
  w.set.row_high = MEMORY_NEW(double, w.row_capacity);
  w.set.column = MEMORY_NEW(int, w.entry_capacity);
  w.set.coefficient = MEMORY_NEW(double, w.entry_capacity);
  if (optimizer->row_count == 0) return w;
  memcpy(w.set.row_first, optimizer->row_first, sizeof(int) * (size_t)(optimizer->row_count + 1));
  memcpy(w.set.row_low, optimizer->row_low, sizeof(double) * (size_t)optimizer->row_count);
  memcpy(w.set.row_high, optimizer->row_high, sizeof(double) * (size_t)optimizer->row_count);
  memcpy(w.set.column, optimizer->column, sizeof(int) * (size_t)entries);
  memcpy(w.set.coefficient, optimizer->coefficient, sizeof(double) * (size_t)entries);
  return w;
}

static void extended_set_free(ExtendedSet* w) {
  void* owned[] = {w->set.row_first, w->set.row_low, w->set.row_high, w->set.column, w->set.coefficient};
  for (size_t k = 0; k < sizeof owned / sizeof owned[0]; k++) memory_free(owned[k]);
}

/* Adds a row that keeps a linearized gap of the trial y above a limit: gap + slope . (y - x) >= lower_bound.
 * x[variables]: current design. gap [m] and slope[variables]: the gap at x and its derivatives. The limit is relaxed if
 * rounding makes x violate the row. Returns false if no variable changes the gap. */
static bool add_gap_row(ExtendedSet* w, const double* x, const double* slope, double gap, double lower_bound) {
  FeasibleSet* set = &w->set;
  int entry = set->row_count > 0 ? set->row_first[set->row_count] : 0;
  double at = 0;
  set->row_first[set->row_count] = entry;
  for (int i = 0; i < set->count; i++) {
    if (slope[i] == 0) continue;
    set->column[entry] = i;
    set->coefficient[entry++] = slope[i];
    at += slope[i] * x[i];
  }
  if (entry == set->row_first[set->row_count]) return false;
  set->row_low[set->row_count] = fmin(lower_bound - gap + at, at);
  set->row_high[set->row_count] = HUGE_VAL;
  set->row_first[++set->row_count] = entry;
  return true;
}

static Status build_model(const Optimization* o, const double* x, int scenario, Model* model) {
  Diagnostics unsaid = {0};
  int count;
  ModelOverride* overrides = optimization_overrides(o, x, scenario, o->draw, &count);
  Status status = model_create_with(model, &o->task->scenarios[scenario].scene, overrides, count, &unsaid);
  memory_free(overrides);
  diagnostics_free(&unsaid);
  return status;
}

/* Stores a pair of links in o->start_pairs unless already stored. */
static void store_pair(Optimization* o, int scenario, const ModelTouch* pair) {
  for (int k = 0; k < o->start_pair_count; k++)
    if (o->start_pairs[k].scenario == scenario && o->start_pairs[k].a == pair->a && o->start_pairs[k].b == pair->b)
      return;
  o->start_pairs = memory_grow_array(o->start_pairs, sizeof(StartPair), o->start_pair_count, &o->start_pair_capacity);
  o->start_pairs[o->start_pair_count++] = (StartPair){scenario, pair->a, pair->b};
}

/* Adds a row for each gap that the trial violates, linearized at the current design. current: its model. Returns the
 * number of rows. */
static int add_gap_rows(Optimization* o, ExtendedSet* w, int scenario, Model* current, const Model* trial) {
  Recording recording = {0};
  RecordReport report;
  Diagnostics unsaid = {0};
  ModelTouch* pairs = NULL;
  StartGap gaps[GAPS_MAX];
  const RecordOptions options = {.threads = 1};
  int count = 0, pair_count = model_touching(trial, &pairs), added = 0;
  for (int k = 0; k < pair_count; k++) {
    int found = find_start_gaps(current, trial, pairs[k].a, pairs[k].b, current->contact.gap_at_rest, gaps + count,
                                GAPS_MAX - count);
    if (found > 0) store_pair(o, scenario, &pairs[k]);
    count += found;
  }
  memory_free(pairs);
  recording_create(&recording, current, 0);
  if (count > 0 && recording_run(&recording, current, &options, &report, &unsaid) == STATUS_OK) {
    LossSeeds seeds = loss_seeds_create(current, 0);
    RunAdjoint* adjoint = run_adjoint_create(current, 1);
    ModelGradient gradient;
    model_gradient_create(&gradient, current);
    gradient.without_turns = !optimization_rotates_joints(o);
    double* slope = MEMORY_NEW(double, o->design.variable_count);
    for (int k = 0; k < count; k++) {
      loss_seeds_clear(&seeds);
      start_gap_seed(&recording, &gaps[k], &seeds);
      memset(slope, 0, sizeof(double) * (size_t)o->design.variable_count);
      if (!run_adjoint(adjoint, &recording, &seeds, 1, &gradient).sound) continue;
      design_gradient(&o->design, scenario, current, &gradient, 1, slope);
      double now = start_gap(current, recording_pose(&recording, 0), &gaps[k]);
      added += add_gap_row(w, o->x, slope, now, gaps[k].least);
    }
    memory_free(slope);
    model_gradient_destroy(&gradient);
    run_adjoint_destroy(adjoint);
    loss_seeds_destroy(&seeds);
  }
  recording_destroy(&recording);
  diagnostics_free(&unsaid);
  return added;
}

/* Adds a row for each gap that o->trial violates in a scenario. Returns the number of rows, 0 if the trial is invalid
 * for another reason or no variable changes the gaps. */
static int add_trial_rows(Optimization* o, ExtendedSet* w, int scenario) {
  Model current = {0}, trial = {0};
  int added = 0;
  ContactModel law = o->task->scenarios[scenario].scene.contact.model;
  if (law == CONTACT_NONE || contact_allows_overlap(law)) return 0;
  if (build_model(o, o->x, scenario, &current) == STATUS_OK &&
      build_model(o, o->trial, scenario, &trial) == STATUS_BAD_INPUT)
    added = add_gap_rows(o, w, scenario, &current, &trial);
  model_destroy(&current);
  model_destroy(&trial);
  return added;
}

/* Sets o->trial to a new proposal within the extended set, with the state of the optimizer. If `drawn` is not NULL, the
 * trial is the projection of drawn[variables] instead. */
static void propose_within(Optimization* o, const FeasibleSet* set, const double* drawn) {
  TaskOptimizer settings = automatic_settings(o);
  Optimizer* optimizer = optimizer_create_scaled(&settings, set, o->unit);
  if (drawn) {
    memcpy(o->trial, drawn, sizeof(double) * (size_t)set->count);
    (void)optimizer_project(optimizer, o->trial); /* the set is nonempty, because o->x satisfies all rows */
    optimizer_destroy(optimizer);
    return;
  }
  double* state = MEMORY_NEW(double, optimizer_state_size(optimizer));
  optimizer_state_save(o->optimizer, state);
  optimizer_state_load(optimizer, state);
  optimizer_propose(optimizer, o->x, o->loss, o->gradient, o->trial);
  optimizer_state_save(optimizer, state);
  optimizer_state_load(o->optimizer, state);
  memory_free(state);
  optimizer_destroy(optimizer);
}

/* Returns the first scenario in which a design is invalid, or -1. */
static int find_invalid_scenario(Optimization* o, const double* x) {
  for (int k = 0; k < o->run_count; k++)
    if (!evaluate_start(o, x, k)) return k;
  return -1;
}

/* Moves o->trial until it is valid in all scenarios. invalid_scenario: a scenario in which it is invalid now, or -1.
 * drawn: design drawn[variables] to be projected, or NULL. Returns false if no valid design is found. */
static bool correct_trial(Optimization* o, int invalid_scenario, const double* drawn) {
  size_t n = (size_t)o->design.variable_count;
  ExtendedSet w = extended_set_create(&o->design.set);
  for (int round = 0; round < PROPOSALS_MAX && invalid_scenario >= 0 && add_trial_rows(o, &w, invalid_scenario) > 0;
       round++) {
    propose_within(o, &w.set, drawn);
    invalid_scenario = find_invalid_scenario(o, o->trial);
  }
  extended_set_free(&w);
  for (int k = 0; k < HALVINGS_MAX && invalid_scenario >= 0; k++) {
    for (size_t i = 0; i < n; i++) o->trial[i] = o->x[i] + 0.5 * (o->trial[i] - o->x[i]);
    invalid_scenario = find_invalid_scenario(o, o->trial);
  }
  return invalid_scenario < 0;
}

bool correct_trial_gaps(Optimization* o) {
  if (!correct_trial(o, o->failed_scenario, NULL)) return false;
  o->corrected_trials++;
  optimizer_set_trial(o->optimizer, o->x, o->trial);
  return true;
}

bool move_to_valid_start(Optimization* o, const double* drawn) {
  assert(drawn != o->x && drawn != o->trial);
  size_t n = sizeof(double) * (size_t)o->design.variable_count;
  memcpy(o->trial, drawn, n);
  for (int k = 0; k < o->design.variable_count; k++) o->x[k] = o->design.variables[k].initial;
  (void)optimizer_project(o->optimizer, o->x); /* the set is known to be nonempty */
  if (find_invalid_scenario(o, o->x) >= 0 || !correct_trial(o, find_invalid_scenario(o, o->trial), drawn)) return false;
  memcpy(o->x, o->trial, n);
  return true;
}

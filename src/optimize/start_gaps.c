/* Correction of trials that cannot be simulated, because bodies intersect initially, a loop does not close, or a
 * hull is too thin (O22). The initial gaps are linearized at the current design and added to the feasible set as
 * rows, and the optimizer proposes the trial again. If the trial still fails, it is moved halfway towards the
 * current design, repeatedly. No trial is simulated for the correction. */
#include <string.h>

#include "optimize/optimization.h"

/* ROUNDS_MOST: largest number of proposals. GAPS_MOST: largest number of gaps that each proposal adds as rows.
 * HALVINGS_MOST: largest number of halvings of the last step; 2^-30 of a step is negligible. */
enum { ROUNDS_MOST = 8, GAPS_MOST = 64, HALVINGS_MOST = 30 };

/* The feasible set of the optimizer with additional rows. Owns the arrays of rows and borrows the limits of the
 * variables. */
typedef struct {
  FeasibleSet set;
  int row_capacity, entry_capacity;
} WiderSet;

static WiderSet wider_set(const FeasibleSet* own) {
  int entries = own->row_count > 0 ? own->row_first[own->row_count] : 0;
  WiderSet w = {.set = *own,
                .row_capacity = own->row_count + ROUNDS_MOST * GAPS_MOST,
                .entry_capacity = entries + ROUNDS_MOST * GAPS_MOST * own->count};
  w.set.row_first = MEMORY_NEW(int, w.row_capacity + 1);
  w.set.row_low = MEMORY_NEW(double, w.row_capacity);
  w.set.row_high = MEMORY_NEW(double, w.row_capacity);
  w.set.column = MEMORY_NEW(int, w.entry_capacity);
  w.set.coefficient = MEMORY_NEW(double, w.entry_capacity);
  if (own->row_count == 0) return w;
  memcpy(w.set.row_first, own->row_first, sizeof(int) * (size_t)(own->row_count + 1));
  memcpy(w.set.row_low, own->row_low, sizeof(double) * (size_t)own->row_count);
  memcpy(w.set.row_high, own->row_high, sizeof(double) * (size_t)own->row_count);
  memcpy(w.set.column, own->column, sizeof(int) * (size_t)entries);
  memcpy(w.set.coefficient, own->coefficient, sizeof(double) * (size_t)entries);
  return w;
}

static void wider_set_free(WiderSet* w) {
  void* owned[] = {w->set.row_first, w->set.row_low, w->set.row_high, w->set.column, w->set.coefficient};
  for (size_t k = 0; k < sizeof owned / sizeof owned[0]; k++) memory_free(owned[k]);
}

/* Adds a row to w that keeps a linearized gap of the trial y above a limit: gap + slope . (y - x) >= least.
 * x[variables]: current design. gap [m] and slope[variables] [m per unit of the variable]: the gap at x and its
 * derivatives. least: limit [m]. If rounding makes x violate the row, the limit is relaxed until x satisfies the
 * row. Returns false, and adds nothing, if no variable changes the gap. */
static bool add_row(WiderSet* w, const double* x, const double* slope, double gap, double least) {
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
  set->row_low[set->row_count] = fmin(least - gap + at, at);
  set->row_high[set->row_count] = HUGE_VAL;
  set->row_first[++set->row_count] = entry;
  return true;
}

/* ---------------------------------------------------------------- gaps of a trial */

static Status build(const Optimization* o, const double* x, int scenario, Model* model) {
  Diagnostics unsaid = {0};
  int count;
  ModelOverride* overrides = optimization_overrides(o, x, scenario, o->moment, &count);
  Status status = model_create_with(model, &o->task->scenarios[scenario].scene, overrides, count, &unsaid);
  memory_free(overrides);
  diagnostics_free(&unsaid);
  return status;
}

/* Adds a pair of links to o->start_pairs unless the list already contains the pair. */
static void note_pair(Optimization* o, int scenario, const ModelTouch* pair) {
  for (int k = 0; k < o->start_pair_count; k++)
    if (o->start_pairs[k].scenario == scenario && o->start_pairs[k].a == pair->a && o->start_pairs[k].b == pair->b)
      return;
  o->start_pairs = memory_grow_array(o->start_pairs, sizeof(StartPair), o->start_pair_count, &o->start_pair_capacity);
  o->start_pairs[o->start_pair_count++] = (StartPair){scenario, pair->a, pair->b};
}

/* Adds one row to w for each gap that the trial violates, with derivatives at the current design o->x. standing:
 * model of o->x. Returns the number of rows added. */
static int add_gaps(Optimization* o, WiderSet* w, int scenario, Model* standing, const Model* trial) {
  Recording recording = {0};
  RecordReport report;
  Diagnostics unsaid = {0};
  ModelTouch* pairs = NULL;
  StartGap gaps[GAPS_MOST];
  const RecordOptions options = {.threads = 1};
  int count = 0, pair_count = model_touching(trial, &pairs), added = 0;
  for (int k = 0; k < pair_count; k++) {
    int found = find_start_gaps(standing, trial, pairs[k].a, pairs[k].b, standing->contact.gap_at_rest, gaps + count,
                                GAPS_MOST - count);
    if (found > 0) note_pair(o, scenario, &pairs[k]);
    count += found;
  }
  memory_free(pairs);
  recording_create(&recording, standing, 0);
  if (count > 0 && recording_run(&recording, standing, &options, &report, &unsaid) == STATUS_OK) {
    LossSeeds seeds = loss_seeds_create(standing, 0);
    RunAdjoint* adjoint = run_adjoint_create(standing, 1);
    ModelGradient gradient;
    model_gradient_create(&gradient, standing);
    gradient.without_turns = !optimization_rotates_joints(o);
    double* slope = MEMORY_NEW(double, o->design.variable_count);
    for (int k = 0; k < count; k++) {
      loss_seeds_clear(&seeds);
      start_gap_seed(&recording, &gaps[k], &seeds);
      memset(slope, 0, sizeof(double) * (size_t)o->design.variable_count);
      if (!run_adjoint(adjoint, &recording, &seeds, 1, &gradient).sound) continue;
      design_gradient(&o->design, scenario, standing, &gradient, 1, slope);
      double now = start_gap(standing, recording_pose(&recording, 0), &gaps[k]);
      added += add_row(w, o->x, slope, now, gaps[k].least);
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

/* Adds one row to w for each gap that o->trial violates in a scenario. Builds the models of o->x and o->trial for
 * the gaps. Returns the number of rows added. Returns 0 if the trial is invalid for another reason, or if no
 * variable changes the gaps. */
static int limit_trial(Optimization* o, WiderSet* w, int scenario) {
  Model standing = {0}, trial = {0};
  int added = 0;
  ContactModel law = o->task->scenarios[scenario].scene.contact.model;
  if (law == CONTACT_NONE || contact_allows_overlap(law)) return 0;
  if (build(o, o->x, scenario, &standing) == STATUS_OK && build(o, o->trial, scenario, &trial) == STATUS_BAD_INPUT)
    added = add_gaps(o, w, scenario, &standing, &trial);
  model_destroy(&standing);
  model_destroy(&trial);
  return added;
}

/* ---------------------------------------------------------------- next trial */

/* Sets o->trial to a new proposal of the optimizer within `set`, which has more rows than the set of the optimizer.
 * Uses and updates the state of the optimizer. If `drawn` is not NULL, sets o->trial to the projection of
 * drawn[variables] onto the set instead. */
static void propose_within(Optimization* o, const FeasibleSet* set, const double* drawn) {
  TaskOptimizer settings = automatic_settings(o);
  Optimizer* own = optimizer_create_scaled(&settings, set, o->unit);
  if (drawn) {
    memcpy(o->trial, drawn, sizeof(double) * (size_t)set->count);
    (void)optimizer_project(own, o->trial); /* the set is nonempty, because o->x satisfies all rows */
    optimizer_destroy(own);
    return;
  }
  double* state = MEMORY_NEW(double, optimizer_state_size(own));
  optimizer_state_save(o->optimizer, state);
  optimizer_state_load(own, state);
  optimizer_propose(own, o->x, o->loss, o->gradient, o->trial);
  optimizer_state_save(own, state);
  optimizer_state_load(o->optimizer, state);
  memory_free(state);
  optimizer_destroy(own);
}

/* Returns the first scenario in which the design x[variables] cannot be simulated, or -1 if there is none. */
static int first_refusal(Optimization* o, const double* x) {
  for (int k = 0; k < o->run_count; k++)
    if (!evaluate_start(o, x, k)) return k;
  return -1;
}

/* Moves o->trial until it can be simulated in all scenarios. refused: a scenario in which the trial cannot be
 * simulated now, or -1. drawn: as for propose_within. Returns false if no such design is found. */
static bool correct_trial(Optimization* o, int refused, const double* drawn) {
  size_t n = (size_t)o->design.variable_count;
  WiderSet w = wider_set(&o->design.set);
  for (int round = 0; round < ROUNDS_MOST && refused >= 0 && limit_trial(o, &w, refused) > 0; round++) {
    propose_within(o, &w.set, drawn);
    refused = first_refusal(o, o->trial);
  }
  wider_set_free(&w);
  for (int k = 0; k < HALVINGS_MOST && refused >= 0; k++) {
    for (size_t i = 0; i < n; i++) o->trial[i] = o->x[i] + 0.5 * (o->trial[i] - o->x[i]);
    refused = first_refusal(o, o->trial);
  }
  return refused < 0;
}

bool correct_trial_gaps(Optimization* o) {
  if (!correct_trial(o, o->failed_scenario, NULL)) return false;
  o->moved_trials++;
  optimizer_set_trial(o->optimizer, o->x, o->trial);
  return true;
}

bool move_to_valid_start(Optimization* o, const double* drawn) {
  size_t n = sizeof(double) * (size_t)o->design.variable_count;
  memcpy(o->trial, drawn, n);
  for (int k = 0; k < o->design.variable_count; k++) o->x[k] = o->design.variables[k].initial;
  (void)optimizer_project(o->optimizer, o->x); /* the set is known to be nonempty */
  if (first_refusal(o, o->x) >= 0 || !correct_trial(o, first_refusal(o, o->trial), drawn)) return false;
  memcpy(o->x, o->trial, n);
  return true;
}

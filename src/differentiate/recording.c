#include "differentiate/recording.h"

#include <assert.h>
#include <string.h>

static double* create_broken_times(const Model* model) {
  return model->closure_count > 0 ? MEMORY_NEW(double, model->closure_count) : NULL;
}

static SimJoin* create_joins(const Model* model, size_t rows) {
  bool any = false;
  for (int k = 0; k < model->closure_count; k++) any = any || model->closures[k].active.source;
  return any ? MEMORY_NEW(SimJoin, rows * (size_t)model->closure_count) : NULL;
}

static double* create_feedback(const Model* model, int steps) {
  size_t count = ((size_t)steps + 1) * (size_t)model->feedback_count;
  return count > 0 ? MEMORY_NEW(double, count) : NULL;
}

void recording_create(Recording* r, const Model* model, int steps) {
  assert(steps >= 0);
  size_t rows = (size_t)steps + 1, links = (size_t)model->link_count;
  *r = (Recording){.model = model, .step_capacity = steps};
  r->q = MEMORY_NEW(double, rows*(size_t)model->coordinate_count);
  r->rate = MEMORY_NEW(double, rows*(size_t)model->dof_count);
  r->pose = MEMORY_NEW(Pose, rows * links);
  if (model->simulation.integrator == INTEGRATOR_MOMENTUM) r->momentum = MEMORY_NEW(Vec3, rows * links);
  if (model->feels) r->felt = MEMORY_NEW(Vec3, rows * links);
  if (model->delayed_count > 0) r->delayed = MEMORY_NEW(double, 2 * rows * (size_t)model->delayed_count);
  r->force = MEMORY_NEW(Vec3, rows * links);
  r->feedback = create_feedback(model, steps);
  if (model->simulation.output & OUTPUT_REACTIONS) r->reaction = memory_alloc(sizeof(double[6]) * rows * links);
  r->row_state = MEMORY_NEW(int, rows);
  r->closures_broken = create_broken_times(model);
  r->joined = create_joins(model, rows);
}

void recording_create_selective(Recording* r, const Model* model, int steps, const RowSelection* selection) {
  assert(steps >= 0 && selection);
  *r = (Recording){.model = model, .step_capacity = steps, .selection = selection};
  r->q = MEMORY_NEW(double, selection->coordinates);
  r->rate = MEMORY_NEW(double, selection->dofs);
  r->pose = MEMORY_NEW(Pose, selection->poses);
  r->force = MEMORY_NEW(Vec3, selection->poses);
  r->forces_now = MEMORY_NEW(Vec3, model->link_count);
  r->feedback = create_feedback(model, steps);
  r->row_state = MEMORY_NEW(int, steps + 1);
  r->closures_broken = create_broken_times(model);
}

void recording_create_segment(Recording* r, const Model* model, int first_row, int steps, int contacts) {
  assert(first_row >= 0 && steps >= 1 && contacts >= 0);
  size_t rows = (size_t)steps + 1, links = (size_t)model->link_count;
  *r = (Recording){
      .model = model, .step_capacity = steps, .is_segment = true, .first_row = first_row, .steps = first_row};
  r->q = MEMORY_NEW(double, rows*(size_t)model->coordinate_count);
  r->pose = MEMORY_NEW(Pose, rows * links);
  if (model->simulation.integrator == INTEGRATOR_MOMENTUM) r->momentum = MEMORY_NEW(Vec3, rows * links);
  if (model->feels) r->felt = MEMORY_NEW(Vec3, rows * links);
  if (model->delayed_count > 0) r->delayed = MEMORY_NEW(double, 2 * rows * (size_t)model->delayed_count);
  r->row_state = MEMORY_NEW(int, rows);
  r->closures_broken = create_broken_times(model);
  r->joined = create_joins(model, rows);
  r->contact_capacity = contacts;
  r->contacts = MEMORY_NEW(ContactRecord, contacts);
}

void recording_store_pair_forces(Recording* r, const ForcePair* pairs, int count, int steps) {
  assert(!r->pairs && count >= 0);
  r->pairs = pairs;
  r->pair_count = count;
  if (count > 0) r->pair_force = MEMORY_NEW(Vec3, (size_t)(steps + 1) * (size_t)count);
}

static void free_solves(Recording* r) {
  for (int k = 0; k < r->state_count; k++) memory_free(r->states[k].solves);
  r->solve_bytes = 0;
}

void recording_destroy(Recording* r) {
  free_solves(r);
  void* owned[] = {r->q,
                   r->rate,
                   r->pose,
                   r->momentum,
                   r->felt,
                   r->substep_felt,
                   r->delayed,
                   r->substep_delayed,
                   r->force,
                   r->reaction,
                   r->feedback,
                   r->forces_now,
                   r->pair_force,
                   r->contacts,
                   r->states,
                   r->row_state,
                   r->substep_q,
                   r->substep_pose,
                   r->substep_momentum,
                   r->closures_broken,
                   r->joined,
                   r->guess};
  for (size_t k = 0; k < sizeof(owned) / sizeof(owned[0]); k++) memory_free(owned[k]);
  run_segments_destroy(r->segments);
  *r = (Recording){0};
}

/* Returns the array, enlarged if its capacity is below `needed` elements of `size` bytes. Arrays of segments grow
 * slowly, because segments must stay within their memory limit. */
static void* grow_array(const Recording* r, void* old, int* capacity, int needed, size_t size) {
  if (needed <= *capacity) return old;
  int larger = r->is_segment ? needed + needed / 8 + 2 : 2 * needed + 64;
  void* new = memory_resize(old, size * (size_t)*capacity, size * (size_t)larger);
  *capacity = larger;
  return new;
}

static void* trim_array(void* old, int* capacity, int count, size_t size) {
  if (count == *capacity) return old;
  void* new = memory_resize(old, size * (size_t)*capacity, size * (size_t)count);
  *capacity = count;
  return new;
}

static int total_contact_count(const Recording* r) {
  if (r->state_count == 0) return 0;
  const RecordedState* last = &r->states[r->state_count - 1];
  return last->contact_first_row + last->contact_count;
}

void recording_trim(Recording* r) {
  r->contacts = trim_array(r->contacts, &r->contact_capacity, total_contact_count(r), sizeof(ContactRecord));
  r->states = trim_array(r->states, &r->state_capacity, r->state_count, sizeof(RecordedState));
}

size_t recording_bytes(const Recording* r) {
  const Model* m = r->model;
  size_t rows = (size_t)r->step_capacity + 1, links = (size_t)m->link_count, nq = (size_t)m->coordinate_count;
  size_t poses = r->selection ? r->selection->poses : rows * links, size = sizeof(int) * rows + sizeof(Pose) * poses;
  size += sizeof(double) * (r->selection ? r->selection->coordinates : rows * nq);
  if (r->rate) size += sizeof(double) * (r->selection ? r->selection->dofs : rows * (size_t)m->dof_count);
  if (r->force) size += sizeof(Vec3) * poses;
  if (r->reaction) size += sizeof(double[6]) * poses;
  if (r->feedback) size += sizeof(double) * rows * (size_t)m->feedback_count;
  size += sizeof(Vec3) * rows * (size_t)r->pair_count;
  if (r->momentum) size += sizeof(Vec3) * rows * links;
  if (r->felt) size += sizeof(Vec3) * (rows + (size_t)r->felt_capacity) * links;
  if (r->delayed) size += sizeof(double) * 2 * (rows + (size_t)r->delayed_capacity) * (size_t)m->delayed_count;
  if (r->guess) size += sim_initial_friction_size(r->guess, m);
  size += r->solve_bytes;
  size += sizeof(ContactRecord) * (size_t)r->contact_capacity + sizeof(RecordedState) * (size_t)r->state_capacity;
  return size + sizeof(double) * nq * (size_t)r->substep_q_capacity +
         sizeof(Pose) * links * (size_t)r->substep_state_capacity + sizeof(Vec3) * links * (size_t)r->momentum_capacity;
}

size_t recording_memory_left(const Recording* r, const LossSeeds* seeds, double bytes) {
  double left = bytes - (double)recording_bytes(r) - (double)(sizeof(double) * seeds->length);
  return left > 1 ? (size_t)left : 1;
}

Status recording_check_memory(const Recording* r, const LossSeeds* seeds, double bytes, SourcePosition place,
                              Diagnostics* diagnostics) {
  double kept = (double)recording_bytes(r) + (double)(sizeof(double) * seeds->length);
  if (kept < bytes) return STATUS_OK;
  diagnostics_add(diagnostics, SEVERITY_ERROR, place,
                  "memory: the gradient of a run may use %.4g GiB, but the rows that the losses need take %.4g GiB: "
                  "increase 'memory', shorten the losses in time (from, to), or name fewer links",
                  bytes / GIBIBYTE, kept / GIBIBYTE);
  return STATUS_BAD_INPUT;
}

static RecordedState* append_state(Recording* r, int step, StepClock clock, bool row) {
  r->states = grow_array(r, r->states, &r->state_capacity, r->state_count + 1, sizeof(RecordedState));
  RecordedState* state = &r->states[r->state_count];
  int first = 0;
  if (r->state_count > 0) first = state[-1].contact_first_row + state[-1].contact_count;
  *state = (RecordedState){.clock = clock, .step = step, .row = row, .substep_index = -1, .contact_first_row = first};
  r->state_count++;
  return state;
}

static void store_contacts(Recording* r, RecordedState* state, const ContactRecord* records, int count) {
  r->contacts =
      grow_array(r, r->contacts, &r->contact_capacity, state->contact_first_row + count, sizeof(ContactRecord));
  if (count > 0) memcpy(r->contacts + state->contact_first_row, records, sizeof(ContactRecord) * (size_t)count);
  state->contact_count = count;
}

static void store_solves(Recording* r, RecordedState* state, const SimSolve* solves, int count) {
  state->solves = sim_solves_copy(solves, count, r->model);
  state->solve_count = count;
  r->solve_bytes += sim_solves_size(solves, count, r->model);
}

/* Stores coordinates and poses at the end of a substep, and momentum, contact forces and controller memory if recorded.
 */
static void store_substep(Recording* r, RecordedState* state, const double* q, const Pose* pose, const Vec3* momentum,
                          const Vec3* felt, const double* delayed) {
  size_t nq = (size_t)r->model->coordinate_count, links = (size_t)r->model->link_count;
  int needed = r->substep_state_count + 1;
  r->substep_q = grow_array(r, r->substep_q, &r->substep_q_capacity, needed, sizeof(double) * nq);
  r->substep_pose = grow_array(r, r->substep_pose, &r->substep_state_capacity, needed, sizeof(Pose) * links);
  if (r->momentum)
    r->substep_momentum = grow_array(r, r->substep_momentum, &r->momentum_capacity, needed, sizeof(Vec3) * links);
  if (r->felt) r->substep_felt = grow_array(r, r->substep_felt, &r->felt_capacity, needed, sizeof(Vec3) * links);
  size_t late = 2 * (size_t)r->model->delayed_count;
  if (r->delayed)
    r->substep_delayed = grow_array(r, r->substep_delayed, &r->delayed_capacity, needed, sizeof(double) * late);
  size_t at = (size_t)r->substep_state_count;
  state->substep_index = r->substep_state_count++;
  if (q) memcpy(r->substep_q + at * nq, q, sizeof(double) * nq);
  memcpy(r->substep_pose + at * links, pose, sizeof(Pose) * links);
  if (r->momentum && momentum) memcpy(r->substep_momentum + at * links, momentum, sizeof(Vec3) * links);
  if (r->felt && felt) memcpy(r->substep_felt + at * links, felt, sizeof(Vec3) * links);
  if (r->delayed && delayed) memcpy(r->substep_delayed + at * late, delayed, sizeof(double) * late);
}

void recording_add_earlier_state(Recording* recording, const RecordedState* state, const double* q, const Pose* pose) {
  store_substep(recording, append_state(recording, state->step, state->clock, state->row), q, pose, NULL, NULL, NULL);
}

/* Stores the states at the ends of all substeps but the last of the step that ends at `row`. */
static void store_substeps(Recording* r, const Sim* sim, int row) {
  int count;
  const SimSubstate* inside = sim_substates(sim, &count);
  for (int k = 0; k < count; k++) {
    RecordedState* state = append_state(r, row, inside[k].clock, false);
    store_substep(r, state, inside[k].q, inside[k].pose, inside[k].momentum, inside[k].contact_force,
                  inside[k].delayed);
    store_contacts(r, state, inside[k].contacts, inside[k].contact_count);
    store_solves(r, state, inside[k].solves, inside[k].solve_count);
  }
}

/* Stores the times at which closures broke. Each row overwrites them, because later times include the earlier ones. */
static void store_closures(Recording* r, const Sim* sim) {
  const double* broken = sim_closures_broken(sim);
  size_t count = (size_t)r->model->closure_count;
  if (broken && count > 0) memcpy(r->closures_broken, broken, sizeof(double) * count);
}

/* Stores a row of a selective recording: quantities of links whose row is selected, and the clocks of all states. */
static void store_selected_row(Recording* r, Sim* sim, int row) {
  const Model* m = r->model;
  const SimState* state = sim_state(sim);
  store_closures(r, sim);
  int between = 0;
  const SimSubstate* inside = row > 0 ? sim_substates(sim, &between) : NULL;
  for (int k = 0; k < between; k++) append_state(r, row, inside[k].clock, false);
  append_state(r, row, sim_clock(sim), true);
  r->row_state[row] = r->state_count - 1;
  if (row > 0) sim_link_forces(sim, r->forces_now);
  for (int i = 0; i < m->link_count; i++) {
    RowIndex place = row_index(r->selection, m, row, i);
    const ModelLink* link = &m->links[i];
    if (!place.kept) continue;
    r->pose[place.pose] = state->pose[i];
    r->force[place.pose] = row > 0 ? r->forces_now[i] : vec3(0, 0, 0);
    for (int k = 0; k < link->coordinate_count; k++)
      r->q[place.coordinate + (size_t)k] = state->q[link->coordinate_first + k];
    for (int k = 0; k < link->dof_count; k++) r->rate[place.dof + (size_t)k] = state->rate[link->dof_first + k];
  }
}

/* Stores the initial guess of the friction solver in the first step. */
static void store_initial_guess(Recording* r, const Sim* sim) {
  const InitialFriction* guess = sim_initial_friction(sim);
  memory_free(r->guess);
  r->guess = guess ? sim_initial_friction_copy(guess, r->model) : NULL;
}

void recording_store_row(Recording* r, Sim* sim, int row) {
  const Model* m = r->model;
  const SimState* state = sim_state(sim);
  store_closures(r, sim);
  size_t closures = (size_t)m->closure_count;
  if (r->joined)
    memcpy(r->joined + (size_t)(row - r->first_row) * closures, sim_closures_joined(sim), sizeof(SimJoin) * closures);
  bool steps = row > r->first_row;
  size_t at = (size_t)(row - r->first_row), links = (size_t)m->link_count;
  size_t nq = (size_t)m->coordinate_count, nv = (size_t)m->dof_count;
  memcpy(r->q + at * nq, state->q, sizeof(double) * nq);
  memcpy(r->pose + at * links, state->pose, sizeof(Pose) * links);
  if (r->rate) memcpy(r->rate + at * nv, state->rate, sizeof(double) * nv);
  if (r->momentum) memcpy(r->momentum + at * links, state->momentum, sizeof(Vec3) * links);
  if (r->felt) memcpy(r->felt + at * links, state->contact_force, sizeof(Vec3) * links);
  size_t late = 2 * (size_t)m->delayed_count;
  if (r->delayed) memcpy(r->delayed + at * late, state->delayed, sizeof(double) * late);
  if (r->force && steps) sim_link_forces(sim, r->force + at * links);
  if (r->reaction && steps) memcpy(r->reaction + at * links, sim_reactions(sim), sizeof(double[6]) * links);
  if (row == 1 && steps) store_initial_guess(r, sim);
  if (steps) store_substeps(r, sim, row);
  int count;
  const ContactRecord* records = sim_contact_records(sim, &count);
  RecordedState* added = append_state(r, row, sim_clock(sim), true);
  store_contacts(r, added, records, count);
  const SimSolve* solves = sim_solves(sim, &count);
  if (steps) store_solves(r, added, solves, count);
  r->row_state[at] = r->state_count - 1;
  r->steps = row;
}

static void store_row(Recording* r, Sim* sim, int row) {
  if (r->selection)
    store_selected_row(r, sim, row);
  else
    recording_store_row(r, sim, row);
  if (r->pair_count > 0 && row > 0)
    sim_pair_forces(sim, r->pairs, r->pair_count, r->pair_force + (size_t)row * (size_t)r->pair_count);
  size_t inputs = (size_t)r->model->feedback_count;
  if (r->feedback && row > 0) memcpy(r->feedback + (size_t)row * inputs, sim_feedback(sim), sizeof(double) * inputs);
  if (r->segments && row > 0) run_segments_add_row(r->segments, sim, row);
}

void recording_add_row(Recording* r, Sim* sim, int row) {
  assert(row >= 0);
  store_row(r, sim, row);
  r->steps = row;
}

/* Returns true if the substep lengths of the step to `row` depend on the state (impact.md, I10). A perturbed run then
 * chooses its own substeps. */
static bool has_state_dependent_substeps(const Recording* reference, int row) {
  for (int k = reference->row_state[row - 1] + 1; k <= reference->row_state[row]; k++) {
    const StepClock* c = &reference->states[k].clock;
    if (c->end != END_AT_FRACTION || c->begin_varies || c->dt_varies || c->before_varies || c->older_varies)
      return true;
  }
  return false;
}

/* Advances the simulation by one step with the substep lengths of the reference run. */
static StepReport repeat_substeps(const Recording* reference, Sim* sim, int row) {
  int first = reference->row_state[row - 1] + 1, count = recording_substeps(reference, row);
  StepClock* clocks = MEMORY_NEW(StepClock, count);
  for (int k = 0; k < count; k++) clocks[k] = reference->states[first + k].clock;
  StepReport report = sim_step_repeat(sim, clocks, count);
  memory_free(clocks);
  return report;
}

StepReport recording_step(Sim* sim, const RecordOptions* options, int row) {
  assert(row >= 1);
  if (options->substep_reference && !has_state_dependent_substeps(options->substep_reference, row))
    return repeat_substeps(options->substep_reference, sim, row);
  return options->substeps ? sim_step_with_substeps(sim, options->substeps[row - 1]) : sim_step(sim);
}

/* Stores the states before the initial state, on which the first steps depend. */
static void store_history(Recording* r, const Sim* sim) {
  const SimHistory history = sim_history(sim);
  const RecordedState before = {.step = 0};
  recording_add_earlier_state(r, &before, history.q_older, history.pose_older);
  recording_add_earlier_state(r, &before, history.q_old, history.pose_old);
}

static Status run_steps(Recording* r, Sim* sim, int steps, const RecordOptions* options, RecordReport* report) {
  bool recorded = model_has_earlier_states(r->model) && !r->selection;
  r->start_state = recorded ? STATES_BEFORE : 0;
  if (recorded) store_history(r, sim);
  store_row(r, sim, 0);
  for (int row = 1; row <= steps; row++) {
    report->last = recording_step(sim, options, row);
    report->iterations += report->last.iterations;
    report->halved_steps += report->last.halved;
    if (report->last.outcome == STEP_INTERRUPTED) return STATUS_INTERRUPTED;
    if (step_outcome_failed(report->last.outcome)) {
      report->failed = true;
      report->failed_step = row;
      return STATUS_SOLVER;
    }
    if (report->last.residual > report->residual) {
      report->residual = report->last.residual;
      report->largest_step = row;
    }
    recording_add_row(r, sim, row);
    unconverged_add(&report->unconverged, &report->last, sim_state(sim)->time);
    if (options->interrupted && options->interrupted()) return STATUS_INTERRUPTED;
  }
  return STATUS_OK;
}

Status recording_run(Recording* r, const Model* model, const RecordOptions* options, RecordReport* report,
                     Diagnostics* diagnostics) {
  *report = (RecordReport){.failed = false};
  r->model = model;
  free_solves(r);
  r->steps = r->state_count = r->substep_state_count = 0;
  if (!r->selection)
    memset(r->force, 0, sizeof(Vec3) * (size_t)model->link_count); /* no contact forces precede the first state */
  run_segments_destroy(r->segments);
  r->segments = NULL;
  SimOptions sim_options = {
      .threads = options->threads, .tolerance = options->tolerance, .interrupted = options->interrupted};
  Sim* sim;
  Status status = sim_create(&sim, model, &sim_options, diagnostics);
  if (status != STATUS_OK) return status;
  int steps = model->simulation.steps < r->step_capacity ? model->simulation.steps : r->step_capacity;
  if (r->selection && options->memory > 0) r->segments = run_segments_create(model, sim, steps, options);
  status = run_steps(r, sim, steps, options, report);
  sim_destroy(sim);
  return status;
}

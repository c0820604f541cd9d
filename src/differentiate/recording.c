#include <string.h>

#include "differentiate/differentiate.h"

void recording_create(Recording* r, const Model* model, int steps) {
  size_t rows = (size_t)steps + 1, links = (size_t)model->link_count;
  *r = (Recording){.model = model, .step_capacity = steps};
  r->q = MEMORY_NEW(double, rows*(size_t)model->coordinate_count);
  r->rate = MEMORY_NEW(double, rows*(size_t)model->dof_count);
  r->pose = MEMORY_NEW(Pose, rows * links);
  if (model->simulation.integrator == INTEGRATOR_MOMENTUM) r->momentum = MEMORY_NEW(Vec3, rows * links);
  r->force = MEMORY_NEW(Vec3, rows * links);
  r->row_state = MEMORY_NEW(int, rows);
}

void recording_destroy(Recording* r) {
  memory_free(r->q);
  memory_free(r->rate);
  memory_free(r->pose);
  memory_free(r->momentum);
  memory_free(r->force);
  memory_free(r->contacts);
  memory_free(r->states);
  memory_free(r->row_state);
  memory_free(r->between_q);
  memory_free(r->between_pose);
  memory_free(r->between_momentum);
  *r = (Recording){0};
}

static void* grown(void* old, int* capacity, int needed, size_t size) {
  if (needed <= *capacity) return old;
  int larger = 2 * needed + 64;
  void* new = memory_resize(old, size * (size_t)*capacity, size * (size_t)larger);
  *capacity = larger;
  return new;
}

static RecordedState* add_state(Recording* r, int step, StepClock clock) {
  r->states = grown(r->states, &r->state_capacity, r->state_count + 1, sizeof(RecordedState));
  RecordedState* state = &r->states[r->state_count];
  int first = 0;
  if (r->state_count > 0) first = state[-1].contact_first + state[-1].contact_count;
  *state = (RecordedState){.clock = clock, .step = step, .between = -1, .contact_first = first};
  r->state_count++;
  return state;
}

static void keep_contacts(Recording* r, RecordedState* state, const ContactRecord* records, int count) {
  r->contacts = grown(r->contacts, &r->contact_capacity, state->contact_first + count, sizeof(ContactRecord));
  if (count > 0) memcpy(r->contacts + state->contact_first, records, sizeof(ContactRecord) * (size_t)count);
  state->contact_count = count;
}

/* What lies between the row before and this one. */
static void keep_substates(Recording* r, const Sim* sim, int row) {
  size_t nq = (size_t)r->model->coordinate_count, links = (size_t)r->model->link_count;
  int count, needed, capacity = r->between_capacity, momenta = capacity;
  const SimSubstate* inside = sim_substates(sim, &count);
  needed = r->between_count + count;
  r->between_q = grown(r->between_q, &capacity, needed, sizeof(double) * nq);
  if (r->momentum) r->between_momentum = grown(r->between_momentum, &momenta, needed, sizeof(Vec3) * links);
  r->between_pose = grown(r->between_pose, &r->between_capacity, needed, sizeof(Pose) * links);
  for (int k = 0; k < count; k++) {
    RecordedState* state = add_state(r, row, inside[k].clock);
    state->between = r->between_count++;
    memcpy(r->between_q + (size_t)state->between * nq, inside[k].q, sizeof(double) * nq);
    memcpy(r->between_pose + (size_t)state->between * links, inside[k].pose, sizeof(Pose) * links);
    if (r->momentum)
      memcpy(r->between_momentum + (size_t)state->between * links, inside[k].momentum, sizeof(Vec3) * links);
    keep_contacts(r, state, inside[k].contacts, inside[k].contact_count);
  }
}

static void keep_row(Recording* r, Sim* sim, int row) {
  const Model* m = r->model;
  const SimState* state = sim_state(sim);
  size_t at = (size_t)row, nq = (size_t)m->coordinate_count, nv = (size_t)m->dof_count, links = (size_t)m->link_count;
  memcpy(r->q + at * nq, state->q, sizeof(double) * nq);
  memcpy(r->rate + at * nv, state->rate, sizeof(double) * nv);
  memcpy(r->pose + at * links, state->pose, sizeof(Pose) * links);
  if (r->momentum) memcpy(r->momentum + at * links, state->momentum, sizeof(Vec3) * links);
  if (row > 0) sim_link_forces(sim, r->force + at * links);
  if (row > 0) keep_substates(r, sim, row);
  int count;
  const ContactRecord* records = sim_contact_records(sim, &count);
  keep_contacts(r, add_state(r, row, sim_clock(sim)), records, count);
  r->row_state[row] = r->state_count - 1;
}

/* Step `row` in the parts that it had in another run. */
static StepReport repeat_step(const Recording* like, Sim* sim, int row) {
  int first = like->row_state[row - 1] + 1, count = recording_substeps(like, row);
  StepClock* parts = MEMORY_NEW(StepClock, count);
  for (int k = 0; k < count; k++) parts[k] = like->states[first + k].clock;
  StepReport report = sim_step_as(sim, parts, count);
  memory_free(parts);
  return report;
}

static StepReport next_step(const RecordOptions* options, Sim* sim, int row) {
  if (options->like) return repeat_step(options->like, sim, row);
  return options->substeps ? sim_step_in(sim, options->substeps[row - 1]) : sim_step(sim);
}

static Status run_steps(Recording* r, Sim* sim, int steps, const RecordOptions* options, RecordReport* report) {
  keep_row(r, sim, 0);
  for (int row = 1; row <= steps; row++) {
    report->last = next_step(options, sim, row);
    report->iterations += report->last.iterations;
    report->halved_steps += report->last.halved;
    if (step_outcome_failed(report->last.outcome)) {
      report->failed = true;
      report->failed_step = row;
      return STATUS_SOLVER;
    }
    if (report->last.residual > report->residual) {
      report->residual = report->last.residual;
      report->largest_step = row;
    }
    keep_row(r, sim, row);
    r->steps = row;
    if (options->interrupted && options->interrupted()) return STATUS_INTERRUPTED;
  }
  return STATUS_OK;
}

Status recording_run(Recording* r, const Model* model, const RecordOptions* options, RecordReport* report,
                     Diagnostics* diagnostics) {
  *report = (RecordReport){.failed = false};
  r->model = model;
  r->steps = r->state_count = r->between_count = 0;
  memset(r->force, 0, sizeof(Vec3) * (size_t)model->link_count); /* no step has led to the first state */
  SimOptions sim_options = {.threads = options->threads, .tolerance = options->tolerance};
  Sim* sim;
  Status status = sim_create(&sim, model, &sim_options, diagnostics);
  if (status != STATUS_OK) return status;
  int steps = model->simulation.steps < r->step_capacity ? model->simulation.steps : r->step_capacity;
  status = run_steps(r, sim, steps, options, report);
  sim_destroy(sim);
  return status;
}

#include <string.h>

#include "differentiate/differentiate.h"

void recording_create(Recording* r, const Model* model, int steps) {
  size_t rows = (size_t)steps + 1, links = (size_t)model->link_count;
  *r = (Recording){.model = model, .step_capacity = steps};
  r->q = MEMORY_NEW(double, rows*(size_t)model->coordinate_count);
  r->rate = MEMORY_NEW(double, rows*(size_t)model->dof_count);
  r->pose = MEMORY_NEW(Pose, rows * links);
  r->force = MEMORY_NEW(Vec3, rows * links);
  r->contact_first = MEMORY_NEW(int, rows + 1);
}

void recording_destroy(Recording* r) {
  memory_free(r->q);
  memory_free(r->rate);
  memory_free(r->pose);
  memory_free(r->force);
  memory_free(r->contacts);
  memory_free(r->contact_first);
  *r = (Recording){0};
}

static void keep_contacts(Recording* r, Sim* sim, int row) {
  int count, first = r->contact_first[row];
  const ContactRecord* records = sim_contact_records(sim, &count);
  if (first + count > r->contact_capacity) {
    int capacity = 2 * (first + count) + 64;
    r->contacts = memory_resize(r->contacts, sizeof(ContactRecord) * (size_t)r->contact_capacity,
                                sizeof(ContactRecord) * (size_t)capacity);
    r->contact_capacity = capacity;
  }
  if (count > 0) memcpy(r->contacts + first, records, sizeof(ContactRecord) * (size_t)count);
  r->contact_first[row + 1] = first + count;
}

static void keep_state(Recording* r, Sim* sim, int row) {
  const Model* m = r->model;
  const SimState* state = sim_state(sim);
  size_t at = (size_t)row, nq = (size_t)m->coordinate_count, nv = (size_t)m->dof_count, links = (size_t)m->link_count;
  memcpy(r->q + at * nq, state->q, sizeof(double) * nq);
  memcpy(r->rate + at * nv, state->rate, sizeof(double) * nv);
  memcpy(r->pose + at * links, state->pose, sizeof(Pose) * links);
  if (row > 0) sim_link_forces(sim, r->force + at * links);
  keep_contacts(r, sim, row);
}

static Status run_steps(Recording* r, Sim* sim, int steps, const RecordOptions* options, RecordReport* report) {
  keep_state(r, sim, 0);
  for (int row = 1; row <= steps; row++) {
    report->last = sim_step(sim);
    report->iterations += report->last.iterations;
    if (step_outcome_failed(report->last.outcome)) {
      report->failed = true;
      report->failed_step = row;
      return STATUS_SOLVER;
    }
    if (report->last.residual > report->residual) {
      report->residual = report->last.residual;
      report->largest_step = row;
    }
    keep_state(r, sim, row);
    r->steps = row;
    if (options->interrupted && options->interrupted()) return STATUS_INTERRUPTED;
  }
  return STATUS_OK;
}

Status recording_run(Recording* r, const Model* model, const RecordOptions* options, RecordReport* report,
                     Diagnostics* diagnostics) {
  *report = (RecordReport){.failed = false};
  r->model = model;
  r->steps = 0;
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

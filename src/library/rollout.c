/* sdrs_rollout: simulates many runs of one scene in one call. */
#include <string.h>

#include "library/library.h"

typedef struct {
  sdrs* object;
  const sdrs_rollouts* wanted;
  LibraryModel* drives; /* one model per thread */
  sdrs_status* status;  /* status of each run */
  int* done;            /* number of completed steps of each run */
} Rollouts;

static sdrs_status set_start(LibraryModel* d, const sdrs_rollouts* wanted, size_t run) {
  const Model* m = &d->model;
  size_t nq = (size_t)m->coordinate_count, nv = (size_t)m->dof_count;
  if (wanted->coordinates && !drive_set_coordinates(d, wanted->coordinates + run * nq)) return SDRS_BAD_INPUT;
  if (wanted->velocities && !drive_set_velocities(d, wanted->velocities + run * nv)) return SDRS_BAD_INPUT;
  return SDRS_OK;
}

static void keep_row(const sdrs_rollouts* wanted, const Model* m, size_t run, int row, const SimState* state) {
  size_t nq = (size_t)m->coordinate_count, nv = (size_t)m->dof_count;
  size_t at = run * ((size_t)wanted->steps + 1) + (size_t)row;
  if (wanted->record) memcpy(wanted->record + at * nq, state->q, sizeof(double) * nq);
  if (wanted->record_velocities) memcpy(wanted->record_velocities + at * nv, state->rate, sizeof(double) * nv);
}

static void keep_end(const sdrs_rollouts* wanted, const Model* m, size_t run, const SimState* state) {
  size_t nq = (size_t)m->coordinate_count, nv = (size_t)m->dof_count;
  if (wanted->final_coordinates) memcpy(wanted->final_coordinates + run * nq, state->q, sizeof(double) * nq);
  if (wanted->final_velocities) memcpy(wanted->final_velocities + run * nv, state->rate, sizeof(double) * nv);
}

static void run_sim(const Rollouts* r, Sim* sim, const Model* m, int index) {
  const sdrs_rollouts* wanted = r->wanted;
  const SimState* state = sim_state(sim);
  size_t run = (size_t)index;
  bool failed = false;
  keep_row(wanted, m, run, 0, state);
  for (int k = 1; k <= wanted->steps; k++) {
    if (!failed) failed = step_outcome_failed(sim_step(sim).outcome);
    if (!failed) r->done[index] = k;
    keep_row(wanted, m, run, k, state);
  }
  keep_end(wanted, m, run, state);
  if (failed) r->status[index] = SDRS_SOLVER;
}

static void run_one(void* context, int index, int thread) {
  const Rollouts* r = context;
  const sdrs_rollouts* wanted = r->wanted;
  LibraryModel* d = &r->drives[thread];
  size_t inputs = (size_t)r->object->shared->inputs, run = (size_t)index;
  if (wanted->input && inputs > 0)
    drive_set_inputs(d, &r->object->shared->model, 0, wanted->input + run * (size_t)wanted->steps * inputs,
                     wanted->steps);
  r->status[index] = set_start(d, wanted, run);
  if (r->status[index] != SDRS_OK) return;
  Sim* sim = NULL;
  SimOptions options = {.threads = 1};
  Diagnostics diagnostics = {0};
  Status status = sim_create(&sim, &d->model, &options, &diagnostics);
  diagnostics_free(&diagnostics);
  r->status[index] = library_status(status);
  if (status == STATUS_OK) run_sim(r, sim, &d->model, index);
  sim_destroy(sim);
}

static sdrs_status tell(sdrs* s, const Rollouts* r) {
  for (int k = 0; k < r->wanted->count; k++) {
    if (r->wanted->steps_done) r->wanted->steps_done[k] = r->done[k];
  }
  for (int k = 0; k < r->wanted->count; k++) {
    if (r->status[k] == SDRS_SOLVER)
      return library_fail(s, SDRS_SOLVER, "rollout %d: the solver failed at step %d: reduce simulation.dt", k,
                          r->done[k] + 1);
    if (r->status[k] != SDRS_OK)
      return library_fail(
          s, r->status[k],
          "rollout %d has an invalid initial state: bodies intersect, a loop is open, or a number is not finite: "
          "correct its coordinates and velocities",
          k);
  }
  return SDRS_OK;
}

static bool inputs_finite(const sdrs_rollouts* wanted, size_t inputs) {
  size_t count = wanted->input ? (size_t)wanted->count * (size_t)wanted->steps * inputs : 0;
  for (size_t k = 0; k < count; k++)
    if (!isfinite(wanted->input[k])) return false;
  return true;
}

static sdrs_status rollout(sdrs* s, void* arguments) {
  const sdrs_rollouts* wanted = arguments;
  if (wanted->count < 0 || wanted->steps < 1)
    return library_fail(s, SDRS_USAGE, "rollouts need a count of 0 or more and 1 step or more");
  if (wanted->threads < 0) return library_fail(s, SDRS_USAGE, "threads must be 0 or more, got %d", wanted->threads);
  if (!inputs_finite(wanted, (size_t)s->shared->inputs))
    return library_fail(s, SDRS_BAD_INPUT, "all numbers of 'input' must be finite");
  int threads = wanted->threads > 1 ? wanted->threads : 1;
  Rollouts r = {.object = s, .wanted = wanted};
  r.drives = MEMORY_NEW(LibraryModel, threads);
  r.status = MEMORY_NEW(sdrs_status, wanted->count);
  r.done = MEMORY_NEW(int, wanted->count);
  for (int t = 0; t < threads; t++) drive_copy(&r.drives[t], &s->own->live, wanted->steps);
  parallel_for(threads, wanted->count, 2, 1, run_one, &r);
  sdrs_status status = tell(s, &r);
  for (int t = 0; t < threads; t++) drive_free(&r.drives[t]);
  memory_free(r.drives);
  memory_free(r.status);
  memory_free(r.done);
  return status;
}

sdrs_status sdrs_rollout(sdrs* s, const sdrs_rollouts* rollouts) {
  if (!rollouts) return library_report_null(s, "rollouts");
  sdrs_rollouts wanted;
  if (!library_copy_argument(&wanted, sizeof(wanted), rollouts)) return library_wrong_size(s, "sdrs_rollouts");
  return library_call(s, rollout, &wanted);
}

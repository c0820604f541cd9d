/* sdrs_rollout: simulates many runs of one scene in one call. */
#include <assert.h>
#include <string.h>

#include "library/library.h"

typedef struct {
  sdrs* object;
  const sdrs_rollouts* request;
  DrivenModel* drives; /* one model per thread, with its own initial state and inputs */
  sdrs_status* status; /* status of each run */
  int* steps_done;     /* number of completed steps of each run */
} Rollouts;

static sdrs_status set_start(DrivenModel* d, const sdrs_rollouts* request, size_t run) {
  const Model* m = &d->model;
  size_t nq = (size_t)m->coordinate_count, nv = (size_t)m->dof_count;
  if (request->coordinates && !driven_model_set_coordinates(d, request->coordinates + run * nq)) return SDRS_BAD_INPUT;
  if (request->velocities && !driven_model_set_velocities(d, request->velocities + run * nv)) return SDRS_BAD_INPUT;
  return SDRS_OK;
}

static void record_row(const sdrs_rollouts* request, const Model* m, size_t run, int row, const SimState* state) {
  assert(row >= 0 && row <= request->steps);
  size_t nq = (size_t)m->coordinate_count, nv = (size_t)m->dof_count;
  size_t at = run * ((size_t)request->steps + 1) + (size_t)row;
  if (request->record) memcpy(request->record + at * nq, state->q, sizeof(double) * nq);
  if (request->record_velocities) memcpy(request->record_velocities + at * nv, state->rate, sizeof(double) * nv);
}

static void record_final_state(const sdrs_rollouts* request, const Model* m, size_t run, const SimState* state) {
  size_t nq = (size_t)m->coordinate_count, nv = (size_t)m->dof_count;
  if (request->final_coordinates) memcpy(request->final_coordinates + run * nq, state->q, sizeof(double) * nq);
  if (request->final_velocities) memcpy(request->final_velocities + run * nv, state->rate, sizeof(double) * nv);
}

static void simulate(const Rollouts* r, Sim* sim, const Model* m, int index) {
  const sdrs_rollouts* request = r->request;
  const SimState* state = sim_state(sim);
  size_t run = (size_t)index;
  bool failed = false;
  record_row(request, m, run, 0, state);
  for (int k = 1; k <= request->steps; k++) {
    if (!failed) failed = step_outcome_failed(sim_step(sim).outcome);
    if (!failed) r->steps_done[index] = k;
    record_row(request, m, run, k, state);
  }
  record_final_state(request, m, run, state);
  if (failed) r->status[index] = SDRS_SOLVER;
}

static void run_one(void* context, int index, int thread) {
  const Rollouts* r = context;
  const sdrs_rollouts* request = r->request;
  DrivenModel* d = &r->drives[thread];
  size_t inputs = (size_t)r->object->shared->inputs, run = (size_t)index;
  if (request->input && inputs > 0)
    driven_model_set_inputs(d, &r->object->shared->model, 0, request->input + run * (size_t)request->steps * inputs,
                            request->steps);
  r->status[index] = set_start(d, request, run);
  if (r->status[index] != SDRS_OK) return;
  Sim* sim = NULL;
  SimOptions options = {.threads = 1};
  Diagnostics diagnostics = {0};
  Status status = sim_create(&sim, &d->model, &options, &diagnostics);
  diagnostics_free(&diagnostics);
  r->status[index] = library_status(status);
  if (status == STATUS_OK) simulate(r, sim, &d->model, index);
  sim_destroy(sim);
}

static sdrs_status report_results(sdrs* s, const Rollouts* r) {
  for (int k = 0; k < r->request->count; k++) {
    if (r->request->steps_done) r->request->steps_done[k] = r->steps_done[k];
  }
  for (int k = 0; k < r->request->count; k++) {
    if (r->status[k] == SDRS_SOLVER)
      return library_fail(s, SDRS_SOLVER, "rollout %d: the solver failed at step %d: reduce simulation.dt", k,
                          r->steps_done[k] + 1);
    if (r->status[k] != SDRS_OK)
      return library_fail(
          s, r->status[k],
          "rollout %d has an invalid initial state: bodies intersect, a loop is open, or a number is not finite: "
          "correct its coordinates and velocities",
          k);
  }
  return SDRS_OK;
}

static bool inputs_finite(const sdrs_rollouts* request, size_t inputs) {
  size_t count = request->input ? (size_t)request->count * (size_t)request->steps * inputs : 0;
  for (size_t k = 0; k < count; k++)
    if (!isfinite(request->input[k])) return false;
  return true;
}

static sdrs_status rollout(sdrs* s, void* arguments) {
  const sdrs_rollouts* request = arguments;
  if (request->count < 0 || request->steps < 1)
    return library_fail(s, SDRS_USAGE, "rollouts need a count of 0 or more and 1 step or more");
  if (request->threads < 0) return library_fail(s, SDRS_USAGE, "threads must be 0 or more, got %d", request->threads);
  if (!inputs_finite(request, (size_t)s->shared->inputs))
    return library_fail(s, SDRS_BAD_INPUT, "all numbers of 'input' must be finite");
  int threads = request->threads > 1 ? request->threads : 1;
  Rollouts r = {.object = s, .request = request};
  r.drives = MEMORY_NEW(DrivenModel, threads);
  r.status = MEMORY_NEW(sdrs_status, request->count);
  r.steps_done = MEMORY_NEW(int, request->count);
  for (int t = 0; t < threads; t++) driven_model_copy(&r.drives[t], &s->state->live, request->steps);
  parallel_for(threads, request->count, 2, 1, run_one, &r);
  sdrs_status status = report_results(s, &r);
  for (int t = 0; t < threads; t++) driven_model_free(&r.drives[t]);
  memory_free(r.drives);
  memory_free(r.status);
  memory_free(r.steps_done);
  return status;
}

sdrs_status sdrs_rollout(sdrs* s, const sdrs_rollouts* rollouts) {
  if (!rollouts) return library_report_null(s, "rollouts");
  sdrs_rollouts request;
  if (!library_copy_argument(&request, sizeof(request), rollouts)) return library_wrong_size(s, "sdrs_rollouts");
  return library_call(s, rollout, &request);
}

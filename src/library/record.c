/* Functions for recorded runs: sdrs_run, sdrs_record, sdrs_certify. */
#include <string.h>

#include "library/library.h"

static void discard_record(LibraryState* state) {
  state->recorded = state->has_gradient = false;
  model_gradient_destroy(&state->gradient);
  for (int b = 0; b < LIBRARY_BLOCK_COUNT; b++) {
    memory_free(state->buffer[BUFFER_RECORD][b]);
    state->buffer[BUFFER_RECORD][b] = NULL;
  }
}

static sdrs_status run(sdrs* s, void* arguments) {
  int steps = *(const int*)arguments;
  LibraryState* state = s->state;
  if (steps <= 0) steps = s->shared->model.simulation.steps;
  discard_record(state);
  if (state->recording.step_capacity < steps) recording_destroy(&state->recording);
  driven_model_free(&state->ran);
  driven_model_copy(&state->ran, &state->live, steps);
  state->ran.model.simulation.steps = steps;
  if (state->recording.step_capacity < steps) {
    recording_create(&state->recording, &state->ran.model, steps);
    if (s->shared->loss) loss_record_pair_forces(s->shared->loss, steps, &state->recording, NULL);
  }
  RecordOptions options = {.threads = s->shared->threads};
  RecordReport report;
  Status status = recording_run(&state->recording, &state->ran.model, &options, &report, &state->diagnostics);
  state->recorded = status == STATUS_OK || status == STATUS_SOLVER;
  if (status == STATUS_SOLVER)
    return library_fail(s, SDRS_SOLVER, "the solver failed at step %d: %s, residual %.3g; reduce simulation.dt",
                        report.failed_step, step_outcome_text(report.last.outcome), report.last.residual);
  return status == STATUS_OK ? SDRS_OK : library_fail_diagnosed(s, status);
}

sdrs_status sdrs_run(sdrs* s, int steps) { return library_call(s, run, &steps); }

typedef struct {
  sdrs* const* objects;
  int steps;
} RunAll;

static sdrs_status run_one(const void* context, int index) {
  const RunAll* all = context;
  return sdrs_run(all->objects[index], all->steps);
}

sdrs_status sdrs_run_all(sdrs* const* objects, int count, int steps, int threads) {
  if (threads < 0 || count < 0 || (count > 0 && !objects)) return SDRS_USAGE;
  const RunAll all = {objects, steps};
  return library_parallel_for(count, threads, run_one, &all);
}

/* ---------------------------------------------------------------- arrays of recorded blocks */

typedef struct {
  sdrs_block block;
  int link;
  sdrs_array* out;
} RecordRequest;

static sdrs_array make_array(const double* data, size_t rows, size_t columns, size_t stride) {
  return (sdrs_array){sizeof(sdrs_array), data, rows, columns, stride};
}

static Vec3 link_position(const Recording* r, size_t at, size_t link) {
  (void)link;
  return r->pose[at].t;
}

static Vec3 link_center(const Recording* r, size_t at, size_t link) {
  return pose_apply(r->pose[at], r->model->links[link].center);
}

/* Returns the buffer for the recorded values of a block, valid until the next run. Sets *fresh to true if the buffer is
 * new and must be filled. */
static double* record_buffer(sdrs* s, sdrs_block block, size_t count, bool* fresh) {
  double* existing = s->state->buffer[BUFFER_RECORD][block];
  *fresh = !existing;
  return existing ? existing : library_buffer(s, BUFFER_RECORD, block, count);
}

/* Returns an array with one 3-vector per link and recorded state. at(recording, k, link) computes the vector of a link,
 * k = row * links + link. */
static sdrs_array record_points(sdrs* s, const RecordRequest* show,
                                Vec3 (*at)(const Recording* r, size_t at, size_t link)) {
  const Recording* r = &s->state->recording;
  size_t links = (size_t)r->model->link_count, rows = (size_t)r->steps + 1;
  bool fresh;
  double* out = record_buffer(s, show->block, 3 * links * rows, &fresh);
  for (size_t k = 0; fresh && k < rows * links; k++) {
    Vec3 x = at(r, k, k % links);
    memcpy(out + 3 * k, (const double[]){x.x, x.y, x.z}, 3 * sizeof(double));
  }
  if (show->link < 0) return make_array(out, rows, 3 * links, 3 * links);
  return make_array(out + 3 * (size_t)show->link, rows, 3, 3 * links);
}

/* Returns an array with the six numbers of joint reactions or inertial sensors per link and recorded state. States
 * without these numbers are NaN. */
static sdrs_array record_observable(sdrs* s, const RecordRequest* show, ObservableKind kind) {
  const Recording* r = &s->state->recording;
  const Observable* o = observable_at((int)kind);
  size_t links = (size_t)r->model->link_count, rows = (size_t)r->steps + 1, width = OBSERVABLE_COLUMNS * links;
  bool fresh;
  double* out = record_buffer(s, show->block, width * rows, &fresh);
  for (size_t row = 0; fresh && row < rows; row++) {
    Observation in = observation_at(r, (int)row);
    bool has = observable_is_defined(o, r, (int)row);
    for (size_t k = 0; !has && k < width; k++) out[row * width + k] = NAN;
    for (int i = 0; has && i < r->model->link_count; i++) o->value(&in, i, out + row * width + OBSERVABLE_COLUMNS * i);
  }
  if (show->link < 0) return make_array(out, rows, width, width);
  return make_array(out + OBSERVABLE_COLUMNS * (size_t)show->link, rows, OBSERVABLE_COLUMNS, width);
}

/* q and -q are the same rotation; each quaternion has the sign for which it is nearer to the quaternion in the row
 * before. */
const double* library_orientations(sdrs* s) {
  const Recording* r = &s->state->recording;
  size_t links = (size_t)r->model->link_count, rows = (size_t)r->steps + 1;
  bool fresh;
  double* out = record_buffer(s, SDRS_ORIENTATION, 4 * links * rows, &fresh);
  for (size_t k = 0; fresh && k < rows * links; k++) {
    Quat q = quat_from_mat3(r->pose[k].r);
    const double* before = out + 4 * (k < links ? k : k - links); /* zeros in the first row */
    bool turn = before[0] * q.w + before[1] * q.x + before[2] * q.y + before[3] * q.z < 0;
    double sign = turn ? -1 : 1;
    memcpy(out + 4 * k, (const double[]){sign * q.w, sign * q.x, sign * q.y, sign * q.z}, 4 * sizeof(double));
  }
  return out;
}

static sdrs_array record_orientations(sdrs* s, int link) {
  const Recording* r = &s->state->recording;
  size_t links = (size_t)r->model->link_count, rows = (size_t)r->steps + 1;
  const double* out = library_orientations(s);
  if (link < 0) return make_array(out, rows, 4 * links, 4 * links);
  return make_array(out + 4 * (size_t)link, rows, 4, 4 * links);
}

static sdrs_array record_times(sdrs* s) {
  const Recording* r = &s->state->recording;
  size_t rows = (size_t)r->steps + 1;
  bool fresh;
  double* out = record_buffer(s, SDRS_TIME, rows, &fresh);
  if (fresh) out[0] = model_row_time(r->model, 0);
  for (size_t k = 1; fresh && k < rows; k++) out[k] = r->states[r->row_state[k]].clock.time;
  return make_array(out, rows, 1, 1);
}

static sdrs_status show_record(sdrs* s, void* arguments) {
  const RecordRequest* show = arguments;
  const Recording* r = &s->state->recording;
  if (!s->state->recorded) return library_fail_unrecorded(s);
  size_t nq = (size_t)r->model->coordinate_count, nv = (size_t)r->model->dof_count;
  size_t links = (size_t)r->model->link_count, rows = (size_t)r->steps + 1;
  if (show->link < -1 || show->link >= (int)links)
    return library_fail(s, SDRS_USAGE, "there is no link %d: give an index of a link, or -1 for all links", show->link);
  ObservableKind kind = library_observable_kind(show->block);
  sdrs_status status = kind != OBSERVABLES ? library_has_observable(s, show->block, r->model) : SDRS_OK;
  if (status != SDRS_OK) return status;
  size_t link = show->link < 0 ? 0 : (size_t)show->link, pose = sizeof(Pose) / sizeof(double);
  switch (show->block) {
    case SDRS_TIME:
      *show->out = record_times(s);
      return SDRS_OK;
    case SDRS_COORDINATES:
      *show->out = make_array(r->q, rows, nq, nq);
      return SDRS_OK;
    case SDRS_VELOCITIES:
      *show->out = make_array(r->rate, rows, nv, nv);
      return SDRS_OK;
    case SDRS_POSITION:
      *show->out = show->link < 0 ? record_points(s, show, link_position)
                                  : make_array(&r->pose[link].t.x, rows, 3, pose * links);
      return SDRS_OK;
    case SDRS_ORIENTATION:
      *show->out = record_orientations(s, show->link);
      return SDRS_OK;
    case SDRS_CENTER:
      *show->out = record_points(s, show, link_center);
      return SDRS_OK;
    case SDRS_FORCE:
      *show->out = make_array(&r->force[link].x, rows, show->link < 0 ? 3 * links : 3, 3 * links);
      return SDRS_OK;
    case SDRS_REACTIONS:
    case SDRS_IMU:
    case SDRS_RANGE:
      *show->out = record_observable(s, show, kind);
      return SDRS_OK;
    default:
      break;
  }
  const char* name = sdrs_block_name(show->block);
  return library_fail(s, SDRS_USAGE, "'%s' is not part of a recorded run: see sdrs_record in sdrs.h",
                      name ? name : "no such block");
}

sdrs_status sdrs_record(sdrs* s, sdrs_block block, int link, sdrs_array* out) {
  if (!out) return library_report_null(s, "out");
  sdrs_array found = {0};
  if (!library_copy_result(out, &found, sizeof(found))) return library_wrong_size(s, "sdrs_array");
  RecordRequest show = {block, link, &found};
  sdrs_status status = library_call(s, show_record, &show);
  if (status == SDRS_OK) (void)library_copy_result(out, &found, sizeof(found));
  return status;
}

/* ---------------------------------------------------------------- proof */

static sdrs_proof proof_initial(void) {
  return (sdrs_proof){.proved = 1, .row = -1, .link_a = -1, .link_b = -1, .smallest_gap = INFINITY};
}

static sdrs_status certify(sdrs* s, void* arguments) {
  sdrs_proof* out = arguments;
  const Recording* r = &s->state->recording;
  if (!s->state->recorded) return library_fail_unrecorded(s);
  Proof* proof = proof_create(r->model, s->shared->threads);
  for (int k = 0; k < r->state_count; k++) {
    ProofReport report = proof_next(proof, recording_state_q(r, &r->states[k]));
    out->smallest_gap = fmin(out->smallest_gap, report.gap);
    if (report.outcome == PROOF_DISJOINT || !out->proved) continue;
    out->proved = 0;
    out->row = r->states[k].step;
    out->link_a = report.link_a;
    out->link_b = report.link_b;
    out->meets = report.outcome == PROOF_INTERSECTING;
  }
  proof_destroy(proof);
  return SDRS_OK;
}

sdrs_status sdrs_certify(sdrs* s, sdrs_proof* out) {
  if (!out) return library_report_null(s, "out");
  sdrs_proof found = proof_initial();
  if (!library_copy_result(out, &found, sizeof(found))) return library_wrong_size(s, "sdrs_proof");
  sdrs_status status = library_call(s, certify, &found);
  if (status == SDRS_OK) (void)library_copy_result(out, &found, sizeof(found));
  return status;
}

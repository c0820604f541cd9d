/* Functions that change the present state: sdrs_set, sdrs_reset, sdrs_step. */
#include <assert.h>
#include <string.h>

#include "library/library.h"

typedef struct {
  sdrs_block block;
  const double* values;
  size_t count;
} BlockValues;

static void destroy_sim(LibraryState* state) {
  sim_destroy(state->sim);
  state->sim = NULL;
}

static sdrs_status wrong_count(sdrs* s, const BlockValues* set, const char* expected, int number) {
  return library_fail(s, SDRS_USAGE, "%s: got %zu numbers, expected %s%d", sdrs_block_name(set->block), set->count,
                      expected, number);
}

static sdrs_status set_start(sdrs* s, const BlockValues* set) {
  LibraryState* state = s->state;
  bool coordinates = set->block == SDRS_COORDINATES;
  int expected = coordinates ? state->live.model.coordinate_count : state->live.model.dof_count;
  if (set->count != (size_t)expected) return wrong_count(s, set, "", expected);
  if (state->live.model.start)
    return library_fail(
        s, SDRS_BAD_INPUT,
        "the scene starts from the recorded state of 'start', so %s cannot be set: remove 'start' from the "
        "scene, or give this state by an override of 'start'",
        sdrs_block_name(set->block));
  bool valid = coordinates ? driven_model_set_coordinates(&state->live, set->values)
                           : driven_model_set_velocities(&state->live, set->values);
  if (!valid)
    return library_fail(s, SDRS_BAD_INPUT, "%s must be finite%s", sdrs_block_name(set->block),
                        coordinates ? ", quaternions not zero" : "");
  destroy_sim(state);
  return SDRS_OK;
}

static sdrs_status set_input(sdrs* s, const BlockValues* set) {
  LibraryState* state = s->state;
  size_t inputs = (size_t)s->shared->inputs;
  if (set->count == 0) {
    driven_model_clear_inputs(&state->live, &s->shared->model);
    return SDRS_OK;
  }
  if (inputs == 0 || set->count % inputs != 0) return wrong_count(s, set, "a multiple of ", (int)inputs);
  for (size_t k = 0; k < set->count; k++)
    if (!isfinite(set->values[k])) return library_fail(s, SDRS_BAD_INPUT, "all numbers of 'input' must be finite");
  int step = state->sim ? sim_state(state->sim)->step : 0;
  driven_model_set_inputs(&state->live, &s->shared->model, step, set->values, (int)(set->count / inputs));
  return SDRS_OK;
}

/* ---------------------------------------------------------------- designs */

typedef struct {
  const Shared* shared;
  const double* design;
  Model model;
  Diagnostics diagnostics;
  Status status;
} ModelBuild;

static void build_model(void* context) {
  ModelBuild* build = context;
  const Shared* shared = build->shared;
  build->status =
      optimization_model(shared->optimization, shared->scenario, build->design, &build->model, &build->diagnostics);
}

/* Replaces the shared model by `model`, which was built from design (count). Destroys the object's simulation, record
 * and gradient, which refer to the old model. */
static void replace_model(sdrs* s, const Model* model, const double* design, size_t count) {
  LibraryState* state = s->state;
  destroy_sim(state);
  recording_destroy(&state->recording);
  state->recorded = false;
  if (state->has_gradient) model_gradient_destroy(&state->gradient);
  state->has_gradient = false;
  driven_model_free(&state->ran);
  driven_model_free(&state->live);
  model_destroy(&s->shared->model);
  s->shared->model = *model;
  if (count > 0) memcpy(s->shared->design, design, sizeof(double) * count);
  driven_model_create(&state->live, &s->shared->model);
}

/* Builds the model for given values of the design variables and replaces the present model. On failure the present
 * model stays. */
static sdrs_status set_design(sdrs* s, const BlockValues* set) {
  assert(s->shared);
  Shared* shared = s->shared;
  int expected = library_design_count(s);
  if (!shared->is_task || set->count != (size_t)expected) return wrong_count(s, set, "", expected);
  if (atomic_load(&shared->owners) > 1)
    return library_fail(s, SDRS_USAGE,
                        "a design cannot be set while the object has clones, for example recorded runs: destroy them "
                        "first (Python: delete the runs, or use record)");
  for (int k = 0; k < expected; k++)
    if (!isfinite(set->values[k])) return library_fail(s, SDRS_BAD_INPUT, "all numbers of a design must be finite");
  ModelBuild build = {.shared = shared, .design = set->values};
  bool done = memory_try(shared->pool, build_model, &build);
  if (done && build.status == STATUS_OK) {
    diagnostics_free(&build.diagnostics);
    replace_model(s, &build.model, set->values, set->count);
    return SDRS_OK;
  }
  if (!done) memory_report_exhausted(0); /* memory allocated so far stays in the pool until the pool is destroyed */
  diagnostics_merge(&s->state->diagnostics, &build.diagnostics);
  diagnostics_free(&build.diagnostics);
  model_destroy(&build.model);
  return library_fail_diagnosed(s, build.status);
}

static sdrs_status set(sdrs* s, void* arguments) {
  const BlockValues* setting = arguments;
  if (!setting->values && setting->count > 0) return library_fail(s, SDRS_USAGE, "'values' is NULL");
  switch (setting->block) {
    case SDRS_COORDINATES:
    case SDRS_VELOCITIES:
      return set_start(s, setting);
    case SDRS_INPUT:
      return set_input(s, setting);
    case SDRS_DESIGN:
      return set_design(s, setting);
    default:
      break;
  }
  const char* name = sdrs_block_name(setting->block);
  return library_fail(s, SDRS_USAGE, "%s cannot be set: load the scene with an override",
                      name ? name : "no such block");
}

sdrs_status sdrs_set(sdrs* s, sdrs_block block, const double* values, size_t count) {
  BlockValues setting = {block, values, count};
  return library_call(s, set, &setting);
}

static sdrs_status continue_motion(sdrs* s, void* arguments) {
  const int* on = arguments;
  if (*on && s->state->live.model.simulation.integrator == INTEGRATOR_SECOND_ORDER)
    return library_fail(
        s, SDRS_USAGE,
        "a run with integrator: second_order cannot continue from coordinates and velocities, because a "
        "step of this integrator needs states of earlier steps: use integrator: momentum");
  s->state->live.model.continues = *on != 0;
  destroy_sim(s->state);
  return SDRS_OK;
}

sdrs_status sdrs_continue(sdrs* s, int on) { return library_call(s, continue_motion, &on); }

/* ---------------------------------------------------------------- time */

static sdrs_status reset(sdrs* s, void* arguments) {
  (void)arguments;
  destroy_sim(s->state);
  return library_create_sim(s);
}

sdrs_status sdrs_reset(sdrs* s) { return library_call(s, reset, NULL); }

static sdrs_status step(sdrs* s, void* arguments) {
  const int* steps = arguments;
  sdrs_status status = library_create_sim(s);
  for (int k = 0; status == SDRS_OK && k < *steps; k++) {
    StepReport report = sim_step(s->state->sim);
    if (!step_outcome_failed(report.outcome)) continue;
    s->state->error.length = 0;
    sim_failure_text(&s->state->error, &s->state->live.model, s->state->sim, &report);
    return SDRS_SOLVER;
  }
  return status;
}

sdrs_status sdrs_step(sdrs* s, int steps) { return library_call(s, step, &steps); }

typedef struct {
  sdrs* const* objects;
  int steps;
} StepAll;

static sdrs_status step_one(const void* context, int index) {
  const StepAll* all = context;
  return sdrs_step(all->objects[index], all->steps);
}

sdrs_status sdrs_step_all(sdrs* const* objects, int count, int steps, int threads) {
  if (threads < 0 || count < 0 || (count > 0 && !objects)) return SDRS_USAGE;
  const StepAll all = {objects, steps};
  return library_parallel_for(count, threads, step_one, &all);
}

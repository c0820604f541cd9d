/* Queries of an optimization: state, variables, scenes and models of its designs. */
#include <assert.h>

#include "optimize/optimization.h"

/* Typical large change of a variable for which the task gives none [m, rad, ...]. */
#define DEFAULT_SCALE 0.1

/* Returns true if a search with bounded terms ended with short steps and constant multipliers. */
static bool ended_by_short_steps(const Optimization* o) {
  const OptimizationRow* last = &o->rows[o->iteration];
  return o->stop == STOP_FLAT && o->bounded_terms && (last->step_design > 0 || last->step_control > 0);
}

OptimizationStop optimization_stop(const Optimization* o) {
  return ended_by_short_steps(o) ? STOP_SHORT_STEP : o->stop;
}
int optimization_iteration(const Optimization* o) { return o->iteration; }
const OptimizationRow* optimization_rows(const Optimization* o) {
  assert(o->rows);
  return o->rows;
}
int optimization_term_count(const Optimization* o) { return o->term_count; }
const char* optimization_term_name(const Optimization* o, int term) {
  assert(term >= 0 && term < o->term_count);
  return loss_name(o->runs[0].loss, term);
}
const double* optimization_terms(const Optimization* o, int iteration) {
  assert(iteration >= 0 && iteration <= o->iteration);
  return o->row_terms + (size_t)iteration * (size_t)o->term_count;
}
int optimization_bounded_term_count(const Optimization* o) { return bounded_terms_count(o->bounded_terms); }
const double* optimization_multipliers(const Optimization* o, int iteration) {
  assert(iteration >= 0 && iteration <= o->iteration);
  return o->row_multipliers + (size_t)iteration * (size_t)bounded_terms_count(o->bounded_terms);
}
double optimization_best_violation(const Optimization* o) { return o->best_violation; }
double optimization_best_loss(const Optimization* o) { return o->best_loss; }
int optimization_best_start(const Optimization* o) { return o->best_start; }
int optimization_best_iteration(const Optimization* o) { return o->best_iteration; }
const char* optimization_reason(const Optimization* o) { return o->reason ? o->reason : ""; }
AdjointReport optimization_adjoint(const Optimization* o) { return o->adjoint; }
UnconvergedSteps optimization_unconverged(const Optimization* o, const Model** model) {
  UnconvergedSteps worst = {0};
  *model = &o->runs[0].model;
  for (int k = 0; k < o->run_count; k++) {
    if (!o->runs[k].has_model || !(o->runs[k].report.unconverged.residual > worst.residual)) continue;
    worst = o->runs[k].report.unconverged;
    *model = &o->runs[k].model;
  }
  return worst;
}

UnconvergedSteps optimization_unconverged_friction(const Optimization* o, const Model** model) {
  UnconvergedSteps worst = {0};
  *model = &o->runs[0].model;
  for (int k = 0; k < o->run_count; k++) {
    if (!o->runs[k].has_model || o->runs[k].report.unconverged.friction_open <= worst.friction_open) continue;
    worst = o->runs[k].report.unconverged;
    *model = &o->runs[k].model;
  }
  return worst;
}

int optimization_start_pair_count(const Optimization* o) { return o->start_pair_count; }

Excerpt optimization_start_pair(const Optimization* o, int index) {
  assert(index >= 0 && index < o->start_pair_count);
  const StartPair* pair = &o->start_pairs[index];
  const TaskScenario* scenario = &o->task->scenarios[pair->scenario];
  Text text = {0};
  text_add(&text, "'%s' and '%s'", scenario->scene.links[pair->a].name, scenario->scene.links[pair->b].name);
  if (o->run_count > 1) text_add(&text, " (scenario %s)", scenario->name);
  Excerpt out = text_excerpt(text.data);
  text_free(&text);
  return out;
}

const char* optimization_note(const Optimization* o) { return o->note.data ? o->note.data : ""; }

void optimization_times(const Optimization* o, double* forward, double* adjoint) {
  assert(forward && adjoint);
  *forward = o->forward_seconds;
  *adjoint = o->adjoint_seconds;
}

int optimization_variable_count(const Optimization* o) { return o->design.variable_count; }

OptimizationVariable optimization_variable(const Optimization* o, int index) {
  assert(index >= 0 && index < o->design.variable_count);
  const DesignVariable* v = &o->design.variables[index];
  return (OptimizationVariable){.name = v->name,
                                .initial = v->initial,
                                .low = v->low,
                                .high = v->high,
                                .current = o->x[index],
                                .best = o->best_x[index],
                                .is_control = v->block == 1,
                                .scale = v->scale > 0 ? v->scale : DEFAULT_SCALE,
                                .prior = v->prior,
                                .step = v->step,
                                .place = v->place};
}

static const Scene* create_displayed_scene(Optimization* o, int scenario, const double* x) {
  ModelOverride* overrides = design_overrides(&o->design, x);
  model_scene_destroy(o->displayed, o->displayed_source);
  o->displayed_source = &o->task->scenarios[scenario].scene;
  int count = design_overrides_in(&o->design, scenario, overrides, o->design.number_count);
  o->displayed = model_scene_create(o->displayed_source, overrides, count);
  memory_free(overrides);
  return o->displayed;
}

const Scene* optimization_scene_of(Optimization* o, int scenario, const double* values) {
  assert(scenario >= 0 && (values || o->design.variable_count == 0));
  return create_displayed_scene(o, scenario, values);
}

const Scene* optimization_scene(Optimization* o, int scenario, bool best) {
  assert(scenario >= 0);
  return create_displayed_scene(o, scenario, best ? o->best_x : o->x);
}

ModelOverride* optimization_overrides(const Optimization* o, const double* x, int scenario, DrawIndex draw,
                                      int* count) {
  assert(scenario >= 0 && count);
  ModelOverride* overrides = design_overrides(&o->design, x);
  int room = draws_override_capacity(o->draws), design_count = o->design.number_count;
  *count = design_count;
  if (room > 0 && draw.stream != DRAW_NONE) {
    overrides = memory_resize(overrides, sizeof(ModelOverride) * (size_t)design_count,
                              sizeof(ModelOverride) * (size_t)(design_count + room));
    *count = draws_apply(o->draws, draw, scenario, overrides, design_count);
  }
  *count = design_overrides_in(&o->design, scenario, overrides, *count);
  return overrides;
}

Status optimization_model(const Optimization* o, int scenario, const double* values, Model* model,
                          Diagnostics* diagnostics) {
  assert(scenario >= 0 && model && diagnostics);
  ModelOverride* overrides = design_overrides(&o->design, values);
  const Scene* scene = &o->task->scenarios[scenario].scene;
  int count = design_overrides_in(&o->design, scenario, overrides, o->design.number_count);
  Status status = model_create_with(model, scene, overrides, count, diagnostics);
  memory_free(overrides);
  return status;
}

AdjointReport optimization_run_adjoint(const Optimization* o, Recording* recording, const LossSeeds* seeds,
                                       double discount, int threads, ModelGradient* gradient) {
  gradient->without_turns = !o || !optimization_rotates_joints(o);
  RunAdjoint* adjoint = run_adjoint_create(recording->model, threads);
  AdjointReport report = run_adjoint(adjoint, recording, seeds, discount, gradient);
  run_adjoint_destroy(adjoint);
  return report;
}

void optimization_add_gradient(const Optimization* o, int scenario, const Model* model, const ModelGradient* gradient,
                               double* slope) {
  assert(scenario >= 0 && model && gradient && slope);
  design_gradient(&o->design, scenario, model, gradient, 1, slope);
}

bool optimization_rotates_joints(const Optimization* o) {
  bool any = false;
  for (int k = 0; k < o->design.turn_count; k++) any = any || !o->design.turns[k].changes_initial_rotation;
  return any;
}

const Scene* optimization_trial_scene(Optimization* o, int* scenario) {
  assert(scenario);
  *scenario = o->failed_scenario;
  return create_displayed_scene(o, o->failed_scenario, o->trial);
}

bool optimization_changes_shape(const Optimization* o, int link) {
  assert(link >= 0);
  return o->design.link_changes[link];
}

/* Creation of a model: runs the build stages in order. */
#include <assert.h>

#include "model/build.h"

/* Largest relative solver tolerance without a warning. Above this tolerance, the remaining imbalance of forces is
 * visible in the motion; often the user meant newtons. */
#define TOLERANCE_MAX 1e-4

static void check_tolerance(const SceneSimulation* simulation, Diagnostics* diagnostics) {
  if (simulation->tolerance < TOLERANCE_MAX) return;
  diagnostics_add(diagnostics, SEVERITY_WARNING, simulation->tolerance_place,
                  "simulation.tolerance %.6g is too large (a fraction of the acting forces): set simulation.tolerance "
                  "to about 1e-5, or set simulation.force_tolerance in newtons",
                  simulation->tolerance);
}

/* Runs all stages of model_create. If a mesh cannot be read, stages that need geometry are skipped, and all others
 * still report their errors. */
static void run_stages(Builder* builder) {
  Diagnostics* diagnostics = builder->diagnostics;
  int errors_before = diagnostics->error_count;
  build_tree(builder);
  build_controllers(builder);
  build_loads(builder);
  build_tendons(builder);
  build_bushings(builder);
  build_initial(builder);
  check_tendons(builder->model, diagnostics);
  check_fields(builder->model, diagnostics);
  check_bushings(builder->model, diagnostics);
  build_closures(builder);
  build_couplings(builder);
  build_exclusions(builder);
  build_materials(builder);
  build_solids(builder);
  bool solids_usable = !builder->unreadable && diagnostics->error_count == errors_before;
  check_limits(builder->model, diagnostics);
  check_gains(builder->model, diagnostics);
  check_tolerance(&builder->model->simulation, diagnostics);
  if (!solids_usable) return;
  build_hulls(builder);
  build_masses(builder);
  if (!builder->model->own_scene) {
    check_scale(builder->model, diagnostics);
    check_hull_masses(builder);
  }
  build_closure_sizes(builder);
  build_spinning(builder);
  model_place_spring_thetas(builder->model); /* needs build_spinning */
  if (!builder->model->own_scene) {
    check_position_gains(builder->model, diagnostics);
    check_feedback_gains(builder->model, diagnostics);
  }
  build_contact(builder);
  build_start(builder);
  build_singular(builder);
  if (!builder->model->own_scene) build_start_velocities(builder);
  if (!builder->model->start) check_intersections(builder->model, diagnostics);
  model_check_contact(builder->model, diagnostics);
}

Status model_create(Model* model, const Scene* scene, Diagnostics* diagnostics) {
  return model_create_with(model, scene, NULL, 0, diagnostics);
}

Status model_create_with(Model* model, const Scene* scene, const ModelOverride* overrides, int count,
                         Diagnostics* diagnostics) {
  assert(overrides || count == 0);
  return model_create_from(model, scene, NULL, overrides, count, diagnostics);
}

struct ModelSolids {
  Builder builder; /* only the member `solids` is set */
};

ModelSolids* model_solids_create(const Scene* scene) {
  ModelSolids* solids = MEMORY_NEW(ModelSolids, 1);
  Diagnostics unsaid = {0};
  solids->builder = (Builder){.scene = scene, .diagnostics = &unsaid};
  build_solids(&solids->builder);
  bool made = unsaid.error_count == 0;
  diagnostics_free(&unsaid);
  solids->builder.diagnostics = NULL;
  memory_free(solids->builder.note.data);
  if (made) return solids;
  model_solids_destroy(solids);
  return NULL;
}

void model_solids_destroy(ModelSolids* solids) {
  if (!solids) return;
  free_solids(&solids->builder);
  memory_free(solids);
}

static bool overrides_change_shapes(const ModelOverride* overrides, int count) {
  for (int k = 0; k < count; k++)
    if (overrides[k].kind == OVERRIDE_VERTEX || overrides[k].kind == OVERRIDE_SHAPE) return true;
  return false;
}

Status model_create_from(Model* model, const Scene* given, const ModelSolids* solids, const ModelOverride* overrides,
                         int count, Diagnostics* diagnostics) {
  assert(overrides || count == 0);
  Scene* changed = count > 0 ? model_scene_create(given, overrides, count) : NULL;
  const Scene* scene = changed ? changed : given;
  *model = (Model){.scene = scene,
                   .given = given,
                   .own_scene = changed,
                   .simulation = scene->simulation,
                   .contact_model = scene->contact.model};
  Builder builder = {.model = model, .scene = scene, .diagnostics = diagnostics};
  bool borrowed = solids && !overrides_change_shapes(overrides, count);
  if (borrowed) builder.solids = solids->builder.solids;
  int errors_before = diagnostics->error_count;
  run_stages(&builder);
  model->dropped_note = builder.note.data ? builder.note.data : memory_copy_text("");
  if (borrowed) builder.solids = NULL;
  free_solids(&builder);
  memory_free(builder.feature);
  return diagnostics->error_count > errors_before ? STATUS_BAD_INPUT : STATUS_OK;
}

bool model_can_restart(const Model* model, const ModelOverride* overrides, int count) {
  assert(overrides || count == 0);
  bool only_start = model->own_scene && count > 0;
  for (int k = 0; k < count; k++) only_start = only_start && overrides[k].kind == OVERRIDE_COORDINATE;
  bool follows = model->closure_count > 0 || model->coupling_count > 0 || model->tendon_count > 0 ||
                 model->bushing_count > 0 || model->start;
  bool refuses = model->contact_model != CONTACT_NONE && !contact_allows_overlap(model->contact_model);
  return only_start && !follows && !refuses;
}

Status model_restart(Model* model, const ModelOverride* overrides, int count, Diagnostics* diagnostics) {
  Builder builder = {.model = model, .scene = model->own_scene, .diagnostics = diagnostics};
  int errors_before = diagnostics->error_count;
  for (int k = 0; k < count; k++) *model_scene_number(model->own_scene, &overrides[k]) = overrides[k].value;
  set_initial(&builder);
  check_limits(model, diagnostics);
  return diagnostics->error_count > errors_before ? STATUS_BAD_INPUT : STATUS_OK;
}

void model_destroy(Model* model) {
  free_hulls(model);
  for (int i = 0; model->controllers && i < model->controller_count; i++) signal_destroy(&model->controllers[i].target);
  memory_free(model->controllers);
  for (int i = 0; model->loads && i < model->load_count; i++) {
    signal_destroy(&model->loads[i].force);
    signal_destroy(&model->loads[i].torque);
  }
  memory_free(model->loads);
  for (int k = 0; model->tendons && k < model->tendon_count; k++) signal_destroy(&model->tendons[k].tension);
  memory_free(model->tendons);
  memory_free(model->bushings);
  for (int k = 0; model->closures && k < model->closure_count; k++) signal_destroy(&model->closures[k].active);
  memory_free(model->closures);
  memory_free(model->couplings);
  memory_free(model->links);
  memory_free(model->trees);
  memory_free(model->dof_link);
  memory_free(model->link_tree);
  memory_free(model->initial_coordinates);
  memory_free(model->initial_velocities);
  memory_free(model->excluded);
  memory_free(model->pair_items);
  memory_free(model->pair_laws);
  memory_free(model->dropped_note);
  model_scene_destroy(model->own_scene, model->given);
  *model = (Model){0};
}

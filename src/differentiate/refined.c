/* Runs of a scene with a shorter time step. Default contact parameters and the ratio of damping gain and time step keep
 * the values of the given scene. */
#include <assert.h>
#include <string.h>

#include "differentiate/differentiate.h"

/* Copies a scene with a time step shorter by the factor `refinement`. The copy shares all arrays except controllers and
 * contact pairs. */
static void refine_scene(Scene* refined, const Scene* scene, const Model* coarse, int refinement) {
  const ModelContact* contact = &coarse->contact;
  *refined = *scene;
  refined->simulation.dt /= refinement;
  refined->simulation.steps *= refinement;
  refined->contact.support = contact->support;
  refined->contact.stiffness = contact->stiffness;
  refined->contact.smoothing = contact->smoothing;
  refined->contact.rest_speed = contact->rest_speed;
  refined->contact.pairs = MEMORY_NEW(ScenePair, scene->contact.pair_count);
  for (int k = 0; k < scene->contact.pair_count; k++) refined->contact.pairs[k] = scene->contact.pairs[k];
  model_fix_pairs(coarse, refined);
  refined->controllers = MEMORY_NEW(SceneController, scene->controller_count);
  for (int c = 0; c < scene->controller_count; c++) {
    refined->controllers[c] = scene->controllers[c];
    for (int k = 0; k < JOINT_MAX_DOF; k++) refined->controllers[c].velocity_gain[k] /= refinement;
  }
}

/* Selects rows at times that all refinements have in common. The times are distributed over the run and include its
 * end. */
static void select_samples(RefinedRun* run, int coarse_steps, int samples, int refinement) {
  run->samples = samples < coarse_steps ? samples : coarse_steps;
  for (int k = 1; k <= run->samples; k++)
    row_selection_add_all_links(&run->selection, (int)((int64_t)coarse_steps * k / run->samples) * refinement);
}

/* Creates the losses of the refined run, whose horizon is its own number of steps. */
static Status create_refined_loss(RefinedRun* run, const RefinedRunInput* input, Diagnostics* diagnostics) {
  Task task = *input->task;
  task.scenarios = MEMORY_NEW(TaskScenario, task.scenario_count);
  memcpy(task.scenarios, input->task->scenarios, sizeof(TaskScenario) * (size_t)task.scenario_count);
  task.scenarios[input->scenario].steps = 0;
  Status status = loss_create(&run->loss, &task, input->scenario, &run->model, diagnostics);
  memory_free(task.scenarios);
  return status;
}

int refined_sample_row(const RefinedRun* run, int sample) {
  assert(sample < run->samples);
  assert(sample >= 0);
  return run->selection.all_link_rows[sample];
}

Status refined_run(RefinedRun* run, const RefinedRunInput* input, int refinement, const RecordOptions* options,
                   Diagnostics* diagnostics) {
  assert(refinement >= 1);
  *run = (RefinedRun){.value = NAN};
  Diagnostics repeated_diagnostics = {0}; /* warnings were reported for the coarse model */
  Model coarse;
  Status status = model_create(&coarse, input->scene, refinement == 1 ? diagnostics : &repeated_diagnostics);
  if (status == STATUS_OK) refine_scene(&run->scene, input->scene, &coarse, refinement);
  model_destroy(&coarse);
  if (status == STATUS_OK) {
    run->has_model = true;
    status = model_create(&run->model, &run->scene, &repeated_diagnostics);
  }
  diagnostics_free(&repeated_diagnostics);
  if (status != STATUS_OK) return status;
  int steps = run->scene.simulation.steps;
  if (input->task) status = create_refined_loss(run, input, diagnostics);
  if (status != STATUS_OK) return status;
  run->selection = row_selection_create(&run->model, steps);
  if (run->loss) loss_select_rows(run->loss, &run->model, &run->selection);
  select_samples(run, steps / refinement, input->samples, refinement);
  row_selection_compute_offsets(&run->selection, &run->model);
  recording_create_selective(&run->recording, &run->model, steps, &run->selection);
  if (run->loss) loss_record_pair_forces(run->loss, steps, &run->recording, NULL);
  status = recording_run(&run->recording, &run->model, options, &run->report, diagnostics);
  if (status != STATUS_OK || !run->loss) return status;
  run->terms = MEMORY_NEW(double, loss_count(run->loss));
  run->value = loss_evaluate(run->loss, &run->recording, run->terms, NULL);
  return STATUS_OK;
}

void refined_run_free(RefinedRun* run) {
  loss_destroy(run->loss);
  recording_destroy(&run->recording);
  row_selection_destroy(&run->selection);
  if (run->has_model) model_destroy(&run->model);
  memory_free(run->scene.controllers);
  memory_free(run->scene.contact.pairs);
  memory_free(run->terms);
  *run = (RefinedRun){0};
}

/* Runs a scene with a shorter time step. Default contact parameters and the damping gain / dt of velocity gains keep
 * their values of the coarse scene. */
#include <assert.h>
#include <string.h>

#include "differentiate/differentiate.h"

/* Sets `refined` to a copy of the scene with a shorter time step. The copy shares all but controllers and pairs. */
static void refine_scene(Scene* refined, const Scene* scene, const Model* coarse, int parts) {
  const ModelContact* contact = &coarse->contact;
  *refined = *scene;
  refined->simulation.dt /= parts;
  refined->simulation.steps *= parts;
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
    for (int k = 0; k < JOINT_MAX_DOF; k++) refined->controllers[c].velocity_gain[k] /= parts;
  }
}

/* Selects rows at times common to all refinements. The times are distributed over the run and include the end. */
static void keep_moments(RefinedRun* run, int coarse_steps, int moments, int parts) {
  run->moments = moments < coarse_steps ? moments : coarse_steps;
  for (int k = 1; k <= run->moments; k++)
    row_selection_add_all_links(&run->keep, (int)((int64_t)coarse_steps * k / run->moments) * parts);
}

/* Creates the losses over the refined run. Scales the scenario's own number of steps. */
static Status create_loss(RefinedRun* run, const RefinedRunInput* subject, Diagnostics* diagnostics) {
  Task task = *subject->task;
  task.scenarios = MEMORY_NEW(TaskScenario, task.scenario_count);
  memcpy(task.scenarios, subject->task->scenarios, sizeof(TaskScenario) * (size_t)task.scenario_count);
  task.scenarios[subject->scenario].steps = 0;
  Status status = loss_create(&run->loss, &task, subject->scenario, &run->model, diagnostics);
  memory_free(task.scenarios);
  return status;
}

int refined_sample_row(const RefinedRun* run, int moment) {
  assert(moment >= 0);
  return run->keep.whole[moment];
}

Status refined_run(RefinedRun* run, const RefinedRunInput* subject, int parts, const RecordOptions* options,
                   Diagnostics* diagnostics) {
  *run = (RefinedRun){.value = NAN};
  Diagnostics again = {0}; /* diagnostics of the coarse model, discarded because equal */
  Model coarse;
  Status status = model_create(&coarse, subject->scene, parts == 1 ? diagnostics : &again);
  if (status == STATUS_OK) refine_scene(&run->scene, subject->scene, &coarse, parts);
  model_destroy(&coarse);
  if (status == STATUS_OK) {
    run->has_model = true;
    status = model_create(&run->model, &run->scene, &again);
  }
  diagnostics_free(&again);
  if (status != STATUS_OK) return status;
  int steps = run->scene.simulation.steps;
  if (subject->task) status = create_loss(run, subject, diagnostics);
  if (status != STATUS_OK) return status;
  run->keep = row_selection_create(&run->model, steps);
  if (run->loss) loss_select_rows(run->loss, &run->model, &run->keep);
  keep_moments(run, steps / parts, subject->moments, parts);
  row_selection_compute_offsets(&run->keep, &run->model);
  recording_create_selective(&run->recording, &run->model, steps, &run->keep);
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
  row_selection_destroy(&run->keep);
  if (run->has_model) model_destroy(&run->model);
  memory_free(run->scene.controllers);
  memory_free(run->scene.contact.pairs);
  memory_free(run->terms);
  *run = (RefinedRun){0};
}

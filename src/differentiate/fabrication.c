/* Fabrication measures of a link: evaluates the losses neck, wall, overhang, extent and clearance without a task. */
#include <assert.h>
#include <string.h>

#include "differentiate/sweep.h"

static Recording create_initial_recording(const Model* model) {
  Recording recording;
  recording_create(&recording, model, 0);
  memcpy(recording.q, model->initial_coordinates, sizeof(double) * (size_t)model->coordinate_count);
  model_poses(model, recording.q, recording.pose);
  return recording;
}

/* Returns the value of a loss with margin 0, or NAN if undefined. */
static double evaluate_term(const Task* task, TaskLoss* source, const Recording* recording, SweepReport* sweep) {
  LossTerm term = {0};
  Diagnostics diagnostics = {0};
  const LossContext context = {task, source, 0, 0, recording->model, 0, &diagnostics};
  source->weight = 1;
  source->from = source->to = -1;
  loss_resolve(&term, &context);
  double value = NAN;
  if (diagnostics.error_count == 0 && sweep)
    *sweep = loss_clearance_report(&term, recording);
  else if (diagnostics.error_count == 0)
    value = term.kind->evaluate(&term, recording, NULL);
  loss_hulls_free(&term);
  loss_release(&term);
  diagnostics_free(&diagnostics);
  return value;
}

FabricationReport fabrication_measure(const Model* model, int link, Vec3 build, double angle) {
  assert(link >= 0 && link < model->link_count);
  TaskScenario scenario = {.weight = 1};
  Task task = {.scenarios = &scenario, .scenario_count = 1};
  Recording recording = create_initial_recording(model);
  SweepReport sweep = {.clearance = NAN, .lower_bound = NAN};
  char* name = memory_copy_text(model->links[link].name);
  TaskLoss loss = {.link = {.text = name}, .direction = build, .angle = angle};
  FabricationReport report = {0};
  loss.type = LOSS_NECK;
  /* the loss is margin minus width, here with margin 0; 0 - x gives the width and turns -0 into 0 */
  report.neck = 0 - evaluate_term(&task, &loss, &recording, NULL);
  loss.type = LOSS_WALL;
  report.wall = -evaluate_term(&task, &loss, &recording, NULL);
  loss.type = LOSS_OVERHANG;
  report.overhang = evaluate_term(&task, &loss, &recording, NULL);
  loss.type = LOSS_EXTENT;
  for (int k = 0; k < 3; k++) {
    loss.direction = vec3(k == 0, k == 1, k == 2);
    report.extent[k] = evaluate_term(&task, &loss, &recording, NULL);
  }
  loss.type = LOSS_CLEARANCE;
  if (sweep_is_possible(model, link) && model->links[link].parent >= 0) evaluate_term(&task, &loss, &recording, &sweep);
  report.clearance = sweep.clearance;
  report.clearance_lower_bound = sweep.lower_bound;
  report.coordinates = sweep.count;
  memcpy(report.at, sweep.coordinates, sizeof report.at);
  memory_free(name);
  recording_destroy(&recording);
  return report;
}

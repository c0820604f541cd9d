/* Checks the invariants of every task that was read without an error, for mutated and fuzzed input. */
#ifndef SDRS_TESTS_UNIT_TASK_CONSISTENCY_H
#define SDRS_TESTS_UNIT_TASK_CONSISTENCY_H

#include "scene/task.h"
#include "scene_consistency.h"

static inline bool is_unit_vector(Vec3 v) { return fabs(vec3_norm(v) - 1) < 1e-12; }

/* Returns true if lower <= upper. Both may be infinite but not NaN. */
static inline bool is_interval(double within, double low, double high) { return within >= 0 && low <= high; }

static inline bool has_link(const Task* task, const TaskName* name) {
  if (!name->text || !name->place.file) return false;
  for (int i = 0; i < task->scenario_count; i++) {
    const Scene* scene = &task->scenarios[i].scene;
    bool found = false;
    for (int k = 0; k < scene->link_count && !found; k++) found = strcmp(scene->links[k].name, name->text) == 0;
    if (!found) return false;
  }
  return true;
}

static inline const char* bounds_fault(const TaskBounds* bounds) {
  for (int i = 0; i < 3; i++) HOLDS(is_interval(bounds->within, bounds->low[i], bounds->high[i]));
  return NULL;
}

static inline const char* vertices_fault(const Task* task, const TaskVertices* vertices) {
  HOLDS(has_link(task, &vertices->link));
  HOLDS((vertices->hulls != NULL) == (vertices->hull_count > 0));
  for (int i = 0; i < vertices->hull_count; i++) HOLDS(vertices->hulls[i] >= 0);
  HOLDS(vertices->axes[0] || vertices->axes[1] || vertices->axes[2]);
  Vec3 low = vertices->box_low, high = vertices->box_high;
  HOLDS(!vertices->has_box || (low.x <= high.x && low.y <= high.y && low.z <= high.z));
  return bounds_fault(&vertices->bounds);
}

static inline const char* symmetry_fault(const Task* task, const TaskSymmetry* symmetry) {
  HOLDS(symmetry->link_count >= 1);
  for (int i = 0; i < symmetry->link_count; i++) HOLDS(has_link(task, &symmetry->links[i]));
  if (symmetry->type == SYMMETRY_MIRROR) HOLDS(is_unit_vector(symmetry->normal));
  if (symmetry->type == SYMMETRY_ROTATION)
    HOLDS(is_unit_vector(symmetry->axis) && symmetry->count >= 2 && symmetry->link_count == 1);
  if (symmetry->type == SYMMETRY_COPY) HOLDS(symmetry->link_count >= 2);
  return NULL;
}

static inline const char* design_fault(const Task* task) {
  const char* fault = NULL;
  HOLDS(task->min_thickness >= 0 && (task->mass == TASK_MASS_FIXED || task->mass == TASK_MASS_DENSITY));
  for (int i = 0; i < task->vertices_count && !fault; i++) fault = vertices_fault(task, &task->vertices[i]);
  for (int i = 0; i < task->symmetry_count && !fault; i++) fault = symmetry_fault(task, &task->symmetries[i]);
  for (int i = 0; i < task->attachment_count && !fault; i++) {
    HOLDS(has_link(task, &task->attachments[i].link));
    fault = bounds_fault(&task->attachments[i].bounds);
  }
  for (int i = 0; i < task->constraint_count; i++) {
    const TaskConstraint* constraint = &task->constraints[i];
    HOLDS(constraint->count >= 1 && isfinite(constraint->value));
    for (int k = 0; k < constraint->count; k++)
      HOLDS(constraint->variables[k].text && isfinite(constraint->coefficients[k]));
  }
  return fault;
}

static inline const char* movable_fault(const Task* task) {
  for (int i = 0; i < task->control_count; i++) {
    const TaskControl* control = &task->controls[i];
    HOLDS(has_link(task, &control->link) && is_interval(control->within, control->low, control->high));
    HOLDS(control->has_parameters == (control->parameters != 0));
    HOLDS(control->parameters < control_gain_bit(GAIN_KINDS));
  }
  for (int i = 0; i < task->start_count; i++) {
    const TaskStart* start = &task->starts[i];
    HOLDS(has_link(task, &start->link) && is_interval(start->within, start->low, start->high));
    HOLDS(start->coordinates || start->turns || start->velocities);
    bool any = false;
    for (int k = 0; k < JOINT_MAX_DOF; k++) any = any || start->dof[k];
    HOLDS(any);
  }
  HOLDS(task->vertices_count + task->cage_count + task->attachment_count + task->control_count + task->start_count +
            task->parameter_count >
        0);
  return NULL;
}

/* Returns whether a term without a link is about all links. */
static inline bool is_of_all_links(TaskLossType type) {
  return type == LOSS_EFFORT || type == LOSS_SMOOTHNESS || type == LOSS_SHAPE || type == LOSS_VOLUME ||
         type == LOSS_ROUGHNESS;
}

static inline bool needs_other(TaskLossType type) {
  return type == LOSS_RELATIVE || type == LOSS_GAP || type == LOSS_APPROACH || type == LOSS_TOUCH ||
         type == LOSS_CLOSURE;
}

static inline bool may_have_other(TaskLossType type) {
  return needs_other(type) || type == LOSS_FORCE || type == LOSS_CLEARANCE || type == LOSS_REMOVAL;
}

/* Links of a term: names, groups and patterns of `links` are looked up when the term is resolved. */
static inline const char* loss_links_fault(const Task* task, const TaskLoss* loss) {
  HOLDS((loss->links != NULL) == (loss->links_count > 0));
  for (int i = 0; i < loss->links_count; i++) HOLDS(loss->links[i].text && loss->links[i].place.file);
  HOLDS(!loss->link.text || has_link(task, &loss->link));
  HOLDS(loss->link.text || loss->links || is_of_all_links(loss->type));
  HOLDS(loss->other.text ? may_have_other(loss->type) && has_link(task, &loss->other) : !needs_other(loss->type));
  return NULL;
}

static inline const char* loss_fault(const Task* task, const TaskLoss* loss) {
  HOLDS(loss->name && *loss->name && !strpbrk(loss->name, ",\"\n\r"));
  HOLDS((int)loss->type >= 0 && (int)loss->type < LOSS_TYPE_COUNT && loss->weight > 0 && isfinite(loss->weight));
  const char* fault = loss_links_fault(task, loss);
  if (fault) return fault;
  HOLDS(finite3(loss->point) && finite3(loss->target) && finite3(loss->spread));
  if (loss->type == LOSS_TOUCH || loss->type == LOSS_CLOSURE)
    HOLDS(isfinite(loss->margin));
  else
    HOLDS(loss->margin >= 0);
  HOLDS(loss->spread.x >= 0 && loss->spread.y >= 0 && loss->spread.z >= 0);
  if (loss->type == LOSS_TRAVEL) HOLDS(is_unit_vector(loss->direction));
  if (loss->type == LOSS_ORIENTATION) HOLDS(is_unit_vector(loss->axis) && is_unit_vector(loss->target));
  if (loss->type == LOSS_POINT) HOLDS(loss->power == 1 || loss->power == 2);
  if (loss->type == LOSS_GAP) HOLDS(loss->margin > 0);
  HOLDS(loss->from == -1 || loss->from >= 0);
  HOLDS(loss->to == -1 || (loss->to >= 0 && loss->from <= loss->to));
  return NULL;
}

static inline const char* optimizer_fault(const TaskOptimizer* optimizer) {
  HOLDS(optimizer->iterations >= 1 && optimizer->design_step > 0 && optimizer->control_step > 0);
  HOLDS(optimizer->decay > 0 && optimizer->decay <= 1 && optimizer->decay_every >= 1 && optimizer->clip > 0);
  HOLDS(optimizer->discount > 0 && optimizer->discount <= 1 && optimizer->grow >= 1);
  HOLDS(optimizer->shrink > 0 && optimizer->shrink < 1 && optimizer->stall >= 0 && optimizer->save_every >= 1);
  HOLDS(optimizer->stall_decrease >= 0 && optimizer->tolerance > 0 && !isnan(optimizer->stop_loss));
  if (optimizer->type == OPTIMIZER_ADAM) HOLDS(optimizer->beta1 < 1 && optimizer->beta2 < 1 && optimizer->epsilon > 0);
  if (optimizer->type == OPTIMIZER_LBFGS) HOLDS(optimizer->memory >= 1);
  return NULL;
}

static inline const char* scenario_list_fault(const Task* task) {
  HOLDS(task->scenario_count >= 1);
  for (int i = 0; i < task->scenario_count; i++) {
    const TaskScenario* scenario = &task->scenarios[i];
    HOLDS(scenario->name && *scenario->name && scenario->weight > 0 && scenario->steps >= TASK_KINEMATIC);
    for (int k = 0; k < i && k < 50; k++) HOLDS(strcmp(task->scenarios[k].name, scenario->name) != 0);
    const char* fault = scene_fault(&scenario->scene);
    if (fault) return fault;
  }
  return NULL;
}

static inline const char* task_fault(const Task* task) {
  HOLDS(task->path && task->name && strlen(task->sha256) == 64);
  HOLDS(task->loss_count >= 1 || task->data.given); /* sdrs identify needs no loss */
  const char* fault = scenario_list_fault(task);
  if (!fault) fault = design_fault(task);
  if (!fault) fault = movable_fault(task);
  for (int i = 0; i < task->loss_count && !fault; i++) fault = loss_fault(task, &task->losses[i]);
  return fault ? fault : optimizer_fault(&task->optimizer);
}

/* Of a whole reading; only scenes written inside are expected, so that every place is in the task. */
static inline const char* task_reading_fault(const Task* task, Status status, const Diagnostics* diagnostics,
                                             const char* file, int lines) {
  HOLDS((status == STATUS_OK) == (diagnostics->error_count == 0));
  HOLDS(status == STATUS_OK || status == STATUS_BAD_INPUT);
  const char* fault = status == STATUS_OK ? task_fault(task) : NULL;
  for (int i = 0; i < diagnostics->count && !fault; i++) fault = diagnostic_fault(&diagnostics->items[i], file, lines);
  return fault;
}

#endif

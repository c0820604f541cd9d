/* Reads the settings of the optimizer. */
#include <assert.h>

#include "scene/task_parts.h"

/* Warns if the task gives a key that has no effect with its learning-rate schedule. idle: the key has no effect. */
static void warn_idle(Reader* reader, const Node* map, const char* key, bool idle, const char* schedule) {
  const Node* node = node_find(map, key);
  if (node && idle)
    reader_warning(reader, node_key_place(node), "'%s' has no effect with schedule %s: remove the key", key, schedule);
}

const char* task_optimizer_name(TaskOptimizerType type) {
  assert((unsigned)type <= OPTIMIZER_LEVENBERG_MARQUARDT);
  static const char* const names[] = {"auto",  "adam",   "step_bounded",       "gradient",
                                      "lbfgs", "cma_es", "levenberg_marquardt"};
  return names[type];
}

void read_optimizer(Reader* reader, Task* task, const Node* node) {
  OptimizerForm form;
  TaskOptimizer design = task->optimizer; /* read_design has set these options */
  size_t mark = reader_enter_key(reader, "optimizer");
  const Node* map = task_section_or_empty(reader, task, node);
  if (map && schema_read(reader, map, "optimizer", &form)) {
    TaskOptimizer* optimizer = &task->optimizer;
    *optimizer = form.optimizer;
    optimizer->place = map->place;
    optimizer->connect = design.connect;
    optimizer->connect_keep = design.connect_keep;
    optimizer->connect_place = design.connect_place;
    optimizer->type = (TaskOptimizerType)form.type;
    const Node* type = node_find(map, "type");
    optimizer->type_given = type != NULL;
    optimizer->type_place = type ? type->place : map->place;
    optimizer->norm = (TaskNorm)form.norm;
    optimizer->schedule = (TaskSchedule)form.schedule;
    optimizer->seed = task->seed;
    optimizer->step_given[0] = node_has_key(map, "design_step");
    optimizer->step_given[1] = node_has_key(map, "control_step");
    if (!node_has_key(map, "clip")) optimizer->clip = HUGE_VAL;
    if (!node_has_key(map, "stop_loss")) optimizer->stop_loss = -HUGE_VAL;
    warn_idle(reader, map, "decay", optimizer->schedule == SCHEDULE_CONSTANT, "constant");
    warn_idle(reader, map, "decay_every", optimizer->schedule == SCHEDULE_CONSTANT, "constant");
    warn_idle(reader, map, "decay_every", optimizer->schedule == SCHEDULE_COSINE, "cosine");
  }
  reader_leave(reader, mark);
}

/* Returns the path of a folder. A relative path is relative to the task file, or else to the working directory. The
 * caller frees the path. */
static char* find_folder(const Task* task, const char* written) {
  char* beside = file_resolve(task->path, written);
  if (file_exists(beside)) return beside;
  memory_free(beside);
  return memory_copy_text(written);
}

void read_from(Reader* reader, Task* task, const Node* node) {
  FromForm form;
  size_t mark = reader_enter_key(reader, "from");
  if (node && schema_read(reader, node, "from", &form)) {
    if (!form.run == !form.task) reader_error(reader, node->place, "give either 'run' or 'task'");
    if (form.run) task->from = (TaskName){.text = find_folder(task, form.run->text), .place = form.run->place};
    if (form.task)
      task->before = (TaskName){.text = file_resolve(task->path, form.task->text), .place = form.task->place};
  }
  reader_leave(reader, mark);
}

static void check_receding(Reader* reader, const Task* task, const Node* map) {
  const Node* apply = node_find(map, "apply");
  if (task->receding.apply > task->receding.horizon)
    reader_error(reader, apply ? apply->place : map->place,
                 "'apply' (%d) must not exceed 'horizon' (%d): reduce 'apply'", task->receding.apply,
                 task->receding.horizon);
  if (task->scenario_count > 1)
    reader_error(reader, map->place, "supports only one scenario, got %d: remove the other scenarios",
                 task->scenario_count);
  if (task->vertices_count + task->attachment_count + task->start_count + task->parameter_count > 0)
    reader_error(reader, map->place, "optimizes only the control: remove 'design', 'initial' and 'parameters'");
}

void read_receding(Reader* reader, Task* task, const Node* node) {
  RecedingForm form;
  size_t mark = reader_enter_key(reader, "receding");
  if (node && schema_read(reader, node, "receding", &form)) {
    task->receding = form.receding;
    task->receding.given = true;
    task->receding.place = node->place;
    task->receding.warm_start = (TaskWarmStart)form.warm_start;
    if (!node_has_key(node, "iterations")) task->receding.iterations = 0;
    check_receding(reader, task, node);
  }
  reader_leave(reader, mark);
}

void read_gradient(Reader* reader, Task* task, const Node* node) {
  GradientForm form;
  size_t mark = reader_enter_key(reader, "gradient");
  const Node* map = task_section_or_empty(reader, task, node);
  if (map && schema_read(reader, map, "gradient", &form)) {
    if (node_has_key(map, "memory")) task->memory = form.memory;
    task->memory_place = map->place;
    task->bundle = form.bundle;
    task->spread = form.spread;
  }
  reader_leave(reader, mark);
}

void read_multistart(Reader* reader, Task* task, const Node* root, const TaskForm* form) {
  task->multistart = form->multistart;
  const Node* node = node_find(root, "multistart");
  if (task->multistart <= 1) return;
  if (task->receding.given)
    reader_error(reader, node->place, "'multistart' and 'receding' exclude each other: remove one of them");
  const TaskContinuation* c = &task->continuation;
  if (c->support.iterations > 0 || c->stiffness.iterations > 0 || c->switch_at > 0)
    reader_error(reader, node->place, "'multistart' and 'schedule' exclude each other: remove one of them");
}

static void read_ramp(Reader* reader, const char* key, const Node* map, TaskRamp* ramp) {
  RampForm form;
  size_t mark = reader_enter_key(reader, key);
  if (map && schema_read(reader, map, "ramp", &form))
    *ramp = (TaskRamp){map->place, form.from, form.to, form.iterations};
  reader_leave(reader, mark);
}

static void read_switch(Reader* reader, const Node* map, TaskContinuation* continuation) {
  SwitchForm form;
  size_t mark = reader_enter_key(reader, "contact.model");
  if (map && schema_read(reader, map, "switch", &form)) {
    continuation->model = (ContactModel)form.to;
    continuation->switch_at = form.at;
  }
  reader_leave(reader, mark);
}

void read_schedule(Reader* reader, Task* task, const Node* node) {
  ScheduleForm form;
  TaskContinuation* continuation = &task->continuation;
  size_t mark = reader_enter_key(reader, "schedule");
  const Node* map = task_section_or_empty(reader, task, node);
  if (map && schema_read(reader, map, "schedule", &form)) {
    continuation->place = map->place;
    read_ramp(reader, "contact.barrier_distance", form.support, &continuation->support);
    read_ramp(reader, "contact.stiffness", form.stiffness, &continuation->stiffness);
    read_switch(reader, form.model, continuation);
  }
  reader_leave(reader, mark);
}

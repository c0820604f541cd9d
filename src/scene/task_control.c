/* Reads the design variables of controllers, loads, tendons and initial states. */
#include "scene/task_parts.h"

Interval read_interval(Reader* reader, const Node* item, const IntervalForm* form) {
  Interval interval = {.within = node_has_key(item, "within") ? form->within : HUGE_VAL,
                       .low = node_has_key(item, "low") ? form->low : -HUGE_VAL,
                       .high = node_has_key(item, "high") ? form->high : HUGE_VAL,
                       .prior = node_has_key(item, "prior") ? form->prior : HUGE_VAL,
                       .step = node_has_key(item, "step") ? form->step : 0};
  check_order(reader, item, interval.low, interval.high);
  return interval;
}

void read_dof(Reader* reader, const Node* list, bool dof[JOINT_MAX_DOF]) {
  static const ValueRange DOF = {true, 0, JOINT_MAX_DOF - 1, false, false};
  int count, before = reader->problem_count;
  int* numbers = reader_integers(reader, list, "dof", &DOF, &count);
  for (int i = 0; i < JOINT_MAX_DOF; i++) dof[i] = !list;
  for (int i = 0; i < count && reader->problem_count == before; i++) dof[numbers[i]] = true;
  memory_free(numbers);
}

static void read_control(Reader* reader, Task* task, const Node* item, int* capacity) {
  ControlForm form;
  if (!schema_read(reader, item, "control", &form)) return;
  Interval interval = read_interval(reader, item, &form.interval);
  TaskControl control = {.place = item->place, .within = interval.within, .low = interval.low, .high = interval.high};
  control.prior = interval.prior;
  control.step = interval.step;
  control.tie = form.tie ? task->control_count + 1 : 0;
  control.has_parameters = node_has_key(item, "parameters");
  control.parameters = form.parameters; /* the schema's words have the order of the CONTROL_ bits */
  control.has_dof = node_has_key(item, "dof");
  read_dof(reader, form.dof, control.dof);
  control.of = node_has_key(item, "of") ? form.of : CONTROL_SIGNALS;
  int link_count;
  TaskName* links = read_item_links(reader, task, item, &form.which, &link_count);
  for (int i = 0; i < link_count; i++) {
    control.link = links[i];
    control.where = read_scenario_set(reader, task, form.scenarios);
    task->controls = memory_grow_array(task->controls, sizeof(TaskControl), task->control_count, capacity);
    task->controls[task->control_count++] = control;
  }
  memory_free(links);
}

static void read_start(Reader* reader, Task* task, const Node* item, int* capacity) {
  StartForm form;
  int before = reader->problem_count;
  if (!schema_read(reader, item, "start", &form)) return;
  if (reader->problem_count == before && !form.coordinates && !form.velocities && !form.turns)
    reader_error(reader, item->place,
                 "the item has no variables: give 'coordinates: true', 'turns: true' or 'velocities: true'");
  Interval interval = read_interval(reader, item, &form.interval);
  TaskStart start = {.place = item->place, .within = interval.within, .low = interval.low, .high = interval.high};
  start.prior = interval.prior;
  start.step = interval.step;
  start.coordinates = form.coordinates;
  start.velocities = form.velocities;
  start.turns = form.turns;
  read_dof(reader, form.dof, start.dof);
  int link_count;
  TaskName* links = read_item_links(reader, task, item, &form.which, &link_count);
  for (int i = 0; i < link_count; i++) {
    start.link = links[i];
    start.where = read_scenario_set(reader, task, form.scenarios);
    task->starts = memory_grow_array(task->starts, sizeof(TaskStart), task->start_count, capacity);
    task->starts[task->start_count++] = start;
  }
  memory_free(links);
}

void read_controls(Reader* reader, Task* task, const Node* list) {
  task_read_list(reader, task, list, "control", read_control);
}

void read_starts(Reader* reader, Task* task, const Node* list) {
  task_read_list(reader, task, list, "initial", read_start);
}

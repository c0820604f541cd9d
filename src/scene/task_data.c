/* Reads the measured runs of a task and the settings for fitting them. */
#include <assert.h>
#include <string.h>

#include "scene/task_parts.h"

/* Reads names of CSV columns into out[] and returns their number. required: exact number of names; 0 allows up to
 * count_max. key: key of the list, for messages. */
static int read_columns(Reader* reader, const Node* list, const char* key, int required, int count_max, char** out) {
  assert(required >= 0 && required <= count_max);
  int count;
  TaskName* names = task_names(reader, list, key, &count);
  if (list && ((required > 0 && count != required) || count > count_max))
    reader_error(reader, list->place, "%s: expected %s%d columns, got %d", key, required > 0 ? "" : "at most ",
                 required > 0 ? required : count_max, count);
  for (int k = 0; k < count && k < count_max; k++) {
    out[k] = names[k].text;
    names[k].text = NULL;
  }
  task_names_free(names, count);
  return count < count_max ? count : count_max;
}

static void read_measured(Reader* reader, Task* task, const Node* item, int* capacity) {
  MeasuredForm form;
  if (!schema_read(reader, item, "measured", &form)) return;
  TaskMeasured m = {.place = item->place,
                    .link = task_name(reader, form.link, "link"),
                    .world_rates = form.rate_axes == 1,
                    .rates_before = form.rates_at == 1,
                    .length_scale = form.length_scale,
                    .angle_scale = form.angle_scale,
                    .weight = form.weight};
  read_columns(reader, form.position, "position", 3, 3, m.position);
  read_columns(reader, form.quaternion, "quaternion", 4, 4, m.quaternion);
  read_columns(reader, form.velocity, "velocity", 3, 3, m.velocity);
  read_columns(reader, form.angular_velocity, "angular_velocity", 3, 3, m.angular_velocity);
  m.coordinate_count = read_columns(reader, form.coordinates, "coordinates", 0, JOINT_MAX_DOF, m.coordinates);
  m.rate_count = read_columns(reader, form.rates, "rates", 0, JOINT_MAX_DOF, m.rates);
  if (!form.position && !form.quaternion && !form.coordinates)
    reader_error(reader, item->place, "the item has no measurement: give 'position', 'quaternion' or 'coordinates'");
  TaskData* data = &task->data;
  data->measured = memory_grow_array(data->measured, sizeof(TaskMeasured), data->measured_count, capacity);
  data->measured[data->measured_count++] = m;
}

static void read_input(Reader* reader, Task* task, const Node* item, int* capacity) {
  static const unsigned kinds[] = {CONTROL_DRIVES, CONTROL_FORCES, CONTROL_TORQUES, CONTROL_TENSIONS};
  InputForm form;
  if (!schema_read(reader, item, "input", &form)) return;
  TaskInput in = {.place = item->place,
                  .link = task_name(reader, form.link, "link"),
                  .of = kinds[form.of],
                  .number = form.number,
                  .cubic = form.interpolation == 1,
                  .scale = form.scale};
  in.column_count = read_columns(reader, form.columns, "columns", 0, JOINT_MAX_DOF, in.columns);
  TaskData* data = &task->data;
  data->inputs = memory_grow_array(data->inputs, sizeof(TaskInput), data->input_count, capacity);
  data->inputs[data->input_count++] = in;
}

void read_data(Reader* reader, Task* task, const Node* node) {
  DataForm form;
  if (!node) return;
  size_t mark = reader_enter_key(reader, "data");
  if (schema_read(reader, node, "data", &form)) {
    TaskData* data = &task->data;
    data->place = node->place;
    data->given = true;
    data->files = task_names(reader, form.files, "files", &data->file_count);
    TaskName time = task_name(reader, form.time, "time");
    data->time = time.text ? time.text : memory_copy_text("time");
    data->time_scale = form.time_scale;
    task_read_list(reader, task, form.measured, "measured", read_measured);
    task_read_list(reader, task, form.inputs, "inputs", read_input);
  }
  reader_leave(reader, mark);
}

void read_identify(Reader* reader, Task* task, const Node* node) {
  const Node* section = task_section_or_empty(reader, task, node);
  TaskIdentify* identify = &task->identify;
  size_t mark = reader_enter_key(reader, "identify");
  schema_read(reader, section, "identify", identify);
  if (!node_has_key(section, "window")) identify->window = 0;
  if (!node_has_key(section, "stride")) identify->stride = identify->window;
  if (!node_has_key(section, "huber")) identify->huber = HUGE_VAL;
  if (!node_has_key(section, "velocity")) identify->velocity = 0;
  if (!node_has_key(section, "angular_velocity")) identify->angular_velocity = 0;
  if (!node_has_key(section, "rate")) identify->rate = 0;
  reader_leave(reader, mark);
}

static void columns_free(char** names, int count) {
  for (int k = 0; k < count; k++) memory_free(names[k]);
}

void data_free(Task* task) {
  TaskData* data = &task->data;
  for (int k = 0; k < data->measured_count; k++) {
    TaskMeasured* m = &data->measured[k];
    task_name_free(&m->link);
    columns_free(m->position, 3);
    columns_free(m->quaternion, 4);
    columns_free(m->velocity, 3);
    columns_free(m->angular_velocity, 3);
    columns_free(m->coordinates, JOINT_MAX_DOF);
    columns_free(m->rates, JOINT_MAX_DOF);
  }
  for (int k = 0; k < data->input_count; k++) {
    task_name_free(&data->inputs[k].link);
    columns_free(data->inputs[k].columns, JOINT_MAX_DOF);
  }
  task_names_free(data->files, data->file_count);
  memory_free(data->inputs);
  memory_free(data->measured);
  memory_free(data->time);
}

/* Reads the physical parameters that are design variables. */
#include <string.h>

#include "scene/task_parts.h"

/* Returns true if the parameter type belongs to the whole scene, not to links. */
static bool is_of_scene(int type) { return type >= PARAMETER_GRAVITY; }
static bool is_of_pair(int type) { return type >= PARAMETER_PAIR_FRICTION && type <= PARAMETER_CLOSURE_LENGTH; }

unsigned task_length_bit(const SceneShape* shape, int k) {
  SceneShape copy = *shape;
  double* lengths[ROUND_PARAMETERS_MAX];
  if (k < 0 || k >= scene_shape_round_lengths(&copy, lengths)) return 0;
  const double* const keys[] = {&copy.radius, &copy.width,         &copy.rim,
                                &copy.length, &copy.bottom_radius, &copy.top_radius};
  unsigned bit = 1;
  for (int i = 0; i < 6; i++, bit <<= 1)
    if (lengths[k] == keys[i]) return bit;
  return bit;
}

/* Reports a link of a parameter that has none. Names parameters of links with similar names: joint_stiffness for
 * stiffness. */
static void report_link(Reader* reader, const Node* item, int type) {
  if (is_of_pair(type)) {
    reader_error(reader, item->place, "the parameter belongs to a pair: give 'a' and 'b' instead of 'link' or 'links'");
    return;
  }
  const Excerpt name = words_at(TASK_PARAMETER_WORDS, type);
  size_t length = strlen(name.text);
  Text similar = {0}, advice = {0};
  for (int k = 0; k < PARAMETER_GRAVITY; k++) {
    const Excerpt other = words_at(TASK_PARAMETER_WORDS, k);
    size_t start = strlen(other.text) - length;
    if (is_of_pair(k) || strlen(other.text) <= length + 1 || other.text[start - 1] != '_') continue;
    if (strcmp(other.text + start, name.text) == 0) text_add(&similar, "%s%s", similar.length ? "|" : "", other.text);
  }
  if (similar.length > 0) text_add(&advice, "use ");
  if (similar.length > 0) words_add_enumeration(similar.data, &advice);
  reader_error(reader, item->place, "the parameter '%s' belongs to the whole scene: %s%sremove 'link' or 'links'",
               name.text, advice.length > 0 ? advice.data : "", advice.length > 0 ? ", or " : "");
  text_free(&similar);
  text_free(&advice);
}

static void read_parameter(Reader* reader, Task* task, const Node* item, int* capacity) {
  ParameterForm form;
  if (!schema_read(reader, item, "parameter", &form)) return;
  Interval interval = read_interval(reader, item, &form.interval);
  TaskParameter p = {.place = item->place, .within = interval.within, .low = interval.low, .high = interval.high};
  p.type = (TaskParameterType)form.type;
  p.form = node_has_key(item, "form") ? (TaskInertiaForm)form.form : INERTIA_FULL;
  p.tie = form.tie;
  p.prior = interval.prior;
  p.step = interval.step;
  p.has_axes = node_has_key(item, "axes");
  p.lengths = form.lengths;
  p.has_anchor = node_has_key(item, "anchor");
  p.anchor = form.anchor;
  for (int k = 0; k < 3; k++) p.axes[k] = (form.axes >> k & 1u) != 0;
  read_dof(reader, form.dof, p.dof);
  for (int k = 0; k < 2; k++)
    if (form.pair[k]) p.pair[k] = task_name(reader, form.pair[k], k == 0 ? "a" : "b");
  if (!is_of_scene(form.type) && !is_of_pair(form.type))
    p.links = read_item_links(reader, task, item, &form.which, &p.link_count);
  else if (form.which.link || form.which.links)
    report_link(reader, item, form.type);
  task->parameters = memory_grow_array(task->parameters, sizeof(TaskParameter), task->parameter_count, capacity);
  task->parameters[task->parameter_count++] = p;
}

void read_parameters(Reader* reader, Task* task, const Node* list) {
  task_read_list(reader, task, list, "parameters", read_parameter);
}

void parameters_free(Task* task) {
  for (int i = 0; i < task->parameter_count; i++) {
    for (int k = 0; k < 2; k++) memory_free(task->parameters[i].pair[k].text);
    task_names_free(task->parameters[i].links, task->parameters[i].link_count);
  }
  memory_free(task->parameters);
}

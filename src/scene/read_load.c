#include "scene/parts.h"

static SceneLoad* append_load(Reader* reader) {
  Scene* scene = reader->scene;
  scene->loads = memory_grow_array(scene->loads, sizeof(SceneLoad), scene->load_count, &reader->load_capacity);
  return &scene->loads[scene->load_count++];
}

/* Reads the signal of a force or torque, with three channels. A single number for all three is an error. */
static void read_vector_signal(Reader* reader, const Node* node, const char* key, SceneSignal* signal) {
  if (!node) return;
  size_t mark = reader_enter_key(reader, key);
  if (node->kind == NODE_SCALAR)
    reader_report_wrong_kind(reader, node, "three numbers or a signal of three channels");
  else if (node->kind == NODE_LIST && node->count != 3)
    reader_error(reader, node->place, "expected 3 numbers, one per axis, got %d", node->count);
  else
    read_signal(reader, node, 3, signal);
  reader_leave(reader, mark);
}

static int read_loaded_link(Reader* reader, const LoadForm* form) {
  if (!form->link) return -1;
  size_t mark = reader_enter_key(reader, "link");
  int link = read_link_name(reader, form->link);
  reader_leave(reader, mark);
  return link;
}

static void read_strength(Reader* reader, const Node* node, SceneSignal* signal) {
  size_t mark = reader_enter_key(reader, "strength");
  read_signal(reader, node, 1, signal);
  reader_leave(reader, mark);
}

/* Sets the axis of a field to the unit vector along a direction. Reports an error if the direction is zero. */
static void set_axis(Reader* reader, const Node* node, Vec3 given, SceneField* field) {
  double length = vec3_norm(given);
  if (length > 0)
    field->axis = is_unit_length(length) ? given : vec3_scale(given, 1 / length);
  else
    reader_error(reader, node_find(node, "axis")->place,
                 "the axis must not be the zero vector: give a direction such as [0, 0, 1]");
}

/* Reads the map `field` of a load. Does not check values that depend on an invalid value, because the messages would be
 * misleading. */
static void read_field(Reader* reader, const Node* item, SceneLoad* load) {
  const Node* node = node_find(item, "field");
  FieldForm form;
  size_t mark = reader_enter_key(reader, "field");
  if (schema_read(reader, node, "field", &form)) {
    int to = read_link_or_world(reader, form.to, "to");
    SceneField* field = &load->field;
    *field = form.field;
    field->type = (FieldType)(form.type + 1);
    field->to = to < 0 ? -1 : to;
    field->at = form.at;
    field->has_at = node_find(node, "at") != NULL;
    field->other = field->type == FIELD_UNIFORM ? form.flux_density : form.moment;
    if (field->type != FIELD_POINT) set_axis(reader, node, form.axis, field);
    if (to >= 0 && to == load->link)
      reader_error(reader, form.to->place, "a link cannot exert a field on itself: name another link or world in 'to'");
    read_strength(reader, form.strength, &load->force);
  }
  reader_leave(reader, mark);
}

static void check_load(Reader* reader, const Node* item, const LoadForm* form) {
  const Node *point = node_find(item, "point"), *axes = node_find(item, "axes");
  if (form->field && (form->force || form->torque))
    reader_error(reader, item->place,
                 "a load must not have 'field' together with 'force' or 'torque': write two loads");
  else if (!form->force && !form->torque && !form->field)
    reader_error(reader, item->place, "the load has no effect: give 'force', 'torque' or 'field'");
  if (point && !form->force && !form->field)
    reader_error(reader, node_key_place(point), "'point' has no meaning for a torque: remove 'point', or give 'force'");
  if (axes && form->field)
    reader_error(reader, node_key_place(axes), "'axes' has no meaning for a field: remove 'axes'");
}

static void read_load(Reader* reader, const Node* item, const Repeat* repeat) {
  (void)repeat;
  LoadForm form;
  if (!schema_read_partial(reader, item, "load", &form)) return;
  check_load(reader, item, &form);
  int link = read_loaded_link(reader, &form);
  if (link < 0) return;
  if (reader->scene->load_count >= LOAD_MAX) {
    reader_error(reader, item->place, "the scene has more than %d loads: remove loads", LOAD_MAX);
    reader_stop(reader);
    return;
  }
  SceneLoad* load = append_load(reader);
  *load = (SceneLoad){.place = item->place, .link = link, .link_axes = form.axes == 1, .point = form.point};
  load->has_point = node_find(item, "point") != NULL;
  read_vector_signal(reader, form.force, "force", &load->force);
  read_vector_signal(reader, form.torque, "torque", &load->torque);
  if (form.field && !form.force) read_field(reader, item, load);
}

void read_loads(Reader* reader, const Node* list) {
  if (!list) return;
  size_t mark = reader_enter_key(reader, "loads");
  int index = 0;
  for (const Node* entry = list->first; entry && !reader->exhausted; entry = entry->next, index++) {
    size_t below = reader_enter_index(reader, index);
    repeat_expand(reader, entry, "load", "repeat_load", read_load);
    reader_leave(reader, below);
  }
  reader_leave(reader, mark);
}

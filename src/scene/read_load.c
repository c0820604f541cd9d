#include "scene/parts.h"

static SceneLoad* add_load(Reader* reader) {
  Scene* scene = reader->scene;
  scene->loads = memory_grown(scene->loads, sizeof(SceneLoad), scene->load_count, &reader->load_capacity);
  return &scene->loads[scene->load_count++];
}

/* Three channels: one number for all three would be a mistake. */
static void read_vector_signal(Reader* reader, const Node* node, const char* key, SceneSignal* signal) {
  if (!node) return;
  size_t mark = reader_enter_key(reader, key);
  if (node->kind == NODE_SCALAR)
    reader_expected(reader, node, "three numbers or a signal of three channels");
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

static void read_load(Reader* reader, const Node* item, const Repeat* repeat) {
  (void)repeat;
  LoadForm form;
  if (!schema_read_in_part(reader, item, "load", &form)) return;
  if (!form.force && !form.torque) reader_error(reader, item->place, "nothing acts: give 'force' or 'torque'");
  const Node* point = node_find(item, "point");
  if (point && !form.force) reader_error(reader, node_key_place(point), "a torque has no 'point': only a force has");
  int link = read_loaded_link(reader, &form);
  if (link < 0) return;
  if (reader->scene->load_count >= LOAD_MAX) {
    reader_error(reader, item->place, "more than %d loads", LOAD_MAX);
    reader_stop(reader);
    return;
  }
  SceneLoad* load = add_load(reader);
  *load = (SceneLoad){.place = item->place, .link = link, .link_axes = form.axes == 1, .point = form.point};
  load->has_point = point != NULL;
  read_vector_signal(reader, form.force, "force", &load->force);
  read_vector_signal(reader, form.torque, "torque", &load->torque);
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

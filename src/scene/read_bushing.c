#include <assert.h>
#include "scene/parts.h"

/* Reads a 6 x 6 matrix: six numbers, the diagonal, or six rows of six numbers. */
static void read_matrix(Reader* reader, const Node* list, const char* key, double matrix[6][6]) {
  static const ValueRange any = {0};
  if (!list) return;
  size_t mark = reader_enter_key(reader, key);
  double diagonal[6] = {0};
  bool nested = list->first && list->first->kind == NODE_LIST;
  if (list->count != 6) {
    reader_error(reader, list->place, "expected 6 numbers or 6 rows of 6 numbers, got %d entries", list->count);
  } else if (!nested) {
    reader_numbers(reader, list, &any, NULL, 6, diagonal);
    for (int k = 0; k < 6; k++) matrix[k][k] = diagonal[k];
  }
  int row = 0;
  for (const Node* item = list->first; nested && list->count == 6 && item; item = item->next, row++) {
    size_t below = reader_enter_index(reader, row);
    reader_numbers(reader, item, &any, NULL, 6, matrix[row]);
    reader_leave(reader, below);
  }
  reader_leave(reader, mark);
}

static void read_frame(Reader* reader, const Node* node, const char* key, SceneBushing* bushing, int side) {
  assert(side == 0 || side == 1);
  BushingFrameForm form;
  if (!node) return;
  size_t mark = reader_enter_key(reader, key);
  if (schema_read(reader, node, "bushing_frame", &form)) {
    warn_if_pose_degrees(reader, node, &form.pose);
    bushing->position[side] = form.pose.position;
    bushing->rotation[side] = pose_form_rotation(&form.pose);
  }
  reader_leave(reader, mark);
}

void scene_append_bushing(Reader* reader, const SceneBushing* bushing) {
  assert(bushing->link[0] < reader->scene->link_count && bushing->link[1] < reader->scene->link_count);
  Scene* scene = reader->scene;
  if (scene->bushing_count >= BUSHING_MAX) {
    if (!reader->exhausted)
      reader_error(reader, bushing->place, "the scene has more than %d bushings: remove bushings", BUSHING_MAX);
    reader_stop(reader);
    return;
  }
  scene->bushings =
      memory_grow_array(scene->bushings, sizeof(SceneBushing), scene->bushing_count, &reader->bushing_capacity);
  scene->bushings[scene->bushing_count++] = *bushing;
}

static void read_bushing(Reader* reader, const Node* item) {
  BushingForm form;
  if (!schema_read(reader, item, "bushing", &form)) return;
  int before = reader->problem_count, a = read_link_or_world(reader, form.a, "a");
  int b = read_link_or_world(reader, form.b, "b");
  if (a == -1) reader_error(reader, form.a->place, "'a' must be a link: only 'b' may be the world");
  if (a >= 0 && a == b)
    reader_error(reader, item->place, "a bushing cannot join a link to itself: name two links in 'a' and 'b'");
  SceneBushing bushing = {.place = item->place, .link = {a, b}, .rotation = {quat_identity(), quat_identity()}};
  read_frame(reader, form.frame_a, "frame_a", &bushing, 0);
  read_frame(reader, form.frame_b, "frame_b", &bushing, 1);
  read_matrix(reader, form.stiffness, "stiffness", bushing.stiffness);
  read_matrix(reader, form.damping, "damping", bushing.damping);
  if (form.preload.node && form.preload.count != 6)
    reader_error(reader, form.preload.node->place,
                 "preload: expected 6 numbers, three of force and three of torque, got %d", form.preload.count);
  for (int k = 0; form.preload.count == 6 && k < 6; k++) bushing.preload[k] = form.preload.values[k];
  if (a < 0 || b < -1 || reader->problem_count > before) return;
  scene_append_bushing(reader, &bushing);
}

void read_bushings(Reader* reader, const Node* list) {
  if (!list) return;
  size_t mark = reader_enter_key(reader, "bushings");
  int index = 0;
  for (const Node* entry = list->first; entry && !reader->exhausted; entry = entry->next, index++) {
    size_t below = reader_enter_index(reader, index);
    read_bushing(reader, entry);
    reader_leave(reader, below);
  }
  reader_leave(reader, mark);
}

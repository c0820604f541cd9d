#include <assert.h>
#include <string.h>

#include "scene/parts.h"

#define QUATERNION_TOLERANCE 1e-3

static void report_count(Reader* reader, const NumberList* list, int dof, int coordinates) {
  if (dof == 0)
    reader_error(reader, list->node->place, "the joint is fixed and has no coordinates: remove this key");
  else if (dof == coordinates)
    reader_error(reader, list->node->place, "expected %d number%s, one per degree of freedom, got %d", dof,
                 dof == 1 ? "" : "s", list->count);
  else
    reader_error(reader, list->node->place, "expected %d numbers (rotation vector) or %d (quaternion), got %d", dof,
                 coordinates, list->count);
}

/* Adds the increments of the current item of a repeat to `values`. Values from the index `fixed_from` on belong to a
 * quaternion and must not have increments. */
static void add_increments(Reader* reader, const RepeatIncrements* increments, const NumberList* list, int fixed_from,
                           double* values) {
  if (increments->count == 0 || !reader->indices) return;
  if (increments->width != list->count) {
    reader_error(reader, list->node->place,
                 "the item has %d numbers, but its increment in 'repeat' has %d: give equally many numbers",
                 list->count, increments->width);
    return;
  }
  for (int row = 0; row < increments->count; row++)
    for (int i = fixed_from; i < increments->width; i++)
      if (increments->values[row][i] != 0) {
        reader_error(reader, list->node->place,
                     "a quaternion cannot be incremented: give the rotation as a rotation vector");
        return;
      }
  repeat_add_increments(increments, reader->indices, values);
}

static void normalize_quaternion(Reader* reader, const Node* node, double q[4]) {
  double length = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
  if (!(fabs(length - 1.0) <= QUATERNION_TOLERANCE)) {
    reader_error(reader, node->place,
                 "the quaternion must have length 1, got length %.6g: divide its numbers by the length", length);
    return;
  }
  for (int i = 0; i < 4 && !is_unit_length(length); i++) q[i] /= length;
}

static void read_coordinates(Reader* reader, const Node* item, const NumberList* list, const Repeat* repeat,
                             SceneInitial* initial) {
  const SceneJoint* joint = &reader->scene->links[initial->link].joint;
  Joint made = scene_joint(joint);
  int dof = made.dof_count, coordinates = made.coordinate_count, plain = made.scalar_count;
  initial->has_coordinates = node_has_key(item, "coordinates");
  joint_zero(&made, initial->coordinates);
  if (!list->node) return;
  if (list->count != dof && list->count != coordinates) {
    report_count(reader, list, dof, coordinates);
    return;
  }
  if (list->count == dof && plain > made.slide_count)
    warn_if_degrees(reader, list->node->place, list->values + made.slide_count, plain - made.slide_count);
  double* q = initial->coordinates;
  memcpy(q, list->values, sizeof initial->coordinates);
  bool as_quaternion = made.quaternion && list->count == coordinates;
  add_increments(reader, &repeat->coordinates, list, as_quaternion ? plain : list->count, q);
  if (as_quaternion)
    normalize_quaternion(reader, list->node, q + plain);
  else
    joint_coordinates_from_target(&made, (const double[]){q[0], q[1], q[2], q[3], q[4], q[5]}, q);
}

static void read_velocities(Reader* reader, const Node* item, const NumberList* list, const Repeat* repeat,
                            SceneInitial* initial) {
  assert(initial->link >= 0);
  int dof = scene_joint_dof(&reader->scene->links[initial->link].joint);
  initial->has_velocities = node_has_key(item, "velocities");
  if (!list->node) return;
  if (list->count != dof) {
    report_count(reader, list, dof, dof);
    return;
  }
  memcpy(initial->velocities, list->values, sizeof initial->velocities);
  add_increments(reader, &repeat->velocities, list, list->count, initial->velocities);
}

/* Records that this item gives the initial state of a link. If an earlier item gave one, reports an error and returns
 * false. */
static bool claim_link(Reader* reader, const Node* item, int link) {
  assert(link >= 0 && link < reader->scene->link_count);
  const Scene* scene = reader->scene;
  int* first = &reader->initial_of[link];
  if (*first >= 0) {
    reader_error(reader, item->place,
                 "the link '%s' already has an initial state from line %d: remove one of the two items",
                 text_excerpt(scene->links[link].name).text, scene->initials[*first].place.line);
    return false;
  }
  *first = scene->initial_count;
  return true;
}

/* Removes the initial state that an included file gave for a link. The including scene gives another one. */
static void remove_included_initial(Reader* reader, int link) {
  assert(link >= 0 && link < reader->scene->link_count);
  Scene* scene = reader->scene;
  for (int i = 0; i < reader->included_initials; i++) {
    if (scene->initials[i].link != link) continue;
    memmove(&scene->initials[i], &scene->initials[i + 1],
            sizeof(SceneInitial) * (size_t)(scene->initial_count - i - 1));
    scene->initial_count--;
    reader->included_initials--;
    for (int k = 0; k < scene->link_count; k++) reader->initial_of[k] -= reader->initial_of[k] > i;
    reader->initial_of[link] = scene->initial_count;
  }
}

static void read_initial(Reader* reader, const Node* item, const Repeat* repeat) {
  InitialForm form;
  if (!schema_read(reader, item, "initial", &form) || !form.link) return;
  size_t mark = reader_enter_key(reader, "link");
  int link = read_link_name(reader, form.link);
  reader_leave(reader, mark);
  if (link < 0 || reader->joint_broken[link] || !claim_link(reader, item, link)) return;
  Scene* scene = reader->scene;
  remove_included_initial(reader, link);
  scene->initials =
      memory_grow_array(scene->initials, sizeof(SceneInitial), scene->initial_count, &reader->initial_capacity);
  SceneInitial* initial = &scene->initials[scene->initial_count++];
  *initial = (SceneInitial){.place = item->place, .link = link};
  mark = reader_enter_key(reader, "coordinates");
  read_coordinates(reader, item, &form.coordinates, repeat, initial);
  reader_leave(reader, mark);
  mark = reader_enter_key(reader, "velocities");
  read_velocities(reader, item, &form.velocities, repeat, initial);
  reader_leave(reader, mark);
}

void read_initials(Reader* reader, const Node* list) {
  if (!list) return;
  reader->initial_of = MEMORY_NEW(int, reader->scene->link_count);
  for (int i = 0; i < reader->scene->link_count; i++) reader->initial_of[i] = -1;
  reader->included_initials = reader->scene->initial_count;
  size_t mark = reader_enter_key(reader, "initial");
  int index = 0;
  for (const Node* entry = list->first; entry && !reader->exhausted; entry = entry->next, index++) {
    size_t below = reader_enter_index(reader, index);
    repeat_expand(reader, entry, "initial", "repeat_initial", read_initial);
    reader_leave(reader, below);
  }
  reader_leave(reader, mark);
}

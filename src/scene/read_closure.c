#include <assert.h>
#include <string.h>

#include "scene/parts.h"

int read_link_or_world(Reader* reader, const Node* node, const char* key) {
  assert(key);
  if (!node) return -1;
  size_t mark = reader_enter_key(reader, key);
  bool world = strcmp(node->text, "world") == 0 && names_find(&reader->link_names, "world") < 0;
  int link = world ? -1 : read_link_name(reader, node);
  reader_leave(reader, mark);
  return world ? -1 : link < 0 ? -2 : link;
}

/* Sets *axis to the unit vector along a direction. Reports an error and returns false if the direction is zero. */
static bool read_direction(Reader* reader, const Node* item, Vec3 given, Vec3* axis) {
  double length = vec3_norm(given);
  *axis = is_unit_length(length) ? given : vec3_scale(given, 1 / length);
  if (length > 0) return true;
  reader_error(reader, node_find(item, "axis")->place,
               "the axis must not be the zero vector: give a direction such as [0, 0, 1]");
  return false;
}

static void check_links(Reader* reader, const Node* item, const ClosureForm* form, int a, int b) {
  if (a == -1) reader_error(reader, form->a->place, "'a' must be a link: only 'b' may be the world");
  if (a >= 0 && a == b)
    reader_error(reader, item->place, "a closure cannot join a link to itself: name two links in 'a' and 'b'");
}

static void read_active(Reader* reader, const Node* item, const ClosureForm* form, SceneSignal* signal) {
  if (!form->active) return;
  size_t mark = reader_enter_key(reader, "active");
  if (form->closure.type == CLOSURE_DISTANCE)
    reader_error(reader, item->place,
                 "a closure of type distance cannot have 'active' or 'within': use type ball, hinge, slide or weld");
  else
    read_signal(reader, form->active, 1, signal);
  reader_leave(reader, mark);
}

/* Checks the keys `within`, `near_a` and `near_b`, by which a closure closes at a small distance. If `within` is given
 * without `active`, sets the signal `active` to 1. */
static void check_within(Reader* reader, const Node* item, SceneClosure* closure) {
  bool given = node_find(item, "within") != NULL;
  const char* const points[2] = {"near_a", "near_b"};
  for (int side = 0; side < 2; side++)
    if (!given && node_find(item, points[side]))
      reader_error(reader, node_find(item, points[side])->place,
                   "'%s' needs 'within': give the distance [m] at which the closure closes", points[side]);
  if (!given) return;
  if (closure->type == CLOSURE_DISTANCE)
    reader_error(reader, item->place,
                 "a closure of type distance cannot have 'active' or 'within': use type ball, hinge, slide or weld");
  else if (closure->active.channels == 0) {
    closure->active = (SceneSignal){.type = SIGNAL_CONSTANT, .place = item->place, .channels = 1, .rows = 1};
    closure->active.values = MEMORY_NEW(double, 1);
    closure->active.values[0] = 1;
  }
}

static void check_release(Reader* reader, const Node* item, const SceneClosure* closure) {
  if (!(closure->release_force > 0)) return;
  SourcePosition place = node_find(item, "release_force")->place;
  if (closure->break_force > 0)
    reader_error(
        reader, place,
        "give 'release_force' (the closure can close again) or 'break_force' (the closure stays open), not both");
  else if (closure->active.channels == 0)
    reader_error(reader, place,
                 "'release_force' needs 'within' or 'active', by which the closure can close again: give one of the "
                 "two, or use 'break_force' for a closure that opens once");
}

void closure_free(SceneClosure* closure) { signal_free_arrays(&closure->active); }

static void read_closure(Reader* reader, const Node* item) {
  ClosureForm form;
  if (!schema_read(reader, item, "closure", &form)) return;
  int before = reader->problem_count, a = read_link_or_world(reader, form.a, "a");
  int b = read_link_or_world(reader, form.b, "b");
  check_links(reader, item, &form, a, b);
  SceneClosure closure = form.closure;
  closure.place = item->place;
  closure.a = a;
  closure.b = b;
  closure.point = form.point;
  closure.has_point = node_find(item, "point") != NULL;
  closure.has_axis = node_find(item, "axis") != NULL;
  closure.link_axes = form.axes == 1;
  if (closure.has_axis) read_direction(reader, item, form.axis, &closure.axis);
  if (closure.type == CLOSURE_DISTANCE && closure.has_axis && !(closure.length > 0))
    reader_error(reader, item->place,
                 "'axis' of a distance closure needs 'length': give the distance [m] from 'point' to the end on 'b'");
  read_active(reader, item, &form, &closure.active);
  check_within(reader, item, &closure);
  check_release(reader, item, &closure);
  if (a < 0 || b < -1 || reader->problem_count > before) {
    closure_free(&closure);
    return;
  }
  Scene* scene = reader->scene;
  if (scene->closure_count >= CLOSURE_MAX) {
    reader_error(reader, item->place, "the scene has more than %d closures: remove closures", CLOSURE_MAX);
    closure_free(&closure);
    reader_stop(reader);
    return;
  }
  scene->closures =
      memory_grow_array(scene->closures, sizeof(SceneClosure), scene->closure_count, &reader->closure_capacity);
  scene->closures[scene->closure_count++] = closure;
}

void read_closures(Reader* reader, const Node* list) {
  if (!list) return;
  size_t mark = reader_enter_key(reader, "closures");
  int index = 0;
  for (const Node* entry = list->first; entry && !reader->exhausted; entry = entry->next, index++) {
    size_t below = reader_enter_index(reader, index);
    read_closure(reader, entry);
    reader_leave(reader, below);
  }
  reader_leave(reader, mark);
}

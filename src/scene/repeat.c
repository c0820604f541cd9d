#include <assert.h>
#include <string.h>

#include "scene/parts.h"

/* ---------------------------------------------------------------- reading */

static void read_counts(Reader* reader, Repeat* repeat) {
  static const ValueRange COUNT = {true, 0, REPEAT_MAX, false, false};
  const Node* node = repeat->form.count;
  if (!node) return;
  size_t mark = reader_enter_key(reader, "count");
  repeat->axis_count = 1;
  if (node->kind == NODE_SCALAR) {
    reader_integer(reader, node, &COUNT, &repeat->count[0]);
  } else if (node->count < 1 || node->count > 3) {
    reader_error(reader, node->place, "expected 1 to 3 whole numbers, got %d", node->count);
  } else {
    repeat->axis_count = 0;
    for (const Node* item = node->first; item; item = item->next)
      reader_integer(reader, item, &COUNT, &repeat->count[repeat->axis_count++]);
  }
  int64_t total = 1;
  for (int i = 0; i < repeat->axis_count; i++) total = total > REPEAT_MAX ? total : total * repeat->count[i];
  if (total > REPEAT_MAX)
    reader_error(reader, node->place, "the product of the counts is more than %d items: lower the counts", REPEAT_MAX);
  reader_leave(reader, mark);
}

/* Reads the increments of positions or rotations along each axis of a repeat. One vector is the increment of a single
 * axis, or has one component for each axis of a grid. A list has one vector for each axis. */
static void read_steps(Reader* reader, const Repeat* repeat, const Node* node, const char* key, RepeatSteps* steps) {
  static const ValueRange ANY = {0};
  if (!node) return;
  size_t mark = reader_enter_key(reader, key);
  double v[3] = {0};
  if (node->first && node->first->kind == NODE_LIST) {
    if (node->count != repeat->axis_count)
      reader_error(reader, node->place, "expected %d vectors, one per axis of 'count', got %d", repeat->axis_count,
                   node->count);
    for (const Node* item = node->first; item && steps->count < repeat->axis_count; item = item->next) {
      reader_numbers(reader, item, &ANY, NULL, 3, v);
      steps->steps[steps->count++] = vec3(v[0], v[1], v[2]);
    }
  } else if (reader_numbers(reader, node, &ANY, NULL, 3, v)) {
    if (repeat->axis_count == 2 && v[2] != 0)
      reader_error(reader, node->place, "the third component must be 0, because 'count' has only two axes");
    steps->count = repeat->axis_count;
    if (repeat->axis_count == 1) {
      steps->steps[0] = vec3(v[0], v[1], v[2]);
    } else {
      steps->steps[0] = vec3(v[0], 0, 0);
      steps->steps[1] = vec3(0, v[1], 0);
      steps->steps[2] = vec3(0, 0, v[2]);
    }
  }
  reader_leave(reader, mark);
}

static void read_increment_row(Reader* reader, const Node* node, RepeatIncrements* out) {
  static const ValueRange ANY = {0};
  if (node->kind != NODE_LIST || node->count < 1 || node->count > JOINT_MAX_COORDINATE) {
    reader_error(reader, node->place, "expected a list of 1 to %d numbers", JOINT_MAX_COORDINATE);
    return;
  }
  if (out->count > 0 && node->count != out->width) {
    reader_error(reader, node->place, "expected %d numbers, as in the first list, got %d", out->width, node->count);
    return;
  }
  out->width = node->count;
  reader_numbers(reader, node, &ANY, NULL, node->count, out->values[out->count++]);
}

static void read_increments(Reader* reader, const Repeat* repeat, const Node* node, const char* key,
                            RepeatIncrements* out) {
  if (!node) return;
  size_t mark = reader_enter_key(reader, key);
  if (!node->first || node->first->kind != NODE_LIST) {
    read_increment_row(reader, node, out);
  } else if (node->count != repeat->axis_count) {
    reader_error(reader, node->place, "expected %d lists, one per axis of 'count', got %d", repeat->axis_count,
                 node->count);
  } else {
    for (const Node* item = node->first; item; item = item->next) read_increment_row(reader, item, out);
  }
  reader_leave(reader, mark);
}

/* Reads the map `repeat` of an entry. Returns false after an error. */
static bool read_repeat(Reader* reader, const Node* node, const char* object, Repeat* repeat) {
  int before = reader->problem_count;
  repeat->node = node;
  size_t mark = reader_enter_key(reader, "repeat");
  if (schema_read(reader, node, object, &repeat->form)) {
    read_counts(reader, repeat);
    read_steps(reader, repeat, repeat->form.position, "position", &repeat->position);
    read_steps(reader, repeat, repeat->form.rotation_vector, "rotation_vector", &repeat->rotation_vector);
    read_increments(reader, repeat, repeat->form.coordinates, "coordinates", &repeat->coordinates);
    read_increments(reader, repeat, repeat->form.velocities, "velocities", &repeat->velocities);
    const Node* nested = node_find(repeat->form.first, "repeat");
    if (nested)
      reader_error(reader, node_key_place(nested), "'first' must not contain 'repeat': remove 'repeat' from 'first'");
  }
  reader_leave(reader, mark);
  return reader->problem_count == before;
}

/* ---------------------------------------------------------------- expanding */

/* Returns the map of the first item of a `repeat`: a copy of the list entry, in which the keys of the map `first`
 * replace those of the entry. */
static const Node* apply_first(Reader* reader, const Node* entry, const Repeat* repeat, const char* object) {
  const Node* first = repeat->form.first;
  Node* merged = first ? document_shallow_copy(reader->document, entry) : NULL;
  Node* keys = first ? document_shallow_copy(reader->document, first) : NULL;
  if (!merged || !keys) return entry;
  const SchemaObject* schema = schema_object(reader->table, object);
  for (Node *key = keys->first, *next; key; key = next) {
    next = key->next;
    schema_replace(reader->table, schema, merged, key);
  }
  return merged;
}

/* Reports the errors of an entry whose repeat has no items. */
static void report_errors_of_unused(Reader* reader, const Node* entry, const char* object) {
  union {
    LinkForm link;
    ControllerForm controller;
    LoadForm load;
    TendonPointForm point;
    InitialForm initial;
  } unused;
  schema_read(reader, entry, object, &unused);
}

/* Sets *indices to the position of item number n along each axis of the grid of a `repeat`. The last axis varies
 * fastest. */
static void set_indices(const Repeat* repeat, int n, RepeatIndices* indices) {
  assert(n >= 0);
  indices->n = n;
  for (int axis = repeat->axis_count - 1; axis >= 0; axis--) {
    indices->step[axis] = n % repeat->count[axis];
    n /= repeat->count[axis];
  }
}

static void expand_items(Reader* reader, const Node* entry, const Repeat* repeat, const char* object, RepeatBody body) {
  assert(repeat->axis_count >= 1 && repeat->axis_count <= 3);
  bool muted = reader->muted;
  int total = 1;
  for (int i = 0; i < repeat->axis_count; i++) total *= repeat->count[i];
  if (total == 0) report_errors_of_unused(reader, entry, object);
  RepeatIndices indices = {.axis_count = repeat->axis_count, .start = repeat->form.start};
  reader->indices = &indices;
  for (int n = 0; n < total && !reader->exhausted; n++) {
    int before = reader->problem_count;
    set_indices(repeat, n, &indices);
    body(reader, n == 0 ? apply_first(reader, entry, repeat, object) : entry, repeat);
    if (reader->problem_count > before) reader->muted = true;
  }
  reader->indices = NULL;
  if (!reader->exhausted) reader->muted = muted;
}

/* Reads an entry once after an error in its `repeat`, to report the other errors of the entry. The names of its items
 * remain unknown, so links that are not found are not reported. */
static void read_invalid_repeat(Reader* reader, const Node* entry, RepeatBody body) {
  RepeatIndices indices = {.axis_count = 3};
  Repeat none = {0};
  reader->names_incomplete = true;
  reader->indices = &indices;
  body(reader, entry, &none);
  reader->indices = NULL;
}

void repeat_expand(Reader* reader, const Node* entry, const char* object, const char* repeat_object, RepeatBody body) {
  assert(!reader->indices);
  Repeat repeat = {0};
  const Node* node = node_find(entry, "repeat");
  if (!node || node_is_null(node))
    body(reader, entry, &repeat);
  else if (node->kind == NODE_MAP && read_repeat(reader, node, repeat_object, &repeat))
    expand_items(reader, entry, &repeat, object, body);
  else
    read_invalid_repeat(reader, entry, body);
}

/* ---------------------------------------------------------------- using */

static Vec3 scaled_step(const RepeatSteps* steps, int axis, const RepeatIndices* indices) {
  return vec3_scale(steps->steps[axis], indices->step[axis]);
}

void repeat_apply_pose(const Repeat* repeat, const RepeatIndices* indices, Vec3* position, Quat* rotation) {
  assert(repeat && position && rotation);
  if (!repeat->node) return;
  Quat turn = quat_identity();
  for (int i = 0; i < repeat->rotation_vector.count; i++)
    turn = quat_mul(turn, quat_exp(scaled_step(&repeat->rotation_vector, i, indices)));
  *rotation = quat_normalized(quat_mul(turn, *rotation));
  if (node_has_key(repeat->node, "around")) {
    Vec3 arm = vec3_sub(*position, repeat->form.around);
    *position = vec3_add(repeat->form.around, mat3_mul_vec(mat3_from_quat(turn), arm));
  }
  for (int i = 0; i < repeat->position.count; i++)
    *position = vec3_add(*position, scaled_step(&repeat->position, i, indices));
}

void repeat_add_increments(const RepeatIncrements* increments, const RepeatIndices* indices, double* values) {
  assert(increments->width <= JOINT_MAX_COORDINATE);
  for (int row = 0; row < increments->count; row++) {
    double factor = increments->count == 1 ? indices->n : indices->step[row];
    for (int i = 0; i < increments->width; i++) values[i] += factor * increments->values[row][i];
  }
}

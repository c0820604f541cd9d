#include <assert.h>
#include "scene/parts.h"

static SceneTendon* current_tendon(Reader* reader) {
  assert(reader->scene->tendon_count > 0);
  return &reader->scene->tendons[reader->scene->tendon_count - 1];
}

static void read_point(Reader* reader, const Node* item, const Repeat* repeat) {
  (void)repeat;
  TendonPointForm form;
  if (!schema_read(reader, item, "tendon_point", &form)) return;
  int link = read_link_or_world(reader, form.link, "link");
  SceneTendon* tendon = current_tendon(reader);
  if (link < -1) return;
  if (tendon->count >= TENDON_POINT_MAX) {
    reader_error(reader, item->place, "the tendon has more than %d points: remove points", TENDON_POINT_MAX);
    reader_stop(reader);
    return;
  }
  tendon->points =
      memory_grow_array(tendon->points, sizeof(SceneTendonPoint), tendon->count, &reader->tendon_point_capacity);
  tendon->points[tendon->count++] = (SceneTendonPoint){link, form.point, 0};
  if (link >= 0) tendon->end = link;
}

static void read_points(Reader* reader, const Node* list) {
  if (!list) return;
  size_t mark = reader_enter_key(reader, "points");
  int index = 0;
  for (const Node* entry = list->first; entry && !reader->exhausted; entry = entry->next, index++) {
    size_t below = reader_enter_index(reader, index);
    repeat_expand(reader, entry, "tendon_point", "repeat_tendon_point", read_point);
    reader_leave(reader, below);
  }
  reader_leave(reader, mark);
}

/* Reads one wrap of the current tendon, whose points must have been read. A wrap with an error is not added. number:
 * index of the wrap in the list. */
static void read_wrap(Reader* reader, const Node* item, int number) {
  assert(number >= 0);
  TendonWrapForm form;
  if (!schema_read(reader, item, "tendon_wrap", &form)) return;
  SceneTendon* tendon = current_tendon(reader);
  SceneTendonWrap wrap = form.wrap;
  wrap.place = item->place;
  wrap.link = read_link_or_world(reader, form.link, "link");
  wrap.after = node_has_key(item, "after") ? form.after : number;
  wrap.has_side = node_has_key(item, "side");
  wrap.side = form.side;
  if (wrap.link < -1) return;
  if (wrap.type == WRAP_CYLINDER) wrap.axis = unit_vector(wrap.axis);
  if (wrap.type == WRAP_CYLINDER && !(vec3_norm(wrap.axis) > 0)) {
    reader_error(reader, node_key_place(node_find(item, "axis")),
                 "the axis of a cylinder must not be the zero vector: give a direction such as [0, 0, 1]");
    return;
  }
  Vec3 to_side = vec3_sub(wrap.side, wrap.position);
  if (wrap.type == WRAP_CYLINDER) to_side = vec3_cross(wrap.axis, to_side);
  if (wrap.has_side && !(vec3_norm(to_side) > 1e-6 * wrap.radius)) {
    reader_error(reader, node_key_place(node_find(item, "side")),
                 "'side' lies %s, so it gives no direction: give a point on the side where the tendon passes",
                 wrap.type == WRAP_SPHERE ? "in the centre of the sphere" : "on the axis of the cylinder");
    return;
  }
  if (wrap.after >= tendon->count - 1) {
    reader_error(
        reader, item->place,
        "a wrap needs a point before and after it: 'after' is %d, and the tendon has %d points; it must be at most %d",
        wrap.after, tendon->count, tendon->count - 2);
    return;
  }
  if (tendon->points[wrap.after].wrap > 0) {
    reader_error(reader, item->place,
                 "another wrap already follows point %d: add a point between the two wraps, or set 'after'",
                 wrap.after);
    return;
  }
  tendon->wraps = memory_resize(tendon->wraps, sizeof wrap * (size_t)tendon->wrap_count,
                                sizeof wrap * (size_t)(tendon->wrap_count + 1));
  tendon->wraps[tendon->wrap_count++] = wrap;
  tendon->points[wrap.after].wrap = tendon->wrap_count;
  if (tendon->end < 0) tendon->end = wrap.link;
}

static void read_wraps(Reader* reader, const Node* list) {
  if (!list) return;
  size_t mark = reader_enter_key(reader, "wrap");
  int number = 0;
  for (const Node* entry = list->first; entry && !reader->exhausted; entry = entry->next, number++) {
    size_t below = reader_enter_index(reader, number);
    read_wrap(reader, entry, number);
    reader_leave(reader, below);
  }
  reader_leave(reader, mark);
}

/* Checks rules that concern all points of a tendon. */
static void check_points(Reader* reader, const Node* item, const SceneTendon* tendon) {
  if (tendon->joint_count > 0) return;
  if (tendon->count < 2)
    reader_error(reader, item->place, "a tendon needs two points or more, got %d", tendon->count);
  else if (tendon->end < 0)
    reader_error(reader, item->place,
                 "all points and wraps of the tendon are fixed to the world: attach at least one to a link");
}

static void check_force_keys(Reader* reader, const Node* item, const TendonForm* form) {
  const Node* rest = node_find(item, "rest_length");
  const Node* speed = node_find(item, "friction_speed");
  if (!form->tension && !(form->tendon.stiffness > 0) && !form->range && !(form->tendon.friction > 0))
    reader_error(reader, item->place,
                 "the tendon exerts no force: give 'tension', 'range', 'friction', or 'stiffness' with 'rest_length'");
  if (speed && !(form->tendon.friction > 0))
    reader_error(reader, node_key_place(speed), "'friction_speed' needs 'friction': give both or neither");
  if (rest && !(form->tendon.stiffness > 0))
    reader_error(reader, node_key_place(rest), "'rest_length' needs 'stiffness': give both or neither");
  if (!rest && form->tendon.stiffness > 0)
    reader_error(reader, item->place,
                 "'stiffness' needs 'rest_length': give the length [m] below which the tendon is slack");
}

/* Default eyelet of a tendon as a fraction of the mean distance of its points from the origins of their links, and of
 * points of the world from their mean. The default does not depend on the origin of the world. */
#define EYELET_FRACTION 1e-2
/* Default eyelet if all these distances are 0 [m]. */
#define EYELET_MIN 1e-3

double scene_tendon_eyelet(const SceneTendon* tendon) {
  assert(tendon->count >= 0);
  double sum = 0;
  Vec3 mean = vec3(0, 0, 0);
  int fixed = 0;
  for (int i = 0; i < tendon->count; i++)
    if (tendon->points[i].link < 0) mean = vec3_add(mean, tendon->points[i].point), fixed++;
  for (int i = 0; i < tendon->count; i++) {
    bool of_world = tendon->points[i].link < 0;
    sum += vec3_norm(of_world ? vec3_sub(tendon->points[i].point, vec3_scale(mean, 1.0 / fixed))
                              : tendon->points[i].point);
  }
  return sum > 0 ? EYELET_FRACTION * sum / tendon->count : EYELET_MIN;
}

static void read_tension(Reader* reader, const Node* node, SceneSignal* signal) {
  if (!node) return;
  size_t mark = reader_enter_key(reader, "tension");
  read_signal(reader, node, 1, signal);
  reader_leave(reader, mark);
}

/* Default margin of the limits of a tendon's length: fraction of the range, or of the only limit, and its largest value
 * [m]. */
#define MARGIN_FRACTION 0.01
#define MARGIN_MAX 0.05

double scene_tendon_margin(double lower, double upper) {
  assert(!(lower > upper));
  double size = isfinite(lower) && isfinite(upper) ? upper - lower : fabs(isfinite(lower) ? lower : upper);
  return size > 0 ? fmin(MARGIN_MAX, MARGIN_FRACTION * size) : MARGIN_MAX;
}

static void read_range(Reader* reader, const Node* item, const TendonForm* form, SceneTendon* tendon) {
  static const char* const RANGE_KEYS[] = {"range_stiffness", "range_margin", "range_damping"};
  for (int k = 0; k < 3 && !form->range; k++) {
    const Node* key = node_find(item, RANGE_KEYS[k]);
    if (key) reader_error(reader, node_key_place(key), "'%s' needs 'range': give both or neither", RANGE_KEYS[k]);
  }
  if (!form->range) return;
  size_t mark = reader_enter_key(reader, "range");
  double low, high;
  bool good = read_bounds_pair(reader, form->range, &low, &high);
  if (good && !isfinite(low) && !isfinite(high))
    reader_error(reader, form->range->place,
                 "both ends of 'range' are null: give a number for one end, or remove 'range'");
  if (!node_has_key(item, "range_stiffness"))
    reader_error(reader, node_key_place(form->range),
                 "'range' needs 'range_stiffness': give the force per metre beyond the range [N/m]");
  reader_leave(reader, mark);
  if (!good) return;
  tendon->limited = true;
  tendon->lower = low;
  tendon->upper = high;
  if (!(tendon->range_margin > 0)) tendon->range_margin = scene_tendon_margin(low, high);
}

/* Reads the length of a tendon without points: a weighted sum of joint coordinates. */
static void read_joints(Reader* reader, const Node* item, const TendonForm* form, SceneTendon* tendon) {
  if (!form->joints) return;
  SceneCoupling sum = {.terms = MEMORY_NEW(SceneCouplingTerm, COUPLING_TERMS_MAX)};
  const Node* wrap = node_find(item, "wrap");
  if (wrap)
    reader_error(reader, node_key_place(wrap),
                 "a tendon with 'joints' cannot have 'wrap': remove 'wrap', or give 'points' instead of 'joints'");
  read_coupling_terms(reader, form->joints, "joints", &sum);
  tendon->joints = sum.terms;
  tendon->joint_count = sum.count;
  for (int k = 0; k < sum.count; k++) tendon->end = sum.terms[k].link;
  if (!form->joints->first) reader_error(reader, form->joints->place, "'joints' must name at least one joint");
}

/* Reads one tendon and adds it to the scene. After an error, removes the tendon if it is incomplete. */
static void read_tendon(Reader* reader, const Node* item) {
  TendonForm form;
  if (!schema_read(reader, item, "tendon", &form)) return;
  Scene* scene = reader->scene;
  if (scene->tendon_count >= TENDON_MAX) {
    reader_error(reader, item->place, "the scene has more than %d tendons: remove tendons", TENDON_MAX);
    reader_stop(reader);
    return;
  }
  int before = reader->problem_count;
  scene->tendons =
      memory_grow_array(scene->tendons, sizeof(SceneTendon), scene->tendon_count, &reader->tendon_capacity);
  SceneTendon* tendon = &scene->tendons[scene->tendon_count++];
  *tendon = form.tendon;
  tendon->place = item->place;
  tendon->end = -1;
  tendon->rest_length = form.rest_length;
  reader->tendon_point_capacity = 0;
  read_points(reader, form.points);
  if (tendon->count >= 2) read_wraps(reader, form.wrap);
  read_joints(reader, item, &form, tendon);
  read_range(reader, item, &form, tendon);
  check_force_keys(reader, item, &form);
  read_tension(reader, form.tension, &tendon->tension);
  if (reader->problem_count == before) check_points(reader, item, tendon);
  if (reader->problem_count == before) {
    tendon->eyelet = node_has_key(item, "eyelet") ? form.eyelet : scene_tendon_eyelet(tendon);
    return;
  }
  tendon_free(tendon);
  scene->tendon_count--;
}

void read_tendons(Reader* reader, const Node* list) {
  if (!list) return;
  size_t mark = reader_enter_key(reader, "tendons");
  int index = 0;
  for (const Node* entry = list->first; entry && !reader->exhausted; entry = entry->next, index++) {
    size_t below = reader_enter_index(reader, index);
    read_tendon(reader, entry);
    reader_leave(reader, below);
  }
  reader_leave(reader, mark);
}

void tendon_free(SceneTendon* tendon) {
  memory_free(tendon->points);
  memory_free(tendon->wraps);
  memory_free(tendon->joints);
  signal_free_arrays(&tendon->tension);
}

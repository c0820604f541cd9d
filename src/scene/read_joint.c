#include <assert.h>
#include <string.h>

#include "scene/parts.h"

/* Smallest sine of the angle between the axes of a universal joint. More parallel axes are an error. */
#define AXES_SINE_MIN 1e-6
/* Defaults of joint limits: stiffness of the barrier [J] and of the penalty [N/m or N m/rad], largest margin [m or
 * rad]. */
#define BARRIER_STIFFNESS 1.0
#define PENALTY_STIFFNESS 1000.0
#define LIMIT_MARGIN_MAX 0.05
/* Default margin of a limit as a fraction of the range between both limits. */
#define LIMIT_MARGIN_FRACTION 0.01

static const ValueRange ANY = {0};

/* ---------------------------------------------------------------- axes */

static bool unit_axis(Reader* reader, const Node* node, Vec3 written, Vec3* axis) {
  *axis = unit_vector(written);
  if (vec3_norm(*axis) > 0) return true;
  reader_error(reader, node->place, "the axis must not be the zero vector: give a direction such as [0, 0, 1]");
  return false;
}

static void read_axis(Reader* reader, const Node* map, const JointForm* form, SceneJoint* joint) {
  const Node* node = node_find(map, "axis");
  if (!node || node->kind != NODE_LIST || node->count != 3) return; /* an error in the value was already reported */
  size_t mark = reader_enter_key(reader, "axis");
  unit_axis(reader, node, form->axis, &joint->axes[0]);
  reader_leave(reader, mark);
}

static void read_axes(Reader* reader, const Node* list, SceneJoint* joint) {
  if (!list) return;
  size_t mark = reader_enter_key(reader, "axes");
  bool good = list->count == 2;
  if (!good) reader_error(reader, list->place, "expected two axes, got %d", list->count);
  int index = 0;
  for (const Node* item = list->first; item && index < 2; item = item->next, index++) {
    double v[3];
    size_t below = reader_enter_index(reader, index);
    good = reader_numbers(reader, item, &ANY, NULL, 3, v) &&
           unit_axis(reader, item, vec3(v[0], v[1], v[2]), &joint->axes[index]) && good;
    reader_leave(reader, below);
  }
  if (good && !(vec3_norm(vec3_cross(joint->axes[0], joint->axes[1])) > AXES_SINE_MIN))
    reader_error(reader, list->place, "the two axes are parallel: give two different directions, or use type: hinge");
  reader_leave(reader, mark);
}

static void read_free_axes(Reader* reader, const Node* list, SceneJoint* joint) {
  joint->free_axes = FREE_ALL;
  if (!list) return;
  size_t mark = reader_enter_key(reader, "free_axes");
  joint->free_axes = 0;
  if (list->count == 0)
    reader_error(reader, list->place, "must name at least one axis: for a joint without free axes use type: fixed");
  for (const Node* item = list->first; item; item = item->next) {
    if (!reader_is_text(reader, item)) continue;
    int axis = words_index("x|y|z|rx|ry|rz", item->text);
    if (axis < 0)
      reader_error(reader, item->place, "must be x, y, z, rx, ry or rz, got '%s'", text_excerpt(item->text).text);
    else if (joint->free_axes & (1u << axis))
      reader_error(reader, item->place, "'%s' occurs twice: remove one of the two", item->text);
    else
      joint->free_axes |= 1u << axis;
  }
  reader_leave(reader, mark);
}

/* ---------------------------------------------------------------- limits */

/* Reads one limit of a coordinate into *value. null means that there is no limit and sets *value to `open`. */
static bool read_limit(Reader* reader, const Node* node, double open, double* value) {
  *value = open;
  if (node_is_null(node)) return true;
  return reader_number(reader, node, &ANY, NULL, value);
}

/* Checks a limit of the total rotation angle of a ball joint, which has no lower limit. The upper limit must be at most
 * pi. Sets *low, the absent lower limit, to -HUGE_VAL. Returns false after an error. */
static bool check_angle(Reader* reader, const Node* node, double* low, double high) {
  if (isfinite(*low) && *low != 0) {
    reader_error(reader, node->place,
                 "a ball joint has only an upper limit, on its total rotation angle: write [null, high]");
    return false;
  }
  *low = -HUGE_VAL;
  if (!isfinite(high) || (high > 0 && high <= 3.14159265358979324)) return true;
  reader_error(reader, node->place,
               "the limit of a ball joint's total rotation angle must lie between 0 and pi, got %.10g", high);
  return false;
}

/* Returns true if an angle was probably meant in degrees: if it is a whole number of at least ten. */
static bool is_probably_degrees(double end) { return isfinite(end) && fabs(end) >= 10 && end == floor(end); }

void warn_if_degrees(Reader* reader, SourcePosition place, const double* angles, int count) {
  assert(angles || count == 0);
  int k = 0;
  while (k < count && !is_probably_degrees(angles[k])) k++;
  if (k < count)
    reader_warning(reader, place,
                   "angles are in radians, and %g rad is %.3g turns: if %g degrees are meant, write %.4g", angles[k],
                   fabs(angles[k]) / 6.28318530717958648, angles[k], angles[k] * 0.0174532925199432958);
}

void warn_if_pose_degrees(Reader* reader, const Node* map, const PoseForm* pose) {
  const Node *rpy = node_find(map, "rpy"), *vector = node_find(map, "rotation_vector");
  if (rpy) warn_if_degrees(reader, rpy->place, (const double[]){pose->rpy.x, pose->rpy.y, pose->rpy.z}, 3);
  Vec3 v = pose->rotation_vector;
  if (vector) warn_if_degrees(reader, vector->place, (const double[]){v.x, v.y, v.z}, 3);
}

static void warn_if_limit_degrees(Reader* reader, const Node* node, const SceneJoint* joint, int slot, double low,
                                  double high) {
  if (slot >= scene_joint(joint).slide_count) warn_if_degrees(reader, node->place, (const double[]){high, low}, 2);
}

/* Reads a pair [low, high] of limits into *low and *high. Returns false if the node is null, and after an error. */
static bool read_limit_pair(Reader* reader, const Node* node, double* low, double* high) {
  if (node_is_null(node)) return false;
  if (node->kind != NODE_LIST || node->count != 2) {
    if (node->kind == NODE_LIST)
      reader_error(reader, node->place, "expected a pair [low, high], got %d values", node->count);
    else
      reader_report_wrong_kind(reader, node, "a pair [low, high] or null");
    return false;
  }
  bool good = read_limit(reader, node->first, -HUGE_VAL, low);
  return read_limit(reader, node->last, HUGE_VAL, high) && good;
}

static bool check_limit_order(Reader* reader, const Node* node, double low, double high) {
  if (low < high) return true;
  reader_error(reader, node->place, "the lower limit must be below the upper limit, got [%.10g, %.10g]", low, high);
  return false;
}

bool read_bounds_pair(Reader* reader, const Node* node, double* low, double* high) {
  return read_limit_pair(reader, node, low, high) && check_limit_order(reader, node, *low, *high);
}

static void read_limits_of_coordinate(Reader* reader, const Node* node, SceneJoint* joint, int slot, bool angle) {
  assert(slot >= 0 && slot < JOINT_MAX_DOF);
  double low, high;
  if (!read_limit_pair(reader, node, &low, &high)) return;
  if (angle && !check_angle(reader, node, &low, high)) return;
  if (!check_limit_order(reader, node, low, high)) return;
  if (!angle) warn_if_limit_degrees(reader, node, joint, slot, low, high);
  joint->limited[slot] = isfinite(low) || isfinite(high);
  joint->lower[slot] = low;
  joint->upper[slot] = high;
}

/* Returns the number of quantities of a joint that can have limits: its scalar coordinates, and the total angle of its
 * quaternion. */
static int limit_count(const Joint* kinematics) { return kinematics->scalar_count + kinematics->quaternion; }

/* Applies one pair of limits to all coordinates of a joint. The coordinates must be all in metres or all in radians. */
static void read_common_limits(Reader* reader, const Node* list, SceneJoint* joint) {
  Joint kinematics = scene_joint(joint);
  int slots = limit_count(&kinematics);
  if (kinematics.slide_count > 0 && slots > kinematics.slide_count) {
    reader_error(
        reader, list->place,
        "the joint has translations and rotations: give a list of pairs, one pair or null per degree of freedom");
    return;
  }
  for (int slot = 0; slot < slots; slot++) read_limits_of_coordinate(reader, list, joint, slot, kinematics.quaternion);
}

static void read_limits_per_dof(Reader* reader, const Node* list, SceneJoint* joint) {
  Joint kinematics = scene_joint(joint);
  int slots = limit_count(&kinematics);
  if (list->count != slots && list->count != kinematics.dof_count) {
    reader_error(reader, list->place, "expected %d pairs, one per degree of freedom%s, got %d", slots,
                 kinematics.quaternion ? " (the rotation angle of a ball joint counts as one)" : "", list->count);
    return;
  }
  int slot = 0;
  for (const Node* item = list->first; item; item = item->next, slot++) {
    size_t mark = reader_enter_index(reader, slot);
    if (slot < slots)
      read_limits_of_coordinate(reader, item, joint, slot, kinematics.quaternion && slot == kinematics.scalar_count);
    else if (!node_is_null(item))
      reader_error(reader, item->place,
                   "must be null: a ball joint has one limit only, on its total angle of rotation");
    reader_leave(reader, mark);
  }
}

static void read_limits(Reader* reader, const Node* list, SceneJoint* joint) {
  if (!list) return;
  bool per_dof = false;
  for (const Node* item = list->first; item; item = item->next) per_dof = per_dof || item->kind != NODE_SCALAR;
  size_t mark = reader_enter_key(reader, "limits");
  if (per_dof)
    read_limits_per_dof(reader, list, joint);
  else
    read_common_limits(reader, list, joint);
  reader_leave(reader, mark);
}

/* Reads the limits of swing and twist of a ball joint. Stores them as the limits of the joint's second and third
 * rotation. */
static void read_swing_twist(Reader* reader, const Node* map, const JointForm* form, SceneJoint* joint) {
  static const double pi = 3.14159265358979324;
  bool swings = node_has_key(map, "swing"), twists = node_has_key(map, "twist") && form->twist;
  const Node* axis = node_find(map, "twist_axis");
  if (node_has_key(map, "twist_axis") && axis->kind == NODE_LIST && axis->count == 3) {
    size_t mark = reader_enter_key(reader, "twist_axis");
    unit_axis(reader, axis, form->twist_axis, &joint->axes[0]);
    reader_leave(reader, mark);
    if (!swings && !twists)
      reader_error(reader, axis->place, "'twist_axis' needs 'swing' or 'twist': give one of them");
  }
  if (swings && form->swing > 0) {
    size_t mark = reader_enter_key(reader, "swing");
    joint->limited[1] = form->swing < pi;
    joint->upper[1] = form->swing;
    if (!joint->limited[1])
      reader_error(reader, node_find(map, "swing")->place, "must be below pi rad, got %.10g (angles are in radians)",
                   form->swing);
    reader_leave(reader, mark);
  }
  if (!twists) return;
  size_t mark = reader_enter_key(reader, "twist");
  read_limits_of_coordinate(reader, form->twist, joint, 2, false);
  if (isfinite(joint->lower[2]) && !(joint->lower[2] >= -pi && joint->lower[2] < pi))
    reader_error(reader, form->twist->place, "a limit of twist must lie between -pi and pi, got %.10g",
                 joint->lower[2]);
  else if (isfinite(joint->upper[2]) && !(joint->upper[2] > -pi && joint->upper[2] <= pi))
    reader_error(reader, form->twist->place, "a limit of twist must lie between -pi and pi, got %.10g",
                 joint->upper[2]);
  if (!swings)
    reader_error(reader, form->twist->place,
                 "needs 'swing', because twist is undefined at a swing of pi: give 'swing' below pi");
  reader_leave(reader, mark);
}

/* Sets the limit law of a joint from its form. A stiffness or margin that the form does not give gets its default. */
static void set_limit_law(const JointForm* form, SceneJoint* joint) {
  assert(form && joint);
  double margin = LIMIT_MARGIN_MAX;
  for (int i = 0; i < JOINT_MAX_DOF; i++) {
    bool swing = joint->type == JOINT_BALL && i == 1; /* swing has the lower limit 0 */
    if (joint->limited[i])
      margin = fmin(margin, LIMIT_MARGIN_FRACTION * (joint->upper[i] - (swing ? 0 : joint->lower[i])));
  }
  joint->limit_law = (LimitLaw)form->limit_law;
  joint->limit_margin = form->limit_margin > 0 ? form->limit_margin : margin;
  joint->limit_restitution = form->limit_restitution;
  joint->limit_stiffness = form->limit_stiffness > 0           ? form->limit_stiffness
                           : joint->limit_law == LIMIT_BARRIER ? BARRIER_STIFFNESS
                                                               : PENALTY_STIFFNESS;
}

void joint_default_limits(SceneJoint* joint) { set_limit_law(&(JointForm){0}, joint); }

/* ---------------------------------------------------------------- the joint */

bool expand_per_dof(Reader* reader, const NumberList* list, const char* key, int dof, double* values) {
  assert(dof >= 0 && dof <= JOINT_MAX_DOF);
  if (list->is_list && list->count != dof) {
    size_t mark = reader_enter_key(reader, key);
    reader_error(reader, list->node->place, "expected %d number%s, one per degree of freedom, got %d", dof,
                 dof == 1 ? "" : "s", list->count);
    reader_leave(reader, mark);
    return false;
  }
  for (int i = 0; i < dof; i++) values[i] = list->values[list->is_list ? i : 0];
  return true;
}

bool is_equal_for_rotations(const Joint* joint, const double* values) {
  const double* rotations = values + joint->scalar_count;
  return !joint->quaternion || (rotations[0] == rotations[1] && rotations[0] == rotations[2]);
}

/* Checks that static friction is at least as large as friction. Also checks that the Stribeck speed is at least the
 * speed over which friction is smoothed. */
static void check_static_friction(Reader* reader, const Node* map, const SceneJoint* joint) {
  const Node *node = node_find(map, "static_friction"), *speed = node_find(map, "stribeck_speed");
  Joint kinematics = scene_joint(joint);
  bool any = false;
  for (int i = 0; i < kinematics.dof_count; i++) {
    double static_friction = joint->static_friction[i];
    any = any || static_friction > 0;
    if (static_friction > 0 && kinematics.quaternion && i >= kinematics.scalar_count) {
      reader_error(reader, node_key_place(node),
                   "a joint with three rotations cannot have 'static_friction': give only 'friction'");
      return;
    }
    if (static_friction > 0 && static_friction < joint->friction[i]) {
      reader_error(reader, node_key_place(node),
                   "'static_friction' %.6g is below 'friction' %.6g: raise 'static_friction', or set 0 to use "
                   "'friction' at every rate",
                   static_friction, joint->friction[i]);
      return;
    }
  }
  if (!any && node_has_key(map, "stribeck_speed"))
    reader_error(reader, node_key_place(speed), "'stribeck_speed' needs 'static_friction': give both or neither");
  else if (any && joint->stribeck_speed < joint->friction_speed)
    reader_error(reader, node_key_place(speed ? speed : node),
                 "'stribeck_speed' %.6g is below 'friction_speed' %.6g, the rate over which friction is smoothed: "
                 "raise 'stribeck_speed', or lower 'friction_speed'",
                 joint->stribeck_speed, joint->friction_speed);
}

/* Reads the springs, the friction and the armature of a joint. */
static void read_passive(Reader* reader, const Node* map, const JointForm* form, SceneJoint* joint) {
  int dof = scene_joint_dof(joint);
  expand_per_dof(reader, &form->stiffness, "stiffness", dof, joint->stiffness);
  expand_per_dof(reader, &form->rest, "rest", dof, joint->rest);
  expand_per_dof(reader, &form->friction, "friction", dof, joint->friction);
  expand_per_dof(reader, &form->armature, "armature", dof, joint->armature);
  expand_per_dof(reader, &form->velocity_limit, "velocity_limit", dof, joint->velocity_limit);
  joint->friction_speed = form->friction_speed;
  expand_per_dof(reader, &form->static_friction, "static_friction", dof, joint->static_friction);
  joint->stribeck_speed = form->stribeck_speed;
  check_static_friction(reader, map, joint);
  if (node_has_key(map, "rest") && !node_has_key(map, "stiffness"))
    reader_error(reader, node_key_place(node_find(map, "rest")),
                 "'rest' (the rest position of a spring) needs 'stiffness': give both or neither");
  Joint kinematics = scene_joint(joint);
  if (!is_equal_for_rotations(&kinematics, joint->friction))
    reader_warning(
        reader, node_key_place(node_find(map, "friction")),
        "a joint with three rotations has a single friction, so the mean of the numbers is used: give equal numbers");
  if (kinematics.quaternion && node_has_key(map, "armature"))
    reader_error(reader, node_key_place(node_find(map, "armature")),
                 "a joint with three rotations cannot have 'armature': remove the key");
}

/* Reads the map `joint` of a link. Returns false if the type of the joint is unknown. */
static bool read_joint_map(Reader* reader, const Node* map, SceneJoint* joint, PoseForm* pose) {
  JointForm form;
  if (!schema_read(reader, map, "joint", &form)) return false;
  const Node* type = node_find(map, "type");
  if (!type || type->kind != NODE_SCALAR || words_index(JOINT_TYPE_NAMES(ANY), type->text) < 0) return false;
  int before = reader->problem_count;
  joint->type = (JointType)form.type;
  size_t mark = reader_enter_key(reader, "name");
  joint->name = read_optional_name(reader, form.name);
  reader_leave(reader, mark);
  *pose = form.pose;
  const JointTypeRow* row = &JOINT_TABLE[form.type];
  if (row->axis) read_axis(reader, map, &form, joint);
  if (row->axes) read_axes(reader, form.axes, joint);
  if (row->free_axes) read_free_axes(reader, form.free_axes, joint);
  memcpy(joint->parameters, form.parameters, sizeof joint->parameters);
  bool known = !row->free_axes || reader->problem_count == before;
  if (!known) return false;
  read_limits(reader, form.limits, joint);
  if (joint->type == JOINT_BALL) read_swing_twist(reader, map, &form, joint);
  set_limit_law(&form, joint);
  if (joint->limit_restitution > 0 && joint->type == JOINT_BALL && joint->limit_law == LIMIT_PENALTY)
    reader_warning(reader, node_key_place(node_find(map, "limit_restitution")),
                   "limit_restitution %.6g has no effect, because the limit of a ball joint with limit_law: penalty is "
                   "fully elastic: use limit_law: barrier for other values",
                   joint->limit_restitution);
  expand_per_dof(reader, &form.damping, "damping", scene_joint_dof(joint), joint->damping);
  read_passive(reader, map, &form, joint);
  return true;
}

static const Node* first_pose_key(const Node* map) {
  for (const Node* entry = map->kind == NODE_MAP ? map->first : NULL; entry; entry = entry->next)
    if (words_index("position|rotation|rotation_vector|rpy", entry->key) >= 0) return entry;
  return NULL;
}

/* Reads a joint that the link gives by the key `joint`. Sets *pose to the pose in the joint if it has one; otherwise
 * *pose keeps the pose in the link. A pose in both is an error. Returns false if the type of the joint is unknown. */
static bool read_given_joint(Reader* reader, const Node* item, const LinkForm* form, SceneJoint* joint,
                             PoseForm* pose) {
  PoseForm given_pose = *pose;
  const Node* link_pose = first_pose_key(item);
  const Node* joint_pose = first_pose_key(form->joint);
  if (link_pose && joint_pose)
    reader_error(reader, node_key_place(link_pose),
                 "'%s' is given in the link and '%s' in its joint: give the pose of the link only in the joint, and "
                 "the pose of a shape within the link in shapes: [{shape: ..., %s: ...}]",
                 link_pose->key, joint_pose->key, link_pose->key);
  size_t mark = reader_enter_key(reader, "joint");
  bool known = read_joint_map(reader, form->joint, joint, &given_pose);
  reader_leave(reader, mark);
  if (joint_pose) *pose = given_pose;
  if (known && form->fixed && joint->type != JOINT_FIXED)
    reader_error(reader, node_key_place(node_find(item, "fixed")),
                 "'fixed: true' contradicts the joint's type: remove 'fixed', or use type: fixed");
  return known;
}

static bool is_unreadable_flag(const Node* node) {
  return node && (node->kind != NODE_SCALAR || node_scalar_type(node) != SCALAR_BOOL);
}

bool read_joint(Reader* reader, const Node* item, const LinkForm* form, const Repeat* repeat, SceneJoint* joint) {
  *joint = (SceneJoint){.place = item->place, .rotation = quat_identity(), .free_axes = FREE_ALL};
  joint->axes[0] = vec3(0, 0, 1);
  joint->axes[1] = vec3(1, 0, 0);
  for (int i = 0; i < JOINT_MAX_DOF; i++) joint->lower[i] = -HUGE_VAL, joint->upper[i] = HUGE_VAL;
  PoseForm pose = form->pose;
  bool known = true;
  if (form->joint) {
    joint->place = form->joint->place;
    known = read_given_joint(reader, item, form, joint, &pose);
  } else if (node_has_key(item, "joint") || is_unreadable_flag(node_find(item, "fixed"))) {
    known = false; /* an error in the joint's type was already reported */
  } else if (form->fixed) {
    joint->type = JOINT_FIXED;
  } else if (form->parent) {
    reader_error(reader, item->place, "a link with a parent needs 'joint' or 'fixed: true'");
    known = false;
  } else {
    joint->type = JOINT_FREE;
  }
  if (joint->limit_margin <= 0) joint_default_limits(joint);
  warn_if_pose_degrees(reader, item, &pose);
  warn_if_pose_degrees(reader, node_find(item, "joint"), &pose);
  joint->position = pose.position;
  joint->rotation = pose_form_rotation(&pose);
  if (reader->indices) repeat_apply_pose(repeat, reader->indices, &joint->position, &joint->rotation);
  Vec3 at = joint->position;
  double farthest = fmax(fabs(at.x), fmax(fabs(at.y), fabs(at.z)));
  if (farthest > READER_LENGTH_MAX) {
    reader_error(reader, item->place,
                 "repeat places the link at a coordinate of %g m, but at most %g m are allowed: lower the count or the "
                 "increment",
                 farthest, READER_LENGTH_MAX);
    known = false;
  }
  return known;
}

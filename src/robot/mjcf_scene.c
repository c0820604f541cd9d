/* Converts a MuJoCo file to a scene. Reads the keyframe, the options and the total mass. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "robot/mjcf.h"

/* Smallest distance of initial coordinates from joint limits as a fraction of the range, because limit forces act near
 * a limit. */
#define LIMIT_SHARE 0.01

static const XmlElement* find_attached_key(const MjcfModel* model, const char* name) {
  for (int k = 0; k < model->attached_key_count; k++)
    if (strcmp(model->attached_keys[k].name, name) == 0) return model->attached_keys[k].key;
  return NULL;
}

/* Reports the names of the keyframes of attached models. */
static void report_attached_keys(MjcfModel* model) {
  enum { NAMES_MOST = 10 };
  Text names = {0};
  for (int k = 0; k < model->attached_key_count && k < NAMES_MOST; k++)
    text_add(&names, "%s%s", k > 0 ? ", " : "", text_excerpt(model->attached_keys[k].name).text);
  if (model->attached_key_count > NAMES_MOST) text_add(&names, ", ...");
  if (names.length > 0)
    robot_remark(model->report, model->diagnostics, model->root->place,
                 "no keyframe of an attached model is used; to use a keyframe, select it by --key: %s", names.data);
  text_free(&names);
}

/* Returns the keyframe of the initial state: the one of --key, also of an attached model, otherwise the model's own
 * keyframe `home`, otherwise its first one. Returns NULL if there is none. */
static const XmlElement* find_key(MjcfModel* model) {
  const char* wanted = model->options->key;
  const XmlElement *first = NULL, *found = NULL;
  for (const XmlElement* frame = xml_child(model->root, "keyframe"); frame; frame = xml_next(frame))
    for (const XmlElement* key = xml_child(frame, "key"); key; key = xml_next(key)) {
      const XmlAttribute* name = xml_attribute(key, "name");
      if (!first) first = key;
      if (name && !found && strcmp(name->value, wanted ? wanted : "home") == 0) found = key;
    }
  if (!wanted && !first) report_attached_keys(model);
  if (!wanted) return found ? found : first;
  if (!found) found = find_attached_key(model, wanted);
  if (strcmp(wanted, "none") == 0) return NULL;
  if (!found)
    mjcf_error(model, model->root->place,
               "no keyframe is named '%s': correct --key, or give --key none to start without a keyframe",
               text_excerpt(wanted).text);
  return found;
}

double* mjcf_key_numbers(MjcfModel* model, const char* name, int* count) {
  const XmlAttribute* attribute = model->key ? xml_attribute(model->key, name) : NULL;
  double* numbers = NULL;
  int capacity = 0;
  *count = 0;
  if (!attribute) return NULL;
  for (const char* p = attribute->value + strspn(attribute->value, " \t\r\n"); *p;) {
    char* end;
    double value = strtod(p, &end);
    if (end == p || !mjcf_is_decimal(p, end) || !isfinite(value)) {
      mjcf_error(model, attribute->place, "%s of <key>: expected numbers, got '%s'", name, text_excerpt(p).text);
      memory_free(numbers);
      return NULL;
    }
    numbers = memory_grow_array(numbers, sizeof(double), *count, &capacity);
    numbers[(*count)++] = value;
    p = end + strspn(end, " \t\r\n");
  }
  return numbers;
}

static int coordinate_count_of(const UrdfJoint* joint) {
  return joint->type == URDF_FLOATING ? 7 : joint->type == URDF_BALL ? 4 : 1;
}

static Quat unit_quat(const double* v) {
  double length = sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2] + v[3] * v[3]);
  if (!(length > 1e-100) || !(length < 1e100)) return (Quat){1, 0, 0, 0};
  return is_unit_length(length) ? (Quat){v[0], v[1], v[2], v[3]}
                                : (Quat){v[0] / length, v[1] / length, v[2] / length, v[3] / length};
}

/* Returns the coordinate nearest to `value` that is inside the joint limits by LIMIT_SHARE of the range. */
static double clamp_inside_limits(const UrdfJoint* joint, double value) {
  double margin = isfinite(joint->upper - joint->lower) ? LIMIT_SHARE * (joint->upper - joint->lower) : 0;
  return fmax(fmin(value, joint->upper - margin), joint->lower + margin);
}

static void set_initial_coordinate(MjcfModel* model, MjcfCoordinate* coordinate, const double* v, Text* moved) {
  UrdfJoint* joint = &model->robot.joints[coordinate->joint];
  if (joint->type == URDF_FLOATING) {
    UrdfPose pose = {vec3(v[0], v[1], v[2]), unit_quat(v + 3)};
    coordinate->start = pose.rotation;
    joint->origin = coordinate->relative ? urdf_pose_mul(joint->origin, pose) : pose;
  } else if (joint->type == URDF_BALL) {
    Quat q = unit_quat(v);
    memcpy(joint->start, (const double[4]){q.w, q.x, q.y, q.z}, sizeof joint->start);
  } else {
    double value = v[0] - coordinate->reference, taken = clamp_inside_limits(joint, value);
    if (taken != value) text_add(moved, "%s%s", moved->length > 0 ? ", " : "", text_excerpt(joint->name).text);
    model->starts[model->start_count++] = (RobotStart){memory_copy_text(joint->name), taken};
  }
}

static int dof_count_of(const UrdfJoint* joint) {
  return joint->type == URDF_FLOATING ? 6 : joint->type == URDF_BALL ? 3 : 1;
}

/* Sets a joint's initial velocity from v, the joint's entries of the keyframe's attribute qvel. The linear velocity of
 * a free joint is in world axes in MJCF and in the axes of the joint's frame in a scene. For a free joint made of
 * slides and a ball, the scene uses the body's initial axes. Angular velocities are in the body's axes in both formats.
 */
static void set_initial_velocity(MjcfModel* model, const MjcfCoordinate* coordinate, const double* v) {
  UrdfJoint* joint = &model->robot.joints[coordinate->joint];
  Mat3 turn = mat3_from_quat(joint->origin.rotation);
  Vec3 first = vec3(v[0], 0, 0);
  if (joint->type == URDF_FLOATING) first = mat3_tmul_vec(turn, vec3(v[0], v[1], v[2]));
  if (coordinate->relative) first = mat3_tmul_vec(mat3_from_quat(coordinate->start), vec3(v[0], v[1], v[2]));
  if (joint->type == URDF_BALL) first = vec3(v[0], v[1], v[2]);
  joint->velocity[0] = first.x;
  joint->velocity[1] = first.y;
  joint->velocity[2] = first.z;
  if (joint->type == URDF_FLOATING) memcpy(joint->velocity + 3, v + 3, 3 * sizeof(double));
}

/* Returns true if the keyframe sets a coordinate. coordinate: index in model->coordinates. */
static bool is_in_keyframe(const MjcfModel* model, int coordinate) {
  assert(coordinate >= 0 && coordinate < model->coordinate_count);
  return model->key && mjcf_keyframe_applies(model, model->robot.joints[model->coordinates[coordinate].joint].place);
}

static void set_initial_velocities(MjcfModel* model) {
  int count, wanted = 0, at = 0;
  double* numbers = mjcf_key_numbers(model, "qvel", &count);
  for (int i = 0; i < model->coordinate_count; i++)
    if (is_in_keyframe(model, i)) wanted += dof_count_of(&model->robot.joints[model->coordinates[i].joint]);
  if (numbers && count != wanted)
    mjcf_error(model, model->key->place, "qvel of <key> has %d numbers, but the joints have %d: correct the keyframe",
               count, wanted);
  for (int i = 0; numbers && count == wanted && i < model->coordinate_count; i++) {
    if (!is_in_keyframe(model, i)) continue;
    set_initial_velocity(model, &model->coordinates[i], numbers + at);
    at += dof_count_of(&model->robot.joints[model->coordinates[i].joint]);
  }
  memory_free(numbers);
}

void mjcf_read_keyframe(MjcfModel* model) {
  int count, wanted = 0, at = 0;
  Text moved = {0};
  model->key = find_key(model);
  model->starts = MEMORY_NEW(RobotStart, model->coordinate_count + model->options->start_count + 1);
  double* numbers = mjcf_key_numbers(model, "qpos", &count);
  for (int i = 0; i < model->coordinate_count; i++)
    if (is_in_keyframe(model, i)) wanted += coordinate_count_of(&model->robot.joints[model->coordinates[i].joint]);
  if (numbers && count != wanted)
    mjcf_error(model, model->key->place, "qpos of <key> has %d numbers, but the joints have %d: correct the keyframe",
               count, wanted);
  for (int i = 0; numbers && count == wanted && i < model->coordinate_count; i++) {
    if (!is_in_keyframe(model, i)) continue;
    set_initial_coordinate(model, &model->coordinates[i], numbers + at, &moved);
    at += coordinate_count_of(&model->robot.joints[model->coordinates[i].joint]);
  }
  set_initial_velocities(model);
  robot_shorten_names(&moved);
  if (moved.length > 0)
    robot_remark(model->report, model->diagnostics, model->key->place,
                 "the keyframe is at or beyond joint limits; the following coordinates are moved inside the limits: %s",
                 moved.data);
  for (int i = 0; i < model->options->start_count;
       i++) /* values of the command line come last and override those of the file */
    model->starts[model->start_count++] =
        (RobotStart){memory_copy_text(model->options->starts[i].joint), model->options->starts[i].value};
  text_free(&moved);
  memory_free(numbers);
}

static void read_options(MjcfModel* model, Scene* scene) {
  SceneSimulation* simulation = &scene->simulation;
  double duration = simulation->steps * simulation->dt, dt = model->compiler.timestep;
  simulation->gravity = model->compiler.gravity;
  if (model->no_contact) scene->contact.model = CONTACT_NONE;
  if (model->integrator > 0) simulation->integrator = (Integrator)(model->integrator - 1);
  if (!(dt > 1e-7) || !(dt < duration)) {
    mjcf_report_dropped(model, "option/timestep outside of 1e-7 s and the duration");
    return;
  }
  simulation->steps = (int)(duration / dt + 0.5);
  simulation->dt = dt;
}

void mjcf_complete_scene(MjcfModel* model, const int* carrier, Scene* scene) {
  SourcePosition place = {model->path, 0, 0};
  read_options(model, scene);
  mjcf_check_references(model);
  mjcf_read_frictions(model, scene, carrier);
  mjcf_read_equality(model, scene, carrier);
  mjcf_add_actuators(model, scene, carrier);
  mjcf_cancel_armature_weights(model, carrier, scene);
  mjcf_add_elasticities(model, scene, carrier);
  mjcf_read_contact(model, scene, carrier);
  if (model->key) {
    const XmlAttribute* name = xml_attribute(model->key, "name");
    const char* prefixed = name ? name->value : "";
    for (int k = 0; k < model->attached_key_count; k++)
      if (model->attached_keys[k].key == model->key) prefixed = model->attached_keys[k].name;
    robot_remark(model->report, model->diagnostics, model->key->place, "the robot starts in the keyframe '%s'",
                 text_excerpt(prefixed).text);
  }
  if (model->lost_list.length > 0)
    robot_warn(model->report, model->diagnostics, place, "forces and constraints left out: %s", model->lost_list.data);
  if (model->dropped_list.length > 0)
    robot_remark(model->report, model->diagnostics, place, "left out: %s", model->dropped_list.data);
}

/* Scales all masses and inertias by a common factor, so that the total mass equals compiler/settotalmass. */
static void scale_masses(MjcfModel* model) {
  double sum = 0, wanted = model->compiler.total_mass;
  for (int i = 0; i < model->robot.link_count; i++) sum += model->robot.links[i].mass;
  if (!(wanted > 0) || !(sum > 0)) return;
  for (int i = 0; i < model->robot.link_count; i++) {
    UrdfLink* link = &model->robot.links[i];
    link->mass *= wanted / sum;
    link->inertia = mat3_scale(link->inertia, wanted / sum);
  }
}

Status robot_parse_mjcf(Scene* scene, const char* path, const char* text, size_t length, const RobotOptions* options,
                        RobotReport* report, Diagnostics* diagnostics) {
  *report = (RobotReport){0};
  Status status = urdf_load_defaults(scene, path);
  if (status != STATUS_OK) return status;
  int before = diagnostics->error_count;
  MjcfModel model = {.path = scene->path, .options = options, .report = report, .diagnostics = diagnostics};
  RobotOptions mjcf_options = *options;
  bool good = mjcf_open(&model, text, length) && mjcf_read_bodies(&model);
  if (good) scale_masses(&model);
  if (good) mjcf_add_armatures(&model);
  if (good) mjcf_read_keyframe(&model);
  good = good && diagnostics->error_count == before;
  mjcf_options.free_base = mjcf_options.has_height = false; /* the file defines the poses of its bodies */
  mjcf_options.height = 0;
  mjcf_options.starts = model.starts;
  mjcf_options.start_count = model.start_count;
  model.placed = MEMORY_NEW(UrdfPose, model.robot.link_count + 1);
  int* carrier = MEMORY_NEW(int, model.robot.link_count + 1);
  if (good) urdf_set_scene_name(scene, model.robot.name);
  good = good && urdf_scene(&model.robot, &mjcf_options, scene, report, carrier, model.placed, diagnostics);
  if (good) mjcf_complete_scene(&model, carrier, scene);
  memory_free(carrier);
  mjcf_free(&model);
  return good && diagnostics->error_count == before ? STATUS_OK : STATUS_BAD_INPUT;
}

/* Skips the XML declaration, comments and the document type before the first element. */
bool robot_is_mjcf(const char* text) {
  const char* p = strchr(text, '<');
  while (p && (p[1] == '?' || p[1] == '!')) {
    const char* end = strstr(p, p[1] == '!' && strncmp(p, "<!--", 4) == 0 ? "-->" : ">");
    p = end ? strchr(end, '<') : NULL;
  }
  return p && strncmp(p, "<mujoco", 7) == 0;
}

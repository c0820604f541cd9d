/* What a file of MuJoCo says beside bodies, for the scene made of them: a keyframe, actuators, pairs that do not touch.
 */
#include <stdlib.h>
#include <string.h>

#include "robot/mjcf_equality.h"

/* A start nearer to a limit than this part of its range is moved inside. */
#define LIMIT_SHARE 0.01
/* Links up to which pairs are compared by their masks. */
enum { MASKED_LINKS_MAX = 2000 };

/* ---------------------------------------------------------------- the keyframe */

/* The key of --key, else the one called home, else the first; NULL without one. */
static const XmlElement* find_key(MjcfModel* model) {
  const char* wanted = model->options->key;
  const XmlElement *first = NULL, *found = NULL;
  for (const XmlElement* frame = xml_child(model->root, "keyframe"); frame; frame = xml_next(frame))
    for (const XmlElement* key = xml_child(frame, "key"); key; key = xml_next(key)) {
      const XmlAttribute* name = xml_attribute(key, "name");
      if (!first) first = key;
      if (name && !found && strcmp(name->value, wanted ? wanted : "home") == 0) found = key;
    }
  if (!wanted) return found ? found : first;
  if (strcmp(wanted, "none") == 0) return NULL;
  if (!found)
    mjcf_error(model, model->root->place, "no keyframe is named '%s' (--key none starts without one)",
               text_excerpt(wanted).text);
  return found;
}

/* All numbers of an attribute of the key (count), owned by the caller; NULL when it has none or after an error. */
static double* key_numbers(MjcfModel* model, const char* name, int* count) {
  const XmlAttribute* attribute = model->key ? xml_attribute(model->key, name) : NULL;
  double* numbers = NULL;
  int capacity = 0;
  *count = 0;
  if (!attribute) return NULL;
  for (const char* p = attribute->value + strspn(attribute->value, " \t\r\n"); *p;) {
    char* end;
    double value = strtod(p, &end);
    if (end == p || !isfinite(value)) {
      mjcf_error(model, attribute->place, "%s of <key>: expected numbers, got '%s'", name, text_excerpt(p).text);
      memory_free(numbers);
      return NULL;
    }
    numbers = memory_grown(numbers, sizeof(double), *count, &capacity);
    numbers[(*count)++] = value;
    p = end + strspn(end, " \t\r\n");
  }
  return numbers;
}

static int size_of(const UrdfJoint* joint) {
  return joint->type == URDF_FLOATING ? 7 : joint->type == URDF_BALL ? 4 : 1;
}

static Quat unit_quat(const double* v) {
  double length = sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2] + v[3] * v[3]);
  if (!(length > 1e-100) || !(length < 1e100)) return (Quat){1, 0, 0, 0};
  return is_unit(length) ? (Quat){v[0], v[1], v[2], v[3]}
                         : (Quat){v[0] / length, v[1] / length, v[2] / length, v[3] / length};
}

/* Within the limits, and not on them. */
static double inside(const UrdfJoint* joint, double value) {
  double margin = isfinite(joint->upper - joint->lower) ? LIMIT_SHARE * (joint->upper - joint->lower) : 0;
  return fmax(fmin(value, joint->upper - margin), joint->lower + margin);
}

static void take_coordinate(MjcfModel* model, MjcfCoordinate* coordinate, const double* v, Text* moved) {
  UrdfJoint* joint = &model->robot.joints[coordinate->joint];
  if (joint->type == URDF_FLOATING) {
    UrdfPose pose = {vec3(v[0], v[1], v[2]), unit_quat(v + 3)};
    coordinate->start = pose.rotation;
    joint->origin = coordinate->relative ? urdf_pose_mul(joint->origin, pose) : pose;
  } else if (joint->type == URDF_BALL) {
    Quat q = unit_quat(v);
    memcpy(joint->start, (const double[4]){q.w, q.x, q.y, q.z}, sizeof joint->start);
  } else {
    double value = v[0] - coordinate->reference, taken = inside(joint, value);
    if (taken != value) text_add(moved, "%s%s", moved->length > 0 ? ", " : "", text_excerpt(joint->name).text);
    model->starts[model->start_count++] = (RobotStart){memory_text(joint->name), taken};
  }
}

static int dof_of(const UrdfJoint* joint) {
  return joint->type == URDF_FLOATING ? 6 : joint->type == URDF_BALL ? 3 : 1;
}

/* Free: velocity in world axes (in parts: in the body's first ones), angular velocity in the body's. A scene has both
 * in the axes of the joint's frame, where the joint stands at zero. */
static void take_velocity(MjcfModel* model, const MjcfCoordinate* coordinate, const double* v) {
  UrdfJoint* joint = &model->robot.joints[coordinate->joint];
  Mat3 turn = mat3_from_quat(joint->origin.rotation);
  Quat start = {joint->start[0], joint->start[1], joint->start[2], joint->start[3]};
  Vec3 first = vec3(v[0], 0, 0);
  if (joint->type == URDF_FLOATING) first = mat3_tmul_vec(turn, vec3(v[0], v[1], v[2]));
  if (coordinate->relative) first = mat3_tmul_vec(mat3_from_quat(coordinate->start), vec3(v[0], v[1], v[2]));
  if (joint->type == URDF_BALL) first = mat3_mul_vec(mat3_from_quat(start), vec3(v[0], v[1], v[2]));
  joint->velocity[0] = first.x;
  joint->velocity[1] = first.y;
  joint->velocity[2] = first.z;
  if (joint->type == URDF_FLOATING) memcpy(joint->velocity + 3, v + 3, 3 * sizeof(double));
}

static void take_velocities(MjcfModel* model) {
  int count, wanted = 0, at = 0;
  double* numbers = key_numbers(model, "qvel", &count);
  for (int i = 0; i < model->coordinate_count; i++) wanted += dof_of(&model->robot.joints[model->coordinates[i].joint]);
  if (numbers && count != wanted)
    mjcf_error(model, model->key->place, "qvel of <key> has %d numbers, the joints have %d", count, wanted);
  for (int i = 0; numbers && count == wanted && i < model->coordinate_count; i++) {
    take_velocity(model, &model->coordinates[i], numbers + at);
    at += dof_of(&model->robot.joints[model->coordinates[i].joint]);
  }
  memory_free(numbers);
}

void mjcf_take_key(MjcfModel* model) {
  int count, wanted = 0, at = 0;
  Text moved = {0};
  model->key = find_key(model);
  model->starts = MEMORY_NEW(RobotStart, model->coordinate_count + model->options->start_count + 1);
  double* numbers = key_numbers(model, "qpos", &count);
  for (int i = 0; i < model->coordinate_count; i++)
    wanted += size_of(&model->robot.joints[model->coordinates[i].joint]);
  if (numbers && count != wanted)
    mjcf_error(model, model->key->place, "qpos of <key> has %d numbers, the joints have %d", count, wanted);
  for (int i = 0; numbers && count == wanted && i < model->coordinate_count; i++) {
    take_coordinate(model, &model->coordinates[i], numbers + at, &moved);
    at += size_of(&model->robot.joints[model->coordinates[i].joint]);
  }
  take_velocities(model);
  if (moved.length > 0)
    robot_remark(model->report, model->diagnostics, model->key->place,
                 "the keyframe is at or beyond limits, inside of which these start: %s", moved.data);
  for (int i = 0; i < model->options->start_count; i++) /* the command line has the last word */
    model->starts[model->start_count++] =
        (RobotStart){memory_text(model->options->starts[i].joint), model->options->starts[i].value};
  text_free(&moved);
  memory_free(numbers);
}

/* ---------------------------------------------------------------- actuators */

/* force = gain control + constant - stiffness q - damping rate, times the gear, of lengths gear q; |force| <= limit. */
typedef struct {
  double gain, constant, stiffness, damping, gear, control, limit;
} ActuatorLaw;

static bool read_law(MjcfModel* model, MjcfElement e, ActuatorLaw* law) {
  const char* kind = e.element->name;
  double gain[3] = {1, 0, 0}, bias[3] = {0, 0, 0};
  if (strcmp(kind, "position") == 0) {
    law->stiffness = law->gain = mjcf_number(model, e, "kp", 1);
    law->damping = mjcf_number(model, e, "kv", 0);
    if (*mjcf_text(model, e, "dampratio")) mjcf_drop(model, "actuator/dampratio (give kv)");
  } else if (strcmp(kind, "velocity") == 0) {
    law->damping = law->gain = mjcf_number(model, e, "kv", 1);
  } else if (strcmp(kind, "general") == 0) {
    mjcf_numbers(model, e, "gainprm", 1, 10, (double[10]){0}); /* told where broken */
    const XmlAttribute *gains = mjcf_attribute(model, e, "gainprm"), *biases = mjcf_attribute(model, e, "biasprm");
    double ten[10] = {1};
    if (gains && mjcf_numbers(model, e, "gainprm", 1, 10, ten) > 0) gain[0] = ten[0];
    memset(ten, 0, sizeof ten);
    bool affine = strcmp(mjcf_text(model, e, "biastype"), "affine") == 0;
    if (affine && biases && mjcf_numbers(model, e, "biasprm", 1, 10, ten) > 0) memcpy(bias, ten, sizeof bias);
    *law = (ActuatorLaw){gain[0], bias[0], -bias[1], -bias[2], 1, 0, 0};
  } else if (strcmp(kind, "motor") == 0) {
    law->gain = 1;
  } else {
    return false;
  }
  const char* dynamics = mjcf_text(model, e, "dyntype");
  if (*dynamics && strcmp(dynamics, "none") != 0) mjcf_drop(model, "dynamics of actuators (dyntype)");
  return law->stiffness >= 0 && law->damping >= 0;
}

static bool has_range(MjcfModel* model, MjcfElement e, const char* range, const char* flag, double out[2]) {
  int said = mjcf_flag(model, e, flag);
  bool given = mjcf_numbers(model, e, range, 2, 2, out) > 0;
  return given && (said >= 0 ? said == 1 : mjcf_compiler(model, e.element->place)->auto_limits) && out[0] < out[1];
}

static void read_transmission(MjcfModel* model, MjcfElement e, ActuatorLaw* law) {
  double gear[6] = {1}, range[2];
  mjcf_numbers(model, e, "gear", 1, 6, gear);
  law->gear = gear[0];
  if (has_range(model, e, "forcerange", "forcelimited", range))
    law->limit = fabs(law->gear) * fmax(fabs(range[0]), fabs(range[1]));
  if (!has_range(model, e, "ctrlrange", "ctrllimited", range)) return;
  law->control = fmax(fmin(law->control, range[1]), range[0]);
  double most = fabs(law->gear * law->gain) * fmax(fabs(range[0]), fabs(range[1]));
  if (!(law->limit > 0) && law->stiffness == 0 && law->damping == 0) law->limit = most; /* of a motor */
}

/* The controller of that link and type, made where there is none. */
static SceneController* controller_of(Scene* scene, int link, ControllerType type) {
  for (int c = 0; c < scene->controller_count; c++)
    if (scene->controllers[c].link == link && scene->controllers[c].type == type) return &scene->controllers[c];
  size_t count = (size_t)scene->controller_count, size = sizeof(SceneController);
  scene->controllers = memory_resize(scene->controllers, count * size, (count + 1) * size);
  SceneController* controller = &scene->controllers[scene->controller_count++];
  *controller = (SceneController){.link = link, .type = type};
  controller->target =
      (SceneSignal){.type = SIGNAL_CONSTANT, .channels = scene_joint_dof(&scene->links[link].joint), .rows = 1};
  controller->target.values = MEMORY_NEW(double, JOINT_MAX_DOF);
  return controller;
}

static void add_drive(Scene* scene, const RobotJointPlace* place, const ActuatorLaw* law, double reference) {
  double g = law->gear, force = g * (law->gain * law->control + law->constant);
  double stiffness = g * g * law->stiffness, damping = g * g * law->damping;
  ControllerType type = stiffness > 0 ? CONTROLLER_PD : damping > 0 ? CONTROLLER_VELOCITY : CONTROLLER_TORQUE;
  SceneController* c = controller_of(scene, place->link, type);
  c->position_gain[place->dof] = stiffness;
  c->damping_gain[place->dof] = damping;
  c->max_force[place->dof] = law->limit;
  c->target.values[place->dof] = stiffness > 0 ? force / stiffness - reference : damping > 0 ? force / damping : force;
}

static const RobotJointPlace* place_of(const RobotReport* report, const char* joint) {
  for (int k = 0; k < report->joint_count; k++)
    if (strcmp(report->joints[k].name, joint) == 0) return &report->joints[k];
  return NULL;
}

static double reference_of(const MjcfModel* model, const char* joint) {
  for (int i = 0; i < model->coordinate_count; i++)
    if (strcmp(model->coordinates[i].name, joint) == 0) return model->coordinates[i].reference;
  return 0;
}

/* What an actuator pulls at: a coordinate, and what it has of the actuator's length. */
typedef struct {
  const RobotJointPlace* place;
  double gear;      /* length by coordinate, times the actuator's own gear */
  double reference; /* length is gear (coordinate + reference) */
} ActuatorEnd;

static double start_at(const Scene* scene, const RobotJointPlace* place) {
  for (int i = 0; i < scene->initial_count; i++)
    if (scene->initials[i].link == place->link) return scene->initials[i].coordinates[place->dof];
  return 0;
}

/* slope of `follower` by `leader`, where a coupling of the scene says one; else 0. */
static double coupled(const Scene* scene, const RobotJointPlace* follower, const RobotJointPlace* leader) {
  if (follower->link == leader->link && follower->dof == leader->dof) return 1;
  for (int k = 0; k < scene->coupling_count; k++) {
    const SceneCouplingTerm* t = scene->couplings[k].terms;
    if (scene->couplings[k].count != 2) continue;
    if (t[0].link == follower->link && t[0].coordinate == follower->dof && t[1].link == leader->link &&
        t[1].coordinate == leader->dof)
      return t[1].ratio;
    if (t[1].link == follower->link && t[1].coordinate == follower->dof && t[0].link == leader->link &&
        t[0].coordinate == leader->dof && t[1].ratio != 0)
      return 1 / t[1].ratio;
  }
  return 0;
}

/* A tendon whose joints all follow one: its length by that one alone. false: they do not. */
static bool one_end(const MjcfModel* model, const Scene* scene, const JointSum* sum, ActuatorEnd* end) {
  double gear = 0, length = 0;
  for (int k = 0; k < sum->count; k++) {
    double slope = coupled(scene, sum->place[k], sum->place[0]);
    if (slope == 0) return false;
    gear += sum->coefficient[k] * slope;
    length += sum->coefficient[k] * (start_at(scene, sum->place[k]) + reference_of(model, sum->place[k]->name));
  }
  *end = (ActuatorEnd){sum->place[0], gear, gear != 0 ? length / gear - start_at(scene, sum->place[0]) : 0};
  return gear != 0;
}

static void add_at(MjcfModel* model, Scene* scene, MjcfElement e, const ActuatorEnd* end, ActuatorLaw law,
                   const double* control) {
  if (control) law.control = *control;
  read_transmission(model, e, &law);
  /* a keyframe without controls is held where it is */
  if (!control && model->key && law.stiffness > 0 && law.gain != 0 && law.gear != 0)
    law.control =
        (law.stiffness * law.gear * end->gear * (start_at(scene, end->place) + end->reference) - law.constant) /
        law.gain;
  law.gear *= end->gear;
  law.limit *= fabs(end->gear);
  if (law.gear != 0) add_drive(scene, end->place, &law, end->reference);
}

/* Without feedback a tendon pulls at each of its joints; with it, at one that all others follow. */
static bool add_tendon_actuator(MjcfModel* model, Scene* scene, MjcfElement e, const ActuatorLaw* law,
                                const double* control) {
  JointSum sum;
  ActuatorEnd end;
  if (!mjcf_fixed_tendon(model, mjcf_text(model, e, "tendon"), &sum)) return false;
  if (one_end(model, scene, &sum, &end)) {
    add_at(model, scene, e, &end, *law, control);
    return true;
  }
  if (law->stiffness != 0 || law->damping != 0) return false;
  for (int k = 0; k < sum.count; k++) {
    end = (ActuatorEnd){sum.place[k], sum.coefficient[k], 0};
    add_at(model, scene, e, &end, *law, control);
  }
  return true;
}

/* control: of the key; NULL without one. */
static void add_actuator(MjcfModel* model, Scene* scene, MjcfElement e, const double* control) {
  const char* joint = mjcf_text(model, e, "joint");
  const RobotJointPlace* place = place_of(model->report, joint);
  ActuatorLaw law = {.gear = 1};
  Text what = {0};
  if (!read_law(model, e, &law)) {
    text_add(&what, "actuator/%s", e.element->name);
  } else if (place) {
    ActuatorEnd end = {place, 1, reference_of(model, joint)};
    add_at(model, scene, e, &end, law, control);
  } else if (!add_tendon_actuator(model, scene, e, &law, control)) {
    text_add(&what, "actuators that drive no hinge or slide");
  }
  if (what.data) mjcf_drop(model, what.data);
  text_free(&what);
}

static void add_actuators(MjcfModel* model, Scene* scene) {
  int count, index = 0;
  double* controls = key_numbers(model, "ctrl", &count);
  bool any = false;
  for (const XmlElement* section = xml_child(model->root, "actuator"); section; section = xml_next(section))
    for (const XmlElement* item = section->first; item; item = item->next, index++) {
      any = true;
      if (!(model->options->hold > 0))
        add_actuator(model, scene, (MjcfElement){item, ""}, controls && index < count ? &controls[index] : NULL);
    }
  if (any && model->options->hold > 0) mjcf_drop(model, "actuators (--hold holds every joint)");
  memory_free(controls);
}

/* ---------------------------------------------------------------- contacts */

static void exclude_pair(MjcfModel* model, Scene* scene, const XmlElement* element, const int* carrier) {
  int link[2];
  for (int k = 0; k < 2; k++) {
    const XmlAttribute* name = xml_attribute(element, k == 0 ? "body1" : "body2");
    int body = name ? names_find(&model->bodies, name->value) : -1;
    if (name && strcmp(name->value, "world") == 0) body = 0;
    if (body < 0) {
      mjcf_error(model, name ? name->place : element->place, "<exclude>: no body is named '%s'",
                 name ? text_excerpt(name->value).text : "");
      return;
    }
    link[k] = carrier[body];
  }
  if (link[0] >= 0 && link[1] >= 0 && link[0] != link[1])
    robot_exclude(scene, scene->links[link[0]].name, scene->links[link[1]].name);
}

static void read_contact(MjcfModel* model, Scene* scene, const int* carrier) {
  for (const XmlElement* section = xml_child(model->root, "contact"); section; section = xml_next(section))
    for (const XmlElement* item = section->first; item; item = item->next) {
      if (strcmp(item->name, "exclude") == 0)
        exclude_pair(model, scene, item, carrier);
      else
        mjcf_drop(model, "contact/pair");
    }
}

static bool masks_touch(const MjcfMask* a, const MjcfMask* b) {
  return (a->type & b->affinity) != 0 || (b->type & a->affinity) != 0;
}

/* Of two links: 0 no geoms may touch, 2 all may, 1 some. */
static int touching(const MjcfMask* masks, int a, int a_end, int b, int b_end) {
  int yes = 0, no = 0;
  for (int i = a; i < a_end; i++)
    for (int k = b; k < b_end; k++) masks_touch(&masks[i], &masks[k]) ? yes++ : no++;
  return yes == 0 ? 0 : no == 0 ? 2 : 1;
}

static int compare_links(const void* left, const void* right) {
  const MjcfMask *a = left, *b = right;
  return (a->link > b->link) - (a->link < b->link);
}

static bool all_touch(const MjcfModel* model) {
  for (int i = 1; i < model->mask_count; i++)
    if (model->masks[i].type != model->masks[0].type || model->masks[i].affinity != model->masks[0].affinity)
      return false;
  return model->mask_count == 0 || masks_touch(&model->masks[0], &model->masks[0]);
}

static bool moves(const Scene* scene, int link) {
  for (; link >= 0; link = scene->links[link].parent)
    if (scene->links[link].joint.type != JOINT_FIXED) return true;
  return false;
}

/* Pairs of links of which no geoms may touch are excluded. */
static void exclude_by_masks(MjcfModel* model, Scene* scene, const int* carrier) {
  MjcfMask* masks = model->masks;
  int count = model->mask_count;
  bool some = false;
  if (all_touch(model)) return;
  if (scene->link_count > MASKED_LINKS_MAX) {
    mjcf_drop(model, "contype and conaffinity");
    return;
  }
  for (int i = 0; i < count; i++) masks[i].link = carrier[masks[i].link];
  qsort(masks, (size_t)count, sizeof *masks, compare_links);
  for (int a = 0, a_end; a < count; a = a_end) {
    for (a_end = a; a_end < count && masks[a_end].link == masks[a].link; a_end++) continue;
    for (int b = a_end, b_end; b < count; b = b_end) {
      for (b_end = b; b_end < count && masks[b_end].link == masks[b].link; b_end++) continue;
      int x = masks[a].link, y = masks[b].link;
      if (x < 0 || (!moves(scene, x) && !moves(scene, y))) continue;
      int may = touching(masks, a, a_end, b, b_end);
      some = some || may == 1;
      if (may == 0) robot_exclude(scene, scene->links[x].name, scene->links[y].name);
    }
  }
  if (some) mjcf_drop(model, "contype and conaffinity that differ among the geoms of a link (all of them touch)");
}

/* ---------------------------------------------------------------- the rest */

static void take_option(const MjcfModel* model, Scene* scene) {
  SceneSimulation* simulation = &scene->simulation;
  double duration = simulation->steps * simulation->dt, dt = model->compiler.timestep;
  simulation->gravity = model->compiler.gravity;
  if (!(dt > 1e-7) || !(dt < duration)) return;
  simulation->steps = (int)(duration / dt + 0.5);
  simulation->dt = dt;
}

void mjcf_finish(MjcfModel* model, const int* carrier, Scene* scene) {
  SourcePlace place = {model->path, 0, 0};
  take_option(model, scene);
  mjcf_take_frictions(model, scene, carrier);
  mjcf_read_equality(model, scene, carrier);
  add_actuators(model, scene);
  read_contact(model, scene, carrier);
  exclude_by_masks(model, scene, carrier);
  if (model->key) {
    const XmlAttribute* name = xml_attribute(model->key, "name");
    robot_remark(model->report, model->diagnostics, model->key->place, "it starts in the keyframe '%s'",
                 name ? text_excerpt(name->value).text : "");
  }
  if (model->dropped.length > 0)
    robot_remark(model->report, model->diagnostics, place, "left out: %s", model->dropped.data);
}

Status robot_parse_mjcf(Scene* scene, const char* path, const char* text, size_t length, const RobotOptions* options,
                        RobotReport* report, Diagnostics* diagnostics) {
  *report = (RobotReport){0};
  Status status = urdf_take_defaults(scene, path);
  if (status != STATUS_OK) return status;
  int before = diagnostics->error_count;
  MjcfModel model = {.path = scene->path, .options = options, .report = report, .diagnostics = diagnostics};
  RobotOptions own = *options;
  bool good = mjcf_open(&model, text, length) && mjcf_read_bodies(&model);
  if (good) mjcf_take_key(&model);
  good = good && diagnostics->error_count == before;
  own.free_base = own.has_height = false; /* the file says where things are */
  own.height = 0;
  own.starts = model.starts;
  own.start_count = model.start_count;
  int* carrier = MEMORY_NEW(int, model.robot.link_count + 1);
  if (good) urdf_take_name(scene, model.robot.name);
  good = good && urdf_scene(&model.robot, &own, scene, report, carrier, diagnostics);
  if (good) mjcf_finish(&model, carrier, scene);
  memory_free(carrier);
  mjcf_free(&model);
  return good && diagnostics->error_count == before ? STATUS_OK : STATUS_BAD_INPUT;
}

/* The name of the first element, whatever stands before it. */
bool robot_is_mjcf(const char* text) {
  const char* p = strchr(text, '<');
  while (p && (p[1] == '?' || p[1] == '!')) {
    const char* end = strstr(p, p[1] == '!' && strncmp(p, "<!--", 4) == 0 ? "-->" : ">");
    p = end ? strchr(end, '<') : NULL;
  }
  return p && strncmp(p, "<mujoco", 7) == 0;
}

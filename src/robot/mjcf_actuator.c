/* Imports MuJoCo's actuators as controllers of joints, loads and tendons. The force of an actuator is gain * control +
 * bias; the bias may depend linearly on the length and its rate. */
#include <assert.h>
#include <string.h>

#include "robot/mjcf_equality.h"

/* Force law of an actuator: F = gear * (gain * control + constant - stiffness * l - damping * dl/dt) with the length l
 * = gear * q. q is the coordinate of the joint or tendon. F is clamped to |F| <= limit, unless limit is 0. */
typedef struct {
  double gain, constant, stiffness, damping, gear, control, limit;
  double ratio;    /* damping ratio that determines `damping`; 0: `damping` is given */
  double damper;   /* damping per unit of control, for the actuator type `damper` */
  bool integrates; /* true: the control is the rate of the target, which starts at the keyframe's `act` */
} ActuatorLaw;

static double joint_reference(const MjcfModel* model, const char* joint) {
  for (int i = 0; i < model->coordinate_count; i++)
    if (strcmp(model->coordinates[i].name, joint) == 0) return model->coordinates[i].reference;
  return 0;
}

/* Returns the index of the robot's joint with a name, or -1 if there is none or the name is empty. */
static int find_joint(const MjcfModel* model, const char* name) {
  for (int k = 0; k < model->robot.joint_count; k++)
    if (*name && strcmp(model->robot.joints[k].name, name) == 0) return k;
  return -1;
}

static bool read_general(MjcfModel* model, MjcfElement e, ActuatorLaw* law) {
  double gain[10] = {1}, bias[10] = {0};
  bool affine = strcmp(mjcf_text(model, e, "biastype"), "affine") == 0;
  mjcf_numbers(model, e, "gainprm", 1, 10, gain);
  if (affine) mjcf_numbers(model, e, "biasprm", 1, 10, bias);
  *law = (ActuatorLaw){.gain = gain[0], .constant = bias[0], .stiffness = -bias[1], .damping = -bias[2], .gear = 1};
  const char *gain_type = mjcf_text(model, e, "gaintype"), *bias_type = mjcf_text(model, e, "biastype");
  if (*gain_type && strcmp(gain_type, "fixed") != 0) return false;
  return !*bias_type || affine || strcmp(bias_type, "none") == 0;
}

/* Reads a pneumatic or hydraulic cylinder, whose force is pressure times area. The delay of the pressure is not
 * imported. */
static void read_cylinder(MjcfModel* model, MjcfElement e, ActuatorLaw* law) {
  double diameter = 0, bias[3] = {0};
  bool round = mjcf_numbers(model, e, "diameter", 1, 1, &diameter) > 0;
  mjcf_numbers(model, e, "bias", 1, 3, bias);
  law->gain = round ? 0.25 * 3.14159265358979323846 * diameter * diameter : mjcf_number(model, e, "area", 1);
  law->constant = bias[0];
  law->stiffness = -bias[1];
  law->damping = -bias[2];
  mjcf_report_dropped(model, "delay of cylinders (timeconst)");
}

static bool read_law(MjcfModel* model, MjcfElement e, ActuatorLaw* law) {
  const char *kind = e.element->name, *dynamics = mjcf_text(model, e, "dyntype");
  bool position = strcmp(kind, "position") == 0, general = strcmp(kind, "general") == 0;
  law->integrates = strcmp(kind, "intvelocity") == 0;
  if (position || law->integrates) {
    law->stiffness = law->gain = mjcf_number(model, e, "kp", 1);
    law->damping = mjcf_number(model, e, "kv", 0);
    law->ratio = mjcf_number(model, e, "dampratio", 0);
  } else if (strcmp(kind, "velocity") == 0) {
    law->damping = law->gain = mjcf_number(model, e, "kv", 1);
  } else if (strcmp(kind, "damper") == 0) {
    law->damper = mjcf_number(model, e, "kv", 1);
  } else if (strcmp(kind, "cylinder") == 0) {
    read_cylinder(model, e, law);
  } else if (strcmp(kind, "motor") == 0) {
    law->gain = 1;
  } else if (!general || !read_general(model, e, law)) {
    return false;
  }
  if (general && strcmp(dynamics, "integrator") == 0)
    law->integrates = true;
  else if (general && *dynamics && strcmp(dynamics, "none") != 0)
    mjcf_report_dropped(model, "dynamics of actuators (dyntype)");
  return law->stiffness >= 0 && law->damping >= 0 && (!law->integrates || law->stiffness > 0);
}

static bool has_range(MjcfModel* model, MjcfElement e, const char* range, const char* flag, double out[2]) {
  int said = mjcf_flag(model, e, flag);
  bool given = mjcf_numbers(model, e, range, 2, 2, out) > 0;
  return given && (said >= 0 ? said == 1 : mjcf_compiler(model, e.element->place)->auto_limits) && out[0] < out[1];
}

/* Sets out[0] and out[1] to the bounds of the control range that a position actuator inherits from its joint: the
 * joint's range, scaled about its centre by `inheritrange`. Returns false if the attribute is absent or the joint has
 * no range. */
static bool inherited_range(MjcfModel* model, MjcfElement e, double out[2]) {
  double part = mjcf_number(model, e, "inheritrange", 0);
  int index = find_joint(model, mjcf_text(model, e, "joint"));
  const UrdfJoint* joint = index >= 0 ? &model->robot.joints[index] : NULL;
  if (!(part > 0) || !joint || !isfinite(joint->upper - joint->lower)) return false;
  double middle = 0.5 * (joint->lower + joint->upper) + joint_reference(model, joint->name);
  double half = 0.5 * part * (joint->upper - joint->lower);
  out[0] = middle - half;
  out[1] = middle + half;
  return true;
}

/* Sets the control, clamped to its range, the gear and the force limit of *law. control: value of the keyframe; NULL if
 * there is none. */
static void read_control(MjcfModel* model, MjcfElement e, ActuatorLaw* law, const double* control) {
  double gear[6] = {1}, range[2];
  if (control) law->control = *control;
  mjcf_numbers(model, e, "gear", 1, 6, gear);
  law->gear = gear[0];
  if (has_range(model, e, "forcerange", "forcelimited", range)) {
    law->limit = fabs(law->gear) * fmax(fabs(range[0]), fabs(range[1]));
    if (range[0] != -range[1])
      mjcf_report_dropped(model, "forcerange that is not symmetric (the larger end counts for both)");
  }
  bool limited = law->integrates ? has_range(model, e, "actrange", "actlimited", range)
                                 : has_range(model, e, "ctrlrange", "ctrllimited", range);
  limited = limited || inherited_range(model, e, range);
  if (limited) law->control = fmax(fmin(law->control, range[1]), range[0]);
  double largest_force = limited ? fabs(law->gear * law->gain) * fmax(fabs(range[0]), fabs(range[1])) : 0;
  /* a motor, whose force depends on the control only */
  if (!(law->limit > 0) && law->stiffness == 0 && law->damping == 0) law->limit = largest_force;
  if (law->damper > 0) law->damping = law->damper * law->control;
}

/* Returns the controller of a type on a link, which is created if it does not exist. The pointer is valid until the
 * next controller is created. */
static SceneController* find_or_add_controller(Scene* scene, int link, ControllerType type) {
  for (int c = 0; c < scene->controller_count; c++)
    if (scene->controllers[c].link == link && scene->controllers[c].type == type) return &scene->controllers[c];
  size_t count = (size_t)scene->controller_count, size = sizeof(SceneController);
  scene->controllers = memory_resize(scene->controllers, count * size, (count + 1) * size);
  SceneController* controller = &scene->controllers[scene->controller_count++];
  *controller = (SceneController){.link = link, .type = type, .limit_width = LIMIT_WIDTH_DEFAULT};
  controller->target =
      (SceneSignal){.type = SIGNAL_CONSTANT, .channels = scene_joint_dof(&scene->links[link].joint), .rows = 1};
  controller->target.values = MEMORY_NEW(double, JOINT_MAX_DOF);
  return controller;
}

/* Returns the weighted mean of a and b, or their sum if both weights are zero. */
static double weighted_mean(double a, double weight_a, double b, double weight_b) {
  return weight_a + weight_b > 0 ? (weight_a * a + weight_b * b) / (weight_a + weight_b) : a + b;
}

/* Adds a drive to a joint, in parallel to its other drives. Stiffness and damping add up; the target is the mean
 * weighted by stiffness or damping. Returns the new drive's fraction of the total stiffness, or 1 if the joint had no
 * drive. */
static double add_drive(Scene* scene, const RobotJointPlace* place, const ActuatorLaw* law, double reference) {
  double g = law->gear, force = g * (law->gain * law->control + law->constant);
  double stiffness = g * g * law->stiffness, damping = g * g * law->damping;
  ControllerType type = stiffness > 0 ? CONTROLLER_PD : damping > 0 ? CONTROLLER_VELOCITY : CONTROLLER_TORQUE;
  SceneController* c = find_or_add_controller(scene, place->link, type);
  int dof = place->dof;
  double target = stiffness > 0 ? force / stiffness - reference : damping > 0 ? force / damping : force;
  double limit =
      law->limit > 0 && place->effort > 0 ? fmin(law->limit, place->effort) : fmax(law->limit, place->effort);
  double old = c->target.values[dof], old_spring = c->position_gain[dof], old_damper = c->damping_gain[dof];
  bool first = old == 0 && old_spring == 0 && old_damper == 0 && c->max_force[dof] == 0;
  double part = old_spring > 0 ? stiffness / (old_spring + stiffness) : 1;
  c->target.values[dof] = type == CONTROLLER_PD         ? weighted_mean(old, old_spring, target, stiffness)
                          : type == CONTROLLER_VELOCITY ? weighted_mean(old, old_damper, target, damping)
                                                        : old + target;
  c->position_gain[dof] = old_spring + stiffness;
  c->damping_gain[dof] = old_damper + damping;
  c->max_force[dof] = first ? limit : c->max_force[dof] > 0 && limit > 0 ? c->max_force[dof] + limit : 0;
  if (place->effort > 0) c->max_force[dof] = fmin(c->max_force[dof], place->effort);
  for (int k = 0; k < c->measure_count; k++) c->feedback[dof * c->measure_count + k] *= 1 - part;
  return part;
}

static const RobotJointPlace* find_joint_place(const RobotReport* report, const char* joint) {
  for (int k = 0; k < report->joint_count; k++)
    if (strcmp(report->joints[k].name, joint) == 0) return &report->joints[k];
  return NULL;
}

/* Transmission of an actuator: a joint coordinate and its contribution to the actuator's length. */
typedef struct {
  const RobotJointPlace* place;
  double gear;      /* derivative of the length with respect to the coordinate */
  double reference; /* the length is gear * (coordinate + reference) */
} ActuatorEnd;

static double initial_coordinate(const Scene* scene, const RobotJointPlace* place) {
  for (int i = 0; i < scene->initial_count; i++)
    if (scene->initials[i].link == place->link) return scene->initials[i].coordinates[place->dof];
  return 0;
}

/* Returns the derivative of the joint coordinate `follower` with respect to the coordinate `leader` if a coupling
 * relates them. Returns 1 if both are the same, and 0 otherwise. */
static double coupling_ratio(const Scene* scene, const RobotJointPlace* follower, const RobotJointPlace* leader) {
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

/* Returns true if all joints of a tendon are coupled to its first joint. Then sets *end to the tendon's length in terms
 * of the first joint's coordinate. */
static bool find_single_transmission(const MjcfModel* model, const Scene* scene, const JointCombination* sum,
                                     ActuatorEnd* end) {
  double gear = 0, length = 0;
  for (int k = 0; k < sum->count; k++) {
    double slope = coupling_ratio(scene, sum->place[k], sum->place[0]);
    if (slope == 0) return false;
    gear += sum->coefficient[k] * slope;
    length +=
        sum->coefficient[k] * (initial_coordinate(scene, sum->place[k]) + joint_reference(model, sum->place[k]->name));
  }
  *end = (ActuatorEnd){sum->place[0], gear, gear != 0 ? length / gear - initial_coordinate(scene, sum->place[0]) : 0};
  return gear != 0;
}

/* Returns the diagonal entry of MuJoCo's mass matrix for a joint, with all joints at zero [kg or kg m^2]: inertia of
 * the moved links about the joint's axis plus armature. */
static double joint_inertia(const MjcfModel* model, int index) {
  assert(index >= 0 && index < model->robot.joint_count);
  const UrdfRobot* robot = &model->robot;
  const UrdfJoint* joint = &robot->joints[index];
  UrdfPose* pose = MEMORY_NEW(UrdfPose, robot->link_count + 1); /* poses of the robot's links in the joint's frame */
  bool* carried = MEMORY_NEW(bool, robot->link_count + 1);
  double sum = joint->armature;
  carried[joint->child] = true;
  pose[joint->child] = (UrdfPose){{0, 0, 0}, {1, 0, 0, 0}};
  for (int i = 0; i < robot->link_count; i++) { /* each link comes after its parent */
    const UrdfLink* link = &robot->links[i];
    const UrdfJoint* above = link->joint >= 0 ? &robot->joints[link->joint] : NULL;
    if (i != joint->child && above && carried[above->parent]) {
      carried[i] = true;
      pose[i] = urdf_pose_mul(pose[above->parent], above->origin);
    }
    if (!carried[i]) continue;
    Vec3 center = urdf_pose_mul(pose[i], (UrdfPose){link->center, {1, 0, 0, 0}}).position;
    Vec3 axis = mat3_tmul_vec(mat3_from_quat(pose[i].rotation), joint->axis), arm = vec3_cross(joint->axis, center);
    bool turns = joint->type != URDF_PRISMATIC;
    sum += turns ? vec3_dot(axis, mat3_mul_vec(link->inertia, axis)) + link->mass * vec3_dot(arm, arm) : link->mass;
  }
  memory_free(pose);
  memory_free(carried);
  return sum;
}

/* Sets the damping from the damping ratio: damping = 2 ratio sqrt(stiffness m). m is the effective mass that the
 * actuator's length moves. */
static void set_damping_from_ratio(MjcfModel* model, MjcfElement e, ActuatorLaw* law) {
  int joint = find_joint(model, mjcf_text(model, e, "joint"));
  if (!(law->ratio > 0) || law->gear == 0) return;
  if (joint < 0)
    mjcf_report_lost_force(model, "dampratio of tendons");
  else
    law->damping = law->ratio * 2 * sqrt(law->stiffness * joint_inertia(model, joint)) / fabs(law->gear);
}

static void add_joint_actuator(MjcfModel* model, Scene* scene, MjcfElement e, const ActuatorEnd* end, ActuatorLaw law,
                               const double* control) {
  read_control(model, e, &law, control);
  set_damping_from_ratio(model, e, &law);
  /* Without controls in the keyframe, the actuator holds the keyframe's position. */
  if (!control && model->key && law.stiffness > 0 && law.gain != 0 && law.gear != 0)
    law.control = (law.stiffness * law.gear * end->gear * (initial_coordinate(scene, end->place) + end->reference) -
                   law.constant) /
                  law.gain;
  law.gear *= end->gear;
  law.limit *= fabs(end->gear);
  if (law.gear != 0) add_drive(scene, end->place, &law, end->reference);
}

static void add_feedback(Scene* scene, SceneController* c, const RobotJointPlace* of, bool rate, double factor,
                         int dof) {
  assert(dof >= 0);
  size_t count = (size_t)c->measure_count;
  int dofs = scene_joint_dof(&scene->links[c->link].joint);
  Text name = {0};
  text_add(&name, "%s/%s%s", scene->links[of->link].name,
           scene_joint_coordinate_name(&scene->links[of->link].joint, of->dof), rate ? "/rate" : "");
  double* matrix = MEMORY_NEW(double, (count + 1) * (size_t)dofs);
  for (int row = 0; row < dofs; row++)
    for (size_t k = 0; k < count; k++) matrix[(size_t)row * (count + 1) + k] = c->feedback[(size_t)row * count + k];
  matrix[(size_t)dof * (count + 1) + count] = factor;
  memory_free(c->feedback);
  c->feedback = matrix;
  c->measures = memory_resize(c->measures, count * sizeof(SceneMeasure), (count + 1) * sizeof(SceneMeasure));
  c->measures[c->measure_count++] = (SceneMeasure){
      .name = name.data, .kind = rate ? MEASURE_RATE : MEASURE_COORDINATE, .link = of->link, .index = of->dof};
}

/* Adds the spring of a tendon with several independent joints. Each joint gets a spring whose target is reduced by the
 * share of the other joints in the length. */
static bool add_shared_springs(MjcfModel* model, Scene* scene, MjcfElement e, const JointCombination* sum,
                               ActuatorLaw law, const double* control) {
  double start = 0;
  for (int k = 0; k < sum->count; k++)
    start +=
        sum->coefficient[k] * (initial_coordinate(scene, sum->place[k]) + joint_reference(model, sum->place[k]->name));
  read_control(model, e, &law, control);
  if (law.ratio > 0) mjcf_report_lost_force(model, "dampratio of tendons");
  if (law.gear == 0) return true;
  if (!control && model->key && law.gain != 0)
    law.control = (law.stiffness * law.gear * start - law.constant) / law.gain;
  for (int k = 0; k < sum->count; k++) {
    const RobotJointPlace* place = sum->place[k];
    double coefficient_k = sum->coefficient[k], others = 0;
    ActuatorLaw part = law;
    for (int n = 0; n < sum->count; n++)
      if (n != k) others += sum->coefficient[n] / coefficient_k * joint_reference(model, sum->place[n]->name);
    part.gear *= coefficient_k;
    part.limit *= fabs(coefficient_k);
    double share = add_drive(scene, place, &part, joint_reference(model, place->name) + others);
    SceneController* c = find_or_add_controller(scene, place->link, CONTROLLER_PD);
    for (int n = 0; n < sum->count; n++) {
      double factor = -share * sum->coefficient[n] / coefficient_k;
      if (n == k) continue;
      add_feedback(scene, c, sum->place[n], false, factor, place->dof);
      if (law.damping > 0)
        add_feedback(scene, c, sum->place[n], true, factor * law.damping / law.stiffness, place->dof);
    }
  }
  return true;
}

/* Adds an actuator of a fixed tendon. If all joints of the tendon are coupled to one joint, the actuator acts on this
 * joint. Otherwise a spring becomes springs of all joints with feedback, and a force acts on each joint. Returns false
 * for damping without stiffness, which is not supported. */
static bool add_joint_tendon(MjcfModel* model, Scene* scene, MjcfElement e, const JointCombination* sum,
                             const ActuatorLaw* law, const double* control) {
  ActuatorEnd end;
  if (find_single_transmission(model, scene, sum, &end)) {
    add_joint_actuator(model, scene, e, &end, *law, control);
    return true;
  }
  if (law->stiffness > 0) return add_shared_springs(model, scene, e, sum, *law, control);
  if (law->damping != 0 || law->damper > 0) return false;
  for (int k = 0; k < sum->count; k++) {
    end = (ActuatorEnd){sum->place[k], sum->coefficient[k], 0};
    add_joint_actuator(model, scene, e, &end, *law, control);
  }
  return true;
}

/* Adds an actuator of a spatial tendon. A force that shortens the tendon becomes tension. A spring only pulls: where it
 * would push, the tendon is slack. */
static bool add_spatial_actuator(MjcfModel* model, Scene* scene, MjcfElement e, ActuatorLaw law, const int* carrier,
                                 const double* control) {
  double range[2] = {-HUGE_VAL, HUGE_VAL};
  MjcfRoute route;
  read_control(model, e, &law, control);
  double g = law.gear, k = g * g * law.stiffness;
  if (law.stiffness > 0 && g == 0) return true;
  const XmlElement* tendon = mjcf_find_tendon(model, "spatial", mjcf_text(model, e, "tendon"));
  if (!mjcf_tendon_route(model, scene, tendon, carrier, &route)) return false;
  bool limited = has_range(model, e, "forcerange", "forcelimited", range);
  if (!control && model->key && k > 0 && law.gain != 0)
    law.control = (law.stiffness * g * mjcf_start_length(scene, &route) - law.constant) / law.gain;
  double force = law.gain * law.control + law.constant;
  if (k == 0) force = fmax(fmin(force, range[1]), range[0]);
  if (k > 0 && limited) mjcf_report_lost_force(model, "limits of force of springs of spatial tendons");
  if (k > 0 && force > 0 && (!limited || g * range[g < 0 ? 0 : 1] > 0))
    mjcf_report_lost_force(model, MJCF_DROPPED_PUSH);
  if (law.damping != 0 || law.ratio > 0) mjcf_report_lost_force(model, "damping of spatial tendons");
  mjcf_add_tendon(scene, &route, e.element->place, k, g * force);
  return true;
}

static bool add_tendon_actuator(MjcfModel* model, Scene* scene, MjcfElement e, const ActuatorLaw* law,
                                const int* carrier, const double* control) {
  JointCombination sum;
  if (mjcf_fixed_tendon_length(model, mjcf_find_tendon(model, "fixed", mjcf_text(model, e, "tendon")), &sum))
    return add_joint_tendon(model, scene, e, &sum, law, control);
  return add_spatial_actuator(model, scene, e, *law, carrier, control);
}

/* ---------------------------------------------------------------- springs and limits of tendons */

/* Sets rest[0] and rest[1] to the smallest and largest length without spring force. If the file gives no range or -1,
 * both are the reference length. */
static void read_rest_lengths(MjcfModel* model, MjcfElement e, double reference, double rest[2]) {
  rest[0] = rest[1] = -1;
  if (mjcf_numbers(model, e, "springlength", 1, 2, rest) == 1) rest[1] = rest[0];
  if (rest[0] == -1 && rest[1] == -1) rest[0] = rest[1] = reference;
}

static void add_joint_spring(MjcfModel* model, Scene* scene, MjcfElement e, double stiffness) {
  double reference = 0, rest[2];
  JointCombination sum;
  if (model->options->hold > 0 || !mjcf_fixed_tendon_length(model, e.element, &sum)) {
    mjcf_report_lost_force(model, "springs of fixed tendons");
    return;
  }
  for (int k = 0; k < sum.count; k++) reference += sum.coefficient[k] * joint_reference(model, sum.place[k]->name);
  read_rest_lengths(model, e, reference, rest);
  if (rest[0] != rest[1]) mjcf_report_dropped(model, "slack of fixed tendons (springlength)");
  ActuatorLaw law = {.constant = stiffness * 0.5 * (rest[0] + rest[1]), .stiffness = stiffness, .gear = 1};
  law.damping = mjcf_number(model, e, "damping", 0);
  add_joint_tendon(model, scene, e, &sum, &law, NULL);
}

static void add_spatial_spring(MjcfModel* model, Scene* scene, MjcfElement e, double stiffness, const int* carrier) {
  double rest[2];
  MjcfRoute route;
  if (!mjcf_tendon_route(model, scene, e.element, carrier, &route)) return;
  read_rest_lengths(model, e, route.reference, rest);
  if (rest[0] > 0) mjcf_report_lost_force(model, MJCF_DROPPED_PUSH);
  mjcf_add_tendon(scene, &route, e.element->place, stiffness, stiffness * rest[1]);
}

/* Stiffness of a tendon limit, divided by the mass that loads it [1/s^2]. A hanging mass m with the weight m g then
 * exceeds the limit by the same length m g / k as in MuJoCo. MuJoCo's stiffness is k = m d^2 / (D^2 t^2 (1 - d)). t is
 * the time constant of solreflimit, d and D are the impedances of solimplimit. Their defaults are t = 0.02 s, d = 0.9
 * and D = 0.95. */
#define LIMIT_RATE (0.9 * 0.9 / (0.95 * 0.95 * 0.02 * 0.02 * 0.1))

/* Returns an upper bound of the mass that loads a tendon [kg]: the total mass of the kinematic trees with the tendon's
 * points and wraps. */
static double mass_bound(const Scene* scene, const MjcfRoute* route) {
  int* root = MEMORY_NEW(int, scene->link_count + 1);
  bool* passed = MEMORY_NEW(bool, scene->link_count + 1);
  double sum = 0;
  for (int i = 0; i < scene->link_count; i++) { /* links fixed to the world are not part of a kinematic tree */
    int parent = scene->links[i].parent;
    root[i] = parent >= 0 && !(scene->links[parent].fixed && scene->links[parent].parent < 0) ? root[parent] : i;
  }
  for (int i = 0; i < route->count; i++)
    if (route->points[i].link >= 0) passed[root[route->points[i].link]] = true;
  for (int i = 0; i < route->wrap_count; i++)
    if (route->wraps[i].link >= 0) passed[root[route->wraps[i].link]] = true;
  for (int i = 0; i < scene->link_count; i++)
    if (passed[root[i]] && !(scene->links[i].fixed && scene->links[i].parent < 0)) sum += scene->links[i].mass;
  memory_free(root);
  memory_free(passed);
  return sum;
}

/* Returns the effective mass along a linear combination of joint coordinates [kg or kg m^2]: 1 / sum(coefficient^2 /
 * inertia). Neglects the inertial coupling of the joints. Returns 0 if there are no joints. */
static double effective_mass(const MjcfModel* model, const JointCombination* sum) {
  assert(sum->count >= 0);
  double mobility = 0;
  for (int k = 0; k < sum->count; k++) {
    int joint = find_joint(model, sum->place[k]->name);
    if (joint >= 0) mobility += sum->coefficient[k] * sum->coefficient[k] / joint_inertia(model, joint);
  }
  return mobility > 0 ? 1 / mobility : 0;
}

/* Largest margin of a tendon limit [m]. It is small because a hanging mass at rest exceeds the limit by half the margin
 * plus g / LIMIT_RATE = 0.44 mm. */
#define LIMIT_MARGIN_MAX 1e-4

/* Sets the limits of a tendon with critical damping, MuJoCo's default. mass: mass that loads the limit [kg or kg m^2].
 */
static void set_range(SceneTendon* tendon, const double range[2], double mass) {
  tendon->limited = true;
  tendon->lower = range[0];
  tendon->upper = range[1];
  tendon->range_stiffness = LIMIT_RATE * mass;
  tendon->range_damping = 2 * mass * sqrt(LIMIT_RATE);
  tendon->range_margin = fmin(LIMIT_MARGIN_MAX, scene_tendon_margin(range[0], range[1]));
}

/* Appends a tendon whose length is a linear combination of joint coordinates. Returns a pointer borrowed from the
 * scene. */
static SceneTendon* add_combination_tendon(Scene* scene, SourcePosition place, const JointCombination* sum) {
  SceneTendon* tendon = mjcf_append_tendon(scene, place);
  tendon->joints = MEMORY_NEW(SceneCouplingTerm, sum->count);
  tendon->joint_count = sum->count;
  for (int k = 0; k < sum->count; k++) {
    tendon->joints[k] = (SceneCouplingTerm){sum->place[k]->link, sum->place[k]->dof, sum->coefficient[k]};
    tendon->end = sum->place[k]->link;
  }
  return tendon;
}

/* Adds a tendon with the limits of a fixed tendon. Shifts the range of lengths, because the scene's joint coordinates
 * are 0 in MuJoCo's reference configuration. Returns false if the tendon is not supported. */
static bool add_joint_limits(MjcfModel* model, Scene* scene, const XmlElement* item, double range[2]) {
  JointCombination sum;
  double mass = mjcf_fixed_tendon_length(model, item, &sum) ? effective_mass(model, &sum) : 0;
  if (!(mass > 0)) return false;
  for (int k = 0; k < sum.count; k++) {
    double reference = sum.coefficient[k] * joint_reference(model, sum.place[k]->name);
    range[0] -= reference;
    range[1] -= reference;
  }
  set_range(add_combination_tendon(scene, item->place, &sum), range, mass);
  return true;
}

/* Adds a tendon with the limits of a spatial tendon. Removes a lower limit <= 0, which the length cannot reach. Returns
 * false if the tendon is not supported. */
static bool add_spatial_limits(MjcfModel* model, Scene* scene, const XmlElement* item, double range[2],
                               const int* carrier) {
  MjcfRoute route;
  if (!mjcf_tendon_route(model, scene, item, carrier, &route)) return false;
  double mass = mass_bound(scene, &route);
  if (!(range[0] > 0)) range[0] = -HUGE_VAL;
  set_range(mjcf_add_passive_tendon(scene, &route, item->place), range, mass);
  return true;
}

/* Imports the limits of a tendon. Returns false, with a warning, if they are not supported. */
static bool add_limits(MjcfModel* model, Scene* scene, MjcfElement e, const int* carrier) {
  double range[2];
  if (!has_range(model, e, "range", "limited", range)) return true;
  const XmlAttribute* named = xml_attribute(e.element, "name");
  double limits[2] = {range[0], range[1]};
  bool spatial = strcmp(e.element->name, "spatial") == 0;
  bool done = range[0] < range[1] && (spatial ? add_spatial_limits(model, scene, e.element, limits, carrier)
                                              : add_joint_limits(model, scene, e.element, limits));
  if (!done)
    diagnostics_add(model->diagnostics, SEVERITY_WARNING, e.element->place,
                    "the range %.6g .. %.6g of tendon '%s' is not imported: the tendon moves without limits; limit the "
                    "joints along the tendon instead",
                    range[0], range[1], text_excerpt(named ? named->value : "").text);
  return done;
}

/* Default of the scene's key tendons[].friction_speed [m/s or rad/s]. */
#define TENDON_FRICTION_SPEED 1e-4

/* Imports the friction (frictionloss) of a tendon as a tendon of the scene. Returns false if the tendon is not
 * supported. */
static bool add_friction(MjcfModel* model, Scene* scene, MjcfElement e, const int* carrier) {
  double friction = mjcf_number(model, e, "frictionloss", 0);
  JointCombination sum;
  MjcfRoute route;
  SceneTendon* tendon;
  if (!(friction > 0)) return true;
  if (strcmp(e.element->name, "spatial") == 0) {
    if (!mjcf_tendon_route(model, scene, e.element, carrier, &route)) return false;
    tendon = mjcf_add_passive_tendon(scene, &route, e.element->place);
  } else {
    if (!mjcf_fixed_tendon_length(model, e.element, &sum) || sum.count == 0) return false;
    tendon = add_combination_tendon(scene, e.element->place, &sum);
  }
  tendon->friction = friction;
  tendon->friction_speed = TENDON_FRICTION_SPEED;
  return true;
}

static void add_tendon_springs(MjcfModel* model, Scene* scene, const int* carrier) {
  for (const XmlElement* section = xml_child(model->root, "tendon"); section; section = xml_next(section))
    for (const XmlElement* item = section->first; item; item = item->next) {
      MjcfElement e = {item, ""};
      bool spatial = strcmp(item->name, "spatial") == 0;
      double stiffness = mjcf_number(model, e, "stiffness", 0);
      if (stiffness > 0) {
        if (spatial)
          add_spatial_spring(model, scene, e, stiffness, carrier);
        else
          add_joint_spring(model, scene, e, stiffness);
      }
      bool limits = add_limits(model, scene, e, carrier), friction = add_friction(model, scene, e, carrier);
      if ((mjcf_number(model, e, "damping", 0) > 0 && (spatial || !(stiffness > 0))) || !friction || !limits)
        mjcf_report_lost_force(model, "damping, friction and limits of tendons");
    }
}

UrdfPose mjcf_site_pose(const MjcfModel* model, const MjcfSite* site) {
  assert(model->placed);
  UrdfPose back = {vec3_scale(model->anchors[site->link], -1), {1, 0, 0, 0}};
  return urdf_pose_mul(urdf_pose_mul(model->placed[site->link], back), site->pose);
}

SceneSignal mjcf_constant_vector(Vec3 v) {
  SceneSignal signal = {.type = SIGNAL_CONSTANT, .channels = 3, .rows = 1};
  signal.values = MEMORY_NEW(double, 3);
  signal.values[0] = v.x;
  signal.values[1] = v.y;
  signal.values[2] = v.z;
  return signal;
}

void mjcf_add_load(Scene* scene, const SceneLoad* load) {
  size_t count = (size_t)scene->load_count, bytes = sizeof(SceneLoad);
  scene->loads = memory_resize(scene->loads, count * bytes, (count + 1) * bytes);
  scene->loads[scene->load_count++] = *load;
}

/* Returns true if the actuator has no refsite or one in the world. In the latter case sets *rotation to the rotation of
 * its axes. */
static bool read_refsite(const MjcfModel* model, MjcfElement e, const int* carrier, Mat3* rotation) {
  const char* name = mjcf_text(model, e, "refsite");
  int index = names_find(&model->site_names, name);
  if (!*name) return true;
  if (index < 0 || carrier[model->sites[index].link] >= 0) return false;
  *rotation = mat3_from_quat(mjcf_site_pose(model, &model->sites[index]).rotation);
  return true;
}

/* Returns the force of a motor before its gear. control: as for read_control. */
static double motor_force(MjcfModel* model, MjcfElement e, ActuatorLaw law, const double* control) {
  double range[2];
  read_control(model, e, &law, control);
  double force = law.gain * law.control + law.constant;
  return has_range(model, e, "forcerange", "forcelimited", range) ? fmax(fmin(force, range[1]), range[0]) : force;
}

/* Adds a motor of a free joint: a force at the body's origin along the world's axes, and a torque about the link's
 * axes. gear: force and torque per unit of `size`. */
static void add_free_motor(Scene* scene, int link, const double gear[6], double size, SourcePosition place) {
  Vec3 force = vec3_scale(vec3_at(gear), size), torque = vec3_scale(vec3_at(gear + 3), size);
  SceneLoad at_origin = {.place = place, .link = link, .has_point = true};
  SceneLoad about_axes = {.place = place, .link = link, .link_axes = true};
  if (vec3_norm(vec3_at(gear)) > 0) {
    at_origin.force = mjcf_constant_vector(force);
    mjcf_add_load(scene, &at_origin);
  }
  if (vec3_norm(vec3_at(gear + 3)) > 0) {
    about_axes.torque = mjcf_constant_vector(torque);
    mjcf_add_load(scene, &about_axes);
  }
}

/* Adds a motor of a ball joint, whose torque acts about the link's axes, or of a free joint. Returns false for other
 * joints and actuators. */
static bool add_rotation_motor(MjcfModel* model, Scene* scene, MjcfElement e, ActuatorLaw law, const int* carrier,
                               const double* control) {
  int index = find_joint(model, mjcf_text(model, e, "joint"));
  if (index < 0 || law.stiffness != 0 || law.damping != 0) return false;
  int link = carrier[model->robot.joints[index].child];
  const SceneJoint* joint = link >= 0 ? &scene->links[link].joint : NULL;
  double gear[6] = {1, 0, 0, 0, 0, 0};
  mjcf_numbers(model, e, "gear", 1, 6, gear);
  if (joint && joint->type == JOINT_BALL) {
    SceneController* c = find_or_add_controller(scene, link, CONTROLLER_TORQUE);
    double size = motor_force(model, e, law, control);
    for (int k = 0; k < 3; k++) c->target.values[k] += size * gear[k];
    return true;
  }
  if (!joint || joint->type != JOINT_FREE || joint->free_axes != FREE_ALL) return false;
  add_free_motor(scene, link, gear, motor_force(model, e, law, control), e.element->place);
  return true;
}

/* Adds a thruster, an actuator with force and torque at a site, as a load along the axes of the site or of a refsite in
 * the world. Returns false for other actuators. */
static bool add_thruster(MjcfModel* model, Scene* scene, MjcfElement e, ActuatorLaw law, const int* carrier,
                         const double* control) {
  int index = names_find(&model->site_names, mjcf_text(model, e, "site"));
  double gear[6] = {1, 0, 0, 0, 0, 0};
  if (index < 0 || law.stiffness != 0 || law.damping != 0) return false;
  int link = carrier[model->sites[index].link];
  if (link < 0) return false;
  mjcf_numbers(model, e, "gear", 1, 6, gear);
  double size = motor_force(model, e, law, control);
  UrdfPose place = mjcf_site_pose(model, &model->sites[index]);
  Mat3 rotation = mat3_from_quat(place.rotation);
  bool link_axes = !*mjcf_text(model, e, "refsite");
  if (!read_refsite(model, e, carrier, &rotation)) return false;
  SceneLoad load = {.place = e.element->place, .link = link, .link_axes = link_axes};
  Vec3 force = mat3_mul_vec(rotation, vec3(gear[0], gear[1], gear[2]));
  Vec3 torque = mat3_mul_vec(rotation, vec3(gear[3], gear[4], gear[5]));
  if (vec3_norm(force) > 0 || vec3_norm(torque) == 0) {
    load.force = mjcf_constant_vector(vec3_scale(force, size));
    load.has_point = true;
    load.point = place.position;
  }
  if (vec3_norm(torque) > 0) load.torque = mjcf_constant_vector(vec3_scale(torque, size));
  mjcf_add_load(scene, &load);
  return true;
}

/* Adds an actuator, or reports that it is not supported. control: value of the keyframe's ctrl; act: value of the
 * keyframe's act, for actuators that integrate their control. Both are NULL if the keyframe has no value. */
static void add_actuator(MjcfModel* model, Scene* scene, MjcfElement e, const int* carrier, const double* control,
                         const double* act) {
  const char* joint = mjcf_text(model, e, "joint");
  const RobotJointPlace* place = find_joint_place(model->report, joint);
  ActuatorLaw law = {.gear = 1};
  bool known = read_law(model, e, &law);
  Text what = {0};
  if (known && law.integrates) {
    if (control && *control != 0)
      mjcf_report_dropped(model, "controls that are rates (their targets stay where they start)");
    control = act;
  }
  if (!known) {
    text_add(&what, "actuator/%s", e.element->name);
  } else if (place) {
    ActuatorEnd end = {place, 1, joint_reference(model, joint)};
    add_joint_actuator(model, scene, e, &end, law, control);
  } else if (*mjcf_text(model, e, "tendon")) {
    if (!add_tendon_actuator(model, scene, e, &law, carrier, control))
      text_add(&what, "actuators of tendons that are neither sums of hinges and slides nor straight from site to site");
  } else if (!add_rotation_motor(model, scene, e, law, carrier, control) &&
             !add_thruster(model, scene, e, law, carrier, control)) {
    text_add(&what, "%s",
             *mjcf_text(model, e, "refsite") ? "actuators with a moving refsite"
                                             : "actuators with feedback on balls, free joints or sites");
  }
  if (what.data) mjcf_report_lost_force(model, what.data);
  text_free(&what);
}

/* Returns true if the actuator has an activation state, and so an entry in the keyframe's `act`. */
static bool has_state(const MjcfModel* model, const XmlElement* item) {
  const char *kind = item->name, *dynamics = mjcf_text(model, (MjcfElement){item, ""}, "dyntype");
  if (strcmp(kind, "general") == 0) return *dynamics && strcmp(dynamics, "none") != 0;
  return strcmp(kind, "intvelocity") == 0 || strcmp(kind, "cylinder") == 0 || strcmp(kind, "muscle") == 0 ||
         (strcmp(kind, "position") == 0 && mjcf_attribute(model, (MjcfElement){item, ""}, "timeconst"));
}

void mjcf_add_actuators(MjcfModel* model, Scene* scene, const int* carrier) {
  int count, act_count, index = 0, state = 0;
  double* controls = mjcf_key_numbers(model, "ctrl", &count);
  double* acts = mjcf_key_numbers(model, "act", &act_count);
  bool any = false;
  add_tendon_springs(model, scene, carrier);
  for (const XmlElement* section = xml_child(model->root, "actuator"); section; section = xml_next(section))
    for (const XmlElement* item = section->first; item; item = item->next) {
      bool in_key = model->key && mjcf_keyframe_applies(model, item->place);
      const double* control = in_key && controls && index < count ? &controls[index] : NULL;
      const double* act = in_key && acts && state < act_count ? &acts[state] : NULL;
      any = true;
      index += in_key;
      state += in_key && has_state(model, item);
      double group = mjcf_number(model, (MjcfElement){item, ""}, "group", 0);
      if (group >= 0 && group < MJCF_ACTUATOR_GROUPS && (model->disabled_groups >> (int)group & 1)) continue;
      if (!(model->options->hold > 0)) add_actuator(model, scene, (MjcfElement){item, ""}, carrier, control, act);
    }
  if (controls && count != index)
    mjcf_error(model, model->key->place,
               "ctrl of <key> has %d numbers, but the model has %d actuators: correct the keyframe", count, index);
  if (any && model->options->hold > 0) mjcf_report_dropped(model, "actuators (--hold holds every joint)");
  memory_free(controls);
  memory_free(acts);
}

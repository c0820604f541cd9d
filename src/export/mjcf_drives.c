/* Drives in MJCF: actuators with the gains of the controllers, and their controls over time (docs/export.md). A rate
 * gain D acts on the rate v' at the end of a step of length h: M (v' - v) = h (D (r - v') + f). v is the rate at the
 * start of the step, r the target rate, f the other forces and M the inertia. MuJoCo's `implicit` integrator adds this
 * force after its contact solver, so contact forces are far too large if h D exceeds the inertia M. A rotor of inertia
 * h D on the joint with an explicit step is equivalent: (M + h D) (v' - v) = h (D (r - v) + f). The contact solver
 * includes the rotor. */
#include <assert.h>
#include "export/mjcf_parts.h"

/* Angular frequency of the spring and damper by which a prescribed joint follows its signal, times the time step. */
#define PRESCRIBED_FREQUENCY 0.1
/* Smallest radius for the estimate of a link's inertia [m], because some links have no shape. */
#define RADIUS_MIN 0.1

/* An actuator on one degree of freedom. POSITION: spring to its control; VELOCITY: damper to its control; GENERAL:
 * force = control - stiffness times coordinate - damping times rate. */
typedef struct {
  enum { ACTUATOR_POSITION, ACTUATOR_VELOCITY, ACTUATOR_GENERAL } kind;
  double stiffness, damping;
  double limit; /* largest force of the actuator [N or N m]; 0: no limit */
  /* control: value of the control; slope: its derivative with respect to the input of the drive */
  double control, slope;
} Actuator;

bool mjcf_is_driven(const Mjcf* m, int index) {
  assert(index >= 0 && index < m->model->link_count);
  for (int c = 0; c < m->model->controller_count; c++)
    if (m->model->controllers[c].link == index) return true;
  return false;
}

bool mjcf_drives_vary(const Model* model) {
  for (int c = 0; c < model->controller_count; c++)
    if (model->controllers[c].target.source->type != SIGNAL_CONSTANT) return true;
  return false;
}

/* Returns the inertia of a link and its descendants along a degree of freedom: mass [kg] or moment [kg m^2]. */
static double moved_inertia(const Mjcf* m, int index, int dof) {
  const ModelLink* link = &m->model->links[index];
  double mass = m->subtree_mass[index] > 0 ? m->subtree_mass[index] : 1.0;
  return dof < link->joint.slide_count ? mass : mass * fmax(link->reach * link->reach, RADIUS_MIN * RADIUS_MIN);
}

/* Sets the gains of a controller [N/m, N s/m] or [N m/rad, N m s/rad]. The gains of a prescribed joint follow from
 * PRESCRIBED_FREQUENCY and the moved inertia. */
static void compute_gains(const Mjcf* m, const ModelController* c, int dof, double* position, double* rate) {
  *position = c->position_gain[dof];
  *rate = c->velocity_gain[dof] / simulation_substep_length(&m->model->simulation) + c->damping_gain[dof];
  if (c->type != CONTROLLER_PRESCRIBED) return;
  double inertia = moved_inertia(m, c->link, dof), frequency = PRESCRIBED_FREQUENCY / m->step;
  *position = inertia * frequency * frequency;
  *rate = 2.0 * inertia * frequency;
}

bool mjcf_has_rate_gain(const Model* model) {
  for (int c = 0; c < model->controller_count; c++)
    for (int k = 0; k < JOINT_MAX_DOF; k++)
      if (model->controllers[c].velocity_gain[k] > 0 || model->controllers[c].damping_gain[k] > 0 ||
          model->controllers[c].type == CONTROLLER_PRESCRIBED)
        return true;
  return false;
}

/* Returns true if a drive is stiff within a step and no drive with a rate gain has a force limit. A rotor inertia would
 * not respect a force limit. */
static bool needs_rotors(const Mjcf* m) {
  bool stiff = false;
  for (int c = 0; c < m->model->controller_count; c++) {
    const ModelController* controller = &m->model->controllers[c];
    for (int k = 0; k < m->model->links[controller->link].dof_count; k++) {
      double position, rate;
      compute_gains(m, controller, k, &position, &rate);
      if (rate > 0 && controller->max_force[k] > 0) return false;
      stiff = stiff || rate * m->step > moved_inertia(m, controller->link, k);
    }
  }
  return stiff;
}

static double rotor_inertia(const Mjcf* m, int index, int dof) {
  double sum = 0, position, rate;
  for (int c = 0; c < m->model->controller_count; c++) {
    if (m->model->controllers[c].link != index) continue;
    compute_gains(m, &m->model->controllers[c], dof, &position, &rate);
    sum += rate * m->step;
  }
  return sum;
}

double mjcf_rotor_inertia(const Mjcf* m, int index, int dof) {
  bool ball = dof >= m->model->links[index].joint.scalar_count;
  double rotor = 0;
  for (int k = dof; m->rotors && k < dof + (ball ? 3 : 1); k++) rotor = fmax(rotor, rotor_inertia(m, index, k));
  return rotor;
}

/* Sets actuators[] to the actuators, one or two, that represent a controller on one degree of freedom. Returns their
 * number. value, speed: value and rate of the controller's signal. */
static int make_actuators(const Mjcf* m, const ModelController* c, int dof, double value, double speed,
                          Actuator actuators[2]) {
  double kp, kd, limit = c->max_force[dof];
  int count = 0;
  compute_gains(m, c, dof, &kp, &kd);
  if (c->type == CONTROLLER_VELOCITY) {
    actuators[count++] = (Actuator){ACTUATOR_VELOCITY, 0, kd, limit, value, 1};
  } else if (c->type == CONTROLLER_TORQUE) {
    actuators[count++] = (Actuator){ACTUATOR_GENERAL, 0, kd, limit, value, 1};
  } else if (limit > 0) { /* one actuator, so that the force limit applies to the sum */
    actuators[count++] = (Actuator){ACTUATOR_GENERAL, kp, kd, limit, kp * value + kd * speed, kp};
  } else {
    if (kp > 0) actuators[count++] = (Actuator){ACTUATOR_POSITION, kp, 0, 0, value, 1};
    if (kd > 0) actuators[count++] = (Actuator){ACTUATOR_VELOCITY, 0, kd, 0, speed, 0};
  }
  return count;
}

static void add_gains(Text* out, const Actuator* a) {
  if (a->kind == ACTUATOR_POSITION) xml_numbers(out, "kp", &a->stiffness, 1);
  if (a->kind == ACTUATOR_VELOCITY) xml_numbers(out, "kv", &a->damping, 1);
  if (a->kind == ACTUATOR_GENERAL) {
    text_add(out, " gainprm=\"1\" biastype=\"affine\"");
    xml_numbers(out, "biasprm", (const double[]){0, -a->stiffness, -a->damping}, 3);
  }
  if (!(a->limit > 0)) return;
  text_add(out, " forcelimited=\"true\"");
  xml_numbers(out, "forcerange", (const double[]){-a->limit, a->limit}, 2);
}

static void add_actuator(Mjcf* m, const ModelController* c, int dof, const Actuator* a) {
  static const char* const WORDS[] = {"position", "velocity", "general"};
  const ModelLink* link = &m->model->links[c->link];
  Text name = {0}, full_name = {0};
  mjcf_joint_name(&name, m, c->link, dof);
  bool ball = dof >= link->joint.scalar_count;
  text_add(&full_name, "%s%s%s", name.data,
           ball ? (const char*[]){"/x", "/y", "/z"}[dof - link->joint.scalar_count] : "",
           a->kind == ACTUATOR_VELOCITY ? " rate" : "");
  text_add(&m->actuators, "    <%s", WORDS[a->kind]);
  xml_text(&m->actuators, "name", full_name.data);
  xml_text(&m->actuators, "joint", name.data);
  if (ball) {
    double gear[3] = {0, 0, 0};
    gear[dof - link->joint.scalar_count] = 1;
    xml_numbers(&m->actuators, "gear", gear, 3);
  }
  add_gains(&m->actuators, a);
  text_add(&m->actuators, "/>\n");
  text_add_numbers(&m->control, &a->control, 1);
  text_add(&m->names, ",");
  csv_add_field(&m->names, full_name.data);
  mjcf_add_feedback_rows(m, c, dof, full_name.data, a->slope);
  text_free(&name);
  text_free(&full_name);
}

/* Sets the target of a controller and the rate of the target at a time. In MuJoCo the rate of a ball joint is its
 * angular velocity in body axes. In a scene it is the rate of the rotation vector, which is converted at the target. */
static void evaluate_signal(const Mjcf* m, const ModelController* c, double time, double value[JOINT_MAX_DOF],
                            double speed[JOINT_MAX_DOF]) {
  const Joint* joint = &m->model->links[c->link].joint;
  signal_eval(&c->target, time - c->source->delay, value, speed);
  if (!joint->quaternion || c->type == CONTROLLER_VELOCITY || c->type == CONTROLLER_TORQUE) return;
  double *v = value + joint->scalar_count, *r = speed + joint->scalar_count;
  Vec3 turning = rotation_rate(vec3(v[0], v[1], v[2]), vec3(r[0], r[1], r[2]));
  r[0] = turning.x, r[1] = turning.y, r[2] = turning.z;
}

static void note_differences(Mjcf* m, const ModelController* controller) {
  const ModelLink* link = &m->model->links[controller->link];
  if (controller->type == CONTROLLER_PRESCRIBED)
    mjcf_note(m, link->name, "the prescribed motion of the joint is written as a stiff spring and damper");
  if (controller->source->feedback_type == FEEDBACK_MLP)
    mjcf_note(m, link->name,
              "the network of the drive is not part of the file: write the network by sdrs export -o policy.json or "
              "policy.h; its inputs are the sensors of the file");
  else if (controller->source->measure_count > 0)
    mjcf_note(m, link->name,
              "the feedback of the drive is not part of the file: the program that runs MuJoCo must add the feedback "
              "to the controls, from the sensors and the table");
  if (link->joint.quaternion)
    mjcf_note(m, link->name,
              "the target of the ball joint acts on each component of the rotation vector separately in MuJoCo");
  if (link->joint.quaternion && controller->max_force[link->joint.scalar_count] > 0)
    mjcf_note(m, link->name,
              "the force limit of the ball joint's drive applies to each component of the torque in MuJoCo, not to the "
              "magnitude");
}

static void add_controller(Mjcf* m, const ModelController* controller) {
  double value[JOINT_MAX_DOF], speed[JOINT_MAX_DOF];
  evaluate_signal(m, controller, 0, value, speed);
  note_differences(m, controller);
  for (int k = 0; k < m->model->links[controller->link].dof_count; k++) {
    Actuator actuators[2];
    int count = make_actuators(m, controller, k, value[k], speed[k], actuators);
    for (int i = 0; i < count; i++) add_actuator(m, controller, k, &actuators[i]);
  }
}

void mjcf_add_drives(Mjcf* m) {
  m->rotors = needs_rotors(m);
  for (int c = 0; c < m->model->controller_count; c++) add_controller(m, &m->model->controllers[c]);
  if (m->rotors)
    mjcf_note(m, NULL,
              "the drives are stiff: the armatures in the file contain the time step times the rate gains, so export "
              "again after a change of the time step");
}

void mjcf_add_drive_controls(Text* out, const Mjcf* m, double time) {
  for (int c = 0; c < m->model->controller_count; c++) {
    const ModelController* controller = &m->model->controllers[c];
    double value[JOINT_MAX_DOF], speed[JOINT_MAX_DOF];
    evaluate_signal(m, controller, time, value, speed);
    for (int k = 0; k < m->model->links[controller->link].dof_count; k++) {
      Actuator actuators[2];
      int count = make_actuators(m, controller, k, value[k], speed[k], actuators);
      for (int i = 0; i < count; i++) text_add(out, ","), text_add_double(out, actuators[i].control);
    }
  }
}

/* Controllers and loads: builds their signals and finds the prescribed joints. */
#include "model/build.h"

void build_controllers(Builder* builder) {
  Model* model = builder->model;
  const Scene* scene = builder->scene;
  model->controller_count = scene->controller_count;
  model->controllers = MEMORY_NEW(ModelController, scene->controller_count);
  for (int i = 0; i < scene->controller_count; i++) {
    const SceneController* source = &scene->controllers[i];
    ModelController* controller = &model->controllers[i];
    controller->type = source->type;
    controller->link = source->link;
    for (int k = 0; k < JOINT_MAX_DOF; k++) {
      controller->position_gain[k] = source->position_gain[k];
      controller->velocity_gain[k] = source->velocity_gain[k];
      controller->damping_gain[k] = source->damping_gain[k];
      controller->max_force[k] = source->max_force[k];
    }
    controller->limit_width = source->limit_width;
    controller->source = source;
    controller->gain_first = model->gain_count;
    model->gain_count += controller_gain_count(source);
    controller->feedback_first = source->measure_count > 0 ? model->feedback_count : -1;
    model->feedback_count += source->measure_count > 0 ? source->target.channels : 0;
    bool late = source->measure_count > 0 && source->delay > 0;
    controller->delayed_first = late ? model->delayed_count : -1;
    model->delayed_count += late ? source->measure_count : 0;
    for (int k = 0; k < source->measure_count; k++)
      model->feels = model->feels || source->measures[k].kind == MEASURE_FORCE;
    signal_create(&controller->target, &source->target);
    controller->parameter_first = model->parameter_count;
    model->parameter_count += signal_parameter_count(&controller->target);
    if (source->type == CONTROLLER_PRESCRIBED) model->links[source->link].prescribed = i;
  }
}

/* Returns the first degree of freedom that cannot reach its constant target within the run, or -1 if all can. A
 * velocity gain damps with gain / dt. Moving targets are skipped, because the controller follows their rate. */
static int find_slow_drive(const Model* model, const ModelController* c) {
  const ModelLink* link = &model->links[c->link];
  if (c->target.source->type != SIGNAL_CONSTANT) return -1;
  double q[JOINT_MAX_COORDINATE], displacement[JOINT_MAX_DOF], dt = simulation_substep_length(&model->simulation);
  joint_coordinates_from_target(&link->joint, c->target.source->values, q);
  joint_difference(&link->joint, model->initial_coordinates + link->coordinate_first, q, displacement);
  for (int k = 0; k < link->dof_count; k++) {
    double slowest = c->position_gain[k] * model->simulation.dt * model->simulation.steps;
    if (displacement[k] != 0 && slowest > 0 && c->velocity_gain[k] / dt > slowest) return k;
  }
  return -1;
}

/* Warns of the first controller with velocity_gain. Users of other simulators expect a damping constant under this
 * name, but the damping constant is velocity_gain / dt. */
static void warn_velocity_gain(const Model* model, Diagnostics* diagnostics) {
  double dt = simulation_substep_length(&model->simulation);
  for (int c = 0; c < model->controller_count; c++) {
    double gain = 0;
    for (int k = 0; k < JOINT_MAX_DOF; k++) gain = fmax(gain, model->controllers[c].velocity_gain[k]);
    if (!(gain > 0)) continue;
    diagnostics_add(diagnostics, SEVERITY_WARNING, model->controllers[c].source->place,
                    "velocity_gain %.6g damps the joint with the damping constant velocity_gain / dt = %.6g, which "
                    "depends on dt: give damping_gain, which is the damping constant, or the integrator of the SDRS "
                    "paper, simulation.integrator first_order",
                    gain, gain / dt);
    return;
  }
}

/* Warns of each controller whose velocity_gain is so large that its joint cannot reach the target within the run. */
static void warn_slow_drives(const Model* model, Diagnostics* diagnostics) {
  double dt = simulation_substep_length(&model->simulation), duration = model->simulation.dt * model->simulation.steps;
  for (int c = 0; c < model->controller_count; c++) {
    const ModelController* one = &model->controllers[c];
    int k = find_slow_drive(model, one);
    if (k < 0) continue;
    double damping = one->velocity_gain[k] / dt;
    const char* unit = k < model->links[one->link].joint.slide_count ? "N s/m" : "N m s/rad";
    diagnostics_add(
        diagnostics, SEVERITY_WARNING, one->source->place,
        "velocity_gain %.6g at dt = %.6g s is a damping of %.6g %s: link '%s' creeps to its target with a time "
        "constant of %.3g s, and the run lasts %.3g s: reduce velocity_gain, or use damping_gain, which does not "
        "depend on dt",
        one->velocity_gain[k], dt, damping, unit, model->links[one->link].name, damping / one->position_gain[k],
        duration);
  }
}

void check_gains(const Model* model, Diagnostics* diagnostics) {
  if (model->simulation.integrator == INTEGRATOR_FIRST_ORDER)
    warn_slow_drives(model, diagnostics);
  else
    warn_velocity_gain(model, diagnostics);
}

static Signal* signal_at(Model* model, SignalPlace place) {
  if (place.kind == CONTROL_DRIVES) return &model->controllers[place.item].target;
  if (place.kind == CONTROL_TENSIONS) return &model->tendons[place.item].tension;
  return place.kind == CONTROL_FORCES ? &model->loads[place.item].force : &model->loads[place.item].torque;
}

static int reserve_parameters(Model* model, const Signal* signal) {
  int first = model->parameter_count;
  model->parameter_count += signal->source ? signal_parameter_count(signal) : 0;
  return first;
}

void model_set_signal(Model* model, SignalPlace place, const SceneSignal* source) {
  Signal* signal = signal_at(model, place);
  signal_destroy(signal);
  signal_create(signal, source);
  model->parameter_count = 0;
  for (int c = 0; c < model->controller_count; c++)
    model->controllers[c].parameter_first = reserve_parameters(model, &model->controllers[c].target);
  for (int k = 0; k < model->load_count; k++) {
    ModelLoad* load = &model->loads[k];
    load->force_first = reserve_parameters(model, &load->force);
    load->torque_first = reserve_parameters(model, &load->torque);
  }
  for (int k = 0; k < model->tendon_count; k++)
    model->tendons[k].tension_first = reserve_parameters(model, &model->tendons[k].tension);
}

void model_begin_signals(Model* model, double time) {
  for (int c = 0; c < model->controller_count; c++) model->controllers[c].target.begin = time;
  for (int k = 0; k < model->load_count; k++) model->loads[k].force.begin = model->loads[k].torque.begin = time;
  for (int k = 0; k < model->tendon_count; k++) model->tendons[k].tension.begin = time;
  for (int k = 0; k < model->closure_count; k++) model->closures[k].active.begin = time;
  for (int i = 0; i < model->link_count; i++)
    if (model->links[i].prescribed >= 0) initial_from_signal(model, &model->links[i]);
}

int build_signal(Model* model, Signal* signal, const SceneSignal* source) {
  signal_create(signal, source);
  int first = model->parameter_count;
  model->parameter_count += signal_parameter_count(signal);
  return first;
}

void build_loads(Builder* builder) {
  Model* model = builder->model;
  const Scene* scene = builder->scene;
  model->load_count = scene->load_count;
  model->loads = MEMORY_NEW(ModelLoad, scene->load_count);
  for (int i = 0; i < scene->load_count; i++) {
    const SceneLoad* source = &scene->loads[i];
    ModelLoad* load = &model->loads[i];
    *load = (ModelLoad){.link = source->link, .link_axes = source->link_axes, .at_center = !source->has_point};
    load->point = source->point;
    if (source->field.type != FIELD_NONE) load->field = &source->field;
    load->force_first = build_signal(model, &load->force, &source->force);
    load->torque_first = build_signal(model, &load->torque, &source->torque);
  }
}

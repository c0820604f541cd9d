/* Controllers and loads: ready signals, and which joints are prescribed (the scene allows one controller each). */
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
    }
    signal_create(&controller->target, &source->target);
    controller->parameter_first = model->parameter_count;
    model->parameter_count += signal_parameter_count(&controller->target);
    if (source->type == CONTROLLER_PRESCRIBED) model->links[source->link].prescribed = i;
  }
}

static int add_parameters(Model* model, Signal* signal, const SceneSignal* source) {
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
    load->force_first = add_parameters(model, &load->force, &source->force);
    load->torque_first = add_parameters(model, &load->torque, &source->torque);
  }
}

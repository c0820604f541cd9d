/* Controllers: ready signals, and which joints they prescribe (the scene allows one each). */
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

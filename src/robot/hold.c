/* Springs and dampers that hold a robot's joints where they start. */
#include "robot/stand.h"

/* A spring and damper that hold a joint let it come to rest without swinging. */
#define HOLD_DAMPING_RATIO 1.0
#define PI 3.14159265358979324

/* Inertia that a unit motion of the degree of freedom meets, everything else held: m v^2 or w.I.w. [kg, kg m^2] */
static double carried_inertia(const Model* model, int link, const Screw* screw, const Pose* poses) {
  bool* carried = MEMORY_NEW(bool, model->link_count + 1);
  double sum = 0;
  for (int i = link; i < model->link_count; i++) {
    const ModelLink* one = &model->links[i];
    carried[i] = i == link || (one->parent >= 0 && carried[one->parent]);
    if (!carried[i] || !(one->mass > 0)) continue;
    Vec3 v = screw_velocity(screw, pose_apply(poses[i], one->center));
    Vec3 w = mat3_tmul_vec(poses[i].r, screw->w);
    sum += one->mass * vec3_dot(v, v) + vec3_dot(w, mat3_mul_vec(mass_moment_inertia_tensor(&one->moment), w));
  }
  memory_free(carried);
  return sum;
}

/* kp = I (2 pi f)^2, damping 2 I (2 pi f). */
static void add_hold(Robot* robot, int index, double frequency, const Screw* screws, const Pose* poses) {
  const Model* model = &robot->model;
  const ModelLink* link = &model->links[index];
  SceneController* controller = &robot->scene.controllers[robot->scene.controller_count++];
  *controller = (SceneController){.link = index, .type = CONTROLLER_PD};
  controller->target = (SceneSignal){.type = SIGNAL_CONSTANT, .channels = link->dof_count, .rows = 1};
  controller->target.values = MEMORY_NEW(double, JOINT_MAX_DOF);
  for (int k = 0; k < link->dof_count; k++) {
    double inertia = carried_inertia(model, index, &screws[link->dof_first + k], poses), rate = 2 * PI * frequency;
    controller->position_gain[k] = inertia * rate * rate;
    controller->damping_gain[k] = 2 * HOLD_DAMPING_RATIO * inertia * rate;
    controller->target.values[k] = model->initial_coordinates[link->coordinate_first + k];
  }
}

void robot_hold(Robot* robot, double frequency) {
  const Model* model = &robot->model;
  const RobotReport* report = &robot->report;
  if (!(frequency > 0) || report->joint_count == 0) return;
  Pose* poses = MEMORY_NEW(Pose, model->link_count + 1);
  Screw* screws = MEMORY_NEW(Screw, model->dof_count + 1);
  model_poses(model, model->initial_coordinates, poses);
  model_screws(model, model->initial_coordinates, poses, screws);
  robot->scene.controllers = MEMORY_NEW(SceneController, report->joint_count);
  for (int k = 0; k < report->joint_count; k++)
    if (report->joints[k].dof == 0) add_hold(robot, report->joints[k].link, frequency, screws, poses);
  memory_free(poses);
  memory_free(screws);
}

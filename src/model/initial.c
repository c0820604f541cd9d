/* Initial state of the joints: values of the scene, zero by default, and values of the signal for prescribed joints. */
#include <string.h>
#include "model/build.h"

/* Tolerance for equal values relative to 1 + |value|, for the rounding of decimals in a file. */
#define STATE_TOLERANCE 1e-9

void initial_from_signal(Model* model, const ModelLink* link) {
  double value[JOINT_MAX_DOF], rate[JOINT_MAX_DOF];
  signal_eval(&model->controllers[link->prescribed].target, 0, value, rate);
  joint_coordinates_from_target(&link->joint, value, model->initial_coordinates + link->coordinate_first);
  joint_rates_from_target(&link->joint, value, rate, model->initial_velocities + link->dof_first);
}

static void initial_from_scene(const ModelLink* link, const SceneInitial* initial, double* q, double* v) {
  joint_zero(&link->joint, q);
  if (initial->has_coordinates) memcpy(q, initial->coordinates, sizeof(double) * (size_t)link->coordinate_count);
  if (initial->has_velocities) memcpy(v, initial->velocities, sizeof(double) * (size_t)link->dof_count);
}

/* Returns the largest of |a[k] - b[k]| / (1 + |b[k]|). */
static double relative_difference(const double* a, const double* b, int count) {
  double largest = 0;
  for (int k = 0; k < count; k++) largest = fmax(largest, fabs(a[k] - b[k]) / (1 + fabs(b[k])));
  return largest;
}

/* Adds an error if the initial state of a prescribed joint differs from its signal. */
static void check_prescribed(Builder* builder, const ModelLink* link, const SceneInitial* initial, const double* q,
                             const double* v) {
  double q_given[JOINT_MAX_COORDINATE] = {0}, v_given[JOINT_MAX_DOF] = {0}, apart[JOINT_MAX_DOF];
  const double zero[JOINT_MAX_DOF] = {0};
  initial_from_scene(link, initial, q_given, v_given);
  joint_difference(&link->joint, q, q_given, apart);
  double in_place = relative_difference(apart, zero, link->dof_count),
         in_speed = relative_difference(v_given, v, link->dof_count);
  if (initial->has_coordinates && !(in_place <= STATE_TOLERANCE))
    diagnostics_add(
        builder->diagnostics, SEVERITY_ERROR, initial->place,
        "the joint of link '%s' is prescribed and starts at the value of its signal at t = 0, %.6g %s away from the "
        "given initial coordinates: remove the initial coordinates",
        link->name, in_place, link->joint.slide_count > 0 ? "(m or rad)" : "rad");
  if (initial->has_velocities && !(in_speed <= STATE_TOLERANCE))
    diagnostics_add(
        builder->diagnostics, SEVERITY_ERROR, initial->place,
        "the joint of link '%s' is prescribed and starts with the rate of its signal at t = 0, which differs from the "
        "given initial velocities by %.6g: remove the initial velocities",
        link->name, in_speed);
}

void build_initial(Builder* builder) {
  Model* model = builder->model;
  model->initial_coordinates = MEMORY_NEW(double, model->coordinate_count);
  model->initial_velocities = MEMORY_NEW(double, model->dof_count);
  set_initial(builder);
}

void set_initial(Builder* builder) {
  Model* model = builder->model;
  const Scene* scene = builder->scene;
  memset(model->initial_velocities, 0, sizeof(double) * (size_t)model->dof_count);
  for (int i = 0; i < model->link_count; i++) {
    const ModelLink* link = &model->links[i];
    if (link->prescribed >= 0)
      initial_from_signal(model, link);
    else
      joint_zero(&link->joint, model->initial_coordinates + link->coordinate_first);
  }
  for (int k = 0; k < scene->initial_count; k++) {
    const SceneInitial* initial = &scene->initials[k];
    const ModelLink* link = &model->links[initial->link];
    double* q = model->initial_coordinates + link->coordinate_first;
    double* v = model->initial_velocities + link->dof_first;
    if (link->prescribed >= 0)
      check_prescribed(builder, link, initial, q, v);
    else
      initial_from_scene(link, initial, q, v);
  }
}

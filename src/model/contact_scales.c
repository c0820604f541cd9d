#include "model/contact_scales.h"
#include <stdlib.h>

/* Number of steps in which the reference acceleration moves a body by its own size, without gravity. */
#define STEPS_PER_FEATURE 10.0

static double reference_acceleration(const Model* model, double feature) {
  double gravity = vec3_norm(model->simulation.gravity);
  double crossing = STEPS_PER_FEATURE * simulation_substep_length(&model->simulation);
  return gravity > 0 ? gravity : feature / (crossing * crossing);
}

static double initial_extent(const Model* model) {
  Pose* poses = initial_poses(model);
  double extent = 0;
  for (int i = 0; i < model->link_count; i++) extent = fmax(extent, vec3_norm(poses[i].t) + model->links[i].reach);
  memory_free(poses);
  return extent;
}

static int compare_numbers(const void* left, const void* right) {
  double a = *(const double*)left, b = *(const double*)right;
  return (a > b) - (a < b);
}

/* Collects the masses of trees that forces can move and that can collide, in ascending order: mass[]. Returns their
 * number. */
static int collect_tree_masses(const Model* model, double* mass) {
  bool* collides = MEMORY_NEW(bool, model->tree_count);
  for (int i = 0; i < model->link_count; i++) {
    const ModelLink* link = &model->links[i];
    if (link->tree < 0 || !link_is_dynamic(model, i)) continue;
    mass[link->tree] += link->mass;
    collides[link->tree] |= link->collide && link->hull_count > 0;
  }
  int kept = 0;
  for (int t = 0; t < model->tree_count; t++)
    if (collides[t] && mass[t] > 0) mass[kept++] = mass[t];
  memory_free(collides);
  qsort(mass, (size_t)kept, sizeof *mass, compare_numbers);
  return kept;
}

/* Returns an upper bound of the initial speeds of all points of links [m/s]. */
static double initial_speed(const Model* model) {
  double fastest = 0;
  for (int i = 0; i < model->link_count; i++) {
    const ModelLink* link = &model->links[i];
    double slide = 0, turn = 0;
    for (int k = 0; k < link->dof_count; k++)
      *(k < link->joint.slide_count ? &slide : &turn) += fabs(model->initial_velocities[link->dof_first + k]);
    fastest = fmax(fastest, slide + turn * link->reach);
  }
  return fastest;
}

/* Returns the typical speed of a scene [m/s], which does not depend on dt. Without gravity the speed is a quarter of
 * the initial speed, so that the default rest speed is below a thousandth of the impact speed. */
static double typical_speed(const Model* model, double feature) {
  double gravity = vec3_norm(model->simulation.gravity), start = initial_speed(model);
  if (gravity > 0) return sqrt(gravity * feature);
  return start > 0 ? start / 4 : feature / (model->simulation.dt * model->simulation.steps);
}

ContactScales contact_scales(const Model* model, double feature) {
  ContactScales scales = {.acceleration = reference_acceleration(model, feature), .extent = initial_extent(model)};
  scales.speed = typical_speed(model, feature);
  scales.displacement =
      sqrt(vec3_norm(model->simulation.gravity) * feature) * simulation_substep_length(&model->simulation);
  double* mass = MEMORY_NEW(double, model->tree_count);
  int count = collect_tree_masses(model, mass);
  scales.tree_count = count;
  if (count > 0) {
    scales.lightest = mass[0] * scales.acceleration;
    scales.median = mass[(count - 1) / 2] * scales.acceleration;
    scales.heaviest = mass[count - 1] * scales.acceleration;
  }
  for (int i = 0; i < count; i++) scales.total += mass[i] * scales.acceleration;
  memory_free(mass);
  return scales;
}

#include "contact/tree_mass.h"

#include <assert.h>

double* tree_masses(const Model* model) {
  double* mass = MEMORY_NEW(double, model->tree_count);
  for (int i = 0; i < model->link_count; i++)
    if (model->links[i].tree >= 0) mass[model->links[i].tree] += model->links[i].mass;
  return mass;
}

double tree_inverse_mass(const Model* model, const double* mass, int link) {
  assert(link >= 0 && link < model->link_count);
  const ModelLink* body = &model->links[link];
  return body->tree >= 0 && body->prescribed < 0 && mass[body->tree] > 0 ? 1 / mass[body->tree] : 0;
}

/* Memory of a loss's derivatives: one block, cleared at one stroke. */
#include <string.h>

#include "differentiate/differentiate.h"

LossSeeds loss_seeds_create(const Model* model, int steps) {
  size_t states = (size_t)steps + 1, links = (size_t)model->link_count, dofs = (size_t)model->dof_count;
  size_t vertices = (size_t)model->vertex_count, controls = (size_t)model->parameter_count;
  LossSeeds seeds = {.length = states * (15 * links + 2 * dofs) + 3 * (links + vertices) + controls};
  double* block = MEMORY_NEW(double, seeds.length);
  seeds.pose = (double(*)[3][4])block;
  seeds.q = block + 12 * states * links;
  seeds.rate = seeds.q + states * dofs;
  seeds.force = (Vec3*)(seeds.rate + states * dofs);
  seeds.center = seeds.force + states * links;
  seeds.vertices = seeds.center + links;
  seeds.control = (double*)(seeds.vertices + vertices);
  return seeds;
}

void loss_seeds_clear(LossSeeds* seeds) {
  if (seeds->pose) memset(seeds->pose, 0, sizeof(double) * seeds->length);
}

void loss_seeds_destroy(LossSeeds* seeds) {
  memory_free(seeds->pose);
  *seeds = (LossSeeds){0};
}

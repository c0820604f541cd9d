/* Storage of the derivatives of a loss, in one memory block. */
#include <assert.h>
#include <string.h>

#include "differentiate/loss.h"

static LossSeeds create(const Model* model, const RowSelection* selection, int steps, size_t poses, size_t dofs) {
  size_t links = (size_t)model->link_count, vertices = (size_t)model->vertex_count;
  size_t controls = (size_t)model->parameter_count, gains = (size_t)model->gain_count;
  size_t shapes = (size_t)model->shape_parameter_count;
  size_t inputs = ((size_t)steps + 1) * (size_t)model->feedback_count;
  LossSeeds seeds = {.selection = selection,
                     .length = 15 * poses + 2 * dofs + 4 * links + 3 * vertices + controls + gains + shapes + inputs};
  double* block = MEMORY_NEW(double, seeds.length);
  seeds.pose = (double(*)[3][4])block;
  seeds.q = block + 12 * poses;
  seeds.rate = seeds.q + dofs;
  seeds.force = (Vec3*)(seeds.rate + dofs);
  seeds.center = seeds.force + poses;
  seeds.vertices = seeds.center + links;
  seeds.control = (double*)(seeds.vertices + vertices);
  seeds.gains = seeds.control + controls;
  seeds.shapes = seeds.gains + gains;
  seeds.mass = seeds.shapes + shapes;
  if (inputs > 0) seeds.feedback = seeds.mass + links;
  return seeds;
}

LossSeeds loss_seeds_create(const Model* model, int steps) {
  size_t states = (size_t)steps + 1, poses = states * (size_t)model->link_count;
  LossSeeds seeds = create(model, NULL, steps, poses, states * (size_t)model->dof_count);
  if (model->simulation.output & OUTPUT_REACTIONS) {
    seeds.reaction_length = 6 * poses;
    seeds.reaction = memory_alloc(sizeof(double) * seeds.reaction_length);
  }
  return seeds;
}

LossSeeds loss_seeds_create_selective(const Model* model, const RowSelection* selection) {
  return create(model, selection, selection->steps, selection->poses, selection->dofs);
}

void loss_seeds_clear(LossSeeds* seeds) {
  if (seeds->pose) memset(seeds->pose, 0, sizeof(double) * seeds->length);
  if (seeds->reaction) memset(seeds->reaction, 0, sizeof(double) * seeds->reaction_length);
  if (seeds->pair_force) memset(seeds->pair_force, 0, sizeof(Vec3) * seeds->pair_length);
}

void loss_seeds_add_pair_forces(LossSeeds* seeds, const ForcePair* pairs, int count, int steps) {
  assert(!seeds->pair_force && count >= 0 && steps >= 0);
  seeds->pairs = pairs;
  seeds->pair_count = count;
  seeds->pair_length = (size_t)(steps + 1) * (size_t)count;
  if (count > 0) seeds->pair_force = MEMORY_NEW(Vec3, seeds->pair_length);
}

void loss_seeds_destroy(LossSeeds* seeds) {
  memory_free(seeds->pair_force);
  memory_free(seeds->reaction);
  memory_free(seeds->pose);
  *seeds = (LossSeeds){0};
}

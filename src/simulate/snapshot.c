/* A state of a run kept as a block of bytes, and gone on from. */
#include <string.h>

#include "simulate/sim.h"

struct SimSnapshot {
  size_t size;
  unsigned char* bytes;
};

/* The past, by which the next step is aimed and begun; how many substeps it is tried in; contact. Everything else that
 * a Sim holds is made from these in the step itself. */
static void pass_state(Sim* s, StateBlock* block) {
  const Model* m = s->model;
  size_t coordinates = sizeof(double) * (size_t)m->coordinate_count, dofs = sizeof(double) * (size_t)m->dof_count;
  size_t links = (size_t)m->link_count;
  state_block_pass(block, &s->state.step, sizeof(s->state.step));
  state_block_pass(block, &s->state.time, sizeof(s->state.time));
  state_block_pass(block, &s->clock, sizeof(s->clock));
  state_block_pass(block, &s->reached, sizeof(s->reached));
  state_block_pass(block, &s->weights, sizeof(s->weights));
  state_block_pass(block, &s->substep_memory, sizeof(s->substep_memory));
  state_block_pass(block, s->q_now, coordinates);
  state_block_pass(block, s->q_old, coordinates);
  if (s->q_older) state_block_pass(block, s->q_older, coordinates);
  state_block_pass(block, s->difference_old, dofs);
  state_block_pass(block, s->state.rate, dofs);
  state_block_pass(block, s->state.momentum, sizeof(Vec3) * links);
  state_block_pass(block, s->pose_now, sizeof(Pose) * links);
  state_block_pass(block, s->pose_old, sizeof(Pose) * links);
  state_block_pass(block, s->pose_older, sizeof(Pose) * links);
  if (s->closures) closures_pass_state(s->closures, block);
  if (s->contact) contact_pass_state(s->contact, s->pose_now, block);
}

SimSnapshot* sim_save(Sim* s) {
  SimSnapshot* snapshot = MEMORY_NEW(SimSnapshot, 1);
  StateBlock block = {.pass = BLOCK_MEASURE};
  pass_state(s, &block);
  snapshot->size = block.at;
  snapshot->bytes = MEMORY_NEW(unsigned char, block.at);
  block = (StateBlock){.pass = BLOCK_WRITE, .bytes = snapshot->bytes};
  pass_state(s, &block);
  return snapshot;
}

void sim_restore(Sim* s, const SimSnapshot* snapshot) {
  StateBlock block = {.pass = BLOCK_READ, .bytes = snapshot->bytes};
  pass_state(s, &block);
  s->between.count = 0;
  s->pattern_version = -1;
  path_restart(s);
  sim_publish(s);
}

void sim_snapshot_destroy(SimSnapshot* snapshot) {
  if (!snapshot) return;
  memory_free(snapshot->bytes);
  memory_free(snapshot);
}

size_t sim_snapshot_size(const SimSnapshot* snapshot) { return sizeof(*snapshot) + snapshot->size; }

SimHistory sim_history(const Sim* s) { return (SimHistory){s->q_old, s->q_older, s->pose_old, s->pose_older}; }

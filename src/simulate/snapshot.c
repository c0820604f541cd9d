/* Saves the state of a run as a block of numbers and restores it. */
#include <assert.h>
#include <limits.h>

#include "simulate/delay.h"

struct SimSnapshot {
  size_t count, capacity;
  uint64_t* words;
};

static void serialize_clock(StepClock* clock, StateBlock* block) {
  int kind = (int)clock->kind;
  double* numbers[] = {&clock->time, &clock->dt, &clock->dt_before, &clock->dt_older};
  for (int k = 0; k < 4; k++) state_block_doubles(block, numbers[k], 1);
  state_block_int(block, &kind, STEP_FREE, STEP_AFTER_IMPACT);
  clock->kind = (StepKind)kind;
  kind = (int)clock->kind_before;
  state_block_int(block, &kind, STEP_FREE, STEP_AFTER_IMPACT);
  clock->kind_before = (StepKind)kind;
  state_block_bool(block, &clock->begin_varies);
  state_block_bool(block, &clock->dt_varies);
  state_block_bool(block, &clock->before_varies);
  state_block_bool(block, &clock->older_varies);
}

static void serialize_poses(Pose* poses, size_t links, StateBlock* block) {
  _Static_assert(sizeof(Pose) == 12 * sizeof(double), "a pose is a rotation and a place");
  state_block_doubles(block, (double*)poses, 12 * links);
}

/* Writes to the block, or reads from it, everything that later steps depend on: earlier states, the memory of
 * substepping, delays, closures, contact. All other members of Sim are computed from these within a step.
 * docs/receding.md lists the order. */
void sim_serialize_state(Sim* s, StateBlock* block) {
  const Model* m = s->model;
  size_t coordinates = (size_t)m->coordinate_count, dofs = (size_t)m->dof_count, links = (size_t)m->link_count;
  state_block_int(block, &s->state.step, 0, INT_MAX / 2);
  state_block_doubles(block, &s->state.time, 1);
  serialize_clock(&s->clock, block);
  serialize_clock(&s->reached, block);
  state_block_doubles(block, (double*)&s->weights, sizeof(s->weights) / sizeof(double));
  state_block_int(block, &s->substep_memory.last_count, 0, SUBSTEPS_FINEST);
  state_block_int(block, &s->substep_memory.steps_without_retry, -INT_MAX, INT_MAX);
  state_block_int(block, &s->substep_memory.attempted, 0, SUBSTEPS_FINEST);
  state_block_doubles(block, s->q_now, coordinates);
  state_block_doubles(block, s->q_old, coordinates);
  if (s->q_older) state_block_doubles(block, s->q_older, coordinates);
  state_block_doubles(block, s->difference_old, dofs);
  state_block_doubles(block, s->state.rate, dofs);
  state_block_doubles(block, s->start_rate, dofs);
  state_block_doubles(block, (double*)s->state.momentum, 3 * links);
  if (s->state.contact_force) state_block_doubles(block, (double*)s->state.contact_force, 3 * links);
  serialize_poses(s->pose_now, links, block);
  serialize_poses(s->pose_old, links, block);
  serialize_poses(s->pose_older, links, block);
  serialize_poses(s->pose_rate, links, block);
  delays_serialize_state(s, block);
  if (s->closures) closures_serialize_state(s->closures, block);
  scheme_balance_serialize_state(s, block);
  if (s->contact) contact_pass_state(s->contact, s->pose_now, block);
}

void sim_save_over(Sim* s, SimSnapshot* snapshot) {
  assert(snapshot);
  StateBlock block = {.pass = BLOCK_MEASURE};
  sim_serialize_state(s, &block);
  snapshot->count = block.at;
  if (snapshot->capacity < block.at) {
    memory_free(snapshot->words);
    snapshot->capacity = block.at + block.at / 4;
    snapshot->words = MEMORY_NEW(uint64_t, snapshot->capacity);
  }
  block = (StateBlock){.pass = BLOCK_WRITE, .words = snapshot->words};
  sim_serialize_state(s, &block);
}

SimSnapshot* sim_snapshot_create(void) { return MEMORY_NEW(SimSnapshot, 1); }

SimSnapshot* sim_save(Sim* s) {
  SimSnapshot* snapshot = sim_snapshot_create();
  StateBlock block = {.pass = BLOCK_MEASURE};
  sim_serialize_state(s, &block);
  snapshot->capacity = block.at; /* allocates the exact size, because snapshots can be kept for long */
  snapshot->words = MEMORY_NEW(uint64_t, block.at);
  sim_save_over(s, snapshot);
  return snapshot;
}

static void read_previous_poses(Sim* s, StateBlock* block) {
  sim_serialize_state(s, block);
  s->substeps.states.count = 0;
  s->friction_solve.has_initial = false;
  s->substeps.solves.count = 0;
  s->pattern.version = -1;
}

bool sim_read_state(Sim* s, StateBlock* block) {
  read_previous_poses(s, block);
  path_restart(s);
  sim_update_public_state(s);
  return !block->failed && block->at == block->count;
}

void sim_restore_after_failure(Sim* s, const SimSnapshot* snapshot) {
  StateBlock block = {.pass = BLOCK_READ, .words = snapshot->words, .count = snapshot->count};
  read_previous_poses(s, &block);
  sim_update_public_state(s);
  assert(!block.failed && block.at == block.count); /* the snapshot belongs to this run */
}

void sim_restore(Sim* s, const SimSnapshot* snapshot) {
  StateBlock block = {.pass = BLOCK_READ, .words = snapshot->words, .count = snapshot->count};
  bool whole = sim_read_state(s, &block);
  assert(whole); /* the snapshot belongs to a run of the same model */
  (void)whole;
}

void sim_snapshot_destroy(SimSnapshot* snapshot) {
  if (!snapshot) return;
  memory_free(snapshot->words);
  memory_free(snapshot);
}

size_t sim_snapshot_size(const SimSnapshot* snapshot) { return sizeof(*snapshot) + sizeof(uint64_t) * snapshot->count; }

SimHistory sim_history(const Sim* s) { return (SimHistory){s->q_old, s->q_older, s->pose_old, s->pose_older}; }

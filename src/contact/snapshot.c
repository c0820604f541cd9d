/* What a contact system knows between two steps, as a block of bytes: of its pairs, and what the law remembers of them;
 * the reserve of the broad phase, and what GJK remembers, for bits depend on where a search begins. */
#include <string.h>

#include "contact/system.h"

/* Of every candidate. */
typedef struct {
  uint64_t key;
  GjkCache gjk;
  PairOutcome outcome;
  bool lagged, has_plane, has_terms;
  Plane plane;
  double clearance[2], separation, contact_energy, spent_energy, friction_energy;
  Vec3 axis, force[2];
} SavedPair;

static bool law_knows(const SavedPair* p) { return p->lagged || p->has_terms || p->outcome == PAIR_PRESSED; }

static SavedPair pair_to_save(const ContactSystem* s, const ContactPair* p) {
  const PairState* state = &p->state[s->current];
  SavedPair saved = {.key = p->key,
                     .gjk = p->gjk,
                     .outcome = state->outcome,
                     .lagged = p->lagged,
                     .has_plane = state->has_plane,
                     .has_terms = state->has_terms,
                     .plane = state->plane,
                     .separation = state->separation,
                     .contact_energy = state->contact_energy,
                     .spent_energy = state->spent_energy,
                     .friction_energy = state->friction_energy,
                     .axis = state->axis};
  memcpy(saved.clearance, state->clearance, sizeof(saved.clearance));
  for (int k = 0; state->has_terms && k < 2; k++) saved.force[k] = state->derivatives.force[k];
  return saved;
}

static void restore_pair(const ContactSystem* s, ContactPair* p, const SavedPair* saved) {
  PairState* state = &p->state[s->current];
  contact_name_pair(s, p, saved->key);
  p->gjk = saved->gjk;
  p->lagged = saved->lagged;
  state->outcome = saved->outcome;
  state->has_plane = saved->has_plane;
  state->has_terms = state->derived = saved->has_terms;
  state->plane = saved->plane;
  memcpy(state->clearance, saved->clearance, sizeof(state->clearance));
  state->separation = saved->separation;
  state->contact_energy = saved->contact_energy;
  state->spent_energy = saved->spent_energy;
  state->friction_energy = saved->friction_energy;
  state->axis = saved->axis;
  for (int k = 0; k < 2; k++) state->derivatives.force[k] = saved->force[k];
  p->state[1 - s->current] = (PairState){.outcome = PAIR_APART, .separation = saved->separation, .axis = saved->axis};
}

static void pass_pair(ContactSystem* s, ContactPair* p, StateBlock* block) {
  SavedPair saved = {0};
  bool reading = block->pass == BLOCK_READ;
  if (!reading) saved = pair_to_save(s, p);
  state_block_pass(block, &saved, sizeof(saved));
  if (reading) restore_pair(s, p, &saved);
  if (!law_knows(&saved)) return;
  LawPair pair = contact_law_pair(s, p, s->current, 0);
  state_block_pass(block, pair.memory, s->law->pair_size);
  state_block_pass(block, pair.own, s->law->state_size);
}

/* As many empty pairs, in the order of the list. */
static void make_pairs(ContactSystem* s, int count) {
  for (int k = 0; k < s->list_count; k++) s->free_slots[s->free_count++] = s->list[k];
  contact_grow_list(s, count);
  for (int k = 0; k < count; k++) s->list[k] = contact_take_slot(s);
  s->list_count = count;
}

void contact_pass_state(ContactSystem* s, const Pose* poses, StateBlock* block) {
  size_t hulls = sizeof(double) * (size_t)s->model->hull_count;
  int count = s->list_count;
  state_block_pass(block, s->travelled, hulls);
  state_block_pass(block, s->slack, hulls);
  state_block_pass(block, &count, sizeof(count));
  if (block->pass == BLOCK_READ) {
    contact_place(s, s->current, poses);
    make_pairs(s, count);
    s->stamp++; /* nothing has been evaluated with the lag in force */
    s->version++;
    s->way_moved = s->entered = true;
    s->phase = CONTACT_STANDING;
  }
  for (int k = 0; k < count; k++) pass_pair(s, contact_pair(s, k), block);
  if (block->pass == BLOCK_READ) contact_list_terms(s);
}

/* Writes or reads the state of a contact system between two steps as a block of numbers. The block contains the pairs
 * with the law's data, the reserve of the broad phase, and the GJK caches. The caches are needed because the last bits
 * of results depend on where a search starts. */
#include <limits.h>
#include <string.h>

#include "contact/system.h"

/* State of a candidate pair in the saved block. */
typedef struct {
  uint64_t key;
  GjkCache gjk;
  PairOutcome outcome;
  bool lagged, has_plane, has_terms;
  Plane plane;
  double clearance[2], separation, contact_energy, spent_energy, friction_energy;
  Vec3 axis, force[2];
} SavedPair;

static bool has_law_data(const SavedPair* p) { return p->lagged || p->has_terms || p->outcome == PAIR_PRESSED; }

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
  for (int k = 0; state->has_terms && k < 2; k++) saved.force[k] = contact_derivatives(s, p)->force[k];
  return saved;
}

static void restore_pair(const ContactSystem* s, ContactPair* p, const SavedPair* saved) {
  PairState* state = &p->state[s->current];
  contact_init_pair(s, p, saved->key);
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
  PairDerivatives* d = contact_derivatives(s, p);
  memset(d, 0, sizeof(*d));
  for (int k = 0; k < 2; k++) d->force[k] = saved->force[k];
  p->state[1 - s->current] = (PairState){.outcome = PAIR_APART, .separation = saved->separation, .axis = saved->axis};
}

/* Returns true if `key` is above `before` and names two different items of the model: two hulls that are not both
 * half-spaces, or two links. Link numbers begin after the hull numbers. */
static bool is_valid_key(const ContactSystem* s, uint64_t key, uint64_t before) {
  uint64_t a = key >> 32, b = key & UINT32_MAX, hulls = (uint64_t)s->model->hull_count;
  uint64_t items = hulls + (uint64_t)s->model->link_count;
  if (!(key > before) || a >= items || b >= items || a == b || (a < hulls) != (b < hulls)) return false;
  if (a >= hulls) return true;
  return s->model->hulls[a].kind->bounded || s->model->hulls[b].kind->bounded;
}

static void pass_key(const ContactSystem* s, uint64_t* key, uint64_t before, StateBlock* block) {
  state_block_word(block, key);
  if (block->pass != BLOCK_READ || is_valid_key(s, *key, before)) return;
  block->failed = true;
  *key = 0;
}

static int last_vertex(const ContactSystem* s, int item) {
  int count = item < s->model->hull_count ? s->model->hulls[item].points.count : 0;
  return count > 0 ? count - 1 : 0;
}

static void pass_saved(const ContactSystem* s, SavedPair* p, StateBlock* block) {
  ContactPair pair;
  int outcome = (int)p->outcome;
  contact_init_pair(s, &pair, p->key);
  state_block_int(block, &p->gjk.count, 0, 4);
  for (int k = 0; k < 4; k++) {
    state_block_int(block, &p->gjk.a[k], 0, last_vertex(s, pair.hull_a));
    state_block_int(block, &p->gjk.b[k], 0, last_vertex(s, pair.hull_b));
  }
  state_block_doubles(block, &p->gjk.direction.x, 3);
  state_block_int(block, &outcome, PAIR_PRESSED, PAIR_APART);
  state_block_bool(block, &p->lagged);
  state_block_bool(block, &p->has_plane);
  state_block_bool(block, &p->has_terms);
  state_block_doubles(block, &p->plane.origin.x, 3);
  state_block_doubles(block, &p->plane.n.x, 3);
  state_block_doubles(block, &p->plane.o, 1);
  state_block_doubles(block, p->clearance, 2);
  state_block_doubles(block, &p->separation, 1);
  state_block_doubles(block, &p->contact_energy, 1);
  state_block_doubles(block, &p->friction_energy, 1);
  state_block_doubles(block, &p->axis.x, 3);
  for (int k = 0; k < 2; k++) state_block_doubles(block, &p->force[k].x, 3);
  p->outcome = (PairOutcome)outcome;
}

/* Writes the law's data of the pair and of its accepted state to the block, or reads them. */
static void pass_law_data(ContactSystem* s, ContactPair* p, StateBlock* block) {
  LawPair pair = contact_law_pair(s, p, s->current, 0);
  const ContactLaw* law = p->law->row;
  if (law->points) state_block_bool(block, &p->has_points); /* the contact points follow from the poses */
  if (law->history) {
    law->history->pass(&pair, block);
    return;
  }
  state_block_doubles(block, pair.memory, law->pair_size / sizeof(double));
  state_block_doubles(block, pair.data, law->state_size / sizeof(double));
}

/* Writes one pair to the block, or reads it. *before: key of the previous pair; it is set to the key of this pair.
 * Returns false if the block is invalid and cannot be read further. */
static bool pass_pair(ContactSystem* s, ContactPair* p, uint64_t* before, StateBlock* block) {
  SavedPair saved = {0};
  bool reading = block->pass == BLOCK_READ;
  if (!reading) saved = pair_to_save(s, p);
  pass_key(s, &saved.key, *before, block);
  if (block->failed) return false;
  *before = saved.key;
  pass_saved(s, &saved, block);
  if (reading) restore_pair(s, p, &saved);
  if (has_law_data(&saved)) pass_law_data(s, p, block);
  return !block->failed;
}

/* Returns an upper bound of the number of pairs in the rest of the block. It limits the memory that is allocated if the
 * block contains an invalid count. */
static int max_pair_count(const StateBlock* block) {
  size_t left = block->count - block->at;
  return left < INT_MAX ? (int)left : INT_MAX;
}

/* Replaces the list of candidates by `count` pairs with undefined contents. */
static void allocate_pairs(ContactSystem* s, int count) {
  for (int k = 0; k < s->list_count; k++) s->free_slots[s->free_count++] = s->list[k];
  contact_reserve_list(s, count);
  for (int k = 0; k < count; k++) s->list[k] = contact_allocate_slot(s);
  s->list_count = count;
}

void contact_make_constant(ContactSystem* s) {
  for (int k = 0; k < s->term_count; k++) {
    ContactPair* p = &s->pairs[s->terms[k]];
    LawPair pair = contact_law_pair(s, p, s->current, 0);
    if (pair.state->outcome == PAIR_PRESSED && p->law->row->impacts) p->law->row->impacts->hold(&pair);
  }
}

/* Writes `count` pairs to the block, or reads them. If the block does not fit the model, the list then contains only
 * the pairs that were read before the fault. */
static void pass_pairs(ContactSystem* s, int count, StateBlock* block) {
  uint64_t before = 0;
  for (int k = 0; k < count; k++) {
    if (pass_pair(s, contact_pair(s, k), &before, block)) continue;
    for (int left = k; left < count; left++) s->free_slots[s->free_count++] = s->list[left];
    s->list_count = k;
    return;
  }
}

void contact_pass_state(ContactSystem* s, const Pose* poses, StateBlock* block) {
  size_t hulls = (size_t)s->model->hull_count;
  int count = s->list_count;
  state_block_doubles(block, s->travelled, hulls);
  state_block_doubles(block, s->slack, hulls);
  state_block_int(block, &count, 0, block->pass == BLOCK_READ ? max_pair_count(block) : INT_MAX);
  if (block->pass == BLOCK_READ) {
    contact_set_poses(s, s->current, poses);
    allocate_pairs(s, count);
    s->stamp++; /* invalidates all evaluations, which belong to an older friction reference */
    s->version++;
    s->path_moved = s->has_state = true;
    s->phase = CONTACT_STANDING;
  }
  pass_pairs(s, count, block);
  if (block->pass != BLOCK_READ) return;
  contact_wake(s, NULL);
  contact_list_terms(s);
}

/* Friction that rests on the force of its own step (docs/derivations/friction.md, F8). */
#include <assert.h>
#include <string.h>

#include "contact/system.h"

bool contact_friction_settled(const ContactSystem* s, double tolerance, int links[2]) {
  if (!s->law->loads) return true;
  double largest = 0, off = 0;
  for (int k = 0; k < s->list_count; k++) {
    ContactPair* p = contact_pair(s, k);
    bool presses = p->state[s->current].outcome == PAIR_PRESSED;
    if (!presses && !p->lagged) continue;
    LawPair pair = contact_law_pair(s, p, s->current, 0);
    double load, change;
    s->law->loads(&pair, &load, &change);
    largest = fmax(largest, load);
    if (links && change > off) {
      links[0] = p->link_a;
      links[1] = p->link_b;
    }
    off = fmax(off, change);
  }
  return off <= tolerance * largest;
}

/* Sets where each candidate's part of the room begins. Returns how much is needed. */
static size_t find_rooms(ContactSystem* s) {
  size_t needed = 0;
  for (int k = 0; k < s->list_count; k++) {
    ContactPair* p = contact_pair(s, k);
    LawPair pair = contact_law_pair(s, p, s->current, 0);
    s->lag_first[k] = needed;
    if (p->state[s->current].outcome == PAIR_PRESSED && s->law->lag_room) needed += s->law->lag_room(&pair);
  }
  return needed;
}

static void relag_pair(void* context, int index, int thread) {
  ContactSystem* s = context;
  ContactPair* p = contact_pair(s, index);
  bool presses = p->state[s->current].outcome == PAIR_PRESSED;
  if (!presses && !p->lagged) return;
  const Pose begin[2] = {s->begin_poses[p->link_a], s->begin_poses[p->link_b]};
  LawPair pair = contact_law_pair(s, p, s->current, thread);
  if (s->law->relag(&pair, begin, s->own_room + s->lag_first[index]) == SIZE_MAX) return;
  p->lagged = presses;
  contact_grip_pair(s, p);
}

bool contact_relag(ContactSystem* s) {
  assert(s->entered && s->law->relag);
  double start = timer_now();
  contact_set_grip(s, GRIP_FULL);
  size_t needed = find_rooms(s);
  if (needed > s->own_capacity) {
    memory_free(s->own_room);
    s->own_capacity = 2 * needed + 4096;
    s->own_room = memory_alloc(s->own_capacity);
  }
  parallel_for(s->threads, s->list_count, PARALLEL_FAR, LINKS_GRAIN, relag_pair, s);
  s->times.friction += timer_now() - start;
  return contact_evaluate_again(s);
}

/* Sleeping pairs: pairs that are not evaluated, because their links do not move. A pair sleeps as long as both of its
 * links keep their poses. */
#include <math.h>
#include <string.h>

#include "contact/system.h"

void contact_update_list_links(ContactSystem* s) {
  if (s->list_links_version == s->version) return;
  for (int k = 0; k < s->list_count; k++) {
    const ContactPair* p = contact_pair(s, k);
    s->list_links[k] = (LinkPair){p->link_a, p->link_b};
  }
  s->list_links_version = s->version;
}

static bool same_pose(const ContactSystem* s, int link) {
  return memcmp(&s->pose[0][link], &s->pose[1][link], sizeof(Pose)) == 0;
}

/* Returns true if the trial state of the pair was evaluated at the accepted poses of its links. */
static bool has_trial_at_accepted_pose(const ContactSystem* s, const ContactPair* p) {
  return p->state[1 - s->current].stamp == s->stamp && same_pose(s, p->link_a) && same_pose(s, p->link_b);
}

/* Makes the trial state of a pair equal to its accepted state, so that the pair can sleep. Returns false if the
 * accepted state was not evaluated with the present friction reference, or if the trial state lacks friction. The pair
 * then stays awake. */
static bool make_unchanged(ContactSystem* s, int slot) {
  ContactPair* p = &s->pairs[slot];
  if (s->sleep[slot].is_unchanged) return true;
  if (p->state[s->current].stamp != s->stamp) return false;
  if (!has_trial_at_accepted_pose(s, p))
    contact_copy_accepted_state(s, p);
  else if (p->lagged && law_has_friction(p->law->row) && !p->state[1 - s->current].has_friction)
    return false;
  s->sleep[slot] =
      (PairSleep){.is_unchanged = true, .has_terms = p->state[s->current].has_terms, .rounding = (double)NAN};
  return true;
}

typedef struct {
  ContactSystem* system;
  const bool* links; /* links whose pairs are woken (size: links); NULL: pairs of all links are woken */
} WakeTask;

static void wake_pair(void* context, int k, int thread) {
  (void)thread;
  const WakeTask* task = context;
  ContactSystem* s = task->system;
  LinkPair p = s->list_links[k];
  int slot = s->list[k];
  if (task->links && !task->links[p.a] && !task->links[p.b] && make_unchanged(s, slot)) return;
  s->sleep[slot].is_unchanged = s->sleep[slot].has_trial = s->sleep[slot].includes_friction = false;
}

void contact_wake(ContactSystem* s, const bool* links) {
  contact_update_list_links(s);
  WakeTask task = {s, links};
  parallel_for(s->threads, s->list_count, PARALLEL_THRESHOLD_INACTIVE, LINKS_GRAIN, wake_pair, &task);
  s->awake_count = s->sleeping_hulls = 0;
  for (int k = 0; k < s->list_count; k++) {
    int slot = s->list[k];
    if (s->sleep[slot].is_unchanged)
      s->sleeping_hulls += !(s->pairs_links && s->pairs[slot].is_link_pair);
    else
      s->awake[s->awake_count++] = k;
  }
}

int contact_awake_count(const ContactSystem* s) { return s->awake_count; }

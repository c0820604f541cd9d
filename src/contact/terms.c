/* Terms of the accepted state's pairs in the step's equations, and Newton's model of them. */
#include <assert.h>
#include <string.h>

#include "contact/friction.h"
#include "contact/rolling_contact.h"
#include "contact/system.h"

void contact_list_terms(ContactSystem* s) {
  s->term_count = s->fresh_count = 0;
  for (int k = 0; k < s->awake_count; k++) {
    int slot = s->list[s->awake[k]];
    s->sleep[slot].has_terms = s->pairs[slot].state[s->current].has_terms;
    s->sleep[slot].tried = s->sleep[slot].judged = false; /* the trial state is no longer valid */
  }
  for (int k = 0; k < s->list_count; k++) {
    int slot = s->list[k];
    if (!s->sleep[slot].has_terms) continue;
    s->term_links[s->term_count] = s->list_links[k];
    s->terms[s->term_count++] = slot;
    if (!s->sleep[slot].even) s->fresh[s->fresh_count++] = slot;
  }
}

int contact_term_count(const ContactSystem* s) { return s->term_count; }

ContactTerms contact_term(const ContactSystem* s, int index) {
  assert(index >= 0 && index < contact_term_count(s));
  const PairDerivatives* d = &s->derivatives[s->current][s->terms[index]];
  return (ContactTerms){s->term_links[index].a, s->term_links[index].b, d->force, d->moment, d->hessian, false, false};
}

/* Cosine of the angle from the normal to the axis of a circle above which its rim may land flat. */
#define FLAT 0.98

bool contact_term_rolls(const ContactSystem* s, int index, const Pose* const pose[2], double* along_gap,
                        double* approach, double* slip) {
  assert(index >= 0 && index < contact_term_count(s));
  const Model* m = s->model;
  const ContactPair* p = &s->pairs[s->terms[index]];
  const PairState* state = &p->state[s->current];
  const double* material = p->material.value;
  bool of_links = p->hull_b >= m->hull_count, turns = m->link_tree[p->link_a] < 0;
  if (of_links || !s->law->round || (!turns && m->link_tree[p->link_b] >= 0)) return false;
  const ModelHull *a = &m->hulls[p->hull_a], *b = &m->hulls[p->hull_b];
  const HullInstance* moving = &s->instance[s->current][turns ? p->hull_b : p->hull_a];
  if (moving->points.count + moving->ring_count != 1) return false;
  if (moving->ring_count > 0 && fabs(vec3_dot(friction_ring_axis(moving), state->axis)) > FLAT) return false;
  if (material[MATERIAL_ROLLING] > 0 || material[MATERIAL_SPINNING] > 0) return false;
  double gap[2];
  for (int k = 0; k < 2; k++) {
    HullInstance at[2] = {pair_hull_at(a, &pose[k][p->link_a]), pair_hull_at(b, &pose[k][p->link_b])};
    gap[k] = pair_gap_along(&at[0], &at[1], state->axis);
  }
  *approach = fabs(gap[0] - gap[1]);
  *along_gap = 0.5 * fabs(vec3_dot(contact_derivatives(s, p)->force[0], state->axis)) * (gap[0] - gap[1]);
  *slip = state->has_friction ? state->friction_energy : 0;
  return true;
}

static int system_term_count(const void* holder) { return contact_term_count(holder); }

static ContactTerms system_term(const void* holder, int index) { return contact_term(holder, index); }

ContactTermList contact_term_list(const ContactSystem* s) {
  return (ContactTermList){s, s ? system_term_count : NULL, s ? system_term : NULL};
}

/* Sets the twist of body a relative to body b if b is a half-space, which has no rows in the Hessian; otherwise that of
 * body a. */
static void felt_twist(const ContactSystem* s, const ContactPair* p, const double (*twist)[6], double felt[6]) {
  const double *a = twist[p->link_a], *b = twist[p->link_b];
  memcpy(felt, a, sizeof(double[6]));
  bool of_links = p->hull_b >= s->model->hull_count; /* no law of links relieves */
  if (of_links || s->model->hulls[p->hull_b].kind->bounded) return;
  Vec3 arm = vec3_sub(s->reference[s->current][p->link_a], s->reference[s->current][p->link_b]);
  Vec3 along = vec3_cross(vec3(b[0], b[1], b[2]), arm);
  const double by_turn[6] = {0, 0, 0, along.x, along.y, along.z};
  for (int k = 0; k < 6; k++) felt[k] -= b[k] + by_turn[k];
}

void contact_refine(ContactSystem* s, const double (*twist)[6]) {
  for (int k = 0; k < s->term_count && s->law->refine; k++) {
    int slot = s->terms[k];
    ContactPair* p = &s->pairs[slot];
    if (p->state[s->current].outcome != PAIR_PRESSED) continue;
    double twist_a[6];
    felt_twist(s, p, twist, twist_a);
    LawPair pair = contact_law_pair(s, p, s->current, 0);
    s->law->refine(&pair, twist_a, twist[p->link_b]);
  }
}

static void project_pair(void* context, int index, int thread) {
  ContactSystem* s = context;
  ContactPair* p = &s->pairs[s->terms[index]];
  if (s->projecting && !s->projecting[p->link_a] && !s->projecting[p->link_b]) return;
  if (s->law->convex) {
    LawPair pair = contact_law_pair(s, p, s->current, thread);
    if (s->law->convex(&pair)) return;
  }
  symmetric_project(12, &contact_derivatives(s, p)->hessian[0][0]);
}

void contact_project(ContactSystem* s, const bool* links) {
  s->projecting = links;
  double start = timer_now();
  parallel_for(s->threads, s->term_count, PARALLEL_THRESHOLD, PARALLEL_GRAIN, project_pair, s);
  s->times.contact += timer_now() - start;
}

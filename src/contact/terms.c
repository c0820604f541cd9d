/* Terms of the accepted state's pairs in the step's equations, and Newton's model of them. */
#include <assert.h>
#include <string.h>

#include "contact/system.h"

void contact_list_terms(ContactSystem* s) {
  s->term_count = s->fresh_count = 0;
  for (int k = 0; k < s->awake_count; k++) {
    int slot = s->list[s->awake[k]];
    s->sleep[slot].has_terms = s->pairs[slot].state[s->current].has_terms;
    s->sleep[slot].tried = s->sleep[slot].judged = false; /* the trial state is another one now */
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
  return (ContactTerms){s->term_links[index].a, s->term_links[index].b, d->force, d->moment, d->hessian, false};
}

static int system_term_count(const void* holder) { return contact_term_count(holder); }

static ContactTerms system_term(const void* holder, int index) { return contact_term(holder, index); }

ContactTermList contact_term_list(const ContactSystem* s) {
  return (ContactTermList){s, s ? system_term_count : NULL, s ? system_term : NULL};
}

/* Normal force over what the step leaves of it: from here on the pair is relieved, and more than that is not believed.
 */
#define RELIEF_FROM 1.5
#define RELIEF_MOST 1e4

/* Twist of body a that the pair feels. Half-spaces are b, and have no rows in the Hessian: where one moves it is as if
 * a went the other way. */
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

/* Over what the linear model leaves of it: the normal force, along the plane's normal, by what body a feels. */
static double force_excess(const PairDerivatives* d, Vec3 n, const double twist_a[6], const double twist_b[6]) {
  double normal[3] = {n.x, n.y, n.z}, change = 0;
  for (int i = 0; i < 3; i++)
    for (int k = 0; k < 6; k++)
      change += normal[i] * (d->hessian[3 + i][k] * twist_a[k] + d->hessian[3 + i][6 + k] * twist_b[k]);
  double force = vec3_dot(n, d->force[0]), left = force + change;
  return force > 0 ? force / fmax(left, force / RELIEF_MOST) : 1;
}

typedef struct {
  ContactSystem* system;
  const double (*twist)[6];
} RelieveTask;

static void relieve_pair(void* context, int index, int thread) {
  const RelieveTask* task = context;
  ContactSystem* s = task->system;
  int slot = s->terms[index];
  if (s->sleep[slot].even) return; /* its bodies have no twist */
  ContactPair* p = &s->pairs[slot];
  const PairState* state = &p->state[s->current];
  s->sleep[slot].relieved = false;
  if (state->outcome != PAIR_PRESSED) return;
  double twist_a[6];
  felt_twist(s, p, task->twist, twist_a);
  double ratio = force_excess(contact_derivatives(s, p), state->axis, twist_a, task->twist[p->link_b]);
  if (!(ratio > RELIEF_FROM)) return;
  LawPair pair = contact_law_pair(s, p, s->current, thread);
  s->sleep[slot].relieved = s->law->relieve(&pair, ratio, &s->models[slot]);
}

int contact_relieve(ContactSystem* s, const double (*twist)[6], bool* relieved) {
  int count = 0, links = s->links ? s->link_count : s->model->link_count;
  for (int i = 0; i < links; i++) relieved[s->links ? s->links[i] : i] = false;
  if (!s->law->relieve) return 0;
  RelieveTask task = {s, twist};
  parallel_for(s->threads, s->term_count, PARALLEL_THRESHOLD, PARALLEL_GRAIN, relieve_pair, &task);
  for (int k = 0; k < s->term_count; k++) {
    const PairSleep* sleep = &s->sleep[s->terms[k]];
    if (sleep->even || !sleep->relieved) continue;
    LinkPair p = s->term_links[k]; /* of a part: what cannot move is not its own */
    if (!s->links || s->model->link_tree[p.a] >= 0) relieved[p.a] = true;
    if (!s->links || s->model->link_tree[p.b] >= 0) relieved[p.b] = true;
    count++;
  }
  return count;
}

void contact_refine(ContactSystem* s, const double (*twist)[6]) {
  for (int k = 0; k < s->term_count && s->law->refine; k++) {
    int slot = s->terms[k];
    ContactPair* p = &s->pairs[slot];
    if (s->sleep[slot].even || p->state[s->current].outcome != PAIR_PRESSED) continue;
    double twist_a[6];
    felt_twist(s, p, twist, twist_a);
    LawPair pair = contact_law_pair(s, p, s->current, 0);
    s->law->refine(&pair, twist_a, twist[p->link_b]);
  }
}

static ContactTerms model_term(const void* holder, int index) {
  const ContactSystem* s = holder;
  int slot = s->terms[index];
  const PairDerivatives* d = s->sleep[slot].relieved ? &s->models[slot] : &s->derivatives[s->current][slot];
  return (ContactTerms){s->term_links[index].a, s->term_links[index].b, d->force, d->moment, d->hessian, false};
}

ContactTermList contact_model_list(const ContactSystem* s) {
  return (ContactTermList){s, s ? system_term_count : NULL, s ? model_term : NULL};
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

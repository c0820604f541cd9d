/* What the output asks of a state: energies, gaps, contact forces. */
#include <stdlib.h>

#include "simulate/spin.h"

/* Kinetic energy from the integrator's own velocity of the moment matrix: 1/2 tr(V S V^T); of a body that carries its
 * momentum from that. */
static double kinetic_energy(const Sim* s, int i) {
  if (s->spinners && s->spinners[i].spins) return spin_motion(s, i).kinetic;
  const ModelLink* link = &s->model->links[i];
  double a = s->weights.rate_now, b = s->weights.rate_old, sum = 0;
  const Pose *p0 = &s->pose_now[i], *p1 = &s->pose_old[i], *p2 = &s->pose_older[i];
  double v[3][4];
  for (int r = 0; r < 3; r++)
    for (int c = 0; c < 3; c++)
      v[r][c] = s->state.step == 0
                    ? s->pose_rate[i].r.m[r][c]
                    : a * (p0->r.m[r][c] - p1->r.m[r][c]) - (b != 0 ? b * (p1->r.m[r][c] - p2->r.m[r][c]) : 0);
  Vec3 t = s->pose_rate[i].t;
  if (s->state.step > 0) {
    t = vec3_scale(vec3_sub(p0->t, p1->t), a);
    if (b != 0) t = vec3_add_scaled(t, -b, vec3_sub(p1->t, p2->t));
  }
  v[0][3] = t.x;
  v[1][3] = t.y;
  v[2][3] = t.z;
  for (int r = 0; r < 3; r++)
    for (int j = 0; j < 4; j++)
      for (int k = 0; k < 4; k++) sum += v[r][j] * link->moment.s[j][k] * v[r][k];
  return 0.5 * sum;
}

SimMeasure sim_measure(Sim* s) {
  SimMeasure out = {0, 0, INFINITY};
  for (int i = 0; i < s->model->link_count; i++) {
    const ModelLink* link = &s->model->links[i];
    if (link->tree < 0) continue;
    out.kinetic += kinetic_energy(s, i);
    out.potential -= link->mass * vec3_dot(s->model->simulation.gravity, s->state.center[i]);
  }
  for (int k = 0; s->contact && k < contact_candidate_count(s->contact); k++) {
    double gap = contact_gap(s->contact, k);
    if (gap < out.smallest_gap) out.smallest_gap = gap;
  }
  return out;
}

static int compare_contacts(const void* x, const void* y) {
  const SimContact *a = x, *b = y;
  if (a->a != b->a) return a->a < b->a ? -1 : 1;
  return a->b < b->b ? -1 : a->b > b->b;
}

static void merge_sorted(SimContact* list, int* count) {
  int kept = 0;
  for (int k = 0; k < *count; k++) {
    SimContact* last = kept > 0 ? &list[kept - 1] : NULL;
    if (last && last->a == list[k].a && last->b == list[k].b) {
      last->force = vec3_add(last->force, list[k].force);
      last->gap = fmin(last->gap, list[k].gap);
    } else
      list[kept++] = list[k];
  }
  *count = kept;
}

const SimContact* sim_contacts(Sim* s, int* count) {
  *count = 0;
  if (!s->contact) return NULL;
  int candidates = contact_candidate_count(s->contact);
  if (candidates > s->contact_capacity) {
    memory_free(s->contacts);
    s->contact_capacity = 2 * candidates;
    s->contacts = MEMORY_NEW(SimContact, s->contact_capacity);
  }
  for (int k = 0; k < candidates; k++) {
    Vec3 force;
    if (!contact_force(s->contact, k, &force)) continue;
    SimContact c = {.gap = contact_gap(s->contact, k), .force = force};
    contact_candidate(s->contact, k, &c.a, &c.b);
    if (c.a > c.b) c = (SimContact){c.b, c.a, c.gap, vec3_scale(force, -1.0)};
    s->contacts[(*count)++] = c;
  }
  if (*count > 1) qsort(s->contacts, (size_t)*count, sizeof(SimContact), compare_contacts);
  merge_sorted(s->contacts, count);
  return s->contacts;
}

const ContactRecord* sim_contact_records(Sim* s, int* count) {
  *count = 0;
  if (!s->contact) return NULL;
  int candidates = contact_candidate_count(s->contact);
  if (candidates > s->record_capacity) {
    memory_free(s->records);
    s->record_capacity = 2 * candidates;
    s->records = MEMORY_NEW(ContactRecord, s->record_capacity);
  }
  *count = contact_record(s->contact, s->records);
  return s->records;
}

void sim_link_forces(const Sim* s, Vec3* force) {
  for (int i = 0; i < s->model->link_count; i++) force[i] = vec3(0, 0, 0);
  int count = s->contact ? contact_term_count(s->contact) : 0;
  for (int k = 0; k < count; k++) {
    ContactTerms t = contact_term(s->contact, k);
    force[t.link_a] = vec3_sub(force[t.link_a], t.force[0]);
    force[t.link_b] = vec3_sub(force[t.link_b], t.force[1]);
  }
}

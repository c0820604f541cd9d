/* What the output asks of a state: energies, gaps, contact forces. */
#include <stdlib.h>

#include "simulate/spin.h"

/* The integrator's own velocity of a link, dT/dt as a 3x4 matrix. */
static void link_velocity(const Sim* s, int i, double v[3][4]) {
  double a = s->weights.rate_now, b = s->weights.rate_old;
  const Pose *p0 = &s->pose_now[i], *p1 = &s->pose_old[i], *p2 = &s->pose_older[i];
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
}

/* G = V S: rate of the moments of mass. */
static void moment_rates(const Sim* s, int i, const double v[3][4], double g[3][4]) {
  const MassMoment* moment = &s->model->links[i].moment;
  for (int r = 0; r < 3; r++)
    for (int j = 0; j < 4; j++) {
      g[r][j] = 0;
      for (int k = 0; k < 4; k++) g[r][j] += v[r][k] * moment->s[k][j];
    }
}

/* Velocity of the centre of mass of a spinning body. Its frame's velocity is not used: the frame may turn far. */
static Vec3 center_velocity(const Sim* s, int i) {
  Vec3 middle = s->model->links[i].center;
  if (s->state.step == 0) return vec3_add(mat3_mul_vec(s->pose_rate[i].r, middle), s->pose_rate[i].t);
  Vec3 way = vec3_sub(pose_apply(s->pose_now[i], middle), pose_apply(s->pose_old[i], middle));
  return vec3_scale(way, s->weights.rate_now);
}

/* 1/2 tr(V S V^T); for a body that carries its momentum 1/2 m v^2 + 1/2 L . w (W7). */
static double kinetic_energy(const Sim* s, int i) {
  if (s->spinners && s->spinners[i].spins) {
    Vec3 v = center_velocity(s, i), w = spin_velocity(&s->spinners[i], s->pose_now[i], s->state.momentum[i]);
    Vec3 turning = mat3_mul_vec(s->pose_now[i].r, w);
    return 0.5 * s->model->links[i].mass * vec3_dot(v, v) + 0.5 * vec3_dot(s->state.momentum[i], turning);
  }
  double v[3][4], g[3][4], sum = 0;
  link_velocity(s, i, v);
  moment_rates(s, i, v, g);
  for (int r = 0; r < 3; r++)
    for (int j = 0; j < 4; j++) sum += v[r][j] * g[r][j];
  return 0.5 * sum;
}

/* p = sum m v, L = sum m x v: last column of G = V S, and of G T^T what turns. */
static void add_momentum(const Sim* s, int i, SimMomentum* sum) {
  Vec3 p, turning;
  const Pose* at = &s->pose_now[i];
  if (s->spinners && s->spinners[i].spins) {
    p = vec3_scale(center_velocity(s, i), s->model->links[i].mass);
    turning = vec3_add(s->state.momentum[i], vec3_cross(s->state.center[i], p));
  } else {
    double v[3][4], g[3][4];
    link_velocity(s, i, v);
    moment_rates(s, i, v, g);
    p = vec3(g[0][3], g[1][3], g[2][3]);
    Mat3 local = {{{g[0][0], g[0][1], g[0][2]}, {g[1][0], g[1][1], g[1][2]}, {g[2][0], g[2][1], g[2][2]}}};
    turning = mat3_axial(mat3_add(mat3_mul(local, mat3_transpose(at->r)), mat3_outer(p, at->t)));
  }
  sum->linear = vec3_add(sum->linear, p);
  sum->angular = vec3_add(sum->angular, turning);
}

SimMomentum sim_momentum(const Sim* s) {
  SimMomentum sum = {{0, 0, 0}, {0, 0, 0}};
  for (int i = 0; i < s->model->link_count; i++)
    if (s->model->links[i].tree >= 0) add_momentum(s, i, &sum);
  return sum;
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

/* Friction that depends on the normal force of the same step (docs/derivations/friction.md, F8). */
#include <assert.h>
#include <string.h>

#include "contact/system.h"
#include "contact/tree_mass.h"

bool contact_friction_has_converged(const ContactSystem* s, double tolerance, int links[2]) {
  assert(tolerance >= 0);
  double largest = 0, off = 0;
  for (int k = 0; k < s->list_count; k++) {
    ContactPair* p = contact_pair(s, k);
    bool in_contact = p->state[s->current].outcome == PAIR_PRESSED;
    if ((!in_contact && !p->lagged) || !p->law->row->impacts) continue;
    LawPair pair = contact_law_pair(s, p, s->current, 0);
    StepFriction friction;
    p->law->row->impacts->current_force(&pair, &friction);
    largest = fmax(largest, friction.load);
    if (links && friction.change > off) {
      links[0] = p->link_a;
      links[1] = p->link_b;
    }
    off = fmax(off, friction.change);
  }
  return off <= tolerance * largest;
}

/* Returns the displacement of a point of a link since the last call of contact_lag [m]. point: present position of the
 * point, world [m]. */
static Vec3 displacement_at(const ContactSystem* s, int link, Vec3 point) {
  Vec3 local = pose_apply_inverse(s->pose[s->current][link], point);
  return vec3_sub(point, pose_apply(s->begin_poses[link], local));
}

static double slip_of(const ContactSystem* s, int index) {
  const ContactPair* p = contact_pair(s, index);
  Vec3 point = contact_wrench(s, index).point, n = p->state[s->current].axis;
  Vec3 slip = vec3_sub(displacement_at(s, p->link_b, point), displacement_at(s, p->link_a, point));
  return vec3_norm(vec3_add_scaled(slip, -vec3_dot(slip, n), n));
}

static bool has_account(const ContactLaw* law) { return law->impacts != NULL; }

bool contact_keeps_account(const Model* model) {
  const ModelContact* c = &model->contact;
  if (model->contact_model == CONTACT_NONE || c->friction_iterations >= 0 || c->bounces || !(c->rest_speed > 0))
    return false;
  return contact_law_with(model, has_account) && model_largest_material(model, MATERIAL_FRICTION) > 0;
}

bool contact_friction_uses_account(const Model* model, int link_a, int link_b) {
  assert(link_a >= 0 && link_a < model->link_count && link_b >= 0 && link_b < model->link_count);
  if (!contact_keeps_account(model) || !contact_law_of_links(model, link_a, link_b)->impacts) return false;
  PairMaterial material = model_pair_material(model, link_a, link_b);
  return material.value[MATERIAL_FRICTION] > 0;
}

FrictionAccount contact_account(const ContactSystem* s, int index) {
  assert(index >= 0 && index < contact_candidate_count(s));
  ContactPair* p = contact_pair(s, index);
  StepFriction friction = {.load = 0};
  if (!p->law->row->impacts || p->is_link_pair) return friction.account;
  LawPair pair = contact_law_pair(s, p, s->current, 0);
  p->law->row->impacts->current_force(&pair, &friction);
  return friction.account;
}

double contact_friction_delay_speed(ContactSystem* s, double dt, int links[2]) {
  assert(dt > 0);
  double most = 0;
  for (int k = 0; k < s->list_count; k++) {
    ContactPair* p = contact_pair(s, k);
    if ((p->state[s->current].outcome != PAIR_PRESSED && !s->keeps_account) || !p->law->row->impacts) continue;
    LawPair pair = contact_law_pair(s, p, s->current, 0);
    StepFriction friction;
    p->law->row->impacts->current_force(&pair, &friction);
    double mobility =
        tree_inverse_mass(s->model, s->tree_mass, p->link_a) + tree_inverse_mass(s->model, s->tree_mass, p->link_b);
    double late = friction.change * dt * mobility;
    if (late > most) late = fmin(late, slip_of(s, k) / dt);
    if (!(late > most)) continue;
    most = late;
    links[0] = p->link_a;
    links[1] = p->link_b;
  }
  return most;
}

/* Sets s->lag_first[k] to the offset of the memory for the friction reference of each candidate pair k. Returns the
 * total number of bytes that all candidate pairs need. */
static size_t find_rooms(ContactSystem* s) {
  size_t needed = 0;
  for (int k = 0; k < s->list_count; k++) {
    ContactPair* p = contact_pair(s, k);
    LawPair pair = contact_law_pair(s, p, s->current, 0);
    s->lag_first[k] = needed;
    if (p->state[s->current].outcome == PAIR_PRESSED && p->law->row->impacts)
      needed += p->law->row->history->lag(&pair, NULL);
  }
  return needed;
}

static void relag_pair(void* context, int index, int thread) {
  ContactSystem* s = context;
  ContactPair* p = contact_pair(s, index);
  bool in_contact = p->state[s->current].outcome == PAIR_PRESSED;
  if ((!in_contact && !p->lagged) || !p->law->row->impacts) return;
  const Pose begin[2] = {s->begin_poses[p->link_a], s->begin_poses[p->link_b]};
  LawPair pair = contact_law_pair(s, p, s->current, thread);
  if (!p->law->row->impacts->relag(&pair, begin, s->current_blends, s->current_room + s->lag_first[index])) return;
  p->lagged = p->lagged || in_contact;
  contact_grip_pair(s, p);
}

bool contact_friction_uses_current_force(const ContactSystem* s) {
  for (int k = 0; k < s->list_count; k++) {
    ContactPair* p = contact_pair(s, k);
    if ((!p->lagged && p->state[s->current].outcome != PAIR_PRESSED) || !p->law->row->impacts) continue;
    LawPair pair = contact_law_pair(s, p, s->current, 0);
    StepFriction friction;
    p->law->row->impacts->current_force(&pair, &friction);
    if (friction.share > 0) return true;
  }
  return false;
}

bool contact_relag(ContactSystem* s, bool blends) {
  assert(s->has_state);
  double start = timer_now();
  contact_set_grip(s, GRIP_FULL);
  s->current_blends = blends;
  size_t needed = find_rooms(s);
  if (needed > s->data_capacity) {
    memory_free(s->current_room);
    s->data_capacity = 2 * needed + 4096;
    s->current_room = memory_alloc(s->data_capacity);
  }
  parallel_for(s->threads, s->list_count, PARALLEL_THRESHOLD_INACTIVE, LINKS_GRAIN, relag_pair, s);
  s->times.friction += timer_now() - start;
  return contact_evaluate_again(s);
}

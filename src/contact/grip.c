/* Friction of the first step of a run (docs/derivations/friction.md, F6, F7). The first step has no previous normal
 * force that could limit friction, and the normal force in the given initial state may be wrong by a large factor. The
 * first step is therefore solved without friction first, and the normal force of this solve limits friction. The grip
 * of a pair is this force divided by the normal force in the initial state. */
#include "contact/system.h"

/* Upper bound of the grip. Pairs that come into range during the first step have friction from the second step on. */
#define MAX_GRIP 100.0

static double limit_grip(double ratio, double* slope) {
  double x = ratio - 1, room = MAX_GRIP - 1;
  *slope = 1;
  if (!(x > 0)) return ratio;
  double y = x / room, base = 1 + y * y * y, root = 1 / math_cbrt(base);
  *slope = root / base;
  return 1 + x * root;
}

static uint64_t record_key(const void* records, int index) {
  return contact_record_key((const ContactRecord*)records + index);
}

/* Returns the index of the record of the pair of items a and b, or -1 if there is no such record. Sets *force to the
 * magnitude of the force of the record [N], or to 0 without a record. */
static int find_force(const ContactForces* at, int a, int b, double* force) {
  int index = find_key(at->records, record_key, at->count, contact_key(a, b));
  *force = index < 0 ? 0 : vec3_norm(at->force[index]);
  return index;
}

ContactGripFactor contact_normal_force_factor(const Model* model, const ContactForces* start, const ContactForces* end,
                                              int item_a, int item_b) {
  ContactGripFactor out = {.value = 1, .start = -1, .end = -1};
  double from, to, slope;
  int index = find_force(start, item_a, item_b, &from);
  if (!(from > 0)) { /* the initial force is 0 under laws in which a pair of links has the potential of its hulls */
    item_a = model->hull_count + contact_item_link(model, item_a);
    item_b = model->hull_count + contact_item_link(model, item_b);
    index = find_force(start, item_a, item_b, &from);
  }
  if (!(from > 0)) return out;
  out.start = index;
  out.end = find_force(end, item_a, item_b, &to);
  out.value = limit_grip(to / from, &slope);
  out.by_end = slope / from;
  out.by_start = -slope * to / (from * from);
  return out;
}

void contact_grip_pair(const ContactSystem* s, ContactPair* p) {
  double grip = 1;
  if (s->grip == GRIP_NONE) grip = 0;
  if (s->grip == GRIP_FOUND)
    grip = contact_normal_force_factor(s->model, &s->forces[0].list, &s->forces[1].list, p->hull_a, p->hull_b).value;
  if (grip == p->grip) return;
  p->grip = grip;
  p->material = material_with_friction_factor(model_pair_material(s->model, p->link_a, p->link_b), grip);
}

void contact_set_grip(ContactSystem* s, ContactGrip grip) { s->grip = grip; }

static bool has_friction_coefficient(const PairMaterial* material) {
  return material->value[MATERIAL_FRICTION] > 0 || material->value[MATERIAL_ROLLING] > 0 ||
         material->value[MATERIAL_SPINNING] > 0;
}

bool contact_friction_acts(const ContactSystem* s) {
  for (int k = 0; k < s->list_count; k++) {
    const ContactPair* p = contact_pair(s, k);
    bool in_contact = p->state[s->current].outcome == PAIR_PRESSED;
    /* pairs of hulls of these two links that have friction may not be listed yet */
    if (p->is_link_pair) in_contact = in_contact || contact_is_aggregate_pair(s, p->link_a, p->link_b);
    PairMaterial material = model_pair_material(s->model, p->link_a, p->link_b);
    if (in_contact && has_friction_coefficient(&material)) return true;
  }
  return false;
}

/* Sets force[count] to the force of each recorded pair on its first link [N]. The records are in the order of the
 * candidates. */
static void compute_forces(const ContactSystem* s, const ContactRecord* records, int count, Vec3* force) {
  int next = 0;
  for (int k = 0; k < s->list_count && next < count; k++) {
    const ContactPair* p = contact_pair(s, k);
    if (p->hull_a != records[next].hull_a || p->hull_b != records[next].hull_b) continue;
    bool acts = p->state[s->current].has_terms;
    force[next++] = acts ? vec3_scale(contact_derivatives(s, p)->force[0], -1.0) : vec3(0, 0, 0);
  }
}

void contact_store_forces(ContactSystem* s, ContactEnd end) {
  StoredForces* to = &s->forces[end];
  contact_find_records(s);
  if (to->capacity < s->list_count) {
    memory_free(to->records);
    memory_free(to->force);
    to->capacity = s->list_count + s->list_count / 2 + 16;
    to->records = MEMORY_NEW(ContactRecord, to->capacity);
    to->force = MEMORY_NEW(Vec3, to->capacity);
  }
  int count = contact_record(s, to->records);
  compute_forces(s, to->records, count, to->force);
  to->list = (ContactForces){to->records, to->force, count};
}

ContactForces contact_stored_forces(const ContactSystem* s, ContactEnd end) { return s->forces[end].list; }

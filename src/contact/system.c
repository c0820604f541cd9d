/* The contact system of a scene: creation, transitions between its states, and results of the accepted state. */
#include "contact/system.h"

#include <assert.h>
#include <string.h>

#include "contact/tree_mass.h"

bool contact_has_solid(const Model* model, int link) {
  assert(link >= 0 && link < model->link_count);
  const ModelLink* l = &model->links[link];
  for (int k = l->hull_first; k < l->hull_first + l->hull_count && l->collide; k++)
    if (model->hulls[k].kind->bounded) return true;
  return false;
}

static bool can_form_pairs(const ContactSystem* s, int link) {
  const Model* model = s->model;
  for (int i = 0; i < model->link_count; i++)
    if (i != link && contact_has_solid(model, i) && model_pair_allowed(model, link, i) &&
        !contact_is_aggregate_pair(s, link, i))
      return true;
  return false;
}

/* Sorts the hulls of the model into movable hulls (movers) and immovable hulls (resting). Also selects the movable
 * (seeking) and immovable hulls (sought) that the broad phase contains. */
static void sort_hulls(ContactSystem* s) {
  const Model* model = s->model;
  int count = model->hull_count;
  s->movers = MEMORY_NEW(int, count);
  s->resting = MEMORY_NEW(int, count);
  s->seeking = MEMORY_NEW(int, count);
  s->sought = MEMORY_NEW(int, count);
  for (int i = 0; i < model->link_count; i++) {
    const ModelLink* l = &model->links[i];
    bool moves = l->tree >= 0, pairs = l->hull_count > 0 && can_form_pairs(s, i);
    for (int k = l->hull_first; k < l->hull_first + l->hull_count; k++) {
      *(moves ? &s->movers[s->mover_count++] : &s->resting[s->resting_count++]) = k;
      if (pairs) *(moves ? &s->seeking[s->seeking_count++] : &s->sought[s->sought_count++]) = k;
    }
  }
}

/* Sets the groups of the broad phase and the pairs of groups that the search excludes. Each link with several hulls is
 * a group. Excluded are pairs of hulls of the same link, of links that do not collide, and of links whose pair
 * represents the pairs of its hulls. */
static void find_groups(ContactSystem* s) {
  const Model* model = s->model;
  int count = 0, *link = MEMORY_NEW(int, model->link_count);
  s->group = MEMORY_NEW(int, model->hull_count);
  for (int i = 0; i < model->link_count; i++) {
    const ModelLink* l = &model->links[i];
    bool several = l->hull_count > 1;
    for (int k = l->hull_first; k < l->hull_first + l->hull_count; k++) s->group[k] = several ? count : BROAD_MIXED;
    if (several) link[count++] = i;
  }
  s->excluded_groups = MEMORY_NEW(bool, count* count);
  for (int a = 0; a < count; a++)
    for (int b = 0; b < count; b++)
      s->excluded_groups[a * count + b] =
          !model_pair_allowed(model, link[a], link[b]) || contact_is_aggregate_pair(s, link[a], link[b]);
  s->broad.groups = s->path_broad.groups = (BroadGroups){s->group, s->excluded_groups, count};
  memory_free(link);
}

ContactSystem* contact_create(const Model* model, int threads, double tolerance) {
  assert(tolerance > 0);
  ContactSystem* s = MEMORY_NEW(ContactSystem, 1);
  s->model = model;
  s->threads = threads < 1 ? 1 : threads;
  s->keeps_account = contact_keeps_account(model);
  laws_create(model, s->threads, tolerance, &s->laws);
  s->overlaps = s->laws.laws->row->overlaps;
  s->pairs_links = contact_lists_by_range(model);
  s->range = contact_range(model);
  s->item_count = model->hull_count + (s->pairs_links ? model->link_count : 0);
  s->reach = MEMORY_NEW(double, model->hull_count);
  for (int i = 0; i < model->hull_count; i++) s->reach[i] = laws_reach(&s->laws, i);
  s->stamp = 1;
  s->list_links_version = s->awake_count = -1;
  for (int k = 0; k < 2; k++) {
    s->instance[k] = MEMORY_NEW(HullInstance, s->item_count);
    s->reference[k] = MEMORY_NEW(Vec3, model->link_count);
    s->pose[k] = MEMORY_NEW(Pose, model->link_count);
    s->stays[k] = MEMORY_NEW(bool, model->link_count);
  }
  s->twist = memory_alloc(sizeof(double[6]) * (size_t)model->link_count);
  s->moved = MEMORY_NEW(double, s->item_count);
  s->travelled = MEMORY_NEW(double, model->hull_count);
  s->slack = MEMORY_NEW(double, model->hull_count);
  s->path_travelled = MEMORY_NEW(double, model->hull_count);
  s->boxes = MEMORY_NEW(Box, model->hull_count);
  s->path_boxes = MEMORY_NEW(Box, model->hull_count);
  s->broad.threads = s->path_broad.threads = s->threads;
  contact_find_aggregate_pairs(s);
  contact_find_dense_links(s);
  find_groups(s);
  sort_hulls(s);
  s->certificate_poses = MEMORY_NEW(Pose, model->link_count);
  s->lag_poses = MEMORY_NEW(Pose, model->link_count);
  s->begin_poses = MEMORY_NEW(Pose, model->link_count);
  s->tree_mass = tree_masses(model);
  s->path_poses = MEMORY_NEW(Pose, model->link_count);
  return s;
}

void contact_destroy(ContactSystem* s) {
  if (!s) return;
  for (int k = 0; k < 2; k++) {
    memory_free(s->instance[k]);
    memory_free(s->reference[k]);
    memory_free(s->pose[k]);
    memory_free(s->stays[k]);
  }
  laws_destroy(&s->laws);
  memory_free(s->reach);
  memory_free(s->twist);
  memory_free(s->moved);
  memory_free(s->travelled);
  memory_free(s->slack);
  memory_free(s->path_travelled);
  memory_free(s->boxes);
  memory_free(s->path_boxes);
  memory_free(s->movers);
  memory_free(s->resting);
  memory_free(s->seeking);
  memory_free(s->sought);
  memory_free(s->certificate_poses);
  memory_free(s->regions);
  memory_free(s->begin_boxes);
  memory_free(s->region_bounds.link);
  memory_free(s->expected_distance);
  memory_free(s->tree_expected_distance);
  memory_free(s->subsystems.subsystem_of);
  memory_free(s->subsystems.candidates);
  memory_free(s->subsystems.first);
  memory_free(s->lag_poses);
  memory_free(s->begin_poses);
  memory_free(s->tree_mass);
  memory_free(s->path_poses);
  broad_phase_free(&s->broad);
  broad_phase_free(&s->path_broad);
  memory_free(s->group);
  memory_free(s->excluded_groups);
  memory_free(s->aggregates);
  memory_free(s->dense_radius);
  memory_free(s->friction_pairs.keys);
  memory_free(s->pairs);
  memory_free(s->list);
  memory_free(s->spare_list);
  memory_free(s->free_slots);
  memory_free(s->terms);
  memory_free(s->term_links);
  memory_free(s->list_links);
  memory_free(s->awake);
  memory_free(s->pending);
  memory_free(s->underived);
  memory_free(s->sleep);
  memory_free(s->memory);
  for (int k = 0; k < 2; k++) {
    memory_free(s->data[k]);
    memory_free(s->derivatives[k]);
  }
  memory_free(s->lag_room);
  memory_free(s->current_room);
  memory_free(s->lag_first);
  for (int k = 0; k < 2; k++) {
    memory_free(s->remembered[k].keys);
    memory_free(s->remembered[k].data);
    memory_free(s->forces[k].records);
    memory_free(s->forces[k].force);
  }
  memory_free(s);
}

void contact_set_dt(ContactSystem* s, double dt) {
  assert(dt > 0);
  s->laws.step->dt = dt;
}

void contact_set_first(ContactSystem* s, bool is_first) { s->laws.step->is_first = is_first; }

void contact_set_substep(ContactSystem* s, double dt, double dt_before, double force_ratio) {
  assert(!(dt_before < 0) && !(force_ratio <= 0));
  assert(dt > 0);
  contact_set_dt(s, dt);
  s->laws.step->dt_before = dt_before;
  s->laws.step->force_ratio = force_ratio;
  s->laws.step->impacts = impact_activity(s);
}

/* ---------------------------------------------------------------- transitions between states */

void contact_accept(ContactSystem* s) {
  assert(s->phase == CONTACT_FEASIBLE);
  s->phase = CONTACT_STANDING;
  for (int k = 0; k < s->mover_count; k++) s->travelled[s->movers[k]] += s->moved[s->movers[k]];
  s->current = 1 - s->current;
  s->measured = false;
  s->path_moved = true;
  contact_list_terms(s);
  contact_derive(s);
}

bool contact_reset(ContactSystem* s, const Pose* poses) {
  s->stamp++;
  s->awake_count = -1;
  for (int k = 0; k < s->list_count; k++) s->free_slots[s->free_count++] = s->list[k];
  s->list_count = s->term_count = 0;
  for (int i = 0; i < s->model->hull_count; i++) s->slack[i] = -1;
  s->rests = false;
  contact_set_poses(s, s->current, poses);
  MotionBounds none = {MEMORY_NEW(MotionBound, s->model->link_count), NULL};
  contact_prepare(s, &none);
  memory_free(none.link);
  s->begins = s->has_state = true;
  bool apart = contact_evaluate(s, poses);
  s->begins = false;
  if (!apart) return false;
  contact_accept(s);
  return true;
}

void contact_save(ContactSystem* s, ContactMemory memory_index) {
  SavedPairs* to = &s->remembered[memory_index];
  size_t size = s->laws.kept_size;
  to->count = 0;
  if (size == 0) return;
  if (to->capacity < s->list_count) {
    memory_free(to->keys);
    memory_free(to->data);
    to->capacity = 2 * s->list_count + 64;
    to->keys = MEMORY_NEW(uint64_t, to->capacity);
    to->data = memory_alloc(size * (size_t)to->capacity);
  }
  for (int k = 0; k < s->list_count; k++) {
    ContactPair* p = contact_pair(s, k);
    if (p->state[s->current].outcome != PAIR_PRESSED || !p->law->row->impacts) continue;
    LawPair pair = contact_law_pair(s, p, s->current, 0);
    p->law->row->impacts->keep(&pair, to->data + (size_t)to->count * size);
    to->keys[to->count++] = p->key;
  }
}

static uint64_t saved_key(const void* keys, int index) { return ((const uint64_t*)keys)[index]; }

/* Returns the data of a pair that contact_save stored in memory number `which`. Returns NULL if this memory has no
 * data of the pair. */
static const void* find_saved_data(const ContactSystem* s, ContactMemory memory_index, const ContactPair* p) {
  const SavedPairs* from = &s->remembered[memory_index];
  int index = find_key(from->keys, saved_key, from->count, p->key);
  return index < 0 ? NULL : from->data + (size_t)index * s->laws.kept_size;
}

double contact_impact_factor(const ContactSystem* s, int index, double rest_speed, double restitution, double dt) {
  assert(index >= 0 && index < contact_candidate_count(s));
  ContactPair* p = contact_pair(s, index);
  LawPair pair = contact_law_pair(s, p, s->current, 0);
  if (pair.state->outcome != PAIR_PRESSED || !p->law->row->impacts) return 1;
  return p->law->row->impacts->impact_factor(&pair, find_saved_data(s, CONTACT_STEP_START, p), rest_speed, restitution,
                                             dt);
}

void contact_restore(ContactSystem* s, ContactMemory memory_index) {
  for (int k = 0; k < s->list_count; k++) {
    ContactPair* p = contact_pair(s, k);
    const void* kept = find_saved_data(s, memory_index, p);
    LawPair pair = contact_law_pair(s, p, s->current, 0);
    if (kept) p->law->row->impacts->recall(&pair, kept);
  }
}

/* Lists the contact points of a pair in the accepted state. */
static void find_points(ContactSystem* s, ContactPair* p, const LawPair* pair) {
  FrictionPoints* points = &s->laws.points[pair->thread];
  p->point_thread = pair->thread;
  p->point_first = points->count;
  law_find_points(pair, points);
  p->point_count = points->count - p->point_first;
}

/* Sets `lagged`, the grip and the contact points of pair `index`, and s->lag_first[index] to the number of bytes that
 * its friction reference needs. */
static void measure_lag_memory(void* context, int index, int thread) {
  ContactSystem* s = context;
  ContactPair* p = contact_pair(s, index);
  p->lagged = p->state[s->current].outcome == PAIR_PRESSED;
  contact_grip_pair(s, p);
  LawPair pair = contact_law_pair(s, p, s->current, thread);
  const ContactLaw* law = p->law->row;
  s->lag_first[index] = p->lagged && law->history ? law->history->lag(&pair, NULL) : 0;
  p->point_count = 0;
  if (law->points) find_points(s, p, &pair);
  p->has_points = p->point_count > 0;
}

static void lag_pair(void* context, int index, int thread) {
  ContactSystem* s = context;
  ContactPair* p = contact_pair(s, index);
  LawPair pair = contact_law_pair(s, p, s->current, thread);
  if (p->law->row->history) p->law->row->history->lag(&pair, s->lag_room + s->lag_first[index]);
}

bool contact_evaluate_again(ContactSystem* s) {
  memcpy(s->lag_poses, s->pose[s->current], sizeof(Pose) * (size_t)s->model->link_count);
  s->stamp++;
  if (!contact_evaluate(s, s->lag_poses)) return false;
  contact_accept(s);
  return true;
}

void contact_set_expected_poses(ContactSystem* s, const Pose* poses) { s->expected_poses = poses; }

void contact_set_shifts(ContactSystem* s, const RollShift* shift) { s->shift = shift; }

bool contact_lag(ContactSystem* s) {
  assert(s->has_state);
  double start = timer_now();
  size_t needed = 0;
  contact_list_friction_pairs(s, true);
  for (int t = 0; t < s->laws.threads; t++) s->laws.points[t].count = 0;
  parallel_for(s->threads, s->list_count, PARALLEL_THRESHOLD_INACTIVE, LINKS_GRAIN, measure_lag_memory, s);
  for (int k = 0; k < s->list_count; k++) {
    size_t size = s->lag_first[k];
    s->lag_first[k] = needed;
    needed += size;
  }
  if (needed > s->lag_capacity || !s->lag_room) {
    memory_free(s->lag_room);
    s->lag_capacity = 2 * needed + 4096;
    s->lag_room = memory_alloc(s->lag_capacity);
  }
  parallel_for(s->threads, s->list_count, PARALLEL_THRESHOLD_INACTIVE, LINKS_GRAIN, lag_pair, s);
  s->times.friction += timer_now() - start;
  /* contact_evaluate_again below adds the friction of the new step to the accepted state */
  memcpy(s->begin_poses, s->pose[s->current], sizeof(Pose) * (size_t)s->model->link_count);
  return contact_evaluate_again(s);
}

/* ---------------------------------------------------------------- results of the accepted state */

void contact_energy(const ContactSystem* s, double* contact, double* friction) {
  *contact = *friction = 0;
  for (int k = 0; k < s->list_count; k++) {
    const PairState* state = &contact_pair(s, k)->state[s->current];
    *contact += state->contact_energy;
    *friction += state->friction_energy;
  }
}

double contact_stored_energy(const ContactSystem* s) {
  double stored = 0;
  for (int k = 0; k < s->list_count; k++) {
    const PairState* state = &contact_pair(s, k)->state[s->current];
    stored += state->contact_energy - state->spent_energy;
  }
  return stored;
}

void contact_find_records(ContactSystem* s) { contact_list_friction_pairs(s, false); }

int contact_record(const ContactSystem* s, ContactRecord* records) {
  assert(records || contact_candidate_count(s) == 0);
  int count = 0;
  for (int k = 0; k < s->list_count; k++) {
    ContactPair* p = contact_pair(s, k);
    const ContactLaw* law = p->law->row;
    LawPair pair = contact_law_pair(s, p, s->current, 0);
    bool active = pair.state->outcome == PAIR_PRESSED, rubbing = p->lagged && law_friction_acts(&pair);
    if (!active && !rubbing) continue;
    ContactRecord* r = &records[count++];
    *r = (ContactRecord){
        .hull_a = p->hull_a, .hull_b = p->hull_b, .active = active, .has_friction = rubbing, .grip = p->grip};
    r->late = rubbing;
    if (law->history) law->history->record(&pair, r);
  }
  return count;
}

int contact_candidate_count(const ContactSystem* s) { return s->list_count; }

void contact_candidate(const ContactSystem* s, int index, int* link_a, int* link_b) {
  assert(index >= 0 && index < contact_candidate_count(s));
  *link_a = contact_pair(s, index)->link_a;
  *link_b = contact_pair(s, index)->link_b;
}

int contact_version(const ContactSystem* s) { return s->version; }

int contact_active_count(const ContactSystem* s) {
  int count = 0;
  for (int k = 0; k < s->list_count; k++) count += contact_pair(s, k)->state[s->current].outcome == PAIR_PRESSED;
  return count;
}

double contact_gap(ContactSystem* s, int index) {
  assert(index >= 0 && index < contact_candidate_count(s));
  ContactPair* p = contact_pair(s, index);
  const PairState* state = &p->state[s->current];
  if (p->is_link_pair) return contact_aggregate_distance(s, p, s->pose[s->current]);
  if (contact_is_represented(s, p->key))
    return INFINITY; /* the gap belongs to the pair of links that represents this pair of hulls */
  if (s->overlaps) return state->separation;
  GjkResult found;
  GjkCache cache = p->gjk; /* a copy, so that reading the gap does not change later results of the simulation */
  return pair_distance(&s->instance[s->current][p->hull_a], &s->instance[s->current][p->hull_b], &cache, &found);
}

double contact_trial_gap(ContactSystem* s, int index) {
  assert(index >= 0 && index < contact_candidate_count(s));
  assert(s->phase != CONTACT_STANDING);
  ContactPair* p = contact_pair(s, index);
  if (p->is_link_pair) return contact_aggregate_distance(s, p, s->pose[1 - s->current]);
  if (contact_is_represented(s, p->key)) return INFINITY;
  if (s->overlaps) return p->state[1 - s->current].separation;
  const HullInstance* instance = s->instance[1 - s->current];
  GjkResult found;
  return pair_distance(&instance[p->hull_a], &instance[p->hull_b], &p->gjk, &found);
}

bool contact_force(const ContactSystem* s, int index, Vec3* force_on_b) {
  assert(index >= 0 && index < contact_candidate_count(s));
  const ContactPair* p = contact_pair(s, index);
  const PairState* state = &p->state[s->current];
  *force_on_b = state->has_terms ? vec3_scale(contact_derivatives(s, p)->force[1], -1.0) : vec3(0, 0, 0);
  return state->has_terms;
}

ContactWrench contact_wrench(const ContactSystem* s, int index) {
  assert(index >= 0 && index < contact_candidate_count(s));
  ContactPair* p = contact_pair(s, index);
  const PairState* state = &p->state[s->current];
  Vec3 a = s->reference[s->current][p->link_a];
  ContactWrench out = {.point = a};
  if (!state->has_terms) return out;
  const PairDerivatives* d = contact_derivatives(s, p);
  out.force =
      d->force[0]; /* force on b. It is minus the force on a, computed from a because half-spaces have no moment */
  Vec3 about_a = mat3_axial(d->moment[0]), n = state->axis;
  out.torque = vec3_add(about_a, vec3_cross(a, out.force));
  LawPair pair = contact_law_pair(s, p, s->current, 0);
  if (p->law->row->center && p->law->row->center(&pair, &out.point, &out.normal_force)) return out;
  double press = vec3_dot(n, out.force), length = vec3_norm(state->plane.n);
  if (!state->has_plane || !(fabs(press) > 0) || !(length > 0)) return out;
  double height = (vec3_dot(state->plane.n, vec3_sub(a, state->plane.origin)) + state->plane.o) / length;
  Vec3 foot = vec3_add_scaled(a, -height, n), arm = vec3_sub(a, foot);
  Vec3 about_foot = vec3_add(about_a, vec3_cross(arm, out.force));
  out.point = vec3_add_scaled(foot, 1 / press, vec3_cross(n, about_foot));
  out.normal_force = fabs(press);
  return out;
}

void contact_add_times(ContactSystem* s, ContactTimes times, double share) {
  assert(share >= 0);
  s->times.broad_phase += share * times.broad_phase;
  s->times.contact += share * times.contact;
  s->times.friction += share * times.friction;
}

ContactTimes contact_times(const ContactSystem* s) { return s->times; }

/* Candidate pairs: the broad phase, and the sorted list of candidates. The list contains slots, which are the indices
 * of the pairs in the arrays of pair data. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "contact/system.h"

/* The boxes of the broad phase are extended by the requested motion and by a reserve, so that the broad phase is
 * rebuilt rarely. The reserve is SLACK_PATHS times the motion, but at most SLACK_RADIUS times the hull's radius, and at
 * least the contact range. */
#define SLACK_PATHS 4.0
#define SLACK_RADIUS 0.1
/* The distance by which the box of a hull is extended is enlarged by this fraction, so that rounding of the box does
 * not matter. */
#define REACH_ROUNDING 1e-9

int find_key(const void* list, KeyAt key_at, int count, uint64_t key) {
  assert(list || count == 0);
  int low = 0, high = count;
  while (low < high) {
    int middle = (low + high) / 2;
    if (key_at(list, middle) < key)
      low = middle + 1;
    else
      high = middle;
  }
  return low < count && key_at(list, low) == key ? low : -1;
}

static Box enlarged_box(const ContactSystem* s, int i, double grow) {
  const ModelHull* hull = &s->model->hulls[i];
  const HullInstance* h = &s->instance[s->current][i];
  if (!hull->kind->bounded || !s->model->links[hull->link].collide) return (Box){vec3(1, 1, 1), vec3(-1, -1, -1)};
  const double(*r)[3] = h->pose.r.m;
  Vec3 e = hull->half_extent;
  Vec3 half = vec3(fabs(r[0][0]) * e.x + fabs(r[0][1]) * e.y + fabs(r[0][2]) * e.z + grow,
                   fabs(r[1][0]) * e.x + fabs(r[1][1]) * e.y + fabs(r[1][2]) * e.z + grow,
                   fabs(r[2][0]) * e.x + fabs(r[2][1]) * e.y + fabs(r[2][2]) * e.z + grow);
  return (Box){vec3_sub(h->center, half), vec3_add(h->center, half)};
}

static Box search_box(const ContactSystem* s, int i) {
  return enlarged_box(s, i, s->reach[i] * (1 + REACH_ROUNDING) + s->slack[i]);
}

static void append_key(BroadPhase* b, int a, int c) {
  if (b->key_count == b->key_capacity) {
    int capacity = 2 * b->key_capacity + 64;
    b->keys = memory_resize(b->keys, sizeof(uint64_t) * (size_t)b->key_capacity, sizeof(uint64_t) * (size_t)capacity);
    b->key_capacity = capacity;
  }
  b->keys[b->key_count++] = (uint64_t)a << 32 | (uint32_t)c;
}

/* Returns true if `hull` may come within `reach` [m] of the half-space `ground`. Always returns true for a movable
 * half-space, because its rotation can move distant points arbitrarily far. */
static bool is_near_half_space(const ContactSystem* s, int ground, int hull, const Box* boxes, double reach) {
  const Box* b = &boxes[hull];
  bool moves = s->model->links[s->model->hulls[ground].link].tree >= 0;
  if (b->low.x > b->high.x || (!moves && s->model->links[s->model->hulls[hull].link].tree < 0)) return false;
  if (isinf(reach) || moves) return true;
  const HullInstance* g = &s->instance[s->current][ground];
  Vec3 n = g->normal, c = vec3_scale(vec3_add(b->low, b->high), 0.5), h = vec3_sub(b->high, c);
  double low = vec3_dot(n, c) - fabs(n.x) * h.x - fabs(n.y) * h.y - fabs(n.z) * h.z - g->offset;
  return low <= reach;
}

/* Adds the keys of all pairs of a hull and a half-space, which have no boxes, and sorts the keys. */
static void find_half_space_pairs(ContactSystem* s) {
  int before = s->broad.key_count;
  for (int g = 0; g < s->model->hull_count; g++) {
    if (!s->instance[s->current][g].half_space) continue;
    for (int i = 0; i < s->model->hull_count; i++)
      if (is_near_half_space(s, g, i, s->boxes, s->reach[g] + s->slack[g]))
        append_key(&s->broad, i < g ? i : g, i < g ? g : i);
  }
  if (s->broad.key_count > before) qsort(s->broad.keys, (size_t)s->broad.key_count, sizeof(uint64_t), compare_uint64);
}

/* Adds the keys of all pairs of links, if the contact law has pairs of links. The keys of pairs of links are larger
 * than the keys of pairs of hulls. */
static void find_link_pairs(ContactSystem* s) {
  int first = s->model->hull_count;
  for (int a = first; a < s->item_count; a++)
    for (int b = a + 1; b < s->item_count; b++)
      if (contact_has_solid(s->model, a - first) && contact_has_solid(s->model, b - first) &&
          law_of_links(&s->laws, a - first, b - first)->row->links)
        append_key(&s->broad, a, b);
}

static void resize_memory(char** memory, size_t size, int old, int capacity) {
  if (size > 0) *memory = memory_resize(*memory, size * (size_t)old, size * (size_t)capacity);
}

static void resize_derivatives(PairDerivatives** memory, int old, int capacity) {
  size_t size = sizeof(PairDerivatives);
  *memory = memory_resize(*memory, size * (size_t)old, size * (size_t)capacity);
}

int contact_allocate_slot(ContactSystem* s) {
  if (s->free_count == 0) {
    int old = s->pair_capacity, capacity = old ? 2 * old : 64;
    s->pairs = memory_resize(s->pairs, sizeof(ContactPair) * (size_t)old, sizeof(ContactPair) * (size_t)capacity);
    s->free_slots = memory_resize(s->free_slots, sizeof(int) * (size_t)old, sizeof(int) * (size_t)capacity);
    s->terms = memory_resize(s->terms, sizeof(int) * (size_t)old, sizeof(int) * (size_t)capacity);
    s->underived = memory_resize(s->underived, sizeof(int) * (size_t)old, sizeof(int) * (size_t)capacity);
    s->term_links = memory_resize(s->term_links, sizeof(LinkPair) * (size_t)old, sizeof(LinkPair) * (size_t)capacity);
    s->sleep = memory_resize(s->sleep, sizeof(PairSleep) * (size_t)old, sizeof(PairSleep) * (size_t)capacity);
    resize_memory(&s->memory, s->laws.pair_size, old, capacity);
    for (int k = 0; k < 2; k++) resize_memory(&s->data[k], s->laws.state_size, old, capacity);
    for (int k = 0; k < 2; k++) resize_derivatives(&s->derivatives[k], old, capacity);
    for (int k = capacity - 1; k >= old; k--) s->free_slots[s->free_count++] = k;
    s->pair_capacity = capacity;
  }
  int slot = s->free_slots[--s->free_count];
  s->sleep[slot] = (PairSleep){.is_unchanged = false};
  if (s->memory) memset(s->memory + (size_t)slot * s->laws.pair_size, 0, s->laws.pair_size);
  return slot;
}

static int common_ancestor(const Model* model, int a, int b) {
  while (a != b) { /* a parent link has a smaller index than its children */
    if (a > b)
      a = model->links[a].parent;
    else
      b = model->links[b].parent;
    if (a < 0 || b < 0) return -1;
  }
  return a;
}

void contact_init_pair(const ContactSystem* s, ContactPair* p, uint64_t key) {
  assert(s && p);
  memset(p, 0, sizeof(*p));
  p->key = key;
  p->hull_a = (int)(key >> 32);
  p->hull_b = (int)(key & 0xffffffffu);
  p->is_link_pair = p->hull_a >= s->model->hull_count;
  if (!p->is_link_pair &&
      !s->model->hulls[p->hull_a].kind->bounded) { /* in a pair with a half-space, hull b is the half-space */
    int swap = p->hull_a;
    p->hull_a = p->hull_b;
    p->hull_b = swap;
  }
  p->link_a = contact_item_link(s->model, p->hull_a);
  p->link_b = contact_item_link(s->model, p->hull_b);
  p->common_ancestor = common_ancestor(s->model, p->link_a, p->link_b);
  p->material = model_pair_material(s->model, p->link_a, p->link_b);
  p->law = law_of_links(&s->laws, p->link_a, p->link_b);
  p->grip = 1;
}

void contact_measure_distance(const ContactSystem* s, ContactPair* p, int which, PairState* state) {
  assert(which == 0 || which == 1);
  if (s->overlaps) {
    state->separation = 0; /* 0 means that the separation was not computed yet */
    state->axis = vec3(0, 0, 1);
    return;
  }
  GjkResult found;
  state->separation = pair_distance(&s->instance[which][p->hull_a], &s->instance[which][p->hull_b], &p->gjk, &found);
  state->axis = found.normal;
}

void contact_add_pair(const ContactSystem* s, ContactPair* p, uint64_t key) {
  contact_init_pair(s, p, key);
  PairState* state = &p->state[s->current];
  state->outcome = PAIR_APART;
  state->separation = INFINITY;
  if (contact_is_represented(s, key)) {
    state->outcome = PAIR_PRESSED; /* a pair of hulls that a pair of links represents is listed only for friction */
    state->separation = 0;
  } else if (!p->is_link_pair) {
    contact_measure_distance(s, p, s->current, state);
  }
  p->state[1 - s->current] = *state;
}

void contact_reserve_list(ContactSystem* s, int needed) {
  assert(needed >= 0);
  if (needed <= s->list_capacity) return;
  int capacity = needed + needed / 2 + 64;
  s->list = memory_resize(s->list, sizeof(int) * (size_t)s->list_capacity, sizeof(int) * (size_t)capacity);
  s->spare_list = memory_resize(s->spare_list, sizeof(int) * (size_t)s->list_capacity, sizeof(int) * (size_t)capacity);
  s->list_links =
      memory_resize(s->list_links, sizeof(LinkPair) * (size_t)s->list_capacity, sizeof(LinkPair) * (size_t)capacity);
  s->awake = memory_resize(s->awake, sizeof(int) * (size_t)s->list_capacity, sizeof(int) * (size_t)capacity);
  s->pending = memory_resize(s->pending, sizeof(int) * (size_t)s->list_capacity, sizeof(int) * (size_t)capacity);
  s->lag_first =
      memory_resize(s->lag_first, sizeof(size_t) * (size_t)s->list_capacity, sizeof(size_t) * (size_t)capacity);
  s->list_capacity = capacity;
}

/* Adds the slot of a pair to the new list if `stays` is true, otherwise frees the slot. count: number of pairs in the
 * new list. Returns the new number. */
static int keep_or_free_slot(ContactSystem* s, int slot, int count, bool stays) {
  if (stays)
    s->spare_list[count] = slot;
  else
    s->free_slots[s->free_count++] = slot;
  return stays ? count + 1 : count;
}

static int allocate_pair(ContactSystem* s, uint64_t key) {
  int slot = contact_allocate_slot(s);
  s->pairs[slot].key = key;
  return slot;
}

/* Initializes new pair number `index`. Until the list of awake pairs is rebuilt, s->awake contains the slots of the new
 * pairs. */
static void initialize_new_pair(void* context, int index, int thread) {
  (void)thread;
  const ContactSystem* s = context;
  ContactPair* p = &s->pairs[s->awake[index]];
  contact_add_pair(s, p, p->key);
}

void contact_merge_list(ContactSystem* s, const uint64_t* keys, int key_count,
                        bool (*wanted)(const ContactSystem* system, uint64_t key),
                        bool (*stays)(const ContactSystem* system, const ContactPair* pair)) {
  contact_reserve_list(s, s->list_count + key_count);
  int old = 0, count = 0, entered = 0;
  bool changed = false;
  for (int k = 0; k <= key_count; k++) {
    uint64_t key = k < key_count ? keys[k] : UINT64_MAX;
    if (k < key_count && !wanted(s, key)) continue;
    for (; old < s->list_count && s->pairs[s->list[old]].key < key; old++) {
      bool kept = stays(s, &s->pairs[s->list[old]]);
      count = keep_or_free_slot(s, s->list[old], count, kept);
      changed = changed || !kept;
    }
    if (k == key_count) break;
    bool known = old < s->list_count && s->pairs[s->list[old]].key == key;
    int slot = known ? s->list[old++] : allocate_pair(s, key);
    if (!known) s->awake[entered++] = slot;
    s->spare_list[count++] = slot;
    changed = changed || !known;
  }
  parallel_for(s->threads, entered, PARALLEL_THRESHOLD, PARALLEL_GRAIN, initialize_new_pair, s);
  int* swap = s->list;
  s->list = s->spare_list;
  s->spare_list = swap;
  s->list_count = count;
  if (!changed) return;
  s->version++;
  s->awake_count = -1;
  s->phase = CONTACT_STANDING; /* no trial state is valid, because new pairs have none */
}

static bool can_touch(const ContactSystem* s, uint64_t key) {
  int a = contact_item_link(s->model, (int)(key >> 32)), b = contact_item_link(s->model, (int)(key & UINT32_MAX));
  return model_pair_allowed(s->model, a, b) && !contact_is_represented(s, key);
}

/* Returns the largest gap of two boxes along a coordinate axis [m]. The result is negative if the boxes overlap. */
static double box_gap(const Box* a, const Box* b) {
  Vec3 x = vec3_max(vec3_sub(a->low, b->high), vec3_sub(b->low, a->high));
  return fmax(x.x, fmax(x.y, x.z));
}

/* Returns true if the pair of items a and b may be within the reach of its own law. The search uses the largest reach
 * of all laws, which may be larger. Always returns true for half-spaces, which have no box. */
static bool is_within_range_of_law(const ContactSystem* s, int a, int b) {
  const Model* model = s->model;
  if (s->laws.count == 1 || a >= model->hull_count) return true;
  const SceneLaw* law = law_of_items(&s->laws, a, b);
  double spare = (s->reach[a] + s->reach[b]) - (law_reach(law, a) + law_reach(law, b)) * (1 + REACH_ROUNDING);
  if (!model->hulls[a].kind->bounded || !model->hulls[b].kind->bounded) return true;
  return box_gap(&s->boxes[a], &s->boxes[b]) <= -spare;
}

static bool is_candidate(const ContactSystem* s, uint64_t key) {
  return can_touch(s, key) && is_within_range_of_law(s, (int)(key >> 32), (int)(key & UINT32_MAX));
}

/* Returns true if a pair of distant hulls must stay in the list. It must stay if it has an energy or a friction
 * reference, or if a pair of links is evaluated in its place. */
static bool must_stay(const ContactSystem* s, const ContactPair* p) {
  return p->lagged || p->state[s->current].has_terms || contact_is_represented(s, p->key);
}

static double hull_path_length(const ContactSystem* s, int i, const MotionBounds* bounds) {
  const ModelHull* hull = &s->model->hulls[i];
  const MotionBound* b = &bounds->link[hull->link];
  return hull->kind->bounded ? b->speed + b->spin * (vec3_norm(hull->center) + hull->radius) : 0;
}

/* Number of pairs per movable hull for which memory is allocated before the first step. */
enum { PAIRS_RESERVED = 8 };

/* Sets the boxes of immovable hulls in both broad phases, and allocates memory for pairs. Called once after each
 * reset. */
static void set_resting_boxes(ContactSystem* s) {
  for (int k = 0; k < s->resting_count; k++) {
    int i = s->resting[k];
    s->slack[i] = s->travelled[i] = s->path_travelled[i] = 0;
    s->boxes[i] = search_box(s, i);
    s->path_boxes[i] = enlarged_box(s, i, 0);
  }
  broad_phase_rest(&s->broad, s->boxes, s->sought, s->sought_count);
  broad_phase_rest(&s->path_broad, s->path_boxes, s->sought, s->sought_count);
  /* Allocated now, because the first search for pairs that are not in the list may happen late in a run, and the list
   * may grow late. */
  broad_phase_reserve(&s->path_broad, s->seeking, s->seeking_count);
  contact_reserve_list(s, PAIRS_RESERVED * s->seeking_count);
  s->rests = true;
}

typedef struct {
  ContactSystem* system;
  const MotionBounds* bounds;
} BoxTask;

/* Sets the box of movable hull number `index`, with a reserve for later motion. */
static void update_moving_box(void* context, int index, int thread) {
  (void)thread;
  const BoxTask* task = context;
  ContactSystem* s = task->system;
  int i = s->movers[index];
  const ModelHull* hull = &s->model->hulls[i];
  double radius = hull->kind->bounded ? hull->radius : 0;
  double path = hull_path_length(s, i, task->bounds), reserve = fmin(SLACK_PATHS * path, SLACK_RADIUS * radius);
  s->slack[i] = path + fmax(reserve, s->range);
  s->travelled[i] = 0;
  s->path_travelled[i] = s->path_moved ? (double)INFINITY : 0;
  s->boxes[i] = search_box(s, i);
}

bool contact_list_covers(const ContactSystem* s, const MotionBounds* bounds) {
  bool covered = true;
  for (int k = 0; k < s->mover_count && covered; k++) {
    int i = s->movers[k];
    covered = s->travelled[i] + hull_path_length(s, i, bounds) <= s->slack[i];
  }
  return covered;
}

void contact_prepare(ContactSystem* s, const MotionBounds* bounds) {
  assert(bounds && bounds->link);
  double start = timer_now();
  if (s->links) return; /* the list of a subsystem already covers its motion */
  if (!contact_list_covers(s, bounds)) {
    if (!s->rests) set_resting_boxes(s);
    BoxTask task = {s, bounds};
    parallel_for(s->threads, s->mover_count, LINKS_PARALLEL, LINKS_GRAIN, update_moving_box, &task);
    broad_phase_find_moving(&s->broad, s->boxes, s->seeking, s->seeking_count);
    find_half_space_pairs(s);
    find_link_pairs(s);
    contact_merge_list(s, s->broad.keys, s->broad.key_count, is_candidate, must_stay);
  }
  s->times.broad_phase += timer_now() - start;
}

static uint64_t listed_key(const void* list, int index) {
  const ContactSystem* s = list;
  return s->pairs[s->list[index]].key;
}

static int contact_find(const ContactSystem* s, uint64_t key) { return find_key(s, listed_key, s->list_count, key); }

/* Finds the keys of all pairs of hulls whose boxes overlap if each box is extended by the motion of its hull within
 * `bounds`. */
static void find_near(ContactSystem* s, const MotionBounds* bounds) {
  int count = s->model->hull_count;
  if (!s->rests) set_resting_boxes(s);
  for (int k = 0; k < s->mover_count; k++)
    s->path_boxes[s->movers[k]] = enlarged_box(s, s->movers[k], hull_path_length(s, s->movers[k], bounds));
  broad_phase_find_moving(&s->path_broad, s->path_boxes, s->seeking, s->seeking_count);
  for (int g = 0; g < count; g++) {
    if (!s->instance[s->current][g].half_space) continue;
    for (int i = 0; i < count; i++)
      if (is_near_half_space(s, g, i, s->path_boxes, 0)) append_key(&s->path_broad, i < g ? i : g, i < g ? g : i);
  }
}

const uint64_t* contact_find_unlisted(ContactSystem* system, const MotionBounds* bounds, bool marked, int* count) {
  bool covered = true; /* true if the reserve of the list covers the path, counted from either end of the path */
  for (int k = 0; k < system->mover_count && covered; k++) {
    int i = system->movers[k];
    double travelled = marked ? fmin(system->travelled[i], system->path_travelled[i]) : system->travelled[i];
    covered = travelled + hull_path_length(system, i, bounds) <= system->slack[i];
  }
  *count = 0;
  if (covered) return NULL;
  find_near(system, bounds);
  uint64_t* keys = system->path_broad.keys;
  for (int k = 0; k < system->path_broad.key_count; k++) {
    if (can_touch(system, keys[k]) && contact_find(system, keys[k]) < 0) keys[(*count)++] = keys[k];
  }
  return keys;
}

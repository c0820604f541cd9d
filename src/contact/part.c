/* Independent parts of a scene, each of which is solved separately (docs/derivations/step.md, S17). This file computes
 * the regions in which the links of the parts stay, and creates contact systems for the pairs of one part. */
#include <assert.h>
#include <math.h>
#include <string.h>

#include "contact/system.h"

/* The region of a link is a box that contains the link in its present pose and in its expected pose at the end of the
 * step, with a margin. The margin is the sum of the contact range, a term for rotation, and MARGIN_WAY times the
 * displacement of the fastest link with which the link may collide. Newton's method nearly always moves a link by less
 * than this margin beyond its expected pose. */
#define MARGIN_WAY 0.5
/* The term for rotation is MARGIN_BENDS times the largest deviation of the link's points from straight paths. */
#define MARGIN_BENDS 2.0

static const Box NOWHERE = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
static const Box EVERYWHERE = {{-INFINITY, -INFINITY, -INFINITY}, {INFINITY, INFINITY, INFINITY}};

/* The contact range is enlarged by this fraction, so that rounding of the boxes does not matter. */
#define REACH_ROUNDING 1e-9

bool contact_islands_create(ContactSystem* s) {
  bool whole = s->whole != NULL, links = s->pairs_links;
  if (whole || links || !isfinite(s->range)) return false;
  s->regions = MEMORY_NEW(Box, s->model->link_count);
  s->begin_boxes = MEMORY_NEW(Box, s->model->hull_count);
  s->way = MEMORY_NEW(double, s->model->link_count);
  s->fastest = MEMORY_NEW(double, s->model->tree_count);
  s->region_bounds.link = MEMORY_NEW(MotionBound, s->model->link_count);
  return true;
}

/* ---------------------------------------------------------------- regions */

/* Returns the bounding box of a hull at `pose`, which may be an affine map. */
static Box box_at(const ModelHull* hull, const Pose* pose) {
  const double(*r)[3] = pose->r.m;
  Vec3 e = hull->half_extent, c = pose_apply(*pose, hull->center);
  Vec3 half = vec3(fabs(r[0][0]) * e.x + fabs(r[0][1]) * e.y + fabs(r[0][2]) * e.z,
                   fabs(r[1][0]) * e.x + fabs(r[1][1]) * e.y + fabs(r[1][2]) * e.z,
                   fabs(r[2][0]) * e.x + fabs(r[2][1]) * e.y + fabs(r[2][2]) * e.z);
  return (Box){vec3_sub(c, half), vec3_add(c, half)};
}

/* Maximum and minimum by comparison. They are faster than the library functions fmax and fmin, which also handle NaN.
 * Boxes contain no NaN. */
static inline double more_of(double a, double b) { return a > b ? a : b; }
static inline Vec3 most_of(Vec3 a, Vec3 b) { return vec3(more_of(a.x, b.x), more_of(a.y, b.y), more_of(a.z, b.z)); }
static inline Vec3 least_of(Vec3 a, Vec3 b) {
  return vec3(a.x < b.x ? a.x : b.x, a.y < b.y ? a.y : b.y, a.z < b.z ? a.z : b.z);
}

static Box united(Box a, Box b) { return (Box){least_of(a.low, b.low), most_of(a.high, b.high)}; }

static Box grown(Box a, double by) {
  Vec3 d = vec3(by, by, by);
  return (Box){vec3_sub(a.low, d), vec3_add(a.high, d)};
}

/* Returns the bounding box of the colliding hulls of a link at `pose`. Returns NOWHERE if the link has no such hulls,
 * and EVERYWHERE if one of them is a half-space. */
static Box link_box(const ContactSystem* s, int link, const Pose* pose) {
  const ModelLink* l = &s->model->links[link];
  Box box = NOWHERE;
  for (int k = l->hull_first; k < l->hull_first + l->hull_count && l->collide; k++) {
    if (!s->model->hulls[k].kind->bounded) return EVERYWHERE;
    box = united(box, box_at(&s->model->hulls[k], pose));
  }
  return box;
}

/* Returns the largest distance by which box a protrudes from box b along a coordinate axis [m]. */
static double beyond(const Box* a, const Box* b) {
  Vec3 x = most_of(vec3_sub(b->low, a->low), vec3_sub(a->high, b->high));
  return more_of(x.x, more_of(x.y, x.z));
}

/* Returns an upper bound of the distance between the curved path of a point and the straight line between the ends of
 * the path [m]. acceleration: largest second derivative of the position with respect to the path coordinate alpha in
 * [0, 1]. */
static double bend(double acceleration) { return 0.125 * acceleration; }

/* Returns the rotation angle between two poses [rad]. It is exact in the limit of small angles. */
static double turn_between(const Pose* a, const Pose* b) {
  double sum = 0;
  for (int r = 0; r < 3; r++)
    for (int c = 0; c < 3; c++) sum += (b->r.m[r][c] - a->r.m[r][c]) * (b->r.m[r][c] - a->r.m[r][c]);
  return sqrt(0.5 * sum);
}

typedef struct {
  ContactSystem* system;
  const Pose* aim;
} RegionTask;

/* Compares the bounding box of each hull of the link at pose `from` (start box) with that at pose `to` (end box). Sets
 * *ahead to the largest distance by which an end box extends beyond its start box. Returns the larger of *ahead and the
 * largest distance by which a start box extends beyond its end box [m]. Each hull has its own box, because the rotation
 * of a wheel hardly changes the box of the whole link. Also sets s->begin_boxes of the hulls to the start boxes. */
static double longest_way(ContactSystem* s, int link, const Pose* from, const Pose* to, double* ahead) {
  const ModelLink* l = &s->model->links[link];
  double way = *ahead = 0;
  for (int k = l->hull_first; k < l->hull_first + l->hull_count; k++) {
    if (!s->model->hulls[k].kind->bounded) continue;
    Box here = box_at(&s->model->hulls[k], from), there = box_at(&s->model->hulls[k], to);
    s->begin_boxes[k] = here;
    double forward = beyond(&there, &here);
    *ahead = more_of(*ahead, forward);
    way = more_of(way, more_of(forward, beyond(&here, &there)));
  }
  return way;
}

static void find_region(void* context, int i, int thread) {
  (void)thread;
  const RegionTask* task = context;
  ContactSystem* s = task->system;
  s->way[i] = 0;
  s->region_bounds.link[i] = (MotionBound){0, 0, 0, 0};
  if (s->model->links[i].tree < 0) return;
  const Pose *from = &s->pose[s->current][i], *to = &task->aim[i];
  Box here = link_box(s, i, from);
  s->regions[i] = united(here, link_box(s, i, to));
  if (!(here.low.x <= here.high.x)) return; /* the box is empty, because the link has no colliding hulls */
  double ahead, way = longest_way(s, i, from, to, &ahead), turn = turn_between(from, to);
  double margin = MARGIN_WAY * way + s->range + MARGIN_BENDS * bend(turn * turn * s->model->links[i].reach);
  s->way[i] = way;
  s->regions[i] = grown(s->regions[i], margin);
  s->region_bounds.link[i].speed = ahead + margin;
}

static bool boxes_within(const Box* a, const Box* b, double reach) {
  Vec3 x = most_of(vec3_sub(a->low, b->high), vec3_sub(b->low, a->high));
  return x.x <= reach && x.y <= reach && x.z <= reach;
}

/* Extends the region of each body to the margin of the fastest body of its set. A set contains the bodies that may
 * collide with each other. A slow body needs this margin because it may be hit by a fast one. */
static void widen_regions(ContactSystem* s, int* sets) {
  const Model* m = s->model;
  for (int k = 0; k < m->tree_count; k++) s->fastest[k] = 0;
  for (int i = 0; i < m->link_count; i++) {
    if (m->link_tree[i] < 0) continue;
    double* most = &s->fastest[disjoint_sets_find(sets, m->link_tree[i])];
    *most = more_of(*most, s->way[i]);
  }
  for (int i = 0; i < m->link_count; i++) {
    if (m->link_tree[i] < 0) continue;
    double more = MARGIN_WAY * (s->fastest[disjoint_sets_find(sets, m->link_tree[i])] - s->way[i]);
    s->regions[i] = grown(s->regions[i], more);
    s->region_bounds.link[i].speed += more;
  }
}

static void join_near(ContactSystem* s, int* sets) {
  const Model* m = s->model;
  double reach = s->range * (1 + REACH_ROUNDING);
  contact_prepare(s, &s->region_bounds);
  contact_update_list_links(s);
  for (int k = 0; k < s->list_count; k++) {
    LinkPair p = s->list_links[k];
    int a = m->link_tree[p.a], b = m->link_tree[p.b];
    if (a >= 0 && b >= 0 && a != b && boxes_within(&s->regions[p.a], &s->regions[p.b], reach))
      disjoint_sets_unite(sets, a, b);
  }
}

void contact_islands_find(ContactSystem* s, const Pose* aim, int* sets) {
  RegionTask task = {s, aim};
  const Model* m = s->model;
  parallel_for(s->threads, m->link_count, LINKS_PARALLEL, LINKS_GRAIN, find_region, &task);
  join_near(s, sets);
  widen_regions(s, sets);
  join_near(s, sets);
}

/* ---------------------------------------------------------------- lists */

/* Copies the accepted pose of a link to its trial state. */
static void stand_still(const ContactSystem* s, int link) {
  int now = s->current;
  const ModelLink* l = &s->model->links[link];
  s->pose[1 - now][link] = s->pose[now][link];
  s->reference[1 - now][link] = s->reference[now][link];
  for (int k = l->hull_first; k < l->hull_first + l->hull_count; k++) s->instance[1 - now][k] = s->instance[now][k];
}

static int part_of_pair(const ContactSystem* s, LinkPair p, const int* of) {
  int a = s->model->link_tree[p.a], b = s->model->link_tree[p.b];
  if (a < 0) return of[b];
  return b < 0 || of[a] == of[b] ? of[a] : -1;
}

static void grow_parts(IslandLists* lists, int part_count, int list_count) {
  if (part_count + 3 > lists->part_capacity) {
    memory_free(lists->first);
    lists->part_capacity = 2 * part_count + 64;
    lists->first = MEMORY_NEW(int, lists->part_capacity);
  }
  if (list_count > lists->capacity) {
    memory_free(lists->items);
    memory_free(lists->of);
    lists->capacity = list_count + list_count / 2 + 64;
    lists->items = MEMORY_NEW(int, lists->capacity);
    lists->of = MEMORY_NEW(int, lists->capacity);
  }
}

void contact_islands_list(ContactSystem* s, const int* of, int part_count) {
  assert(of && part_count >= 0);
  IslandLists* lists = &s->parts;
  grow_parts(lists, part_count, s->list_count);
  lists->of_tree = of;
  int* first = lists->first; /* list of pairs sorted by part. Pairs that belong to no part come first; the pairs of part
                                k begin at first[k + 2] */
  memset(first, 0, sizeof(int) * (size_t)(part_count + 3));
  for (int k = 0; k < s->list_count; k++) first[(lists->of[k] = part_of_pair(s, s->list_links[k], of)) + 2]++;
  for (int k = 1; k < part_count + 2; k++) first[k] += first[k - 1];
  for (int k = s->list_count - 1; k >= 0; k--)
    lists->items[--first[lists->of[k] + 2]] = k; /* first[] changes from the ends to the beginnings of the ranges */
  first[part_count + 2] = s->list_count;
  for (int i = 0; i < s->model->link_count;
       i++) { /* immovable links have equal poses in the accepted and the trial state */
    if (s->model->links[i].tree >= 0) continue;
    stand_still(s, i);
    s->stays[0][i] = s->stays[1][i] = true;
  }
}

/* ---------------------------------------------------------------- a part */

ContactSystem* contact_island_create(const ContactSystem* whole, int thread) {
  assert(thread >= 0);
  ContactSystem* part = MEMORY_NEW(ContactSystem, 1);
  part->first_thread = thread;
  part->certificate_poses = MEMORY_NEW(Pose, whole->model->link_count);
  part->movers = MEMORY_NEW(int, whole->model->hull_count);
  return part;
}

static void free_lists(ContactSystem* part) {
  void* const owned[] = {part->list,  part->list_links, part->awake, part->todo,
                         part->terms, part->term_links, part->fresh};
  for (size_t k = 0; k < sizeof owned / sizeof owned[0]; k++) memory_free(owned[k]);
}

void contact_island_destroy(ContactSystem* part) {
  if (!part) return;
  free_lists(part);
  memory_free(part->certificate_poses);
  memory_free(part->movers);
  memory_free(part);
}

void contact_island_attach(ContactSystem* part, const ContactSystem* whole) {
  ContactSystem own = *part;
  *part = *whole;
  part->threads = 1;
  part->first_thread = own.first_thread;
  part->certificate_poses = own.certificate_poses;
  part->movers = own.movers;
  part->list = own.list;
  part->list_links = own.list_links;
  part->list_capacity = own.list_capacity;
  part->awake = own.awake;
  part->todo = own.todo;
  part->terms = own.terms;
  part->term_links = own.term_links;
  part->fresh = own.fresh;
  part->times = (ContactTimes){0, 0, 0};
  part->named = part->version;
  for (int i = 0; i < whole->model->link_count; i++)
    if (whole->model->links[i].tree < 0) part->certificate_poses[i] = whole->pose[whole->current][i];
}

static void grow_lists(ContactSystem* part, int count) {
  if (count <= part->list_capacity) return;
  free_lists(part);
  part->list_capacity = count + count / 2 + 64;
  part->list = MEMORY_NEW(int, part->list_capacity);
  part->list_links = MEMORY_NEW(LinkPair, part->list_capacity);
  part->awake = MEMORY_NEW(int, part->list_capacity);
  part->todo = MEMORY_NEW(int, part->list_capacity);
  part->terms = MEMORY_NEW(int, part->list_capacity);
  part->term_links = MEMORY_NEW(LinkPair, part->list_capacity);
  part->fresh = MEMORY_NEW(int, part->list_capacity);
}

void contact_island_begin(ContactSystem* part, const ContactSystem* whole, int number, const int* links, int count) {
  assert(number >= 0 && (links || count == 0));
  const IslandLists* lists = &whole->parts;
  int first = lists->first[number + 2];
  part->current = whole->current;
  part->links = links;
  part->link_count = count;
  part->list_count = lists->first[number + 3] - first;
  grow_lists(part, part->list_count);
  for (int n = 0; n < part->list_count; n++) {
    int k = lists->items[first + n];
    part->list[n] = whole->list[k];
    part->list_links[n] = whole->list_links[k];
  }
  part->mover_count = 0;
  for (int n = 0; n < count; n++) {
    const ModelLink* l = &whole->model->links[links[n]];
    for (int k = 0; k < l->hull_count; k++) part->movers[part->mover_count++] = l->hull_first + k;
  }
  part->awake_count = -1;
  part->measured = false;
  part->phase = CONTACT_STANDING;
  contact_list_terms(part);
}

bool contact_island_stays(const ContactSystem* s, const MotionBounds* bounds) {
  for (int n = 0; n < s->link_count; n++) {
    int i = s->links[n];
    const ModelLink* l = &s->model->links[i];
    const MotionBound* b = &bounds->link[i];
    if (s->stays[s->current][i]) continue;
    for (int k = l->hull_first; k < l->hull_first + l->hull_count && l->collide; k++) {
      const ModelHull* hull = &s->model->hulls[k];
      if (!hull->kind->bounded) continue;
      double arm = vec3_norm(hull->center) + hull->radius;
      Box way = united(box_at(hull, &s->pose[0][i]), box_at(hull, &s->pose[1][i]));
      way = grown(way, bend(b->acceleration + (b->spin * b->spin + b->spin_rate) * arm));
      if (!(beyond(&way, &s->regions[i]) <= 0)) return false;
      /* the list of candidate pairs is complete only if the hull moves by at most region_bounds */
      if (!(beyond(&way, &s->begin_boxes[k]) <= s->region_bounds.link[i].speed)) return false;
    }
  }
  return true;
}

/* Makes the trial state of a pair equal to its accepted state. */
static void even_out(const ContactSystem* s, int slot) {
  ContactPair* p = &s->pairs[slot];
  if (s->sleep[slot].even) return;
  contact_copy_accepted_state(s, p);
  bool known = p->state[s->current].stamp ==
               s->stamp; /* if false, the pair must be evaluated again, with the present friction reference */
  s->sleep[slot] = (PairSleep){.even = known, .has_terms = p->state[s->current].has_terms, .rounding = (double)NAN};
}

void contact_island_end(ContactSystem* part, const ContactSystem* whole) {
  if (part->current != whole->current) return;
  for (int n = 0; n < part->link_count; n++) stand_still(part, part->links[n]);
  for (int k = 0; k < part->list_count; k++) even_out(part, part->list[k]);
}

/* ---------------------------------------------------------------- after all substeps */

typedef struct {
  ContactSystem* system;
  const Pose* begin;
} EndTask;

/* Sets s->moved of each hull of link i to an upper bound of the distance that the hull moved while the parts of the
 * scene were solved [m]. */
static void end_link(void* context, int i, int thread) {
  (void)thread;
  const EndTask* task = context;
  ContactSystem* s = task->system;
  const ModelLink* l = &s->model->links[i];
  bool moves = l->tree >= 0 && s->parts.of_tree[l->tree] >= 0;
  if (!moves) stand_still(s, i);
  for (int k = l->hull_first; k < l->hull_first + l->hull_count; k++) {
    s->moved[k] = 0;
    if (!moves) continue;
    const ModelHull* hull = &s->model->hulls[k];
    const Pose *from = &task->begin[i], *to = &s->pose[1 - s->current][i];
    Vec3 way = vec3_sub(pose_apply(*to, hull->center), pose_apply(*from, hull->center));
    s->moved[k] = vec3_norm(way) + sqrt(2.0) * turn_between(from, to) * hull->radius;
  }
}

/* Marks a pair of hulls that stayed out of range of each other as separated in both states, with a lower bound of the
 * hulls' distance. */
static void pass_by(ContactSystem* s, ContactPair* p) {
  PairState *before = &p->state[s->current], *after = &p->state[1 - s->current];
  assert(before->outcome == PAIR_APART && !before->has_terms && !p->lagged);
  double separation = before->separation - s->moved[p->hull_a] - s->moved[p->hull_b];
  *after = *before;
  pair_set_apart(after, separation, before->axis);
  if (!(separation > s->reach[p->hull_a] + s->reach[p->hull_b])) contact_measure_distance(s, p, 1 - s->current, after);
  after->stamp = s->stamp;
  after->contact_energy = after->friction_energy = after->spent_energy = 0;
  after->has_friction = after->derived = false;
  *before = *after;
}

static void end_pair(void* context, int k, int thread) {
  (void)thread;
  ContactSystem* s = ((const EndTask*)context)->system;
  const int *of = s->parts.of_tree, *tree = s->model->link_tree;
  if (s->parts.of[k] >= 0) return;
  LinkPair p = s->list_links[k];
  int slot = s->list[k];
  bool moves = (tree[p.a] >= 0 && of[tree[p.a]] >= 0) || (tree[p.b] >= 0 && of[tree[p.b]] >= 0);
  if (!moves) {
    even_out(s, slot);
    return;
  }
  pass_by(s, &s->pairs[slot]);
  s->sleep[slot] = (PairSleep){.even = true, .rounding = (double)NAN};
}

void contact_islands_end(ContactSystem* s, const Pose* begin) {
  EndTask task = {s, begin};
  parallel_for(s->threads, s->model->link_count, LINKS_PARALLEL, LINKS_GRAIN, end_link, &task);
  parallel_for(s->threads, s->list_count, PARALLEL_THRESHOLD_INACTIVE, LINKS_GRAIN, end_pair, &task);
  s->current = 1 - s->current;
  s->measured = false;
  s->way_moved = true;
  s->awake_count = -1;
  s->phase = CONTACT_STANDING;
  contact_list_terms(s);
}

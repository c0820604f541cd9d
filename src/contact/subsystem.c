/* Subsystems of a scene, each of which is solved separately (docs/derivations/step.md, S17): the regions in which their
 * links stay, and contact systems for the pairs of one subsystem. */
#include <assert.h>
#include <math.h>
#include <string.h>

#include "contact/system.h"

/* The region of a link is a box that contains the link in its present pose and in its expected pose at the end of the
 * step, with a margin. The margin is the sum of the contact range, a term for rotation, and MARGIN_DISPLACEMENT times
 * the displacement of the fastest link with which the link may collide. Newton's method nearly always moves a link by
 * less than this margin beyond its expected pose. */
#define MARGIN_DISPLACEMENT 0.5
/* The term for rotation is MARGIN_ROTATION times the largest deviation of the link's points from straight paths. */
#define MARGIN_ROTATION 2.0

static const Box EMPTY_BOX = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
static const Box UNBOUNDED_BOX = {{-INFINITY, -INFINITY, -INFINITY}, {INFINITY, INFINITY, INFINITY}};

/* The contact range is enlarged by this fraction, so that rounding of the boxes does not matter. */
#define RANGE_ROUNDING 1e-9

bool contact_subsystems_create(ContactSystem* s) {
  bool complete = s->aggregates != NULL, links = s->pairs_links;
  if (complete || links || !isfinite(s->range)) return false;
  s->regions = MEMORY_NEW(Box, s->model->link_count);
  s->begin_boxes = MEMORY_NEW(Box, s->model->hull_count);
  s->expected_distance = MEMORY_NEW(double, s->model->link_count);
  s->tree_expected_distance = MEMORY_NEW(double, s->model->tree_count);
  s->region_bounds.link = MEMORY_NEW(MotionBound, s->model->link_count);
  return true;
}

/* ---------------------------------------------------------------- regions of links */

/* Returns the bounding box of a hull at `pose`, which may be an affine map. */
static Box box_at(const ModelHull* hull, const Pose* pose) {
  const double(*r)[3] = pose->r.m;
  Vec3 e = hull->half_extent, c = pose_apply(*pose, hull->center);
  Vec3 half = vec3(fabs(r[0][0]) * e.x + fabs(r[0][1]) * e.y + fabs(r[0][2]) * e.z,
                   fabs(r[1][0]) * e.x + fabs(r[1][1]) * e.y + fabs(r[1][2]) * e.z,
                   fabs(r[2][0]) * e.x + fabs(r[2][1]) * e.y + fabs(r[2][2]) * e.z);
  return (Box){vec3_sub(c, half), vec3_add(c, half)};
}

/* Maximum and minimum of numbers that are not NaN. They are faster than fmax and fmin, which also handle NaN. */
static inline double max_of(double a, double b) { return a > b ? a : b; }
static inline Vec3 component_max(Vec3 a, Vec3 b) { return vec3(max_of(a.x, b.x), max_of(a.y, b.y), max_of(a.z, b.z)); }
static inline Vec3 component_min(Vec3 a, Vec3 b) {
  return vec3(a.x < b.x ? a.x : b.x, a.y < b.y ? a.y : b.y, a.z < b.z ? a.z : b.z);
}

static Box union_box(Box a, Box b) { return (Box){component_min(a.low, b.low), component_max(a.high, b.high)}; }

static Box enlarged(Box a, double by) {
  Vec3 d = vec3(by, by, by);
  return (Box){vec3_sub(a.low, d), vec3_add(a.high, d)};
}

/* Returns the bounding box of the colliding hulls of a link at `pose`. Returns EMPTY_BOX if the link has no such hulls,
 * and UNBOUNDED_BOX if one of them is a half-space. */
static Box link_box(const ContactSystem* s, int link, const Pose* pose) {
  const ModelLink* l = &s->model->links[link];
  Box box = EMPTY_BOX;
  for (int k = l->hull_first; k < l->hull_first + l->hull_count && l->collide; k++) {
    if (!s->model->hulls[k].kind->bounded) return UNBOUNDED_BOX;
    box = union_box(box, box_at(&s->model->hulls[k], pose));
  }
  return box;
}

/* Returns the largest distance by which box a protrudes from box b along a coordinate axis [m]. */
static double protrusion(const Box* a, const Box* b) {
  Vec3 x = component_max(vec3_sub(b->low, a->low), vec3_sub(a->high, b->high));
  return max_of(x.x, max_of(x.y, x.z));
}

/* Returns an upper bound of the distance between the curved path of a point and the straight line between the ends of
 * the path [m]. acceleration: largest second derivative of the position with respect to the path coordinate alpha in
 * [0, 1]. */
static double path_deviation(double acceleration) { return 0.125 * acceleration; }

/* Returns the rotation angle between two poses [rad]. It is exact in the limit of small angles. */
static double rotation_angle(const Pose* a, const Pose* b) {
  double sum = 0;
  for (int r = 0; r < 3; r++)
    for (int c = 0; c < 3; c++) sum += (b->r.m[r][c] - a->r.m[r][c]) * (b->r.m[r][c] - a->r.m[r][c]);
  return sqrt(0.5 * sum);
}

typedef struct {
  ContactSystem* system;
  const Pose* expected;
} RegionTask;

/* Compares the bounding box of each hull of the link at pose `from` (start box) with that at pose `to` (end box). Sets
 * *ahead to the largest distance by which an end box extends beyond its start box. Returns the larger of *ahead and the
 * largest distance by which a start box extends beyond its end box [m]. Each hull has its own box, because the rotation
 * of a wheel hardly changes the box of the whole link. Also sets s->begin_boxes of the hulls to the start boxes. */
static double box_displacement(ContactSystem* s, int link, const Pose* from, const Pose* to, double* protrusion_end) {
  const ModelLink* l = &s->model->links[link];
  double displacement = *protrusion_end = 0;
  for (int k = l->hull_first; k < l->hull_first + l->hull_count; k++) {
    if (!s->model->hulls[k].kind->bounded) continue;
    Box start_box = box_at(&s->model->hulls[k], from), end_box = box_at(&s->model->hulls[k], to);
    s->begin_boxes[k] = start_box;
    double forward = protrusion(&end_box, &start_box);
    *protrusion_end = max_of(*protrusion_end, forward);
    displacement = max_of(displacement, max_of(forward, protrusion(&start_box, &end_box)));
  }
  return displacement;
}

static void find_region(void* context, int i, int thread) {
  (void)thread;
  const RegionTask* task = context;
  ContactSystem* s = task->system;
  s->expected_distance[i] = 0;
  s->region_bounds.link[i] = (MotionBound){0, 0, 0, 0};
  if (s->model->links[i].tree < 0) return;
  const Pose *from = &s->pose[s->current][i], *to = &task->expected[i];
  Box start_box = link_box(s, i, from);
  s->regions[i] = union_box(start_box, link_box(s, i, to));
  if (!(start_box.low.x <= start_box.high.x)) return; /* the box is empty, because the link has no colliding hulls */
  double protrusion_end, displacement = box_displacement(s, i, from, to, &protrusion_end),
                         angle = rotation_angle(from, to);
  double margin = MARGIN_DISPLACEMENT * displacement + s->range +
                  MARGIN_ROTATION * path_deviation(angle * angle * s->model->links[i].reach);
  s->expected_distance[i] = displacement;
  s->regions[i] = enlarged(s->regions[i], margin);
  s->region_bounds.link[i].speed = protrusion_end + margin;
}

static bool boxes_within(const Box* a, const Box* b, double reach) {
  Vec3 x = component_max(vec3_sub(a->low, b->high), vec3_sub(b->low, a->high));
  return x.x <= reach && x.y <= reach && x.z <= reach;
}

/* Extends the region of each body to the margin of the fastest body of its set. A set contains the bodies that may
 * collide with each other. A slow body needs this margin because it may be hit by a fast one. */
static void extend_regions(ContactSystem* s, int* sets) {
  const Model* m = s->model;
  for (int k = 0; k < m->tree_count; k++) s->tree_expected_distance[k] = 0;
  for (int i = 0; i < m->link_count; i++) {
    if (m->link_tree[i] < 0) continue;
    double* set_distance = &s->tree_expected_distance[disjoint_sets_find(sets, m->link_tree[i])];
    *set_distance = max_of(*set_distance, s->expected_distance[i]);
  }
  for (int i = 0; i < m->link_count; i++) {
    if (m->link_tree[i] < 0) continue;
    double extra = MARGIN_DISPLACEMENT *
                   (s->tree_expected_distance[disjoint_sets_find(sets, m->link_tree[i])] - s->expected_distance[i]);
    s->regions[i] = enlarged(s->regions[i], extra);
    s->region_bounds.link[i].speed += extra;
  }
}

static void unite_near_trees(ContactSystem* s, int* sets) {
  const Model* m = s->model;
  double reach = s->range * (1 + RANGE_ROUNDING);
  contact_prepare(s, &s->region_bounds);
  contact_update_list_links(s);
  for (int k = 0; k < s->list_count; k++) {
    LinkPair p = s->list_links[k];
    int a = m->link_tree[p.a], b = m->link_tree[p.b];
    if (a >= 0 && b >= 0 && a != b && boxes_within(&s->regions[p.a], &s->regions[p.b], reach))
      disjoint_sets_unite(sets, a, b);
  }
}

void contact_subsystems_find(ContactSystem* s, const Pose* expected, int* sets) {
  RegionTask task = {s, expected};
  const Model* m = s->model;
  parallel_for(s->threads, m->link_count, LINKS_PARALLEL, LINKS_GRAIN, find_region, &task);
  unite_near_trees(s, sets);
  extend_regions(s, sets);
  unite_near_trees(s, sets);
}

/* ---------------------------------------------------------------- lists of the links and pairs of each subsystem */

/* Copies the accepted pose of a link to its trial state. */
static void copy_accepted_pose(const ContactSystem* s, int link) {
  int now = s->current;
  const ModelLink* l = &s->model->links[link];
  s->pose[1 - now][link] = s->pose[now][link];
  s->reference[1 - now][link] = s->reference[now][link];
  for (int k = l->hull_first; k < l->hull_first + l->hull_count; k++) s->instance[1 - now][k] = s->instance[now][k];
}

static int subsystem_of_pair(const ContactSystem* s, LinkPair p, const int* subsystem_of) {
  int a = s->model->link_tree[p.a], b = s->model->link_tree[p.b];
  if (a < 0) return subsystem_of[b];
  return b < 0 || subsystem_of[a] == subsystem_of[b] ? subsystem_of[a] : -1;
}

static void reserve_subsystems(SubsystemLists* lists, int subsystem_count, int list_count) {
  if (subsystem_count + 3 > lists->subsystem_capacity) {
    memory_free(lists->first);
    lists->subsystem_capacity = 2 * subsystem_count + 64;
    lists->first = MEMORY_NEW(int, lists->subsystem_capacity);
  }
  if (list_count > lists->capacity) {
    memory_free(lists->candidates);
    memory_free(lists->subsystem_of);
    lists->capacity = list_count + list_count / 2 + 64;
    lists->candidates = MEMORY_NEW(int, lists->capacity);
    lists->subsystem_of = MEMORY_NEW(int, lists->capacity);
  }
}

void contact_subsystems_list(ContactSystem* s, const int* subsystem_of, int subsystem_count) {
  assert(subsystem_of && subsystem_count >= 0);
  SubsystemLists* lists = &s->subsystems;
  reserve_subsystems(lists, subsystem_count, s->list_count);
  lists->subsystem_of_tree = subsystem_of;
  int* first = lists->first; /* pairs of no subsystem come first; the pairs of subsystem k begin at first[k + 2] */
  memset(first, 0, sizeof(int) * (size_t)(subsystem_count + 3));
  for (int k = 0; k < s->list_count; k++)
    first[(lists->subsystem_of[k] = subsystem_of_pair(s, s->list_links[k], subsystem_of)) + 2]++;
  for (int k = 1; k < subsystem_count + 2; k++) first[k] += first[k - 1];
  for (int k = s->list_count - 1; k >= 0; k--)
    lists->candidates[--first[lists->subsystem_of[k] + 2]] =
        k; /* first[] changes from the ends to the beginnings of the ranges */
  first[subsystem_count + 2] = s->list_count;
  for (int i = 0; i < s->model->link_count;
       i++) { /* immovable links have equal poses in the accepted and the trial state */
    if (s->model->links[i].tree >= 0) continue;
    copy_accepted_pose(s, i);
    s->stays[0][i] = s->stays[1][i] = true;
  }
}

/* ---------------------------------------------------------------- contact system of one subsystem */

ContactSystem* contact_subsystem_create(const ContactSystem* complete, int thread) {
  assert(thread >= 0);
  ContactSystem* subsystem = MEMORY_NEW(ContactSystem, 1);
  subsystem->first_thread = thread;
  subsystem->certificate_poses = MEMORY_NEW(Pose, complete->model->link_count);
  subsystem->movers = MEMORY_NEW(int, complete->model->hull_count);
  return subsystem;
}

static void free_lists(ContactSystem* subsystem) {
  void* const owned[] = {subsystem->list,  subsystem->list_links, subsystem->awake,    subsystem->pending,
                         subsystem->terms, subsystem->term_links, subsystem->underived};
  for (size_t k = 0; k < sizeof owned / sizeof owned[0]; k++) memory_free(owned[k]);
}

void contact_subsystem_destroy(ContactSystem* subsystem) {
  if (!subsystem) return;
  free_lists(subsystem);
  memory_free(subsystem->certificate_poses);
  memory_free(subsystem->movers);
  memory_free(subsystem);
}

void contact_subsystem_attach(ContactSystem* subsystem, const ContactSystem* complete) {
  ContactSystem lists_before = *subsystem;
  *subsystem = *complete;
  subsystem->threads = 1;
  subsystem->first_thread = lists_before.first_thread;
  subsystem->certificate_poses = lists_before.certificate_poses;
  subsystem->movers = lists_before.movers;
  subsystem->list = lists_before.list;
  subsystem->list_links = lists_before.list_links;
  subsystem->list_capacity = lists_before.list_capacity;
  subsystem->awake = lists_before.awake;
  subsystem->pending = lists_before.pending;
  subsystem->terms = lists_before.terms;
  subsystem->term_links = lists_before.term_links;
  subsystem->underived = lists_before.underived;
  subsystem->times = (ContactTimes){0, 0, 0};
  subsystem->list_links_version = subsystem->version;
  for (int i = 0; i < complete->model->link_count; i++)
    if (complete->model->links[i].tree < 0) subsystem->certificate_poses[i] = complete->pose[complete->current][i];
}

static void reserve_lists(ContactSystem* subsystem, int count) {
  if (count <= subsystem->list_capacity) return;
  free_lists(subsystem);
  subsystem->list_capacity = count + count / 2 + 64;
  subsystem->list = MEMORY_NEW(int, subsystem->list_capacity);
  subsystem->list_links = MEMORY_NEW(LinkPair, subsystem->list_capacity);
  subsystem->awake = MEMORY_NEW(int, subsystem->list_capacity);
  subsystem->pending = MEMORY_NEW(int, subsystem->list_capacity);
  subsystem->terms = MEMORY_NEW(int, subsystem->list_capacity);
  subsystem->term_links = MEMORY_NEW(LinkPair, subsystem->list_capacity);
  subsystem->underived = MEMORY_NEW(int, subsystem->list_capacity);
}

void contact_subsystem_begin(ContactSystem* subsystem, const ContactSystem* complete, int number, const int* links,
                             int count) {
  assert(number >= 0 && (links || count == 0));
  const SubsystemLists* lists = &complete->subsystems;
  int first = lists->first[number + 2];
  subsystem->current = complete->current;
  subsystem->links = links;
  subsystem->link_count = count;
  subsystem->list_count = lists->first[number + 3] - first;
  reserve_lists(subsystem, subsystem->list_count);
  for (int n = 0; n < subsystem->list_count; n++) {
    int k = lists->candidates[first + n];
    subsystem->list[n] = complete->list[k];
    subsystem->list_links[n] = complete->list_links[k];
  }
  subsystem->mover_count = 0;
  for (int n = 0; n < count; n++) {
    const ModelLink* l = &complete->model->links[links[n]];
    for (int k = 0; k < l->hull_count; k++) subsystem->movers[subsystem->mover_count++] = l->hull_first + k;
  }
  subsystem->awake_count = -1;
  subsystem->measured = false;
  subsystem->phase = CONTACT_STANDING;
  contact_list_terms(subsystem);
}

bool contact_subsystem_stays(const ContactSystem* s, const MotionBounds* bounds) {
  for (int n = 0; n < s->link_count; n++) {
    int i = s->links[n];
    const ModelLink* l = &s->model->links[i];
    const MotionBound* b = &bounds->link[i];
    if (s->stays[s->current][i]) continue;
    for (int k = l->hull_first; k < l->hull_first + l->hull_count && l->collide; k++) {
      const ModelHull* hull = &s->model->hulls[k];
      if (!hull->kind->bounded) continue;
      double arm = vec3_norm(hull->center) + hull->radius;
      Box displacement = union_box(box_at(hull, &s->pose[0][i]), box_at(hull, &s->pose[1][i]));
      displacement = enlarged(displacement, path_deviation(b->acceleration + (b->spin * b->spin + b->spin_rate) * arm));
      if (!(protrusion(&displacement, &s->regions[i]) <= 0)) return false;
      /* the list of candidate pairs is complete only if the hull moves by at most region_bounds */
      if (!(protrusion(&displacement, &s->begin_boxes[k]) <= s->region_bounds.link[i].speed)) return false;
    }
  }
  return true;
}

/* Makes the trial state of a pair equal to its accepted state. */
static void equalize_states(const ContactSystem* s, int slot) {
  ContactPair* p = &s->pairs[slot];
  if (s->sleep[slot].is_unchanged) return;
  contact_copy_accepted_state(s, p);
  bool known = p->state[s->current].stamp ==
               s->stamp; /* if false, the pair must be evaluated again, with the present friction reference */
  s->sleep[slot] =
      (PairSleep){.is_unchanged = known, .has_terms = p->state[s->current].has_terms, .rounding = (double)NAN};
}

void contact_subsystem_end(ContactSystem* subsystem, const ContactSystem* complete) {
  if (subsystem->current != complete->current) return;
  for (int n = 0; n < subsystem->link_count; n++) copy_accepted_pose(subsystem, subsystem->links[n]);
  for (int k = 0; k < subsystem->list_count; k++) equalize_states(subsystem, subsystem->list[k]);
}

/* ---------------------------------------------------------------- after all substeps */

typedef struct {
  ContactSystem* system;
  const Pose* begin;
} EndTask;

/* Sets s->moved of each hull of link i to an upper bound of the distance that the hull moved while the subsystems were
 * solved [m]. */
static void end_link(void* context, int i, int thread) {
  (void)thread;
  const EndTask* task = context;
  ContactSystem* s = task->system;
  const ModelLink* l = &s->model->links[i];
  bool moves = l->tree >= 0 && s->subsystems.subsystem_of_tree[l->tree] >= 0;
  if (!moves) copy_accepted_pose(s, i);
  for (int k = l->hull_first; k < l->hull_first + l->hull_count; k++) {
    s->moved[k] = 0;
    if (!moves) continue;
    const ModelHull* hull = &s->model->hulls[k];
    const Pose *from = &task->begin[i], *to = &s->pose[1 - s->current][i];
    Vec3 displacement = vec3_sub(pose_apply(*to, hull->center), pose_apply(*from, hull->center));
    s->moved[k] = vec3_norm(displacement) + sqrt(2.0) * rotation_angle(from, to) * hull->radius;
  }
}

/* Marks a pair of hulls that stayed out of range of each other as separated in both states, with a lower bound of the
 * hulls' distance. */
static void set_pair_apart(ContactSystem* s, ContactPair* p) {
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
  const int *subsystem_of = s->subsystems.subsystem_of_tree, *tree = s->model->link_tree;
  if (s->subsystems.subsystem_of[k] >= 0) return;
  LinkPair p = s->list_links[k];
  int slot = s->list[k];
  bool moves = (tree[p.a] >= 0 && subsystem_of[tree[p.a]] >= 0) || (tree[p.b] >= 0 && subsystem_of[tree[p.b]] >= 0);
  if (!moves) {
    equalize_states(s, slot);
    return;
  }
  set_pair_apart(s, &s->pairs[slot]);
  s->sleep[slot] = (PairSleep){.is_unchanged = true, .rounding = (double)NAN};
}

void contact_subsystems_end(ContactSystem* s, const Pose* begin) {
  EndTask task = {s, begin};
  parallel_for(s->threads, s->model->link_count, LINKS_PARALLEL, LINKS_GRAIN, end_link, &task);
  parallel_for(s->threads, s->list_count, PARALLEL_THRESHOLD_INACTIVE, LINKS_GRAIN, end_pair, &task);
  s->current = 1 - s->current;
  s->measured = false;
  s->path_moved = true;
  s->awake_count = -1;
  s->phase = CONTACT_STANDING;
  contact_list_terms(s);
}

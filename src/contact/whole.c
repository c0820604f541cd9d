/* Aggregate pairs: two links that represent all pairs of their hulls (ContactLaw.whole). Equation N26 is in
 * docs/derivations/law-long_range.md. Their hulls with friction are listed, and distances and proofs use their trees.
 */
#include "contact/system.h"

#include <assert.h>
#include <float.h>
#include <stdlib.h>
#include <string.h>

bool contact_is_aggregate_pair(const ContactSystem* s, int link_a, int link_b) {
  assert(link_a >= 0 && link_b >= 0);
  return s->aggregates && s->aggregates[(size_t)link_a * (size_t)s->model->link_count + (size_t)link_b];
}

bool contact_is_represented(const ContactSystem* s, uint64_t key) {
  int a = (int)(key >> 32), b = (int)(key & UINT32_MAX);
  if (!s->aggregates || a >= s->model->hull_count || b >= s->model->hull_count) return false;
  return contact_is_aggregate_pair(s, s->model->hulls[a].link, s->model->hulls[b].link);
}

static PieceTrees pair_trees(const ContactSystem* s, int link_a, int link_b) {
  PieceTrees trees;
  const SceneLaw* law = law_of_links(&s->laws, link_a, link_b);
  (void)law->row->whole(law->data, link_a, link_b, &trees);
  return trees;
}

static bool is_aggregate_pair(const ContactSystem* s, int a, int b) {
  PieceTrees trees;
  const SceneLaw* law = law_of_links(&s->laws, a, b);
  if (a == b || !law->row->whole || !model_pair_allowed(s->model, a, b)) return false;
  if (!law->row->whole(law->data, a, b, &trees)) return false;
  return trees.a->count > 0 && trees.b->count > 0;
}

static bool has_aggregate_pairs(const ContactLaw* law) { return law->whole != NULL; }

void contact_find_aggregate_pairs(ContactSystem* s) {
  int count = s->model->link_count;
  if (!contact_law_with(s->model, has_aggregate_pairs)) return;
  bool any = false, *aggregates = memory_alloc(sizeof(bool) * (size_t)count * (size_t)count + 1);
  for (int a = 0; a < count; a++)
    for (int b = 0; b < count; b++) {
      bool is = is_aggregate_pair(s, a, b);
      aggregates[(size_t)a * (size_t)count + (size_t)b] = is;
      any = any || is;
    }
  if (any)
    s->aggregates = aggregates;
  else
    memory_free(aggregates);
}

static Vec3 node_center(const Pose* pose, const TreeNode* node) { return pose_apply(*pose, node->center); }

static double sphere_gap(const Pose* pose_a, const Pose* pose_b, const TreeNode* a, const TreeNode* b) {
  return vec3_norm(vec3_sub(node_center(pose_a, a), node_center(pose_b, b))) - (a->radius + b->radius);
}

typedef struct {
  ContactSystem* s;
  const Pose *a, *b;
  double spread;
} FrictionPairSearch;

static double friction_lower_bound(const void* context, const TreeNode* a, const TreeNode* b) {
  const FrictionPairSearch* search = context;
  double gap = sphere_gap(search->a, search->b, a, b) - (search->spread - 1) * (a->radius + b->radius);
  return gap == 0 ? DBL_MIN
                  : gap; /* positive also at the limit distance, because hulls at this distance have no friction */
}

static bool append_friction_pair(void* context, int hull_a, int hull_b) {
  KeyList* list = &((FrictionPairSearch*)context)->s->friction_pairs;
  if (list->count == list->capacity) {
    int capacity = 2 * list->capacity + 64;
    list->keys =
        memory_resize(list->keys, sizeof(uint64_t) * (size_t)list->capacity, sizeof(uint64_t) * (size_t)capacity);
    list->capacity = capacity;
  }
  int first = hull_a < hull_b ? hull_a : hull_b, second = hull_a < hull_b ? hull_b : hull_a;
  list->keys[list->count++] = (uint64_t)first << 32 | (uint32_t)second;
  return true;
}

static void find_friction_pairs(ContactSystem* s) {
  s->friction_pairs.count = 0;
  for (int k = 0; k < s->list_count; k++) {
    const ContactPair* p = contact_pair(s, k);
    if (!p->is_link_pair || !contact_is_aggregate_pair(s, p->link_a, p->link_b)) continue;
    PieceTrees trees = pair_trees(s, p->link_a, p->link_b);
    FrictionPairSearch search = {s, &s->pose[s->current][p->link_a], &s->pose[s->current][p->link_b], trees.spread};
    PieceTraversal walk = {friction_lower_bound, append_friction_pair, &search};
    if (trees.spread > 0) (void)hierarchy_traverse(trees.a, trees.b, &walk);
  }
  if (s->friction_pairs.count > 1)
    qsort(s->friction_pairs.keys, (size_t)s->friction_pairs.count, sizeof(uint64_t), compare_uint64);
}

static bool accept_all_keys(const ContactSystem* s, uint64_t key) {
  (void)s;
  (void)key;
  return true;
}

static bool keep_unrepresented(const ContactSystem* s, const ContactPair* p) {
  return !contact_is_represented(s, p->key);
}
static bool keep_all(const ContactSystem* s, const ContactPair* p) {
  (void)s;
  (void)p;
  return true;
}

void contact_list_friction_pairs(ContactSystem* s, bool drop_others) {
  if (!s->aggregates) return;
  find_friction_pairs(s);
  contact_merge_list(s, s->friction_pairs.keys, s->friction_pairs.count, accept_all_keys,
                     drop_others ? keep_unrepresented : keep_all);
}

typedef struct {
  const ContactSystem* s;
  const Pose* pose;
  int link[2];
  double distance; /* smallest distance found so far [m] */
} AggregateDistanceSearch;

static double distance_lower_bound(const void* context, const TreeNode* a, const TreeNode* b) {
  const AggregateDistanceSearch* search = context;
  return sphere_gap(&search->pose[search->link[0]], &search->pose[search->link[1]], a, b) - search->distance;
}

static bool update_distance(void* context, int hull_a, int hull_b) {
  AggregateDistanceSearch* search = context;
  const ModelHull* hulls = search->s->model->hulls;
  HullInstance a = pair_hull_at(&hulls[hull_a], &search->pose[search->link[0]]);
  HullInstance b = pair_hull_at(&hulls[hull_b], &search->pose[search->link[1]]);
  GjkResult found;
  search->distance = fmin(search->distance, pair_distance(&a, &b, NULL, &found));
  return search->distance > 0;
}

double contact_aggregate_distance(const ContactSystem* s, const ContactPair* p, const Pose* poses) {
  if (!contact_is_aggregate_pair(s, p->link_a, p->link_b)) return INFINITY;
  PieceTrees trees = pair_trees(s, p->link_a, p->link_b);
  const Pose *a = &poses[p->link_a], *b = &poses[p->link_b];
  if (sphere_gap(a, b, trees.a->nodes, trees.b->nodes) > s->range) return INFINITY;
  AggregateDistanceSearch distance = {s, poses, {p->link_a, p->link_b}, INFINITY};
  PieceTraversal walk = {distance_lower_bound, update_distance, &distance};
  (void)hierarchy_traverse(trees.a, trees.b, &walk);
  return distance.distance;
}

/* Computes the poses of both links, and the frame of their common ancestor, at one point of the path, unless they are
 * known. */
static void compute_path_point(const ContactSystem* s, AggregatePath* path, int point) {
  if (path->known[point]) return;
  const Pose* poses = point == 0 ? path->start : point == AGGREGATE_PATH_INTERVALS ? path->end : s->certificate_poses;
  for (int side = 0; side < 2 && poses == s->certificate_poses; side++)
    path->poses_at(path->context, (double)point / AGGREGATE_PATH_INTERVALS, path->link[side],
                   side ? path->common_ancestor : -1, s->certificate_poses);
  for (int side = 0; side < 2; side++) path->pose[side][point] = poses[path->link[side]];
  path->frame[point] = path->common_ancestor < 0 ? mat3_identity() : poses[path->common_ancestor].r;
  path->known[point] = true;
}

static double max_displacement(const MotionBound* bound, const TreeNode* node) {
  return bound->speed + bound->spin * (vec3_norm(node->center) + node->radius);
}

/* Returns true if two nodes provably stay apart between the points `from` and `to` of the path. The proof succeeds if
 * their spheres are farther apart than the distance that they move. Otherwise a path that is long relative to the
 * spheres is halved. For a short path, the children of one node are tried, or path->prove for two leaves. */
static bool prove_nodes(const ContactSystem* s, AggregatePath* path, const TreeNode* a, const TreeNode* b, int from,
                        int to) {
  double displacement = (max_displacement(&path->bound[0], a) + max_displacement(&path->bound[1], b)) * (to - from) /
                        AGGREGATE_PATH_INTERVALS;
  double gap_sum = sphere_gap(&path->pose[0][from], &path->pose[1][from], a, b) +
                   sphere_gap(&path->pose[0][to], &path->pose[1][to], a, b);
  if (gap_sum > displacement) return true;
  if (to - from > 1 && displacement > 2 * (a->radius + b->radius)) {
    int middle = (from + to) / 2;
    compute_path_point(s, path, middle);
    return prove_nodes(s, path, a, b, from, middle) && prove_nodes(s, path, a, b, middle, to);
  }
  if (a->hull >= 0 && b->hull >= 0) return path->prove(path, a->hull, b->hull, from, to);
  bool first = b->hull >= 0 || (a->hull < 0 && a->radius >= b->radius);
  for (int k = 0; k < 2; k++) {
    const TreeNode *x = first ? &path->trees.a->nodes[a->child[k]] : a,
                   *y = first ? b : &path->trees.b->nodes[b->child[k]];
    if (!prove_nodes(s, path, x, y, from, to)) return false;
  }
  return true;
}

bool contact_prove_aggregate_path(const ContactSystem* s, AggregatePath* path) {
  path->trees = pair_trees(s, path->link[0], path->link[1]);
  memset(path->known, 0, sizeof(path->known));
  compute_path_point(s, path, 0);
  compute_path_point(s, path, AGGREGATE_PATH_INTERVALS);
  return prove_nodes(s, path, path->trees.a->nodes, path->trees.b->nodes, 0, AGGREGATE_PATH_INTERVALS);
}

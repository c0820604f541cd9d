/* Pairs of links that represent all pairs of their hulls (ContactLaw.whole; docs/derivations/law-long_range.md, N26).
 * Functions find these pairs of links, list their pairs of hulls with friction, compute their distances, and traverse
 * their trees for the certificate. */
#include "contact/system.h"

#include <assert.h>
#include <float.h>
#include <stdlib.h>
#include <string.h>

bool contact_is_aggregate_pair(const ContactSystem* s, int link_a, int link_b) {
  assert(link_a >= 0 && link_b >= 0);
  return s->whole && s->whole[(size_t)link_a * (size_t)s->model->link_count + (size_t)link_b];
}

bool contact_is_represented(const ContactSystem* s, uint64_t key) {
  int a = (int)(key >> 32), b = (int)(key & UINT32_MAX);
  if (!s->whole || a >= s->model->hull_count || b >= s->model->hull_count) return false;
  return contact_is_aggregate_pair(s, s->model->hulls[a].link, s->model->hulls[b].link);
}

static PieceTrees trees_of(const ContactSystem* s, int link_a, int link_b) {
  PieceTrees trees;
  const SceneLaw* law = law_of_links(&s->laws, link_a, link_b);
  (void)law->row->whole(law->data, link_a, link_b, &trees);
  return trees;
}

static bool pair_is_whole(const ContactSystem* s, int a, int b) {
  PieceTrees trees;
  const SceneLaw* law = law_of_links(&s->laws, a, b);
  if (a == b || !law->row->whole || !model_pair_allowed(s->model, a, b)) return false;
  if (!law->row->whole(law->data, a, b, &trees)) return false;
  return trees.a->count > 0 && trees.b->count > 0;
}

static bool has_whole(const ContactLaw* law) { return law->whole != NULL; }

void contact_find_aggregate_pairs(ContactSystem* s) {
  int count = s->model->link_count;
  if (!contact_law_with(s->model, has_whole)) return;
  bool any = false, *whole = memory_alloc(sizeof(bool) * (size_t)count * (size_t)count + 1);
  for (int a = 0; a < count; a++)
    for (int b = 0; b < count; b++) {
      bool is = pair_is_whole(s, a, b);
      whole[(size_t)a * (size_t)count + (size_t)b] = is;
      any = any || is;
    }
  if (any)
    s->whole = whole;
  else
    memory_free(whole);
}

static Vec3 center_at(const Pose* pose, const TreeNode* node) { return pose_apply(*pose, node->center); }

static double spheres_apart(const Pose* pose_a, const Pose* pose_b, const TreeNode* a, const TreeNode* b) {
  return vec3_norm(vec3_sub(center_at(pose_a, a), center_at(pose_b, b))) - (a->radius + b->radius);
}

/* ---------------------------------------------------------------- hull pairs with friction */

typedef struct {
  ContactSystem* s;
  const Pose *a, *b;
  double spread;
} FrictionPairSearch;

static double least_for_rubbing(const void* context, const TreeNode* a, const TreeNode* b) {
  const FrictionPairSearch* w = context;
  double apart = spheres_apart(w->a, w->b, a, b) - (w->spread - 1) * (a->radius + b->radius);
  return apart == 0 ? DBL_MIN : apart; /* hulls exactly at the limit distance have no friction, like hulls beyond it, so
                                          the result must be positive */
}

static bool list_rubbing(void* context, int hull_a, int hull_b) {
  KeyList* list = &((FrictionPairSearch*)context)->s->rubbing;
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

static void find_rubbing(ContactSystem* s) {
  s->rubbing.count = 0;
  for (int k = 0; k < s->list_count; k++) {
    const ContactPair* p = contact_pair(s, k);
    if (!p->links || !contact_is_aggregate_pair(s, p->link_a, p->link_b)) continue;
    PieceTrees trees = trees_of(s, p->link_a, p->link_b);
    FrictionPairSearch rub = {s, &s->pose[s->current][p->link_a], &s->pose[s->current][p->link_b], trees.spread};
    PieceTraversal walk = {least_for_rubbing, list_rubbing, &rub};
    if (trees.spread > 0) (void)hierarchy_traverse(trees.a, trees.b, &walk);
  }
  if (s->rubbing.count > 1) qsort(s->rubbing.keys, (size_t)s->rubbing.count, sizeof(uint64_t), compare_uint64);
}

static bool all_wanted(const ContactSystem* s, uint64_t key) {
  (void)s;
  (void)key;
  return true;
}

static bool others_stay(const ContactSystem* s, const ContactPair* p) { return !contact_is_represented(s, p->key); }
static bool all_stay(const ContactSystem* s, const ContactPair* p) {
  (void)s;
  (void)p;
  return true;
}

void contact_list_friction_pairs(ContactSystem* s, bool drop_others) {
  if (!s->whole) return;
  find_rubbing(s);
  contact_merge_list(s, s->rubbing.keys, s->rubbing.count, all_wanted, drop_others ? others_stay : all_stay);
}

/* ---------------------------------------------------------------- distance */

typedef struct {
  const ContactSystem* s;
  const Pose* pose;
  int link[2];
  double distance; /* smallest distance found so far [m] */
} DistanceWalk;

static double least_for_distance(const void* context, const TreeNode* a, const TreeNode* b) {
  const DistanceWalk* w = context;
  return spheres_apart(&w->pose[w->link[0]], &w->pose[w->link[1]], a, b) - w->distance;
}

static bool take_distance(void* context, int hull_a, int hull_b) {
  DistanceWalk* w = context;
  const ModelHull* hulls = w->s->model->hulls;
  HullInstance a = pair_hull_at(&hulls[hull_a], &w->pose[w->link[0]]);
  HullInstance b = pair_hull_at(&hulls[hull_b], &w->pose[w->link[1]]);
  GjkResult found;
  w->distance = fmin(w->distance, pair_distance(&a, &b, NULL, &found));
  return w->distance > 0;
}

double contact_aggregate_distance(const ContactSystem* s, const ContactPair* p, const Pose* poses) {
  if (!contact_is_aggregate_pair(s, p->link_a, p->link_b)) return INFINITY;
  PieceTrees trees = trees_of(s, p->link_a, p->link_b);
  const Pose *a = &poses[p->link_a], *b = &poses[p->link_b];
  if (spheres_apart(a, b, trees.a->nodes, trees.b->nodes) > s->range) return INFINITY;
  DistanceWalk distance = {s, poses, {p->link_a, p->link_b}, INFINITY};
  PieceTraversal walk = {least_for_distance, take_distance, &distance};
  (void)hierarchy_traverse(trees.a, trees.b, &walk);
  return distance.distance;
}

/* ---------------------------------------------------------------- collisions along a path */

/* Computes the poses of both links, and the frame of their common ancestor, at point number `part` of the path, unless
 * they were computed before. */
static void know(const ContactSystem* s, AggregatePath* w, int part) {
  if (w->known[part]) return;
  const Pose* poses = part == 0 ? w->start : part == AGGREGATE_PATH_INTERVALS ? w->end : s->certificate_poses;
  for (int side = 0; side < 2 && poses == s->certificate_poses; side++)
    w->poses_at(w->context, (double)part / AGGREGATE_PATH_INTERVALS, w->link[side], side ? w->common : -1,
                s->certificate_poses);
  for (int side = 0; side < 2; side++) w->pose[side][part] = poses[w->link[side]];
  w->frame[part] = w->common < 0 ? mat3_identity() : poses[w->common].r;
  w->known[part] = true;
}

static double way_of(const MotionBound* bound, const TreeNode* node) {
  return bound->speed + bound->spin * (vec3_norm(node->center) + node->radius);
}

/* Returns true if two nodes provably stay apart between the points `from` and `to` of the path. The proof succeeds if
 * their spheres are farther apart than the distance that they move. Otherwise the function halves the path if it is
 * long relative to the spheres. For a short path, it proves the statement for the children of one node, or calls
 * w->prove for two leaves. */
static bool prove_nodes(const ContactSystem* s, AggregatePath* w, const TreeNode* a, const TreeNode* b, int from,
                        int to) {
  double way = (way_of(&w->bound[0], a) + way_of(&w->bound[1], b)) * (to - from) / AGGREGATE_PATH_INTERVALS;
  double ends =
      spheres_apart(&w->pose[0][from], &w->pose[1][from], a, b) + spheres_apart(&w->pose[0][to], &w->pose[1][to], a, b);
  if (ends > way) return true;
  if (to - from > 1 && way > 2 * (a->radius + b->radius)) {
    int middle = (from + to) / 2;
    know(s, w, middle);
    return prove_nodes(s, w, a, b, from, middle) && prove_nodes(s, w, a, b, middle, to);
  }
  if (a->hull >= 0 && b->hull >= 0) return w->prove(w, a->hull, b->hull, from, to);
  bool first = b->hull >= 0 || (a->hull < 0 && a->radius >= b->radius);
  for (int k = 0; k < 2; k++) {
    const TreeNode *x = first ? &w->trees.a->nodes[a->child[k]] : a, *y = first ? b : &w->trees.b->nodes[b->child[k]];
    if (!prove_nodes(s, w, x, y, from, to)) return false;
  }
  return true;
}

bool contact_prove_aggregate_path(const ContactSystem* s, AggregatePath* way) {
  way->trees = trees_of(s, way->link[0], way->link[1]);
  memset(way->known, 0, sizeof(way->known));
  know(s, way, 0);
  know(s, way, AGGREGATE_PATH_INTERVALS);
  return prove_nodes(s, way, way->trees.a->nodes, way->trees.b->nodes, 0, AGGREGATE_PATH_INTERVALS);
}

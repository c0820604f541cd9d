#include "contact/broad_phase.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* LEAF_SIZE: largest number of boxes in a leaf. STACK_SIZE: capacity of the stack of nodes in a query.
 * MAX_INSERTION_SORT: up to this number, the keys of a box are sorted by insertion; more keys are sorted by qsort. */
enum { LEAF_SIZE = 4, STACK_SIZE = 128, MAX_INSERTION_SORT = 64 };
/* If fewer boxes than this move, the tree is built and searched by one thread. */
enum { MIN_PARALLEL_BOXES = 128 };

static bool is_box_empty(const Box* b) { return b->low.x > b->high.x; }

/* Extends the box to contain [low, high]. Uses comparisons, which are faster than fmin and fmax because these also
 * handle NaN. Boxes contain no NaN. */
static void extend_box(Box* box, Vec3 low, Vec3 high) {
  box->low = vec3(low.x < box->low.x ? low.x : box->low.x, low.y < box->low.y ? low.y : box->low.y,
                  low.z < box->low.z ? low.z : box->low.z);
  box->high = vec3(high.x > box->high.x ? high.x : box->high.x, high.y > box->high.y ? high.y : box->high.y,
                   high.z > box->high.z ? high.z : box->high.z);
}

/* Returns true if the centre of box i is below the centre of box j along one axis. middle: twice the coordinates of the
 * centres along this axis; the coordinate of box i is middle[3 i]. Equal centres are ordered by index, so that the tree
 * does not depend on earlier sorting. */
static bool is_center_before(const double* middle, int i, int j) {
  double a = middle[3 * (size_t)i], b = middle[3 * (size_t)j];
  return a < b || (a == b && i < j);
}

/* Reorders order[count] such that the `rank` boxes with the smallest centre coordinates come first (quickselect). */
static void partition_at_rank(const double* middle, int* order, int count, int rank) {
  int low = 0, high = count - 1;
  while (low < high) {
    int pivot = order[low + (high - low) / 2], i = low, j = high;
    while (i <= j) {
      while (is_center_before(middle, order[i], pivot)) i++;
      while (is_center_before(middle, pivot, order[j])) j--;
      if (i > j) break;
      int swap = order[i];
      order[i++] = order[j];
      order[j--] = swap;
    }
    if (rank <= j)
      high = j;
    else if (rank >= i)
      low = i;
    else
      return;
  }
}

static int group_of(const BroadGroups* groups, int index) {
  return groups->group_of ? groups->group_of[index] : BROAD_MIXED;
}

static int common_group(const BroadGroups* groups, const int* order, int count) {
  int group = group_of(groups, order[0]);
  for (int k = 1; k < count && group != BROAD_MIXED; k++)
    if (group_of(groups, order[k]) != group) group = BROAD_MIXED;
  return group;
}

/* Returns true if the search excludes pairs of a box of group a and a box of group b. */
static bool is_excluded_pair(const BroadGroups* groups, int a, int b) {
  return a != BROAD_MIXED && b != BROAD_MIXED && groups->excluded[(size_t)a * (size_t)groups->count + (size_t)b];
}

/* Sets `node` to the boxes order[first], ..., order[first + count - 1]. Returns false if the node is a leaf. Otherwise
 * divides the boxes into two halves, whose nodes are `child` and child + 1. */
static bool split_node(BroadTree* tree, const BroadGroups* groups, const Box* boxes, int node, int first, int count,
                       int child) {
  BroadNode* n = &tree->nodes[node];
  int* order = tree->order + first;
  n->box = boxes[order[0]];
  for (int k = 1; k < count; k++) extend_box(&n->box, boxes[order[k]].low, boxes[order[k]].high);
  n->group = common_group(groups, order, count);
  if (count <= LEAF_SIZE) {
    n->first = first;
    n->count = count;
    return false;
  }
  Box middle = {tree->middle[order[0]], tree->middle[order[0]]};
  for (int k = 1; k < count; k++) extend_box(&middle, tree->middle[order[k]], tree->middle[order[k]]);
  Vec3 size = vec3_sub(middle.high, middle.low);
  int axis = size.x >= size.y ? (size.x >= size.z ? 0 : 2) : (size.y >= size.z ? 1 : 2);
  partition_at_rank(&tree->middle[0].x + axis, order, count, count / 2);
  n->first = child;
  n->count = 0;
  return true;
}

/* Builds the subtree of `node` over the boxes order[first], ..., order[first + count - 1]. *next: index of the first
 * unused node; it is increased by the number of new nodes. */
static void build_subtree(BroadTree* tree, const BroadGroups* groups, const Box* boxes, int node, int first, int count,
                          int* next) {
  int child = *next;
  if (!split_node(tree, groups, boxes, node, first, count, child)) return;
  *next += 2;
  build_subtree(tree, groups, boxes, child, first, count / 2, next);
  build_subtree(tree, groups, boxes, child + 1, first + count / 2, count - count / 2, next);
}

/* Sets below[0] to the number of descendants of a node with `count` boxes. Sets below[1] to the number of descendants
 * of a node with count + 1 boxes. */
static void count_descendants(int count, int below[2]) {
  below[0] = below[1] = 0;
  if (count < LEAF_SIZE) return;
  int halves[2];
  count_descendants(count / 2, halves);
  bool odd = count % 2 == 1;
  if (count > LEAF_SIZE) below[0] = 2 + halves[0] + halves[odd];
  below[1] = 2 + halves[odd] + halves[1];
}

/* One unit of work in building the tree: a node, the range of its boxes, and the first unused node for its
 * descendants. */
typedef struct {
  int node, first, count, next;
} Subtree;

typedef struct {
  BroadTree* tree;
  const BroadGroups* groups;
  const Box* boxes;
  Subtree subtrees[BROAD_CHUNKS], halves[BROAD_CHUNKS];
} BuildTask;

static void split_subtree(void* context, int index, int thread) {
  (void)thread;
  BuildTask* task = context;
  Subtree p = task->subtrees[index];
  (void)split_node(task->tree, task->groups, task->boxes, p.node, p.first, p.count, p.next);
  int left = p.count / 2, below[2];
  count_descendants(left, below);
  task->halves[2 * index] = (Subtree){p.next, p.first, left, p.next + 2};
  task->halves[2 * index + 1] = (Subtree){p.next + 1, p.first + left, p.count - left, p.next + 2 + below[0]};
}

static void build_one_subtree(void* context, int index, int thread) {
  (void)thread;
  BuildTask* task = context;
  Subtree p = task->subtrees[index];
  build_subtree(task->tree, task->groups, task->boxes, p.node, p.first, p.count, &p.next);
}

/* Builds the same tree as build_subtree, but with several threads. First divides the nodes level by level until there
 * are BROAD_CHUNKS nodes. Then builds the subtrees of these nodes in parallel. */
static void build_in_parallel(BroadTree* tree, const BroadGroups* groups, const Box* boxes, int threads, int count) {
  BuildTask task = {tree, groups, boxes, {{0, 0, count, 1}}, {{0}}};
  int pieces = 1;
  for (; pieces < BROAD_CHUNKS; pieces *= 2) {
    parallel_for(threads, pieces, 2, 1, split_subtree, &task);
    memcpy(task.subtrees, task.halves, sizeof(task.subtrees));
  }
  parallel_for(threads, pieces, 2, 1, build_one_subtree, &task);
}

static void reserve_keys(uint64_t** keys, int* capacity, int needed) {
  if (needed <= *capacity) return;
  int more = 2 * needed + 64;
  *keys = memory_resize(*keys, sizeof(uint64_t) * (size_t)*capacity, sizeof(uint64_t) * (size_t)more);
  *capacity = more;
}

static void append_key(BroadKeys* to, int a, int b) {
  reserve_keys(&to->keys, &to->capacity, to->count + 1);
  to->keys[to->count++] = (uint64_t)a << 32 | (uint32_t)b;
}

/* Sorts keys[count] in ascending order. Requires count > 0 (asserted), because `keys` is NULL if there are no pairs. */
static void sort_keys(uint64_t* keys, int count) {
  assert(count > 0);
  if (count > MAX_INSERTION_SORT) {
    qsort(keys, (size_t)count, sizeof(uint64_t), compare_uint64);
    return;
  }
  for (int i = 1; i < count; i++) {
    uint64_t key = keys[i];
    int j = i;
    for (; j > 0 && keys[j - 1] > key; j--) keys[j] = keys[j - 1];
    keys[j] = key;
  }
}

/* Appends the keys of all pairs of box `index` and an overlapping box of the tree to *to. In the tree of moving boxes,
 * only boxes with a larger index are considered, so that each pair is found once. */
static void query(const BroadPhase* broad, const BroadTree* tree, const Box* boxes, int index, BroadKeys* to) {
  int stack[STACK_SIZE], depth = 0, group = group_of(&broad->groups, index);
  bool still = tree == &broad->resting;
  if (tree->node_count > 0) stack[depth++] = 0;
  while (depth > 0) {
    const BroadNode* n = &tree->nodes[stack[--depth]];
    if (is_excluded_pair(&broad->groups, group, n->group) || !box_overlap(&n->box, &boxes[index])) continue;
    if (n->count == 0) {
      stack[depth++] = n->first;
      stack[depth++] = n->first + 1;
      continue;
    }
    for (int k = n->first; k < n->first + n->count; k++) {
      int other = tree->order[k];
      if ((still || other > index) && box_overlap(&boxes[other], &boxes[index]) &&
          !is_excluded_pair(&broad->groups, group, group_of(&broad->groups, other)))
        append_key(to, other < index ? other : index, other < index ? index : other);
    }
  }
}

/* Allocates memory for a tree of the boxes indices[count], ascending. If indices is NULL, the boxes are 0 to count -
 * 1. */
static void reserve_tree(BroadTree* tree, const int* indices, int count) {
  if (count > tree->capacity) {
    memory_free(tree->nodes);
    memory_free(tree->order);
    tree->nodes = MEMORY_NEW(BroadNode, 2 * count);
    tree->order = MEMORY_NEW(int, count);
    tree->capacity = count;
  }
  int last = count == 0 ? -1 : indices ? indices[count - 1] : count - 1;
  if (last < tree->middle_capacity) return;
  memory_free(tree->middle);
  tree->middle = MEMORY_NEW(Vec3, last + 1);
  tree->middle_capacity = last + 1;
}

/* Builds a tree of those boxes among indices[count] that are not empty. If indices is NULL, the boxes are 0 to count -
 * 1. */
static void plant(BroadTree* tree, const BroadGroups* groups, const Box* boxes, int threads, const int* indices,
                  int count) {
  int used = 0;
  tree->node_count = 0;
  reserve_tree(tree, indices, count);
  for (int k = 0; k < count; k++) {
    int index = indices ? indices[k] : k;
    tree->middle[index] = vec3_add(boxes[index].low, boxes[index].high);
    if (!is_box_empty(&boxes[index])) tree->order[used++] = index;
  }
  if (used == 0) return;
  tree->node_count = 1;
  if (threads < 2 || used < MIN_PARALLEL_BOXES) {
    build_subtree(tree, groups, boxes, 0, 0, used, &tree->node_count);
    return;
  }
  int below[2];
  count_descendants(used, below);
  tree->node_count += below[0];
  build_in_parallel(tree, groups, boxes, threads, used);
}

void broad_phase_rest(BroadPhase* broad, const Box* boxes, const int* resting, int count) {
  assert(count >= 0 && (resting || count == 0));
  plant(&broad->resting, &broad->groups, boxes, broad->threads, resting, count);
}

void broad_phase_reserve(BroadPhase* broad, const int* moving, int count) {
  reserve_tree(&broad->moving, moving, count);
  reserve_keys(&broad->keys, &broad->key_capacity, count);
  for (int part = 0; part < BROAD_CHUNKS; part++)
    reserve_keys(&broad->chunks[part].keys, &broad->chunks[part].capacity, count);
}

typedef struct {
  BroadPhase* broad;
  const Box* boxes;
  const int* moving;
  int count, parts;
} QueryTask;

/* Finds the overlapping pairs of one range of the moving boxes, in the order of the boxes. The moving boxes are divided
 * into task->parts equal ranges. part: number of the range. */
static void query_part(void* context, int part, int thread) {
  (void)thread;
  const QueryTask* task = context;
  BroadPhase* broad = task->broad;
  BroadKeys* to = &broad->chunks[part];
  to->count = 0;
  for (int k = task->count * part / task->parts; k < task->count * (part + 1) / task->parts; k++) {
    int index = task->moving ? task->moving[k] : k, begin = to->count;
    if (is_box_empty(&task->boxes[index])) continue;
    query(broad, &broad->moving, task->boxes, index, to);
    if (to->count > begin) sort_keys(to->keys + begin, to->count - begin);
    query(broad, &broad->resting, task->boxes, index, to);
  }
}

void broad_phase_find_moving(BroadPhase* broad, const Box* boxes, const int* moving, int count) {
  assert(count >= 0 && (boxes || count == 0));
  broad->key_count = 0;
  plant(&broad->moving, &broad->groups, boxes, broad->threads, moving, count);
  QueryTask task = {broad, boxes, moving, count, broad->threads > 1 && count >= MIN_PARALLEL_BOXES ? BROAD_CHUNKS : 1};
  parallel_for(broad->threads, task.parts, 2, 1, query_part, &task);
  for (int part = 0; part < task.parts; part++) {
    const BroadKeys* from = &broad->chunks[part];
    if (from->count == 0) continue;
    reserve_keys(&broad->keys, &broad->key_capacity, broad->key_count + from->count);
    memcpy(broad->keys + broad->key_count, from->keys, sizeof(uint64_t) * (size_t)from->count);
    broad->key_count += from->count;
  }
  if (broad->resting.node_count > 0 && broad->key_count > 0)
    qsort(broad->keys, (size_t)broad->key_count, sizeof(uint64_t), compare_uint64);
}

void broad_phase_free(BroadPhase* broad) {
  BroadTree* trees[] = {&broad->moving, &broad->resting};
  for (int k = 0; k < 2; k++) {
    memory_free(trees[k]->nodes);
    memory_free(trees[k]->order);
    memory_free(trees[k]->middle);
  }
  for (int k = 0; k < BROAD_CHUNKS; k++) memory_free(broad->chunks[k].keys);
  memory_free(broad->keys);
  *broad = (BroadPhase){0};
}

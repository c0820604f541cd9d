#include "contact/broad_phase.h"

enum { LEAF_SIZE = 4, STACK_SIZE = 128 };

static double axis_of(Vec3 v, int axis) { return axis == 0 ? v.x : axis == 1 ? v.y : v.z; }

static double box_middle(const Box* b, int axis) { return axis_of(b->low, axis) + axis_of(b->high, axis); }

static bool box_empty(const Box* b) { return b->low.x > b->high.x; }

static bool box_overlap(const Box* a, const Box* b) {
  return a->low.x <= b->high.x && b->low.x <= a->high.x && a->low.y <= b->high.y && b->low.y <= a->high.y &&
         a->low.z <= b->high.z && b->low.z <= a->high.z;
}

static Box bound(const Box* boxes, const int* order, int count) {
  Box b = boxes[order[0]];
  for (int k = 1; k < count; k++) {
    b.low = vec3_min(b.low, boxes[order[k]].low);
    b.high = vec3_max(b.high, boxes[order[k]].high);
  }
  return b;
}

/* Ties are broken by index, so that the tree does not depend on the sorting history. */
static bool before(const Box* boxes, int axis, int i, int j) {
  double a = box_middle(&boxes[i], axis), b = box_middle(&boxes[j], axis);
  return a < b || (a == b && i < j);
}

/* Quickselect: the `rank` smallest go first. */
static void split(const Box* boxes, int axis, int* order, int count, int rank) {
  int low = 0, high = count - 1;
  while (low < high) {
    int pivot = order[low + (high - low) / 2], i = low, j = high;
    while (i <= j) {
      while (before(boxes, axis, order[i], pivot)) i++;
      while (before(boxes, axis, pivot, order[j])) j--;
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

static void build(BroadPhase* broad, const Box* boxes, int node, int first, int count) {
  BroadNode* n = &broad->nodes[node];
  int* order = broad->order + first;
  n->box = bound(boxes, order, count);
  if (count <= LEAF_SIZE) {
    n->first = first;
    n->count = count;
    return;
  }
  Box middle = {vec3(INFINITY, INFINITY, INFINITY), vec3(-INFINITY, -INFINITY, -INFINITY)};
  for (int k = 0; k < count; k++) {
    Vec3 m = vec3_add(boxes[order[k]].low, boxes[order[k]].high);
    middle.low = vec3_min(middle.low, m);
    middle.high = vec3_max(middle.high, m);
  }
  Vec3 size = vec3_sub(middle.high, middle.low);
  int axis = size.x >= size.y ? (size.x >= size.z ? 0 : 2) : (size.y >= size.z ? 1 : 2);
  split(boxes, axis, order, count, count / 2);
  int child = broad->node_count;
  broad->node_count += 2;
  n->first = child;
  n->count = 0;
  build(broad, boxes, child, first, count / 2);
  build(broad, boxes, child + 1, first + count / 2, count - count / 2);
}

static void add_key(BroadPhase* broad, int a, int b) {
  if (broad->key_count == broad->key_capacity) {
    int capacity = broad->key_capacity ? 2 * broad->key_capacity : 256;
    broad->keys =
        memory_resize(broad->keys, sizeof(uint64_t) * (size_t)broad->key_capacity, sizeof(uint64_t) * (size_t)capacity);
    broad->key_capacity = capacity;
  }
  broad->keys[broad->key_count++] = (uint64_t)a << 32 | (uint32_t)b;
}

static void sort_keys(uint64_t* keys, int count) {
  for (int i = 1; i < count; i++) {
    uint64_t key = keys[i];
    int j = i;
    for (; j > 0 && keys[j - 1] > key; j--) keys[j] = keys[j - 1];
    keys[j] = key;
  }
}

static void query(BroadPhase* broad, const Box* boxes, int index) {
  int stack[STACK_SIZE], depth = 0, begin = broad->key_count;
  stack[depth++] = 0;
  while (depth > 0) {
    const BroadNode* n = &broad->nodes[stack[--depth]];
    if (!box_overlap(&n->box, &boxes[index])) continue;
    if (n->count == 0) {
      stack[depth++] = n->first;
      stack[depth++] = n->first + 1;
      continue;
    }
    for (int k = n->first; k < n->first + n->count; k++) {
      int other = broad->order[k];
      if (other > index && box_overlap(&boxes[other], &boxes[index])) add_key(broad, index, other);
    }
  }
  sort_keys(broad->keys + begin, broad->key_count - begin);
}

void broad_phase_find(BroadPhase* broad, const Box* boxes, int count) {
  broad->key_count = broad->node_count = 0;
  if (count > broad->capacity) {
    memory_free(broad->nodes);
    memory_free(broad->order);
    broad->nodes = MEMORY_NEW(BroadNode, 2 * count);
    broad->order = MEMORY_NEW(int, count);
    broad->capacity = count;
  }
  int used = 0;
  for (int i = 0; i < count; i++)
    if (!box_empty(&boxes[i])) broad->order[used++] = i;
  if (used < 2) return;
  broad->node_count = 1;
  build(broad, boxes, 0, 0, used);
  for (int i = 0; i < count; i++)
    if (!box_empty(&boxes[i])) query(broad, boxes, i);
}

void broad_phase_free(BroadPhase* broad) {
  memory_free(broad->nodes);
  memory_free(broad->order);
  memory_free(broad->keys);
  *broad = (BroadPhase){0};
}

/* Private to contact/: finds pairs of overlapping boxes with a bounding-volume hierarchy. */
#ifndef SDRS_CONTACT_BROAD_PHASE_H
#define SDRS_CONTACT_BROAD_PHASE_H

#include "linalg/linalg.h"

typedef struct {
  Vec3 low, high; /* opposite corners of the box: smallest and largest coordinates [m] */
} Box;
/* Returns true if two closed boxes have a common point. */
static inline bool box_overlap(const Box* a, const Box* b) {
  return a->low.x <= b->high.x && b->low.x <= a->high.x && a->low.y <= b->high.y && b->low.y <= a->high.y &&
         a->low.z <= b->high.z && b->low.z <= a->high.z;
}

typedef struct {
  Box box;
  int first, count; /* for a leaf, its boxes are order[first] to order[first + count - 1] of the tree. For an inner
                       node, count is 0 and its children are the nodes first and first + 1 */
  int group; /* group to which all boxes below the node belong, or BROAD_MIXED if they belong to several groups */
} BroadNode;
enum { BROAD_MIXED = -1 };

typedef struct {
  BroadNode* nodes;
  int* order;
  int node_count, capacity;
  Vec3* middle; /* twice the centre of each box [m]; entry i belongs to box i */
  int middle_capacity;
} BroadTree;

/* Groups of boxes, and pairs of groups that the search skips. With a zeroed struct, no pairs are skipped. The arrays
 * are borrowed. */
typedef struct {
  const int* group_of;  /* group of each box; BROAD_MIXED if the box has no group (size: boxes) */
  const bool* excluded; /* excluded[i * count + j] is true if the search skips pairs of a box of group i and a box of
                           group j; symmetric (count x count) */
  int count;
} BroadGroups;

/* Keys of overlapping pairs that one thread has found. */
typedef struct {
  uint64_t* keys;
  int count, capacity;
} BroadKeys;
enum { BROAD_CHUNKS = 8 };

/* Broad phase. The caller initializes it with zeros, and may then set groups and threads. Owns its arrays, which grow
 * as needed. */
typedef struct {
  BroadGroups groups;
  int threads;
  BroadTree moving, resting;
  BroadKeys chunks[BROAD_CHUNKS];
  uint64_t* keys; /* sorted keys of the overlapping pairs; the key of the boxes i < j is i << 32 | j */
  int key_count, key_capacity;
} BroadPhase;

/* Replaces the boxes at rest. resting[count]: indices of the boxes at rest in `boxes`, ascending. Copies the boxes and
 * builds their tree. Pairs of two boxes at rest are not searched for. Allocates. */
void broad_phase_rest(BroadPhase* broad, const Box* boxes, const int* resting, int count);
/* Allocates memory for a search that finds up to `count` pairs. moving[count]: indices of the moving boxes,
 * ascending. */
void broad_phase_reserve(BroadPhase* broad, const int* moving, int count);
/* Finds all overlapping pairs with at least one moving box, and sets broad->keys to their keys. moving[count]: indices
 * of the moving boxes, ascending; NULL means boxes 0 to count - 1. boxes [m]: borrowed for the call. An empty box
 * (low.x > high.x) overlaps no box. `broad` owns the keys. They are valid until the next call, and do not depend on the
 * number of threads. Allocates while the number of pairs grows. */
void broad_phase_find_moving(BroadPhase* broad, const Box* boxes, const int* moving, int count);
/* Frees the arrays of *broad, which may be zeroed, and zeroes *broad. NULL is not accepted. */
void broad_phase_free(BroadPhase* broad);

#endif

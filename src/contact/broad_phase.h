/* Private to contact/: search for pairs of overlapping boxes with a bounding-volume hierarchy, which is rebuilt on
 * demand. */
#ifndef SDRS_CONTACT_BROAD_PHASE_H
#define SDRS_CONTACT_BROAD_PHASE_H

#include "linalg/linalg.h"

typedef struct {
  Vec3 low, high; /* m */
} Box;

typedef struct {
  Box box;
  int first, count; /* leaf: range of `order`; inner node: count = 0, children first and first + 1 */
  int group;        /* group of all boxes below the node; BROAD_MIXED: several groups */
} BroadNode;
enum { BROAD_MIXED = -1 };

typedef struct {
  BroadNode* nodes;
  int* order;
  int node_count, capacity;
  Vec3* middle; /* twice the centre of each box, indexed as the boxes */
  int middle_capacity;
} BroadTree;

/* Groups of boxes, and pairs of groups that are excluded from the search. If zeroed, all pairs are found. The arrays
 * are borrowed. */
typedef struct {
  const int* of;       /* group of each box; BROAD_MIXED: no group  (boxes) */
  const bool* strange; /* excluded pairs of groups, symmetric  (count x count) */
  int count;
} BroadGroups;

/* Keys found for one range of the moving boxes. */
typedef struct {
  uint64_t* keys;
  int count, capacity;
} BroadKeys;
enum { BROAD_PARTS = 8 };

/* Broad phase. The caller initializes it with zeros, and may then set groups and threads. Owns its arrays, which grow
 * as needed. */
typedef struct {
  BroadGroups groups;
  int threads;
  BroadTree moving, still;
  BroadKeys part[BROAD_PARTS];
  uint64_t* keys; /* a << 32 | b with a < b, sorted */
  int key_count, key_capacity;
} BroadPhase;

/* Sets the boxes at rest, and replaces those that were set before. still[count]: indices of these boxes in `boxes`,
 * ascending. The tree of the boxes at rest is built in this call only. Pairs of two boxes at rest are not searched for.
 * Copies the boxes. Allocates. Cannot fail. */
void broad_phase_rest(BroadPhase* broad, const Box* boxes, const int* still, int count);
/* Allocates memory for a search with the moving boxes moving[count] (indices, ascending) that finds up to `count`
 * pairs. Cannot fail. */
void broad_phase_reserve(BroadPhase* broad, const int* moving, int count);
/* Sets broad->keys to the keys of all overlapping pairs of two moving boxes, and of a moving box and a box at rest.
 * moving[count]: indices of the moving boxes, ascending. If moving is NULL, the moving boxes are 0 to count - 1. boxes
 * [m]: borrowed for the call. An empty box (low.x > high.x) overlaps no box. `broad` owns the keys. They are valid
 * until the next call, and independent of the number of threads. Allocates while the number of pairs grows. Cannot
 * fail. */
void broad_phase_find_moving(BroadPhase* broad, const Box* boxes, const int* moving, int count);
/* Frees the arrays of *broad, which may be zeroed, and zeroes *broad. NULL is not accepted. */
void broad_phase_free(BroadPhase* broad);

#endif

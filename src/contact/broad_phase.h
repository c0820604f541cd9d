/* Private to contact/: pairs of boxes that overlap, by a bounding-volume hierarchy rebuilt on demand. */
#ifndef SDRS_CONTACT_BROAD_PHASE_H
#define SDRS_CONTACT_BROAD_PHASE_H

#include "linalg/linalg.h"

typedef struct {
  Vec3 low, high; /* m */
} Box;

typedef struct {
  Box box;
  int first, count; /* leaf: range of `order`; inner node: count = 0, children first and first + 1 */
  int group;        /* group of all its boxes, or BROAD_MIXED */
} BroadNode;
enum { BROAD_MIXED = -1 };

typedef struct {
  BroadNode* nodes;
  int* order;
  int node_count, capacity;
  Vec3* middle; /* twice the centre of each box, indexed as the boxes */
  int middle_capacity;
} BroadTree;

/* Groups of boxes, and pairs of groups that are excluded from the search. Zeroed: all pairs are found. Arrays are
 * borrowed. */
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

/* Zero-initialise; arrays grow as needed. Groups and threads may be set before anything is found. */
typedef struct {
  BroadGroups groups;
  int threads;
  BroadTree moving, still;
  BroadKeys part[BROAD_PARTS];
  uint64_t* keys; /* a << 32 | b with a < b, sorted */
  int key_count, key_capacity;
} BroadPhase;

/* Sets the boxes at rest (indices in `still`, ascending, count) and replaces those set before. Their tree is built
 * once, and pairs of two of them are not searched for. Copies the boxes. Allocates. Cannot fail. */
void broad_phase_rest(BroadPhase* broad, const Box* boxes, const int* still, int count);
/* Makes room for a search of these moving boxes (indices, ascending, count) that finds up to `count` pairs. Cannot
 * fail. */
void broad_phase_reserve(BroadPhase* broad, const int* moving, int count);
/* Sets keys to all overlapping pairs of two moving boxes, and of a moving box and one at rest. moving: indices of the
 * moving boxes, ascending (count); NULL: 0 to count - 1. An empty box (low.x > high.x) overlaps nothing. Boxes in m,
 * borrowed for the call. Keys are owned by broad, valid until its next call, and independent of the number of threads.
 * Allocates while the number of pairs grows. Cannot fail. */
void broad_phase_find_moving(BroadPhase* broad, const Box* boxes, const int* moving, int count);
/* Frees its arrays and zeroes it; a zeroed one is accepted. NULL is not accepted. */
void broad_phase_free(BroadPhase* broad);

#endif

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
  int group;        /* that all of its boxes are of, or BROAD_MIXED */
} BroadNode;
enum { BROAD_MIXED = -1 };

typedef struct {
  BroadNode* nodes;
  int* order;
  int node_count, capacity;
  Vec3* middle; /* twice that of every box, by its index */
  int middle_capacity;
} BroadTree;

/* Which boxes nobody asks about: all zero, all pairs are found. Borrowed. */
typedef struct {
  const int* of;       /* group of every box, BROAD_MIXED: of none */
  const bool* strange; /* pairs of groups that are not looked for, symmetric  (count x count) */
  int count;
} BroadGroups;

/* Found by a part of those that move. */
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

/* Boxes that stay where they are from now on (count of their indices, rising): many, as those of a ground in pieces,
 * are put in order once, and pairs of two of them are never found. Replaces those that rested before. Allocates.
 * Boxes are copied; never fails. */
void broad_phase_rest(BroadPhase* broad, const Box* boxes, const int* still, int count);
/* Fill keys with all overlapping pairs of the boxes that move (count of their indices, rising) and of those with the
 * ones at rest; an empty box (low.x > high.x) overlaps nothing. moving NULL: the first count of boxes. Boxes in m,
 * borrowed for the call. Keys are owned by broad until its next call. Allocates while pairs grow; the same keys for any
 * number of threads. Never fails. */
void broad_phase_find_moving(BroadPhase* broad, const Box* boxes, const int* moving, int count);
/* Frees its arrays and zeroes it; a zeroed one is accepted. NULL is not accepted. */
void broad_phase_free(BroadPhase* broad);

#endif

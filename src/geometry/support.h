/* Private to geometry/: the support function of a point set, the vertex farthest along a direction. Inline, because GJK
 * spends most of its time here. */
#ifndef SDRS_GEOMETRY_SUPPORT_H
#define SDRS_GEOMETRY_SUPPORT_H

#include "geometry/geometry.h"
#include "geometry/lanes.h"

/* Returns the heights direction . vertex of the LANES vertices from index `first` on. */
static inline Lanes support_heights(const PointView* points, int first, Vec3 direction) {
  Lanes x = lanes_fill(direction.x) * lanes_load(points->x + first);
  Lanes xy = lanes_multiply_add(lanes_fill(direction.y), lanes_load(points->y + first), x);
  return lanes_multiply_add(lanes_fill(direction.z), lanes_load(points->z + first), xy);
}

/* For each SIMD lane: the largest height direction . vertex found so far, and the index at which the first block of
 * vertices with this height begins. */
typedef struct {
  Lanes height;
  LaneMask block;
} SupportLanes;

/* Compares the block of LANES vertices from index `first` on with the best heights. Blocks must come in ascending
 * order. */
static inline void support_raise(SupportLanes* best, const PointView* points, int first, Vec3 direction) {
  Lanes heights = support_heights(points, first, direction);
  best->block = lanes_choose_index(heights > best->height, lanes_fill_index(first), best->block);
  best->height = lanes_max(heights, best->height);
}

/* Returns the larger height of two candidates in every lane. On ties the smaller index wins. */
static inline SupportLanes support_merge(SupportLanes a, SupportLanes b) {
  LaneMask from_b = (b.height > a.height) | ((b.height == a.height) & (b.block < a.block));
  return (SupportLanes){lanes_max(b.height, a.height), lanes_choose_index(from_b, b.block, a.block)};
}

/* Returns the index of the vertex whose height along the direction is `maximum`. On ties the smallest index wins.
 * Returns 0 if there is no such vertex, because the heights are not numbers. */
static inline int support_winner(SupportLanes best, double maximum) {
  int64_t winner = INT64_MAX;
  for (unsigned bits = lanes_bits(best.height == maximum); bits; bits &= bits - 1) {
    int lane = __builtin_ctz(bits);
    int64_t index = best.block[lane] + lane;
    if (index < winner) winner = index;
  }
  return winner == INT64_MAX ? 0 : (int)winner;
}

/* Returns the index of the vertex farthest along a direction. On ties the smallest index wins. Sets *value to the
 * height of the vertex. Padding repeats the last vertex, so that a padding index is never returned. */
static inline int support_vertex(const PointView* points, Vec3 direction, double* value) {
  SupportLanes even = {support_heights(points, 0, direction), {0}};
  if (points->padded == LANES) {
    *value = lanes_maximum(even.height);
    unsigned bits = lanes_bits(even.height == *value);
    return bits ? __builtin_ctz(bits) : 0;
  }
  /* Two independent chains of comparisons run in parallel in the processor. */
  SupportLanes odd = {support_heights(points, LANES, direction), lanes_fill_index(LANES)};
  int first = 2 * LANES;
  for (; first + LANES < points->padded; first += 2 * LANES) {
    support_raise(&even, points, first, direction);
    support_raise(&odd, points, first + LANES, direction);
  }
  if (first < points->padded) support_raise(&even, points, first, direction);
  even = support_merge(even, odd);
  *value = lanes_maximum(even.height);
  return support_winner(even, *value);
}

#endif

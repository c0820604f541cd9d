/* Private to geometry/: the support function of a point set. Inline, because GJK spends most of its time in it. */
#ifndef SDRS_GEOMETRY_SUPPORT_H
#define SDRS_GEOMETRY_SUPPORT_H

#include "geometry/geometry.h"
#include "geometry/lanes.h"

/* direction . vertex for a block of vertices from `first` on. */
static inline Lanes support_heights(const PointView* points, int first, Vec3 direction) {
  Lanes x = lanes_fill(direction.x) * lanes_load(points->x + first);
  Lanes xy = lanes_multiply_add(lanes_fill(direction.y), lanes_load(points->y + first), x);
  return lanes_multiply_add(lanes_fill(direction.z), lanes_load(points->z + first), xy);
}

/* The highest vertex that each lane has met and the block where it met it first. */
typedef struct {
  Lanes height;
  LaneMask block;
} SupportLanes;

/* Takes in the block of LANES vertices from `first` on; blocks must come in rising order. */
static inline void support_raise(SupportLanes* best, const PointView* points, int first, Vec3 direction) {
  Lanes heights = support_heights(points, first, direction);
  best->block = lanes_choose_index(heights > best->height, lanes_fill_index(first), best->block);
  best->height = lanes_max(heights, best->height);
}

/* Chooses the higher of two candidates per lane, on ties the first. */
static inline SupportLanes support_merge(SupportLanes a, SupportLanes b) {
  LaneMask from_b = (b.height > a.height) | ((b.height == a.height) & (b.block < a.block));
  return (SupportLanes){lanes_max(b.height, a.height), lanes_choose_index(from_b, b.block, a.block)};
}

/* The vertex among the lanes' winners, smallest index on ties; 0 when there is none (not a number). */
static inline int support_winner(SupportLanes best, double maximum) {
  int64_t winner = INT64_MAX;
  for (unsigned bits = lanes_bits(best.height == maximum); bits; bits &= bits - 1) {
    int lane = __builtin_ctz(bits);
    int64_t index = best.block[lane] + lane;
    if (index < winner) winner = index;
  }
  return winner == INT64_MAX ? 0 : (int)winner;
}

/* Index of the vertex farthest along a direction, smallest index on ties; *value = its height. The padding repeats the
 * last vertex, so it can tie but never win. */
static inline int support_vertex(const PointView* points, Vec3 direction, double* value) {
  SupportLanes even = {support_heights(points, 0, direction), {0}};
  if (points->padded == LANES) {
    *value = lanes_maximum(even.height);
    unsigned bits = lanes_bits(even.height == *value);
    return bits ? __builtin_ctz(bits) : 0;
  }
  /* Two chains of comparisons, so that one need not wait for the other. */
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

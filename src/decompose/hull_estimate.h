/* Private to decompose/: how large a convex hull is, fast, for comparing many candidates. */
#ifndef SDRS_DECOMPOSE_HULL_ESTIMATE_H
#define SDRS_DECOMPOSE_HULL_ESTIMATE_H

#include "geometry/geometry.h"

/* Points that stand for a hull: all when there are few, else those farthest along fixed directions. Few corners with
 * blunt angles (boxes, prisms) are always among them; a ball's volume comes out 4 % small. */
enum { ESTIMATE_DIRECTIONS = 170, ESTIMATE_POINTS = 176 };

typedef struct {
  Vec3 points[ESTIMATE_POINTS];
  int count;
  double volume;
} HullEstimate;

/* Hull of points[count]; volume 0 if they are flat. By value, no allocation as a rule (points_volume). */
HullEstimate hull_estimate(const Vec3* points, int count);
/* Volume only [unit^3], from fewer directions; points: (count). Never larger than the hull's but for rounding. */
double rough_hull_volume(const Vec3* points, int count);
/* Volume of the hull of at most 2 ESTIMATE_POINTS points by adding one after the other; 0 when they are flat. Points
 * within 1e-12 of the extent of a face count as on it. 0 as well for fewer than four or for more. Allocates only where
 * it has to ask Qhull. */
double points_volume(const Vec3* points, int count);

/* The 27 directions of a cube's faces, edges and corners, unit; k = 13 is none. */
static inline Vec3 cube_direction(int k) {
  const int along[3] = {k % 3, k / 3 % 3, k / 9};
  return vec3_normalized(vec3(along[0] - 1.0, along[1] - 1.0, along[2] - 1.0));
}

#endif

/* Private to decompose/: fast estimates of hull volumes, for comparing many candidates. */
#ifndef SDRS_DECOMPOSE_HULL_ESTIMATE_H
#define SDRS_DECOMPOSE_HULL_ESTIMATE_H

#include "geometry/geometry.h"

/* Sizes of a hull estimate. Its points are all points of the hull if these are few, else the support points in
 * ESTIMATE_DIRECTIONS fixed directions. Corners of boxes and prisms are always included. The volume of a ball is
 * underestimated by 4 %. */
enum { ESTIMATE_DIRECTIONS = 170, ESTIMATE_POINTS = 176 };

typedef struct {
  Vec3 points[ESTIMATE_POINTS];
  int count;
  double volume;
} HullEstimate;

/* Returns an estimate of the convex hull of points (count). Its volume is 0 if the points are coplanar. Allocates only
 * if points_volume does. */
HullEstimate hull_estimate(const Vec3* points, int count);
/* Returns a lower estimate of the volume [unit^3] of the hull of points (count), from fewer directions. */
double rough_hull_volume(const Vec3* points, int count);
/* Returns the volume of the convex hull of points (count, at most 2 ESTIMATE_POINTS), by incremental insertion. Returns
 * 0 if the points are coplanar, fewer than four, or too many. A point counts as lying on a face if it is nearer to the
 * face than 1e-12 of the extent of the points. Allocates only if it falls back to Qhull. */
double points_volume(const Vec3* points, int count);

/* Returns direction k (0 to 26): the unit vectors from the centre of a cube to its faces, edges and corners. k = 13,
 * the centre, is invalid. */
static inline Vec3 cube_direction(int k) {
  const int along[3] = {k % 3, k / 3 % 3, k / 9};
  return vec3_normalized(vec3(along[0] - 1.0, along[1] - 1.0, along[2] - 1.0));
}

#endif

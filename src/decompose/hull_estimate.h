/* Private to decompose/: fast estimates of the volumes of convex hulls, for comparing many candidates. */
#ifndef SDRS_DECOMPOSE_HULL_ESTIMATE_H
#define SDRS_DECOMPOSE_HULL_ESTIMATE_H

#include "geometry/geometry.h"

/* Sizes of a hull estimate. An estimate keeps all given points if they are few. Otherwise it keeps the support points
 * in ESTIMATE_DIRECTIONS fixed directions. Corners of boxes and prisms are always kept. The volume of a ball is
 * underestimated by 4 %. */
enum { ESTIMATE_DIRECTIONS = 170, ESTIMATE_POINTS = 176 };

typedef struct {
  Vec3 points[ESTIMATE_POINTS];
  int count;
  double volume;
} HullEstimate;

/* Returns an estimate of the convex hull of points (count). The volume is 0 if the points are coplanar. Allocates only
 * if points_volume does. */
HullEstimate hull_estimate(const Vec3* points, int count);
/* Returns a lower bound of the volume of the convex hull of points (count) [unit^3]. Uses fewer directions than
 * hull_estimate. */
double hull_volume_bound(const Vec3* points, int count);
/* Returns the volume of the convex hull of points (count, at most 2 ESTIMATE_POINTS), by incremental insertion. Returns
 * 0 if the points are coplanar, fewer than four, or too many. A point counts as lying on a face if their distance is
 * below 1e-12 of the extent of the points. Allocates only if Qhull has to be used. */
double points_volume(const Vec3* points, int count);

/* Returns the unit vector with number k (0 to 26) of a grid of 3 x 3 x 3 points. The vectors point from the centre of a
 * cube to its faces, edges and corners. k = 13 is the centre and must not be used. */
static inline Vec3 cube_direction(int k) {
  const int along[3] = {k % 3, k / 3 % 3, k / 9};
  return vec3_normalized(vec3(along[0] - 1.0, along[1] - 1.0, along[2] - 1.0));
}

#endif

/* Private to decompose/. Fast estimates of the volumes of convex hulls, for comparing many candidates. */
#ifndef SDRS_DECOMPOSE_HULL_ESTIMATE_H
#define SDRS_DECOMPOSE_HULL_ESTIMATE_H

#include "geometry/geometry.h"

/* A hull estimate is the hull of at most ESTIMATE_POINTS points. All points are kept if there are at most
 * ESTIMATE_POINTS. Otherwise the points farthest along ESTIMATE_DIRECTIONS fixed directions are kept. Corners of boxes
 * and prisms are always kept. The volume of a ball is underestimated by 4 %. */
enum { ESTIMATE_DIRECTIONS = 170, ESTIMATE_POINTS = 176 };

typedef struct {
  Vec3 points[ESTIMATE_POINTS];
  int count;
  double volume;
} HullEstimate;

/* Returns an estimate of the convex hull of points[count], whose volume is 0 if they are coplanar. */
HullEstimate hull_estimate(const Vec3* points, int count);
/* Returns a lower bound of the volume of the convex hull of points[count], from the points farthest along fewer
 * directions than in hull_estimate [unit^3]. */
double hull_volume_bound(const Vec3* points, int count);
/* Returns the volume of the convex hull of points[count], count <= 2 ESTIMATE_POINTS, by incremental insertion. Returns
 * 0 if the points are coplanar, fewer than four, or too many. A point lies on a face if their distance is below 1e-12
 * of the extent of the points. Allocates memory only if it needs Qhull. */
double points_volume(const Vec3* points, int count);

/* Returns direction k (0 to 26), a unit vector from the centre of a cube to a face centre, an edge centre or a corner.
 * k = 13, the centre, must not be used. */
static inline Vec3 cube_direction(int k) {
  const int along[3] = {k % 3, k / 3 % 3, k / 9};
  return vec3_normalized(vec3(along[0] - 1.0, along[1] - 1.0, along[2] - 1.0));
}

#endif

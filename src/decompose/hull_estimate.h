/* Private to decompose/: fast estimates of hull volumes, for comparing many candidates. */
#ifndef SDRS_DECOMPOSE_HULL_ESTIMATE_H
#define SDRS_DECOMPOSE_HULL_ESTIMATE_H

#include "geometry/geometry.h"

/* Representative points of a hull: all if they are few, else the support points of fixed directions. The corners of
 * boxes and prisms are always included; the volume of a ball is underestimated by 4 %. */
enum { ESTIMATE_DIRECTIONS = 170, ESTIMATE_POINTS = 176 };

typedef struct {
  Vec3 points[ESTIMATE_POINTS];
  int count;
  double volume;
} HullEstimate;

/* Returns an estimate of the hull of points (count); volume 0 if they are coplanar. Allocates only if points_volume
 * does. */
HullEstimate hull_estimate(const Vec3* points, int count);
/* Returns a lower estimate of the volume [unit^3] of the hull of points (count), from fewer directions. */
double rough_hull_volume(const Vec3* points, int count);
/* Returns the volume of the hull of points (count, at most 2 ESTIMATE_POINTS) by incremental insertion; 0 for coplanar
 * points, fewer than four or too many. Points within 1e-12 of the extent from a face count as on it. Allocates only
 * when it falls back to Qhull. */
double points_volume(const Vec3* points, int count);

/* Returns direction k of 27: unit vectors to a cube's faces, edges and corners; k = 13 (the centre) is invalid. */
static inline Vec3 cube_direction(int k) {
  const int along[3] = {k % 3, k / 3 % 3, k / 9};
  return vec3_normalized(vec3(along[0] - 1.0, along[1] - 1.0, along[2] - 1.0));
}

#endif

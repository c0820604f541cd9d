/* Private to geometry/: what must be known of a point set before a hull of it is asked for. */
#ifndef SDRS_GEOMETRY_POINT_SET_H
#define SDRS_GEOMETRY_POINT_SET_H

#include "geometry/geometry.h"

/* Corners of a large tetrahedron of points, each as far as it gets from those before it. */
typedef struct {
  int corner[4];
  double diameter; /* distance of the first two [m] */
  Vec3 normal;     /* unit, of the plane of the first three; zero when they are collinear */
  double height;   /* of the fourth over that plane [m]; 0 when all points are coplanar. No point is farther from the
                      plane, so the set is at most twice as thick. */
} Spread;
/* points: (count >= 1). Those that lie in one place leave diameter 0, those on a line a zero normal. No allocation. */
Spread spread_corners(const Vec3* points, int count);

/* The different points of a set, moved and scaled into [-1, 1]: point = center + scaled / factor. */
typedef struct {
  Vec3* points;
  int* source; /* index in the input, ascending: the first of equal points */
  int count;
  Vec3 center;
  double factor;
} NormalisedSet;

/* HULL_OK when the points span a solid, else why not (header of hull_create). Owned arrays; free in every case. points:
 * (count). */
HullResult normalised_create(NormalisedSet* set, const Vec3* points, int count);
/* Frees both arrays and leaves a zeroed set; accepts a zeroed one. */
void normalised_free(NormalisedSet* set);

#endif

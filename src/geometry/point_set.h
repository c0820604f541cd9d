/* Private to geometry/: extent and distinct points of a point set, needed before its hull is computed. */
#ifndef SDRS_GEOMETRY_POINT_SET_H
#define SDRS_GEOMETRY_POINT_SET_H

#include "geometry/geometry.h"

/* Corners of a large tetrahedron of points. Each corner is the point farthest from the first point, line or plane
 * through the corners before it. */
typedef struct {
  int corner[4];
  double diameter; /* distance of the first two [m] */
  Vec3 normal;     /* unit, of the plane of the first three; zero when they are collinear */
  double height;   /* of the fourth over that plane [m]; 0 when all points are coplanar. No point is farther from the
                      plane, so the set is at most twice as thick. */
} Spread;
/* Returns the large tetrahedron of points (count >= 1). Equal points give diameter 0, collinear ones a zero normal.
 * Allocates nothing. */
Spread spread_corners(const Vec3* points, int count);

/* The distinct points of a set, moved and scaled into [-1, 1]: point = center + scaled / factor. */
typedef struct {
  Vec3* points;
  int* source; /* index in the input, ascending: the first of equal points */
  int count;
  Vec3 center;
  double factor;
} NormalisedSet;

/* Sets *set to the distinct points of points (count). Returns HULL_OK if they span a solid, else the reason as
 * hull_create. The caller frees the set in any case. */
HullResult normalised_create(NormalisedSet* set, const Vec3* points, int count);
/* Frees both arrays and zeroes the set. Accepts a zeroed set. */
void normalised_free(NormalisedSet* set);

#endif

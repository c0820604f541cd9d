/* Private to geometry/: extent and distinct points of a point set. Qhull receives only the distinct points. */
#ifndef SDRS_GEOMETRY_POINT_SET_H
#define SDRS_GEOMETRY_POINT_SET_H

#include "geometry/geometry.h"

/* Large tetrahedron of a point set. Each corner is the point farthest from the first corner, or from the line or plane
 * through the earlier corners. */
typedef struct {
  int corner[4];
  double diameter; /* distance of the first two corners [m] */
  Vec3 normal;     /* unit normal of the plane of the first three corners; zero if they are collinear */
  double height; /* distance of the fourth corner from the plane [m]; 0 if all points are coplanar. No point is farther
                    from the plane */
} PointExtent;
/* Returns a large tetrahedron of points (count >= 1). The diameter is 0 if all points are equal, the normal zero if
 * they are collinear. */
PointExtent compute_extent(const Vec3* points, int count);

/* Distinct points of a set, moved and scaled into [-1, 1]: point = center + scaled / factor. */
typedef struct {
  Vec3* points;
  int* source; /* first index of each point in the input, ascending */
  int count;
  Vec3 center;
  double factor; /* [1/m] */
} NormalizedSet;

/* Computes the distinct points of points[count]. Returns HULL_OK if they span a solid, otherwise HULL_TOO_FEW_POINTS,
 * HULL_FLAT or HULL_FAILED. The caller frees the set with normalized_set_free, also after errors. */
HullResult normalized_set_create(NormalizedSet* set, const Vec3* points, int count);
/* Frees the arrays and zeroes the set. */
void normalized_set_free(NormalizedSet* set);

#endif

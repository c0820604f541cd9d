/* Private to geometry/: a planar polygon as triangles. */
#ifndef SDRS_GEOMETRY_POLYGON_H
#define SDRS_GEOMETRY_POLYGON_H

#include "geometry/geometry.h"

/* Cut a simple polygon, convex or not, into corner_count - 2 triangles of its own sense of rotation (ear clipping).
 * corners index into points, counter-clockwise seen against the normal. A polygon that crosses itself is cut too, with
 * some triangles turned over. Quadratic in the number of corners. Returns the number of triangles. */
int polygon_triangulate(const Vec3* points, const int* corners, int corner_count, Vec3 normal, int (*triangles)[3]);

#endif

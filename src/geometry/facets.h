/* Private to geometry/: facets of a convex hull, computed by Qhull, as polygons and planes. */
#ifndef SDRS_GEOMETRY_FACETS_H
#define SDRS_GEOMETRY_FACETS_H

#include "geometry/geometry.h"

/* Facets of a convex hull. Qhull merges coplanar triangles into one facet. The arrays are owned. facets_free accepts a
 * zeroed struct. */
typedef struct {
  double (*planes)[4]; /* plane of each facet: outward unit normal n and offset o [m], with n . x + o <= 0 for points x
                          inside (size: facet_count) */
  int* corners;        /* indices of the points at the corners of all facets, counter-clockwise seen from outside (size:
                          first[facet_count]) */
  int* first;          /* index in `corners` of each facet's first corner (size: facet_count + 1) */
  int facet_count;
} Facets;

/* Computes the facets of the convex hull of points (count). Returns the same errors as hull_create. After an error
 * there is nothing to free. Qhull receives the points moved and scaled into [-1, 1] and merges facets that rounding
 * made concave. If that fails, Qhull runs again with the points perturbed by about 1e-11. Returns HULL_FAILED if
 * neither attempt gave a closed surface. Prints nothing. The caller frees *facets with facets_free. */
HullResult facets_create(Facets* facets, const Vec3* points, int count);
/* Frees the arrays and zeroes the struct. */
void facets_free(Facets* facets);
/* Triangulates all facets. Sets triangles (number of corners - 2 facet_count) to the triangles, counter-clockwise seen
 * from outside, and returns their number. A merged facet may be slightly concave, so its triangles are not always a
 * fan. points[count]: the points given to facets_create. */
int facets_triangles(const Facets* facets, const Vec3* points, int (*triangles)[3]);

#endif

/* Private to geometry/: the facets of a convex hull by Qhull, as polygons and planes, in the coordinates given. */
#ifndef SDRS_GEOMETRY_FACETS_H
#define SDRS_GEOMETRY_FACETS_H

#include "geometry/geometry.h"

/* Coplanar triangles are merged by Qhull into one facet. Owned arrays; facets_free accepts a zeroed struct. */
typedef struct {
  double (*planes)[4]; /* outward unit normal n and offset o [m]: n . x + o <= 0 inside   (facet_count) */
  int* corners;        /* point indices, counter-clockwise seen from outside              (first[facet_count]) */
  int* first;          /* first corner of each facet                                      (facet_count + 1) */
  int facet_count;
} Facets;

/* Results as hull_create. Qhull works on the points moved and scaled into [-1, 1]; it merges facets that rounding made
 * concave and, where that fails, is asked again with the points joggled by some 1e-11. HULL_FAILED: neither gave a
 * closed surface. Prints nothing. points: (count). When not HULL_OK there is nothing to free. */
HullResult facets_create(Facets* facets, const Vec3* points, int count);
/* Frees the arrays and leaves a zeroed struct. */
void facets_free(Facets* facets);
/* Triangles of all facets, counter-clockwise seen from outside: corner total - 2 facet_count of them, for which
 * `triangles` must have room. A merged facet may be slightly concave, so these are not mere fans. Returns their number.
 * points[count]: those of facets_create. */
int facets_triangles(const Facets* facets, const Vec3* points, int (*triangles)[3]);

#endif

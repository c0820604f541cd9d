/* Private to geometry/: the facets of a convex hull by Qhull, as polygons and planes, in the coordinates given. */
#ifndef SDRS_GEOMETRY_FACETS_H
#define SDRS_GEOMETRY_FACETS_H

#include "geometry/geometry.h"

/* Facets of a convex hull: Qhull merges coplanar triangles into one facet. Owned arrays; facets_free accepts a zeroed
 * struct. */
typedef struct {
  double (*planes)[4]; /* outward unit normal n and offset o [m]: n . x + o <= 0 inside   (facet_count) */
  int* corners;        /* point indices, counter-clockwise seen from outside              (first[facet_count]) */
  int* first;          /* first corner of each facet                                      (facet_count + 1) */
  int facet_count;
} Facets;

/* Computes the facets of the hull of points (count). Results as hull_create; when not HULL_OK there is nothing to free.
 * Qhull receives the points moved and scaled into [-1, 1] and merges facets that rounding made concave. If that fails
 * it runs again with the points perturbed by about 1e-11. HULL_FAILED: neither gave a closed surface. Prints
 * nothing. */
HullResult facets_create(Facets* facets, const Vec3* points, int count);
/* Frees the arrays and zeroes the struct. */
void facets_free(Facets* facets);
/* Sets `triangles` (number of corners - 2 facet_count) to the triangles of all facets, counter-clockwise seen from
 * outside, and returns their number. A merged facet may be slightly concave, so it is not always a fan. points[count]:
 * those of facets_create. */
int facets_triangles(const Facets* facets, const Vec3* points, int (*triangles)[3]);

#endif

/* Private to geometry/: boxes round the triangles of a closed surface, for distances and for inside or outside. */
#ifndef SDRS_GEOMETRY_SURFACE_TREE_H
#define SDRS_GEOMETRY_SURFACE_TREE_H

#include "geometry/geometry.h"

/* A copy of the triangles in a turned frame, in which no ray along z meets an edge by the make of the part. Owned
 * arrays; surface_tree_free accepts a zeroed struct. */
typedef struct {
  Mat3 turn;          /* turned frame <- the surface's */
  Vec3 (*corners)[3]; /* of the triangles, in the order of the leaves   (count) */
  Vec3 *low, *high;   /* boxes of the nodes, root 1, children of k at 2k and 2k + 1   (2 leaves) */
  int count, leaves;  /* triangles; a power of two */
} SurfaceTree;

/* Triangles counter-clockwise seen from outside; at least one. */
SurfaceTree surface_tree_create(const Vec3* points, const int (*triangles)[3], int count);
void surface_tree_free(SurfaceTree* tree);
/* Least distance of a point from the surface, and a triangle that has it. *nearest on entry: any triangle of the tree;
 * the search is short when it is near. */
double surface_tree_distance(const SurfaceTree* tree, Vec3 point, int* nearest);
/* Distance of a point from one triangle of the tree. */
double surface_tree_triangle_distance(const SurfaceTree* tree, int triangle, Vec3 point);
/* How often the closed surface winds round a point: triangles above it that face up less those that face down. Whether
 * the way passes an edge on the left or on the right is the same for all its triangles, so none is counted twice. */
int surface_tree_winding(const SurfaceTree* tree, Vec3 point);

#endif

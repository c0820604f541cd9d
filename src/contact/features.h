/* Private to contact/: corners, edges and triangles of surfaces, and the search for pairs of them that are near each
 * other (docs/derivations/law-ipc.md, N24). */
#ifndef SDRS_CONTACT_FEATURES_H
#define SDRS_CONTACT_FEATURES_H

#include "contact/broad_phase.h"
#include "contact/stencil.h"

/* Corners, edges and triangles of a hull. A corner or edge that several triangles of a link share is listed once, for
 * the first of these triangles. Vertices are numbered from the first vertex of the link. Owns its arrays. */
typedef struct {
  int *vertices, (*edges)[2], (*triangles)[3];
  int vertex_count, edge_count, triangle_count;
} Features;

/* Sets the entries of features[hulls] for the bounded hulls of a link. Corners of different hulls at the same position
 * in the link frame count as shared. The caller zeroes features before, and frees each entry with features_free. */
void features_of_link(const Model* model, int link, Features* features);
/* Sets *features to the features of one solid. Vertices are numbered as in the solid. Allocates; the caller frees the
 * features with features_free. */
void features_of_solid(const ConvexHull* solid, Features* features);
void features_free(Features* features); /* frees the arrays; *features may be zeroed */

/* Growing list of stencils; owns its array. */
typedef struct {
  Stencil* list;
  int count, capacity;
} Stencils;
/* Returns uninitialized memory for one more stencil at the end of the list. The caller increases `count` to add the
 * stencil. The list owns the memory; the pointer is valid until the next call. Never NULL. */
Stencil* stencils_next(Stencils* out);

/* A surface at its pose. `features` lists corners, edges and triangles by vertex numbers. The vertex with number m has
 * the position points[m - first], world [m]. */
typedef struct {
  const Features* features;
  const Vec3* points; /* positions of the vertices, world [m] (size: count) */
  int count, first;
} Surface;

/* Workspace of stencils_between: the features of both surfaces within range of each other, and their boxes. Owns its
 * arrays, which grow as needed. */
typedef struct {
  int* vertex[2];   /* indices into Features.vertices */
  int* edge[2];     /* indices into Features.edges */
  int* triangle[2]; /* indices into Features.triangles */
  int vertex_count[2], edge_count[2], triangle_count[2];
  Box *edge_box[2], *triangle_box[2];
  int capacity[2];
} NearFeatures;
/* Frees the arrays of *near, which may be zeroed. NULL is not accepted. */
void near_features_free(NearFeatures* near);

/* Adds all stencils with a distance below `range` [m] to *out, in the order of the features. Stencils are pairs of a
 * vertex and a triangle, and pairs of edges. Leaves out pairs of edges whose squared sine of the angle is below
 * `least_sine`. across: unit vector from surface a to surface b, zero if unknown; features that are farther apart than
 * the range along this vector are skipped. near: workspace. The caller owns *near and *out. Allocates while their
 * arrays grow. */
void stencils_between(const Surface surface[2], Vec3 across, double range, double least_sine, NearFeatures* near,
                      Stencils* out);

#endif

/* Private to contact/: corners, edges and triangles of surfaces, and which of two of them are near each other
 * (docs/derivations/law-ipc.md, N24). */
#ifndef SDRS_CONTACT_FEATURES_H
#define SDRS_CONTACT_FEATURES_H

#include "contact/broad_phase.h"
#include "contact/stencil.h"

/* Corners, edges and triangles of a hull. A vertex or an edge shared by several triangles of a link belongs to the
 * first. Vertex numbers count from the link's first vertex. Owns its arrays. */
typedef struct {
  int *vertices, (*edges)[2], (*triangles)[3];
  int vertex_count, edge_count, triangle_count;
} Features;

/* Sets features[hulls] (zeroed before) of the bounded hulls of a link, by comparing corner positions in the link frame.
 * Allocates; each is freed with features_free. Cannot fail. */
void features_of_link(const Model* model, int link, Features* features);
/* Sets the features of one solid; vertex numbers are those of the solid. Allocates; freed with features_free. Cannot
 * fail. */
void features_of_solid(const ConvexHull* solid, Features* features);
void features_free(Features* features); /* frees its arrays; accepts a zeroed one */

/* Growing list of stencils; owns its array. */
typedef struct {
  Stencil* list;
  int count, capacity;
} Stencils;
/* Returns memory for one more stencil at the end of the list; the caller raises count to keep it. Owned by the list and
 * valid until the next call. Contents are undefined. Never NULL. */
Stencil* stencils_next(Stencils* out);

/* A surface at its pose. Vertex m of the features is points[m - first], world [m]. */
typedef struct {
  const Features* features;
  const Vec3* points; /* (count) */
  int count, first;
} Surface;

/* Features of both surfaces that may be nearer than the range, with their boxes. Owns its arrays, which grow as needed.
 */
typedef struct {
  int* vertex[2];   /* indices into Features.vertices */
  int* edge[2];     /* indices into Features.edges */
  int* triangle[2]; /* indices into Features.triangles */
  int vertex_count[2], edge_count[2], triangle_count[2];
  Box *edge_box[2], *triangle_box[2];
  int capacity[2];
} NearFeatures;
/* Frees what it owns; accepts a zeroed one. NULL is not accepted. */
void near_features_free(NearFeatures* near);

/* Adds to out, in the order of the features, all stencils nearer than `range` [m]: vertices of either surface against
 * triangles of the other, and pairs of edges with a squared sine of at least `least_sine`. across: unit vector from a
 * to b, along which features farther apart than the range are skipped; zero: unknown. Adds nothing if the boxes are
 * farther apart. near and out belong to the caller. Allocates while features grow. Cannot fail. */
void stencils_between(const Surface surface[2], Vec3 across, double range, double least_sine, NearFeatures* near,
                      Stencils* out);

#endif

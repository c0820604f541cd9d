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
void features_free(Features* features); /* what they own; accepts zeroed ones */

/* Growing list of a thread's own; owned. */
typedef struct {
  Stencil* list;
  int count, capacity;
} Stencils;
/* Room for one more, owned by the list, which counts once count is raised; the pointer holds until the next call.
 * Never NULL; what stands there is undefined. */
Stencil* stencils_next(Stencils* out);

/* A surface where it stands. Vertex m of the features is points[m - first], world [m]. */
typedef struct {
  const Features* features;
  const Vec3* points; /* (count) */
  int count, first;
} Surface;

/* Features of both surfaces that may be nearer than the range, and their boxes; owned, grown by need. */
typedef struct {
  int* vertex[2];   /* indices into the lists of Features */
  int* edge[2];     /* the same */
  int* triangle[2]; /* the same */
  int vertex_count[2], edge_count[2], triangle_count[2];
  Box *edge_box[2], *triangle_box[2];
  int capacity[2];
} NearFeatures;
/* Frees what it owns; accepts a zeroed one. NULL is not accepted. */
void near_features_free(NearFeatures* near);

/* All stencils of vertices and triangles, both ways, and of edges that are nearer than `range` [m], and of edges only
 * those with a squared sine of `least_sine` or more; added to out in the order of the features. across: a unit vector
 * from a to b along which features that are farther apart than the range are left out; zero: none is known. Returns
 * with out as it was where the boxes are farther apart. Allocates while features grow. Never fails; near and out
 * stay the caller's own. */
void stencils_between(const Surface surface[2], Vec3 across, double range, double least_sine, NearFeatures* near,
                      Stencils* out);

#endif

/* Private to differentiate/: the signed distance d of two hulls and its derivatives with respect to their vertices a_i
 * and b_i. - Separate hulls: d = |sum_i w_i (a_i - b_i)|. n: unit vector from a to b at the nearest points. The weights
 * w minimize d, so that dd/da_i = -w_i n and dd/db_i = w_i n.
 * - Overlapping hulls: d = -depth, with depth the length of the shortest translation that separates the hulls.
 * - Hull and half-space: d = min_i n . x_i - offset, in the frame of the half-space.
 * Parallel faces or edges admit many weights w, and d has a kink. The weights of least squared sum are then used:
 * raising one corner of a box does not raise d, raising all corners does. */
#ifndef SDRS_DIFFERENTIATE_NEAREST_H
#define SDRS_DIFFERENTIATE_NEAREST_H

#include "differentiate/loss.h"

/* Nearest points of two hulls, each a combination of up to three vertices. Borrows the hulls. */
typedef struct {
  double
      distance; /* distance of the nearest points [m]; negative if a hull is partly below the surface of a half-space */
  const ModelHull *a, *b;
  Vec3 normal; /* unit vector from hull a to hull b at the nearest points, world frame */
  Vec3 point_a, point_b;
  int count;                    /* number of used entries of vertex_a, vertex_b and weight; 0 if the hulls overlap */
  int vertex_a[4], vertex_b[4]; /* vertex indices; vertex_a is -1 for a half-space */
  double weight[4];
} NearestPoints;

/* Returns the nearest points of two hulls. A half-space becomes `a` of the result; at most one hull may be a
 * half-space. For overlapping hulls, distance and count are 0. */
NearestPoints find_nearest_points(const ModelHull* a, const ModelHull* b, Pose pose_a, Pose pose_b);
/* Returns the nearest points of two hulls, or the points of deepest penetration with a negative distance if the hulls
 * overlap. Allocates memory. */
NearestPoints find_signed_nearest_points(const ModelHull* a, const ModelHull* b, Pose pose_a, Pose pose_b);
/* Returns a lower bound of the distance of two hulls [m], from their bounding spheres. Returns NaN for a pose that is
 * not finite, and -HUGE_VAL for a half-space. */
double distance_lower_bound(const ModelHull* a, const ModelHull* b, Pose pose_a, Pose pose_b);

/* Largest number of vertices that share a nearest point. */
enum { FACE_VERTICES_MAX = 128 };
/* Nearest point of one hull as a weighted sum of its vertices. */
typedef struct {
  int count;                     /* number of vertices with weights; 0 if no vertices are known */
  int vertex[FACE_VERTICES_MAX]; /* indices of the vertices; -1 for a half-space */
  double weight[FACE_VERTICES_MAX];
  Vec3 point; /* nearest point, link frame [m] */
} WeightedVertices;

/* Computes the vertices and weights that define the nearest points of both hulls, with all vertices of touching
 * parallel faces. pose: world poses of the links of the hulls nearest->a and nearest->b. side[0].count is 0 if no such
 * vertices are known. */
void find_nearest_vertices(const NearestPoints* nearest, const Pose pose[2], WeightedVertices side[2]);
/* Adds the derivatives of the loss with respect to the vertices of a hull to `seeds`. g: derivative of the loss with
 * respect to the hull's nearest point, link frame. Does nothing for a half-space. */
void add_nearest_vertex_seeds(const ModelHull* hull, const WeightedVertices* side, Vec3 g, LossSeeds* seeds);

#endif

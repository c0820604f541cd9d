/* Private to differentiate/: the signed distance d of two hulls and its derivatives by their vertices.
 * - Separate hulls: d = |sum_i w_i (a_i - b_i)|, with n from a to b at the nearest points. The weights w minimize d, so
 * d changes with the vertices as if w were constant: dd/da_i = -w_i n, dd/db_i = w_i n.
 * - Overlapping hulls: d = -depth, the least translation along n that separates them, between the vertices farthest
 * along n.
 * - Hull over a half-space: d = min_i n . x_i - offset, in the half-space's frame.
 * If several w give the same d (parallel faces or edges, as bodies often start), d has a kink. The derivative is then
 * the one with the least sum of squared weights: raising one corner of a box alone does not raise d, raising all does.
 */
#ifndef SDRS_DIFFERENTIATE_NEAREST_H
#define SDRS_DIFFERENTIATE_NEAREST_H

#include "differentiate/loss.h"

/* NearestPoints points of hulls a and b, as combinations of up to three vertices of each hull. Link frames. Borrows
 * both hulls. */
typedef struct {
  double distance; /* m; negative for a hull below the surface of a half-space */
  const ModelHull *a, *b;
  Vec3 normal; /* unit direction of the distance, from a to b, world frame */
  Vec3 point_a, point_b;
  int count;                    /* 0 if the hulls overlap and the vertices are unknown */
  int vertex_a[4], vertex_b[4]; /* -1 for a half-space */
  double weight[4];
} NearestPoints;

/* Returns the nearest points of two hulls. At most one is a half-space, which becomes `a` of the result. For
 * overlapping hulls, distance and count are 0. find_signed_nearest_points then gives the depth and its direction. */
NearestPoints find_nearest_points(const ModelHull* a, const ModelHull* b, Pose pose_a, Pose pose_b);
/* Returns the nearest points as find_nearest_points, but a negative distance (minus the depth) for overlapping hulls.
 * Allocates. */
NearestPoints find_signed_nearest_points(const ModelHull* a, const ModelHull* b, Pose pose_a, Pose pose_b);
/* Returns a lower bound of the distance [m] from the bounding spheres. Returns NaN if a pose is not finite, and
 * -HUGE_VAL for a half-space. */
double distance_lower_bound(const ModelHull* a, const ModelHull* b, Pose pose_a, Pose pose_b);

/* Largest number of vertices of a face. Larger faces use the nearest points of GJK. */
enum { FACE_VERTICES_MAX = 128 };
/* NearestPoints point of one side as a combination of hull vertices. */
typedef struct {
  int count;                     /* 0 for deep overlap of faces with too many vertices */
  int vertex[FACE_VERTICES_MAX]; /* -1 for a half-space */
  double weight[FACE_VERTICES_MAX];
  Vec3 point; /* link frame */
} WeightedVertices;

/* Sets the vertices and weights that span the nearest points of both sides. pose: poses of the links of nearest->a and
 * nearest->b. side[0].count is 0 if there are no vertices. */
void find_nearest_vertices(const NearestPoints* nearest, const Pose pose[2], WeightedVertices side[2]);
/* Adds the derivatives with respect to the vertices that span a nearest point to seeds->vertices. g = dL/dx of the
 * point x, link frame. Does nothing for a half-space. */
void add_nearest_vertex_seeds(const ModelHull* hull, const WeightedVertices* side, Vec3 g, LossSeeds* seeds);

#endif

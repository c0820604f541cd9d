/* Nearest features (vertex, edge or face) of convex hulls. Private to query/. */
#ifndef SDRS_QUERY_FEATURES_H
#define SDRS_QUERY_FEATURES_H

#include "query/query.h"

/* A vertex belongs to the nearest feature if it lies less than this distance behind the supporting plane, relative to
 * the hull size. */
#define FEATURE_TOLERANCE 1e-9

/* Two vertices closer than this value, relative to the hull size, count as one point and span no direction of an edge
 * or face. Two directions are parallel if the sine of the angle between them is below this value. */
#define FEATURE_PARALLEL 1e-6

/* Feature of a hull (vertex, edge or face): the vertices farthest along a direction, and the point, line or plane
 * spanned by these vertices. */
typedef struct {
  Vec3 along[2]; /* directions that span the feature: orthogonal unit vectors, world axes */
  int directions;
  int corners;                 /* number of vertices, at most FEATURE_CORNERS */
  int corner[FEATURE_CORNERS]; /* indices of the vertices */
} Feature;

/* Returns the feature of a hull along the direction `out` (unit, world). The feature contains the vertices at most
 * `reach` [m] behind the farthest vertex. Feature.directions is 0 for a vertex, 1 for an edge and 2 for a face. It is 0
 * if these vertices coincide. Does not allocate. */
Feature feature_find(PointView view, Pose pose, Vec3 out, double reach);
/* Returns an upper bound of the distance of the vertices from the frame's origin [m]: the largest |x| + |y| + |z|. */
double point_view_size(PointView view);

/* Motion of a feature (vertex, edge or face of a hull) when its vertices are displaced (growth.md, H5). A point of the
 * feature moves by the sum of weight[i] times the displacement of vertex i; the weights are dimensionless. Direction
 * Feature.along[j] changes by the sum of tilt[i][j] [1/m] times the displacement of vertex i. */
typedef struct {
  double weight[FEATURE_CORNERS], tilt[FEATURE_CORNERS][2];
} FeatureWeights;
/* Sets *out to the weights for the point `place` of the feature (body frame) [m]. turned: rotation matrix of the body.
 * Returns false if the feature has FEATURE_CORNERS vertices or more. Does not allocate. */
bool feature_weights(const Feature* feature, PointView view, Mat3 turned, Vec3 place, FeatureWeights* out);
/* Returns true if a feature has more vertices than its point, line or plane needs: 1, 2 or 3. The point, line or plane
 * is then a best fit. */
static inline bool feature_is_fitted(const Feature* f) { return f->corners > f->directions + 1; }

/* Returns true if the nearest points of two features are not unique. This holds for two parallel edges, a face with an
 * edge, and two faces. */
bool features_are_parallel(const Feature f[2]);

/* Sets out to the derivatives of the distance of two bodies with respect to both poses at constant normal (H7). normal:
 * unit, from a to b. arm_a, arm_b: from each body's position to its nearest point, world [m]. */
static inline void distance_gradient_at_points(Vec3 normal, Vec3 arm_a, Vec3 arm_b, double out[QUERY_POSE_COLUMNS]) {
  vec3_store(vec3_cross(normal, arm_a), out);
  vec3_store(vec3_scale(normal, -1), out + 3);
  vec3_store(vec3_cross(arm_b, normal), out + 6);
  vec3_store(normal, out + 9);
}

/* Reason returned for a feature with too many vertices. */
#define REASON_TOO_MANY_VERTICES "the nearest face has 128 corners or more"

#endif

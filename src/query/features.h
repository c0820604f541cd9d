/* Nearest features of convex hulls. Private to query/. */
#ifndef SDRS_QUERY_FEATURES_H
#define SDRS_QUERY_FEATURES_H

#include "query/query.h"

/* A vertex belongs to the nearest feature if it lies no farther behind the feature's plane than this, relative to the
 * size. */
#define FEATURE_REACH 1e-9

/* Least length of a feature direction, relative to the size, and least sine of the angle between two. */
#define FEATURE_FLAT 1e-6

/* Feature of a hull: the vertices farthest along a direction, and the point, line or plane they span. */
typedef struct {
  Vec3 along[2]; /* unit, orthogonal, world */
  int directions;
  int corners;                 /* number of vertices, at most FEATURE_CORNERS; */
  int corner[FEATURE_CORNERS]; /* their indices */
} Feature;

/* Feature of the vertices no farther than `reach` [m] behind the vertex farthest along `out` (unit, world). directions
 * is 0 if they coincide. Does not allocate. */
Feature feature_of(PointView view, Pose pose, Vec3 out, double reach);
/* Largest |x| + |y| + |z| of a vertex [m]: an upper bound of the distance of the vertices from the frame's origin. */
double point_view_size(PointView view);

/* Motion of a feature with its corners (H5). The point at `place` moves by weight[i] times the displacement of corner
 * i, direction j by tilt[i][j] times it. */
typedef struct {
  double weight[FEATURE_CORNERS], tilt[FEATURE_CORNERS][2]; /* dimensionless; 1/m */
} FeatureWeights;
/* Weights at `place`, a point of the feature in the body frame [m]; turned: rotation of the body. False if the feature
 * has FEATURE_CORNERS corners or more. Does not allocate. */
bool feature_weights(const Feature* feature, PointView view, Mat3 turned, Vec3 place, FeatureWeights* out);
/* True if the feature has more corners than determine it, so that it follows them by best fit. */
static inline bool feature_is_fitted(const Feature* f) { return f->corners > f->directions + 1; }

/* True if the nearest points are not unique: more than two directions in all, or parallel edges. */
bool features_parallel(const Feature f[2]);

/* Derivatives of the distance by both poses for a fixed normal (unit, a to b) (H7); columns as in query.h. arm_a,
 * arm_b: from each body's position to its nearest point, world [m]. Does not allocate. */
static inline void distance_slope_at(Vec3 normal, Vec3 arm_a, Vec3 arm_b, double out[QUERY_POSE_COLUMNS]) {
  vec3_store(vec3_cross(normal, arm_a), out);
  vec3_store(vec3_scale(normal, -1), out + 3);
  vec3_store(vec3_cross(arm_b, normal), out + 6);
  vec3_store(normal, out + 9);
}

/* Reason returned for a feature with too many corners. */
#define MANY_CORNERS "the nearest face has 128 corners or more"

#endif

/* Nearest features of convex hulls. Private to query/. */
#ifndef SDRS_QUERY_FEATURES_H
#define SDRS_QUERY_FEATURES_H

#include "query/query.h"

/* Largest distance of a vertex of the nearest feature behind the feature's plane, relative to the size of the hull. */
#define FEATURE_REACH 1e-9

/* Least length of a direction of a feature, relative to the size of the hull, and least sine of the angle between two
 * directions. */
#define FEATURE_FLAT 1e-6

/* Feature of a hull: the vertices farthest along a direction, and the point, line or plane they span. */
typedef struct {
  Vec3 along[2]; /* unit, orthogonal, world */
  int directions;
  int corners;                 /* number of vertices, at most FEATURE_CORNERS; */
  int corner[FEATURE_CORNERS]; /* their indices */
} Feature;

/* Returns the feature of the vertices that lie at most `reach` [m] behind the vertex farthest along `out` (unit,
 * world). Its number of directions is 0 if these vertices coincide. Does not allocate. */
Feature feature_of(PointView view, Pose pose, Vec3 out, double reach);
/* Returns the largest |x| + |y| + |z| of a vertex [m], an upper bound of the distance of the vertices from the frame's
 * origin. */
double point_view_size(PointView view);

/* Motion of a feature caused by displacements of its corners (H5). The point at `place` moves by the sum of weight[i]
 * times the displacement of corner i. Direction j changes by the sum of tilt[i][j] times the displacement of corner
 * i. */
typedef struct {
  double weight[FEATURE_CORNERS], tilt[FEATURE_CORNERS][2]; /* dimensionless; 1/m */
} FeatureWeights;
/* Sets *out to the weights at `place`, a point of the feature in the body frame [m]. turned: rotation of the body.
 * Returns false if the feature has FEATURE_CORNERS corners or more. Does not allocate. */
bool feature_weights(const Feature* feature, PointView view, Mat3 turned, Vec3 place, FeatureWeights* out);
/* Returns true if the feature has more corners than are needed to determine its point, line or plane, which then is a
 * best fit. */
static inline bool feature_is_fitted(const Feature* f) { return f->corners > f->directions + 1; }

/* Returns true if the nearest points are not unique: the two features have more than two directions together, or are
 * parallel edges. */
bool features_parallel(const Feature f[2]);

/* Sets out to the derivatives of the distance with respect to both poses, with a constant normal (unit, a to b) (H7);
 * columns as in query.h. arm_a, arm_b: from each body's position to its nearest point, world [m]. Does not allocate. */
static inline void distance_slope_at(Vec3 normal, Vec3 arm_a, Vec3 arm_b, double out[QUERY_POSE_COLUMNS]) {
  vec3_store(vec3_cross(normal, arm_a), out);
  vec3_store(vec3_scale(normal, -1), out + 3);
  vec3_store(vec3_cross(arm_b, normal), out + 6);
  vec3_store(normal, out + 9);
}

/* Reason returned for a feature with too many corners. */
#define MANY_CORNERS "the nearest face has 128 corners or more"

#endif

/* The features of hulls that are nearest. Private to query/. */
#ifndef SDRS_QUERY_FEATURES_H
#define SDRS_QUERY_FEATURES_H

#include "query/query.h"

/* A vertex belongs to the nearest feature when it is no farther behind its plane than this part of the size. */
#define FEATURE_REACH 1e-9

/* Directions of a feature that are shorter than this part of the size, or of sin of an angle, are none. */
#define FEATURE_FLAT 1e-6

/* The vertices of a hull that are as far along a direction as any, as a flat through one of them. */
typedef struct {
  Vec3 along[2]; /* unit, across one another, world */
  int directions;
  int corners;                 /* of these vertices there are so many (FEATURE_CORNERS at most), */
  int corner[FEATURE_CORNERS]; /* these */
} Feature;

/* Feature of the vertices no farther than `reach` [m] behind the plane of the farthest along `out` (unit, world). No
 * directions where they are all in one point. No allocation. */
Feature feature_of(PointView view, Pose pose, Vec3 out, double reach);
/* Largest sum of a vertex's coordinates' magnitudes [m]: no vertex is farther from the frame's origin. */
double point_view_size(PointView view);

/* How a feature follows its corners (H5): the point at `place` (the view's frame, within the feature) moves by
 * weight[i] times corner i's move, direction j (of the feature, `turned` to the view's frame) by tilt[i][j]. */
typedef struct {
  double weight[FEATURE_CORNERS], tilt[FEATURE_CORNERS][2]; /* no unit; 1/m */
} FeatureWeights;
/* false: the feature may have more corners than FEATURE_CORNERS. No allocation. */
bool feature_weights(const Feature* feature, PointView view, Mat3 turned, Vec3 place, FeatureWeights* out);
/* More corners than fix the feature: it follows them by best fit. */
static inline bool feature_is_fitted(const Feature* f) { return f->corners > f->directions + 1; }

/* Do the directions of both leave the nearest points free: more than two of them, or parallel edges? */
bool features_parallel(const Feature f[2]);

/* The distance's slopes by both poses, columns as in query.h, where the normal (unit, a to b) is held (H7): arms from
 * each body's position to its nearest point, world [m]. No allocation. */
static inline void distance_slope_at(Vec3 normal, Vec3 arm_a, Vec3 arm_b, double out[QUERY_POSE_COLUMNS]) {
  vec3_store(vec3_cross(normal, arm_a), out);
  vec3_store(vec3_scale(normal, -1), out + 3);
  vec3_store(vec3_cross(arm_b, normal), out + 6);
  vec3_store(normal, out + 9);
}

/* Why there are none. */
#define MANY_CORNERS "the nearest face has 128 corners or more"

#endif

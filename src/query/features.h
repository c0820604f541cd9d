/* The features of hulls that are nearest. Private to query/. */
#ifndef SDRS_QUERY_FEATURES_H
#define SDRS_QUERY_FEATURES_H

#include "geometry/geometry.h"

/* The vertices of a hull that are as far along a direction as any, as a flat through one of them. */
typedef struct {
  Vec3 along[2]; /* unit, across one another, world */
  int directions;
  int corners;   /* of these vertices there are so many (64 at most); directions + 1: they are corners of a simplex, */
  int corner[3]; /* these */
} Feature;

/* Of the vertices no farther than `reach` [m] behind the plane of the farthest along `out` (unit, world). No directions
 * where they are all in one point. No allocation. */
Feature feature_of(PointView view, Pose pose, Vec3 out, double reach);
/* Largest sum of a vertex's coordinates' magnitudes [m]: no vertex is farther from the frame's origin. */
double point_view_size(PointView view);

/* How a feature that is a simplex follows its corners (H5): the point at `place` (the view's frame, within the feature)
 * moves by weight[i] times corner i's move, direction j (of the feature, `turned` to the view's frame) by tilt[i][j].
 */
typedef struct {
  double weight[3], tilt[3][2]; /* no unit; 1/m */
} FeatureWeights;
/* false: the feature is no simplex. No allocation. */
bool feature_weights(const Feature* feature, PointView view, Mat3 turned, Vec3 place, FeatureWeights* out);

/* Why there are none. */
#define MANY_CORNERS "the nearest face has more corners than a triangle, or the edge more than two: moving one bends it"

#endif

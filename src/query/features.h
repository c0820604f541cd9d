/* The features of hulls that are nearest. Private to query/. */
#ifndef SDRS_QUERY_FEATURES_H
#define SDRS_QUERY_FEATURES_H

#include "geometry/geometry.h"

/* The vertices of a hull that are as far along a direction as any, as a flat through one of them. */
typedef struct {
  Vec3 along[2]; /* unit, across one another, world */
  int directions;
} Feature;

/* Of the vertices no farther than `reach` [m] behind the plane of the farthest along `out` (unit, world). No directions
 * where they are all in one point. No allocation. */
Feature feature_of(PointView view, Pose pose, Vec3 out, double reach);
/* Largest sum of a vertex's coordinates' magnitudes [m]: no vertex is farther from the frame's origin. */
double point_view_size(PointView view);

#endif

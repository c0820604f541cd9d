/* Penetration depth of overlapping convex bodies with proven bounds. Private to query/. Used for smooth bodies, where a
 * few support points do not determine the depth. */
#ifndef SDRS_QUERY_DEEP_H
#define SDRS_QUERY_DEEP_H

#include "query/query.h"

typedef struct {
  double low, high; /* proven bounds of the depth [m] */
  Vec3 normal; /* unit direction, world axes. A displacement of b by `high` along the normal separates the bodies */
} DepthBounds;

enum { DEPTH_POINTS_MAX = 40000 };
/* Computes proven bounds of the penetration depth of overlapping bodies (growth.md, H6). Refines the bounds until high
 * - low <= width_max [m] or DEPTH_POINTS_MAX support points are used. Returns false, with *out unchanged, if no bound
 * was found. Allocates temporary memory. */
bool depth_bounds(const ConvexBody body[2], const Pose pose[2], double width_max, DepthBounds* out);

/* Returns the point of a body farthest along a direction, both in the world frame [m] (query/distance_smooth.c). */
Vec3 convex_support_point(const ConvexBody* body, Pose pose, Vec3 direction);

#endif

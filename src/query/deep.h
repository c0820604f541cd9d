/* Penetration depth of convex bodies with proven bounds, for pairs where few support points are not enough. Private to
 * query/. */
#ifndef SDRS_QUERY_DEEP_H
#define SDRS_QUERY_DEEP_H

#include "query/query.h"

typedef struct {
  double low, high; /* proven bounds of the depth [m] */
  Vec3 normal;      /* unit, world: moving b by `high` along it separates the bodies */
} DeepDepth;

enum { DEEP_POINTS = 40000 };
/* Depth of overlapping bodies (H6). Refines until high - low <= enough [m] or DEEP_POINTS points are used. Allocates
 * temporarily. Returns false if no bound was found; *out is then unchanged. */
bool deep_depth(const ConvexBody body[2], const Pose pose[2], double enough, DeepDepth* out);

/* Support point of a body along a direction, both in the world frame [m] (query/distance_smooth.c). */
Vec3 convex_farthest(const ConvexBody* body, Pose pose, Vec3 direction);

#endif

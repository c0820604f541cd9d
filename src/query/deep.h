/* Penetration depth of convex bodies with proven bounds, for pairs for which a few support points are not sufficient.
 * Private to query/. */
#ifndef SDRS_QUERY_DEEP_H
#define SDRS_QUERY_DEEP_H

#include "query/query.h"

typedef struct {
  double low, high; /* proven bounds of the depth [m] */
  Vec3 normal;      /* unit, world: moving b by `high` along it separates the bodies */
} DeepDepth;

enum { DEEP_POINTS = 40000 };
/* Sets *out to the bounds of the depth of overlapping bodies (H6). Refines them until high - low <= enough [m] or
 * DEEP_POINTS points are used. Returns false, with *out unchanged, if no bound was found. Allocates temporarily. */
bool deep_depth(const ConvexBody body[2], const Pose pose[2], double enough, DeepDepth* out);

/* Returns the support point of a body along a direction, both in the world frame [m] (query/distance_smooth.c). */
Vec3 convex_farthest(const ConvexBody* body, Pose pose, Vec3 direction);

#endif

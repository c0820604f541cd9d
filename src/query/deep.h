/* The depth of overlapping convex bodies with bounds, where a few directions do not determine it. Private to query/. */
#ifndef SDRS_QUERY_DEEP_H
#define SDRS_QUERY_DEEP_H

#include "query/query.h"

typedef struct {
  double low, high; /* the depth lies between them for certain [m] */
  Vec3 normal;      /* the direction whose translation is `high` */
} DeepDepth;

enum { DEEP_POINTS = 40000 };
/* Depth of bodies that overlap (H6), refined until high - low <= enough [m] or DEEP_POINTS places of the surface are
 * known. Allocates for the time of the call. Returns false where nothing is known beyond what was before; then *out is
 * untouched. */
bool deep_depth(const ConvexBody body[2], const Pose pose[2], double enough, DeepDepth* out);

/* The farthest point of a body along a direction, world (query/distance_smooth.c). */
Vec3 convex_farthest(const ConvexBody* body, Pose pose, Vec3 direction);

#endif

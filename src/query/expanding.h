/* Depth of overlapping hulls without allocation. Private to query/. */
#ifndef SDRS_QUERY_EXPANDING_H
#define SDRS_QUERY_EXPANDING_H

#include "geometry/geometry.h"

/* Penetration depth as hull_penetration's, from what gjk_distance left in its cache: some 20 us for hulls of 100
 * vertices. -1 where it cannot tell (they only touch, or a face of the Minkowski difference is a sliver): then ask
 * hull_penetration. normal: unit, the way out for b. simplex: of gjk_distance for these poses. -1 leaves *normal
 * without meaning. [m], world. */
double hull_depth(PointView a, Pose pose_a, PointView b, Pose pose_b, const GjkCache* simplex, Vec3* normal);

#endif

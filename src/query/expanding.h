/* Penetration depth of overlapping hulls without allocation. Private to query/. */
#ifndef SDRS_QUERY_EXPANDING_H
#define SDRS_QUERY_EXPANDING_H

#include "geometry/geometry.h"

/* Returns the penetration depth [m] of overlapping hulls, computed in fixed-size arrays. A call takes about 20 us
 * for hulls of 100 vertices. simplex: the cache in which gjk_distance stored its last simplex for these poses. Sets
 * *normal to the direction in which b leaves a (unit, world). Returns -1, with *normal undefined, if the hulls only
 * touch or a face of the Minkowski difference is a sliver. The caller then uses hull_penetration. */
double hull_depth(PointView a, Pose pose_a, PointView b, Pose pose_b, const GjkCache* simplex, Vec3* normal);

#endif

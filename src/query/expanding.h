/* Depth of overlapping hulls without allocation. Private to query/. */
#ifndef SDRS_QUERY_EXPANDING_H
#define SDRS_QUERY_EXPANDING_H

#include "geometry/geometry.h"

/* Penetration depth [m] of overlapping hulls, as hull_penetration, from the simplex that gjk_distance left for these
 * poses. About 20 us for hulls of 100 vertices. normal: unit, world, the direction in which b leaves a. Returns -1 if
 * the hulls only touch or a face of the Minkowski difference is a sliver; *normal is then undefined and the caller uses
 * hull_penetration. */
double hull_depth(PointView a, Pose pose_a, PointView b, Pose pose_b, const GjkCache* simplex, Vec3* normal);

#endif

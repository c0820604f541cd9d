/* Between the files of witness points. Private to query/. */
#ifndef SDRS_QUERY_WITNESS_H
#define SDRS_QUERY_WITNESS_H

#include "query/query.h"

/* Samples for a mean about `center` (body frame) into the side, that point first, with origins and count. piece: whose
 * corners WITNESS_NEIGHBOR takes; normal: outward there, body frame (query/witness_samples.c). target: where the point
 * is wanted, body frame [m], or NULL. */
void witness_choose(const WitnessBody* body, int piece, Vec3 center, Vec3 normal, const WitnessOptions* options,
                    const Vec3* target, WitnessSide* side);

/* Jacobians of the nearest points by other means than smoothing (query/witness_estimate.c). Writes answer->total and
 * total_known; options->estimate is not WITNESS_SMOOTHED. */
void witness_estimate(const WitnessBody* a, Pose pose_a, const WitnessBody* b, Pose pose_b,
                      const WitnessOptions* options, Witness* answer);

/* turn (rotation vector [rad]) about the body's position, then move [m]; world axes. */
Pose witness_moved(Pose pose, Vec3 turn, Vec3 move);

/* Parts of a body's surface (query/witness_body.c); body frame. Twice the area of triangle i, outward [m^2]; a point of
 * it for u, v in 0 .. 1; twice the area of all [m^2]. */
Vec3 witness_area_vector(const ConvexHull* hull, int i);
Vec3 witness_on_triangle(const ConvexHull* hull, int i, double u, double v);
double witness_twice_area(const WitnessBody* body);
/* Whether a point of piece `piece` lies inside another one. */
bool witness_hidden(const WitnessBody* body, int piece, Vec3 point);

#endif

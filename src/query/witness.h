/* Witness points: functions shared by the files query/witness*.c. Private to query/. */
#ifndef SDRS_QUERY_WITNESS_H
#define SDRS_QUERY_WITNESS_H

#include "query/query.h"

/* Chooses the samples for a smoothed point about `center` (body frame). Writes samples, origins and count of *side; the
 * first sample is `center` (query/witness_samples.c). piece: piece whose corners are chosen by WITNESS_NEIGHBOR.
 * normal: outward normal at center, body frame. target: target of the point, body frame [m], or NULL. */
void witness_choose(const WitnessBody* body, int piece, Vec3 center, Vec3 normal, const WitnessOptions* options,
                    const Vec3* target, WitnessSide* side);

/* Sets answer->total and answer->total_known to the Jacobians of the nearest points, for an estimate other than
 * WITNESS_SMOOTHED (query/witness_estimate.c). */
void witness_estimate(const WitnessBody* a, Pose pose_a, const WitnessBody* b, Pose pose_b,
                      const WitnessOptions* options, Witness* answer);

/* Returns the pose rotated by `turn` (rotation vector [rad]) about the body's position, then translated by `move` [m];
 * world axes. */
Pose witness_moved(Pose pose, Vec3 turn, Vec3 move);

/* Surface of a body (query/witness_body.c), body frame. witness_area_vector returns the outward normal of triangle i
 * times twice its area [m^2]. witness_on_triangle returns a point of triangle i for u, v in 0 .. 1. witness_twice_area
 * returns twice the area of all triangles [m^2]. */
Vec3 witness_area_vector(const ConvexHull* hull, int i);
Vec3 witness_on_triangle(const ConvexHull* hull, int i, double u, double v);
double witness_twice_area(const WitnessBody* body);
/* Returns true if a point of piece `piece` lies inside another piece. */
bool witness_hidden(const WitnessBody* body, int piece, Vec3 point);

#endif

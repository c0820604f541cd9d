/* Witness points: functions shared by the files query/witness*.c. Private to query/. */
#ifndef SDRS_QUERY_WITNESS_H
#define SDRS_QUERY_WITNESS_H

#include "query/query.h"

/* Chooses the surface samples whose weighted mean is the smoothed nearest point (query/witness_samples.c). center: the
 * nearest point. Sets samples, origins and count of *side; the first sample is `center`. piece: index of the convex
 * piece on which center lies. normal: outward normal at center. target: point that the nearest point should reach [m],
 * or NULL. center, normal and target are in the body frame. */
void witness_choose_samples(const WitnessBody* body, int piece, Vec3 center, Vec3 normal, const WitnessOptions* options,
                            const Vec3* target, WitnessSide* side);

/* Computes the Jacobians of both nearest points with respect to the motions of both bodies, for all estimates but
 * WITNESS_SMOOTHED (query/witness_estimate.c). Sets answer->total and answer->total_known. */
void witness_compute_jacobians(const WitnessBody* a, Pose pose_a, const WitnessBody* b, Pose pose_b,
                               const WitnessOptions* options, Witness* answer);

/* Returns the pose after a small motion. The body is rotated by `turn` (rotation vector [rad]) about its position, then
 * translated by `move` [m], both in world axes. */
Pose witness_move_pose(Pose pose, Vec3 turn, Vec3 move);

/* Surface of a body in the body frame (query/witness_body.c). witness_area_vector returns the outward normal of
 * triangle i of a hull, with length twice its area [m^2]. witness_point_on_triangle returns a point of triangle i;
 * independent uniform u, v in [0, 1] give a uniform distribution. witness_twice_surface_area returns twice the area of
 * all triangles of all pieces [m^2]. */
Vec3 witness_area_vector(const ConvexHull* hull, int i);
Vec3 witness_point_on_triangle(const ConvexHull* hull, int i, double u, double v);
double witness_twice_surface_area(const WitnessBody* body);
/* Returns true if a point on the convex piece number `piece` lies inside another piece of the body. */
bool witness_is_inside_other_piece(const WitnessBody* body, int piece, Vec3 point);

#endif

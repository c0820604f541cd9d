/* Private to simulate/: the rotation of a rigid body on which no torque acts (docs/derivations/spin.md, W1-W3). */
#ifndef SDRS_SIMULATE_FREE_ROTATION_H
#define SDRS_SIMULATE_FREE_ROTATION_H

#include "linalg/linalg.h"

/* Returns the rotation `turn` of a torque-free body over dt, R(t + dt) = R(t) turn. R: rotation matrix of the body. It
 * solves Euler's equations in body axes, with the rotation Q since t:
 *   p' = p x J p,   Q' = Q [J p]x,   Q(0) = 1,   turn = Q(dt)                                                (W1)
 * [w]x: matrix of the cross product with w. mobility: J, inverse of the inertia tensor about the centre of mass, body
 * axes [1/(kg m^2)], symmetric positive definite. momentum: p, angular momentum about the centre of mass at t, body
 * axes [kg m^2/s]. Exact to rounding for any angle. The cost is below a microsecond up to 0.05 rad, and two
 * microseconds per 1/8 rad above. Returns NaN for rotations above about ten thousand radians. */
Quat free_rotation(Mat3 mobility, Vec3 momentum, double dt);

/* Adds the derivatives of a scalar of the rotation with respect to momentum and mobility (W3). turn_bar: derivative of
 * the scalar with respect to small rotations theta in body axes that are applied after `turn`. mobility_bar: entry by
 * entry. The cost is four times the cost of free_rotation up to 8 rad. */
void free_rotation_vjp(Mat3 mobility, Vec3 momentum, double dt, Vec3 turn_bar, Vec3* momentum_bar, Mat3* mobility_bar);

#endif

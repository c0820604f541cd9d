/* Private to simulate/: the rotation of a rigid body on which no torque acts (docs/derivations/spin.md, W1-W3). */
#ifndef SDRS_SIMULATE_FREE_ROTATION_H
#define SDRS_SIMULATE_FREE_ROTATION_H

#include "linalg/linalg.h"

/* Where a free body has turned to after dt, R(t + dt) = R(t) turn, by Euler's equations in body axes:
 *   p' = p x J p,   Q' = Q [J p]x,   Q(0) = 1,   turn = Q(dt)                                                (W1)
 * mobility J: inverse of the inertia tensor about the centre of mass, body axes [1/(kg m^2)], symmetric positive
 * definite. momentum p: angular momentum about the centre of mass at t, body axes [kg m^2/s]. Exact to rounding for any
 * angle; only sums, products, quotients and roots. Cost: under a microsecond below 0.05 rad, 2 for each 1/8 rad above.
 * Not a number when the body would turn by more than some ten thousand radians. No allocation. */
Quat free_rotation(Mat3 mobility, Vec3 momentum, double dt);

/* For a scalar that grows by turn_bar . theta when turn becomes turn exp([theta]x): adds its derivatives by the
 * momentum and, entry by entry, by the mobility (W3). Cost: four times that of free_rotation up to 8 rad. */
void free_rotation_vjp(Mat3 mobility, Vec3 momentum, double dt, Vec3 turn_bar, Vec3* momentum_bar, Mat3* mobility_bar);

#endif

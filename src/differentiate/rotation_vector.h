/* Private to differentiate/: how a rotation vector v changes with its rotation exp(v) (docs/losses.md, effort). */
#ifndef SDRS_DIFFERENTIATE_ROTATION_VECTOR_H
#define SDRS_DIFFERENTIATE_ROTATION_VECTOR_H

#include "linalg/linalg.h"

/* Angular velocity in the turned axes while v changes at `rate`: J(v) rate,
 *   J(v) = 1 - f2 [v]x + f3 [v]x^2,  f2 = (1 - cos a) / a^2,  f3 = (a - sin a) / a^3,  a = |v|.
 * J(v)^T = J(-v). */
Vec3 rotation_vector_spin(Vec3 v, Vec3 rate);
/* Gradient with respect to v of g . J(v) rate, at fixed rate. */
Vec3 rotation_vector_spin_grad(Vec3 v, Vec3 rate, Vec3 g);
/* The inverse: change of v while exp(v) turns by a small rotation about the turned axes, J(v)^-1 turn; |v| < 2 pi. */
Vec3 rotation_vector_turn(Vec3 v, Vec3 turn);

#endif

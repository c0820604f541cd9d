/* Private to simulate/: limits of three rotations (docs/derivations/step.md, S22, S24). */
#ifndef SDRS_SIMULATE_BALL_LIMITS_H
#define SDRS_SIMULATE_BALL_LIMITS_H

#include "simulate/terms.h"

/* Adds the limits on the whole angle, the swing and the twist, and the resistance to leaving barriers; with derivatives
 * = true also gradient and Hessian. base: first of the three degrees of freedom. Returns false beyond a barrier. */
bool ball_limits(const JointInput* in, int base, bool derivatives, JointTerms* out);
/* Adds to now[3] the derivatives of lambda . (gradient of ball_limits) with respect to increments of the rotation at t.
 * lambda[3]. */
void ball_limits_adjoint(const JointInput* in, int base, const double* lambda, double* now);

#endif

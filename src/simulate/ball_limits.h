/* Private to simulate/: limits of three rotations (docs/derivations/step.md, S22, S24). */
#ifndef SDRS_SIMULATE_BALL_LIMITS_H
#define SDRS_SIMULATE_BALL_LIMITS_H

#include "simulate/terms.h"

/* Angles of three rotations that limits bound, in the order of the degrees of freedom that hold their limits. */
enum { BALL_WHOLE, BALL_SWING, BALL_TWIST, BALL_ANGLES };
/* Returns an angle of the rotation q of the link's joint [rad]. q: unit. */
double ball_angle(const ModelLink* link, int which, Quat q);
/* Sets its derivatives with respect to the increments; zero where it has no direction. */
void ball_angle_slope(const ModelLink* link, int which, Quat q, double slope[3]);
/* Returns the rotation before the increments difference[3], a rotation vector in link axes. now: unit. */
Quat ball_before(Quat now, const double difference[3]);

/* Adds the limits on the whole angle, the swing and the twist, their impacts (I15) and the resistance to leaving them;
 * with derivatives
 * = true also gradient and Hessian. base: first of the three degrees of freedom. Returns false beyond a barrier. */
bool ball_limits(const JointInput* in, int base, bool derivatives, JointTerms* out);
/* Adds to now[3] and difference_old[3] the derivatives of lambda . (gradient of ball_limits) with respect to increments
 * of the rotation at t and to JointInput.difference_old. lambda[3]. */
void ball_limits_adjoint(const JointInput* in, int base, const double* lambda, double* now, double* difference_old);
/* Adds to out[JOINT_OWN_COUNT] of each angle the derivatives with respect to its bounds; that with respect to
 * limit_restitution to `first`. lambda[3]. */
void ball_limits_own(const JointInput* in, int base, const double* lambda, double (*out)[JOINT_OWN_COUNT],
                     double first[JOINT_OWN_COUNT]);

#endif

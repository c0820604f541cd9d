/* Private to simulate/: limits of three rotations (docs/derivations/step.md, S22, S24). */
#ifndef SDRS_SIMULATE_BALL_LIMITS_H
#define SDRS_SIMULATE_BALL_LIMITS_H

#include "simulate/terms.h"

/* Angles of a ball joint that can have limits, in the order of the three degrees of freedom that store the limits:
 * total angle, swing and twist. */
enum { BALL_WHOLE, BALL_SWING, BALL_TWIST, BALL_ANGLES };
/* Returns one of these angles for the rotation q of the link's joint [rad]. which: BALL_WHOLE, BALL_SWING or
 * BALL_TWIST. q: unit quaternion. */
double ball_angle(const ModelLink* link, int which, Quat q);
/* Sets slope to the derivatives of ball_angle with respect to the three increments of q; zero where the angle has no
 * derivative. */
void ball_angle_slope(const ModelLink* link, int which, Quat q, double slope[3]);
/* Returns the rotation from which the rotation vector difference[3] (link axes) leads to now. now: unit quaternion. */
Quat ball_before(Quat now, const double difference[3]);

/* Adds to *out the energies of the limits on total angle, swing and twist, of impacts with these limits (I15) and of
 * the resistance to leaving a limit. If derivatives is true, adds gradient and Hessian, too. base: first of the three
 * degrees of freedom. Returns false if an angle is beyond a barrier. */
bool ball_limits(const JointInput* in, int base, bool derivatives, JointTerms* out);
/* Adds the derivatives of lambda[3] . (gradient of ball_limits) with respect to increments of the rotation at t to
 * now[3], and with respect to JointInput.difference_old to difference_old[3]. */
void ball_limits_adjoint(const JointInput* in, int base, const double* lambda, double* now, double* difference_old);
/* Adds the derivatives of lambda[3] . (gradient of ball_limits) with respect to the limits of each angle to the row of
 * out that belongs to the angle. Adds the derivative with respect to limit_restitution to first[JOINT_OWN_COUNT]. */
void ball_limits_own(const JointInput* in, int base, const double* lambda, double (*out)[JOINT_OWN_COUNT],
                     double first[JOINT_OWN_COUNT]);

#endif

/* Private to simulate/: limits of the rotation of ball joints (docs/derivations/step.md, S22, S24). */
#ifndef SDRS_SIMULATE_BALL_LIMITS_H
#define SDRS_SIMULATE_BALL_LIMITS_H

#include "simulate/terms.h"

/* Angles of a ball joint that can have limits: total angle, swing and twist. The three degrees of freedom of the joint
 * store the limits in this order. */
enum { BALL_TOTAL, BALL_SWING, BALL_TWIST, BALL_ANGLES };
/* Returns the angle `angle_kind` of the rotation q of the link's joint [rad]. angle_kind: BALL_TOTAL, BALL_SWING or
 * BALL_TWIST. q: unit quaternion. */
double ball_angle(const ModelLink* link, int angle_kind, Quat q);
/* Sets slope to the derivatives of ball_angle with respect to three small rotations of the link about its axes, applied
 * after q. They are zero where the angle has no derivative. */
void ball_angle_slope(const ModelLink* link, int angle_kind, Quat q, double slope[3]);
/* Returns the rotation of a ball joint at the previous state. now: present rotation, a unit quaternion. difference[3]:
 * rotation vector from the previous to the present rotation, in link axes [rad]. */
Quat ball_rotation_before(Quat now, const double difference[3]);

/* Adds the energies of the limits of a ball joint to *out. They include impacts with the limits (impact.md, I15) and
 * the resistance to leaving a limit. If derivatives is true, also adds gradient and Hessian. base: first of the three
 * degrees of freedom. Returns false if an angle is beyond a barrier. */
bool ball_limits(const JointInput* in, int base, bool derivatives, JointTerms* out);
/* Differentiates the scalar lambda[3] . (gradient of the energy of ball_limits). Adds its derivatives with respect to
 * increments of the rotation at t to now[3]. Adds those with respect to JointInput.difference_old to difference_old[3].
 */
void ball_limits_adjoint(const JointInput* in, int base, const double* lambda, double* now, double* difference_old);
/* Adds the derivatives of the scalar lambda[3] . (gradient of the energy of ball_limits) with respect to the limits of
 * each angle to out. Row k of `out` belongs to angle k. Adds the derivative with respect to limit_restitution to
 * first[JOINT_OWN_COUNT]. */
void ball_limits_parameter_adjoint(const JointInput* in, int base, const double* lambda, double (*out)[JOINT_OWN_COUNT],
                                   double first[JOINT_OWN_COUNT]);

#endif

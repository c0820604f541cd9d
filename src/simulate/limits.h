/* Private to simulate/: limits of scalar joint coordinates (joint_terms.c) and of the angles of ball joints
 * (ball_limits.c). */
#ifndef SDRS_SIMULATE_LIMITS_H
#define SDRS_SIMULATE_LIMITS_H

#include "simulate/terms.h"

/* Returns the limits of a degree of freedom for a step in which the coordinate does not collide with a limit
 * (impact.md, I15). They are the limits of joint_limits, but a barrier with restitution is moved to distances that no
 * impact reaches. Otherwise the barrier would reduce the speed before the impact, and the resistance to leaving the
 * limit (step.md, S22) the speed after it. */
Limits joint_limits_outside_impact(const ModelLink* link, int dof);
/* Returns the energy of the one-sided spring that enforces the rebound displacement stop->aim (I15), with its
 * derivatives. The energy is zero if the spring does not act. displacement: displacement of the coordinate since t [m,
 * rad]. */
LimitEnergy joint_rebound_energy(const JointStop* stop, double displacement);
/* Returns the derivatives of the limit force at the coordinate q with respect to the lower limit, the upper limit and
 * the coefficient of restitution. The force includes the resistance to leaving the limit. now: coordinate at t; rate:
 * rate of the coordinate [m/s, rad/s]; rate_now: derivative of the rate with respect to the coordinate [1/s]. q must
 * not be beyond a barrier. */
LimitForceDerivatives limits_force_derivatives(const Limits* limits, double q, double now, double rate,
                                               double rate_now);

#endif

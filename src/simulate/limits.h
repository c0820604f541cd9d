/* Private to simulate/: limits of scalar joint coordinates (joint_terms.c) and of the angles of ball joints
 * (ball_limits.c). */
#ifndef SDRS_SIMULATE_LIMITS_H
#define SDRS_SIMULATE_LIMITS_H

#include "simulate/terms.h"

/* Returns the limits of a degree of freedom for a step without impact (I15). They are the limits of joint_limits, but a
 * barrier with restitution is moved to distances that no impact reaches. Otherwise the barrier would reduce the speed
 * before the impact, and the resistance (S22) the speed after the impact. */
Limits joint_limits_outside_impact(const ModelLink* link, int dof);
/* Returns the energy of the one-sided spring that enforces the displacement stop->aim of a rebound (I15). The energy is
 * zero if the spring does not act. way: displacement since t [m, rad]. */
LimitEnergy joint_rebound_energy(const JointStop* stop, double way);
/* Returns the derivatives of the limit force at q with respect to lower, upper and restitution. The force includes the
 * resistance. now, rate, rate_now: as for limits_resistance. q must not be beyond a barrier. */
LimitForceDerivatives limits_force_derivatives(const Limits* limits, double q, double now, double rate,
                                               double rate_now);

#endif

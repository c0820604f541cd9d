/* Private to simulate/: limits of scalar joint coordinates (joint_terms.c) and of the angles of three rotations
 * (ball_limits.c). */
#ifndef SDRS_SIMULATE_LIMITS_H
#define SDRS_SIMULATE_LIMITS_H

#include "simulate/terms.h"

/* Returns the limits of a degree of freedom as joint_limits does, but moves a barrier with restitution to distances
 * that no impact reaches (I15). Otherwise the barrier would reduce the speed before the impact, and the resistance
 * (S22) the speed after it. */
Limits joint_bounded_limits(const ModelLink* link, int dof);
/* Returns the energy of the one-sided spring that enforces the displacement stop->aim of a rebound (I15); zero if the
 * spring does not act. way: displacement since t [m, rad]. */
LimitEnergy joint_bounce_energy(const JointStop* stop, double way);
/* Returns the derivatives of the limit force at q, resistance included, with respect to lower, upper and restitution.
 * now, rate, rate_now: as of limits_resistance. q must not be beyond a barrier. */
LimitSlopes limits_slopes(const Limits* limits, double q, double now, double rate, double rate_now);

#endif

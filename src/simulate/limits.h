/* Private to simulate/: limits of joint coordinates, plain (joint_terms.c) and of three rotations (ball_limits.c). */
#ifndef SDRS_SIMULATE_LIMITS_H
#define SDRS_SIMULATE_LIMITS_H

#include "simulate/terms.h"

/* Returns the limits of a degree of freedom as joint_limits does. A barrier with restitution begins where no impact
 * comes to (I15): it would take part of the speed before, and its resistance (S22) after the impact. */
Limits joint_bounded_limits(const ModelLink* link, int dof);
/* Returns the energy of the one-sided spring that enforces the displacement stop->aim of a rebound (I15); zero if it
 * does not act. way: displacement since t [m, rad]. */
LimitEnergy joint_bounce_energy(const JointStop* stop, double way);
/* Returns the derivatives of the force of the limits at q, resistance included. now, rate, rate_now: as of
 * limits_resistance. q must lie inside a barrier. */
LimitSlopes limits_slopes(const Limits* limits, double q, double now, double rate, double rate_now);

#endif

/* Rounding error of target poses, the poses that links would have at t + dt without forces. */
#ifndef SDRS_SIMULATE_TARGET_ROUNDING_H
#define SDRS_SIMULATE_TARGET_ROUNDING_H

#include "simulate/sim.h"

/* Returns the rounding error of the centre of mass in a link's target pose, world axes [m]. It is the displacement from
 * t to the target, computed from differences of poses, minus the displacement to the stored target. Returns zero if the
 * scene has a tree in free flight (tree_flight.h), whose target contains other terms. Call after step_prepare. */
Vec3 target_rounding_error(const Sim* s, int link);

#endif

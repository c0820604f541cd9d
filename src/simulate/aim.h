/* Rounding of the poses that links would have at t + dt without forces. */
#ifndef SDRS_SIMULATE_AIM_H
#define SDRS_SIMULATE_AIM_H

#include "simulate/sim.h"

/* Returns what rounding takes from the position of the centre of mass of a link's target: its displacement from t to
 * the target, computed from differences of poses, minus that of the rounded target, world axes [m]. Call after
 * step_prepare. Zero with a flying tree, whose targets have other terms. Cannot fail. */
Vec3 aim_lost(const Sim* s, int link);

#endif

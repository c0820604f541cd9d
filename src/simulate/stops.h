/* Private to simulate/: impacts of joint coordinates and ball joint angles at their limits (docs/derivations/impact.md,
 * I15). Only limits with limit_law `barrier` and limit_restitution > 0 have impacts. */
#ifndef SDRS_SIMULATE_STOPS_H
#define SDRS_SIMULATE_STOPS_H

#include "simulate/sim.h"

/* A coordinate whose impact with a limit began in a substep. Distances are in units of limit_margin. */
typedef struct {
  int dof, side; /* dof: degree of freedom of the coordinate; side: -1 for the lower limit, 1 for the upper limit */
  double before, after; /* distance from the position at which the impact begins, at the start and at the end of the
                           substep; negative beyond this position */
} LimitImpact;

/* Allocates Sim.joint_stops.stop if the model has limits with impacts. Uses the present coordinates and poses, and
 * overwrites Sim.screws. Freed by sim_destroy. */
void stops_create(Sim* sim);
/* Sets Sim.joint_stops.stop for the substep of sim->clock. Does nothing if Sim.joint_stops.stop is NULL. */
void stops_prepare_substep(Sim* sim);
/* Returns true if an impact of a coordinate begins or continues in the next substep. Then halves *substep_length, the
 * length of that substep [s], until the coordinate moves by at most a sixteenth of its margin. */
bool stops_shorten_substep(const Sim* sim, double* substep_length);
/* Returns true if an impact with a limit began in the substep of sim->clock. The substep leads from q_now to the
 * accepted configuration. Sets *entry to the first such impact. expected: impact found in a longer trial of this
 * substep, which counts at any speed, or NULL. */
bool stops_find_impact(const Sim* sim, const LimitImpact* expected, LimitImpact* entry);
/* Returns true if a coordinate has left its limit margin in one of the last two substeps. The coordinate is outside the
 * margin in the accepted configuration, but was inside at t or one substep before t. second_order would then
 * extrapolate from states on which the barrier acted. */
bool stops_has_left_margin(const Sim* sim);
/* Returns the distance of a coordinate from the position at which its impact begins, in units of limit_margin. The
 * coordinate is read from the accepted configuration. The distance is negative beyond this position. side: -1 for the
 * lower limit, 1 for the upper limit (asserted). */
double stops_distance_to_impact(const Sim* sim, int dof, int side);
/* Sets entries of slope[nv] to the derivatives of a limited coordinate or angle with respect to increments of the
 * joint's coordinates. dof: a scalar coordinate, or the degree of freedom of a ball joint that stores the limits of an
 * angle. The derivatives belong to the accepted configuration. Other entries are unchanged. */
void stops_coordinate_gradient(const Sim* sim, int dof, double* slope);

#endif

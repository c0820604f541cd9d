/* Private to simulate/: impacts of joint coordinates and of angles of three rotations at their limits
 * (docs/derivations/impact.md, I15). They belong to
 * limits with limit_law `barrier` and limit_restitution > 0. */
#ifndef SDRS_SIMULATE_STOPS_H
#define SDRS_SIMULATE_STOPS_H

#include "simulate/sim.h"

/* A coordinate that reached the start of an impact at one of its limits in a substep. Distances in units of
 * limit_margin. */
typedef struct {
  int dof, side;        /* side: -1 lower, 1 upper */
  double before, after; /* distance from the start of the impact at both ends of the substep; negative: beyond it */
} StopEntry;

/* Allocates Sim.stops if the model has such limits. Uses q_now, pose_now and screws (overwritten). Freed by
 * sim_destroy. */
void stops_create(Sim* sim);
/* Sets Sim.stops for the substep of sim->clock. Nothing without stops. Allocates nothing. */
void stops_aim(Sim* sim);
/* Returns true if an impact of a coordinate begins or continues in the next substep. *brief [s]: length of that
 * substep, which is halved until the coordinate moves by at most a sixteenth of its margin. Allocates nothing. */
bool stops_begin(const Sim* sim, double* brief);
/* Returns true and sets the first impact that began in the substep of sim->clock, from q_now to the accepted
 * configuration. False: none began before its end. sought: the limit that a longer substep has found, where an impact
 * begins at any speed; NULL: none. Allocates nothing. */
bool stops_entry(const Sim* sim, const StopEntry* sought, StopEntry* entry);
/* Returns true if a coordinate left its margin in the accepted configuration and was inside it at t or one substep
 * before. second_order would then extrapolate from states on which the barrier acted. Allocates nothing. */
bool stops_let_go(const Sim* sim);
/* Returns the distance of a coordinate from the start of its impact in the accepted configuration, in units of
 * limit_margin; negative: beyond it. side: -1, the lower limit, or 1, the upper (asserted). */
double stops_ahead(const Sim* sim, int dof, int side);
/* Sets the entries of slope (nv) at which the coordinate of a degree of freedom, or the angle of three rotations whose
 * limits it holds, has a derivative with respect to the accepted configuration. Leaves the others. */
void stops_slope(const Sim* sim, int dof, double* slope);

#endif

/* Private to simulate/: changes of hinge axes and lever arms of rolling bodies within a step, for friction
 * (docs/derivations/friction.md, F15). They are nonzero only for links of jointed trees in free flight (tree_flight.h).
 */
#ifndef SDRS_SIMULATE_ROLL_SHIFT_H
#define SDRS_SIMULATE_ROLL_SHIFT_H

#include "simulate/step_adjoint.h"

/* Returns the zeroed array for Sim.shifts (links). The caller frees it with memory_free. Returns NULL if no tree
 * conserves its momentum in flight or no link has a hull. */
struct RollShift* roll_shifts_create(const Sim* sim);
/* Sets Sim.shifts from the poses at t and the target poses Sim.target. Call after tree_flight_set_targets, which sets
 * Sim.target. */
void roll_shifts_compute(Sim* sim);
/* Converts StepAdjoint.shift_bar into derivatives with respect to the poses at t, the target poses, joint axes and
 * masses. Adds them to now, StepAdjoint.expected_bar and gradient. */
void roll_shifts_adjoint(StepAdjoint* adjoint, StateBar now, ModelGradient* gradient);
#endif

/* Private to simulate/: shifts of hinge axes and levers of rolling bodies within a step, for friction
 * (docs/derivations/friction.md, F15). Links have one if their tree aims (W11). */
#ifndef SDRS_SIMULATE_ROLL_SHIFT_H
#define SDRS_SIMULATE_ROLL_SHIFT_H

#include "simulate/step_adjoint.h"

/* Returns zeroed shifts (links), or NULL if no tree flies or nothing has a shape. The caller frees them with
 * memory_free. */
struct RollShift* roll_shifts_create(const Sim* sim);
/* Sets Sim.shifts, the hinge axes and the changes of the levers, from the poses at t and the expected poses Sim.target.
 * Call after tree_flight_aim, which sets Sim.target. */
void roll_shifts_aim(Sim* sim);
/* Passes StepAdjoint.shift_bar on to the poses at t, to expected_bar, and to axes and masses. */
void roll_shifts_adjoint(StepAdjoint* adjoint, StateBar now, ModelGradient* gradient);
#endif

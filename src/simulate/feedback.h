/* Private to simulate/: inputs of drives, computed from signals and measurements (docs/derivations/feedback.md).
 * Measurements may be delayed. */
#ifndef SDRS_SIMULATE_FEEDBACK_H
#define SDRS_SIMULATE_FEEDBACK_H

#include "simulate/sensor.h"

/* Computes the input of a controller in the step of sim->clock (E1, E2). value [m, rad; m/s, rad/s; N, N m] and rate
 * have one entry per channel (channels). The state at the step's start must be set. */
void controller_input(const Sim* sim, int controller, double* value, double* rate);

/* Adds the derivatives of a scalar that depends on a controller's input (E3, E4). value_bar[channels],
 * rate_bar[channels]: derivatives with respect to the input. Adds those with respect to the signal's parameters, the
 * feedback matrix or network, the delay and the states to `out`. */
void controller_input_adjoint(const Sim* sim, int controller, const double* value_bar, const double* rate_bar,
                              const FeedbackBars* out);

#endif

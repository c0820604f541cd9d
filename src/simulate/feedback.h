/* Private to simulate/: inputs of drives, computed from their signals and their measurements, delayed or not
 * (docs/derivations/feedback.md). */
#ifndef SDRS_SIMULATE_FEEDBACK_H
#define SDRS_SIMULATE_FEEDBACK_H

#include "simulate/sense.h"

/* Sets the input of a controller in the step of sim->clock: value [m, rad; m/s, rad/s; N, N m] and rate (channels
 * each). The state at the step's start must be in place (E1, E2). */
void controller_input(const Sim* sim, int controller, double* value, double* rate);

/* For a scalar with derivatives value_bar[channels] and rate_bar[channels] with respect to the input: adds its
 * derivatives with respect to the signal's parameters, the feedback matrix or network, the delay and the states (E3,
 * E4). */
void controller_input_adjoint(const Sim* sim, int controller, const double* value_bar, const double* rate_bar,
                              const FeedbackBars* out);

#endif

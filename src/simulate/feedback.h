/* Private to simulate/: what drives are told - their signal and their measurements as they were `delay` ago
 * (docs/derivations/feedback.md). */
#ifndef SDRS_SIMULATE_FEEDBACK_H
#define SDRS_SIMULATE_FEEDBACK_H

#include "simulate/sense.h"

/* Value [m, rad; m/s, rad/s; N, N m] and rate of what a controller of the model is told in the step of sim->clock
 * (channels each). The state at the step's start must be in place (E1, E2). value, rate: set. */
void controller_input(const Sim* sim, int controller, double* value, double* rate);

/* For a scalar with these derivatives by value and rate: adds those by the signal's parameters, the matrix, the delay
 * and the states (E3, E4). value_bar[channels], rate_bar[channels]. */
void controller_input_adjoint(const Sim* sim, int controller, const double* value_bar, const double* rate_bar,
                              const FeedbackBars* out);

#endif

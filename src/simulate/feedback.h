/* Private to simulate/: what drives are told - their signal as it was `delay` ago, plus feedback
 * (docs/derivations/feedback.md). */
#ifndef SDRS_SIMULATE_FEEDBACK_H
#define SDRS_SIMULATE_FEEDBACK_H

#include "simulate/sim.h"

/* Value [m, rad; m/s, rad/s; N, N m] and rate of what a controller of the model is told in the step of sim->clock
 * (channels each). The state at the step's start must be in place (E1, E2). */
void controller_input(const Sim* sim, int controller, double* value, double* rate);

/* Where derivatives by what feedback is made of go: the states at t and before, dT/dt of the initial velocities. */
typedef struct {
  StateBar now, old;
  double (*rate_bar)[3][4];
  Vec3* felt; /* forces at t (links); NULL where none is measured */
  ModelGradient* gradient;
} FeedbackBars;
/* For a scalar with these derivatives by value and rate: adds those by the signal's parameters, the matrix, the delay
 * and the states (E3, E4). */
void controller_input_adjoint(const Sim* sim, int controller, const double* value_bar, const double* rate_bar,
                              const FeedbackBars* out);

#endif

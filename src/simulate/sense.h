/* Private to simulate/: measurements of the state (docs/derivations/feedback.md). */
#ifndef SDRS_SIMULATE_SENSE_H
#define SDRS_SIMULATE_SENSE_H

#include "simulate/sim.h"

/* Destinations of derivatives through measurements: the states at t and before, and dT/dt of the initial velocities. */
typedef struct {
  StateBar now, old;
  double (*rate_bar)[3][4];
  Vec3* felt; /* with respect to contact forces at t (links); NULL if no drive measures one */
  ModelGradient* gradient;
  struct DelayPending* pending; /* pending derivatives of delayed measurements; NULL if no drive has a delay */
} FeedbackBars;
/* Returns a measured number of the present state (E1), in the unit of its kind [m, rad, m/s, rad/s, N, 1], world axes
 * for components of vectors. */
double sense(const Sim* sim, const SceneMeasure* measure);
/* For a scalar with derivative bar with respect to the measurement: adds its derivatives with respect to the state to
 * the destinations in `out` (E4). */
void sense_adjoint(const Sim* sim, const SceneMeasure* measure, double bar, const FeedbackBars* out);

#endif

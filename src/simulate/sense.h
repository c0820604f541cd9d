/* Private to simulate/: measurements of the state (docs/derivations/feedback.md). */
#ifndef SDRS_SIMULATE_SENSE_H
#define SDRS_SIMULATE_SENSE_H

#include "simulate/sim.h"

/* Where derivatives by what feedback is made of go: the states at t and before, dT/dt of the initial velocities. */
typedef struct {
  StateBar now, old;
  double (*rate_bar)[3][4];
  Vec3* felt; /* forces at t (links); NULL where none is measured */
  ModelGradient* gradient;
  struct DelayPending* pending; /* buffer of delayed measurements; NULL: no drive has a delay */
} FeedbackBars;
/* A number that the present state has (E1), and for a scalar with derivative bar by it: those by what it is made of,
 * added (E4). In the unit of its kind [m, rad, m/s, rad/s, N, 1], world axes where it has a direction. No
 * allocation. */
double sense(const Sim* sim, const SceneMeasure* measure);
/* Added to what `out` points to; no allocation. */
void sense_adjoint(const Sim* sim, const SceneMeasure* measure, double bar, const FeedbackBars* out);

#endif

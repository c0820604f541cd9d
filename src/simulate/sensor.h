/* Private to simulate/: measurements of the state (docs/derivations/feedback.md). */
#ifndef SDRS_SIMULATE_SENSOR_H
#define SDRS_SIMULATE_SENSOR_H

#include "simulate/sim.h"

/* Arrays to which the adjoint of measurements adds derivatives. The members now and old are derivatives with respect to
 * the poses at t and one step before. The member rate_bar is with respect to the time derivatives of the poses at the
 * start of the run. */
typedef struct {
  StateBar now, old;
  double (*rate_bar)[3][4];
  Vec3* contact_force; /* derivatives with respect to contact forces on the links at t (links); NULL if no drive
                          measures a contact force */
  ModelGradient* gradient;
  struct DelayPending* pending; /* pending derivatives of delayed measurements; NULL if no drive has a delay */
} FeedbackBars;
/* Returns one measured number of the present state, such as a position or velocity (E1). The unit depends on the kind
 * [m, rad, m/s, rad/s, N, 1]. Components of vectors are in world axes. */
double sensor_value(const Sim* sim, const SceneMeasure* measure);
/* Returns the derivative of a measurement with respect to the length of the step that led to the state, at fixed
 * states: rates are differences of two states, divided by this length. Zero at the start. */
double sensor_length_slope(const Sim* sim, const SceneMeasure* measure);
/* Adds the contribution of a measurement to the derivatives of a scalar, `out` (E4). bar: derivative of the scalar with
 * respect to the measurement. */
void sensor_adjoint(const Sim* sim, const SceneMeasure* measure, double bar, const FeedbackBars* out);

#endif

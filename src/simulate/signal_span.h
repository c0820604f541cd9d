/* Private to simulate/: the time at which a step uses the value of a signal (docs/derivations/loads.md, L98). Prescribed
 * coordinates belong to the end of a step, the switches of closures to its start. All other signals use this function.
 */
#ifndef SDRS_SIMULATE_SIGNAL_SPAN_H
#define SDRS_SIMULATE_SIGNAL_SPAN_H

#include "simulate/sim.h"

/* Meaning of a signal in the equations of a step. */
typedef enum {
  SIGNAL_IS_FORCE, /* force, torque, tension, or strength of a field */
  SIGNAL_IS_RATE,  /* target of the rate of a coordinate */
  SIGNAL_IS_HELD,  /* input that a program gives for each step */
} SignalUse;

/* Returns the span of time over which the step of `clock` takes the mean of a signal (L98). If from = to, the step uses
 * the value at this time. */
SignalSpan signal_span(Integrator integrator, const StepClock* clock, SignalUse use);

#endif

/* Private to simulate/: the time at which a step uses the value of a signal (docs/derivations/loads.md, L98).
 * Prescribed coordinates belong to the end of a step, the switches of closures to its start. All other signals use this
 * function.
 */
#ifndef SDRS_SIMULATE_SIGNAL_SPAN_H
#define SDRS_SIMULATE_SIGNAL_SPAN_H

#include "simulate/sim.h"

/* The span over which a step takes the mean of a signal: `at`, plus a change that counts to first order. The change is
 * zero, except while the step is differentiated with respect to its length (Sim.replayed.clock). The mean is then a
 * linear function of the times, also at corners of the signal. */
typedef struct {
  SignalSpan at, change; /* [s] */
} StepSpan;
/* Returns the span `now`, of sim->clock, as the span `recorded`, of Sim.replayed.clock, and the change to `now`. */
StepSpan step_span_between(SignalSpan recorded, SignalSpan now);
/* Returns the span of a signal in the step of sim->clock. */
StepSpan step_span(const Sim* sim, SignalUse use);
/* Sets value[channels] and rate[channels] to the means of the signal over the span, as signal_mean does. */
void step_signal_mean(const Signal* signal, const StepSpan* span, double* value, double* rate);
/* Returns the time of the first jump in the interval, from <= t < to [s], of a force, a torque, a tension, the target
 * of a pd drive or the switch of a closure; INFINITY if there is none (L99). Drives with a delay do not count, because
 * a delay can be a parameter. With integrators other than momentum there are no jumps. */
double step_first_jump(const Sim* sim, SignalSpan interval);
/* Returns the time of the first jump in the interval, from < t <= to [s], of the rate of a prescribed coordinate;
 * INFINITY if there is none (L99). With integrators other than momentum there are no jumps. */
double step_first_rate_jump(const Sim* sim, SignalSpan interval);

#endif

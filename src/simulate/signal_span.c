/* Time at which a step uses the value of a signal (docs/derivations/loads.md, L98). */
#include "simulate/signal_span.h"

#include <assert.h>

SignalSpan signal_span(Integrator integrator, const StepClock* clock, SignalUse use) {
  assert(clock->dt > 0);
  double begin = clock->time - clock->dt;
  SignalSpan step = {begin, clock->time}, end = {clock->time, clock->time};
  SignalSpan between_middles = {begin - 0.5 * fmax(clock->dt_before, 0), begin + 0.5 * clock->dt};
  bool free = clock->kind == STEP_FREE, cubic = free && integrator == INTEGRATOR_SECOND_ORDER;
  switch (use) {
    case SIGNAL_IS_FORCE:
      if (cubic) return end;
      return free && integrator == INTEGRATOR_FIRST_ORDER ? step : between_middles;
    case SIGNAL_IS_RATE:
      return cubic && clock->dt_before > 0 ? end : step;
    case SIGNAL_IS_HELD:
      break;
  }
  return step;
}

/* Time at which a step uses the value of a signal (docs/derivations/loads.md, L98). */
#include "simulate/signal_span.h"

#include <assert.h>

SignalUse controller_signal_use(const ModelController* c) {
  if (c->target.source->type == SIGNAL_ZERO_ORDER_HOLD) return SIGNAL_IS_HELD;
  return c->type == CONTROLLER_TORQUE ? SIGNAL_IS_FORCE : SIGNAL_IS_RATE;
}

SignalSpan signal_span(Integrator integrator, const StepClock* clock, SignalUse use) {
  assert(clock->dt > 0);
  double begin = clock->time - clock->dt;
  SignalSpan step = {begin, clock->time}, end = {clock->time, clock->time};
  SignalSpan between_middles = {begin - 0.5 * fmax(clock->dt_before, 0), begin + 0.5 * clock->dt};
  bool free = clock->kind == STEP_FREE, second = integrator == INTEGRATOR_SECOND_ORDER;
  switch (use) {
    case SIGNAL_IS_FORCE:
      if (free && second) return end;
      return free && integrator == INTEGRATOR_FIRST_ORDER ? step : between_middles;
    case SIGNAL_IS_RATE:
      return second ? end : step;
    case SIGNAL_IS_HELD:
      break;
  }
  return step;
}

StepSpan step_span_between(SignalSpan recorded, SignalSpan now) {
  return (StepSpan){recorded, {now.from - recorded.from, now.to - recorded.to}};
}

StepSpan step_span(const Sim* s, SignalUse use) {
  Integrator integrator = s->model->simulation.integrator;
  SignalSpan now = signal_span(integrator, &s->clock, use);
  return step_span_between(s->replayed.clock ? signal_span(integrator, s->replayed.clock, use) : now, now);
}

void step_signal_mean(const Signal* signal, const StepSpan* span, double* value, double* rate) {
  signal_mean(signal, span->at, value, rate);
  if (span->change.from == 0 && span->change.to == 0) return;
  double by_value[JOINT_MAX_DOF], by_rate[JOINT_MAX_DOF];
  signal_mean_change(signal, span->at, span->change, by_value, by_rate);
  for (int c = 0; c < signal->source->channels; c++) {
    value[c] += by_value[c];
    rate[c] += by_rate[c];
  }
}
